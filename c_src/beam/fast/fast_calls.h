/* SPDX-License-Identifier: Apache-2.0 */
/*
 * THE PROBE PATH of calls, returns and exceptions by the fast way (fast_calls.c): the core's hooks
 * (core/core.h) call these, in place of the VM's tracing. The same probes fire, with the same
 * arguments.
 *
 *   fast_calls.c  calls and returns, from the hooks (probe path)
 *   fast_core.c   these hooks in this node: loaded, pointed to, tested, taken away
 *   fast_find.c   where the JIT's code calls what they stand for
 *   fast_test.c   the self-test, before anything is armed
 */
#ifndef BEAM_FAST_CALLS_H
#define BEAM_FAST_CALLS_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/core.h"

#pragma GCC visibility push(hidden)

struct beam_fn;

extern const struct core_ops fast_ops;

bool fast_calls_init(void);
/* The number of a function in frames, which a handle arms; 0: no memory. */
uint32_t fast_number(const struct beam_fn *fn, unsigned handle);
void fast_calls_free(void); /* nobody takes calls any more */

#pragma GCC visibility pop
#endif
