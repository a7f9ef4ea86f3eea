/* SPDX-License-Identifier: Apache-2.0 */
/* Commands for the shell, as system() of scripts has them. */
#ifndef ET_SHELL_H
#define ET_SHELL_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Starts it, with out as its standard output; -1: ours. It blocks no signals, whatever the calling
 * thread blocks. 0, or an errno.
 */
int shell_start(pid_t *pid, const char *command, int out);
bool shell_ended(pid_t pid); /* then it is reaped */
void shell_await(pid_t pid);
/*
 * For the calling thread, as nd_cancel_by(): when fd becomes readable, the command that it waits for
 * is killed. -1: none is.
 */
void shell_end_by(int fd);

#endif
