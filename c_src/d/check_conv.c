/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explicit and implicit conversions, and the operators that are about types: casts, sizeof,
 * offsetof, stringof. After the checker, an integer that changes its size or sign has an N_CAST,
 * characters in memory that become a string have an N_STRINGOF, and an array that decays to a
 * pointer has an OP_ADDROF of the element's pointer type.
 */
#include "check.h"

uint64_t chk_norm(const struct d_type *t, uint64_t v)
{
	const struct d_type *b = d_base(t);

	if (b->is_bool)
		return v != 0;
	switch (b->size) {
	case 1: return b->is_signed ? (uint64_t)(int8_t)v : (uint8_t)v;
	case 2: return b->is_signed ? (uint64_t)(int16_t)v : (uint16_t)v;
	case 4: return b->is_signed ? (uint64_t)(int32_t)v : (uint32_t)v;
	default: return v;
	}
}

const struct d_type *chk_promote(struct d_comp *c, const struct d_type *t)
{
	const struct d_type *b = d_base(t);

	if (b->kind == T_ENUM || b->size < 4)
		return c->t.int_;
	return b;
}

const struct d_type *d_arith_type(struct d_comp *c, const struct d_type *a, const struct d_type *b)
{
	bool ll;

	a = chk_promote(c, a);
	b = chk_promote(c, b);
	if (a->size == 4 && b->size == 4)
		return a->is_signed && b->is_signed ? c->t.int_ : c->t.uint;
	ll = a == d_base(c->t.llong) || b == d_base(c->t.llong) || a == d_base(c->t.ullong) ||
	     b == d_base(c->t.ullong);
	if ((a->size == 8 && !a->is_signed) || (b->size == 8 && !b->is_signed))
		return ll ? c->t.ullong : c->t.ulong;
	return ll ? c->t.llong : c->t.long_;
}

bool chk_is_zero(const struct d_node *n)
{
	return n->kind == N_INT && n->value == 0;
}

/* Integers with the same representation in a register need no cast. */
static bool same_int(const struct d_type *a, const struct d_type *b)
{
	a = d_base(a);
	b = d_base(b);
	return a->size == b->size && d_is_signed(a) == d_is_signed(b) && a->is_bool == b->is_bool;
}

int chk_int_cast(struct d_comp *c, struct d_node *n, const struct d_type *t)
{
	if (n->kind == N_INT) {
		chk_int(n, t, n->value);
		return 0;
	}
	if (d_is_int(n->type) && same_int(n->type, t))
		return 0;
	return chk_wrap(c, n, N_CAST, t);
}

/* Text in memory, which stringof() reads up to its NUL. */
bool chk_strcompat(const struct d_type *t)
{
	const struct d_type *b = d_base(t);

	if (b->kind == T_STRING)
		return true;
	if (b->kind != T_PTR && b->kind != T_ARRAY)
		return false;
	b = d_base(b->ref);
	return b->kind == T_INT && b->is_char;
}

int chk_to_string(struct d_comp *c, struct d_node *n)
{
	return d_is_string(n->type) ? 0 : chk_wrap(c, n, N_STRINGOF, c->t.string);
}

/* The variable that an lvalue is part of, or NULL: it is memory reached by a pointer. */
const struct d_node *chk_root_var(const struct d_node *n)
{
	for (;;) {
		if (n->kind == N_VAR || n->kind == N_ASSOC)
			return n;
		if (n->kind == N_MEMBER && n->op == OP_DOT)
			n = n->a;
		else if (n->kind == N_OP2 && n->op == OP_INDEX && d_is_kind(n->a->type, T_ARRAY))
			n = n->a;
		else
			return NULL;
	}
}

int chk_decay(struct d_comp *c, struct d_node *n)
{
	const struct d_type *b = d_base(n->type);
	const struct d_node *v;

	if (b->kind != T_ARRAY)
		return 0;
	v = chk_root_var(n);
	if (v)
		return CHK_ERR(c, D_ADDROF_VAR, n,
			"the array in %s '%s%s' cannot become a pointer, because D variables have "
			"no address: use its elements",
			chk_kindname(v->ident), chk_scope(v->ident->scope), v->ident->name);
	if (chk_wrap(c, n, N_OP1, d_ptr_to(c, b->ref)))
		return -1;
	n->op = OP_ADDROF;
	return 0;
}

/* Are the pointed-to types the same, ignoring qualifiers and signedness? */
static bool same_target(const struct d_type *a, const struct d_type *b)
{
	a = d_base(a);
	b = d_base(b);
	if (a->kind == T_VOID || b->kind == T_VOID)
		return true;
	if (a->kind == T_INT && b->kind == T_INT)
		return a->size == b->size;
	if (a->kind == T_PTR && b->kind == T_PTR)
		return same_target(a->ref, b->ref);
	return d_same(a, b);
}

