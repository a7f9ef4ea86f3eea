/* SPDX-License-Identifier: Apache-2.0 */
/* A child that runs this same command, with pipes to read what it says. */
#ifndef WEB_CHILD_PROCESS_H
#define WEB_CHILD_PROCESS_H

#include <sys/types.h>

struct process {
	pid_t pid;
	int out, err; /* pipes, not blocking */
	int end;      /* a pidfd: readable when it has ended */
};

/*
 * Start it with this standard input. Of our environment it gets what it needs to reach nodes, and
 * the kernel kills it when we die. 0, or -1: no process was started.
 */
int process_spawn(struct process *p, const char *const *argv, int in);

#endif
