/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory (probe path). Any memory may be read, through safe.c, but of scratch memory only what
 * alloca() and copyin() have returned in this clause. That, globals and this-> variables may be
 * written to; copyout(), which is destructive, writes anywhere.
 */
#include <pthread.h>
#include <string.h>

#include "compiler.h"
#include "engine/fire.h"
#include "engine/in_kernel.h"
#include "prog/builtins.h"
#include "prog/record.h"
#include "rt_load.h"
#include "rt_str.h"
#include "engine/safe.h"
#include "engine/slot.h"
#include "engine/state.h"
#include "engine/work.h"

static inline bool is_within(uint64_t addr, uint64_t n, uint64_t from, uint64_t size)
{
	uint64_t off = addr - from;

	return off <= size && n <= size - off;
}

/* Memory that alloca() and copyin() gave, and that of variables: globals and this->. */
PROBE_PATH bool mem_may_write(struct fire *f, uint64_t addr, uint64_t n)
{
	if (is_within(addr, n, (uint64_t)(uintptr_t)f->thread->alloca, f->alloca_used) ||
		is_within(addr, n, f->globals, f->en->globals_size) ||
		is_within(addr, n, f->scratch, f->en->this_end))
		return true;
	set_fault(f, FAULT_BADADDR, addr);
	return false;
}

PROBE_PATH uint64_t mem_alloca(struct fire *f, uint64_t size)
{
	uint64_t left = f->en->alloca_size - f->alloca_used, need = align_up(size, 8);
	char *at = f->thread->alloca + f->alloca_used;

	if (size > left || need > left) {
		set_fault(f, FAULT_NOSCRATCH, 0);
		return 0;
	}
	f->alloca_used += (uint32_t)need;
	return (uint64_t)(uintptr_t)at;
}

