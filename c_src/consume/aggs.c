/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The merged aggregations: what the threads' tables gave, by aggregation and key. The table is
 * bounded by aggmax; a key that finds no room is dropped, counted and told. Values sort first,
 * then keys (aggsortkey: keys first); equal rows do not exist, so that the order depends on the
 * data only.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "consumer.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "aggs.h"
#include "dist.h"
#include "percentile.h"

#define TRIM_ABOVE (1u << 20)

struct ag_state {
	uint64_t normal;
	bool printed;
};
struct ag {
	struct ag_ent **tab; /* a power of two */
	size_t ntab, n;
	size_t mem; /* of entries and table, against aggmax */
	uint64_t seq, drops, changes;
	bool begun;
	size_t at; /* where ag_give_each() goes on */
	struct ag_state *st; /* one an aggregation */
	unsigned nst;
};

struct ag *ag_new(void)
{
	return calloc(1, sizeof(struct ag));
}

static size_t ent_size(const struct prog_agg *a, size_t keylen)
{
	return sizeof(struct ag_ent) + (size_t)aggfn_words(a) * 8 + keylen;
}

/* Histograms have groups beside the words of the entry. */
static void data_free(struct ag *ag, const struct ag_ent *e, uint64_t *data)
{
	if (e->is_hist)
		ag->mem -= pc_free((struct hist *)(void *)data);
}

static void ent_free(struct ag *ag, struct ag_ent *e)
{
	struct ag_part *p;

	while ((p = e->parts) != NULL) {
		e->parts = p->next;
		data_free(ag, e, p->data);
		free(p);
	}
	data_free(ag, e, e->data);
	free(e);
}

void ag_free(struct ag *ag)
{
	struct ag_ent *e;
	size_t i, mem;

	if (ag == NULL)
		return;
	mem = ag->mem;
	for (i = 0; i < ag->ntab; i++)
		while ((e = ag->tab[i]) != NULL) {
			ag->tab[i] = e->next;
			ent_free(ag, e);
		}
	free(ag->tab);
	free(ag->st);
#ifdef __GLIBC__
	/* Millions of small blocks: glibc does not return them to the kernel by itself. */
	if (mem > TRIM_ABOVE)
		malloc_trim(0);
#endif
	free(ag);
}

/* The state of an aggregation; the program may have grown since the last time. */
static struct ag_state *state(struct co *co, unsigned agg)
{
	struct ag *ag = co->ag;
	unsigned n = co->prog->naggs;
	struct ag_state *st;

	if (agg >= n)
		return NULL;
	if (n > ag->nst) {
		st = realloc(ag->st, n * sizeof(*st));
		if (st == NULL)
			return NULL;
		ag->st = st;
		for (; ag->nst < n; ag->nst++)
			st[ag->nst] = (struct ag_state){.normal = 1};
	}
	return &ag->st[agg];
}

/* ---- merging -------------------------------------------------------------------------- */

static uint64_t hash_key(unsigned agg, const uint8_t *p, size_t len)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325) ^ agg, w;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&w, p, 8);
		h = (h ^ w) * UINT64_C(0x9fb21c651e98df25);
		h ^= h >> 32;
	}
	while (len--)
		h = (h ^ *p++) * UINT64_C(0x100000001b3);
	h ^= h >> 29;
	h *= UINT64_C(0xbf58476d1ce4e5b9);
	return h ^ h >> 32;
}

static void grow(struct ag *ag)
{
	size_t n = ag->ntab ? ag->ntab * 2 : 256, i;
	struct ag_ent **tab = calloc(n, sizeof(*tab)), *e;

	if (tab == NULL)
		return; /* longer chains, no loss */
	for (i = 0; i < ag->ntab; i++)
		while ((e = ag->tab[i]) != NULL) {
			ag->tab[i] = e->next;
			e->next = tab[e->hash & (n - 1)];
			tab[e->hash & (n - 1)] = e;
		}
	ag->mem += (n - ag->ntab) * sizeof(*tab);
	free(ag->tab);
	ag->tab = tab;
	ag->ntab = n;
}

static struct ag_ent *find(struct ag *ag, unsigned agg, const void *key, size_t len, uint64_t hash)
{
	struct ag_ent *e = ag->ntab ? ag->tab[hash & (ag->ntab - 1)] : NULL;

	while (e != NULL && (e->hash != hash || e->agg != agg || e->keylen != len ||
				    (len && memcmp(e->key, key, len) != 0)))
		e = e->next;
	return e;
}

