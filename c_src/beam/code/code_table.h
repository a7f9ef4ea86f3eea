/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an address of the JIT's code to module:function/arity and file:line, without the VM's
 * symbols (code_lookup.c). The table is made and kept up to date by erltrace_code.erl, while
 * scripts that record Erlang stacks run.
 *
 */
#ifndef BEAM_CODE_TABLE_H
#define BEAM_CODE_TABLE_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stdint.h>

#include "beam/vm/facts.h"

#pragma GCC visibility push(hidden)

extern const struct find_fact beam_code_fact;
bool beam_code_known(void);	     /* it was found, and tested on code of our own */
const char *beam_code_refusal(void); /* why not; "": nobody has searched yet */

/*
 * The frame (code_names.h) of the function that has code at pc, with the file and line of pc if
 * these are asked for and known; 0: no Erlang code is known to be there. pc is an address inside of
 * the call: of a return address the one before. The code is alive: somebody is about to run it.
 * Wait-free, in any thread, in signal handlers too if they leave SIGSEGV and SIGBUS unblocked.
 * (probe path)
 *
 */
uint64_t beam_code_frame(uintptr_t pc, bool line);
/* The frame of a function by its name, without a line. (probe path) */
uint64_t beam_code_function(ERL_NIF_TERM mod, ERL_NIF_TERM fun, unsigned arity);
/*
 * The same with a file and a line that the VM has told; 0: there is no room for these. Takes a
 * lock.
 */
uint64_t beam_code_told(ERL_NIF_TERM mod, ERL_NIF_TERM fun, unsigned arity, const char *file,
	size_t len, unsigned line);

/*
 * The same for the frames of a stack: between begin and end the table stays as it is. (probe path)
 */
struct code_table;
struct code_walk {
	const struct code_table *t;
	const struct code_module *m; /* whose line table, and name of this file, were compared */
	const struct code_file *file;
	unsigned reader;
};
bool beam_code_begin(struct code_walk *w); /* false: there is no table; ends all the same */
void beam_code_end(const struct code_walk *w);
uint64_t beam_code_at(struct code_walk *w, uintptr_t pc, bool line);
/*
 * Is this word of a stack, which beam_code_at() did not know, a return address all the same? Then
 * the table is renewed soon.
 */
bool beam_code_lost(const struct code_walk *w, uintptr_t word);
/* Is it in the code that all modules share: where frames of the VM's own return to? */
bool beam_code_shared(const struct code_walk *w, uintptr_t word);

#pragma GCC visibility pop
#endif
