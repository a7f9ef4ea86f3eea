/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of a usdt probe, by the table that kernel/usdt.c made (probe path). */
#include "engine/fire.h"
#include "engine/probe.h"
#include "engine/slot.h"
#include "helpers.h"
#include "kernel/usdt_arg.h"

/* A word of the registers; 0: none. */
static inline uint64_t reg(const uint64_t *regs, uint64_t n)
{
	return n > 0 && n <= K_REGS ? regs[n - 1] : 0;
}

static inline uint64_t operand(const uint64_t *regs, const struct k_usdt_arg *a, uint32_t size)
{
	uint64_t addr, v = 0;

	if (a->kind == K_ARG_CONSTANT)
		return (uint64_t)a->disp;
	if (a->kind == K_ARG_REGISTER)
		return reg(regs, a->base) >> (a->high ? 8 : 0);
	if (a->kind != K_ARG_MEMORY || (size != 1 && size != 2 && size != 4 && size != 8))
		return 0;
	addr = reg(regs, a->base) + reg(regs, a->index) * a->scale + (uint64_t)a->disp;
	if (bpf_probe_read_user(&v, size, (const void *)(uintptr_t)addr) != 0 &&
		!(k_touch(addr, size) &&
			bpf_probe_read_user(&v, size, (const void *)(uintptr_t)addr) == 0))
		return 0;
	return v;
}

/* Argument n; regs are in the slot's big memory. */
uint64_t k_usdt_value(struct fire *f, uint64_t n)
{
	const struct k_usdt_arg *a = (const struct k_usdt_arg *)f->probe->pvdata + n;
	int64_t how = a->size;
	uint64_t size = (uint64_t)(how < 0 ? -how : how), shift = (64 - 8 * size) & 63;
	uint64_t v = operand((const uint64_t *)(void *)f->thread->k.big, a, (uint32_t)size);

	return how < 0 ? (uint64_t)((int64_t)(v << shift) >> shift) : v << shift >> shift;
}
