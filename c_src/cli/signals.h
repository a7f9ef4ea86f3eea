/* SPDX-License-Identifier: Apache-2.0 */
/* What ends a run from outside: signals, or the loop of a server. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <stdbool.h>

struct cli_procs;
struct output;

void cli_catch_signals(const struct cli_procs *procs, const struct output *o);
bool cli_interrupted(const struct output *o);	 /* by a signal, or by the loop of a server */
bool cli_snapshot_asked(const struct output *o); /* likewise, since the last call */
/*
 * While this is set a second signal does not end the command: cli_left() returns true, so that what
 * has been gathered is printed. cli_end_by_signal() then ends it as the signal would have.
 */
void cli_may_leave(bool may);
void cli_leave_at_next(void); /* ... nor the next one, even if it is the first */
bool cli_left(void);
void cli_end_by_signal(void); /* if cli_left() */
void cli_before_death(void (*call)(void)); /* by a second signal: what is to be put right first */
bool cli_ended(struct cli_procs *procs, struct output *o); /* is it time to stop? */

#endif
