/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A copy of the trace buffers of policy ring, taken while threads write to them. Nobody waits for
 * it. A ring is read like a seqlock: its bytes are copied first; what the writer has overwritten
 * meanwhile lies before its tail, which it moves first, and is left out of the copy. Committed
 * speculations are copied with it: their blocks stay until the cleaner runs, which is on the
 * consumer's side as this is.
 */
#include "recording.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "clock.h"
#include "engine.h"
#include "prog/record.h"
#include "ring.h"
#include "slot.h"
#include "engine/tables/spec.h"
#include "state.h"

/* The bytes of a ring from one position to another, or the records of a speculation. */
struct stream {
	char *mem;
	uint64_t from, to; /* positions in the ring; of a speculation from 0 on */
	uint64_t size;	   /* of the ring: where records skip to its beginning; 0: they do not */
	uint64_t at;
	unsigned thread;
	bool lossy; /* records before it were overwritten */
	const struct rec_head *rec; /* the next one, or NULL */
};

struct en_recording {
	struct stream *streams;
	size_t n;
	struct en_recorded about;
	bool nomem;
};

enum { GRACE_MS = 20, TRIES = 4 };

uint32_t en_notices(const struct en *en)
{
	return atomic_load((_Atomic(uint32_t) *)&en->notices);
}

/* A notice comes before its record: what a head has passed has been counted when it is seen. */
bool en_skip_new(struct en *en, uint32_t notices)
{
	uint32_t n = en->slots != NULL ? atomic_load(&en->nslots) : 0;

	for (unsigned i = 0; i < n; i++) {
		struct ring *r = &en_slot(en, i)->ring;

		r->mark = atomic_load_explicit(&r->head, memory_order_acquire);
	}
	if (en_notices(en) != notices)
		return false;
	for (unsigned i = 0; i < n; i++)
		en_slot(en, i)->ring.noted = en_slot(en, i)->ring.mark;
	return true;
}

/* ---- copying -------------------------------------------------------------------------- */

static void copy_bytes(const struct ring *r, uint64_t from, uint64_t n, char *to)
{
	uint64_t off = from % r->size, first = r->size - off < n ? r->size - off : n;

	memcpy(to, r->mem + off, first);
	memcpy(to + first, r->mem, n - first);
}

/* false: the writer has lapped us. */
static bool copy_ring(struct ring *r, uint64_t since, struct stream *s, struct en_recorded *about)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_acquire);
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_acquire);
	uint64_t from = tail > since ? tail : since;

	if (since > head)
		return false;
	if (from < head) {
		s->mem = malloc(head - from);
		if (s->mem == NULL)
			return false;
		copy_bytes(r, from, head - from, s->mem);
	}
	atomic_thread_fence(memory_order_acquire);
	tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
	s->from = from;
	s->to = head;
	s->size = r->size;
	s->at = tail > from ? tail : from;
	about->overrun |= tail > since && since > 0;
	return s->at <= head;
}

static struct stream *add_stream(struct en_recording *c, unsigned thread)
{
	if (!ARRAY_ROOM(c->streams, c->n)) {
		c->nomem = true;
		return NULL;
	}
	c->streams[c->n] = (struct stream){.thread = thread};
	return &c->streams[c->n++];
}

static void copy_slot(
	struct en_recording *c, struct en_thread *t, unsigned thread, enum en_what what)
{
	struct stream *s = add_stream(c, thread);
	uint64_t since = what == EN_NEW ? t->ring.noted : 0;

	for (int i = 0; s != NULL && i < TRIES; i++) {
		if (copy_ring(&t->ring, since, s, &c->about)) {
			if (what == EN_NEW)
				t->ring.noted = s->to;
			s->from = s->mem != NULL ? s->from : s->at;
			return;
		}
		free(s->mem);
		*s = (struct stream){.thread = thread};
	}
	c->nomem |= s == NULL;
	c->about.overrun = true;
}

struct spec_copy {
	struct en_recording *c;
	struct stream *s;
	size_t room;
};

static int copy_spec_record(void *arg, unsigned thread, const struct rec_head *rec)
{
	struct spec_copy *k = arg;
	struct stream *s = k->s;
	char *mem;

	if (s->to + rec->size > k->room) {
		k->room = 2 * (k->room + rec->size);
		mem = realloc(s->mem, k->room);
		if (mem == NULL) {
			k->c->nomem = true;
			return 1;
		}
		s->mem = mem;
	}
	memcpy(s->mem + s->to, rec, rec->size);
	s->to += rec->size;
	s->thread = thread; /* that of the last one: it matters for drops only */
	return 0;
}

