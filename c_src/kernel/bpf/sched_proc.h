/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of the providers sched and proc: a function for each tracepoint, which fires the probes
 * that it stands for (kernel/events/sched_proc.c has the table). Part of entries.c.
 */

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
			f->arg[0] = f->arg[1] = (of);                                              \
			f->arg[2] = (third);                                                       \
			f->thread->k.other = (of);                                                       \
			stacks(ctx, f);                                                            \
			run(f);                                                                    \
		}                                                                                  \
	} while (0)

/* The thread that comes to the CPU: it fires, though the kernel is still in the other one. */
static inline struct fire *begin_arriving(struct en_probe *p, uint64_t next)
{
	struct fire *f = begin_in(&k_root, p, PHASE_RUN, next);
	struct en_thread *t;

	if (f == NULL)
		return NULL;
	t = f->thread;
	t->tid = task_tid(next);
	t->k.pid = task_pid(next);
	t->self_key = task_u32(next, k_root.off.pid) | 1ULL << 62;
	t->k.nstack = t->k.nustack = 0;
	f->self = t->self_key;
	return f;
}

static inline void arrives(uint64_t next)
{
	struct fire *f = begin_arriving(k_root.event[K_ON_CPU], next);

	if (f != NULL)
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

/* signal_generate: signal, information, task, whether to all its threads, result. */
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
	} else if (ret == 0 &&
		   (nr == NR_CLONE || nr == NR_FORK || nr == NR_VFORK || nr == NR_CLONE3)) {
		if (who >> 32 == (uint32_t)who)
			SIMPLE_EVENT(K_START);
		else
			SIMPLE_EVENT(K_LWP_START);
	}
	return 0;
}
