/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions as text, in the style of llvm-objdump: w1 is the low half of r1, u and s before a
 * width mean zero- and sign-extension, jumps are relative to the next instruction. The helpers
 * return what snprintf() does.
 */
#include <inttypes.h>

#include "ops.h"

static const char *sign(unsigned op)
{
	switch (op) {
	case EBPF_O_ADD: return "+=";
	case EBPF_O_SUB: return "-=";
	case EBPF_O_MUL: return "*=";
	case EBPF_O_DIV: return "/=";
	case EBPF_O_SDIV: return "s/=";
	case EBPF_O_MOD: return "%=";
	case EBPF_O_SMOD: return "s%=";
	case EBPF_O_OR: return "|=";
	case EBPF_O_AND: return "&=";
	case EBPF_O_XOR: return "^=";
	case EBPF_O_LSH: return "<<=";
	case EBPF_O_RSH: return ">>=";
	case EBPF_O_ARSH: return "s>>=";
	case EBPF_O_MOV: return "=";
	case EBPF_O_MOVSX8: return "= (s8)";
	case EBPF_O_MOVSX16: return "= (s16)";
	case EBPF_O_MOVSX32: return "= (s32)";
	case EBPF_O_NEG: return "= -";
	case EBPF_O_LE: return "le";
	case EBPF_O_BE: return "be";
	case EBPF_O_BSWAP: return "bswap";
	case EBPF_O_JEQ: return "==";
	case EBPF_O_JNE: return "!=";
	case EBPF_O_JGT: return ">";
	case EBPF_O_JLE: return "<=";
	case EBPF_O_JGE: return ">=";
	case EBPF_O_JLT: return "<";
	case EBPF_O_JSGT: return "s>";
	case EBPF_O_JSLE: return "s<=";
	case EBPF_O_JSGE: return "s>=";
	case EBPF_O_JSLT: return "s<";
	case EBPF_O_JSET: return "&";
	default: return "?";
	}
}

static int atomic(
	const struct ebpf_insn *insn, const struct ebpf_info *info, char *buf, size_t size)
{
	char place[32];
	char w = info->bits == 64 ? 'r' : 'w';

	snprintf(place, sizeof(place), "(u%d *)(r%d %c %d)", info->bits, insn->dst,
		insn->off < 0 ? '-' : '+', insn->off < 0 ? -insn->off : insn->off);
	switch (info->op) {
	case EBPF_O_XCHG:
		return snprintf(
			buf, size, "%c%d = xchg(%s, %c%d)", w, insn->src, place, w, insn->src);
	case EBPF_O_CMPXCHG:
		return snprintf(
			buf, size, "%c0 = cmpxchg(%s, %c0, %c%d)", w, place, w, w, insn->src);
	}
	if (!(info->sub & EBPF_ATOMIC_FETCH))
		return snprintf(buf, size, "lock *%s %s %c%d", place, sign(info->op), w, insn->src);
	return snprintf(buf, size, "%c%d = fetch_%s(%s, %c%d)", w, insn->src,
		info->op == EBPF_O_ADD	 ? "add"
		: info->op == EBPF_O_OR	 ? "or"
		: info->op == EBPF_O_AND ? "and"
					 : "xor",
		place, w, insn->src);
}

static int memory(
	const struct ebpf_insn *insn, const struct ebpf_info *info, char *buf, size_t size)
{
	int base = info->form == EBPF_F_LDX ? insn->src : insn->dst;
	char place[40];

	snprintf(place, sizeof(place), "*(%c%d *)(r%d %c %d)",
		info->op == EBPF_O_LOADSX ? 's' : 'u', info->bits, base, insn->off < 0 ? '-' : '+',
		insn->off < 0 ? -insn->off : insn->off);
	switch (info->form) {
	case EBPF_F_LDX: return snprintf(buf, size, "r%d = %s", insn->dst, place);
	case EBPF_F_ST: return snprintf(buf, size, "%s = %d", place, insn->imm);
	default: return snprintf(buf, size, "%s = r%d", place, insn->src);
	}
}

static int call(const struct ebpf_insn *insn, const struct ebpf_env *env, char *buf, size_t size)
{
	if (env != NULL && (uint32_t)insn->imm < env->nfns)
		return snprintf(buf, size, "call %s", env->fns[insn->imm].name);
	return snprintf(buf, size, "call %d", insn->imm);
}

int ebpf_disasm(const struct ebpf_insn *insn, const struct ebpf_env *env, char *buf, size_t size)
{
	const struct ebpf_info *info = ebpf_decode(insn);
	const char *op = info ? sign(info->op) : "";
	int dst = insn->dst, src = insn->src, off = insn->off, imm = insn->imm;
	char w;

	if (info == NULL) {
		snprintf(buf, size, "unknown 0x%02x", insn->code);
		return 1;
	}
	w = info->bits == 64 ? 'r' : 'w';
	switch ((enum ebpf_form)info->form) {
	case EBPF_F_ALU_IMM:
	case EBPF_F_MOV_IMM: snprintf(buf, size, "%c%d %s %d", w, dst, op, imm); break;
	case EBPF_F_ALU_REG:
	case EBPF_F_MOV_REG: snprintf(buf, size, "%c%d %s %c%d", w, dst, op, w, src); break;
	case EBPF_F_UNARY: snprintf(buf, size, "%c%d %s%c%d", w, dst, op, w, dst); break;
	case EBPF_F_END: snprintf(buf, size, "r%d = %s%d r%d", dst, op, info->bits, dst); break;
	case EBPF_F_LDDW:
		if (src == EBPF_LDDW_STR)
			snprintf(buf, size, "r%d = string %d", dst, imm);
		else
			snprintf(buf, size, "r%d = 0x%" PRIx64 " ll", dst, ebpf_imm64(insn));
		return 2;
	case EBPF_F_LDX:
	case EBPF_F_ST:
	case EBPF_F_STX: memory(insn, info, buf, size); break;
	case EBPF_F_ATOMIC: atomic(insn, info, buf, size); break;
	case EBPF_F_JA: snprintf(buf, size, "goto %+d", off); break;
	case EBPF_F_JA32: snprintf(buf, size, "gotol %+d", imm); break;
	case EBPF_F_JMP_IMM:
		snprintf(buf, size, "if %c%d %s %d goto %+d", w, dst, op, imm, off);
		break;
	case EBPF_F_JMP_REG:
		snprintf(buf, size, "if %c%d %s %c%d goto %+d", w, dst, op, w, src, off);
		break;
	case EBPF_F_CALL: call(insn, env, buf, size); break;
	case EBPF_F_EXIT: snprintf(buf, size, "exit"); break;
	case EBPF_NFORMS: break;
	}
	return 1;
}
