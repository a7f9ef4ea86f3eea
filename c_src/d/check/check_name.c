/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names: variables, which are defined by their first assignment, associative arrays and their keys,
 * inlines, members of structs.
 */
#include "check.h"

static struct d_idtab *table_of(struct d_comp *c, int scope)
{
	return scope == SC_SELF ? c->selfs : scope == SC_THIS ? c->thises : c->globals;
}

static struct d_ident *find(struct d_comp *c, const struct d_node *n)
{
	return n->op == SC_SYMBOL ? NULL : d_name_find(c, table_of(c, n->op), n->text);
}

/* ---- unknown names ----------------------------------------------------------------------- */

/* Variables of other DTrace implementations, and what to use here. */
static const struct {
	const char *name, *hint;
} elsewhere[] = {
	{"regs", "kernel registers are not available: use uregs[]"},
	{"vmregs", "there is no virtual machine monitor here"},
	{"curproc", "kernel structures are not available: use pid, execname and curpsinfo"},
	{"curcpu_info", "use cpu"},
	{"lbolt", "use timestamp"},
	{"zonename", "there are no zones on Linux"},
	{"jailname", "there are no jails on Linux"},
	{"jid", "there are no jails on Linux"},
	{"gpid", "use pid"},
};

static const char assign_first[] =
	": declare it, as in int x; or self int x; or assign it in a clause further up";

/* x or self->x where there is a this->x, such as a variable of a pattern; else NULL. */
static const char *in_this(struct d_comp *c, const struct d_node *n)
{
	if (n->op == SC_THIS || !d_ident_find(c->thises, n->text))
		return NULL;
	return arena_printf(c->arena, ": did you mean this->%s?%s", n->text,
		chk_is_pattern_var(c, n->text) ? " (variables of patterns are in this->)" : "");
}

static int undefined(struct d_comp *c, const struct d_node *n)
{
	const char *hint = in_this(c, n);
	bool is_var;

	if (n->op == SC_SELF || n->op == SC_THIS) {
		if (!hint)
			hint = chk_suggest(c, table_of(c, n->op), n->text, ~0u);
		return CHK_ERR(c, D_VAR_UNDEF, n, "%s%s has not been declared or assigned before%s",
			chk_scope(n->op), n->text, *hint ? hint : assign_first);
	}
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(*elsewhere); i++)
		if (!strcmp(elsewhere[i].name, n->text))
			return CHK_ERR(c, D_VAR_UNSUP, n, "'%s' is not available: %s", n->text,
				elsewhere[i].hint);
	if (!hint)
		hint = chk_suggest(c, c->globals, n->text,
			1u << ID_SCALAR | 1u << ID_ASSOC | 1u << ID_BUILTIN | 1u << ID_INLINE |
				1u << ID_ENUM);
	/* An array, and what is being assigned, are variables, if without a value. */
	is_var = n->kind == N_ASSOC || (c->assigned && !strcmp(c->assigned, n->text));
	return d_nerror(c, is_var ? D_VAR_UNDEF : D_IDENT_UNDEF, n,
		"'%s' is not declared or assigned before%s", n->text, *hint ? hint : assign_first);
}

/* The kernel's enumerators are constants where a script has nothing else of that name. */
static bool enumerator(struct d_comp *c, struct d_node *n)
{
	bool is_var = n->op != SC_GLOBAL || (c->assigned && !strcmp(c->assigned, n->text));
	const struct d_type *t;
	int64_t v;

	if (is_var || in_this(c, n) || !(t = d_kernel_enumerator(c, n->text, &v)))
		return false;
	chk_int(n, t, (uint64_t)v);
	return true;
}

/* ---- new variables ----------------------------------------------------------------------- */

struct tally {
	unsigned n;
};

static void tally(void *arg, struct d_ident *id)
{
	struct tally *t = arg;

	t->n += id->kind == ID_SCALAR || id->kind == ID_ASSOC;
}

static int room_for_var(struct d_comp *c, const struct d_node *n)
{
	struct tally t = {0};

	d_idtab_each(c->globals, tally, &t);
	d_idtab_each(c->selfs, tally, &t);
	d_idtab_each(c->thises, tally, &t);
	if (t.n >= D_MAX_VARS)
		return CHK_ERR(c, D_ID_OFLOW, n, "more than %d variables: use an associative array",
			D_MAX_VARS);
	return 0;
}

static struct d_ident *make_var(
	struct d_comp *c, const struct d_node *n, enum d_idkind kind, const struct d_type *type)
{
	struct d_ident *id;

