/* SPDX-License-Identifier: Apache-2.0 */
/* Erlang VMs by their processes. */
#ifndef CLI_VM_USDT_H
#define CLI_VM_USDT_H

#include <stdbool.h>

struct cli;
struct cli_procs;

/* Is it (0: that of -p) a VM with USDT probes, and no node that can be reached? */
bool cli_is_usdt_vm(struct cli *c, int pid);
bool cli_is_vm(const struct cli_procs *procs); /* is the process of -p an Erlang VM? */

#endif
