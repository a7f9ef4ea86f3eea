/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that scripts follow, put together from the events of their flows (doc/probes.md).
 *
 * A flow is a list of hops: messages and spawns, and first its beginning. A hop leads to a visit:
 * from when the process takes the message to the last message or spawn that it sends before it
 * takes another. The cause of a hop is the hop by which its sender had come: so the hops from the
 * beginning to any other, and the visits between them, fill the time between the two. Those to the
 * end of the last visit are the critical path.
 */
#ifndef OUTPUT_FLOW_MODEL_H
#define OUTPUT_FLOW_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "erltrace.h"

enum flow_kind { FLOW_BEGIN, FLOW_SEND, FLOW_RECEIVE, FLOW_SPAWN, FLOW_END, FLOW_KINDS };

/*
 * An event as it came: the numbers and the texts of its values, by enum flow_number and flow_text.
 */
enum flow_number { FN_FLOW, FN_AT, FN_HOP, FN_CAUSE, FN_WORDS, FN_MORE, FN_NUMBERS };
enum { FN_DEPTH = FN_HOP, FN_ELAPSED, FN_MESSAGES, FN_SPAWNS }; /* of FLOW_END */
enum flow_text { FT_FROM, FT_TO, FT_PROC, FT_PEER, FT_MESSAGE, FT_TEXTS,
	FT_FUNCTION = FT_MESSAGE, /* of FLOW_BEGIN, FLOW_SPAWN, FLOW_END */
	FT_WHY = FT_FROM,	  /* of FLOW_END */
};

struct flow_event {
	const char *node;
	enum flow_kind kind;
	uint64_t wall; /* ns since 1970, by the node's clock */
	int64_t number[FN_NUMBERS];
	struct {
		const char *p; /* not ended by a NUL */
		size_t len;
	} text[FT_TEXTS];
};

/* Texts are valid UTF-8 without control characters. */
struct flow_proc {
	int node;
	char *pid, *name;
};

struct flow_hop {
	int64_t number, cause; /* -1: not known */
	int from, to;	       /* processes; -1: not known */
	bool spawn, taken, critical;
	uint64_t sent;	/* ns since 1970, as are the others */
	uint64_t start; /* of the visit; not taken: when it was sent */
	uint64_t until;
	uint64_t words;
	char *text; /* the message, or the function that is spawned; or NULL */
	char *label; /* in short */
	char *exit;  /* an exit signal: its reason; or NULL */
	char *peer;  /* who the sender says it is for; or NULL */
};

struct flow {
	uint64_t id;
	char *function, *why; /* why it has ended; NULL: it has not */
	struct flow_proc *procs;
	int nprocs;
	/* once it is complete in the order of time, the first is the beginning */
	struct flow_hop *hops;
	int nhops;
	bool begun;
	uint64_t start, end; /* ns since 1970: the beginning, the last event */
	unsigned messages, spawns, depth;
	/* By its end, if that has come: how long it took, and how many there were. */
	uint64_t elapsed, end_wall, quiet; /* ns; quiet: without an event before the end */
	uint64_t all_messages, all_spawns;
	bool incomplete; /* there was more than is known here */
	int64_t ended_at; /* ms: when flow-end came; 0: it has not */
	struct flow *next; /* in the hash table */
	unsigned kept;	   /* by so many others: flow_free() frees it for the last */
};

enum { FLOW_OVER = 4096 };

struct flows {
	char **nodes; /* their names */
	int nnodes;
	int64_t epoch; /* from the time line of the nodes to ns since 1970; 0: not known yet */
	struct flow **slots;
	size_t nslots, nflows;
	size_t nhops, most; /* in all flows that have not ended; at most */
	uint64_t lost; /* hops without room */
	/* numbers of flows that were handed over with their end, by their hash */
	uint64_t over[FLOW_OVER];
	bool nomem;
	bool dropped; /* events were, somewhere */
	/* A flow is complete; who takes it frees it. */
	void (*done)(void *arg, struct flow *f);
	void *arg;
};

/* most: hops that are kept of flows which have not ended. */
struct flows *flows_new(size_t most, void (*done)(void *arg, struct flow *f), void *arg);
void flows_free(struct flows *s);
void flows_add(struct flows *s, const struct flow_event *e, int64_t now_ms);
/* Hand over flows whose end came so long ago; all: those that have not ended too. */
void flows_look(struct flows *s, int64_t now_ms, bool all);
void flow_free(struct flow *f);
/* How it has ended, for people: "" if it is simply over. Why it is incomplete. */
void flow_end_text(const struct flow *f, char *buf, size_t size);
void flow_lack_text(const struct flow *f, char *buf, size_t size);
int flow_hop_of(const struct flow *f, int64_t number); /* -1: there is none */

/* The slowest of all that came. */
struct slowest {
	struct flow **v;
	size_t n;
	uint64_t left_out;
};

void slowest_add(struct slowest *s, struct flow *f, size_t most); /* the caller keeps its own */
void slowest_clear(struct slowest *s);

/* flow_tree.c: as text */
void flow_tree(const struct flows *s, const struct flow *f, FILE *out);
/* flow_events.c: of the values of a flowtrace(); -1: it is none of ours. */
int flow_event_read(const erltrace_event_t *ev, const erltrace_record_t *rec, struct flow_event *e);

#endif
