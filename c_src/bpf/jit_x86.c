/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JIT for x86-64. It translates one instruction at a time; there is no register allocation.
 *
 * Each BPF register is one machine register for the whole program. The map follows the System V
 * calling convention: r1-r5 are the registers of the first five arguments (rdi, rsi, rdx, rcx, r8)
 * and r0 is rax, so calling a function needs no moves. BPF's callee-saved r6-r9 are callee-saved
 * registers here (rbx, r13, r14, r15), and only those that the program uses are saved. r10 is rbp,
 * which points to the frame. r9, r10 and r11 of the machine are scratch registers within the code
 * of one instruction (they save rax and rdx around a division, for example) and hold nothing
 * between instructions. r12 is unused, because as a base it would need a SIB byte.
 *
 * A program is compiled in passes, see compile(): the first measures it with long jumps only, then
 * jumps that reach their targets with 8 bits are shortened (branch relaxation), and the last one
 * writes the code.
 *
 * Assumes a verified program: jumps go forward and are in range, functions and strings exist.
 */
#ifdef __x86_64__

#include "jit.h"
#include "x86_bytes.h"

/* ---- division ------------------------------------------------------------------------- */

/*
 * dst = dst / r11, or the remainder; r11 is neither 0 nor, if signed, -1. The instruction uses
 * rdx:rax; whichever of them is not dst is saved in a scratch register.
 */
static void divide_by_r11(struct gen *g, bool w, bool is_signed, bool mod, int dst)
{
	if (dst != RAX)
		mov(g, true, XR10, RAX);
	if (dst != RDX)
		mov(g, true, XR9, RDX);
	if (dst != RAX)
		mov(g, w, RAX, dst);
	if (is_signed) {
		rex(g, w, 0, 0, false);
		put1(g, 0x99); /* cdq, cqo */
	} else {
		zero(g, RDX);
	}
	rr(g, w, 0xf7, is_signed ? 7 : 6, XR11);
	if (dst != (mod ? RDX : RAX))
		mov(g, w, dst, mod ? RDX : RAX);
	if (dst != RAX)
		mov(g, true, RAX, XR10);
	if (dst != RDX)
		mov(g, true, RDX, XR9);
}

static void div_reg(struct gen *g, bool w, bool is_signed, bool mod, int dst, int src)
{
	size_t by_zero, by_minus_1 = 0, done, done_too = 0;

	mov(g, w, XR11, src);
	rr(g, w, 0x85, XR11, XR11);
	by_zero = skip(g, CC_E);
	if (is_signed) { /* INT_MIN / -1 would trap */
		arith_imm(g, w, N_CMP, XR11, -1);
		by_minus_1 = skip(g, CC_E);
	}
	divide_by_r11(g, w, is_signed, mod, dst);
	done = skip(g, -1);
	if (is_signed) {
		land(g, by_minus_1);
		if (mod)
			zero(g, dst);
		else
			rr(g, w, 0xf7, 3, dst);
		done_too = skip(g, -1);
	}
	land(g, by_zero);
	if (mod)
		mov(g, w, dst, dst);
	else
		zero(g, dst);
	if (is_signed)
		land(g, done_too);
	land(g, done);
}

/*
 * 64-bit division of dst by a constant, or its remainder, by multiplication: the high half of n
 * times m is close to the quotient, the rest is correction (Granlund, Montgomery: Division by
 * Invariant Integers using Multiplication, 1994, figures 4.1 and 5.2). A division instruction takes
 * several times as long.
 */
