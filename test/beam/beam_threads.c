/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tracer and its handles under many threads, without a VM (fake_vm.c), so that a sanitizer can
 * watch: make tsan, make asan-erlang. First what fires is counted exactly; then processes end of
 * which nobody tells; then handles are opened and closed while events go on; then events are made
 * of whatever terms.
 *
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "beam/atoms.h"
#include "beam/code/functions.h"
#include "beam/flow/flow_table.h"
#include "beam/handle/beam_handle.h"
#include "beam/handle/handles.h"
#define BEAM_WORDS_CONST /* the fake has no layout that could be found: it is written here */
#include "beam/nif.h"
#include "beam/term/term_print.h"
#include "beam/vm/layout.h"
#include "engine/state.h"
#include "fake_vm.h"
#include "flow_threads.h"
#include "slot_threads.h"

#define THREADS	 3
#define PROCS	 40 /* processes of a thread */
#define FNS	 6
#define SECONDS	 2.0 /* each test */
#define STACK	 4096

ErlNifEntry *nif_init(void);
static ErlNifEntry *entry;
static _Atomic unsigned passed, failed;

static void check(bool ok, const char *what, long long is, long long should)
{
	ok ? passed++ : failed++;
	if (!ok)
		fprintf(stderr, "%s: %lld, not %lld\n", what, is, should);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* ---- calls of the NIF ------------------------------------------------------------------ */

/* All of them, those that run as jobs too: here the thread that calls is as good as any. */
static const struct {
	const char *name;
	int arity;
	ERL_NIF_TERM (*call)(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
} nifs[] = {
#define NIF(name, arity, kind) {#name, arity, nif_##name},
#include "beam/nifs.def"
};

static ERL_NIF_TERM call(ErlNifEnv *env, const char *name, int n, const ERL_NIF_TERM *args)
{
	for (size_t i = 0; i < sizeof(nifs) / sizeof(nifs[0]); i++)
		if (strcmp(nifs[i].name, name) == 0 && nifs[i].arity == n)
			return nifs[i].call(env, n, args);
	fprintf(stderr, "no function %s/%d\n", name, n);
	abort();
}
#define CALL(env, name, ...)                                                                       \
	call(env, name, sizeof((ERL_NIF_TERM[]){__VA_ARGS__}) / sizeof(ERL_NIF_TERM),              \
		(ERL_NIF_TERM[]){__VA_ARGS__})

static ERL_NIF_TERM binary(ErlNifEnv *env, const char *text)
{
	ERL_NIF_TERM t;

	memcpy(enif_make_new_binary(env, strlen(text), &t), text, strlen(text));
	return t;
}

static ERL_NIF_TERM fn_atom(ErlNifEnv *env, unsigned i)
{
	char name[8];

	snprintf(name, sizeof(name), "f%u", i);
	return enif_make_atom(env, name);
}

struct open {
	ERL_NIF_TERM term, state;
	void *obj;
};

static struct open open_handle(ErlNifEnv *env, const char *script, bool opt)
{
	ERL_NIF_TERM nil = enif_make_list(env, 0), list = nil, r;
	ERL_NIF_TERM m = enif_make_atom(env, "m");
	const ERL_NIF_TERM *t;
	struct open o = {0};
	int n;

	r = call(env, "open", 0, NULL);
	if (!enif_get_tuple(env, r, &n, &t) || t[0] != atom_ok)
		return o;
	o.term = t[1];
	o.state = t[2];
	enif_get_resource(env, o.term, NULL, &o.obj);
	if (opt)
		CALL(env, "setopt", o.term, binary(env, "dynvarsize"), binary(env, "8m"));
	for (unsigned i = 0; i < FNS; i++)
		list = enif_make_list_cell(env,
			enif_make_tuple3(env, fn_atom(env, i), enif_make_uint(env, i),
				enif_make_atom(env, "erlang")),
			list);
	for (int i = 0; i < 32; i++) { /* each time one description more may want functions */
		r = CALL(env, "compile", o.term, binary(env, script), nil, nil);
		if (r == atom_ok || (r != atom_functions && enif_get_tuple(env, r, &n, &t) &&
					    t[0] == atom_error))
			break;
		CALL(env, "add_functions", o.term,
			enif_make_list(env, 1, enif_make_tuple2(env, m, list)));
		if (r != atom_functions) { /* {ok, functions}: it need not be done again */
			r = atom_ok;
			break;
		}
	}
	if (r != atom_ok) {
		char text[1024];

		beam_print(env, r, false, text, sizeof(text));
		fprintf(stderr, "compile: %s\n", text);
	}
	CALL(env, "add_ports", o.term,
		enif_make_list(env, 1, enif_make_tuple3(env, fake_port(1), fake_pid(1), atom_ok)),
		enif_make_list(env, 2, atom_ok, enif_make_atom(env, "erlang")));
	CALL(env, "set_node", o.term, enif_make_atom(env, "a@b"));
	return o;
}

static void start(ErlNifEnv *env, struct open *o)
{
	check(CALL(env, "go", o->term) == atom_ok, "go", 0, 1);
	check(enif_is_list(env, CALL(env, "needs", o->term, enif_make_atom(env, "a@b"),
				    enif_make_uint(env, FAKE_PROCESSES), fake_pid(1))), "needs", 0, 1);
}

static void drop_handle(ErlNifEnv *env, struct open *o)
{
	CALL(env, "stop", o->term);
	CALL(env, "close", o->term);
	enif_release_resource(o->obj);
}

/* ---- processes ------------------------------------------------------------------------- */

struct proc {
	uintptr_t words[80]; /* 11: top of the stack, 16: its end, 20: the exception */
	ERL_NIF_TERM pid;
	unsigned n, fn[64], level[64], words_used;
	uintptr_t stack[STACK];
};

struct thread {
	pthread_t id;
	unsigned number;
	uint64_t rnd, calls, returns, sends, scheduled, exits;
	ErlNifEnv *env;
	struct proc procs[PROCS];
	_Atomic ERL_NIF_TERM *state; /* whose tracer they have */
	double until;
	bool odd; /* events that no VM would make, too */
};

static void set_level(struct proc *p, unsigned words)
{
	p->words_used = words;
	p->words[16] = (uintptr_t)(p->stack + STACK);
	p->words[11] = (uintptr_t)(p->stack + STACK - words);
}

static ERL_NIF_TERM state_of(struct thread *t)
{
	return atomic_load(t->state);
}

static void event(struct thread *t, ERL_NIF_TERM tag, ERL_NIF_TERM pid, ERL_NIF_TERM term,
	ERL_NIF_TERM extra)
{
	ERL_NIF_TERM opts, argv[5] = {tag, state_of(t), pid, term};

	enif_make_map_put(t->env, enif_make_new_map(t->env), atom_extra, extra, &opts);
	argv[4] = opts;
	if (nif_enabled(t->env, 3, argv) == atom_trace)
		nif_trace(t->env, 5, argv);
}

static ERL_NIF_TERM mfa(struct thread *t, unsigned fn)
{
	return enif_make_tuple3(t->env, enif_make_atom(t->env, "m"), fn_atom(t->env, fn),
		enif_make_uint(t->env, fn));
}

/* A call one frame deeper, with one of the VM's own on it, or a return to where the last one came
 * from. */
static void call_or_return(struct thread *t, struct proc *p)
{
	if (p->n == 64 || (p->n > 0 && next_random(&t->rnd) % 5 < 2)) {
		p->n--;
		set_level(p, p->level[p->n]);
		event(t, atom_return_to, p->pid, mfa(t, p->n > 0 ? p->fn[p->n - 1] : 0),
			atom_undefined);
		t->returns++;
		return;
	}
	set_level(p, p->words_used + 2 + (unsigned)(next_random(&t->rnd) % 3));
	p->fn[p->n] = (unsigned)(next_random(&t->rnd) % FNS);
	p->level[p->n] = p->words_used;
	event(t, atom_call, p->pid, mfa(t, p->fn[p->n++]), atom_undefined);
	t->calls++;
	set_level(p, p->words_used + beam_words.frame);
	p->stack[STACK - p->words_used] = beam_words.mark;
}

static ERL_NIF_TERM other_pid(struct thread *t)
{
	return fake_pid(1 + (unsigned)(next_random(&t->rnd) % (THREADS * PROCS)));
}

static void one(struct thread *t, struct proc *p)
{
	ERL_NIF_TERM msg =
		enif_make_tuple3(t->env, atom_ok, p->pid, enif_make_list(t->env, 1, atom_ok));

	t->env->words[7] = p->words;
	switch (next_random(&t->rnd) % 12) {
	case 0:
		event(t, atom_send, p->pid, msg, other_pid(t));
		t->sends++;
		break;
	case 1: /* on whatever thread the sender is */
		t->env->words[7] = NULL;
		event(t, atom_receive, other_pid(t), msg, atom_undefined);
		break;
	case 2:
		event(t, atom_in, p->pid, mfa(t, 1), atom_undefined);
		t->scheduled++;
		break;
	case 3: event(t, atom_out, p->pid, mfa(t, 1), atom_undefined); break;
	case 4:
		if (next_random(&t->rnd) % 40 != 0)
			break;
		event(t, atom_exit, p->pid, atom_ok, atom_undefined);
		t->exits++;
		p->n = 0;
		set_level(p, 0);
		event(t, atom_spawned, p->pid, other_pid(t), mfa(t, 2));
		break;
	default: call_or_return(t, p);
	}
	fake_reset(t->env);
}

/* ---- terms that no event has ----------------------------------------------------------- */

static ERL_NIF_TERM any(struct thread *t, int deep)
{
	static const char *const names[] = {"ok", "call", "command", "extra", "erlang", "m", "f1"};
	ErlNifEnv *env = t->env;
	uint64_t r = next_random(&t->rnd);
	ERL_NIF_TERM m;

	switch (r % (deep > 0 ? 13 : 7)) {
	case 0: return enif_make_atom(env, names[(r >> 8) % 7]);
	case 1: return enif_make_long(env, (long)(r >> 8 << (r >> 4) % 9));
	case 2: return other_pid(t);
	case 3: return fake_port((unsigned)(r >> 8) % 5000);
	case 4: return enif_make_list(env, 0);
	case 5: return enif_make_double(env, (double)(int64_t)next_random(&t->rnd) / 1e9);
	case 6:
		memset(enif_make_new_binary(env, (r >> 8) % 700, &m), (int)(r >> 30),
			(r >> 8) % 700);
		return m;
	case 7: return enif_make_list_cell(env, any(t, deep - 1), any(t, deep - 1));
	case 8: return enif_make_list(env, 2, any(t, deep - 1), any(t, deep - 1));
	case 9: return enif_make_tuple2(env, any(t, deep - 1), any(t, deep - 1));
	case 10: return enif_make_tuple3(env, any(t, deep - 1), any(t, deep - 1), any(t, deep - 1));
	case 11:
		enif_make_map_put(env, enif_make_new_map(env), any(t, 0), any(t, deep - 1), &m);
		return m;
	default: return enif_make_ulong(env, next_random(&t->rnd));
	}
}

/*
 * A port is served by one thread at a time, as a process is. A closed one's name may be overwritten
 * by another's while the last of its events reads it, which is known: not here.
 */
static ERL_NIF_TERM own_port(struct thread *t)
{
	for (;;) {
		ERL_NIF_TERM p = fake_port(2 + (unsigned)(next_random(&t->rnd) % 20000));
		uint64_t slot = (p * 0x9e3779b97f4a7c15ULL) >> 40 & 4095;

		if (slot / 1024 == t->number && slot % 1024 < 1000)
			return p;
	}
}

static void odd_one(struct thread *t, struct proc *p)
{
	const ERL_NIF_TERM tags[] = {atom_call, atom_return_to, atom_return_from,
		atom_exception_from, atom_send, atom_receive, atom_in, atom_out, atom_spawned,
		atom_exit, atom_gc_minor_start, atom_gc_minor_end, atom_gc_major_start,
		atom_gc_major_end, atom_register, atom_unregister, atom_open, atom_closed,
		atom_spawn, atom_ok};
	ERL_NIF_TERM tag = tags[next_random(&t->rnd) % (sizeof(tags) / sizeof(tags[0]))];
	bool port = next_random(&t->rnd) % 3 == 0;

	t->env->words[7] = p->words;
	set_level(p, (unsigned)(next_random(&t->rnd) % 1000));
	event(t, tag, port ? own_port(t) : p->pid, any(t, 4), any(t, 4));
	fake_reset(t->env);
}

static void *run(void *arg)
{
	struct thread *t = arg;

	while (now() < t->until)
		for (int i = 0; i < 200; i++) {
			struct proc *p = &t->procs[next_random(&t->rnd) % PROCS];

			if (t->odd)
				odd_one(t, p);
			else
				one(t, p);
		}
	return NULL;
}

static struct thread threads[THREADS];

static void start_threads(_Atomic ERL_NIF_TERM *state, bool odd, void *(*body)(void *))
{
	for (unsigned i = 0; i < THREADS; i++) {
		struct thread *t = &threads[i];

		memset(t, 0, sizeof(*t));
		t->number = i;
		t->state = state;
		t->rnd = i * 1234577 + 99;
		t->until = now() + SECONDS;
		t->odd = odd;
		for (unsigned k = 0; k < PROCS; k++) {
			t->procs[k].pid = fake_pid(1 + i * PROCS + k);
			set_level(&t->procs[k], 0);
		}
		t->env = fake_env(t->procs[0].words);
		pthread_create(&t->id, NULL, body, t);
	}
}

static void run_threads(_Atomic ERL_NIF_TERM *state, bool odd)
{
	start_threads(state, odd, run);
}

static void join_threads(void)
{
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(threads[i].id, NULL);
		fake_env_free(threads[i].env);
	}
}

/* ---- tests ----------------------------------------------------------------------------- */

static const char script[] =
	"erlang*:m::function-entry { @e[probefunc] = count(); self->at[probefunc] = timestamp;"
	" self->n++; }\n"
	"erlang*:m::function-return /self->at[probefunc]/ { @r[probefunc] = sum(1);"
	" self->at[probefunc] = 0; }\n"
	"erlang*:m::function-return { @depth = max(arg2); }\n"
	"erlang*:::message-send { @s[args[0], args[1]] = count(); self->to = args[1]; }\n"
	"erlang*:::message-queued { @q[args[0]] = sum(arg1); this->m = erlmsg; }\n"
	"erlang*:::process-scheduled { @v[args[1]] = max(vtimestamp); }\n"
	"erlang*:::process-exit { @x[args[1]] = count(); }\n"
	"tick-10ms { @t[erlnode] = count(); }";

static const char odd_script[] =
	"erlang*:::gc_minor-start,erlang*:::gc_minor-end,erlang*:::process-heap_grow { @g[arg1] = "
	"count(); }\n"
	"erlang*:::port-open,erlang*:::port-exit,erlang*:::port-command,erlang*:::port-connect,"
	"erlang*:::driver-output,erlang*:::driver-outputv,erlang*:::driver-control,"
	"erlang*:::driver-start,erlang*:::driver-stop,erlang*:::driver-ready_input"
	" { @p[copyinstr(arg0), copyinstr(arg1), copyinstr(arg2)] = count(); }\n"
	"erlang*:::process-hibernate,erlang*:::process-spawn { @h[copyinstr(arg1)] = count(); }\n"
	"erlang*:::message-send { @m[erlmsg, args[1]] = sum(args[2]); @n[erlname] = count(); }\n"
	"erlang*:::message-queued { @m2[erlmsg] = count(); }\n"
	"erlang*:m::function-entry { @a[erlargs, erlarg(1)] = sum(erlint(0)); ustack(5); }\n"
	"erlang*:m::function-return { @b[erlret] = count(); }\n"
	"erlang*:m::function-exception { @c[erlclass, erlreason, erlarg(0)] = count(); ustack(5); "
	"}";

static void counts(ErlNifEnv *env, struct open *o, long *fired, long *lost)
{
	const ERL_NIF_TERM *t;
	int n;

	*fired = *lost = -1;
	if (enif_get_tuple(env, CALL(env, "counts", o->term), &n, &t) && n == 7) {
		enif_get_long(env, t[0], fired);
		enif_get_long(env, t[1], lost);
	}
}

/* Reads results, cleans and watches, as the handle's process does. */
static void attend(ErlNifEnv *env, struct open *o)
{
	CALL(env, "clean", o->term);
	CALL(env, "watch", o->term, enif_make_uint(env, THREADS), enif_make_uint(env, 0));
	CALL(env, "walk", o->term, atom_false);
	CALL(env, "work", o->term, atom_text);
	sched_yield();
}

/* No probe of all that were asked for is missed or fires twice; every entry has its return. */
static void test_exact(void)
{
	ErlNifEnv *env = fake_env(NULL), *at_work = fake_env(NULL);
	const char *exact =
		"erlang*:m::function-entry,erlang*:m::function-return,"
		"erlang*:::message-send,erlang*:::process-scheduled,erlang*:::process-exit"
		" { @[probename] = count(); }";
	struct open o = open_handle(env, exact, true);
	_Atomic ERL_NIF_TERM state = o.state;
	long fired, lost, want = 0;

	start(env, &o);
	run_threads(&state, false);
	while (now() < threads[0].until) {
		attend(at_work, &o);
		fake_reset(at_work);
	}
	join_threads();
	for (unsigned i = 0; i < THREADS; i++)
		want += (long)(threads[i].calls + threads[i].returns + threads[i].sends +
			       threads[i].scheduled + threads[i].exits);
	counts(env, &o, &fired, &lost);
	check(fired == want, "fired", fired, want);
	check(lost == 0, "lost", lost, 0);
	check(want > 1000, "events", want, 1000);
	drop_handle(env, &o);
	fake_env_free(env);
	fake_env_free(at_work);
}

/* ---- processes whose ends nobody tells --------------------------------------------------- */

#define AT_ONCE 50 /* processes of a thread that have ended, and wait for the sweep */
static _Atomic unsigned passes; /* of the sweep, each with all its cleaning */
static _Atomic unsigned going;	/* threads */

/* Another one, which has the same slot, is there instead. */
static void end_process(struct thread *t, struct proc *p)
{
	unsigned seen = atomic_load(&passes);

	fake_ends(p->pid);
	p->pid += (ERL_NIF_TERM)4096 << 7;
	p->n = 0;
	set_level(p, 0);
	if (++t->exits % AT_ONCE == 0)
		while (atomic_load(&passes) < seen + 2)
			sched_yield();
}

static void *run_unseen(void *arg)
{
	struct thread *t = arg;

	while (now() < t->until)
		for (int i = 0; i < 200; i++) {
			struct proc *p = &t->procs[next_random(&t->rnd) % PROCS];

			t->env->words[7] = p->words;
			if (next_random(&t->rnd) % 100 == 0 && p->pid >> 7 < FAKE_NUMBERS - 8192)
				end_process(t, p);
			else
				call_or_return(t, p);
			fake_reset(t->env);
		}
	for (unsigned i = 0; i < PROCS; i++)
		fake_ends(t->procs[i].pid);
	atomic_fetch_sub(&going, 1);
	return NULL;
}

/* A pass of the sweep, and the cleaner's steps after it. */
static void sweep(ErlNifEnv *env, struct open *o)
{
	while (CALL(env, "sweep", o->term) == enif_make_uint(env, 0))
		;
	for (int i = 0; i < 4; i++)
		CALL(env, "clean", o->term);
	atomic_fetch_add(&passes, 1);
	fake_reset(env);
}

/* Has everything that was handed out been given back? */
static void check_given_back(struct beam_handle *b)
{
	const struct beam_procs *t = &b->procs;
	const struct dyn *d = &b->en->dyn;
	unsigned n = 0, left = 0;

	for (uint32_t i = (uint32_t)atomic_load(&t->free.head); i != 0; i = t->chunks[i - 1].next)
		n++;
	check(n == atomic_load(&t->free.used) && n > 0, "chunks given back", n,
		atomic_load(&t->free.used));
	for (uint64_t i = 0; i <= d->self_mask; i++)
		left += atomic_load(&d->selfs[i]) != NULL;
	check(left == 0, "chains of variables", left, 0);
}

static void test_ends_that_nobody_tells(void)
{
	ErlNifEnv *env = fake_env(NULL), *at_work = fake_env(NULL);
	struct open o = open_handle(env,
		"erlang*:m::function-entry { self->n++; self->at[probefunc] = args[0]; }"
		"erlang*:m::function-return { @d = max(arg2); }",
		true);
	_Atomic ERL_NIF_TERM state = o.state;
	struct beam_handle *b = o.obj;
	long fired, lost, want = 0;

	CALL(env, "unflagged", o.term);
	start(env, &o);
	check(!beam_tracks(b, TRACK_EXITS), "exits are events", beam_tracks(b, TRACK_EXITS), false);
	atomic_store(&going, THREADS);
	start_threads(&state, false, run_unseen);
	while (atomic_load(&going) > 0)
		sweep(at_work, &o);
	join_threads();
	for (unsigned i = 0; i < THREADS; i++)
		want += (long)(threads[i].calls + threads[i].returns);
	sweep(at_work, &o);
	sweep(at_work, &o);
	counts(env, &o, &fired, &lost);
	check(fired == want, "fired", fired, want);
	check(lost == 0, "lost", lost, 0);
	for (unsigned i = 0; i < en_nthreads(b->en); i++)
		check(en_drops(b->en, i, DROP_DYNAMIC) + en_drops(b->en, i, DROP_DYNDIRTY) +
				en_drops(b->en, i, DROP_DYNRINSE) ==
			0, "drops of a thread", 1, 0);
	check_given_back(b);
	drop_handle(env, &o);
	fake_env_free(env);
	fake_env_free(at_work);
}

static double chaos_ends;
static _Atomic ERL_NIF_TERM common; /* BEAM_ALL, or that of the handle opened last */

static void *open_and_close(void *arg)
{
	const char *source = arg;
	unsigned rounds = 0;

	do { /* once at least, however busy the machine is */
		ErlNifEnv *env = fake_env(NULL);
		struct open o = open_handle(env, source, true);

		if (o.obj != NULL) {
			if (rounds % 2 == 0)
				atomic_store(&common, o.state);
			start(env, &o);
			for (int i = 0; i < 5; i++)
				attend(env, &o);
			if (rounds % 3 == 0)
				CALL(env, "halt", o.term);
			drop_handle(env, &o);
		}
		atomic_store(&common, enif_make_uint(env, BEAM_ALL));
		fake_env_free(env);
		rounds++;
	} while (now() < chaos_ends);
	check(rounds > 0, "rounds", rounds, 1);
	return NULL;
}

static void test_closed_while_events_are_inside(const char *source, bool odd)
{
	pthread_t t[2];

	atomic_store(&common, (ERL_NIF_TERM)BEAM_ALL << 4 | 15);
	chaos_ends = now() + SECONDS;
	run_threads(&common, odd);
	pthread_create(&t[0], NULL, open_and_close, (void *)(uintptr_t)source);
	pthread_create(&t[1], NULL, open_and_close, (void *)(uintptr_t)script);
	join_threads();
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
}

/* The first n functions of the module m, as extend/3 takes them. */
static ERL_NIF_TERM functions(ErlNifEnv *env, unsigned n)
{
	ERL_NIF_TERM list = enif_make_list(env, 0);

	for (unsigned i = 0; i < n; i++)
		list = enif_make_list_cell(env,
			enif_make_tuple3(env, fn_atom(env, i), enif_make_uint(env, i),
				enif_make_atom(env, "erlang")),
			list);
	return list;
}

static unsigned length(ErlNifEnv *env, ERL_NIF_TERM list)
{
	unsigned n = 0;

	return enif_get_list_length(env, list, &n) ? n : UINT32_MAX;
}

/* What counted/2 was given, with how often each was called. */
static ERL_NIF_TERM told(ErlNifEnv *env, ERL_NIF_TERM fns, unsigned n)
{
	ERL_NIF_TERM list = enif_make_list(env, 0), head;

	while (enif_get_list_cell(env, fns, &head, &fns))
		list = enif_make_list_cell(
			env, enif_make_list_cell(env, head, enif_make_uint(env, n)), list);
	return list;
}

/*
 * Each of the functions is counted by the VM, loaded anew, and traced; all the while it is called.
 */
static void test_functions_come_and_are_counted_while_they_are_called(void)
{
	ErlNifEnv *env = fake_env(NULL), *at_work = fake_env(NULL);
	ERL_NIF_TERM m = enif_make_atom(env, "m"), all = enif_make_atom(env, "all"), fns;
	ERL_NIF_TERM nil = enif_make_list(env, 0);
	struct open o = {0};
	_Atomic ERL_NIF_TERM state;
	const ERL_NIF_TERM *t;
	long fired, lost, added = 0;
	unsigned rounds = 0;
	int n;

	if (!enif_get_tuple(env, call(env, "open", 0, NULL), &n, &t) || t[0] != atom_ok)
		abort();
	o = (struct open){.term = t[1], .state = t[2]};
	enif_get_resource(env, o.term, NULL, &o.obj);
	CALL(env, "compile", o.term,
		binary(env, "erlang*:m::function-entry { @[probefunc] = count(); }"), nil,
		enif_make_list(env, 1, enif_make_atom(env, "zero_matches")));
	start(env, &o);
	atomic_store(&state, o.state);
	run_threads(&state, false);
	do {
		unsigned some = rounds < FNS ? rounds + 1 : FNS;

		fns = CALL(at_work, "extend", o.term, m, functions(at_work, some));
		check(length(at_work, fns) == some, "armed", length(at_work, fns), some);
		fns = CALL(at_work, "countable", o.term, all);
		check(length(at_work, fns) == some, "countable", length(at_work, fns), some);
		attend(at_work, &o);
		CALL(at_work, "counted", o.term, fns);
		for (unsigned k = 1; k <= 3; k++)
			CALL(at_work, "count", o.term, told(at_work, fns, 10 * k));
		added += 30L * some;
		attend(at_work, &o);
		CALL(at_work, "uncount", o.term, m);
		fake_reset(at_work);
		rounds++;
	} while (now() < threads[0].until || rounds < 2 * FNS);
	join_threads();
	counts(env, &o, &fired, &lost);
	check(fired >= added, "fired", fired, added);
	check(lost == 0, "lost", lost, 0);
	drop_handle(env, &o);
	fake_env_free(env);
	fake_env_free(at_work);
}

/* Names made one after the other are neighbouring atoms: their functions do not meet. */
static void test_neighbours_have_buckets_of_their_own(void)
{
	static unsigned char met[1 << 17];
	unsigned most = 0;

	for (uint64_t m = 0; m < 1000; m++)
		for (uint64_t f = 0; f < 100; f++) {
			uint64_t k =
				beam_hash_fn((20000 + m) << 6 | 0xb, (21500 + f) << 6 | 0xb, 0x1f);

			if (++met[k % sizeof(met)] > most)
				most = met[k % sizeof(met)];
		}
	check(most <= 8, "functions in a bucket", most, 8);
}

/*
 * Flows that begin here have places side by side, as their numbers are. A part of a flow of another
 * node finds a place wherever they are, and so do the next ones.
 *
 */
static void test_parts_find_a_place_beside_flows(void)
{
	struct flow_table t = {0};
	unsigned joined = 0, found = 0;
	uint64_t id;
	bool over;

	check(flow_table_init(&t, 16384, 1024) == 0, "a table of flows", -1, 0);
	for (int i = 0; i < 1000; i++)
		check(flow_begin(&t, 1, &id) != NULL, "a flow begins", i, 1000);
	for (uint64_t i = 0; i < 1000; i++)
		joined += flow_join(&t, 1, 1ULL << 32 | (16 * i + 1), &over) != NULL;
	for (uint64_t i = 0; i < 1000; i++)
		found += flow_find(&t, 1ULL << 32 | (16 * i + 1)) != NULL;
	check(joined == 1000, "parts that found a place", joined, 1000);
	check(found == 1000, "parts that are found", found, 1000);
	flow_table_fini(&t);
}

int main(void)
{
	ErlNifEnv *env = fake_env(NULL);
	ERL_NIF_TERM nil = enif_make_list(env, 0);
	void *priv = NULL;

	entry = nif_init();
	entry->load(env, &priv,
		enif_make_tuple8(env, enif_make_atom(env, "true"),
			enif_make_list(env, 3, fake_pid(3), fake_pid(77), fake_pid(1000)),
			enif_make_uint(env, FAKE_PROCESSES),
			enif_make_tuple3(env, enif_make_uint(env, 6), enif_make_uint(env, 5),
				enif_make_uint(env, 3)),
			enif_make_uint(env, 2),
			enif_make_tuple3(env, nil, atom_undefined, atom_undefined),
			enif_make_uint(env, 64), atom_undefined));
	check(beam_vm.pid_shift == 4 && beam_vm.small && beam_vm.immediates &&
			beam_vm.tuple3.tag == 2,
		"the fake is as OTP", beam_vm.pid_shift, 4);
	atomic_store(&beam_layout.state, LAYOUT_KNOWN);
	beam_words.frame = 1;
	beam_words.mark = 0x1000;
	beam_words.raised = 20 * sizeof(uintptr_t);
	test_neighbours_have_buckets_of_their_own();
	test_parts_find_a_place_beside_flows();
	check(flow_parts_joined_twice() == 0, "threads that join a flow at once", 1, 0);
	check(flow_members_buried_alive() == 0, "processes that follow one that has exited", 1, 0);
	check(flow_depths_lost() == 0, "threads that go deeper at once", 1, 0);
	check(slot_pages_kept() == 0, "pages of slots that nobody has", slot_pages_kept(), 0);
	check(slot_pages_missing() == 0, "slots of the living", slot_pages_missing(), 0);
	check(slots_overwritten() == 0, "slots that were given back while they had an owner", 1, 0);
	test_exact();
	test_ends_that_nobody_tells();
	test_functions_come_and_are_counted_while_they_are_called();
	test_closed_while_events_are_inside(script, false);
	test_closed_while_events_are_inside(odd_script, true);
	atomic_store(&beam_layout.state, FIND_REFUSED);
	test_closed_while_events_are_inside(odd_script, true);
	fake_env_free(env);
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
