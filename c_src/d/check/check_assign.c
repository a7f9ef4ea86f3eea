/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What changes a variable or memory: =, the likes of +=, ++ and --. A variable that holds pointers
 * to scratch memory holds no others.
 */
#include "check.h"

static int need_lval(struct d_comp *c, const struct d_node *n, const struct d_node *a)
{
	if (a->flags & NF_LVAL)
		return 0;
	if ((a->kind == N_VAR || a->kind == N_ASSOC) && a->ident->kind == ID_BUILTIN)
		return CHK_ERR(c, D_OP_WRITE, n,
			"operator %s cannot change the built-in variable "
			"'%s'%s",
			chk_opname(n->op), a->ident->name, n->op == OP_ASG ? ": == compares" : "");
	return CHK_ERR(c, D_OP_LVAL, n, "operator %s needs a variable or memory to change",
		chk_opname(n->op));
}

int chk_incdec(struct d_comp *c, struct d_node *n)
{
	if (n->a->kind == N_AGG)
		return CHK_ERR(c, D_OP_DYN, n,
			"operator %s cannot be applied to an aggregation: "
			"use @%s = count()",
			chk_opname(n->op), n->a->text);
	if (chk_lval(c, n->a, c->t.i64) || need_lval(c, n, n->a))
		return -1;
	n->type = n->a->type;
	n->bits = n->a->bits;
	if (d_is_ptr(n->type))
		return chk_steppable(c, n, n->op, n->type);
	if (!d_is_int(n->type))
		return chk_bad_operand(
			c, D_OP_SCALAR, n, n->op, "an integer or a pointer", n->type);
	return 0;
}

/* ---- scratch memory ---------------------------------------------------------------------- */

/* The pointer through which an lvalue in memory is reached, or NULL: it is part of a variable. */
static const struct d_node *lval_ptr(const struct d_node *n)
{
	for (;;) {
		bool direct = (n->kind == N_MEMBER && n->op == OP_ARROW) ||
			      (n->kind == N_OP1 && n->op == OP_DEREF) ||
			      (n->kind == N_OP2 && n->op == OP_INDEX && d_is_ptr(n->a->type));

		if (direct)
			return n->a;
		if (n->kind != N_MEMBER && (n->kind != N_OP2 || n->op != OP_INDEX))
			return NULL;
		n = n->a;
	}
}

bool chk_is_scratch(const struct d_node *n)
{
	switch (n->kind) {
	case N_FUNC:
		return n->ident->kind == ID_FUNC &&
		       (n->ident->id == FN_ALLOCA || n->ident->id == FN_COPYIN);
	case N_VAR:
	case N_ASSOC: return n->ident->taint == 1;
	case N_CAST: return chk_is_scratch(n->a);
	case N_OP1:
		if (n->op == OP_ADDROF)
			n = lval_ptr(n->a);
		else
			n = n->op == OP_DEREF ? NULL : n->a;
		return n && chk_is_scratch(n);
	case N_OP2: return n->op != OP_INDEX && chk_is_scratch(n->op == OP_COMMA ? n->b : n->a);
	case N_OP3: return chk_is_scratch(n->b) || chk_is_scratch(n->c);
	default: return false;
	}
}

static int check_scratch(struct d_comp *c, const struct d_node *n)
{
	struct d_ident *id = n->a->ident;
	uint8_t taint;

	if ((n->a->kind != N_VAR && n->a->kind != N_ASSOC) || !d_is_ptr(n->a->type) ||
		n->b->kind == N_INT)
		return 0;
	taint = chk_is_scratch(n->b) ? 1 : 2;
	if (!id->taint)
		id->taint = taint;
	if (id->taint != taint)
		return CHK_ERR(c, D_ALLOCA_INCOMPAT, n,
			"'%s%s' holds pointers from alloca() or copyin() in one place and other "
			"pointers in another: use two variables",
			chk_scope(id->scope), id->name);
	return 0;
}

/* ---- = and op= --------------------------------------------------------------------------- */

static bool is_dynamic_struct(const struct d_node *n)
{
	return (d_is_kind(n->type, T_STRUCT) || d_is_kind(n->type, T_UNION)) &&
	       (n->kind == N_ASSOC || (n->kind == N_VAR && n->ident->scope == SC_SELF));
}

