/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the kernel's firings begin: one function for each kind of event. They find the probe,
 * take a slot, put the arguments that are read where clauses find them, and run the clauses.
 */
#include "task.h"
#include "../../engine/fire.h"

enum { USER_STACK = 1 << 8 }; /* a flag of bpf_get_stack */

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

	if (cpu < r->ncpus && enter(t))
		return t;
	for (uint32_t i = r->ncpus; i < r->nslots; i++) {
		t = en_slot(en, i);
		if (enter(t))
			return t;
	}
	__sync_fetch_and_add(&en->no_slot, 1);
	return NULL;
}

void k_free_self(struct en_thread *t, uint64_t key); /* engine/dyn.c */
uint64_t k_find_process(struct en_thread *t);	     /* terms.c */

static inline struct fire *begin_in(struct k_root *r, struct en_probe *p, unsigned phase)
{
	struct en *en = r->en;
	uint64_t tid = 0;
	struct en_thread *t;

	if (p == NULL || p->ecbs == NULL || en->phase != phase)
		return NULL;
	if (phase == PHASE_RUN && en->only_cpu != UINT64_MAX && bpf_get_smp_processor_id() != en->only_cpu)
		return NULL;
	t = take_slot(r);
	if (t == NULL)
		return NULL;
	if (r->asks_who) /* which is not for nothing */
		tid = bpf_get_current_pid_tgid();
	t->tid = (uint32_t)tid;
	t->pid = (uint32_t)(tid >> 32);
	t->task = 0;
	t->uregs = 0;
	t->self_key = (uint32_t)tid | 1ULL << 62;
	t->vm = t->process = t->answers = 0;
	if (r->nvms > 0)
		k_find_process(t);
	count_add(&t->fired, 1);
	fire_set_up(&t->fire, p, 0, NULL);
	return &t->fire;
}

static inline struct fire *begin(struct k_root *r, struct en_probe *p)
{
	return begin_in(r, p, PHASE_RUN);
}

static inline void run_in(struct fire *f, unsigned phase)
{
	struct en_thread *t = f->thread;

	for (unsigned m = f->probe->nomask, i = 0; m >> i != 0; i++)
		if (m >> i & 1)
			f->arg[i] = 0;
	fire_run(t, f, f->probe->ecbs, phase, false);
	slot_leave(t);
}

static inline void run(struct fire *f)
{
	run_in(f, PHASE_RUN);
}

/* ---- BEGIN and END, for tests --------------------------------------------------------- */

uint64_t k_own(uint64_t *ctx)
{
	bool end = ctx[0] & 1;
	unsigned phase = end ? PHASE_END : PHASE_BEGIN;
	struct fire *f = begin_in(&k_root, end ? k_root.own[1] : k_root.own[0], phase);

	if (f != NULL)
		run_in(f, phase);
	return 0;
}

/*
 * The stacks that the probe's clauses read; only here is the context, of which they are taken.
 * Tracepoints have frames of BPF's own on top: the program, and what calls it.
 */
enum { OF_TRACEPOINT = 2 };
static inline __attribute__((always_inline)) void stacks_from(void *ctx, struct fire *f, uint64_t skip)
{
	struct en_thread *t = f->thread;
	char *buf = k_buffer(t) + K_BUF;
	long got;

	if (f->probe->reads_stack) {
		got = bpf_get_stack(ctx, buf, 8 * K_FRAMES, skip);
		t->nstack = got > 0 ? (uint32_t)got / 8 : 0;
	}
	if (f->probe->reads_ustack) {
		got = bpf_get_stack(ctx, buf + K_STACKS / 2, 8 * K_FRAMES, USER_STACK);
		t->nustack = got > 0 ? (uint32_t)got / 8 : 0;
	}
}

static inline __attribute__((always_inline)) void stacks(void *ctx, struct fire *f)
{
	stacks_from(ctx, f, OF_TRACEPOINT);
}

/* ---- system calls --------------------------------------------------------------------- */

/* The registers of a system call as the kernel has saved them: from r10 on, what we need. */
struct regs {
	uint64_t r10, r9, r8, ax, cx, dx, si, di, orig_ax;
};
#define REGS_OFF 56 /* of r10 in struct pt_regs */

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
	f->thread->uregs = ctx[0];
	mask = f->probe->argmask;
	if (mask != 0 && bpf_probe_read_kernel(&regs, sizeof(regs), (void *)(ctx[0] + REGS_OFF)) == 0) {
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
	f->thread->uregs = ctx[0];
	f->thread->sys_errno = ret > -4096ULL ? (uint32_t)-ret : 0;
	f->arg[0] = f->arg[1] = ret > -4096ULL ? UINT64_MAX : ret;
	stacks(ctx, f);
	run(f);
	return 0;
}

