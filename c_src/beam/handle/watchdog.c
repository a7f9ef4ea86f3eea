/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What events cost, and the watchdog. To time every event would cost as much as many of them do. So
 * one of some tens is timed (probe path), and stands for those since the last; where events are
 * expensive, each of them is. The interval is random, or a pattern in the workload could hide from
 * it.
 *
 * The process of a handle comes by some times a second (nif_watch). A script is ended, with
 * DTrace's words, if
 *   - its events, BEGIN and ticks took more than `watchdog' percent of the time that the schedulers
 *     were busy, for `watchtime'. Busy is what processor time the node used: where one process
 *     keeps one of many schedulers busy, that one is slowed down by its events, not all of them.
 *     But half of one scheduler's time at least: most of what an idle node uses may be a script's;
 *   - the handle's process did not come by for that long, though events went on: the node is so
 *     busy that even a process of high priority does not run. The events themselves find that;
 *   - records were dropped, and nobody asked for results for `silence'.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "api/in_node.h"
#include "beam/nif.h"
#include "compiler.h"
#include "engine/engine.h"
#include "beam_handle.h"
#include "handles.h"
#include "watchdog.h"

/*
 * What the VM itself takes to make an event: with a tracer that does nothing (bench/null_tracer.c),
 * on OTP 25, what it took more than without. `make bench-erlang' has 156 ns for a call, 236 for a
 * call and its return_to, 94 for a message, 258 for the in and out of a yield, best of 300 samples.
 * By the processor time of a million events (statistics(runtime)) while ten times as much work as
 * there are cores shared the machine it was 198, 287, 114 and 241; by the wall clock several times
 * that, which is not theirs. A call that it only counts (counters.c) takes 10.8. So these err on
 * the low side: a script is not ended for what it does not cost.
 *
 */
#define VM_CALL	  150
#define VM_RETURN 80
#define VM_OTHER  95
#define VM_COUNT  11
#define VM_HOOK	  10 /* the fast way, outside of what is timed: hooks, frames (fast_calls.c) */
#define ATOMS_MS 20	 /* until atoms of patterns are looked for again; at least cleanrate */
#define COSTLY	 5000	 /* ns: above this each event is timed */
#define LONGEST	 1000000 /* ns: the thread may have been off its processor: stands for itself */
#define IDLE	 2	 /* half of one scheduler's time at least counts as used */
#define BEATS	 10	 /* a tenth of patience: when it must come by again */
#define SURE	 5	 /* a fifth of patience: how long a beat must be too old */
#define LOOK_MS	 100	 /* between two looks */
#define REST_MS	 1000	 /* the same where few events come, at most: a look wakes a scheduler up */
#define FEW	 1000	 /* a second */

/* ---- probe path ------------------------------------------------------------------------ */

/* Nobody looks after the handle: its events end. (A node that was stopped beats as it goes on.) */
static void look_at_beat(struct beam_handle *b, uint64_t now)
{
	uint64_t beat = atomic_load_explicit(&b->beat.at, memory_order_relaxed);
	uint64_t stale = atomic_load_explicit(&b->beat.stale, memory_order_relaxed);

	if (likely(beat == 0 || now < beat + b->beat.patience))
		return;
	if (stale < beat) {
		atomic_store_explicit(&b->beat.stale, now, memory_order_relaxed);
	} else if (now > stale + b->beat.patience / SURE) {
		atomic_store_explicit(&b->beat.ended, ENDED_STALL, memory_order_relaxed);
		beam_halt(b);
	}
}

/*
 * Where there are no trace sessions the VM makes an event once for all handles, and it is given to
 * each that runs: each bears its part of what the VM takes for it.
 *
 */
static unsigned sharers(ERL_NIF_TERM state)
{
	uint64_t running = atomic_load_explicit(&beam_running, memory_order_relaxed);

	return state != BEAM_ALL_STATE || running == 0 ? 1
						       : (unsigned)__builtin_popcountll(running);
}

PROBE_PATH static uint64_t vm_part(const ERL_NIF_TERM argv[])
{
	return (uint64_t)(argv[0] == atom_call	    ? VM_CALL
			  : argv[0] == atom_return_to ? VM_RETURN
						      : VM_OTHER) /
	       sharers(argv[1]);
}

static _Atomic uint64_t reading; /* ns that reading the clock takes: about one of two is outside */

static void measure_reading(void)
{
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < 64; i++) {
		uint64_t from = en_now(), ns = en_now() - from;

		least = ns < least ? ns : least;
	}
	atomic_store_explicit(&reading, least, memory_order_relaxed);
}

