/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signal handler of the sampler. It runs on a scheduler's alternate stack, wherever the thread
 * was: in code of the JIT, in the VM, in a NIF, in a system call. So it calls nothing but the
 * system, takes no lock, allocates nothing, leaves errno as it was, and does a bounded amount of
 * work: it writes one sample into the ring of its thread. sampler_fire.c reads the rings.
 *
 * A process's own words and its stack are read by process_vm_readv(): while a thread is in C code,
 * a garbage collection may be about to move or free them. What is read is a guess, then: every word
 * is looked at again before it becomes a frame (sampler_frames.c).
 *
 * Frames are made here and not by the reader: code on the stack of a process that runs is not
 * freed, but soon afterwards other code may be in its place.
 *
 * Where the stack is:
 *   in the JIT's code	    rsp is the stack pointer of the Erlang stack
 *   in what that called    the thread's registers lie where C's stack begins, with the return
 *			    address of the call below them. The code there restores the Erlang
 *			    stack pointer: from the process, or from rbp, in which case C code has
 *			    saved it somewhere near
 *   while it is collected  the process's stack pointer may point to a new heap which is not the
 *			    process's yet; its end is seen by the oldest word of every stack
 *
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "beam/vm/own_name.h"
#include "compiler.h"
#include "engine/clock.h"
#include "prog/stack_marks.h"
#include "sampler.h"

#define NEAR	32	     /* words below the registers where C code may have saved some */
#define AHEAD	64	     /* bytes of code in which the stack pointer is restored */
#define C_STACK (64UL << 20) /* no C stack is larger */
#define LONGEST 1000000	     /* ns that a sample may take */

_Atomic(struct sampler_thread *) sampler_threads[SAMPLER_THREADS];
_Atomic unsigned sampler_nthreads;
_Atomic uint64_t sampler_period;
_Atomic bool sampler_names, sampler_stacks, sampler_lines;
_Atomic uintptr_t sampler_ret_schedule;
pid_t sampler_pid;

/* ---- memory ---------------------------------------------------------------------------- */

/* How many of these bytes there are, first those of a, then those of b. */
static size_t read_parts(void *to, struct iovec a, struct iovec b)
{
	struct iovec local = {to, a.iov_len + b.iov_len}, remote[] = {a, b};
	long done = syscall(SYS_process_vm_readv, sampler_pid, &local, 1L, remote, 2L, 0L);

	return done > 0 ? (size_t)done : 0;
}

PROBE_PATH static size_t read_part(void *to, uintptr_t from, size_t n)
{
	return read_parts(to, (struct iovec){(void *)from, n}, (struct iovec){NULL, 0});
}

bool sampler_read(void *to, uintptr_t from, size_t n)
{
	return read_part(to, from, n) == n;
}

/* Two of them: the one that is not in use is filled, then they change places. */
static struct sampler_ranges ranges[2];
static _Atomic unsigned in_use;

void sampler_set_ranges(const struct sampler_ranges *r)
{
	unsigned next = !atomic_load(&in_use);

	ranges[next] = *r;
	ranges[next].all = (struct sampler_range){UINTPTR_MAX, 0};
	for (unsigned i = 0; i < r->n; i++) {
		struct sampler_range *all = &ranges[next].all;

		all->from = r->of[i].from < all->from ? r->of[i].from : all->from;
		all->to = r->of[i].to > all->to ? r->of[i].to : all->to;
	}
	atomic_store(&in_use, next);
}

PROBE_PATH size_t sampler_code(uintptr_t at)
{
	const struct sampler_ranges *r =
		&ranges[atomic_load_explicit(&in_use, memory_order_acquire)];

	if (at < r->all.from || at >= r->all.to) /* most words of a stack */
		return 0;
	for (unsigned i = 0; i < r->n && i < SAMPLER_RANGES; i++)
		if (at >= r->of[i].from && at < r->of[i].to)
			return r->of[i].to - at;
	return 0;
}

/* ---- a sample -------------------------------------------------------------------------- */

#if defined(__x86_64__)

struct interrupted {
	uintptr_t pc, sp, bp;
};

static void registers_of(const void *context, struct interrupted *at)
{
	const greg_t *g = ((const ucontext_t *)context)->uc_mcontext.gregs;

	at->pc = (uintptr_t)g[REG_RIP];
	at->sp = (uintptr_t)g[REG_RSP];
	at->bp = (uintptr_t)g[REG_RBP];
}

