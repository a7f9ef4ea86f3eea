/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the engine's tables against plain models: aggregations (every function, negative
 * values, the edges of 64 bits, bounds of buckets) and dynamic variables (storing, deleting,
 * cleaning, a full table, many threads at once).
 */
#include <pthread.h>

#include "engine_env.h"

/* ---- buckets -------------------------------------------------------------------------- */

static unsigned bucket_of(const struct prog_agg *a, int64_t v)
{
	switch (a->fn) {
	case AGG_QUANTIZE: return aggfn_quantize(v);
	case AGG_LQUANTIZE: return aggfn_lquantize(a, v);
	default: return aggfn_llquantize(a, v);
	}
}

/* Every bucket's bounds are just where the next value falls into another one. */
static void check_bounds(const struct prog_agg *a)
{
	int64_t lo, hi, before = INT64_MIN;

	CHECK(a->nbuckets > 0 && a->nbuckets == aggfn_words(a));
	for (unsigned i = 0; i < a->nbuckets; i++) {
		aggfn_bounds(a, i, &lo, &hi);
		CHECK(lo < hi, "fn %u bucket %u", a->fn, i);
		CHECK(lo == before, "fn %u bucket %u: %lld after %lld", a->fn, i, (long long)lo,
			(long long)before);
		CHECK(bucket_of(a, lo) == i, "fn %u: %lld in %u, not %u", a->fn, (long long)lo,
			bucket_of(a, lo), i);
		CHECK(bucket_of(a, hi - 1) == i, "fn %u: %lld in %u, not %u", a->fn,
			(long long)hi - 1, bucket_of(a, hi - 1), i);
		before = hi;
	}
	CHECK(before == INT64_MAX && bucket_of(a, INT64_MAX) == a->nbuckets - 1);
	CHECK(bucket_of(a, INT64_MIN) == 0);
}

static void test_bounds(void)
{
	static const struct prog_agg aggs[] = {
		{.fn = AGG_QUANTIZE},
		{.fn = AGG_LQUANTIZE, .param = {0, 100, 10}},
		{.fn = AGG_LQUANTIZE, .param = {(uint64_t)-50, 50, 7}},
		{.fn = AGG_LQUANTIZE, .param = {(uint64_t)INT32_MIN, INT32_MAX - 200000, 65535}},
		{.fn = AGG_LLQUANTIZE, .param = {10, 0, 6, 20}},
		{.fn = AGG_LLQUANTIZE, .param = {10, 3, 5, 100}},
		{.fn = AGG_LLQUANTIZE, .param = {2, 0, 10, 2}},
		{.fn = AGG_LLQUANTIZE, .param = {2, 0, 61, 16}},
		{.fn = AGG_LLQUANTIZE, .param = {10, 0, 17, 10}},
	};

	for (unsigned i = 0; i < sizeof(aggs) / sizeof(*aggs); i++) {
		struct prog_agg a = aggs[i];

		a.nbuckets = aggfn_nbuckets(&a);
		check_bounds(&a);
	}
	CHECK(aggfn_quantize(0) == 63 && aggfn_quantize(1) == 64 && aggfn_quantize(-1) == 62);
	CHECK(aggfn_quantize(1023) == 73 && aggfn_quantize(1024) == 74);
	CHECK(aggfn_nbuckets(&(struct prog_agg){.fn = AGG_LQUANTIZE, .param = {5, 5, 1}}) == 0);
	CHECK(aggfn_nbuckets(&(struct prog_agg){.fn = AGG_LLQUANTIZE, .param = {1, 0, 6, 20}}) ==
		0);
}

/* ---- aggregations against a model ------------------------------------------------------ */

static const int64_t edges[] = {0, 1, -1, 2, -2, 63, 64, -64, 1000, -1000, INT32_MAX, INT32_MIN,
	INT64_MAX, INT64_MIN, INT64_MAX - 1, INT64_MIN + 1, 1LL << 62, -(1LL << 62)};
#define NEDGES	(sizeof(edges) / sizeof(*edges))
#define NVALUES 2000
#define NKEYS	7

