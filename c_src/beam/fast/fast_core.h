/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core inside this node (fast_core.c): found or loaded, its words swapped, its hooks tested
 * before anything is armed; and who is in charge of it.
 */
#ifndef BEAM_FAST_CORE_H
#define BEAM_FAST_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "beam/vm/facts.h"
#include "core/core.h"

#pragma GCC visibility push(hidden)

extern const struct find_fact fast_fact;
bool fast_core_init(void); /* the library is loaded */

extern struct core *fast_core; /* NULL: none is installed, or it was refused */

/* The handle in this slot of the table takes calls by the core from now on; false: it cannot. */
bool fast_core_join(unsigned slot);
void fast_core_leave(unsigned slot);
extern _Atomic uint64_t fast_slots; /* bit n: the handle in slot n has joined */
extern _Atomic uint64_t fast_only;  /* slot of the only one, or 0, which is no handle's */

#pragma GCC visibility pop
#endif
