/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in names of D as one table: builtin_table.c. */
#ifndef D_BUILTIN_TABLE_H
#define D_BUILTIN_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct d_builtin {
	const char *name;
	uint8_t kind;	   /* enum d_idkind */
	uint16_t id;	   /* BI_*, FN_*, ACT_*, AGG_* */
	const char *proto; /* prototype, or the type of a variable */
	uint8_t flags;	   /* AF_* */
	uint8_t pbi;	   /* 1 + PBI_*; 0: not a provider built-in */
	uint8_t traits;	   /* enum d_traits */
};

const char *d_aggfn_name(unsigned fn); /* "count" for AGG_COUNT */

/* Does that version of D, such as "1.0", not have it yet? */
bool d_builtin_is_later(const struct d_builtin *b, const char *version);

extern const struct d_builtin d_builtins[]; /* ends with a NULL name */

#endif
