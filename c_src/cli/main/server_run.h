/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scripts that a server runs: each by a thread of the server (client/worker.h). Its results are
 * lines of JSON that the server's loop takes, or calls of the server's in that thread.
 */
#ifndef CLI_SERVER_RUN_H
#define CLI_SERVER_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "output/server_calls.h"

struct worker;

struct run_request {
	const char *const *nodes; /* as -N has them; none: all of this machine */
	int nnodes;
	const char *cookie_file; /* or NULL */
	const char *kernel_node; /* probes of the kernel are traced by its helper; NULL: here */
	bool only_kernel_node; /* there is no other node */
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
	const struct run_calls *calls; /* copied; NULL: results are lines of JSON */
};

/* Texts are copied. NULL: no memory, or no thread. */
struct worker *server_run(const struct run_request *r);
/*
 * At the start of a server: options in its environment are not those of its scripts, and it may open as
 * many files as there may be.
 */
void server_run_environment(void);

#endif
