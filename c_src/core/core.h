/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core (core.c): the hooks of the fast way to function probes, in a library of their own. A
 * frame of ours may lie on a process's stack for months, and returns through our hook whenever it
 * pleases. So the core is loaded once in the life of a node and never unloaded or replaced, while
 * erltrace.so comes and goes. It decides nothing: whoever is in charge sets `ops`.
 *
 * The library finds a core that is there already by its one symbol. What is below is the contract
 * between any two versions: it changes only together with CORE_ABI, and then both refuse each
 * other.
 *
 */
#ifndef CORE_CORE_H
#define CORE_CORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define CORE_ABI    1
#define CORE_SYMBOL "erltrace_core_1"

/* What is found out about the VM (beam/fast/fast_find.c), as offsets in a process or addresses. */
struct core_vm {
	/* pointers: newest word of the stack, next of the heap, its end */
	uint32_t stop, htop, hend;
	uint32_t catches;	   /* int64_t: handlers on the stack */
	uint32_t fcalls;	   /* reductions left */
	uint32_t fcalls_size;	   /* 4 or 8 */
	uint32_t freason, fvalue;  /* the exception, before it is told apart */
	uint32_t frame;		   /* words of a frame behind its return address */
	uint32_t sensitive;	   /* a word with the flag ... */
	uint64_t sensitive_bit;	   /* ... and the flag */
	uintptr_t return_code;	   /* the return address of a frame */
	uintptr_t entry, ret, error, gc; /* functions of the VM */
};

/* A word through which the JIT's code calls one of them. */
struct core_word {
	uintptr_t *at;	     /* as the code reads it */
	uintptr_t *writable; /* the same memory where it can be written */
};

/*
 * A frame has one word of ours: a small integer for the VM, 60 bits for us. What entry() returns is
 * that word, with its lowest bits telling what to do: nothing (0), a new frame (CORE_PUSH), or the
 * frame that is on top gets this word (CORE_REPLACE), a tail call.
 */
#define CORE_PUSH    15u
#define CORE_REPLACE 7u

/*
 * Called on the scheduler that runs the process, in the process's own context. info: the code's
 * module, function and arity are words 2 to 4. top: the word of the frame that is on top if it is
 * ours, or 0; below: words of the stack under it then. It is off during entry().
 */
struct core_ops {
	uint64_t (*entry)(
		char *proc, const uintptr_t *info, uintptr_t *reg, uint64_t top, long below);
	/* NULL, or: an exception is about to be handled that leaves frames of ours. */
	void (*raising)(char *proc);
	/* A call returns reg[0]. */
	void (*ret)(char *proc, uint64_t word, const uintptr_t *reg);
	/*
	 * Calls end by an exception. The frames from `newest` on, up to `end`, are those that it
	 * leaves (core_next_frame). caught: reg has the reason and the class, as handlers get them.
	 */
	void (*raised)(char *proc, const uintptr_t *newest, const uintptr_t *end, bool caught,
		const uintptr_t *reg);
};

struct core {
	uint32_t abi, size;
	struct core_vm vm; /* set once, before the hooks are in */
	_Atomic bool installed; /* the return and exception words are ours, for good */
	_Atomic(const struct core_ops *) ops;
	_Atomic uint64_t generation; /* of who is in charge: frames of earlier ones are nobody's */
	_Atomic uint64_t missed; /* frames that found no room on a stack, or no thread of ours */
	struct core_word word_entry, word_ret, word_error;
	uintptr_t hook_entry, hook_ret, hook_error;
	bool fence; /* no membarrier: the hooks have a fence */
	void (*wait)(void); /* until no thread is inside ops that were taken away */
};

/* Is this a frame of ours, at its return address? */
static inline bool core_is_frame(const struct core_vm *vm, const uintptr_t *at)
{
	return at[0] == vm->return_code && (at[1] & 15) == 15;
}

/* The next frame of ours from `at` on, or NULL. */
static inline const uintptr_t *core_next_frame(
	const struct core_vm *vm, const uintptr_t *at, const uintptr_t *end)
{
	for (; at + 1 < end; at++)
		if (core_is_frame(vm, at))
			return at;
	return NULL;
}

#endif
