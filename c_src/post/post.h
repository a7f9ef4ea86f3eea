/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POST to a URL, one body at a time: a body that could not be delivered is tried again.
 *
 *   post.c       in a loop of libwebsockets that somebody else runs: the server of metrics
 *   poster.c     in a thread of its own: the command
 *   no_poster.c  instead of both, where libwebsockets is missing
 */
#ifndef POST_POST_H
#define POST_POST_H

#include <libwebsockets.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The loop of libwebsockets that posts, of the server or of a thread. */
struct post_loop {
	struct lws_context *context;
	struct lws_vhost *vhost;
	const bool *ended; /* answers are not waited for any more */
	void (*say)(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
};

struct post {
	const struct post_loop *loop;
	char *host, *path; /* of the URL */
	char *url;
	int port;
	bool tls;
	char *body; /* being sent; NULL: none */
	size_t len;
	struct lws *wsi;
	unsigned status;   /* of the answer; 0: there is none yet */
	size_t answered;   /* bytes of it behind its head */
	int64_t until;	   /* when this try is given up */
	bool failing;	   /* it has been said */
	int64_t due;	   /* not before, after a failure */
	int wait_ms;
	uint64_t sent, failed, refused;
};

/* -1: not a URL. */
int post_open(struct post *p, const struct post_loop *loop, const char *url, const char *suffix);
/* Can a body be given? */
bool post_free_now(const struct post *p);
/* Send it; the body is the post's from here on. */
void post_send(struct post *p, char *body);
/* Is it time to send a body again that could not be delivered? Then post_send() may replace it. */
bool post_is_due(const struct post *p);
void post_look(struct post *p); /* try again what is due */
void post_close(struct post *p);
/* Of the protocol "post" of the loop. */
int post_callback(
	struct lws *wsi, enum lws_callback_reasons why, void *user, void *in, size_t len);

#endif
