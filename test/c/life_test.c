/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the engine: faults and ERROR, slots of threads that come and go, life from new to free.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine_env.h"

/* ---- faults --------------------------------------------------------------------------- */

/* *(int *)arg0, and rt_fault as the code generator calls it. */
static struct prog_clause *add_faulting(struct world *w, const char *name)
{
	struct ebpf_asm *a = code();
	int bad = ebpf_label(a), end = ebpf_label(a);

	ebpf_emit(a, EBPF_LDXDW, R2, R6, offsetof(struct fire, arg[0]), 0);
	ebpf_emit(a, EBPF_MOV64_IMM, R3, 0, 0, 4);
	call(a, RT_load);
	ebpf_emit(a, EBPF_LDXW, R1, R6, offsetof(struct fire, fault), 0);
	ebpf_jump(a, EBPF_JNE_IMM, R1, 0, 0, bad);
	call(a, RT_rec_end);
	ebpf_jump(a, EBPF_JA, 0, 0, 0, end);
	ebpf_bind(a, bad);
	ebpf_emit(a, EBPF_MOV64_IMM, R2, 0, 0, 0);
	ebpf_emit(a, EBPF_MOV64_IMM, R3, 0, 0, 3);
	ebpf_emit(a, EBPF_MOV64_IMM, R4, 0, 0, 1);
	call(a, RT_fault);
	ebpf_bind(a, end);
	return add_clause(w, name, a);
}

static void test_faults(bool jit)
{
	struct seen s = {0};
	struct world w;
	struct ebpf_asm *a;

	world_new(&w);
	world_opt(&w, "jit", jit ? "on" : "off");
	add_faulting(&w, "p")->has_record = true;
	add_recorder(&w, "p"); /* the clauses behind go on */
	/* ERROR { record arg4 * 1000 + arg3; } and one that faults itself */
	a = code();
	ebpf_emit(a, EBPF_LDXDW, R2, R6, offsetof(struct fire, arg[4]), 0);
	ebpf_emit(a, EBPF_MUL64_IMM, R2, 0, 0, 1000);
	ebpf_emit(a, EBPF_LDXDW, R3, R6, offsetof(struct fire, arg[3]), 0);
	ebpf_emit(a, EBPF_ADD64_REG, R2, R3, 0, 0);
	ebpf_emit(a, EBPF_LDXDW, R3, R6, offsetof(struct fire, rec), 0);
	ebpf_emit(a, EBPF_STXDW, R3, R2, 0, 0);
	call(a, RT_rec_end);
	add_clause(&w, "ERROR", a)->rec_size = 8;
	add_faulting(&w, "ERROR");
	if (world_go(&w)) {
		CHECK(en_jitted(w.en) == (jit && ebpf_jit_available()));
		fire1(&w, 0);
		en_consume(w.en, see, &s);
		CHECK(s.errors == 1 && s.fault == FAULT_BADADDR && s.epid == 2, "%u", s.epid);
		CHECK(s.n == 2 && s.first == 1003 && s.last == 0);
		CHECK(en_drops(w.en, 0, DROP_DBLERROR) == 1);
		fire1(&w, (uint64_t)-1);
		CHECK(en_drops(w.en, 0, DROP_DBLERROR) == 2);
		memset(&s, 0, sizeof(s));
		fire1(&w, word(&w) + 1);
		en_consume(w.en, see, &s);
		CHECK(s.errors == 2 && s.fault == FAULT_BADALIGN);
	}
	world_free(&w);
}

/* ---- slots ---------------------------------------------------------------------------- */

static void *fire_once(void *arg)
{
	fire1(arg, 7);
	return NULL;
}

static pthread_barrier_t together;

static void *fire_and_stay(void *arg)
{
	fire1(arg, 7);
	pthread_barrier_wait(&together);
	return NULL;
}

