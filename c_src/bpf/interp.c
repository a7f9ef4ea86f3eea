/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpreter: for machines without a JIT, and as the reference for those that have one. It
 * trusts nothing, not even that the program was verified: every address is checked against the
 * memory of the program, calls are checked as far as possible at run time, jumps go forward only.
 * It runs on the probe path: no allocation, no lock, no system call.
 *
 * At run time a pointer is just an address, so the interpreter keeps a list of the checked values
 * that calls have returned, and drops those that neither a register nor a stack slot points to.
 */
#include <string.h>

#include "ops.h"

/* More than the registers and stack slots that can hold a pointer. */
#define MAX_VALUES 96

struct span {
	uint64_t start, size;
};

struct machine {
	uint64_t reg[R10 + 1];
	const struct ebpf_env *env;
	uint64_t ctx;
	unsigned nvalues;
	struct span value[MAX_VALUES];
	_Alignas(16) uint8_t stack[EBPF_STACK];
};

enum access { READ = 1, WRITE = 2 };

static inline bool within(uint64_t addr, uint64_t size, uint64_t start, uint64_t total)
{
	return addr >= start && size <= total && addr - start <= total - size;
}

static bool in_region(const struct machine *m, uint64_t addr, uint64_t size, enum access how)
{
	for (unsigned i = 0; i < m->env->nregions && i < EBPF_MAX_REGION; i++) {
		const struct ebpf_region *r = &m->env->region[i];
		uint64_t base;

		if ((how & WRITE) && !r->writable)
			continue;
		memcpy(&base, (const void *)(uintptr_t)(m->ctx + r->ctx_off), sizeof(base));
		if (within(addr, size, base, r->size))
			return true;
	}
	return false;
}

static bool may(const struct machine *m, uint64_t addr, uint64_t size, enum access how)
{
	if (within(addr, size, (uintptr_t)m->stack, EBPF_STACK))
		return true;
	if (how == READ && within(addr, size, m->ctx, m->env->ctx_size))
		return true;
	if (in_region(m, addr, size, how))
		return true;
	for (unsigned i = 0; i < m->nvalues; i++)
		if (within(addr, size, m->value[i].start, m->value[i].size))
			return true;
	return false;
}

/* ---- checked values ------------------------------------------------------------------- */

static bool held(const struct machine *m, const struct span *s)
{
	for (int i = R0; i <= R9; i++)
		if (within(m->reg[i], 0, s->start, s->size))
			return true;
	for (unsigned i = 0; i < EBPF_STACK; i += 8) {
		uint64_t slot;

		memcpy(&slot, &m->stack[i], sizeof(slot));
		if (within(slot, 0, s->start, s->size))
			return true;
	}
	return false;
}

static void remember(struct machine *m, uint64_t start, uint64_t size)
{
	unsigned i, kept = 0;

	for (i = 0; i < m->nvalues; i++)
		if (m->value[i].start == start) {
			if (m->value[i].size < size)
				m->value[i].size = size;
			return;
		}
	if (m->nvalues == MAX_VALUES) {
		for (i = 0; i < MAX_VALUES; i++)
			if (held(m, &m->value[i]))
				m->value[kept++] = m->value[i];
		/* Too many only if they overlap: then any of them may go. */
		m->nvalues = kept < MAX_VALUES ? kept : MAX_VALUES - 1;
	}
	m->value[m->nvalues++] = (struct span){start, size};
}

/* ---- calls ---------------------------------------------------------------------------- */

static bool key_ok(const struct machine *m, unsigned fn, uint64_t id, uint64_t key)
{
	struct ebpf_keypart part[EBPF_MAX_KEYS];
	int n = m->env->key ? m->env->key(m->env, fn, id, part) : -1;

	if (n < 0 || n > EBPF_MAX_KEYS)
		return false;
	if (n == 0)
		return true;
	if (!within(key, 8 * (uint64_t)n, (uintptr_t)m->stack, EBPF_STACK) || (key & 7) != 0)
		return false;
	for (int i = 0; i < n; i++) {
		uint64_t slot;

		memcpy(&slot, (const void *)(uintptr_t)(key + 8 * (uint64_t)i), sizeof(slot));
		if (part[i].kind == EBPF_MEM && !may(m, slot, part[i].size, READ))
			return false;
	}
	return true;
}

