/* SPDX-License-Identifier: Apache-2.0 */
/* Slots by pid: how many there are, and how a pid tells its own. */
#include "beam/vm/vm_facts.h"
#include "pid_slots.h"

#define MOST_SLOTS (1u << 20)
#define TRIES	   8 /* where slots go by a hash */

void beam_pid_slots_init(struct beam_pid_slots *s, uint64_t process_limit)
{
	bool hashed = beam_vm.pid_shift == 0;
	uint64_t n = 1024;
	unsigned bits = 10;

	for (; n < process_limit && n < MOST_SLOTS; n *= 2)
		bits++;
	s->mask = n - 1;
	s->exact = n >= process_limit && !hashed;
	s->mul = hashed ? 0x9e3779b97f4a7c15ULL : 1;
	s->shift = hashed ? 64 - bits : beam_vm.pid_shift;
	s->turn = bits - 3;
	s->tries = hashed ? TRIES : 1;
}
