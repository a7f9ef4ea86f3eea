/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of a sample, and what its thread was at. A word of a stack becomes a frame if it is the
 * address behind a call, and Erlang code lies there. So frames that the VM or the fast way put on the
 * stack for themselves (return_trace, return_to, call_time) are left out: what they return to is no
 * function, and what they point to is not behind a call.
 *
 * Some frames are no Erlang functions: the function of the VM that Erlang code has called, where it
 * is neither a BIF nor a NIF; the garbage collector; the scheduler.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "code_table.h"
#include "sampler.h"

/* No addresses: the first page is never mapped. */
enum { FRAME_GC = 1, FRAME_SCHEDULER, FRAME_C };

static const char *const texts[] = {[FRAME_GC] = "(garbage collection)",
	[FRAME_SCHEDULER] = "(scheduler)",
	[FRAME_C] = "(C code)"};

/* ---- calls ----------------------------------------------------------------------------- */

bool sampler_after_call(uintptr_t ret, uintptr_t *target)
{
	const uint8_t *p = (const uint8_t *)ret;
	int32_t rel;

	*target = 0;
	if (sampler_code(ret - 8) < 9)
		return false;
	memcpy(&rel, p - 4, sizeof(rel));
	if (p[-6] == 0xff && p[-5] == 0x15) { /* call *disp(%rip) */
		if (sampler_code(ret + (uintptr_t)(intptr_t)rel) >= sizeof(uintptr_t))
			memcpy(target, p + rel, sizeof(*target));
		return true;
	}
	if (p[-5] == 0xe8) { /* call rel32 */
		*target = ret + (uintptr_t)(intptr_t)rel;
		return true;
	}
	/* call *%reg; by memory, with a register and a displacement of 0, 8 or 32 bits, or with two */
	return (p[-2] == 0xff && ((p[-1] & 0xf8) == 0xd0 || (p[-1] & 0xf8) == 0x10)) ||
	       (p[-3] == 0xff && ((p[-2] & 0xf8) == 0x50 || p[-2] == 0x14)) ||
	       (p[-4] == 0xff && p[-3] == 0x54) || (p[-6] == 0xff && (p[-5] & 0xf8) == 0x90) ||
	       (p[-7] == 0xff && p[-6] == 0x94);
}

/* The Erlang function that a call belongs to; 0: a fragment's, or no call. */
static uint64_t frame_of_return(uintptr_t ret, bool lines)
{
	uintptr_t target;

	return sampler_after_call(ret, &target) ? beam_code_frame(ret - 1, lines) : 0;
}

/* ---- what it was at -------------------------------------------------------------------- */

static uint64_t function_of(const struct sampler_head *h)
{
	return h->mfa[0] != 0
		       ? beam_code_function(h->mfa[0], h->mfa[1], (unsigned)(h->mfa[2] & 0xff))
		       : 0;
}

/* A dirty NIF or BIF: the process's code begins behind its M, F, A. Else it is collected. */
static bool is_dirty_call(const struct sampler_head *h)
{
	return function_of(h) != 0 && h->mfa[2] < 256 &&
	       (sampler_code(h->i) == 0 ||
		       beam_code_frame(h->i, false) ==
			       beam_code_function(h->mfa[0], h->mfa[1], (unsigned)h->mfa[2]));
}

const char *sampler_state(const struct sampler_head *h)
{
	switch (h->kind) {
	case SAMPLED_JIT: return "erlang";
	case SAMPLED_DIRTY: return is_dirty_call(h) ? "dirty" : "gc";
	case SAMPLED_C:
		if (h->called == 0)
			return "vm";
		if (h->called == sampler_facts.ret_nif)
			return "nif";
		if (h->called == sampler_facts.ret_bif || h->called == sampler_facts.ret_slow_bif)
			return "bif";
		if (h->called == sampler_facts.ret_gc)
			return "gc";
		return h->called == atomic_load_explicit(
					    &sampler_ret_schedule, memory_order_relaxed)
			       ? "scheduler"
			       : "vm";
	default: return "scheduler";
	}
}