static bool has_room(const struct co *co, const struct ag *ag, size_t size)
{
	return size <= co_opt(co, OPT_AGGMAX) && ag->mem <= co_opt(co, OPT_AGGMAX) - size;
}

static struct ag_ent *insert(
	struct co *co, struct ag *ag, unsigned agg, const void *key, size_t len, uint64_t hash)
{
	const struct prog_agg *a = co->prog->aggs[agg];
	size_t size = ent_size(a, len);
	struct ag_ent *e;

	if (ag->n >= ag->ntab)
		grow(ag);
	if (ag->ntab == 0 || !has_room(co, ag, size) || (e = malloc(size)) == NULL)
		return NULL;
	memset(e, 0, sizeof(*e));
	e->hash = hash;
	e->agg = (uint16_t)agg;
	e->keylen = (uint32_t)len;
	e->seq = ag->seq++;
	e->is_hist = a->fn == AGG_PERCENTILE;
	e->key = (uint8_t *)e->data + (size_t)aggfn_words(a) * 8;
	if (len)
		memcpy((uint8_t *)e->data + (size_t)aggfn_words(a) * 8, key, len);
	aggfn_init(a, e->data);
	e->next = ag->tab[hash & (ag->ntab - 1)];
	ag->tab[hash & (ag->ntab - 1)] = e;
	ag->n++;
	ag->mem += size;
	return e;
}

/* The last one inserted, which stayed empty. */
static void take_back(struct ag *ag, const struct prog_agg *a, struct ag_ent *e)
{
	ag->tab[e->hash & (ag->ntab - 1)] = e->next;
	ag->n--;
	ag->mem -= ent_size(a, e->keylen);
	ent_free(ag, e);
}

/* false: no room for what it needs, and nothing is added. */
static bool add(struct co *co, struct ag *ag, const struct prog_agg *a, uint64_t *into,
	const uint64_t *from)
{
	if (a->fn == AGG_PERCENTILE) {
		struct hist *h = (struct hist *)(void *)into;
		const struct hist *other = (const struct hist *)(const void *)from;
		size_t more = pc_missing(h, other);

		if (more > 0 && (!has_room(co, ag, more) || !pc_grow(h, other)))
			return false;
		ag->mem += more;
	}
	aggfn_merge(a, into, from);
	return true;
}

/* -xaggpercpu: keep each thread's share too; without memory for it the sum alone is right. */
static void merge_part(struct co *co, struct ag_ent *e, unsigned thread, const uint64_t *data)
{
	const struct prog_agg *a = co->prog->aggs[e->agg];
	size_t size = sizeof(struct ag_part) + (size_t)aggfn_words(a) * 8;
	struct ag_part **pp = &e->parts, *p;

	while (*pp != NULL && (*pp)->thread < thread)
		pp = &(*pp)->next;
	if (*pp == NULL || (*pp)->thread != thread) {
		if (!has_room(co, co->ag, size) || (p = malloc(size)) == NULL)
			return;
		p->next = *pp;
		p->thread = thread;
		aggfn_init(a, p->data);
		*pp = p;
		co->ag->mem += size;
	}
	add(co, co->ag, a, (*pp)->data, data);
}

/* Into one of the tables; NULL: it is full. */
static struct ag_ent *merge(struct co *co, struct ag *ag, unsigned agg, const void *key,
	size_t keylen, const void *data)
{
	uint64_t hash = hash_key(agg, key, keylen);
	const struct prog_agg *a = co->prog->aggs[agg];
	struct ag_ent *e = find(ag, agg, key, keylen, hash);
	bool is_new = e == NULL;

	if (is_new)
		e = insert(co, ag, agg, key, keylen, hash);
	if (e == NULL || !add(co, ag, a, e->data, data)) {
		if (e != NULL && is_new)
			take_back(ag, a, e);
		co->ag->drops++;
		return NULL;
	}
	e->empty = false;
	return e;
}

