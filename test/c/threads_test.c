/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables under many threads, with the cleaner and the consumer at work: what one thread alone
 * writes must read back exactly, whatever others do beside it. Also run under ThreadSanitizer
 * (make tsan).
 */
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "engine/tables/dyn.h"
#include "engine_env.h"

#define THREADS 4
#define OWNERS	8   /* self-> keys of a thread, used one after the other */
#define WORDS	40  /* strings that are interned, the same for all */
#define KEYS	24  /* numbers */
#define SECONDS 1.5 /* each of the tests */

enum { VAR_STR, VAR_NUM, VAR_TEXT, VAR_PLAIN, VAR_PAIR, VAR_COMMON };
static struct et_str *words[WORDS], *twins[WORDS]; /* twins: the same texts, other ids */
static _Atomic bool done;
static struct timespec began;

static bool is_over(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - began.tv_sec) + (double)(now.tv_nsec - began.tv_nsec) / 1e9 >
	       SECONDS;
}

static void begin(void)
{
	atomic_store(&done, false);
	clock_gettime(CLOCK_MONOTONIC, &began);
}

/* ---- self->, by one thread at a time -------------------------------------------------- */

/* What one owner's variables must hold. */
struct owner {
	uint64_t key, rnd, steps;
	uint64_t str[WORDS], num[KEYS], pair[KEYS], plain;
	char text[WORDS][32]; /* "": there is none */
	bool wrong;
};

static uint64_t load_of(struct fire *f, unsigned var, const uint64_t *key)
{
	return var == VAR_PLAIN ? rt_self_load(word(f), var, 0, 0, 0)
				: rt_dyn_load(word(f), var, word(key), 0, 0);
}

static void expect(struct owner *o, bool ok, const char *what, uint64_t is, uint64_t should)
{
	if (!ok && !o->wrong)
		fprintf(stderr, "owner %llx, step %llu: %s is %llx, not %llx\n",
			(unsigned long long)o->key, (unsigned long long)o->steps, what,
			(unsigned long long)is, (unsigned long long)should);
	o->wrong |= !ok;
}

/* By an interned string, by its twin, or by the text in memory of the firing's own. */
static uint64_t string_key(struct owner *o, unsigned i)
{
	switch (next_random(&o->rnd) % 4) {
	case 0: return word(words[i]->text);
	case 1: return str_ref(twins[i]);
	default: return str_ref(words[i]);
	}
}

static void check_text(struct owner *o, struct fire *f, unsigned i, const uint64_t *key)
{
	const char *t = (const char *)(uintptr_t)rt_dyn_str(word(f), VAR_TEXT, word(key), 0, 0);

	if (strcmp(t != NULL ? t : "", o->text[i]) != 0)
		expect(o, false, "the text", word(t), i);
}

/* A step: read one variable of each kind, and write or delete it. */
static void self_step(struct world *w, struct fire *f, void *arg)
{
	struct owner *o = arg;
	unsigned i = next_random(&o->rnd) % WORDS, k = next_random(&o->rnd) % KEYS;
	uint64_t value = next_random(&o->rnd) % 3 == 0 ? 0 : next_random(&o->rnd) | 1;
	uint64_t str = string_key(o, i), num = k, pair[2] = {k, str_ref(words[k])}, none = 0;
	char text[32];

	(void)w;
	o->steps++;
	expect(o, load_of(f, VAR_STR, &str) == o->str[i], "by string", load_of(f, VAR_STR, &str),
		o->str[i]);
	rt_dyn_store(word(f), VAR_STR, word(&str), value, 0);
	expect(o, load_of(f, VAR_STR, &str) == value, "by string, written",
		load_of(f, VAR_STR, &str), value);
	o->str[i] = value;
	expect(o, load_of(f, VAR_NUM, &num) == o->num[k], "by number", load_of(f, VAR_NUM, &num),
		o->num[k]);
	rt_dyn_add(word(f), VAR_NUM, word(&num), value - o->num[k], 0);
	o->num[k] = value;
	expect(o, load_of(f, VAR_PAIR, pair) == o->pair[k], "by both", load_of(f, VAR_PAIR, pair),
		o->pair[k]);
	rt_dyn_store(word(f), VAR_PAIR, word(pair), value, 0);
	o->pair[k] = value;
	expect(o, load_of(f, VAR_PLAIN, &none) == o->plain, "plain", load_of(f, VAR_PLAIN, &none),
		o->plain);
	rt_self_store(word(f), VAR_PLAIN, 0, value, 0);
	o->plain = value;
	check_text(o, f, i, &str);
	snprintf(text, sizeof(text), "%llx", (unsigned long long)value);
	if (value == 0)
		text[0] = '\0';
	rt_dyn_setstr(word(f), VAR_TEXT, word(&str), value == 0 ? 0 : word(text), 0);
	strcpy(o->text[i], text);
	check_text(o, f, i, &str);
	rt_dyn_add(word(f), VAR_COMMON, word(&num), 1, 0);
	rt_dyn_add(word(f), VAR_COMMON, word(&num), (uint64_t)-1, 0);
}

