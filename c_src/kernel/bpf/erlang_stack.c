/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ustack() in an Erlang VM (probe path): after the native frames, by which the JIT's code was left,
 * come those of the Erlang process that runs on the thread. JIT code has the process's stack in the stack pointer; return addresses
 * are told from terms by their lowest bits, as in the VM itself. When JIT code calls a function of
 * the VM it switches to the thread's stack, and saves its stack pointer in the process or in rbp;
 * which one is seen from the code at the return address.
 */
#include "engine/in_kernel.h"
#include "engine/slot.h"
#include "prog/stack_marks.h"
#include "task.h"
#include "vm_terms.h"

enum { REG_BP = 4, REG_SP = 19 };
enum { PID_MASK = 15, PID_TAG = 3, NORMAL = 0 }; /* NORMAL: a scheduler that is not a dirty one */
enum { PART = K_BUF / 2, MOST_PARTS = 16 };	  /* bytes that are read at once, and how often; */
enum { OLD_PARTS = 4 };				  /* these of the oldest, if there are more */
enum { MOVED = 4 * PART };
enum { LEAVING = 64, SAVED = 256 };		  /* bytes of code, of a thread's stack */
enum { OWN_BIT = 32, RAW = 2 };			  /* words */
/* What k_erlang_word() consists of: a call more, and its stack, would be too much without arenas. */
#define INLINE_WORD inline __attribute__((always_inline))

enum { MFA_SIZE = 24 };			  /* bytes, right before a function's code */
enum { RANGE = 16, MOST_HALVES = 20 };		  /* bytes of a range of code; to find one */
enum { MOST_NATIVE = 64 << 20 };		  /* of a thread's stack */
enum { DIRTY = 1, DIRTY_WORDS = 12 };		  /* no return address */
enum { FROM_BP = 0xec8948, FROM_PROCESS = 0x658b49 }; /* mov %rbp, %rsp; mov stop(%r13), %rsp */

static inline uint64_t limited(uint64_t n)
{
	__asm__ volatile("" : "+r"(n));
	return n & (K_BUF - 1);
}

static inline uint64_t buffer_word(const char *buf, uint64_t at)
{
	return *(const uint64_t *)(const void *)(buf + limited(at) / 8 * 8);
}

static inline uint64_t *frame_at(struct en_thread *t, uint64_t n)
{
	__asm__ volatile("" : "+r"(n));
	return (uint64_t *)(void *)(k_buffer(t) + K_BUF + K_STACKS / 2) + (n & K_FRAMES);
}

static inline const struct k_vm_stacks *find_vm(void)
{
	uint32_t pid = (uint32_t)(k_current_ids() >> 32);
	uint64_t at = k_vm_slot(pid);

	for (uint64_t i = 0; i < K_VM_SLOTS; i++, at = (at + 1) % K_VM_SLOTS) {
		const struct k_vm_stacks *vm = &k_root.vm_stacks[at];

		if (vm->pid == pid)
			return vm;
		if (vm->pid == 0)
			break;
	}
	return NULL;
}

static inline uint64_t user_register(uint64_t n)
{
	uint64_t v = 0, at = bpf_task_pt_regs(bpf_get_current_task_btf());

	bpf_probe_read_kernel(&v, sizeof(v), (const void *)(uintptr_t)(at + 8 * n));
	return v;
}

static inline bool is_own(const struct k_vm_stacks *vm, uint64_t address)
{
	return address - vm->jit.code.start < vm->jit.code.end - vm->jit.code.start;
}

/* A walk through a stack. It is in the arena: of what is there the verifier follows nothing. */
struct walk {
	uint64_t code, code_size; /* of all modules, with what is between them */
	uint64_t ranges, nranges; /* of each: its start and its end, in order */
	uint64_t stack, size;	  /* all of it that is looked at */
	uint64_t n;		  /* frames there are */
	uint64_t raw;		  /* the next so many words: see k_erlang_frames */
	uint64_t own;		  /* the word before is code that functions share */
	uint64_t ended;		  /* the bottom of the stack has been seen */
	uint64_t last, times;	  /* the last frame; how often, if more than once */
};

