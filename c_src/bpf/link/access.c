/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads and stores in memory. They go through a register that holds the base made a pointer
 * (pointer.c). The base register itself keeps its number: the verifier can go on reasoning about
 * it, and making it a number again would cost more than the access. So the pointer goes into a
 * register that is not live there, and serves the accesses that follow until either register is
 * written or control flow joins.
 */
#include "piece.h"

enum { FIRST_SAVED = R6 }; /* from there on a function has to save what it uses */

void access_forget(struct body *b, unsigned regs)
{
	for (unsigned r = 0; r < 11; r++)
		if ((regs >> r & 1) ||
			(b->pointer_of[r] != 0 && (regs >> (b->pointer_of[r] - 1) & 1)))
			b->pointer_of[r] = 0;
}

int access_pointer(struct body *b, unsigned reg)
{
	for (int r = 0; r < 10; r++)
		if (b->pointer_of[r] == reg + 1)
			return r;
	return -1;
}

static bool accesses(const struct body *b, unsigned at, unsigned base)
{
	const struct ebpf_insn *in = &b->p->insns[at];
	unsigned class = in->code & 7;

	if (b->kinds[at] >> base & 1)
		return false;
	return class == CLASS_LDX ? in->src == base
				  : (class == CLASS_ST || class == CLASS_STX) && in->dst == base;
}

/* The accesses that come next by this base, as long as the register would hold its pointer. */
static int serves(const struct body *b, unsigned at, unsigned base, unsigned reg)
{
	int n = 0;

	for (unsigned i = at + 1; i < b->p->n && !b->joins[i]; i++) {
		const struct ebpf_insn *in = &b->p->insns[i];

		n += accesses(b, i, base);
		if ((flow_writes(in) & (1u << base | 1u << reg)) || !flow_goes_on(in))
			break;
		if (in->code == EBPF_LDDW)
			i++;
	}
	return n;
}

/* A register that is free there, and the one that serves most accesses after. -1: none. */
static int free_register(const struct body *b, unsigned at, unsigned base, int least)
{
	unsigned busy = b->live[at] | flow_writes(&b->p->insns[at]) | 1u << base;
	int best = -1, most = least - 1;

	for (unsigned r = 0; r < 10; r++) {
		int n;

		if (busy >> r & 1)
			continue;
		n = serves(b, at, base, r);
		if (r >= FIRST_SAVED && !(b->uses >> r & 1))
			n -= 2;
		if (n > most) {
			most = n;
			best = (int)r;
		}
	}
	return best;
}

static void pointer_into(struct body *b, unsigned at, int reg, unsigned base)
{
	pointer_make(b, at, reg, (int)base);
	access_forget(b, 1u << reg);
	b->pointer_of[reg] = (uint8_t)(base + 1);
	b->uses |= 1u << reg;
}

void access_load(struct body *b, unsigned at)
{
	const struct ebpf_insn *in = &b->p->insns[at];
	bool extends = (in->code & 0xe0) == MODE_MEMSX;
	unsigned shift = (in->code & 0x18) == 0x10 ? 56 : (in->code & 0x18) == 8 ? 48 : 32;
	int reg = access_pointer(b, in->src);

	if (reg < 0 && in->src != in->dst) {
		reg = free_register(b, at, in->src, 1);
		if (reg >= 0)
			pointer_into(b, at, reg, in->src);
	}
	if (reg < 0) {
		reg = in->dst;
		pointer_make(b, at, reg, in->src);
	}
	link_emit(b->l, (uint8_t)(extends ? (in->code & 0x1f) | 0x60 : in->code), in->dst, reg,
		in->off, 0);
	if (extends) {
		link_emit(b->l, EBPF_LSH64_IMM, in->dst, 0, 0, (int32_t)shift);
		link_emit(b->l, EBPF_ARSH64_IMM, in->dst, 0, 0, (int32_t)shift);
	}
}

/* No register is free in an arena: the base is cast and cast back, or another one is lent. */
static void store_hard(struct body *b, const struct ebpf_insn *in)
{
	int base = in->dst, other = base == R0 ? R1 : R0;

	if ((in->code & 7) != CLASS_STX || in->src != in->dst) {
		link_emit(b->l, OP_CAST, base, base, 1, TO_KERNEL);
		link_emit(b->l, in->code, base, in->src, in->off, in->imm);
		link_emit(b->l, OP_CAST, base, base, 1, TO_USER);
		return;
	}
	pointer_lend(b, other, LOCAL_LENT);
	link_emit(b->l, OP_CAST, other, base, 1, TO_KERNEL);
	link_emit(b->l, in->code, other, in->src, in->off, in->imm);
	pointer_return(b, other, LOCAL_LENT);
}

/* In a window a pointer cannot become a number again. That of an atomic access serves no other. */
static void store_window(struct body *b, unsigned at)
{
	const struct ebpf_insn *in = &b->p->insns[at];
	int reg = pointer_free(b, at, in->dst);
	bool lent = reg < 0;

	if (lent) {
		for (reg = R1; reg == in->dst || reg == in->src;)
			reg++;
		pointer_lend(b, reg, LOCAL_LENT_TOO);
	}
	access_forget(b, 1u << reg);
	pointer_make(b, at, reg, in->dst);
	link_emit(b->l, in->code, reg, in->src, in->off, in->imm);
	if (lent)
		pointer_return(b, reg, LOCAL_LENT_TOO);
}

static bool is_atomic(const struct ebpf_insn *in)
{
	return (in->code & 7) == CLASS_STX && (in->code & 0xe0) == MODE_ATOMIC;
}

void access_store(struct body *b, unsigned at)
{
	const struct ebpf_insn *in = &b->p->insns[at];
	int reg = access_pointer(b, in->dst);
	bool window = b->l->in->window != 0;

	if (window && is_atomic(in)) {
		store_window(b, at);
		return;
	}
	if (reg < 0) {
		reg = free_register(b, at, in->dst, -2);
		if (reg < 0) {
			if (window)
				store_window(b, at);
			else
				store_hard(b, in);
			return;
		}
		pointer_into(b, at, reg, in->dst);
	}
	link_emit(b->l, in->code, reg, in->src, in->off, in->imm);
}
