/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of a sample, and what its thread was at. A word of a stack becomes a frame if it is
 * the address behind a call, and Erlang code lies there. So frames that the VM or the fast way put
 * on the stack for themselves (return_trace, return_to, call_time) are left out: what they return
 * to is no function, and what they point to is not behind a call.
 *
 * Some frames are no Erlang functions: the function of the VM that Erlang code has called, where it
 * is neither a BIF nor a NIF; the garbage collector; the scheduler; code that the table does not
 * know yet (vm_frames.h).
 *
 * All of it runs in the signal handler.
 *
 */
#include <string.h>

#include "beam/code/code_table.h"
#include "beam/code/vm_frames.h"
#include "compiler.h"
#include "engine/safe.h"
#include "prog/stack_marks.h"
#include "sampler.h"

/* ---- calls ----------------------------------------------------------------------------- */

PROBE_PATH bool sampler_after_call(uintptr_t ret, uintptr_t *target)
{
	uint8_t code[8], *const p = code + 8;
	uint64_t word;
	int32_t rel;

	*target = 0;
	if (sampler_code(ret - 8) < 9 || !safe_load((const void *)(ret - 8), 8, &word))
		return false;
	memcpy(code, &word, sizeof(code));
	memcpy(&rel, p - 4, sizeof(rel));
	if (p[-6] == 0xff && p[-5] == 0x15) { /* call *disp(%rip) */
		uintptr_t at = ret + (uintptr_t)(intptr_t)rel;

		if (sampler_code(at) >= sizeof(word) && safe_load((const void *)at, 8, &word))
			*target = word;
		return true;
	}
	if (p[-5] == 0xe8) { /* call rel32 */
		*target = ret + (uintptr_t)(intptr_t)rel;
		return true;
	}
	/*
	 * call *%reg; by memory, with a register and a displacement of 0, 8 or 32 bits, or with two
	 */
	return (p[-2] == 0xff && ((p[-1] & 0xf8) == 0xd0 || (p[-1] & 0xf8) == 0x10)) ||
	       (p[-3] == 0xff && ((p[-2] & 0xf8) == 0x50 || p[-2] == 0x14)) ||
	       (p[-4] == 0xff && p[-3] == 0x54) || (p[-6] == 0xff && (p[-5] & 0xf8) == 0x90) ||
	       (p[-7] == 0xff && p[-6] == 0x94);
}

/* The table of code, for one sample. */
struct code {
	struct code_walk walk;
	bool known, lines; /* known: there is a table */
};

/* The Erlang function of an address in code; 0: of none, as the code that all modules share. */
PROBE_PATH static uint64_t frame_at(struct code *c, uintptr_t pc)
{
	uint64_t f;

	c->walk.m = NULL; /* the process may have gone on: compare all of it for each frame */
	f = c->known ? beam_code_at(&c->walk, pc, c->lines) : 0;
	if (f == 0 && c->known && beam_code_lost(&c->walk, pc + 1))
		return FRAME_UNKNOWN;
	return f;
}

/* The Erlang function that a call belongs to; 0: a fragment's, or no call. */
static uint64_t frame_of_return(struct code *c, uintptr_t ret)
{
	uintptr_t target;

	return sampler_after_call(ret, &target) ? frame_at(c, ret - 1) : 0;
}

/* ---- what it was at -------------------------------------------------------------------- */

static uint64_t function_of(const struct sampler_seen *s)
{
	return s->mfa[0] != 0
		       ? beam_code_function(s->mfa[0], s->mfa[1], (unsigned)(s->mfa[2] & 0xff))
		       : 0;
}

/* A dirty NIF or BIF: the process's code begins behind its M, F, A. Else it is collected. */
static bool is_dirty_call(const struct sampler_seen *s)
{
	return function_of(s) != 0 && s->mfa[2] < 256 &&
	       (sampler_code(s->i) == 0 ||
		       beam_code_frame(s->i, false) ==
			       beam_code_function(s->mfa[0], s->mfa[1], (unsigned)s->mfa[2]));
}

static const char in_scheduler[] = "scheduler", in_gc[] = "gc";

