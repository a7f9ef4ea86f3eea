/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the engine: rings of the three policies, records that are long, speculations.
 */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "engine_env.h"
#include "engine/recording.h"

/* ---- rings ---------------------------------------------------------------------------- */


static void test_switch(void)
{
	struct seen s = {0};
	struct world w;
	uint64_t i = 1;

	world_new(&w);
	world_opt(&w, "bufsize", "1080");
	add_recorder(&w, "p");
	if (world_go(&w)) {
		for (; i <= 100; i++)
			fire1(&w, i);
		CHECK(en_drops(w.en, 0, DROP_PRINCIPAL) > 0);
		en_consume(w.en, see, &s);
		CHECK(s.n + en_drops(w.en, 0, DROP_PRINCIPAL) == 100 && s.first == 1);
		CHECK(s.last == s.n && s.disorder == 0); /* the oldest are kept */
		for (int k = 0; k < 10000; k++) {	 /* round and round */
			fire1(&w, i++);
			en_consume(w.en, see, &s);
		}
		CHECK(s.n + en_drops(w.en, 0, DROP_PRINCIPAL) == 10100 && s.last == i - 1);
		s.stop_after = 1;
		fire1(&w, i++);
		fire1(&w, i++);
		CHECK(en_consume(w.en, see, &s) == 1 && s.last == i - 2);
		CHECK(en_consume(w.en, see, &s) == 1 && s.last == i - 1);
		CHECK(en_consume(w.en, see, &s) == 0 && s.disorder == 0);
	}
	world_free(&w);
}

static void test_ring(void)
{
	struct seen s = {0};
	struct world w;

	world_new(&w);
	world_opt(&w, "bufsize", "1080");
	world_opt(&w, "bufpolicy", "ring");
	add_recorder(&w, "p");
	if (world_go(&w)) {
		for (uint64_t i = 1; i <= 1000; i++)
			fire1(&w, i);
		en_consume(w.en, see, &s);
		CHECK(s.n == 0); /* not while it runs */
		en_stop(w.en);
		en_consume(w.en, see, &s);
		CHECK(s.n >= 1080 / 40 && s.n <= 1080 / 32 && s.last == 1000 && s.disorder == 0);
		CHECK(s.first == 1001 - s.n && en_drops(w.en, 0, DROP_PRINCIPAL) == 0);
	}
	world_free(&w);
}

/* ---- copies while it is written ------------------------------------------------------- */

/* Records of a thread are numbered: those of a copy follow each other, without a gap. */
static uint64_t copied_wrong(struct en_recording *c, uint64_t *n)
{
	const struct rec_head *rec;
	uint64_t last[8] = {0}, wrong = 0, ts = 0, v;
	unsigned thread;

	for (*n = 0; (rec = en_recording_next(c, &thread)) != NULL; ++*n) {
		memcpy(&v, rec + 1, sizeof(v));
		wrong += rec->ts < ts || (last[thread % 8] != 0 && v != last[thread % 8] + 1);
		ts = rec->ts;
		last[thread % 8] = v;
	}
	return wrong;
}

static void test_recording(void)
{
	struct en_recorded about;
	struct en_recording *c;
	struct world w;
	uint64_t n;
	bool whole;

	world_new(&w);
	world_opt(&w, "bufsize", "1080");
	world_opt(&w, "bufpolicy", "ring");
	add_recorder(&w, "p");
	if (world_go(&w)) {
		for (uint64_t i = 1; i <= 1000; i++) {
			fire1(&w, i);
			c = en_record(w.en, EN_WHOLE, &whole);
			en_recording_about(c, &about);
			CHECK(whole && copied_wrong(c, &n) == 0 && n == about.events);
			CHECK(about.events + about.overwritten == i, "%llu", (unsigned long long)i);
			en_recording_rewind(c);
			CHECK(copied_wrong(c, &n) == 0 && n == about.events);
			en_recording_free(c);
		}
		for (int i = 0; i < 2; i++) { /* what is new is new once */
			c = en_record(w.en, EN_NEW, &whole);
			CHECK(copied_wrong(c, &n) == 0 && (n > 0) == (i == 0));
			en_recording_free(c);
		}
	}
	world_free(&w);
}

static _Atomic bool recording_ends;

static void *fire_on(void *arg)
{
	for (uint64_t i = 1; !recording_ends; i++)
		fire1(arg, i);
	return NULL;
}

static void test_recording_threads(void)
{
	pthread_t threads[3];
	struct en_recording *c;
	struct world w;
	uint64_t n, wrong = 0, all = 0;
	bool whole;

	world_new(&w);
	world_opt(&w, "bufsize", "64k");
	world_opt(&w, "bufpolicy", "ring");
	add_recorder(&w, "p");
	if (world_go(&w)) {
		for (int i = 0; i < 3; i++)
			pthread_create(&threads[i], NULL, fire_on, &w);
		/* with one CPU the others may not have run yet */
		for (int i = 0; i < 2000 || (all <= 2000 && i < 1000000); i++) {
			c = en_record(w.en, i % 2 ? EN_NEW : EN_WHOLE, &whole);
			wrong += copied_wrong(c, &n);
			all += n;
			en_recording_free(c);
			if (n == 0)
				sched_yield();
		}
		recording_ends = true;
		for (int i = 0; i < 3; i++)
			pthread_join(threads[i], NULL);
		CHECK(wrong == 0 && all > 2000, "%llu of %llu", (unsigned long long)wrong,
			(unsigned long long)all);
	}
	world_free(&w);
}

