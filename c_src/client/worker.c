/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker belongs to two: the loop, until it frees or leaves it, and the thread, until it ends.
 * The one who goes last frees it. Queues and flags are under the lock.
 *
 * A thread that sleeps in the library is woken by a signal whose handler does nothing: SIGURG,
 * which is ignored unless somebody wants it.
 */
#include "worker.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "array.h"

enum {
	MOST_WAITING = 1 << 20, /* bytes that are written, before the thread waits */
	MOST_SAID = 64 << 10,	/* ... and said; what comes then is lost */
	MOST_LINE = 4 << 20,	/* of one line */
	LEFT_MS = 2000,		/* for those that were left, at the end */
};

struct queue {
	char *text;
	size_t n, room;
};

struct worker {
	worker_main *main;
	void *arg;
	void (*free_arg)(void *arg);
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t taken;
	struct queue written, said; /* under the lock */
	struct queue out;	    /* the loop's: what was written, and no whole line yet */
	bool full;		    /* the thread waits for room: under the lock */
	bool left, done;	    /* the loop has left it; the thread has ended: under the lock */
	atomic_bool lost, interrupted, cancelled, snapshot;
	int status;
	int ready, wake, cancel; /* eventfds: for the loop; for the thread */
};

static atomic_int nleft; /* workers that were left and still run */

/* ---- life -------------------------------------------------------------------------------- */

static void ignore(int sig)
{
	(void)sig;
}

static void free_worker(struct worker *w)
{
	free(w->written.text);
	free(w->said.text);
	free(w->out.text);
	close(w->ready), close(w->wake), close(w->cancel);
	pthread_cond_destroy(&w->taken);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

void worker_notify(struct worker *w)
{
	eventfd_write(w->ready, 1);
}

static void *run(void *arg)
{
	struct worker *w = arg;
	sigset_t urgent;
	bool left;
	int status;

	sigemptyset(&urgent);
	sigaddset(&urgent, SIGURG);
	pthread_sigmask(SIG_UNBLOCK, &urgent, NULL);
	status = w->main(w, w->arg);
	if (w->free_arg != NULL)
		w->free_arg(w->arg);
	pthread_mutex_lock(&w->lock);
	w->status = status;
	w->done = true;
	left = w->left;
	worker_notify(w); /* under the lock: behind it the loop may free all this */
	pthread_mutex_unlock(&w->lock);
	if (left) {
		free_worker(w);
		atomic_fetch_sub(&nleft, 1);
	}
	return NULL;
}

static int start_thread(struct worker *w)
{
	sigset_t all, old;
	pthread_attr_t attr;
	int error;

	sigfillset(&all); /* signals are for the loop */
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	error = pthread_create(&w->thread, &attr, run, w);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return error == 0 ? 0 : -1;
}

struct worker *worker_start(worker_main *main, void *arg, void (*free_arg)(void *arg))
{
	const struct sigaction sa = {.sa_handler = ignore};
	struct worker *w = calloc(1, sizeof(*w));

	if (w == NULL)
		return NULL;
	*w = (struct worker){.main = main, .arg = arg, .free_arg = free_arg};
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->taken, NULL);
	w->ready = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->cancel = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	sigaction(SIGURG, &sa, NULL);
	if (w->ready < 0 || w->wake < 0 || w->cancel < 0 || start_thread(w) < 0) {
		free_worker(w);
		return NULL;
	}
	return w;
}

/* The thread, if it sleeps. It may have ended: then its number is nobody's. */
static void wake_thread(struct worker *w)
{
	eventfd_write(w->wake, 1);
	pthread_mutex_lock(&w->lock);
	if (!w->done)
		pthread_kill(w->thread, SIGURG);
	pthread_mutex_unlock(&w->lock);
}

void worker_interrupt(struct worker *w)
{
	atomic_store(&w->interrupted, true);
	wake_thread(w);
}

void worker_snapshot(struct worker *w)
{
	atomic_store(&w->snapshot, true);
	wake_thread(w);
}

void worker_leave(struct worker *w)
{
	bool done;

	atomic_store(&w->cancelled, true);
	atomic_store(&w->interrupted, true);
	eventfd_write(w->cancel, 1);
	eventfd_write(w->wake, 1);
	atomic_fetch_add(&nleft, 1);
	pthread_mutex_lock(&w->lock);
	done = w->done;
	w->left = true;
	pthread_cond_signal(&w->taken);
	if (!done)
		pthread_kill(w->thread, SIGURG);
	pthread_mutex_unlock(&w->lock);
	if (done) {
		free_worker(w);
		atomic_fetch_sub(&nleft, 1);
	}
}

void worker_await_left(void)
{
	const struct timespec pause = {.tv_nsec = 5000000};

	for (int ms = 0; ms < LEFT_MS && atomic_load(&nleft) > 0; ms += 5)
		nanosleep(&pause, NULL);
}

