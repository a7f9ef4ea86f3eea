/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbol tables: a hash table with chaining, and a list in order of insertion. A name may be
 * entered again (the parameter of an inline hides a variable): look-ups find the newest. Since the
 * newest name is first in its chain, removing what was added since a mark pops chain heads; so
 * undoing a failed compilation, or ending a scope, costs no more than what it added.
 */
#include <string.h>

#include "d.h"

struct d_idtab {
	struct arena *arena;
	struct d_ident **buckets; /* nbuckets, a power of two */
	struct d_ident **order;	  /* n used of cap */
	size_t nbuckets, n, cap;
};

static size_t hash(const char *s)
{
	uint32_t h = 2166136261u; /* FNV-1a */

	for (; *s; s++)
		h = (h ^ (uint8_t)*s) * 16777619u;
	return h;
}

static void link_in(struct d_idtab *t, struct d_ident *id)
{
	struct d_ident **head = &t->buckets[hash(id->name) & (t->nbuckets - 1)];

	id->next = *head;
	*head = id;
}

struct d_idtab *d_idtab_new(struct d_comp *c)
{
	struct d_idtab *t = arena_new_of(c->arena, struct d_idtab);

	if (!t)
		return NULL;
	t->arena = c->arena;
	t->nbuckets = 32;
	t->buckets = arena_alloc(c->arena, t->nbuckets * sizeof(*t->buckets));
	t->cap = 32;
	t->order = arena_alloc(c->arena, t->cap * sizeof(*t->order));
	return t->buckets && t->order ? t : NULL;
}

struct d_ident *d_ident_find(const struct d_idtab *t, const char *name)
{
	struct d_ident *id = t->buckets[hash(name) & (t->nbuckets - 1)];

	while (id && strcmp(id->name, name))
		id = id->next;
	return id;
}

struct d_ident *d_name_find(const struct d_comp *c, const struct d_idtab *t, const char *name)
{
	struct d_ident *id = d_ident_find(t, name);
	uint64_t n = c->opts->val[OPT_VERSION];

	if (id && id->builtin && n > 0 && !c->in_library &&
		d_builtin_is_later(id->builtin, c->opts->str[OPT_VERSION][n - 1]))
		return NULL;
	return id;
}

/* Double the table. The old arrays stay in the arena; in all they are as large as the new. */
static int grow(struct d_idtab *t)
{
	struct d_ident **order = arena_alloc(t->arena, 2 * t->cap * sizeof(*order));
	struct d_ident **buckets = arena_alloc(t->arena, 2 * t->nbuckets * sizeof(*buckets));

	if (!order || !buckets)
		return -1;
	memcpy(order, t->order, t->n * sizeof(*order));
	t->order = order;
	t->cap *= 2;
	t->buckets = buckets;
	t->nbuckets *= 2;
	for (size_t i = 0; i < t->n; i++) /* oldest first, so that the newest ends up at the head */
		link_in(t, order[i]);
	return 0;
}

struct d_ident *d_ident_add(
	struct d_comp *c, struct d_idtab *t, const char *name, enum d_idkind kind)
{
	struct d_ident *id = arena_new_of(c->arena, struct d_ident);

	if (!id || (t->n == t->cap && grow(t)))
		return NULL;
	id->name = arena_strdup(c->arena, name, strlen(name));
	if (!id->name)
		return NULL;
	id->kind = kind;
	id->id = UINT16_MAX;
	id->file = c->file;
	link_in(t, id);
	t->order[t->n++] = id;
	return id;
}

int d_ident_enter(struct d_idtab *t, struct d_ident *id)
{
	if (t->n == t->cap && grow(t))
		return -1;
	link_in(t, id);
	t->order[t->n++] = id;
	return 0;
}

size_t d_idtab_mark(const struct d_idtab *t)
{
	return t->n;
}

void d_idtab_undo(struct d_idtab *t, size_t mark)
{
	while (t->n > mark) {
		struct d_ident *id = t->order[--t->n];

		t->buckets[hash(id->name) & (t->nbuckets - 1)] = id->next;
	}
}

void d_idtab_each(const struct d_idtab *t, void (*cb)(void *, struct d_ident *), void *arg)
{
	for (size_t i = 0; i < t->n; i++)
		cb(arg, t->order[i]);
}
