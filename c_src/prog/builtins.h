/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in names of D as enums; see builtins.def. */
#ifndef PROG_BUILTINS_H
#define PROG_BUILTINS_H

#include <stdint.h>

enum d_bvar {
	BI_NONE,
#define D_BVAR(name, ID, type, traits) BI_##ID,
#include "builtins.def"
	BI_COUNT_
};
enum d_bfunc {
	FN_NONE,
#define D_BFUNC(name, ID, proto, traits) FN_##ID,
#include "builtins.def"
	FN_COUNT_
};
enum d_bact {
	ACT_NONE,
#define D_BACT(name, ID, proto, flags, traits) ACT_##ID,
#include "builtins.def"
	ACT_COUNT_
};
enum d_bagg {
	AGG_NONE,
#define D_BAGG(name, ID, proto, traits) AGG_##ID,
#include "builtins.def"
	AGG_COUNT_
};

/* Provider built-ins, which the provider of the event answers: bits of prog_uses.pbis. */
enum prog_pbi {
#define D_PVAR(name, ID, type, traits) PBI_##ID,
#define D_PFUNC(name, ID, proto, traits) PBI_##ID,
#include "builtins.def"
	PBI_COUNT_
};
/* Of rt_pbi_equals(): which, and the slot for its term. */
#define PBI_EQUALS(slot, pbi) ((slot) << 8 | (pbi))
/* Of rt_source_part(): the slot for the part, TERM_ELEMENT and so on, which. */
#define SOURCE_PART(slot, part, pbi) ((slot) << 16 | (unsigned)(part) << 8 | (pbi))

/*
 * In place of a member's index, for PBI_STATE_NUMBER: shall the statements be skipped? (d/gate.c)
 */
#define PBI_GATE 255

/* Further bits: arguments that erlarg() and erlint() read; PBI_ANY_ARG: others, or unknown. */
enum { PBI_ARGS = 7, PBI_ARG0 = 24, PBI_ANY_ARG = PBI_ARG0 + PBI_ARGS };
_Static_assert((int)PBI_COUNT_ <= (int)PBI_ARG0, "bits of prog_uses.pbis");

/* What builtins.def says of them. */
enum d_traits { COUNTS = 0, SHOWS = 1, NEVER_NULL = 2, INVARIANT = 4, PURE = 8 };
enum { AF_DATA = 1, AF_DESTR = 2, AF_AGG = 4, AF_EXPR = 8 };

#endif