/*
 * Where exits are not told: an owner's key has a generation, and those of older ones are dead. The
 * sweep must have been through before the next one ends, or there may be no room.
 */
#define MOST_THREADS 64
static bool swept;
static _Atomic uint32_t generation[MOST_THREADS][OWNERS];
static _Atomic uint64_t passes; /* of the sweep, each with all its cleaning */

static bool is_dead(void *arg, uint64_t key)
{
	(void)arg;
	return key >> 32 != atomic_load(&generation[key >> 16 & 0xffff][key & 0xffff]);
}

static void end_owner(struct world *w, uint64_t *key)
{
	uint64_t seen = atomic_load(&passes);

	if (!swept) { /* another comes by the same number */
		en_self_free(w->en, *key);
		return;
	}
	atomic_store(&generation[*key >> 16 & 0xffff][*key & 0xffff], (uint32_t)(*key >> 32) + 1);
	*key += 1ULL << 32;
	while (atomic_load(&passes) < seen + 2)
		sched_yield();
}

static void *self_thread(void *arg)
{
	static _Atomic uint64_t number;
	struct world *w = arg;
	uint64_t me = atomic_fetch_add(&number, 1) + 1, steps = 0;
	struct owner *o = calloc(OWNERS, sizeof(*o));

	for (unsigned i = 0; i < OWNERS; i++)
		o[i] = (struct owner){.key = me << 16 | i, .rnd = (me << 16 | i) * 77};
	for (unsigned n = 0; !is_over(); n++) {
		struct owner *x = &o[n / 64 % OWNERS];

		inside_as(w, x->key, self_step, x);
		if (n % 331 == 0) { /* a process exits, another comes */
			struct owner fresh = {.rnd = x->rnd, .steps = x->steps, .wrong = x->wrong};

			fresh.key = x->key;
			end_owner(w, &fresh.key);
			*x = fresh;
		}
	}
	for (unsigned i = 0; i < OWNERS; i++) {
		CHECK(!o[i].wrong, "owner %u after %llu steps", i, (unsigned long long)o[i].steps);
		steps += o[i].steps;
		end_owner(w, &o[i].key);
	}
	CHECK(steps > 0);
	free(o);
	return NULL;
}

static void *cleaner(void *arg)
{
	struct world *w = arg;
	uint64_t at = 0;

	while (!atomic_load(&done)) {
		en_clean(w->en);
		if (swept && en_self_sweep(w->en, &at, 100, is_dead, NULL)) {
			at = 0;
			for (int i = 0; i < 4; i++)
				en_clean(w->en);
			atomic_fetch_add(&passes, 1);
		}
		sched_yield();
	}
	return NULL;
}

static uint64_t drops_of(const struct world *w)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < en_nthreads(w->en); i++)
		n += en_drops(w->en, i, DROP_DYNAMIC) + en_drops(w->en, i, DROP_DYNDIRTY) +
		     en_drops(w->en, i, DROP_DYNRINSE);
	return n;
}

/* Every variable is deleted: all that was handed out of the pool comes back. */
static void check_empty(struct world *w)
{
	for (int i = 0; i < 8; i++)
		en_clean(w->en);
	for (uint64_t i = 0; i <= w->en->dyn.mask; i++)
		if (atomic_load(&w->en->dyn.heads[i]) != NULL) {
			CHECK(false, "chain %llu is not empty", (unsigned long long)i);
			return;
		}
	CHECK(!dyn_pending(w->en));
}

/* chains: few, so that threads meet in them */
static void test_self_threads(const char *dynvarsize, bool sweep)
{
	pthread_t t[THREADS], clean;
	struct world w;

	swept = sweep;
	world_new(&w);
	world_opt(&w, "dynvarsize", dynvarsize);
	add_var(&w, SC_SELF, &type_int, "s");
	add_var(&w, SC_SELF, &type_int, "i");
	add_var(&w, SC_SELF, &type_string, "s");
	add_var(&w, SC_SELF, &type_int, "");
	add_var(&w, SC_SELF, &type_int, "is");
	add_var(&w, SC_GLOBAL, &type_int, "i");
	if (world_go(&w)) {
		begin();
		pthread_create(&clean, NULL, cleaner, &w);
		for (int i = 0; i < THREADS; i++)
			pthread_create(&t[i], NULL, self_thread, &w);
		for (int i = 0; i < THREADS; i++)
			pthread_join(t[i], NULL);
		atomic_store(&done, true);
		pthread_join(clean, NULL);
		CHECK(drops_of(&w) == 0, "%llu drops", (unsigned long long)drops_of(&w));
		check_empty(&w);
	}
	world_free(&w);
}