/* Where modules have their code now: some may have been loaded since the start. */
static inline void find_code(struct walk *w, const struct k_vm_stacks *vm)
{
	uint64_t table = vm->ranges + VM_MODULES * (user_word(vm->jit.active) & 3);

	w->ranges = user_word(table);
	w->nranges = user_word(table + 8);
	w->code = user_word(w->ranges);
	w->code_size = user_word(w->ranges + RANGE * w->nranges - 8) - w->code;
}

static inline bool is_atom(uint64_t term)
{
	return (term & 0x3f) == 0x0b;
}

/* A module, a function, an arity: what is before the code of a function. */
static INLINE_WORD bool is_mfa(uint64_t at)
{
	return is_atom(user_word(at)) && is_atom(user_word(at + 8)) && user_word(at + 16) < 256;
}

/* Enough for what can be nothing but code or a term: the JIT has memory here and there. */
static inline bool is_near_code(const struct walk *w, uint64_t address)
{
	return address - w->code < w->code_size;
}

/* One frame more; a run of equal ones is one frame and a mark. */
static INLINE_WORD void push(struct en_thread *t, struct walk *w, uint64_t word)
{
	if (word != w->last) {
		*frame_at(t, w->n++) = word;
		w->last = word;
		w->times = 1;
		return;
	}
	if (++w->times == 2)
		w->n++;
	*frame_at(t, w->n - 1) = STACK_MARK | w->times;
}

static INLINE_WORD void push_cut(struct en_thread *t, struct walk *w)
{
	*frame_at(t, w->n < K_FRAMES ? w->n++ : K_FRAMES - 1) = STACK_CUT;
	w->last = 0;
}

/* For what may be any address. */
static INLINE_WORD uint64_t k_is_code(const struct walk *w, uint64_t address)
{
	uint64_t low = 0, high = w->nranges;

	if (!is_near_code(w, address))
		return 0;
	for (uint64_t i = unknown_zero(); i < MOST_HALVES && low < high; i++) {
		uint64_t mid = low + (high - low) / 2, at = w->ranges + RANGE * mid;

		if (address < user_word(at))
			high = mid;
		else if (address >= user_word(at + 8))
			low = mid + 1;
		else
			return 1;
	}
	return 0;
}

/*
 * When calls are traced, the VM puts a return address of its own on the stack, and after it the
 * function that was called, by its MFA or its code: that is no frame. Nor is a frame pointer, which
 * a VM with +JPperf has there, to the same stack: heaps may be between the JIT's pieces of code.
 */
INLINE_HERE uint64_t k_erlang_word(
	struct en_thread *t, struct walk *w, const struct k_vm_stacks *vm, uint64_t word)
{
	bool raw = w->raw > 0, own = w->own;

	w->raw -= raw;
	w->own = false;
	if ((!raw && (word & 3) != 0) || word - w->stack < w->size)
		return 1;
	if (word == vm->bottom && word != 0) {
		w->ended = true;
		return 0;
	}
	if (is_own(vm, word))
		w->own = true;
	else if ((raw ? k_is_code(w, word) : is_near_code(w, word)) &&
		 !(own && (is_mfa(word) || is_mfa(word - MFA_SIZE))))
		push(t, w, word);
	if (w->n < K_FRAMES)
		return 1;
	push_cut(t, w);
	return 0;
}

/*
 * The return addresses from `at' on: those of Erlang functions are frames, from the n-th on. In the
 * JIT's own code (OWN) the first may be one that the VM itself does not know by its lowest bits.
 */