/* What an event took the process, for erlcost. */
static uint64_t took(uint64_t ns, const ERL_NIF_TERM argv[])
{
	ns += atomic_load_explicit(&reading, memory_order_relaxed);
	if (argv == NULL)
		return ns;
	return ns + (argv == beam_self->fast.argv ? VM_HOOK : vm_part(argv));
}

PROBE_PATH uint64_t beam_cost_last(const struct beam_handle *b)
{
	const struct beam_thread *t = beam_self;
	const struct beam_tstate *s = t != NULL ? &t->tstates[b->number % BEAM_HANDLES] : NULL;

	return s != NULL && s->number == b->number ? s->last : 0;
}

/*
 * argv: what the VM's tracing passes, of the event and of those that it stands for, on the whole;
 * NULL: it is not the VM's.
 */
PROBE_PATH __attribute__((noinline)) void beam_cost_timed(
	struct beam_handle *b, struct beam_tstate *s, const ERL_NIF_TERM argv[])
{
	uint64_t now = en_now(), ns = now - s->timed, n = (uint64_t)s->batch + 1;
	uint64_t all = atomic_load_explicit(&s->ns, memory_order_relaxed);

	all += ns > LONGEST ? ns : ns * n;
	if (unlikely(ns > LONGEST))
		atomic_store_explicit(&s->off,
			atomic_load_explicit(&s->off, memory_order_relaxed) + ns - LONGEST,
			memory_order_relaxed);
	if (argv != NULL)
		all += n * vm_part(argv);
	s->last = took(ns, argv);
	atomic_store_explicit(&s->ns, all, memory_order_relaxed);
	s->left = s->batch = beam_tracks(b, TRACK_COST) || ns > COSTLY
				     ? 0
				     : 127 + (uint32_t)(s->timed >> 4) % 128;
	look_at_beat(b, now);
}

/* ---- the process of the handle --------------------------------------------------------- */

/* ns in events of the handle in this slot. */
static uint64_t events_of(unsigned slot)
{
	struct beam_thread *t;
	uint64_t ns = 0;

	for (unsigned i = 0; (t = beam_thread_nth(i)) != NULL; i++)
		ns += atomic_load_explicit(&t->tstates[slot].ns, memory_order_relaxed);
	return ns;
}

/* Of these: a machine that is busy with other things takes threads off their processors. */
static uint64_t off_of(unsigned slot)
{
	struct beam_thread *t;
	uint64_t ns = 0;

	for (unsigned i = 0; (t = beam_thread_nth(i)) != NULL; i++)
		ns += atomic_load_explicit(&t->tstates[slot].off, memory_order_relaxed);
	return ns;
}

static uint64_t cost_of(struct beam_handle *b)
{
	return events_of(b->number % BEAM_HANDLES) + en_own_cost(b->en) +
	       VM_COUNT * atomic_load(&b->cost.counted);
}

/* ns that all threads of the node have run. */
static uint64_t cpu_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

void beam_watchdog_go(struct beam_handle *b)
{
	uint64_t now = en_now(), cost = events_of(b->number % BEAM_HANDLES); /* BEGIN counts */

	measure_reading();
	b->watchdog = (struct beam_watchdog){
		.window[0] = {now, cost, cpu_time(), atomic_load(&b->cost.around)},
		.n = 1,
		.read = now,
		.looked = now};
	b->beat.patience = api_option(b->h, OPT_WATCHTIME);
	atomic_store(&b->beat.at, 0);
	atomic_store(&b->beat.stale, 0);
}

void beam_watchdog_read(struct beam_handle *b)
{
	b->watchdog.read = en_now();
	b->watchdog.drops = api_lost(b->h);
	if (atomic_load(&b->beat.at) != 0)
		atomic_store(&b->beat.at, b->watchdog.read);
}

static struct beam_window *window(struct beam_watchdog *w, unsigned n)
{
	return &w->window[n % (BEAM_WINDOWS + 1)];
}

/* How much of the time that the schedulers were busy since then was the script's? */
static unsigned permille(const struct beam_window *then, const struct beam_window *now,
	unsigned schedulers, bool all)
{
	uint64_t ns = now->at - then->at, busy = now->cpu - then->cpu;
	int64_t cost = (int64_t)(now->cost - then->cost);

	if (all)
		cost += now->around - then->around;
	if (busy > ns * schedulers) /* others than schedulers use processor time too */
		busy = ns * schedulers;
	if (busy < ns / IDLE)
		busy = ns / IDLE;
	return busy == 0 || cost < 0 ? 0 : (unsigned)((uint64_t)cost * 1000 / busy);
}

