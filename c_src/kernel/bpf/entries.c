/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where programs begin: a function for each kind of event (kernel/entries.def). It finds the probe,
 * takes a slot, puts the arguments that are used where clauses read them, and runs the clauses.
 */
#include "confined.h"
#include "kernel_regs.h"
#include "task.h"
#include "timed.h"
#include "engine/tables/counter.h"
#include "engine/fire.h"
#include "engine/fire_path.h"
#include "engine/probe.h"
#include "engine/slot.h"
#include "engine/state.h"

enum { USER_STACK = 1 << 8 }; /* a flag of bpf_get_stack */

/* A word of the context, read here and now: the verifier wants the pointer to it unchanged. */
#define CTX(n)                                                                                     \
	({                                                                                         \
		uint64_t word_ = ctx[n];                                                           \
		__asm__ volatile("" : "+r"(word_));                                                \
		word_;                                                                             \
	})

static inline bool enter(struct en_thread *t)
{
	uint64_t seq = t->seq;

	return !(seq & 1) && __sync_val_compare_and_swap(&t->seq, seq, seq + 1) == seq;
}

/* The CPU's slot, or a spare one where that is in use: an interrupt, or one that was preempted. */
static inline struct en_thread *take_slot(struct k_root *r)
{
	struct en *en = r->en;
	uint32_t cpu = bpf_get_smp_processor_id();
	struct en_thread *t = en_slot(en, cpu);

	if (cpu < r->cpu_slots && enter(t))
		return t;
	for (uint32_t i = r->cpu_slots; i < r->nslots; i++) {
		t = en_slot(en, i);
		if (enter(t))
			return t;
	}
	__sync_fetch_and_add(&en->no_slot, 1);
	return NULL;
}

void k_free_self(struct en_thread *t, uint64_t key); /* engine/dyn.c */
uint64_t k_find_process(struct en_thread *t);	     /* vm_terms.c */
uint64_t k_erlang_stack(struct en_thread *t);	     /* erlang_stack.c */

/* task: who fires, if it is not the current thread; else 0. */
static inline struct fire *begin_in(
	struct k_root *r, struct en_probe *p, unsigned phase, uint64_t task)
{
	struct en *en = r->en;
	uint64_t tid = 0, shown;
	struct en_thread *t;

	if (p == NULL || p->ecbs == NULL || en->phase != phase)
		return NULL;
	if (phase == PHASE_RUN && en->only_cpu != UINT64_MAX &&
		bpf_get_smp_processor_id() != en->only_cpu)
		return NULL;
	if (is_confined() && !k_may_see(task != 0 ? task : bpf_get_current_task())) {
		time_hidden(r, K_HIDDEN_NS);
		return NULL;
	}
	t = take_slot(r);
	if (t == NULL)
		return NULL;
	time_begin(t);
	if (r->uses_ids) /* they take time */
		tid = bpf_get_current_pid_tgid();
	shown = r->pid_ns == 0 ? tid : k_current_ids();
	t->tid = (uint32_t)shown;
	t->k.pid = (uint32_t)(shown >> 32);
	t->k.task = 0;
	t->k.other = t->k.file = 0;
	t->k.uregs = 0;
	t->k.ncaller = 0;
	t->self_key = (uint32_t)tid | 1ULL << 62;
	t->k.vm = t->k.process = t->k.answers = 0;
	if (r->nvms > 0 && !(task != 0 && is_confined()))
		k_find_process(t);
	t->k.task = task;
	count_add(&t->fired, 1);
	fire_set_up(&t->fire, p, 0, NULL);
	return &t->fire;
}

static inline struct fire *begin(struct k_root *r, struct en_probe *p)
{
	return begin_in(r, p, PHASE_RUN, 0);
}

static inline void run_in(struct fire *f, unsigned phase)
{
	struct en_thread *t = f->thread;

	for (unsigned m = f->probe->nomask, i = 0; m >> i != 0; i++)
		if (m >> i & 1)
			f->arg[i] = 0;
	fire_run(t, f, f->probe->ecbs, phase, false);
	time_end(t);
	slot_leave(t);
}

static inline void run(struct fire *f)
{
	run_in(f, PHASE_RUN);
}

/* ---- BEGIN and END, for tests --------------------------------------------------------- */

uint64_t k_begin_end(uint64_t *ctx)
{
	bool end = ctx[0] & 1;
	unsigned phase = end ? PHASE_END : PHASE_BEGIN;
	struct fire *f = begin_in(&k_root, k_root.begin_end[end], phase, 0);

	if (f != NULL)
		run_in(f, phase);
	return 0;
}

/* ---- stacks ------------------------------------------------------------------------------ */

/* Those that the probe's clauses read: only here is the context, of which they are taken. */

/*
 * Where the program was called: with registers, the stack is theirs. Else it begins with frames of
 * BPF's own, the program and what calls it.
 */
