/* SPDX-License-Identifier: Apache-2.0 */
/* The stack of an Erlang process, as frames (erl_stack.c, probe path). */
#ifndef BEAM_ERL_STACK_H
#define BEAM_ERL_STACK_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/*
 * The frames of the process, the newest first, behind n others; returns how many these are then.
 * most: of its oldest words; 0: of all.
 */
unsigned beam_process_stack(
	ErlNifEnv *env, unsigned most, uint64_t *frames, unsigned n, unsigned max, bool lines);
bool beam_frame_text(uint64_t frame, char *buf, size_t size); /* false: no frame of ours */
void beam_ustack_init(void); /* at load */
/* In the check of the layout: the process must be so many frames deep in this function. */
void beam_ustack_check(ErlNifEnv *env, ERL_NIF_TERM mfa, unsigned depth);
bool beam_ustack_known(void);
/*
 * By the table of code (code_table.h), whether it is known or not: the stack of the process itself.
 */
unsigned beam_walk(ErlNifEnv *env, uint64_t *frames, unsigned max, bool line);
/*
 * Is this word the newest of a frame of return_trace or exception_trace? unknown: the answer where
 * the VM does not show them.
 */
bool beam_tells_end(uintptr_t word, bool unknown);

#pragma GCC visibility pop
#endif