/* Does the code that C returns to take the Erlang stack pointer from rbp, not from the process? */
static bool restores_from_rbp(uintptr_t code)
{
	const uint8_t *p = (const uint8_t *)code;

	if (sampler_code(code) < AHEAD + 8)
		return false;
	for (int i = 0; i < AHEAD; i++) {
		if (p[i] == 0x48 && p[i + 1] == 0x89 && p[i + 2] == 0xec) /* mov %rbp,%rsp */
			return true;
		if (p[i] == 0x49 && p[i + 1] == 0x8b && p[i + 2] == 0x65) /* mov stop(%r13),%rsp */
			return false;
	}
	return false;
}

#else
struct interrupted {
	uintptr_t pc, sp, bp;
};

static void registers_of(const void *context, struct interrupted *at)
{
	(void)context;
	memset(at, 0, sizeof(*at));
}

static bool restores_from_rbp(uintptr_t code)
{
	(void)code;
	return false;
}
#endif

/* The Erlang stack pointer, where C code has saved it: the oldest that it may be. */
static uintptr_t saved_stack(
	const uintptr_t *proc, const struct interrupted *at, const uintptr_t *top)
{
	const uintptr_t htop = proc[sampler_facts.htop], end = proc[sampler_facts.end];
	uintptr_t best = at->bp % 8 == 0 && at->bp > htop && at->bp <= end ? at->bp : 0;

	for (unsigned i = 1; i <= NEAR && (uintptr_t)(top - i) >= at->sp; i++) {
		uintptr_t w = *(top - i);

		if (w % 8 == 0 && w > htop && w < end && w > best)
			best = w;
	}
	return best;
}

/* One that is too large: its newest words and its oldest. */
static size_t read_large(struct sampler_thread *t, uintptr_t from, uintptr_t end)
{
	const size_t oldest = SAMPLER_OLDEST * sizeof(uintptr_t);
	struct iovec a = {(void *)from, sizeof(t->stack) - oldest},
		     b = {(void *)(end - oldest), oldest};

	t->seen.cut = SAMPLER_STACK - SAMPLER_OLDEST;
	return read_parts(t->stack, a, b) / sizeof(uintptr_t);
}

/* The words of the stack that starts here; while it is moved, up to its oldest word. */
static size_t read_stack(struct sampler_thread *t, uintptr_t from)
{
	const uintptr_t *proc = t->proc;
	const uintptr_t heap = proc[sampler_facts.heap], end = proc[sampler_facts.end];
	size_t n;

	if (from % 8 == 0 && from >= heap && from <= end) {
		n = (end - from) / sizeof(uintptr_t);
		if (n > SAMPLER_STACK)
			return read_large(t, from, end);
		return read_part(t->stack, from, n * sizeof(uintptr_t)) / sizeof(uintptr_t);
	}
	from = proc[sampler_facts.stop];
	n = from % 8 == 0 ? read_part(t->stack, from, sizeof(t->stack)) / sizeof(uintptr_t) : 0;
	for (size_t i = 0; i < n; i++)
		if (t->stack[i] == sampler_facts.normal_exit)
			return i + 1;
	return 0;
}

static void read_name(const struct sampler_thread *t, uintptr_t proc, struct sampler_head *h)
{
	uintptr_t entry[BEAM_NAME_ENTRY], at = beam_name_entry(t->proc);

	if (at != 0 && sampler_read(entry, at, sizeof(entry)))
		h->name = beam_name_in_entry(entry, proc);
}

static void read_mfa(struct sampler_seen *s, uintptr_t at)
{
	if (!sampler_read(s->mfa, at, sizeof(s->mfa)))
		memset(s->mfa, 0, sizeof(s->mfa));
}

/* In C code that the JIT's code has called; the Erlang stack pointer. */
static uintptr_t look_at_c(
	struct sampler_thread *t, const uintptr_t *data, const struct interrupted *at)
{
	const uintptr_t *proc = t->proc, *top = (const uintptr_t *)data[0];
	struct sampler_seen *s = &t->seen;
	uintptr_t ret;

