/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explicit and implicit conversions, and the operators that are about types: casts, sizeof,
 * offsetof, stringof. After the checker, an integer that is converted has an N_CAST (operands of
 * operators are not: these compute in 64 bits), characters in memory that become a string have an
 * N_STRINGOF, and an array that decays to a pointer has an OP_ADDROF of the element's pointer type.
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

/* Does every value of type from, extended to 64 bits, have the same bits as one of type to? */
static bool same_bits(const struct d_type *from, const struct d_type *to)
{
	bool fs = d_is_signed(from), ts = d_is_signed(to);

	if (to->is_bool)
		return from->is_bool;
	if (to->size == from->size)
		return fs == ts;
	return to->size > from->size && (!fs || ts);
}

static bool is_truth(const struct d_node *n)
{
	return (n->kind == N_OP1 && n->op == OP_LNOT) ||
	       (n->kind == N_OP2 && ((n->op >= OP_LT && n->op <= OP_NE) ||
					    (n->op >= OP_LAND && n->op <= OP_LOR)));
}

static bool is_mask(const struct d_node *n, const struct d_type *t)
{
	return n->kind == N_INT && (int64_t)n->value >= 0 && d_fits(n, t);
}

bool d_fits(const struct d_node *n, const struct d_type *t)
{
	const struct d_type *to = d_base(t);

	if (n->kind == N_INT)
		return chk_norm(t, n->value) == n->value;
	if ((to->size == 8 || to->size == 0) && !to->is_bool)
		return true;
	if (is_truth(n))
		return true;
	if (n->kind == N_OP3)
		return d_fits(n->b, t) && d_fits(n->c, t);
	if (n->kind == N_OP2 && n->op == OP_COMMA)
		return d_fits(n->b, t);
	if (n->kind == N_OP2 && n->op == OP_BAND && (is_mask(n->a, t) || is_mask(n->b, t)))
		return true;
	if ((n->kind == N_OP2 && n->op >= OP_MUL && n->op <= OP_BOR) ||
		(n->kind == N_OP1 && (n->op == OP_BNOT || n->op == OP_PLUS || n->op == OP_NEG)))
		return false;
	return same_bits(d_base(n->type), to);
}

bool chk_is_zero(const struct d_node *n)
{
	return n->kind == N_INT && n->value == 0;
}

int chk_int_cast(struct d_comp *c, struct d_node *n, const struct d_type *t)
{
	if (n->kind == N_INT) {
		chk_int(n, t, n->value);
		return 0;
	}
	if (d_is_int(n->type) && d_base(n->type)->size == d_base(t)->size &&
		d_is_signed(n->type) == d_is_signed(t) && d_fits(n, t))
		return 0;
	return chk_wrap(c, n, N_CAST, t);
}