/* Skip what is no record; NULL: the end. */
static const struct rec_head *peek(struct stream *s)
{
	const struct rec_head *rec;
	uint64_t left;

	while (s->mem != NULL && s->at < s->to) {
		left = s->size != 0 ? s->size - s->at % s->size : s->to - s->at;
		rec = (const struct rec_head *)(const void *)(s->mem + (s->at - s->from));
		if (left < sizeof(*rec))
			s->at += left;
		else if (rec->size < sizeof(*rec) || rec->size > s->to - s->at)
			return NULL; /* not what ring.c wrote */
		else if (rec->kind == REC_PAD)
			s->at += rec->size;
		else
			return rec;
	}
	return NULL;
}

/* The records of a commit become a stream of their own. */
static void copy_commits(struct en *en, struct en_recording *c, size_t i)
{
	uint64_t begin = c->streams[i].at;
	const struct rec_head *rec;

	while ((rec = peek(&c->streams[i])) != NULL) {
		c->streams[i].at += rec->size;
		if (rec->kind == REC_COMMIT) {
			struct spec_copy k = {.c = c};
			uint32_t id = rec->spec;

			k.s = add_stream(c, 0);
			if (k.s == NULL || !spec_look(en, id, copy_spec_record, &k))
				break;
		}
	}
	c->streams[i].at = begin;
}

static void count(struct en_recording *c)
{
	unsigned thread;

	for (const struct rec_head *rec; (rec = en_recording_next(c, &thread)) != NULL;) {
		if (c->about.events++ == 0)
			c->about.first = rec->ts;
		c->about.last = rec->ts;
	}
	en_recording_rewind(c);
	c->about.whole = c->about.first;
	for (size_t i = 0; i < c->n; i++)
		if (c->streams[i].lossy && c->streams[i].rec != NULL &&
			c->streams[i].rec->ts > c->about.whole)
			c->about.whole = c->streams[i].rec->ts;
}

struct en_recording *en_record(struct en *en, enum en_what what, bool *whole)
{
	struct en_recording *c = calloc(1, sizeof(*c));
	uint32_t n = atomic_load(&en->nslots);
	uint64_t lost;
	size_t rings;

	if (c == NULL)
		return NULL;
	*whole = en->state == EN_STOPPED || en_grace(en, GRACE_MS);
	for (unsigned i = 0; i < n && !c->nomem && en->slots != NULL; i++) {
		struct en_thread *t = en_slot(en, i);

		if (!atomic_load_explicit(&t->ready, memory_order_acquire))
			continue;
		copy_slot(c, t, i, what);
		lost = atomic_load_explicit(&t->ring.overwritten, memory_order_relaxed);
		c->about.overwritten += lost;
		if (c->n > 0)
			c->streams[c->n - 1].lossy = lost > 0;
	}
	rings = c->n;
	for (size_t i = 0; i < rings && en->spec.n > 0 && !c->nomem; i++)
		copy_commits(en, c, i);
	for (size_t i = 0; i < c->n; i++) /* what was lost while it was copied stays out */
		if (c->streams[i].size != 0 && c->streams[i].mem != NULL) {
			struct stream *s = &c->streams[i];

			memmove(s->mem, s->mem + (s->at - s->from), s->to - s->at);
			s->from = s->at;
		}
	if (c->nomem) {
		en_recording_free(c);
		return NULL;
	}
	en_recording_rewind(c);
	count(c);
	return c;
}

void en_recording_free(struct en_recording *c)
{
	if (c == NULL)
		return;
	for (size_t i = 0; i < c->n; i++)
		free(c->streams[i].mem);
	free(c->streams);
	free(c);
}

/* ---- reading -------------------------------------------------------------------------- */

void en_recording_rewind(struct en_recording *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct stream *s = &c->streams[i];

		s->at = s->from;
		s->rec = peek(s);
	}
}

/* There are few streams, about one a scheduler: no heap. */
static struct stream *earliest(struct en_recording *c)
{
	struct stream *best = NULL;

	for (size_t i = 0; i < c->n; i++)
		if (c->streams[i].rec != NULL &&
			(best == NULL || c->streams[i].rec->ts < best->rec->ts))
			best = &c->streams[i];
	return best;
}

const struct rec_head *en_recording_next(struct en_recording *c, unsigned *thread)
{
	struct stream *s;

	while ((s = earliest(c)) != NULL) {
		const struct rec_head *rec = s->rec;

		s->at += rec->size;
		s->rec = peek(s);
		*thread = s->thread;
		if (rec->kind != REC_COMMIT)
			return rec;
	}
	return NULL;
}

void en_recording_about(const struct en_recording *c, struct en_recorded *about)
{
	*about = c->about;
}