static void test_slots(void)
{
	struct seen s = {0};
	pthread_t t[8];
	struct world w;

	world_new(&w);
	world_opt(&w, "maxthreads", "4");
	add_recorder(&w, "p");
	if (world_go(&w)) {
		for (int i = 0; i < 200; i++) { /* one after the other they share a slot */
			pthread_create(&t[0], NULL, fire_once, &w);
			pthread_join(t[0], NULL);
		}
		CHECK(en_nthreads(w.en) == 1 && en_drops(w.en, 0, DROP_THREADS) == 0, "%u",
			en_nthreads(w.en));
		en_consume(w.en, see, &s);
		CHECK(s.n == 200);
		pthread_barrier_init(&together, NULL, 8);
		for (int i = 0; i < 8; i++)
			pthread_create(&t[i], NULL, fire_and_stay, &w);
		for (int i = 0; i < 8; i++)
			pthread_join(t[i], NULL);
		pthread_barrier_destroy(&together);
		en_consume(w.en, see, &s);
		CHECK(s.n == 204 && en_drops(w.en, 0, DROP_THREADS) == 4);
		fire1(&w, 1); /* they are gone: there is room again */
		en_consume(w.en, see, &s);
		CHECK(s.n == 205 && en_fired(w.en) == 205);
	}
	world_free(&w);
}

static sigjmp_buf away;

static void jump_out(struct world *w, struct fire *f, void *arg)
{
	(void)w, (void)f, (void)arg;
	siglongjmp(away, 1);
}

static void *leave_half_way(void *arg)
{
	if (sigsetjmp(away, 0) == 0)
		inside(arg, jump_out, NULL);
	return NULL;
}

/* A thread that ended inside of a firing leaves a slot that others can use. */
static void test_slot_left_firing(void)
{
	struct seen s = {0};
	pthread_t t;
	struct world w;

	world_new(&w);
	world_opt(&w, "maxthreads", "1");
	add_recorder(&w, "p");
	if (world_go(&w)) {
		pthread_create(&t, NULL, leave_half_way, &w);
		pthread_join(t, NULL);
		fire1(&w, 1);
		en_stop(w.en);
		en_consume(w.en, see, &s);
		CHECK(s.n == 1);
	}
	world_free(&w);
}

static struct en_thread *first_slot;

static void *keep_slot(void *arg)
{
	struct world *w = arg;

	fire1(w, 1);
	first_slot = en_slot_get(w->en);
	pthread_barrier_wait(&together);
	pthread_barrier_wait(&together);
	return NULL;
}

/* END comes even when others have all slots. */
static void test_end_without_slot(void)
{
	struct seen s = {0};
	pthread_t t;
	struct world w;

	world_new(&w);
	world_opt(&w, "maxthreads", "1");
	add_recorder(&w, "p");
	add_recorder(&w, "END");
	if (world_go(&w)) {
		pthread_barrier_init(&together, NULL, 2);
		pthread_create(&t, NULL, keep_slot, &w);
		pthread_barrier_wait(&together);
		fire1(&w, 8);
		en_stop(w.en);
		pthread_barrier_wait(&together);
		pthread_join(t, NULL);
		pthread_barrier_destroy(&together);
		en_consume(w.en, see, &s);
		CHECK(s.n == 2 && s.first == 1, "%d records", (int)s.n);
		CHECK(en_drops(w.en, 0, DROP_THREADS) == 1);
	}
	world_free(&w);
}

/* In a child of its own: whether a living thread keeps its slot where tgkill is refused. */
static bool keeps_slot(void)
{
	struct sock_filter refuse[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {4, refuse};
	static struct world w;
	pthread_t t;
	bool kept;

	world_new(&w);
	add_recorder(&w, "p");
	if (!world_go(&w))
		return false;
	pthread_barrier_init(&together, NULL, 2);
	pthread_create(&t, NULL, keep_slot, &w);
	pthread_barrier_wait(&together);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
		return true; /* cannot be tried here */
	for (int i = 0; i < 20; i++)
		en_clean(w.en);
	fire1(&w, 1);
	kept = en_slot_get(w.en) != first_slot;
	pthread_barrier_wait(&together);
	pthread_join(t, NULL);
	return kept;
}

static void test_slot_in_a_sandbox(void)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0)
		_exit(keeps_slot() ? 0 : 1);
	waitpid(child, &status, 0);
	CHECK(status == 0, "status %x", status);
}