static void div_by_mul(struct gen *g, bool is_signed, bool mod, int dst, int32_t by)
{
	unsigned l = 32 - (unsigned)__builtin_clz((unsigned)by - 1); /* by <= 2^l */
	unsigned twos = (unsigned)__builtin_ctz((unsigned)by);
	bool even = !is_signed && !mod && twos != 0; /* n / 2 needs no correction: figure 4.2 */
	unsigned __int128 one = 1;
	uint64_t m;

	if (even)
		m = (uint64_t)((one << (63 + l - twos)) / ((unsigned)by >> twos) + 1);
	else if (is_signed) /* minus 2^64, which is accounted for by adding n */
		m = (uint64_t)((one << (63 + l)) / (unsigned)by + 1);
	else
		m = (uint64_t)((one << 64) * ((one << l) - (unsigned)by) / (unsigned)by + 1);
	mov(g, true, XR11, dst);
	if (dst != RAX)
		mov(g, true, XR10, RAX);
	if (dst != RDX)
		mov(g, true, XR9, RDX);
	mov_imm(g, RAX, m);
	if (even)
		shift_imm(g, true, 5, XR11, twos);
	rr(g, true, 0xf7, is_signed ? 5 : 4, XR11); /* rdx = the high half */
	if (even) {
		mov(g, true, RAX, RDX);
		if (l - twos > 1)
			shift_imm(g, true, 5, RAX, l - twos - 1);
	} else if (is_signed) {			    /* ((n + rdx) >> (l - 1)) + (n < 0) */
		rr(g, true, 0x01, XR11, RDX);
		if (l > 1)
			shift_imm(g, true, 7, RDX, l - 1);
		mov(g, true, RAX, XR11);
		shift_imm(g, true, 5, RAX, 63);
		rr(g, true, 0x01, RDX, RAX);
	} else { /* (((n - rdx) >> 1) + rdx) >> (l - 1) */
		mov(g, true, RAX, XR11);
		rr(g, true, 0x29, RDX, RAX);
		shift_imm(g, true, 5, RAX, 1);
		rr(g, true, 0x01, RDX, RAX);
		if (l > 1)
			shift_imm(g, true, 5, RAX, l - 1);
	}
	if (mod) {
		rr(g, true, fits8(by) ? 0x6b : 0x69, RAX, RAX);
		put_le(g, (uint64_t)by, fits8(by) ? 1 : 4);
		rr(g, true, 0x29, RAX, XR11);
	}
	if (dst != RDX)
		mov(g, true, RDX, XR9);
	mov(g, true, dst, mod ? XR11 : RAX);
	if (dst != RAX)
		mov(g, true, RAX, XR10);
}

static void div_imm(struct gen *g, bool w, bool is_signed, bool mod, int dst, int32_t imm)
{
	uint64_t by = w ? (uint64_t)(int64_t)imm : (uint32_t)imm;

	if (imm == 1 || imm == 0 || (is_signed && imm == -1)) {
		if (mod ? imm != 0 : imm == 0)
			zero(g, dst);
		else if (imm == -1)
			rr(g, w, 0xf7, 3, dst);
		else
			mov(g, w, dst, dst);
	} else if (!is_signed && (by & (by - 1)) == 0) {
		if (!mod)
			shift_imm(g, w, 5, dst, (unsigned)__builtin_ctzll(by));
		else /* 2^31 at most, and the mask clears the upper half */
			arith_imm(g, false, N_AND, dst, (int32_t)(by - 1));
	} else if (w && imm > 0) {
		div_by_mul(g, is_signed, mod, dst, imm);
	} else {
		mov_imm(g, XR11, by);
		divide_by_r11(g, w, is_signed, mod, dst);
	}
}

/* ---- arithmetic ----------------------------------------------------------------------- */

/* shlx, shrx, sarx: any registers, flags are not affected */
static void shift_bmi2(struct gen *g, bool w, int n, int dst, int src)
{
	unsigned pp = n == 4 ? 1 : n == 5 ? 3 : 2;

	put1(g, 0xc4);
	put1(g, (dst < 8 ? 0x80u : 0) | 0x40 | (dst < 8 ? 0x20u : 0) | 2);
	put1(g, (unsigned)w << 7 | (unsigned)(~src & 15) << 3 | pp);
	put1(g, 0xf7);
	put1(g, 0xc0u | (unsigned)(dst & 7) << 3 | (unsigned)(dst & 7));
}