static int take(
	void *arg, unsigned thread, unsigned agg, const void *key, size_t keylen, const void *data)
{
	struct co *co = arg;
	struct ag_ent *e;
	uint8_t *named;

	co->ag->changes++;
	if (agg >= co->prog->naggs || keylen > UINT32_MAX)
		return 0;
	if (cv_named(co, co->prog->aggs[agg], key, keylen, &named) != 0) {
		co->ag->drops++;
		return 0;
	}
	if (named != NULL)
		key = named;
	if (co->nlive == 0 || co_opt(co, OPT_AGGKEEP)) {
		e = merge(co, co->ag, agg, key, keylen, data);
		if (e != NULL && co_opt(co, OPT_AGGPERCPU))
			merge_part(co, e, thread, data);
	}
	if (co->nlive > 0) {
		unsigned i = co->nlive > 1 ? co->from->stream(co->of) : 0;

		merge(co, co->live[i < co->nlive ? i : 0], agg, key, keylen, data);
	}
	free(named);
	return 0;
}

struct ag **ag_live(struct co *co, unsigned n)
{
	if (co->nlive > 0)
		return co->live;
	co->live = calloc(n, sizeof(struct ag *));
	for (; co->live != NULL && co->nlive < n; co->nlive++)
		if ((co->live[co->nlive] = ag_new()) == NULL)
			break;
	return co->nlive == n ? co->live : NULL;
}

bool ag_is_begun(struct ag *ag)
{
	bool was = ag->begun;

	ag->begun = true;
	return was;
}

int ag_take(struct co *co)
{
	return co->from->aggregations(co->of, take, co);
}

/* From another engine: that one has its own ticks. */
void ag_add(struct co *co, unsigned agg, const void *key, size_t len, const uint64_t *data)
{
	co->ag->changes++;
	if (agg < co->prog->naggs && len <= UINT32_MAX)
		merge(co, co->ag, agg, key, len, data);
}

void ag_forget(struct co *co)
{
	struct ag *ag = co->ag;
	struct ag_ent *e;
	size_t i;

	for (i = 0; i < ag->ntab; i++)
		while ((e = ag->tab[i]) != NULL) {
			ag->tab[i] = e->next;
			ent_free(ag, e);
		}
	ag->mem = ag->ntab * sizeof(*ag->tab);
	ag->n = 0;
	ag->changes++;
}

void ag_lost(struct co *co)
{
	co->ag->drops++;
}

uint64_t ag_changes(const struct ag *ag)
{
	return ag->changes;
}

uint64_t ag_drops(const struct ag *ag)
{
	return ag->drops;
}

/* ---- values --------------------------------------------------------------------------- */

bool ag_is_dist(const struct prog_agg *a)
{
	return a->fn == AGG_QUANTIZE || a->fn == AGG_LQUANTIZE || a->fn == AGG_LLQUANTIZE;
}

struct ag_val ag_value(struct co *co, unsigned agg, const struct ag_ent *e)
{
	return (struct ag_val){
		.a = co->prog->aggs[agg],
		.data = e == NULL || e->empty ? NULL : e->data,
		.normal = ag_normal(co, agg),
	};
}

static uint64_t root128(unsigned __int128 x)
{
	unsigned __int128 bit = (unsigned __int128)1 << 126, r = 0;

	while (bit > x)
		bit >>= 2;
	for (; bit != 0; bit >>= 2) {
		if (x >= r + bit) {
			x -= r + bit;
			r = (r >> 1) + bit;
		} else {
			r >>= 1;
		}
	}
	return (uint64_t)r;
}

/*
 * The root of (the average of the squares - the square of the average), whole numbers as dtrace.
 * Normalized, values are divided by normal, so their squares by its square.
 */
static uint64_t std_dev(const uint64_t *data, uint64_t normal)
{
	unsigned __int128 squares = (unsigned __int128)data[3] << 64 | data[2];
	__int128 avg;

	if (data[0] == 0 || normal == 0)
		return 0;
	squares = squares / normal / normal / data[0];
	avg = (__int128)(int64_t)data[1] / (__int128)normal / (__int128)data[0];
	if ((unsigned __int128)(avg * avg) > squares)
		return 0;
	return root128(squares - (unsigned __int128)(avg * avg));
}

int64_t ag_percentile(const struct ag_val *v, unsigned i)
{
	const struct hist *h = (const struct hist *)(const void *)v->data;
	int64_t p = h == NULL ? 0 : hist_percentile(h, aggfn_percent(v->a->param, i));

	return (int64_t)((__int128)p / (v->normal ? v->normal : 1));
}

