/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One time line for the nodes that run a script (flow_clock.c, probe path). It is the monotonic
 * clock of the first of them. Each other node knows how far its own is behind or ahead.
 *
 */
#ifndef BEAM_FLOW_CLOCK_H
#define BEAM_FLOW_CLOCK_H

#include <erl_nif.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct flow_clock {
	_Atomic int64_t offset; /* ns that are added to the clock of this node */
	_Atomic bool known;
};

static inline uint64_t flow_clock_at(const struct flow_clock *c, uint64_t now)
{
	return now + (uint64_t)atomic_load_explicit(&c->offset, memory_order_relaxed);
}

/* For scripts; 0: the time of the others is not known yet. */
static inline uint64_t flow_clock_told(const struct flow_clock *c, uint64_t now)
{
	return atomic_load_explicit(&c->known, memory_order_relaxed) ? flow_clock_at(c, now) : 0;
}

/* A message leaves for another node: its token says when. */
void flow_clock_send(const struct flow_clock *c, ErlNifEnv *env, ERL_NIF_TERM sender, uint64_t now);

/*
 * A message has come from another node: when it was sent, by the clock of this one; 0: not known. A
 * message that seems to come before it was sent puts this node's clock forward.
 */
uint64_t flow_clock_come(struct flow_clock *c, ErlNifEnv *env, ERL_NIF_TERM receiver, uint64_t now);

/* The token says no time any more: it is that of a process which begins a flow. */
void flow_clock_reset(ErlNifEnv *env, ERL_NIF_TERM pid);

#pragma GCC visibility pop
#endif
