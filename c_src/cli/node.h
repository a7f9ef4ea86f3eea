/* SPDX-License-Identifier: Apache-2.0 */
/* What node.c, node_find.c and node_run.c share: the nodes that run the scripts. */
#ifndef CLI_NODE_H
#define CLI_NODE_H

#include "cli.h"

#include "node/node.h"

enum state {
	STARTED,
	COMPILED, /* it has told what matched */
	RUNNING,
	STOPPING, /* it was told to */
	DONE,	  /* it has nothing more to say, or is gone */
};

struct target {
	struct nd *nd;
	erlang_pid agent;
	enum state state;
	bool matched; /* something, or not known */
	bool failed;  /* it has told why */
	ei_x_buff preview; /* should it die: the aggregations as they were; buff NULL: none */
	char *raw;	   /* the same for another node */
	long rawlen;
	int64_t began_at, preview_at; /* ms */
	bool silent; /* it has ended the script because we stood still */
};

struct nodes {
	struct cli *c;
	struct target *v;
	int n;
	struct nd_cookie cookie;
	long *matched;	       /* by script, over all nodes; -1: not told */
	erltrace_error_t zero; /* a node where nothing matched */
	int zero_script;
	bool listed;	       /* a probe, of any node */
	struct target *first;  /* of several: it has the aggregations of all */
	bool ending;	       /* a script has called exit(), or a node has failed */
	int64_t last_beat;     /* ms: when the nodes had a sign of life from us */
	int beat_ms;
	int64_t stood_ms; /* so long we gave none, the last time: suspended, or our reader was */
	int exit_code; /* of exit(); -1: none */
	int status;
};

int node_fail(struct cli *c, const struct et_error *e, const char *what);
/* The node of -c has ended before its script was started. */
int node_too_short(struct et_error *e);
/* node_find.c. That of the command line; without one that of a process (0: none), or ours. */
int node_cookie(const struct cli *c, pid_t pid, struct nd_cookie *cookie, struct et_error *e);
/* Connects to all of them. */
int node_find(struct nodes *ns);
bool node_command_ends(struct cli *c);
/* node_run.c: all agents have been started; compile and run, or list. */
int node_run(struct nodes *ns);

#endif
