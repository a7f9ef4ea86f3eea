/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of the kernel: their fields, by offsets that user space found; their CPU time. */
#ifndef K_TASK_H
#define K_TASK_H

#include "helpers.h"
#include "engine/fire.h"
#include "engine/slot.h"

static inline uint64_t task_u64(uint64_t task, uint32_t off)
{
	uint64_t v = 0;

	if (off == UINT32_MAX ||
		bpf_probe_read_kernel(&v, sizeof(v), (const void *)(uintptr_t)(task + off)) != 0)
		return 0;
	return v;
}

static inline uint32_t task_u32(uint64_t task, uint32_t off)
{
	uint32_t v = 0;

	if (off == UINT32_MAX ||
		bpf_probe_read_kernel(&v, sizeof(v), (const void *)(uintptr_t)(task + off)) != 0)
		return 0;
	return v;
}

/* Who fires: the current thread, or the one that an event is of. */
static inline uint64_t task_of(const struct en_thread *t)
{
	return t->k.task != 0 ? t->k.task : bpf_get_current_task();
}

uint64_t k_shown_number(uint64_t all); /* builtin_vars.c */

/* Of a struct pid: threads, processes, groups and sessions have one each. */
static inline uint32_t pid_number(uint64_t all)
{
	if (k_root.pid_ns == 0)
		return k_root.off.number == UINT32_MAX ? 0 : task_u32(all, k_root.off.number);
	return (uint32_t)k_shown_number(all);
}

static inline uint32_t shown_number(uint64_t task)
{
	return (uint32_t)k_shown_number(task_u64(task, k_root.off.numbers));
}

static inline uint32_t task_tid(uint64_t task)
{
	return k_root.pid_ns == 0 ? task_u32(task, k_root.off.pid) : shown_number(task);
}

static inline uint32_t task_pid(uint64_t task)
{
	if (k_root.pid_ns == 0)
		return task_u32(task, k_root.off.tgid);
	return shown_number(task_u64(task, k_root.off.leader));
}

static inline uint32_t task_ppid(uint64_t task)
{
	uint64_t parent = task_u64(task, k_root.off.parent);

	return parent != 0 ? task_pid(parent) : 0;
}

/* An open file by its number; 0: there is none. */
static inline uint64_t task_file(uint64_t task, uint64_t n)
{
	uint64_t table = task_u64(task_u64(task, k_root.off.files), k_root.off.fdtable);

	if (table == 0 || n >= task_u32(table, k_root.off.max_fds))
		return 0;
	return task_u64(task_u64(table, k_root.off.fds) + 8 * n, 0);
}

/* ---- CPU time ------------------------------------------------------------------------- */

/*
 * A thread's time is what it had when it came to this CPU, and how long that is ago. What it had
 * is our own note of when it last left one, or, where there is none, the kernel's count.
 */
static inline struct k_vtime *vtime_of(uint64_t tid)
{
	return &k_root.vtimes[tid & (K_VTIMES - 1)];
}

static inline void vtime_arrives(struct k_running *r, uint64_t task, uint64_t tid, uint64_t now)
{
	struct k_vtime *v = vtime_of(tid);

	r->since = now;
	r->time = v->tid == tid ? v->time : task_u64(task, k_root.off.runtime);
	r->tid = tid;
}

static inline void vtime_switch(uint64_t prev, uint64_t next)
{
	uint64_t tid = task_u32(prev, k_root.off.pid), now = bpf_ktime_get_ns();
	uint32_t cpu = bpf_get_smp_processor_id();
	struct k_running *r = &k_root.running[cpu];

	if (k_root.running == NULL || cpu >= k_root.cpu_slots)
		return;
	if (r->tid == tid && tid != 0) {
		struct k_vtime *v = vtime_of(tid);

		v->tid = tid;
		v->time = r->time + (now - r->since);
	}
	vtime_arrives(r, next, task_u32(next, k_root.off.pid), now);
}

/* Of the thread that fires; it runs here, or is about to. */
static inline uint64_t vtime(struct fire *f)
{
	uint32_t cpu = bpf_get_smp_processor_id();
	struct k_running *r = &k_root.running[cpu];
	uint64_t tid = f->thread->tid;

	if (k_root.pid_ns != 0)
		tid = task_u32(task_of(f->thread), k_root.off.pid);

	if (k_root.running == NULL || cpu >= k_root.cpu_slots)
		return 0;
	if (r->tid != tid || r->since == 0) /* it has been running since before we looked */
		vtime_arrives(r, task_of(f->thread), tid, fire_ts(f));
	return fire_ts(f) > r->since ? r->time + (fire_ts(f) - r->since) : r->time;
}

#endif
