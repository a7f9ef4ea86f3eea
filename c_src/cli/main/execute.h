/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_EXECUTE_H
#define CLI_EXECUTE_H

struct cli;

int cli_execute(struct cli *c); /* what is asked for; returns the status of the command */
void cli_free(struct cli *c);

#endif
