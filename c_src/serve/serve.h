/* SPDX-License-Identifier: Apache-2.0 */
/*
 * erltrace serve: scripts that are always on, as metrics. One process, one poll loop, a thread for
 * each run of a script.
 *
 *   serve_main.c  options; start and end
 *   http.c        libwebsockets: GET /metrics
 *   folder.c      which scripts there are: new, changed and removed files
 *   members.c     which nodes there are; watch_nodes.c: a thread that looks
 *   job.c         a script on a node, started again when it ends
 *   job_run.c     what its run hands on; job_prints.c: what the script prints
 *   sources.c     what wakes the loop, but for HTTP
 *   saved.c       the totals as a file, over a restart of the server; state_file.c: that file
 *   alerts.c      what alert() says: begun, over, told to others
 *   otlp.c        the totals, posted to OpenTelemetry's collector
 *   own_metrics.c what the server exposes of its own, behind the totals
 *
 * The totals are ../metrics. Every script runs by a thread for each node, which hands on what it
 * gathers (cli/server_run.h). A script that does not compile, or a node that is away, ends its own
 * run only. The totals are kept here, so that counters go on where they were when a run starts again.
 *
 * The state of the server is under one lock: threads of scripts hold it while they change totals and
 * jobs, and the loop while it works. It does not hold it while it waits, or reads and writes HTTP.
 *
 * This header has the state of the server, which all its files share.
 */
#ifndef SERVE_H
#define SERVE_H

#include <libwebsockets.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "alerts.h"
#include "members.h"
#include "metrics/totals.h"
#include "otlp.h"
#include "state_file.h"

enum {
	SERVE_PORT = 9568,
	SERVE_MAX_NODES = 64,
	SERVE_MAX_PATHS = 256,
	SERVE_MAX_SERIES = 1000,      /* of a metric, unless --max-labels says otherwise */
	SERVE_MAX_CONNS = 48,	      /* of clients: one too many displaces one that waits */
	SERVE_MAX_FDS = 64,	      /* with posts, and others that are not clients' */
	SERVE_HEADER_S = 5,	      /* for a request to come */
	SERVE_LOOK_MS = 500,	      /* how often files are looked at, and runs started */
	SERVE_GRACE_MS = 3000,	      /* for END and the last tick, before a run is left */
	SERVE_FIRST_WAIT_MS = 500,    /* until a run is started again; doubles ... */
	SERVE_LONGEST_WAIT_MS = 5000, /* ... up to this, if the node is away */
	SERVE_LONGEST_OWN_MS = 60000, /* ... or this, if it is the script that ends */
	SERVE_SILENT_MS = 10000,      /* whose ticks do not come for so long is not up */
	SERVE_STEADY_MS = 60000,      /* who has run for so long runs well */
	SERVE_MISSED = 2,	      /* looks without a file until it is removed: editors rename */
	SERVE_POSTS_MS = 1500,	      /* for the last posts, when scripts have ended */
};

/* A file. */
struct script {
	struct script *next;
	char *path;
	char *name; /* of its metrics: the file's, without .d */
	int arg;    /* of the command line, through which it was found */
	struct timespec mtime;
	off_t size;
	ino_t inode;
	dev_t device;
	unsigned version; /* how often it has changed */
	bool runs;	  /* it has jobs; else another script has its name, or it is odd */
	bool left_out;	  /* which is told: that is another file, or this is odd */
	const char *odd;  /* it is not a file, but this; NULL: it is one */
	unsigned missed;  /* looks that did not see it */
};

/* A folder or a script of the command line. */
struct path {
	const char *path;
	bool folder, gone; /* gone: a folder that cannot be read, which has been told */
};

struct serve {
	const char *nodes[SERVE_MAX_NODES]; /* of -N; none: those of this machine */
	int nnodes;
	struct member *members;
	int nmembers;
	bool too_many;		/* which has been told */
	struct watcher watcher; /* of this machine */
	char said[1024];	/* by it, the last time */
	struct path paths[SERVE_MAX_PATHS];
	int npaths;
	const char *listen, *cookie_file;
	const char *snapshots; /* a folder, or NULL */
	struct state_file state;
	json_t *saved; /* what was in it */
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
	struct post_loop posts; /* the same, for post/post.c */
	lws_sorted_usec_list_t timer;
	int events;	    /* an epoll of what wakes the loop but for HTTP, watched by lws */
	struct conn *conns; /* of clients, the newest first: http.c */
	unsigned nconns;
	bool ending, ended;    /* a signal has come; and all is done */
	bool lost;	       /* a run was left: its last results are missing */
	bool closing;	       /* all scripts have ended: the last posts are waited for, ... */
	int64_t close_at;      /* ... until then */
	double scrape_seconds; /* what the last answer took */
	uint64_t scrapes, displaced;
};

void serve_say(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* on stderr */
int64_t serve_ms(void);							    /* monotonic */
extern pthread_mutex_t serve_mutex;
void serve_lock(void);
void serve_unlock(void);

void serve_check_end(struct serve *v); /* while it ends: is all done? */

int http_open(struct serve *v);
void http_serve(struct serve *v);
void http_close(struct serve *v);

void folder_look(struct serve *v); /* starts and ends jobs as files come, change and go */
void folder_new_member(struct serve *v, struct member *m); /* it gets a job for each script */
void folder_free(struct serve *v);

struct stat;
const char *serve_file_kind(const struct stat *st); /* "a fifo"; NULL: a regular file */

#endif
