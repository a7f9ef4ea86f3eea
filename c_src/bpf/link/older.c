/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions that came with Linux 6.6, made of older ones: moves and loads that extend a sign,
 * signed division, byte swaps. Programs have them (../insns.def); functions of the object are
 * compiled without.
 */
#include "piece.h"

static void extend(struct link *l, int reg, int bits)
{
	link_emit(l, EBPF_LSH64_IMM, reg, 0, 0, 64 - bits);
	link_emit(l, EBPF_ARSH64_IMM, reg, 0, 0, 64 - bits);
}

/* reg becomes -reg where sign is negative. */
static void negate(struct link *l, int reg, int sign)
{
	link_emit(l, EBPF_JSGE_IMM, sign, 0, 1, 0);
	link_emit(l, EBPF_NEG64, reg, 0, 0, 0);
}

static int borrow(struct body *b, unsigned at, unsigned besides, int local, bool *lent)
{
	unsigned busy = b->live[at] | besides;
	int reg = R0;

	while (reg <= R5 && (busy >> reg & 1))
		reg++;
	*lent = reg > R5;
	if (!*lent) {
		access_forget(b, 1u << reg);
		return reg;
	}
	for (reg = R0; besides >> reg & 1;) /* all are live: this one too */
		reg++;
	pointer_lend(b, reg, local);
	return reg;
}

/* By the numbers without their signs; that of the result is the dividend's, or of both. */
static void divide(struct body *b, unsigned at)
{
	const struct ebpf_insn *in = &b->p->insns[at];
	struct link *l = b->l;
	bool wide = (in->code & 7) == CLASS_ALU64, mod = (in->code & 0xf0) == 0x90, lent, lent_too;
	unsigned both = 1u << in->dst | (in->code & 8 ? 1u << in->src : 0);
	int by = borrow(b, at, both, LOCAL_LENT, &lent),
	    sign = borrow(b, at, both | 1u << by, LOCAL_LENT_TOO, &lent_too);

	if (in->code & 8)
		link_emit(l, EBPF_MOV64_REG, by, in->src, 0, 0);
	else
		link_emit(l, EBPF_MOV64_IMM, by, 0, 0, in->imm);
	if (!wide) {
		extend(l, by, 32);
		extend(l, in->dst, 32);
	}
	link_emit(l, EBPF_MOV64_REG, sign, in->dst, 0, 0);
	if (!mod)
		link_emit(l, EBPF_XOR64_REG, sign, by, 0, 0);
	negate(l, by, by);
	negate(l, in->dst, in->dst);
	link_emit(l, mod ? EBPF_MOD64_REG : EBPF_DIV64_REG, in->dst, by, 0, 0);
	negate(l, in->dst, sign);
	if (!wide)
		link_emit(l, EBPF_MOV32_REG, in->dst, in->dst, 0, 0);
	if (lent_too)
		pointer_return(b, sign, LOCAL_LENT_TOO);
	if (lent)
		pointer_return(b, by, LOCAL_LENT);
}

/* A load from the stack or the context; those from memory are access.c's. */
static void load(struct link *l, const struct ebpf_insn *in)
{
	unsigned size = in->code & 0x18;

	link_emit(l, (uint8_t)((in->code & 0x1f) | 0x60), in->dst, in->src, in->off, 0);
	extend(l, in->dst, size == 0x10 ? 8 : size == 8 ? 16 : 32);
}

bool older_insn(struct body *b, unsigned at)
{
	const struct ebpf_insn *in = &b->p->insns[at];
	struct link *l = b->l;
	unsigned class = in->code & 7, op = in->code & 0xf0;

	if (class == CLASS_LDX && (in->code & 0xe0) == MODE_MEMSX) {
		load(l, in);
	} else if (in->code == EBPF_MOV64_REG && in->off != 0) {
		link_emit(l, EBPF_MOV64_REG, in->dst, in->src, 0, 0);
		extend(l, in->dst, in->off);
	} else if (in->code == EBPF_MOV32_REG && in->off != 0) {
		link_emit(l, EBPF_MOV64_REG, in->dst, in->src, 0, 0);
		extend(l, in->dst, in->off);
		link_emit(l, EBPF_MOV32_REG, in->dst, in->dst, 0, 0);
	} else if ((class == CLASS_ALU || class == CLASS_ALU64) && (op == 0x30 || op == 0x90) &&
		   in->off == 1) {
		divide(b, at);
	} else if (in->code == EBPF_BSWAP) { /* of a machine whose low bytes come first */
		link_emit(l, 0xdc, in->dst, 0, 0, in->imm);
	} else {
		return false;
	}
	return true;
}
