/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the verifier: what it knows of values, and how its files share the work.
 *
 *   verify.c	    structure, the pass over the instructions, jumps
 *   verify_val.c   values: ranges of numbers, refining by conditions, joining
 *   verify_mem.c   loads, stores, atomics: stack, regions, checked values, context
 *   verify_call.c  arguments and results of calls
 */
#ifndef EBPF_VERIFY_H
#define EBPF_VERIFY_H

#include "ebpf.h"

#define SLOTS (EBPF_STACK / 8)

/* Memory a MEM points into: one of these, or the number of a region. */
enum { IN_STACK = 0xff, IN_VALUE = 0xfe };

/* Offsets of pointers stay below this, so that no sum of them overflows. */
#define OFF_LIMIT (1 << 29)

/*
 * What is known of the contents of a register or stack slot.
 *
 * SCALAR	between min and max, unsigned
 * MEM		off + [0, max] bytes from the start of in (from r10 if it is the stack). A checked
 *		value is size bytes long, and id tells which call gave it
 * MEM_OR_NULL	null, or a MEM with these fields; all copies of it have its id, so that comparing
 *		one tells of all. A call is executed once at most (nothing goes back), so its
 *		index is id enough
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
 * The state before an instruction. Slot i is the 8 bytes at r10 - 8 * (i + 1); bit b of init[i]
 * tells that byte b of them is initialised. A slot of kind NONE is loose bytes; of any other kind
 * it was written whole, and all its bytes are. Slots from depth on were never written.
 */
struct state {
	struct val reg[R10 + 1];
	struct val slot[SLOTS];
	uint8_t init[SLOTS];
	unsigned depth;
	struct state *next; /* of the free ones */
};

struct verifier {
	const struct ebpf_insn *insns;
	unsigned n;
	const struct ebpf_env *env;
	struct et_error *err;
	unsigned at; /* the instruction being looked at */
	struct state *cur;
	struct state **pending; /* by instruction: the join of the jumps to it */
	struct state *free;
	unsigned nstates;
	uint32_t next_id;
};

/* Refuse the program; the text says why. Returns -1. */
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

/* The bytes of what a MEM points into. */
static inline int64_t vf_size(const struct verifier *v, const struct val *a)
{
	if (a->in == IN_STACK)
		return EBPF_STACK;
	return a->in == IN_VALUE ? a->size : v->env->region[a->in].size;
}

bool vf_passes_as_str(const struct verifier *v, const struct val *a);
struct val vf_arith(unsigned op, unsigned bits, struct val a, struct val b);
/* Narrow a and b knowing that (a op b) is taken; false: it cannot be. */
bool vf_refine(unsigned op, unsigned bits, bool taken, struct val *a, struct val *b);
void vf_join_state(struct verifier *v, struct state *to, const struct state *from);
void vf_copy_state(struct state *to, const struct state *from);

/* ---- verify_mem.c */

enum access { READ = 1, WRITE = 2 };

/* May size bytes at a + off be accessed? Also the stack's bytes must be data if they are read. */
int vf_access(struct verifier *v, const struct val *a, int off, uint64_t size, enum access how);
/* size bytes at a may have been written with numbers, at least sure bytes were. */
void vf_wrote(struct verifier *v, const struct val *a, int off, uint64_t sure, uint64_t size);
int vf_memory(struct verifier *v, const struct ebpf_insn *insn, const struct ebpf_info *info);
/* The 8-byte slot at offset off from r10 as one value; NONE if it is not wholly initialised. */
struct val vf_slot(const struct verifier *v, int64_t off);

/* ---- verify_call.c */

int vf_call(struct verifier *v, unsigned fn);

#endif
