/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the code generator.
 *
 *   cg.c        a clause: predicate, statements, ending; registers and stack slots
 *   cg_expr.c   expressions of numbers, pointers and strings
 *   cg_lval.c  what can be assigned: variables, memory behind pointers, members, elements
 *   cg_func.c   subroutines, aggregations, keys
 *   cg_act.c    actions, and the record they fill
 *   cg_dump.c   -S
 *
 * Registers: r6 is the context; r7 to r9 and, when these are taken, slots of the stack hold
 * temporaries; r0 to r5 are free between two steps. Numbers are kept extended to 64 bits by their
 * type's sign. A string is a reference (ebpf.h, EBPF_STR). What is handled by address (struct,
 * array, float) has a place.
 */
#ifndef D_CG_H
#define D_CG_H

#include "d.h"
#include "prog/firing.h"
#include "prog/record.h"
#include "prog/rt.h"

#define CTX	 R6
#define CG_SLOTS (EBPF_STACK / 8)

/* A value: not yet in a register unless it has to be. */
struct cg_val {
	enum {
		VAL_CONST,  /* imm */
		VAL_FIELD,  /* 8 or 4 bytes of the context, at off */
		VAL_REG,    /* a temporary in r7..r9 */
		VAL_SLOT,   /* a temporary in stack slot reg */
		VAL_STRING, /* constant string number imm */
	} kind;
	uint8_t reg;
	uint8_t size; /* VAL_FIELD */
	uint16_t off;
	uint64_t imm;
};

/* Where something lives. */
struct cg_lval {
	enum {
		PL_MEM, /* base: a pointer into D's own memory; off */
		PL_RAW, /* base: an address; off */
		PL_DYN, /* ident, key: a dynamic variable's scalar or string */
	} kind;
	bool shared; /* PL_MEM: other threads use it too: adding must be atomic */
	struct cg_val base;
	int64_t off;
	struct prog_var *var;
	int varid;
	int key; /* PL_DYN: first stack slot of the key, -1: none */
	int64_t copy; /* of a struct in a dynamic variable: where in scratch; -1: no copy */
	bool indexed; /* an index that only the program knows has been added to base */
	const struct d_member *bits; /* a bit-field */
};

struct cg {
	struct d_comp *c;
	struct ebpf_asm *a;
	struct prog_clause *clause;
	uint8_t regs;	/* bit i: r7 + i is taken */
	uint64_t slots; /* bit i: stack slot i is taken */
	uint64_t pinned; /* the same: for all of the clause */
	uint32_t scratch; /* next free byte of the scratch region */
	uint32_t rec;	/* next free byte of the record's fixed part */
	int conditional; /* depth of ifs around the action being made */
	int maybe;	 /* the same of && || ?: around an expression */
	int argstr[10];	 /* stack slot + 1 that has copyinstr(argn), on every way from there on */
	struct {
		unsigned what; /* 1 + pbi and argument */
		int slot;
	} asked[8]; /* the same for texts that whoever fires was asked for */
	struct {
		int var, key; /* slot of its key, which is pinned, or -1; var -1: none */
		int slot;
	} loaded; /* a dynamic variable's number, as long as nothing is stored to that variable */
	int32_t any_off; /* byte that says whether the record has anything; -1: always */
	int32_t present; /* next byte that says whether an action inside an if was reached */
	int exit_label;
	struct cg_pad {
		int label;
		int fault;	 /* FAULT_*; 0: what the runtime function set */
		unsigned at;	 /* the instruction that failed, as emitted */
		unsigned mov_pc; /* the mov to patch */
		struct cg_pad *next;
	} *pads, *placed;
	unsigned npads;
	struct cg_act *acts, **acts_tail; /* actions so far */
	unsigned nacts;
	bool failed;
};

struct cg_act {
	struct prog_action act;
	struct prog_val vals[64];
	struct cg_act *next;
};

#define FIELD(m) offsetof(struct fire_ctx, m)

