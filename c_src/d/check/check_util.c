/* SPDX-License-Identifier: Apache-2.0 */
/* Utilities of the checker: making, copying and replacing nodes, and words for its messages. */
#include <stdlib.h>

#include "check.h"

int chk_deep(struct d_comp *c, const struct d_node *n)
{
	return CHK_ERR(c, D_SYNTAX, n,
		"expression is nested too deeply (more than %d levels): use this-> variables for "
		"parts of it",
		CHK_DEPTH);
}

struct d_node *chk_new(struct d_comp *c, enum d_nkind kind, const struct d_node *place)
{
	struct d_node *n = arena_new_of(c->arena, struct d_node);

	if (!n) {
		d_nomem(c);
		return NULL;
	}
	n->kind = kind;
	n->line = place->line;
	n->col = place->col;
	return n;
}

void chk_replace(struct d_node *n, const struct d_node *by)
{
	struct d_node *next = n->next;

	*n = *by;
	n->next = next;
}

void chk_const(struct d_node *n, const struct d_type *t, uint64_t v)
{
	struct d_node by = {.kind = N_INT, .flags = NF_CHECKED, .line = n->line, .col = n->col};

	by.type = t;
	by.value = v;
	chk_replace(n, &by);
}

void chk_int(struct d_node *n, const struct d_type *t, uint64_t v)
{
	chk_const(n, t, chk_norm(t, v));
}

int chk_wrap(struct d_comp *c, struct d_node *n, enum d_nkind k, const struct d_type *t)
{
	struct d_node *in = chk_new(c, k, n), *next = n->next;

	if (!in)
		return -1;
	*in = *n;
	in->next = NULL;
	*n = (struct d_node){.kind = k,
		.flags = NF_CHECKED,
		.line = in->line,
		.col = in->col,
		.type = t,
		.a = in,
		.next = next};
	return 0;
}

static struct d_node *copy_list(struct d_comp *c, const struct d_node *n,
	const struct d_node *place, struct d_ident *const *params, unsigned nparams)
{
	struct d_node *head = NULL, **tail = &head;

	for (; n; n = n->next) {
		*tail = chk_copy(c, n, place, params, nparams);
		if (!*tail)
			return NULL;
		tail = &(*tail)->next;
	}
	return head;
}

/* p[i] where p is a parameter: its expression, indexed. */
static struct d_node *copy_index(struct d_comp *c, const struct d_node *n, struct d_node *base,
	const struct d_node *place, struct d_ident *const *params, unsigned nparams)
{
	struct d_node *at = chk_new(c, N_OP2, place);

	if (!at || !base)
		return NULL;
	at->op = OP_INDEX;
	at->a = base;
	at->b = copy_list(c, n->list, place, params, nparams);
	if (n->list && !at->b)
		return NULL;
	if (!at->b || at->b->next) {
		CHK_ERR(c, D_ARR_BADREF, n, "parameter '%s' is not an associative array", n->text);
		return NULL;
	}
	return at;
}

static const struct d_ident *param_of(
	const struct d_node *n, struct d_ident *const *params, unsigned nparams)
{
	if ((n->kind != N_IDENT && n->kind != N_ASSOC) || n->op != SC_GLOBAL || !n->text ||
		(n->flags & NF_CHECKED))
		return NULL;
	for (unsigned i = 0; i < nparams; i++)
		if (!strcmp(params[i]->name, n->text))
			return params[i];
	return NULL;
}

static struct d_node *copy_node(struct d_comp *c, const struct d_node *n,
	const struct d_node *place, struct d_ident *const *params, unsigned nparams)
{
	struct d_node *d = chk_new(c, n->kind, n);

	if (!d)
		return NULL;
	*d = *n;
	d->line = place->line;
	d->col = place->col;
	d->next = NULL;
	if ((n->a && !(d->a = chk_copy(c, n->a, place, params, nparams))) ||
		(n->b && !(d->b = chk_copy(c, n->b, place, params, nparams))) ||
		(n->c && !(d->c = chk_copy(c, n->c, place, params, nparams))) ||
		(n->list && !(d->list = copy_list(c, n->list, place, params, nparams))))
		return NULL;
	return d;
}

struct d_node *chk_copy(struct d_comp *c, const struct d_node *n, const struct d_node *place,
	struct d_ident *const *params, unsigned nparams)
{
	const struct d_ident *p = param_of(n, params, nparams);
	struct d_node *d;

	if (c->chk_depth >= CHK_DEPTH) {
		chk_deep(c, n);
		return NULL;
	}
	if (++c->chk_copies > CHK_COPIES) {
		CHK_ERR(c, D_ID_OFLOW, n,
			"inlines and translators grow this script to more than %u expressions: "
			"keep their results in this-> variables",
			CHK_COPIES);
		return NULL;
	}
	c->chk_depth++;
	if (!p) {
		d = copy_node(c, n, place, params, nparams);
	} else {
		d = chk_copy(c, p->expr, place, NULL, 0);
		if (n->kind == N_ASSOC)
			d = copy_index(c, n, d, place, params, nparams);
	}
	c->chk_depth--;
	return d;
}

bool d_has_effects(const struct d_node *n)
{
	if (!n)
		return false;
	if ((n->kind == N_OP1 && n->op >= OP_PREINC && n->op <= OP_POSTDEC) ||
		(n->kind == N_OP2 && n->op >= OP_ASG && n->op <= OP_ASG_BOR) ||
		(n->kind == N_FUNC && n->type && d_is_kind(n->type, T_VOID)) ||
		(n->kind == N_FUNC && strcmp(n->text, "erlmatch") == 0)) /* its variables */
		return true;
	for (const struct d_node *x = n->list; x; x = x->next)
		if (d_has_effects(x))
			return true;
	return d_has_effects(n->a) || d_has_effects(n->b) || d_has_effects(n->c);
}

