/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speculations. An id is free, active, being committed or discarded, then rinsing until no firing
 * can still be writing to it (a grace period), then free again. Each slot has specsize bytes of
 * memory, divided into blocks; a speculation's records in a slot are a list of blocks. Only the
 * slot's thread takes blocks; the cleaner returns them through a separate list.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/clock.h"
#include "compiler.h"
#include "engine/drop.h"
#include "engine/engine.h"
#include "engine/fire.h"
#include "prog/prog.h"
#include "prog/record.h"
#include "prog/rt.h"
#include "engine/region.h"
#include "engine/ring.h"
#include "engine/slot.h"
#include "spec.h"
#include "engine/state.h"

struct block {
	_Atomic(uint32_t) next; /* block number + 1; 0: the last */
	_Atomic(uint32_t) used; /* bytes of records */
	char rec[];
};

static inline struct block *block_at(const struct en_thread *t, uint32_t number)
{
	return (struct block *)(void *)(t->spec.mem + (size_t)(number - 1) * t->en->spec.block);
}

/* ---- the probe path ------------------------------------------------------------------- */

/* A free block; 0: none. */
PROBE_PATH static uint32_t block_new(struct en_thread *t)
{
	uint32_t b = t->spec.free;

	if (b == 0)
		b = atomic_exchange_explicit(&t->spec.back, 0, memory_order_acquire);
	if (b != 0)
		t->spec.free = atomic_load_explicit(&block_at(t, b)->next, memory_order_relaxed);
	else if (t->spec.used < t->en->spec.blocks)
		b = ++t->spec.used;
	else
		return 0;
	atomic_store_explicit(&block_at(t, b)->next, 0, memory_order_relaxed);
	atomic_store_explicit(&block_at(t, b)->used, 0, memory_order_relaxed);
	return b;
}

PROBE_PATH bool spec_put(struct en_thread *t, uint32_t id, const void *rec, uint32_t size)
{
	uint32_t room = t->en->spec.block - (uint32_t)sizeof(struct block), b, used = 0;
	struct spec_buf *buf = &t->spec.bufs[id - 1];
	bool empty = atomic_load_explicit(&buf->first, memory_order_relaxed) == 0;

	b = empty ? 0 : buf->last;
	if (b != 0)
		used = atomic_load_explicit(&block_at(t, b)->used, memory_order_relaxed);
	if (size > room)
		goto full;
	if (b == 0 || room - used < size) {
		b = block_new(t);
		if (b == 0)
			goto full;
		if (empty)
			atomic_store_explicit(&buf->first, b, memory_order_release);
		else
			atomic_store_explicit(
				&block_at(t, buf->last)->next, b, memory_order_release);
		buf->last = b;
		used = 0;
	}
	memcpy(block_at(t, b)->rec + used, rec, size);
	atomic_store_explicit(&block_at(t, b)->used, used + size, memory_order_release);
	return true;
full:
	drop(t, DROP_SPEC);
	return false;
}

RTFN(speculation)
{
	struct fire *f = FIRE(ctx);
	struct en *en = f->en;
	bool busy = false;

	for (uint32_t i = 0; i < en->spec.n; i++) {
		uint32_t s = atomic_load_explicit(&en->spec.tab[i].state, memory_order_relaxed);

		if (s == SPEC_FREE &&
			atomic_compare_exchange_strong(&en->spec.tab[i].state, &s, SPEC_ACTIVE))
			return i + 1;
		busy |= s != SPEC_ACTIVE;
	}
	drop(f->thread, busy ? DROP_SPECBUSY : DROP_SPECUNAVAIL);
	return 0;
}

/* Could this be the number of a speculation? */
PROBE_PATH static bool is_id(const struct fire *f, uint64_t id)
{
	return id >= 1 && id <= f->en->spec.n;
}

