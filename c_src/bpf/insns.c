/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of insns.def as data, and look-ups in it. Nothing here allocates; all of it may be
 * called on the probe path.
 */
#include "ebpf.h"

/* Flags of each form. */
enum {
	FLAGS_ALU_IMM = EBPF_READS_DST | EBPF_WRITES_DST,
	FLAGS_ALU_REG = EBPF_READS_DST | EBPF_WRITES_DST | EBPF_READS_SRC,
	FLAGS_MOV_IMM = EBPF_WRITES_DST,
	FLAGS_MOV_REG = EBPF_WRITES_DST | EBPF_READS_SRC,
	FLAGS_UNARY = EBPF_READS_DST | EBPF_WRITES_DST,
	FLAGS_END = EBPF_READS_DST | EBPF_WRITES_DST,
	FLAGS_LDDW = EBPF_WRITES_DST,
	FLAGS_LDX = EBPF_WRITES_DST | EBPF_READS_SRC,
	FLAGS_ST = EBPF_READS_DST,
	FLAGS_STX = EBPF_READS_DST | EBPF_READS_SRC,
	FLAGS_ATOMIC = EBPF_READS_DST | EBPF_READS_SRC,
	FLAGS_JA = EBPF_JUMPS,
	FLAGS_JA32 = EBPF_JUMPS,
	FLAGS_JMP_IMM = EBPF_READS_DST | EBPF_JUMPS | EBPF_CONDITIONAL,
	FLAGS_JMP_REG = EBPF_READS_DST | EBPF_READS_SRC | EBPF_JUMPS | EBPF_CONDITIONAL,
	FLAGS_CALL = 0,
	FLAGS_EXIT = 0,
};

static const struct ebpf_info rows[EBPF_NROWS] = {
#define INSN(name, code, sub, form, op, bits)                                                      \
	{#name, (code), sub, EBPF_F_##form, EBPF_O_##op, bits, EBPF_I_##name, FLAGS_##form},
#include "insns.def"
};

/*
 * Row + 1 by code. Where rows share a code, each initialiser overrides the one before, so this is
 * the last of them; the others are just above it.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
static const uint8_t last_row[256] = {
#define INSN(name, code, sub, form, op, bits) [code] = EBPF_I_##name + 1,
#include "insns.def"
};
#pragma GCC diagnostic pop

_Static_assert(EBPF_NROWS < 256, "rows are numbered in bytes");

const struct ebpf_info *ebpf_decode(const struct ebpf_insn *insn)
{
	unsigned row = last_row[insn->code];
	int32_t sub;

	if (row == 0)
		return NULL;
	row--;
	switch (rows[row].form) {
	case EBPF_F_ALU_IMM:
	case EBPF_F_ALU_REG:
	case EBPF_F_MOV_REG: sub = insn->off; break;
	case EBPF_F_END:
	case EBPF_F_ATOMIC: sub = insn->imm; break;
	default: return &rows[row];
	}
	for (;;) {
		if (rows[row].sub == sub)
			return &rows[row];
		if (row == 0 || rows[row - 1].code != insn->code)
			return NULL;
		row--;
	}
}

const char *ebpf_malformed(const struct ebpf_insn *insn)
{
	const struct ebpf_info *info = ebpf_decode(insn);
	bool src = false, off = false, imm = false; /* used? */

	if (info == NULL)
		return "unknown instruction";
	switch ((enum ebpf_form)info->form) {
	case EBPF_F_ALU_IMM: off = imm = true; break;
	case EBPF_F_ALU_REG: off = src = true; break;
	case EBPF_F_MOV_IMM: imm = true; break;
	case EBPF_F_MOV_REG: off = src = true; break;
	case EBPF_F_END: imm = true; break;
	case EBPF_F_LDDW: src = imm = true; break;
	case EBPF_F_LDX: src = off = true; break;
	case EBPF_F_ST: off = imm = true; break;
	case EBPF_F_STX: src = off = true; break;
	case EBPF_F_ATOMIC: src = off = imm = true; break;
	case EBPF_F_JA: off = true; break;
	case EBPF_F_JA32: imm = true; break;
	case EBPF_F_JMP_IMM: off = imm = true; break;
	case EBPF_F_JMP_REG: src = off = true; break;
	case EBPF_F_CALL: imm = true; break;
	case EBPF_F_UNARY:
	case EBPF_F_EXIT:
	case EBPF_NFORMS: break;
	}
	if ((!src && insn->src) || (!off && insn->off) || (!imm && insn->imm) ||
		(!(info->flags & (EBPF_READS_DST | EBPF_WRITES_DST)) && insn->dst))
		return "a reserved field is not 0";
	if (insn->dst > R10 || (info->form != EBPF_F_LDDW && insn->src > R10))
		return "no such register";
	if (insn->dst == R10 && (info->flags & EBPF_WRITES_DST))
		return "r10 is read only";
	if (info->form == EBPF_F_ATOMIC && insn->src == R10 && (info->sub & EBPF_ATOMIC_FETCH))
		return "r10 is read only";
	if (info->form == EBPF_F_LDDW && insn->src > EBPF_LDDW_STR)
		return "unknown kind of constant";
	if (info->form == EBPF_F_ALU_IMM && info->op >= EBPF_O_LSH && info->op <= EBPF_O_ARSH &&
		(insn->imm < 0 || insn->imm >= info->bits))
		return "shift out of range";
	return NULL;
}

uint8_t ebpf_opposite(uint8_t code)
{
	const struct ebpf_info *info = &rows[last_row[code] - 1];

	if (last_row[code] == 0)
		return 0;
	switch (info->op) { /* the operation is the upper half of the code */
	case EBPF_O_JEQ: return 0x50 | (code & 0xf);
	case EBPF_O_JNE: return 0x10 | (code & 0xf);
	case EBPF_O_JGT: return 0xb0 | (code & 0xf);
	case EBPF_O_JLE: return 0x20 | (code & 0xf);
	case EBPF_O_JGE: return 0xa0 | (code & 0xf);
	case EBPF_O_JLT: return 0x30 | (code & 0xf);
	case EBPF_O_JSGT: return 0xd0 | (code & 0xf);
	case EBPF_O_JSLE: return 0x60 | (code & 0xf);
	case EBPF_O_JSGE: return 0xc0 | (code & 0xf);
	case EBPF_O_JSLT: return 0x70 | (code & 0xf);
	default: return 0;
	}
}

const struct ebpf_direct *ebpf_direct_of(const struct ebpf_direct *direct, unsigned n,
	const struct ebpf_insn *insns, unsigned call)
{
	for (unsigned i = 0; i < n; i++)
		if ((unsigned)insns[call].imm == direct[i].fn &&
			ebpf_const_arg(insns, call, R2) == direct[i].which)
			return &direct[i];
	return NULL;
}

int64_t ebpf_const_arg(const struct ebpf_insn *insns, unsigned call, unsigned reg)
{
	while (call-- > 0)
		if (insns[call].code == EBPF_MOV64_IMM && insns[call].dst == reg)
			return insns[call].imm;
	return -1;
}
