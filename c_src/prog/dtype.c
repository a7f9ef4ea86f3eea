/* SPDX-License-Identifier: Apache-2.0 */
/* What a type is, and its name as C writes it. */
#include "dtype.h"

#include <stdio.h>

#include <string.h>

/* ---- kinds of types --------------------------------------------------------------- */

const struct d_type *d_base(const struct d_type *t)
{
	while (t->kind == T_TYPEDEF)
		t = t->ref;
	return t;
}

bool d_is_byref(const struct d_type *t)
{
	switch (d_base(t)->kind) {
	case T_STRUCT:
	case T_UNION:
	case T_ARRAY:
	case T_FLOAT:
	case T_STACK:
	case T_SYMADDR: return true;
	default: return false;
	}
}

bool d_is_signed(const struct d_type *t)
{
	return d_is_int(t) && d_base(t)->is_signed;
}

/* ---- a type as text ------------------------------------------------------------------- */

/* The declarator is built from the name outwards, at both ends. */
struct decltext {
	char s[512];
	size_t from, to;
};

static void before(struct decltext *d, const char *s)
{
	size_t n = strlen(s);

	if (n > d->from)
		return;
	d->from -= n;
	memcpy(d->s + d->from, s, n);
}

static void after(struct decltext *d, const char *s)
{
	size_t n = strlen(s);

	if (n > sizeof(d->s) - d->to)
		return;
	memcpy(d->s + d->to, s, n);
	d->to += n;
}

static void name_of(const struct d_type *t, char *buf, size_t size, unsigned depth);

static void params_of(const struct d_type *t, struct decltext *d, unsigned depth)
{
	const struct d_member *m;
	char buf[128];

	after(d, "(");
	for (m = t->members; m != NULL; m = m->next) {
		name_of(m->type, buf, sizeof(buf), depth + 1);
		after(d, buf);
		if (m->next != NULL || t->varargs)
			after(d, ", ");
	}
	after(d, t->varargs ? "...)" : t->members == NULL ? "void)" : ")");
}

static const char *quals_of(unsigned q)
{
	static const char *const names[] = {"", "const", "volatile", "const volatile", "restrict",
		"const restrict", "volatile restrict", "const volatile restrict"};

	return names[q & 7];
}

static const char *base_name(const struct d_type *t, const char **tag)
{
	*tag = t->name != NULL ? t->name : "<anonymous>";
	switch (t->kind) {
	case T_STRUCT: return "struct ";
	case T_UNION: return "union ";
	case T_ENUM: return "enum ";
	case T_VOID: *tag = "void"; return "";
	default: return "";
	}
}

static void name_of(const struct d_type *t, char *buf, size_t size, unsigned depth)
{
	struct decltext d = {.from = 128, .to = 128};
	const char *tag, *kind, *q;
	unsigned quals = 0;
	char num[32];

	if (depth > 4) {
		snprintf(buf, size, "...");
		return;
	}
	for (;; t = t->ref) {
		if (t->kind == T_TYPEDEF && t->name == NULL) {
			quals |= t->quals;
			continue;
		}
		if (t->kind == T_PTR) {
			if (quals != 0) {
				if (d.to > d.from && d.s[d.from] != '[' && d.s[d.from] != '(')
					before(&d, " ");
				before(&d, quals_of(quals));
			}
			before(&d, "*");
			quals = 0;
			continue;
		}
		if (t->kind != T_ARRAY && t->kind != T_FUNC)
			break;
		if (d.to > d.from && d.s[d.from] == '*') {
			before(&d, "(");
			after(&d, ")");
		}
		if (t->kind == T_ARRAY) {
			snprintf(num, sizeof(num), "[%llu]", (unsigned long long)t->nelems);
			after(&d, t->nelems > 0 ? num : "[]");
		} else {
			params_of(t, &d, depth);
		}
	}
	kind = base_name(t, &tag);
	q = quals_of(quals);
	snprintf(buf, size, "%s%s%s%s%s%.*s", q, *q != '\0' ? " " : "", kind, tag,
		d.to > d.from ? " " : "", (int)(d.to - d.from), d.s + d.from);
}

char *d_type_name(const struct d_type *t, char *buf, size_t size)
{
	if (size > 0)
		name_of(t, buf, size, 0);
	return buf;
}
