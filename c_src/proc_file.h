/* SPDX-License-Identifier: Apache-2.0 */
/* Files of other processes, which may be anything: proc_file.c. */
#ifndef PROC_FILE_H
#define PROC_FILE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * To read; a regular file or nothing (-1): no FIFO, no device, and no waiting for whoever holds a
 * lease on it.
 */
int fi_open(const char *path);
/* The same by the name that a process has for it: in its root directory, links too. */
int fi_open_in(int pid, const char *path);
/* /tmp/perf-PID.map of a process, if it is its user's own, or root's. */
int fi_open_perf_map(int pid);
/* The number by which a process knows itself: in a container another than ours for it. */
int fi_own_pid(int pid);
/* Does the process run as our own (effective) user? */
bool fi_is_ours(int pid);

#endif
