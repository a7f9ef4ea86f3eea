/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the code generator.
 *
 *   cg.c         a clause: predicate, statements, ending; registers and stack slots
 *   cg_expr.c    expressions of numbers, pointers and strings
 *   cg_assign.c  assignments, ++ and --
 *   cg_lvalue.c  lvalues: variables, memory behind pointers, members, elements
 *   cg_func.c    subroutines, aggregations, keys
 *   cg_term.c    terms of Erlang
 *   cg_payload.c what payload=off refuses
 *   cg_act.c     actions, and the record they fill
 *   cg_dump.c    -S
 *
 * Code is generated in one pass over the tree; there is no liveness analysis. A temporary's live
 * range is explicit instead: it is allocated by cg_tmp() and freed by cg_free(), usually by the
 * function that consumes the value.
 *
 * Registers: r6 holds the context. r7 to r9 are callee-saved, so temporaries in them survive calls
 * of runtime functions; when all three are taken, a new temporary gets a stack slot (a spill). A
 * temporary stays where it was allocated until it is freed. r0 to r5 are scratch: they hold
 * operands within one step and never a value that must survive it. The stack has 64 slots; an
 * expression that needs more is rejected (D_CG_EXPR). Keys of dynamic variables and aggregations
 * are built in consecutive slots too.
 *
 * A value is loaded into a register as late as possible: constants, fields of the context and
 * constant strings are described by a struct cg_val and emitted where they are used. Values that a
 * clause computes once and reads often (texts of arguments, built-ins) are kept in slots that are
 * pinned for the rest of the clause; that is done only if the code that computes them dominates the
 * rest of the clause, that is, if it is not inside a branch (conditional, maybe).
 *
 * A number is 64 bits. A load extends it according to the sign of its type, operators compute in 64
 * bits, and only what is stored, cast, recorded or made a key is cut to the type again (d_fits()
 * says when that is not necessary). A string is a reference (ebpf.h, EBPF_STR). What is passed by
 * address (struct, array, float) has an lvalue.
 *
 * A runtime function that fails sets fire->fault. The code tests that after the call and jumps to a
 * landing pad (struct cg_pad), which passes the kind of fault, the index of the failed instruction
 * and the number of its action to rt_fault and leaves the clause. Pads are emitted after the
 * clause; the index is known only after layout, so it is backpatched.
 *
 */
#ifndef D_CG_H
#define D_CG_H

#include "d/d.h"
#include "prog/firing.h"
#include "prog/record.h"
#include "prog/rt.h"

#define CTX	 R6
#define CG_SLOTS (EBPF_STACK / 8)

/* A value, loaded into a register only where it is used. */
struct cg_val {
	enum {
		VAL_CONST,  /* imm */
		VAL_FIELD,  /* 8 or 4 bytes of the context, at off */
		VAL_REG,    /* a temporary in r7..r9 */
		VAL_SLOT,   /* a temporary in stack slot reg */
		VAL_STRING, /* index of a constant string: imm */
	} kind;
	uint8_t reg;
	uint8_t size; /* VAL_FIELD */
	uint16_t off;
	uint64_t imm;
};

/* An lvalue. */
struct cg_lval {
	enum {
		LV_MEM, /* base: a pointer into memory of the program (globals, scratch); off */
		LV_RAW, /* base: an address anywhere; off */
		LV_DYN, /* var, key: a number or string in a dynamic variable */
	} kind;
	bool shared; /* LV_MEM: shared with other threads, so adding must be atomic */
	struct cg_val base;
	int64_t off;
	struct prog_var *var;
	int varid;
	int key; /* LV_DYN: first stack slot of the key; -1: none */
	bool null_key; /* a string in it may be NULL */
	int64_t copy; /* of a struct in a dynamic variable: its copy in scratch; -1: none */
	bool indexed; /* an index known only at run time was added to base */
	const struct d_member *bits; /* a bit-field */
};

