/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions: the operands and result of each operator. Arithmetic has the common type of its
 * operands, which stay as they are; a pointer is left of the integer added to it; comparisons and
 * logic are int.
 */
#include "check.h"

const char *chk_opname(int op)
{
	static const char *const names[] = {
		[OP_LNOT] = "!",
		[OP_BNOT] = "~",
		[OP_PLUS] = "+",
		[OP_NEG] = "-",
		[OP_DEREF] = "*",
		[OP_ADDROF] = "&",
		[OP_PREINC] = "++",
		[OP_PREDEC] = "--",
		[OP_POSTINC] = "++",
		[OP_POSTDEC] = "--",
		[OP_MUL] = "*",
		[OP_DIV] = "/",
		[OP_MOD] = "%",
		[OP_ADD] = "+",
		[OP_SUB] = "-",
		[OP_SHL] = "<<",
		[OP_SHR] = ">>",
		[OP_LT] = "<",
		[OP_LE] = "<=",
		[OP_GT] = ">",
		[OP_GE] = ">=",
		[OP_EQ] = "==",
		[OP_NE] = "!=",
		[OP_BAND] = "&",
		[OP_BXOR] = "^",
		[OP_BOR] = "|",
		[OP_LAND] = "&&",
		[OP_LXOR] = "^^",
		[OP_LOR] = "||",
		[OP_COMMA] = ",",
		[OP_INDEX] = "[]",
		[OP_ASG] = "=",
		[OP_ASG_MUL] = "*=",
		[OP_ASG_DIV] = "/=",
		[OP_ASG_MOD] = "%=",
		[OP_ASG_ADD] = "+=",
		[OP_ASG_SUB] = "-=",
		[OP_ASG_SHL] = "<<=",
		[OP_ASG_SHR] = ">>=",
		[OP_ASG_BAND] = "&=",
		[OP_ASG_BXOR] = "^=",
		[OP_ASG_BOR] = "|=",
		[OP_DOT] = ".",
		[OP_ARROW] = "->",
	};
	const char *s = op >= 0 && op < (int)(sizeof(names) / sizeof(*names)) ? names[op] : NULL;

	return s ? s : "?";
}

static const char *kept_operand(struct d_comp *c, const struct d_node *n)
{
	const char *kept = n->a != NULL ? chk_kept_term(c, n->a) : "";

	return kept[0] == '\0' && n->b != NULL ? chk_kept_term(c, n->b) : kept;
}

int chk_bad_operand(struct d_comp *c, enum et_tag tag, const struct d_node *n, int op,
	const char *needs, const struct d_type *t)
{
	const char *why =
		d_is_kind(t, T_FLOAT)
			? ": D has no floating point arithmetic, values can only be printed"
		: d_is_term(t) && (op == OP_LNOT || (op >= OP_LAND && op <= OP_LOR))
			? chk_term_truth
			: "";

	if (why[0] == '\0' && d_is_string(t))
		why = kept_operand(c, n);

	return d_nerror(c, tag, n, "operator %s needs %s, not '%s'%s", chk_opname(op), needs,
		chk_tname(c, t), why);
}

int chk_incompatible(struct d_comp *c, const struct d_node *n, int op, const struct d_type *a,
	const struct d_type *b)
{
	const char *hint = "", *kept = op != OP_ASG ? kept_operand(c, n) : "";

	if (kept[0] != '\0')
		hint = kept;
	else if (op == OP_ASG && d_is_ptr(a) && d_is_int(b))
		hint = ": cast the value to the pointer's type";
	else if (d_is_string(a) && d_is_scalar(b))
		hint = ": copyinstr() and stringof() read text at an address, lltostr() converts "
			"a number to text";
	else if (d_is_int(a) && d_is_string(b))
		hint = op == OP_ASG ? ": strtoll() converts text to a number"
				    : ": copyinstr() and stringof() read text at an address, "
				      "strtoll() converts text to a number";
	return CHK_ERR(c, D_OP_INCOMPAT, n, "'%s' %s '%s': these types are not compatible%s",
		chk_tname(c, a), chk_opname(op), chk_tname(c, b), hint);
}

