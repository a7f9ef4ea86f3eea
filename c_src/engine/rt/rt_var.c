/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in variables (probe path): read once per firing if they can change, else noted at go. */
#include <errno.h>
#include <string.h>

#include "engine/clock.h"
#include "compiler.h"
#include "engine/current.h"
#include "engine/engine.h"
#include "engine/fire.h"
#include "engine/probe.h"
#include "prog/builtins.h"
#include "prog/record.h"
#include "prog/rt.h"
#include "prog/stack_marks.h"
#include "rt_str.h"
#include "engine/slot.h"
#include "engine/state.h"
#include "engine/str.h"
#include "engine/work.h"

PROBE_PATH static __attribute__((noinline)) uint64_t thread_time(struct fire *f)
{
	return f->vts = clock_thread();
}

PROBE_PATH static uint64_t walltimestamp(struct fire *f)
{
	if (f->wts == 0)
		f->wts = fire_ts(f) +
			 (uint64_t)atomic_load_explicit(&f->en->wall, memory_order_relaxed);
	return f->wts;
}

/* The frame above the one with the probe. */
PROBE_PATH static uint64_t caller(struct fire *f)
{
	uint64_t pcs[2] = {0, 0};

	stack_user(f, pcs, 2, false);
	return stack_is_times(pcs[1]) ? pcs[0] : pcs[1];
}

PROBE_PATH static uint64_t depth(struct fire *f)
{
	uint64_t pcs[1024];
	unsigned max = f->en->maxframes;

	return stack_depth(pcs, stack_user(f, pcs, max < 1024 ? max : 1024, false));
}

PROBE_PATH static uint64_t rare_var(struct fire *f, uint64_t bi)
{
	const struct en *en = f->en;

	switch (bi) {
	case BI_PID: return en->process.pid;
	case BI_PPID: return en->process.ppid;
	case BI_UID: return en->process.uid;
	case BI_GID: return en->process.gid;
	case BI_ERRNO: return (uint64_t)errno;
	case BI_ID: return f->id;
	case BI_EPID: return f->epid;
	case BI_CALLER:
	case BI_UCALLER: return caller(f);
	case BI_USTACKDEPTH: return depth(f);
	case BI_CURTHREAD: return (uint64_t)(uintptr_t)__builtin_thread_pointer();
	}
	if (bi >= BI_ARG0 && bi <= BI_ARG9)
		return f->arg[bi - BI_ARG0];
	return 0; /* ipl, stackdepth: do not exist here */
}

/* The same in all clauses of a firing, though the thread may be moved meanwhile. */
PROBE_PATH static uint64_t cpu(struct fire *f)
{
	if (f->cpu1 == 0)
		f->cpu1 = (uint64_t)en_cpu() + 1;
	return f->cpu1 - 1;
}

PROBE_PATH static __attribute__((noinline)) uint64_t other_var(struct fire *f, uint64_t bi)
{
	switch (bi) {
	case BI_WALLTIMESTAMP: return walltimestamp(f);
	case BI_CPU: return cpu(f);
	case BI_TID: return f->cur != NULL ? f->cur->key : f->thread->tid;
	default: return rare_var(f, bi);
	}
}

RTFN(var)
{
	struct fire *f = FIRE(ctx);

	if (a != BI_VTIMESTAMP)
		return other_var(f, a);
	if (likely(f->vts != 0)) /* the provider may have set it */
		return f->vts;
	if (f->cur != NULL && f->cur->vtimestamp != NULL)
		return f->cur->vtimestamp(f->cur);
	return thread_time(f);
}

static __attribute__((noinline)) PROBE_PATH uint64_t timestamp_slow(struct fire *f)
{
	return f->ts = clock_now_slow();
}

RTFN(timestamp)
{
	struct fire *f = FIRE(ctx);

	if (f->ts != 0)
		return f->ts;
	if (likely(clock_try(&f->ts)))
		return f->ts;
	return timestamp_slow(f);
}

/* Who answers provider built-ins: the current task, or the program that the engine runs in. */
PROBE_PATH static inline const struct en_current *pbi_current(const struct fire *f)
{
	const struct en_current *cur = f->cur != NULL ? f->cur : f->en->host;

	return cur != NULL && cur->ops != NULL ? cur : NULL;
}

RTFN(pbi_num)
{
	const struct en_current *cur = pbi_current(FIRE(ctx));

	return cur != NULL ? cur->ops->num(cur, (unsigned)a, b, FIRE(ctx)) : 0;
}

RTFN(pbi_str)
{
	struct fire *f = FIRE(ctx);
	const struct en_current *cur = pbi_current(f);
	const struct et_str *s = NULL;
	char *to = str_slot(f, a);

	if (to == NULL)
		return 0;
	str_end(to, 0);
	if (cur != NULL)
		s = cur->ops->str(cur, (unsigned)b, c, to, f->en->strsize);
	if (s == NULL && f->en->strsize > WORK_FREE)
		work_bytes(f, strnlen(to, f->en->strsize));
	return s != NULL ? str_ref(s) : (uint64_t)(uintptr_t)to;
}

/* The firing thread, whatever address is given: no other thread is known. */
RTFN(threadnum)
{
	struct fire *f = FIRE(ctx);

	switch (a) {
	case FN_THREAD_PID: return f->en->process.pid;
	case FN_THREAD_TID: return other_var(f, BI_TID);
	case FN_THREAD_PPID: return f->en->process.ppid;
	case FN_THREAD_UID: return f->en->process.uid;
	case FN_THREAD_EUID: return f->en->process.euid;
	case FN_THREAD_GID: return f->en->process.gid;
	case FN_THREAD_EGID: return f->en->process.egid;
	case FN_THREAD_PGID: return f->en->process.pgid;
	case FN_THREAD_SID: return f->en->process.sid;
	case FN_THREAD_PRI: return f->en->process.pri;
	case FN_THREAD_CPU: return other_var(f, BI_CPU);
	case FN_THREAD_STATE: return 6; /* SONPROC of lib/procfs.d: it fires, so it runs */
	default: return 0;
	}
}

/* As noted at go. There are no open files: reading them takes system calls; their names are "". */
RTFN(threadstr)
{
	struct fire *f = FIRE(ctx);
	const struct en *en = f->en;

	switch (b) {
	case FN_THREAD_ARGS: return str_ref(en->process.psargs);
	case FN_THREAD_COMM: return str_ref(en->process.execname);
	case FN_THREAD_CWD: return str_ref(en->process.cwd);
	case FN_THREAD_ROOT: return str_ref(en->process.rootdir);
	default: return str_put(f, a, "", 0);
	}
}

/* Probes here are calls, not traps: there are no saved registers. */
RTFN(ureg)
{
	set_fault(FIRE(ctx), FAULT_ILLOP, 0);
	return 0;
}

/* Here all addresses belong to this process. */
RTFN(uaddr)
{
	return a;
}

RTFN(rand)
{
	struct en_thread *t = FIRE(ctx)->thread;
	uint64_t x = t->rnd;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	t->rnd = x;
	return x * 0x2545f4914f6cdd1d;
}

RTFN(progenyof)
{
	const struct en *en = FIRE(ctx)->en;

	for (unsigned i = 0; i < en->process.nancestors; i++)
		if (en->process.ancestors[i] == a)
			return 1;
	return 0;
}
