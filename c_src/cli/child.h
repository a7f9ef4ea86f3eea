/* SPDX-License-Identifier: Apache-2.0 */
/* The processes of -c and -p. */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "erltrace.h"

struct output;

struct cli_process {
	const char *command; /* of -c; NULL: -p */
	pid_t pid;
	int go;	    /* -c: a byte written here starts it; -1: it runs */
	int failed; /* -c: if exec fails, errno is read from here */
	int pidfd;  /* -p; -1: none */
	bool live;
	bool stopped; /* -c: at its first instruction */
};

struct cli_procs {
	struct cli_process *v;
	int n;
};

int cli_procs_start(struct cli_procs *all, erltrace_t *h); /* fork and hold, or find; sets $target */
void cli_procs_go(struct cli_procs *all);
void cli_procs_warn_stopped(const struct cli_procs *all); /* of -p: nothing will happen in these */
bool cli_procs_ended(struct cli_procs *all, struct output *o); /* there were some; the last has ended */
int cli_procs_failed(struct cli_procs *all); /* CLI_ERROR: a command could not be run */
void cli_procs_end(struct cli_procs *all); /* ends what -c started and still runs */
void cli_procs_kill(const struct cli_procs *all); /* the same, without waiting; async-signal-safe */

/* entry_stop.c: commands of -c, executed, with their libraries loaded, stopped before anything else */
int cli_procs_stop_at_entry(struct cli_procs *all);
void cli_procs_continue(struct cli_procs *all);

#endif
