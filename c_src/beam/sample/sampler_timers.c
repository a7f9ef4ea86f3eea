/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sampler's signal, the threads that it samples and their timers. A timer counts the CPU time
 * of one scheduler, normal or dirty, and signals that thread alone. All have the same period: that
 * of the fastest script.
 *
 * A thread that a NIF starts inherits the name of the scheduler it was started on, and often blocks
 * all signals. So of the threads that share a scheduler's name the oldest is the scheduler, which
 * is as old as the VM.
 *
 * The signal is SIGPROF, or the first real-time signal that is free: one that has a handler, or
 * that the schedulers block, is somebody else's. When the last script ends the timers are deleted
 * and the handler stays, since a signal may be on its way; when the library goes the signal is
 * ignored from then on, since what it does by default is to end the VM.
 *
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "beam/pages.h"
#include "beam/vm/vm_threads.h"
#include "engine/safe.h"
#include "error.h"
#include "sampler.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif
#define SEC 1000000000ULL
#define LOOKS 100 /* at the signals that threads block, a millisecond apart */

static int the_signal; /* that has our handler; 0: none */
static bool reads_safely; /* handlers may read what is not there */

/* ---- what the system says of a thread -------------------------------------------------- */

static bool name_of(pid_t tid, char *name, size_t size)
{
	char path[64];
	FILE *f;
	bool read;

	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", (int)tid);
	f = fopen(path, "re");
	read = f != NULL && fgets(name, (int)size, f) != NULL;
	if (f != NULL)
		fclose(f);
	if (read)
		name[strcspn(name, "\n")] = '\0';
	return read;
}

/* When it was started, in ticks of the system's clock; UINT64_MAX: it has ended. */
static uint64_t started(pid_t tid)
{
	char path[64], line[1024];
	unsigned long long at = UINT64_MAX;
	const char *rest;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	f = fopen(path, "re");
	if (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		rest = strrchr(line, ')'); /* the name may have spaces; then come fields 3 to 22 */
		if (rest == NULL || sscanf(rest + 1,
					    " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
					    "%*s %*s %*s %*s %*s %*s %llu",
					    &at) != 1)
			at = UINT64_MAX;
	}
	if (f != NULL)
		fclose(f);
	return at;
}

/* Signals that a thread blocks, as a mask. */
static uint64_t blocked_by(pid_t tid)
{
	char path[64], line[128];
	unsigned long long mask = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", (int)tid);
	f = fopen(path, "re");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "SigBlk: %llx", &mask) == 1)
			break;
	if (f != NULL)
		fclose(f);
	return mask;
}

/* ---- the signal ------------------------------------------------------------------------ */

static bool is_free(int sig)
{
	struct sigaction now;

	if (sigaction(sig, NULL, &now) != 0)
		return false;
	if (now.sa_flags & SA_SIGINFO)
		return now.sa_sigaction == sampler_on_signal;
	return now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN;
}

static bool take_signal(int sig)
{
	struct sigaction act = {.sa_sigaction = sampler_on_signal,
		.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};

	/* but for faults: code may go while it is looked at */
	sigfillset(&act.sa_mask);
	sigdelset(&act.sa_mask, SIGSEGV);
	sigdelset(&act.sa_mask, SIGBUS);
	return is_free(sig) && sigaction(sig, &act, NULL) == 0;
}

static bool take_one_but(uint64_t blocked)
{
	for (int sig = SIGPROF; sig == SIGPROF || sig >= SIGRTMIN;
		sig = sig == SIGPROF ? SIGRTMAX : sig - 1) {
		if ((blocked >> (sig - 1) & 1) || !take_signal(sig))
			continue;
		the_signal = sig;
		return true;
	}
	return false;
}

/* Which signals the schedulers block; *who: one of them that blocks some. */
static uint64_t blocked_by_any(pid_t *who)
{
	uint64_t blocked = 0;

	*who = 0;
	for (unsigned i = 0; i < atomic_load(&sampler_nthreads); i++) {
		uint64_t mask = blocked_by(sampler_threads[i]->tid);

		if (mask != 0)
			*who = sampler_threads[i]->tid;
		blocked |= mask;
	}
	return blocked;
}