enum called { BY_REGISTERS, BY_TRACEPOINT, BY_TRAMPOLINE };
enum { TOP_FRAMES = 8, LEAST_OWN = 2 };

/* How many of them; with a trampoline the function is the next one, whose address we know. */
static inline __attribute__((always_inline)) uint64_t own_frames(
	void *ctx, struct fire *f, enum called called)
{
	struct en_thread *t = f->thread;
	uint64_t func = (uint64_t)(uintptr_t)f->probe->pvdata, n, found;
	long got;

	if (called == BY_REGISTERS)
		return 0;
	if (called == BY_TRACEPOINT && k_root.ntracing == 0)
		return LEAST_OWN;
	got = bpf_get_stack(ctx, k_buffer(t) + K_BUF, 8 * TOP_FRAMES, 0);
	n = got > 0 ? (uint64_t)got / 8 : 0;
	found = called == BY_TRACEPOINT ? k_tracing_frames(t, n) : k_frames_above(t, n, func);
	found &= 0xff; /* the verifier is to see that it is no flag */
	return found > 0 ? found : LEAST_OWN;
}

static inline __attribute__((always_inline)) void kernel_stack(
	void *ctx, struct fire *f, enum called called)
{
	struct en_thread *t = f->thread;
	char *buf = k_buffer(t) + K_BUF;
	uint64_t skip;
	long got;

	if (!f->probe->uses.stack)
		return;
	if (is_confined()) { /* where the kernel's code is, is not told */
		t->k.nstack = 0;
		return;
	}
	skip = own_frames(ctx, f, called);
	got = bpf_get_stack(ctx, buf, 8 * K_FRAMES, skip);
	t->k.nstack = got > 0 ? (uint32_t)got / 8 : 0;
}

static inline uint64_t *user_frames(struct en_thread *t)
{
	return (uint64_t *)(void *)(k_buffer(t) + K_BUF + K_STACKS / 2);
}

/* So many frames were taken, the first of them (sure) by other means than frame pointers. */
static inline void took_frames(struct en_thread *t, uint32_t n, uint32_t sure)
{
	t->k.nustack = n;
	t->k.nsure = sure;
	if (k_root.vm_stacks != NULL)
		t->k.nustack = (uint32_t)k_erlang_stack(t);
}

/* By tables, from the frame n on, if they know where the program stands. */
static inline bool took_by_table(struct en_thread *t, uint64_t n, uint64_t how)
{
	uint32_t got = (uint32_t)k_unwind(t, n, how);

	if (got > 0)
		took_frames(t, got, got);
	return got > 0;
}

static inline __attribute__((always_inline)) void user_stack(void *ctx, struct fire *f)
{
	struct en_thread *t = f->thread;
	long got;

	if (f->probe->uses.ustack && !took_by_table(t, 0, 0)) {
		got = bpf_get_stack(ctx, user_frames(t), 8 * K_FRAMES, USER_STACK);
		took_frames(t, got > 0 ? (uint32_t)got / 8 : 0, 1);
	}
}

static inline __attribute__((always_inline)) void stacks_from(
	void *ctx, struct fire *f, enum called called)
{
	kernel_stack(ctx, f, called);
	user_stack(ctx, f);
}

static inline __attribute__((always_inline)) void stacks(void *ctx, struct fire *f)
{
	stacks_from(ctx, f, BY_TRACEPOINT);
}

/* ---- system calls --------------------------------------------------------------------- */

uint64_t k_sys_enter(uint64_t *ctx)
{
	uint64_t nr = ctx[1];
	struct regs regs;
	struct fire *f;
	uint16_t mask;

	if (nr >= K_SYSCALLS)
		return 0;
	f = begin(&k_root, k_root.sys_enter[nr]);
	if (f == NULL)
		return 0;
	f->thread->k.uregs = ctx[0];
	mask = f->probe->argmask;
	if (mask != 0 &&
		bpf_probe_read_kernel(&regs, sizeof(regs), (void *)(ctx[0] + REGS_OFF)) == 0) {
		f->arg[0] = regs.di;
		f->arg[1] = regs.si;
		f->arg[2] = regs.dx;
		f->arg[3] = regs.r10;
		f->arg[4] = regs.r8;
		f->arg[5] = regs.r9;
	}
	stacks(ctx, f);
	run(f);
	return 0;
}

/* As DTrace has it: arg0 and arg1 are what the call returns, -1 where it failed. */
uint64_t k_sys_exit(uint64_t *ctx)
{
	uint64_t nr = 0, ret = ctx[1];
	struct fire *f;

	if (bpf_probe_read_kernel(&nr, sizeof(nr), (void *)(ctx[0] + REGS_OFF + 64)) != 0 ||
		nr >= K_SYSCALLS)
		return 0;
	f = begin(&k_root, k_root.sys_exit[nr]);
	if (f == NULL)
		return 0;
	f->thread->k.uregs = ctx[0];
	f->thread->k.sys_errno = ret > -4096ULL ? (uint32_t)-ret : 0;
	f->arg[0] = f->arg[1] = ret > -4096ULL ? UINT64_MAX : ret;
	stacks(ctx, f);
	run(f);
	return 0;
}