/* Is there room for the fixed part of the clause's record? */
PROBE_PATH static bool has_room(const struct fire *f, uint32_t id)
{
	struct en_thread *t = f->thread;
	uint32_t size = (uint32_t)sizeof(struct rec_head) + f->clause->rec_size, b = 0;
	uint32_t room = t->en->spec.block - (uint32_t)sizeof(struct block);
	struct spec_buf *buf = &t->spec.bufs[id - 1];

	if (atomic_load_explicit(&buf->first, memory_order_relaxed) != 0)
		b = buf->last;
	if (b != 0 &&
		room - atomic_load_explicit(&block_at(t, b)->used, memory_order_relaxed) >= size)
		return true;
	return size <= room &&
	       (t->spec.free != 0 || t->spec.used < t->en->spec.blocks ||
		       atomic_load_explicit(&t->spec.back, memory_order_relaxed) != 0);
}

RTFN(speculate)
{
	struct fire *f = FIRE(ctx);
	struct en *en = f->en;

	if (!is_id(f, a) || atomic_load_explicit(&en->spec.tab[a - 1].state,
				    memory_order_acquire) != SPEC_ACTIVE)
		return 0;
	if (!has_room(f, (uint32_t)a)) {
		drop(f->thread, DROP_SPEC);
		return 0;
	}
	f->spec = (uint32_t)a;
	return 1;
}

/*
 * End an active speculation; false: it is not active, or another firing has ended it. 0 is none,
 * quietly; more than nspec is a fault.
 */
PROBE_PATH static bool end(struct fire *f, uint64_t id, uint32_t how)
{
	uint32_t active = SPEC_ACTIVE;

	if (id > f->en->spec.most)
		set_fault(f, FAULT_ILLOP, 0);
	return is_id(f, id) && atomic_compare_exchange_strong(
				       &f->en->spec.tab[id - 1].state, &active, how);
}

RTFN(commit)
{
	struct fire *f = FIRE(ctx);
	struct en *en = f->en;
	struct rec_head *rec = &f->thread->note.head;

	if (!end(f, a, SPEC_COMMITTING))
		return 0;
	if (en->policy == BUFPOLICY_RING)
		atomic_fetch_add(&en->notices, 1); /* it may have called alert() or snapshot() */
	*rec = (struct rec_head){.size = sizeof(*rec),
		.kind = REC_COMMIT,
		.cpu = (uint16_t)en_cpu(),
		.epid = f->epid,
		.spec = (uint32_t)a,
		.ts = fire_ts(f)};
	if (!ring_put(f->thread, rec, sizeof(*rec))) /* counted there: its records are lost */
		atomic_store(&en->spec.tab[a - 1].state, SPEC_DISCARDING);
	return 0;
}

RTFN(discard)
{
	end(FIRE(ctx), a, SPEC_DISCARDING);
	return 0;
}

/* ---- setup ---------------------------------------------------------------------------- */

static bool speculates(const struct prog *p)
{
	for (unsigned c = 0; c < p->nclauses; c++)
		if (uses_fn(&p->clauses[c]->uses, RT_speculation))
			return true;
	return false;
}

int spec_init(struct en *en, struct et_error *e)
{
	uint64_t size = en->opts->val[OPT_SPECSIZE];
	uint64_t block = 4096, most = sizeof(struct block) + en->rec_cap;

	en->spec.most = en->opts->val[OPT_NSPEC];
	if (!speculates(en->prog) || en->opts->val[OPT_NSPEC] == 0)
		return 0;
	while (block < most && block < 1u << 30)
		block *= 2;
	if (block > size)
		block = size & ~7ULL;
	if (block < sizeof(struct block)) /* no record fits */
		block = sizeof(struct block);
	en->spec.n = (uint32_t)en->opts->val[OPT_NSPEC];
	en->spec.block = (uint32_t)block;
	en->spec.blocks = (uint32_t)(size / en->spec.block);
	en->spec.tab = en_alloc(en, en->spec.n * sizeof(*en->spec.tab));
	if (en->spec.tab == NULL)
		return et_err(e, ET_NOMEM, "out of memory for %u speculations", en->spec.n);
	return 0;
}

void spec_free(struct en *en)
{
	en_dealloc(en, en->spec.tab);
	en->spec.tab = NULL;
}

/* ---- the consumer's side -------------------------------------------------------------- */

bool spec_pending(const struct en *en)
{
	for (uint32_t i = 0; i < en->spec.n; i++)
		if (atomic_load(&en->spec.tab[i].state) >= SPEC_DISCARDING)
			return true;
	return false;
}

