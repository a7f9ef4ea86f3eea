/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the process that fires, and of the kernel (probe path). */
#include <string.h>

#include "buffer.h"
#include "confined.h"
#include "engine/fire.h"
#include "engine/rt/rt_load.h"
#include "engine/safe.h"
#include "engine/state.h"
#include "engine/work.h"
#include "prog/record.h"

static inline bool in_arena(uint64_t addr)
{
	return addr - k_root.arena < k_root.arena_size;
}

/* On this CPU since the last call. Where there are arenas the linker makes 0 of the call. */
uint64_t k_was_cut(void)
{
	uint32_t cpu = bpf_get_smp_processor_id() & (K_CUTS - 1);
	uint64_t cut = k_root.cut[cpu];

	if (cut == k_root.cut_told[cpu])
		return 0;
	k_root.cut_told[cpu] = cut;
	return 1;
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

bool safe_of_process(struct fire *f, uint64_t addr)
{
	if (!in_kernel(addr) || in_arena(addr))
		return true;
	set_fault(f, FAULT_BADADDR, addr);
	return false;
}

bool safe_read(struct fire *f, void *dst, uint64_t addr, size_t n)
{
	char *buf = k_buffer(f->thread), *to = dst;

	if (!work_block(f, n))
		return false;
	if (in_arena(addr)) {
		if (n <= k_root.arena_size - (addr - k_root.arena) && n <= mem_readable(f, addr)) {
			memmove(dst, (const void *)(uintptr_t)addr, n);
			return true;
		}
		set_fault(f, FAULT_BADADDR, addr);
		return false;
	}
	if (is_hidden(f, addr)) {
		set_fault(f, in_kernel(addr) ? FAULT_KPRIV : FAULT_UPRIV, addr);
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

static inline int64_t read_str(struct fire *f, char *dst, uint64_t addr, size_t room)
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
	if (is_hidden(f, addr)) {
		set_fault(f, in_kernel(addr) ? FAULT_KPRIV : FAULT_UPRIV, addr);
		dst[0] = '\0';
		return -1;
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

int64_t safe_str(struct fire *f, char *dst, uint64_t addr, size_t room)
{
	return str_checked(f, dst, addr, room, read_str);
}

/* In the arena whole words are read, of which the number is a part. */
static inline bool load_word(uint64_t addr, unsigned size, uint64_t *v)
{
	const void *from = (const void *)(uintptr_t)addr;
	unsigned shift = 64 - 8 * size;
	uint64_t words[2] = {0, 0}; /* room for what the verifier takes the size for */
	long rc;

	if (in_arena(addr)) {
		*v = *(const uint64_t *)(uintptr_t)(addr & ~7ULL) >> 8 * (addr & 7);
		*v = *v << shift >> shift;
		return true;
	}
	__asm__ volatile("" : "+r"(size));
	size &= 15;
	rc = in_kernel(addr) ? bpf_probe_read_kernel(words, size, from)
			     : bpf_probe_read_user(words, size, from);
	if (rc != 0 && k_touch(addr, size))
		rc = bpf_probe_read_user(words, size, from);
	*v = words[0];
	return rc == 0;
}

RTFN(load)
{
	struct fire *f = FIRE(ctx);

	if (!in_arena(a) && is_hidden(f, a)) {
		set_fault(f, in_kernel(a) ? FAULT_KPRIV : FAULT_UPRIV, a);
		return 0;
	}
	return load_checked(f, a, (int64_t)b, load_word);
}

/* Into the memory of the process that fires. */
void copy_out(struct fire *f, uint64_t to, const void *from, uint64_t n)
{
	char *buf = k_buffer(f->thread);
	const char *s = from;

	if (!work_block(f, n))
		return;
	while (n > 0) {
		uint64_t part = n < K_BUF / 2 ? n : K_BUF / 2, less = part - 1;

		for (uint64_t i = unknown_zero(); i < part; i++)
			buf[bounded(i)] = s[i];
		__asm__ volatile("" : "+r"(less)); /* the verifier is to see that it is not 0 */
		less &= K_BUF / 2 - 1;
		if (bpf_probe_write_user((void *)(uintptr_t)to, buf, (uint32_t)less + 1)) {
			set_fault(f, FAULT_BADADDR, to);
			return;
		}
		to += part;
		s += part;
		n -= part;
	}
}
