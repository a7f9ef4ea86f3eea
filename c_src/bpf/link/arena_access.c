/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads and stores in the arena. They go through a register that holds the base, cast to the
 * arena's address space. The base register itself keeps its number: the verifier can go on
 * reasoning about it, and casting back would cost more than the access. So the cast goes into a
 * register that is not live there, and serves the accesses that follow until either register is
 * written or control flow joins.
 */
#include "piece.h"

enum { FIRST_SAVED = R6 }; /* from there on a function has to save what it uses */

void access_forget(struct body *b, unsigned regs)
{
	for (unsigned r = 0; r < 11; r++)
		if ((regs >> r & 1) || (b->cast_of[r] != 0 && (regs >> (b->cast_of[r] - 1) & 1)))
			b->cast_of[r] = 0;
}

int access_cast(struct body *b, unsigned reg)
{
	for (int r = 0; r < 10; r++)
		if (b->cast_of[r] == reg + 1)
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

/* The accesses that come next by this base, as long as the register would hold its cast. */
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

static void cast_into(struct body *b, int reg, unsigned base)
{
	link_emit(b->l, OP_CAST, reg, (int)base, 1, TO_KERNEL);
	access_forget(b, 1u << reg);
	b->cast_of[reg] = (uint8_t)(base + 1);
	b->uses |= 1u << reg;
}

void access_load(struct body *b, unsigned at)
{
	const struct ebpf_insn *in = &b->p->insns[at];
	bool extends = (in->code & 0xe0) == MODE_MEMSX;
	unsigned shift = (in->code & 0x18) == 0x10 ? 56 : (in->code & 0x18) == 8 ? 48 : 32;
	int reg = access_cast(b, in->src);

	if (reg < 0 && in->src != in->dst) {
		reg = free_register(b, at, in->src, 1);
		if (reg >= 0)
			cast_into(b, reg, in->src);
	}
	if (reg < 0) {
		reg = in->dst;
		link_emit(b->l, OP_CAST, reg, in->src, 1, TO_KERNEL);
	}
	link_emit(b->l, (uint8_t)(extends ? (in->code & 0x1f) | 0x60 : in->code), in->dst, reg,
		in->off, 0);
	if (extends) {
		link_emit(b->l, EBPF_LSH64_IMM, in->dst, 0, 0, (int32_t)shift);
		link_emit(b->l, EBPF_ARSH64_IMM, in->dst, 0, 0, (int32_t)shift);
	}
}

/* No register is free: the base is cast and cast back, or another one is saved meanwhile. */
static void store_hard(struct body *b, const struct ebpf_insn *in)
{
	int base = in->dst, other = base == R0 ? R1 : R0;

	if ((in->code & 7) != CLASS_STX || in->src != in->dst) {
		link_emit(b->l, OP_CAST, base, base, 1, TO_KERNEL);
		link_emit(b->l, in->code, base, in->src, in->off, in->imm);
		link_emit(b->l, OP_CAST, base, base, 1, TO_USER);
		return;
	}
	link_emit(b->l, EBPF_STXDW, R10, other, -b->frame - 8, 0);
	link_emit(b->l, OP_CAST, other, base, 1, TO_KERNEL);
	link_emit(b->l, in->code, other, in->src, in->off, in->imm);
	link_emit(b->l, EBPF_LDXDW, other, R10, -b->frame - 8, 0);
}

void access_store(struct body *b, unsigned at)
{
	const struct ebpf_insn *in = &b->p->insns[at];
	int reg = access_cast(b, in->dst);

	if (reg < 0) {
		reg = free_register(b, at, in->dst, -2);
		if (reg < 0) {
			store_hard(b, in);
			return;
		}
		cast_into(b, reg, in->dst);
	}
	link_emit(b->l, in->code, reg, in->src, in->off, in->imm);
}
