/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations of a script: variables, inlines, translators, providers; and the built-in names. The
 * expressions of inlines and translators are kept as parsed and checked again at each use, because
 * types (of args[], of variables) may differ there. They are also checked here, on a copy, so that
 * an error is reported where it was made.
 */
#include "check.h"

#include <ctype.h>

#define LETTERS "iluspTfxnc@*[" /* of parameters: builtins.def */

#define ITEM_ERR(c, tag, item, ...) d_error(c, tag, (item)->line, (item)->col, __VA_ARGS__)

/* ---- the names of builtins.def ------------------------------------------------------------------
 */

static const struct d_type *builtin_type(struct d_comp *c, const struct d_builtin *b)
{
	if (!strcmp(b->proto, "array"))
		return c->t.dyn;
	if (!strcmp(b->proto, "uid_t") || !strcmp(b->proto, "gid_t")) {
		const struct d_type *t = d_typedef_find(c, b->proto);

		return t ? t : c->t.uint;
	}
	return d_type_parse(c, b->proto);
}

static int add_null(struct d_comp *c)
{
	struct d_ident *id = d_ident_add(c, c->globals, "NULL", ID_INLINE);
	struct d_node *zero = arena_new_of(c->arena, struct d_node);

	if (!id || !zero)
		return d_nomem(c);
	chk_int(zero, c->t.int_, 0);
	id->type = c->t.int_;
	id->expr = zero;
	id->declared = true;
	return 0;
}

/* A mistake in the table is told at once, not where a script first uses that line. */
static bool has_proto(const struct d_builtin *b)
{
	return (b->kind != ID_FUNC && b->kind != ID_ACTION) ||
	       (b->proto[0] && b->proto[1] == ':' && !b->proto[2 + strspn(b->proto + 2, LETTERS)]);
}

int d_builtins_init(struct d_comp *c)
{
	for (const struct d_builtin *b = d_builtins; b->name; b++) {
		struct d_ident *id = d_ident_add(c, c->globals, b->name, b->kind);

		if (!id)
			return d_nomem(c);
		if (!has_proto(b))
			return d_error(c, ET_PROGRAM, 0, 0,
				"builtins.def: the prototype \"%s\" of %s() is not a result, ':' "
				"and letters of parameters",
				b->proto, b->name);
		id->id = b->id;
		id->builtin = b;
		id->declared = true;
		if (b->kind == ID_BUILTIN && !(id->type = builtin_type(c, b)))
			return -1;
	}
	return add_null(c);
}

/* ---- variables
 * ------------------------------------------------------------------------------------ */

static int object_type(struct d_comp *c, const struct d_item *item, const struct d_ident *id)
{
	const struct d_type *t = d_base(id->type);

	if (t->kind == T_VOID)
		return ITEM_ERR(c, D_DECL_VOIDOBJ, item, "'%s' cannot be of type void", id->name);
	if (t->kind == T_DYN || t->kind == T_STACK || t->kind == T_SYMADDR)
		return ITEM_ERR(c, D_DECL_DYNOBJ, item, "'%s' cannot be declared with type '%s'",
			id->name, chk_tname(c, id->type));
	if (t->kind == T_TERM && item->kind == IT_VAR &&
		(id->scope != SC_THIS || id->kind == ID_ASSOC))
		return ITEM_ERR(c, D_DECL_DYNOBJ, item,
			"'%s' cannot be declared with type '%s': a term is valid while its "
			"event lasts; keep its text (string) or number, or declare it as this",
			id->name, chk_tname(c, id->type));
	if ((t->kind == T_STRUCT || t->kind == T_UNION || t->kind == T_ARRAY) && t->size == 0)
		return ITEM_ERR(c, D_DECL_INCOMPLETE, item,
			"'%s' cannot be declared with type '%s': its size is not known", id->name,
			chk_tname(c, id->type));
	return 0;
}