/* ---- tracepoints ---------------------------------------------------------------------- */

/*
 * A tracepoint has so many words, and a program that reads more is refused: what is not read is
 * known when the program is linked.
 */
#define WORD(n)                                                                                    \
	do {                                                                                       \
		if ((uint64_t)k_words >> (n) & 1)                                                  \
			f->arg[n] = CTX(n);                                                        \
	} while (0)

uint64_t k_rawtp(uint64_t *ctx)
{
	struct fire *f = begin(&k_root, &k_probe);

	if (f == NULL)
		return 0;
	WORD(0);
	WORD(1);
	WORD(2);
	WORD(3);
	WORD(4);
	WORD(5);
	WORD(6);
	WORD(7);
	WORD(8);
	WORD(9);
	stacks(ctx, f);
	run(f);
	return 0;
}

/* ---- functions of programs ------------------------------------------------------------ */

/* The registers of user space at the site: struct pt_regs, as the kernel has it. */
struct user_regs {
	uint64_t r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs,
		flags, sp, ss;
};

static inline struct fire *begin_cookie(void *ctx)
{
	uint64_t cookie = (uint32_t)bpf_get_attach_cookie(ctx);
	struct fire *f = cookie < k_root.nprobes ? begin(&k_root, k_root.probe[cookie]) : NULL;

	if (f != NULL)
		time_add(f->thread, K_TRAP_NS);
	return f;
}

/* Arguments that came on the stack, behind the return address; what cannot be read is 0. */
static inline void stack_args(struct fire *f, uint64_t sp)
{
	uint64_t words[4] = {0, 0, 0, 0};

	bpf_probe_read_user(words, sizeof(words), (const void *)(uintptr_t)(sp + 8));
	f->arg[6] = words[0];
	f->arg[7] = words[1];
	f->arg[8] = words[2];
	f->arg[9] = words[3];
}

static inline uint64_t stack_word(uint64_t at)
{
	uint64_t v = 0;

	bpf_probe_read_user(&v, sizeof(v), (const void *)(uintptr_t)at);
	return v;
}

/*
 * Has the kernel itself taken the word at the stack pointer for the caller? Some do, at some
 * instructions. Where a function calls itself it cannot be told; then as it was before.
 */
static inline bool has_caller(const struct user_regs *regs, uint64_t site, uint64_t second)
{
	uint64_t top = stack_word(regs->sp);
	uint32_t *seen = &k_root.adds_caller[site & K_BEFORE_PUSH ? 0 : 1];

	if (!(site & (K_BEFORE_PUSH | K_BEFORE_ENDBR)))
		return false;
	if (second != top)
		*seen = K_ADDS_NOT;
	else if (stack_word(regs->bp + 8) != top)
		*seen = K_ADDS;
	return *seen == K_ADDS;
}

#define UPROBES_PAGE 0x7fffffffe000ULL /* the last one of a process: the kernel's */

/* In a function that has just been entered: itself, its caller, and then by the caller's frame. */
static inline __attribute__((always_inline)) void entry_stack(
	struct user_regs *regs, struct fire *f, uint64_t site)
{
	struct en_thread *t = f->thread;
	uint64_t *to = user_frames(t);
	uint64_t caller = stack_word(regs->sp + 8 * (site & K_CALLER_AT));
	uint32_t n;
	long got;

	if (caller >=
		UPROBES_PAGE) { /* instead of it there is what has the kernel see the return */
		stacks_from(regs, f, BY_REGISTERS);
		return;
	}
	got = bpf_get_stack(regs, to + 1, 8 * (K_FRAMES - 1), USER_STACK);
	n = got > 0 ? (uint32_t)got / 8 + 1 : 2;
	if (has_caller(regs, site, n > 2 ? to[2] : 0)) {
		bpf_get_stack(regs, to, 8 * (K_FRAMES - 1), USER_STACK);
		n--;
	}
	to[0] = regs->ip;
	to[1] = caller;
	took_frames(t, n, 2);
}

