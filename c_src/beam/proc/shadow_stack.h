/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shadow stacks (shadow_stack.c, probe path): which traced functions a process is in. A frame goes
 * by the number of words on the process's own stack at its entry, its level; where levels are not
 * known (layout.h), by the names of functions. The fast path, a few frames that come and go as
 * expected, is inline.
 */
#ifndef BEAM_SHADOW_STACK_H
#define BEAM_SHADOW_STACK_H

#include "beam/code/functions.h"
#include "beam/vm/layout.h"
#include "compiler.h"
#include "processes.h"

#pragma GCC visibility push(hidden)

struct beam_tail;

/*
 * A call with so many words on the stack; returns its depth, 1 for the outermost. tail: it takes
 * the place of the function that made it. end: the stack's, whose frames of return_to show what has
 * ended unseen; NULL: they are not looked at.
 */
unsigned beam_stack_enter_slow(struct beam_procs *t, struct beam_proc *p, const struct beam_fn *fn,
	unsigned level, const uintptr_t *end, bool *tail);
/* Somebody else's function was called at this level: what lies there has ended. */
void beam_stack_cut(struct beam_procs *t, struct beam_proc *p, unsigned level);
/* A call that is no tail call, among several sessions: what has no frame of this one's on it is
 * over (hibernation is not told of). end: of the stack. */
void beam_stack_cut_chains(struct beam_procs *t, struct beam_proc *p, unsigned level,
	const uintptr_t *end, unsigned slot);
/*
 * A call by the fast way, with so many words on the stack. What has no frame of that way any more
 * is over (hibernation is not told of).
 */
unsigned beam_stack_enter_fast(struct beam_procs *t, struct beam_proc *p, const struct beam_fn *fn,
	unsigned level, const uintptr_t *end, const struct beam_tail *tail);
/* An exception was caught: what was called at this level or deeper has ended. */
void beam_stack_raised(struct beam_procs *t, struct beam_proc *p, unsigned level);
/* Control returned at this level: the function that ended, or NULL; its depth. */
const struct beam_fn *beam_stack_return_slow(
	struct beam_procs *t, struct beam_proc *p, unsigned level, unsigned *depth);
/* The same where levels are not known: by the name of the function returned to. */
unsigned beam_stack_enter_by_name(
	struct beam_procs *t, struct beam_proc *p, const struct beam_fn *fn);
const struct beam_fn *beam_stack_return_by_name(struct beam_procs *t, struct beam_proc *p,
	const struct beam_fn *to, unsigned *depth);
/*
 * A call of fn, a function that tells of its ends, has ended: returns the function that control was
 * in, the last one of a chain of tail calls, with its depth and level. The calls that were replaced
 * tell of their ends then, too: for these it is beam_no_fn, which has no probes, as it is for calls
 * whose beginning was not seen.
 */
const struct beam_fn *beam_stack_told(struct beam_procs *t, struct beam_proc *p,
	const struct beam_fn *fn, unsigned *depth, unsigned *level);
extern const struct beam_fn beam_no_fn;
/* All of it ends. */
void beam_stack_clear(struct beam_procs *t, struct beam_proc *p);
/* Is the newest frame, so deep or deeper, that of a function whose end the fast way tells of? */
bool beam_stack_is_fast(struct beam_proc *p, unsigned level);
/* A function that is in the stack returned: its frame, and what lies above, end. Its depth. */
unsigned beam_stack_leave(struct beam_procs *t, struct beam_proc *p, const struct beam_fn *fn);

/*
 * Few frames deep, and one that lies deeper than the last, which is there still: nothing to look
 * after. marked: as in struct beam_handle.
 */
static inline bool beam_stack_deeper(
	const struct beam_proc *p, unsigned level, ErlNifEnv *env, bool marked)
{
	unsigned n = p->n, top;

	if (n == 0)
		return true;
	if (unlikely(n >= BEAM_INLINE_FRAMES))
		return false;
	top = p->frame[n - 1].top;
	return likely(top < level) &&
	       (!marked || likely(beam_stack_end(env)[-(long)top] == beam_words.mark));
}

static inline uint32_t beam_frame_top(const struct beam_fn *fn, unsigned level)
{
	return level + (beam_words.frame & -(unsigned)beam_fn_has(fn, TRAIT_LOCAL));
}

static inline unsigned beam_stack_push(
	struct beam_proc *p, const struct beam_fn *fn, unsigned level)
{
	unsigned n = p->n;

	p->frame[n].fn = fn;
	p->frame[n].level = level;
	p->frame[n].top = beam_frame_top(fn, level);
	return p->n = n + 1;
}

static inline unsigned beam_stack_enter(struct beam_procs *t, struct beam_proc *p,
	const struct beam_fn *fn, unsigned level, ErlNifEnv *env, bool marked, bool *tail)
{
	*tail = false;
	return likely(!beam_fn_has(fn, TRAIT_TELLS) && beam_stack_deeper(p, level, env, marked))
		       ? beam_stack_push(p, fn, level)
		       : beam_stack_enter_slow(
				 t, p, fn, level, marked ? beam_stack_end(env) : NULL, tail);
}

/* The newest of few frames ends. */
static inline bool beam_stack_newest(const struct beam_proc *p, unsigned level)
{
	return likely(p->n - 1 < BEAM_INLINE_FRAMES && p->frame[p->n - 1].level == level);
}

static inline const struct beam_fn *beam_stack_return(
	struct beam_procs *t, struct beam_proc *p, unsigned level, unsigned *depth)
{
	unsigned n = p->n;

	if (unlikely(!beam_stack_newest(p, level)))
		return beam_stack_return_slow(t, p, level, depth);
	*depth = n;
	p->n = n - 1;
	return p->frame[n - 1].fn;
}

#pragma GCC visibility pop
#endif
