/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profile provider: tick-N fires on one thread at a time, profile-N on every CPU. Probes are
 * made as scripts name them. One thread serves all ticks; each CPU has a pinned thread of its own
 * if any profile-N is enabled. Deadlines are absolute, so nothing drifts; after missed deadlines a
 * timer fires once, not once for each of them.
 *
 * Inside a node everything else is armed after go, which takes a while if the node is busy. Timers
 * begin when that is done: a script that runs for ten seconds then sees ten seconds of events.
 *
 * In the command, profile-N fires in the kernel (kernel/sampler.c) if one of its clauses reads
 * something about the interrupted task (pid, execname, arg0, stack() and the like), or if the
 * script has other probes of the kernel: it then samples whatever runs on each CPU. Inside a node
 * such a clause samples the schedulers (beam/sample/sampler_fire.c), and profile-wall-N the
 * processes.
 *
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/clock.h"
#include "engine/engine.h"
#include "engine/in_kernel.h"
#include "engine/probe.h"
#include "engine/provider.h"
#include "engine/seen.h"
#include "engine/slot.h"
#include "engine/state.h"
#include "prog/builtins.h"
#include "prog/erlang_has.h"
#include "prog/prog.h"
#include "period.h"

#define LEAST 200000ULL /* ns: the machine would do little else */
#define SEC   1000000000ULL

extern const struct provider profile_provider;

struct timer {
	struct en_probe *probe;
	uint64_t period;
	bool tick, wall, enabled;
	struct timer *next;
};

struct due {
	struct timer *timer;
	uint64_t at;
};

/* A thread and its timers. */
struct server {
	pthread_t thread;
	struct profile *of;
	int cpu; /* < 0: any */
	struct due *due;
	unsigned n;
	bool running;
};

struct profile {
	struct timer *timers, **last;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool held; /* timers do not begin yet */
	bool stop;
	pid_t pid; /* the process of the threads */
	struct server *servers;
	unsigned nservers;
};

/* ---- names ---------------------------------------------------------------------------- */

/* The period in ns that a name means; 0: it is not such a name, or the period is 0. */
static uint64_t period_of(const char *name, bool *tick, bool *wall)
{
	*tick = strncmp(name, "tick-", 5) == 0;
	if (!*tick && strncmp(name, "profile-", 8) != 0)
		return 0;
	*wall = strncmp(name, "profile-wall-", 13) == 0;
	return et_period(*wall ? name + 13 : strchr(name, '-') + 1);
}

static int add(struct en *en, struct profile *pr, const char *name, struct et_error *e)
{
	static const char *const args[] = {"uintptr_t", "uintptr_t"}; /* kernel pc and user pc */
	struct timer *t;
	bool tick, wall;
	uint64_t period = period_of(name, &tick, &wall);

	if (period < LEAST || en_probe_find(en, "profile", "", "", name) != NULL)
		return 0;
	t = calloc(1, sizeof(*t));
	if (t == NULL)
		return et_err(e, ET_NOMEM, "out of memory for probe %s", name);
	t->probe = en_probe_add(en, &profile_provider, t, "profile", "", "", name);
	if (t->probe == NULL) {
		free(t);
		return et_err(e, ET_NOMEM, "out of memory for probe %s", name);
	}
	t->period = period;
	t->tick = tick;
	t->wall = wall;
	*pr->last = t; /* timers due at the same time fire in the order they were named */
	pr->last = &t->next;
	t->probe->nargs = tick ? 0 : 2;
	t->probe->has = ~prog_pbis_of_events();
	t->probe->argtypes = tick ? NULL : args;
	return 0;
}

static const char *why_none(const struct d_pdesc *desc)
{
	uint64_t period;
	bool tick, wall;

	if (desc->name == NULL || !en_glob(desc->prov, "profile"))
		return NULL;
	period = period_of(desc->name, &tick, &wall);
	return period == 0 || period >= LEAST
		       ? NULL
		       : "it would fire too often: the shortest interval is 200 microseconds "
			 "(5000 hz)";
}

static int provide(struct en *en, void *data, const struct d_pdesc *desc, struct et_error *e)
{
	const char *mod = desc->mod ? desc->mod : "", *func = desc->func ? desc->func : "";

	if (desc->name == NULL || !en_glob(desc->prov, "profile") || *mod != '\0' || *func != '\0')
		return 0;
	return add(en, data, desc->name, e);
}

