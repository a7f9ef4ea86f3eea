/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scripts that a server runs: each by a thread of the server (client/worker.h), with the results of
 * the command, as lines of JSON, and its messages.
 */
#ifndef CLI_SERVER_RUN_H
#define CLI_SERVER_RUN_H

#include <stdbool.h>
#include <stddef.h>

struct worker;

struct run_request {
	const char *const *nodes; /* as -N has them; none: all of this machine */
	int nnodes;
	const char *cookie_file; /* or NULL */
	const char *const *settings; /* as -x has them */
	int nsettings;
	const char *file; /* the script, */
	const char *text; /* or its text, */
	size_t len;
	const char *list; /* or a description, whose probes are listed, a line each */
	const char *const *args;
	int nargs;
	int live_ms; /* between two ticks */
	bool flows;  /* requests that the script follows, as --flows */
	bool zero_matches; /* as -Z */
};

/* Texts are copied. NULL: no memory, or no thread. */
struct worker *server_run(const struct run_request *r);
/* At the start of a server: options in its environment are not those of its scripts. */
void server_run_environment(void);

#endif