static const unsigned fns[] = {AGG_COUNT, AGG_SUM, AGG_MIN, AGG_MAX, AGG_AVG, AGG_STDDEV,
	AGG_QUANTIZE, AGG_LQUANTIZE, AGG_LLQUANTIZE};
#define NFNS (sizeof(fns) / sizeof(*fns))

static uint64_t (*const updates[])(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t) = {
	rt_agg_count, rt_agg_sum, rt_agg_min, rt_agg_max, rt_agg_avg, rt_agg_stddev,
	rt_agg_quantize, rt_agg_lquantize, rt_agg_llquantize};

struct model {
	int64_t value[NKEYS][NVALUES];
	uint64_t incr[NKEYS][NVALUES];
	unsigned n[NKEYS];
	struct et_str *str[NKEYS];
	uint64_t got[NFNS][NKEYS][512]; /* merged from what the engine gave */
	bool seen[NFNS][NKEYS];
	bool keyless;
	struct world *w;
};

static void update_all(struct world *w, struct fire *f, void *arg)
{
	struct model *m = arg;
	uint64_t rnd = 88172645463325252;

	for (unsigned i = 0; i < NVALUES; i++) {
		unsigned k = m->keyless ? 0 : (unsigned)(next_random(&rnd) % NKEYS), at = m->n[k]++;
		int64_t v = i < NEDGES ? edges[i]
				       : (int64_t)next_random(&rnd) >> next_random(&rnd) % 64;
		uint64_t incr = i % 5 == 0 ? 3 : 1, key[3];

		/* every other time the string is not the interned one, but has its text */
		strcpy((char *)(uintptr_t)f->scratch, m->str[k]->text);
		key[0] = i % 2 ? str_ref(m->str[k]) : f->scratch;
		key[1] = k;
		key[2] = word("0123456789abcdef");
		m->value[k][at] = v;
		m->incr[k][at] = incr;
		for (unsigned fn = 0; fn < NFNS; fn++)
			updates[fn](word(f), fn + (m->keyless ? NFNS : 0), word(key), (uint64_t)v,
				incr);
	}
	(void)w;
}

static int take_all(
	void *arg, unsigned thread, unsigned agg, const void *key, size_t keylen, const void *data)
{
	struct model *m = arg;
	uint32_t len;
	uint64_t k = 0;

	(void)thread;
	if (agg >= NFNS) {
		agg -= NFNS;
		CHECK(keylen == 0);
	} else {
		memcpy(&len, key, 4);
		memcpy(&k, (const char *)key + 4 + len, 8);
		CHECK(keylen == 4 + len + 8 + 16 && k < NKEYS);
		CHECK(len == m->str[k]->len &&
			memcmp((const char *)key + 4, m->str[k]->text, len) == 0);
		CHECK(memcmp((const char *)key + 12 + len, "0123456789abcdef", 16) == 0);
	}
	if (!m->seen[agg][k])
		aggfn_init(&m->w->agg[agg], m->got[agg][k]);
	m->seen[agg][k] = true;
	aggfn_merge(&m->w->agg[agg], m->got[agg][k], data);
	return 0;
}

/* The same by the plainest means. */
static void check_model(struct model *m, unsigned fn, unsigned k)
{
	const struct prog_agg *a = &m->w->agg[fn];
	uint64_t want[512] = {0}, words = aggfn_words(a);
	unsigned __int128 squares = 0;

	aggfn_init(a, want);
	for (unsigned i = 0; i < m->n[k]; i++) {
		int64_t v = m->value[k][i];
		uint64_t mag = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;

		switch (fns[fn]) {
		case AGG_COUNT: want[0] += m->incr[k][i]; break;
		case AGG_SUM: want[0] += (uint64_t)v; break;
		case AGG_MIN: want[0] = v < (int64_t)want[0] ? (uint64_t)v : want[0]; break;
		case AGG_MAX: want[0] = v > (int64_t)want[0] ? (uint64_t)v : want[0]; break;
		case AGG_STDDEV:
			squares += (unsigned __int128)mag * mag;
			want[2] = (uint64_t)squares;
			want[3] = (uint64_t)(squares >> 64);
			/* fallthrough */
		case AGG_AVG:
			want[0]++;
			want[1] += (uint64_t)v;
			break;
		default: want[bucket_of(a, v)] += m->incr[k][i];
		}
	}
	CHECK(m->seen[fn][k] && words <= 512);
	for (unsigned i = 0; i < words; i++)
		CHECK(m->got[fn][k][i] == want[i], "fn %u key %u word %u: %llu, not %llu", fns[fn],
			k, i, (unsigned long long)m->got[fn][k][i], (unsigned long long)want[i]);
}

