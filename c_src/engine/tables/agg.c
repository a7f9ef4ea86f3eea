/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aggregations. Each slot has two tables of aggsize bytes: the slot's thread fills one, the other
 * is empty or with the consumer. The slot's thread is the only writer, so an update needs no
 * atomics.
 *
 * A table is an index, by open addressing, and entries that are allocated one after the other. A
 * word of the index has the upper half of the hash and a reference to the entry. An aggregation
 * without keys has no use for the index: direct[] refers to its entry.
 *
 * The consumer takes what has been gathered by swapping the tables (en_agg_take). It stores the
 * other, empty table into t->agg of all slots, calls en_barrier once, and then waits for each slot
 * to leave the firing it was in (slot.c): from then on nobody writes to the old table. If a firing
 * takes longer than a short spin, the table stays "taken" until the next call. Firings never wait,
 * and no update is lost: it goes to one table or the other.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "agg.h"
#include "bits.h"
#include "compiler.h"
#include "engine/drop.h"
#include "engine/engine.h"
#include "engine/fire.h"
#include "engine/in_kernel.h"
#include "key.h"
#include "key_view.h"
#include "prog/aggfn.h"
#include "prog/builtins.h"
#include "prog/hist.h"
#include "prog/prog.h"
#include "engine/region.h"
#include "engine/slot.h"
#include "engine/state.h"
#include "engine/str.h"

struct agg_entry {
	uint64_t hash;
	uint32_t agg;
	uint32_t size;	 /* of the whole entry */
	uint32_t keylen; /* of the key without string ids */
	uint32_t at;	 /* its position in the index; else one of the following */
	uint64_t data[]; /* words of data, then the key */
};
#define AT_DIRECT UINT32_MAX	   /* of an aggregation without keys */
#define AT_GROUP  (UINT32_MAX - 1) /* not an entry: a group of a histogram */

#define RECENT 1024 /* a power of two */

struct agg_tab {
	uint64_t *index;  /* 0: empty; else hash >> 32 << 32 | entry */
	uint32_t *direct; /* by aggregation: the entry of one without keys */
	char *mem;	  /* entries; references are offsets / 8, and 0 is none */
	uint32_t mask;
	uint32_t n, most; /* entries in the index, and their limit */
	uint64_t used, size;
	uint64_t given; /* the consumer's: how far it has read */
	struct agg_recent {
		uint64_t key;	/* id of the string, and aggregation */
		uint64_t *data; /* of the entry whose only key that string is */
	} recent[RECENT];
};

#define GROUP_SIZE (sizeof(struct agg_entry) + 8 * HIST_GROUP)

/* ---- the probe path ------------------------------------------------------------------- */

PROBE_PATH static struct agg_entry *entry_new(
	struct agg_tab *tab, const struct en_aggdef *def, uint64_t bytes)
{
	struct agg_entry *e;
	uint64_t size = sizeof(*e) + 8ULL * def->words + align_up(bytes, 8);

	if (tab->size - tab->used < size + (def->fn.fn == AGG_PERCENTILE ? GROUP_SIZE : 0))
		return NULL; /* a histogram comes with its first group */
	e = (struct agg_entry *)(void *)(tab->mem + tab->used);
	tab->used += size;
	e->agg = def->id;
	e->size = (uint32_t)size;
	memset(e->data, 0, 8 * (size_t)def->words);
	if (def->fn.fn == AGG_MIN)
		e->data[0] = INT64_MAX;
	else if (def->fn.fn == AGG_MAX)
		e->data[0] = (uint64_t)INT64_MIN;
	else if (def->fn.fn == AGG_PERCENTILE)
		e->data[0] = INT64_MAX, e->data[1] = (uint64_t)INT64_MIN;
	return e;
}

static inline uint32_t entry_ref(const struct agg_tab *tab, const struct agg_entry *e)
{
	return (uint32_t)((uint64_t)((const char *)e - tab->mem) / 8);
}

PROBE_PATH static __attribute__((noinline)) uint64_t *add_keyless(
	struct fire *f, struct agg_tab *tab, const struct en_aggdef *def)
{
	struct agg_entry *e = entry_new(tab, def, 0);

