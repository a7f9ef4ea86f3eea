/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Erlang stacks (probe path): the process's stack is walked word by word. The lowest
 * bits tell return addresses from terms, as they do for the VM itself. Which function and line an
 * address is of says the table of code (code_lookup.c); where that was refused a function of the
 * VM, which up to OTP 28 can be found by its name, says the function. Both are checked before they
 * are relied on: the table on stacks of our own, the function in the check of the layout, where a
 * process that has called itself so many times must show so many frames. Where both checks fail a
 * stack is the function of the event alone.
 *
 * Tracing puts frames of its own on the stack. They return to code that all modules share, which is
 * in no module; behind that may be the address of a function's name, where no code is.
 *
 * Stacks are walked only in the process's own context, on a normal scheduler: dirty schedulers do
 * not hold off the VM when it replaces its table of code.
 *
 */
#include <dlfcn.h>
#include <stdio.h>

#include "beam/vm/layout.h"
#include "compiler.h"
#include "prog/stack_marks.h"
#include "code_names.h"
#include "code_table.h"
#include "erl_stack.h"

/* Words of a stack that are looked at, of one that has more: the newest and the oldest. */
#define NEWEST 6144
#define OLDEST 2048

struct code_mfa { /* as the VM has it in front of each function */
	ERL_NIF_TERM mod, fun;
	uint8_t arity;
};

static const struct code_mfa *(*find_function)(const void *pc);
static const uintptr_t *return_trace, *exception_trace, *return_to; /* where these go */
static _Atomic bool known;

/* ---- frames ---------------------------------------------------------------------------- */

bool beam_frame_text(uint64_t frame, char *buf, size_t size)
{
	return code_frame_text(frame, buf, size);
}

static bool is(const uintptr_t *where, uintptr_t address)
{
	return where != NULL && *where == address;
}

PROBE_PATH bool beam_tells_end(uintptr_t word, bool unknown)
{
	if (return_trace == NULL || exception_trace == NULL)
		return unknown;
	return is(return_trace, word) || is(exception_trace, word);
}

/* most: of its oldest words; 0: all. How many these are. */
static int stack_of(ErlNifEnv *env, unsigned most, const uintptr_t **stack)
{
	int words = beam_stack_words(env, stack);

	if (most != 0) { /* more than there are: they are left behind, but not overwritten yet */
		*stack += words - (int)most;
		words = (int)most;
	}
	return words;
}

/* The word after this one. Behind the newest of a large stack come the oldest. */
static int next_word(int i, int words, uint64_t *frames, unsigned *n, unsigned max)
{
	if (++i < NEWEST || i >= words - OLDEST)
		return i;
	if (*n < max)
		frames[(*n)++] = STACK_CUT;
	return words - OLDEST;
}

/* The frames of a stack by the table of code, after n others. */
PROBE_PATH static unsigned walk_table(
	ErlNifEnv *env, unsigned most, uint64_t *frames, unsigned n, unsigned max, bool line)
{
	struct code_walk w;
	const uintptr_t *stack;
	int words = beam_code_begin(&w) ? stack_of(env, most, &stack) : 0;
	uintptr_t last = 0; /* of the last frame */
	uint64_t frame = 0;
	bool room = n < max;

	for (int i = 0; i < words && room; i = next_word(i, words, frames, &n, max)) {
		if ((stack[i] & 3) != 0 || stack[i] == 0)
			continue;
		if (stack[i] == last) { /* a recursion */
			room = stack_push(frames, &n, max, frame, 1);
			continue;
		}
		frame = beam_code_at(&w, stack[i] - 1, line);
		last = frame != 0 ? stack[i] : 0;
		if (unlikely(frame == 0) && (i == 0 || !beam_code_shared(&w, stack[i - 1])) &&
			beam_code_lost(&w, stack[i]))
			frame = stack[i];
		if (likely(frame != 0))
			room = stack_push(frames, &n, max, frame, 1);
	}
	beam_code_end(&w);
	return n;
}

unsigned beam_walk(ErlNifEnv *env, uint64_t *frames, unsigned max, bool line)
{
	return walk_table(env, 0, frames, 0, max, line);
}

/* The same by the VM's symbols. */
PROBE_PATH static unsigned walk(
	ErlNifEnv *env, unsigned most, uint64_t *pcs, unsigned n, unsigned max)
{
	const uintptr_t *stack;
	int words = stack_of(env, most, &stack);
	bool room = n < max;

	for (int i = 0; i < words && room; i = next_word(i, words, pcs, &n, max)) {
		const struct code_mfa *mfa;
		uint64_t frame;

		if ((stack[i] & 3) != 0 || stack[i] == 0 || is(return_to, stack[i]))
			continue;
		if (is(return_trace, stack[i]) || is(exception_trace, stack[i])) {
			i += 2; /* the function and the tracer */
			continue;
		}
		mfa = find_function((const void *)(stack[i] - 1));
		frame = mfa != NULL ? code_frame(mfa->mod, mfa->fun, mfa->arity) : 0;
		if (frame != 0)
			room = stack_push(pcs, &n, max, frame, 1);
	}
	return n;
}

/* ---- the check ------------------------------------------------------------------------- */

/* At load: the VM's own functions, where it shows them. */
void beam_ustack_init(void)
{
	*(void **)&find_function = dlsym(RTLD_DEFAULT, "erts_find_function_from_pc");
	return_trace = dlsym(RTLD_DEFAULT, "beam_return_trace");
	exception_trace = dlsym(RTLD_DEFAULT, "beam_exception_trace");
	return_to = dlsym(RTLD_DEFAULT, "beam_return_to_trace");
}

/* In the layout's check: fn, of this arity, has called itself depth times. */
PROBE_PATH void beam_ustack_check(ErlNifEnv *env, ERL_NIF_TERM mfa, unsigned depth)
{
	uint64_t pcs[8];
	const ERL_NIF_TERM *t;
	int arity;

	if (find_function == NULL || return_trace == NULL || return_to == NULL || depth >= 8 ||
		enif_thread_type() != ERL_NIF_THR_NORMAL_SCHEDULER ||
		!enif_get_tuple(env, mfa, &arity, &t) || arity != 3)
		return;
	atomic_store(&known, depth > 1 && walk(env, 0, pcs, 0, 8) > 1 &&
				     pcs[0] == code_frame(t[0], t[1], 1) &&
				     pcs[1] == (STACK_MARK | depth));
}

bool beam_ustack_known(void)
{
	return (beam_code_known() || atomic_load_explicit(&known, memory_order_acquire)) &&
	       beam_layout_known();
}

PROBE_PATH unsigned beam_process_stack(
	ErlNifEnv *env, unsigned most, uint64_t *frames, unsigned n, unsigned max, bool lines)
{
	if (!beam_ustack_known() || enif_thread_type() != ERL_NIF_THR_NORMAL_SCHEDULER)
		return n;
	if (likely(beam_code_known()))
		return walk_table(env, most, frames, n, max, lines);
	return walk(env, most, frames, n, max);
}