static void test_aggs(bool keyless)
{
	struct model *m = calloc(1, sizeof(*m));
	struct world w;

	world_new(&w);
	world_opt(&w, "aggsize", "256k");
	for (unsigned round = 0; round < 2; round++)
		for (unsigned i = 0; i < NFNS; i++)
			if (fns[i] == AGG_LQUANTIZE)
				add_agg(&w, fns[i], round ? "" : "sib", (uint64_t)-100, 100, 3, 0);
			else if (fns[i] == AGG_LLQUANTIZE)
				add_agg(&w, fns[i], round ? "" : "sib", 10, 0, 10, 10);
			else
				add_agg(&w, fns[i], round ? "" : "sib", 0, 0, 0, 0);
	m->w = &w;
	m->keyless = keyless;
	for (unsigned i = 0; i < NKEYS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "key%.*s", (int)i, "abcdefghij");
		m->str[i] = et_str_new(name, strlen(name));
	}
	if (world_go(&w)) {
		/* several snapshots: what each gave is merged */
		for (int round = 0; round < 3; round++) {
			memset(m->n, 0, sizeof(m->n));
			inside(&w, update_all, m);
			en_agg_take(w.en, take_all, m);
		}
		for (unsigned fn = 0; fn < NFNS; fn++)
			for (unsigned k = 0; k < (keyless ? 1 : NKEYS); k++)
				if (fns[fn] == AGG_MIN || fns[fn] == AGG_MAX)
					check_model(m, fn, k);
		memset(m->got, 0, sizeof(m->got));
		memset(m->seen, 0, sizeof(m->seen));
		memset(m->n, 0, sizeof(m->n));
		inside(&w, update_all, m);
		en_agg_take(w.en, take_all, m);
		for (unsigned fn = 0; fn < NFNS; fn++)
			for (unsigned k = 0; k < (keyless ? 1 : NKEYS); k++)
				check_model(m, fn, k);
		CHECK(en_drops(w.en, 0, DROP_AGGREGATION) == 0);
	}
	world_free(&w);
	for (unsigned i = 0; i < NKEYS; i++)
		et_str_free(m->str[i]);
	free(m);
}

/*
 * The short way, a key of one interned string, divides by multiplying: for every step it must find
 * the buckets that aggfn_lquantize finds, above all around their bounds.
 */
static const struct {
	int64_t base, limit;
	uint64_t step;
} steps[] = {{0, 63, 2}, {0, 1, 1}, {-7, 1000, 1}, {-100, 100, 3}, {5, 5000, 7}, {0, 65535, 1000},
	{INT32_MIN, INT32_MAX - 200000, 65535}, {INT32_MIN, INT32_MAX, 1ULL << 31},
	{0, 1000LL * UINT32_MAX, UINT32_MAX - 1}, {-3, 60000LL * UINT32_MAX, UINT32_MAX}};
#define NSTEPS (sizeof(steps) / sizeof(*steps))
static uint64_t *bucket_counts[NSTEPS];