static _Atomic int held_up;

static void hold_up(struct world *w, struct fire *f, void *arg)
{
	(void)w, (void)arg;
	held_up = 1;
	while (held_up == 1)
		usleep(1000);
	rt_rand(word(f), 0, 0, 0, 0); /* its slot is still there */
}

static void *hold_up_firing(void *arg)
{
	inside(arg, hold_up, NULL);
	return NULL;
}

/* What a firing that does not end looks at is not freed. */
static void test_free_while_held_up(void)
{
	static struct world w; /* stays */
	pthread_t t;

	world_new(&w);
	add_recorder(&w, "p");
	if (!world_go(&w))
		return;
	pthread_create(&t, NULL, hold_up_firing, &w);
	while (held_up == 0)
		usleep(1000);
	CHECK(!en_free(w.en));
	held_up = 2;
	pthread_join(t, NULL);
}

static void fire_again(struct world *w, struct fire *f, void *arg)
{
	(void)f, (void)arg;
	fire1(w, 3);
}

static void test_recursion(void)
{
	struct seen s = {0};
	struct world w;

	world_new(&w);
	add_recorder(&w, "p");
	if (world_go(&w)) {
		inside(&w, fire_again, NULL);
		en_consume(w.en, see, &s);
		CHECK(s.n == 1 && s.last == 0 && en_fired(w.en) == 1);
	}
	world_free(&w);
}

/* ---- life ----------------------------------------------------------------------------- */

static void test_exit(bool in_begin)
{
	struct seen s = {0};
	struct world w;
	int code_ = -1;

	world_new(&w);
	add_call(&w, in_begin ? "BEGIN" : "p", RT_exit, 3);
	add_recorder(&w, in_begin ? "BEGIN" : "p"); /* behind exit(): not run */
	add_recorder(&w, "END");
	add_recorder(&w, "tick-1ms");
	if (world_go(&w)) {
		fire1(&w, 5);
		CHECK(en_exited(w.en, &code_) && code_ == 3);
		fire1(&w, 6);
		usleep(5000);
		CHECK(en_state(w.en) == EN_RUNNING);
		en_stop(w.en);
		CHECK(en_state(w.en) == EN_STOPPED);
		fire1(&w, 7);
		en_consume(w.en, see, &s);
		CHECK(s.n >= 1 && (!in_begin || s.n == 1));
		CHECK(en_go(w.en, &w.prog, &w.error) == -1);
	}
	world_free(&w);
}

static void test_destructive(void)
{
	struct world w;

	world_new(&w);
	add_call(&w, "p", RT_rand, 0)->destructive = true;
	CHECK(en_go(w.en, &w.prog, &w.error) == -1);
	CHECK(strcmp(w.error.tag, "ET_DESTRUCTIVE") == 0 && strstr(w.error.text, "-w"));
	et_err_clear(&w.error);
	world_opt(&w, "destructive", NULL);
	world_go(&w);
	world_free(&w);
}

/* { record 1; }: nothing of what profile-N interrupts, which takes the kernel. */
static void add_constant(struct world *w, const char *probe)
{
	struct ebpf_asm *a = code();
	struct prog_clause *c;

	ebpf_const(a, R2, 1);
	ebpf_emit(a, EBPF_LDXDW, R3, R6, offsetof(struct fire, rec), 0);
	ebpf_emit(a, EBPF_STXDW, R3, R2, 0, 0);
	call(a, RT_rec_end);
	c = add_clause(w, probe, a);
	c->rec_size = 8;
	c->uses = (struct prog_uses){0};
	c->uses.fns[RT_rec_end / 64] = 1ULL << RT_rec_end % 64;
}

