/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_EXECUTE_H
#define CLI_EXECUTE_H

struct cli;

int cli_execute(struct cli *c); /* what is asked for; returns the status of the command */
int cli_run(struct cli *c); /* run.c: the scripts, in this process or the kernel */
void cli_free(struct cli *c);

#endif
