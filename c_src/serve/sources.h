/* SPDX-License-Identifier: Apache-2.0 */
/* What wakes the server: its workers, signals. */
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
void source_unwatch(struct source *src); /* its descriptor stays open */
void sources_events(struct serve *v); /* call those that can be read */

#endif
