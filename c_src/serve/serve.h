/* SPDX-License-Identifier: Apache-2.0 */
/*
 * erltrace serve: scripts that are always on, as metrics. One process, one poll loop, no threads.
 *
 *   serve_main.c  options; start and end
 *   http.c        libwebsockets: GET /metrics
 *   folder.c      which scripts there are: new, changed and removed files
 *   job.c         a script on a node: a child process, started again when it ends
 *   totals.c      what ticks bring, added up
 *   naming.c      what metrics are called
 *   labels.c      nodes and keys as labels
 *   saved.c       the totals as a file, over a restart of the server
 *   alerts.c      what alert() says: begun, over, told to others
 *   post.c        POST to others; poster.c: the same by a thread, for the command
 *   otlp.c        the totals, posted to OpenTelemetry's collector
 *   exposition.c  the totals as Prometheus' text and as OpenMetrics
 *
 * Every script runs in a child for each -N, which is this same command (--json --live). A script
 * that does not compile, or a node that is away, ends its own child only. The totals are kept here,
 * so that counters go on where they were when a child starts again.
 *
 * This header has the state of the server, which all its files share.
 */
#ifndef SERVE_H
#define SERVE_H

#include <libwebsockets.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "alerts.h"
#include "otlp.h"
#include "totals.h"

enum {
	SERVE_PORT = 9568,
	SERVE_MAX_NODES = 64,
	SERVE_MAX_PATHS = 256,
	SERVE_MAX_SERIES = 1000,      /* of a metric, unless --max-labels says otherwise */
	SERVE_MAX_FDS = 64,	      /* connections */
	SERVE_MAX_LINE = 4 << 20,     /* of a child */
	SERVE_LOOK_MS = 500,	      /* how often files are looked at, and children started */
	SERVE_GRACE_MS = 3000,	      /* for END and the last tick, before a child is killed */
	SERVE_FIRST_WAIT_MS = 500,    /* until a child is started again; doubles ... */
	SERVE_LONGEST_WAIT_MS = 5000, /* ... up to this */
};

/* A file. */
struct script {
	struct script *next;
	char *path;
	char *name; /* of its metrics: the file's, without .d */
	struct timespec mtime;
	off_t size;
	ino_t inode;
	bool seen; /* by the look that goes on */
};

struct serve {
	const char *nodes[SERVE_MAX_NODES];
	int nnodes;
	const char *paths[SERVE_MAX_PATHS]; /* folders and scripts */
	int npaths;
	const char *listen, *cookie_file;
	const char *snapshots;	/* a folder, or NULL */
	const char *state_file; /* or NULL */
	json_t *saved;		/* what was in it */
	int64_t state_due;
	bool state_failed;
	int port;
	bool cluster;
	struct totals totals;
	struct alerts alerts;
	struct otlp otlp;
	struct script *scripts;
	bool looked; /* for them, once */
	struct job *jobs;
	struct lws_context *context;
	struct lws_vhost *vhost;
	struct post_loop posts; /* the same, for post.c */
	lws_sorted_usec_list_t timer;
	int children; /* an epoll of the children's pipes, watched by lws */
	bool ending, ended; /* a signal has come; and all scripts have ended */
	double scrape_seconds; /* what the last answer took */
	uint64_t scrapes;
};

void serve_say(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* on stderr */
int64_t serve_ms(void);							    /* monotonic */

int http_open(struct serve *v);
void http_serve(struct serve *v);
void http_close(struct serve *v);

void folder_look(struct serve *v); /* starts and ends jobs as files come, change and go */
void folder_free(struct serve *v);

#endif
