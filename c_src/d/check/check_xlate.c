/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Translators. xlate <T>(e) has no value of its own: its node keeps the object that is translated
 * and has a type of kind T_DYN whose ref is T. Accessing a member of it is replaced by the
 * translator's expression for that member, with the object substituted for the translator's
 * parameter. args[n] is here too, as its provider may translate it.
 */
#include "check.h"

#include <ctype.h>

int chk_dyn_type(struct d_comp *c, struct d_node *n, const struct d_type *dest)
{
	struct d_type *t = arena_new_of(c->arena, struct d_type);

	if (!t)
		return d_nomem(c);
	t->kind = T_DYN;
	t->ref = dest;
	n->type = t;
	return 0;
}

/* T or T *: the struct or union that translators are declared for, or NULL. */
static const struct d_type *object_of(const struct d_type *dest)
{
	const struct d_type *t = d_base(dest);

	if (t->kind == T_PTR)
		t = d_base(t->ref);
	return t->kind == T_STRUCT || t->kind == T_UNION ? t : NULL;
}

/* A translator for exactly this type is preferred to one for a compatible type. */
struct d_xlator *chk_xlator_find(
	struct d_comp *c, const struct d_type *out, const struct d_type *in)
{
	struct d_xlator *fits = NULL;
	struct d_node probe = {.kind = N_VAR, .type = in};

	for (struct d_xlator *x = c->xlators; x; x = x->next) {
		if (!d_same(d_base(x->out), out))
			continue;
		if (d_same(d_base(x->in), d_base(in)))
			return x;
		if (!fits && chk_convertible(c, &probe, x->in))
			fits = x;
	}
	return fits;
}

int chk_xlate(struct d_comp *c, struct d_node *n, unsigned cx)
{
	const struct d_type *dest = n->type, *out = object_of(dest);

	if (!out)
		return CHK_ERR(c, D_XLATE_SOU, n, "xlate needs a struct or union, not '%s'",
			chk_tname(c, dest));
	if (chk_expr(c, n->a, CX_VALUE))
		return -1;
	if (!chk_xlator_find(c, out, n->a->type))
		return CHK_ERR(c, D_XLATE_NONE, n, "no translator from '%s' to '%s' is declared",
			chk_tname(c, n->a->type), chk_tname(c, dest));
	if (!(cx & CX_DYN))
		return CHK_ERR(c, D_OP_DYN, n,
			"a translated object has no value as a whole: use "
			"its members, as in xlate <T *>(x)->member, or assign a translated struct "
			"to a variable");
	return chk_dyn_type(c, n, dest);
}

static const struct d_node *translation(const struct d_xlator *x, const char *name)
{
	for (const struct d_node *m = x->members; m; m = m->next)
		if (!strcmp(m->text, name))
			return m;
	return NULL;
}

static int right_operator(struct d_comp *c, const struct d_node *n, const struct d_type *dest)
{
	if (n->op == OP_ARROW && !d_is_ptr(dest))
		return CHK_ERR(c, D_OP_PTR, n, "operator -> needs a pointer, not '%s': use .",
			chk_tname(c, dest));
	if (n->op == OP_DOT && d_is_ptr(dest))
		return CHK_ERR(c, D_OP_SOU, n,
			"operator . needs a struct or union, not '%s': "
			"use ->",
			chk_tname(c, dest));
	return 0;
}