static void test_fill(void)
{
	struct seen s = {0};
	struct world w;

	world_new(&w);
	world_opt(&w, "bufsize", "1080");
	world_opt(&w, "bufpolicy", "fill");
	add_recorder(&w, "p");
	if (world_go(&w)) {
		fire1(&w, 1);
		CHECK(!en_filled(w.en));
		for (uint64_t i = 2; i <= 1000; i++)
			fire1(&w, i);
		CHECK(en_filled(w.en));
		en_stop(w.en);
		en_consume(w.en, see, &s);
		CHECK(s.n == 1080 / 32 && s.first == 1 && s.last == s.n);
		CHECK(s.n + en_drops(w.en, 0, DROP_PRINCIPAL) == 1000);
	}
	world_free(&w);
}

/* A record longer than half the ring, and one longer than all of it. */
static void test_long_records(void)
{
	struct seen s = {0};
	struct world w;
	struct prog_clause *c;

	world_new(&w);
	world_opt(&w, "bufsize", "1024");
	w.prog.rec_size = 4096;
	c = add_recorder(&w, "p");
	c->rec_size = 600;
	if (world_go(&w)) {
		for (uint64_t i = 1; i <= 100; i++) {
			fire1(&w, i);
			en_consume(w.en, see, &s);
		}
		CHECK(s.n >= 50 && s.n + en_drops(w.en, 0, DROP_PRINCIPAL) == 100);
	}
	world_free(&w);
	world_new(&w);
	world_opt(&w, "bufsize", "1024");
	w.prog.rec_size = 4096;
	c = add_recorder(&w, "p");
	c->rec_size = 2000;
	CHECK(en_go(w.en, &w.prog, &w.error) < 0 && strcmp(w.error.tag, "ET_RECORD") == 0, "%s",
		w.error.text);
	world_free(&w);
}

/* ---- speculations --------------------------------------------------------------------- */

static uint32_t spec_id;

static void do_speculation(struct world *w, struct fire *f, void *arg)
{
	(void)w, (void)arg;
	spec_id = (uint32_t)rt_speculation(word(f), 0, 0, 0, 0);
}

/* What a clause "speculate(id); trace(v)" does. */
static void do_record(struct world *w, struct fire *f, void *arg)
{
	uint64_t v = word(arg);
	struct prog_clause c = {.rec_size = 8};
	const struct prog_clause *was = f->clause;

	(void)w;
	f->clause = &c;
	rt_speculate(word(f), spec_id, 0, 0, 0);
	memcpy((void *)(uintptr_t)f->rec, &v, 8);
	rt_rec_end(word(f), 0, 0, 0, 0);
	f->clause = was;
}

static void do_commit(struct world *w, struct fire *f, void *arg)
{
	(void)w;
	if (arg)
		rt_commit(word(f), spec_id, 0, 0, 0);
	else
		rt_discard(word(f), spec_id, 0, 0, 0);
	rt_commit(word(f), spec_id, 0, 0, 0); /* once more changes nothing */
	rt_discard(word(f), 0, 0, 0, 0);
	rt_commit(word(f), 99, 0, 0, 0);
}

static void *record_elsewhere(void *arg)
{
	for (uint64_t i = 11; i <= 20; i++)
		inside(arg, do_record, (void *)(uintptr_t)i);
	return NULL;
}

static void test_speculation(void)
{
	struct seen s = {.stop_after = 7}; /* stops in the middle, and goes on */
	pthread_t t;
	struct world w;

	world_new(&w);
	world_opt(&w, "specsize", "64k");
	w.prog.rec_size = 64;
	add_recorder(&w, "p");
	add_call(&w, "nothing", RT_speculation, 0);
	if (world_go(&w)) {
		for (int round = 0; round < 50; round++) {
			uint64_t before = s.n, failed_so_far;

			inside(&w, do_speculation, NULL);
			CHECK(spec_id == 1);
			failed_so_far = en_drops(w.en, 0, DROP_SPECUNAVAIL);
			inside(&w, do_speculation, NULL);
			CHECK(spec_id == 0);
			CHECK(en_drops(w.en, 0, DROP_SPECUNAVAIL) == failed_so_far + 1);
			inside(&w, do_record, (void *)99); /* into none: lost */
			spec_id = 1;
			for (uint64_t i = 1; i <= 10; i++)
				inside(&w, do_record, (void *)i);
			pthread_create(&t, NULL, record_elsewhere, &w);
			pthread_join(t, NULL);
			while (en_consume(w.en, see, &s) != 0)
				;
			/* only what the plain clause left of these firings: arg0 is 0 */
			before = s.n;
			s.last = s.disorder = 0;
			inside(&w, do_commit, round % 2 ? (void *)1 : NULL);
			while (en_consume(w.en, see, &s) != 0)
				;
			CHECK(s.n - before == (round % 2 ? 21 : 1), "%d",
				(int)(s.n - before)); /* and the committing firing's own */
			inside(&w, do_speculation, NULL);
			CHECK(spec_id == 0 && en_drops(w.en, 0, DROP_SPECBUSY) > 0);
			for (int i = 0; i < 3; i++)
				en_clean(w.en);
		}
		CHECK(en_drops(w.en, 0, DROP_SPEC) == 0);
		inside(&w, do_speculation, NULL);
		for (uint64_t i = 1; i <= 10000; i++)
			inside(&w, do_record, (void *)i);
		CHECK(en_drops(w.en, 0, DROP_SPEC) > 0);
	}
	world_free(&w);
}