static int init(struct en *en, void **data, struct et_error *e)
{
	static const char *const usual[] = {"profile-97", "profile-199", "profile-499",
		"profile-997", "profile-1999", "profile-4001", "profile-4999", "tick-1", "tick-10",
		"tick-100", "tick-500", "tick-1000", "tick-5000"};
	struct profile *pr = calloc(1, sizeof(*pr));
	pthread_condattr_t attr;

	*data = pr;
	if (pr == NULL)
		return et_err(e, ET_NOMEM, "out of memory");
	pr->last = &pr->timers;
	pthread_mutex_init(&pr->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&pr->wake, &attr);
	pthread_condattr_destroy(&attr);
	for (unsigned i = 0; i < sizeof(usual) / sizeof(*usual); i++)
		if (add(en, pr, usual[i], e) < 0)
			return -1;
	return 0;
}

/* ---- the threads ---------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * SEC + (uint64_t)ts.tv_nsec;
}

/* Sleep until a deadline; true: stop. */
static bool sleep_until(struct profile *pr, uint64_t at)
{
	struct timespec ts = {.tv_sec = (time_t)(at / SEC), .tv_nsec = (long)(at % SEC)};
	bool stop;
	int rc = 0;

	pthread_mutex_lock(&pr->lock);
	while (!pr->stop && rc != ETIMEDOUT)
		rc = pthread_cond_timedwait(&pr->wake, &pr->lock, &ts);
	stop = pr->stop;
	pthread_mutex_unlock(&pr->lock);
	return stop;
}

/* Until timers may begin; true: stop. */
static bool wait_until_armed(struct profile *pr)
{
	bool stop;

	pthread_mutex_lock(&pr->lock);
	while (!pr->stop && pr->held)
		pthread_cond_wait(&pr->wake, &pr->lock);
	stop = pr->stop;
	pthread_mutex_unlock(&pr->lock);
	return stop;
}

static void fire_due(struct due *d, uint64_t now)
{
	static const uint64_t args[10]; /* no task was interrupted: both pcs are 0 */

	uint64_t from = en_own_begin(d->timer->probe->en);

	if (d->timer->tick)
		en_fire_apart(d->timer->probe, args, NULL);
	else
		en_fire(d->timer->probe, args, 0, NULL);
	en_own_end(d->timer->probe->en, from);
	d->at += d->timer->period;
	if (d->at <= now) /* late by more than a period: continue with the next deadline */
		d->at += (now - d->at) / d->timer->period * d->timer->period + d->timer->period;
}

static void *serve(void *arg)
{
	struct server *s = arg;
	uint64_t start;

	pthread_setname_np(pthread_self(), "erltrace_tick"); /* else that of who has started it */
	if (wait_until_armed(s->of))
		return NULL;
	start = now_ns();
	for (unsigned i = 0; i < s->n; i++)
		s->due[i].at = start + s->due[i].timer->period;
	for (;;) {
		uint64_t first = UINT64_MAX, now;

		for (unsigned i = 0; i < s->n; i++)
			if (s->due[i].at < first)
				first = s->due[i].at;
		if (sleep_until(s->of, first))
			return NULL;
		now = now_ns();
		for (unsigned i = 0; i < s->n; i++)
			if (s->due[i].at <= now)
				fire_due(&s->due[i], now);
	}
}

/* Block all signals, which are for the program's own threads, except faults. */
static int run(struct server *s)
{
	sigset_t all, old;
	pthread_attr_t attr;
	cpu_set_t set;
	int rc;

	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	pthread_attr_init(&attr);
	if (s->cpu >= 0) {
		CPU_ZERO(&set);
		CPU_SET((unsigned)s->cpu, &set);
		pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	}
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&s->thread, &attr, serve, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	s->running = rc == 0;
	return rc;
}

/* ---- enable, start, stop -------------------------------------------------------------- */

static void is_sampler(void *arg, struct en_probe *p)
{
	const struct timer *t = p->pvdata;

	if (p->pv == &profile_provider && !t->tick)
		*(bool *)arg = true;
}