static void put_steps(struct world *w, struct fire *f, void *arg)
{
	uint64_t key = str_ref(arg), rnd = 88172645463325252;

	for (unsigned i = 0; i < NSTEPS; i++) {
		const struct prog_agg *a = &w->en->aggs[i].fn;

		for (unsigned k = 0; k < 3000; k++) {
			uint64_t r = next_random(&rnd);
			int64_t lo, hi, v = k < NEDGES ? edges[k] : (int64_t)r >> r % 61;

			if (k > 500) {
				aggfn_bounds(a, (unsigned)(r % a->nbuckets), &lo, &hi);
				v = (int64_t)((uint64_t)lo + k % 3 - 1);
			}
			bucket_counts[i][aggfn_lquantize(a, v)]++;
			rt_agg_lquantize(word(f), i, word(&key), (uint64_t)v, 1);
		}
	}
}

static int check_steps(
	void *arg, unsigned thread, unsigned agg, const void *key, size_t keylen, const void *data)
{
	struct world *w = arg;

	(void)thread, (void)key, (void)keylen;
	CHECK(memcmp(data, bucket_counts[agg], 8 * (size_t)w->en->aggs[agg].fn.nbuckets) == 0,
		"lquantize with step %llu", (unsigned long long)steps[agg].step);
	bucket_counts[agg][0] = UINT64_MAX; /* seen */
	return 0;
}

static void test_lquantize_steps(void)
{
	struct et_str *s = et_str_new("key", 3);
	struct world w;

	world_new(&w);
	world_opt(&w, "aggsize", "8m");
	for (unsigned i = 0; i < NSTEPS; i++) {
		bucket_counts[i] = calloc(70000, 8);
		add_agg(&w, AGG_LQUANTIZE, "s", (uint64_t)steps[i].base, (uint64_t)steps[i].limit,
			steps[i].step, 0);
	}
	if (world_go(&w)) {
		inside(&w, put_steps, s);
		en_agg_take(w.en, check_steps, &w);
		for (unsigned i = 0; i < NSTEPS; i++)
			CHECK(bucket_counts[i][0] == UINT64_MAX, "nothing was taken");
	}
	world_free(&w);
	for (unsigned i = 0; i < NSTEPS; i++)
		free(bucket_counts[i]);
	et_str_free(s);
}

/* More keys than there is room for: every update is in the table or counted. */
static uint64_t counted;

static void add_many(struct world *w, struct fire *f, void *arg)
{
	(void)w, (void)arg;
	for (uint64_t i = 0; i < 100000; i++) {
		uint64_t key = i % 50000;

		rt_agg_count(word(f), 0, word(&key), 0, 1);
	}
}

static int sum_counts(
	void *arg, unsigned thread, unsigned agg, const void *key, size_t keylen, const void *data)
{
	(void)arg, (void)thread, (void)agg, (void)key, (void)keylen;
	counted += *(const uint64_t *)data;
	return 0;
}

static int stop_early(
	void *arg, unsigned thread, unsigned agg, const void *key, size_t keylen, const void *data)
{
	sum_counts(arg, thread, agg, key, keylen, data);
	return 1;
}

static void test_agg_full(void)
{
	struct world w;

	world_new(&w);
	world_opt(&w, "aggsize", "64k");
	add_agg(&w, AGG_COUNT, "i", 0, 0, 0, 0);
	if (world_go(&w)) {
		for (int round = 1; round <= 3; round++) {
			CHECK(en_unread(w.en) == EN_NOTHING);
			inside(&w, add_many, NULL);
			CHECK(en_unread(w.en) == EN_URGENT);
			CHECK(en_agg_take(w.en, stop_early, NULL) == 1);
			en_agg_take(w.en, sum_counts, NULL);
			CHECK(counted + en_drops(w.en, 0, DROP_AGGREGATION) ==
				100000ull * (unsigned)round);
			CHECK(en_drops(w.en, 0, DROP_AGGREGATION) > 0 && counted > 0);
		}
	}
	world_free(&w);
}

/* ---- dynamic variables against a model ------------------------------------------------- */

enum { VAR_INT, VAR_STR, VAR_STRUCT, VAR_SELF, VAR_PLAIN, NVARS };
#define DYN_KEYS 97

struct dyn_model {
	uint64_t value[NVARS][DYN_KEYS];
	bool there[NVARS][DYN_KEYS];
	uint64_t rnd;
	struct et_str *name;
	unsigned drops;
};