static bool arg_ok(const struct machine *m, unsigned fn, int i)
{
	const struct ebpf_fn *f = &m->env->fns[fn];
	uint64_t arg = m->reg[R1 + i];

	switch (f->arg[i]) {
	case EBPF_NONE:
	case EBPF_SCALAR:
	case EBPF_CONST:
	case EBPF_STR: return true;
	case EBPF_CTX: return arg == m->ctx;
	case EBPF_MEM: return may(m, arg, 0, READ);
	case EBPF_KEY: return i > 0 && key_ok(m, fn, m->reg[i], arg); /* r<i>: the one before */
	case EBPF_MEM_RD:
	case EBPF_MEM_WR:
		if (i + 1 == EBPF_MAX_ARGS)
			return false;
		return m->reg[R2 + i] == 0 ||
		       may(m, arg, m->reg[R2 + i], f->arg[i] == EBPF_MEM_WR ? WRITE : READ);
	default: return false;
	}
}

static bool call(struct machine *m, uint32_t fn)
{
	uint64_t *reg = m->reg, id = 0;
	const struct ebpf_fn *f;

	if (fn >= m->env->nfns)
		return false;
	f = &m->env->fns[fn];
	for (int i = EBPF_MAX_ARGS - 1; i >= 0; i--) {
		if (f->arg[i] == EBPF_CONST)
			id = reg[R1 + i]; /* the first one remains */
		if (!arg_ok(m, fn, i))
			return false;
	}
	reg[R0] = f->fn(reg[R1], reg[R2], reg[R3], reg[R4], reg[R5]);
	if (f->ret == EBPF_MEM_OR_NULL && reg[R0] != 0) {
		int64_t size = m->env->ret_size ? m->env->ret_size(m->env, fn, id) : -1;

		if (size < 0)
			return false;
		remember(m, reg[R0], (uint64_t)size);
	}
	memset(&reg[R1], 0, EBPF_MAX_ARGS * sizeof(reg[0])); /* clobbered */
	return true;
}

/* ---- memory --------------------------------------------------------------------------- */

static inline bool load(const struct machine *m, uint64_t addr, unsigned bits, uint64_t *v)
{
	const void *p = (const void *)(uintptr_t)addr;
	uint8_t b;
	uint16_t h;
	uint32_t w;

	if (!may(m, addr, bits / 8, READ))
		return false;
	switch (bits) {
	case 8: memcpy(&b, p, 1), *v = b; break;
	case 16: memcpy(&h, p, 2), *v = h; break;
	case 32: memcpy(&w, p, 4), *v = w; break;
	default: memcpy(v, p, 8);
	}
	return true;
}

static inline bool store(const struct machine *m, uint64_t addr, unsigned bits, uint64_t v)
{
	void *p = (void *)(uintptr_t)addr;
	uint8_t b = (uint8_t)v;
	uint16_t h = (uint16_t)v;
	uint32_t w = (uint32_t)v;

	if (!may(m, addr, bits / 8, WRITE))
		return false;
	switch (bits) {
	case 8: memcpy(p, &b, 1); break;
	case 16: memcpy(p, &h, 2); break;
	case 32: memcpy(p, &w, 4); break;
	default: memcpy(p, &v, 8);
	}
	return true;
}

#define ATOMIC_OPS(type)                                                                           \
	static type atomic_##type(unsigned op, type *p, type v, type expected)                     \
	{                                                                                          \
		switch (op) {                                                                      \
		case EBPF_O_ADD: return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);                \
		case EBPF_O_OR: return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST);                  \
		case EBPF_O_AND: return __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST);                \
		case EBPF_O_XOR: return __atomic_fetch_xor(p, v, __ATOMIC_SEQ_CST);                \
		case EBPF_O_XCHG: return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);              \
		default: /* expected receives the old value either way */			   \
			__atomic_compare_exchange_n(                                               \
				p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);       \
			return expected;                                                           \
		}                                                                                  \
	}
ATOMIC_OPS(uint32_t)
ATOMIC_OPS(uint64_t)

static bool atomic(struct machine *m, const struct ebpf_insn *insn, const struct ebpf_info *info)
{
	uint64_t addr = m->reg[insn->dst] + (uint64_t)(int64_t)insn->off;
	uint64_t v = m->reg[insn->src], old;
	void *p = (void *)(uintptr_t)addr;

	if (addr % (info->bits / 8) != 0 || !may(m, addr, info->bits / 8, WRITE))
		return false;
	if ((info->sub & EBPF_ATOMIC_FETCH) && insn->src == R10)
		return false;
	if (info->bits == 32)
		old = atomic_uint32_t(info->op, p, (uint32_t)v, (uint32_t)m->reg[R0]);
	else
		old = atomic_uint64_t(info->op, p, v, m->reg[R0]);
	if (info->op == EBPF_O_CMPXCHG)
		m->reg[R0] = old;
	else if (info->sub & EBPF_ATOMIC_FETCH)
		m->reg[insn->src] = old;
	return true;
}

/* ---- the loop ------------------------------------------------------------------------- */

#define DST	 reg[insn->dst]
#define SRC	 reg[insn->src]
#define AT(base) ((base) + (uint64_t)(int64_t)insn->off)

