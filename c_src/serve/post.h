/* SPDX-License-Identifier: Apache-2.0 */
/* POST to a URL, one body at a time: a body that could not be delivered is tried again. */
#ifndef SERVE_POST_H
#define SERVE_POST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct serve;
struct lws;

struct post {
	struct serve *v;
	char *host, *path; /* of the URL */
	char *url;
	int port;
	bool tls;
	char *body; /* being sent; NULL: none */
	size_t len;
	struct lws *wsi;
	unsigned status;   /* of the answer; 0: there is none yet */
	bool failing;	   /* which has been told */
	int64_t due;	   /* not before, after a failure */
	int wait_ms;
	uint64_t sent, failed;
};

/* -1: not a URL. */
int post_open(struct post *p, struct serve *v, const char *url, const char *suffix);
/* Can a body be given? */
bool post_free_now(const struct post *p);
/* Send it; the body is the post's from here on. */
void post_send(struct post *p, char *body);
void post_look(struct post *p); /* try again what is due */
void post_close(struct post *p);

#endif
