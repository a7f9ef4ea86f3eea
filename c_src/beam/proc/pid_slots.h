/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots by pid, for tables of processes (pid_slots.c, probe path). A pid holds its index in the
 * VM's own table, which no two living processes share: it is the index in such a table too. Where
 * the VM's table is larger than ours, a slot belongs to whoever came first, until it exits. Where
 * it is not known how pids hold their index (vm_facts.c), it is a hash of the pid, and the next
 * slots are tried too.
 *
 */
#ifndef BEAM_PID_SLOTS_H
#define BEAM_PID_SLOTS_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct beam_pid_slots {
	uint64_t mask, mul; /* a pid's slot: (pid * mul >> shift) & mask, rotated by three bits */
	unsigned shift, turn;
	unsigned tries; /* slots that a process may have: 1, or more where they go by a hash */
	bool exact;	/* no two living processes share a slot */
};

void beam_pid_slots_init(struct beam_pid_slots *s, uint64_t process_limit);

/* The VM puts processes that come one after the other eight slots apart; here they are side by
 * side, so that few pages are touched. */
static inline uint64_t beam_pid_slot(
	const struct beam_pid_slots *s, ERL_NIF_TERM pid, unsigned next)
{
	uint64_t i = (pid * s->mul >> s->shift) & s->mask;

	return ((i >> 3 | i << s->turn) + next) & s->mask;
}

#pragma GCC visibility pop
#endif