/* The type of an operand: enumerations and _Bool count as int, nothing else does. */
static const struct d_type *operand_type(struct d_comp *c, const struct d_node *n)
{
	const struct d_type *t = d_base(n->type);

	return t->kind == T_ENUM || t->is_bool ? c->t.int_ : t;
}

/* The common type is that of the wider operand; at equal width the unsigned one. */
static unsigned rank(struct d_comp *c, const struct d_node *n)
{
	const struct d_type *t = operand_type(c, n);

	return 2 * (n->bits ? n->bits : (unsigned)t->size * 8) + !d_is_signed(t);
}

static const struct d_node *wider(struct d_comp *c, const struct d_node *a, const struct d_node *b)
{
	return rank(c, b) > rank(c, a) ? b : a;
}

const struct d_type *d_common_type(struct d_comp *c, const struct d_node *a, const struct d_node *b)
{
	return operand_type(c, wider(c, a, b));
}

/* The value of n is computed from a and b. */
static void arith(
	struct d_comp *c, struct d_node *n, const struct d_node *a, const struct d_node *b)
{
	n->type = d_common_type(c, a, b);
	n->bits = wider(c, a, b)->bits;
}

/* ---- one operand ------------------------------------------------------------------------ */

static int addrof(struct d_comp *c, struct d_node *n)
{
	const struct d_node *v = chk_root_var(n->a);

	if (d_is_kind(n->a->type, T_DYN))
		return CHK_ERR(c, D_ADDROF_VAR, n, "the address of %s cannot be taken",
			n->a->kind == N_AGG ? "an aggregation" : "a dynamic value");
	if (n->a->flags & NF_BITFIELD)
		return CHK_ERR(
			c, D_ADDROF_BITFIELD, n, "the bit-field '%s' has no address", n->a->text);
	if (v && (v == n->a || !chk_has_address(v)))
		return CHK_ERR(c, D_ADDROF_VAR, n,
			"the address of %s '%s%s' cannot be taken: only elements and members of "
			"globals and this-> variables, and memory reached by a pointer have one",
			chk_kindname(v->ident), chk_scope(v->ident->scope), v->ident->name);
	if (!(n->a->flags & NF_LVAL))
		return CHK_ERR(c, D_ADDROF_LVAL, n, "operator & needs an object in memory");
	n->type = d_ptr_to(c, n->a->type);
	return 0;
}

/* *p of a translated pointer is the translated object itself. */
static int deref_dyn(struct d_comp *c, struct d_node *n)
{
	const struct d_type *dest = d_base(n->a->type)->ref;

	if (n->a->kind != N_XLATE || !dest || !d_is_ptr(dest))
		return CHK_ERR(c, D_OP_DYN, n, "operator * cannot be applied to %s",
			chk_tname(c, n->a->type));
	chk_replace(n, n->a);
	return chk_dyn_type(c, n, d_base(dest)->ref);
}

static int deref(struct d_comp *c, struct d_node *n)
{
	const struct d_type *t;

	if (chk_is_translated(n->a->type))
		return deref_dyn(c, n);
	if (chk_decay(c, n->a))
		return -1;
	t = d_base(n->a->type);
	if (t->kind != T_PTR)
		return CHK_ERR(c, D_DEREF_NONPTR, n,
			"operator * needs a pointer, not '%s': cast "
			"it, as in *(int *)arg0",
			chk_tname(c, n->a->type));
	t = d_base(t->ref);
	if (t->kind == T_VOID)
		return CHK_ERR(c, D_DEREF_VOID, n,
			"a pointer to void cannot be dereferenced: cast it "
			"to a pointer to what it points to");
	if (t->kind == T_FUNC)
		return CHK_ERR(c, D_DEREF_FUNC, n,
			"a pointer to a function cannot be dereferenced");
	if (!d_complete(c, t) && t->kind == T_ENUM)
		return CHK_ERR(c, D_OP_INCOMPLETE, n,
			"a pointer to '%s' cannot be dereferenced: it is not declared",
			chk_tname(c, t));
	n->type = d_base(n->a->type)->ref;
	n->flags |= NF_LVAL;
	return 0;
}

