/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a consumer, and of a record that it is at. Nobody outside this folder includes it.
 * Text is built in a struct co_buf and handed on in pieces (co_flush).
 */
#ifndef CONSUME_CONSUMER_H
#define CONSUME_CONSUMER_H

#include "consume.h"
#include "flight.h"
#include "origin.h"
#include "textbuf.h"
#include "value.h"

struct ag;

/* Which actions of records are performed. */
enum co_mode {
	CO_ALL,
	CO_NOTICED, /* alert() and snapshot(), while the buffers go on */
	CO_REPLAY,  /* what only shows */
};

struct co_thread {
	uint64_t told[2];   /* drops of DROP_PRINCIPAL and DROP_AGGREGATION reported so far */
	int indent;	    /* -F */
	uint32_t last_epid; /* -F: of its last record */
};

struct co {
	const struct co_origin *from; /* NULL: nothing comes (tests) */
	void *of;
	const struct prog *prog;
	struct et_options *opts;
	erltrace_handlers_t h; /* of the call under way; what it does not have is NULL */
	struct co_buf out;
	uint64_t flushes; /* how often out was handed on */
	int fd;		  /* freopen(): where text goes; -1: to the handler */
	int fd_error;	  /* of writing to it, not yet reported */
	uint32_t fd_epid; /* who opened it */
	bool header;	  /* has been printed */
	int rv;		  /* what a handler returned */
	struct ag *ag;
	struct ag **live; /* --live: what came since the last tick, of all streams or of each */
	unsigned nlive;	  /* 0: not wanted */
	struct sy *sy;
	struct co_tmp *tmp;
	struct co_val *vals; /* of the action under way */
	size_t maxvals;
	struct co_thread *threads;
	size_t nthreads; /* room, zeroed */
	uint64_t (*told)[DROP_KINDS]; /* drops of no thread, by stream */
	uint64_t agg_told;
	uint64_t last_status;
	bool shown;   /* a row was printed: nothing.c */
	bool mute;    /* nobody reads what actions print: co_mute() */
	bool telling; /* the text of an action stays whole: its record shows it */
	enum co_mode mode;
	uint32_t notices; /* flight.c: as last seen */
	int looks;
	unsigned wants; /* snapshots; the first one: */
	struct co_wish wish;
	struct { /* that of the last record which has one, as text */
		struct rec_process is;
		unsigned stream; /* nodes have words of their own */
		char id[32], name[1100]; /* an atom's 255 characters, quoted */
	} process;
	bool has_process; /* the record under way has one */
};

/* A record under way. */
struct co_rec {
	struct co *co;
	const struct rec_head *head; /* NULL: none, something is said about the probe */
	struct co_at at;
	unsigned thread;
	erltrace_event_t ev;
	const char *prefix; /* -F */
};

static inline uint64_t co_opt(const struct co *co, enum et_opt o)
{
	return co->opts->val[o];
}
static inline bool co_at(const struct co *co, uint32_t epid, struct co_at *at)
{
	return co->from->at(co->of, epid, at);
}
/* What a thread is called where it runs, and in which stream that is. */
unsigned co_cpu(const struct co *co, unsigned thread, unsigned *stream);
unsigned co_streams(const struct co *co);
int co_flush(struct co *co);
void co_begin_call(struct co *co, const erltrace_handlers_t *h);
int co_record(struct co *co, unsigned thread, const struct rec_head *rec); /* as mode says */
struct co_thread *co_thread_of(struct co *co, unsigned thread);
/* Hand on what waits if it is much. != 0: stop. */
int co_room(struct co *co);
/* Nobody reads text but the handler of records, which sees that of each action. */
static inline bool co_text_unread(const struct co *co)
{
	return co->h.record != NULL && co->h.text == NULL && co->h.aggregation == NULL &&
	       co->fd < 0;
}

#endif
