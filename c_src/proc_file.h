/* SPDX-License-Identifier: Apache-2.0 */
/* Opening files of other processes, which may be anything: proc_file.c. */
#ifndef PROC_FILE_H
#define PROC_FILE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Open for reading a regular file, or fail (-1): no FIFO, no device, and no waiting for the holder
 * of a lease.
 */
int fi_open(const char *path);
/* The same for a path in the root directory of a process, links included. */
int fi_open_in(int pid, const char *path);
/* /tmp/perf-PID.map of a process, if it belongs to its user or to root. */
int fi_open_perf_map(int pid);
/* The number by which a process knows itself: in a container another than ours for it. */
int fi_own_pid(int pid);
/* Does the process run as our own (effective) user? */
bool fi_is_ours(int pid);

bool fi_is_stopped(int pid); /* by SIGSTOP or a debugger */

#endif