/* Without BMI2 the count must be in cl, which is BPF's r4. */
static void shift_reg(struct gen *g, bool w, int n, int dst, int src)
{
	if (g->bmi2) {
		shift_bmi2(g, w, n, dst, src);
	} else if (src == RCX && dst != RCX) {
		rr(g, w, 0xd3, n, dst);
	} else if (dst == RCX) {
		mov(g, true, XR11, RCX);
		mov(g, true, RCX, src);
		rr(g, w, 0xd3, n, XR11);
		mov(g, true, RCX, XR11);
	} else {
		mov(g, true, XR11, RCX);
		mov(g, true, RCX, src);
		rr(g, w, 0xd3, n, dst);
		mov(g, true, RCX, XR11);
	}
}

static void mul_imm(struct gen *g, bool w, int dst, int32_t imm)
{
	if (imm == 0) {
		zero(g, dst);
	} else if (imm > 0 && (imm & (imm - 1)) == 0) {
		if (imm > 1)
			shift_imm(g, w, 4, dst, (unsigned)__builtin_ctz((unsigned)imm));
		else
			mov(g, w, dst, dst);
	} else {
		rr(g, w, fits8(imm) ? 0x6b : 0x69, dst, dst);
		put_le(g, (uint64_t)(int64_t)imm, fits8(imm) ? 1 : 4);
	}
}

static int shift_n(unsigned op)
{
	return op == EBPF_O_LSH ? 4 : op == EBPF_O_RSH ? 5 : 7;
}

static void alu_imm(struct gen *g, const struct ebpf_info *info, int dst, int32_t imm)
{
	bool w = info->bits == 64;

	switch (info->op) {
	case EBPF_O_ADD: arith_imm(g, w, N_ADD, dst, imm); break;
	case EBPF_O_SUB: arith_imm(g, w, N_SUB, dst, imm); break;
	case EBPF_O_OR: arith_imm(g, w, N_OR, dst, imm); break;
	case EBPF_O_AND: /* a non-negative mask clears the upper half anyway */
		arith_imm(g, w && imm < 0, N_AND, dst, imm);
		break;
	case EBPF_O_XOR: arith_imm(g, w, N_XOR, dst, imm); break;
	case EBPF_O_MUL: mul_imm(g, w, dst, imm); break;
	case EBPF_O_DIV: div_imm(g, w, false, false, dst, imm); break;
	case EBPF_O_MOD: div_imm(g, w, false, true, dst, imm); break;
	case EBPF_O_SDIV: div_imm(g, w, true, false, dst, imm); break;
	case EBPF_O_SMOD: div_imm(g, w, true, true, dst, imm); break;
	case EBPF_O_LSH:
	case EBPF_O_RSH:
	case EBPF_O_ARSH:
		if (imm != 0)
			shift_imm(g, w, shift_n(info->op), dst, (unsigned)imm);
		else
			mov(g, w, dst, dst);
		break;
	}
}

static void alu_reg(struct gen *g, const struct ebpf_info *info, int dst, int src)
{
	bool w = info->bits == 64;

	switch (info->op) {
	case EBPF_O_ADD: rr(g, w, 0x01, src, dst); break;
	case EBPF_O_SUB: rr(g, w, 0x29, src, dst); break;
	case EBPF_O_OR: rr(g, w, 0x09, src, dst); break;
	case EBPF_O_AND: rr(g, w, 0x21, src, dst); break;
	case EBPF_O_XOR: rr(g, w, 0x31, src, dst); break;
	case EBPF_O_MUL: rr(g, w, 0x0faf, dst, src); break;
	case EBPF_O_DIV: div_reg(g, w, false, false, dst, src); break;
	case EBPF_O_MOD: div_reg(g, w, false, true, dst, src); break;
	case EBPF_O_SDIV: div_reg(g, w, true, false, dst, src); break;
	case EBPF_O_SMOD: div_reg(g, w, true, true, dst, src); break;
	case EBPF_O_LSH:
	case EBPF_O_RSH:
	case EBPF_O_ARSH: shift_reg(g, w, shift_n(info->op), dst, src); break;
	case EBPF_O_MOV: mov(g, w, dst, src); break;
	case EBPF_O_MOVSX8: rr_byte(g, w, 0x0fbe, dst, src); break;
	case EBPF_O_MOVSX16: rr(g, w, 0x0fbf, dst, src); break;
	case EBPF_O_MOVSX32: rr(g, w, 0x63, dst, src); break;
	}
}

