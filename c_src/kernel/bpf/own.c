/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime functions that are the kernel's own (probe path): built-in variables, memory of
 * others, stacks. The rest are the engine's, built for BPF as they are.
 */
#include "buffer.h"
#include "engine/clock.h"
#include "engine/fire.h"
#include "engine/in_kernel.h"
#include "engine/procs.h"
#include "engine/safe.h"
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

/* ---- built-in variables --------------------------------------------------------------- */

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

/* A frame of a stack that was taken; the verifier is to see that it is within. */
static inline uint64_t frame(const char *stack, uint32_t n)
{
	__asm__ volatile("" : "+r"(n));
	return ((const uint64_t *)(const void *)stack)[n & K_FRAMES];
}

static inline const char *stack_of(struct en_thread *t, bool user)
{
	return k_buffer(t) + K_BUF + (user ? K_STACKS / 2 : 0);
}

static INLINE_HERE uint64_t stack_var(struct en_thread *t, uint64_t bi)
{
	switch (bi) {
	case BI_STACKDEPTH: return t->k.nstack;
	case BI_USTACKDEPTH: return t->k.nustack;
	case BI_UCALLER: return t->k.nustack > 1 ? frame(stack_of(t, true), 1) : 0;
	default: return t->k.nstack > 1 ? frame(stack_of(t, false), 1) : 0;
	}
}

