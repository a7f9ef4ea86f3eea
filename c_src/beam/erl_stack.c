/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Erlang stacks for ustack() (probe path): the process's stack is walked word by word. The lowest
 * bits tell return addresses from terms, as they do for the VM itself. A function of the VM, which
 * up to OTP 28 can be found by its name, says which function an address lies in. Both are checked
 * before they are relied on, in the check of the layout: a process that has called itself so many
 * times must show so many frames. Where the check fails, a stack is the function of the event
 * alone.
 *
 * Stacks are walked only in the process's own context, on a normal scheduler: dirty schedulers do
 * not hold off the VM when it replaces its table of code.
 *
 * A frame is one word that outlives its code: 2^63, the numbers of two atoms, the arity.
 */
#include <dlfcn.h>
#include <string.h>

#include "atom_text.h"
#include "atoms.h"
#include "erl_stack.h"
#include "functions.h"
#include "layout.h"
#include "vm_event.h"

#define MOST_WORDS 8192 /* of a stack that are looked at */
#define FRAME	   (1ULL << 63)
#define ATOM_BITS  26
#define ATOM_MASK  ((1ULL << ATOM_BITS) - 1)

struct code_mfa { /* as the VM has it in front of each function */
	ERL_NIF_TERM mod, fun;
	uint8_t arity;
};

static const struct code_mfa *(*find_function)(const void *pc);
static const uintptr_t *return_trace, *exception_trace, *return_to; /* where these go */
static _Atomic bool known;

/* ---- frames ---------------------------------------------------------------------------- */

static uint64_t frame_of(ERL_NIF_TERM mod, ERL_NIF_TERM fun, unsigned arity)
{
	const uint64_t tag = atom_ok & 0x3f;

	if ((mod & 0x3f) != tag || (fun & 0x3f) != tag || mod >> 6 > ATOM_MASK ||
		fun >> 6 > ATOM_MASK)
		return 0;
	return FRAME | mod >> 6 << (ATOM_BITS + 8) | fun >> 6 << 8 | (arity & 0xff);
}

bool beam_frame_text(uint64_t frame, char *buf, size_t size)
{
	const uint64_t tag = atom_ok & 0x3f;

	if (!(frame & FRAME))
		return false;
	beam_function_text((frame >> (ATOM_BITS + 8) & ATOM_MASK) << 6 | tag,
		(frame >> 8 & ATOM_MASK) << 6 | tag, (unsigned)(frame & 0xff), buf, size);
	return true;
}

static bool is(const uintptr_t *where, uintptr_t address)
{
	return where != NULL && *where == address;
}

bool beam_tells_end(uintptr_t word, bool unknown)
{
	if (return_trace == NULL || exception_trace == NULL)
		return unknown;
	return is(return_trace, word) || is(exception_trace, word);
}

/* most: of its oldest words; 0: all. */
static unsigned walk(ErlNifEnv *env, unsigned most, uint64_t *pcs, unsigned max)
{
	const uintptr_t *stack;
	int words = beam_stack_words(env, &stack);
	unsigned n = 0;

	if (most != 0) { /* more than there are: they are left behind, but not overwritten yet */
		stack += words - (int)most;
		words = (int)most;
	}
	for (int i = 0; i < words && i < MOST_WORDS && n < max; i++) {
		const struct code_mfa *mfa;

		if ((stack[i] & 3) != 0 || stack[i] == 0 || is(return_to, stack[i]))
			continue;
		if (is(return_trace, stack[i]) || is(exception_trace, stack[i])) {
			i += 2; /* the function and the tracer */
			continue;
		}
		mfa = find_function((const void *)(stack[i] - 1));
		if (mfa != NULL)
			pcs[n++] = frame_of(mfa->mod, mfa->fun, mfa->arity);
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
void beam_ustack_check(ErlNifEnv *env, ERL_NIF_TERM mfa, unsigned depth)
{
	uint64_t pcs[8];
	const ERL_NIF_TERM *t;
	unsigned n, same = 0;
	int arity;

	if (find_function == NULL || return_trace == NULL || return_to == NULL || depth >= 8 ||
		enif_thread_type() != ERL_NIF_THR_NORMAL_SCHEDULER ||
		!enif_get_tuple(env, mfa, &arity, &t) || arity != 3)
		return;
	n = walk(env, 0, pcs, 8);
	while (same < n && pcs[same] == frame_of(t[0], t[1], 1))
		same++;
	atomic_store(&known, same == depth);
}

bool beam_ustack_known(void)
{
	return atomic_load_explicit(&known, memory_order_acquire) && beam_layout_known();
}

/* ---- for events ------------------------------------------------------------------------ */

/* The function that the event itself names: called, scheduled, returned from or to. */
static bool has_function(ERL_NIF_TERM tag)
{
	return tag == atom_call || tag == atom_in || tag == atom_out || tag == atom_return_to ||
	       tag == atom_return_from || tag == atom_exception_from;
}

static bool has_stack(ERL_NIF_TERM tag)
{
	return has_function(tag) || tag == atom_send || tag == atom_gc_minor_start ||
	       tag == atom_gc_minor_end || tag == atom_gc_major_start || tag == atom_gc_major_end;
}

static unsigned event_function(const struct beam_event *ev, uint64_t *pcs, unsigned max)
{
	const ERL_NIF_TERM *t;
	unsigned arity = 0;
	int n;

	if (max > 0 && ev->argv[0] == atom_return_to && ev->ended != NULL) {
		pcs[0] = frame_of(ev->ended->mod, ev->ended->fun, ev->ended->arity);
		return pcs[0] != 0;
	}
	if (max == 0 || !enif_get_tuple(ev->env, ev->argv[3], &n, &t) || n != 3)
		return 0;
	if (!enif_get_uint(ev->env, t[2], &arity))
		enif_get_list_length(ev->env, t[2], &arity);
	pcs[0] = frame_of(t[0], t[1], arity);
	return pcs[0] != 0;
}

unsigned beam_ustack(const struct en_current *cur, uint64_t *pcs, unsigned max)
{
	const struct beam_event *ev = (const struct beam_event *)(const void *)cur;
	unsigned n = 0;

	if (!enif_is_pid(ev->env, ev->cur.key) || (ev->argv != NULL && !has_stack(ev->argv[0])))
		return 0;
	if (ev->argv != NULL && has_function(ev->argv[0]))
		n = event_function(ev, pcs, max);
	if (!beam_ustack_known() || enif_thread_type() != ERL_NIF_THR_NORMAL_SCHEDULER)
		return n;
	return n + walk(ev->env, ev->words, pcs + n, max - n);
}
