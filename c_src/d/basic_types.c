/* SPDX-License-Identifier: Apache-2.0 */
/* The types that every compilation starts with: the basic ones and the usual typedefs. */
#include "lex.h"

#include <string.h>

static const struct d_type *basic(
	struct d_comp *c, enum d_tkind kind, const char *name, unsigned size, bool is_signed)
{
	struct d_type *t = d_type_new(c, kind);

	if (t == NULL)
		return NULL;
	t->name = name;
	t->size = size;
	t->align = size > 0 ? size : 1;
	t->is_signed = is_signed;
	return t;
}

static const struct d_type *basic_char(struct d_comp *c, const char *name, bool is_signed)
{
	struct d_type *t = (struct d_type *)basic(c, T_INT, name, 1, is_signed);

	if (t != NULL)
		t->is_char = true;
	return t;
}

static void basics(struct d_comp *c, struct d_basic *b)
{
	struct d_type *t;

	b->void_ = basic(c, T_VOID, "void", 0, false);
	b->char_ = basic_char(c, "char", true);
	b->schar = basic_char(c, "signed char", true);
	b->uchar = basic_char(c, "unsigned char", false);
	b->short_ = basic(c, T_INT, "short", 2, true);
	b->ushort = basic(c, T_INT, "unsigned short", 2, false);
	b->int_ = basic(c, T_INT, "int", 4, true);
	b->uint = basic(c, T_INT, "unsigned int", 4, false);
	b->long_ = basic(c, T_INT, "long", 8, true);
	b->ulong = basic(c, T_INT, "unsigned long", 8, false);
	b->llong = basic(c, T_INT, "long long", 8, true);
	b->ullong = basic(c, T_INT, "unsigned long long", 8, false);
	b->bool_ = basic(c, T_INT, "_Bool", 1, false);
	if (b->bool_ != NULL)
		((struct d_type *)b->bool_)->is_bool = true;
	b->float_ = basic(c, T_FLOAT, "float", 4, true);
	b->double_ = basic(c, T_FLOAT, "double", 8, true);
	b->ldouble = basic(c, T_FLOAT, "long double", 16, true);
	t = (struct d_type *)basic(c, T_STRING, "string",
		c->opts != NULL ? d_str_bytes(c->opts) : 257, false);
	if (t != NULL)
		t->align = 1;
	b->string = t;
	b->stack = basic(c, T_STACK, "stack", 0, false);
	b->symaddr = basic(c, T_SYMADDR, "_symaddr", 8, false);
	b->usymaddr = basic(c, T_SYMADDR, "_usymaddr", 8, false);
	b->dyn = basic(c, T_DYN, "<dynamic>", 0, false);
	b->term = basic(c, T_TERM, "term_t", 8, false);
	if (c->error.tag[0] != '\0')
		return;
	b->void_ptr = d_ptr_to(c, b->void_);
	b->char_ptr = d_ptr_to(c, b->char_);
}

static int typedefs(struct d_comp *c)
{
	const struct d_basic *b = &c->t;
	const struct {
		const char *name;
		const struct d_type *t;
	} list[] = {
		{"int8_t", b->schar}, {"int16_t", b->short_}, {"int32_t", b->int_},
		{"int64_t", b->long_}, {"uint8_t", b->uchar}, {"uint16_t", b->ushort},
		{"uint32_t", b->uint}, {"uint64_t", b->ulong}, {"intptr_t", b->long_},
		{"uintptr_t", b->ulong}, {"size_t", b->ulong}, {"ssize_t", b->long_},
		{"ptrdiff_t", b->long_}, {"uchar_t", b->uchar}, {"ushort_t", b->ushort},
		{"uint", b->uint}, {"uint_t", b->uint}, {"ulong_t", b->ulong},
		{"longlong_t", b->llong},
		{"u_longlong_t", b->ullong}, {"id_t", b->int_}, {"pid_t", b->int_},
		{"uid_t", b->uint}, {"gid_t", b->uint}, {"stack", b->stack},
		{"_symaddr", b->symaddr}, {"_usymaddr", b->usymaddr}, {"term_t", b->term},
		{"__builtin_va_list", b->char_ptr}, /* used by headers of the C library */
	};

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (d_typedef_add(c, list[i].name, list[i].t) != 0)
			return -1;
	return 0;
}

int d_types_init(struct d_comp *c)
{
	struct d_basic *b = &c->t;

	if (d_typetab_new(c) != 0)
		return -1;
	basics(c, b);
	if (c->error.tag[0] != '\0' || typedefs(c) != 0)
		return -1;
	b->i8 = d_typedef_find(c, "int8_t");
	b->i16 = d_typedef_find(c, "int16_t");
	b->i32 = d_typedef_find(c, "int32_t");
	b->i64 = d_typedef_find(c, "int64_t");
	b->u8 = d_typedef_find(c, "uint8_t");
	b->u16 = d_typedef_find(c, "uint16_t");
	b->u32 = d_typedef_find(c, "uint32_t");
	b->u64 = d_typedef_find(c, "uint64_t");
	b->uintptr = d_typedef_find(c, "uintptr_t");
	return 0;
}
