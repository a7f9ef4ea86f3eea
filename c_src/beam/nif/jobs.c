/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NIFs that take long run on threads of the library. Dirty schedulers would be the VM's way, but in
 * a node in trouble all of them may be taken, for ever: somebody's NIF computes, or waits for a
 * lock. Then a command could neither attach nor detach.
 *
 * erltrace_nif:job/3 copies the arguments into an environment of the job and returns; a thread
 * calls the function of nifs.def and sends its result to the caller, which waits for it
 * (erltrace_nif.erl). A caller that is killed leaves its job to be done: the copied arguments hold
 * the handle.
 *
 * Threads start when there is a job and none is free. One that has had nothing to do for a while
 * ends. If not even one can be started, the job runs on a dirty scheduler.
 */
#include "jobs.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "beam/nif.h"
#include "beam/vm/vm_threads.h"

enum { MOST_THREADS = 16, MOST_ARGS = 4, IDLE_S = 5, STACK = 1 << 20 };

typedef ERL_NIF_TERM function(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

static const struct kind {
	const char *name;
	int arity;
	function *call;
} kinds[] = {
#define NIF_REGULAR(name, arity)
#define NIF_DIRTY(name, arity)
#define NIF_JOB(name, arity)   {#name, arity, nif_##name},
#define NIF(name, arity, kind) NIF_##kind(name, arity)
#include "beam/nifs.def"
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

struct job {
	struct job *next;
	const struct kind *kind;
	ErlNifEnv *env;
	ErlNifPid to;
	ERL_NIF_TERM ref, args[MOST_ARGS]; /* in env */
	void (*fn)(void *arg);		   /* this instead, for nobody; or NULL */
	void *arg;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all of these */
static pthread_cond_t wake;
static bool ready, unloaded;
static struct job *first, **last = &first;
static unsigned nthreads, nidle, nqueued;
static struct beam_thread *spares[MOST_THREADS]; /* of threads that have ended */
static unsigned nspares;
static ERL_NIF_TERM names[KINDS];

bool jobs_init(void)
{
	pthread_condattr_t attr;
	ErlNifEnv *env;

	pthread_mutex_lock(&lock);
	unloaded = false;
	if (!ready && pthread_condattr_init(&attr) == 0) {
		ready = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0 &&
			pthread_cond_init(&wake, &attr) == 0;
		pthread_condattr_destroy(&attr);
	}
	env = enif_alloc_env();
	for (int i = 0; env != NULL && i < KINDS; i++)
		names[i] = enif_make_atom(env, kinds[i].name);
	if (env != NULL)
		enif_free_env(env);
	pthread_mutex_unlock(&lock);
	return ready && env != NULL;
}

void jobs_unload(void)
{
	pthread_mutex_lock(&lock);
	unloaded = true;
	pthread_cond_broadcast(&wake);
	pthread_mutex_unlock(&lock);
}

/* ---- threads --------------------------------------------------------------------------- */

/* {Ref, Result}, or Ref for badarg. Its environment goes with the message. */
static void run(struct job *j)
{
	ERL_NIF_TERM result;

	if (j->fn != NULL) {
		j->fn(j->arg);
		enif_free(j);
		return;
	}
	result = j->kind->call(j->env, j->kind->arity, j->args);
	if (result != 0)
		result = enif_make_tuple2(j->env, j->ref, result);
	enif_send(NULL, &j->to, j->env, result != 0 ? result : j->ref);
	enif_free_env(j->env);
	enif_free(j);
}

/* The next job; NULL: there was none for a while. Locked. */
static struct job *next_job(void)
{
	struct timespec until;
	struct job *j;
	int rc = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += IDLE_S;
	nidle++;
	while (first == NULL && rc == 0 && !unloaded)
		rc = pthread_cond_timedwait(&wake, &lock, &until);
	nidle--;
	j = first;
	if (j != NULL) {
		first = j->next;
		last = first == NULL ? &first : last;
		nqueued--;
	}
	return j;
}

static void *work(void *arg)
{
	struct job *j;

	(void)arg;
	prctl(PR_SET_NAME, "erltrace_job");
	pthread_mutex_lock(&lock);
	beam_self = nspares > 0 ? spares[--nspares] : NULL;
	while ((j = next_job()) != NULL) {
		pthread_mutex_unlock(&lock);
		run(j);
		pthread_mutex_lock(&lock);
	}
	if (beam_self != NULL)
		spares[nspares++] = beam_self;
	nthreads--;
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* All signals are for the VM's own threads, except faults. */
static bool start_thread(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, old;
	bool started;

	if (pthread_attr_init(&attr) != 0)
		return false;
	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	started = pthread_create(&thread, &attr, work, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return started;
}

/* Is there a thread for one more job, if not at once? Locked. */
static bool has_thread(void)
{
	if (nidle <= nqueued && nthreads < MOST_THREADS && start_thread())
		nthreads++;
	return nthreads > 0;
}

static bool hand_over(struct job *j)
{
	bool taken;

	pthread_mutex_lock(&lock);
	taken = has_thread();
	if (taken) {
		j->next = NULL;
		*last = j;
		last = &j->next;
		nqueued++;
		pthread_cond_signal(&wake);
	}
	pthread_mutex_unlock(&lock);
	return taken;
}

bool jobs_run(void (*fn)(void *arg), void *arg)
{
	struct job *j = enif_alloc(sizeof(*j));

	if (j == NULL)
		return false;
	*j = (struct job){.fn = fn, .arg = arg};
	if (hand_over(j))
		return true;
	enif_free(j);
	return false;
}

/* ---- the NIF --------------------------------------------------------------------------- */

static const struct kind *kind_of(ErlNifEnv *env, ERL_NIF_TERM name, ERL_NIF_TERM list)
{
	unsigned n;

	for (int i = 0; i < KINDS; i++)
		if (names[i] == name)
			return enif_get_list_length(env, list, &n) && n == (unsigned)kinds[i].arity
				       ? &kinds[i]
				       : NULL;
	return NULL;
}

static void list_to_args(ErlNifEnv *env, ERL_NIF_TERM list, ERL_NIF_TERM args[MOST_ARGS])
{
	for (int i = 0; i < MOST_ARGS && enif_get_list_cell(env, list, &args[i], &list); i++)
		continue;
}

/* On a dirty scheduler: {Ref, Result}. */
static ERL_NIF_TERM run_dirty(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	const struct kind *kind = kind_of(env, argv[1], argv[2]);
	ERL_NIF_TERM args[MOST_ARGS], result;

	(void)argc;
	list_to_args(env, argv[2], args);
	result = kind->call(env, kind->arity, args);
	return enif_has_pending_exception(env, NULL) ? result
						     : enif_make_tuple2(env, argv[0], result);
}

static struct job *new_job(const struct kind *kind)
{
	struct job *j = enif_alloc(sizeof(*j));

	if (j == NULL)
		return NULL;
	*j = (struct job){.kind = kind, .env = enif_alloc_env()};
	if (j->env != NULL)
		return j;
	enif_free(j);
	return NULL;
}

/*
 * job(Ref, Name, Args) -> Ref: the result comes as a message, {Ref, Result}, or Ref for badarg;
 * {Ref, Result}: there is no thread, and it was done at once.
 */
ERL_NIF_TERM nif_job(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	const struct kind *kind = kind_of(env, argv[1], argv[2]);
	ERL_NIF_TERM args[MOST_ARGS];
	struct job *j;

	if (kind == NULL || !enif_is_ref(env, argv[0]))
		return enif_make_badarg(env);
	j = new_job(kind);
	if (j != NULL) {
		list_to_args(env, argv[2], args);
		enif_self(env, &j->to);
		j->ref = enif_make_copy(j->env, argv[0]);
		for (int i = 0; i < kind->arity; i++)
			j->args[i] = enif_make_copy(j->env, args[i]);
		if (hand_over(j))
			return argv[0];
		enif_free_env(j->env);
		enif_free(j);
	}
	return enif_schedule_nif(env, "job", ERL_NIF_DIRTY_JOB_CPU_BOUND, run_dirty, argc, argv);
}
