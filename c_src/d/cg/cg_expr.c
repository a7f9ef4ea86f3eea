/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions of numbers, pointers and strings. cg_expr() returns a value that the caller frees;
 * conditions become jumps, without a value in between unless one is needed.
 */
#include "cg.h"

#include <string.h>

/* The register in which to compute the value of a temporary. */
static int dst_of(struct cg_val tmp)
{
	return tmp.kind == VAL_REG ? tmp.reg : R0;
}

/* ---- conversions ----------------------------------------------------------------------- */

static uint64_t const_cut(uint64_t v, const struct d_type *t)
{
	unsigned bits = d_base(t)->size * 8;

	if (bits == 0 || bits >= 64)
		return v;
	v &= (1ULL << bits) - 1;
	if (d_is_signed(t) && (v >> (bits - 1)))
		v |= ~0ULL << bits;
	return v;
}

/* v != 0 as 0 or 1, in a temporary. */
static struct cg_val truth(struct cg *g, struct cg_val v, const struct d_node *n)
{
	int done = ebpf_label(g->a);
	int r;
	struct cg_val t;

	r = cg_reg(g, v, R1);
	ebpf_emit(g->a, EBPF_MOV64_IMM, R0, 0, 0, 0);
	ebpf_jump(g->a, EBPF_JEQ_IMM, r, 0, 0, done);
	ebpf_emit(g->a, EBPF_MOV64_IMM, R0, 0, 0, 1);
	ebpf_bind(g->a, done);
	cg_free(g, v);
	t = cg_keep(g, n, R0);
	return t;
}

/* Cut a number to a type. */
struct cg_val cg_cut(
	struct cg *g, struct cg_val v, const struct d_type *to, const struct d_node *n)
{
	if (d_base(to)->is_bool) {
		if (v.kind == VAL_CONST)
			return cg_const(v.imm != 0);
		return truth(g, v, n);
	}
	if (v.kind == VAL_CONST)
		return cg_const(const_cut(v.imm, to));
	if (d_base(to)->size == 8)
		return v;
	if (v.kind == VAL_REG) {
		cg_norm(g, v.reg, to);
		return v;
	}
	cg_load(g, R0, v);
	cg_norm(g, R0, to);
	if (v.kind == VAL_SLOT) {
		cg_store(g, v, R0);
		return v;
	}
	return cg_keep(g, n, R0);
}

struct cg_val cg_convert(
	struct cg *g, struct cg_val v, const struct d_node *n, const struct d_type *to)
{
	return !d_is_scalar(to) || d_fits(n, to) ? v : cg_cut(g, v, to, n);
}

static unsigned string_number(struct cg *g, const char *s, uint32_t len)
{
	struct prog *p = &g->c->prog;

	for (unsigned i = 0; i < p->nstrs; i++)
		if (p->strs[i].len == len && memcmp(p->strs[i].s, s, len) == 0)
			return i;
	return d_prog_str(g->c, s, len);
}

/* The string at an address; a probe argument that is a string already is not copied. */
static struct cg_val address_to_string(struct cg *g, struct d_node *a, const struct d_node *n)
{
	struct cg_val v;

	if (a->kind == N_ASSOC && a->ident->kind == ID_BUILTIN && a->ident->id == BI_ARGS)
		return cg_argstr(g, n, a->value);
	if (a->kind == N_VAR && a->ident->kind == ID_BUILTIN && a->ident->id >= BI_ARG0 &&
		a->ident->id <= BI_ARG9)
		return cg_argstr(g, n, a->ident->id - BI_ARG0);
	v = cg_expr(g, a);
	cg_load(g, R3, v);
	cg_free(g, v);
	ebpf_const(g->a, R4, g->c->prog.strsize - 1);
	ebpf_const(g->a, R2, cg_scratch(g, n, g->c->prog.strsize));
	cg_call(g, RT_addrstr);
	return cg_keep(g, n, R0);
}