/*
 * What is shown is all that the script takes. It is not ended for what it takes besides its
 * firings: rounds of the provider state and samples have bounds of their own.
 */
static void look_at_cost(struct beam_handle *b, uint64_t now, unsigned schedulers)
{
	uint64_t limit = api_option(b->h, OPT_WATCHDOG);
	struct beam_watchdog *w = &b->watchdog;
	struct beam_window here;

	if (now - window(w, w->n - 1)->at < api_option(b->h, OPT_WATCHTIME) / BEAM_WINDOWS)
		return; /* this window is not over */
	here = (struct beam_window){now, cost_of(b), cpu_time(), atomic_load(&b->cost.around)};
	w->permille = permille(window(w, w->n - 1), &here, schedulers, true);
	if (w->n > BEAM_WINDOWS) {
		w->mean = permille(window(w, w->n), &here, schedulers, false); /* the oldest */
		if (limit != 0 && w->mean > 10 * limit)
			atomic_store(&b->beat.ended, ENDED_COST);
	}
	*window(w, w->n++) = here;
}

static void look_at_reader(struct beam_handle *b, uint64_t now)
{
	uint64_t silence = api_option(b->h, OPT_SILENCE);

	if (silence != 0 && now - b->watchdog.read > silence && api_lost(b->h) > b->watchdog.drops)
		atomic_store(&b->beat.ended, ENDED_SILENCE);
}

/* ms until the next look: as many as are given, but it must come by in time. */
static unsigned in_time(const struct beam_handle *b, unsigned ms)
{
	uint64_t most = b->beat.patience / BEATS / 1000000;

	if (most < LOOK_MS)
		return LOOK_MS;
	return most < ms ? (unsigned)most : ms;
}

/* Few events cost little, and if very many begin to come it is time enough to see that then. */
static bool are_few(struct beam_handle *b, uint64_t now)
{
	struct beam_watchdog *w = &b->watchdog;
	uint64_t fired = en_fired(b->en), n = fired - w->fired, ns = now - w->looked;

	w->fired = fired;
	w->looked = now;
	return n * 1000000000 < FEW * ns;
}

static void why(struct beam_handle *b, char *buf, size_t size)
{
	double watchtime = (double)api_option(b->h, OPT_WATCHTIME) / 1e9;

	switch (atomic_load(&b->beat.ended)) {
	case ENDED_COST:
		snprintf(buf, size,
			"Abort due to systemic unresponsiveness: probes took %u %% of the "
			"schedulers' busy time for %.3g s, more than watchdog=%u allows",
			b->watchdog.mean / 10, watchtime,
			(unsigned)api_option(b->h, OPT_WATCHDOG));
		break;
	case ENDED_STALL:
		snprintf(buf, size,
			"Abort due to systemic unresponsiveness: the tracing process did not get "
			"to run for %.3g s (watchtime)", watchtime);
		break;
	case ENDED_SILENCE:
		snprintf(buf, size,
			"Abort due to systemic unresponsiveness: records were dropped, and nobody "
			"read any for %.3g s (silence)",
			(double)api_option(b->h, OPT_SILENCE) / 1e9);
		break;
	default: break;
	}
}

/*
 * watch(Handle, Schedulers, Rest) -> {running, CostPermille, Ms} | {done | aborted, CostPermille,
 * Text}: to be called again within so many ms while a script runs. Rest: ms that the caller would
 * wait in any case. On a normal scheduler: it waits for nobody. done: the script has exited or
 * filled its buffers; there is no need for events any more.
 *
 */