	if (at->sp > (uintptr_t)top || (uintptr_t)top - at->sp > C_STACK)
		return proc[sampler_facts.stop];
	ret = at->sp < (uintptr_t)top ? top[-1] : at->pc;
	if (sampler_code(ret) == 0)
		return proc[sampler_facts.stop];
	s->raw = 3;
	if (at->sp < (uintptr_t)top)
		s->called = ret;
	if (s->called != 0 &&
		(s->called == sampler_facts.ret_nif || s->called == sampler_facts.ret_slow_bif))
		read_mfa(s, proc[sampler_facts.current]);
	else if (s->called != 0 && s->called == sampler_facts.ret_bif && top[2] != 0)
		read_mfa(s, top[2] + sampler_facts.export * sizeof(uintptr_t));
	return restores_from_rbp(ret) ? saved_stack(proc, at, top) : proc[sampler_facts.stop];
}

/* No process runs: this is how the scheduler itself is known where one still does. */
static void learn_schedule(const uintptr_t *data, const struct interrupted *at)
{
	const uintptr_t *top = (const uintptr_t *)data[0];

	if (at->sp < (uintptr_t)top && (uintptr_t)top - at->sp < C_STACK &&
		sampler_code(top[-1]) > 0)
		atomic_store_explicit(&sampler_ret_schedule, top[-1], memory_order_relaxed);
}

static bool read_process(struct sampler_thread *t, uintptr_t p)
{
	return sampler_read(t->proc, p, sizeof(t->proc)) && (t->proc[0] & 15) == 3;
}

#define NOBODY 0xfffffff /* all bits of its number are set: no process has this pid */
static bool is_nobody(uintptr_t pid)
{
	return (pid >> 4 & NOBODY) == NOBODY;
}

/* A process knows the data of the scheduler that runs it, and of no other. */
static bool runs_on(const uintptr_t *proc, const uintptr_t *data)
{
	for (unsigned i = 1; i < SAMPLER_PROC; i++)
		if (proc[i] == (uintptr_t)data)
			return true;
	return false;
}

/*
 * While a match specification runs, of ets:select() and the like, the VM has put a process of its
 * own in the place of the one that runs it. The JIT's code keeps that one in a register, which C
 * code saves where its stack begins. Returns 0, and no words of a process, if it is not there.
 */
static uintptr_t who_matches(
	struct sampler_thread *t, const uintptr_t *data, const struct interrupted *at)
{
	const uintptr_t *top = (const uintptr_t *)data[0];
	const bool on_stack =
		t->type == 0 && at->sp < (uintptr_t)top && (uintptr_t)top - at->sp <= C_STACK;

	for (unsigned i = 1; on_stack && i <= NEAR && (uintptr_t)(top - i) >= at->sp; i++) {
		const uintptr_t p = *(top - i);

		if (p != 0 && p % 8 == 0 && p >> 47 == 0 && read_process(t, p) &&
			!is_nobody(t->proc[0]) && runs_on(t->proc, data))
			return p;
	}
	memset(t->proc, 0, sizeof(t->proc));
	return 0;
}

/* Fills t->seen and the head; how many words of the stack there are. */
static size_t look(struct sampler_thread *t, const uintptr_t *data, const struct interrupted *at,
	struct sampler_head *h)
{
	uintptr_t p = data[sampler_facts.process];
	uintptr_t *proc = t->proc, stack;
	struct sampler_seen *s = &t->seen;

	if (p == 0) {
		if (t->type == 0)
			learn_schedule(data, at);
		return 0;
	}
	if (!read_process(t, p))
		return 0;
	if (is_nobody(proc[0]))
		p = who_matches(t, data, at);
	h->pid = proc[0];
	h->own = (proc[sampler_facts.flags] & sampler_facts.sensitive) != 0;
	if (h->own)
		return 0;
	if (p != 0 && atomic_load_explicit(&sampler_names, memory_order_relaxed))
		read_name(t, p, h);
	if (t->type != 0) {
		s->kind = SAMPLED_DIRTY;
		s->i = sampler_facts.i != 0 ? proc[sampler_facts.i] : 0;
		if (s->i != 0)
			read_mfa(s, s->i - 3 * sizeof(uintptr_t));
		stack = proc[sampler_facts.stop];
	} else if (at->sp >= proc[sampler_facts.heap] && at->sp < proc[sampler_facts.end]) {
		s->kind = SAMPLED_JIT;
		s->raw = 3;
		stack = at->sp;
	} else {
		s->kind = SAMPLED_C;
		stack = look_at_c(t, data, at);
	}
	return read_stack(t, stack);
}

/*
 * A word that may be a return address: aligned, as those of calls in Erlang are; or a fragment's.
 */
static bool may_return(uintptr_t w, bool raw)
{
	return (w % 4 == 0 || raw) && sampler_code(w) != 0;
}

