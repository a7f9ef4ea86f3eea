/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One time line for nodes that run a script together (probe path). Clocks of different machines
 * have nothing in common. erltrace_flows.erl asks the first node for its time, which bounds the
 * difference: an answer is not older than its question, nor newer than its arrival. What is left of
 * the error, half of the shortest round trip at most, could still have a message received before it
 * was sent. So each message that is followed to another node says when it was sent, on the common
 * time line, and where that lies ahead of the receiver's clock that is put forward (Lamport, 1978).
 * Clocks go no further apart by this than messages show that they are. The command takes the times
 * of flows from here.
 *
 * The time lies in the flags of the token, above those that the VM knows (it looks at single bits):
 *
 *   flags	time (51 bits, ns)  the VM's own (8)
 *
 */
#include "beam/vm/token.h"
#include "compiler.h"
#include "flow_clock.h"

#define FLAG_BITS 8
#define FLAG_MASK ((1ULL << FLAG_BITS) - 1)
#define TIME_BITS 51
#define TIME_MASK ((1ULL << TIME_BITS) - 1)

/*
 * A small integer as a term is its value above four ones (beam_vm.small: token.c has seen to it).
 */
PROBE_PATH void flow_clock_send(
	const struct flow_clock *c, ErlNifEnv *env, ERL_NIF_TERM sender, uint64_t now)
{
	ERL_NIF_TERM flags = beam_token_get(env, sender, TOKEN_FLAGS);
	uint64_t v = flags >> 4 & FLAG_MASK, at = flow_clock_at(c, now) & TIME_MASK;

	if ((flags & 15) != 15)
		return;
	if (atomic_load_explicit(&c->known, memory_order_relaxed))
		v |= at << FLAG_BITS;
	beam_token_set(env, sender, TOKEN_FLAGS, v << 4 | 15);
}

PROBE_PATH void flow_clock_reset(ErlNifEnv *env, ERL_NIF_TERM pid)
{
	ERL_NIF_TERM flags = beam_token_get(env, pid, TOKEN_FLAGS);

	if ((flags & 15) == 15 && flags >> (4 + FLAG_BITS) != 0)
		beam_token_set(env, pid, TOKEN_FLAGS, (flags >> 4 & FLAG_MASK) << 4 | 15);
}

/* The time nearest to this one whose lower bits are those. */
static uint64_t whole_time(uint64_t bits, uint64_t near)
{
	int64_t ahead = (int64_t)((bits - near) << (64 - TIME_BITS)) >> (64 - TIME_BITS);

	return near + (uint64_t)ahead;
}

PROBE_PATH uint64_t flow_clock_come(
	struct flow_clock *c, ErlNifEnv *env, ERL_NIF_TERM receiver, uint64_t now)
{
	ERL_NIF_TERM flags = beam_token_get(env, receiver, TOKEN_FLAGS);
	uint64_t bits = (flags & 15) == 15 ? flags >> (4 + FLAG_BITS) & TIME_MASK : 0;
	int64_t offset = atomic_load_explicit(&c->offset, memory_order_relaxed);
	uint64_t sent;

	if (bits == 0 || !atomic_load_explicit(&c->known, memory_order_relaxed))
		return 0;
	sent = whole_time(bits, now + (uint64_t)offset);
	/* a few times: another thread may put it forward as well */
	for (int i = 0; i < 8 && (int64_t)(sent - now) > offset; i++)
		if (atomic_compare_exchange_weak(&c->offset, &offset, (int64_t)(sent - now)))
			offset = (int64_t)(sent - now);
	return sent - (uint64_t)offset;
}
