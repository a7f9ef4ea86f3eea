/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots of the flight recorder, from the wish to the file: snapshot.c. */
#ifndef API_SNAPSHOT_H
#define API_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "consume/flight.h"
#include "consume/textbuf.h"
#include "engine/recording.h"
#include "json/json.h"
#include "json/timeline.h"
#include "snapshot_file.h"

struct erltrace;

struct api_snapshot {
	struct en_recording *rec; /* being written; NULL: none is */
	struct en_recorded about;
	char why[CO_WISH + 8];
	const char *alert; /* in why: its name, if an alert() wanted it; or NULL */
	uint64_t wall, now; /* when it was taken */
	unsigned form;	    /* the one that is being written */
	bool begun;	    /* its head is written */
	struct co_buf out;  /* not yet handed on */
	unsigned part;	    /* how many have been handed on */
	bool line;	    /* text: a line is open */
	struct co_json json;
	struct co_timeline timeline;
	struct snapshot_file file;
	uint64_t next;	    /* ns: when a script may have the next one */
	uint64_t left_out;  /* since the last one */
};

/*
 * After a round of the consumer: begin what scripts ask for, and write some of it; all: to its end.
 */
int api_snapshots(struct erltrace *h, const erltrace_handlers_t *handlers, bool all);
int api_snapshot_may(struct erltrace *h, erltrace_error_t *err); /* at go */
void api_snapshot_free(struct erltrace *h);

#endif
