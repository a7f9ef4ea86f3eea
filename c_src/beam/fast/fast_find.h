/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the JIT's code calls what the core hooks (fast_find.c). Found by the shape of the code
 * around it, checked against what processes of ours show, and refused at the first thing that is
 * not as in the releases that we know.
 *
 */
#ifndef BEAM_FAST_FIND_H
#define BEAM_FAST_FIND_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beam/vm/find.h"
#include "core/core.h"

#pragma GCC visibility push(hidden)

/* What was found so far; the steps are taken in this order, each in a process of its own. */
struct fast_found {
	struct core_vm vm;
	struct core_word entry, ret, error;
};
extern struct find fast_search; /* why it was refused */

/*
 * NIF env of a process inside one(1) called by two(), both of module mod (erltrace_fastcalls.erl).
 */
bool fast_find_code(struct fast_found *f, ErlNifEnv *env, ERL_NIF_TERM mod, ERL_NIF_TERM fun);
/* In a function that is called under call_time. */
bool fast_find_return(struct fast_found *f, ErlNifEnv *env);
/* Under so many handlers: 0, 1, 2, in turn. */
bool fast_find_catches(struct fast_found *f, ErlNifEnv *env, unsigned n);
/* Before (0) and after (1) the process became sensitive. */
bool fast_find_sensitive(struct fast_found *f, ErlNifEnv *env, unsigned n);
/* All is there: the words can be written, and hold addresses of the VM itself. */
bool fast_find_words(struct fast_found *f);

/*
 * Return addresses of the JIT's calls of the garbage collector and of BIFs, near this code; 0:
 * none, or several. stop: offset of a process's stack pointer.
 */
uintptr_t fast_find_gc_return(uintptr_t near);
uintptr_t fast_find_bif_return(uintptr_t near, uint8_t stop);
/* The only other address after a call where the code goes on as here; 0: none, or several. */
uintptr_t fast_find_like(uintptr_t ret);

/*
 * For tests: the n-th byte, or word, that is read from now on is another; 0: none. How many were
 * read.
 */
void fast_find_flip(uint64_t n);
uint64_t fast_find_bytes(void);
void fast_find_spoil(uint64_t n);
uint64_t fast_find_words_read(void);
/* For tests: what is wrong with mappings that have these permissions; NULL: none. */
enum fast_map_fault { MAP_MISSING, MAP_OF_OTHER_FILE, MAP_ELSEWHERE };
void fast_find_maps(const char *perms, enum fast_map_fault fault);

#pragma GCC visibility pop
#endif
