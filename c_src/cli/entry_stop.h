/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of -c, stopped at their first instruction. */
#ifndef CLI_ENTRY_STOP_H
#define CLI_ENTRY_STOP_H

struct cli_procs;

int cli_procs_stop_at_entry(struct cli_procs *all); /* executed, with their libraries loaded */
void cli_procs_continue(struct cli_procs *all);

#endif
