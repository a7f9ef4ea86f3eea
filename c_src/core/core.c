/* SPDX-License-Identifier: Apache-2.0 */
/*
 * THE PROBE PATH of the fast way to function probes, as far as it must outlive everything else.
 *
 * Code of the JIT calls three functions of the VM through words that hold their addresses. Instead
 * of these three it calls the hooks here, each of which calls the VM's own function too:
 *
 *   entry	a breakpoint: a function that somebody has armed is called
 *   ret	the VM's own frame for call_time returns: ours, if its word is a small integer, which the
 *		VM itself never puts there
 *   error	an exception is about to be handled
 *
 * A frame is pushed as the VM pushes it for call_time, so that its garbage collector, exceptions
 * and stack traces know it.
 *
 * Threads say that they are inside, as in beam/vm/vm_threads.h, so that a library can be unloaded.
 *
 */
#include <linux/membarrier.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define THREADS	 4096
#define RED_ZONE 3 /* words between heap and stack that the VM keeps free */
#define SMALL_0	 15 /* the small integer 0 */

struct thread {
	_Atomic uint64_t seq; /* odd: inside */
} __attribute__((aligned(64)));

static struct thread threads[THREADS];
static _Atomic unsigned nthreads;
static __thread struct thread *self __attribute__((tls_model("initial-exec")));

extern struct core erltrace_core_1;

/* ---- threads --------------------------------------------------------------------------- */

static __attribute__((noinline)) struct thread *thread_new(void)
{
	unsigned i = atomic_load_explicit(&nthreads, memory_order_relaxed);

	if (i < THREADS)
		i = atomic_fetch_add(&nthreads, 1);
	if (i >= THREADS)
		return NULL;
	self = &threads[i];
	return self;
}

/* The ops in charge, or NULL; then the thread is not inside. */
static inline const struct core_ops *enter(struct thread **t)
{
	const struct core_ops *ops;
	uint64_t seq;

	*t = self;
	if (unlikely(*t == NULL) && (*t = thread_new()) == NULL)
		return NULL;
	seq = atomic_load_explicit(&(*t)->seq, memory_order_relaxed);
	atomic_store_explicit(&(*t)->seq, seq + 1, memory_order_relaxed);
	if (unlikely(erltrace_core_1.fence))
		atomic_thread_fence(memory_order_seq_cst);
	atomic_signal_fence(memory_order_seq_cst); /* the other side has membarrier */
	ops = atomic_load_explicit(&erltrace_core_1.ops, memory_order_acquire);
	if (unlikely(ops == NULL))
		atomic_store_explicit(&(*t)->seq, seq + 2, memory_order_release);
	return ops;
}

static inline void leave(struct thread *t)
{
	atomic_store_explicit(&t->seq, atomic_load_explicit(&t->seq, memory_order_relaxed) + 1,
		memory_order_release);
}

/* Every thread is seen outside, or has been there meanwhile. */
static void wait_for_all(void)
{
	unsigned n;

	if (!erltrace_core_1.fence)
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	atomic_thread_fence(memory_order_seq_cst);
	n = atomic_load(&nthreads);
	for (unsigned i = 0; i < n && i < THREADS; i++) {
		uint64_t seq = atomic_load_explicit(&threads[i].seq, memory_order_acquire);

		while ((seq & 1) &&
			atomic_load_explicit(&threads[i].seq, memory_order_acquire) == seq)
			usleep(50);
	}
}

/* ---- words of a process ---------------------------------------------------------------- */

static inline uintptr_t **pointer(char *proc, uint32_t offset)
{
	return (uintptr_t **)(void *)(proc + offset);
}

static inline bool has_room(char *proc, const struct core_vm *vm)
{
	return *pointer(proc, vm->stop) - RED_ZONE - *pointer(proc, vm->htop) >=
	       1 + (long)vm->frame;
}

