/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of functions of the kernel (kernel/fbt/kfunc.c): by a trampoline, which has the arguments
 * and the result, or by a kprobe, which has the registers. Part of entries.c.
 */

/* Whatever the thread has in user space: this is within a system call, a fault, an interrupt. */
static inline struct fire *in_function(struct fire *f)
{
	if (f != NULL)
		f->thread->k.uregs = K_REGS_OF_CURRENT;
	return f;
}

/*
 * stack() begins with the function itself, by its address (which may be hidden): where in it the
 * program was called depends on how.
 */
static inline void begins_with_function(struct fire *f)
{
	struct en_thread *t = f->thread;
	uint64_t *to = (uint64_t *)(void *)(k_buffer(t) + K_BUF), func;

	func = (uint64_t)(uintptr_t)f->probe->pvdata;
	if (f->probe->uses.stack && !is_confined() && func != 0 && t->k.nstack > 0)
		to[0] = func;
}

/* ---- trampolines: a program is one function's alone ---------------------------------------- */

static inline uint64_t func_arg(uint64_t *ctx, uint32_t n)
{
	uint64_t v = 0;

	return bpf_get_func_arg(ctx, n, &v) == 0 ? v : 0;
}

#define FUNC_ARG(n)                                                                                \
	do {                                                                                       \
		if (((uint64_t)k_words >> (n)) & 1)                                                \
			f->arg[n] = func_arg(ctx, n);                                              \
	} while (0)

uint64_t k_fentry(uint64_t *ctx)
{
	struct fire *f = in_function(begin(&k_root, &k_probe));

	if (f == NULL)
		return 0;
	FUNC_ARG(0);
	FUNC_ARG(1);
	FUNC_ARG(2);
	FUNC_ARG(3);
	FUNC_ARG(4);
	FUNC_ARG(5);
	FUNC_ARG(6);
	FUNC_ARG(7);
	FUNC_ARG(8);
	FUNC_ARG(9);
	stacks_from(ctx, f, BY_TRAMPOLINE);
	begins_with_function(f);
	run(f);
	return 0;
}

/* As DTrace has it: arg0 is where it returns, which is not known here; arg1 the value. */
uint64_t k_fexit(uint64_t *ctx)
{
	struct fire *f = in_function(begin(&k_root, &k_probe));
	uint64_t v = 0;

	if (f == NULL)
		return 0;
	bpf_get_func_ret(ctx, &v);
	f->arg[0] = 0;
	f->arg[1] = v;
	stacks_from(ctx, f, BY_TRAMPOLINE);
	begins_with_function(f);
	run(f);
	return 0;
}

/* ---- kprobes: one program for many --------------------------------------------------------- */

/* Arguments that came on the stack, behind the return address; what cannot be read is 0. */
static inline void kernel_stack_args(struct fire *f, uint64_t sp)
{
	uint64_t words[4] = {0, 0, 0, 0};

	bpf_probe_read_kernel(words, sizeof(words), (const void *)(uintptr_t)(sp + 8));
	f->arg[6] = words[0];
	f->arg[7] = words[1];
	f->arg[8] = words[2];
	f->arg[9] = words[3];
}

uint64_t k_kprobe(struct user_regs *regs)
{
	struct fire *f = in_function(begin_cookie(regs));
	uint32_t mask;

	if (f == NULL)
		return 0;
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
		kernel_stack_args(f, regs->sp);
	stacks_from(regs, f, BY_REGISTERS);
	begins_with_function(f);
	run(f);
	return 0;
}

/* The registers are the caller's already: the function itself is put before it. */
uint64_t k_kretprobe(struct user_regs *regs)
{
	struct fire *f = in_function(begin_cookie(regs));
	struct en_thread *t;
	uint64_t *to;
	long got;

	if (f == NULL)
		return 0;
	t = f->thread;
	f->arg[0] = 0;
	f->arg[1] = regs->ax;
	if (f->probe->uses.stack && !is_confined()) {
		to = (uint64_t *)(void *)(k_buffer(t) + K_BUF);
		got = bpf_get_stack(regs, to + 1, 8 * (K_FRAMES - 1), 0);
		to[0] = (uint64_t)(uintptr_t)f->probe->pvdata;
		t->k.nstack = got > 0 ? (uint32_t)got / 8 + 1 : 1;
	}
	user_stack(regs, f);
	run(f);
	return 0;
}