ERL_NIF_TERM nif_watch(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct beam_handle *b = beam_get(env, argv[0]);
	ERL_NIF_TERM state = atom_running;
	unsigned schedulers = 1, cost, ms = 0;
	char buf[256] = "";
	uint64_t now = en_now();

	(void)argc;
	if (b == NULL)
		return beam_badarg(env);
	if (!enif_get_uint(env, argv[1], &schedulers) || schedulers == 0)
		schedulers = 1;
	if (!enif_get_uint(env, argv[2], &ms) || ms < LOOK_MS)
		ms = LOOK_MS;
	if (atomic_load(&b->beat.ended) == ENDED_NOT && atomic_load(&b->live))
		atomic_store(&b->beat.at, now);
	/* without the lock of the handle: whoever has it may hold it long */
	en_look_at_handler();
	if (beam_enter_slot(b->number % BEAM_HANDLES) == b)
		en_rate_tick(b->en);
	beam_leave();
	if (enif_mutex_trylock(b->lock) != 0) /* somebody is at work: the next time */
		return enif_make_tuple3(env, atom_running, enif_make_uint(env, 0),
			enif_make_uint(env, in_time(b, ms)));
	if (b->h == NULL) {
		enif_mutex_unlock(b->lock);
		return enif_make_tuple2(env, atom_error, atom_closed);
	}
	if (atomic_load(&b->beat.ended) == ENDED_NOT && atomic_load(&b->live)) {
		look_at_cost(b, now, schedulers);
		look_at_reader(b, now);
		if (are_few(b, now) && ms < REST_MS)
			ms = REST_MS;
	}
	if (atomic_load(&b->beat.ended) != ENDED_NOT) {
		beam_set_live(b, false);
		state = atom_aborted;
		why(b, buf, sizeof(buf));
	} else if (erltrace_status(b->h, NULL) != ERLTRACE_RUNNING) {
		state = atom_done;
	}
	cost = b->watchdog.permille;
	enif_mutex_unlock(b->lock);
	if (state == atom_running)
		return enif_make_tuple3(
			env, state, enif_make_uint(env, cost), enif_make_uint(env, in_time(b, ms)));
	return enif_make_tuple3(env, state, enif_make_uint(env, cost), beam_make_text(env, buf));
}

/*
 * spent(Handle | none) -> {Spent, Node, Fired} | closed: ns of processor time that the script has
 * taken, with the VM's part of its events and what it took to read its results; all of this node;
 * how many probes have fired. It waits for nobody.
 *
 */
ERL_NIF_TERM nif_spent(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct beam_handle *b = beam_get(env, argv[0]);
	ERL_NIF_TERM ret = atom_closed;

	(void)argc;
	if (enif_is_atom(env, argv[0]))
		return enif_make_tuple3(env, enif_make_uint(env, 0),
			enif_make_uint64(env, cpu_time()), enif_make_uint(env, 0));
	if (b == NULL)
		return beam_badarg(env);
	if (beam_enter_slot(b->number % BEAM_HANDLES) == b)
		ret = enif_make_tuple3(env,
			enif_make_uint64(env, cost_of(b) - off_of(b->number % BEAM_HANDLES) +
						      atomic_load(&b->cost.reading) +
						      atomic_load(&b->cost.helped)),
			enif_make_uint64(env, cpu_time()),
			enif_make_uint64(env, en_fired(b->en) + atomic_load(&b->cost.fired)));
	beam_leave();
	return ret;
}

/* took(Number, Ns) -> ok: processor time of the handle's rounds, with their firings, or samples */
ERL_NIF_TERM nif_took(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct beam_handle *b;
	ErlNifUInt64 ns;
	unsigned number;

	(void)argc;
	if (!enif_get_uint(env, argv[0], &number) || !enif_get_uint64(env, argv[1], &ns))
		return enif_make_badarg(env);
	b = beam_enter_live(number);
	if (b != NULL)
		atomic_fetch_add(&b->cost.around, (int64_t)ns);
	beam_leave();
	return atom_ok;
}

/*
 * clean(Handle) -> ms until the next time: the room of deleted variables can be used again. Often
 * where there are such variables, else for what is left of threads that ended.
 */
ERL_NIF_TERM nif_clean(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	uint64_t ms, atoms;

	WITH_HANDLE(b)
	ms = api_clean(b->h) / 1000000;
	atoms = api_option(b->h, OPT_CLEANRATE) / 1000000;
	if (atoms < ATOMS_MS)
		atoms = ATOMS_MS;
	if (!beam_patterns_renew(&b->patterns) && ms > atoms)
		ms = atoms;
	beam_release(b, env);
	enif_mutex_unlock(b->lock);
	return enif_make_uint64(env, ms < 5 ? 5 : ms);
}

uint64_t beam_clean_rest(const struct beam_handle *b)
{
	uint64_t ms = b->patterns.n == 0 ? api_rest(b->h) / 1000000 : 0;

	return ms > 0 && ms < 5 ? 5 : ms;
}

/*
 * halt(Handle): nothing fires any more, whoever is at work on the handle, and what is firing ends.
 */
ERL_NIF_TERM nif_halt(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct beam_handle *b = beam_get(env, argv[0]);

	(void)argc;
	if (b == NULL)
		return beam_badarg(env);
	if (beam_enter_slot(b->number % BEAM_HANDLES) == b) {
		beam_halt(b);
		en_halt(b->en);
	}
	beam_leave();
	return atom_ok;
}