/*
 * Pointer arithmetic needs the size of what is pointed to. The operators that change a pointer have
 * an error of their own for those without.
 */
int chk_steppable(struct d_comp *c, const struct d_node *n, int op, const struct d_type *ptr)
{
	const struct d_type *t = d_base(d_base(ptr)->ref);
	bool changes = op != OP_ADD && op != OP_SUB && op != OP_INDEX;

	if (t->kind == T_VOID || t->kind == T_FUNC)
		return d_nerror(c, changes ? D_OP_VFPTR : D_OP_INCOMPAT, n,
			"operator %s cannot be applied to '%s': cast it to a pointer to what it "
			"points to",
			chk_opname(op), chk_tname(c, ptr));
	d_complete(c, t);
	if (t->size == 0 && t->kind != T_STRING)
		return CHK_ERR(c, D_OP_INCOMPLETE, n,
			"operator %s cannot be applied to '%s': the size of what it points to is "
			"not known",
			chk_opname(op), chk_tname(c, ptr));
	return 0;
}

static int check_op1(struct d_comp *c, struct d_node *n, unsigned cx)
{
	struct d_node *a = n->a;

	if (n->op >= OP_PREINC && n->op <= OP_POSTDEC)
		return chk_incdec(c, n);
	if (n->op == OP_ADDROF && (a->kind == N_ASSOC || (a->kind == N_OP2 && a->op == OP_INDEX)))
		a->flags |= NF_END;
	if (n->op == OP_ADDROF && a->kind == N_IDENT && a->op == SC_SYMBOL)
		return chk_symbol_address(c, n);
	if (chk_expr(c, a, n->op == OP_DEREF ? CX_DYN : CX_VALUE))
		return -1;
	switch (n->op) {
	case OP_DEREF:
		if (deref(c, n))
			return -1;
		if (d_is_kind(n->type, T_DYN) && !(cx & CX_DYN))
			return CHK_ERR(c, D_OP_DYN, n,
				"only members of a translated object have "
				"a value");
		return 0;
	case OP_ADDROF: return addrof(c, n);
	case OP_LNOT:
		if (!d_is_scalar(a->type))
			return chk_bad_operand(
				c, D_OP_SCALAR, n, n->op, "an integer or a pointer", a->type);
		n->type = c->t.int_;
		break;
	case OP_BNOT:
		if (chk_term_number(c, a))
			return -1;
		if (!d_is_int(a->type))
			return chk_bad_operand(c, D_OP_INT, n, n->op, "an integer", a->type);
		arith(c, n, a, a);
		break;
	default:
		if (chk_term_number(c, a))
			return -1;
		if (!d_is_int(a->type))
			return chk_bad_operand(c, D_OP_ARITH, n, n->op, "a number", a->type);
		arith(c, n, a, a);
	}
	return chk_fold1(c, n);
}

/* ---- two operands ------------------------------------------------------------------------ */

static void swap_operands(struct d_node *n)
{
	struct d_node *a = n->a;

	n->a = n->b;
	n->b = a;
}

static int ptr_minus_ptr(struct d_comp *c, struct d_node *n)
{
	const struct d_type *a = d_base(n->a->type), *b = d_base(n->b->type);

	if (!d_same(d_base(a->ref), d_base(b->ref)))
		return chk_incompatible(c, n, n->op, a, b);
	n->type = c->t.long_;
	return chk_steppable(c, n, n->op, a);
}