	if (e == NULL) {
		drop(f->thread, DROP_AGGREGATION);
		return NULL;
	}
	e->hash = 0;
	e->keylen = 0;
	e->at = AT_DIRECT;
	tab->direct[def->id] = entry_ref(tab, e);
	return e->data;
}

PROBE_PATH static __attribute__((noinline)) uint64_t *add_keyed(struct fire *f, struct agg_tab *tab,
	const struct en_aggdef *def, const uint64_t *word, const struct key_view *v, uint32_t at)
{
	struct agg_entry *e = NULL;

	if (tab->n < tab->most)
		e = entry_new(tab, def, v->bytes);
	if (e == NULL) {
		drop(f->thread, DROP_AGGREGATION);
		return NULL;
	}
	e->hash = v->hash;
	e->keylen = v->bytes - 8u * def->key.nstr;
	e->at = at;
	key_store(&def->key, word, v, e->data + def->words);
	tab->index[at] = (v->hash >> 32 << 32) | entry_ref(tab, e);
	tab->n++;
	return e->data;
}

/*
 * A direct-mapped cache: entries whose only key is one interned string are found by the string's
 * id, without hashing. Ids are assigned in order from 1 and never reused, so an id identifies a
 * text.
 */
static inline struct agg_recent *recent_of(struct agg_tab *tab, uint64_t agg, uint64_t str)
{
	return &tab->recent[(str + 7 * agg) % RECENT];
}

static inline uint64_t recent_key(uint64_t agg, uint64_t str)
{
	return agg << 48 ^ str;
}

/* The data of this key; NULL: dropped. The index is never full, so probing terminates. */
PROBE_PATH NO_GUARD static __attribute__((noinline)) uint64_t *data_slow(
	struct fire *f, uint64_t id, uint64_t key)
{
	const struct en_aggdef *def = &f->en->aggs[id];
	struct agg_tab *tab = atomic_load_explicit(&f->thread->agg, memory_order_acquire);
	const uint64_t *word = (const uint64_t *)(uintptr_t)key;
	struct agg_entry *e;
	uint64_t *data;
	BIG_LOCAL(struct key_view, v, f);
	uint32_t at;

	if (def->key.n == 0) {
		uint64_t ref = tab->direct[def->id];

		if (likely(ref != 0))
			return ((struct agg_entry *)(void *)(tab->mem + 8 * ref))->data;
		return add_keyless(f, tab, def);
	}
	if (unlikely(!key_look(f, &def->key, def->id, word, v)))
		return NULL;
	for (at = (uint32_t)v->hash & tab->mask; tab->index[at] != 0; at = (at + 1) & tab->mask) {
		if (tab->index[at] >> 32 != v->hash >> 32)
			continue;
		e = (struct agg_entry *)(void *)(tab->mem + 8 * (uint64_t)(uint32_t)tab->index[at]);
		if (e->hash == v->hash && e->agg == def->id &&
			key_equal(&def->key, word, v, e->data + def->words)) {
			data = e->data;
			goto found;
		}
	}
	data = add_keyed(f, tab, def, word, v, at);
	if (data == NULL)
		return NULL;
found:
	if (def->one_str && v->str[0].id != 0) {
		struct agg_recent *r = recent_of(tab, def->id, v->str[0].id);

		r->key = recent_key(def->id, v->str[0].id);
		r->data = data;
	}
	return data;
}

/* Fast path: the data of a cached key, or of an aggregation without keys; else NULL. */
PROBE_PATH static inline uint64_t *data_fast(
	struct fire *f, const struct en_aggdef *def, uint64_t id, uint64_t key)
{
	struct agg_tab *tab = atomic_load_explicit(&f->thread->agg, memory_order_acquire);
	uint64_t ref, str;
	struct agg_recent *r;

	if (unlikely(!def->one_str)) {
		ref = def->key.n == 0 ? tab->direct[id] : 0;
		return ref ? ((struct agg_entry *)(void *)(tab->mem + 8 * ref))->data : NULL;
	}
	ref = *(const uint64_t *)(uintptr_t)key;
	if (unlikely(!(ref & STR_TAG)))
		return NULL;
	str = ((const struct et_str *)(uintptr_t)(ref & ~STR_TAG))->id;
	r = recent_of(tab, id, str);
	return likely(r->key == recent_key(id, str)) ? r->data : NULL;
}

