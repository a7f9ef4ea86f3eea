/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the trace buffers: a merge of the records of all slots, by time. To keep the order from
 * one call to the next, a call delivers only records older than its start. It first waits for a
 * grace period: every firing that read the clock before has then ended, so nothing older can still
 * arrive.
 */
#include <stdlib.h>

#include "engine/tables/agg.h"
#include "clock.h"
#include "engine.h"
#include "prog/record.h"
#include "ring.h"
#include "slot.h"
#include "engine/tables/spec.h"
#include "state.h"

/* One slot in the merge, at its next record. */
struct front {
	uint64_t ts;
	uint64_t head; /* read up to here */
	unsigned thread;
	const struct rec_head *rec;
};

struct heap {
	struct front *at;
	unsigned n;
};

static bool before(const struct front *a, const struct front *b)
{
	return a->ts != b->ts ? a->ts < b->ts : a->thread < b->thread;
}

static void sift_down(struct heap *h, unsigned i)
{
	for (;;) {
		unsigned least = i;
		struct front f;

		for (unsigned k = 2 * i + 1; k <= 2 * i + 2 && k < h->n; k++)
			if (before(&h->at[k], &h->at[least]))
				least = k;
		if (least == i)
			return;
		f = h->at[i];
		h->at[i] = h->at[least];
		h->at[least] = f;
		i = least;
	}
}

static bool advance(struct en *en, struct front *f, uint64_t cutoff)
{
	f->rec = ring_peek(&en_slot(en, f->thread)->ring, f->head);
	if (f->rec == NULL || f->rec->ts > cutoff)
		return false;
	f->ts = f->rec->ts;
	return true;
}

static int deliver(struct en *en, const struct front *f, en_rec_cb cb, void *arg)
{
	const struct rec_head *rec = f->rec;
	struct ring *r = &en_slot(en, f->thread)->ring;
	int rc;

	en->delivers_noted = atomic_load_explicit(&r->tail, memory_order_relaxed) < r->noted;
	if (rec->kind != REC_COMMIT) {
		rc = cb(arg, f->thread, rec);
		ring_next(r, rec);
		return rc;
	}
	en->spec_reading = rec->spec;
	ring_next(r, rec);
	return spec_deliver(en, en->spec_reading, cb, arg);
}

/* All slots, merged by time. */
static int merge(struct en *en, struct heap *h, uint64_t cutoff, en_rec_cb cb, void *arg)
{
	int rc = 0;

	for (unsigned i = h->n / 2; i-- > 0;)
		sift_down(h, i);
	while (h->n > 0 && rc == 0) {
		rc = deliver(en, &h->at[0], cb, arg);
		if (!advance(en, &h->at[0], cutoff))
			h->at[0] = h->at[--h->n];
		sift_down(h, 0);
	}
	return rc;
}

/* Slot by slot: temporal is off. */
static int read_unordered(struct en *en, struct heap *h, uint64_t cutoff, en_rec_cb cb, void *arg)
{
	int rc = 0;

	for (unsigned i = 0; i < h->n && rc == 0; i++)
		do {
			rc = deliver(en, &h->at[i], cb, arg);
		} while (rc == 0 && advance(en, &h->at[i], cutoff));
	return rc;
}

static bool anything(const struct en *en, uint32_t n)
{
	for (unsigned i = 0; i < n; i++) {
		struct ring *r = &en_slot(en, i)->ring;

		if (atomic_load_explicit(&r->head, memory_order_acquire) !=
			atomic_load_explicit(&r->tail, memory_order_relaxed))
			return true;
	}
	return false;
}

bool en_is_noted(const struct en *en)
{
	return en->delivers_noted;
}

bool en_pending(const struct en *en)
{
	return en->slots != NULL && anything(en, atomic_load((_Atomic(uint32_t) *)&en->nslots));
}

enum en_unread en_unread(const struct en *en)
{
	if (en->slots == NULL)
		return EN_NOTHING;
	if (en->policy != BUFPOLICY_SWITCH || en->spec_reading != 0 || en_pending(en))
		return EN_URGENT;
	return agg_unread(en);
}

void en_consume_until(struct en *en, uint64_t ns)
{
	en->until = ns;
}

int en_consume(struct en *en, en_rec_cb cb, void *arg)
{
	bool over = en->state == EN_STOPPED, temporal = en->opts->val[OPT_TEMPORAL];
	/* a commit waits for all slots; a replay has one thread, and another time */
	bool wait = !over && !en->opts->replay && (temporal || en->spec.n > 0);
	uint64_t cutoff = wait ? en_now() : UINT64_MAX;
	uint32_t n = atomic_load(&en->nslots);
	struct heap h = {0};
	int rc = 0;

	if (!over && cutoff > en->until)
		cutoff = en->until;
	if (en->slots == NULL || (en->policy != BUFPOLICY_SWITCH && !over))
		return 0;
	if (en->spec_reading != 0 && (rc = spec_deliver(en, en->spec_reading, cb, arg)) != 0)
		return rc;
	if (!anything(en, n))
		return 0;
	if (wait)
		en_grace(en, 20);
	h.at = malloc(n * sizeof(*h.at));
	if (h.at == NULL)
		return 0; /* nothing is lost: the next call tries again */
	for (unsigned i = 0; i < n; i++) {
		struct front *f = &h.at[h.n];
		struct en_thread *t = en_slot(en, i);

		if (!atomic_load_explicit(&t->ready, memory_order_acquire))
			continue;
		f->thread = i;
		f->head = atomic_load_explicit(&t->ring.head, memory_order_acquire);
		h.n += advance(en, f, cutoff);
	}
	rc = temporal ? merge(en, &h, cutoff, cb, arg) : read_unordered(en, &h, cutoff, cb, arg);
	free(h.at);
	return rc;
}