/* ---- taking ------------------------------------------------------------------------------ */

int worker_fd(const struct worker *w)
{
	return w->ready;
}

/* Whole lines; what is behind the last newline stays. */
static void cut(struct queue *q, worker_line *each, void *arg)
{
	char *p = q->text, *end, *nl;

	if (q->n == 0)
		return;
	end = p + q->n;
	while ((nl = memchr(p, '\n', (size_t)(end - p))) != NULL) {
		*nl = '\0';
		each(arg, p, (size_t)(nl - p));
		p = nl + 1;
	}
	q->n = (size_t)(end - p);
	memmove(q->text, p, q->n);
}

static bool append(struct queue *q, const char *text, size_t len)
{
	if (!ARRAY_RESERVE(q->text, q->room, q->n + len))
		return false;
	if (len > 0)
		memcpy(q->text + q->n, text, len);
	q->n += len;
	return true;
}

/* What was written, behind what of it is not a whole line yet. */
static void take_written(struct worker *w)
{
	if (w->out.n + w->written.n > MOST_LINE) {
		w->out.n = 0;
		atomic_store(&w->lost, true);
	} else if (w->out.n == 0) {
		struct queue old = w->out;

		w->out = w->written;
		w->written = old;
	} else if (!append(&w->out, w->written.text, w->written.n)) {
		atomic_store(&w->lost, true);
	}
	w->written.n = 0;
}

void worker_notified(struct worker *w)
{
	eventfd_t n;

	eventfd_read(w->ready, &n);
}

void worker_take(struct worker *w, worker_line *written, worker_line *said, void *arg)
{
	struct queue lines;

	worker_notified(w);
	pthread_mutex_lock(&w->lock);
	take_written(w);
	lines = w->said;
	w->said = (struct queue){NULL, 0, 0};
	w->full = false;
	pthread_cond_signal(&w->taken);
	pthread_mutex_unlock(&w->lock);
	cut(&lines, said, arg);
	free(lines.text);
	cut(&w->out, written, arg);
}

bool worker_ended(const struct worker *w)
{
	struct worker *v = (struct worker *)w; /* only its lock changes */
	bool ended;

	pthread_mutex_lock(&v->lock);
	ended = w->done && w->written.n == 0 && w->said.n == 0;
	pthread_mutex_unlock(&v->lock);
	return ended;
}

bool worker_lost(struct worker *w)
{
	return atomic_exchange(&w->lost, false);
}

int worker_status(const struct worker *w)
{
	return w->status;
}

/* ---- the thread -------------------------------------------------------------------------- */

void worker_write(struct worker *w, const char *text, size_t len)
{
	pthread_mutex_lock(&w->lock);
	if (w->written.n + len > MOST_WAITING && w->written.n > 0 && !w->left) {
		w->full = true;
		worker_notify(w);
		while (w->full && !w->left)
			pthread_cond_wait(&w->taken, &w->lock);
	}
	if (!w->left && !append(&w->written, text, len))
		atomic_store(&w->lost, true);
	pthread_mutex_unlock(&w->lock);
}

void worker_write_line(struct worker *w, const char *text)
{
	worker_write(w, text, strlen(text));
	worker_write(w, "\n", 1);
	worker_flush(w);
}

void worker_flush(struct worker *w)
{
	bool some;

	pthread_mutex_lock(&w->lock);
	some = w->written.n > 0;
	pthread_mutex_unlock(&w->lock);
	if (some)
		worker_notify(w);
}

void worker_say(struct worker *w, const char *text, size_t len)
{
	pthread_mutex_lock(&w->lock);
	if (!w->left && w->said.n + len < MOST_SAID)
		append(&w->said, text, len);
	pthread_mutex_unlock(&w->lock);
	worker_notify(w);
}

/* In one piece: the loop takes what there is, and a half of a line would be lost. */
void worker_say_line(struct worker *w, const char *text)
{
	size_t len = strlen(text);

	pthread_mutex_lock(&w->lock);
	if (!w->left && w->said.n + len + 1 < MOST_SAID && append(&w->said, text, len))
		append(&w->said, "\n", 1);
	pthread_mutex_unlock(&w->lock);
	worker_notify(w);
}

bool worker_interrupted(const struct worker *w)
{
	return atomic_load(&w->interrupted);
}

bool worker_is_left(const struct worker *w)
{
	return atomic_load(&w->cancelled);
}

bool worker_snapshot_asked(struct worker *w)
{
	return atomic_exchange(&w->snapshot, false);
}

int worker_wake(struct worker *w)
{
	return w->wake;
}

int worker_cancel(const struct worker *w)
{
	return w->cancel;
}

void worker_sleep(struct worker *w, int ms)
{
	struct pollfd p = {.fd = w->wake, .events = POLLIN};
	eventfd_t n;

	if (poll(&p, 1, ms) > 0)
		eventfd_read(w->wake, &n);
}
