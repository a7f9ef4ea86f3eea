/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How deep calls go. The kernel lets functions that call each other have 512 bytes of stack in all,
 * of which each takes a multiple of 32 (before Linux 6.8), and go eight deep. Loops that are
 * callbacks (loop.c) are a call more, and take stack for registers. Where that is too much, the
 * first function on the way there that has such loops has its turns counted instead (bound.c): what
 * goes through texts is at the end of the way.
 */
#include <stdlib.h>
#include <string.h>

#include "piece.h"

enum { MOST_STACK = 512, SHARE = 32, MOST_CALLS = 8 };

struct depth {
	unsigned own;		    /* bytes of the function itself */
	unsigned stack, calls;	    /* with what it calls, at most */
	int most_stack, most_calls; /* the piece by which that is so, or -1 */
};

static unsigned end_of(const struct link *l, unsigned piece)
{
	return piece + 1 < l->npieces ? l->pieces[piece + 1].at : l->n;
}

static unsigned own_stack(const struct link *l, unsigned piece)
{
	unsigned at = l->pieces[piece].at, frame;

	frame = (unsigned)flow_frame(
		&(struct piece){.insns = l->out + at, .n = end_of(l, piece) - at, .func = NULL});
	return (frame + SHARE - 1 + (frame == 0)) / SHARE * SHARE;
}

/* No function calls itself, so this ends. */
static void measure(const struct link *l, struct depth *all, unsigned piece)
{
	struct depth *d = &all[piece];

	if (d->calls != 0)
		return;
	d->own = own_stack(l, piece);
	d->most_stack = d->most_calls = -1;
	for (unsigned i = 0; i < l->ncalls; i++) {
		const struct call *c = &l->calls[i];

		if (c->at < l->pieces[piece].at || c->at >= end_of(l, piece))
			continue;
		measure(l, all, c->piece);
		if (all[c->piece].stack > d->stack) {
			d->stack = all[c->piece].stack;
			d->most_stack = (int)c->piece;
		}
		if (all[c->piece].calls > d->calls) {
			d->calls = all[c->piece].calls;
			d->most_calls = (int)c->piece;
		}
	}
	d->stack += d->own;
	d->calls++;
}

static bool has_callbacks(const struct link *l, const struct ebpf_func *func)
{
	for (unsigned i = 0; i < l->npieces; i++)
		if (l->pieces[i].loop > 0 && l->pieces[i].func == func)
			return true;
	return false;
}

/*
 * The first on the way whose loops are to be counted from here on, if that makes the way shorter:
 * of calls only if a callback of it is on the way. Those whose loops call functions come last.
 */
static bool count_loops(struct link *l, const struct depth *all, bool by_stack, bool deep)
{
	int next;

	for (int i = 0; i >= 0; i = next) {
		const struct piece *p = &l->pieces[i];

		next = by_stack ? all[i].most_stack : all[i].most_calls;
		if (p->func == NULL || p->loop > 0 || !has_callbacks(l, p->func) ||
			loop_may_call(l, p->func) != deep)
			continue;
		if (!by_stack && (next < 0 || l->pieces[next].func != p->func))
			continue;
		l->counted[p->func - l->in->object->funcs] = true;
		return true;
	}
	return false;
}

bool depth_exceeds(struct link *l)
{
	struct depth *all = calloc(l->npieces + 1, sizeof(*all));
	bool again = false;

	if (all == NULL) {
		link_no_memory(l);
		return false;
	}
	measure(l, all, 0);
	if (all[0].stack > MOST_STACK)
		again = count_loops(l, all, true, false) || count_loops(l, all, true, true);
	else if (all[0].calls > MOST_CALLS)
		again = count_loops(l, all, false, false) || count_loops(l, all, false, true);
	free(all);
	return again;
}