static void swap(struct gen *g, const struct ebpf_info *info, int dst)
{
	bool turn = info->op != EBPF_O_LE;

	if (info->bits == 16) {
		if (turn) { /* ror dst16, 8 */
			put1(g, 0x66);
			shift_imm(g, false, 1, dst, 8);
		}
		rr(g, false, 0x0fb7, dst, dst);
	} else if (turn) { /* bswap */
		rex(g, info->bits == 64, 0, dst, false);
		put2(g, 0x0f, 0xc8u | (unsigned)(dst & 7));
	} else {
		mov(g, info->bits == 64, dst, dst);
	}
}

/* ---- memory --------------------------------------------------------------------------- */

static void load(struct gen *g, const struct ebpf_info *info, int dst, int base, int off)
{
	bool sx = info->op == EBPF_O_LOADSX;

	switch (info->bits) {
	case 8: rm(g, 0, sx, sx ? 0x0fbe : 0x0fb6, dst, base, off, false); break;
	case 16: rm(g, 0, sx, sx ? 0x0fbf : 0x0fb7, dst, base, off, false); break;
	case 32: rm(g, 0, sx, sx ? 0x63 : 0x8b, dst, base, off, false); break;
	default: rm(g, 0, true, 0x8b, dst, base, off, false);
	}
}

static void store(struct gen *g, unsigned bits, int base, int off, int src)
{
	rm(g, bits == 16 ? 0x66 : 0, bits == 64, bits == 8 ? 0x88 : 0x89, src, base, off,
		bits == 8);
}

static void store_imm(struct gen *g, unsigned bits, int base, int off, int32_t imm)
{
	rm(g, bits == 16 ? 0x66 : 0, bits == 64, bits == 8 ? 0xc6 : 0xc7, 0, base, off, false);
	put_le(g, (uint64_t)(int64_t)imm, bits == 64 ? 4 : bits / 8);
}

/*
 * Fetching and, or, xor: a compare-and-swap loop. src receives the old value at the end, so it can
 * hold the new one before.
 */
static void fetch_loop(struct gen *g, bool w, unsigned op, int base, int off, int src)
{
	int new = src == RAX ? XR9 : src;
	size_t loop;

	rm(g, 0, true, 0x8d, XR10, base, off, false); /* lea */
	mov(g, true, XR11, src);
	if (src != RAX)
		mov(g, true, XR9, RAX);
	rm(g, 0, w, 0x8b, RAX, XR10, 0, false);
	loop = g->n;
	mov(g, true, new, RAX);
	rr(g, w, op, XR11, new);
	rm(g, 0xf0, w, 0x0fb1, new, XR10, 0, false);
	put2(g, 0x70 | CC_NE, (unsigned)(loop - (g->n + 2)) & 0xff);
	if (src != RAX) {
		mov(g, true, src, RAX);
		mov(g, true, RAX, XR9);
	}
}

