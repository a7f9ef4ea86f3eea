/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a clause uses, as the code generator notes it when it emits a call or a read. Providers and
 * the engine arm, build and look up what is used, and nothing else. Used means: on some way through
 * the clause.
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
	uint16_t args;	  /* arg0 to arg9 */
	bool stack;	  /* the kernel's stack: stack(), caller, stackdepth */
	bool ustack;	  /* the program's: ustack(), jstack(), ucaller, ustackdepth */
	bool script_vars; /* variables of the script, but this->: what it does depends on them */
};
_Static_assert(BI_COUNT_ <= 64, "bits of vars");
_Static_assert(RT_COUNT_ <= 128, "bits of fns");

#define USES_VAR(ID) (1ULL << BI_##ID)

static inline bool uses_fn(const struct prog_uses *u, enum rt_fn fn)
{
	return u->fns[fn / 64] >> fn % 64 & 1;
}

/* What is known of the thread that fires, or of any other. */
static inline bool uses_threads(const struct prog_uses *u)
{
	const uint64_t vars = USES_VAR(PID) | USES_VAR(TID) | USES_VAR(PPID) | USES_VAR(UID) |
			      USES_VAR(GID) | USES_VAR(EXECNAME) | USES_VAR(CURTHREAD);

	return (u->vars & vars) || uses_fn(u, RT_threadnum) || uses_fn(u, RT_threadstr);
}

/* Memory that may not be there: a signal has to be caught, or a fault of the kernel. */
static inline bool uses_memory(const struct prog_uses *u)
{
	for (unsigned fn = 0; fn < RT_COUNT_; fn++)
		if (uses_fn(u, fn) && (rt_flags(fn) & RT_FAULTS))
			return true;
	return u->stack || u->ustack;
}

#endif