bool chk_convertible(struct d_comp *c, const struct d_node *n, const struct d_type *t)
{
	const struct d_type *from = d_base(n->type), *to = d_base(t);

	(void)c;
	switch (to->kind) {
	case T_INT:
	case T_ENUM: return d_is_int(from);
	case T_STRING: return chk_strcompat(from);
	case T_PTR:
		if (from->kind == T_PTR || from->kind == T_ARRAY)
			return same_target(from->ref, to->ref);
		return chk_is_zero(n);
	case T_STRUCT:
	case T_UNION:
	case T_FLOAT: return d_same(from, to);
	case T_ARRAY: return from->kind == T_ARRAY && d_same(from, to);
	case T_DYN: return from->kind == T_DYN;
	default: return false;
	}
}

int chk_convert(struct d_comp *c, struct d_node *n, const struct d_type *t)
{
	switch (d_base(t)->kind) {
	case T_INT:
	case T_ENUM: return chk_int_cast(c, n, t);
	case T_STRING: return chk_to_string(c, n);
	case T_PTR:
		if (n->kind == N_INT) {
			n->type = t;
			return 0;
		}
		if (chk_decay(c, n))
			return -1;
		return d_same(n->type, t) ? 0 : chk_wrap(c, n, N_CAST, t);
	default: return 0;
	}
}

/* ---- folding ---------------------------------------------------------------------------- */

int chk_fold1(struct d_comp *c, struct d_node *n)
{
	uint64_t v = n->a->value;

	(void)c;
	if (n->a->kind != N_INT)
		return 0;
	switch (n->op) {
	case OP_LNOT: v = !v; break;
	case OP_BNOT: v = ~v; break;
	case OP_PLUS: break;
	case OP_NEG: v = -v; break;
	default: return 0;
	}
	chk_int(n, n->type, v);
	return 0;
}

static uint64_t divide(const struct d_type *t, int op, uint64_t a, uint64_t b)
{
	if (!d_is_signed(t))
		return op == OP_DIV ? a / b : a % b;
	if ((int64_t)b == -1) /* INT64_MIN / -1 wraps to itself */
		return op == OP_DIV ? -a : 0;
	return op == OP_DIV ? (uint64_t)((int64_t)a / (int64_t)b)
			    : (uint64_t)((int64_t)a % (int64_t)b);
}

/* As bytecode does it: in 64 bits, by the low six bits of b; chk_int() truncates the result. */
static uint64_t shift(const struct d_type *t, int op, uint64_t a, uint64_t b)
{
	unsigned by = b & 63;

	if (op == OP_SHL)
		return a << by;
	return d_is_signed(t) ? (uint64_t)((int64_t)a >> by) : a >> by;
}

static bool compare(const struct d_type *t, int op, uint64_t a, uint64_t b)
{
	bool less = d_is_signed(t) ? (int64_t)a < (int64_t)b : a < b;

	switch (op) {
	case OP_LT: return less;
	case OP_LE: return less || a == b;
	case OP_GT: return !less && a != b;
	case OP_GE: return !less;
	case OP_EQ: return a == b;
	default: return a != b;
	}
}

int chk_fold2(struct d_comp *c, struct d_node *n)
{
	const struct d_type *t = d_base(n->a->type);
	uint64_t a = n->a->value, b = n->b->value, v;

	if ((n->op == OP_DIV || n->op == OP_MOD) && chk_is_zero(n->b))
		return CHK_ERR(c, D_DIV_ZERO, n, "division by the constant 0");
	if (n->a->kind != N_INT || n->b->kind != N_INT || !d_is_int(n->type))
		return 0;
	switch (n->op) {
	case OP_MUL: v = a * b; break;
	case OP_DIV:
	case OP_MOD: v = divide(t, n->op, a, b); break;
	case OP_ADD: v = a + b; break;
	case OP_SUB:
		if (!d_is_int(t))
			return 0;
		v = a - b;
		break;
	case OP_SHL:
	case OP_SHR: v = shift(t, n->op, a, b); break;
	case OP_LT:
	case OP_LE:
	case OP_GT:
	case OP_GE:
	case OP_EQ:
	case OP_NE: v = compare(t, n->op, a, b); break;
	case OP_BAND: v = a & b; break;
	case OP_BXOR: v = a ^ b; break;
	case OP_BOR: v = a | b; break;
	case OP_LAND: v = a && b; break;
	case OP_LXOR: v = !a != !b; break;
	case OP_LOR: v = a || b; break;
	default: return 0;
	}
	chk_int(n, n->type, v);
	return 0;
}