INLINE_HERE uint64_t k_erlang_frames(struct en_thread *t, const struct k_vm_stacks *vm, uint64_t at,
	uint64_t end, uint64_t n)
{
	struct walk *w = (struct walk *)(void *)t->k.big;
	char *buf = k_buffer(t);

	find_code(w, vm);
	w->stack = at;
	w->size = end - at;
	w->n = n & K_FRAMES;
	w->raw = n >> OWN_BIT ? RAW : 0;
	w->own = w->ended = false;
	w->last = w->n > 0 ? *frame_at(t, w->n - 1) : 0;
	w->times = 1;
	for (uint64_t k = unknown_zero(); k < MOST_PARTS && at < end; k++) {
		uint64_t part;

		if (k == MOST_PARTS - OLD_PARTS && end - at > OLD_PARTS * PART) {
			push_cut(t, w); /* what is left of a large stack: its oldest part */
			at = end - OLD_PARTS * PART;
		}
		part = end - at < PART ? end - at : PART;
		if (bpf_probe_read_user(
			    buf, (uint32_t)limited(part), (const void *)(uintptr_t)at) != 0)
			break;
		for (uint64_t i = unknown_zero(); i + 8 <= part; i += 8)
			if (!k_erlang_word(t, w, vm, buffer_word(buf, i)))
				return w->n;
		at += part;
	}
	return w->n;
}

/*
 * Code of the JIT that goes on with the process's stack: where from? false: from the process,
 * where the VM's functions have it too.
 */
INLINE_HERE uint64_t k_left_in_bp(struct en_thread *t, uint64_t code)
{
	char *buf = k_buffer(t);

	if (bpf_probe_read_user(buf, LEAVING + 8, (const void *)(uintptr_t)code) != 0)
		return 0;
	for (uint64_t i = unknown_zero(); i < LEAVING; i++) {
		uint64_t insn = buffer_word(buf, i) >> 8 * (i & 7);

		if ((i & 7) > 5)
			insn |= buffer_word(buf, i + 8) << (64 - 8 * (i & 7));
		if ((insn & 0xffffff) == FROM_BP)
			return 1;
		if ((insn & 0xffffff) == FROM_PROCESS)
			return 0;
	}
	return 0;
}

/*
 * The stack pointer that was in rbp when a function was called: it is there still, or a function
 * has saved it, within the first words below `top'. Of all that may be there it is the largest
 * within the heap: pointers to terms are below. 0: not found.
 */
static inline uint64_t saved_bp(
	struct en_thread *t, uint64_t top, uint64_t sp, uint64_t heap_end, uint64_t end)
{
	uint64_t found = user_register(REG_BP), n = top - sp < SAVED ? top - sp : SAVED;
	char *buf = k_buffer(t);

	if (found % 8 != 0 || found - heap_end >= end - heap_end)
		found = 0;
	if (bpf_probe_read_user(buf, (uint32_t)limited(n), (const void *)(uintptr_t)(top - n)) != 0)
		return found;
	for (uint64_t i = unknown_zero(); i + 8 <= n; i += 8) {
		uint64_t word = buffer_word(buf, i);

		if (word % 8 == 0 && word - heap_end < end - heap_end && word > found)
			found = word;
	}
	return found;
}

/*
 * Native frames as far as they are right: up to what called from the JIT's code (called), or what
 * runs processes on a dirty scheduler (DIRTY). 0: all.
 */
INLINE_HERE uint64_t k_native_frames(
	struct en_thread *t, const struct k_vm_stacks *vm, uint64_t called)
{
	uint64_t n = t->k.nustack;

	if (!vm->frames && n > t->k.nsure)
		n = t->k.nsure;
	if (called == DIRTY && vm->dirty_size == 0 && !vm->frames)
		return 1;
	for (uint64_t i = 1; i < K_FRAMES && i < n; i++) {
		uint64_t word = *frame_at(t, i);

		if (word == called || (called == DIRTY && word - vm->dirty < vm->dirty_size))
			return i;
	}
	return n;
}

/* The same function: two MFAs with the same three words. */
static inline bool is_same(uint64_t mfa, uint64_t other)
{
	return user_word(mfa) == user_word(other) && user_word(mfa + 8) == user_word(other + 8) &&
	       user_word(mfa + 16) == user_word(other + 16);
}

/*
 * A dirty NIF or BIF is called through a structure of its process: at is where that has its code.
 * After it there is a pointer to the function's own MFA.
 */
static inline uint64_t dirty_callee(const struct walk *w, uint64_t at)
{
	if (at == 0 || k_is_code(w, at) || !is_mfa(at - MFA_SIZE))
		return at;
	for (uint64_t i = unknown_zero(); i < DIRTY_WORDS; i++) {
		uint64_t mfa = user_word(at + 8 * i);

		if (is_near_code(w, mfa) && is_same(mfa, at - MFA_SIZE))
			return mfa + MFA_SIZE;
	}
	return 0;
}