/* Repeating the same declaration is not an error. */
static int redeclared(struct d_comp *c, const struct d_item *item, const struct d_ident *old)
{
	const struct d_ident *id = item->ident;
	bool same = old->kind == id->kind && old->type && d_same(old->type, id->type) &&
		    old->nkeys == id->nkeys;

	for (unsigned i = 0; same && i < id->nkeys; i++)
		same = d_same(old->keys[i], id->keys[i]) ||
		       (d_is_int(old->keys[i]) && d_is_int(id->keys[i]));
	if (same)
		return 0;
	if (old->kind == ID_BUILTIN || old->kind == ID_FUNC || old->kind == ID_ACTION ||
		old->kind == ID_AGGFUNC)
		return ITEM_ERR(c, D_DECL_IDRED, item, "'%s' is a %s of D: use another name",
			id->name, chk_kindname(old));
	return ITEM_ERR(c, D_DECL_IDRED, item,
		"'%s%s' was declared or used differently before, as %s%s%s", chk_scope(id->scope),
		id->name, chk_kindname(old), old->type ? " of type " : "",
		old->type ? chk_tname(c, old->type) : "");
}

static void count_var(void *arg, struct d_ident *id)
{
	*(unsigned *)arg += id->kind == ID_SCALAR || id->kind == ID_ASSOC;
}

int d_check_var(struct d_comp *c, const struct d_item *item)
{
	struct d_ident *id = item->ident, *old;
	struct d_idtab *t = id->scope == SC_SELF   ? c->selfs
			    : id->scope == SC_THIS ? c->thises
						   : c->globals;
	unsigned n = 0;

	if (id->kind == ID_ASSOC && id->scope == SC_THIS)
		return ITEM_ERR(c, D_DECL_LOCASSC, item,
			"this->%s cannot be an associative array: declare it as self or without",
			id->name);
	if (object_type(c, item, id))
		return -1;
	if (id->nkeys > PROG_MAX_KEYS)
		return ITEM_ERR(c, D_PROTO_LEN, item, "'%s' has %u keys: at most %d", id->name,
			id->nkeys, PROG_MAX_KEYS);
	for (unsigned i = 0; i < id->nkeys; i++)
		if (d_is_term(id->keys[i]))
			return ITEM_ERR(c, D_DECL_PROTO_TYPE, item,
				"key %u of '%s' cannot be of type 'term_t': a term is valid while "
				"its event lasts; declare a string or a number",
				i + 1, id->name);
	old = d_name_find(c, t, id->name);
	if (old)
		return redeclared(c, item, old);
	d_idtab_each(c->globals, count_var, &n);
	d_idtab_each(c->selfs, count_var, &n);
	d_idtab_each(c->thises, count_var, &n);
	if (n >= D_MAX_VARS)
		return ITEM_ERR(c, D_ID_OFLOW, item, "more than %d variables", D_MAX_VARS);
	id->id = UINT16_MAX;
	id->declared = true;
	id->line = item->line;
	return d_ident_enter(t, id) ? d_nomem(c) : 0;
}

/* ---- inlines
 * ---------------------------------------------------------------------------------------- */

/* Placeholder for a parameter while its inline or translator is checked: a value of its type. */
static int stand_in(struct d_comp *c, struct d_ident *p, const struct d_node *place)
{
	struct d_node *v = chk_new(c, N_VAR, place);

	if (!v)
		return -1;
	v->ident = p;
	v->type = p->type;
	v->text = p->name;
	v->flags = NF_CHECKED;
	p->expr = v;
	p->kind = ID_XLPARAM;
	return 0;
}

static int inline_value(struct d_comp *c, const struct d_item *item, struct d_node *e)
{
	const struct d_ident *id = item->ident;

	if (chk_expr(c, e, CX_DYN))
		return -1;
	if (d_is_kind(e->type, T_DYN)) {
		const struct d_type *dest = d_base(e->type)->ref;

		if (dest && d_same(d_base(dest), d_base(id->type)))
			return 0;
	} else if (chk_convertible(c, e, id->type)) {
		return chk_convert(c, e, id->type);
	}
	return ITEM_ERR(c, D_OP_INCOMPAT, item, "inline '%s' of type '%s' has a value of type '%s'",
		id->name, chk_tname(c, id->type),
		d_is_kind(e->type, T_DYN) && d_base(e->type)->ref
			? chk_tname(c, d_base(e->type)->ref)
			: chk_tname(c, e->type));
}