int64_t ag_number(const struct ag_val *v)
{
	__int128 normal = v->normal ? v->normal : 1;

	if (v->data == NULL)
		return 0;
	switch (v->a->fn) {
	case AGG_AVG:
		if (v->data[0] == 0)
			return 0;
		return (int64_t)((__int128)(int64_t)v->data[1] / normal /
				 (__int128)(int64_t)v->data[0]);
	case AGG_STDDEV: return (int64_t)std_dev(v->data, v->normal);
	case AGG_PERCENTILE: return ag_percentile(v, 0);
	default:
		if (v->a->is_signed)
			return (int64_t)((__int128)(int64_t)v->data[0] / normal);
		return (int64_t)(uint64_t)((__int128)v->data[0] / normal);
	}
}

/* ---- sorting -------------------------------------------------------------------------- */

struct weight { /* what a value sorts by */
	__int128 i;
	long double d;
	int64_t zero;
};
struct sorted {
	struct ag_row row;
	struct weight *w; /* one a column */
};
struct order {
	struct co *co;
	unsigned n, sortpos, keypos;
	bool key_first, rev;
};

/* Distributions weigh by the sum of their values as far as buckets tell, then by their zeros. */
static void weigh_dist(const struct prog_agg *a, const uint64_t *data, struct weight *w)
{
	unsigned i, n = aggfn_nbuckets(a);
	int64_t v;

	for (i = 0; i < n; i++) {
		if (data[i] == 0)
			continue;
		v = di_label(a, i);
		if (a->fn == AGG_LQUANTIZE && i == n - 1)
			v++; /* at the limit and above */
		w->d += (long double)v * (long double)(int64_t)data[i];
		if (v == 0)
			w->zero = (int64_t)data[i];
	}
}

/* Percentiles sort by the first, then by the last. */
static void weigh_percentiles(const struct prog_agg *a, const uint64_t *data, struct weight *w)
{
	struct ag_val v = {.a = a, .data = data, .normal = 1};

	/* the last one from 0 on, so that all of both fits */
	w->i = (__int128)ag_percentile(&v, 0) * ((__int128)1 << 64) +
	       ((uint64_t)ag_percentile(&v, aggfn_npercents(a) - 1) ^ UINT64_C(1) << 63);
}

static void weigh(const struct prog_agg *a, const struct ag_ent *e, struct weight *w)
{
	memset(w, 0, sizeof(*w));
	if (e == NULL || e->empty)
		return;
	if (ag_is_dist(a))
		weigh_dist(a, e->data, w);
	else if (a->fn == AGG_AVG)
		w->d = e->data[0] ? (long double)(int64_t)e->data[1] / (int64_t)e->data[0] : 0;
	else if (a->fn == AGG_STDDEV)
		w->i = std_dev(e->data, 1);
	else if (a->fn == AGG_PERCENTILE)
		weigh_percentiles(a, e->data, w);
	else
		w->i = a->is_signed ? (__int128)(int64_t)e->data[0] : (__int128)e->data[0];
}

static int weight_cmp(const struct weight *x, const struct weight *y)
{
	if (x->i != y->i)
		return x->i < y->i ? -1 : 1;
	if (x->d < y->d || x->d > y->d)
		return x->d < y->d ? -1 : 1;
	return (x->zero > y->zero) - (x->zero < y->zero);
}

static int key_cmp(const struct order *o, const struct ag_ent *x, const struct ag_ent *y)
{
	const struct prog *p = o->co->prog;
	const struct prog_agg *ax = p->aggs[x->agg], *ay = p->aggs[y->agg];
	unsigned n = ax->nkeys < ay->nkeys ? ax->nkeys : ay->nkeys, i, k;
	struct co_val kx[PROG_MAX_KEYS], ky[PROG_MAX_KEYS];
	int c;

	if (n && cv_keys(ax, x->key, x->keylen, kx) == 0 && cv_keys(ay, y->key, y->keylen, ky) == 0)
		for (i = 0; i < n; i++) {
			k = (i + (o->keypos < n ? o->keypos : 0)) % n;
			c = cv_cmp(o->co, &kx[k], &ky[k]);
			if (c)
				return c;
		}
	return x->keylen != y->keylen ? (x->keylen < y->keylen ? -1 : 1)
				      : (x->keylen ? memcmp(x->key, y->key, x->keylen) : 0);
}

static int row_cmp(const void *a, const void *b, void *arg)
{
	const struct sorted *x = a, *y = b;
	const struct order *o = arg;
	unsigned i, k;
	int c = o->key_first ? key_cmp(o, x->row.ent, y->row.ent) : 0;

	for (i = 0; c == 0 && i < o->n; i++) {
		k = (o->sortpos + i) % o->n;
		c = weight_cmp(&x->w[k], &y->w[k]);
	}
	if (c == 0 && !o->key_first)
		c = key_cmp(o, x->row.ent, y->row.ent);
	return o->rev ? -c : c;
}