int chk_xlate_member(struct d_comp *c, struct d_node *n, unsigned cx)
{
	const struct d_type *dest = d_base(n->a->type)->ref, *out;
	const struct d_member *m;
	const struct d_node *def;
	struct d_xlator *x;
	struct d_node *e;
	uint64_t off = 0;

	if (n->a->kind != N_XLATE || !dest)
		return CHK_ERR(
			c, D_OP_DYN, n, "operator %s cannot be applied here", chk_opname(n->op));
	out = object_of(dest);
	x = chk_xlator_find(c, out, n->a->a->type);
	if (!x)
		return CHK_ERR(c, D_XLATE_NONE, n, "no translator to '%s' is declared",
			chk_tname(c, dest));
	m = d_member(out, n->text, &off);
	if (!m)
		return CHK_ERR(c, D_TYPE_MEMBER, n, "'%s' has no member '%s'%s", chk_tname(c, out),
			n->text, chk_suggest_member(c, out, n->text));
	if (right_operator(c, n, dest))
		return -1;
	def = translation(x, n->text);
	if (!def)
		return CHK_ERR(c, D_XLATE_NOCONV, n,
			"the translator from '%s' to '%s' does not define member '%s'",
			chk_tname(c, x->in), chk_tname(c, out), n->text);
	if (chk_convert(c, n->a->a, x->in))
		return -1;
	x->param->expr = n->a->a;
	e = chk_copy(c, def->a, n, &x->param, 1);
	if (!e || chk_body(c, e))
		return -1;
	/* Text stays a string, even if the member is an array of characters. */
	if (!d_is_kind(e->type, T_DYN) && !(d_is_string(e->type) && chk_strcompat(m->type))) {
		if (!chk_convertible(c, e, m->type))
			return CHK_ERR(c, D_XLATE_INCOMPAT, n,
				"member '%s' of type '%s' is translated to a value of type '%s'",
				n->text, chk_tname(c, m->type), chk_tname(c, e->type));
		if (chk_convert(c, e, m->type))
			return -1;
	}
	if (d_is_kind(e->type, T_DYN) && !(cx & CX_DYN))
		return CHK_ERR(c, D_OP_DYN, n,
			"member '%s' is a translated object itself: only its "
			"members have a value",
			n->text);
	chk_replace(n, e);
	n->flags &= ~NF_LVAL;
	return 0;
}

/* ---- v = xlate <T>(e) ---------------------------------------------------------------------- */

/* Does it have side effects, so that it must not be evaluated more than once? */
static bool has_side_effect(const struct d_node *n)
{
	if (!n)
		return false;
	if (n->kind == N_FUNC || (n->kind == N_OP1 && n->op >= OP_PREINC && n->op <= OP_POSTDEC) ||
		(n->kind == N_OP2 && n->op >= OP_ASG && n->op <= OP_ASG_BOR))
		return true;
	for (const struct d_node *k = n->list; k; k = k->next)
		if (has_side_effect(k))
			return true;
	return has_side_effect(n->a) || has_side_effect(n->b) || has_side_effect(n->c);
}

static struct d_node *member_of(struct d_comp *c, const struct d_node *of, const char *name)
{
	struct d_node *m = chk_new(c, N_MEMBER, of);

	if (!m)
		return NULL;
	m->op = OP_DOT;
	m->text = name;
	m->a = chk_copy(c, of, of, NULL, 0);
	return m->a ? m : NULL;
}

static struct d_node *pair(struct d_comp *c, const struct d_node *place, enum d_op op,
	struct d_node *a, struct d_node *b)
{
	struct d_node *n = a && b ? chk_new(c, N_OP2, place) : NULL;

	if (!n)
		return NULL;
	n->op = op;
	n->a = a;
	n->b = b;
	return n;
}

static struct d_node *zero(struct d_comp *c, const struct d_node *place)
{
	struct d_node *n = chk_new(c, N_INT, place);

	if (n)
		chk_int(n, c->t.int_, 0);
	return n;
}

/* The assignments of all members, joined by commas. */
static struct d_node *member_by_member(struct d_comp *c, const struct d_node *n,
	const struct d_xlator *x, const struct d_type *out)
{
	struct d_node *all = zero(c, n), *set;

	for (const struct d_node *m = x->members; m && all; m = m->next) {
		set = pair(c, n, OP_ASG, member_of(c, n->a, m->text), member_of(c, n->b, m->text));
		all = pair(c, n, OP_COMMA, set, all);
	}
	for (const struct d_member *m = out->members; m && all; m = m->next) {
		if (!m->name || translation(x, m->name) ||
			!(d_is_scalar(m->type) || d_is_string(m->type)))
			continue;
		set = pair(c, n, OP_ASG, member_of(c, n->a, m->name), zero(c, n));
		all = pair(c, n, OP_COMMA, set, all);
	}
	return all;
}

/* n: v = e, where v is an lvalue and e a translated object, both checked. */
int chk_xlate_assign(struct d_comp *c, struct d_node *n)
{
	const struct d_type *dest = d_base(n->b->type)->ref, *out;
	struct d_node *all;

	out = d_base(dest);
	if (d_is_ptr(dest) || n->b->kind != N_XLATE)
		return CHK_ERR(c, D_OP_DYN, n,
			"a translated pointer cannot be kept: assign the struct, as in "
			"v = xlate <T>(x), or use a member, as in xlate <T *>(x)->member");
	if (!d_same(d_base(n->a->type), out))
		return CHK_ERR(c, D_OP_INCOMPAT, n, "'%s' = '%s': these types are not compatible",
			chk_tname(c, n->a->type), chk_tname(c, dest));
	if (has_side_effect(n->a) || has_side_effect(n->b->a))
		return CHK_ERR(c, D_OP_DYN, n,
			"each member is translated by itself: keep what changes something or "
			"calls a function in a this-> variable first");
	all = member_by_member(c, n, chk_xlator_find(c, out, n->b->a->type), out);
	if (!all || chk_expr(c, all, CX_VALUE))
		return -1;
	chk_replace(n, all);
	n->type = c->t.void_; /* the copy has no value */
	return 0;
}

