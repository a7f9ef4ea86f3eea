/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poster.h: a thread with a loop of libwebsockets of its own, in which post.c posts one body after
 * the other. The queue before it is short: whoever posts more than the other side takes loses the
 * rest, and is told so.
 *
 */
#include "poster.h"

#include <libwebsockets.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "post.h"

enum { QUEUE = 64, LOOK_MS = 100 };

struct poster {
	struct post_loop loop;
	struct post post;
	bool over; /* the thread ends */
	lws_sorted_usec_list_t timer;
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t empty;
	char *queue[QUEUE];
	unsigned first, n;
	bool busy; /* post has one */
	bool ending;
};

/* In the thread. */
static void look(lws_sorted_usec_list_t *timer)
{
	struct poster *p = lws_container_of(timer, struct poster, timer);
	char *body = NULL;

	post_look(&p->post);
	pthread_mutex_lock(&p->lock);
	p->busy = !post_free_now(&p->post);
	if (!p->busy && p->n > 0) {
		body = p->queue[p->first];
		p->first = (p->first + 1) % QUEUE;
		p->n--;
		p->busy = true;
	}
	p->over = p->ending;
	if (!p->busy)
		pthread_cond_signal(&p->empty);
	pthread_mutex_unlock(&p->lock);
	if (body != NULL)
		post_send(&p->post, body);
	lws_sul_schedule(p->loop.context, 0, timer, look, LOOK_MS * LWS_USEC_PER_SEC / 1000);
}

static void *run(void *arg)
{
	struct poster *p = arg;

	look(&p->timer);
	while (!p->over && lws_service(p->loop.context, 0) >= 0)
		;
	return NULL;
}

static void no_log(int level, const char *line)
{
	(void)level, (void)line; /* post.c says what fails */
}

static int start(struct poster *p)
{
	static const struct lws_protocols protocols[] = {
		{"post", post_callback, 0, 0, 0, NULL, 0}, {NULL, NULL, 0, 0, 0, NULL, 0}};
	struct lws_context_creation_info info = {
		.port = CONTEXT_PORT_NO_LISTEN,
		.protocols = protocols,
		.gid = (gid_t)-1,
		.uid = (uid_t)-1,
		.timeout_secs = 10,
		.options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS |
			   (p->post.tls ? LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT : 0),
	};
	sigset_t all, old;
	int rc = -1;

	lws_set_log_level(LLL_ERR, no_log);
	p->loop.context = lws_create_context(&info);
	if (p->loop.context != NULL)
		p->loop.vhost = lws_create_vhost(p->loop.context, &info);
	/* signals are the main thread's */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	if (p->loop.vhost != NULL)
		rc = pthread_create(&p->thread, NULL, run, p);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}

static void destroy(struct poster *p)
{
	if (p->loop.context != NULL)
		lws_context_destroy(p->loop.context);
	post_close(&p->post);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->empty);
	while (p->n > 0)
		free(p->queue[(p->first + --p->n) % QUEUE]);
	free(p);
}

struct poster *poster_open(const char *option, const char *url, const char *suffix,
	void (*say)(const char *fmt, ...) __attribute__((format(printf, 1, 2))))
{
	struct poster *p = calloc(1, sizeof(*p));

	if (p == NULL) {
		say("out of memory");
		return NULL;
	}
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->empty, NULL);
	p->loop.say = say;
	p->loop.ended = &p->over;
	if (post_open(&p->post, &p->loop, url, suffix) < 0)
		say("%s takes a URL, http://HOST:PORT or https://HOST, not '%s'", option, url);
	else if (start(p) != 0)
		say("%s: no thread can be started for it", option);
	else
		return p;
	destroy(p);
	return NULL;
}

bool poster_put(struct poster *p, char *body)
{
	bool room;

	pthread_mutex_lock(&p->lock);
	room = p->n < QUEUE;
	if (room)
		p->queue[(p->first + p->n++) % QUEUE] = body;
	pthread_mutex_unlock(&p->lock);
	if (!room)
		free(body);
	return room;
}

uint64_t poster_close(struct poster *p, int ms)
{
	struct timespec until;
	uint64_t left;
	int rc = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += ms / 1000;
	pthread_mutex_lock(&p->lock);
	while ((p->n > 0 || p->busy) && rc == 0)
		rc = pthread_cond_timedwait(&p->empty, &p->lock, &until);
	left = p->n + p->busy;
	p->ending = true;
	pthread_mutex_unlock(&p->lock);
	lws_cancel_service(p->loop.context);
	pthread_join(p->thread, NULL);
	left += p->post.refused;
	destroy(p);
	return left;
}
