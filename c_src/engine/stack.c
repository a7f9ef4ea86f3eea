/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks of the firing thread (probe path): the provider's own, or the chain of frame pointers from
 * where the probe fired. Every frame is read safely, addresses must increase, and the number of
 * frames is bounded by what was asked for.
 */
#include "compiler.h"
#include "fire.h"
#include "prog/stack_marks.h"
#include "safe.h"
#include "slot.h"
#include "work.h"

PROBE_PATH unsigned stack_user(struct fire *f, uint64_t *pcs, unsigned max, bool lines)
{
	uint64_t frame[2], at = (uint64_t)(uintptr_t)f->thread->frame;
	unsigned n = 0;

	if (f->cur != NULL && f->cur->ustack != NULL)
		return f->cur->ustack(f->cur, pcs, max, lines);
	while (n < max && at != 0 && at % 8 == 0) {
		if (safe_copy(frame, (const void *)(uintptr_t)at, sizeof(frame)) != 0 ||
			frame[1] == 0)
			break;
		pcs[n++] = frame[1];
		if (frame[0] <= at)
			break;
		at = frame[0];
	}
	return n;
}

/* The frames that the clause has asked for; the words that these take. */
PROBE_PATH static unsigned cut(uint64_t *pcs, unsigned n, unsigned max, uint64_t how)
{
	const uint64_t most = how >> STACK_FRAMES;
	uint64_t frames = 0;
	unsigned i;

	for (i = 0; i < n; i++) {
		frames += !stack_is_mark(pcs[i]);
		if (frames > most)
			break;
		if (how & STACK_AS_KEY)
			pcs[i] = stack_rounded(pcs[i]);
	}
	if ((how & STACK_SAYS_CUT) && (i < n || n == max)) {
		i = i < max ? i : max - 1;
		pcs[i++] = STACK_CUT;
	}
	return i;
}

PROBE_PATH unsigned stack_depth(const uint64_t *pcs, unsigned n)
{
	uint64_t depth = 0;

	for (unsigned i = 0; i < n; i++)
		if (!stack_is_mark(pcs[i]))
			depth++;
		else if (stack_is_times(pcs[i]))
			depth += (pcs[i] & STACK_TIMES) - 1;
	return (unsigned)depth;
}

/* stack() and the like: there is no kernel below, so a kernel stack has no frames. */
RTFN(stack)
{
	struct fire *f = FIRE(ctx);
	uint64_t *pcs = (uint64_t *)(uintptr_t)a;
	unsigned max = (unsigned)(b / 8), n = 0;

	if (!work_bytes(f, b)) /* eight per frame, about what walking it costs */
		return 0;
	if ((c & STACK_KIND) != STACK_KERNEL)
		n = cut(pcs, stack_user(f, pcs, max, true), max, c);
	for (; n < max; n++)
		pcs[n] = 0;
	return 0;
}
