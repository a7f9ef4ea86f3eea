/* SPDX-License-Identifier: Apache-2.0 */
/*
 * print(): a value by its type.
 *
 *	struct point {
 *	    int x = 0x1
 *	    char [8] name = [ "origin" ]
 *	    struct pair p = {
 *	        uint_t a :3 = 0x5
 *	    }
 *	}
 *
 * Integers are hexadecimal, characters quoted, enums by name where they have one. No more than
 * printsize bytes of the value are shown; "..." stands for the rest. Types come from the
 * compiler; the bytes come from anywhere, and are never read past their end.
 */
#include "consumer.h"

#include <string.h>

#include "datum.h"
#include "print_value.h"

#define MAX_DEPTH 32

struct pr {
	struct co *co;
	struct co_buf *b;
	const uint8_t *p; /* the whole value */
	size_t len;	  /* of it that may be shown */
};

static void pr_type(struct pr *pr, const struct d_type *t, uint64_t off, unsigned depth);

/* char itself: uint8_t and its like are numbers. */
static bool is_text(const struct d_type *t)
{
	return t->is_char && t->size == 1 && t->name != NULL && strcmp(t->name, "char") == 0;
}

static bool is_composite(const struct d_type *t)
{
	return t->kind == T_STRUCT || t->kind == T_UNION;
}

/* "int " or "char *": what stands before a name or a value. */
static void pr_name(struct pr *pr, const struct d_type *t)
{
	char name[256];
	size_t n;

	d_type_name(t, name, sizeof(name));
	n = strlen(name);
	cb_str(pr->b, name);
	if (n == 0 || name[n - 1] != '*')
		cb_str(pr->b, " ");
}

static uint64_t load(struct pr *pr, uint64_t off, uint64_t size)
{
	uint64_t v = 0;

	memcpy(&v, pr->p + off, size < 8 ? size : 8);
	return v;
}

static void pr_int(struct pr *pr, const struct d_type *t, uint64_t v)
{
	const struct d_member *m;
	char c = (char)v;

	if (t->kind == T_ENUM) {
		int64_t n = t->size == 4 ? (int64_t)(int32_t)v : (int64_t)v;

		for (m = t->members; m != NULL; m = m->next)
			if (m->value == n && m->name != NULL) {
				cb_str(pr->b, m->name);
				return;
			}
		cb_fmt(pr->b, "%lld", (long long)n);
	} else if (is_text(t)) {
		cb_str(pr->b, "'");
		if (c == '"')
			cb_str(pr->b, "\"");
		else
			cb_escaped(pr->b, &c, 1);
		cb_str(pr->b, "'");
	} else {
		cb_fmt(pr->b, "%#llx", (unsigned long long)v);
	}
}

static void pr_float(struct pr *pr, const struct d_type *t, uint64_t off)
{
	struct prog_val pv = {.kind = V_FLOAT, .size = (uint32_t)t->size};
	struct co_val v = {.v = &pv, .p = pr->p + off, .len = t->size};

	cb_fmt(pr->b, "%+.*Le", t->size == 4 ? 7 : t->size == 8 ? 13 : 16, cv_float(&v));
}

static void pr_text(struct pr *pr, uint64_t off, uint64_t size)
{
	const uint8_t *p = pr->p + off, *nul;

	size = size > pr->len - off ? pr->len - off : size;
	nul = size ? memchr(p, 0, size) : NULL;
	cb_str(pr->b, "\"");
	cb_escaped(pr->b, p, nul ? (size_t)(nul - p) : size);
	cb_str(pr->b, "\"");
}

static void pr_array(struct pr *pr, const struct d_type *t, uint64_t off, unsigned depth)
{
	const struct d_type *el = d_base(t->ref);
	bool lines = is_composite(el) || el->kind == T_ARRAY;
	uint64_t i;

	if (is_text(el)) {
		cb_str(pr->b, "[ ");
		pr_text(pr, off, t->nelems);
		cb_str(pr->b, " ]");
		return;
	}
	cb_str(pr->b, lines ? "[\n" : "[ ");
	for (i = 0; i < t->nelems && el->size != 0; i++) {
		if (i && !lines)
			cb_str(pr->b, ", ");
		if (lines)
			cb_fill(pr->b, ' ', ((size_t)depth + 1) * 4);
		if (lines && is_composite(el))
			pr_name(pr, t->ref);
		if (off + i * el->size >= pr->len || el->size > pr->len - off - i * el->size) {
			cb_str(pr->b, lines ? "...\n" : "...");
			break;
		}
		pr_type(pr, t->ref, off + i * el->size, depth + 1);
		if (lines)
			cb_str(pr->b, i + 1 < t->nelems ? ",\n" : "\n");
	}
	if (lines)
		cb_fill(pr->b, ' ', (size_t)depth * 4);
	cb_str(pr->b, lines ? "]" : " ]");
}