PROBE_PATH const char *sampler_state(const struct sampler_seen *s)
{
	switch (s->kind) {
	case SAMPLED_JIT: return "erlang";
	case SAMPLED_DIRTY: return s->i == 0 || is_dirty_call(s) ? "dirty" : in_gc;
	case SAMPLED_C:
		if (s->called == 0)
			return "vm";
		if (s->called == sampler_facts.ret_nif)
			return "nif";
		if (s->called == sampler_facts.ret_bif || s->called == sampler_facts.ret_slow_bif)
			return "bif";
		if (s->called == sampler_facts.ret_gc)
			return in_gc;
		return s->called == atomic_load_explicit(
					    &sampler_ret_schedule, memory_order_relaxed)
			       ? in_scheduler
			       : "vm";
	default: return in_scheduler;
	}
}

/* The function of the VM that was called; it stays where it is, unlike the place in it. */
static uint64_t frame_of_c(const struct sampler_seen *s)
{
	uintptr_t target = 0;

	if (s->called != 0 && sampler_after_call(s->called, &target) && target != 0 &&
		sampler_code(target) == 0 && target >> 47 == 0)
		return target;
	return FRAME_C;
}

/*
 * A jump to shared code that is too far for a call: it lies behind the last function of a module,
 * and belongs to none.
 *
 */
static bool in_veneer(const struct sampler_seen *s)
{
	uintptr_t target;
	uint64_t word;

	if (s->nwords == 0 || sampler_code(s->pc) < sizeof(word) ||
		!sampler_after_call(s->words[0], &target) || target != s->pc ||
		!safe_load((const void *)s->pc, sizeof(word), &word))
		return false;
	return (word & 0xffff) == 0x25ff || (word & 0xff) == 0xe9 || (word & 0xffff) == 0xe940;
}

/* The newest frames: what was interrupted, as far as it is not on the stack. */
static unsigned leaf(
	const struct sampler_seen *s, struct code *c, const char *state, uint64_t *frames)
{
	uint64_t f;
	unsigned n = 0;

	if (s->kind == SAMPLED_JIT) {
		f = in_veneer(s) ? 0 : frame_at(c, s->pc);
		if (f != 0)
			frames[n++] = f;
		return n;
	}
	if (state == in_scheduler) {
		frames[n++] = FRAME_SCHEDULER;
	} else if (state == in_gc) {
		frames[n++] = FRAME_GC;
		f = s->kind == SAMPLED_DIRTY ? frame_at(c, s->i) : 0;
		if (f != 0)
			frames[n++] = f;
	} else {
		f = s->kind == SAMPLED_DIRTY && s->i == 0 ? 0 : function_of(s);
		if (f != 0 || s->called != 0)
			frames[n++] = f != 0 ? f : frame_of_c(s);
	}
	f = s->called != 0 ? frame_of_return(c, s->called) : 0;
	if (f == 0 && s->kind == SAMPLED_C && s->called == 0)
		f = frame_at(c, s->pc); /* about to call, or just back */
	if (f != 0)
		frames[n++] = f;
	return n;
}

PROBE_PATH unsigned sampler_frames(
	const struct sampler_seen *s, const char *state, uint64_t *frames, unsigned max, bool lines)
{
	unsigned n = 0, nfirst;
	bool room = true;
	struct code c = {.lines = lines};
	uint64_t first[4];

	c.known = beam_code_begin(&c.walk);
	nfirst = leaf(s, &c, state, first);
	for (unsigned i = 0; i < nfirst; i++)
		stack_push(frames, &n, max, first[i], 1);
	for (unsigned i = 0; i < s->nwords && room; i++) {
		uint64_t f = s->words[i] == STACK_CUT ? STACK_CUT : frame_of_return(&c, s->words[i]);

		if (f != 0)
			room = stack_push(frames, &n, max, f, s->times[i]);
	}
	if (!room || s->nwords == SAMPLER_FRAMES)
		frames[(n < max ? n++ : n - 1)] = STACK_CUT;
	beam_code_end(&c.walk);
	return n;
}