/* ---- functions of programs ------------------------------------------------------------ */

/* The registers of user space when it came to the place: struct pt_regs, as the kernel has it. */
struct user_regs {
	uint64_t r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs,
		flags, sp, ss;
};

static inline struct fire *begin_cookie(void *ctx)
{
	uint64_t cookie = bpf_get_attach_cookie(ctx);

	return cookie < k_root.nprobes ? begin(&k_root, k_root.probe[cookie]) : NULL;
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

uint64_t k_uprobe(struct user_regs *regs)
{
	struct fire *f = begin_cookie(regs);
	uint16_t mask;

	if (f == NULL)
		return 0;
	f->thread->uregs = (uint64_t)(uintptr_t)regs;
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
	stacks_from(regs, f, 0);
	run(f);
	return 0;
}

/* arg0 would be where in the function it returns from, which is not known; arg1 what it gives. */
uint64_t k_uretprobe(struct user_regs *regs)
{
	struct fire *f = begin_cookie(regs);

	if (f == NULL)
		return 0;
	f->thread->uregs = (uint64_t)(uintptr_t)regs;
	f->arg[0] = 0;
	f->arg[1] = regs->ax;
	stacks_from(regs, f, 0);
	run(f);
	return 0;
}

uint64_t k_usdt_value(struct fire *f, uint64_t n); /* usdt.c */

uint64_t k_usdt(struct user_regs *regs)
{
	struct fire *f = begin_cookie(regs);
	uint32_t mask;

	if (f == NULL)
		return 0;
	f->thread->uregs = (uint64_t)(uintptr_t)regs;
	mask = f->probe->argmask;
	if (mask != 0) {
		struct user_regs *to = (struct user_regs *)(void *)f->thread->big;

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
	stacks_from(regs, f, 0);
	run(f);
	return 0;
}

/* ---- samples -------------------------------------------------------------------------- */

/* The context begins with the registers, of the kernel or of user space. */
uint64_t k_profile(uint64_t *ctx)
{
	uint64_t n = bpf_get_attach_cookie(ctx), ip = ctx[REG_IP];
	bool user = ctx[REG_CS] & 3;
	struct fire *f;

	if (n >= K_PROFILES)
		return 0;
	f = begin(&k_root, k_root.profile[n]);
	if (f == NULL)
		return 0;
	f->arg[0] = user ? 0 : ip;
	f->arg[1] = user ? ip : 0;
	f->thread->uregs = K_REGS_OF_CURRENT;
	stacks_from(ctx, f, 0);
	run(f);
	return 0;
}

/* ---- threads and processes ------------------------------------------------------------ */

/* A word of the context, read here and now: the verifier wants the pointer to it unchanged. */
#define CTX(n)                                                                                     \
	({                                                                                         \
		uint64_t word_ = ctx[n];                                                           \
		__asm__ volatile("" : "+r"(word_));                                                \
		word_;                                                                             \
	})

/* What arg0 of an event points to: a thread as it is now. */
static inline struct k_task *describe(struct en_thread *t, uint64_t task)
{
	struct k_task *d = &k_root.tasks[t->number];
	uint64_t name[2] = {0, 0}, cred = task_u64(task, k_root.off.cred);

	d->addr = task;
	d->pid = task_u32(task, k_root.off.tgid);
	d->tid = task_u32(task, k_root.off.pid);
	d->ppid = task_ppid(task);
	d->uid = task_u32(cred, k_root.off.uid);
	d->gid = task_u32(cred, k_root.off.gid);
	d->prio = task_u32(task, k_root.off.prio);
	d->cpu = task_u32(task, k_root.off.cpu);
	d->nlwp = task_u32(task_u64(task, k_root.off.signal), k_root.off.nthreads);
	if (k_root.off.comm != UINT32_MAX)
		bpf_probe_read_kernel(
			name, sizeof(name), (const void *)(uintptr_t)(task + k_root.off.comm));
	*(uint64_t *)(void *)d->comm = name[0];
	*(uint64_t *)(void *)(d->comm + 8) = name[1];
	return d;
}

static inline void set_task(struct fire *f, uint64_t task)
{
	if (f->probe->argmask & 3)
		f->arg[0] = f->arg[1] = (uint64_t)(uintptr_t)describe(f->thread, task);
}

/* An event of which only the current thread is to be known; or one about a thread. */
#define SIMPLE_EVENT(which)                                                                        \
	do {                                                                                       \
		struct fire *f = begin(&k_root, k_root.event[which]);                              \
		if (f != NULL) {                                                                   \
			stacks(ctx, f);                                                            \
			run(f);                                                                    \
		}                                                                                  \
	} while (0)
#define TASK_EVENT(which, of, third)                                                               \
	do {                                                                                       \
		struct fire *f = begin(&k_root, k_root.event[which]);                              \
		if (f != NULL) {                                                                   \
			set_task(f, of);                                                           \
			f->arg[2] = (third);                                                       \
			stacks(ctx, f);                                                            \
			run(f);                                                                    \
		}                                                                                  \
	} while (0)

/* The thread that comes to the CPU: it fires, though the kernel is still in the other one. */
static inline void arrives(uint64_t next)
{
	struct fire *f = begin(&k_root, k_root.event[K_ON_CPU]);
	struct en_thread *t;

	if (f == NULL)
		return;
	t = f->thread;
	t->task = next;
	t->tid = task_u32(next, k_root.off.pid);
	t->pid = task_u32(next, k_root.off.tgid);
	t->self_key = t->tid | 1ULL << 62;
	t->nstack = t->nustack = 0;
	f->self = t->self_key;
	run(f);
}

/* sched_switch: preempted, previous, next, state of the previous one. */
uint64_t k_switch(uint64_t *ctx)
{
	uint64_t preempted = CTX(0) & 1, prev = CTX(1), next = CTX(2), sleeps = (uint32_t)CTX(3);
	uint32_t cpu = bpf_get_smp_processor_id();

	if (preempted)
		SIMPLE_EVENT(K_PREEMPT);
	else if (sleeps)
		SIMPLE_EVENT(K_SLEEP);
	if (sleeps && !preempted)
		TASK_EVENT(K_DEQUEUE, prev, cpu);
	TASK_EVENT(K_OFF_CPU, next, cpu);
	vtime_switch(prev, next);
	arrives(next);
	return 0;
}

/* The same where only the CPU time of threads is wanted. */
uint64_t k_vtime(uint64_t *ctx)
{
	uint64_t prev = CTX(1), next = CTX(2);

	vtime_switch(prev, next);
	return 0;
}

uint64_t k_waking(uint64_t *ctx)
{
	uint64_t task = CTX(0);

	TASK_EVENT(K_WAKEUP, task, 0);
	return 0;
}

uint64_t k_wakeup(uint64_t *ctx)
{
	uint64_t task = CTX(0);

	TASK_EVENT(K_ENQUEUE, task, task_u32(task, k_root.off.cpu));
	return 0;
}

/* sched_process_fork: parent, child. */
uint64_t k_fork(uint64_t *ctx)
{
	uint64_t parent = CTX(0), child = CTX(1);

	if (task_u32(parent, k_root.off.tgid) == task_u32(child, k_root.off.tgid))
		TASK_EVENT(K_LWP_CREATE, child, 0);
	else
		TASK_EVENT(K_CREATE, child, 0);
	return 0;
}

uint64_t k_exec(uint64_t *ctx)
{
	SIMPLE_EVENT(K_EXEC_SUCCESS);
	return 0;
}

/* As CLD_EXITED, CLD_KILLED and CLD_DUMPED say it: 1, 2, 3. */
static inline uint64_t how_it_ended(uint64_t task)
{
	uint32_t code = task_u32(task, k_root.off.exit_code);

	return (code & 0x7f) == 0 ? 1 : code & 0x80 ? 3 : 2;
}

uint64_t k_exit(uint64_t *ctx)
{
	uint64_t task = CTX(0);
	struct fire *f;

	SIMPLE_EVENT(K_LWP_EXIT);
	if (task_u32(task_u64(task, k_root.off.signal), k_root.off.live) != 0)
		return 0;
	f = begin(&k_root, k_root.event[K_EXIT]);
	if (f != NULL) {
		f->arg[0] = how_it_ended(task);
		stacks(ctx, f);
		run(f);
	}
	return 0;
}

/* A thread is no more: what was its self->. */
uint64_t k_gone(uint64_t *ctx)
{
	uint64_t task = CTX(0);
	struct en_thread *t = take_slot(&k_root);

	if (t == NULL)
		return 0;
	k_free_self(t, task_u32(task, k_root.off.pid) | 1ULL << 62);
	slot_leave(t);
	return 0;
}

/* SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, by what a thread did and not by another one. */
static inline bool is_fault(uint64_t sig, uint64_t info)
{
	return sig < 32 && (1u << sig & (1u << 4 | 1u << 5 | 1u << 7 | 1u << 8 | 1u << 11)) != 0 &&
	       info > 1 && (int32_t)task_u32(info, 8) > 0; /* si_code */
}

/* signal_generate: signal, information, to whom, to all of it, result. */
uint64_t k_signal(uint64_t *ctx)
{
	uint64_t sig = (uint32_t)CTX(0), info = CTX(1), task = CTX(2), result = (uint32_t)CTX(4);
	struct fire *f;

	if (is_fault(sig, info) && (f = begin(&k_root, k_root.event[K_FAULT])) != NULL) {
		f->arg[0] = sig;
		f->arg[1] = info;
		stacks(ctx, f);
		run(f);
	}
	if (result == 1)
		TASK_EVENT(K_SIGNAL_DISCARD, task, sig);
	else
		TASK_EVENT(K_SIGNAL_SEND, task, sig);
	return 0;
}

/* signal_deliver: signal, information, what is to be done, of which the handler comes first. */
uint64_t k_deliver(uint64_t *ctx)
{
	uint64_t sig = (uint32_t)CTX(0), info = CTX(1), handler = task_u64(CTX(2), 0);
	struct fire *f;

	if (handler < 2)
		return 0;
	f = begin(&k_root, k_root.event[K_SIGNAL_HANDLE]);
	if (f != NULL) {
		f->arg[0] = sig;
		f->arg[1] = info;
		f->arg[2] = handler;
		stacks(ctx, f);
		run(f);
	}
	return 0;
}

enum { NR_CLONE = 56, NR_FORK, NR_VFORK, NR_EXECVE, NR_SIGTIMEDWAIT = 128,
	NR_EXECVEAT = 322, NR_CLONE3 = 435 };

uint64_t k_proc_enter(uint64_t *ctx)
{
	uint64_t nr = CTX(1), path = 0, at = CTX(0) + REGS_OFF;
	struct fire *f;

	if (nr != NR_EXECVE && nr != NR_EXECVEAT)
		return 0;
	f = begin(&k_root, k_root.event[K_EXEC]);
	if (f == NULL)
		return 0;
	at += nr == NR_EXECVE ? offsetof(struct regs, di) : offsetof(struct regs, si);
	bpf_probe_read_kernel(&path, sizeof(path), (const void *)(uintptr_t)at);
	f->arg[0] = path;
	stacks(ctx, f);
	run(f);
	return 0;
}

uint64_t k_proc_exit(uint64_t *ctx)
{
	uint64_t nr = 0, regs = CTX(0), ret = CTX(1), who = bpf_get_current_pid_tgid();
	struct fire *f;

	bpf_probe_read_kernel(
		&nr, sizeof(nr), (const void *)(regs + REGS_OFF + offsetof(struct regs, orig_ax)));
	if ((nr == NR_EXECVE || nr == NR_EXECVEAT) && ret > -4096ULL) {
		f = begin(&k_root, k_root.event[K_EXEC_FAILURE]);
		if (f != NULL) {
			f->arg[0] = (uint32_t)-ret;
			stacks(ctx, f);
			run(f);
		}
	} else if (nr == NR_SIGTIMEDWAIT && (int64_t)ret > 0) {
		f = begin(&k_root, k_root.event[K_SIGNAL_CLEAR]);
		if (f != NULL) {
			f->arg[0] = ret;
			stacks(ctx, f);
			run(f);
		}
	} else if (ret == 0 && (nr == NR_CLONE || nr == NR_FORK || nr == NR_VFORK || nr == NR_CLONE3)) {
		if (who >> 32 == (uint32_t)who)
			SIMPLE_EVENT(K_START);
		else
			SIMPLE_EVENT(K_LWP_START);
	}
	return 0;
}

#include "erlang.h"