uint64_t k_uprobe(struct user_regs *regs)
{
	struct fire *f = begin_cookie(regs);
	uint64_t site;
	uint16_t mask;

	if (f == NULL)
		return 0;
	f->thread->k.uregs = (uint64_t)(uintptr_t)regs;
	f->thread->k.ncaller = 1; /* a function's caller is a function of the same kind */
	mask = f->probe->argmask;
	if (mask != 0) {
		f->arg[0] = regs->di;
		f->arg[1] = regs->si;
		f->arg[2] = regs->dx;
		f->arg[3] = regs->cx;
		f->arg[4] = regs->r8;
		f->arg[5] = regs->r9;
	}
	if (mask >> 6 != 0)
		stack_args(f, regs->sp);
	site = bpf_get_attach_cookie(regs) >> K_SITE_SHIFT;
	if (!(site & K_CALLER_KNOWN))
		stacks_from(regs, f, BY_REGISTERS);
	else if (f->probe->uses.ustack && !took_by_table(f->thread, 0, K_UNWIND_BY_TABLE))
		entry_stack(regs, f, site);
	run(f);
	return 0;
}

/*
 * arg0 would be where in the function it returns from, which is not known; arg1 what it gives. The
 * registers are the caller's already: the function itself is put before it.
 */
uint64_t k_uretprobe(struct user_regs *regs)
{
	struct fire *f = begin_cookie(regs);
	uint64_t *to;
	long got;

	if (f == NULL)
		return 0;
	f->thread->k.uregs = (uint64_t)(uintptr_t)regs;
	f->thread->k.ncaller = 1;
	f->arg[0] = 0;
	f->arg[1] = regs->ax;
	if (f->probe->uses.ustack) {
		to = user_frames(f->thread);
		to[0] = bpf_get_func_ip(regs);
		if (to[0] == 0) { /* before Linux 6.7 it is not known: the caller is the first one */
			stacks_from(regs, f, BY_REGISTERS);
		} else if (!took_by_table(f->thread, 1, 0)) {
			got = bpf_get_stack(regs, to + 1, 8 * (K_FRAMES - 1), USER_STACK);
			took_frames(f->thread, got > 0 ? (uint32_t)got / 8 + 1 : 1, 2);
		}
	}
	run(f);
	return 0;
}

uint64_t k_usdt_value(struct fire *f, uint64_t n); /* usdt_args.c */

uint64_t k_usdt(struct user_regs *regs)
{
	struct fire *f = begin_cookie(regs);
	uint32_t mask;

	if (f == NULL)
		return 0;
	f->thread->k.uregs = (uint64_t)(uintptr_t)regs;
	mask = f->probe->argmask;
	if (mask != 0) {
		struct user_regs *to = (struct user_regs *)(void *)f->thread->k.big;

		to->r15 = regs->r15;
		to->r14 = regs->r14;
		to->r13 = regs->r13;
		to->r12 = regs->r12;
		to->bp = regs->bp;
		to->bx = regs->bx;
		to->r11 = regs->r11;
		to->r10 = regs->r10;
		to->r9 = regs->r9;
		to->r8 = regs->r8;
		to->ax = regs->ax;
		to->cx = regs->cx;
		to->dx = regs->dx;
		to->si = regs->si;
		to->di = regs->di;
		to->ip = regs->ip;
		to->sp = regs->sp;
	}
	for (uint32_t i = 0; mask >> i != 0; i++)
		if (mask >> i & 1)
			f->arg[i] = k_usdt_value(f, i);
	stacks_from(regs, f, BY_REGISTERS);
	run(f);
	return 0;
}

/* ---- samples -------------------------------------------------------------------------- */

static inline bool is_of_vm(void)
{
	uint32_t pid = (uint32_t)(k_current_ids() >> 32), i;

	for (i = 0; i < K_VMS && i < k_root.nvms; i++)
		if (k_root.vms[i].pid == pid)
			return true;
	return false;
}

/* The context begins with the registers, of the kernel or of user space. */
uint64_t k_profile(uint64_t *ctx)
{
	uint64_t n = bpf_get_attach_cookie(ctx), ip = ctx[REG_IP];
	bool user = ctx[REG_CS] & 3;
	struct fire *f;

	if (n >= K_PROFILES || (k_root.only_vms && !is_of_vm()))
		return 0;
	f = begin(&k_root, k_root.profile[n]);
	if (f == NULL) {
		time_hidden(&k_root, K_SAMPLE_NS);
		return 0;
	}
	time_add(f->thread, K_SAMPLE_NS);
	f->arg[0] = user || is_confined() ? 0 : ip;
	f->arg[1] = user ? ip : 0;
	if (k_root.profile_counts >> n & 1) {
		f->arg[0] = 1;
		f->arg[1] = 0;
		f->arg[2] = bpf_get_smp_processor_id();
	}
	f->thread->k.uregs = K_REGS_OF_CURRENT;
	stacks_from(ctx, f, BY_REGISTERS);
	run(f);
	return 0;
}

/* ---- the others, which go by what is above -------------------------------------------- */

#include "sched_proc.h"
#include "net.h"
#include "disk_io.h"
#include "fsinfo.h"
#include "sysinfo.h"
#include "lockstat.h"
#include "erlang.h"
#include "fbt.h"
