/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types that neither the script nor a library defines, from the running kernel (c_src/btf/). A
 * struct, union or enum of which only the name is known is completed when somebody needs to know
 * more: d_complete(). The kernel's names are the script's too: struct task_struct is one type,
 * whoever names it first. Where the kernel has several of one name, the others are types of their
 * own.
 *
 * What a structure contains is completed with it; what it points to is not. A member whose type D
 * does not have is void, so that using it is an error.
 */
#include "lex.h"

#include <linux/btf.h>
#include <string.h>

#include "btf/btf.h"

enum { KIND_TYPE_TAG = 18, KIND_ENUM64 = 19 }; /* newer than the headers may be */
enum { DEEPEST = 32 };			       /* types in types */

/* A type that has no name, or one that another has too. */
struct other {
	struct btf_at at;
	struct d_type *type;
	struct other *next;
};

/* What one is in the middle of: a broken file may have structures that contain themselves. */
struct open_type {
	const struct d_type *type;
	const struct open_type *outer;
};

struct d_kernel {
	struct btf *btf; /* NULL: there is none */
	const char *why; /* that is so; "" */
	struct other *others;
};

static const struct d_type *convert(
	struct d_comp *c, struct btf_at at, bool value, const struct open_type *in, unsigned depth);
static bool complete(struct d_comp *c, struct d_type *t, struct btf_at at,
	const struct open_type *in, unsigned depth);

/* ---- opening --------------------------------------------------------------------------- */

static struct d_kernel *kernel(struct d_comp *c)
{
	struct et_error e = {.tag = ""};
	struct d_kernel *k = c->kernel;

	if (k != NULL)
		return k;
	k = c->kernel = arena_new_of(c->arena, struct d_kernel);
	if (k == NULL)
		return NULL;
	k->why = "";
	if (c->opts->inside)
		k->why = "types of the kernel are not known inside a node";
	else if ((k->btf = btf_open(&e)) == NULL)
		k->why = arena_printf(c->arena, "%s", e.text) ?: "";
	return k;
}

void d_kernel_close(struct d_comp *c)
{
	if (c->kernel != NULL)
		btf_close(c->kernel->btf);
	c->kernel = NULL;
}

struct btf *d_kernel_btf(struct d_comp *c)
{
	const struct d_kernel *k = kernel(c);

	return k != NULL ? k->btf : NULL;
}

const char *d_kernel_why(struct d_comp *c)
{
	const struct d_kernel *k = kernel(c);

	return k != NULL && k->btf == NULL ? k->why : "the kernel has none of this name";
}

/* ---- types that D has ------------------------------------------------------------------ */

static const struct d_type *int_type(const struct d_basic *b, const struct btf_view *v)
{
	bool sign = v->is_signed;

	switch (v->size) {
	case 1: return v->is_bool ? b->bool_ : v->is_char ? b->char_ : sign ? b->schar : b->uchar;
	case 2: return sign ? b->short_ : b->ushort;
	case 4: return sign ? b->int_ : b->uint;
	case 8:
		if (strstr(v->name, "long long") != NULL)
			return sign ? b->llong : b->ullong;
		return sign ? b->long_ : b->ulong;
	default: return NULL;
	}
}

static const struct d_type *float_type(const struct d_basic *b, const struct btf_view *v)
{
	return v->size == 4    ? b->float_
	       : v->size == 8  ? b->double_
	       : v->size == 16 ? b->ldouble
			       : NULL;
}

static enum d_tkind kind_of(const struct btf_view *v)
{
	switch (v->kind) {
	case BTF_KIND_STRUCT: return T_STRUCT;
	case BTF_KIND_UNION: return T_UNION;
	case BTF_KIND_FWD: return v->is_union ? T_UNION : T_STRUCT;
	default: return T_ENUM;
	}
}

static struct d_type *tag(struct d_comp *c, enum d_tkind kind, const char *name)
{
	struct d_type *t = d_tag_find(c, kind, name);

	return t != NULL ? t : d_tag_add(c, kind, name);
}

/* Is it the one that its name means? */
static bool is_first(struct d_comp *c, struct btf_at at, const struct btf_view *v)
{
	const struct btf_file *vmlinux = btf_file_at(c->kernel->btf, 0);
	struct btf_at first;

	if (v->name[0] == '\0')
		return false;
	if (at.file != vmlinux && btf_find_in(vmlinux, v->name, BTF_A(v->kind), &first))
		return false;
	return btf_find_in(at.file, v->name, BTF_A(v->kind), &first) && btf_same(first, at);
}

/* A struct, union or enum, complete or not. value: its size is to be the kernel's. */
static const struct d_type *named(
	struct d_comp *c, struct btf_at at, const struct btf_view *v, bool value)
{
	struct d_type *t;
	struct other *o;