/*
 * The NIF or BIF that runs, which has no frame on the stack: where its MFA ends, in its function
 * or, for a light BIF, in its Export. Where it returns to (called) says which kind it is, and so
 * where it is told. 0: none, or one that was made while running (enif_schedule_nif()), which is in
 * no module.
 */
INLINE_HERE uint64_t k_erlang_callee(struct en_thread *t, const struct k_vm_stacks *vm,
	uint64_t process, uint64_t top, uint64_t called)
{
	struct walk *w = (struct walk *)(void *)t->k.big;
	uint64_t at = 0, mfa;

	find_code(w, vm);
	if (called == vm->jit.light && called != 0) {
		mfa = user_word(top + vm->jit.export) + vm->jit.export_mfa;
		return is_mfa(mfa) ? mfa + MFA_SIZE : 0;
	}
	if (called == DIRTY && vm->jit.i != 0)
		at = dirty_callee(w, user_word(process + vm->jit.i));
	else if ((called == vm->jit.nif || called == vm->jit.bif) && called != 0)
		at = user_word(process + vm->jit.current) + MFA_SIZE;
	mfa = at - MFA_SIZE;
	return k_is_code(w, mfa) && is_mfa(mfa) ? at : 0;
}

/* In the VM's own functions. data: of the scheduler. */
INLINE_HERE uint64_t k_erlang_native(struct en_thread *t, const struct k_vm_stacks *vm,
	uint64_t data, uint64_t process, uint64_t sp)
{
	uint64_t heap = user_word(process + vm->heap), end = user_word(process + vm->heap + 8);
	uint64_t at = user_word(process + vm->stop), top = user_word(data), called = 0, callee,
		 frames, n;
	bool normal = (user_word(data + vm->current + 8) & UINT32_MAX) == NORMAL, moved;

	if (normal && sp <= top && top - sp < MOST_NATIVE) {
		if (sp < top)
			called = user_word(top - 8);
		if (k_left_in_bp(t, sp < top ? called : *frame_at(t, t->k.nsure - 1)))
			at = saved_bp(t, top, sp, user_word(process + vm->stop - 8), end);
	}
	n = k_native_frames(t, vm, normal ? called : DIRTY);
	if (t->k.ncaller == 0)
		t->k.ncaller = (uint32_t)n;
	if (called != 0 && !is_own(vm, called) && n < K_FRAMES)
		*frame_at(t, n++) = called;
	callee = k_erlang_callee(t, vm, process, top, normal ? called : DIRTY);
	if (callee != 0 && n < K_FRAMES)
		*frame_at(t, n++) = callee;
	moved = at - heap >= end - heap;
	if (moved) { /* by a garbage collection: up to the bottom, if that is there */
		at = user_word(process + vm->stop);
		end = at + MOVED;
	}
	frames = k_erlang_frames(t, vm, at, end, n | (uint64_t)is_own(vm, called) << OWN_BIT);
	return moved && !((struct walk *)(void *)t->k.big)->ended ? n : frames;
}

/* What is to be done with the frames that the kernel has given: how many there are then. */
uint64_t k_erlang_stack(struct en_thread *t)
{
	const struct k_vm_stacks *vm = find_vm();
	uint64_t data, process, heap, end, sp;

	if (vm == NULL || t->k.nustack == 0)
		return t->k.nustack;
	data = thread_data(vm->scheduler);
	process = data != 0 ? user_word(data + vm->current) : 0;
	if (process == 0 || (user_word(process) & PID_MASK) != PID_TAG)
		return k_native_frames(t, vm, 0);
	heap = user_word(process + vm->heap);
	end = user_word(process + vm->heap + 8);
	sp = user_register(REG_SP);
	if (sp - heap >= end - heap)
		return k_erlang_native(t, vm, data, process, sp);
	return k_erlang_frames(t, vm, sp, end,
		t->k.nsure | (uint64_t)is_own(vm, *frame_at(t, t->k.nsure - 1)) << OWN_BIT);
}