/* Does a clause at profile-N read something of the thread that is interrupted? */
static bool reads_thread(const struct prog_uses *u)
{
	const uint32_t of_node = 1u << PBI_ERLPID | 1u << PBI_ERLNAME | 1u << PBI_ERLPROC |
				 1u << PBI_ERLSCHED | 1u << PBI_ERLNODE;

	return uses_threads(u) || u->stack || u->ustack || (u->args & 3) != 0 ||
	       (u->pbis & of_node) != 0 || uses_fn(u, RT_ureg) ||
	       (u->vars & (USES_VAR(VTIMESTAMP) | USES_VAR(ERRNO))) != 0;
}

/* Only the kernel knows that. */
static bool wants_arena(struct en *en)
{
	struct et_error e = {0};
	bool found = false;

	if (et_sampler == NULL || en->opts->inside || en->opts->replay ||
		!en->opts->val[OPT_KERNEL])
		return false;
	for (unsigned i = 0; i < en->prog->nclauses; i++) {
		const struct prog_clause *c = en->prog->clauses[i];

		if (!reads_thread(&c->uses))
			continue;
		for (const struct d_pdesc *d = c->descs; d != NULL; d = d->next)
			en_probe_match(en, d, is_sampler, &found, &e);
	}
	et_err_clear(&e);
	return found;
}

#define INTERRUPTED "what it interrupts (pid, execname, erlpid, stacks, arg0, arg1 and the like)"
#define ELSEWHERE                                                                                  \
	"Inside an Erlang node samples need no privileges: erltrace -N NODE -n 'profile-97 "       \
	"{ @[ustack()] = count(); }'"

static int arena(struct en *en, void *data, void *base, size_t size, struct et_error *e)
{
	int fd = et_sampler->arena(en, data, base, size, e);
	struct et_error why;

	if (fd < 0) {
		why = *e;
		*e = (struct et_error){0};
		et_err_as(e, &why,
			"profile-N that reads " INTERRUPTED ": %s. " ELSEWHERE, why.text);
	}
	return fd;
}

/* Does a clause read what is interrupted? For a tick that is a thread of this provider: nothing. */
static bool reads_interrupted(const struct en_probe *p, const struct timer *t)
{
	const uint32_t per_event = 1u << PBI_ERLPID | 1u << PBI_ERLNAME | 1u << PBI_ERLPROC |
				   1u << PBI_ERLSCHED | 1u << PBI_ERLSTATE;

	return p->uses.stack || p->uses.ustack ||
	       (!t->tick && ((p->uses.pbis & per_event) != 0 || (p->uses.args & 3) != 0));
}

/* Inside a node it would see this provider's own threads, which is never what is meant. */
static int enable_inside(
	struct en *en, const struct en_probe *p, const struct timer *t, struct et_error *e)
{
	if (et_sampler != NULL && !t->tick && !p->uses.stack)
		return et_sampler->enable(en, p, t->period, e);
	return et_err(e, ET_SAMPLES,
		"%s reads what the schedulers run (%s), which it cannot see inside a node: it "
		"fires in a thread of its own. %s",
		p->name->text, p->uses.stack ? "stack() and the like" : "ustack() and the like",
		p->uses.stack
			? "stack() is the kernel's stack, which only the kernel knows: as root, "
			  "erltrace -p PID"
			: "profile-N can: profile-97 { @[ustack()] = count(); }");
}

static int enable(struct en *en, void *data, struct en_probe *p, struct et_error *e)
{
	struct timer *t = p->pvdata;

	(void)data;
	if (en->opts->replay) /* it has no timers of ours: the file says when they fire */
		return 0;
	if (t->wall) {
		if (en->opts->inside && et_sampler != NULL && et_sampler->wall != NULL)
			return et_sampler->wall(en, p, t->period, e);
		return et_err(e, ET_SAMPLES,
			"%s samples the processes of an Erlang node: say which (-N NODE)",
			p->name->text);
	}
	if (en->opts->inside && reads_interrupted(p, t))
		return enable_inside(en, p, t, e);
	if (en->shared.on && !t->tick)
		return et_sampler->enable(en, p, t->period, e);
	if (!en->opts->inside && !t->tick && reads_thread(&p->uses)) /* or it would see itself */
		return et_err(e, ET_SAMPLES,
			"%s reads " INTERRUPTED ": that takes probes of the kernel, %s. " ELSEWHERE,
			p->name->text,
			et_sampler == NULL ? "which are not in this build"
					   : "which the option kernel=off excludes");
	t->enabled = true;
	return 0;
}

