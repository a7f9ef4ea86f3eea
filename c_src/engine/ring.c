/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trace buffers: a ring buffer of bytes with one writer, the slot's thread, and one reader. head
 * and tail count bytes since the start. A record does not wrap: if it does not fit before the end,
 * the rest is skipped as a REC_PAD (or is too short for a head). Policies: switch drops records
 * that do not fit; ring overwrites the oldest (the reader must wait until tracing has stopped, or
 * copy them as recording.c does: tail moves before the bytes behind it are overwritten, as the
 * version of a seqlock does); fill drops them too, and ends tracing.
 */
#include <string.h>

#include "clock.h"
#include "compiler.h"
#include "drop.h"
#include "engine.h"
#include "in_kernel.h"
#include "prog/record.h"
#include "ring.h"
#include "slot.h"
#include "engine/tables/spec.h"
#include "state.h"

/* ---- the rate limit --------------------------------------------------------------------- */

/* Records that a thread takes at once: against contention, but a small limit must serve all. */
static inline uint64_t rate_share(const struct en *en)
{
	return en->rate_limit < 1024 ? 1 + en->rate_limit / 64 : 16;
}

PROBE_PATH __attribute__((noinline)) bool rate_take(struct en_thread *t)
{
	struct en *en = t->en;
	uint64_t left, take;

	if (en->rate_limit == 0) {
		t->rate_left = UINT32_MAX;
		return true;
	}
	t->rate_left = 0;
	left = atomic_load(&en->rate.left);
	for (int i = ZERO(en); i < 64 && left > 0; i++) {
		take = left < rate_share(en) ? left : rate_share(en);
		if (atomic_compare_exchange_strong(&en->rate.left, &left, left - take)) {
			t->rate_left = (uint32_t)take - 1;
			return true;
		}
	}
	drop(t, DROP_RATE);
	return false;
}

#ifndef __bpf__ /* only in a node */
void en_rate_tick(struct en *en)
{
	uint64_t at = atomic_load(&en->rate.at), now = en_now();
	uint64_t more = (now - at) * en->rate_limit / 1000000000,
		 left = atomic_load(&en->rate.left);

	if (now < at || more == 0 || !atomic_compare_exchange_strong(&en->rate.at, &at, now))
		return;
	while (!atomic_compare_exchange_strong(
		&en->rate.left, &left, left + more < en->rate_limit ? left + more : en->rate_limit))
		;
}
#endif

/* ---- the ring --------------------------------------------------------------------------- */

/* Bytes from pos to the end of the ring. */
static inline uint64_t left_at(const struct ring *r, uint64_t pos)
{
	return r->size - pos;
}

/* Policy ring: drop the oldest record; dropping a commit discards its speculation. */
PROBE_PATH static INLINE_ALWAYS void forget(struct en_thread *t)
{
	struct ring *r = &t->ring;
	const struct rec_head *rec =
		ring_peek(r, atomic_load_explicit(&r->head, memory_order_relaxed));

	if (rec == NULL)
		return;
	if (rec->kind == REC_COMMIT)
		atomic_store(&t->en->spec.tab[rec->spec - 1].state, SPEC_DISCARDING);
	atomic_store_explicit(&r->overwritten,
		atomic_load_explicit(&r->overwritten, memory_order_relaxed) + 1,
		memory_order_relaxed);
	ring_next(r, rec);
}

PROBE_PATH static bool make_room(struct en_thread *t, uint64_t need)
{
	struct ring *r = &t->ring;
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);

	if (likely(r->size - (head - r->tail_seen) >= need))
		return true;
	if (need > r->size)
		return false;
	if (t->en->policy == BUFPOLICY_RING) { /* bounded: each record is at least a head long */
		while (r->size - (head - atomic_load_explicit(&r->tail, memory_order_relaxed)) <
			need)
			forget(t);
		STORES_IN_ORDER();
	}
	r->tail_seen = atomic_load_explicit(&r->tail, memory_order_acquire);
	return r->size - (head - r->tail_seen) >= need;
}

/* Skip the pad bytes at the end of the ring; returns 0, the padding still needed. */
PROBE_PATH static __attribute__((noinline)) uint64_t put_pad(struct ring *r, uint64_t pad)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);

	if (pad >= sizeof(struct rec_head)) {
		struct rec_head *h = (struct rec_head *)(void *)(r->mem + r->wpos);

		h->size = (uint32_t)pad;
		h->kind = REC_PAD;
	}
	r->wpos = 0;
	atomic_store_explicit(&r->head, head + pad, memory_order_release);
	return 0;
}

PROBE_PATH bool ring_put(struct en_thread *t, const void *rec, uint32_t size)
{
	struct ring *r = &t->ring;
	uint64_t head, pad = 0;
	struct en *en = t->en;

	if (en->policy == BUFPOLICY_FILL && atomic_load_explicit(&en->filled, memory_order_relaxed))
		goto full;
	if (left_at(r, r->wpos) < size)
		pad = left_at(r, r->wpos);
	/* Both may never fit at once: write the pad first, or no record would fit ever again. */
	if (unlikely(pad + size > r->size && size <= r->size && make_room(t, pad)))
		pad = put_pad(r, pad);
	if (size > r->size || !make_room(t, pad + size)) {
		if (en->policy == BUFPOLICY_FILL)
			atomic_store_explicit(&en->filled, true, memory_order_relaxed);
		goto full;
	}
	if (unlikely(pad != 0))
		put_pad(r, pad);
	head = atomic_load_explicit(&r->head, memory_order_relaxed);
	memcpy(r->mem + r->wpos, rec, size);
	r->wpos += size;
	if (r->wpos == r->size)
		r->wpos = 0;
	atomic_store_explicit(&r->head, head + size, memory_order_release);
	return true;
full:
	drop(t, DROP_PRINCIPAL);
	return false;
}

static inline void advance(struct ring *r, uint64_t n)
{
	r->rpos += n;
	if (r->rpos == r->size)
		r->rpos = 0;
	atomic_store_explicit(&r->tail, atomic_load_explicit(&r->tail, memory_order_relaxed) + n,
		memory_order_release);
}

/* The oldest record, if it was written before head. */
PROBE_PATH const struct rec_head *ring_peek(struct ring *r, uint64_t head)
{
	const struct rec_head *rec;

	for (int i = 0; i < 2; i++) { /* at most one pad precedes it */
		if (atomic_load_explicit(&r->tail, memory_order_relaxed) == head)
			return NULL;
		rec = (const struct rec_head *)(const void *)(r->mem + r->rpos);
		if (left_at(r, r->rpos) < sizeof(*rec))
			advance(r, left_at(r, r->rpos));
		else if (rec->kind == REC_PAD)
			advance(r, rec->size);
		else
			return rec;
	}
	return NULL;
}

PROBE_PATH void ring_next(struct ring *r, const struct rec_head *rec)
{
	advance(r, rec->size);
}
