/* SPDX-License-Identifier: Apache-2.0 */
/* A node that is named by its process. */
#ifndef NODE_PROCESS_H
#define NODE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cookie.h"

/* Enters the network namespace of a process, if it has another; its epmd's port is then ours. */
int nd_enter(pid_t pid, struct et_error *e);
bool nd_may_enter(pid_t pid); /* false: its namespaces cannot even be seen */
/* The number that the process has in its own namespace. */
int64_t nd_own_pid(pid_t pid);
/* The cookie that it was started with; false: not found, or we may not read it. */
bool nd_cookie_of(pid_t pid, struct nd_cookie *cookie);

#endif
