/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a firing, which runtime functions work on (probe path). */
#ifndef EN_FIRE_H
#define EN_FIRE_H

#include <stdatomic.h>
#include <stdint.h>

#include "clock.h"
#include "compiler.h"
#include "current.h"
#include "prog/firing.h"
#include "prog/prog.h"
#include "prog/record.h"
#include "prog/rt.h"

struct dyn_node;
struct en;
struct en_probe;
struct en_thread;

struct fire {
	struct fire_ctx; /* what bytecode reads */
	uint32_t spec; /* id of speculate(), or 0 */
	/* of a clause: zeroed before each one */
	uint32_t rec_tail; /* bytes of strings after the fixed part so far */
	uint32_t alloca_used;
	/*
	 * of a firing: zeroed before each one, ts, and from here to memo_word, by fire_set_up and
	 * fire_fill
	 */
	uint64_t vts, wts; /* as ts */
	struct dyn_node *memo; /* the dynamic variable looked up last, or NULL: dyn.c */
	uint64_t work;	       /* so far: work.h */
	uint64_t cpu1;	       /* the CPU, plus one; 0: nobody has asked yet */
	/* ---- */
	uint64_t memo_word;
	uint64_t self; /* key of self-> variables */
	struct en *en;
	struct en_thread *thread;
	struct en_probe *probe;
	const struct prog_clause *clause;
	const struct en_current *cur;
	uint64_t fault_addr;
	uint32_t memo_var;
	uint64_t key[PROG_MAX_KEYS]; /* in the kernel: the key passed to a runtime function */
	uint64_t times; /* en_fire_times only */
};

/* A runtime function. Not all of them use all arguments. */
#define RTFN(name)                                                                                 \
	PROBE_PATH uint64_t rt_##name(__attribute__((unused)) uint64_t ctx,                        \
		__attribute__((unused)) uint64_t a, __attribute__((unused)) uint64_t b,            \
		__attribute__((unused)) uint64_t c, __attribute__((unused)) uint64_t d)
#define FIRE(ctx) ((struct fire *)(uintptr_t)(ctx))

static inline void set_fault(struct fire *f, uint32_t fault, uint64_t addr)
{
	if (f->fault == 0) {
		f->fault = fault;
		f->fault_addr = addr;
	}
}

static inline uint64_t fire_ts(struct fire *f)
{
	if (f->ts == 0)
		f->ts = clock_now();
	return f->ts;
}

/* Append the process that fires to a record, which has room for it; returns the bytes added. */
#ifdef __bpf__
static inline uint32_t rec_add_process(struct fire *f, struct rec_head *rec)
{
	(void)f, (void)rec;
	return 0;
}
#else
uint32_t rec_add_process(struct fire *f, struct rec_head *rec);
#endif
bool en_fire_error(struct fire *f); /* false: ERROR has no clauses */

#endif
