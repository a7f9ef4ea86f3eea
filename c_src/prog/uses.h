/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a clause uses, on any path through it. The code generator records it when it emits a call or
 * a load; providers and the engine arm, build and look up only what is used.
 */
#ifndef PROG_USES_H
#define PROG_USES_H

#include <stdbool.h>
#include <stdint.h>

#include "builtins.h"
#include "rt.h"

struct prog_uses {
	uint64_t vars;	  /* built-in variables: a bit for each BI_* */
	uint64_t fns[2];  /* runtime functions: a bit for each RT_* */
	uint32_t pbis;	  /* provider built-ins: a bit for each PBI_* */
	uint64_t members; /* of an object of the provider state, by their indices in state.def */
	uint16_t args;	  /* arg0 to arg9 */
	bool stack;	  /* the kernel's stack: stack(), caller, stackdepth */
	bool ustack;	  /* the program's: ustack(), jstack(), ucaller, ustackdepth */
	bool by_flow;	  /* it has read flowid when it calls follow() */
	bool script_vars; /* it depends on variables of the script other than this-> */
};
_Static_assert(BI_COUNT_ <= 64, "bits of vars");
_Static_assert(RT_COUNT_ <= 128, "bits of fns");

#define USES_VAR(ID) (1ULL << BI_##ID)

static inline bool uses_var(const struct prog_uses *u, enum d_bvar var)
{
	return u->vars >> var & 1;
}

static inline bool uses_fn(const struct prog_uses *u, enum rt_fn fn)
{
	return u->fns[fn / 64] >> fn % 64 & 1;
}

static inline void uses_add(struct prog_uses *u, const struct prog_uses *more)
{
	u->vars |= more->vars;
	u->fns[0] |= more->fns[0];
	u->fns[1] |= more->fns[1];
	u->pbis |= more->pbis;
	u->members |= more->members;
	u->args |= more->args;
	u->stack |= more->stack;
	u->ustack |= more->ustack;
	u->by_flow |= more->by_flow;
	u->script_vars |= more->script_vars;
}

/* Properties of the current thread, or of any other. */
static inline bool uses_threads(const struct prog_uses *u)
{
	const uint64_t vars = USES_VAR(PID) | USES_VAR(TID) | USES_VAR(PPID) | USES_VAR(UID) |
			      USES_VAR(GID) | USES_VAR(EXECNAME) | USES_VAR(CURTHREAD);

	return (u->vars & vars) || uses_fn(u, RT_threadnum) || uses_fn(u, RT_threadstr);
}

/* Memory that may not be mapped: faults must be caught. */
static inline bool uses_memory(const struct prog_uses *u)
{
	for (unsigned fn = 0; fn < RT_COUNT_; fn++)
		if (uses_fn(u, fn) && (rt_flags(fn) & RT_FAULTS))
			return true;
	return u->stack || u->ustack;
}

#endif