/* The function of the VM that was called; it stays where it is, unlike the place in it. */
static uint64_t frame_of_c(const struct sampler_head *h)
{
	uintptr_t target = 0;

	if (h->called != 0 && sampler_after_call(h->called, &target) && target != 0 &&
		sampler_code(target) == 0 && target >> 47 == 0)
		return target;
	return FRAME_C;
}

/*
 * A jump to shared code that is too far for a call: it lies behind the last function of a module, and
 * belongs to none.
 */
static bool in_veneer(const struct sampler_head *h, const uintptr_t *words)
{
	const uint8_t *p = (const uint8_t *)h->pc;
	uintptr_t target;

	return h->nwords > 0 && sampler_code(h->pc) >= 8 && sampler_after_call(words[0], &target) &&
	       target == h->pc &&
	       ((p[0] == 0xff && p[1] == 0x25) || p[0] == 0xe9 || (p[0] == 0x40 && p[1] == 0xe9));
}

/* The newest frames: what was interrupted, as far as it is not on the stack. */
static unsigned leaf(
	const struct sampler_head *h, const uintptr_t *words, uint64_t *frames, bool lines)
{
	const char *state = sampler_state(h);
	uint64_t f;
	unsigned n = 0;

	if (h->kind == SAMPLED_JIT) {
		f = in_veneer(h, words) ? 0 : beam_code_frame(h->pc, lines);
		if (f != 0)
			frames[n++] = f;
		return n;
	}
	if (strcmp(state, "scheduler") == 0) {
		frames[n++] = FRAME_SCHEDULER;
	} else if (strcmp(state, "gc") == 0) {
		frames[n++] = FRAME_GC;
		f = h->kind == SAMPLED_DIRTY ? beam_code_frame(h->i, lines) : 0;
		if (f != 0)
			frames[n++] = f;
	} else {
		f = function_of(h);
		if (f != 0 || h->called != 0)
			frames[n++] = f != 0 ? f : frame_of_c(h);
	}
	f = h->called != 0 ? frame_of_return(h->called, lines) : 0;
	if (f == 0 && h->kind == SAMPLED_C && h->called == 0)
		f = beam_code_frame(h->pc, lines); /* about to call, or just back */
	if (f != 0)
		frames[n++] = f;
	return n;
}

unsigned sampler_frames(const struct sampler_head *h, const uintptr_t *words, uint64_t *frames,
	unsigned max, bool lines)
{
	uint64_t first[4];
	unsigned n = 0, nfirst = leaf(h, words, first, lines);

	for (unsigned i = 0; i < nfirst && n < max; i++)
		frames[n++] = first[i];
	for (unsigned i = 0; i < h->nwords && n < max; i++) {
		uint64_t f = frame_of_return(words[i], lines);

		if (f != 0)
			frames[n++] = f;
	}
	return n;
}

/* ---- texts ----------------------------------------------------------------------------- */

bool sampler_frame_text(uint64_t frame, char *buf, size_t size)
{
	const char *file;
	Dl_info at;

	if (frame < sizeof(texts) / sizeof(*texts) && texts[frame] != NULL) {
		snprintf(buf, size, "%s", texts[frame]);
		return true;
	}
	if (frame >> 47 != 0 || dladdr((void *)(uintptr_t)frame, &at) == 0 || at.dli_fname == NULL)
		return false;
	file = strrchr(at.dli_fname, '/') != NULL ? strrchr(at.dli_fname, '/') + 1 : at.dli_fname;
	if (at.dli_sname == NULL)
		snprintf(buf, size, "%s+0x%lx", file,
			(unsigned long)(frame - (uint64_t)(uintptr_t)at.dli_fbase));
	else if (frame == (uint64_t)(uintptr_t)at.dli_saddr)
		snprintf(buf, size, "%s`%s", file, at.dli_sname);
	else
		snprintf(buf, size, "%s`%s+0x%lx", file, at.dli_sname,
			(unsigned long)(frame - (uint64_t)(uintptr_t)at.dli_saddr));
	return true;
}
