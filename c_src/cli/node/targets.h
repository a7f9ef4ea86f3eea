/* SPDX-License-Identifier: Apache-2.0 */
/* What node_*.c share: the client of the command (client/client.h), and what it prints. */
#ifndef CLI_TARGETS_H
#define CLI_TARGETS_H

#include "cli/cli.h"
#include "cli/script/list.h"
#include "client/client.h"

enum { NODES_PIDS = 64 };

struct nodes {
	union {
		struct client client;
		struct client;
	};
	struct cli *c;
	pid_t pids[NODES_PIDS]; /* of -p */
	const struct request *request;
	erltrace_t *reader; /* of their streams; NULL: none run */
	erltrace_handlers_t reads;
	bool read; /* all of the streams has been */
	struct {   /* the terminal's size, as the nodes know it; 0: they do not */
		unsigned short rows, columns;
	} size;
	long *matched;	       /* by script, over all nodes; -1: not known */
	erltrace_error_t zero; /* a node where nothing matched */
	int zero_script;
	struct cli_listing listing; /* -l */
	bool listed;   /* a probe, of any node */
	int exit_code; /* of exit(); -1: none */
	int ended; /* of those that have been told to stop, and */
	int64_t last_end; /* ms: when the last one did; 0: they have not been told */
	int status;
};

static inline struct nodes *nodes_of(struct client *cl)
{
	return (struct nodes *)cl; /* its first member */
}

/* node_start.c */
/* Those where nothing matches run the script as well, as with -Z, so that requests go on there. */
int node_start_rest(struct nodes *ns);

/* node_command.c: the node that the command of -c becomes */
int node_of_command(struct nodes *ns);
bool node_command_ends(struct cli *c);
/* The node of -c has ended before its script was started. */
int node_too_short(struct et_error *e);

/* node_keys.c */
void node_keys(struct nodes *ns); /* what was pressed since is sent to the nodes */
void node_keys_end(void); /* the terminal is as it was; may be called by a signal handler */

/* node_stream.c */
int node_stream_go(struct nodes *ns); /* those that have compiled run, and their results are read */
void node_stream_close(struct nodes *ns);
void node_stream(struct nodes *ns, struct target *t, const char *bytes, size_t len);
void node_stream_ends(struct nodes *ns, struct target *t);
double node_stream_age(const struct nodes *ns, const struct target *t); /* s: of its aggregations; < 0: none */
void node_stream_look(struct nodes *ns); /* what is due by the clock */
int node_stream_wait(const struct nodes *ns); /* ms: so long messages are waited for */

/* node_run.c: what scripts in nodes have done on this side */
void node_system(struct nodes *ns, const char *command, size_t len); /* system() */
void node_reopen(struct nodes *ns, const char *path, size_t len);    /* freopen() */

/* node_run.c: its results are not waited for any more. */
void node_let_go(struct nodes *ns, struct target *t);

/* node_run.c: all agents have been started; compile and run, or list. */
int node_run(struct nodes *ns);

#endif
