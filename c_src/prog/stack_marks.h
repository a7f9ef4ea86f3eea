/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words of a stack that are no frames. A run of equal frames, as a recursion leaves it, is one frame
 * and how often it is there, so that a deep recursion does not take the place of its callers. Where
 * frames are left out, there is a mark.
 *
 * No frame has these bits: addresses of programs have 47 bits and, above these, 13 for their process
 * (engine/procs.h); addresses of the kernel, Erlang functions and names have the highest bit.
 */
#ifndef PROG_STACK_MARKS_H
#define PROG_STACK_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#define STACK_MARK  (UINT64_C(7) << 60)
#define STACK_CUT   (STACK_MARK | UINT64_C(1) << 59) /* here frames are left out */
#define STACK_LEAST (UINT64_C(1) << 32)		  /* the frame is there so often, or more */
#define STACK_TIMES UINT64_C(0xffffffff)
#define STACK_EXACT 15 /* repeats that are told exactly in keys */

/*
 * What RT_stack is asked for: a kind (prog.h), this, and above it the number of frames. There is
 * room for some marks more.
 */
enum { STACK_KIND = 3, STACK_AS_KEY = 4, STACK_SAYS_CUT = 8, STACK_FRAMES = 8 };
enum { STACK_MORE = 16 };

static inline bool stack_is_mark(uint64_t word)
{
	return word >> 60 == 7;
}

static inline bool stack_is_times(uint64_t word)
{
	return stack_is_mark(word) && word != STACK_CUT;
}

/* The next frame of a stack, so many times; false: no room. (probe path) */
static inline bool stack_push(
	uint64_t *words, unsigned *n, unsigned max, uint64_t frame, uint64_t times)
{
	unsigned at = *n;

	if (at > 1 && stack_is_times(words[at - 1]) && words[at - 2] == frame) {
		words[at - 1] += times;
		return true;
	}
	if (at > 0 && words[at - 1] == frame) {
		if (frame == STACK_CUT)
			return true;
		times++;
	} else {
		if (at >= max)
			return false;
		words[at++] = frame;
		*n = at;
	}
	if (times == 1)
		return true;
	if (at >= max)
		return false;
	words[at++] = STACK_MARK | times;
	*n = at;
	return true;
}

/*
 * Keys of an aggregation are few: of many repeats they have a power of two, so that the stacks of a
 * recursion are not one for each depth.
 */
static inline uint64_t stack_rounded(uint64_t word)
{
	uint64_t times = word & STACK_TIMES;

	if (!stack_is_times(word) || times <= STACK_EXACT)
		return word;
	times |= times >> 1; /* no loop: the kernel's verifier follows each round of one */
	times |= times >> 2;
	times |= times >> 4;
	times |= times >> 8;
	times |= times >> 16;
	return STACK_MARK | STACK_LEAST | (times - (times >> 1));
}

#endif
