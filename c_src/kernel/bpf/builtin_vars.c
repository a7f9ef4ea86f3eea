/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in variables in the kernel, and random numbers (probe path). */
#include "buffer.h"
#include "engine/clock.h"
#include "engine/fire.h"
#include "engine/in_kernel.h"
#include "engine/procs.h"
#include "engine/rt/rt_str.h"
#include "engine/slot.h"
#include "engine/state.h"
#include "engine/str.h"
#include "engine/work.h"
#include "prog/builtins.h"
#include "prog/record.h"
#include "task.h"

uint64_t en_now(void)
{
	return bpf_ktime_get_ns();
}

unsigned en_cpu(void)
{
	return bpf_get_smp_processor_id();
}

/* Those of a thread; who fires is not always the current one. */
static INLINE_HERE uint64_t thread_var(struct en_thread *t, uint64_t bi)
{
	uint64_t task = task_of(t);
	uint64_t cred;

	switch (bi) {
	case BI_PPID: return task_ppid(task);
	case BI_CURTHREAD: return task;
	}
	if (t->k.task == 0)
		return bi == BI_UID ? (uint32_t)bpf_get_current_uid_gid()
				    : bpf_get_current_uid_gid() >> 32;
	cred = task_u64(task, k_root.off.cred);
	return task_u32(cred, bi == BI_UID ? k_root.off.uid : k_root.off.gid);
}

/* The number of a struct pid in the command's name space; 0: it is not in it. */
uint64_t k_shown_number(uint64_t all)
{
	uint64_t at = all + k_root.off.number;
	uint32_t levels = task_u32(all, k_root.off.level) + 1;

	for (uint64_t i = unknown_zero(); i < levels; i++, at += 16) /* struct upid */
		if (task_u32(task_u64(at, 8), k_root.off.inum) == (uint32_t)k_root.pid_ns)
			return task_u32(at, 0);
	return 0;
}

static INLINE_HERE uint64_t walltimestamp(struct fire *f)
{
	if (f->wts == 0)
		f->wts = fire_ts(f) +
			 (uint64_t)atomic_load_explicit(&f->en->wall, memory_order_relaxed);
	return f->wts;
}

RTFN(var)
{
	struct fire *f = FIRE(ctx);

	switch (a) {
	case BI_WALLTIMESTAMP: return walltimestamp(f);
	case BI_VTIMESTAMP: return vtime(f);
	case BI_CPU: return en_cpu();
	case BI_TID: return f->thread->tid;
	case BI_ERRNO: return f->thread->k.sys_errno;
	case BI_ID: return f->id;
	case BI_EPID: return f->epid;
	case BI_PID: return f->thread->k.pid;
	case BI_PPID:
	case BI_UID:
	case BI_GID:
	case BI_CURTHREAD: return thread_var(f->thread, a);
	case BI_CALLER:
	case BI_UCALLER:
	case BI_STACKDEPTH:
	case BI_USTACKDEPTH: return k_stack_var(f->thread, a);
	}
	if (a >= BI_ARG0 && a <= BI_ARG9)
		return f->arg[a - BI_ARG0];
	return 0;
}

RTFN(timestamp)
{
	return fire_ts(FIRE(ctx));
}

/*
 * The name of the program that fires. The slot has a cache of names, so that tables find a name
 * that was seen before by its number. It holds until the firing ends.
 */
_Static_assert(offsetof(struct en_comm, text) == offsetof(struct et_str, text), "as struct et_str");
static INLINE_HERE void comm_new(struct en_thread *t, struct en_comm *c)
{
	c->len = (uint32_t)strnlen(c->text, 16);
	c->hash = et_hash(c->text, c->len);
	c->id = 1ULL << 47 | (uint64_t)t->k.number << 34 | ++t->k.ncomms;
}

uint64_t str_execname(struct fire *f)
{
	struct en_thread *t = f->thread;
	struct en_comm *c;
	uint64_t *word;
	uint64_t name[2] = {0, 0};

	if (t->k.task == 0)
		bpf_get_current_comm(name, sizeof(name));
	else if (k_root.off.comm != UINT32_MAX)
		bpf_probe_read_kernel(
			name, sizeof(name), (const void *)(uintptr_t)(t->k.task + k_root.off.comm));
	c = &t->k.comms[(name[0] ^ name[1]) * 0x9e3779b97f4a7c15 >> 58];
	word = (uint64_t *)(void *)c->text;
	if (c->id == 0 || word[0] != name[0] || word[1] != name[1]) {
		word[0] = name[0];
		word[1] = name[1];
		c->text[16] = '\0';
		comm_new(t, c);
	}
	return (uint64_t)(uintptr_t)c | STR_TAG;
}

/* Its numbers (d/lib/regs.d) are the order in which the kernel saves them. */
static inline bool saved_word(uint64_t *v, uint64_t at, uint64_t n)
{
	return bpf_probe_read_kernel(v, sizeof(*v), (const void *)(uintptr_t)(at + 8 * n)) == 0;
}

RTFN(ureg)
{
	struct fire *f = FIRE(ctx);
	uint64_t v = 0, at = f->thread->k.uregs, cs = 3;

	if (at == K_REGS_OF_CURRENT) { /* of a thread of the kernel's own there is nothing */
		at = bpf_task_pt_regs(bpf_get_current_task_btf());
		if (!saved_word(&cs, at, REG_CS))
			cs = 0;
	}
	if (at == 0 || a >= K_REGS || (cs & 3) == 0 || !saved_word(&v, at, a)) {
		set_fault(f, FAULT_ILLOP, 0);
		return 0;
	}
	return v;
}

/* Which process an address is of: the bits above it. */
uint64_t k_tag(void)
{
	return procs_tag(k_root.en->shared.procs, (uint32_t)(k_current_ids() >> 32));
}

RTFN(uaddr)
{
	return a == 0 || a >> ADDR_BITS != 0 ? a : a | k_tag();
}

RTFN(rand)
{
	uint64_t high = bpf_get_prandom_u32();

	return high << 32 | bpf_get_prandom_u32();
}

/* Its ancestors, itself among them; the loop is bounded. */
RTFN(progenyof)
{
	uint64_t task = task_of(FIRE(ctx)->thread);

	for (uint64_t i = unknown_zero(); i < 256 && task != 0; i++) {
		uint32_t pid = task_pid(task);

		if (pid == (uint32_t)a)
			return 1;
		if (pid == 0)
			break;
		task = task_u64(task, k_root.off.parent);
	}
	return 0;
}