/* The bytes of an array as a string, up to a NUL. */
static struct cg_val bytes_to_string(struct cg *g, struct d_node *a, const struct d_node *n)
{
	struct cg_lval p = cg_lval(g, a, false);
	uint64_t size = d_base(a->type)->size;
	struct cg_val v;

	if (p.kind == LV_RAW) {
		v = cg_lval_addr(g, &p, n);
		cg_load(g, R3, v);
		cg_free(g, v);
		ebpf_const(g->a, R4, size < g->c->prog.strsize ? size : g->c->prog.strsize - 1);
		ebpf_const(g->a, R2, cg_scratch(g, n, g->c->prog.strsize));
		cg_call(g, RT_addrstr);
	} else {
		v = cg_lval_mem(g, &p, size, n);
		cg_load(g, R3, v);
		cg_free(g, v);
		ebpf_const(g->a, R4, size);
		ebpf_const(g->a, R2, cg_scratch(g, n, g->c->prog.strsize));
		cg_call_sized(g, RT_memstr, size);
	}
	cg_lval_free(g, &p);
	return cg_keep(g, n, R0);
}

/* Any expression as a string. */
struct cg_val cg_to_string(struct cg *g, struct d_node *a, const struct d_node *n)
{
	if (d_is_string(a->type))
		return cg_expr(g, a);
	if (d_is_kind(a->type, T_ARRAY))
		return bytes_to_string(g, a, n);
	if (d_is_term(a->type))
		return cg_term_text(g, a, n);
	if (a->kind == N_INT && a->value == 0)
		return cg_const(0);
	return address_to_string(g, a, n);
}

/* ---- binary operators ------------------------------------------------------------------ */

static uint8_t alu_code(int op, bool sign)
{
	switch (op) {
	case OP_ADD: return EBPF_ADD64_REG;
	case OP_SUB: return EBPF_SUB64_REG;
	case OP_MUL: return EBPF_MUL64_REG;
	case OP_DIV: return EBPF_DIV64_REG;
	case OP_MOD: return EBPF_MOD64_REG;
	case OP_SHL: return EBPF_LSH64_REG;
	case OP_SHR: return sign ? EBPF_ARSH64_REG : EBPF_RSH64_REG;
	case OP_BAND: return EBPF_AND64_REG;
	case OP_BXOR: return EBPF_XOR64_REG;
	default: return EBPF_OR64_REG;
	}
}

#define REG_TO_IMM(code) ((code) & ~0x08)

static bool fits_imm(struct cg_val v)
{
	return v.kind == VAL_CONST && (int64_t)v.imm == (int32_t)v.imm;
}

struct cg_val cg_binary(struct cg *g, const struct d_node *n, int op, struct cg_val a,
	struct cg_val b, const struct d_type *t)
{
	bool sign = d_is_signed(t), divides = op == OP_DIV || op == OP_MOD;
	bool imm = fits_imm(b) && !(divides && b.imm == 0); /* x / (y = 0) is a fault */
	uint8_t code = alu_code(op, sign);
	int off = divides && sign ? EBPF_SIGNED : 0;
	int d, rb;

	if ((op == OP_SHL || op == OP_SHR) && b.kind == VAL_CONST)
		b.imm &= 63;
	if (divides && !imm) { /* test before r0 is used */
		rb = cg_reg(g, b, R1);
		cg_fault_if(g, EBPF_JEQ_IMM, rb, 0, FAULT_DIVZERO);
	}
	d = cg_reg(g, a, R0);
	if (imm) {
		ebpf_emit(g->a, REG_TO_IMM(code), d, 0, off, (int32_t)b.imm);
	} else {
		rb = cg_reg(g, b, R1);
		ebpf_emit(g->a, code, d, rb, off, 0);
	}
	cg_free(g, b);
	if (a.kind == VAL_REG)
		return a;
	if (a.kind == VAL_SLOT) {
		cg_store(g, a, d);
		return a;
	}
	return cg_keep(g, n, d);
}

