/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the verifier: its abstract values and state, and how its files share the work.
 *
 *   verify.c       structure, the pass over the instructions, jumps
 *   verify_val.c   values: intervals of numbers, refinement by conditions, joins
 *   verify_mem.c   loads, stores, atomics: stack, regions, checked values, context
 *   verify_call.c  arguments and results of calls
 */
#ifndef EBPF_VERIFY_H
#define EBPF_VERIFY_H

#include "ebpf.h"

#define SLOTS (EBPF_STACK / 8)

/* What a MEM points into: one of these, or the index of a region. */
enum { IN_STACK = 0xff, IN_VALUE = 0xfe };

/* Offsets of pointers stay below this, so that sums of them cannot overflow. */
#define OFF_LIMIT (1 << 29)

/*
 * The abstract value of a register or stack slot.
 *
 * SCALAR a number in [min, max], unsigned MEM points off + [0, max] bytes into `in` (for the stack,
 * relative to r10). A checked value
 *              is size bytes long, and id says which call returned it
 * MEM_OR_NULL null, or a MEM with these fields. All copies share the id, so comparing one of them
 * with
 *              0 refines all. A call is executed at most once (there are no back edges), so the
 *              index of its instruction can serve as the id
 */
struct val {
	uint8_t kind; /* enum ebpf_kind: NONE, SCALAR, CTX, MEM, STR, MEM_OR_NULL */
	uint8_t in;
	uint32_t id;
	uint32_t size;
	int32_t off;
	uint64_t min, max;
};

/*
 * The abstract state before an instruction. Slot i is the 8 bytes at r10 - 8 * (i + 1); bit b of
 * init[i] says that byte b of it is initialised. A slot of kind NONE holds individual bytes; a slot
 * of any other kind was written as a whole, and is fully initialised. Slots from depth on were
 * never written.
 */
struct state {
	struct val reg[R10 + 1];
	struct val slot[SLOTS];
	uint8_t init[SLOTS];
	unsigned depth;
	struct state *next; /* in the free list */
};

struct verifier {
	const struct ebpf_insn *insns;
	unsigned n;
	const struct ebpf_env *env;
	struct et_error *err;
	unsigned at; /* the current instruction */
	struct state *cur;
	struct state **pending; /* by instruction: the join of the states of all jumps to it */
	struct state *free;
	unsigned nstates;
	uint32_t next_id;
};

/* Reject the program; the text says why. Returns -1. */
int vf_refuse(struct verifier *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *vf_kind(const struct val *a);

/* ---- verify_val.c */

static inline struct val vf_range(uint64_t min, uint64_t max)
{
	return (struct val){.kind = EBPF_SCALAR, .min = min, .max = max};
}

static inline struct val vf_unknown(unsigned bits)
{
	return vf_range(0, UINT64_MAX >> (64 - bits));
}

static inline bool vf_is_const(const struct val *a)
{
	return a->kind == EBPF_SCALAR && a->min == a->max;
}

static inline bool vf_is_pointer(const struct val *a)
{
	return a->kind != EBPF_NONE && a->kind != EBPF_SCALAR;
}

/* The size of what a MEM points into. */
static inline int64_t vf_size(const struct verifier *v, const struct val *a)
{
	if (a->in == IN_STACK)
		return EBPF_STACK;
	return a->in == IN_VALUE ? a->size : v->env->region[a->in].size;
}

bool vf_passes_as_str(const struct verifier *v, const struct val *a);
struct val vf_arith(unsigned op, unsigned bits, struct val a, struct val b);
/* Refine a and b, given that (a op b) is taken or not; false: that is impossible. */
bool vf_refine(unsigned op, unsigned bits, bool taken, struct val *a, struct val *b);
void vf_join_state(struct verifier *v, struct state *to, const struct state *from);
void vf_copy_state(struct state *to, const struct state *from);

/* ---- verify_mem.c */

enum access { READ = 1, WRITE = 2 };

/* May size bytes at a + off be accessed? Stack bytes that are read must be initialised data. */
int vf_access(struct verifier *v, const struct val *a, int off, uint64_t size, enum access how);
/* Up to size bytes at a + off were overwritten with numbers, the first `sure` of them certainly. */
void vf_wrote(struct verifier *v, const struct val *a, int off, uint64_t sure, uint64_t size);
int vf_memory(struct verifier *v, const struct ebpf_insn *insn, const struct ebpf_info *info);
/* The value of the 8-byte slot at r10 + off; NONE if it is not fully initialised. */
struct val vf_slot(const struct verifier *v, int64_t off);

/* ---- verify_call.c */

int vf_call(struct verifier *v, unsigned fn);

#endif
