/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the VM keeps the stack of a process (layout.c): found out (find.h). The words are then read
 * without a call (probe path).
 */
#ifndef BEAM_LAYOUT_H
#define BEAM_LAYOUT_H

#include <erl_nif.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"
#include "facts.h"

#pragma GCC visibility push(hidden)

extern const struct find_fact beam_layout_fact;
extern struct find beam_layout;
#define LAYOUT_KNOWN	FIND_KNOWN
#define LAYOUT_SESSIONS (FIND_KNOWN + 1) /* and more than one trace session has frames on stacks */
static inline int beam_layout_state(void)
{
	return atomic_load_explicit(&beam_layout.state, memory_order_acquire);
}
static inline bool beam_layout_known(void)
{
	return find_is_known(&beam_layout);
}
static inline bool beam_several_sessions(void)
{
	return beam_layout_state() == LAYOUT_SESSIONS;
}

/* Where things are, once the layout is known. */
struct beam_words {
	uint32_t stop, end; /* of a process: where its stack's top and end are, in bytes */
	int32_t ret_delta;  /* words that there are more at return_to than at the entry */
	uint32_t raised;    /* of a process: where its exception is, in bytes */
	uintptr_t calm;	    /* and what is there while there is none */
	uintptr_t mark;	    /* the newest word of a return_to frame */
	unsigned frame;	    /* words of such a frame */
};
#ifndef BEAM_WORDS_CONST /* to all but layout.c */
#define BEAM_WORDS_CONST const
#endif
extern BEAM_WORDS_CONST struct beam_words beam_words;

/* How frames of the fast way lie on a stack, once they do (fast_core.c). */
struct core_vm;
extern const struct core_vm *beam_fast_frames;

#define BEAM_ENV_PROC	1 /* word of a NIF's environment: the process */
#define BEAM_ENV_TRACEE 7 /* of a tracer's: the traced one */
static inline const uintptr_t *beam_env_process(ErlNifEnv *env)
{
	return ((const uintptr_t *const *)(const void *)env)[BEAM_ENV_PROC];
}
static inline const char *beam_tracee(ErlNifEnv *env)
{
	const char *const *words = (const char *const *)(const void *)env;
	const char *proc = words[BEAM_ENV_TRACEE];

	return likely(proc != NULL) ? proc : words[BEAM_ENV_PROC];
}
static inline int beam_level_of(const char *proc)
{
	uintptr_t end = *(const uintptr_t *)(const void *)(proc + beam_words.end);

	return (int)((end - *(const uintptr_t *)(const void *)(proc + beam_words.stop)) /
		     sizeof(uintptr_t));
}
/* Behind the oldest word of the traced process's stack. */
static inline const uintptr_t *beam_stack_end(ErlNifEnv *env)
{
	return *(const uintptr_t *const *)(const void *)(beam_tracee(env) + beam_words.end);
}
/* At return_to: control came here by an exception, which is about to be caught. */
static inline bool beam_raised(ErlNifEnv *env)
{
	return *(const uintptr_t *)(const void *)(beam_tracee(env) + beam_words.raised) !=
	       beam_words.calm;
}
/* Words on the traced process's stack. */
static inline int beam_stack_level(ErlNifEnv *env)
{
	return beam_level_of(beam_tracee(env));
}
/* The same at return_to, as it was at the entry. */
static inline int beam_return_level(ErlNifEnv *env)
{
	return beam_level_of(beam_tracee(env)) - beam_words.ret_delta;
}
/* The two where there is more than one trace session: without the frames of the others. */
int beam_chain_level(ErlNifEnv *env, unsigned slot, bool *tail);
int beam_chain_return_level(ErlNifEnv *env);
bool beam_chain_has(const uintptr_t *end, unsigned began, unsigned level, unsigned slot);
/*
 * May this be a frame of return_to, whose newest word is not seen? From OTP 27 on a number follows.
 */
bool beam_has_session(const uintptr_t *frame);
bool beam_timed_out(ErlNifEnv *env); /* the event of a message `timeout': it is none */
/* Trace sessions that keep a shadow stack, by a handle's slot: the number as a term. */
#define BEAM_NO_FRAMES 2 /* it has no return_to, and thus no frames: only those of others count */
void beam_session_set(unsigned slot, uintptr_t number); /* 0: it has ended */
unsigned beam_queue_len(ErlNifEnv *env); /* messages of the traced process; 0: not known */
/* The traced process's stack: its newest word; how many there are. */
int beam_stack_words(ErlNifEnv *env, const uintptr_t **stack);
/* An event of the process that the search observes: is it the innermost of the calls? A message to it. */
bool beam_layout_sample(ErlNifEnv *env, bool ret);
void beam_layout_message(ErlNifEnv *env, bool timeout);

#pragma GCC visibility pop
#endif