/* Policy ring: who writes over a commit frees the speculation. */
static void test_ring_forgets_commit(void)
{
	struct world w;

	world_new(&w);
	world_opt(&w, "bufsize", "1k");
	world_opt(&w, "bufpolicy", "ring");
	add_recorder(&w, "p");
	add_call(&w, "nothing", RT_speculation, 0);
	if (world_go(&w)) {
		for (int round = 0; round < 20; round++) {
			inside(&w, do_speculation, NULL);
			CHECK(spec_id == 1, "round %d", round);
			inside(&w, do_record, (void *)7);
			inside(&w, do_commit, (void *)1);
			for (int i = 0; i < 100; i++)
				fire1(&w, 1);
			for (int i = 0; i < 3; i++)
				en_clean(w.en);
		}
	}
	world_free(&w);
}

/* Many threads speculate at once: of a committed one all records come, of others none. */
#define GROUPS 3000
static uint8_t group_ended[GROUPS], group_seen[GROUPS]; /* 1: committed, 2: discarded */
static _Atomic unsigned next_group, speculators;

static void speculate_once(struct world *w, struct fire *f, void *arg)
{
	struct prog_clause c = {.rec_size = 8};
	const struct prog_clause *was = f->clause;
	uint64_t group = word(arg), id = rt_speculation(word(f), 0, 0, 0, 0);

	(void)w;
	if (id == 0)
		return;
	f->clause = &c;
	for (int i = 0; i < 3; i++) {
		f->spec = 0;
		f->rec_tail = 0;
		rt_speculate(word(f), id, 0, 0, 0);
		memcpy((void *)(uintptr_t)f->rec, &group, 8);
		rt_rec_end(word(f), 0, 0, 0, 0);
	}
	f->spec = 0;
	f->clause = was;
	group_ended[group] = group % 3 ? 1 : 2;
	if (group % 3)
		rt_commit(word(f), id, 0, 0, 0);
	else
		rt_discard(word(f), id, 0, 0, 0);
}

static void *speculate_often(void *arg)
{
	unsigned group;

	while ((group = atomic_fetch_add(&next_group, 1)) < GROUPS)
		do {
			inside(arg, speculate_once, (void *)(uintptr_t)group);
			usleep(10); /* until there is one free */
		} while (group_ended[group] == 0);
	atomic_fetch_sub(&speculators, 1);
	return NULL;
}

static int see_group(void *arg, unsigned thread, const struct rec_head *rec)
{
	uint64_t group;

	(void)arg, (void)thread;
	memcpy(&group, rec + 1, 8);
	if (CHECK(group < GROUPS && rec->kind == REC_DATA))
		group_seen[group]++;
	return 0;
}

static void test_speculation_threads(void)
{
	unsigned committed = 0, wrong = 0;
	pthread_t t[4];
	struct world w;

	world_new(&w);
	world_opt(&w, "nspec", "8");
	world_opt(&w, "specsize", "64k");
	add_call(&w, "nothing", RT_speculation, 0);
	if (world_go(&w)) {
		atomic_store(&speculators, 4);
		for (int i = 0; i < 4; i++)
			pthread_create(&t[i], NULL, speculate_often, &w);
		while (atomic_load(&speculators) > 0) {
			en_consume(w.en, see_group, NULL);
			en_clean(w.en);
		}
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], NULL);
		en_stop(w.en);
		en_consume(w.en, see_group, NULL);
		for (unsigned i = 0; i < GROUPS; i++) {
			committed += group_ended[i] == 1;
			wrong += group_seen[i] != (group_ended[i] == 1 ? 3 : 0);
		}
		CHECK(wrong == 0 && committed == GROUPS / 3 * 2, "%u wrong of %u", wrong,
			committed);
		CHECK(en_drops(w.en, 0, DROP_SPEC) == 0);
	}
	world_free(&w);
}

int main(void)
{
	test_switch();
	test_ring();
	test_recording();
	test_recording_threads();
	test_fill();
	test_long_records();
	test_speculation();
	test_ring_forgets_commit();
	test_speculation_threads();
	return finish();
}