	if (is_first(c, at, v)) {
		t = tag(c, kind_of(v), v->name);
		if (t == NULL || !(value && t->complete && t->size != v->size)) {
			if (t != NULL && !t->complete)
				*d_type_origin(t) = at;
			return t;
		}
	}
	for (o = c->kernel->others; o != NULL; o = o->next)
		if (btf_same(o->at, at))
			return o->type;
	t = d_type_new(c, kind_of(v));
	o = arena_new_of(c->arena, struct other);
	if (t == NULL || o == NULL)
		return NULL;
	t->name = v->name[0] != '\0' ? v->name : NULL;
	*d_type_origin(t) = at;
	*o = (struct other){at, t, c->kernel->others};
	c->kernel->others = o;
	return t;
}

/* One that a structure or an array contains. */
static const struct d_type *content(
	struct d_comp *c, struct btf_at at, const struct open_type *in, unsigned depth)
{
	const struct d_type *t = convert(c, at, true, in, depth + 1);
	struct d_type *b = t != NULL ? (struct d_type *)d_base(t) : NULL;

	if (b == NULL)
		return NULL;
	if (b->kind != T_STRUCT && b->kind != T_UNION && b->kind != T_ENUM)
		return t;
	return b->complete || complete(c, b, *d_type_origin(b), in, depth + 1) ? t : NULL;
}

static const struct d_type *function(
	struct d_comp *c, struct btf_at at, const struct btf_view *v, unsigned depth)
{
	struct d_type *f = d_type_new(c, T_FUNC);
	struct d_member **next = f != NULL ? &f->members : NULL;
	struct btf_item p;

	if (f == NULL)
		return NULL;
	f->ref = convert(c, v->ref, false, NULL, depth + 1) ?: c->t.void_;
	for (unsigned i = 0; btf_item(at, i, &p); i++) {
		struct d_member *m;

		if (p.type.id == 0 && p.name[0] == '\0') {
			f->varargs = true;
			break;
		}
		m = arena_new_of(c->arena, struct d_member);
		if (m == NULL)
			return NULL;
		m->type = convert(c, p.type, false, NULL, depth + 1) ?: c->t.void_ptr;
		*next = m;
		next = &m->next;
	}
	return f;
}

static const struct d_type *array(
	struct d_comp *c, const struct btf_view *v, const struct open_type *in, unsigned depth)
{
	const struct d_type *t = content(c, v->ref, in, depth);

	if (t == NULL || d_is_kind(t, T_VOID) || d_is_kind(t, T_FUNC))
		return NULL;
	return d_array_of(c, t, v->nelems);
}

/* NULL: D has no such type. */
static const struct d_type *convert(
	struct d_comp *c, struct btf_at at, bool value, const struct open_type *in, unsigned depth)
{
	const struct d_type *t;
	struct btf_view v;

	if (at.id == 0)
		return c->t.void_;
	if (depth > DEEPEST || !btf_view(at, &v))
		return NULL;
	switch (v.kind) {
	case BTF_KIND_INT: return int_type(&c->t, &v);
	case BTF_KIND_FLOAT: return float_type(&c->t, &v);
	case BTF_KIND_PTR:
		t = convert(c, v.ref, false, NULL, depth + 1);
		return t != NULL ? d_ptr_to(c, t) : c->t.void_ptr;
	case BTF_KIND_ARRAY: return array(c, &v, in, depth);
	case BTF_KIND_FWD: return v.name[0] != '\0' ? tag(c, kind_of(&v), v.name) : NULL;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_ENUM:
	case KIND_ENUM64: return named(c, at, &v, value);
	case BTF_KIND_FUNC_PROTO: return function(c, at, &v, depth);
	}
	t = convert(c, v.ref, value, in, depth + 1);
	if (t == NULL)
		return NULL;
	switch (v.kind) {
	case BTF_KIND_TYPEDEF: return d_alias(c, v.name, t);
	case BTF_KIND_CONST: return d_qualified(c, t, TQ_CONST);
	case BTF_KIND_VOLATILE: return d_qualified(c, t, TQ_VOLATILE);
	default: return t;
	}
}

/* ---- what a structure has -------------------------------------------------------------- */

/*
 * A bit-field, as D has it: a number of the type's size is read, at a multiple of that size, of
 * which some bits count. In a packed structure one may lie across such a boundary: D cannot read
 * that.
 */
static bool place_bits(struct d_member *m, uint64_t bit, unsigned width)
{
	uint64_t unit = d_base(m->type)->size * 8, at;

	if (!d_is_int(m->type) || width > unit)
		return false;
	at = bit / unit * unit;
	if (bit + width > at + unit)
		return false;
	m->off = at / 8;
	m->bit_off = (uint8_t)(bit - at);
	m->bit_width = (uint8_t)width;
	return true;
}

/* Compilers of long ago had bit-fields as integers of fewer bits. */
static unsigned width_of(const struct btf_item *item, uint64_t *bit)
{
	struct btf_view v;

	*bit = item->bit_off;
	if (item->bits != 0 || !btf_view(btf_plain(item->type), &v) || v.kind != BTF_KIND_INT ||
		v.bits == v.size * 8 || v.is_bool)
		return item->bits;
	*bit += v.bit_off;
	return v.bits;
}

