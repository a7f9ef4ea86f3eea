/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile-N in a node, for clauses that read what it interrupts: the sampler of the profile
 * provider (provider/profile.c decides). Several scripts share the timers, which have the shortest
 * period among them: a sample is worth its period of CPU time, times those that the kernel merged
 * into it, and a probe fires each time that its own period is full, with the sample that filled it.
 *
 * One thread reads the rings of all schedulers and fires. It starts with the first script and ends
 * with the last. It sleeps for as long as it may: what a script adds up can wait, but a clause that
 * reads the time, or variables that other probes set, is to fire soon after its sample was taken.
 *
 * profile-wall-N is enabled here too; its samples come from erltrace_wall.erl (sampler_wall.c).
 *
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/in_node.h"
#include "beam/atoms.h"
#include "beam/handle/beam_handle.h"
#include "beam/vm/vm_event.h"
#include "beam/vm/vm_threads.h"
#include "engine/tables/counter.h"
#include "engine/engine.h"
#include "engine/probe.h"
#include "engine/provider.h"
#include "engine/slot.h"
#include "engine/state.h"
#include "prog/builtins.h"
#include "prog/prog.h"
#include "sampler.h"
#include "sampler_current.h"
#include "sampler_wall.h"

/*
 * ns between two looks at the rings: as long as some samples take to come, a part of what a ring
 * holds
 */
#define SOME	    30
#define LEAST_PAUSE 5000000ULL
#define MOST_PAUSE  250000000ULL
#define SOON	    10000000ULL /* at most, for a script that is prompt */
#define LOOK  1000000000ULL /* between two at threads */
#define MOST  10000	    /* firings of one sample; the rest is counted as dropped */