/* A string and a number: the string from that character on. */
static int string_plus(struct d_comp *c, struct d_node *n)
{
	if (d_is_int(n->a->type))
		swap_operands(n);
	n->kind = N_FUNC;
	n->op = OP_NONE;
	n->text = "substr";
	n->list = n->a;
	n->list->next = n->b;
	n->a = n->b = NULL;
	return chk_func(c, n);
}

static int check_add(struct d_comp *c, struct d_node *n)
{
	if (d_is_kind(n->a->type, T_FLOAT) || d_is_kind(n->b->type, T_FLOAT))
		return chk_bad_operand(c, D_OP_ARITH, n, n->op, "integers or pointers",
			d_is_kind(n->a->type, T_FLOAT) ? n->a->type : n->b->type);
	if (chk_decay(c, n->a) || chk_decay(c, n->b))
		return -1;
	if (d_is_int(n->a->type) && d_is_int(n->b->type)) {
		arith(c, n, n->a, n->b);
		return chk_fold2(c, n);
	}
	if (n->op == OP_ADD && ((d_is_string(n->a->type) && d_is_int(n->b->type)) ||
				       (d_is_int(n->a->type) && d_is_string(n->b->type))))
		return string_plus(c, n);
	if (n->op == OP_SUB && d_is_ptr(n->a->type) && d_is_ptr(n->b->type))
		return ptr_minus_ptr(c, n);
	if (n->op == OP_ADD && d_is_int(n->a->type) && d_is_ptr(n->b->type))
		swap_operands(n);
	if (!d_is_ptr(n->a->type) || !d_is_int(n->b->type))
		return chk_incompatible(c, n, n->op, n->a->type, n->b->type);
	n->type = n->a->type;
	if (chk_steppable(c, n, n->op, n->type))
		return -1;
	return chk_int_cast(c, n->b, c->t.i64);
}

static int check_arith(struct d_comp *c, struct d_node *n)
{
	bool ints = n->op != OP_MUL && n->op != OP_DIV;
	const struct d_type *a = n->a->type, *b = n->b->type;

	if (!d_is_int(a) || !d_is_int(b))
		return chk_bad_operand(c, ints ? D_OP_INT : D_OP_ARITH, n, n->op,
			ints ? "integers" : "numbers", d_is_int(a) ? b : a);
	arith(c, n, n->a, n->b);
	return chk_fold2(c, n);
}

static int compare_ptrs(struct d_comp *c, struct d_node *n)
{
	for (struct d_node *x = n->a;; x = n->b) {
		if (chk_decay(c, x))
			return -1;
		if (d_is_int(x->type) && chk_int_cast(c, x, c->t.uintptr))
			return -1;
		if (x == n->b)
			return 0;
	}
}

static bool is_address(const struct d_type *t)
{
	return d_is_ptr(t) || d_is_kind(t, T_ARRAY);
}

static int check_compare(struct d_comp *c, struct d_node *n)
{
	const struct d_type *a = n->a->type, *b = n->b->type;
	bool eq = n->op == OP_EQ || n->op == OP_NE;

	if (d_is_term(a) || d_is_term(b))
		return chk_term_compare(c, n);
	n->type = c->t.int_;
	if (d_is_int(a) && d_is_int(b))
		return chk_fold2(c, n);
	if (d_is_kind(a, T_FLOAT) || d_is_kind(b, T_FLOAT))
		return chk_bad_operand(c, D_OP_ARITH, n, n->op, "integers, pointers or strings",
			d_is_kind(a, T_FLOAT) ? a : b);
	if ((d_is_string(a) && chk_strcompat(b)) || (d_is_string(b) && chk_strcompat(a)))
		return chk_to_string(c, n->a) || chk_to_string(c, n->b) ? -1 : chk_names(c, n);
	if (eq && d_is_string(b) && chk_is_zero(n->a))
		swap_operands(n);
	if (eq && d_is_string(n->a->type) && chk_is_zero(n->b))
		return 0; /* compares a string with NULL */
	if ((is_address(a) && (is_address(b) || d_is_int(b))) || (is_address(b) && d_is_int(a)))
		return compare_ptrs(c, n) ? -1 : chk_fold2(c, n);
	return chk_incompatible(c, n, n->op, a, b);
}