/*
 * An aggregating function: what it does to data with the value c and the increment d. The body is
 * expanded twice, so that the fast path calls nothing and needs no stack frame.
 */
#define AGGFN(name, ...)                                                                           \
	PROBE_PATH static __attribute__((noinline)) uint64_t name##_slow(                           \
		struct fire *f, uint64_t a, uint64_t b, uint64_t c, uint64_t d)                    \
	{                                                                                          \
		const struct en_aggdef *def = &f->en->aggs[a];                                     \
		uint64_t *data = data_slow(f, a, b);                                                \
                                                                                                   \
		(void)def, (void)c, (void)d;                                                       \
		if (likely(data != NULL)) {                                                        \
			__VA_ARGS__                                                                \
		}                                                                                  \
		return 0;                                                                          \
	}                                                                                          \
	RTFN(agg_##name)                                                                           \
	{                                                                                          \
		struct fire *f = FIRE(ctx);                                                        \
		const struct en_aggdef *def = &f->en->aggs[a];                                     \
		uint64_t *data = data_fast(f, def, a, b);                                          \
                                                                                                   \
		if (unlikely(data == NULL))                                                        \
			return name##_slow(f, a, b, c, d);                                          \
		__VA_ARGS__                                                                        \
		return 0;                                                                          \
	}

PROBE_PATH static inline void add_square(uint64_t *data, uint64_t v)
{
	uint64_t m = (int64_t)v < 0 ? 0 - v : v;
	uint64_t high, low = mul_wide(m, m, &high);

	data[0] += low;
	data[1] += high + (data[0] < low);
}

/*
 * A new group of a histogram, in the table that the histogram is in. The consumer may have swapped
 * the tables since: t->agg is not it.
 */
PROBE_PATH static __attribute__((noinline)) uint64_t *add_group(
	struct fire *f, struct hist *h, unsigned group)
{
	struct agg_tab *const *tabs = f->thread->aggs.tab;
	struct agg_tab *tab =
		tabs[(uintptr_t)h - (uintptr_t)tabs[0]->mem >= tabs[0]->size ? 1 : 0];
	struct agg_entry *e = (struct agg_entry *)(void *)(tab->mem + tab->used);

	if (tab->size - tab->used < GROUP_SIZE) {
		drop(f->thread, DROP_AGGREGATION);
		return NULL;
	}
	tab->used += GROUP_SIZE;
	e->size = GROUP_SIZE;
	e->at = AT_GROUP;
	memset(e->data, 0, 8 * HIST_GROUP);
	h->group[group] = e->data;
	return e->data;
}

PROBE_PATH static inline void hist_add(struct fire *f, uint64_t *data, int64_t v, uint64_t by)
{
	struct hist *h = (struct hist *)(void *)data;
	unsigned at = hist_bucket(v);
	uint64_t *group = h->group[at / HIST_GROUP];

	if (unlikely(group == NULL)) {
		group = add_group(f, h, at / HIST_GROUP);
		if (group == NULL)
			return;
	}
	group[at % HIST_GROUP] += by;
	if (v < h->min)
		h->min = v;
	if (v > h->max)
		h->max = v;
}

/* aggfn_lquantize, with a multiplication instead of the much slower division. */
PROBE_PATH static inline uint64_t lquantize(const struct en_aggdef *def, int64_t v)
{
	uint64_t above = (uint64_t)v - (uint64_t)def->base;

	if (likely(above < def->span))
	{
		uint64_t high;

		mul_wide(above, def->per, &high);
		return (def->per == 0 ? above : high) + 1;
	}
	if (v < def->base)
		return 0;
	above /= def->fn.param[2];
	return above < def->words - 2 ? above + 1 : def->words - 1;
}

/*
 * Division by multiplication with a reciprocal: above * per >> 64 equals above / step for every
 * above less than span. per is 2^64 / step rounded up, so its error is less than 1, and the
 * product's error less than above; that must stay below 2^64 / step. For steps too large for that
 * (no script has such) span is 0. For a step of 1, per is 0.
 */
static void lquantize_init(struct en_aggdef *def, const struct prog_agg *a)
{
	uint64_t step = a->param[2], levels = a->nbuckets - 2;

	def->base = (int64_t)a->param[0];
	if (levels < (1ULL << 63) / step / step) {
		def->span = levels * step;
		def->per = step == 1 ? 0 : UINT64_MAX / step + 1;
	}
}

AGGFN(count, *data += d;)
AGGFN(sum, *data += c;)
AGGFN(min, if ((int64_t)c < (int64_t)*data) *data = c;)
AGGFN(max, if ((int64_t)c > (int64_t)*data) *data = c;)
AGGFN(avg, data[0]++; data[1] += c;)
AGGFN(stddev, data[0]++; data[1] += c; add_square(data + 2, c);)
AGGFN(quantize, data[aggfn_quantize((int64_t)c)] += d;)
AGGFN(lquantize, data[lquantize(def, (int64_t)c)] += d;)
AGGFN(llquantize, data[aggfn_llquantize(&def->fn, (int64_t)c)] += d;)
AGGFN(percentile, hist_add(f, data, (int64_t)c, d);)

#ifndef __bpf__
/* ---- setup ---------------------------------------------------------------------------- */

int agg_init(struct en *en, struct et_error *e)
{
	const struct prog *p = en->prog;

	if (p->naggs == 0)
		return 0;
	en->aggs = en_alloc(en, p->naggs * sizeof(*en->aggs));
	if (en->aggs == NULL)
		return et_err(e, ET_NOMEM, "out of memory for %u aggregations", p->naggs);
	for (unsigned i = 0; i < p->naggs; i++) {
		struct en_aggdef *d = &en->aggs[i];

		d->fn = *p->aggs[i];
		d->id = i;
		d->words = aggfn_words(p->aggs[i]);
		en_key_init(&d->key, p->aggs[i]->keys, p->aggs[i]->nkeys, false);
		d->one_str = d->key.n == 1 && d->key.kind[0] == EBPF_STR;
		/* the code generator and the consumer get the same numbers from aggfn.h */
		if (d->words == 0 || (p->aggs[i]->nbuckets != aggfn_nbuckets(p->aggs[i])))
			return et_err(e, ET_PROGRAM, "aggregation @%s has bad parameters",
				p->aggs[i]->name);
		if (d->fn.fn == AGG_LQUANTIZE)
			lquantize_init(d, &d->fn);
	}
	en->at.agg_size = align_up(en->opts->val[OPT_AGGSIZE], 8);
	en->at.agg_direct = align_up(sizeof(struct agg_tab) + 4 * (size_t)p->naggs, 8);
	return 0;
}

void agg_free(struct en *en)
{
	en_dealloc(en, en->aggs);
	en->aggs = NULL;
}

PROBE_PATH void agg_slot_init(struct en *en, struct en_thread *t, uint64_t size)
{
	if (en->aggs == NULL)
		return;
	for (int i = 0; i < 2; i++) {
		char *base = (char *)t + en->at.agg[i];
		struct agg_tab *tab = (struct agg_tab *)(void *)base;
		uint32_t n = 16; /* an eighth of the table is the index */

		while (16ULL * n <= size / 8 && n < 1u << 30)
			n *= 2;
		tab->direct = (uint32_t *)(void *)(base + sizeof(*tab));
		tab->index = (uint64_t *)(void *)(base + en->at.agg_direct);
		tab->mem = (char *)(tab->index + n) - 8; /* so that no entry is at offset 0 */
		tab->mask = n - 1;
		tab->most = n / 4 * 3;
		tab->used = 8;
		tab->size = size - 8ULL * n + 8;
		t->aggs.tab[i] = tab;
	}
	atomic_store_explicit(&t->agg, t->aggs.tab[0], memory_order_release);
}

/* ---- the consumer's side -------------------------------------------------------------- */

/* Empty a table: clear what was used or, if that is much, give its pages back to the system. */
static void reset(struct agg_tab *tab)
{
	uint64_t at = 8;

	if (tab->used <= at)
		return; /* never written to: do not touch it, it may not have any memory yet */
	while (at < tab->used) {
		const struct agg_entry *e = (const struct agg_entry *)(void *)(tab->mem + at);

		if (e->at == AT_DIRECT)
			tab->direct[e->agg] = 0;
		else if (e->at != AT_GROUP)
			tab->index[e->at] = 0;
		at += e->size;
	}
	if (tab->used > 256 * 1024) {
		uintptr_t from = align_up((uintptr_t)tab->mem + 8, 4096);
		uintptr_t to = ((uintptr_t)tab->mem + tab->used) & ~(uintptr_t)4095;

		if (to > from)
			madvise((void *)from, to - from, MADV_DONTNEED);
	}
	memset(tab->recent, 0, sizeof(tab->recent));
	tab->n = 0;
	tab->used = 8;
	tab->given = 0;
}

/* Deliver the entries to the callback. If that stops half way, the next call continues there. */
static int deliver(struct en *en, unsigned thread, struct agg_tab *tab, en_agg_cb cb, void *arg)
{
	if (tab->given < 8)
		tab->given = 8;
	while (tab->given < tab->used) {
		const struct agg_entry *e =
			(const struct agg_entry *)(void *)(tab->mem + tab->given);
		const struct en_aggdef *def;
		int rc;

		tab->given += e->size;
		if (e->at == AT_GROUP)
			continue;
		def = &en->aggs[e->agg];
		rc = cb(arg, thread, e->agg, e->data + def->words + def->key.nstr, e->keylen,
			e->data);
		if (rc != 0)
			return rc;
	}
	reset(tab);
	return 0;
}

/* Swap in the other table, unless the last one taken is still waiting for its grace period. */
static bool swap_tables(struct en_thread *t)
{
	struct agg_tab *now = atomic_load_explicit(&t->agg, memory_order_relaxed);

	if (t->aggs.taken != NULL)
		return false;
	t->aggs.taken = now;
	t->aggs.mark.seq = UINT64_MAX;
	atomic_store_explicit(&t->agg, t->aggs.tab[now == t->aggs.tab[0]], memory_order_release);
	return true;
}

/* Is nobody using the table that was taken? Spins briefly for a firing to end. */
static bool is_quiescent(struct en_thread *t)
{
	if (t->aggs.mark.seq == UINT64_MAX)
		t->aggs.mark = slot_look(t);
	for (int i = 0; i < 2000; i++) {
		if (slot_passed(t, &t->aggs.mark))
			return true;
		cpu_relax();
	}
	return false;
}

static struct en_thread *ready_slot(const struct en *en, unsigned i)
{
	struct en_thread *t = en_slot(en, i);

	return atomic_load_explicit(&t->ready, memory_order_acquire) ? t : NULL;
}

/* One round; *again: a slot delivered what an earlier round had taken, and has more. */
static int take_round(struct en *en, en_agg_cb cb, void *arg, bool *again)
{
	uint32_t n = atomic_load(&en->nslots);
	struct en_thread *t;
	int rc = 0;

	*again = false;
	for (unsigned i = 0; i < n; i++)
		if ((t = ready_slot(en, i)) != NULL && !swap_tables(t))
			*again = true;
	en_barrier(en);
	for (unsigned i = 0; i < n && rc == 0; i++) {
		t = ready_slot(en, i);
		if (t == NULL || t->aggs.taken == NULL || !is_quiescent(t))
			continue; /* left to the next call */
		rc = deliver(en, i, t->aggs.taken, cb, arg);
		if (rc == 0)
			t->aggs.taken = NULL;
	}
	return rc;
}

/* The owners of the tables write to them meanwhile: the answer may be a moment old. */
__attribute__((no_sanitize("thread"))) enum en_unread agg_unread(const struct en *en)
{
	enum en_unread unread = EN_NOTHING;

	if (en->aggs == NULL)
		return unread;
	for (unsigned i = 0; i < en_nthreads(en); i++) {
		const struct en_thread *t = en_slot(en, i);
		const struct agg_tab *tab;

		if (!atomic_load_explicit((_Atomic(bool) *)&t->ready, memory_order_acquire))
			continue;
		tab = atomic_load_explicit(
			(_Atomic(struct agg_tab *) *)&t->agg, memory_order_acquire);
		if (tab->used > tab->size / 4 || tab->n > tab->most / 4)
			return EN_URGENT;
		if (tab->used > 8 || t->aggs.taken != NULL)
			unread = EN_CAN_WAIT;
	}
	return unread;
}

int en_agg_take(struct en *en, en_agg_cb cb, void *arg)
{
	bool again;
	int rc;

	if (en->aggs == NULL || en->slots == NULL)
		return 0;
	rc = take_round(en, cb, arg, &again);
	return rc == 0 && again ? take_round(en, cb, arg, &again) : rc;
}
#endif
