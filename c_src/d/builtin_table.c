/* SPDX-License-Identifier: Apache-2.0 */
/* The table of built-in names; see builtins.def. */
#include "builtin_table.h"

#include <stddef.h>

#include "ast.h"

const struct d_builtin d_builtins[] = {
#define D_BVAR(name, ID, type, payload) {name, ID_BUILTIN, BI_##ID, type, 0, 0, payload},
#define D_BFUNC(name, ID, proto, payload) {name, ID_FUNC, FN_##ID, proto, 0, 0, payload},
#define D_BACT(name, ID, proto, flags, payload) {name, ID_ACTION, ACT_##ID, proto, flags, 0, payload},
#define D_BAGG(name, ID, proto) {name, ID_AGGFUNC, AGG_##ID, proto, 0, 0, COUNTS},
#define D_PVAR(name, ID, type, payload) {name, ID_BUILTIN, BI_##ID, type, 0, 1 + PBI_##ID, payload},
#define D_PFUNC(name, ID, proto, payload) {name, ID_FUNC, FN_##ID, proto, 0, 1 + PBI_##ID, payload},
#include "prog/builtins.def"
	{NULL, 0, 0, NULL, 0, 0, COUNTS},
};

const char *d_aggfn_name(unsigned fn)
{
	for (const struct d_builtin *b = d_builtins; b->name != NULL; b++)
		if (b->kind == ID_AGGFUNC && b->id == fn)
			return b->name;
	return "?";
}
