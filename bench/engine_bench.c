/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a firing costs, engine alone: a probe fired in a loop, its clause run as machine code, by
 * the interpreter, and as the same clause written by hand in C against the same tables; two
 * threads against one; starting and compiling. All that is compared runs in turns in one run, and
 * the best of several turns counts: the machine's noise only ever adds.
 */
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/handle.h"
#include "compiler.h"
#include "engine/tables/agg.h"
#include "engine/tables/dyn.h"
#include "engine/engine.h"
#include "engine/load.h"
#include "engine/probe.h"
#include "engine/provider.h"
#include "engine/rt/rt_str.h"
#include "engine/slot.h"
#include "engine/state.h"
#include "prog/aggfn.h"
#include "bench.h"

#define TURNS (quick ? 4 : 15)
#define COUNT 2000000
#define EACH  4000000 /* firings of each of several threads: long against their start */

static erltrace_string_t *names[16];
static bool quick; /* make bench QUICK=1 */

static void die(const char *what, const erltrace_error_t *e)
{
	fprintf(stderr, "bench: %s: %s\n", what, e->text);
	exit(1);
}

/* ---- the clauses ----------------------------------------------------------------------- */

/* The same by hand: what a C programmer would write into the probe, runtime functions at hand. */
static uint64_t hand_count(void *ctx)
{
	uint64_t f = (uint64_t)(uintptr_t)ctx, key[1];

	key[0] = rt_argstr(f, 0, 0, 0, 0);
	return rt_agg_count(f, 0, (uint64_t)(uintptr_t)key, 0, 1);
}

static uint64_t hand_quantize(void *ctx)
{
	struct fire *f = ctx;

	return rt_agg_quantize((uint64_t)(uintptr_t)f, 0, 0, f->arg[1], 1);
}

static uint64_t hand_self(void *ctx)
{
	uint64_t f = (uint64_t)(uintptr_t)ctx, key[1];
	uint64_t now = rt_timestamp(f, 0, 0, 0, 0);

	key[0] = rt_argstr(f, 0, 0, 0, 0);
	return rt_dyn_store(f, 0, (uint64_t)(uintptr_t)key, now, 0);
}

static uint64_t hand_false(void *ctx)
{
	struct fire *f = ctx;

	if (f->arg[1] == UINT64_MAX)
		return rt_agg_count((uint64_t)(uintptr_t)f, 0, 0, 0, 1);
	return 0;
}

static const struct clause {
	const char *name, *text;
	ebpf_entry hand;
} clauses[] = {
	{"@[s] = count()", "bench:::p { @[copyinstr(arg0)] = count(); }", hand_count},
	{"@ = quantize(arg1)", "bench:::p { @ = quantize(arg1); }", hand_quantize},
	{"self->t[s] = timestamp", "bench:::p { self->t[copyinstr(arg0)] = timestamp; }",
		hand_self},
	{"false predicate", "bench:::p /arg1 == -1/ { @ = count(); }", hand_false},
};
#define NCLAUSES (sizeof(clauses) / sizeof(clauses[0]))

struct rig {
	erltrace_t *h;
	erltrace_probe_t *p;
};

/* A handle that runs one clause: as machine code, interpreted, or by hand. */
static struct rig rig_up(const struct clause *c, bool jit, bool hand)
{
	static const char *const types[] = {"string", "int64_t"};
	erltrace_error_t e;
	struct rig r = {.h = erltrace_open(&e)};

	if (r.h == NULL)
		die("open", &e);
	if (erltrace_setopt(r.h, "jit", jit ? "on" : "off", &e) < 0)
		die("setopt", &e);
	r.p = erltrace_probe_add(r.h, "bench", "", "", "p", 2, types, &e);
	if (erltrace_compile(r.h, c->text, NULL, &e) < 0)
		die(c->text, &e);
	if (erltrace_go(r.h, &e) < 0)
		die("go", &e);
	if (jit && !en_jitted(r.h->en))
		fprintf(stderr, "bench: no JIT on this machine\n");
	if (hand) {
		struct en_ecblist *l = atomic_load(&((struct en_probe *)r.p)->ecbs);

		l->ecb[0].entry = c->hand;
	}
	return r;
}