/* Text in memory, which stringof() reads up to its NUL; and terms, which have a text. */
bool chk_strcompat(const struct d_type *t)
{
	const struct d_type *b = d_base(t);

	if (b->kind == T_STRING || b->kind == T_TERM)
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

/* Parts of globals and this-> variables have addresses; self-> and associative ones come and go. */
bool chk_has_address(const struct d_node *v)
{
	return v->kind == N_VAR && v->ident->kind == ID_SCALAR && v->ident->scope != SC_SELF;
}

int chk_decay(struct d_comp *c, struct d_node *n)
{
	const struct d_type *b = d_base(n->type);
	const struct d_node *v;

	if (b->kind != T_ARRAY)
		return 0;
	v = chk_root_var(n);
	if (v && !chk_has_address(v))
		return CHK_ERR(c, D_ADDROF_VAR, n,
			"the array in %s '%s%s' cannot become a pointer, because this variable has "
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

	switch (to->kind) {
	case T_INT:
	case T_ENUM: return d_is_int(from) || from->kind == T_TERM;
	case T_STRING: return chk_strcompat(from);
	case T_PTR:
		if (from->kind == T_PTR || from->kind == T_ARRAY)
			return same_target(from->ref, to->ref);
		if (from->kind == T_STRING) /* the address of its text */
			return same_target(c->t.char_, to->ref);
		return chk_is_zero(n);
	case T_STRUCT:
	case T_UNION:
	case T_FLOAT: return d_same(from, to);
	case T_ARRAY: return from->kind == T_ARRAY && d_same(from, to);
	case T_DYN: return from->kind == T_DYN;
	case T_TERM: return from->kind == T_TERM;
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

/* -1u and ~0u are constants of their type, as if they were written so: they are cut to it. */
int chk_fold1(struct d_comp *c, struct d_node *n)
{
	uint64_t v = n->a->value;
	bool cut = !d_is_signed(n->type);

	(void)c;
	if (n->a->kind != N_INT)
		return 0;
	switch (n->op) {
	case OP_LNOT: v = !v; break;
	case OP_BNOT: v = cut ? chk_norm(n->type, ~v) : ~v; break;
	case OP_PLUS: break;
	case OP_NEG: v = cut ? chk_norm(n->type, -v) : -v; break;
	default: return 0;
	}
	chk_const(n, n->type, v);
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

/* As bytecode does it: by the low six bits of b. */
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
	const struct d_type *t = n->a->type;
	uint64_t a = n->a->value, b = n->b->value, v;

	if ((n->op == OP_DIV || n->op == OP_MOD) && chk_is_zero(n->b))
		return CHK_ERR(c, D_DIV_ZERO, n, "division by the constant 0");
	if (n->a->kind != N_INT || n->b->kind != N_INT || !d_is_int(n->type))
		return 0;
	if (d_is_int(t) && d_is_int(n->b->type))
		t = d_common_type(c, n->a, n->b);
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
	chk_const(n, n->type, v);
	return 0;
}

/* ---- operators about types -------------------------------------------------------------- */

static int bad_cast(struct d_comp *c, struct d_node *n, const struct d_type *from)
{
	const char *hint = "";

	if (d_is_term(n->type))
		hint = ": only an event, and functions such as erlelement(), give terms";
	else if (d_is_term(from))
		hint = ": cast it to int64_t or string";
	return CHK_ERR(c, D_CAST_INVAL, n, "a value of type '%s' cannot be cast to '%s'%s",
		chk_tname(c, from), chk_tname(c, n->type), hint);
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
		if (to->kind == T_ENUM && !d_complete(c, to))
			return CHK_ERR(c, D_CAST_INVAL, n,
				"nothing can be cast to '%s': it is not declared",
				chk_tname(c, n->type));
		if (chk_decay(c, a) || (to->kind != T_PTR && chk_term_number(c, a)))
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

	/* sizeof (u32): a type of the kernel, if it is no variable */
	if (n->a && n->a->kind == N_IDENT && n->a->op == SC_GLOBAL && chk_undefined(c, n->a) &&
		(t = d_kernel_typedef(c, n->a->text)))
		n->a = NULL;
	if (n->a) {
		if (chk_expr(c, n->a, CX_DYN))
			return -1;
		if (n->a->flags & NF_BITFIELD)
			return CHK_ERR(c, D_SIZEOF_BITFIELD, n,
				"sizeof cannot be applied to the bit-field '%s'", n->a->text);
		t = n->a->type;
	}
	b = d_base(t);
	d_complete(c, b);
	size = b->kind == T_STRING ? c->opts->val[OPT_STRSIZE] : b->size;
	if (n->a && n->a->kind == N_STR)
		size = n->a->len + 1;
	if (b->kind == T_VOID || b->kind == T_FUNC || b->kind == T_DYN || b->kind == T_STACK ||
		b->kind == T_TERM || size == 0)
		return CHK_ERR(c, D_SIZEOF_TYPE, n, "sizeof cannot be applied to type '%s'%s",
			chk_tname(c, t),
			b->kind == T_TERM ? ": erlsize() is the size of a term"
			: b->kind == T_STRUCT || b->kind == T_UNION ? ": its members are not known"
								    : "");
	chk_int(n, c->t.ulong, size);
	return 0;
}

int chk_offsetof(struct d_comp *c, struct d_node *n)
{
	const struct d_type *b = d_base(n->type);
	const struct d_member *m;
	uint64_t off = 0;

	if ((b->kind != T_STRUCT && b->kind != T_UNION) || !d_complete(c, b))
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
