/* SPDX-License-Identifier: Apache-2.0 */
/* What the server reads from: pipes of children, their ends, signals. */
#ifndef SERVE_SOURCES_H
#define SERVE_SOURCES_H

#include <stdbool.h>
#include <stddef.h>

struct serve;

struct source {
	void (*call)(struct source *src); /* it can be read */
	struct serve *v;
	void *of; /* whose it is */
	int fd;	  /* -1: none */
};

int source_watch(struct source *src, int fd); /* 0, or -1 */
void source_shut(struct source *src);
void sources_events(struct serve *v); /* call those that can be read */

/* What was read of a pipe and is no whole line yet. */
struct lines {
	char *text;
	size_t n, room;
};

enum lines_state { LINES_MORE, LINES_END, LINES_LOST };

/* Read what there is: each() gets whole lines, without what ends them. LINES_LOST: one was too
 * long. */
enum lines_state lines_read(
	struct lines *l, int fd, void (*each)(void *arg, const char *line, size_t len), void *arg);

#endif