static void atomic(struct gen *g, const struct ebpf_info *info, int base, int off, int src)
{
	static const uint8_t plain[] = {
		[EBPF_O_ADD] = 0x01, [EBPF_O_OR] = 0x09, [EBPF_O_AND] = 0x21, [EBPF_O_XOR] = 0x31};
	bool w = info->bits == 64;

	if (info->op == EBPF_O_XCHG) { /* implicitly locked */
		rm(g, 0, w, 0x87, src, base, off, false);
	} else if (info->op == EBPF_O_CMPXCHG) {
		rm(g, 0xf0, w, 0x0fb1, src, base, off, false);
		if (!w)
			mov(g, false, RAX, RAX); /* zero-extend: unchanged if they were equal */
	} else if (!(info->sub & EBPF_ATOMIC_FETCH)) {
		rm(g, 0xf0, w, plain[info->op], src, base, off, false);
	} else if (info->op == EBPF_O_ADD) {
		rm(g, 0xf0, w, 0x0fc1, src, base, off, false);
	} else {
		fetch_loop(g, w, plain[info->op], base, off, src);
	}
}

/* ---- jumps, calls, prologue, epilogue -------------------------------------------------- */

/* The jump of instruction i over distance instructions; cc < 0: unconditional. */
static void jump(struct gen *g, unsigned i, int cc, unsigned distance)
{
	uint64_t to = 0;
	bool is_short = g->job->note[i] & NOTE_SHORT;
	unsigned size = is_short ? 1 : 4;

	if (distance == 0)
		return;
	if (is_short)
		put1(g, cc < 0 ? 0xeb : 0x70u | (unsigned)cc);
	else if (cc < 0)
		put1(g, 0xe9);
	else
		put2(g, 0x0f, 0x80u | (unsigned)cc);
	if (g->out != NULL)
		to = g->job->pos[i + 1 + distance] - (g->n + size);
	put_le(g, to, size);
}

static void test_imm(struct gen *g, bool w, int dst, int32_t imm)
{
	if (imm >= 0 && imm <= INT8_MAX) {
		rr_byte(g, false, 0xf6, 0, dst);
		put1(g, (unsigned)imm);
	} else {
		rr(g, w && imm < 0, 0xf7, 0, dst);
		put_le(g, (uint64_t)(int64_t)imm, 4);
	}
}

static void branch(struct gen *g, unsigned i, const struct ebpf_info *info)
{
	static const uint8_t ccs[] = {
		[EBPF_O_JEQ] = CC_E,
		[EBPF_O_JNE] = CC_NE,
		[EBPF_O_JGT] = CC_A,
		[EBPF_O_JLE] = CC_BE,
		[EBPF_O_JGE] = CC_AE,
		[EBPF_O_JLT] = CC_B,
		[EBPF_O_JSGT] = CC_G,
		[EBPF_O_JSLE] = CC_LE,
		[EBPF_O_JSGE] = CC_GE,
		[EBPF_O_JSLT] = CC_L,
		[EBPF_O_JSET] = CC_NE,
	};
	const struct ebpf_insn *insn = &g->job->insns[i];
	bool w = info->bits == 64, set = info->op == EBPF_O_JSET;
	int dst = x86_reg[insn->dst];

	if (insn->off == 0)
		return;
	if (info->form == EBPF_F_JMP_REG)
		rr(g, w, set ? 0x85 : 0x39, x86_reg[insn->src], dst);
	else if (set)
		test_imm(g, w, dst, insn->imm);
	else if (insn->imm == 0)
		rr(g, w, 0x85, dst, dst);
	else
		arith_imm(g, w, N_CMP, dst, insn->imm);
	jump(g, i, ccs[info->op], (unsigned)insn->off);
}

/* The code is shorter than the rest of 2^31, so a function this close to its start is in reach. */
#define NEAR ((int64_t)0x70000000)

static void call(struct gen *g, unsigned fn)
{
	uint64_t to = (uintptr_t)g->job->env->fns[fn].fn;
	int64_t away = (int64_t)(to - (uintptr_t)g->base);

	if (g->base != NULL && away < NEAR && away > -NEAR) {
		put1(g, 0xe8);
		put_le(g, to - ((uintptr_t)g->base + g->n + 4), 4);
	} else {
		rex(g, true, 0, RAX, false);
		put1(g, 0xb8);
		put_le(g, to, 8);
		put2(g, 0xff, 0xd0);
	}
}