static int check_logic(struct d_comp *c, struct d_node *n)
{
	if (!d_is_scalar(n->a->type) || !d_is_scalar(n->b->type)) {
		const struct d_type *t = d_is_scalar(n->a->type) ? n->b->type : n->a->type;

		return chk_bad_operand(c, D_OP_SCALAR, n, n->op,
			d_is_string(t) ? "integers or pointers (compare a string with NULL or "
					 "\"\" first)"
				       : "integers or pointers",
			t);
	}
	n->type = c->t.int_;
	return chk_fold2(c, n);
}

/* An array of one element at the end of a struct behind a pointer: how long it is, nobody says. */
static bool is_open_array(const struct d_node *n)
{
	return n->kind == N_MEMBER && n->member && !n->member->next &&
	       d_base(n->type)->nelems == 1 && !chk_root_var(n);
}

static int check_index(struct d_comp *c, struct d_node *n)
{
	const struct d_type *t;
	uint64_t bound = 0;

	if (n->a->kind == N_AGG)
		return CHK_ERR(c, D_AGG_MDIM, n,
			"an aggregation has one list of keys: write "
			"@%s[k1, k2], not @%s[k1][k2]",
			n->a->text, n->a->text);
	if (chk_expr(c, n->a, CX_VALUE) || chk_expr(c, n->b, CX_VALUE) ||
		chk_term_text(c, n->a) || chk_term_number(c, n->b))
		return -1;
	if (!d_is_int(n->b->type))
		return chk_bad_operand(c, D_OP_INT, n, n->op, "an integer index", n->b->type);
	t = d_base(n->a->type);
	if (t->kind == T_STRING) {
		n->type = c->t.char_;
		n->flags |= n->a->flags & NF_LVAL;
		bound = c->opts->val[OPT_STRSIZE];
	} else if (t->kind == T_PTR || t->kind == T_ARRAY) {
		const struct d_type *ptr = t->kind == T_PTR ? t : d_ptr_to(c, t->ref);

		n->type = t->ref;
		n->flags |= NF_LVAL;
		bound = t->kind == T_ARRAY && !is_open_array(n->a) ? t->nelems : 0;
		if (chk_steppable(c, n, n->op, ptr))
			return -1;
	} else {
		return CHK_ERR(c, D_ARR_BADREF, n, "a value of type '%s' cannot be indexed",
			chk_tname(c, n->a->type));
	}
	if (bound && n->b->kind == N_INT && n->b->value >= bound + !!(n->flags & NF_END))
		return CHK_ERR(c, D_ARR_BOUNDS, n, "index %" PRId64 " is outside of '%s'",
			(int64_t)n->b->value, chk_tname(c, n->a->type));
	return chk_int_cast(c, n->b, c->t.i64);
}

/* An operand that need not have a value must not be what only a statement can be. */
static int no_statement(struct d_comp *c, const struct d_node *n, const struct d_node *a)
{
	const char *op = n->kind == N_OP3 ? "?:" : chk_opname(n->op);
	const char *hint = n->kind == N_OP3 ? "; use if (..) { .. }" : "; make it a statement";

	if (d_is_kind(a->type, T_DYN))
		return CHK_ERR(c, D_OP_DYN, a, "%s cannot be an operand of %s%s",
			d_base(a->type)->ref ? "a translated object" : "an aggregation", op, hint);
	if (a->kind == N_FUNC && a->ident->kind == ID_ACTION)
		return CHK_ERR(c, D_OP_ACT, a, "an action cannot be an operand of %s%s", op, hint);
	return 0;
}