/* self->x of many tasks: k is whose. A firing is of one, so what it remembers is forgotten. */
static uint64_t become(struct fire *f, uint64_t self)
{
	uint64_t old = f->self;

	f->self = self;
	f->memo = NULL;
	return old;
}

static uint64_t plain_load(struct fire *f, unsigned k)
{
	uint64_t old = become(f, 1000 + k), v = rt_self_load(word(f), VAR_PLAIN, 0, 0, 0);

	CHECK(v == rt_self_load(word(f), VAR_PLAIN, 0, 0, 0)); /* the node that was found last */
	CHECK(v == rt_dyn_load(word(f), VAR_PLAIN, 0, 0, 0));
	become(f, old);
	return v;
}

static void plain_store(struct fire *f, unsigned k, uint64_t v)
{
	uint64_t old = become(f, 1000 + k);

	rt_self_store(word(f), VAR_PLAIN, 0, v, 0);
	become(f, old);
}

static void dyn_check(struct fire *f, struct dyn_model *m, unsigned var, unsigned k, uint64_t key)
{
	const char *s;
	const uint64_t *ref;

	switch (var) {
	case VAR_STR:
		s = (const char *)(uintptr_t)rt_dyn_str(word(f), var, key, 0, 0);
		CHECK((s != NULL) == m->there[var][k]);
		CHECK(s == NULL || strtoull(s, NULL, 10) == m->value[var][k]);
		break;
	case VAR_STRUCT:
		ref = (const uint64_t *)(uintptr_t)rt_dyn_ref(word(f), var, key, 0, 0);
		CHECK((ref != NULL) == m->there[var][k]);
		CHECK(ref == NULL || (ref[0] == m->value[var][k] && ref[2] == 0));
		break;
	case VAR_PLAIN: CHECK(plain_load(f, k) == m->value[var][k]); break;
	default:
		CHECK(rt_dyn_load(word(f), var, key, 0, 0) == m->value[var][k],
			"var %u key %u: %llu, not %llu", var, k,
			(unsigned long long)rt_dyn_load(word(f), var, key, 0, 0),
			(unsigned long long)m->value[var][k]);
	}
}

static void dyn_set(
	struct fire *f, struct dyn_model *m, unsigned var, unsigned k, uint64_t key, uint64_t v)
{
	uint64_t drops = en_drops(f->en, 0, DROP_DYNAMIC) + en_drops(f->en, 0, DROP_DYNDIRTY) +
			 en_drops(f->en, 0, DROP_DYNRINSE);
	char text[32];
	uint64_t *ref;

	if (var == VAR_STR) {
		snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
		rt_dyn_setstr(word(f), var, key, v ? word(text) : 0, 0);
	} else if (var == VAR_STRUCT && v != 0) {
		ref = (uint64_t *)(uintptr_t)rt_dyn_new(word(f), var, key, 0, 0);
		if (ref != NULL)
			ref[0] = v;
	} else if (var == VAR_STRUCT) {
		rt_dyn_del(word(f), var, key, 0, 0);
	} else if (var == VAR_PLAIN) {
		plain_store(f, k, v);
	} else if (v % 3 == 0 && v != 0) {
		CHECK(rt_dyn_add(word(f), var, key, v, 0) == m->value[var][k]);
		v += m->value[var][k];
	} else {
		rt_dyn_store(word(f), var, key, v, 0);
	}
	if (drops != en_drops(f->en, 0, DROP_DYNAMIC) + en_drops(f->en, 0, DROP_DYNDIRTY) +
			     en_drops(f->en, 0, DROP_DYNRINSE)) {
		m->drops++;
		CHECK(!m->there[var][k]); /* only what is not there yet can find no room */
		return;
	}
	m->value[var][k] = v;
	m->there[var][k] = v != 0;
}

