/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records and actions (probe path). The program has stored the numbers in the fixed part; strings
 * are appended to it; rt_rec_end copies the record to the ring or to the speculation. Destructive
 * actions are bounded here; whether they are permitted was checked at load.
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>

#include "engine/clock.h"
#include "compiler.h"
#include "engine/fire.h"
#include "prog/builtins.h"
#include "prog/record.h"
#include "engine/ring.h"
#include "rt_str.h"
#include "engine/safe.h"
#include "engine/slot.h"
#include "engine/tables/spec.h"
#include "engine/state.h"
#include "engine/work.h"

#define CHILL_MOST   500000000ULL  /* ns of chill() permitted ... */
#define CHILL_WITHIN 1000000000ULL /* ... in this time */
#define CHILL_INSIDE 50000000ULL   /* in a node, where other processes wait for the scheduler */

RTFN(rec_str)
{
	struct fire *f = FIRE(ctx);
	const struct en *en = f->en;
	char *rec = f->thread->rec;
	uint32_t at = (uint32_t)sizeof(struct rec_head) + f->clause->rec_size + f->rec_tail, len;
	struct rec_str s = {.off = at};
	const char *text;

	if (a > f->clause->rec_size || f->clause->rec_size - a < sizeof(s))
		return 0;
	text = str_arg(f, b, &len);
	if (unlikely(text == NULL || !work_block(f, len)))
		return 0;
	if (at > en->rec_cap || len > en->rec_cap - at)
		len = at > en->rec_cap ? 0 : en->rec_cap - at;
	memcpy(rec + at, text, len);
	s.len = len;
	f->rec_tail += len;
	memcpy(rec + sizeof(struct rec_head) + a, &s, sizeof(s));
	return 0;
}

/* tracemem(): read the first used of size bytes, zero the rest. */
RTFN(rec_mem)
{
	struct fire *f = FIRE(ctx);
	char *to = f->thread->rec + sizeof(struct rec_head) + a;
	size_t n = d < b ? d : b;

	if (a > f->clause->rec_size || f->clause->rec_size - a < b) {
		set_fault(f, FAULT_BADSIZE, 0);
		return 0;
	}
	if (!work_block(f, b))
		return 0;
	memset(to + n, 0, b - n);
	safe_read(f, to, c, n);
	return 0;
}

#ifndef __bpf__
PROBE_PATH __attribute__((noinline)) uint32_t rec_add_process(struct fire *f, struct rec_head *rec)
{
	const struct en_current *cur = f->cur;
	struct rec_process *p = (struct rec_process *)(void *)((char *)rec + rec->size);

	if (cur == NULL || cur->ops == NULL || cur->ops->process == NULL ||
		!cur->ops->process(cur, p))
		return 0;
	rec->flags |= REC_PROCESS;
	rec->size += (uint32_t)sizeof(*p);
	return sizeof(*p);
}
#endif

RTFN(rec_end)
{
	struct fire *f = FIRE(ctx);
	struct en_thread *t = f->thread;
	uint64_t size = sizeof(struct rec_head) + f->clause->rec_size + f->rec_tail;
	struct rec_head *head = (struct rec_head *)(void *)t->rec;

	if (unlikely(!rate_may(t)))
		return 0;
	size = (size + 7) & ~7ULL;
	*head = (struct rec_head){.size = (uint32_t)size,
		.kind = REC_DATA,
		.cpu = (uint16_t)en_cpu(),
		.epid = f->epid,
		.spec = f->spec,
		.ts = fire_ts(f)};
	if (unlikely(f->en->processes) && size + sizeof(struct rec_process) <= f->en->rec_cap)
		size += rec_add_process(f, head);
	if (likely(f->spec == 0))
		ring_put(t, head, (uint32_t)size);
	else
		spec_put(t, f->spec, head, (uint32_t)size);
	return 0;
}

/* From here on only END fires. */
RTFN(exit)
{
	struct en *en = FIRE(ctx)->en;
	uint32_t phase = atomic_load(&en->phase);

	if (!atomic_exchange(&en->exited, true) || phase == PHASE_END)
		atomic_store(&en->exit_code, (int)a);
	if (phase == PHASE_BEGIN || phase == PHASE_RUN)
		atomic_compare_exchange_strong(&en->phase, &phase, PHASE_DRAIN);
	return 0;
}

/* Policy ring: what the record says must not wait until the end. */
RTFN(notice)
{
	atomic_fetch_add(&FIRE(ctx)->en->notices, 1);
	return 0;
}

#ifndef __bpf__
/* Spin for ns nanoseconds, but leave the program at least half of its time. */
PROBE_PATH static void chill(struct fire *f, uint64_t ns)
{
	struct en_thread *t = f->thread;
	uint64_t now = en_now(), end, most = f->en->opts->inside ? CHILL_INSIDE : CHILL_MOST;

	if (now - t->chill.from > CHILL_WITHIN) {
		t->chill.from = now;
		t->chill.spent = 0;
	}
	if (ns > most || t->chill.spent + ns > most) {
		set_fault(f, FAULT_ILLOP, 0);
		return;
	}
	t->chill.spent += ns;
	for (end = now + ns; now < end; now = en_now())
		cpu_relax();
}

RTFN(destroy)
{
	struct fire *f = FIRE(ctx);
	struct en *en = f->en;

	if (!en->opts->val[OPT_DESTRUCTIVE]) {
		set_fault(f, FAULT_ILLOP, 0);
		return 0;
	}
	switch (a) {
	case ACT_CHILL: chill(f, b); break;
	case ACT_RAISE: syscall(SYS_tgkill, en->process.pid, f->thread->tid, (int)b); break;
	case ACT_STOP: syscall(SYS_kill, en->process.pid, SIGSTOP); break;
	default: set_fault(f, FAULT_ILLOP, 0); /* panic, breakpoint: not inside other programs */
	}
	return 0;
}
#endif