/* Without room the VM collects garbage, which costs reductions; `live` registers are in use. */
static __attribute__((noinline)) bool make_room(
	char *proc, const struct core_vm *vm, uintptr_t *reg, unsigned live)
{
	int (*collect)(char *, int, uintptr_t *, int, long) =
		(int (*)(char *, int, uintptr_t *, int, long))vm->gc;
	int need = 1 + (int)vm->frame;

	if (vm->fcalls_size == 4) {
		int32_t *fcalls = (int32_t *)(void *)(proc + vm->fcalls);

		*fcalls -= collect(proc, need, reg, (int)live, *fcalls);
	} else {
		int64_t *fcalls = (int64_t *)(void *)(proc + vm->fcalls);

		*fcalls -= collect(proc, need, reg, (int)live, (long)*fcalls);
	}
	return has_room(proc, vm);
}

/* Words of the stack. */
static inline long depth(char *proc, const struct core_vm *vm)
{
	return *pointer(proc, vm->hend) - *pointer(proc, vm->stop);
}

static inline void push(
	char *proc, const struct core_vm *vm, uintptr_t *reg, unsigned live, uint64_t word)
{
	uintptr_t *e;

	if (unlikely(!has_room(proc, vm)) && !make_room(proc, vm, reg, live)) {
		atomic_fetch_add_explicit(&erltrace_core_1.missed, 1, memory_order_relaxed);
		return;
	}
	e = *pointer(proc, vm->stop) - 1 - vm->frame;
	for (uint32_t i = vm->frame; i > 1; i--)
		e[i] = SMALL_0;
	e[1] = word;
	e[0] = vm->return_code;
	*pointer(proc, vm->stop) = e;
}

/* ---- the hooks ------------------------------------------------------------------------- */

static inline bool is_sensitive(const char *proc, const struct core_vm *vm)
{
	return *(const uint64_t *)(const void *)(proc + vm->sensitive) & vm->sensitive_bit;
}

static inline uintptr_t original(
	char *proc, const struct core_vm *vm, uintptr_t *info, uintptr_t *reg)
{
	return ((uintptr_t(*)(char *, uintptr_t *, uintptr_t *))vm->entry)(proc, info, reg);
}

/* What ops->entry() says: 0 if nobody is in charge. */
static inline uint64_t entered(
	char *proc, const uintptr_t *info, uintptr_t *reg, uint64_t top, long below)
{
	const struct core_ops *ops;
	struct thread *t;
	uint64_t word;

	if (unlikely((ops = enter(&t)) == NULL))
		return 0;
	word = ops->entry(proc, info, reg, top, below);
	leave(t);
	return word;
}

/*
 * The VM's function does what others have armed, and must not see our frames: call_time would take
 * every call for a tail call, and return_to would not know its own frame in a chain of them. So it
 * runs first, and a frame of ours that is on top is off meanwhile. Ours return first then, and
 * theirs are as they would be without us.
 *
 */
static __attribute__((noinline)) uintptr_t entry_below(
	char *proc, uintptr_t *info, uintptr_t *reg, uintptr_t *e)
{
	const struct core_vm *vm = &erltrace_core_1.vm;
	uint64_t top = e[1], word;
	uintptr_t code;
	long below;

	*pointer(proc, vm->stop) = e + 1 + vm->frame;
	below = depth(proc, vm);
	code = original(proc, vm, info, reg);
	word = entered(proc, info, reg, top, below);
	if ((word & 15) != CORE_REPLACE)
		push(proc, vm, reg, (unsigned)info[4], top);
	if (word != 0)
		push(proc, vm, reg, (unsigned)info[4], word | 15);
	return code;
}

static uintptr_t hook_entry(char *proc, uintptr_t *info, uintptr_t *reg)
{
	const struct core_vm *vm = &erltrace_core_1.vm;
	uintptr_t *e = *pointer(proc, vm->stop), code;
	uint64_t word;

	if (unlikely(is_sensitive(proc, vm)))
		return original(proc, vm, info, reg);
	if (unlikely(core_is_frame(vm, e)))
		return entry_below(proc, info, reg, e);
	code = original(proc, vm, info, reg);
	word = entered(proc, info, reg, 0, 0);
	if (word != 0)
		push(proc, vm, reg, (unsigned)info[4], word | 15);
	return code;
}