static void fire_many(const struct rig *r, unsigned n, uint64_t self)
{
	uint64_t args[10] = {0};

	for (unsigned i = 0; i < n; i++) {
		args[0] = erltrace_string_arg(names[i & 15]);
		args[1] = i;
		erltrace_fire(r->p, args, 10, 1, self);
	}
}

static double time_of(const struct rig *r, unsigned n)
{
	double t = bench_ns();

	fire_many(r, n, 1);
	return (bench_ns() - t) / n;
}

static void check_counts(const struct rig *r)
{
	for (int k = 0; k < DROP_KINDS; k++)
		for (unsigned t = 0; t < en_nthreads(r->h->en); t++)
			if (en_drops(r->h->en, t, k) != 0)
				fprintf(stderr, "bench: drops of kind %d: not a fair measure\n", k);
}

/* ---- two threads ----------------------------------------------------------------------- */

struct worker {
	const struct rig *rig;
	pthread_barrier_t *start;
	uint64_t self;
	double ns; /* processor time it took */
};

static double cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static void *work(void *arg)
{
	struct worker *w = arg;

	pthread_barrier_wait(w->start);
	w->ns = -cpu_ns();
	fire_many(w->rig, EACH, w->self);
	w->ns += cpu_ns();
	return NULL;
}

/*
 * ns a firing where n threads share the work. By the processor time of the threads, running at
 * once: what they take from each other shows in every one of them, what others take from the
 * machine in some, so that the best one counts.
 */
static double time_threads(const struct rig *r, unsigned n)
{
	pthread_barrier_t start;
	struct worker w[8];
	pthread_t id[8];
	double best = 1e18;

	pthread_barrier_init(&start, NULL, n);
	for (unsigned i = 0; i < n; i++) {
		w[i] = (struct worker){r, &start, 100 + i, 0};
		pthread_create(&id[i], NULL, work, &w[i]);
	}
	for (unsigned i = 0; i < n; i++) {
		pthread_join(id[i], NULL);
		if (w[i].ns < best)
			best = w[i].ns;
	}
	pthread_barrier_destroy(&start);
	return best / ((double)EACH * n);
}

static void bench_clause(const struct clause *c)
{
	struct rig jit = rig_up(c, true, false), hand = rig_up(c, true, true),
		   interp = rig_up(c, false, false);
	double best[5] = {1e9, 1e9, 1e9, 1e9, 1e9}, t;
	char name[128];

	for (int i = 0; i < TURNS; i++) {
		if ((t = time_of(&jit, COUNT)) < best[0])
			best[0] = t;
		if ((t = time_of(&hand, COUNT)) < best[1])
			best[1] = t;
		if ((t = time_of(&interp, COUNT / 4)) < best[2])
			best[2] = t;
	}
	for (int i = 0; i < 3 * TURNS; i++) {
		if ((t = time_threads(&jit, 1)) < best[3])
			best[3] = t;
		if ((t = time_threads(&jit, 2)) < best[4])
			best[4] = t;
	}
	check_counts(&jit);
	snprintf(name, sizeof(name), "%s, against C by hand", c->name);
	bench_add((struct bench_row){strdup(name), "ns", best[0], best[1], 1.5, false});
	snprintf(name, sizeof(name), "%s, times faster than interpreted", c->name);
	bench_add((struct bench_row){strdup(name), "ns", best[0], best[2], 4, true});
	snprintf(name, sizeof(name), "%s, times faster by two threads", c->name);
	bench_add((struct bench_row){strdup(name), "ns", best[4], best[3], 1.8, true});
	erltrace_close(jit.h);
	erltrace_close(hand.h);
	erltrace_close(interp.h);
}