struct cg_val cg_scaled(
	struct cg *g, struct cg_val v, const struct d_type *ptr, const struct d_node *n)
{
	uint64_t size = d_base(d_base(ptr)->ref)->size;

	if (size <= 1) /* void counts as 1 */
		return v;
	if (v.kind == VAL_CONST)
		return cg_const(v.imm * size);
	return cg_binary(g, n, OP_MUL, v, cg_const(size), g->c->t.u64);
}

static struct cg_val gen_arith(struct cg *g, struct d_node *n)
{
	const struct d_type *ta = n->a->type, *tb = n->b->type;
	struct cg_val a = cg_expr(g, n->a), b = cg_expr(g, n->b);

	if (n->op == OP_SUB && cg_points(ta) && cg_points(tb)) {
		uint64_t size = d_base(d_base(ta)->ref)->size;

		a = cg_binary(g, n, OP_SUB, a, b, g->c->t.i64);
		return size > 1 ? cg_binary(g, n, OP_DIV, a, cg_const(size), g->c->t.i64) : a;
	}
	if (cg_points(ta) && (n->op == OP_ADD || n->op == OP_SUB))
		b = cg_scaled(g, b, ta, n);
	else if (cg_points(tb) && n->op == OP_ADD)
		a = cg_scaled(g, a, tb, n);
	return cg_binary(g, n, n->op, a, b, n->type);
}

/* ---- conditions ------------------------------------------------------------------------ */

static bool is_compare(const struct d_node *n)
{
	return n->kind == N_OP2 && n->op >= OP_LT && n->op <= OP_NE;
}

static bool compares_terms(const struct d_node *n)
{
	return is_compare(n) && (d_is_term(n->a->type) || d_is_term(n->b->type));
}

static uint8_t jump_code(int op, bool sign)
{
	switch (op) {
	case OP_LT: return sign ? EBPF_JSLT_REG : EBPF_JLT_REG;
	case OP_LE: return sign ? EBPF_JSLE_REG : EBPF_JLE_REG;
	case OP_GT: return sign ? EBPF_JSGT_REG : EBPF_JGT_REG;
	case OP_GE: return sign ? EBPF_JSGE_REG : EBPF_JGE_REG;
	case OP_EQ: return EBPF_JEQ_REG;
	default: return EBPF_JNE_REG;
	}
}

static int inverse(int op)
{
	static const uint8_t inv[] = {
		[OP_LT] = OP_GE,
		[OP_LE] = OP_GT,
		[OP_GT] = OP_LE,
		[OP_GE] = OP_LT,
		[OP_EQ] = OP_NE,
		[OP_NE] = OP_EQ,
	};

	return inv[op];
}

static bool is_null(const struct d_node *n)
{
	while (n->kind == N_CAST)
		n = n->a;
	return n->kind == N_INT && n->value == 0;
}

/* The constant of a comparison with a name that can be written in another way; or NULL. */
static struct d_node *other_spelling(const struct d_node *n)
{
	const struct d_node *text = n->a->kind == N_STR ? n->a : n->b;

	return text->kind == N_STR ? text->a : NULL;
}

/* Jump if name == one of the two holds, or name != both. */
static void jump_names(struct cg *g, struct d_node *n, int op, int label)
{
	struct d_node *text = n->a->kind == N_STR ? n->a : n->b;
	struct cg_val name = cg_to_string(g, text == n->a ? n->b : n->a, n);
	int equal = op == OP_EQ ? label : ebpf_label(g->a);

	cg_load(g, R2, name);
	cg_load(g, R3, cg_to_string(g, text, n));
	cg_call(g, RT_streq);
	ebpf_jump(g->a, EBPF_JNE_IMM, R0, 0, 0, equal);
	cg_load(g, R2, name);
	cg_load(g, R3, cg_to_string(g, text->a, n));
	cg_free(g, name);
	cg_call(g, RT_streq);
	ebpf_jump(g->a, op == OP_EQ ? EBPF_JNE_IMM : EBPF_JEQ_IMM, R0, 0, 0, label);
	if (op == OP_NE)
		ebpf_bind(g->a, equal);
}

