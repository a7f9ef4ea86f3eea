/* SPDX-License-Identifier: Apache-2.0 */
/* Running scripts in this process or the kernel; signals. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include <stdbool.h>

struct cli;

int cli_run(struct cli *c);
void cli_catch_signals(const struct cli *c);
bool cli_interrupted(const struct cli *c);    /* by a signal, or by the loop of a server */
bool cli_snapshot_asked(const struct cli *c); /* likewise, since the last call */
void cli_before_death(void (*call)(void)); /* by a second signal: what is to be put right first */
bool cli_ended(struct cli *c); /* is it time to stop? */

#endif