static int check_op2(struct d_comp *c, struct d_node *n, unsigned cx)
{
	bool null;

	if (n->op == OP_ASG) {
		if (n->a->kind == N_OP2 && n->a->op == OP_INDEX && n->a->a->kind == N_AGG)
			return check_index(c, n->a);
		if (n->a->kind != N_AGG)
			return chk_assign(c, n);
		if (chk_aggregate(c, n))
			return -1;
		n->type = cx & CX_STMT ? c->t.void_ : c->t.dyn;
		return 0;
	}
	if (n->op > OP_ASG && n->op <= OP_ASG_BOR)
		return chk_opassign(c, n);
	if (n->op == OP_INDEX)
		return check_index(c, n);
	null = chk_term_null(n->a) || chk_term_null(n->b);
	if (chk_expr(c, n->a, CX_VALUE) || (d_is_term(n->a->type) && chk_term_word(c, n->b)) ||
		chk_expr(c, n->b, CX_VALUE) || chk_term_operands(c, n, null))
		return -1;
	switch (n->op) {
	case OP_ADD:
	case OP_SUB: return check_add(c, n);
	case OP_LT:
	case OP_LE:
	case OP_GT:
	case OP_GE:
	case OP_EQ:
	case OP_NE: return check_compare(c, n);
	case OP_LAND:
	case OP_LXOR:
	case OP_LOR: return check_logic(c, n);
	case OP_COMMA:
		if (no_statement(c, n, n->a) || no_statement(c, n, n->b) || chk_decay(c, n->b))
			return -1;
		n->type = n->b->type;
		n->bits = n->b->bits;
		return 0;
	default: return check_arith(c, n);
	}
}

/* ---- a ? b : c --------------------------------------------------------------------------- */

static int choose_ptr(struct d_comp *c, struct d_node *n)
{
	struct d_node *x = n->b, *y = n->c;

	if (chk_decay(c, x) || chk_decay(c, y))
		return -1;
	if (d_is_ptr(x->type) && chk_convertible(c, y, x->type))
		n->type = chk_is_zero(x) || d_is_kind(d_base(x->type)->ref, T_VOID) ? y->type
										    : x->type;
	else if (d_is_ptr(y->type) && chk_convertible(c, x, y->type))
		n->type = y->type;
	else
		return CHK_ERR(c, D_OP_INCOMPAT, n,
			"both branches of ?: must have one type, not '%s' and '%s'",
			chk_tname(c, x->type), chk_tname(c, y->type));
	if (!d_is_ptr(n->type))
		n->type = x->type;
	if (!chk_is_zero(x) && !chk_is_zero(y) && chk_is_scratch(x) != chk_is_scratch(y))
		return CHK_ERR(c, D_ALLOCA_INCOMPAT, n,
			"one branch of ?: is memory from alloca() or copyin(), the other is not");
	return chk_convert(c, x, n->type) || chk_convert(c, y, n->type) ? -1 : 0;
}

static int dispatch(struct d_comp *c, struct d_node *n, unsigned cx);

