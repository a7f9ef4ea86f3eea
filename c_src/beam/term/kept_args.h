/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arguments of a call until it returns (kept_args.c, probe path), for scripts that read them at
 * function-return and the like.
 */
#ifndef BEAM_KEPT_ARGS_H
#define BEAM_KEPT_ARGS_H

#include <erl_nif.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "beam/free_list.h"

#pragma GCC visibility push(hidden)

struct beam_fn;

#define BEAM_KEPT_WORDS 1017 /* for the arguments of a call, which have equal shares */
#define BEAM_KEPT	8192 /* calls: 64 MiB */

struct beam_kept {
	struct beam_kept *below; /* of the same process */
	const struct beam_fn *fn;
	uint32_t depth;
	_Atomic uint32_t next; /* in the list of free ones: index + 1 */
	bool cut;	       /* parts of the arguments were left out; */
	bool met;	       /* a clause has met one of these */
	uint64_t at;	       /* ns: when it was called */
	ERL_NIF_TERM note;     /* what a probe of this function needs of it (call_probes.c) */
	ERL_NIF_TERM args;     /* a list, as the VM would have it, in these words */
	ERL_NIF_TERM word[BEAM_KEPT_WORDS];
};

struct beam_kept_pool {
	struct beam_kept *tab; /* NULL: no clause of a return reads arguments */
	char pad[64];
	struct free_list free;
	_Atomic uint64_t lost; /* calls whose arguments are not there at their return */
	_Atomic uint64_t cut;  /* calls where a clause has met a part that was left out */
	char pad2[64];
};

int beam_kept_init(struct beam_kept_pool *pool);
void beam_kept_fini(struct beam_kept_pool *pool);

/*
 * A process, with these calls that are kept, calls fn, which is so deep on its shadow stack, with
 * this list of arguments. all: they are kept, else the call alone. NULL: there is no room.
 */
struct beam_kept *beam_kept_call(struct beam_kept_pool *pool, struct beam_kept **calls,
	const struct beam_fn *fn, unsigned depth, bool all, ErlNifEnv *env, ERL_NIF_TERM list);
/* fn returns: what was kept, until beam_kept_drop(); NULL: nothing, which is counted. */
struct beam_kept *beam_kept_return(struct beam_kept_pool *pool, struct beam_kept **calls,
	const struct beam_fn *fn, unsigned depth);
/* Of calls so deep and deeper; they are no longer used. */
void beam_kept_drop(struct beam_kept_pool *pool, struct beam_kept **calls, unsigned depth);

/* Does this stand for a part of these arguments that was left out? */
bool beam_kept_left_out(const struct beam_kept *k, ERL_NIF_TERM t);
/* What the type of such a part was; "..." if that was not kept either. */
const char *beam_kept_type(ERL_NIF_TERM t);
/*
 * The same as beam_kept_left_out() for the tail of a list, and whole: for all of its parts. Terms
 * that are not in there have none.
 */
bool beam_kept_has_left_out(const struct beam_kept *k, ERL_NIF_TERM t, bool whole);
bool beam_kept_lacks_keys(const struct beam_kept *k, ERL_NIF_TERM map);

#pragma GCC visibility pop
#endif
