/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flight recorder (bufpolicy=ring) in the kernel: its alerts are told to the node, and its
 * snapshots are files of the node's user, which this process writes.
 */
#ifndef HELPER_FLIGHT_RECORD_H
#define HELPER_FLIGHT_RECORD_H

#include "consume/textbuf.h"
#include "erltrace.h"

extern const erltrace_handlers_t flight_handlers; /* of api_forward() and api_record() */
/* Takes a snapshot now; its files are added to out. 0, or -1. */
int flight_snapshot(erltrace_t *h, const char *why, struct co_buf *out, erltrace_error_t *e);

#endif