	if (room_for_var(c, n))
		return NULL;
	id = d_ident_add(c, table_of(c, n->op), n->text, kind);
	if (!id) {
		d_nomem(c);
		return NULL;
	}
	id->scope = n->op;
	id->type = chk_unqual(type);
	id->line = n->line;
	return id;
}

bool chk_undefined(struct d_comp *c, const struct d_node *n)
{
	const struct d_ident *id;

	if ((n->kind != N_IDENT && n->kind != N_ASSOC) || (n->flags & NF_CHECKED) ||
		n->op == SC_SYMBOL)
		return false;
	id = find(c, n);
	return !id || ((id->kind == ID_SCALAR || id->kind == ID_ASSOC) && !id->type);
}

/* The type of a variable, inferred from the first value assigned. */
static const struct d_type *inferred(
	struct d_comp *c, const struct d_node *n, const struct d_type *type)
{
	enum d_tkind k = d_base(type)->kind;

	if (k == T_VOID || k == T_DYN || k == T_STACK || k == T_SYMADDR || k == T_FUNC) {
		CHK_ERR(c, D_OP_INCOMPAT, n, "'%s%s' cannot get its type from a value of type '%s'",
			chk_scope(n->op), n->text, chk_tname(c, type));
		return NULL;
	}
	if (k == T_TERM && n->op != SC_THIS) /* it outlives the term */
		return c->t.string;
	return type;
}

int chk_lval(struct d_comp *c, struct d_node *n, const struct d_type *type)
{
	struct d_ident *id;

	if (!chk_undefined(c, n)) {
		id = n->kind == N_IDENT && !(n->flags & NF_CHECKED) ? find(c, n) : NULL;
		if (id && id->kind == ID_ENUM)
			return CHK_ERR(c, D_IDENT_AMBIG, n,
				"'%s' is an enumerator and cannot be a variable as well: rename "
				"one",
				id->name);
		return chk_expr(c, n, CX_VALUE);
	}
	if (n->op == SC_THIS && n->kind == N_ASSOC)
		return CHK_ERR(c, D_ARR_LOCAL, n,
			"this->%s cannot be an associative array: use self->%s[..] or %s[..]",
			n->text, n->text, n->text);
	type = inferred(c, n, type);
	if (!type)
		return -1;
	id = find(c, n);
	if (id) /* its type is not known yet */
		id->type = chk_unqual(type);
	else
		id = make_var(c, n, n->kind == N_ASSOC ? ID_ASSOC : ID_SCALAR, type);
	return id ? chk_expr(c, n, CX_VALUE) : -1;
}

/* ---- keys -------------------------------------------------------------------------------- */

static int valid_key(struct d_comp *c, const struct d_node *k, const struct d_ident *id, bool agg)
{
	const struct d_type *t = d_base(k->type);
	const char *at = agg ? "@" : chk_scope(id->scope);

	switch (t->kind) {
	case T_INT:
	case T_ENUM:
	case T_PTR:
	case T_STRING: return 0;
	case T_STACK:
	case T_SYMADDR:
		if (agg)
			return 0;
		break;
	case T_STRUCT:
	case T_UNION:
	case T_ARRAY:
		if (t->size > CHK_KEYSIZE)
			return CHK_ERR(c, D_KEY_TYPE, k,
				"a key of %" PRIu64 " bytes is too large for '%s%s': at most %d",
				t->size, at, id->name, CHK_KEYSIZE);
		if (t->size)
			return 0;
		break;
	default: break;
	}
	return CHK_ERR(c, D_KEY_TYPE, k, "a value of type '%s' cannot be a key of '%s%s'",
		chk_tname(c, k->type), at, id->name);
}

/*
 * The type of a key, from its first use. Integer keys of an associative array are all stored as 64
 * bits, so that a[1] and a[arg0] are the same array; those of an aggregation are printed and sorted
 * by their type, which later uses can only widen.
 */
static const struct d_type *key_type(struct d_comp *c, const struct d_node *k, bool agg)
{
	if (!agg && d_is_int(k->type))
		return c->t.i64;
	return chk_unqual(k->type);
}

static int sign_keys(struct d_comp *c, struct d_node *n, struct d_ident *id, bool agg)
{
	unsigned nkeys = chk_count(n->list), i = 0;

	id->keys = arena_alloc(c->arena, (nkeys + 1) * sizeof(*id->keys));
	if (!id->keys)
		return d_nomem(c);
	for (struct d_node *k = n->list; k; k = k->next)
		id->keys[i++] = key_type(c, k, agg);
	id->nkeys = nkeys;
	return 0;
}

