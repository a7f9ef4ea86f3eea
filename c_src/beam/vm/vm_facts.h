/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of the VM's terms (vm_facts.c): found out when the library is loaded, and the same
 * from then on. Where a fact is not known the probe path asks the VM, which is slower.
 *
 * The VM, in this folder (all but the finding out: probe path):
 *
 *   vm_facts.c    what is assumed of its terms; checked when the library is loaded
 *   sizes.c       how large terms are
 *   peek.c        binaries, large integers and references read in place
 *   find.c        how a fact of the VM is found out: candidates, verdict, reason of a refusal
 *   facts.c       what all searches have in common; each fact is one struct find_fact (facts.h)
 *   layout.c      a fact: where the VM keeps the stack pointer of a process
 *   token.c       a fact: the sequential trace token of the process that runs
 *   own_name.c    a fact: the registered name of the process that runs
 *   run_state.c   a fact: whether a process that is scheduled out waits
 *   pid_node.c    the node of a pid of another node
 *   vm_threads.c  its threads, and which are inside a handle
 *   vm_event.c    an event
 */
#ifndef BEAM_VM_FACTS_H
#define BEAM_VM_FACTS_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct beam_vm {
	bool small;	 /* a small integer lies in its term above four ones */
	bool unicode; /* lists of any characters are texts (+pc unicode), not only of Latin-1 */
	bool immediates; /* the two lowest bits tell terms without memory of their own */
	/* A tuple of three: its term's lowest bits and its first word; a tag of 8: not known. */
	struct beam_tuple {
		ERL_NIF_TERM tag, header;
	} tuple3, map1;	      /* and a map of one key: its size, its keys (a tuple), its values */
	bool words;	      /* cells, tuples, maps of up to 32 keys lie as term_words.h says */
	bool zeros_same;      /* 0.0 =:= -0.0: up to OTP 26 */
	ERL_NIF_TERM pid_tag; /* the lowest four bits of a pid of this node; 16: not known */
	unsigned pid_shift;   /* above it a pid has its index in the VM's table; 0: not known */
	unsigned size_binary, size_fun, size_ref; /* words */
	unsigned dirty_cpus;  /* dirty CPU schedulers */
};

#ifndef BEAM_VM_CONST /* to all but vm_facts.c */
#define BEAM_VM_CONST const
#endif
extern BEAM_VM_CONST struct beam_vm beam_vm;

/*
 * Atoms differ above their lowest six bits, arities (small integers) above four. Modules and
 * functions with names made one after the other must not meet: their atoms are neighbours.
 */
static inline uint64_t beam_hash_fn(ERL_NIF_TERM mod, ERL_NIF_TERM fun, uint32_t arity)
{
	return (mod + (arity >> 4) + (fun << 26)) * 0x9e3779b97f4a7c15ULL >> 32;
}

void beam_vm_find(ErlNifEnv *env, ERL_NIF_TERM info); /* at load, when the atoms are made */

#pragma GCC visibility pop
#endif