/* Jump if a op b holds for strings, of which NULL equals "". */
static void jump_strings(struct cg *g, struct d_node *n, int op, int label)
{
	struct cg_val a = is_null(n->a) ? cg_const(0) : cg_to_string(g, n->a, n);
	struct cg_val b = is_null(n->b) ? cg_const(0) : cg_to_string(g, n->b, n);

	cg_load(g, R2, a);
	cg_load(g, R3, b);
	cg_free(g, a);
	cg_free(g, b);
	if (op == OP_EQ || op == OP_NE) {
		cg_call(g, RT_streq);
		ebpf_jump(g->a, op == OP_EQ ? EBPF_JNE_IMM : EBPF_JEQ_IMM, R0, 0, 0, label);
	} else {
		cg_call(g, RT_strcmp);
		ebpf_jump(g->a, REG_TO_IMM(jump_code(op, true)), R0, 0, 0, label);
	}
}

static void jump_compare(struct cg *g, struct d_node *n, int op, int label)
{
	const struct d_type *t;
	struct cg_val a, b;
	uint8_t code;
	int ra;

	if (d_is_string(n->a->type) || d_is_string(n->b->type)) {
		if (other_spelling(n))
			jump_names(g, n, op, label);
		else
			jump_strings(g, n, op, label);
		return;
	}
	a = cg_expr(g, n->a);
	b = cg_expr(g, n->b);
	t = d_is_int(n->a->type) && d_is_int(n->b->type) ? d_common_type(g->c, n->a, n->b)
							 : g->c->t.u64;
	code = jump_code(op, d_is_signed(t));
	ra = cg_reg(g, a, R0);
	if (fits_imm(b))
		ebpf_jump(g->a, REG_TO_IMM(code), ra, 0, (int32_t)b.imm, label);
	else
		ebpf_jump(g->a, code, ra, cg_reg(g, b, R1), 0, label);
	cg_free(g, a);
	cg_free(g, b);
}

static void jump_value(struct cg *g, struct d_node *n, bool when, int label)
{
	struct cg_val v;
	int r;

	if (d_is_string(n->type)) { /* true if not empty */
		v = cg_expr(g, n);
		cg_load(g, R2, v);
		cg_free(g, v);
		ebpf_const(g->a, R3, 0);
		cg_call(g, RT_strcmp);
		r = R0;
	} else {
		v = cg_expr(g, n);
		r = cg_reg(g, v, R0);
		cg_free(g, v);
	}
	ebpf_jump(g->a, when ? EBPF_JNE_IMM : EBPF_JEQ_IMM, r, 0, 0, label);
}

void cg_jump_true(struct cg *g, struct d_node *n, int label)
{
	if (compares_terms(n)) {
		cg_term_jump(g, n, true, label);
	} else if (is_compare(n)) {
		jump_compare(g, n, n->op, label);
	} else if (n->kind == N_OP1 && n->op == OP_LNOT) {
		cg_jump_false(g, n->a, label);
	} else if (n->kind == N_OP2 && n->op == OP_LOR) {
		cg_jump_true(g, n->a, label);
		g->maybe++;
		cg_jump_true(g, n->b, label);
		g->maybe--;
	} else if (n->kind == N_OP2 && n->op == OP_LAND) {
		int no = ebpf_label(g->a);

		cg_jump_false(g, n->a, no);
		g->maybe++;
		cg_jump_true(g, n->b, label);
		g->maybe--;
		ebpf_bind(g->a, no);
	} else {
		jump_value(g, n, true, label);
	}
}