/* What a form does; each row of the table becomes a case with its own op and bits. */
#define DO_ALU_IMM(op, bits) DST = ebpf_alu(op, bits, DST, ebpf_imm(insn))
#define DO_ALU_REG(op, bits) DST = ebpf_alu(op, bits, DST, SRC)
#define DO_MOV_IMM(op, bits) DST = ebpf_alu(op, bits, 0, ebpf_imm(insn))
#define DO_MOV_REG(op, bits) DST = ebpf_alu(op, bits, 0, SRC)
#define DO_UNARY(op, bits)   DST = ebpf_alu(op, bits, DST, 0)
#define DO_END(op, bits)     DST = ebpf_alu(op, bits, DST, 0)
#define DO_LDDW(op, bits)                                                                          \
	do {                                                                                       \
		uint64_t v;                                                                        \
                                                                                                   \
		if (pc == n || insn->src > EBPF_LDDW_STR)                                          \
			goto violation;                                                            \
		v = ebpf_imm64(insn);                                                              \
		if (insn->src == EBPF_LDDW_STR) {                                                  \
			if (v >= env->nstrs || strs == NULL)                                       \
				goto violation;                                                    \
			v = strs[v];                                                               \
		}                                                                                  \
		DST = v;                                                                           \
		pc++;                                                                              \
	} while (0)
#define DO_LDX(op, bits)                                                                           \
	do {                                                                                       \
		uint64_t v;                                                                        \
                                                                                                   \
		if (!load(&m, AT(SRC), bits, &v))                                                  \
			goto violation;                                                            \
		DST = (op) == EBPF_O_LOADSX ? (uint64_t)ebpf_sext(v, bits) : v;                    \
	} while (0)
#define DO_ST(op, bits)                                                                            \
	do {                                                                                       \
		if (!store(&m, AT(DST), bits, ebpf_imm(insn)))                                     \
			goto violation;                                                            \
	} while (0)
#define DO_STX(op, bits)                                                                           \
	do {                                                                                       \
		if (!store(&m, AT(DST), bits, SRC))                                                \
			goto violation;                                                            \
	} while (0)
#define DO_ATOMIC(op, bits)                                                                        \
	do {                                                                                       \
		if (!atomic(&m, insn, info))                                                       \
			goto violation;                                                            \
	} while (0)
#define GO(distance)                                                                               \
	do {                                                                                       \
		if ((distance) < 0)                                                                \
			goto violation;                                                            \
		pc += (unsigned)(distance);                                                        \
	} while (0)
#define DO_JA(op, bits)	  GO(insn->off)
#define DO_JA32(op, bits) GO(insn->imm)
#define DO_JMP_IMM(op, bits)                                                                       \
	do {                                                                                       \
		if (ebpf_cond(op, bits, DST, ebpf_imm(insn)))                                      \
			GO(insn->off);                                                             \
	} while (0)
#define DO_JMP_REG(op, bits)                                                                       \
	do {                                                                                       \
		if (ebpf_cond(op, bits, DST, SRC))                                                 \
			GO(insn->off);                                                             \
	} while (0)
#define DO_CALL(op, bits)                                                                          \
	do {                                                                                       \
		if (!call(&m, (uint32_t)insn->imm))                                                \
			goto violation;                                                            \
	} while (0)
#define DO_EXIT(op, bits) return reg[R0]

uint64_t ebpf_run(const struct ebpf_insn *insns, unsigned n, const struct ebpf_env *env,
	const uint64_t *strs, void *ctx, bool *bad)
{
	struct machine m;
	uint64_t *reg = m.reg;
	unsigned pc = 0;

	*bad = false;
	m.env = env;
	m.ctx = (uintptr_t)ctx;
	m.nvalues = 0;
	memset(m.reg, 0, sizeof(m.reg));
	memset(m.stack, 0, sizeof(m.stack));
	reg[R1] = m.ctx;
	reg[R10] = (uintptr_t)m.stack + EBPF_STACK;
	while (pc < n) {
		const struct ebpf_insn *insn = &insns[pc++];
		const struct ebpf_info *info = ebpf_decode(insn);

		if (info == NULL || insn->dst > R10 || insn->src > R10 ||
			((info->flags & EBPF_WRITES_DST) && insn->dst == R10))
			goto violation;
		switch ((enum ebpf_row)info->row) {
#define INSN(name, code, sub, form, op, bits)                                                      \
	case EBPF_I_##name:                                                                        \
		DO_##form(EBPF_O_##op, bits);                                                      \
		break;
#include "insns.def"
		case EBPF_NROWS: goto violation;
		}
	}
violation:
	*bad = true;
	return 0;
}