/* ---- one variable, many threads ------------------------------------------------------- */

/*
 * Keys that all threads make and delete at once: a node that one thread gives up before it is in
 * its chain must not be taken for the variable it was before. The sum of what is added is exact.
 */
static uint64_t _Atomic added[KEYS];

static void common_step(struct world *w, struct fire *f, void *arg)
{
	uint64_t *rnd = arg, key = next_random(rnd) % KEYS, num = key, str = str_ref(words[key]);

	(void)w;
	rt_dyn_add(word(f), 0, word(&num), 1, 0);
	rt_dyn_add(word(f), 1, word(&str), 1, 0);
	if (next_random(rnd) % 2 == 0) {
		rt_dyn_add(word(f), 0, word(&num), (uint64_t)-1, 0);
		rt_dyn_add(word(f), 1, word(&str), (uint64_t)-1, 0);
	} else if (next_random(rnd) % 64 == 0) {
		atomic_fetch_add(&added[key], 1); /* it stays; before that it comes and goes */
	} else {
		rt_dyn_add(word(f), 1, word(&str), (uint64_t)-1, 0);
		rt_dyn_add(word(f), 0, word(&num), (uint64_t)-1, 0);
	}
}

static void *common_thread(void *arg)
{
	uint64_t rnd = word(&rnd) * 3 | 1;

	while (!is_over())
		inside(arg, common_step, &rnd);
	return NULL;
}

static void common_check(struct world *w, struct fire *f, void *arg)
{
	(void)w, (void)arg;
	for (uint64_t key = 0; key < KEYS; key++) {
		uint64_t str = str_ref(words[key]);

		CHECK(load_of(f, 0, &key) == atomic_load(&added[key]),
			"number %llu: %lld, not %lld", (unsigned long long)key,
			(long long)load_of(f, 0, &key), (long long)added[key]);
		CHECK(load_of(f, 1, &str) == atomic_load(&added[key]),
			"string %llu: %lld, not %lld", (unsigned long long)key,
			(long long)load_of(f, 1, &str), (long long)added[key]);
	}
}

static void set_seven(struct world *w, struct fire *f, void *arg)
{
	uint64_t key = 7;

	(void)w;
	rt_dyn_store(word(f), 0, word(&key), *(uint64_t *)arg, 0);
}

/* The node that the slot remembers is being made by another thread, for the key it had before. */
static void node_is_being_made(struct world *w, struct fire *f, void *arg)
{
	struct dyn_node *n = NULL;
	uint64_t key = 7, other = 8;
	bool *found = arg;

	for (unsigned i = 0; i < 1u << DYN_RECENT_LOG && n == NULL; i++)
		n = f->thread->dyn.recent[i];
	*found = n != NULL && atomic_load(&n->state) == NODE_GONE;
	if (!*found)
		return;
	atomic_store(&n->value, 77);
	atomic_store(&n->state, NODE_FRESH);
	CHECK(load_of(f, 0, &key) == 0);
	rt_dyn_store(word(f), 0, word(&key), 5, 0);
	CHECK(load_of(f, 0, &key) == 5);
	CHECK(atomic_load(&n->value) == 77); /* it was given up, and is the other key's now */
	CHECK(load_of(f, 0, &other) == 0);
	atomic_store(&n->state, NODE_GONE);
	(void)w;
}

static void test_node_being_made_is_not_near(void)
{
	uint64_t value = 3, none = 0;
	bool found = false;
	struct world w;

	world_new(&w);
	add_var(&w, SC_GLOBAL, &type_int, "i");
	if (world_go(&w)) {
		inside(&w, set_seven, &value);
		inside(&w, set_seven, &none);
		for (int i = 0; i < 6; i++)
			en_clean(w.en);
		/* away from the free ones, where this key would get it */
		for (unsigned i = 0; i < DYN_CLASSES; i++)
			atomic_store(&w.en->dyn.free[i], 0);
		inside(&w, node_is_being_made, &found);
		CHECK(found, "the node was not cleaned away");
	}
	world_free(&w);
}