void cg_jump_false(struct cg *g, struct d_node *n, int label)
{
	if (compares_terms(n)) { /* which may be neither <, = nor > */
		cg_term_jump(g, n, false, label);
	} else if (is_compare(n)) {
		jump_compare(g, n, inverse(n->op), label);
	} else if (n->kind == N_OP1 && n->op == OP_LNOT) {
		cg_jump_true(g, n->a, label);
	} else if (n->kind == N_OP2 && n->op == OP_LAND) {
		cg_jump_false(g, n->a, label);
		g->maybe++;
		cg_jump_false(g, n->b, label);
		g->maybe--;
	} else if (n->kind == N_OP2 && n->op == OP_LOR) {
		int yes = ebpf_label(g->a);

		cg_jump_true(g, n->a, yes);
		g->maybe++;
		cg_jump_false(g, n->b, label);
		g->maybe--;
		ebpf_bind(g->a, yes);
	} else {
		jump_value(g, n, false, label);
	}
}

/* A condition as 0 or 1. */
static struct cg_val gen_truth(struct cg *g, struct d_node *n)
{
	int yes = ebpf_label(g->a), end = ebpf_label(g->a);
	struct cg_val t;

	cg_jump_true(g, n, yes);
	t = cg_tmp(g, n);
	ebpf_emit(g->a, EBPF_MOV64_IMM, dst_of(t), 0, 0, 0);
	ebpf_jump(g->a, EBPF_JA, 0, 0, 0, end);
	ebpf_bind(g->a, yes);
	ebpf_emit(g->a, EBPF_MOV64_IMM, dst_of(t), 0, 0, 1);
	ebpf_bind(g->a, end);
	cg_store(g, t, dst_of(t));
	return t;
}

static struct cg_val gen_lxor(struct cg *g, struct d_node *n)
{
	struct cg_val a = truth(g, cg_expr(g, n->a), n), b = truth(g, cg_expr(g, n->b), n);

	return cg_binary(g, n, OP_BXOR, a, b, g->c->t.int_);
}

/* Evaluate one branch of ?: into the temporary that both share. */
static void gen_branch(struct cg *g, struct d_node *side, const struct d_node *n, struct cg_val out)
{
	struct cg_val v;

	if (d_is_string(n->type)) {
		v = cg_to_string(g, side, n);
		cg_load(g, R2, v);
		cg_free(g, v);
		cg_call(g, RT_str);
		cg_store(g, out, R0);
		return;
	}
	v = cg_expr(g, side);
	if (out.kind == VAL_REG)
		cg_load(g, out.reg, v);
	else
		cg_store(g, out, cg_reg(g, v, R0));
	cg_free(g, v);
}

static struct cg_val gen_ternary(struct cg *g, struct d_node *n)
{
	int otherwise = ebpf_label(g->a), end = ebpf_label(g->a);
	struct cg_val t;

	cg_jump_false(g, n->a, otherwise);
	g->maybe++;
	if (d_is_kind(n->type, T_VOID)) {
		cg_discard(g, n->b);
		ebpf_jump(g->a, EBPF_JA, 0, 0, 0, end);
		ebpf_bind(g->a, otherwise);
		cg_discard(g, n->c);
		ebpf_bind(g->a, end);
		g->maybe--;
		return cg_const(0);
	}
	t = cg_tmp(g, n);
	gen_branch(g, n->b, n, t);
	ebpf_jump(g->a, EBPF_JA, 0, 0, 0, end);
	ebpf_bind(g->a, otherwise);
	gen_branch(g, n->c, n, t);
	ebpf_bind(g->a, end);
	g->maybe--;
	return t;
}

/* ---- operators ------------------------------------------------------------------------- */

static struct cg_val gen_op2(struct cg *g, struct d_node *n, bool want)
{
	switch (n->op) {
	case OP_COMMA: cg_discard(g, n->a); return cg_expr(g, n->b);
	case OP_ASG: return cg_assign(g, n, want);
	case OP_ASG_MUL ... OP_ASG_BOR: return cg_update(g, n, want);
	case OP_LT ... OP_NE:
	case OP_LAND:
	case OP_LOR: return gen_truth(g, n);
	case OP_LXOR: return gen_lxor(g, n);
	default: return gen_arith(g, n);
	}
}