/* The next word; false: no room. A recursion has the same one again and again. */
static bool add_word(struct sampler_seen *s, uintptr_t word)
{
	if (s->nwords > 0 && s->words[s->nwords - 1] == word) {
		s->times[s->nwords - 1]++;
		return true;
	}
	if (s->nwords == SAMPLER_FRAMES)
		return false;
	s->words[s->nwords] = word;
	s->times[s->nwords++] = 1;
	return true;
}

static void make_frames(struct sampler_thread *t, size_t nstack, struct sampler_head *h)
{
	struct sampler_seen *s = &t->seen;

	h->state = sampler_state(s);
	if (h->own || !atomic_load_explicit(&sampler_stacks, memory_order_relaxed))
		return;
	for (size_t i = 0; i < nstack; i++) {
		if (i != 0 && i == s->cut && !add_word(s, STACK_CUT))
			break;
		if (may_return(t->stack[i], i < s->raw) && !add_word(s, t->stack[i]))
			break;
	}
	h->nframes = (uint16_t)sampler_frames(s, h->state, t->frames, SAMPLER_FRAMES,
		atomic_load_explicit(&sampler_lines, memory_order_relaxed));
}

static void put(struct sampler_thread *t, const struct sampler_head *h, uint64_t head)
{
	uintptr_t word[SAMPLER_HEAD];

	memcpy(word, h, sizeof(word));
	for (unsigned i = 0; i < SAMPLER_HEAD; i++)
		t->ring[head++ % SAMPLER_RING] = word[i];
	for (unsigned i = 0; i < h->nframes; i++)
		t->ring[head++ % SAMPLER_RING] = t->frames[i];
	atomic_store_explicit(&t->head, head, memory_order_release);
}

static void take(struct sampler_thread *t, const siginfo_t *si, const void *context)
{
	struct sampler_head h = {.times = 1 + (uint32_t)(si->si_overrun > 0 ? si->si_overrun : 0)};
	const uintptr_t *data = pthread_getspecific(sampler_facts.key);
	uint64_t head = atomic_load_explicit(&t->head, memory_order_relaxed);
	uint64_t used = head - atomic_load_explicit(&t->tail, memory_order_acquire);
	struct interrupted at;

	if (data == NULL || (int)(data[sampler_facts.process + 1] & 0xffffffff) != t->type) {
		atomic_store_explicit(&t->foreign, true, memory_order_relaxed);
		return;
	}
	if (SAMPLER_RING - used < SAMPLER_HEAD + SAMPLER_FRAMES) {
		atomic_store_explicit(&t->drops,
			atomic_load_explicit(&t->drops, memory_order_relaxed) + h.times,
			memory_order_relaxed);
		return;
	}
	registers_of(context, &at);
	h.pc = t->seen.pc = at.pc;
	h.period = atomic_load_explicit(&sampler_period, memory_order_relaxed);
	t->seen.kind = SAMPLED_NOTHING;
	t->seen.called = t->seen.i = 0;
	memset(t->seen.mfa, 0, sizeof(t->seen.mfa));
	t->seen.raw = t->seen.nwords = t->seen.cut = 0;
	make_frames(t, look(t, data, &at, &h), &h);
	put(t, &h, head);
}

/* The thread may have been off its processor meanwhile: no sample takes that long. */
static void take_timed(struct sampler_thread *t, const siginfo_t *si, const void *context)
{
	uint64_t from = en_now(), ns;

	take(t, si, context);
	ns = en_now() - from;
	atomic_store_explicit(&t->took,
		atomic_load_explicit(&t->took, memory_order_relaxed) +
			(ns < LONGEST ? ns : LONGEST),
		memory_order_relaxed);
}

/*
 * The value of a timer is the number of its thread, no pointer: whoever sends a signal like ours
 * can have a sample taken, at most.
 *
 */
PROBE_PATH void sampler_on_signal(int sig, siginfo_t *si, void *context)
{
	int err = errno, n = si->si_value.sival_int;
	struct sampler_thread *t = NULL;

	(void)sig;
	if (si->si_code == SI_TIMER && n >= 0 && n < SAMPLER_THREADS)
		t = atomic_load_explicit(&sampler_threads[n], memory_order_acquire);
	if (t != NULL && t->tid == (pid_t)syscall(SYS_gettid)) {
		atomic_store(&t->inside, true);
		if (atomic_load(&t->live))
			take_timed(t, si, context);
		atomic_store_explicit(&t->inside, false, memory_order_release);
	}
	errno = err;
}
