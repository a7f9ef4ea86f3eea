/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assignment: =, op=, ++ and --. A number is cut to the type of what it is stored to. What threads
 * share is added to in one step.
 */
#include "cg.h"

static const uint8_t asg_op[] = {
	[OP_ASG_MUL] = OP_MUL,
	[OP_ASG_DIV] = OP_DIV,
	[OP_ASG_MOD] = OP_MOD,
	[OP_ASG_ADD] = OP_ADD,
	[OP_ASG_SUB] = OP_SUB,
	[OP_ASG_SHL] = OP_SHL,
	[OP_ASG_SHR] = OP_SHR,
	[OP_ASG_BAND] = OP_BAND,
	[OP_ASG_BXOR] = OP_BXOR,
	[OP_ASG_BOR] = OP_BOR,
};

/* The value of an assignment to a bit-field is cut to the field. */
static struct cg_val cut_bits(
	struct cg *g, struct cg_val v, const struct d_member *m, const struct d_node *n)
{
	int by = 64 - m->bit_width;

	cg_load(g, R0, v);
	cg_free(g, v);
	if (by != 0) {
		ebpf_emit(g->a, EBPF_LSH64_IMM, R0, 0, 0, by);
		ebpf_emit(g->a, d_is_signed(m->type) ? EBPF_ARSH64_IMM : EBPF_RSH64_IMM, R0, 0, 0,
			by);
	}
	return cg_keep(g, n, R0);
}

/*
 * Store a number, cut to its type. A store to memory cuts it anyway; what a dynamic variable gets,
 * and a value that is used further, must be cut before. Returns the value if it is wanted.
 */
static struct cg_val store(struct cg *g, struct cg_lval *p, const struct d_type *t, struct cg_val v,
	bool fits, bool want, const struct d_node *n)
{
	if (!fits && (want || p->kind == LV_DYN || d_base(t)->is_bool))
		v = cg_cut(g, v, t, n);
	cg_lval_store(g, p, t, v, n);
	if (want)
		return p->bits != NULL ? cut_bits(g, v, p->bits, n) : v;
	cg_free(g, v);
	return cg_const(0);
}

/* The expression without casts that make no difference to what is stored. */
static struct d_node *uncast(struct d_node *n, const struct d_type *t)
{
	while (n->kind == N_CAST && d_is_scalar(n->type) && d_is_scalar(n->a->type) &&
		!d_base(n->type)->is_bool && !d_base(t)->is_bool &&
		d_base(n->type)->size >= d_base(t)->size)
		n = n->a;
	return n;
}

struct cg_val cg_assign(struct cg *g, struct d_node *n, bool want)
{
	const struct d_type *t = n->a->type;
	struct d_node *e = uncast(n->b, t);
	struct cg_val v = d_is_string(t) ? cg_to_string(g, n->b, n) : cg_expr(g, e);
	struct cg_lval p = cg_lval(g, n->a, true);

	v = store(g, &p, t, v, d_is_string(t) || d_fits(e, t), want, n);
	cg_lval_free(g, &p);
	return v;
}

static bool is_atomic(const struct cg_lval *p, int op, const struct d_type *t)
{
	return (op == OP_ADD || op == OP_SUB) && p->bits == NULL && !d_base(t)->is_bool &&
	       (p->kind == LV_DYN || (p->kind == LV_MEM && p->shared));
}

/* x += b of a variable that threads share. */
static struct cg_val gen_atomic(struct cg *g, struct d_node *n, const struct d_type *t,
	struct cg_lval *p, int op, struct cg_val b, bool want, bool post)
{
	struct cg_val v;

	if (op == OP_SUB) { /* add the negated value: one atomic operation */
		if (b.kind == VAL_CONST)
			b = cg_const(-b.imm);
		else
			b = cg_binary(g, n, OP_SUB, cg_const(0), b, t);
	}
	v = cg_lval_add(g, p, t, b, want, n);
	if (want && !post)
		return cg_cut(g, cg_binary(g, n, OP_ADD, v, b, t), t, n);
	cg_free(g, b);
	return v;
}

struct cg_val cg_step(struct cg *g, struct d_node *n, int op, bool want, bool post)
{
	const struct d_type *t = n->a->type;
	struct cg_lval p = cg_lval(g, n->a, true);
	struct cg_val one = cg_points(t) ? cg_scaled(g, cg_const(1), t, n) : cg_const(1), v,
		      old = cg_const(0);

	if (is_atomic(&p, op, t)) {
		v = gen_atomic(g, n, t, &p, op, one, want, post);
	} else {
		v = cg_lval_load(g, &p, t, n);
		if (want && post) {
			old = cg_tmp(g, n);
			cg_store(g, old, cg_reg(g, v, R0));
		}
		v = cg_binary(g, n, op, v, one, t);
		v = store(g, &p, t, v, false, want && !post, n);
		v = want && post ? old : v;
	}
	cg_lval_free(g, &p);
	return v;
}

/* x op= e. If e may change x, x is read before; otherwise it may be changed in one step. */
struct cg_val cg_update(struct cg *g, struct d_node *n, bool want)
{
	int op = asg_op[n->op];
	const struct d_type *t = n->a->type,
			    *as = cg_points(t) ? t : d_common_type(g->c, n->a, n->b);
	struct d_node *e = uncast(n->b, g->c->t.i64);
	struct cg_val v = cg_const(0), b = cg_const(0);
	bool before = d_has_effects(e);
	struct cg_lval p;

	if (!before)
		b = cg_expr(g, e);
	p = cg_lval(g, n->a, true);
	if (before) {
		v = cg_lval_load(g, &p, t, n);
		b = cg_expr(g, e);
		cg_lval_reload(g, &p);
	}
	if (cg_points(t))
		b = cg_scaled(g, b, t, n);
	if (!before && is_atomic(&p, op, t)) {
		v = gen_atomic(g, n, t, &p, op, b, want, false);
	} else {
		if (!before)
			v = cg_lval_load(g, &p, t, n);
		v = store(g, &p, t, cg_binary(g, n, op, v, b, as), false, want, n);
	}
	cg_lval_free(g, &p);
	return v;
}
