/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of a server: each does what may take long, such as running a script in a node that
 * answers slowly, while the server's own loop never waits. What a thread writes and says waits in
 * queues of the worker, of which the loop takes whole lines. While they are full the thread waits.
 *
 * The loop's thread starts, takes, asks and frees; the worker's own thread writes and says.
 */
#ifndef CLIENT_WORKER_H
#define CLIENT_WORKER_H

#include <stdbool.h>
#include <stddef.h>

struct worker;

/* What the thread does; returns the status of the worker. */
typedef int worker_main(struct worker *w, void *arg);
/* A line, without the newline behind it. It may be changed in its place, and so may that newline. */
typedef void worker_line(void *arg, char *line, size_t len);

/* ---- for the loop ------------------------------------------------------------------------- */

/* free_arg, if any, is called when the thread has ended. NULL: no memory, or no thread. */
struct worker *worker_start(worker_main *main, void *arg, void (*free_arg)(void *arg));
int worker_fd(const struct worker *w); /* it can be read when there is something to take */
void worker_notified(struct worker *w); /* it has been read, where there are no lines to take */
/* Hands on the lines that wait, those that were said first. */
void worker_take(struct worker *w, worker_line *written, worker_line *said, void *arg);
bool worker_ended(const struct worker *w); /* the thread has, and all was taken */
bool worker_lost(struct worker *w);	  /* a line was too long; since the last call */
int worker_status(const struct worker *w);
void worker_interrupt(struct worker *w); /* as by ^C */
void worker_snapshot(struct worker *w);	 /* as by SIGUSR1 */
/*
 * Nothing of it is wanted any more: its connections end at once, and it is freed when its thread
 * has ended. It must not be used after this.
 */
void worker_leave(struct worker *w);
/* At the end of the program: those that were left have some time to end. */
void worker_await_left(void);

/* ---- for its thread ----------------------------------------------------------------------- */

void worker_write(struct worker *w, const char *text, size_t len);
void worker_write_line(struct worker *w, const char *text);
void worker_flush(struct worker *w); /* the loop is woken to take what was written */
void worker_say(struct worker *w, const char *text, size_t len); /* lines, at once */
void worker_say_line(struct worker *w, const char *text); /* without its newline */
void worker_notify(struct worker *w); /* the loop is woken */
bool worker_interrupted(const struct worker *w);
bool worker_is_left(const struct worker *w);
bool worker_snapshot_asked(struct worker *w); /* since the last call */
int worker_wake(struct worker *w); /* it can be read when one of these has changed; the caller reads */
int worker_cancel(const struct worker *w); /* it can be read from the time on when it was left */
void worker_sleep(struct worker *w, int ms); /* or until it is woken */

#endif