struct cell { /* an entry and the column it belongs to */
	const struct ag_ent *ent;
	unsigned col;
};

static int cell_cmp(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;
	int c;

	if (x->ent->keylen != y->ent->keylen)
		return x->ent->keylen < y->ent->keylen ? -1 : 1;
	c = x->ent->keylen ? memcmp(x->ent->key, y->ent->key, x->ent->keylen) : 0;
	return c ? c : (x->col > y->col) - (x->col < y->col);
}

/* All entries of these aggregations, so that equal keys stand side by side. */
static struct cell *collect(struct co *co, const uint16_t *aggs, unsigned n, size_t *ncells)
{
	struct ag *ag = co->ag;
	struct cell *cells = malloc((ag->n * n + 1) * sizeof(*cells));
	const struct ag_ent *e;
	size_t i, k = 0;
	unsigned c;

	for (i = 0; cells != NULL && i < ag->ntab; i++)
		for (e = ag->tab[i]; e != NULL; e = e->next)
			for (c = 0; c < n; c++)
				if (e->agg == aggs[c])
					cells[k++] = (struct cell){e, c};
	if (cells != NULL && k && n > 1)
		qsort(cells, k, sizeof(*cells), cell_cmp);
	*ncells = k;
	return cells;
}

static bool same_key(const struct ag_ent *x, const struct ag_ent *y)
{
	return x->keylen == y->keylen && (x->keylen == 0 || memcmp(x->key, y->key, x->keylen) == 0);
}

static int sorted_rows(
	struct co *co, const uint16_t *aggs, struct order *o, struct ag_row **rows, size_t *nrows)
{
	struct cell *cells;
	struct sorted *s = NULL;
	struct weight *w = NULL;
	const struct ag_ent **cols;
	size_t n, i, k = 0;
	unsigned c, nc = o->n;
	int rv = -1;

	*rows = NULL;
	*nrows = 0;
	cells = collect(co, aggs, nc, &n);
	if (cells == NULL)
		return -1;
	/* Rows first, their columns behind: one piece that the caller frees. */
	*rows = calloc(n + 1, sizeof(**rows) + nc * sizeof(*cols));
	s = calloc(n + 1, sizeof(*s));
	w = calloc((n + 1) * nc, sizeof(*w));
	if (*rows == NULL || s == NULL || w == NULL)
		goto out;
	cols = (const struct ag_ent **)(*rows + n + 1);
	for (i = 0; i < n; i++) {
		if (i > 0 && (nc == 1 || !same_key(cells[i].ent, cells[i - 1].ent)))
			k++;
		s[k].row.ent = cells[i].ent;
		s[k].row.cols = cols + k * nc;
		s[k].w = w + k * nc;
		s[k].row.cols[cells[i].col] = cells[i].ent;
	}
	k = n ? k + 1 : 0;
	for (i = 0; i < k; i++)
		for (c = 0; c < nc; c++)
			weigh(co->prog->aggs[aggs[c]], s[i].row.cols[c], &s[i].w[c]);
	if (k)
		qsort_r(s, k, sizeof(*s), row_cmp, o);
	for (i = 0; i < k; i++)
		(*rows)[i] = s[i].row;
	*nrows = k;
	rv = 0;
out:
	if (rv != 0) {
		free(*rows);
		*rows = NULL;
	}
	free(cells);
	free(s);
	free(w);
	return rv;
}

int ag_rows(struct co *co, const uint16_t *aggs, unsigned n, struct ag_row **rows, size_t *nrows)
{
	struct order o = {
		.co = co,
		.n = n,
		.sortpos =
			co_opt(co, OPT_AGGSORTPOS) < n ? (unsigned)co_opt(co, OPT_AGGSORTPOS) : 0,
		.keypos = (unsigned)co_opt(co, OPT_AGGSORTKEYPOS),
		.key_first = co_opt(co, OPT_AGGSORTKEY) != 0,
		.rev = co_opt(co, OPT_AGGSORTREV) != 0,
	};

	return sorted_rows(co, aggs, &o, rows, nrows);
}

/* ---- what actions do ------------------------------------------------------------------ */

