/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What scripts ask of an Erlang event (probe path):
 *
 *   erl_builtins.c  erlpid, erlmsg, erlargs ...
 *   event_stack.c   ustack()
 *   terms.c         terms as values of D: their slots, what scripts ask of them
 *   usdt_fire.c     usdt(): the USDT probe of the same name as the event's
 *   term_nifs.c     terms.c and the matcher, for tests
 */
#ifndef BEAM_ERL_BUILTINS_H
#define BEAM_ERL_BUILTINS_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stdint.h>

#include "beam/atoms.h"
#include "beam/vm/vm_event.h"

#pragma GCC visibility push(hidden)

struct en_current_ops;

extern const struct en_current_ops beam_ops;
/* The message that an event is about; false: it is about none. */
static inline bool beam_message(const struct beam_event *ev, ERL_NIF_TERM *msg)
{
	ERL_NIF_TERM tag = ev->argv != NULL ? ev->argv[0] : 0;

	if (tag != atom_send && tag != atom_send_to_non_existing_process && tag != atom_receive &&
		(tag != atom_seq_trace || ev->argv[3] == 0))
		return false;
	*msg = ev->argv[3];
	return true;
}
/* The term of an event that a built-in is: PBI_ERLARG with its n, PBI_ERLMSG and so on. */
bool beam_source(const struct beam_event *ev, unsigned pbi, uint64_t n, ERL_NIF_TERM *t);
/*
 * The text of what should name a process, a port or a child. Any term may be there: with
 * payload=off one that is no name is "?".
 */
void beam_print_name(const struct beam_event *ev, ERL_NIF_TERM t, char *buf, size_t size);

#pragma GCC visibility pop
#endif
