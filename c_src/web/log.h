/* SPDX-License-Identifier: Apache-2.0 */
/* The audit log, messages on stderr, and rate limits. */
#ifndef WEB_LOG_H
#define WEB_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct web;

/* How often something may be done: n at once, then one each ms. */
struct web_rate {
	int n, left, each_ms;
	int64_t at;
};

/* What strangers make us log: so many lines, and how many there would have been more. */
struct web_told {
	struct web_rate rate;
	unsigned long more;
};

bool web_allowed(struct web_rate *r); /* takes one */

int64_t web_ms(void); /* monotonic */
void web_say(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* on stderr */
void web_log(struct web *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A line if the rate permits; the others are counted, and the next line has their number. */
void web_tell(struct web *w, struct web_told *t, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void web_tell_more(struct web *w); /* at the end: what has been counted */
/* What libwebsockets complains of, requests mostly: so many lines, then one a minute. */
void web_library_says(const char *who, const char *line);
void web_to_utf8(char *text, size_t len); /* each byte that is no UTF-8 becomes '?' */

#endif
