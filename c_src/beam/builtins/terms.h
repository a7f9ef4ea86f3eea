/* SPDX-License-Identifier: Apache-2.0 */
/* Terms as values of D (terms.c, probe path): the slots of an event, by threads. */
#ifndef BEAM_TERMS_H
#define BEAM_TERMS_H

#include "engine/current.h"

#pragma GCC visibility push(hidden)

/* Room for the slots of so many threads, kept when the library is loaded again; those of one. */
int beam_slots_init(unsigned n);
struct beam_slots *beam_slots_nth(unsigned n);

extern const struct en_term_ops beam_term_ops;

#pragma GCC visibility pop
#endif
