/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No silent loss: ten million firings from several threads, with buffers too small for them and a
 * consumer reading meanwhile. What was fired is recorded or counted as dropped, exactly, for
 * records, aggregations, dynamic variables and threads without a slot.
 */
#include <pthread.h>

#include "engine_env.h"

#define THREADS 4
#define FIRINGS (10 * 1000 * 1000 / THREADS)

static struct world w;
static _Atomic unsigned running;
static uint64_t recorded, aggregated, disorder, last_of[64];

static void *firing(void *arg)
{
	uint64_t args[10] = {0}, me = (uint64_t)(uintptr_t)arg;

	for (uint64_t i = 1; i <= FIRINGS; i++) {
		args[0] = me << 32 | i;
		args[1] = i % 3000;
		en_fire(w.p, args, 0, NULL);
	}
	atomic_fetch_sub(&running, 1);
	return NULL;
}

static int record(void *arg, unsigned thread, const struct rec_head *rec)
{
	uint64_t v;

	(void)arg, (void)thread;
	memcpy(&v, rec + 1, 8);
	recorded++;
	disorder += (uint32_t)v <= last_of[v >> 32]; /* of one thread: in the order fired */
	last_of[v >> 32] = (uint32_t)v;
	return 0;
}

static int aggregate(
	void *arg, unsigned thread, unsigned agg, const void *key, size_t keylen, const void *data)
{
	(void)arg, (void)thread, (void)agg, (void)key, (void)keylen;
	aggregated += *(const uint64_t *)data;
	return 0;
}

static void consume(void)
{
	en_consume(w.en, record, NULL);
	en_agg_take(w.en, aggregate, NULL);
	en_clean(w.en);
}

/* @[arg1] = count(); */
static void add_counting(void)
{
	struct ebpf_asm *a = code();

	ebpf_emit(a, EBPF_LDXDW, R2, R6, offsetof(struct fire, arg[1]), 0);
	ebpf_emit(a, EBPF_STXDW, R10, R2, -8, 0);
	ebpf_emit(a, EBPF_MOV64_IMM, R2, 0, 0, 0);
	ebpf_emit(a, EBPF_MOV64_REG, R3, R10, 0, 0);
	ebpf_emit(a, EBPF_ADD64_IMM, R3, 0, 0, -8);
	ebpf_emit(a, EBPF_MOV64_IMM, R4, 0, 0, 0);
	ebpf_emit(a, EBPF_MOV64_IMM, R5, 0, 0, 1);
	call(a, RT_agg_count);
	add_clause(&w, "p", a);
}

static uint64_t dropped(enum en_drop kind)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < en_nthreads(w.en); i++)
		n += en_drops(w.en, i, kind);
	return n;
}

static void run(unsigned maxthreads)
{
	pthread_t t[THREADS];
	uint64_t all = (uint64_t)FIRINGS * THREADS, missed;
	char most[16];

	recorded = aggregated = disorder = 0;
	memset(last_of, 0, sizeof(last_of));
	world_new(&w);
	/* not the clause that calls back: it would read the thread's clock every time */
	free(w.clause[0].insns);
	free(w.clause[0].lines);
	w.prog.nclauses = 0;
	snprintf(most, sizeof(most), "%u", maxthreads);
	world_opt(&w, "maxthreads", most);
	world_opt(&w, "bufsize", "16k");
	world_opt(&w, "aggsize", "64k");
	add_recorder(&w, "p");
	add_counting();
	add_agg(&w, AGG_COUNT, "i", 0, 0, 0, 0);
	if (!world_go(&w))
		return;
	atomic_store(&running, THREADS);
	for (uint64_t i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, firing, (void *)(uintptr_t)i);
	while (atomic_load(&running) > 0)
		consume();
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	en_stop(w.en);
	consume();
	missed = en_drops(w.en, 0, DROP_THREADS);
	CHECK(en_fired(w.en) + missed == all);
	CHECK(recorded + dropped(DROP_PRINCIPAL) + missed == all, "%llu + %llu + %llu",
		(unsigned long long)recorded, (unsigned long long)dropped(DROP_PRINCIPAL),
		(unsigned long long)missed);
	CHECK(aggregated + dropped(DROP_AGGREGATION) + missed == all, "%llu + %llu",
		(unsigned long long)aggregated, (unsigned long long)dropped(DROP_AGGREGATION));
	CHECK(recorded > 0 && dropped(DROP_PRINCIPAL) > 0 && dropped(DROP_AGGREGATION) > 0);
	CHECK(disorder == 0);
	CHECK(maxthreads >= THREADS ? missed == 0 : missed > 0 || en_nthreads(w.en) <= 2);
	world_free(&w);
}

int main(void)
{
	run(THREADS);
	run(2);
	return finish();
}
