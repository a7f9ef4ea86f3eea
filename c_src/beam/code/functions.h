/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Erlang functions that have probes (functions.c). A call finds its function by three words:
 * module, name, arity (probe path).
 *
 * In this folder:
 *
 *   functions.c    the functions that have probes (probe path)
 *   erl_stack.c    Erlang stacks, walked (probe path)
 *   code_lookup.c  loaded code by address: functions and lines (probe path)
 *   code_table.c   the table for that, and how it is renewed
 *   code_find.c    how the VM lays out the code of a module; found out, not assumed
 *   code_names.c   frames of stacks as words, and their texts
 *   vm_frames.c    frames that are no Erlang functions
 */
#ifndef BEAM_FUNCTIONS_H
#define BEAM_FUNCTIONS_H

#include <erl_nif.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beam/erl_probes.h"
#include "beam/vm/vm_facts.h"
#include "compiler.h"
#include "prog/prog.h"

#pragma GCC visibility push(hidden)

struct beam_slab;
struct en;
struct en_probe;
struct et_str;

enum beam_fnkind { FN_ERLANG, FN_BIF, FN_NIF };

/* What an event needs of a clause that it runs alone. */
struct beam_clause {
	ebpf_entry entry;
	const struct prog_clause *prog;
	bool bare;	    /* of the event it reads no more than its arguments and the time */
	_Atomic bool timed; /* it read timestamp the last time: whoever fires may read it early */
};

/* The sole probe that an event fires, with one clause: nothing of the engine has to be read. */
struct beam_sole {
	struct en_probe *probe;
	struct beam_clause *clause; /* NULL: it is not so simple */
	uint32_t id, epid;    /* as in struct en_ecb */
};

/*
 * An Erlang function that probes exist for: found by its three words when it is called. Where very
 * many are called in turn, nothing of them is in the caches: a call reads one line, a return two.
 */
struct beam_fn {
	ERL_NIF_TERM mod, fun;
	struct beam_fn *next;	/* in the bucket */
	struct et_str *mfa;	/* "lists:seq/2" */
	struct beam_sole call;
	uint16_t arity_term;	/* its lower half tells it from all others */
	uint8_t nentry;		/* enabled probes, from arm on: what an event fires */
	uint8_t fast;		/* FAST_*; 0: its calls do not go the fast way */
	_Atomic uint32_t traits; /* beam_fn_has() */
	struct beam_sole end;	/* a return's */
	const struct et_str *end_func; /* probefunc */
	uint32_t number;	       /* the fast way: its number in frames; 0: it is traced */
	uint8_t nret;
	uint8_t user; /* 1 + enum beam_user: a function of dyntrace's or erl_ddll's */
	uint8_t nval; /* enabled probes that read what it returns: return_trace */
	uint8_t nexc; /* enabled probes of exceptions that end its calls */
	struct en_probe *entry[5], *ret[4], *exc[1];
	struct en_probe *probe[BP_NFUNCTIONS]; /* by name; NULL: no description names it */
	struct en_probe *val[4];
	char *name;		/* "seq" */
	uint64_t last;		/* what its counter was */
	uint8_t arity;
} __attribute__((aligned(64)));
_Static_assert(offsetof(struct beam_fn, end) == 64, "a call reads one cache line");