/* ---- operators about types -------------------------------------------------------------- */

static int bad_cast(struct d_comp *c, struct d_node *n, const struct d_type *from)
{
	return CHK_ERR(c, D_CAST_INVAL, n, "a value of type '%s' cannot be cast to '%s'",
		chk_tname(c, from), chk_tname(c, n->type));
}

int chk_cast(struct d_comp *c, struct d_node *n)
{
	const struct d_type *from, *to = d_base(n->type);
	struct d_node *a = n->a;

	if (chk_expr(c, a, CX_VALUE))
		return -1;
	from = d_base(a->type);
	switch (to->kind) {
	case T_VOID:
		if (from->kind == T_DYN || (a->kind == N_FUNC && a->ident->kind == ID_ACTION))
			return CHK_ERR(c, D_CG_EXPR, a,
				"an action or aggregation cannot be part of an expression");
		return 0;
	case T_INT:
	case T_ENUM:
	case T_PTR:
		if (to->kind == T_ENUM && !to->complete)
			return CHK_ERR(c, D_CAST_INVAL, n,
				"nothing can be cast to '%s': it is not declared",
				chk_tname(c, n->type));
		if (chk_decay(c, a))
			return -1;
		if (to->kind == T_PTR && from->kind == T_STRING)
			return 0; /* the address of its text */
		if (!d_is_scalar(a->type))
			return bad_cast(c, n, from);
		if (a->kind == N_INT)
			chk_int(n, n->type, a->value);
		return 0;
	case T_STRING:
		if (!d_is_scalar(from) && !chk_strcompat(from))
			return bad_cast(c, n, from);
		n->kind = N_STRINGOF;
		if (d_is_string(from))
			chk_replace(n, a);
		return 0;
	default:
		if (!d_same(from, to))
			return bad_cast(c, n, from);
		chk_replace(n, a);
		return 0;
	}
}

int chk_sizeof(struct d_comp *c, struct d_node *n)
{
	const struct d_type *t = n->type, *b;
	uint64_t size;

	if (n->a) {
		if (chk_expr(c, n->a, CX_DYN))
			return -1;
		if (n->a->flags & NF_BITFIELD)
			return CHK_ERR(c, D_SIZEOF_BITFIELD, n,
				"sizeof cannot be applied to the bit-field '%s'", n->a->text);
		t = n->a->type;
	}
	b = d_base(t);
	size = b->kind == T_STRING ? c->opts->val[OPT_STRSIZE] : b->size;
	if (n->a && n->a->kind == N_STR)
		size = n->a->len + 1;
	if (b->kind == T_VOID || b->kind == T_FUNC || b->kind == T_DYN || b->kind == T_STACK ||
		size == 0)
		return CHK_ERR(c, D_SIZEOF_TYPE, n, "sizeof cannot be applied to type '%s'%s",
			chk_tname(c, t),
			b->kind == T_STRUCT || b->kind == T_UNION ? ": its members are not known"
								  : "");
	chk_int(n, c->t.ulong, size);
	return 0;
}

int chk_offsetof(struct d_comp *c, struct d_node *n)
{
	const struct d_type *b = d_base(n->type);
	const struct d_member *m;
	uint64_t off = 0;

	if ((b->kind != T_STRUCT && b->kind != T_UNION) || !b->complete)
		return CHK_ERR(c, D_OFFSETOF_TYPE, n,
			"offsetof() needs a struct or union whose members are known, not '%s'",
			chk_tname(c, n->type));
	m = d_member(b, n->text, &off);
	if (!m)
		return CHK_ERR(c, D_UNKNOWN, n, "'%s' has no member '%s'", chk_tname(c, n->type),
			n->text);
	if (m->bit_width)
		return CHK_ERR(c, D_OFFSETOF_BITFIELD, n,
			"offsetof() cannot be applied to the bit-field '%s'", n->text);
	chk_int(n, c->t.ulong, off);
	return 0;
}

int chk_stringof(struct d_comp *c, struct d_node *n)
{
	if (chk_expr(c, n->a, CX_VALUE))
		return -1;
	n->type = c->t.string;
	if (d_is_string(n->a->type))
		chk_replace(n, n->a);
	else if (!d_is_scalar(n->a->type) && !chk_strcompat(n->a->type))
		return CHK_ERR(c, D_STRINGOF_TYPE, n,
			"stringof cannot be applied to a value of type '%s': it takes a string, "
			"characters or an address",
			chk_tname(c, n->a->type));
	return 0;
}