int d_check_inline(struct d_comp *c, const struct d_item *item)
{
	struct d_ident *id = item->ident, *old = d_name_find(c, c->globals, id->name);
	struct d_node *e;

	c->chk_depth = 0;
	if (old)
		return ITEM_ERR(c, D_DECL_IDRED, item, "'%s' already exists, as %s", id->name,
			chk_kindname(old));
	if (object_type(c, item, id))
		return -1;
	for (unsigned i = 0; i < id->nkeys; i++)
		if (stand_in(c, id->params[i], id->expr))
			return -1;
	e = chk_copy(c, id->expr, id->expr, id->params, id->nkeys);
	if (!e || inline_value(c, item, e))
		return -1;
	if (e->kind == N_INT || e->kind == N_STR)
		id->expr = e; /* it is a constant */
	id->kind = ID_INLINE;
	id->declared = true;
	return d_ident_enter(c->globals, id) ? d_nomem(c) : 0;
}

/* ---- translators
 * ---------------------------------------------------------------------------------------- */

/*
 * A library translates from a structure that it does not define: the kernel's. What it says of
 * members is checked when one is used, as another kernel may lack some.
 */
static bool is_open_object(const struct d_type *in)
{
	const struct d_type *t = d_base(in);

	if (t->kind == T_PTR)
		t = d_base(t->ref);
	return (t->kind == T_STRUCT || t->kind == T_UNION) && !t->complete;
}

/* The same where it casts to a pointer to such a structure. */
static bool has_open_cast(const struct d_node *n)
{
	if (n == NULL)
		return false;
	if (n->kind == N_CAST && n->type != NULL && is_open_object(n->type))
		return true;
	for (const struct d_node *arg = n->list; arg != NULL; arg = arg->next)
		if (has_open_cast(arg))
			return true;
	return has_open_cast(n->a) || has_open_cast(n->b) || has_open_cast(n->c);
}

static int xlator_member(struct d_comp *c, struct d_xlator *x, const struct d_node *m)
{
	const struct d_member *to;
	struct d_node *e;
	uint64_t off = 0;

	to = d_member(d_base(x->out), m->text, &off);
	if (!to)
		return CHK_ERR(c, D_XLATE_MEMB, m, "'%s' has no member '%s' to translate to",
			chk_tname(c, x->out), m->text);
	for (const struct d_node *o = x->members; o != m; o = o->next)
		if (!strcmp(o->text, m->text))
			return CHK_ERR(
				c, D_XLATE_MEMB, m, "member '%s' is translated twice", m->text);
	if (c->in_library && (is_open_object(x->in) || has_open_cast(m->a)))
		return 0;
	e = chk_copy(c, m->a, m->a, &x->param, 1);
	if (!e || chk_expr(c, e, CX_DYN))
		return -1;
	if (d_is_kind(e->type, T_DYN)) {
		const struct d_type *dest = d_base(e->type)->ref;

		if (dest && d_same(d_base(dest), d_base(to->type)))
			return 0;
	} else if (chk_convertible(c, e, to->type) ||
		   (d_is_string(e->type) && chk_strcompat(to->type))) {
		return 0;
	}
	return CHK_ERR(c, D_XLATE_INCOMPAT, m,
		"member '%s' is of type '%s', its translation of "
		"type '%s'",
		m->text, chk_tname(c, to->type), chk_tname(c, e->type));
}

int d_check_xlator(struct d_comp *c, const struct d_item *item)
{
	struct d_xlator *x = item->xlator;
	const struct d_type *out = d_base(x->out);
	struct d_node place = {.line = item->line, .col = item->col};

	c->chk_depth = 0;
	if ((out->kind != T_STRUCT && out->kind != T_UNION) || !out->complete)
		return ITEM_ERR(c, D_XLATE_SOU, item,
			"a translator makes a struct or union whose members are known, not '%s'",
			chk_tname(c, x->out));
	for (const struct d_xlator *o = c->xlators; o; o = o->next)
		if (d_same(d_base(o->out), out) && d_same(d_base(o->in), d_base(x->in)))
			return ITEM_ERR(c, D_XLATE_REDECL, item,
				"a translator from '%s' to '%s' already exists",
				chk_tname(c, x->in), chk_tname(c, x->out));
	x->param->type = x->in;
	if (stand_in(c, x->param, &place))
		return -1;
	for (const struct d_node *m = x->members; m; m = m->next)
		if (xlator_member(c, x, m))
			return -1;
	x->next = c->xlators;
	c->xlators = x;
	return 0;
}

/* ---- providers
 * --------------------------------------------------------------------------------------------- */

#define MAX_ARGS 10 /* arg0 to arg9 */

