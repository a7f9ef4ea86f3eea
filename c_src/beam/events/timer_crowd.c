/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Crowds of timers that are alike (probe path). The VM has timers expire in the order in which they
 * are due, so it is enough to know how many are due in each millisecond: the first one is taken.
 *
 * A crowd has rings of time: one of milliseconds for timers of up to a minute, and coarser ones for
 * those of an hour and of days, which are taken as due at the end of their 64 ms or 4 s. A ring has
 * a bit for each time in which some are due, and `low` is not after any of them. Whoever adds one
 * counts it, sets its bit, and then lowers `low` if need be; whoever clears a bit or raises `low`
 * looks again afterwards, and takes that back if somebody was quicker. So nobody waits for anybody.
 *
 * A crowd that is empty, or whose last timer is long overdue because the receiver has ended, is
 * used for another key.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#include "beam/pages.h"
#include "compiler.h"
#include "timer_crowd.h"

#define CROWDS	64
#define TRIES	8
#define LOOKS	1000
#define RINGS	3
#define SPAN	65536 /* times of a ring */
#define AHEAD	60000 /* of these a timer may be due ahead; the rest is for those that are late */
#define MS	1000000LL
#define OVERDUE 60000 /* ms */
#define IDLE	1000  /* ms: an empty one that nobody has used for so long is free */
#define SEVERAL 1     /* started by more than one: no pid */

enum { FREE, BUSY }; /* keys that are none */

struct ring {
	_Atomic int64_t low;
	_Atomic uint64_t bits[SPAN / 64];
	_Atomic uint32_t count[SPAN];
	_Atomic uint64_t by[SPAN];
};

struct crowd {
	_Atomic uint64_t key;
	_Atomic int64_t last; /* ms: the latest that any of them is due */
	_Atomic int64_t left; /* how many */
	struct ring ring[RINGS];
};

struct beam_crowds {
	_Atomic unsigned used; /* crowds that have ever been: none is looked for before that */
	struct crowd crowd[CROWDS];
};

struct beam_crowds *beam_crowds_new(void)
{
	return beam_pages(sizeof(struct beam_crowds));
}

void beam_crowds_free(struct beam_crowds *c)
{
	if (c != NULL)
		munmap(c, sizeof(*c));
}

static void raise_to(_Atomic int64_t *v, int64_t to)
{
	int64_t was = atomic_load(v);

	while (was < to && !atomic_compare_exchange_weak(v, &was, to))
		;
}

static void lower_to(_Atomic int64_t *v, int64_t to)
{
	int64_t was = atomic_load(v);

	while (was > to && !atomic_compare_exchange_weak(v, &was, to))
		;
}

/* ---- a ring ----------------------------------------------------------------------------- */

/* ms of a time of ring r: 1, 64, 4096 */
static int64_t step(unsigned r)
{
	return 1LL << 6 * r;
}

/* When those of this time are due, ns: the number of the ring is in its last bits. */
static int64_t due_at(unsigned r, int64_t time)
{
	return ((time + (r > 0)) * step(r) * MS & ~3LL) | r;
}

static unsigned ring_of(int64_t due)
{
	return (unsigned)(due & 3) % RINGS;
}

static int64_t time_of(int64_t due)
{
	unsigned r = ring_of(due);

	return (due | 3) / MS / step(r) - (r > 0);
}

static unsigned at(int64_t time)
{
	return (unsigned)(time & (SPAN - 1));
}

/* The first in which some are due, of those from `from` to `to`; -1: none. */
PROBE_PATH static int64_t first_in(struct ring *g, int64_t from, int64_t to)
{
	if (to - from >= SPAN)
		to = from + SPAN - 1;
	for (int64_t time = from; time <= to; time = (time | 63) + 1) {
		uint64_t word = atomic_load(&g->bits[at(time) / 64]) >> (time & 63);

		if (word != 0) {
			time += __builtin_ctzll(word);
			return time <= to ? time : -1;
		}
	}
	return -1;
}

/* The first that is due by now; -1: none. */
PROBE_PATH static int64_t first_by(struct ring *g, int64_t now)
{
	int64_t low = atomic_load(&g->low), was = low, first = first_in(g, low, now);
	int64_t to = first >= 0 ? first : now, missed;

	/* nothing is due before, unless somebody has just added it */
	if (to > low && atomic_compare_exchange_strong(&g->low, &was, to) &&
		(missed = first_in(g, low, to - 1)) >= 0)
		lower_to(&g->low, missed);
	return first;
}

static bool ring_put(struct ring *g, int64_t now, int64_t time, uint64_t by)
{
	uint64_t none = 0;
	unsigned n = at(time);

	if (time - atomic_load(&g->low) >= SPAN)
		first_by(g, now);
	if (time - atomic_load(&g->low) >= SPAN)
		return false;
	if (!atomic_compare_exchange_strong(&g->by[n], &none, by) && none != by)
		atomic_store(&g->by[n], SEVERAL);
	atomic_fetch_add(&g->count[n], 1);
	atomic_fetch_or(&g->bits[n / 64], 1ULL << (n & 63));
	lower_to(&g->low, time);
	return true;
}