static void dyn_steps(struct world *w, struct fire *f, void *arg)
{
	struct dyn_model *m = arg;

	(void)w;
	for (int i = 0; i < 500; i++) {
		unsigned var = (unsigned)(next_random(&m->rnd) % NVARS);
		unsigned k = (unsigned)(next_random(&m->rnd) % DYN_KEYS);
		uint64_t key[2] = {k, str_ref(m->name)};

		if (next_random(&m->rnd) % 2)
			dyn_check(f, m, var, k, word(key));
		else
			dyn_set(f, m, var, k, word(key),
				next_random(&m->rnd) % 3 ? next_random(&m->rnd) % 100000 : 0);
	}
}

static void test_dyn(const char *dynvarsize, bool full)
{
	struct dyn_model *m = calloc(1, sizeof(*m));
	struct world w;

	world_new(&w);
	world_opt(&w, "dynvarsize", dynvarsize);
	add_var(&w, SC_GLOBAL, &type_int, "is");
	add_var(&w, SC_GLOBAL, &type_string, "is");
	add_var(&w, SC_GLOBAL, &type_struct, "is");
	add_var(&w, SC_SELF, &type_int, "is");
	add_var(&w, SC_SELF, &type_int, "");
	m->rnd = 1234567;
	m->name = et_str_new("name", 4);
	if (world_go(&w))
		for (int i = 0; i < 400; i++) {
			inside(&w, dyn_steps, m);
			if (i % 3 == 0)
				en_clean(w.en);
		}
	CHECK(full == (m->drops > 0), "%u drops", m->drops);
	world_free(&w);
	et_str_free(m->name);
	free(m);
}

/* Keys that come and go: the memory of each must be found again. */
static void come_and_go(struct world *w, struct fire *f, void *arg)
{
	uint64_t *from = arg, key;

	(void)w;
	for (key = *from; key < *from + 100; key++)
		rt_dyn_store(word(f), 0, word(&key), key + 1, 0);
	for (key = *from; key < *from + 100; key++) {
		CHECK(rt_dyn_load(word(f), 0, word(&key), 0, 0) == key + 1);
		rt_dyn_store(word(f), 0, word(&key), 0, 0);
		CHECK(rt_dyn_load(word(f), 0, word(&key), 0, 0) == 0);
	}
	*from += 100;
}

/* Little room, and one variable. */
static bool small_world(struct world *w, int scope)
{
	world_new(w);
	world_opt(w, "dynvarsize", "64k");
	add_var(w, scope, &type_int, "i");
	return world_go(w);
}

static void test_dyn_reuse(void)
{
	uint64_t from = 0;
	struct world w;

	if (small_world(&w, SC_GLOBAL))
		for (int i = 0; i < 2000; i++) {
			inside(&w, come_and_go, &from);
			en_clean(w.en);
		}
	CHECK(en_drops(w.en, 0, DROP_DYNAMIC) + en_drops(w.en, 0, DROP_DYNDIRTY) +
			en_drops(w.en, 0, DROP_DYNRINSE) ==
		0);
	world_free(&w);
}

/* The kind of a drop tells whether cleaning would help. */
static void fill_up(struct world *w, struct fire *f, void *arg)
{
	(void)w;
	for (uint64_t key = 0; key < 1000; key++)
		rt_dyn_store(word(f), 0, word(&key), arg ? 0 : 1, 0);
}

static void one_more(struct world *w, struct fire *f, void *arg)
{
	uint64_t key = 5000 + (uint64_t)(uintptr_t)arg;

	(void)w;
	rt_dyn_store(word(f), 0, word(&key), 1, 0);
}

static void test_dyn_drops(void)
{
	struct world w;

	world_new(&w);
	world_opt(&w, "dynvarsize", "8k");
	add_var(&w, SC_GLOBAL, &type_int, "i");
	if (world_go(&w)) {
		inside(&w, fill_up, NULL);
		CHECK(en_drops(w.en, 0, DROP_DYNAMIC) > 0);
		CHECK(en_drops(w.en, 0, DROP_DYNDIRTY) == 0);
		inside(&w, fill_up, (void *)1);
		inside(&w, one_more, NULL);
		CHECK(en_drops(w.en, 0, DROP_DYNDIRTY) == 1);
		en_clean(w.en);
		inside(&w, one_more, NULL);
		CHECK(en_drops(w.en, 0, DROP_DYNRINSE) == 1);
		en_clean(w.en);
		en_clean(w.en);
		inside(&w, one_more, NULL);
		CHECK(en_drops(w.en, 0, DROP_DYNRINSE) == 1);
	}
	world_free(&w);
}

