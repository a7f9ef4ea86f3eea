/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More handles than a thread remembers its slots of, fired by more threads than there are hints
 * for: every thread finds its own slot again, those that come later take the slots of those that
 * ended, and each handle counts every firing once. (Threads once walked all slots at every such
 * firing.) What handles have of memory begins at different places of pages, and none reaches into
 * another's.
 *
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/handle.h"
#include "engine/region.h"
#include "engine/slot.h"

#define HANDLES	 (EN_TLS_CACHE + 4)
#define THREADS	 (EN_HINTS + 6)
#define FIRINGS	 50
#define RELAYS	 3

static erltrace_t *handle[HANDLES];
static erltrace_probe_t *probe[HANDLES];
static pthread_barrier_t all;
static unsigned passed, failed;

static void check(bool ok, const char *what, unsigned long long is, unsigned long long should)
{
	ok ? passed++ : failed++;
	if (!ok)
		fprintf(stderr, "%s: %llu, not %llu\n", what, is, should);
}

static void *firing(void *arg)
{
	uint64_t args[10] = {0};

	pthread_barrier_wait(&all);
	for (unsigned i = 0; i < FIRINGS; i++)
		for (unsigned h = 0; h < HANDLES; h++)
			erltrace_fire(probe[h], args, 10, 1, 1);
	/* nobody ends, and gives its slots back, before all have fired */
	pthread_barrier_wait(&all);
	return arg;
}

static int take(void *arg, const erltrace_agg_t *agg)
{
	*(int64_t *)arg += agg->value;
	return 0;
}

/* Memory of engines with higher numbers once ended behind what was mapped for it. */
static void test_memory_of_an_engine_ends_with_its_mapping(void)
{
	enum { ENGINES = 128, SIZE = 4 * 4096 };
	static struct en en[ENGINES];
	static unsigned char *mem[ENGINES];
	unsigned wrong = 0;

	for (unsigned i = 0; i < ENGINES; i++) {
		en[i].id = i + 1;
		mem[i] = en_alloc_pages(&en[i], SIZE, 0);
		if (mem[i] == NULL)
			abort();
		memset(mem[i], (int)i + 1, SIZE);
	}
	for (unsigned i = 0; i < ENGINES; i++) {
		for (unsigned k = 0; k < SIZE; k++)
			wrong += mem[i][k] != i + 1;
		en_dealloc_pages(&en[i], mem[i], SIZE);
	}
	check(wrong == 0, "bytes that another engine wrote", wrong, 0);
}

int main(void)
{
	static const char *const types[] = {"int64_t"};
	static pthread_t t[THREADS];
	erltrace_error_t e;

	test_memory_of_an_engine_ends_with_its_mapping();
	for (unsigned h = 0; h < HANDLES; h++) {
		handle[h] = erltrace_open(&e);
		if (handle[h] == NULL || erltrace_setopt(handle[h], "aggsize", "16k", &e) < 0 ||
			erltrace_setopt(handle[h], "bufsize", "16k", &e) < 0)
			return 1;
		probe[h] = erltrace_probe_add(handle[h], "many", "", "", "p", 1, types, &e);
		if (erltrace_compile(handle[h], "many:::p { @ = count(); }", NULL, &e) < 0 ||
			erltrace_go(handle[h], &e) < 0) {
			fprintf(stderr, "%s\n", e.text);
			return 1;
		}
	}
	pthread_barrier_init(&all, NULL, THREADS);
	for (unsigned r = 0; r < RELAYS; r++) {
		for (unsigned i = 0; i < THREADS; i++)
			if (pthread_create(&t[i], NULL, firing, NULL) != 0)
				abort();
		for (unsigned i = 0; i < THREADS; i++)
			pthread_join(t[i], NULL);
	}
	for (unsigned h = 0; h < HANDLES; h++) {
		const struct en *en = handle[h]->en;
		uint64_t drops = 0;
		int64_t n = 0;

		for (int k = 0; k < DROP_KINDS; k++)
			for (unsigned i = 0; i < en_nthreads(en); i++)
				drops += en_drops(en, i, k);
		check(drops == 0, "drops", drops, 0);
		check(atomic_load(&en->nslots) <= THREADS + 2, "slots", atomic_load(&en->nslots),
			THREADS + 2);
		erltrace_stop(handle[h], &e);
		erltrace_snapshot(handle[h], &e);
		erltrace_each(handle[h], NULL, take, &n, &e);
		check(n == RELAYS * THREADS * FIRINGS, "counted", (unsigned long long)n,
			RELAYS * THREADS * FIRINGS);
		erltrace_close(handle[h]);
	}
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
