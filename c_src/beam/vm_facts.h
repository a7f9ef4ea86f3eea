/* SPDX-License-Identifier: Apache-2.0 */
/* What is assumed of the VM's terms (vm_facts.c): checked when the library is loaded. */
#ifndef BEAM_VM_FACTS_H
#define BEAM_VM_FACTS_H

#include <erl_nif.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

extern bool beam_small;	     /* a small integer lies in its term above four ones */
extern bool beam_immediates; /* the two lowest bits tell terms without memory of their own */
/* A tuple of three: its term's lowest bits and its first word; a tag of 8: not as expected. */
extern struct beam_tuple {
	ERL_NIF_TERM tag, header;
} beam_tuple3, beam_map1; /* and a map of one key: its size, its keys (a tuple), its values */
extern ERL_NIF_TERM beam_pid_tag; /* the lowest four bits of a pid of this node; 16: unknown */
extern unsigned beam_pid_shift; /* above it a pid has its place in the VM's table; 0: not known */
extern unsigned beam_size_binary, beam_size_fun, beam_size_ref; /* words */
void beam_assume(ErlNifEnv *env, ERL_NIF_TERM info); /* at load, when the atoms are made */

#pragma GCC visibility pop
#endif
