/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds of things that probes of the provider state fire for, from the table state.def, and the
 * provider built-ins that these probes have (state_has.c).
 */
#ifndef PROG_STATE_HAS_H
#define PROG_STATE_HAS_H

#include <stdint.h>

enum state_kind {
#define KIND(ID, name) STATE_##ID,
#define NUMBER(...)
#define TEXT(...)
#include "state.def"
	STATE_ROUND, /* besides: a round is over; */
	STATE_KEY,   /* a key is pressed */
	STATE_COUNT_
};

uint32_t prog_state_pbis(int kind); /* bits PBI_* */

#endif
