/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Crowds (timer_crowd.c, probe path): timers of one receiver and message, where there are more than
 * the table of timers.c takes of one key. How many are due when, and who started them.
 */
#ifndef BEAM_TIMER_CROWD_H
#define BEAM_TIMER_CROWD_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct beam_crowds;

struct beam_crowds *beam_crowds_new(void);
void beam_crowds_free(struct beam_crowds *c);

/* One more timer. When it is due as the crowd has it (ns), for beam_crowd_take(); 0: no room. */
int64_t beam_crowd_put(struct beam_crowds *c, uint64_t key, int64_t now, int64_t due, uint64_t by);
/* The same of the first that is due by now; 0: there is none. */
int64_t beam_crowd_first(struct beam_crowds *c, uint64_t key, int64_t now);
/*
 * One that is due then has expired, or was cancelled; false: there is none. by: who started it; 0:
 * one of several.
 */
bool beam_crowd_take(struct beam_crowds *c, uint64_t key, int64_t due, uint64_t *by);
/* Have all expired that were due then? */
bool beam_crowd_is_past(struct beam_crowds *c, uint64_t key, int64_t due);

#pragma GCC visibility pop
#endif