/* A signed and an unsigned type, neither of which has all values of the other? */
static bool differ(const struct d_type *a, const struct d_type *b)
{
	const struct d_type *u = d_is_signed(a) ? b : a, *s = d_is_signed(a) ? a : b;

	return d_is_signed(s) && !d_is_signed(u) && u->size >= s->size;
}

/*
 * An integer key of an aggregation becomes as wide as its widest use, and an int if a narrower type
 * does not have all values: no value of it is cut, (char)-2 and (unsigned char)254 are two keys.
 */
static const struct d_type *widened(
	struct d_comp *c, const struct d_type *key, const struct d_node *k)
{
	const struct d_type *a = d_base(key), *b = d_base(k->type);

	if (!d_is_int(key) || !d_is_int(k->type) || a->is_bool || b->is_bool)
		return key;
	if (a->size < c->t.int_->size && b->size < c->t.int_->size && differ(a, b))
		return c->t.int_;
	return b->size > a->size ? chk_unqual(k->type) : key;
}

static int match_key(
	struct d_comp *c, struct d_node *k, const struct d_ident *id, unsigned i, bool agg)
{
	const struct d_type *t = id->keys[i];
	enum d_tkind kind = d_base(t)->kind;

	if (agg)
		t = id->keys[i] = widened(c, t, k);
	if (kind == T_STACK || kind == T_SYMADDR) {
		if (d_is_kind(k->type, kind))
			return 0;
	} else if (chk_convertible(c, k, t)) {
		return chk_convert(c, k, t);
	}
	return CHK_ERR(c, D_PROTO_ARG, k, "key %u of '%s%s' is of type '%s', not '%s'", i + 1,
		agg ? "@" : chk_scope(id->scope), id->name, chk_tname(c, t), chk_tname(c, k->type));
}

int chk_keys(struct d_comp *c, struct d_node *n, struct d_ident *id, bool agg)
{
	unsigned nkeys = chk_count(n->list), i = 0;
	const char *at = agg ? "@" : chk_scope(id->scope);

	if (nkeys > PROG_MAX_KEYS)
		return CHK_ERR(c, D_PROTO_LEN, n, "'%s%s' has %u keys: at most %d", at, id->name,
			nkeys, PROG_MAX_KEYS);
	for (struct d_node *k = n->list; k; k = k->next, i++)
		if (chk_expr(c, k, CX_VALUE) ||
			chk_term_key(c, k, id->keys && i < id->nkeys ? id->keys[i] : NULL) ||
			(!id->keys && valid_key(c, k, id, agg)))
			return -1;
	i = 0;
	if (!id->keys && sign_keys(c, n, id, agg))
		return -1;
	if (nkeys != id->nkeys)
		return CHK_ERR(c, D_PROTO_LEN, n, "'%s%s' takes %u key%s, not %u", at, id->name,
			id->nkeys, id->nkeys == 1 ? "" : "s", nkeys);
	for (struct d_node *k = n->list; k; k = k->next)
		if (match_key(c, k, id, i++, agg))
			return -1;
	return 0;
}

/* ---- inlines ----------------------------------------------------------------------------- */

static int inline_args(struct d_comp *c, struct d_node *n, struct d_ident *id)
{
	unsigned nargs = chk_count(n->list), i = 0;

	if (nargs != id->nkeys)
		return CHK_ERR(c, D_PROTO_LEN, n, "inline '%s' takes %u parameter%s, not %u",
			id->name, id->nkeys, id->nkeys == 1 ? "" : "s", nargs);
	for (struct d_node *a = n->list; a; a = a->next, i++) {
		const struct d_type *t = id->params[i]->type;

		if (chk_expr(c, a, CX_VALUE))
			return -1;
		if (!chk_convertible(c, a, t))
			return CHK_ERR(c, D_PROTO_ARG, a,
				"parameter %u of inline '%s' is of type '%s', not '%s'", i + 1,
				id->name, chk_tname(c, t), chk_tname(c, a->type));
		if (chk_convert(c, a, t))
			return -1;
	}
	i = 0;
	for (struct d_node *a = n->list; a;
		a = a->next) /* all are expanded: nothing sets these again */
		id->params[i++]->expr = a;
	return 0;
}