/* A load instead of a call; false: it is a call. */
static bool read_directly(struct gen *g, unsigned i)
{
	const struct ebpf_env *env = g->job->env;
	const struct ebpf_direct *d =
		ebpf_direct_of(env->direct, env->ndirect, g->job->insns, i);

	if (d == NULL)
		return false;
	rm(g, 0, true, 0x8b, RAX, x86_reg[R1], (int)d->pointer, false);
	rm(g, 0, d->size == 8, 0x8b, RAX, RAX, (int)d->off, false);
	if (d->tag != 0) {
		mov_imm(g, x86_reg[R1], d->tag);
		rr(g, true, 0x09, x86_reg[R1], RAX);
	}
	return true;
}

static void push(struct gen *g, int reg)
{
	rex(g, false, 0, reg, false);
	put1(g, 0x50u | (unsigned)(reg & 7));
}

static void pop(struct gen *g, int reg)
{
	rex(g, false, 0, reg, false);
	put1(g, 0x58u | (unsigned)(reg & 7));
}

/* Which registers are saved, and how much stack is reserved. */
static void plan_frame(struct gen *g)
{
	const struct ebpf_job *job = g->job;
	unsigned bytes = 8; /* the return address */

	for (int i = R6; i <= R9; i++)
		if (job->regs & 1 << i)
			g->saved[g->nsaved++] = x86_reg[i];
	g->frame = job->regs & 1 << R10;
	bytes += 8 * (g->nsaved + g->frame);
	if (g->frame && (job->calls || job->stack > 128)) /* otherwise the red zone is enough */
		g->reserve = (job->stack + 7) & ~7u;
	if (job->calls && (bytes + g->reserve) % 16 != 0) {
		if (g->frame)
			g->reserve += 8;
		else
			g->dummy = true;
	}
}

static void prologue(struct gen *g)
{
	put_le(g, 0xfa1e0ff3, 4); /* endbr64 */
	for (unsigned i = 0; i < g->nsaved; i++)
		push(g, g->saved[i]);
	if (g->frame) {
		push(g, RBP);
		mov(g, true, RBP, RSP);
	}
	if (g->reserve)
		arith_imm(g, true, N_SUB, RSP, (int32_t)g->reserve);
	if (g->dummy)
		push(g, RAX);
}

static void epilogue(struct gen *g)
{
	if (g->dummy)
		pop(g, RCX);
	if (g->frame && g->reserve)
		put1(g, 0xc9); /* leave */
	else if (g->frame)
		pop(g, RBP);
	for (unsigned i = g->nsaved; i-- > 0;)
		pop(g, g->saved[i]);
	put1(g, 0xc3);
}

/* ---- the passes ----------------------------------------------------------------------- */

static uint64_t constant(const struct gen *g, const struct ebpf_insn *insn)
{
	uint64_t v = ebpf_imm64(insn);

	return insn->src == EBPF_LDDW_STR ? g->job->strs[v] : v;
}

