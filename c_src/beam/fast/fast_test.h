/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The self-test of the fast way (fast_test.c), before anything of a user's is armed: functions of
 * our own are called, return, are left by exceptions, and every event is counted. It also finds
 * where a process keeps an exception that nobody catches.
 *
 */
#ifndef BEAM_FAST_TEST_H
#define BEAM_FAST_TEST_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/core.h"

#pragma GCC visibility push(hidden)

extern const struct core_ops fast_test_ops;
/* {counts, 0}, {kind, Tag}, {reasons, 0} */
ERL_NIF_TERM fast_test_step(ErlNifEnv *env, const char *step, ERL_NIF_TERM arg);

/*
 * An exception that nobody catches, as the process has it: error, exit or throw; its reason. A
 * reason that the VM would make of a tag and a value is built in word[3]. false: it is not known.
 */
bool fast_reason(const char *proc, ERL_NIF_TERM *class, ERL_NIF_TERM *reason, ERL_NIF_TERM word[3]);

#pragma GCC visibility pop
#endif
