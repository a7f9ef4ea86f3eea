/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of loaded code as its three files share it: code_lookup.c reads it (probe path),
 * code_table.c renews it, code_nif.c is what Erlang code asks. The others see code_table.h.
 */
#ifndef BEAM_CODE_LOOKUP_H
#define BEAM_CODE_LOOKUP_H

#include <erl_nif.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/safe.h"
#include "code_find.h"
#include "code_table.h"

#pragma GCC visibility push(hidden)

#define WORD	       sizeof(uintptr_t)
#define CODE_READERS   64 /* counters; a bit each */
#define CODE_LOST      16 /* unknown addresses that are kept until the next refresh */
#define CODE_IGNORED   64
#define CODE_MAPS      32
#define CODE_ANSWERS   2048 /* a power of two */
#define FUNCTION_WORDS 5    /* that show which function has an address: two of the list, M, F, A */
#define LINE_WORDS     3    /* that show its line: two items, the location */

/*
 * The frame of an address, and the words of the VM's memory that show it. While they are as they
 * were the frame is right. A seqlock: who reads while it is written has no answer.
 */
struct code_answer {
	_Atomic uint32_t seq; /* odd: it is written */
	_Atomic uint32_t nwords;
	_Atomic uintptr_t pc;
	_Atomic uint64_t function; /* the frame without a line */
	_Atomic uint64_t line;	   /* with its line, if that is known */
	_Atomic(const struct code_module *) m;
	_Atomic(const struct code_file *) file; /* of the line; NULL: the module has no lines */
	struct safe_word words[FUNCTION_WORDS + LINE_WORDS];
};

struct code_table {
	unsigned n, njit, nignored;
	struct code_range jit[CODE_MAPS], shared;
	uintptr_t ignored[CODE_IGNORED];    /* in the JIT's memory, but of no module */
	struct code_answer *answers;	    /* by address: those that were given last */
	const struct code_module **modules; /* in the order of addresses, */
	uintptr_t from[];		    /* where these begin */
};

/* ---- code_lookup.c --------------------------------------------------------------------- */

/* The one that was there may be read until each counter of readers has been zero since. */
struct code_table *code_publish(struct code_table *t);
uint64_t code_readers_out(void); /* counters that are zero, as bits */
/* Addresses that were not known. */
bool code_was_lost(void); /* since code_none_lost() */
void code_none_lost(void);
uintptr_t code_take_lost(unsigned i);			/* a return address; 0: none */
void code_counts(uint64_t *unknown, uint64_t *changed); /* frames: not known; known as another */

/* ---- code_table.c ---------------------------------------------------------------------- */

struct code_summary {
	unsigned modules, functions;
	unsigned nfailed; /* that were not understood */
	bool changed;	  /* code was loaded, or is gone */
};
/* [{Module, fun Module:module_info/0, HasOldCode}]; false: nothing is as known, why says what. */
void code_note_stack_end(ErlNifEnv *env); /* before it, in a process */
bool code_refresh(ErlNifEnv *env, ERL_NIF_TERM list, struct code_summary *sum, char why[CODE_WHY]);
bool code_due(unsigned nmodules); /* is a refresh due, if so many modules are loaded? */
unsigned code_retired(void); /* tables that may still be read */
/* Tests: what is found of a module by its export, as one number (code_module_sum). */
bool code_read(
	ErlNifEnv *env, ERL_NIF_TERM mod, ERL_NIF_TERM fun, uint64_t *sum, char why[CODE_WHY]);

#pragma GCC visibility pop
#endif
