/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of a server (c_src/client/worker.c): lines come whole, each once and in their order, however
 * slowly they are taken; a thread whose queue is full waits, and goes on or ends when it may; what was
 * left ends, whatever it was doing, and is freed. make tsan runs this with ThreadSanitizer.
 */
#include "client/worker.c"

#include <sched.h>
#include <stdio.h>

#include "checks.h"

enum { MANY = 200000, LINE = 64 };

static atomic_int freed, ended;

static void on_free(void *arg)
{
	(void)arg;
	atomic_fetch_add(&freed, 1);
}

/* Waits until there is something to take: for ever, if nothing comes. */
static void await(struct worker *w)
{
	struct pollfd p = {.fd = worker_fd(w), .events = POLLIN};

	poll(&p, 1, -1);
}

static void await_count(atomic_int *n, int to)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	while (atomic_load(n) < to)
		nanosleep(&pause, NULL);
}

/* ---- lines ------------------------------------------------------------------------------- */

struct taken {
	int lines, wrong, said;
};

static void on_written(void *arg, char *line, size_t len)
{
	struct taken *t = arg;
	char want[LINE];
	int n = snprintf(want, sizeof(want), "line %d", t->lines++);

	t->wrong += len != (size_t)n || memcmp(line, want, len) != 0;
}

static void on_said(void *arg, char *line, size_t len)
{
	struct taken *t = arg;

	t->wrong += len != 5 || memcmp(line, "hello", 5) != 0;
	t->said++;
}

/* Lines in pieces of any size, some of them said. */
static int write_many(struct worker *w, void *arg)
{
	char text[LINE];

	(void)arg;
	for (int i = 0; i < MANY; i++) {
		int n = snprintf(text, sizeof(text), "line %d\n", i), half = i % n;

		worker_write(w, text, (size_t)half);
		worker_write(w, text + half, (size_t)(n - half));
		if (i % 1000 == 0)
			worker_say(w, "hello\n", 6);
		if (i % 50 == 0)
			worker_say_line(w, "hello");
		if (i % 100 == 0)
			worker_flush(w);
	}
	return 7;
}

static void lines(void)
{
	struct worker *w = worker_start(write_many, NULL, on_free);
	struct taken t = {0, 0, 0};

	while (!worker_ended(w)) {
		await(w);
		worker_take(w, on_written, on_said, &t);
	}
	CHECK(t.lines == MANY);
	CHECK(t.wrong == 0);
	CHECK(t.said <= MANY / 1000 + MANY / 50); /* what there was no room for is lost */
	CHECK(worker_status(w) == 7);
	CHECK(!worker_lost(w));
	worker_leave(w);
	await_count(&freed, 1);
}

static int write_long(struct worker *w, void *arg)
{
	char *text = malloc(MOST_LINE + 2);

	(void)arg;
	memset(text, 'x', MOST_LINE + 1);
	text[MOST_LINE + 1] = '\n';
	worker_write(w, text, MOST_LINE + 2);
	worker_flush(w);
	free(text);
	worker_write(w, "line 0\n", 7);
	return 0;
}

static void too_long(void)
{
	struct worker *w = worker_start(write_long, NULL, on_free);
	struct taken t = {0, 0, 0};

	while (!worker_ended(w)) {
		await(w);
		worker_take(w, on_written, on_said, &t);
	}
	CHECK(worker_lost(w));
	CHECK(!worker_lost(w));
	CHECK(t.lines == 1 && t.wrong == 0);
	worker_leave(w);
	await_count(&freed, 2);
}

/* ---- a full queue ------------------------------------------------------------------------ */

static atomic_long wrote;

static int flood(struct worker *w, void *arg)
{
	char text[LINE] = "";

	(void)arg;
	memset(text, 'x', LINE - 1);
	text[LINE - 1] = '\n';
	while (!worker_is_left(w) && !worker_interrupted(w)) {
		worker_write(w, text, LINE);
		atomic_fetch_add(&wrote, LINE);
	}
	atomic_fetch_add(&ended, 1);
	return 0;
}

static bool is_waiting(struct worker *w)
{
	bool full;

	pthread_mutex_lock(&w->lock);
	full = w->full;
	pthread_mutex_unlock(&w->lock);
	return full;
}

static void await_full(struct worker *w)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	while (!is_waiting(w))
		nanosleep(&pause, NULL);
}

static void count_line(void *arg, char *line, size_t len)
{
	(void)line;
	*(long *)arg += (long)len + 1;
}

static void full(void)
{
	struct worker *w = worker_start(flood, NULL, on_free);
	long took = 0;

	await_full(w);
	CHECK(atomic_load(&wrote) <= MOST_WAITING);
	worker_take(w, count_line, count_line, &took);
	await_full(w); /* it went on */
	worker_interrupt(w);
	while (!worker_ended(w)) {
		await(w);
		worker_take(w, count_line, count_line, &took);
	}
	CHECK(took == atomic_load(&wrote));
	worker_leave(w);
	await_count(&freed, 3);
	CHECK(atomic_load(&ended) == 1);
}

/* ---- leaving ----------------------------------------------------------------------------- */

static int sleep_long(struct worker *w, void *arg)
{
	const struct timespec hour = {.tv_sec = 3600};

	(void)arg;
	worker_write(w, "line 0\n", 7);
	worker_flush(w);
	nanosleep(&hour, NULL); /* as erltrace_sleep() */
	atomic_fetch_add(&ended, 1);
	return 0;
}

static int poll_cancel(struct worker *w, void *arg)
{
	struct pollfd p = {.fd = worker_cancel(w), .events = POLLIN};

	(void)arg;
	poll(&p, 1, -1);
	atomic_fetch_add(&ended, 1);
	return 0;
}

static int sleep_wake(struct worker *w, void *arg)
{
	(void)arg;
	while (!worker_is_left(w))
		worker_sleep(w, 3600000);
	atomic_fetch_add(&ended, 1);
	return 0;
}

static void leaving(void)
{
	struct worker *w = worker_start(flood, NULL, on_free);
	struct taken t = {0, 0, 0};

	await_full(w);
	worker_leave(w);
	await_count(&freed, 4);
	w = worker_start(sleep_long, NULL, on_free);
	while (t.lines == 0) {
		await(w);
		worker_take(w, on_written, on_said, &t);
	}
	while (atomic_load(&ended) < 3) { /* it may be before its sleep */
		worker_interrupt(w);
		sched_yield();
	}
	worker_leave(w);
	await_count(&freed, 5);
	for (int i = 0; i < 200; i++)
		worker_leave(worker_start(i % 2 ? poll_cancel : sleep_wake, NULL, on_free));
	await_count(&freed, 205);
	CHECK(atomic_load(&ended) == 203);
	worker_await_left();
	CHECK(atomic_load(&nleft) == 0);
}

static int ask(struct worker *w, void *arg)
{
	while (!worker_snapshot_asked(w))
		worker_sleep(w, 3600000);
	*(int *)arg = worker_interrupted(w) ? 2 : 1;
	return 0;
}

static void snapshot(void)
{
	int seen = 0;
	struct worker *w = worker_start(ask, &seen, NULL);
	struct taken t = {0, 0, 0};

	worker_snapshot(w);
	while (!worker_ended(w)) {
		await(w);
		worker_take(w, on_written, on_said, &t);
	}
	CHECK(seen == 1);
	worker_leave(w);
}

int main(void)
{
	lines();
	too_long();
	full();
	leaving();
	snapshot();
	return finish();
}
