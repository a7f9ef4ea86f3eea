/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timers that have been started and have not expired yet (timers.c, probe path): when they are due,
 * and who has started them, for timer-expire.
 *
 */
#ifndef BEAM_TIMERS_H
#define BEAM_TIMERS_H

#include <erl_nif.h>

#pragma GCC visibility push(hidden)

struct beam_event;
struct beam_fn;
struct beam_timers;

int beam_timers_init(struct beam_timers **t);
void beam_timers_fini(struct beam_timers **t);

/*
 * At a call of erlang:send_after, start_timer or cancel_timer: what its end needs of the arguments.
 */
ERL_NIF_TERM beam_timer_note(
	const struct beam_event *ev, const struct beam_fn *fn, ERL_NIF_TERM args);
/* At its end. */
void beam_timer_noted(const struct beam_event *ev);
/* A process has got a message: timer-expire fires if it is a timer's. */
void beam_timer_message(struct beam_event *ev, ERL_NIF_TERM msg, ERL_NIF_TERM opts);

#pragma GCC visibility pop
#endif
