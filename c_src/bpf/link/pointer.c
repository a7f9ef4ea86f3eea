/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pointers to memory, as the verifier wants them, of addresses that are numbers.
 *
 * In an arena that is a cast to its address space. In a window (link.h) it is the address of the
 * map's value and the low bits of the number, so few that the verifier sees that it stays within;
 * a number that is no address of the window becomes one. That takes a second register, which holds
 * the address of the value: one that the function does not use at all, if there is one. Else it is
 * one that is not live there, or one that is lent meanwhile.
 */
#include "piece.h"

static void window_into(struct link *l, int reg)
{
	link_constant(
		l, reg, PSEUDO_MAP_VALUE, (uint32_t)l->in->memory_fd | (uint64_t)EBPF_GUARD << 32);
}

void pointer_lend(struct body *b, int reg, int local)
{
	link_emit(b->l, EBPF_STXDW, R10, reg, -b->frame - local, 0);
}

void pointer_return(struct body *b, int reg, int local)
{
	link_emit(b->l, EBPF_LDXDW, reg, R10, -b->frame - local, 0);
}

static bool calls(const struct piece *p)
{
	for (unsigned i = 0; i < p->n; i++) {
		if (p->insns[i].code == EBPF_CALL)
			return true;
		if (p->insns[i].code == EBPF_LDDW)
			i++;
	}
	return false;
}

static bool accesses_memory(const struct body *b)
{
	for (unsigned i = 0; i < b->p->n; i++) {
		const struct ebpf_insn *in = &b->p->insns[i];
		unsigned class = in->code & 7;

		if ((class == CLASS_LDX && !(b->kinds[i] >> in->src & 1)) ||
			((class == CLASS_ST || class == CLASS_STX) &&
				!(b->kinds[i] >> in->dst & 1)))
			return true;
		if (in->code == EBPF_LDDW)
			i++;
	}
	return false;
}

/* A register that the function does not use, and which keeps what it holds from here on; or -1. */
static int spare(struct body *b, int last)
{
	for (int r = R9; r >= last; r--) {
		if ((b->uses | b->live[0]) >> r & 1)
			continue;
		b->uses |= 1u << r;
		for (unsigned i = 0; i <= b->p->n; i++)
			b->live[i] |= 1u << r;
		return r;
	}
	return -1;
}

/* The window's address in a register that stays as it is: calls keep the last four. */
void pointer_open(struct body *b)
{
	int last = calls(b->p) || b->nloops > 0 ? R6 : R0;

	if (b->l->in->window == 0) {
		if (b->p->is_entry) /* so that the kernel knows which arena */
			link_constant(b->l, R0, PSEUDO_MAP_FD, (uint32_t)b->l->in->memory_fd);
		return;
	}
	if (accesses_memory(b))
		b->window = spare(b, last);
	if (b->callback != NULL)
		b->parent = spare(b, R6);
	if (b->window >= 0)
		window_into(b->l, b->window);
}

int pointer_free(const struct body *b, unsigned at, int reg)
{
	unsigned busy = b->live[at] | 1u << reg;

	for (int r = R0; r <= R5; r++)
		if (!(busy >> r & 1) && b->pointer_of[r] == 0)
			return r;
	for (int r = R0; r < R10; r++)
		if (!(busy >> r & 1) && (r <= R5 || (b->uses >> r & 1)))
			return r;
	return -1;
}

/* An atomic access wants it to be aligned. */
static int32_t window_mask(const struct link *l, const struct ebpf_insn *in)
{
	unsigned class = in->code & 7, align = 1;

	if (class == CLASS_STX && (in->code & 0xe0) == MODE_ATOMIC)
		align = in->code == EBPF_ATOMIC64 ? 8 : 4;
	return (int32_t)(l->in->window - align);
}

void pointer_make(struct body *b, unsigned at, int reg, int base)
{
	struct link *l = b->l;
	int other = b->window;
	bool lent;

	if (l->in->window == 0) {
		link_emit(l, OP_CAST, reg, base, 1, TO_KERNEL);
		return;
	}
	if (reg != base)
		link_emit(l, EBPF_MOV64_REG, reg, base, 0, 0);
	link_emit(l, EBPF_AND64_IMM, reg, 0, 0, window_mask(l, &b->p->insns[at]));
	if (other >= 0) {
		link_emit(l, EBPF_ADD64_REG, reg, other, 0, 0);
		return;
	}
	other = pointer_free(b, at, reg);
	lent = other < 0; /* all are live, and R0 and R1 are */
	if (lent)
		pointer_lend(b, other = reg == R0 ? R1 : R0, LOCAL_LENT);
	else
		access_forget(b, 1u << other);
	window_into(l, other);
	link_emit(l, EBPF_ADD64_REG, reg, other, 0, 0);
	if (lent)
		pointer_return(b, other, LOCAL_LENT);
}

void pointer_constant(struct link *l, int reg, uint64_t address)
{
	uint64_t window = l->in->window;

	if (window == 0) {
		link_constant(l, reg, 0, address);
		link_emit(l, OP_CAST, reg, reg, 1, TO_KERNEL);
		return;
	}
	link_constant(l, reg, PSEUDO_MAP_VALUE,
		(uint32_t)l->in->memory_fd | (EBPF_GUARD + (address & (window - 1))) << 32);
}