/* The next record of a slot to deliver; NULL: none. */
static const struct rec_head *spec_peek(struct en_thread *t, uint32_t id)
{
	struct spec_buf *buf = &t->spec.bufs[id - 1];
	struct block *b;

	if (buf->rblock == 0) {
		buf->rblock = atomic_load_explicit(&buf->first, memory_order_acquire);
		buf->roff = 0;
		if (buf->rblock == 0)
			return NULL;
	}
	b = block_at(t, buf->rblock);
	if (buf->roff >= atomic_load_explicit(&b->used, memory_order_acquire)) {
		uint32_t next = atomic_load_explicit(&b->next, memory_order_acquire);

		if (next == 0)
			return NULL;
		buf->rblock = next;
		buf->roff = 0;
		b = block_at(t, next);
		if (atomic_load_explicit(&b->used, memory_order_acquire) == 0)
			return NULL;
	}
	return (const struct rec_head *)(const void *)(b->rec + buf->roff);
}

/* All records of a speculation in order of time. */
static int deliver_all(struct en *en, uint32_t id, en_rec_cb cb, void *arg)
{
	uint32_t n = atomic_load(&en->nslots);
	int rc = 0;

	while (rc == 0) {
		const struct rec_head *first = NULL;
		unsigned thread = 0;

		for (unsigned i = 0; i < n; i++) {
			struct en_thread *t = en_slot(en, i);
			const struct rec_head *rec;

			if (!atomic_load_explicit(&t->ready, memory_order_acquire))
				continue;
			rec = spec_peek(t, id);
			if (rec != NULL && (first == NULL || rec->ts < first->ts)) {
				first = rec;
				thread = i;
			}
		}
		if (first == NULL)
			break;
		rc = cb(arg, thread, first);
		en_slot(en, thread)->spec.bufs[id - 1].roff += first->size;
	}
	return rc;
}

bool spec_look(struct en *en, uint32_t id, en_rec_cb cb, void *arg)
{
	uint32_t n = atomic_load(&en->nslots);
	bool done;

	if (id < 1 || id > en->spec.n)
		return false;
	done = deliver_all(en, id, cb, arg) == 0;
	for (unsigned i = 0; i < n; i++)
		if (atomic_load_explicit(&en_slot(en, i)->ready, memory_order_acquire)) {
			struct spec_buf *buf = &en_slot(en, i)->spec.bufs[id - 1];

			buf->rblock = buf->roff = 0;
		}
	return done;
}

/* Deliver all records of a committed speculation, then discard it. */
int spec_deliver(struct en *en, uint32_t id, en_rec_cb cb, void *arg)
{
	int rc;

	if (id < 1 || id > en->spec.n) {
		en->spec_reading = 0;
		return 0;
	}
	rc = deliver_all(en, id, cb, arg);
	if (rc == 0) {
		en->spec_reading = 0;
		atomic_store(&en->spec.tab[id - 1].state, SPEC_DISCARDING);
	}
	return rc;
}

/* Return the blocks of a speculation in a slot. */
static void free_blocks(struct en_thread *t, uint32_t id)
{
	struct spec_buf *buf = &t->spec.bufs[id - 1];
	uint32_t first = atomic_load(&buf->first), back;

	buf->rblock = buf->roff = 0;
	if (first == 0)
		return;
	/* the slot's thread only ever takes the whole list: no ABA */
	back = atomic_load(&t->spec.back);
	do {
		atomic_store(&block_at(t, buf->last)->next, back);
	} while (!atomic_compare_exchange_weak(&t->spec.back, &back, first));
	atomic_store(&buf->first, 0);
}

void spec_clean(struct en *en)
{
	uint32_t n = atomic_load(&en->nslots);

	for (uint32_t i = 0; i < en->spec.n; i++) {
		uint32_t s = atomic_load(&en->spec.tab[i].state);

		if (s == SPEC_DISCARDING) {
			atomic_store(&en->spec.tab[i].state, SPEC_RINSING);
		} else if (s == SPEC_RINSING) { /* a grace period later */
			for (unsigned k = 0; k < n; k++)
				if (atomic_load(&en_slot(en, k)->ready))
					free_blocks(en_slot(en, k), i + 1);
			atomic_store(&en->spec.tab[i].state, SPEC_FREE);
		}
	}
}