static int none_is_free(pid_t who, struct et_error *e)
{
	char name[32] = "";

	if (who == 0 || !name_of(who, name, sizeof(name)))
		return et_err(e, ET_SAMPLES,
			"no signal is free for samples: the node has its own handlers for SIGPROF "
			"and all real-time signals");
	return et_err(e, ET_SAMPLES,
		"no signal is free for samples: the thread %s (%d) blocks them, or the node has "
		"its own handlers for SIGPROF and the real-time signals",
		name, (int)who);
}

/*
 * A thread that starts another one, as schedulers do for every script that begins, or that is in a
 * handler, blocks all signals for a moment: look again.
 */
static int choose_signal(struct et_error *e)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	pid_t who = 0;

	if (the_signal != 0 && is_free(the_signal) && take_signal(the_signal))
		return 0;
	for (int look = 0; look < LOOKS; look++) {
		if (take_one_but(blocked_by_any(&who)))
			return 0;
		nanosleep(&moment, NULL);
	}
	return none_is_free(who, e);
}

int sampler_signal(void)
{
	return the_signal;
}

void sampler_unload(void)
{
	if (the_signal != 0 && is_free(the_signal))
		signal(the_signal, SIG_IGN);
	the_signal = 0;
	sampler_forget();
}

/* ---- threads --------------------------------------------------------------------------- */

/* By its name: 0, 1 or 2, its type; -1: no scheduler. (What it is its own data says.) */
static int type_of(const char *name)
{
	if (strstr(name, "_dirty_cpu") != NULL || strstr(name, "_dcpus_") != NULL)
		return 1;
	if (strstr(name, "_dirty_io") != NULL || strstr(name, "_dios_") != NULL)
		return 2;
	return strstr(name, "_scheduler") != NULL || strstr(name, "_sched_") != NULL ? 0 : -1;
}

static struct sampler_thread *with_number(unsigned sched)
{
	for (unsigned i = 0; i < atomic_load(&sampler_nthreads); i++)
		if (sampler_threads[i]->sched == sched)
			return sampler_threads[i];
	return NULL;
}

static int add_thread(pid_t tid, struct et_error *e)
{
	unsigned n = atomic_load(&sampler_nthreads);
	struct sampler_thread *t;
	char name[32];
	int type, sched;

	if (!name_of(tid, name, sizeof(name)) || (type = type_of(name)) < 0 ||
		(sched = beam_scheduler_of_name(name)) <= 0)
		return 0;
	t = with_number((unsigned)sched);
	if (t != NULL) {
		if (started(tid) < started(t->tid))
			t->tid = tid;
		return 0;
	}
	if (n == SAMPLER_THREADS)
		return et_err(e, ET_SAMPLES, "more than %d schedulers", SAMPLER_THREADS);
	t = beam_pages(sizeof(*t));
	if (t == NULL)
		return et_err(e, ET_NOMEM, "out of memory for samples");
	t->tid = tid;
	t->type = type;
	t->sched = (unsigned)sched;
	atomic_store(&sampler_threads[n], t);
	atomic_store(&sampler_nthreads, n + 1);
	return 0;
}

/* Schedulers live as long as the VM: they are looked for once. */
static int find_threads(struct et_error *e)
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *d;
	int rc = 0;

	if (dir == NULL)
		return et_err(e, ET_SAMPLES, "/proc/self/task: %s", strerror(errno));
	while (rc == 0 && (d = readdir(dir)) != NULL)
		if (isdigit((unsigned char)d->d_name[0]))
			rc = add_thread((pid_t)atoi(d->d_name), e);
	closedir(dir);
	if (rc == 0 && atomic_load(&sampler_nthreads) == 0)
		return et_err(e, ET_SAMPLES, "no scheduler was found among the threads");
	return rc;
}

/* ---- timers ---------------------------------------------------------------------------- */

static void delete_timer(struct sampler_thread *t)
{
	atomic_store(&t->live, false);
	if (t->armed)
		timer_delete(t->timer);
	t->armed = false;
}