/* ---- args[n] ------------------------------------------------------------------------------- */

/* The types of an argument: native, and as the script sees it. */
struct arg {
	unsigned raw; /* index of arg0..arg9 */
	const struct d_type *type, *xtype;
};

static const struct d_member *nth(const struct d_member *m, unsigned i)
{
	while (m && i--)
		m = m->next;
	return m;
}

/* Does foo123 match foo? Providers of processes have the pid after their name. */
static bool is_provider(const char *decl, const char *prov)
{
	size_t n = strlen(decl);

	if (strncmp(decl, prov, n))
		return false;
	while (isdigit((unsigned char)prov[n]))
		n++;
	return prov[n] == '\0';
}

/* A name with a rate, as process-5s, is the same probe as the name without it. */
static bool is_probe(const char *decl, const char *name)
{
	size_t n = strlen(decl);

	return !strncmp(decl, name, n) &&
	       (name[n] == '\0' || (name[n] == '-' && isdigit((unsigned char)name[n + 1])));
}

static const struct d_probedecl *declared_probe(
	struct d_comp *c, const char *prov, const char *name)
{
	for (const struct d_provdecl *p = c->provdecls; p; p = p->next)
		if (is_provider(p->name, prov))
			for (const struct d_probedecl *d = p->probes; d; d = d->next)
				if (is_probe(d->name, name))
					return d;
	return NULL;
}

static bool same_args(const struct d_probedecl *d, const struct d_probedecl *o)
{
	const struct d_member *m = d->args, *n = o->args;

	for (; m && n; m = m->next, n = n->next)
		if (!d_same(m->type, n->type))
			return false;
	return m == n && !d->xargs && !o->xargs;
}

/* No probe matches, which is permitted (-Z): use what is declared for the names in the clause. */
static const struct d_probedecl *declared_desc(struct d_comp *c, bool *differ)
{
	const struct d_probedecl *first = NULL, *d;
	char prov[D_MAX_IDENT];

	for (const struct d_pdesc *p = c->clause ? c->clause->descs : NULL; p; p = p->next) {
		snprintf(prov, sizeof(prov), "%.*s", (int)strcspn(p->prov, "*?["), p->prov);
		d = declared_probe(c, prov, p->name);
		if (!d)
			return NULL;
		*differ |= first && first != d && !same_args(first, d);
		first = first ? first : d;
	}
	return first;
}

/* The index of the native parameter for a translated one: by name, else by position. */
static unsigned native_of(const struct d_probedecl *d, const struct d_member *x, unsigned i)
{
	unsigned k = 0;

	if (x->name)
		for (const struct d_member *m = d->args; m; m = m->next, k++)
			if (m->name && !strcmp(m->name, x->name))
				return k;
	return i;
}

static int arg_declared(struct d_comp *c, const struct d_node *n, const struct d_probedecl *d,
	unsigned i, struct arg *a)
{
	unsigned count = d->xargs ? d->nxargs : d->nargs;
	const struct d_member *m, *x = nth(d->xargs, i);

	if (i >= count)
		return CHK_ERR(c, D_ARGS_IDX, n,
			"index %u is outside of args[]: '%s' has %u argument%s", i, d->name, count,
			count == 1 ? "" : "s");
	a->raw = x ? native_of(d, x, i) : i;
	m = nth(d->args, a->raw);
	a->xtype = x ? x->type : NULL;
	a->type = m ? m->type : c->t.i64;
	return 0;
}

static const struct d_type *arg_type(struct d_comp *c, const struct d_node *n, const char *text)
{
	const struct d_type *t = d_type_parse(c, text);
	const char *why;

	if (t)
		return t;
	why = arena_printf(c->arena, "%s", c->error.text) ?: "";
	et_err_clear(&c->error);
	CHK_ERR(c, D_ARGS_TYPE, n,
		"the type '%s' of this argument of probe %s:%s:%s:%s cannot be "
		"used: %s",
		text, c->probe->prov, c->probe->mod, c->probe->func, c->probe->name, why);
	return NULL;
}