static int check_op3(struct d_comp *c, struct d_node *n, unsigned cx)
{
	const struct d_type *x, *y;
	bool null;

	if (chk_expr(c, n->a, CX_VALUE))
		return -1;
	if (n->a->kind == N_INT) { /* it is replaced by that branch; the other is not checked */
		chk_replace(n, n->a->value ? n->b : n->c);
		if (!(n->flags & NF_CHECKED) && dispatch(c, n, cx))
			return -1;
		n->flags &= ~(NF_LVAL | NF_BITFIELD);
		return 0;
	}
	null = chk_term_null(n->b) || chk_term_null(n->c);
	if (chk_expr(c, n->b, CX_VALUE) || chk_expr(c, n->c, CX_VALUE))
		return -1;
	if (!d_is_scalar(n->a->type))
		return CHK_ERR(c, D_OP_SCALAR, n->a,
			"the condition of ?: must be an integer or a pointer, not '%s'%s",
			chk_tname(c, n->a->type),
			d_is_term(n->a->type) ? chk_term_truth : "");
	if (chk_term_branches(c, n, null))
		return -1;
	x = n->b->type;
	y = n->c->type;
	/* A single branch of type void does not fit the other, whatever it is. */
	if ((d_is_kind(x, T_DYN) || d_is_kind(y, T_DYN) ||
		    (d_is_kind(x, T_VOID) && d_is_kind(y, T_VOID))) &&
		(no_statement(c, n, n->b) || no_statement(c, n, n->c)))
		return -1;
	if (d_is_int(x) && d_is_int(y)) {
		arith(c, n, n->b, n->c);
	} else if ((d_is_string(x) && chk_strcompat(y)) || (d_is_string(y) && chk_strcompat(x))) {
		n->type = c->t.string;
		if (chk_to_string(c, n->b) || chk_to_string(c, n->c))
			return -1;
	} else if ((d_is_kind(x, T_VOID) && d_is_kind(y, T_VOID)) ||
		   (d_is_term(x) && d_is_term(y))) {
		n->type = x;
	} else if ((d_is_kind(x, T_STRUCT) || d_is_kind(x, T_UNION) || d_is_kind(x, T_FLOAT)) &&
		   d_same(x, y)) {
		n->type = x;
	} else if (choose_ptr(c, n)) {
		return -1;
	}
	return 0;
}

/* ---- any expression ---------------------------------------------------------------------- */

/* As everywhere but in percentile(). */
static int check_decimal(struct d_comp *c, struct d_node *n)
{
	if (n->value == 0)
		return CHK_ERR(c, D_SYNTAX, n,
			"floating-point constants are not permitted in D: use integers, scaled if "
			"need be (1500 for 1.5 in thousandths; erlscaled(T, 1000) of a term)");
	n->kind = N_STR;
	n->type = c->t.string;
	return 0;
}

static int dispatch(struct d_comp *c, struct d_node *n, unsigned cx)
{
	switch (n->kind) {
	case N_INT: return 0;
	case N_DECIMAL: return check_decimal(c, n);
	case N_STR: n->type = c->t.string; return 0;
	case N_IDENT: return chk_ident(c, n, cx);
	case N_ASSOC: return chk_assoc(c, n, cx);
	case N_AGG: return chk_agg_ref(c, n);
	case N_FUNC: return chk_func(c, n);
	case N_OP1: return check_op1(c, n, cx);
	case N_OP2: return check_op2(c, n, cx);
	case N_OP3: return check_op3(c, n, cx);
	case N_MEMBER: return chk_member(c, n, cx);
	case N_CAST: return chk_cast(c, n);
	case N_SIZEOF: return chk_sizeof(c, n);
	case N_OFFSETOF: return chk_offsetof(c, n);
	case N_STRINGOF: return chk_stringof(c, n);
	case N_XLATE: return chk_xlate(c, n, cx);
	default: return CHK_ERR(c, D_SYNTAX, n, "a statement is used where a value is needed");
	}
}

int chk_expr(struct d_comp *c, struct d_node *n, unsigned cx)
{
	int rc;

	if (n->flags & NF_CHECKED) {
		if (n->type && chk_is_translated(n->type) && !(cx & CX_DYN))
			return CHK_ERR(c, D_OP_DYN, n,
				"only members of a translated object have "
				"a value");
		return 0;
	}
	if (c->chk_depth >= CHK_DEPTH)
		return chk_deep(c, n);
	c->chk_depth++;
	rc = dispatch(c, n, cx);
	c->chk_depth--;
	if (rc)
		return -1;
	if (!n->type)
		return d_nomem(c);
	n->flags |= NF_CHECKED;
	return 0;
}

int d_check_expr(struct d_comp *c, struct d_node *n)
{
	return chk_expr(c, n, CX_VALUE);
}
