/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registered names of processes (erl_builtins.c, probe path): the VM's registry locks, so each handle
 * whose script reads erlname has a table of its own.
 */
#ifndef BEAM_REGISTERED_H
#define BEAM_REGISTERED_H

#pragma GCC visibility push(hidden)

struct beam_name;
struct beam_names {
	struct beam_name *tab; /* NULL: no script reads erlname */
};

int beam_names_init(struct beam_names *t);
void beam_names_fini(struct beam_names *t);

#pragma GCC visibility pop
#endif