RTFN(alloca)
{
	struct fire *f = FIRE(ctx);
	uint64_t at = mem_alloca(f, a);

	if (at != 0 && work_block(f, a))
		memset((void *)(uintptr_t)at, 0, a);
	return at;
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

RTFN(memadr)
{
	return a;
}

RTFN(storestr)
{
	struct fire *f = FIRE(ctx);
	uint32_t len;
	const char *text = str_text(f, b, &len);

	if (!mem_may_write(f, a, (uint64_t)len + 1) || !work_block(f, len))
		return 0;
	if (len > 0)
		memmove((void *)(uintptr_t)a, text, len);
	((char *)(uintptr_t)a)[len] = '\0';
	return 0;
}

RTFN(read)
{
	safe_read(FIRE(ctx), (void *)(uintptr_t)a, c, b);
	return 0;
}

RTFN(write)
{
	if (mem_may_write(FIRE(ctx), c, b) && work_block(FIRE(ctx), b))
		memcpy((void *)(uintptr_t)c, (const void *)(uintptr_t)a, b);
	return 0;
}

RTFN(copy)
{
	/* the verifier has checked both sizes, but not that they are equal */
	if (work_block(FIRE(ctx), b))
		memmove((void *)(uintptr_t)a, (const void *)(uintptr_t)c, b < d ? b : d);
	return 0;
}

RTFN(zero)
{
	if (work_block(FIRE(ctx), b))
		memset((void *)(uintptr_t)a, 0, b);
	return 0;
}

RTFN(bcopy)
{
	struct fire *f = FIRE(ctx);

	if (mem_may_write(f, b, c))
		safe_read(f, (void *)(uintptr_t)b, a, c);
	return 0;
}

/* NUL-terminated: scripts make strings of it. */
RTFN(copyin)
{
	struct fire *f = FIRE(ctx);
	uint32_t used = f->alloca_used;
	uint64_t at;

	if (!safe_of_process(f, a) || (at = mem_alloca(f, b < UINT64_MAX ? b + 1 : b)) == 0)
		return 0;
	if (!safe_read(f, (void *)(uintptr_t)at, a, b)) {
		f->alloca_used = used;
		return 0;
	}
	((char *)(uintptr_t)at)[b] = '\0';
	return at;
}

RTFN(copyinto)
{
	struct fire *f = FIRE(ctx);

	if (safe_of_process(f, a) && mem_may_write(f, c, b))
		safe_read(f, (void *)(uintptr_t)c, a, b);
	return 0;
}

#ifndef __bpf__ /* kernel/bpf has its own */
/* Write to the program's memory; both the source and the destination may fault. */
PROBE_PATH void copy_out(struct fire *f, uint64_t to, const void *from, uint64_t n)
{
	size_t left;

	if (!f->en->opts->val[OPT_DESTRUCTIVE]) {
		set_fault(f, FAULT_ILLOP, 0);
		return;
	}
	if (!work_block(f, n))
		return;
	left = safe_copy((void *)(uintptr_t)to, from, n);
	if (left != 0)
		set_fault(f, FAULT_BADADDR, to + (n - left));
}
#endif

RTFN(copyout)
{
	struct fire *f = FIRE(ctx);

	if (mem_readable(f, a) < c)
		set_fault(f, FAULT_BADADDR, a);
	else
		copy_out(f, b, (const void *)(uintptr_t)a, c);
	return 0;
}

RTFN(copyoutstr)
{
	struct fire *f = FIRE(ctx);
	uint32_t len;
	const char *text = str_arg(f, a, &len);

	if (text == NULL || c == 0)
		return 0;
	if (len > c - 1)
		len = (uint32_t)(c - 1);
	if (len > 0)
		copy_out(f, b, text, len);
	if (f->fault == 0)
		copy_out(f, b + len, "", 1);
	return 0;
}

/*
 * Add to a static variable that no single instruction can add to: a narrow one, or an element of an
 * array. Returns the old value. D aligns everything naturally.
 */
RTFN(add_static)
{
	switch (b) {
	case 1: return atomic_fetch_add((_Atomic(uint8_t) *)(uintptr_t)a, (uint8_t)c);
	case 2: return atomic_fetch_add((_Atomic(uint16_t) *)(uintptr_t)a, (uint16_t)c);
	case 4: return atomic_fetch_add((_Atomic(uint32_t) *)(uintptr_t)a, (uint32_t)c);
	default: return atomic_fetch_add((_Atomic(uint64_t) *)(uintptr_t)a, c);
	}
}

/* ---- locks of the program: pthread's ------------------------------------------------- */

PROBE_PATH static uint64_t mutex_state(struct fire *f, uint64_t what, uint64_t addr)
{
	BIG_LOCAL(pthread_mutex_t, m, f);
	uint32_t owner;

	if (!safe_read(f, m, addr, sizeof(*m)))
		return 0;
	owner = m->__data.__lock != 0 ? (uint32_t)m->__data.__owner : 0;
	switch (what) {
	case FN_MUTEX_OWNED: return owner != 0 && owner == f->thread->tid;
	case FN_MUTEX_OWNER: return owner;
	case FN_MUTEX_TYPE_ADAPTIVE: return (m->__data.__kind & 3) == PTHREAD_MUTEX_ADAPTIVE_NP;
	default: return 0; /* none of pthread's mutexes only spins */
	}
}

RTFN(lock_state)
{
	struct fire *f = FIRE(ctx);
	BIG_LOCAL(pthread_rwlock_t, rw, f);

	switch (a) {
	case FN_RW_READ_HELD:
	case FN_RW_WRITE_HELD:
	case FN_RW_ISWRITER: break;
	default: return mutex_state(f, a, b);
	}
	if (!safe_read(f, rw, b, sizeof(*rw)))
		return 0;
	if (a == FN_RW_READ_HELD)
		return rw->__data.__readers >> 3 != 0 && rw->__data.__cur_writer == 0;
	if (a == FN_RW_ISWRITER)
		return (uint32_t)rw->__data.__cur_writer == f->thread->tid;
	return rw->__data.__cur_writer != 0;
}
