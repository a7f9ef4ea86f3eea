/* SPDX-License-Identifier: Apache-2.0 */
/* Events of flows, out of the values that scripts send. */
#ifndef OUTPUT_FLOW_EVENTS_H
#define OUTPUT_FLOW_EVENTS_H

#include "erltrace.h"

struct flow_event;

/* Of the values of a flowtrace(); -1: it is none of ours. */
int flow_event_read(
	const erltrace_event_t *ev, const erltrace_record_t *rec, struct flow_event *e);

#endif
