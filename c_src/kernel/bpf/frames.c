/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks (probe path). They are taken in entries.c, where the context is that the helper needs;
 * here they are read.
 */
#include "engine/fire.h"
#include "engine/slot.h"
#include "engine/work.h"
#include "helpers.h"
#include "prog/builtins.h"
#include "prog/prog.h"
#include "prog/stack_marks.h"

/* A frame of a stack that was taken; the verifier is to see that it is within. */
static inline uint64_t frame(const char *stack, uint32_t n)
{
	__asm__ volatile("" : "+r"(n));
	return ((const uint64_t *)(const void *)stack)[n & K_FRAMES];
}

static inline const char *stack_of(struct en_thread *t, bool user)
{
	return k_buffer(t) + K_BUF + (user ? K_STACKS / 2 : 0);
}

/* What the n-th word counts: of a run of equal frames all do, though it is one and a mark. */
INLINE_HERE uint64_t k_frames_of(struct en_thread *t, uint64_t n)
{
	uint64_t word = frame(stack_of(t, true), (uint32_t)n);

	if (!stack_is_mark(word))
		return 1;
	return word != STACK_CUT ? (word & STACK_TIMES) - 1 : 0;
}

INLINE_HERE uint64_t k_user_depth(struct en_thread *t)
{
	uint64_t frames = unknown_zero(), n = t->k.nustack;

	for (uint64_t i = unknown_zero(); i < n; i++)
		frames += k_frames_of(t, i);
	return frames;
}

static inline uint64_t user_caller(struct en_thread *t)
{
	const char *from = stack_of(t, true);
	uint32_t at = t->k.ncaller > 0 ? t->k.ncaller : 1;

	if (t->k.nustack <= at)
		return 0;
	return frame(from, stack_is_times(frame(from, at)) ? at - 1 : at);
}

uint64_t k_stack_var(struct en_thread *t, uint64_t bi)
{
	switch (bi) {
	case BI_STACKDEPTH: return t->k.nstack;
	case BI_USTACKDEPTH: return k_user_depth(t);
	case BI_UCALLER: return user_caller(t);
	default: return t->k.nstack > 1 ? frame(stack_of(t, false), 1) : 0;
	}
}

/*
 * One word of a stack that was taken, as the clause has it; 1 where that is a frame. A function, so
 * that the loop around it is short: a kernel without arenas limits the instructions of a loop.
 */
INLINE_HERE uint64_t k_copy_word(struct en_thread *t, uint64_t *to, uint64_t n, uint64_t how)
{
	bool user = (how & STACK_KIND) != STACK_KERNEL;
	uint64_t word = frame(stack_of(t, user), (uint32_t)n);

	if (user && stack_is_mark(word)) {
		*to = how & STACK_AS_KEY ? stack_rounded(word) : word;
		return 0;
	}
	*to = user ? word | k_tag() : word;
	return 1;
}

RTFN(stack)
{
	struct en_thread *t = FIRE(ctx)->thread;
	uint64_t *pcs = (uint64_t *)(uintptr_t)a;
	bool user = (c & STACK_KIND) != STACK_KERNEL;
	uint64_t max = b / 8, most = c >> STACK_FRAMES, n = user ? t->k.nustack : t->k.nstack;
	uint64_t i = unknown_zero(), frames = unknown_zero(), end = n < max ? n : max;

	if (!work_bytes(FIRE(ctx), b))
		return 0;
	for (; i < end; i++) {
		frames += k_copy_word(t, &pcs[i], i, c);
		if (frames > most)
			break;
	}
	if ((c & STACK_SAYS_CUT) && i < n && max > 0) {
		i = i < max ? i : max - 1;
		pcs[i++] = STACK_CUT;
	}
	if (i < max)
		memset(pcs + i, 0, 8 * (max - i));
	return 0;
}

enum { CALL_WITHIN = 32 }; /* bytes: the call comes first, or behind an endbr64 */

/* ---- frames of tracing itself --------------------------------------------------------- */

struct search { /* in the arena: of what is there the verifier follows nothing */
	uint64_t lo, hi;
};

uint64_t k_is_tracing(struct en_thread *t, uint64_t address)
{
	struct search *s = (struct search *)(void *)t->k.big;

	s->lo = 0;
	s->hi = k_root.ntracing;
	for (uint64_t i = unknown_zero(); i < 20 && s->lo < s->hi; i++) {
		uint64_t mid = (s->lo + s->hi) / 2;

		if (address >= k_root.tracing[mid].end)
			s->lo = mid + 1;
		else if (address < k_root.tracing[mid].start)
			s->hi = mid;
		else
			return 1;
	}
	return 0;
}

/* How many of the first frames are of what calls programs at tracepoints, and of the program. */
uint64_t k_tracing_frames(struct en_thread *t, uint64_t n)
{
	const char *buf = k_buffer(t);
	uint64_t found = 0;

	for (uint64_t i = unknown_zero(); i < n && i < 8; i++)
		if (k_is_tracing(t, *(const uint64_t *)(const void *)(buf + K_BUF + 8 * (i & 7))))
			found = i + 1;
	return found;
}

/*
 * How many of the first frames are above that of a function which has just called a program: the
 * program, and what calls it. 0: the function is not among them.
 */
uint64_t k_frames_above(struct en_thread *t, uint64_t n, uint64_t func)
{
	const char *from = stack_of(t, false);

	for (uint32_t i = (uint32_t)unknown_zero(); i < n && i < K_FRAMES; i++)
		if (frame(from, i) - func < CALL_WITHIN)
			return i;
	return 0;
}