/* A probe of a script that samples. */
struct watcher {
	struct en_probe *probe;
	struct beam_handle *b;
	uint64_t period;
	bool names, stacks, lines, prompt, running;
	uint64_t full[SAMPLER_THREADS]; /* ns of each thread towards the next firing */
	struct watcher *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake;
static struct watcher *watchers;
static bool testing;   /* the self-test has the rings */
static bool held;      /* tests: nobody has */
static bool prompt;    /* one of the scripts that run is */
static bool reading;   /* the thread is there */
static uintptr_t turn; /* of the thread that reads; one that has another ends */
static pthread_t reader;
static struct beam_thread *reader_self; /* kept for the next one */

bool sampler_init(void)
{
	static bool done;
	pthread_condattr_t attr;

	if (done)
		return true;
	done = pthread_condattr_init(&attr) == 0 &&
	       pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0 &&
	       pthread_cond_init(&wake, &attr) == 0;
	return done;
}

static bool is_running(const struct en *en) /* NULL: any */
{
	for (const struct watcher *w = watchers; w != NULL; w = w->next)
		if (w->running && (en == NULL || w->probe->en == en))
			return true;
	return false;
}

static bool any_running(void)
{
	return is_running(NULL);
}

/* ---- reading --------------------------------------------------------------------------- */

/* All samples of a thread. */
static void read_thread(struct sampler_thread *t, sampler_cb cb, void *arg)
{
	uint64_t head = atomic_load_explicit(&t->head, memory_order_acquire);
	uint64_t tail = atomic_load_explicit(&t->tail, memory_order_relaxed);
	uint64_t words[SAMPLER_HEAD], frames[SAMPLER_FRAMES];
	struct sampler_head h;

	while (tail < head) {
		for (unsigned i = 0; i < SAMPLER_HEAD; i++)
			words[i] = t->ring[(tail + i) % SAMPLER_RING];
		memcpy(&h, words, sizeof(h));
		for (unsigned i = 0; i < h.nframes; i++)
			frames[i] = t->ring[(tail + SAMPLER_HEAD + i) % SAMPLER_RING];
		tail += SAMPLER_HEAD + h.nframes;
		atomic_store_explicit(&t->tail, tail, memory_order_release);
		if (!h.own)
			cb(arg, t, &h, frames);
	}
}

static void read_all(sampler_cb cb, void *arg)
{
	for (unsigned i = 0; i < atomic_load(&sampler_nthreads); i++)
		read_thread(sampler_threads[i], cb, arg);
}

static void count_drops(const struct watcher *w, uint64_t n)
{
	struct en_thread *slot = n > 0 ? en_slot_get(w->probe->en) : NULL;

	if (slot != NULL)
		count_add(&slot->drops[DROP_SAMPLES], n);
}

static void fire(struct watcher *w, struct sampler_current *s, uint64_t n)
{
	const uint64_t args[10] = {0, s->pc};

	if (n > MOST) {
		count_drops(w, n - MOST);
		n = MOST;
	}
	s->b = w->b;
	for (uint64_t i = 0; i < n; i++)
		en_fire_own(w->probe, args, &s->cur);
}

static void fire_all(void *arg, const struct sampler_thread *t, const struct sampler_head *h,
	const uint64_t *frames)
{
	struct sampler_current s;
	unsigned index = 0;

	(void)arg;
	while (sampler_threads[index] != t)
		index++;
	sampler_current_init(&s, t, h, frames);
	for (struct watcher *w = watchers; w != NULL; w = w->next) {
		uint64_t n;

		if (!w->running || !atomic_load_explicit(&w->b->named, memory_order_acquire))
			continue;
		w->full[index] += h->times * h->period;
		n = w->full[index] / w->period;
		w->full[index] -= n * w->period;
		fire(w, &s, n);
	}
}

/* Samples that found a ring full, for each script as its probe would have fired. */
static void tell_drops(void)
{
	uint64_t period = atomic_load(&sampler_period), n = 0;

	for (unsigned i = 0; i < atomic_load(&sampler_nthreads); i++) {
		uint64_t drops = atomic_load(&sampler_threads[i]->drops);

		n += drops - sampler_threads[i]->told;
		sampler_threads[i]->told = drops;
	}
	for (const struct watcher *w = watchers; n > 0 && w != NULL; w = w->next)
		if (w->running)
			count_drops(w, n * period / w->period);
}

/* What the handler took: the scripts that sample share it. */
static void share_cost(void)
{
	uint64_t ns = 0, n = 0;

	for (unsigned i = 0; i < atomic_load(&sampler_nthreads); i++) {
		uint64_t took = atomic_load(&sampler_threads[i]->took);

		ns += took - sampler_threads[i]->paid;
		sampler_threads[i]->paid = took;
	}
	for (const struct watcher *w = watchers; w != NULL; w = w->next)
		n += w->running;
	for (const struct watcher *w = watchers; w != NULL; w = w->next)
		if (w->running)
			atomic_fetch_add(&w->b->cost.around, (int64_t)(ns / n));
}

/* Under the lock, on a thread that has a beam_thread. */
static void read_and_fire(void)
{
	struct beam_thread *t = beam_self != NULL ? beam_self : beam_thread_new();

	if (testing || held || t == NULL)
		return;
	beam_thread_enter(t);
	read_all(fire_all, NULL);
	tell_drops();
	share_cost();
	beam_thread_leave(t);
}

static uint64_t now_ns(struct timespec *at)
{
	clock_gettime(CLOCK_MONOTONIC, at);
	return (uint64_t)at->tv_sec * 1000000000ULL + (uint64_t)at->tv_nsec;
}

static uint64_t pause_ns(void)
{
	const uint64_t most = prompt ? SOON : MOST_PAUSE;
	uint64_t ns = SOME * atomic_load(&sampler_period);

	return ns < LEAST_PAUSE ? LEAST_PAUSE : ns > most ? most : ns;
}

static void *read_rings(void *arg)
{
	struct timespec at;
	uint64_t looked = now_ns(&at);

	pthread_setname_np(pthread_self(), "erltrace_sample");
	beam_self = reader_self;
	pthread_mutex_lock(&lock);
	while (turn == (uintptr_t)arg) {
		uint64_t now = now_ns(&at);

		read_and_fire();
		reader_self = beam_self;
		if (now - looked >= LOOK) {
			sampler_look();
			looked = now;
		}
		at.tv_nsec += (long)pause_ns();
		if (at.tv_nsec >= 1000000000L) {
			at.tv_nsec -= 1000000000L;
			at.tv_sec++;
		}
		pthread_cond_timedwait(&wake, &lock, &at);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

void sampler_code_changed(void)
{
	pthread_mutex_lock(&lock);
	if (any_running())
		sampler_find_ranges(sampler_facts.ret_nif);
	pthread_mutex_unlock(&lock);
}

/* Its signals are blocked, but for faults: they are for the VM's threads. */
static int start_reading(struct et_error *e)
{
	sigset_t all, old;
	int rc;

	if (reading)
		return 0;
	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&reader, NULL, read_rings, (void *)turn);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc != 0)
		return et_err(
			e, ET_THREAD, "cannot start a thread that reads samples: %s", strerror(rc));
	reading = true;
	return 0;
}

/* ---- scripts --------------------------------------------------------------------------- */

/* Set the timers for the scripts that run; none: delete them. */
static int set_timers(struct et_error *e)
{
	uint64_t period = UINT64_MAX;
	bool names = false, stacks = false, lines = false;

	prompt = false;
	for (const struct watcher *w = watchers; w != NULL; w = w->next)
		if (w->running) {
			period = w->period < period ? w->period : period;
			names |= w->names;
			stacks |= w->stacks;
			lines |= w->lines;
			prompt |= w->prompt;
		}
	atomic_store(&sampler_names, names);
	atomic_store(&sampler_stacks, stacks);
	atomic_store(&sampler_lines, lines);
	if (period == UINT64_MAX) {
		sampler_disarm();
		return 0;
	}
	return sampler_arm(period, e);
}

/* Does it matter when its clauses run? A time line shows that too. */
static bool is_prompt(const struct prog_uses *u, const struct beam_handle *b)
{
	return (u->vars & (USES_VAR(TIMESTAMP) | USES_VAR(WALLTIMESTAMP))) || u->script_vars ||
	       api_records_processes(b->h);
}

static int enable(struct en *en, const struct en_probe *p, uint64_t period, struct et_error *e)
{
	const uint32_t names = 1u << PBI_ERLNAME | 1u << PBI_ERLPROC;
	struct watcher *w;

	if (!sampler_known())
		return et_err(e, ET_SAMPLES,
			"%s reads what the schedulers run (%s), which cannot be seen in this node: "
			"%s. "
			"The kernel can, as root: erltrace -p %d -n '%s /pid == $target/ { ... }'",
			p->name->text, p->uses.ustack ? "ustack()" : "erlpid and the like",
			sampler_refusal(), (int)getpid(), p->name->text);
	w = calloc(1, sizeof(*w));
	if (w == NULL)
		return et_err(e, ET_NOMEM, "out of memory for samples");
	w->probe = (struct en_probe *)(uintptr_t)p;
	w->b = ((const struct beam_event *)(const void *)en->host)->b;
	beam_track(w->b, TRACK_SAMPLES, true);
	beam_track(w->b, TRACK_SAMPLED_STACKS, p->uses.ustack);
	w->period = period;
	w->names = (p->uses.pbis & names) != 0 || api_records_processes(w->b->h);
	w->stacks = p->uses.ustack;
	w->prompt = is_prompt(&p->uses, w->b);
	w->lines = w->stacks && api_option(w->b->h, OPT_STACKLINES) != 0;
	pthread_mutex_lock(&lock);
	w->next = watchers;
	watchers = w;
	pthread_mutex_unlock(&lock);
	return 0;
}

bool sampler_wanted(const struct prog *prog)
{
	const uint32_t reads = 1u << PBI_ERLPID | 1u << PBI_ERLNAME | 1u << PBI_ERLPROC |
			       1u << PBI_ERLSCHED | 1u << PBI_ERLSTATE;

	for (unsigned i = 0; prog != NULL && i < prog->nclauses; i++) {
		const struct prog_uses *u = &prog->clauses[i]->uses;

		if (!u->ustack && (u->pbis & reads) == 0 && (u->args & 3) == 0)
			continue;
		for (const struct d_pdesc *d = prog->clauses[i]->descs; d != NULL; d = d->next)
			if (d->id != 0 || (en_glob(d->prov, "profile") &&
						  strncmp(d->name, "profile-", 8) == 0))
				return true;
	}
	return false;
}

static int ready(struct en *en, struct et_error *e)
{
	(void)en, (void)e;
	return 0;
}

static bool run_all(const struct en *en, bool running)
{
	bool any = false;

	for (struct watcher *w = watchers; w != NULL; w = w->next)
		if (w->probe->en == en && w->running != running) {
			memset(w->full, 0, sizeof(w->full));
			w->running = running;
			any = true;
		}
	return any;
}

static int start(struct en *en, struct et_error *e)
{
	struct et_error ignored = {0};
	int rc = 0;

	pthread_mutex_lock(&lock);
	if (testing)
		rc = et_err(e, ET_SAMPLES, "samples are being tested in this node just now");
	else if (run_all(en, true))
		rc = set_timers(e) < 0 ? -1 : start_reading(e);
	if (rc < 0) {
		run_all(en, false);
		set_timers(&ignored);
		et_err_clear(&ignored);
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

/* What was sampled so far fires first. */
static void stop(struct en *en)
{
	struct et_error ignored = {0};
	pthread_t ends;
	bool last = false;

	pthread_mutex_lock(&lock);
	if (is_running(en)) {
		read_and_fire();
		run_all(en, false);
		set_timers(&ignored);
		last = reading && !any_running();
		if (last) {
			turn++;
			reading = false;
			ends = reader;
			pthread_cond_broadcast(&wake);
		}
	}
	pthread_mutex_unlock(&lock);
	if (last)
		pthread_join(ends, NULL);
	et_err_clear(&ignored);
}

static void fini(struct en *en)
{
	struct watcher **at = &watchers, *w;

	pthread_mutex_lock(&lock);
	while ((w = *at) != NULL)
		if (w->probe->en == en) {
			*at = w->next;
			free(w);
		} else {
			at = &w->next;
		}
	pthread_mutex_unlock(&lock);
}

const struct en_sampler beam_sampler = {
	.enable = enable,
	.wall = sampler_wall_enable,
	.ready = ready,
	.start = start,
	.stop = stop,
	.fini = fini,
};

/* ---- the self-test --------------------------------------------------------------------- */

#define TEST_PERIOD 1000000ULL /* ns: as often as the kernel's clock ticks */

int sampler_test_start(struct et_error *e)
{
	int rc;

	pthread_mutex_lock(&lock);
	if (any_running() || testing) {
		rc = et_err(e, ET_SAMPLES, "samples are being taken");
	} else {
		atomic_store(&sampler_names, true);
		atomic_store(&sampler_stacks, true);
		atomic_store(&sampler_lines, false);
		rc = sampler_arm(TEST_PERIOD, e);
		testing = rc == 0;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

static void forget(void *arg, const struct sampler_thread *t, const struct sampler_head *h,
	const uint64_t *frames)
{
	(void)arg, (void)t, (void)h, (void)frames;
}

void sampler_test_stop(void)
{
	pthread_mutex_lock(&lock);
	if (testing) {
		sampler_disarm();
		read_all(forget, NULL);
	}
	testing = false;
	pthread_mutex_unlock(&lock);
}

void sampler_hold(bool on)
{
	pthread_mutex_lock(&lock);
	held = on;
	pthread_mutex_unlock(&lock);
}

void sampler_test_read(sampler_cb cb, void *arg)
{
	pthread_mutex_lock(&lock);
	read_all(cb, arg);
	pthread_mutex_unlock(&lock);
}