void ag_clear(struct co *co, unsigned agg)
{
	struct ag_ent *e;
	struct ag_part *p;
	size_t i;

	co->ag->changes++;
	for (i = 0; i < co->ag->ntab; i++)
		for (e = co->ag->tab[i]; e != NULL; e = e->next) {
			if (e->agg != agg)
				continue;
			data_free(co->ag, e, e->data);
			aggfn_init(co->prog->aggs[agg], e->data);
			e->empty = true;
			for (p = e->parts; p != NULL; p = p->next) {
				data_free(co->ag, e, p->data);
				aggfn_init(co->prog->aggs[agg], p->data);
			}
		}
}

/* Take out what *pp points to, in its chain. */
static void drop_at(struct co *co, struct ag_ent **pp)
{
	struct ag *ag = co->ag;
	struct ag_ent *e = *pp;
	const struct prog_agg *a = co->prog->aggs[e->agg];
	struct ag_part *p;

	*pp = e->next;
	ag->n--;
	ag->mem -= ent_size(a, e->keylen);
	for (p = e->parts; p != NULL; p = p->next)
		ag->mem -= sizeof(*p) + (size_t)aggfn_words(a) * 8;
	ent_free(ag, e);
}

static void drop_entry(struct co *co, const struct ag_ent *gone)
{
	struct ag_ent **pp = &co->ag->tab[gone->hash & (co->ag->ntab - 1)];

	while (*pp != gone)
		pp = &(*pp)->next;
	drop_at(co, pp);
}

static void drop_all(struct co *co, unsigned agg)
{
	for (size_t i = 0; i < co->ag->ntab; i++)
		for (struct ag_ent **pp = &co->ag->tab[i]; *pp != NULL;)
			if ((*pp)->agg == agg)
				drop_at(co, pp);
			else
				pp = &(*pp)->next;
}

int ag_each(struct co *co, int agg, int (*fn)(struct co *co, const struct ag_ent *e, void *arg),
	void *arg)
{
	int rv = 0;

	for (size_t i = 0; i < co->ag->ntab && rv == 0; i++)
		for (const struct ag_ent *e = co->ag->tab[i]; e != NULL && rv == 0; e = e->next)
			if (agg < 0 || e->agg == (unsigned)agg)
				rv = fn(co, e, arg);
	return rv;
}

int ag_give_each(struct co *co, struct ag *ag,
	int (*fn)(struct co *co, const struct ag_ent *e, void *arg), void *arg)
{
	struct ag_ent *e;
	int rv = 0;

	for (size_t i = 0; i < ag->ntab && ag->n > 0 && rv == 0; i++, ag->at++)
		while (rv == 0 && (e = ag->tab[ag->at & (ag->ntab - 1)]) != NULL) {
			ag->tab[ag->at & (ag->ntab - 1)] = e->next;
			ag->n--;
			ag->mem -= ent_size(co->prog->aggs[e->agg], e->keylen);
			rv = fn(co, e, arg);
			ent_free(ag, e);
		}
	return rv;
}

/* Keep the n largest, or the -n smallest. */
void ag_trunc(struct co *co, unsigned agg, bool all, int64_t n)
{
	struct order o = {.co = co, .n = 1, .rev = n >= 0};
	uint64_t keep = all ? 0 : n < 0 ? -(uint64_t)n : (uint64_t)n;
	uint16_t which = (uint16_t)agg;
	struct ag_row *rows;
	size_t nrows, i;

	co->ag->changes++;
	if (agg >= co->prog->naggs)
		return;
	if (keep == 0) {
		drop_all(co, agg);
		return;
	}
	if (sorted_rows(co, &which, &o, &rows, &nrows) != 0)
		return;
	for (i = keep < nrows ? (size_t)keep : nrows; i < nrows; i++)
		drop_entry(co, rows[i].ent);
	free(rows);
}

void ag_normalize(struct co *co, unsigned agg, uint64_t normal)
{
	struct ag_state *st = state(co, agg);

	co->ag->changes++;
	if (st != NULL && normal != 0)
		st->normal = normal;
}

uint64_t ag_normal(struct co *co, unsigned agg)
{
	const struct ag_state *st = state(co, agg);

	return st != NULL ? st->normal : 1;
}

bool ag_printed(struct co *co, unsigned agg)
{
	struct ag_state *st = state(co, agg);

	return st != NULL && st->printed;
}

void ag_set_printed(struct co *co, unsigned agg)
{
	struct ag_state *st = state(co, agg);

	if (st != NULL)
		st->printed = true;
}