/* The contents of an inline or translator do not count for the script's stability. */
int chk_body(struct d_comp *c, struct d_node *e)
{
	bool was = c->in_library;
	int rc;

	c->in_library = true;
	rc = chk_expr(c, e, CX_DYN);
	c->in_library = was;
	return rc;
}

static int expand(struct d_comp *c, struct d_node *n, struct d_ident *id, unsigned cx)
{
	struct d_node *e;

	if (inline_args(c, n, id))
		return -1;
	e = chk_copy(c, id->expr, n, id->params, id->nkeys);
	if (!e || chk_body(c, e))
		return -1;
	if (d_is_kind(e->type, T_DYN)) {
		if (!(cx & CX_DYN))
			return CHK_ERR(c, D_OP_DYN, n,
				"'%s' is a translated object: only its members have a value, as in "
				"%s->member",
				id->name, id->name);
	} else if (!chk_convertible(c, e, id->type)) {
		return CHK_ERR(c, D_OP_INCOMPAT, n,
			"inline '%s' of type '%s' has a value of type "
			"'%s' here",
			id->name, chk_tname(c, id->type), chk_tname(c, e->type));
	} else if (chk_convert(c, e, id->type)) {
		return -1;
	}
	chk_replace(n, e);
	n->flags &= ~NF_LVAL;
	return 0;
}

/* ---- identifiers ------------------------------------------------------------------------- */

static int variable(struct d_comp *c, struct d_node *n, struct d_ident *id)
{
	if (!id->type)
		return CHK_ERR(c, D_VAR_UNDEF, n, "%s%s has not been declared or assigned before",
			chk_scope(id->scope), id->name);
	n->kind = N_VAR;
	n->op = OP_NONE;
	n->ident = id;
	n->type = id->type;
	if (id->kind == ID_SCALAR)
		n->flags |= NF_LVAL;
	return 0;
}

static int bad_ref(struct d_comp *c, const struct d_node *n, const struct d_ident *id)
{
	const char *how = id->kind == ID_FUNC || id->kind == ID_ACTION ? "call it, as in"
			  : id->kind == ID_AGGFUNC		       ? "assign it, as in"
								       : "give its keys, as in";
	const char *form = id->kind == ID_FUNC || id->kind == ID_ACTION ? "(..)"
			   : id->kind == ID_AGGFUNC			? "(..)"
									: "[..]";

	return CHK_ERR(c, D_IDENT_BADREF, n,
		"%s '%s%s' is not a variable with a single value: %s %s%s%s",
		chk_kindname(id), chk_scope(id->scope), id->name, how,
		id->kind == ID_AGGFUNC ? "@a = " : chk_scope(id->scope), id->name, form);
}

int chk_ident(struct d_comp *c, struct d_node *n, unsigned cx)
{
	struct d_ident *id = find(c, n);

	if (n->op == SC_SYMBOL)
		return chk_symbol(c, n);
	if (!id)
		return enumerator(c, n) ? 0 : undefined(c, n);
	if (chk_attr(c, n, id) || chk_has(c, n, id))
		return -1;
	switch (id->kind) {
	case ID_SCALAR: return variable(c, n, id);
	case ID_BUILTIN:
		if (id->id == BI_ARGS || id->id == BI_UREGS)
			return bad_ref(c, n, id);
		return variable(c, n, id);
	case ID_INLINE:
		if (id->nkeys)
			return bad_ref(c, n, id);
		return expand(c, n, id, cx);
	case ID_ENUM: chk_int(n, id->type ? id->type : c->t.int_, id->value); return 0;
	default: return bad_ref(c, n, id);
	}
}

/* x[i] where x is not an associative array: C's index of an array, a pointer or a string. */
static int index_scalar(struct d_comp *c, struct d_node *n, const struct d_ident *id)
{
	struct d_node *a = chk_new(c, N_IDENT, n);

	if (!a)
		return -1;
	a->op = n->op;
	a->text = n->text;
	if (chk_expr(c, a, CX_VALUE) || chk_term_text(c, a))
		return -1;
	if (!n->list || n->list->next ||
		!(d_is_ptr(a->type) || d_is_kind(a->type, T_ARRAY) || d_is_string(a->type)))
		return CHK_ERR(c, D_ARR_BADREF, n,
			"%s '%s%s' of type '%s' is not an associative array: it takes no [%s]",
			chk_kindname(id), chk_scope(id->scope), id->name, chk_tname(c, a->type),
			n->list && n->list->next ? "k1, k2" : "key");
	n->kind = N_OP2;
	n->op = OP_INDEX;
	n->a = a;
	n->b = n->list;
	n->list = NULL;
	n->text = NULL;
	return chk_expr(c, n, CX_VALUE);
}