static struct d_member *member(struct d_comp *c, const struct btf_item *item, uint64_t size,
	const struct open_type *in, unsigned depth)
{
	struct d_member *m = arena_new_of(c->arena, struct d_member);
	uint64_t bit;
	unsigned width = width_of(item, &bit);

	if (m == NULL)
		return NULL;
	m->name = item->name[0] != '\0' ? item->name : NULL;
	m->type = content(c, item->type, in, depth);
	m->off = bit / 8;
	if (m->type == NULL || d_is_kind(m->type, T_FUNC) ||
		(width != 0 && !place_bits(m, bit, width)) || m->off > size ||
		d_base(m->type)->size > size - m->off)
		m->type = c->t.void_; /* D has no such member */
	return m;
}

/* Names that are not needed are numbers: one without is no enumerator of D. */
static struct d_member *enumerator(struct d_comp *c, const struct btf_item *item)
{
	struct d_member *m = arena_new_of(c->arena, struct d_member);

	if (m == NULL)
		return NULL;
	m->name = item->name;
	m->type = c->t.int_;
	m->value = item->value;
	return m;
}

static bool is_open(const struct open_type *in, const struct d_type *t)
{
	for (; in != NULL; in = in->outer)
		if (in->type == t)
			return true;
	return false;
}

static bool complete(struct d_comp *c, struct d_type *t, struct btf_at at,
	const struct open_type *in, unsigned depth)
{
	struct open_type here = {t, in};
	struct d_member *list = NULL, **next = &list;
	uint32_t align = 1, of;
	struct btf_item item;
	struct btf_view v;

	if (at.file == NULL || depth > DEEPEST || is_open(in, t) || !btf_view(at, &v))
		return false;
	for (unsigned i = 0; btf_item(at, i, &item); i++) {
		*next = t->kind == T_ENUM ? enumerator(c, &item)
					  : member(c, &item, v.size, &here, depth);
		if (*next == NULL)
			return false;
		of = t->kind == T_ENUM ? (uint32_t)v.size : d_base((*next)->type)->align;
		if (of > align && v.size % of == 0)
			align = of;
		next = &(*next)->next;
	}
	if (t->kind == T_ENUM)
		t->is_signed = v.is_signed;
	return d_type_complete(c, t, list, v.size, align) == 0;
}

bool d_complete(struct d_comp *c, const struct d_type *type)
{
	struct d_type *t = (struct d_type *)d_base(type);
	struct btf_at at;
	uint32_t kinds;

	if (t->complete || (t->kind != T_STRUCT && t->kind != T_UNION && t->kind != T_ENUM))
		return true;
	if (d_type_is_open(t) || d_kernel_btf(c) == NULL)
		return false;
	at = *d_type_origin(t);
	kinds = t->kind == T_STRUCT  ? BTF_A(BTF_KIND_STRUCT)
		: t->kind == T_UNION ? BTF_A(BTF_KIND_UNION)
				     : BTF_A(BTF_KIND_ENUM) | BTF_A(KIND_ENUM64);
	if (at.file == NULL &&
		(t->name == NULL || !btf_find(c->kernel->btf, NULL, t->name, kinds, &at)))
		return false;
	return complete(c, t, at, NULL, 0);
}

/* ---- names ----------------------------------------------------------------------------- */

const struct d_type *d_kernel_typedef(struct d_comp *c, const char *name)
{
	struct btf_at at;

	if (c->in_library || d_kernel_btf(c) == NULL ||
		!btf_find(c->kernel->btf, NULL, name, BTF_A(BTF_KIND_TYPEDEF), &at))
		return NULL;
	return convert(c, at, true, NULL, 0);
}

const struct d_type *d_kernel_variable(
	struct d_comp *c, const char *module, const char *name, bool *per_cpu)
{
	struct btf_at at;
	struct btf_view v;

	if (d_kernel_btf(c) == NULL ||
		!btf_find(c->kernel->btf, module, name, BTF_A(BTF_KIND_VAR) | BTF_A(BTF_KIND_FUNC),
			&at) ||
		!btf_view(at, &v))
		return NULL;
	*per_cpu = btf_is_per_cpu(at);
	return content(c, v.ref, NULL, 0);
}

struct wanted {
	const char *name;
	int64_t value;
	struct btf_at at;
};

static bool has_enumerator(void *arg, struct btf_at at, const char *name)
{
	struct wanted *w = arg;
	struct btf_item item;

	(void)name;
	for (unsigned i = 0; btf_item(at, i, &item); i++)
		if (strcmp(item.name, w->name) == 0) {
			w->value = item.value;
			w->at = at;
			return false;
		}
	return true;
}

const struct d_type *d_kernel_enumerator(struct d_comp *c, const char *name, int64_t *value)
{
	struct wanted w = {.name = name};
	const struct d_type *t;

	if (d_kernel_btf(c) == NULL)
		return NULL;
	btf_each(btf_file_at(c->kernel->btf, 0), BTF_A(BTF_KIND_ENUM) | BTF_A(KIND_ENUM64),
		has_enumerator, &w);
	if (w.at.file == NULL)
		return NULL;
	*value = w.value;
	t = convert(c, w.at, true, NULL, 0);
	return t != NULL && d_complete(c, t) ? t : c->t.i64;
}
