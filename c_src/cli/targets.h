/* SPDX-License-Identifier: Apache-2.0 */
/* What node_*.c and bridge.c share: the nodes that run scripts. */
#ifndef CLI_TARGETS_H
#define CLI_TARGETS_H

#include "cli.h"

#include "node/connection.h"

enum state {
	STARTED,
	COMPILED, /* it has reported what matched */
	RUNNING,
	STOPPING, /* it has been asked to stop */
	DONE,	  /* it has nothing more to say, or is gone */
};

struct target {
	struct nd *nd;
	pid_t pid; /* bridge.c: its process as this machine numbers it */
	erlang_pid agent;
	enum state state;
	bool matched; /* something, or not known */
	bool failed;  /* it has reported why */
	bool zero;    /* nothing matches there */
	struct cli_snapshot *snapshot; /* that it is sending, or NULL */
	int64_t began_at, came_at; /* ms: when it began; when something of its stream came, or 0 */
	int64_t heard_at, ticked_at; /* ms: its last sign of life; that of the last tick */
	unsigned stream; /* of the reader */
	bool silent; /* it has ended the script because we stood still */
};

struct nodes;
struct node_handler {
	const char *tag; /* of a message {Tag, What}, which is at x->buff + at */
	void (*call)(struct nodes *ns, struct target *t, const ei_x_buff *x, int at);
};

struct nodes {
	struct cli *c;
	const struct node_handler *handlers; /* the last one has no tag */
	void (*gone)(struct nodes *ns, struct target *t, struct et_error *e); /* a node is */
	erltrace_t *reader; /* of their streams; NULL: none run */
	erltrace_handlers_t reads;
	int64_t next_tick, next_stacks; /* ms */
	bool read; /* all of the streams has been */
	bool keys; /* the standard input is a terminal whose keys are for the scripts */
	struct {   /* of that terminal, as the nodes know it; 0: they do not */
		unsigned short rows, columns;
	} size;
	int wake; /* can be read: node_receive() waits no longer; 0: none */
	struct et_error *failure; /* where failures are stored; NULL: they are printed */
	struct target *v;
	int n;
	struct nd_cookie cookie;
	long *matched;	       /* by script, over all nodes; -1: not known */
	erltrace_error_t zero; /* a node where nothing matched */
	int zero_script;
	uint32_t run; /* a number that only this run has; 0: none yet */
	bool listed;	       /* a probe, of any node */
	bool ending;	       /* a script has called exit(), or a node has failed */
	int64_t last_beat;     /* ms: when the nodes had a sign of life from us */
	int beat_ms;
	int64_t stood_ms; /* so long we gave none, the last time: suspended, or our reader was */
	int exit_code; /* of exit(); -1: none */
	int status;
};

/* What failed, and why: printed, or stored in ns->failure. Returns CLI_ERROR. */
int node_fail(struct nodes *ns, const struct et_error *e, const char *what);
/* The node of -c has ended before its script was started. */
int node_too_short(struct et_error *e);

/* node_start.c */
int node_put_spec(ei_x_buff *x, struct nodes *ns); /* what agents are to do: ns->c says it */
int node_start(struct target *t, const ei_x_buff *spec, struct et_error *e); /* an agent */
int node_start_all(struct nodes *ns);
/* Those where nothing matches run the script as well, as with -Z, so that requests go on there. */
int node_start_rest(struct nodes *ns);

/* node_find.c */
/* That of the command line; without one that of a process (0: none), or ours. */
int node_cookie(const struct cli *c, pid_t pid, struct nd_cookie *cookie, struct et_error *e);
int node_find(struct nodes *ns); /* connects to all of them */
bool node_command_ends(struct cli *c);
void node_leave(struct nodes *ns); /* disconnects, and frees them */

/* node_talk.c */
int64_t node_ms(void); /* monotonic */
void node_tell(struct target *t, const char *word);
void node_tell_all(struct nodes *ns, enum state to, const char *word);
/* A sign of life, if it is time: without one the agents take us for stuck, and end the tracing. */
void node_beat(struct nodes *ns);
bool node_stood(const struct nodes *ns, char *buf, size_t size); /* we gave none: a line says it */
/* Waits for messages of any node, at most so long, or for a signal; then all are handled. */
void node_receive(struct nodes *ns, int ms);
bool node_all_done(const struct nodes *ns, const struct target *but);
int node_get_failure(const ei_x_buff *x, int at, long *script, erltrace_error_t *err);
typedef void node_item(
	struct nodes *ns, struct target *t, const char *kind, const char *text, long len);
void node_get_items(struct nodes *ns, struct target *t, const ei_x_buff *x, int at, node_item *cb);
struct run_unmatched;
/* Returns how many; the list and its texts are to be freed. */
size_t node_get_unmatched(const ei_x_buff *x, int at, struct run_unmatched **list);
bool node_get_rows(const ei_x_buff *x, int at, erltrace_probe_cb *cb, void *arg); /* any? */

/* node_flows.c */
struct flow_event;
/* Of the values of a flowtrace(); -1: it is none of ours. */
int node_flow_event(const erltrace_event_t *ev, const erltrace_record_t *rec, struct flow_event *e);
/* node_keys.c */
void node_keys(struct nodes *ns); /* what was pressed since is sent to the nodes */
void node_keys_end(void); /* the terminal is as it was; may be called by a signal handler */

/* node_stream.c */
int node_stream_go(struct nodes *ns); /* those that have compiled run, and their results are read */
void node_stream_close(struct nodes *ns);
void node_stream(struct nodes *ns, struct target *t, const char *bytes, size_t len);
void node_stream_ends(struct nodes *ns, struct target *t);
void node_stream_look(struct nodes *ns); /* what is due by the clock */
int node_stream_wait(const struct nodes *ns); /* ms: so long messages are waited for */

/* node_run.c: all agents have been started; compile and run, or list. */
int node_run(struct nodes *ns);

#endif