static int provider_name(struct d_comp *c, const struct d_item *item)
{
	const char *s = item->provider->name;
	size_t n = strlen(s);

	if (n == 0 || n > 59)
		return ITEM_ERR(
			c, D_PROV_BADNAME, item, "a provider's name has 1 to 59 characters");
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)s[i]) && s[i] != '_' && s[i] != '-')
			return ITEM_ERR(c, D_PROV_BADNAME, item,
				"provider name '%s' may only have letters, digits and _", s);
	if (isdigit((unsigned char)s[n - 1]))
		return ITEM_ERR(c, D_PROV_BADNAME, item,
			"provider name '%s' ends with a digit: numbers at the end tell processes "
			"apart",
			s);
	return 0;
}

static const struct d_member *param_named(const struct d_probedecl *d, const char *name)
{
	for (const struct d_member *m = d->args; m; m = m->next)
		if (m->name && !strcmp(m->name, name))
			return m;
	return NULL;
}

/* A translated parameter corresponds to the native one with its name, or at its position. */
static int translated(struct d_comp *c, const struct d_item *item, const struct d_probedecl *d,
	const struct d_member *x, const struct d_member *in_place)
{
	const struct d_member *m = x->name ? param_named(d, x->name) : in_place;
	const struct d_type *out = d_base(x->type);

	if (!m)
		return ITEM_ERR(c, D_DECL_PROTO_FORM, item,
			"probe '%s': translated parameter '%s' is not one of the native ones",
			d->name, x->name ? x->name : "(unnamed)");
	if (d_same(m->type, x->type) || (d_is_scalar(m->type) && d_is_int(x->type)))
		return 0;
	if (out->kind == T_PTR)
		out = d_base(out->ref);
	if (!chk_xlator_find(c, out, m->type))
		return ITEM_ERR(c, D_PROV_PRXLATOR, item,
			"probe '%s': no translator from '%s' to '%s' is declared", d->name,
			chk_tname(c, m->type), chk_tname(c, x->type));
	return 0;
}

static int check_probe(struct d_comp *c, const struct d_item *item, const struct d_probedecl *d)
{
	const struct d_member *m = d->args;

	for (const struct d_probedecl *o = item->provider->probes; o != d; o = o->next)
		if (!strcmp(o->name, d->name))
			return ITEM_ERR(
				c, D_PROV_PRDUP, item, "probe '%s' is declared twice", d->name);
	if (d->nargs > MAX_ARGS || d->nxargs > MAX_ARGS)
		return ITEM_ERR(c, D_PROV_PRARGLEN, item, "probe '%s' has %u arguments: at most %d",
			d->name, d->nargs > d->nxargs ? d->nargs : d->nxargs, MAX_ARGS);
	for (const struct d_member *x = d->xargs; x; x = x->next) {
		if (translated(c, item, d, x, m))
			return -1;
		m = m ? m->next : NULL;
	}
	return 0;
}

static bool same_params(const struct d_member *a, const struct d_member *b)
{
	while (a && b && d_same(a->type, b->type)) {
		a = a->next;
		b = b->next;
	}
	return !a && !b;
}

/* A provider that is declared again must agree about the probes both declarations have. */
static int compatible(struct d_comp *c, const struct d_item *item, const struct d_provdecl *old)
{
	for (const struct d_probedecl *o = old->probes; o; o = o->next)
		for (const struct d_probedecl *d = item->provider->probes; d; d = d->next)
			if (!strcmp(o->name, d->name) && (!same_params(o->args, d->args) ||
								 !same_params(o->xargs, d->xargs)))
				return ITEM_ERR(c, D_PROV_INCOMPAT, item,
					"probe '%s' of provider '%s' is declared before with other "
					"arguments",
					d->name, old->name);
	return 0;
}

int d_check_provider(struct d_comp *c, const struct d_item *item)
{
	struct d_provdecl *p = item->provider;

	if (provider_name(c, item))
		return -1;
	for (const struct d_probedecl *d = p->probes; d; d = d->next)
		if (check_probe(c, item, d))
			return -1;
	for (const struct d_provdecl *o = c->provdecls; o; o = o->next)
		if (!strcmp(o->name, p->name) && compatible(c, item, o))
			return -1;
	p->next = c->provdecls;
	c->provdecls = p;
	return 0;
}
