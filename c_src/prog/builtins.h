/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in names of D as enums; see builtins.def. */
#ifndef PROG_BUILTINS_H
#define PROG_BUILTINS_H

#include <stdint.h>

enum d_bvar {
	BI_NONE,
#define D_BVAR(name, ID, type) BI_##ID,
#include "builtins.def"
	BI_COUNT_
};
enum d_bfunc {
	FN_NONE,
#define D_BFUNC(name, ID, proto) FN_##ID,
#include "builtins.def"
	FN_COUNT_
};
enum d_bact {
	ACT_NONE,
#define D_BACT(name, ID, proto, flags) ACT_##ID,
#include "builtins.def"
	ACT_COUNT_
};
enum d_bagg {
	AGG_NONE,
#define D_BAGG(name, ID, proto) AGG_##ID,
#include "builtins.def"
	AGG_COUNT_
};

/* What whoever fires is asked for: bits of prog_clause.asks. */
enum d_ask {
#define D_AVAR(name, ID, type) ASK_##ID,
#define D_AFUNC(name, ID, proto) ASK_##ID,
#include "builtins.def"
	ASK_COUNT_
};
/* Behind them: which arguments erlarg() and erlint() are of; ASK_ANY_ARG: others, or not known. */
enum { ASK_ARGS = 7, ASK_ARG0 = 24, ASK_ANY_ARG = ASK_ARG0 + ASK_ARGS };
_Static_assert((int)ASK_COUNT_ <= (int)ASK_ARG0, "bits of prog_clause.asks");

enum { AF_DATA = 1, AF_DESTR = 2, AF_AGG = 4, AF_EXPR = 8 };

#endif
