/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flows, and who takes part in them (flow_table.c, probe path): which flow a process is in, and
 * which flow a message belongs to that has been sent and not been received. A message is known by
 * its sender, its receiver, and the label and the serial number of its token.
 *
 * An exit signal is told as a message when it is sent. Who does not trap exits never receives it,
 * which nobody tells: so it does not refer to its flow. That waits a while for it, no longer.
 *
 * A flow counts those that refer to it, processes and messages. When there is none left, or nothing
 * has happened in it for a while, the sweep ends it. Its number is never used again: who still has
 * it then finds no flow. Above its lowest 32 bits it has the tag of the node in which it began.
 * What other nodes know of it is a part; a part may end and begin again (flow_nodes.c).
 *
 */
#ifndef BEAM_FLOW_TABLE_H
#define BEAM_FLOW_TABLE_H

#include <erl_nif.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "beam/proc/pid_slots.h"
#include "flow_clock.h"
#include "flow_nodes.h"

#pragma GCC visibility push(hidden)

struct et_str;

struct flow {
	_Atomic uint64_t word; /* its number, and how many refer to it; 0: free */
	uint64_t began;	       /* ns */
	_Atomic uint64_t last; /* ns: the last event of it */
	ERL_NIF_TERM process;  /* that began it, in which function */
	const struct et_str *function;
	_Atomic uint32_t hops, messages, spawns, deepest;
	/* sum over messages to other nodes that are not known to be received */
	_Atomic uint64_t away;
	_Atomic bool asks; /* who began it has sent a message, and has received none since */
	_Atomic uint32_t signals; /* exit signals that may be received, see flow_msg */
	_Atomic bool cut; /* it has had as many hops as it may: some are missing */
	bool told; /* flow-begin has fired */
} __attribute__((aligned(64)));

struct flow_proc { /* a process of the VM's table; written by whoever runs the process */
	_Atomic uint64_t pid; /* the term; 0: free */
	_Atomic uint64_t id;  /* of its flow; 0: none */
	_Atomic uint32_t depth, hop; /* by which it is in that: 0 where it began */
	_Atomic uint32_t dead; /* has it exited? who changes the entry has it to itself meanwhile */
	_Atomic uint32_t spawn; /* the hop of the process that it is spawning on another node */
};

struct flow_msg {
	_Atomic uint32_t state; /* MSG_* */
	uint32_t depth, hop;	/* of its receiver */
	uint32_t cause;		/* the hop by which its sender was in the flow */
	ERL_NIF_TERM from, to, label, serial;
	uint64_t id, sent; /* its flow; ns */
	bool hidden;	   /* no probe fires for it */
	bool signal;	   /* an exit signal: it does not refer to its flow */
};

#define FLOW_DEAD  4096
#define FLOW_OLD   1024 /* parts that are remembered as over for good */
#define FLOW_JOINS 64	/* parts that begin at the same time */
struct flow_table {
	struct flow *flows;
	struct flow_proc *procs;
	struct flow_msg *msgs;
	uint64_t flow_mask, msg_mask;
	uint64_t limit;		/* flows at a time */
	uint64_t idle, life;	/* ns: when a flow ends without an event, and in any case */
	uint32_t hops;		/* messages and spawns of a flow, at most */
	_Atomic bool foreign;	/* sequential trace tokens that are not ours have been seen */
	_Atomic uint64_t used;	/* as many there are */
	struct flow_nodes nodes; /* that run the script */
	uint64_t tag;		 /* of this one among them */
	struct flow_clock clock; /* theirs */
	_Atomic bool draining;	 /* tokens are taken away as they come */
	_Atomic uint32_t part_hops; /* numbers of hops of parts */
	struct beam_pid_slots slots;
	_Atomic uint64_t next;	     /* numbers */
	_Atomic uint64_t ndead;	     /* processes that have exited, by slot + 1: */
	_Atomic uint64_t dead[FLOW_DEAD];
	_Atomic uint64_t old[FLOW_OLD];	    /* numbers of flows, by their hash */
	_Atomic uint64_t joins[FLOW_JOINS]; /* the same: a thread looks for a place for it */
};

int flow_table_init(struct flow_table *t, uint64_t flows, uint64_t process_limit);
void flow_table_fini(struct flow_table *t);

struct flow *flow_begin(struct flow_table *t, uint64_t now, uint64_t *id); /* NULL: no room */
struct flow *flow_find(const struct flow_table *t, uint64_t id); /* NULL: it has ended */
/*
 * The part of a flow of another node, with a reference; NULL: no room, or *over: it has ended for
 * good.
 */
struct flow *flow_join(struct flow_table *t, uint64_t now, uint64_t id, bool *over);
#define FLOW_TAG(id) ((id) >> 32)

struct flow_proc *flow_proc_find(const struct flow_table *t, ERL_NIF_TERM pid);
/*
 * The process is in this flow from now on; 0: in none. A reference of the caller's becomes its own.
 */
bool flow_proc_set(
	struct flow_table *t, ERL_NIF_TERM pid, uint64_t id, uint32_t hop, uint32_t depth);
void flow_proc_exit(struct flow_table *t, ERL_NIF_TERM pid);

bool flow_ref(const struct flow_table *t, uint64_t id); /* false: it has ended */
void flow_unref(const struct flow_table *t, uint64_t id);

/* As deep as that at least, whatever other threads say meanwhile. */
void flow_deepen(struct flow *f, uint32_t depth);

bool flow_msg_add(struct flow_table *t, const struct flow_msg *msg); /* false: no room */
/*
 * The message with the names in *msg, which is gone then; its reference, if it has one, is the
 * caller's.
 */
bool flow_msg_take(struct flow_table *t, struct flow_msg *msg);

/* Off the probe path. */
void flow_table_bury(struct flow_table *t); /* what processes had that have exited */
/* The next flow to end from *at on, which is free then; false: there are no more. */
enum flow_why {
	FLOW_DONE, /* nobody refers to it any more */
	FLOW_IDLE, /* somebody does, and nothing has happened in it for long */
	FLOW_WAITS, /* the same, and the process that began it waits for an answer */
	FLOW_AGED, /* it has begun too long ago: it is over for whoever is in it */
	FLOW_CUT,  /* any of these; it had more hops than it may */
};
struct flow_ended {
	uint64_t id, began, last;
	uint64_t until; /* the last event; if who began it still waits, now */
	uint64_t away;
	uint32_t messages, spawns, deepest;
	ERL_NIF_TERM process;
	const struct et_str *function;
	enum flow_why why;
	bool part; /* of a flow of another node */
	bool early; /* it has not ended yet: what it has counted so far */
};
struct flow_times {
	uint64_t now, idle, life; /* ns */
};
bool flow_end_next(struct flow_table *t, uint64_t *at, const struct flow_times *times,
	struct flow_ended *ended);

#pragma GCC visibility pop
#endif
