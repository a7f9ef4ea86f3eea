/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The facts of the VM that are found out (find.h), each in the file that reads it: what is observed
 * of processes of ours, and what it must come to. nif/find_nif.c has the list of all, and the NIF
 * by which erltrace_find.erl drives them.
 */
#ifndef BEAM_FACTS_H
#define BEAM_FACTS_H

#include <erl_nif.h>
#include <stdbool.h>

#include "find.h"

#pragma GCC visibility push(hidden)

/* erltrace_nif:find(Fact, Step | {Step, Arg}) */
struct find_step {
	ErlNifEnv *env;
	const ERL_NIF_TERM *argv;
	const char *name;
	bool has_arg;
	ERL_NIF_TERM arg; /* without one: undefined */
};

struct find_fact {
	const char *name; /* as erltrace_find.erl has it */
	struct find *find;
	void (*start)(ErlNifEnv *env); /* forget what was observed; NULL: nothing is */
	/*
	 * The steps of a search, and those that may come at any time: the NIF's answer. 0: there is
	 * no such step. NULL: there is none.
	 */
	ERL_NIF_TERM (*observe)(const struct find_step *s);
	ERL_NIF_TERM (*ask)(const struct find_step *s);
	bool (*conclude)(ErlNifEnv *env); /* from what was observed */
	void (*published)(void);	  /* it is known from now on; NULL: nothing is to be done */
};

/*
 * The process that runs the NIF, whose first word must be its pid; else NULL, and the fact is
 * refused.
 */
const uintptr_t *find_own_process(struct find *f, ErlNifEnv *env);

ERL_NIF_TERM find_answer(ErlNifEnv *env, const struct find *f, bool ok); /* ok | {refused, Why} */
ERL_NIF_TERM find_do(const struct find_fact *fact, const struct find_step *s);

#pragma GCC visibility pop
#endif