int chk_assign(struct d_comp *c, struct d_node *n)
{
	const char *outer = c->assigned;
	const struct d_type *t;
	bool dyn, is_new;
	int rc;

	if (n->a->kind == N_IDENT && n->a->op == SC_GLOBAL && chk_undefined(c, n->a))
		c->assigned = n->a->text;
	rc = chk_expr(c, n->b, CX_DYN);
	c->assigned = outer;
	if (rc)
		return -1;
	t = n->b->type;
	dyn = chk_is_translated(t);
	if (dyn)
		t = d_base(t)->ref;
	if (chk_undefined(c, n->a) && (d_is_kind(t, T_ARRAY) || d_is_kind(t, T_FUNC)))
		return CHK_ERR(c, D_OP_ARRFUN, n, "a value of type '%s' cannot be assigned%s",
			chk_tname(c, t),
			chk_strcompat(t) ? ": use stringof() to keep the text" : "");
	if ((d_is_kind(t, T_STRUCT) || d_is_kind(t, T_UNION)) && !d_complete(c, t))
		return CHK_ERR(c, D_OP_INCOMPLETE, n,
			"a value of type '%s' cannot be assigned: its members are not known",
			chk_tname(c, t));
	is_new = chk_undefined(c, n->a);
	if (chk_lval(c, n->a, t) || need_lval(c, n, n->a))
		return -1;
	if (is_new)
		n->a->ident->of_name = chk_is_name(c, n->b);
	if (is_new && d_is_term(t))
		n->a->ident->of_term = d_is_string(n->a->type);
	if (dyn)
		return chk_xlate_assign(c, n);
	n->type = n->a->type;
	n->bits = n->a->bits;
	if (d_is_kind(n->type, T_ARRAY) || d_is_kind(n->type, T_FUNC))
		return CHK_ERR(c, D_OP_ARRFUN, n, "operator %s cannot be applied to type '%s'",
			chk_opname(n->op), chk_tname(c, n->type));
	if (chk_is_zero(n->b) && (d_is_string(n->type) || is_dynamic_struct(n->a)))
		return 0; /* clears or deletes it */
	if (!chk_convertible(c, n->b, n->type))
		return chk_incompatible(c, n, n->op, n->type, t);
	return chk_convert(c, n->b, n->type) ? -1 : check_scratch(c, n);
}

/* p += i; p -= i; */
static int add_to_ptr(struct d_comp *c, struct d_node *n)
{
	const struct d_type *a = n->a->type, *b = n->b->type;

	if (d_is_string(a) || d_is_string(b))
		return chk_incompatible(c, n, n->op, a, b);
	if (!d_is_ptr(a))
		return CHK_ERR(c, D_OP_VFPTR, n,
			"operator %s changes an integer by an integer, or a pointer to a known "
			"type: not '%s' by '%s'",
			chk_opname(n->op), chk_tname(c, a), chk_tname(c, b));
	if (chk_steppable(c, n, n->op, a))
		return -1;
	if (!d_is_int(b))
		return chk_incompatible(c, n, n->op, a, b);
	return chk_int_cast(c, n->b, c->t.i64);
}

/* op= makes a number of a variable that is not there yet; the other operand is none. */
static int not_a_number_yet(struct d_comp *c, const struct d_node *n)
{
	return CHK_ERR(c, D_VAR_UNDEF, n,
		"%s%s has not been declared or assigned before, and operator %s cannot make it a "
		"'%s': use =",
		chk_scope(n->a->ident->scope), n->a->ident->name, chk_opname(n->op),
		chk_tname(c, n->b->type));
}

int chk_opassign(struct d_comp *c, struct d_node *n)
{
	bool is_new = chk_undefined(c, n->a);
	int op = n->op <= OP_ASG_SHR ? n->op - OP_ASG_MUL + OP_MUL : n->op - OP_ASG_BAND + OP_BAND;
	bool add = op == OP_ADD || op == OP_SUB;
	bool ints = !add && op != OP_MUL && op != OP_DIV;

	if (n->a->kind == N_AGG)
		return CHK_ERR(c, D_OP_DYN, n,
			"operator %s cannot be applied to an aggregation: "
			"use @%s = sum(x)",
			chk_opname(n->op), n->a->text);
	if (chk_expr(c, n->b, CX_VALUE) || chk_term_number(c, n->b) ||
		chk_lval(c, n->a, c->t.i64) || need_lval(c, n, n->a))
		return -1;
	n->type = n->a->type;
	n->bits = n->a->bits;
	if (is_new && !d_is_int(n->b->type))
		return not_a_number_yet(c, n);
	if (add && !(d_is_int(n->type) && d_is_int(n->b->type)))
		return add_to_ptr(c, n);
	if (!d_is_int(n->type) || !d_is_int(n->b->type))
		return chk_bad_operand(c, ints ? D_OP_INT : D_OP_ARITH, n, n->op,
			ints ? "integers" : "numbers", d_is_int(n->type) ? n->b->type : n->type);
	if ((op == OP_DIV || op == OP_MOD) && chk_is_zero(n->b))
		return CHK_ERR(c, D_DIV_ZERO, n, "division by the constant 0");
	return 0;
}