struct cg {
	struct d_comp *c;
	struct ebpf_asm *a;
	struct prog_clause *clause;
	uint8_t regs;	/* bit i: r7 + i is allocated */
	uint64_t slots; /* bit i: stack slot i is allocated */
	uint64_t pinned; /* likewise: not freed before the end of the clause */
	uint32_t scratch; /* next free byte of the scratch region */
	uint32_t rec;	/* next free byte of the record's fixed part */
	int conditional; /* number of ifs around the current statement */
	int maybe;	 /* number of && || ?: around the current expression */
	uint32_t texts;	 /* bit n: argn is read as a text */
	int argstr[10];	 /* pinned slot + 1 with copyinstr(argn); 0: none */
	struct {
		unsigned what; /* cg_pbi_what(); CG_ASKED_TERM: the term, not its text */
		int slot;
	} asked[8]; /* the same for texts and terms of provider built-ins */
	struct {
		int var, key; /* pinned slot of its key, or -1; var -1: none */
		int slot;
	} loaded; /* the number loaded last from a dynamic variable, until that is stored to */
	int32_t any_off; /* offset of a byte: is there anything in the record? -1: always */
	int32_t present; /* offset of the next byte for an action inside an if */
	int exit_label;
	struct cg_pad {
		int label;
		int fault;	 /* FAULT_*; 0: the one that the runtime function has set */
		unsigned action; /* that the failed instruction is part of */
		unsigned at;	 /* the failed instruction, before layout */
		unsigned mov_pc; /* the mov to backpatch */
		struct cg_pad *next;
	} *pads, *placed;
	unsigned npads;
	unsigned action; /* the number of the action being generated; 0: the predicate */
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
int cg_slots(struct cg *g, const struct d_node *n, unsigned count); /* consecutive; -1: none left */
void cg_slots_free(struct cg *g, int first, unsigned count);
int cg_slot_off(int slot, unsigned count, unsigned i); /* offset of the i-th of them from r10 */
void cg_load(struct cg *g, int reg, struct cg_val v);	   /* load v into reg */
int cg_reg(struct cg *g, struct cg_val v, int scratch);	   /* a register that holds v; read only */
void cg_store(struct cg *g, struct cg_val tmp, int reg);   /* store reg into a temporary */
struct cg_val cg_keep(struct cg *g, const struct d_node *n, int reg); /* into a new temporary */
void cg_norm(struct cg *g, int reg, const struct d_type *t); /* extend to 64 bits by the type */
void cg_call(struct cg *g, enum rt_fn fn); /* with r2..r5 set; adds r1 and the test for faults */
void cg_call_sized(struct cg *g, enum rt_fn fn, uint64_t size); /* size: bytes passed by address */
/* The same if it may be known that no string is NULL: d_may_be_null(). */
void cg_call_with(struct cg *g, enum rt_fn fn, uint64_t size, bool may_be_null);
void cg_fault_if(struct cg *g, uint8_t jump, int reg, int32_t imm, int fault);
uint32_t cg_scratch(struct cg *g, const struct d_node *n, uint32_t size);
int cg_fail(struct cg *g, const struct d_node *n, enum et_tag tag, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* cg_expr.c */
struct cg_val cg_expr(struct cg *g, struct d_node *n);
/* The number v, which is the value of n, cut to a type if it need be. */
struct cg_val cg_convert(
	struct cg *g, struct cg_val v, const struct d_node *n, const struct d_type *to);
struct cg_val cg_cut(
	struct cg *g, struct cg_val v, const struct d_type *to, const struct d_node *n);
/* a op b in 64 bits, signed if type t is; the result is in a new temporary. */
struct cg_val cg_binary(struct cg *g, const struct d_node *n, int op, struct cg_val a,
	struct cg_val b, const struct d_type *t);
/* v elements of what ptr points to: pointer arithmetic counts in them. */
struct cg_val cg_scaled(
	struct cg *g, struct cg_val v, const struct d_type *ptr, const struct d_node *n);
static inline bool cg_points(const struct d_type *t)
{
	return d_is_ptr(t) || d_is_kind(t, T_ARRAY);
}
struct cg_val cg_to_string(struct cg *g, struct d_node *a, const struct d_node *n); /* a is any */
void cg_discard(struct cg *g, struct d_node *n); /* for its side effects only */
void cg_jump_false(struct cg *g, struct d_node *n, int label);
void cg_jump_true(struct cg *g, struct d_node *n, int label);

/* cg_assign.c; their value, if it is wanted */
struct cg_val cg_assign(struct cg *g, struct d_node *n, bool want); /* x = e */
struct cg_val cg_update(struct cg *g, struct d_node *n, bool want); /* x op= e */
/* ++ and --: op is OP_ADD or OP_SUB; post: the value is the old one. */
struct cg_val cg_step(struct cg *g, struct d_node *n, int op, bool want, bool post);

/* cg_lvalue.c */
struct cg_lval cg_lval(struct cg *g, struct d_node *n, bool write);
void cg_lval_free(struct cg *g, struct cg_lval *p);
struct cg_val cg_lval_load(struct cg *g, struct cg_lval *p, const struct d_type *t,
	const struct d_node *n);
void cg_lval_store(struct cg *g, struct cg_lval *p, const struct d_type *t, struct cg_val v,
	const struct d_node *n);
/* Add to an lvalue; returns the old value, if it is wanted, in a new temporary. */
struct cg_val cg_lval_add(struct cg *g, struct cg_lval *p, const struct d_type *t,
	struct cg_val v, bool want, const struct d_node *n);
/* Other code has run since cg_lval(), which may have changed the struct that p is a member of. */
void cg_lval_reload(struct cg *g, const struct cg_lval *p);
/* The address of an LV_RAW. */
struct cg_val cg_lval_addr(struct cg *g, struct cg_lval *p, const struct d_node *n);
/* A pointer to its bytes in the program's memory, copied there if need be, in a new temporary. */
struct cg_val cg_lval_mem(struct cg *g, struct cg_lval *p, uint32_t size,
	const struct d_node *n);
void cg_assign_bytes(struct cg *g, struct cg_lval *to, struct d_node *from, uint32_t size);
void cg_mem_ptr(struct cg *g, const struct cg_lval *p, int reg);

/* cg_func.c */
struct cg_val cg_symbol(struct cg *g, struct d_node *n, const struct prog_val *pv);
struct cg_val cg_func(struct cg *g, struct d_node *n);
struct cg_val cg_argstr(struct cg *g, const struct d_node *n, unsigned arg);
int cg_keep_for_all(struct cg *g, const struct d_node *n); /* pin r0: its slot + 1, or 0 */
struct cg_val cg_kept(struct cg *g, const struct d_node *n, int slot); /* + 1 */
/* A provider built-in with its argument: its value, and the text of one that is a term. */
struct cg_val cg_pbi(struct cg *g, const struct d_node *n, struct cg_val arg);
struct cg_val cg_pbi_text(struct cg *g, const struct d_node *n, struct cg_val arg);
void cg_uses_pbi(struct cg *g, const struct d_node *n, struct cg_val arg);
/* A number for it with its argument; 0: that is known only at run time. */
unsigned cg_pbi_what(const struct d_node *n, struct cg_val arg);
enum { CG_ASKED_TERM = 1u << 31 };
int *cg_asked(struct cg *g, unsigned what); /* where its pinned slot + 1 is; NULL: no room */
/* Evaluate a key into stack slots; returns the first, or -1 for no key. */
int cg_key(struct cg *g, const struct d_node *n, struct d_node *list, const struct prog_val *keys,
	unsigned nkeys);
void cg_key_load(struct cg *g, int reg, int key, unsigned nkeys);
uint64_t cg_key_bytes(const struct prog_val *keys, unsigned n);
bool cg_key_null(const struct d_node *list, const struct prog_val *keys, unsigned nkeys);
void cg_aggregate(struct cg *g, struct d_node *n); /* @a[k] = f(...) */
struct d_node *cg_increment(const struct d_node *call); /* of an aggregating function, or NULL */
struct prog_val *cg_keys_of(struct cg *g, const struct d_type **types, unsigned n,
	struct d_node *list, bool *blob, uint32_t *strmask);
int cg_agg(struct cg *g, struct d_ident *id, const struct d_node *n); /* index in prog->aggs */

/* cg_payload.c: what payload=off refuses */
void cg_payload_builtin(struct cg *g, const struct d_node *n);
void cg_payload_call(struct cg *g, enum rt_fn fn);
void cg_payload_args(struct cg *g, const struct d_clause *cl);

/* cg_term.c */
bool cg_is_source(const struct d_node *n); /* is it what the event is about: erlmsg, erlarg(n)? */
struct cg_val cg_term_source(struct cg *g, const struct d_node *n);
struct cg_val cg_term_text(struct cg *g, struct d_node *term, const struct d_node *n);
struct cg_val cg_term_number(struct cg *g, struct d_node *term, const struct d_node *n);
void cg_term_jump(struct cg *g, struct d_node *n, bool when, int label); /* a comparison */
struct cg_val cg_term_func(struct cg *g, struct d_node *n);

/* cg_act.c */
void cg_action(struct cg *g, struct d_node *n);
void cg_val_type(struct cg *g, struct d_node *n, struct prog_val *v);
/* The size of the result of stack(), ustack() or jstack(). */
uint32_t cg_stack_size(struct cg *g, const struct d_node *n, int *kind, uint32_t *how);

#endif