static int ready(struct en *en, void *data, struct et_error *e)
{
	(void)data;
	return et_sampler != NULL ? et_sampler->ready(en, e) : 0;
}

static unsigned enabled(const struct profile *pr, bool tick)
{
	unsigned n = 0;

	for (const struct timer *t = pr->timers; t != NULL; t = t->next)
		n += t->enabled && t->tick == tick;
	return n;
}

static int add_server(struct profile *pr, bool tick, int cpu, struct et_error *e)
{
	struct server *s = &pr->servers[pr->nservers];
	int rc;

	*s = (struct server){.of = pr, .cpu = cpu};
	s->due = calloc(enabled(pr, tick), sizeof(*s->due));
	if (s->due == NULL)
		return et_err(e, ET_NOMEM, "out of memory for timers");
	pr->nservers++;
	for (struct timer *t = pr->timers; t != NULL; t = t->next)
		if (t->enabled && t->tick == tick)
			s->due[s->n++].timer = t;
	rc = run(s);
	if (rc != 0)
		return et_err(e, ET_THREAD, "cannot start a timer thread: %s", strerror(rc));
	return 0;
}

static int start(struct en *en, void *data, struct et_error *e)
{
	struct profile *pr = data;
	cpu_set_t allowed;

	if (et_sampler != NULL && et_sampler->start(en, e) < 0)
		return -1;
	if (enabled(pr, true) + enabled(pr, false) == 0)
		return 0;
	pr->stop = false;
	pr->held = en->opts->inside;
	pr->pid = getpid();
	pr->servers = calloc(CPU_SETSIZE + 1, sizeof(*pr->servers));
	if (pr->servers == NULL)
		return et_err(e, ET_NOMEM, "out of memory for timers");
	if (enabled(pr, true) > 0 && add_server(pr, true, -1, e) < 0)
		return -1;
	if (enabled(pr, false) == 0)
		return 0;
	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return add_server(pr, false, -1, e);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((unsigned)cpu, &allowed) && add_server(pr, false, cpu, e) < 0)
			return -1;
	return 0;
}

static void armed(struct en *en, void *data)
{
	struct profile *pr = data;

	(void)en;
	pthread_mutex_lock(&pr->lock);
	pr->held = false;
	pthread_cond_broadcast(&pr->wake);
	pthread_mutex_unlock(&pr->lock);
}

/* A forked child has none of the threads, and their locks may be held. */
static bool forked(const struct profile *pr)
{
	return pr->pid != 0 && pr->pid != getpid();
}

static void stop(struct en *en, void *data)
{
	struct profile *pr = data;
	bool gone = forked(pr);

	if (et_sampler != NULL)
		et_sampler->stop(en);
	if (!gone) {
		pthread_mutex_lock(&pr->lock);
		pr->stop = true;
		pthread_cond_broadcast(&pr->wake);
		pthread_mutex_unlock(&pr->lock);
	}
	for (unsigned i = 0; i < pr->nservers; i++) {
		if (pr->servers[i].running && !gone)
			pthread_join(pr->servers[i].thread, NULL);
		free(pr->servers[i].due);
	}
	free(pr->servers);
	pr->servers = NULL;
	pr->nservers = 0;
}

static void fini(struct en *en, void *data)
{
	struct profile *pr = data;

	if (et_sampler != NULL)
		et_sampler->fini(en);
	if (pr == NULL)
		return;
	for (struct timer *t = pr->timers, *next; t != NULL; t = next) {
		next = t->next;
		free(t);
	}
	if (!forked(pr)) {
		pthread_cond_destroy(&pr->wake);
		pthread_mutex_destroy(&pr->lock);
	}
	free(pr);
}

const struct provider profile_provider = {
	.name = "profile",
	.confinable = true,
	.replays = true,
	.init = init,
	.provide = provide,
	.why_none = why_none,
	.enable = enable,
	.ready = ready,
	.start = start,
	.armed = armed,
	.stop = stop,
	.fini = fini,
	.arena = arena,
	.wants_arena = wants_arena,
};
