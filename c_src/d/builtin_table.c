/* SPDX-License-Identifier: Apache-2.0 */
/* The table of built-in names; see builtins.def. */
#include "builtin_table.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "ast.h"

const struct d_builtin d_builtins[] = {
#define D_BVAR(name, ID, type, traits) {name, ID_BUILTIN, BI_##ID, type, 0, 0, traits},
#define D_BFUNC(name, ID, proto, traits) {name, ID_FUNC, FN_##ID, proto, 0, 0, traits},
#define D_BACT(name, ID, proto, flags, traits) {name, ID_ACTION, ACT_##ID, proto, flags, 0, traits},
#define D_BAGG(name, ID, proto, traits) {name, ID_AGGFUNC, AGG_##ID, proto, 0, 0, traits},
#define D_PVAR(name, ID, type, traits) {name, ID_BUILTIN, BI_##ID, type, 0, 1 + PBI_##ID, traits},
#define D_PFUNC(name, ID, proto, traits) {name, ID_FUNC, FN_##ID, proto, 0, 1 + PBI_##ID, traits},
#include "prog/builtins.def"
	{NULL, 0, 0, NULL, 0, 0, COUNTS},
};

#define V(major, minor) ((major) * 1000u + (minor))

/* Names that DTrace's D has had since a later version than 1.0. */
static const struct {
	const char *name;
	unsigned since;
} later[] = {
	{"freopen", V(1, 1)}, {"index", V(1, 1)}, {"rindex", V(1, 1)}, {"strchr", V(1, 1)},
	{"strrchr", V(1, 1)}, {"strstr", V(1, 1)}, {"strtok", V(1, 1)}, {"substr", V(1, 1)},
	{"func", V(1, 2)}, {"mod", V(1, 2)}, {"setopt", V(1, 2)}, {"sym", V(1, 2)},
	{"uaddr", V(1, 2)}, {"ucaller", V(1, 2)}, {"ufunc", V(1, 2)}, {"umod", V(1, 2)},
	{"usym", V(1, 2)}, {"htonl", V(1, 3)}, {"htonll", V(1, 3)}, {"htons", V(1, 3)},
	{"ntohl", V(1, 3)}, {"ntohll", V(1, 3)}, {"ntohs", V(1, 3)}, {"inet_ntoa", V(1, 5)},
	{"inet_ntoa6", V(1, 5)}, {"inet_ntop", V(1, 5)}, {"link_ntop", V(1, 5)},
	{"stddev", V(1, 6)}, {"llquantize", V(1, 7)}, {"tolower", V(1, 8)}, {"toupper", V(1, 8)},
	{"print", V(1, 9)}, {"json", V(1, 11)}, {"strtoll", V(1, 11)},
};

bool d_builtin_is_later(const struct d_builtin *b, const char *version)
{
	unsigned major = 0, minor = 0;

	sscanf(version, "%4u.%4u", &major, &minor); /* options.c has checked it */
	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++)
		if (strcmp(later[i].name, b->name) == 0)
			return later[i].since > V(major, minor);
	return false;
}

const char *d_aggfn_name(unsigned fn)
{
	for (const struct d_builtin *b = d_builtins; b->name != NULL; b++)
		if (b->kind == ID_AGGFUNC && b->id == fn)
			return b->name;
	return "?";
}