/* cg.c */
struct cg_val cg_const(uint64_t v);
struct cg_val cg_field(unsigned off, unsigned size);
struct cg_val cg_tmp(struct cg *g, const struct d_node *n); /* a new temporary */
void cg_free(struct cg *g, struct cg_val v);
int cg_slots(struct cg *g, const struct d_node *n, unsigned count); /* consecutive; -1: none */
void cg_slots_free(struct cg *g, int first, unsigned count);
int cg_slot_off(int slot, unsigned count, unsigned i); /* of the i-th of them, from r10 */
void cg_load(struct cg *g, int reg, struct cg_val v);	   /* v into reg */
int cg_reg(struct cg *g, struct cg_val v, int scratch);	   /* a register that has v; read only */
void cg_store(struct cg *g, struct cg_val tmp, int reg);   /* reg into a temporary */
struct cg_val cg_keep(struct cg *g, const struct d_node *n, int reg); /* reg into a new one */
void cg_norm(struct cg *g, int reg, const struct d_type *t); /* extend by the type */
void cg_call(struct cg *g, enum rt_fn fn); /* r2..r5 are set; r1 and the fault test are added */
void cg_call_sized(struct cg *g, enum rt_fn fn, uint64_t size); /* with so many bytes by address */
void cg_fault_if(struct cg *g, uint8_t jump, int reg, int32_t imm, int fault);
uint32_t cg_scratch(struct cg *g, const struct d_node *n, uint32_t size);
int cg_fail(struct cg *g, const struct d_node *n, enum et_tag tag, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* cg_expr.c */
struct cg_val cg_expr(struct cg *g, struct d_node *n);
struct cg_val cg_convert(struct cg *g, struct cg_val v, const struct d_type *from,
	const struct d_type *to, const struct d_node *n);
void cg_discard(struct cg *g, struct d_node *n); /* for its effects only */
void cg_jump_false(struct cg *g, struct d_node *n, int label);
void cg_jump_true(struct cg *g, struct d_node *n, int label);

/* cg_lval.c */
struct cg_lval cg_lval(struct cg *g, struct d_node *n, bool write);
void cg_lval_free(struct cg *g, struct cg_lval *p);
struct cg_val cg_lval_load(struct cg *g, struct cg_lval *p, const struct d_type *t,
	const struct d_node *n);
void cg_lval_store(struct cg *g, struct cg_lval *p, const struct d_type *t, struct cg_val v,
	const struct d_node *n);
/* Add to it; the old value in a new temporary. */
struct cg_val cg_lval_add(struct cg *g, struct cg_lval *p, const struct d_type *t,
	struct cg_val v, const struct d_node *n);
/* The raw address of a PL_RAW place. */
struct cg_val cg_lval_addr(struct cg *g, struct cg_lval *p, const struct d_node *n);
/* A pointer to its bytes in D's own memory (copied there if need be), into a new temporary. */
struct cg_val cg_lval_mem(struct cg *g, struct cg_lval *p, uint32_t size,
	const struct d_node *n);
void cg_assign_bytes(struct cg *g, struct cg_lval *to, struct d_node *from, uint32_t size);
void cg_mem_ptr(struct cg *g, const struct cg_lval *p, int reg);

/* cg_func.c */
struct cg_val cg_symbol(struct cg *g, struct d_node *n, const struct prog_val *pv);
struct cg_val cg_func(struct cg *g, struct d_node *n);
struct cg_val cg_argstr(struct cg *g, const struct d_node *n, unsigned arg);
int cg_keep_for_all(struct cg *g, const struct d_node *n); /* r0's slot + 1; 0: it is not kept */
struct cg_val cg_kept(struct cg *g, const struct d_node *n, int slot); /* + 1 */
/* A built-in that whoever fires is asked for, with its argument. */
struct cg_val cg_pbi(struct cg *g, const struct d_node *n, struct cg_val arg);
/* Evaluate a key into stack slots; returns the first, -1 for no key. */
int cg_key(struct cg *g, const struct d_node *n, struct d_node *list, const struct prog_val *keys,
	unsigned nkeys);
void cg_key_load(struct cg *g, int reg, int key, unsigned nkeys);
uint64_t cg_key_bytes(const struct prog_val *keys, unsigned n);
void cg_aggregate(struct cg *g, struct d_node *n); /* @a[k] = f(...) */
struct prog_val *cg_keys_of(struct cg *g, const struct d_type **types, unsigned n,
	struct d_node *list, bool *blob, uint32_t *strmask);
int cg_agg(struct cg *g, struct d_ident *id, const struct d_node *n); /* index in prog->aggs */

/* cg_act.c */
void cg_action(struct cg *g, struct d_node *n);
void cg_val_type(struct cg *g, struct d_node *n, struct prog_val *v);
/* stack(), ustack(), jstack() into memory; sizes. */
uint32_t cg_stack_size(struct cg *g, const struct d_node *n, int *kind);

#endif