static void emit(struct gen *g, unsigned i)
{
	const struct ebpf_insn *insn = &g->job->insns[i];
	const struct ebpf_info *info = ebpf_decode(insn);
	int dst = x86_reg[insn->dst], src = insn->src <= R10 ? x86_reg[insn->src] : 0;

	switch ((enum ebpf_form)info->form) {
	case EBPF_F_ALU_IMM: alu_imm(g, info, dst, insn->imm); break;
	case EBPF_F_ALU_REG:
	case EBPF_F_MOV_REG: alu_reg(g, info, dst, src); break;
	case EBPF_F_MOV_IMM:
		mov_imm(g, dst, info->bits == 64 ? ebpf_imm(insn) : (uint32_t)insn->imm);
		break;
	case EBPF_F_UNARY: rr(g, info->bits == 64, 0xf7, 3, dst); break;
	case EBPF_F_END: swap(g, info, dst); break;
	case EBPF_F_LDDW: mov_imm(g, dst, constant(g, insn)); break;
	case EBPF_F_LDX: load(g, info, dst, src, insn->off); break;
	case EBPF_F_ST: store_imm(g, info->bits, dst, insn->off, insn->imm); break;
	case EBPF_F_STX: store(g, info->bits, dst, insn->off, src); break;
	case EBPF_F_ATOMIC: atomic(g, info, dst, insn->off, src); break;
	case EBPF_F_JA: jump(g, i, -1, (unsigned)insn->off); break;
	case EBPF_F_JA32: jump(g, i, -1, (unsigned)insn->imm); break;
	case EBPF_F_JMP_IMM:
	case EBPF_F_JMP_REG: branch(g, i, info); break;
	case EBPF_F_CALL:
		if (!read_directly(g, i))
			call(g, (unsigned)insn->imm);
		break;
	case EBPF_F_EXIT: epilogue(g); break;
	case EBPF_NFORMS: break;
	}
}

/* One pass over the program; records in pos where each instruction starts. */
static void pass(struct gen *g, uint32_t *pos)
{
	const struct ebpf_job *job = g->job;

	g->n = 0;
	prologue(g);
	for (unsigned i = 0; i < job->n; i++) {
		if (pos != NULL)
			pos[i] = (uint32_t)g->n;
		emit(g, i);
		if (job->insns[i].code == EBPF_LDDW) {
			i++;
			if (pos != NULL)
				pos[i] = (uint32_t)g->n;
		}
	}
	if (pos != NULL)
		pos[job->n] = (uint32_t)g->n;
}

/*
 * Branch relaxation: shorten the jumps that reach with 8 bits. Jumps go forward and code only
 * shrinks, so a jump that reaches once always will. Returns whether any was shortened.
 */
static bool shorten(const struct ebpf_job *job)
{
	uint32_t shift = 0; /* all code up to here has moved down by this much */
	bool found = false;

	for (unsigned i = 0; i < job->n; i++) {
		const struct ebpf_insn *insn = &job->insns[i];
		const struct ebpf_info *info = ebpf_decode(insn);
		unsigned distance = (unsigned)(info->form == EBPF_F_JA32 ? insn->imm : insn->off);
		uint32_t end = job->pos[i + 1];

		job->pos[i] -= shift;
		if (info->form == EBPF_F_LDDW) {
			job->pos[++i] -= shift;
			continue;
		}
		if (!(info->flags & EBPF_JUMPS) || distance == 0 || (job->note[i] & NOTE_SHORT) ||
			job->pos[i + 1 + distance] - end > INT8_MAX)
			continue;
		job->note[i] |= NOTE_SHORT;
		shift += info->flags & EBPF_CONDITIONAL ? 4 : 3;
		found = true;
	}
	job->pos[job->n] -= shift;
	return found;
}

static struct gen start(const struct ebpf_job *job, uint8_t *base)
{
	struct gen g = {.job = job, .base = base};

	g.bmi2 = !ebpf_jit_plain && __builtin_cpu_supports("bmi2");
	plan_frame(&g);
	return g;
}

static size_t bound(const struct ebpf_job *job)
{
	struct gen g = start(job, NULL);

	pass(&g, NULL);
	return g.n;
}

static size_t compile(const struct ebpf_job *job, uint8_t *out)
{
	struct gen g = start(job, out);

	pass(&g, job->pos);
	for (int round = 0; round < 4 && shorten(job); round++)
		;
	g.out = out;
	pass(&g, NULL);
	return g.n;
}

const struct ebpf_arch ebpf_x86 = {.name = "x86-64", .bound = bound, .compile = compile};

#endif