static int arg_of_probe(struct d_comp *c, const struct d_node *n, unsigned i, struct arg *a)
{
	const struct d_probeinfo *p = c->probe;

	if (i >= (unsigned)p->nargs)
		return CHK_ERR(c, D_ARGS_IDX, n,
			"index %u is outside of args[]: probe %s:%s:%s:%s has %d argument%s", i,
			p->prov, p->mod, p->func, p->name, p->nargs, p->nargs == 1 ? "" : "s");
	a->raw = p->argmap ? p->argmap[i] : i;
	a->type = c->t.i64;
	if (p->argtypes && p->argtypes[a->raw] && !(a->type = arg_type(c, n, p->argtypes[a->raw])))
		return -1;
	if (p->xargtypes && p->xargtypes[i] && !(a->xtype = arg_type(c, n, p->xargtypes[i])))
		return -1;
	return 0;
}

static int find_arg(struct d_comp *c, const struct d_node *n, unsigned i, struct arg *a)
{
	bool differ = c->args_differ;
	const struct d_probedecl *d = c->probe ? NULL : declared_desc(c, &differ);

	if (!c->probe && !d)
		return CHK_ERR(c, D_ARGS_NONE, n, "args[] has no types here: %s",
			c->clause ? "no probe matches this clause"
				  : "it can only be used in a clause");
	if (differ)
		return CHK_ERR(c, D_ARGS_MULTI, n,
			"the probes of this clause have different arguments, so args[] has no "
			"types: use arg0 to arg9, or a clause for each");
	if (c->probe && c->probe->nargs >= 0)
		return arg_of_probe(c, n, i, a);
	if (!d)
		d = declared_probe(c, c->probe->prov, c->probe->name);
	if (d)
		return arg_declared(c, n, d, i, a);
	return CHK_ERR(c, D_ARGS_NONE, n,
		"the arguments of probe %s:%s:%s:%s have no types: use arg0 to arg9",
		c->probe->prov, c->probe->mod, c->probe->func, c->probe->name);
}

/* The script's type differs from the probe's: translate the argument, or cast if that will do. */
static int translate_arg(struct d_comp *c, struct d_node *n, const struct arg *a, unsigned cx)
{
	const struct d_type *out = object_of(a->xtype);

	if (out && chk_xlator_find(c, out, a->type)) {
		if (!(cx & CX_DYN))
			return CHK_ERR(c, D_OP_DYN, n,
				"args[%u] is a translated object: only its "
				"members have a value",
				(unsigned)n->list->value);
		if (chk_wrap(c, n, N_XLATE, NULL))
			return -1;
		return chk_dyn_type(c, n, a->xtype);
	}
	if (d_is_scalar(a->type) && d_is_scalar(a->xtype) && !out)
		return chk_wrap(c, n, N_CAST, a->xtype);
	return CHK_ERR(c, D_ARGS_XLATOR, n,
		"no translator from '%s' to '%s', the type of args[%u], "
		"is declared",
		chk_tname(c, a->type), chk_tname(c, a->xtype), (unsigned)n->list->value);
}

int chk_args(struct d_comp *c, struct d_node *n, unsigned cx)
{
	struct arg a = {0};

	if (!n->list || n->list->next)
		return CHK_ERR(c, D_PROTO_LEN, n, "args[] takes one index");
	if (chk_expr(c, n->list, CX_VALUE))
		return -1;
	if (n->list->kind != N_INT || !d_is_int(n->list->type))
		return CHK_ERR(c, D_PROTO_ARG, n, "args[] takes a constant index, as in args[0]");
	if (n->list->value > 255)
		return CHK_ERR(c, D_ARGS_IDX, n, "args[] has no such index");
	if (find_arg(c, n, n->list->value, &a))
		return -1;
	if (d_is_kind(a.type, T_VOID) || d_is_kind(a.type, T_FUNC))
		return CHK_ERR(c, D_ARGS_TYPE, n, "args[%u] has type '%s', which has no value",
			(unsigned)n->list->value, chk_tname(c, a.type));
	if (a.raw > 9)
		return CHK_ERR(c, D_ARGS_IDX, n, "args[%u] is beyond arg9 and cannot be read",
			(unsigned)n->list->value);
	n->ident = d_ident_find(c->globals, "args");
	n->op = OP_NONE;
	n->value = a.raw;
	n->type = a.type;
	n->flags |= NF_CHECKED;
	if (!a.xtype || d_same(a.type, a.xtype))
		return 0;
	return translate_arg(c, n, &a, cx);
}