/* ---- unary ----------------------------------------------------------------------------- */

static struct cg_val gen_op1(struct cg *g, struct d_node *n, bool want)
{
	struct cg_lval p;
	struct cg_val v;

	switch (n->op) {
	case OP_LNOT: return gen_truth(g, n);
	case OP_PLUS: return cg_expr(g, n->a);
	case OP_NEG: return cg_binary(g, n, OP_SUB, cg_const(0), cg_expr(g, n->a), n->type);
	case OP_BNOT:
		return cg_binary(g, n, OP_BXOR, cg_expr(g, n->a), cg_const(UINT64_MAX), n->type);
	case OP_ADDROF:
		p = cg_lval(g, n->a, false);
		v = cg_lval_addr(g, &p, n);
		cg_lval_free(g, &p);
		return v;
	case OP_PREINC:
	case OP_POSTINC: return cg_step(g, n, OP_ADD, want, n->op == OP_POSTINC);
	case OP_PREDEC:
	case OP_POSTDEC: return cg_step(g, n, OP_SUB, want, n->op == OP_POSTDEC);
	default: break;
	}
	cg_fail(g, n, D_CG_EXPR, "operator has no value here");
	return cg_const(0);
}

/* ---- all expressions ------------------------------------------------------------------- */

/* The value of an lvalue: loaded, or its address if it is an array or function. */
static struct cg_val gen_lval(struct cg *g, struct d_node *n)
{
	struct cg_lval p = cg_lval(g, n, false);
	struct cg_val v;

	if (d_is_word(n->type) || d_is_string(n->type))
		v = cg_lval_load(g, &p, n->type, n);
	else
		v = cg_lval_addr(g, &p, n);
	cg_lval_free(g, &p);
	return v;
}

/* The firing has it, from the second time on or by its provider. */
static struct cg_val gen_timestamp(struct cg *g, struct d_node *n)
{
	int there = ebpf_label(g->a);

	ebpf_emit(g->a, EBPF_LDXDW, R0, CTX, FIELD(ts), 0);
	ebpf_jump(g->a, EBPF_JNE_IMM, R0, 0, 0, there);
	cg_call(g, RT_timestamp);
	ebpf_bind(g->a, there);
	return cg_keep(g, n, R0);
}

static struct cg_val gen_builtin(struct cg *g, struct d_node *n)
{
	struct prog_uses *uses = &g->clause->uses;
	unsigned id = n->ident->id;

	cg_payload_builtin(g, n);
	if (cg_is_source(n))
		return cg_term_source(g, n);
	if (n->ident->builtin->pbi != 0)
		return cg_pbi(g, n, cg_const(0));
	uses->vars |= 1ULL << id;
	if (id >= BI_ARG0 && id <= BI_ARG9) {
		uses->args |= 1 << (id - BI_ARG0);
		return cg_field(FIELD(arg) + 8 * (id - BI_ARG0), 8);
	}
	if (id == BI_ID)
		return cg_field(FIELD(id), 4);
	if (id == BI_EPID)
		return cg_field(FIELD(epid), 4);
	if (id == BI_TIMESTAMP)
		return gen_timestamp(g, n);
	uses->ustack |= id == BI_UCALLER || id == BI_CALLER || id == BI_USTACKDEPTH;
	uses->stack |= id == BI_CALLER || id == BI_STACKDEPTH;
	ebpf_const(g->a, R2, id);
	cg_call(g, d_is_string(n->type) ? RT_strvar : RT_var);
	if (d_is_scalar(n->type))
		cg_norm(g, R0, n->type);
	return cg_keep(g, n, R0);
}

/* args[n] and uregs[n]. */
static struct cg_val gen_builtin_array(struct cg *g, struct d_node *n)
{
	struct cg_val v;

