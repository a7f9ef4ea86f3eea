/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that were recorded, and are replayed to a script without a node: erltrace record and test.
 *
 *   events.c   a file of events, read and checked (doc/events.md has the format)
 *   replay.c   the provider that fires them: probes, what clauses may read, the clock of a replay
 *   answers.c  what clauses ask of an event: built-in variables, stacks
 *   replay_terms.c  terms of Erlang as values of D; file_terms.h: how they are read
 *
 * A file has one JSON object a line: the first tells about the recording, all others are events in
 * the order of time. Everything here belongs to one thread, and nothing is on the probe path.
 */
#ifndef RP_EVENTS_H
#define RP_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/str.h"
#include "error.h"
#include "prog/term.h"

enum {
	RP_FILE_MOST = 1 << 30, /* bytes */
	RP_LINE_MOST = 1 << 20,
	RP_EVENTS_MOST = 1 << 22,
	RP_TICKS_MOST = 10000000, /* firings of a timer */
	RP_ARGS = 10,
};

/* What an event has: a field for each. */
enum rp_what {
	RP_ARG,	   /* n: of the probe's arguments */
	RP_PBI,	   /* n: PBI_*; of terms their text */
	RP_ERLARG, /* n: of the call's arguments */
	RP_MEMBER, /* n: of an object of the provider state */
	RP_VTIMESTAMP,
	RP_STACK,
};

struct rp_term { /* a term, from its text when somebody looks into it */
	const struct et_str *text;
	struct pat pat; /* without nodes: not read so far */
};

struct rp_field {
	uint8_t what, n;
	bool is_text;
	union {
		int64_t num;
		const struct et_str *text;
		struct rp_term *term;	/* RP_ERLARG, and RP_PBI of terms */
		const uint32_t *frames; /* RP_STACK: indices of rp_file.frames, how many first */
	};
};

struct rp_probe {
	char *prov, *mod, *func, *name; /* prov: "erlang" is the node's */
	struct en_probe *probe;		/* while a script runs, or NULL */
	unsigned line;			/* of its first event */
	unsigned order;
};

struct rp_event {
	uint64_t at; /* ns since the beginning */
	unsigned line;
	const struct rp_probe *probe;
	uint64_t key; /* of the process; 0: it has none */
	struct rp_field *fields;
	unsigned nfields;
	unsigned nargs; /* arguments of the call that are known; UINT32_MAX: nothing is */
	bool all_args;	/* ... and there are no others */
};

struct rp_file {
	char *path;
	char *script; /* or NULL; as it is written */
	char **args, **options;
	unsigned nargs, noptions;
	const struct et_str *node;
	uint64_t first_id; /* of its texts: processes are numbered from here on */
	int64_t pid;
	uint64_t start, wall, end; /* end: ns since the beginning */
	uint64_t drops;
	struct rp_event *events;
	size_t nevents;
	struct rp_probe **probes;
	size_t nprobes;
	const struct et_str **frames; /* of stacks */
	size_t nframes;
	bool wide_texts; /* lists of characters above 255 are texts, as far as its terms show */
	struct rp_pool *pool;
};

/* NULL: *e says why, with the line. */
struct rp_file *rp_file_read(const char *path, struct et_error *e);
struct rp_file *rp_file_parse(const char *path, char *text, size_t len, struct et_error *e);
void rp_file_free(struct rp_file *f);
const struct rp_field *rp_field(const struct rp_event *ev, enum rp_what what, unsigned n);
struct et_str *rp_text(struct rp_file *f, const char *text, size_t len); /* the same */
void *rp_alloc(struct rp_file *f, size_t size); /* zeroed, as long as the file; NULL: no memory */

#endif
