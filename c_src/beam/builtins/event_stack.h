/* SPDX-License-Identifier: Apache-2.0 */
/* Erlang stacks of events: what ustack() is in an Erlang process (event_stack.c, probe path). */
#ifndef BEAM_EVENT_STACK_H
#define BEAM_EVENT_STACK_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct en_current;

/* The frames of the process whose event it is, the newest first; returns how many. */
unsigned beam_ustack(const struct en_current *cur, uint64_t *pcs, unsigned max, bool lines);

#pragma GCC visibility pop
#endif