static void test_ticks(void)
{
	uint64_t from = en_now(), ms = 0;
	struct seen s = {0};
	struct world w;

	world_new(&w);
	add_recorder(&w, "tick-5ms");
	add_constant(&w, "profile-100");
	if (world_go(&w)) {
		/* 60 ticks in 300 ms, and 30 for each CPU; a busy machine takes longer */
		for (; s.n <= 30 && ms < 60000; ms = (en_now() - from) / 1000000) {
			usleep(300000);
			en_consume(w.en, see, &s);
		}
		en_stop(w.en);
		en_consume(w.en, see, &s);
		ms = (en_now() - from) / 1000000;
		CHECK(s.n > 30 && (uint64_t)s.n < ms / 5 + 1 + (ms / 10 + 1) * 64, "%d in %d ms",
			(int)s.n, (int)ms);
	}
	world_free(&w);
}

static void test_clock(void)
{
	uint64_t before = 0, worst = 0;
	struct timespec ts, after;
	int64_t wall;
	struct world w;

	world_new(&w);
	add_recorder(&w, "p");
	world_go(&w);
	for (int i = 0; i < 300000; i++) {
		uint64_t now = en_now();

		CHECK(now >= before);
		before = now;
		if (i % 1000 == 0) {
			uint64_t t;

			en_clean(w.en);
			now = en_now();
			clock_gettime(CLOCK_MONOTONIC, &ts);
			t = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
			if (i > 0 && t < now && now - t > worst)
				worst = now - t;
		}
	}
	CHECK(worst < 1000000, "ahead by %llu ns", (unsigned long long)worst);
	clock_gettime(CLOCK_REALTIME, &ts);
	wall = (int64_t)en_wall(w.en, en_now()) / 1000000000;
	clock_gettime(CLOCK_REALTIME, &after);
	CHECK(wall >= ts.tv_sec - 1 && wall <= after.tv_sec + 1, "%lld, %lld to %lld",
		(long long)wall, (long long)ts.tv_sec, (long long)after.tv_sec);
	world_free(&w);
}

/* Anything that leaks shows in the resident size, or under ASan. */
static long resident(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f != NULL) {
		if (fscanf(f, "%*d %ld", &pages) != 1)
			pages = 0;
		fclose(f);
	}
	return pages;
}

static void test_many_lives(void)
{
	long before = 0;

	for (int i = 0; i < 10000; i++) {
		struct world w;

		world_new(&w);
		add_recorder(&w, "p");
		add_var(&w, SC_SELF, &type_string, "si");
		add_agg(&w, AGG_QUANTIZE, "s", 0, 0, 0, 0);
		if (i % 100 == 0)
			add_recorder(&w, "tick-1ms");
		if (en_go(w.en, &w.prog, &w.error) < 0)
			CHECK(false, "%s", w.error.text);
		fire1(&w, 1);
		if (i % 2)
			en_stop(w.en);
		world_free(&w);
		if (i == 1000)
			before = resident();
	}
	/* ASan keeps freed memory for a while, and finds leaks itself */
	CHECK(WITH_ASAN || resident() < before + 1000, "%ld pages more", resident() - before);
}

/* One of the kernel's was in the list twice, and so had its program loaded twice. */
static void test_no_provider_is_there_twice(void)
{
	for (unsigned i = 0; et_providers[i] != NULL; i++)
		for (unsigned k = 0; k < i; k++)
			CHECK(et_providers[i] != et_providers[k], "%s", et_providers[i]->name);
}

int main(void)
{
	test_no_provider_is_there_twice();
	test_faults(true);
	test_faults(false);
	test_slots();
	test_end_without_slot();
	test_slot_left_firing();
	test_slot_in_a_sandbox();
	test_free_while_held_up();
	test_recursion();
	test_exit(true);
	test_exit(false);
	test_destructive();
	test_ticks();
	test_clock();
	test_many_lives();
	return finish();
}
