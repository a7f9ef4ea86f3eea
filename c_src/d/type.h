/* SPDX-License-Identifier: Apache-2.0 */
/*
 * D's types, which the compiler allocates in its arena. They live as long as the handle and are
 * immutable once complete (a forward struct is completed in place). Data model: LP64.
 */
#ifndef D_TYPE_H
#define D_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prog/dtype.h"

struct d_comp;

/* The basic types of a compiler: c->t.i32 and so on. */
struct d_basic {
	const struct d_type *void_, *char_, *schar, *uchar, *short_, *ushort, *int_, *uint, *long_,
		*ulong, *llong, *ullong, *bool_, *float_, *double_, *ldouble;
	const struct d_type *i8, *i16, *i32, *i64, *u8, *u16, *u32, *u64; /* typedefs intN_t */
	const struct d_type *uintptr, *string, *stack, *symaddr, *usymaddr, *dyn, *term;
	const struct d_type *void_ptr, *char_ptr;
};

int d_types_init(struct d_comp *c); /* basic types and the usual typedefs (D.md's list) */

const struct d_type *d_ptr_to(struct d_comp *c, const struct d_type *t);
const struct d_type *d_array_of(struct d_comp *c, const struct d_type *t, uint64_t n);
const struct d_type *d_qualified(struct d_comp *c, const struct d_type *t, unsigned quals);
const struct d_member *d_member(const struct d_type *t, const char *name, uint64_t *off);
/* Same type up to names of typedefs. */
bool d_same(const struct d_type *a, const struct d_type *b);

/*
 * kernel_types.c: where a script, its headers and the libraries have no type, the kernel may. Are
 * the members of this one known, now that somebody needs them? Else d_kernel_why() says why not.
 */
bool d_complete(struct d_comp *c, const struct d_type *t);
const char *d_kernel_why(struct d_comp *c);
/* Of these names; NULL: there is none. */
const struct d_type *d_kernel_typedef(struct d_comp *c, const char *name);
const struct d_type *d_kernel_enumerator(struct d_comp *c, const char *name, int64_t *value);
/* Of a variable or function; module: NULL any. per_cpu: there is one for each CPU. */
const struct d_type *d_kernel_variable(
	struct d_comp *c, const char *module, const char *name, bool *per_cpu);
struct btf *d_kernel_btf(struct d_comp *c); /* NULL: there is none */
void d_kernel_close(struct d_comp *c);

/* A type from its text, as in sizeof(text). NULL: c->error is filled. */
const struct d_type *d_type_parse(struct d_comp *c, const char *text);

#endif