static bool ring_take(struct ring *g, int64_t time, uint64_t *by)
{
	unsigned n = at(time);
	uint32_t have = atomic_load(&g->count[n]);
	uint64_t bit = 1ULL << (n & 63);

	do {
		if (have == 0)
			return false;
	} while (!atomic_compare_exchange_weak(&g->count[n], &have, have - 1));
	*by = atomic_load(&g->by[n]);
	if (*by == SEVERAL)
		*by = 0;
	if (have > 1)
		return true;
	atomic_store(&g->by[n], 0);
	atomic_fetch_and(&g->bits[n / 64], ~bit);
	if (atomic_load(&g->count[n]) != 0)
		atomic_fetch_or(&g->bits[n / 64], bit);
	return true;
}

/* What an overdue one has left is cleared by whoever uses it next. */
static void ring_clear(struct ring *g, int64_t now)
{
	for (unsigned i = 0; i < SPAN / 64; i++) {
		uint64_t word = atomic_load(&g->bits[i]);

		if (word == 0)
			continue;
		atomic_store(&g->bits[i], 0);
		for (; word != 0; word &= word - 1) {
			unsigned n = i * 64 + (unsigned)__builtin_ctzll(word);

			atomic_store(&g->count[n], 0);
			atomic_store(&g->by[n], 0);
		}
	}
	atomic_store(&g->low, now);
}

/* ---- crowds ----------------------------------------------------------------------------- */

PROBE_PATH static struct crowd *find(struct beam_crowds *c, uint64_t key)
{
	if (key <= BUSY || atomic_load_explicit(&c->used, memory_order_relaxed) == 0)
		return NULL;
	for (unsigned i = 0; i < TRIES; i++) {
		struct crowd *w = &c->crowd[(key + i) % CROWDS];

		if (atomic_load_explicit(&w->key, memory_order_acquire) == key)
			return w;
	}
	return NULL;
}

/* Somebody is making one, perhaps for this key. It takes a moment: that long it is looked for. */
static struct crowd *made(struct crowd *w, uint64_t key)
{
	for (unsigned i = 0; i < LOOKS; i++)
		if (atomic_load_explicit(&w->key, memory_order_acquire) == key)
			return w;
	return NULL;
}

static struct crowd *make(struct beam_crowds *c, uint64_t key, int64_t now)
{
	for (unsigned i = 0; i < TRIES; i++) {
		struct crowd *w = &c->crowd[(key + i) % CROWDS];
		uint64_t had = atomic_load(&w->key);
		int64_t rest = atomic_load(&w->left) > 0 ? OVERDUE : IDLE;

		if (had != FREE && had != BUSY && atomic_load(&w->last) > now - rest)
			continue;
		if (had == BUSY || !atomic_compare_exchange_strong(&w->key, &had, BUSY))
			return made(w, key);
		for (unsigned r = 0; r < RINGS; r++)
			if (had == FREE)
				atomic_store(&w->ring[r].low, now / step(r));
			else
				ring_clear(&w->ring[r], now / step(r));
		atomic_store(&w->left, 0);
		atomic_store(&w->last, now);
		atomic_fetch_add(&c->used, 1);
		atomic_store_explicit(&w->key, key, memory_order_release);
		return w;
	}
	return NULL;
}

PROBE_PATH int64_t beam_crowd_put(
	struct beam_crowds *c, uint64_t key, int64_t now, int64_t due, uint64_t by)
{
	struct crowd *w = find(c, key);
	int64_t ms = due / MS, from = now / MS;
	unsigned r = 0;

	while (r < RINGS && (ms - from) / step(r) >= AHEAD)
		r++;
	if (r == RINGS || (w == NULL && (w = make(c, key, from)) == NULL) ||
		!ring_put(&w->ring[r], from / step(r), ms / step(r), by))
		return 0;
	raise_to(&w->last, ms);
	atomic_fetch_add(&w->left, 1);
	return due_at(r, ms / step(r));
}

PROBE_PATH int64_t beam_crowd_first(struct beam_crowds *c, uint64_t key, int64_t now)
{
	struct crowd *w = find(c, key);
	int64_t first = 0;

	for (unsigned r = 0; w != NULL && r < RINGS; r++) {
		int64_t time = first_by(&w->ring[r], now / MS / step(r));

		if (time >= 0 && (first == 0 || due_at(r, time) < first))
			first = due_at(r, time);
	}
	return first;
}

PROBE_PATH bool beam_crowd_take(struct beam_crowds *c, uint64_t key, int64_t due, uint64_t *by)
{
	struct crowd *w = find(c, key);

	if (w == NULL || !ring_take(&w->ring[ring_of(due)], time_of(due), by))
		return false;
	atomic_fetch_sub(&w->left, 1);
	return true;
}

PROBE_PATH bool beam_crowd_is_past(struct beam_crowds *c, uint64_t key, int64_t due)
{
	struct crowd *w = find(c, key);

	return w != NULL && time_of(due) < atomic_load(&w->ring[ring_of(due)].low);
}