/* So many bits of v, as a number without a sign. */
static void pr_bits(struct pr *pr, const struct d_type *t, uint64_t v, unsigned bits)
{
	pr_int(pr, t, bits < 64 ? v & ((UINT64_C(1) << bits) - 1) : v);
}

/* Is it not as if it were an integer of that size? */
static bool is_odd(const struct d_member *m)
{
	return m->bit_off % 8 != 0 || m->bit_width < 8 || (m->bit_width & (m->bit_width - 1)) != 0;
}

static void pr_members(struct pr *pr, const struct d_type *t, uint64_t off, unsigned depth)
{
	const struct d_member *m;

	cb_str(pr->b, "{\n");
	for (m = t->members; m != NULL; m = m->next) {
		const struct d_type *mt = d_base(m->type);

		cb_fill(pr->b, ' ', ((size_t)depth + 1) * 4);
		if (off > pr->len || m->off > pr->len - off || mt->size > pr->len - off - m->off) {
			if (mt->kind != T_ARRAY || m->off >= pr->len - off) {
				cb_str(pr->b, "...\n");
				break;
			}
		}
		pr_name(pr, m->type);
		if (m->name != NULL)
			cb_str(pr->b, m->name);
		if (m->bit_width && is_odd(m))
			cb_fmt(pr->b, " :%u", m->bit_width);
		if (m->name != NULL || m->bit_width)
			cb_str(pr->b, " = ");
		if (m->bit_width)
			pr_bits(pr, mt, load(pr, off + m->off, mt->size) >> (m->bit_off & 63),
				m->bit_width);
		else
			pr_type(pr, m->type, off + m->off, depth + 1);
		cb_str(pr->b, "\n");
	}
	cb_fill(pr->b, ' ', (size_t)depth * 4);
	cb_str(pr->b, "}");
}

/* The value alone; its type's name is the caller's. off and size are within the value, but for
 * arrays, which look themselves. */
static void pr_type(struct pr *pr, const struct d_type *type, uint64_t off, unsigned depth)
{
	const struct d_type *t = d_base(type);

	if (depth > MAX_DEPTH) {
		cb_str(pr->b, "...");
		return;
	}
	switch (t->kind) {
	case T_STRUCT:
	case T_UNION: pr_members(pr, t, off, depth); break;
	case T_ARRAY: pr_array(pr, t, off, depth); break;
	case T_STRING: pr_text(pr, off, t->size); break;
	case T_FLOAT: pr_float(pr, t, off); break;
	case T_VOID: cb_str(pr->b, "?"); break; /* of a type that D does not have */
	case T_INT:
	case T_ENUM: pr_int(pr, t, load(pr, off, t->size)); break;
	default: cb_fmt(pr->b, "%#llx", (unsigned long long)load(pr, off, t->size)); break;
	}
}

void pr_value(struct co *co, struct co_buf *b, const struct co_val *v)
{
	struct pr pr = {.co = co, .b = b, .p = v->p, .len = v->len};
	const struct d_type *t = v->v->type ? d_base(v->v->type) : NULL;
	char name[256];
	uint8_t raw[8];

	if (v->v->kind == V_STACK || v->v->kind == V_SYM || t == NULL) {
		da_trace(co, b, v, true);
		cb_str(b, "\n");
		return;
	}
	if (v->v->kind == V_INT) {
		memcpy(raw, &v->i, 8);
		pr.p = raw;
		pr.len = v->v->size < 8 ? v->v->size : 8;
	}
	cb_str(b, d_type_name(v->v->type, name, sizeof(name)));
	cb_str(b, " ");
	if (v->v->kind == V_INT && v->v->sub != 0) {
		pr_bits(&pr, t, (uint64_t)v->i, v->v->sub);
	} else if (v->v->kind == V_STR) {
		cb_str(b, "\"");
		cb_escaped(b, v->p, v->len);
		cb_str(b, "\"");
	} else if (t->kind == T_ARRAY || is_composite(t) || t->size <= pr.len) {
		if (co_opt(co, OPT_PRINTSIZE) < pr.len && v->v->kind == V_BYTES)
			pr.len = (size_t)co_opt(co, OPT_PRINTSIZE);
		pr_type(&pr, v->v->type, 0, 0);
	}
	cb_str(b, "\n");
}