RTFN(var)
{
	struct fire *f = FIRE(ctx);

	switch (a) {
	case BI_WALLTIMESTAMP: return fire_ts(f) + k_root.wall;
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
	case BI_USTACKDEPTH: return stack_var(f->thread, a);
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
 * The name of the program that fires: as one that was made before, if it was seen of late, so that
 * tables find it by its number. It holds until the firing ends.
 */
_Static_assert(offsetof(struct en_comm, text) == offsetof(struct et_str, text), "as struct et_str");
static INLINE_HERE void comm_new(struct en_thread *t, struct en_comm *c)
{
	c->len = (uint32_t)strnlen(c->text, 16);
	c->hash = et_hash(c->text, c->len);
	c->id = 1ULL << 47 | (uint64_t)t->k.number << 34 | ++t->k.ncomms;
}

static inline uint64_t comm(struct en_thread *t)
{
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

RTFN(strvar)
{
	struct fire *f = FIRE(ctx);

	switch (a) {
	case BI_PROBEPROV: return str_ref(f->probe->prov);
	case BI_PROBEMOD: return str_ref(f->probe->mod);
	case BI_PROBEFUNC: return str_ref(f->probe->func);
	case BI_PROBENAME: return str_ref(f->probe->name);
	case BI_EXECNAME: return comm(f->thread);
	default: return 0;
	}
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

/* Its ancestors, itself among them, as far up as that is sensible. */
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

enum { CHILL_MOST = 50000000, CHILL_WITHIN = 1000000000 }; /* ns: others wait for this CPU */

static inline void chill(struct fire *f, uint64_t ns)
{
	struct en_thread *t = f->thread;
	uint64_t now = bpf_ktime_get_ns(), end = now + ns;

	if (now - t->chill.from > CHILL_WITHIN) {
		t->chill.from = now;
		t->chill.spent = 0;
	}
	if (ns > CHILL_MOST || t->chill.spent + ns > CHILL_MOST) {
		set_fault(f, FAULT_ILLOP, 0);
		return;
	}
	t->chill.spent += ns;
	while (bpf_ktime_get_ns() < end)
		;
}

/* raise() and stop() reach who fires; panic() and breakpoint() are for no tool of ours. */
RTFN(destroy)
{
	struct fire *f = FIRE(ctx);
	uint32_t sig = a == ACT_STOP ? 19 : (uint32_t)b;

	if (!k_root.destructive || f->thread->k.task != 0) {
		set_fault(f, FAULT_ILLOP, 0);
		return 0;
	}
	switch (a) {
	case ACT_CHILL: chill(f, b); break;
	case ACT_RAISE:
	case ACT_STOP:
		if (bpf_send_signal(sig) != 0)
			set_fault(f, FAULT_ILLOP, 0);
		break;
	default: set_fault(f, FAULT_ILLOP, 0);
	}
	return 0;
}

/* ---- memory --------------------------------------------------------------------------- */

static inline bool in_arena(uint64_t addr)
{
	return addr - k_root.arena < k_root.arena_size;
}

/*
 * What cannot be read may only not be in memory yet: where the program may wait, get it there.
 * Elsewhere the linker makes a failure of the call. n is less than a page.
 */
uint64_t k_touch(uint64_t addr, uint64_t n)
{
	char byte;
	long first, last;

	if (in_kernel(addr))
		return 0;
	first = bpf_copy_from_user(&byte, 1, (const void *)(uintptr_t)addr);
	last = bpf_copy_from_user(&byte, 1, (const void *)(uintptr_t)(addr + n - 1));
	return first == 0 || last == 0;
}

bool safe_read(struct fire *f, void *dst, uint64_t addr, size_t n)
{
	char *buf = k_buffer(f->thread), *to = dst;

	if (!work_block(f, n))
		return false;
	if (in_arena(addr)) {
		if (n <= k_root.arena_size - (addr - k_root.arena)) {
			memmove(dst, (const void *)(uintptr_t)addr, n);
			return true;
		}
		set_fault(f, FAULT_BADADDR, addr);
		return false;
	}
	while (n > 0) {
		uint32_t part = n < K_BUF / 2 ? (uint32_t)n : K_BUF / 2;

		if (!fetch(buf, addr, part) && !(k_touch(addr, part) && fetch(buf, addr, part))) {
			set_fault(f, FAULT_BADADDR, addr);
			return false;
		}
		from_buffer(to, buf, part);
		to += part;
		addr += part;
		n -= part;
	}
	return true;
}

int64_t safe_str(struct fire *f, char *dst, uint64_t addr, size_t room)
{
	char *buf = k_buffer(f->thread);
	uint32_t n = bounded(room < K_BUF ? (uint32_t)room : K_BUF - 1);
	const void *from = (const void *)(uintptr_t)addr;
	long got;

	if (in_arena(addr)) {
		got = (long)strnlen(from, room - 1);
		memmove(dst, from, (size_t)got);
		dst[got] = '\0';
		return got;
	}
	got = in_kernel(addr) ? bpf_probe_read_kernel_str(buf, n, from)
			      : bpf_probe_read_user_str(buf, n, from);
	if (got <= 0 && k_touch(addr, n))
		got = bpf_probe_read_user_str(buf, n, from);
	if (got <= 0) {
		set_fault(f, FAULT_BADADDR, addr);
		dst[0] = '\0';
		return -1;
	}
	from_buffer(dst, buf, (uint32_t)got);
	return got - 1;
}

RTFN(load)
{
	struct fire *f = FIRE(ctx);
	int64_t how = (int64_t)b;
	unsigned size = (unsigned)(how < 0 ? -how : how), shift = 64 - 8 * size;
	uint64_t v = 0;
	long rc;

	if (size != 1 && size != 2 && size != 4 && size != 8) {
		set_fault(f, FAULT_BADSIZE, a);
		return 0;
	}
	if (in_arena(a)) {
		v = *(const uint64_t *)(uintptr_t)(a & ~7ULL) >> 8 * (a & 7);
	} else {
		rc = in_kernel(a) ? bpf_probe_read_kernel(&v, size, (const void *)(uintptr_t)a)
				  : bpf_probe_read_user(&v, size, (const void *)(uintptr_t)a);
		if (rc != 0 && k_touch(a, size))
			rc = bpf_probe_read_user(&v, size, (const void *)(uintptr_t)a);
		if (rc != 0) {
			set_fault(f, FAULT_BADADDR, a);
			return 0;
		}
	}
	if (a % size != 0) {
		set_fault(f, FAULT_BADALIGN, a);
		return 0;
	}
	return how < 0 ? (uint64_t)((int64_t)(v << shift) >> shift) : v << shift >> shift;
}

RTFN(store)
{
	struct fire *f = FIRE(ctx);

	if (b != 1 && b != 2 && b != 4 && b != 8) {
		set_fault(f, FAULT_BADSIZE, a);
		return 0;
	}
	if (!mem_may_write(f, a, b))
		return 0;
	if (a % b != 0) {
		set_fault(f, FAULT_BADALIGN, a);
		return 0;
	}
	switch (b) {
	case 1: *(uint8_t *)(uintptr_t)a = (uint8_t)c; break;
	case 2: *(uint16_t *)(uintptr_t)a = (uint16_t)c; break;
	case 4: *(uint32_t *)(uintptr_t)a = (uint32_t)c; break;
	case 8: *(uint64_t *)(uintptr_t)a = c; break;
	}
	return 0;
}

/* Into the memory of the process that fires. */
void copy_out(struct fire *f, uint64_t to, const void *from, uint64_t n)
{
	char *buf = k_buffer(f->thread);
	const char *s = from;

	if (!work_block(f, n))
		return;
	while (n > 0) {
		uint64_t part = n < K_BUF / 2 ? n : K_BUF / 2;

		for (uint64_t i = unknown_zero(); i < part; i++)
			buf[bounded(i)] = s[i];
		if (bpf_probe_write_user((void *)(uintptr_t)to, buf, (uint32_t)bounded(part))) {
			set_fault(f, FAULT_BADADDR, to);
			return;
		}
		to += part;
		s += part;
		n -= part;
	}
}

/* ---- stacks --------------------------------------------------------------------------- */

/* As they were taken where the firing began: main.c. */
RTFN(stack)
{
	struct en_thread *t = FIRE(ctx)->thread;
	uint64_t *pcs = (uint64_t *)(uintptr_t)a;
	bool user = c != STACK_KERNEL;
	const char *from = stack_of(t, user);
	uint64_t tag = user ? k_tag() : 0;
	uint32_t max = (uint32_t)(b / 8), n = user ? t->k.nustack : t->k.nstack, i = 0;

	if (!work_bytes(FIRE(ctx), b))
		return 0;
	for (; i < K_FRAMES && i < n && i < max; i++)
		pcs[i] = frame(from, i) | tag;
	for (; i < max; i++)
		pcs[i] = 0;
	return 0;
}