/* Percentiles beside the distribution that they are a finer one of. */
static void bench_percentile(void)
{
	static const struct clause fine = {
		"percentile", "bench:::p { @ = percentile(arg1, 50, 99, 99.9); }", NULL};
	static const struct clause coarse = {
		"quantize", "bench:::p { @ = quantize(arg1); }", NULL};
	struct rig p = rig_up(&fine, true, false), q = rig_up(&coarse, true, false);
	double best[2] = {1e9, 1e9}, t;

	for (int i = 0; i < 3 * TURNS; i++) {
		if ((t = time_threads(&p, 1)) < best[0])
			best[0] = t;
		if ((t = time_threads(&q, 1)) < best[1])
			best[1] = t;
	}
	check_counts(&p);
	bench_add((struct bench_row){
		"@ = percentile(arg1), against quantize", "ns", best[0], best[1], 1.25, false});
	erltrace_close(p.h);
	erltrace_close(q.h);
}

/* ---- starting, compiling --------------------------------------------------------------- */

static double time_command(char *const argv[])
{
	extern char **environ;
	double best = 1e9, t;

	for (int i = 0; i < 15; i++) {
		pid_t pid;
		int st;

		t = bench_ns();
		if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ) != 0 ||
			waitpid(pid, &st, 0) < 0 || st != 0) {
			fprintf(stderr, "bench: cannot run %s\n", argv[0]);
			return 0;
		}
		t = (bench_ns() - t) / 1e6;
		if (t < best)
			best = t;
	}
	return best;
}

/* 64 KiB of clauses as scripts have them. */
static double time_compile(void)
{
	static const char clause[] =
		"tick-1s\n/x > 3 && self->t[\"key\", probefunc] != 0/\n{\n\tthis->d = timestamp - "
		"self->t[\"key\", probefunc];\n\t@t[probefunc, pid] = quantize(this->d / 1000);\n"
		"\tprintf(\"%-10s %d %x\\n\", strjoin(probename, \"!\"), this->d, x++);\n"
		"\tself->t[\"key\", probefunc] = this->d > 10 ? timestamp : 0;\n}\n";
	char *text = malloc(70000);
	size_t n = 0;
	double best = 1e9, t;

	n += sprintf(text, "int x;\nself uint64_t t[string, string];\n");
	while (n + sizeof(clause) < 65536)
		n += sprintf(text + n, "%s", clause);
	for (int i = 0; i < TURNS; i++) {
		erltrace_error_t e;
		erltrace_t *h = erltrace_open(&e);

		t = bench_ns();
		if (erltrace_compile_n(h, text, n, NULL, &e) < 0)
			die("64 KiB script", &e);
		if (erltrace_go(h, &e) < 0)
			die("go", &e);
		t = (bench_ns() - t) / 1e6;
		if (t < best)
			best = t;
		erltrace_stop(h, &e);
		erltrace_close(h);
	}
	free(text);
	return best;
}

int main(int argc, char **argv)
{
	const char *command = argc > 1 ? argv[1] : "bin/erltrace";
	char *const hello[] = {(char *)command, "-qn", "BEGIN { exit(0); }", NULL};
	char name[32];
	bool ok = true;

	quick = getenv("QUICK") != NULL && atoi(getenv("QUICK")) != 0;
	for (int i = 0; i < 16; i++) {
		snprintf(name, sizeof(name), "lists:function_%d/2", i);
		names[i] = erltrace_string_new(name);
	}
	for (unsigned i = 0; i < NCLAUSES; i++)
		bench_clause(&clauses[i]);
	bench_percentile();
	bench_add((struct bench_row){"erltrace -qn 'BEGIN { exit(0); }', exec to exit", "ms",
		time_command(hello), 0, 30, false});
	bench_add((struct bench_row){
		"compile, verify and JIT a 64 KiB script", "ms", time_compile(), 0, 50, false});
	for (int i = 0; i < 16; i++)
		erltrace_string_free(names[i]);
	for (unsigned i = 0; i < bench_nrows; i++)
		ok &= bench_ok(&bench_rows[i]);
	printf("%s\n", ok ? "every goal is met" : "some goals are missed");
	return bench_write("engine");
}
