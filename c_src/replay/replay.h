/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a file, fired in an engine: replay.c. */
#ifndef RP_REPLAY_H
#define RP_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/current.h"
#include "engine/seen.h"
#include "error.h"
#include "events.h"

struct en;
struct prog;

/* An event, as the current task of a firing. */
struct rp_current {
	struct en_current cur;
	const struct rp_event *ev; /* NULL: of no event: BEGIN, tick */
	struct replay *r;
};

struct rp_timer { /* tick-N, profile-N */
	struct en_probe *probe;
	uint64_t period, due;
};

struct replay {
	struct en *en;
	struct rp_file *file; /* NULL: there is none, scripts are only compiled */
	bool on;
	size_t next;  /* event */
	uint64_t now; /* ns since the beginning */
	struct rp_timer *timers;
	unsigned ntimers;
	struct rp_current host;
	char prov[32]; /* the node's provider */
	char **names;  /* of probes, to be freed */
	unsigned nnames;
	struct en_looks looks; /* so far: engine/seen.h */
	struct rp_slots *slots; /* replay_terms.c */
};

/*
 * From now on the engine's events are those of the file, which it owns (NULL: none come, but any
 * probe of a node can be named). Before anything is compiled.
 */
int rp_begin(struct en *en, struct rp_file *file, struct et_error *e);
/* Fire what comes next. false: that was all. */
bool rp_step(struct en *en);
const struct rp_file *rp_file(const struct en *en); /* or NULL */
uint64_t rp_now(const struct en *en);		    /* ns since the beginning */

extern const struct en_current_ops rp_ops;
extern const struct en_term_ops rp_term_ops;
uint64_t rp_vtimestamp(const struct en_current *cur);
unsigned rp_ustack(const struct en_current *cur, uint64_t *pcs, unsigned max, bool lines);

/* Why the term cannot be looked into; NULL: it can. */
const char *rp_term_read(struct rp_file *f, struct rp_term *t);
void rp_slots_clear(struct replay *r); /* before an event */
/* Can clauses that use this be recorded and replayed? Otherwise *what is what cannot. */
struct prog_uses;
bool rp_may_replay(const struct prog_uses *u, const char **what);
/* Does a clause at profile-N read what is interrupted? Then there are events of it. */
bool rp_reads_interrupted(const struct prog_uses *u);

#endif