static int set_timer(struct sampler_thread *t, unsigned n, uint64_t period)
{
	struct itimerspec at = {
		.it_interval = {.tv_sec = (time_t)(period / SEC), .tv_nsec = (long)(period % SEC)}};
	struct sigevent ev = {.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = the_signal,
		.sigev_value = {.sival_int = (int)n}};
	clockid_t cpu_time = (clockid_t)(~(unsigned)t->tid << 3 | 6);

	ev.sigev_notify_thread_id = t->tid;
	at.it_value = at.it_interval;
	if (!t->armed && timer_create(cpu_time, &ev, &t->timer) != 0)
		return -1;
	t->armed = true;
	if (timer_settime(t->timer, 0, &at, NULL) != 0)
		return -1;
	atomic_store(&t->live, true);
	return 0;
}

int sampler_arm(uint64_t period, struct et_error *e)
{
	unsigned n;

	if (atomic_load(&sampler_nthreads) == 0 && find_threads(e) < 0)
		return -1;
	if (choose_signal(e) < 0)
		return -1;
	if (!reads_safely && safe_init() < 0)
		return et_err(e, ET_SAMPLES, "memory cannot be read safely");
	reads_safely = true;
	sampler_find_ranges(sampler_facts.ret_nif);
	sampler_look();
	atomic_store(&sampler_period, period);
	n = atomic_load(&sampler_nthreads);
	for (unsigned i = 0; i < n; i++) {
		struct sampler_thread *t = sampler_threads[i];
		int err;

		if (atomic_load(&t->foreign) || set_timer(t, i, period) == 0)
			continue;
		err = errno;
		if (err == EINVAL || err == ESRCH) { /* it was no scheduler, and has ended */
			delete_timer(t);
			atomic_store(&t->foreign, true);
			continue;
		}
		sampler_disarm();
		return et_err(e, ET_SAMPLES, "no timer for a scheduler: %s", strerror(err));
	}
	return 0;
}

/* When this returns no handler reads anything any more. */
void sampler_disarm(void)
{
	for (unsigned i = 0; i < atomic_load(&sampler_nthreads); i++)
		delete_timer(sampler_threads[i]);
	for (unsigned i = 0; i < atomic_load(&sampler_nthreads); i++)
		while (atomic_load(&sampler_threads[i]->inside))
			sched_yield();
	if (reads_safely)
		safe_fini();
	reads_safely = false;
}

/* ---- each second ----------------------------------------------------------------------- */

static bool same_name(const char *a, const char *b)
{
	a += strcspn(a, "/[");
	b += strcspn(b, "/[");
	return strcmp(a, b) == 0;
}

/* The executable mappings that are like the one with this address. */
static void find_ranges(uintptr_t in, struct sampler_ranges *r)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512], like[512] = "", perms[5];
	uintptr_t from, to;

	r->n = 0;
	for (int pass = 0; f != NULL && pass < 2; pass++) {
		rewind(f);
		while (fgets(line, sizeof(line), f) != NULL) {
			char *rest = strchr(line, ' ');

			if (sscanf(line, "%lx-%lx %4s", &from, &to, perms) != 3 ||
				perms[2] != 'x' || rest == NULL)
				continue;
			if (pass == 0 && in >= from && in < to)
				memcpy(like, rest, strlen(rest) + 1);
			else if (pass == 1 && like[0] != '\0' && same_name(rest, like) &&
				 r->n < SAMPLER_RANGES)
				r->of[r->n++] = (struct sampler_range){from, to};
		}
	}
	if (f != NULL)
		fclose(f);
}

void sampler_find_ranges(uintptr_t in)
{
	struct sampler_ranges r;

	find_ranges(in, &r);
	if (r.n > 0)
		sampler_set_ranges(&r);
}

void sampler_look(void)
{
	for (unsigned i = 0; i < atomic_load(&sampler_nthreads); i++)
		if (atomic_load(&sampler_threads[i]->foreign))
			delete_timer(sampler_threads[i]);
}