	cg_payload_builtin(g, n);
	g->clause->uses.vars |= 1ULL << n->ident->id;
	if (n->ident->id == BI_ARGS) {
		if (d_is_string(n->type))
			return cg_argstr(g, n, n->value);
		g->clause->uses.args |= 1 << n->value;
		v = cg_field(FIELD(arg) + 8 * n->value, 8);
		return d_is_scalar(n->type) ? cg_cut(g, v, n->type, n) : v;
	}
	v = cg_expr(g, n->list);
	cg_load(g, R2, v);
	cg_free(g, v);
	cg_call(g, RT_ureg);
	return cg_keep(g, n, R0);
}

/* s[i] of a string. */
static struct cg_val gen_char_at(struct cg *g, struct d_node *n)
{
	struct cg_val s = cg_expr(g, n->a), i = cg_expr(g, n->b);

	cg_load(g, R2, s);
	cg_load(g, R3, i);
	cg_free(g, s);
	cg_free(g, i);
	cg_call_with(g, RT_strat, 0, d_may_be_null(n->a));
	cg_norm(g, R0, n->type);
	return cg_keep(g, n, R0);
}

static struct cg_val gen(struct cg *g, struct d_node *n, bool want)
{
	switch (n->kind) {
	case N_INT: return cg_const(n->value);
	case N_STR:
		return (struct cg_val){
			.kind = VAL_STRING, .imm = string_number(g, n->text, n->len)};
	case N_VAR:
		g->clause->uses.script_vars |=
			n->ident->kind == ID_SCALAR && n->ident->scope != SC_THIS;
		return n->ident->kind == ID_BUILTIN ? gen_builtin(g, n) : gen_lval(g, n);
	case N_ASSOC:
		g->clause->uses.script_vars |= n->ident->kind != ID_BUILTIN;
		return n->ident->kind == ID_BUILTIN ? gen_builtin_array(g, n) : gen_lval(g, n);
	case N_MEMBER: return gen_lval(g, n);
	case N_OP1: return n->op == OP_DEREF ? gen_lval(g, n) : gen_op1(g, n, want);
	case N_OP2:
		if (n->op == OP_INDEX)
			return d_is_string(n->a->type) ? gen_char_at(g, n) : gen_lval(g, n);
		return gen_op2(g, n, want);
	case N_OP3: return gen_ternary(g, n);
	case N_FUNC: return cg_func(g, n);
	case N_STRINGOF: return cg_to_string(g, n->a, n);
	case N_CAST:
		if (d_is_string(n->type))
			return cg_to_string(g, n->a, n);
		if (d_is_kind(n->type, T_VOID)) {
			cg_discard(g, n->a);
			return cg_const(0);
		}
		if (d_is_term(n->a->type) && d_is_int(n->type))
			return cg_cut(g, cg_term_number(g, n->a, n), n->type, n);
		if (d_is_string(n->a->type)) { /* a string as an address */
			struct cg_val v = cg_expr(g, n->a);

			cg_load(g, R2, v);
			cg_free(g, v);
			cg_call(g, RT_stradr);
			return cg_keep(g, n, R0);
		}
		return cg_convert(g, cg_expr(g, n->a), n->a, n->type);
	default: break;
	}
	cg_fail(g, n, D_CG_EXPR, "expression has no value that can be computed here");
	return cg_const(0);
}

struct cg_val cg_expr(struct cg *g, struct d_node *n)
{
	if (g->failed)
		return cg_const(0);
	return gen(g, n, true);
}

/* A struct, an array or a float: only its subexpressions can have side effects. */
static void discard_bytes(struct cg *g, struct d_node *n)
{
	struct cg_lval p;

	if (n->kind == N_OP2 || n->kind == N_OP3) {
		p = cg_lval(g, n, false);
		cg_lval_free(g, &p);
	}
}

void cg_discard(struct cg *g, struct d_node *n)
{
	if (g->failed)
		return;
	if (!d_is_word(n->type) && !d_is_string(n->type) && !d_is_kind(n->type, T_VOID))
		discard_bytes(g, n);
	else
		cg_free(g, gen(g, n, false));
}
