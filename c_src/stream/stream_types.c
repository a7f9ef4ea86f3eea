/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The types of values, for print(). A type refers to others by number, forward too: a structure may
 * have a pointer to itself. What only names something else (typedef, array, pointer) ends after a
 * few steps.
 */
#include <errno.h>

#include "array.h"
#include "tables.h"

enum { DEEPEST = 64, MOST_TYPES = 1 << 20 };

uint32_t st_type_number(struct st_types *ts, const struct d_type *t)
{
	if (t == NULL)
		return 0;
	for (size_t i = 0; i < ts->n; i++)
		if (ts->v[i] == t)
			return (uint32_t)i + 1;
	if (!ARRAY_ROOM(ts->v, ts->n)) {
		ts->nomem = true;
		return 0;
	}
	ts->v[ts->n++] = t;
	return (uint32_t)ts->n;
}

enum {
	TY_SIGNED = 1,
	TY_CHAR = 2,
	TY_BOOL = 4,
	TY_COMPLETE = 8,
	TY_VARARGS = 16,
};

static void put_type(struct co_buf *b, struct st_types *ts, const struct d_type *t)
{
	uint32_t n = 0;

	sb_put8(b, (uint8_t)t->kind);
	sb_put8(b, t->quals);
	sb_put8(b, (uint8_t)((t->is_signed ? TY_SIGNED : 0) | (t->is_char ? TY_CHAR : 0) |
			     (t->is_bool ? TY_BOOL : 0) | (t->complete ? TY_COMPLETE : 0) |
			     (t->varargs ? TY_VARARGS : 0)));
	sb_put_text(b, t->name);
	sb_put64(b, t->size);
	sb_put32(b, t->align);
	sb_put32(b, st_type_number(ts, t->ref));
	sb_put64(b, t->nelems);
	for (const struct d_member *m = t->members; m != NULL; m = m->next)
		n++;
	sb_put32(b, n);
	for (const struct d_member *m = t->members; m != NULL; m = m->next) {
		sb_put_text(b, m->name);
		sb_put32(b, st_type_number(ts, m->type));
		sb_put64(b, m->off);
		sb_put8(b, m->bit_off);
		sb_put8(b, m->bit_width);
		sb_put64(b, (uint64_t)m->value);
	}
}

/* More of them may be found on the way. */
void st_put_types(struct co_buf *b, struct st_types *ts)
{
	size_t at = b->len;
	uint32_t n;

	sb_put32(b, 0);
	for (size_t i = 0; i < ts->n; i++)
		put_type(b, ts, ts->v[i]);
	n = (uint32_t)ts->n;
	if (!b->nomem)
		memcpy(b->p + at, &n, sizeof(n));
	b->nomem |= ts->nomem;
}

static const struct d_type *ref(struct sb *s, const struct st_type_table *ts)
{
	uint32_t n = sb_get32(s);

	if (n > ts->n)
		s->bad = true;
	return s->bad || n == 0 ? NULL : &ts->v[n - 1];
}

static void get_type(
	struct sb *s, struct st_type_table *ts, struct d_type *t, struct st_mem **mem, bool *nomem)
{
	struct d_member **end = &t->members;
	uint8_t kind = sb_get8(s), flags;
	uint32_t n;

	s->bad |= kind > T_TERM;
	t->kind = kind;
	t->quals = sb_get8(s);
	flags = sb_get8(s);
	t->is_signed = flags & TY_SIGNED;
	t->is_char = flags & TY_CHAR;
	t->is_bool = flags & TY_BOOL;
	t->complete = flags & TY_COMPLETE;
	t->varargs = flags & TY_VARARGS;
	t->name = st_text(mem, s, nomem);
	t->size = sb_get64(s);
	t->align = sb_get32(s);
	t->ref = ref(s, ts);
	t->nelems = sb_get64(s);
	n = sb_get_count(s, 26);
	for (uint32_t i = 0; i < n && !s->bad && !*nomem; i++) {
		struct d_member *m = st_alloc(mem, sizeof(*m));

		if (m == NULL) {
			*nomem = true;
			return;
		}
		m->name = st_text(mem, s, nomem);
		m->type = ref(s, ts);
		m->off = sb_get64(s);
		m->bit_off = sb_get8(s);
		m->bit_width = sb_get8(s);
		m->value = (int64_t)sb_get64(s);
		s->bad |= m->type == NULL && t->kind != T_ENUM;
		*end = m;
		end = &m->next;
	}
}

/* Those that stand for another have it, and that ends. */
static bool is_sound(const struct d_type *t)
{
	unsigned depth = 0;

	for (; t->kind == T_TYPEDEF || t->kind == T_ARRAY || t->kind == T_PTR || t->kind == T_FUNC;
		t = t->ref)
		if (t->ref == NULL || depth++ > DEEPEST)
			return false;
	return true;
}

int st_get_types(struct sb *s, struct st_type_table *ts, struct st_mem **mem)
{
	bool nomem = false;

	ts->n = sb_get_count(s, 35);
	if (s->bad || ts->n > MOST_TYPES)
		return -EINVAL;
	ts->v = st_alloc(mem, ts->n * sizeof(*ts->v));
	if (ts->v == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < ts->n && !s->bad && !nomem; i++)
		get_type(s, ts, &ts->v[i], mem, &nomem);
	for (uint32_t i = 0; i < ts->n && !s->bad && !nomem; i++)
		s->bad |= !is_sound(&ts->v[i]);
	return nomem ? -ENOMEM : s->bad ? -EINVAL : 0;
}