/* ---- self-> --------------------------------------------------------------------------- */

static void self_set(struct world *w, struct fire *f, void *arg)
{
	(void)w;
	for (uint64_t key = 0; key < 10; key++)
		rt_dyn_store(word(f), 0, word(&key), word(arg) + key, 0);
}

static void self_check(struct world *w, struct fire *f, void *arg)
{
	(void)w;
	for (uint64_t key = 0; key < 10; key++)
		CHECK(rt_dyn_load(word(f), 0, word(&key), 0, 0) == (arg ? word(arg) + key : 0));
}

static void test_self(void)
{
	struct world w;

	world_new(&w);
	add_var(&w, SC_SELF, &type_int, "i");
	if (world_go(&w)) {
		for (uint64_t who = 1; who < 100; who++)
			inside_as(&w, who, self_set, (void *)(uintptr_t)(who * 100));
		for (uint64_t who = 1; who < 100; who++)
			inside_as(&w, who, self_check, (void *)(uintptr_t)(who * 100));
		for (uint64_t who = 1; who < 100; who += 2)
			en_self_free(w.en, who);
		for (int i = 0; i < 4; i++) {
			for (uint64_t who = 1; who < 100; who++)
				inside_as(&w, who, self_check,
					who % 2 ? NULL : (void *)(uintptr_t)(who * 100));
			en_clean(w.en);
		}
	}
	world_free(&w);
}

/*
 * Nobody tells who has ended. Of those that come after each other every fiftieth lives, up to 1000.
 */
static bool is_dead(void *arg, uint64_t key)
{
	unsigned *asked = arg;

	++*asked;
	return key > 1000 || key % 50 != 0;
}

static void test_self_sweep(void)
{
	unsigned asked = 0;
	struct world w;

	if (small_world(&w, SC_SELF))
		for (uint64_t from = 1; from < 20000; from += 20) {
			uint64_t at = 0;

			for (uint64_t who = from; who < from + 20; who++)
				inside_as(&w, who, self_set, (void *)(uintptr_t)(who * 100));
			while (!en_self_sweep(w.en, &at, 3, is_dead, &asked))
				;
			for (uint64_t who = 50; who <= 1000 && who < from + 20; who += 50)
				inside_as(&w, who, self_check, (void *)(uintptr_t)(who * 100));
			inside_as(&w, from, self_check, NULL);
			for (int i = 0; i < 4; i++)
				en_clean(w.en);
		}
	CHECK(asked < 1000 * (20 + 20 * 10), "asked %u times", asked); /* not about each variable */
	CHECK(en_drops(w.en, 0, DROP_DYNAMIC) + en_drops(w.en, 0, DROP_DYNDIRTY) +
			en_drops(w.en, 0, DROP_DYNRINSE) ==
		0);
	world_free(&w);
}

/* One process with very many variables: cleaned in one go, whatever their order. */
enum { MANY = 20000 };

static void many_set(struct world *w, struct fire *f, void *arg)
{
	(void)w;
	for (uint64_t i = 0; i < MANY; i++) {
		uint64_t key = i * 7919 % MANY;

		rt_dyn_store(word(f), 0, word(&key), key % 3 == word(arg) ? 0 : key + 1, 0);
	}
}

static void many_check(struct world *w, struct fire *f, void *arg)
{
	unsigned bad = 0;

	(void)w;
	for (uint64_t key = 0; key < MANY; key++)
		bad += rt_dyn_load(word(f), 0, word(&key), 0, 0) !=
		       (word(arg) == 9 || key % 3 == word(arg) ? 0 : key + 1);
	CHECK(bad == 0, "%u", bad);
}