static void test_node_given_up_while_in_recents(void)
{
	pthread_t t[THREADS], clean;
	struct world w;

	world_new(&w);
	world_opt(&w, "dynvarsize", "256k");
	add_var(&w, SC_GLOBAL, &type_int, "i");
	add_var(&w, SC_GLOBAL, &type_int, "s");
	if (world_go(&w)) {
		begin();
		pthread_create(&clean, NULL, cleaner, &w);
		for (int i = 0; i < THREADS; i++)
			pthread_create(&t[i], NULL, common_thread, &w);
		for (int i = 0; i < THREADS; i++)
			pthread_join(t[i], NULL);
		atomic_store(&done, true);
		pthread_join(clean, NULL);
		CHECK(drops_of(&w) == 0, "%llu drops", (unsigned long long)drops_of(&w));
		inside(&w, common_check, NULL);
	}
	world_free(&w);
}

/* ---- aggregations --------------------------------------------------------------------- */

static uint64_t _Atomic counted[WORDS];
static uint64_t taken[WORDS];

static void agg_step(struct world *w, struct fire *f, void *arg)
{
	uint64_t *rnd = arg, i = next_random(rnd) % WORDS, str;

	(void)w;
	switch (next_random(rnd) % 4) {
	case 0: str = word(words[i]->text); break;
	case 1: str = str_ref(twins[i]); break;
	default: str = str_ref(words[i]);
	}
	rt_agg_count(word(f), 0, word(&str), 0, 1);
	rt_agg_sum(word(f), 1, word(&str), 3, 0);
	atomic_fetch_add_explicit(&counted[i], 1, memory_order_relaxed);
}

static void *agg_thread(void *arg)
{
	uint64_t rnd = word(&rnd) * 5 | 1;

	while (!is_over())
		inside(arg, agg_step, &rnd);
	return NULL;
}

static int take(void *arg, unsigned thread, unsigned agg, const void *key, size_t keylen,
	const void *data)
{
	const char *text = (const char *)key + 4;
	uint64_t value = *(const uint64_t *)data;
	unsigned i = 0;

	(void)arg, (void)thread;
	while (i < WORDS &&
		(words[i]->len != keylen - 4 || memcmp(words[i]->text, text, keylen - 4)))
		i++;
	if (i == WORDS) {
		CHECK(false, "a key that nobody gave");
		return 0;
	}
	taken[i] += agg == 0 ? value : 0 - value / 3;
	if (agg == 1)
		counted[i] -= value / 3;
	return 0;
}

static void *taker(void *arg)
{
	struct world *w = arg;

	while (!atomic_load(&done)) {
		en_agg_take(w->en, take, NULL);
		sched_yield();
	}
	return NULL;
}

/* Each count is in one table or the next, whenever they are taken away. */
static void test_aggs_taken_while_filled(void)
{
	pthread_t t[THREADS], take_;
	uint64_t wrong = 0, lost = 0;
	struct world w;

	world_new(&w);
	add_agg(&w, AGG_COUNT, "s", 0, 0, 0, 0);
	add_agg(&w, AGG_SUM, "s", 0, 0, 0, 0);
	if (world_go(&w)) {
		begin();
		pthread_create(&take_, NULL, taker, &w);
		for (int i = 0; i < THREADS; i++)
			pthread_create(&t[i], NULL, agg_thread, &w);
		for (int i = 0; i < THREADS; i++)
			pthread_join(t[i], NULL);
		atomic_store(&done, true);
		pthread_join(take_, NULL);
		en_agg_take(w.en, take, NULL);
		en_agg_take(w.en, take, NULL);
		for (unsigned i = 0; i < WORDS; i++) {
			wrong += taken[i];  /* count, less a third of the sum */
			lost += counted[i]; /* fired, less a third of the sum */
		}
		CHECK(wrong == 0, "%lld", (long long)wrong);
		CHECK(lost == 0, "%lld", (long long)lost);
	}
	world_free(&w);
}

int main(void)
{
	for (unsigned i = 0; i < WORDS; i++) {
		char text[32];
		int n = snprintf(text, sizeof(text), "%.*sword %u", (int)(i % 20),
			"a longer prefix of it", i);

		words[i] = et_str_new(text, (size_t)n);
		twins[i] = et_str_new(text, (size_t)n);
	}
	test_node_being_made_is_not_near();
	/* room for every key three times: in use, dying, gone; the cleaner may be slow */
	test_self_threads("4m", false);
	test_self_threads("8m", false);
	test_self_threads("4m", true);
	test_node_given_up_while_in_recents();
	test_aggs_taken_while_filled();
	for (unsigned i = 0; i < WORDS; i++) {
		et_str_free(words[i]);
		et_str_free(twins[i]);
	}
	return finish();
}
