/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types: making, comparing and naming them, and the tables of typedefs and tags.
 *
 * A qualified type is a T_TYPEDEF without a name above the unqualified one. Typedefs and qualified
 * types have the size of what they refer to. Those of an incomplete struct are kept in a list at
 * the struct and get their size when it is completed.
 */
#include "lex.h"

#include <string.h>

#include "btf/btf.h"

/* ---- tables --------------------------------------------------------------------------- */

enum entry_kind { E_TYPEDEF, E_STRUCT, E_UNION, E_ENUM }; /* each is a name space */

struct entry {
	const char *name;
	uint32_t hash;
	enum entry_kind kind;
	bool basic; /* a basic type */
	const char *text; /* the source that declared it */
	struct d_type *type;
	struct entry *next; /* in the bucket, newest first */
};

/* A struct, union or enum, and the types whose size depends on it. */
struct sou {
	struct d_type t;
	const char *text; /* the source that completed it */
	struct btf_at origin; /* what completes it: kernel_types.c; no file: its name tells */
	bool is_open;	      /* its body is being read: nothing else completes it */
	struct dep {
		struct d_type *t;
		struct dep *next;
	} * deps;
};

/* The undo log of d_types_undo(). */
struct step {
	struct entry *added;
	struct d_type *completed;
};

struct d_typetab {
	struct entry **buckets;
	size_t nbuckets, nentries;
	struct step *log;
	size_t nlog, roomlog;
};