/* The stub below adds the registers, which the VM's code has at hand there. */
void core_returned(char *proc, uintptr_t a2, uintptr_t a3, uintptr_t a4, uintptr_t *reg);
__attribute__((used, visibility("hidden"))) void core_returned(
	char *proc, uintptr_t a2, uintptr_t a3, uintptr_t a4, uintptr_t *reg)
{
	const struct core_vm *vm = &erltrace_core_1.vm;
	uint64_t word = (*pointer(proc, vm->stop))[0];
	const struct core_ops *ops;
	struct thread *t;

	if (unlikely((word & 15) != 15)) {
		((void (*)(char *, uintptr_t, uintptr_t, uintptr_t))vm->ret)(proc, a2, a3, a4);
		return;
	}
	if (likely(!is_sensitive(proc, vm)) && likely((ops = enter(&t)) != NULL)) {
		ops->ret(proc, word, reg);
		leave(t);
	}
}

void core_return_stub(void);
__asm__(".text\n"
	".type core_return_stub,@function\n"
	".hidden core_return_stub\n"
	".globl core_return_stub\n"
	"core_return_stub:\n"
	"	mov %rbx,%r8\n"
	"	sub $8,%rsp\n"
	"	call core_returned\n"
	"	add $8,%rsp\n"
	"	pop %rcx\n"
	"	jmp *%rcx\n"
	".size core_return_stub,.-core_return_stub\n");

#define IS_CATCH(w) (((w) & 0x3f) == 0x1b)

/* Where the exception is caught: behind the last word that it leaves. */
static const uintptr_t *find_catch(const uintptr_t *at, const uintptr_t *end)
{
	while (at < end && !IS_CATCH(*at))
		at++;
	return at;
}

/*
 * If nobody catches it the process ends inside the VM's function, so it is told before. Else after:
 * then the registers hold class and reason, and the words of the stack that was left are still
 * there, since nothing has been put on heap or stack since.
 */
static void *hook_error(char *proc, void *pc, uintptr_t *reg, void *mfa)
{
	const struct core_vm *vm = &erltrace_core_1.vm;
	const uintptr_t *stop = *pointer(proc, vm->stop), *end = *pointer(proc, vm->hend);
	bool caught = *(int64_t *)(void *)(proc + vm->catches) > 0;
	void *(*handle)(char *, void *, uintptr_t *, void *) =
		(void *(*)(char *, void *, uintptr_t *, void *))vm->error;
	const struct core_ops *ops;
	struct thread *t;
	void *handler;

	if (caught)
		end = find_catch(stop, end);
	if (core_next_frame(vm, stop, end) == NULL || is_sensitive(proc, vm))
		return handle(proc, pc, reg, mfa);
	if ((ops = enter(&t)) != NULL) {
		if (ops->raising != NULL)
			ops->raising(proc);
		leave(t);
	}
	handler = caught ? handle(proc, pc, reg, mfa) : NULL;
	if ((handler != NULL || !caught) && (ops = enter(&t)) != NULL) {
		ops->raised(proc, stop, end, caught, reg);
		leave(t);
	}
	return caught ? handler : handle(proc, pc, reg, mfa);
}

__attribute__((visibility("default"))) struct core erltrace_core_1 = {
	.abi = CORE_ABI,
	.size = sizeof(struct core),
	.generation = 1,
	.hook_entry = 0, /* by the constructor: addresses are no constants here */
	.wait = wait_for_all,
};

__attribute__((constructor)) static void init(void)
{
	erltrace_core_1.hook_entry = (uintptr_t)hook_entry;
	erltrace_core_1.hook_ret = (uintptr_t)core_return_stub;
	erltrace_core_1.hook_error = (uintptr_t)hook_error;
	erltrace_core_1.fence =
		syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0;
}
