/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds one thread of another process where it is, as a machine does that has put it aside, while
 * the others run on: hold_thread TID MILLISECONDS. It says "held", and lets go when the time is
 * over or when it ends.
 *
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

int main(int argc, char **argv)
{
	pid_t tid = argc == 3 ? atoi(argv[1]) : 0;
	long ms = argc == 3 ? atol(argv[2]) : 0;
	struct timespec ts = {ms / 1000, ms % 1000 * 1000000};
	int status;

	if (ptrace(PTRACE_SEIZE, tid, 0, 0) < 0 || ptrace(PTRACE_INTERRUPT, tid, 0, 0) < 0 ||
		waitpid(tid, &status, __WALL) != tid) {
		printf("cannot hold thread %d: %s\n", tid, strerror(errno));
		return 1;
	}
	puts("held");
	fflush(stdout);
	while (nanosleep(&ts, &ts) < 0 && errno == EINTR)
		;
	ptrace(PTRACE_DETACH, tid, 0, 0);
	return 0;
}