static uint32_t hash_of(const char *s, enum entry_kind kind)
{
	uint32_t h = 2166136261u ^ (uint32_t)kind;

	for (; *s != '\0'; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	return h ^ h >> 15;
}

static struct entry *find(const struct d_typetab *tab, enum entry_kind kind, const char *name)
{
	uint32_t h = hash_of(name, kind);
	struct entry *e;

	for (e = tab->buckets[h & (tab->nbuckets - 1)]; e != NULL; e = e->next)
		if (e->hash == h && e->kind == kind && strcmp(e->name, name) == 0)
			return e;
	return NULL;
}

static int remember(struct d_comp *c, struct entry *added, struct d_type *completed)
{
	struct d_typetab *tab = c->types;

	if (tab->nlog == tab->roomlog) {
		size_t room = tab->roomlog > 0 ? tab->roomlog * 2 : 64;
		struct step *log = arena_alloc(c->arena, room * sizeof(*log));

		if (log == NULL)
			return d_nomem(c);
		if (tab->nlog > 0)
			memcpy(log, tab->log, tab->nlog * sizeof(*log));
		tab->log = log;
		tab->roomlog = room;
	}
	tab->log[tab->nlog++] = (struct step){added, completed};
	return 0;
}

static int grow(struct d_comp *c, struct d_typetab *tab)
{
	size_t n = tab->nbuckets > 0 ? tab->nbuckets * 2 : 128;
	struct entry **b = arena_alloc(c->arena, n * sizeof(*b)), *e, *next, *rev;

	if (b == NULL)
		return d_nomem(c);
	for (size_t i = 0; i < tab->nbuckets; i++) {
		/* From oldest to newest, so that the newest is first again. */
		for (rev = NULL, e = tab->buckets[i]; e != NULL; e = next) {
			next = e->next;
			e->next = rev;
			rev = e;
		}
		for (e = rev; e != NULL; e = next) {
			next = e->next;
			e->next = b[e->hash & (n - 1)];
			b[e->hash & (n - 1)] = e;
		}
	}
	tab->buckets = b;
	tab->nbuckets = n;
	return 0;
}

static int enter(struct d_comp *c, enum entry_kind kind, const char *name, struct d_type *type)
{
	struct d_typetab *tab = c->types;
	struct entry *e = arena_new_of(c->arena, struct entry);

	if (e == NULL)
		return d_nomem(c);
	if (tab->nentries >= tab->nbuckets && grow(c, tab) != 0)
		return -1;
	e->name = name;
	e->hash = hash_of(name, kind);
	e->kind = kind;
	e->type = type;
	e->basic = c->lex == NULL;
	e->text = c->lex != NULL ? c->lex->src : NULL;
	e->next = tab->buckets[e->hash & (tab->nbuckets - 1)];
	tab->buckets[e->hash & (tab->nbuckets - 1)] = e;
	tab->nentries++;
	return remember(c, e, NULL);
}

int d_typetab_new(struct d_comp *c)
{
	c->types = arena_new_of(c->arena, struct d_typetab);
	if (c->types == NULL)
		return d_nomem(c);
	return grow(c, c->types);
}

size_t d_types_mark(struct d_comp *c)
{
	return c->types->nlog;
}

static void size_deps(const struct sou *s)
{
	for (struct dep *d = s->deps; d != NULL; d = d->next) {
		d->t->size = s->t.size;
		d->t->align = s->t.align;
		d->t->complete = s->t.complete;
	}
}

void d_types_undo(struct d_comp *c, size_t mark)
{
	struct d_typetab *tab = c->types;

	while (tab->nlog > mark) {
		struct step *s = &tab->log[--tab->nlog];

		if (s->added != NULL) {
			/* It is the first of its bucket, as everything newer has been undone. */
			tab->buckets[s->added->hash & (tab->nbuckets - 1)] = s->added->next;
			tab->nentries--;
		} else {
			s->completed->complete = false;
			s->completed->members = NULL;
			s->completed->size = 0;
			s->completed->align = 0;
			size_deps((struct sou *)s->completed);
		}
	}
}

/* ---- constructors --------------------------------------------------------------------- */

struct d_type *d_type_new(struct d_comp *c, enum d_tkind kind)
{
	bool sou = kind == T_STRUCT || kind == T_UNION || kind == T_ENUM;
	struct d_type *t = arena_alloc(c->arena, sou ? sizeof(struct sou) : sizeof(*t));

	if (t == NULL) {
		d_nomem(c);
		return NULL;
	}
	t->kind = kind;
	t->complete = !sou;
	return t;
}

struct btf_at *d_type_origin(struct d_type *t)
{
	return &((struct sou *)t)->origin;
}

void d_type_open(struct d_type *t, bool open)
{
	((struct sou *)t)->is_open = open;
}

bool d_type_is_open(const struct d_type *t)
{
	return ((const struct sou *)t)->is_open;
}

struct d_type *d_alias(struct d_comp *c, const char *name, const struct d_type *ref)
{
	struct d_type *t = d_type_new(c, T_TYPEDEF);
	const struct d_type *b = d_base(ref);
	struct dep *d;

	if (t == NULL)
		return NULL;
	t->name = name;
	t->ref = ref;
	t->size = b->size;
	t->align = b->align;
	t->is_signed = b->is_signed;
	t->is_char = b->is_char;
	t->is_bool = b->is_bool;
	t->complete = b->complete;
	if (b->kind != T_STRUCT && b->kind != T_UNION && b->kind != T_ENUM)
		return t;
	d = arena_new_of(c->arena, struct dep);
	if (d == NULL) {
		d_nomem(c);
		return NULL;
	}
	d->t = t;
	d->next = ((struct sou *)b)->deps;
	((struct sou *)b)->deps = d;
	return t;
}

const struct d_type *d_ptr_to(struct d_comp *c, const struct d_type *t)
{
	struct d_type *p = d_type_new(c, T_PTR);

	if (p == NULL)
		return c->t.void_ptr;
	p->ref = t;
	p->size = 8;
	p->align = 8;
	return p;
}

const struct d_type *d_array_of(struct d_comp *c, const struct d_type *t, uint64_t n)
{
	struct d_type *a = d_type_new(c, T_ARRAY);

	if (a == NULL)
		return c->t.void_ptr;
	a->ref = t;
	a->nelems = n;
	if (__builtin_mul_overflow(d_base(t)->size, n, &a->size))
		a->size = UINT64_MAX;
	a->align = d_base(t)->align;
	return a;
}

const struct d_type *d_qualified(struct d_comp *c, const struct d_type *t, unsigned quals)
{
	struct d_type *q;

	if ((t->quals | quals) == t->quals)
		return t;
	if (t->kind == T_TYPEDEF && t->name == NULL) {
		quals |= t->quals;
		t = t->ref;
	}
	q = d_alias(c, NULL, t);
	if (q == NULL)
		return t;
	q->quals = (uint8_t)quals;
	return q;
}

int d_type_complete(
	struct d_comp *c, struct d_type *t, struct d_member *members, uint64_t size, uint32_t align)
{
	t->members = members;
	t->size = size;
	t->align = align;
	t->complete = true;
	((struct sou *)t)->text = c->lex != NULL ? c->lex->src : NULL;
	size_deps((struct sou *)t);
	return remember(c, NULL, t);
}

bool d_type_same_text(const struct d_comp *c, const struct d_type *t)
{
	return c->lex != NULL && ((const struct sou *)t)->text == c->lex->src;
}

/* ---- names of types ------------------------------------------------------------------- */

/* Types of all modules are in one table: mod`name finds name. */
static const char *unscoped(const char *name)
{
	const char *q = strrchr(name, '`');

	return q != NULL && q != name && q[1] != '\0' ? q + 1 : name;
}

const struct d_type *d_typedef_find(struct d_comp *c, const char *name)
{
	struct entry *e = c->types != NULL ? find(c->types, E_TYPEDEF, unscoped(name)) : NULL;

	return e != NULL ? e->type : NULL;
}

/* Is it an equivalent redeclaration? Headers declare int64_t and pid_t in their own ways. */
static bool same_again(const struct entry *old, const struct d_type *t)
{
	const struct d_type *a = d_base(old->type), *b = d_base(t);

	if (d_same(a, b))
		return true;
	return a->kind == T_INT && b->kind == T_INT && a->size == b->size &&
	       a->is_bool == b->is_bool && (old->basic || a->is_signed == b->is_signed);
}

/* Is the script itself being read, not a header or a D library? */
static bool own_text(const struct d_comp *c)
{
	return c->lex != NULL && !c->in_library && c->file != NULL && c->lex->file != NULL &&
	       strcmp(c->lex->file, c->file) == 0;
}

int d_typedef_add(struct d_comp *c, const char *name, const struct d_type *t)
{
	const struct entry *old = find(c->types, E_TYPEDEF, name);
	struct d_type *td;
	int line = c->lex != NULL ? c->lex->tok.line : 0,
	    col = c->lex != NULL ? c->lex->tok.col : 0;

	if (old != NULL) {
		if (!(own_text(c) && old->text == c->lex->src) && same_again(old, t))
			return 0;
		return d_error(
			c, D_DECL_IDRED, line, col, "type %s is already declared", name);
	}
	if (c->globals != NULL && d_name_find(c, c->globals, name) != NULL)
		return d_error(c, D_DECL_IDRED, line, col,
			"%s is already declared, and not as a type", name);
	td = d_alias(c, name, t);
	return td != NULL ? enter(c, E_TYPEDEF, name, td) : -1;
}

static enum entry_kind tag_kind(enum d_tkind kind)
{
	return kind == T_STRUCT ? E_STRUCT : kind == T_UNION ? E_UNION : E_ENUM;
}

struct d_type *d_tag_find(struct d_comp *c, enum d_tkind kind, const char *name)
{
	struct entry *e = find(c->types, tag_kind(kind), unscoped(name));

	return e != NULL ? e->type : NULL;
}

struct d_type *d_tag_add(struct d_comp *c, enum d_tkind kind, const char *name)
{
	struct d_type *t = d_type_new(c, kind);

	if (t == NULL)
		return NULL;
	t->name = unscoped(name);
	return enter(c, tag_kind(kind), t->name, t) == 0 ? t : NULL;
}

/* ---- queries -------------------------------------------------------------------------- */

const struct d_member *d_member(const struct d_type *t, const char *name, uint64_t *off)
{
	const struct d_member *m, *in;
	uint64_t o;

	t = d_base(t);
	if (t->kind != T_STRUCT && t->kind != T_UNION)
		return NULL;
	for (m = t->members; m != NULL; m = m->next) {
		if (m->name == NULL) {
			in = d_member(m->type, name, &o);
			if (in != NULL) {
				if (off != NULL)
					*off = m->off + o;
				return in;
			}
		} else if (strcmp(m->name, name) == 0) {
			if (off != NULL)
				*off = m->off;
			return m;
		}
	}
	return NULL;
}

static bool same(const struct d_type *a, const struct d_type *b, unsigned depth);

static bool same_params(const struct d_type *a, const struct d_type *b, unsigned depth)
{
	const struct d_member *m = a->members, *n = b->members;

	if (a->varargs != b->varargs || depth > D_MAX_DEPTH)
		return false;
	for (; m != NULL && n != NULL; m = m->next, n = n->next)
		if (!same(m->type, n->type, depth))
			return false;
	return m == NULL && n == NULL;
}

static bool same(const struct d_type *a, const struct d_type *b, unsigned depth)
{
	for (;;) {
		a = d_base(a);
		b = d_base(b);
		if (a == b)
			return true;
		if (a->kind != b->kind)
			return false;
		switch (a->kind) {
		case T_PTR: break;
		case T_ARRAY:
			if (a->nelems != b->nelems)
				return false;
			break;
		case T_FUNC:
			if (!same_params(a, b, depth + 1))
				return false;
			break;
		case T_SYMADDR:
		case T_INT:
		case T_FLOAT:
			return a->name != NULL && b->name != NULL && strcmp(a->name, b->name) == 0;
		case T_STRUCT:
		case T_UNION:
		case T_ENUM: return false; /* nominal types: not the same */
		default: return true;
		}
		a = a->ref;
		b = b->ref;
	}
}

bool d_same(const struct d_type *a, const struct d_type *b)
{
	return same(a, b, 0);
}

void d_types_each(struct d_comp *c, bool basic,
	void (*cb)(void *arg, const char *name, const struct d_type *t, bool tag), void *arg)
{
	const struct d_typetab *tab = c->types;

	for (size_t i = 0; i < tab->nlog; i++) {
		const struct entry *e = tab->log[i].added;

		if (e != NULL && e->basic == basic)
			cb(arg, e->name, e->type, e->kind != E_TYPEDEF);
	}
}