/* What is true of a function: bits of its traits. Events may be looking: they change one by one. */
enum beam_fn_trait {
	TRAIT_CALL_PID,	 /* call.probe's clause reads the process */
	TRAIT_END_PID,	 /* end.probe's does */
	TRAIT_END_MFA,	 /* ... and the function */
	TRAIT_SPECIAL,	 /* user, hibernate, label, follow, keep or tells; or number is not 0 */
	TRAIT_LOCAL,	 /* armed by a [local] pattern: return_to tells of its end */
	TRAIT_HIBERNATE, /* proc_lib:hibernate/3 */
	TRAIT_LABEL,	 /* proc_lib:set_label/1 */
	TRAIT_KEEP,	 /* clauses of its ends read its arguments */
	TRAIT_KEEP_ALL,	 /* ... and not just what is noted of them (call_probes.c) */
	TRAIT_NOTES,	 /* what it returns is noted */
	TRAIT_FOLLOW,	 /* a clause of its entries calls follow() */
	TRAIT_ASKS_FLOW, /* ... and asks for flowid before it does */
	TRAIT_END_ASKS,	 /* the fast way: as FAST_ASKS; */
	TRAIT_OWN_FRAME, /* ... the end of each call is to be seen, in a chain of tail calls too */
	TRAIT_TELLS,	 /* exception_trace: each of its calls tells of its end itself */
	TRAIT_READY,	 /* nentry and the rest are as they will be */
	TRAIT_ERLANG,	 /* no BIF or NIF */
	TRAIT_COUNTED,	 /* by the VM: its events fire nothing (counters.c) */
};

static inline bool beam_fn_has(const struct beam_fn *fn, enum beam_fn_trait t)
{
	return atomic_load_explicit(&fn->traits, memory_order_relaxed) >> t & 1;
}

/* Written only if it is not so yet. */
static inline void beam_fn_add(struct beam_fn *fn, enum beam_fn_trait t, bool on)
{
	if (on && !beam_fn_has(fn, t))
		atomic_fetch_or_explicit(&fn->traits, 1u << t, memory_order_relaxed);
}

static inline void beam_fn_put(struct beam_fn *fn, enum beam_fn_trait t, bool on)
{
	beam_fn_add(fn, t, on);
	if (!on && beam_fn_has(fn, t))
		atomic_fetch_and_explicit(&fn->traits, ~(1u << t), memory_order_relaxed);
}

enum {
	FAST_TAKES = 1, /* calls of this function */
	FAST_FRAMED = 2, /* their end is to be seen */
	FAST_ASKS = 4,	/* a clause reads terms or the stack */
	FAST_MORE = 8,	/* they do more than to fire: label or keep */
};

/*
 * nentry, nret, nval or nexc, before the probes that it counts: both may be told while events come.
 */
static inline unsigned beam_nprobes(const uint8_t *n)
{
	return __atomic_load_n(n, __ATOMIC_ACQUIRE);
}

static inline unsigned beam_fast(const struct beam_fn *fn)
{
	return __atomic_load_n(&fn->fast, __ATOMIC_ACQUIRE);
}

struct beam_functions {
	struct beam_fn **buckets; /* NULL: no function at all */
	uint64_t mask;		  /* nbuckets - 1 */
	unsigned n, nbuckets;
	void *buckets_map;	  /* what is to be freed of them */
	struct beam_slab *slabs;  /* the functions' memory */
};

/* A function that probes of others need, made if it is not there. */
struct beam_fn *beam_function_need(struct beam_functions *f, const struct en *en, ErlNifEnv *env,
	ERL_NIF_TERM mod, ERL_NIF_TERM fun, unsigned arity);
int beam_functions_room(struct beam_functions *f, unsigned n); /* before events look there */
void beam_functions_free(struct beam_functions *f);

static inline struct beam_fn *beam_function_find(
	const struct beam_functions *f, ERL_NIF_TERM mod, ERL_NIF_TERM fun, ERL_NIF_TERM arity)
{
	struct beam_fn *fn;

	if (unlikely(f->buckets == NULL))
		return NULL;
	/* while a script runs, functions of modules loaded since are put in front */
	fn = __atomic_load_n(&f->buckets[beam_hash_fn(mod, fun, (uint32_t)arity) & f->mask],
		__ATOMIC_ACQUIRE);
	while (fn != NULL &&
		unlikely(fn->fun != fun || fn->mod != mod || fn->arity_term != (uint16_t)arity))
		fn = fn->next;
	return fn;
}

#pragma GCC visibility pop
#endif