static void test_self_many(void)
{
	struct world w;

	world_new(&w);
	world_opt(&w, "dynvarsize", "4m");
	add_var(&w, SC_SELF, &type_int, "i");
	if (world_go(&w)) {
		for (uint64_t gone = 0; gone < 4; gone++) { /* the last: none */
			inside_as(&w, 1, many_set, (void *)(uintptr_t)gone);
			inside_as(&w, 2, self_set, (void *)100);
			for (int i = 0; i < 4; i++)
				en_clean(w.en);
			inside_as(&w, 1, many_check, (void *)(uintptr_t)gone);
			inside_as(&w, 2, self_check, (void *)100);
		}
		en_self_free(w.en, 1);
		for (int i = 0; i < 4; i++) {
			inside_as(&w, 1, many_check, (void *)9);
			en_clean(w.en);
		}
		inside_as(&w, 2, self_check, (void *)100);
		inside_as(&w, 1, many_set, (void *)1); /* all their room is there again */
		inside_as(&w, 1, many_check, (void *)1);
		CHECK(en_drops(w.en, 0, DROP_DYNAMIC) + en_drops(w.en, 0, DROP_DYNDIRTY) == 0);
	}
	world_free(&w);
}

/* ---- many threads --------------------------------------------------------------------- */

#define THREADS 4
#define ROUNDS	2000
static _Atomic bool done;

static void add_some(struct world *w, struct fire *f, void *arg)
{
	uint64_t *rnd = arg;

	(void)w;
	for (int i = 0; i < 50; i++) {
		uint64_t key = next_random(rnd) % 8, other = 100 + next_random(rnd) % 50;

		rt_dyn_add(word(f), 0, word(&key), 1, 0);
		/* comes and goes: through 0 it is deleted, and must still lose nothing */
		rt_dyn_add(word(f), 0, word(&other), 1, 0);
		rt_dyn_add(word(f), 0, word(&other), (uint64_t)-1, 0);
	}
}

static void *adder(void *arg)
{
	struct world *w = arg;
	uint64_t rnd = word(&rnd) | 1;

	for (int i = 0; i < ROUNDS; i++)
		inside(w, add_some, &rnd);
	return NULL;
}

static void *cleaner(void *arg)
{
	struct world *w = arg;

	while (!atomic_load(&done))
		en_clean(w->en);
	return NULL;
}

static void add_up(struct world *w, struct fire *f, void *arg)
{
	uint64_t sum = 0, rest = 0;

	(void)w, (void)arg;
	for (uint64_t key = 0; key < 8; key++)
		sum += rt_dyn_load(word(f), 0, word(&key), 0, 0);
	for (uint64_t key = 100; key < 150; key++)
		rest |= rt_dyn_load(word(f), 0, word(&key), 0, 0);
	CHECK(sum == 50ull * ROUNDS * THREADS, "%llu", (unsigned long long)sum);
	CHECK(rest == 0);
}

static void test_dyn_threads(void)
{
	pthread_t t[THREADS], clean;
	struct world w;

	world_new(&w);
	add_var(&w, SC_GLOBAL, &type_int, "i");
	if (world_go(&w)) {
		pthread_create(&clean, NULL, cleaner, &w);
		for (int i = 0; i < THREADS; i++)
			pthread_create(&t[i], NULL, adder, &w);
		for (int i = 0; i < THREADS; i++)
			pthread_join(t[i], NULL);
		atomic_store(&done, true);
		pthread_join(clean, NULL);
		inside(&w, add_up, NULL);
		CHECK(en_drops(w.en, 0, DROP_DYNAMIC) == 0);
	}
	world_free(&w);
}

int main(void)
{
	test_bounds();
	test_aggs(false);
	test_aggs(true);
	test_lquantize_steps();
	test_agg_full();
	test_dyn("1m", false);
	test_dyn("20k", true);
	test_dyn_reuse();
	test_dyn_drops();
	test_self();
	test_self_sweep();
	test_self_many();
	test_dyn_threads();
	return finish();
}