static int uregs(struct d_comp *c, struct d_node *n, struct d_ident *id)
{
	enum { NREGS = 27 }; /* see lib/regs.d */

	if (!n->list || n->list->next || chk_expr(c, n->list, CX_VALUE) || n->list->kind != N_INT ||
		n->list->value >= NREGS)
		return CHK_ERR(c, D_REGS_IDX, n,
			"uregs[] takes a constant from 0 to %d: use the R_* names, as in "
			"uregs[R_SP]",
			NREGS - 1);
	n->op = OP_NONE;
	n->ident = id;
	n->type = c->t.u64;
	n->value = n->list->value;
	return 0;
}

int chk_assoc(struct d_comp *c, struct d_node *n, unsigned cx)
{
	struct d_ident *id = find(c, n);

	if (n->op == SC_SYMBOL)
		return chk_symbol_element(c, n);
	if (!id)
		return undefined(c, n);
	if (chk_attr(c, n, id))
		return -1;
	if (id->kind == ID_BUILTIN && id->id == BI_ARGS)
		return chk_args(c, n, cx);
	if (id->kind == ID_BUILTIN && id->id == BI_UREGS)
		return uregs(c, n, id);
	if (id->kind == ID_INLINE && id->nkeys)
		return expand(c, n, id, cx);
	if (id->kind == ID_FUNC || id->kind == ID_ACTION || id->kind == ID_AGGFUNC)
		return bad_ref(c, n, id);
	if (id->kind != ID_ASSOC)
		return index_scalar(c, n, id);
	if (!id->type)
		return undefined(c, n);
	if (!n->list)
		return CHK_ERR(
			c, D_PROTO_LEN, n, "'%s%s' needs keys", chk_scope(id->scope), id->name);
	if (chk_keys(c, n, id, false))
		return -1;
	n->op = OP_NONE;
	n->ident = id;
	n->type = id->type;
	n->flags |= NF_LVAL;
	return 0;
}

/* ---- members ------------------------------------------------------------------------------ */

static int member_owner(struct d_comp *c, struct d_node *n, const struct d_type **owner)
{
	const struct d_type *t = d_base(n->a->type);

	if (n->op == OP_ARROW) {
		if (t->kind == T_ARRAY && chk_decay(c, n->a))
			return -1;
		t = d_base(n->a->type);
		if (t->kind != T_PTR)
			return CHK_ERR(c, D_OP_PTR, n, "operator -> needs a pointer, not '%s'%s",
				chk_tname(c, n->a->type),
				t->kind == T_STRUCT || t->kind == T_UNION ? ": use ." : "");
		t = d_base(t->ref);
	}
	if (t->kind != T_STRUCT && t->kind != T_UNION)
		return CHK_ERR(c, D_OP_SOU, n, "operator %s needs a struct or union, not '%s'%s",
			chk_opname(n->op), chk_tname(c, n->a->type),
			n->op == OP_DOT && t->kind == T_PTR ? ": use ->" : "");
	if (!d_complete(c, t))
		return CHK_ERR(c, D_OP_INCOMPLETE, n,
			"the members of '%s' are not known: declare it (%s)", chk_tname(c, t),
			d_kernel_why(c));
	*owner = t;
	return 0;
}

int chk_member(struct d_comp *c, struct d_node *n, unsigned cx)
{
	const struct d_type *t = NULL;
	uint64_t off = 0;

	if (chk_expr(c, n->a, CX_DYN))
		return -1;
	if (chk_is_translated(n->a->type))
		return chk_xlate_member(c, n, cx);
	if (member_owner(c, n, &t))
		return -1;
	n->member = d_member(t, n->text, &off);
	if (!n->member)
		return CHK_ERR(c, D_TYPE_MEMBER, n, "'%s' has no member '%s'%s", chk_tname(c, t),
			n->text, chk_suggest_member(c, t, n->text));
	if (d_is_kind(n->member->type, T_VOID))
		return CHK_ERR(c, D_TYPE_MEMBER, n,
			"member '%s' of '%s' has a type that D does not have", n->text,
			chk_tname(c, t));
	n->value = off;
	n->type = n->member->type;
	n->flags |= NF_LVAL;
	n->bits = n->member->bit_width;
	if (n->bits)
		n->flags |= NF_BITFIELD;
	return 0;
}