unsigned chk_count(const struct d_node *list)
{
	unsigned n = 0;

	for (; list; list = list->next)
		n++;
	return n;
}

/* A value has no qualifiers, and a variable does not inherit those of its first value. */
const struct d_type *chk_unqual(const struct d_type *t)
{
	while (t->kind == T_TYPEDEF && !t->name)
		t = t->ref;
	return t;
}

const char *chk_tname(struct d_comp *c, const struct d_type *t)
{
	char buf[128];
	const struct d_type *b = d_base(t);

	if (b->kind == T_DYN)
		return b->ref ? "translated object" : "aggregation";
	d_type_name(t, buf, sizeof(buf));
	return arena_printf(c->arena, "%s", buf) ?: "?";
}

const char *chk_kindname(const struct d_ident *id)
{
	switch (id->kind) {
	case ID_SCALAR: return "variable";
	case ID_ASSOC: return "associative array";
	case ID_AGG: return "aggregation";
	case ID_BUILTIN:
		return id->id == BI_ARGS || id->id == BI_UREGS ? "built-in array"
							       : "built-in variable";
	case ID_FUNC: return "subroutine";
	case ID_ACTION: return "action";
	case ID_AGGFUNC: return "aggregating function";
	case ID_INLINE: return "inline";
	case ID_XLPARAM: return "parameter";
	case ID_ENUM: return "enumerator";
	}
	return "name";
}

const char *chk_scope(enum d_scope s)
{
	return s == SC_SELF ? "self->" : s == SC_THIS ? "this->" : "";
}

/* Damerau-Levenshtein distance of two names; NAME_MAX_LEN if one is too long. */
#define NAME_MAX_LEN 40

static unsigned distance(const char *a, const char *b)
{
	unsigned rows[3][NAME_MAX_LEN + 1], *r0 = rows[0], *r1 = rows[1], *r2 = rows[2];
	size_t la = strlen(a), lb = strlen(b);

	if (la > NAME_MAX_LEN || lb > NAME_MAX_LEN)
		return NAME_MAX_LEN;
	for (unsigned j = 0; j <= lb; j++)
		r1[j] = j;
	for (unsigned i = 1; i <= la; i++) {
		unsigned *old = r0;

		r2[0] = i;
		for (unsigned j = 1; j <= lb; j++) {
			unsigned d = r1[j - 1] + (a[i - 1] != b[j - 1]);

			d = r1[j] + 1 < d ? r1[j] + 1 : d;
			d = r2[j - 1] + 1 < d ? r2[j - 1] + 1 : d;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
				r0[j - 2] + 1 < d)
				d = r0[j - 2] + 1;
			r2[j] = d;
		}
		r0 = r1;
		r1 = r2;
		r2 = old;
	}
	return r1[lb];
}

struct suggestion {
	const char *name, *best;
	unsigned kinds, dist;
};

static void suggest_init(struct suggestion *s, const char *name)
{
	size_t len = strlen(name);

	s->name = name;
	s->dist = len < 2 ? 0 : len < 6 ? 2 : 3; /* one letter wrong, or two in a longer name */
}

static void suggest_name(void *arg, const char *name)
{
	struct suggestion *s = arg;
	unsigned d = distance(s->name, name);

	/* At the same distance prefer the longer: letters are omitted more often than added. */
	if (d < s->dist || (d == s->dist && s->best && strlen(name) > strlen(s->best))) {
		s->dist = d;
		s->best = name;
	}
}

static void suggest_ident(void *arg, struct d_ident *id)
{
	const struct suggestion *s = arg;

	if (s->kinds & (1u << id->kind))
		suggest_name(arg, id->name);
}

static const char *did_you_mean(struct d_comp *c, const struct suggestion *s)
{
	return s->best ? (arena_printf(c->arena, ": did you mean '%s'?", s->best) ?: "") : "";
}

const char *chk_suggest(struct d_comp *c, const struct d_idtab *t, const char *name, unsigned kinds)
{
	struct suggestion s = {.kinds = kinds};

	suggest_init(&s, name);
	d_idtab_each(t, suggest_ident, &s);
	return did_you_mean(c, &s);
}

const char *chk_suggest_member(struct d_comp *c, const struct d_type *t, const char *name)
{
	struct suggestion s = {.kinds = 0};

	suggest_init(&s, name);
	for (const struct d_member *m = d_base(t)->members; m != NULL; m = m->next)
		if (m->name != NULL)
			suggest_name(&s, m->name);
	return did_you_mean(c, &s);
}

/* The first name that has it as its last word: message-send for send. */
static void suggest_by_suffix(void *arg, const char *name)
{
	struct suggestion *s = arg;
	size_t len = strlen(s->name), all = strlen(name);

	if (s->best == NULL && len > 2 && all > len && name[all - len - 1] == '-' &&
		strcmp(name + all - len, s->name) == 0)
		s->best = name;
}

const char *d_suggest_probe(struct d_comp *c, const struct d_pdesc *d)
{
	struct suggestion s = {.kinds = 0};

	if (d->id != 0 || c->reg.names == NULL || strpbrk(d->name, "*?[\\") != NULL)
		return "";
	suggest_init(&s, d->name);
	c->reg.names(c->reg.data, d->prov, suggest_name, &s);
	if (s.best == NULL)
		c->reg.names(c->reg.data, d->prov, suggest_by_suffix, &s);
	return s.dist > 0 ? did_you_mean(c, &s) : "";
}
