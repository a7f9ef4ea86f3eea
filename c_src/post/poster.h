/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies posted to a URL by a thread (poster.c; without libwebsockets, no_poster.c). What could not
 * be delivered is tried again; a few bodies wait.
 */
#ifndef POST_POSTER_H
#define POST_POSTER_H

#include <stdbool.h>
#include <stdint.h>

struct poster;

/*
 * NULL: it is no URL, or cannot be done here, which has been said. say() is called by the thread.
 */
struct poster *poster_open(const char *option, const char *url, const char *suffix,
	void (*say)(const char *fmt, ...) __attribute__((format(printf, 1, 2))));
/* the body is the poster's; false: no room, it is freed */
bool poster_put(struct poster *p, char *body);
/* What is left is posted, for at most so long; how many bodies were not. */
uint64_t poster_close(struct poster *p, int ms);

#endif
