/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of erltrace in nodes: it finds them, connects, has their agents compile and run scripts,
 * and hands what they send to a face: the command (cli/node_run.c), or the bridge of a script that
 * runs in the kernel (cli/bridge.c). It prints nothing.
 *
 *   client_find.c   which nodes are meant; connections to them
 *   client_start.c  a request as it is sent; agents are started
 *   client_talk.c   messages there and back; signs of life
 *   worker.h        threads of servers, each with a client of its own
 *
 * All of a client belongs to one thread.
 */
#ifndef CLIENT_H
#define CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "node/connection.h"
#include "erltrace.h"

/* ---- what is asked for ------------------------------------------------------------------- */

struct request_pair {
	const char *name, *value; /* value NULL: an option without one */
};

struct request_script {
	bool file;	  /* else a clause, without a body perhaps */
	const char *name; /* for messages */
	const char *text; /* D; of a list: descriptions, one a line */
};

struct request {
	const char *const *nodes; /* by their names, */
	int nnodes;
	const pid_t *pids; /* or by their processes; neither: those of this machine */
	int npids;
	bool cluster;		 /* and those that they are connected with */
	const char *cookie_file; /* or NULL */
	const struct request_pair *settings, *headers; /* options; names and texts of -I FILE.hrl */
	int nsettings, nheaders;
	const char *const *args; /* $1... */
	int nargs;
	const struct request_script *scripts;
	int nscripts;
	int64_t target; /* $target, as the node numbers it; 0: none */
	bool list;	/* probes are listed, nothing runs */
	bool kernel;	/* those of the kernel may be among them: a helper of the node traces it */
	bool json, data, terminal, zero_matches, verbose, code; /* data: alerts as such */
	int live_ms, silence_ms; /* 0: not; never */
};

/* ---- the client -------------------------------------------------------------------------- */

enum state {
	STARTED,
	COMPILED, /* it has reported what matched */
	RUNNING,
	STOPPING, /* it has been asked to stop */
	DONE,	  /* it has nothing more to say, or is gone */
};

struct cli_snapshot;
struct target {
	struct nd *nd;
	pid_t pid; /* its process as this machine numbers it; 0: not by its process */
	erlang_pid agent;
	enum state state;
	/* the face's */
	bool matched; /* something, or not known */
	bool failed;  /* it has reported why */
	bool zero;    /* nothing matches there */
	struct cli_snapshot *snapshot; /* that it is sending, or NULL */
	int64_t began_at, next_tick; /* ms: when it began; when its next tick is due */
	unsigned stream; /* of the reader */
	bool silent; /* it has ended the script because we stood still */
	bool killed; /* ... because erltrace's process there was killed */
	bool begun;  /* its stream has */
	bool hangs;  /* it has been told that nothing comes */
	int64_t quiet_ms; /* so long we have looked for messages of it, and none came */
};

struct client;
struct client_handler {
	const char *tag; /* of a message {Tag, What}, which is at x->buff + at */
	void (*call)(struct client *cl, struct target *t, const ei_x_buff *x, int at);
};

/* What it says beside errors: unless -q is given, always, only with -v, to somebody who waits. */
enum client_word { CLIENT_NOTICE, CLIENT_WARNING, CLIENT_DETAIL, CLIENT_WAITS };

struct client {
	const struct client_handler *handlers; /* the last one has no tag */
	void (*gone)(struct client *cl, struct target *t, struct et_error *e); /* a node is */
	void (*say)(struct client *cl, enum client_word word, const char *text); /* or NULL */
	struct target *v;
	int n;
	struct nd_cookie cookie;
	struct et_error error; /* the first that a call has met, */
	const char *doing;     /* and what it was at: "failed to reach a node" */
	uint32_t run; /* a number that only this run has; 0: none yet */
	bool ending;  /* a script has called exit(), or a node has failed */
	int wake;     /* can be read: client_receive() waits no longer; 0: none */
	bool keys;    /* nor while the standard input can be read */
	int64_t last_beat; /* ms: when the nodes had a sign of life from us */
	int beat_ms;
	int64_t last_read; /* ms: when we looked for messages */
	int64_t stood_ms; /* so long we gave none, the last time: suspended, or our reader was */
};

/* The first failure is kept, with what was being done. Returns -1. */
int client_fail(struct client *cl, const struct et_error *e, const char *doing);
void client_say(struct client *cl, enum client_word word, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* client_find.c */
/* That of a file; without one that of a process (0: none), or ours. */
int client_cookie(const char *file, pid_t pid, struct nd_cookie *cookie, struct et_error *e);
int client_find(struct client *cl, const struct request *r); /* connects to all of them; 0, or -1 */
int client_add(struct client *cl, struct nd *nd);	     /* takes the connection; 0, or -1 */
void client_leave(struct client *cl);			     /* disconnects, and frees the targets */
bool client_is_node(const char *cookie_file, pid_t pid); /* can it be reached? */

/* client_start.c */
/* What agents are to do: once for all nodes. */
void client_put_request(ei_x_buff *x, struct client *cl, const struct request *r);
int client_start(struct target *t, const ei_x_buff *spec, struct et_error *e); /* an agent */
/*
 * Agents in all nodes. One that cannot have one is left out if the user has not named it and there
 * are others. 0, or -1: then what has been started is to be stopped.
 */
int client_start_all(struct client *cl, const struct request *r);

/* client_talk.c */
int64_t client_ms(void); /* monotonic */
void client_tell(struct target *t, const char *word);
void client_tell_all(struct client *cl, enum state to, const char *word);
/* A sign of life, if it is time: without one the agents take us for stuck, and end the tracing. */
void client_beat(struct client *cl);
bool client_stood(const struct client *cl, char *buf, size_t size); /* we gave none: a line says it */
/* Waits for messages of any node, at most so long. false: a signal came. */
bool client_wait(struct client *cl, int ms);
void client_read(struct client *cl); /* handles all that have come */
void client_receive(struct client *cl, int ms); /* both */
bool client_all_done(const struct client *cl, const struct target *but);
int client_get_failure(const ei_x_buff *x, int at, long *script, erltrace_error_t *err);
typedef void client_item(
	struct client *cl, struct target *t, const char *kind, const char *text, long len);
void client_get_items(struct client *cl, struct target *t, const ei_x_buff *x, int at, client_item *cb);
struct client_unmatched;
/* Returns how many; the list and its texts are to be freed. */
size_t client_get_unmatched(const ei_x_buff *x, int at, struct client_unmatched **list);
bool client_get_rows(const ei_x_buff *x, int at, erltrace_probe_cb *cb, void *arg); /* any? */

#endif
