/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every row of insns.def, interpreted and compiled, against what it should do as written down
 * here a second time: on edge values, with every pair of registers, and with all other registers
 * looked at after it.
 */
#include <sys/mman.h>

#include "bpf/jit.h"
#include "bpf_env.h"

static unsigned passed, failed;	   /* rows */
static unsigned long right, wrong; /* runs */

static const struct {
	const char *name;
	uint8_t code, sub, form, bits;
} rows[] = {
#define INSN(name, code, sub, form, op, bits) {#name, code, sub, EBPF_F_##form, bits},
#include "bpf/insns.def"
};

static const uint64_t edge[] = {0, 1, 2, 3, 7, 8, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 1000,
	0x7fff, 0x8000, 0xffff, 0x10000, 0x12345678, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe,
	0xffffffff, 0x100000000, 0x123456789abcdef0, INT64_MAX, (uint64_t)INT64_MIN,
	(uint64_t)INT64_MIN + 1, -1ull, -2ull, -3ull, -128ull, -129ull, -32768ull, -32769ull,
	0xffffffff80000000, 0xffffffff7fffffff, 0xffffffff00000000, 0xdeadbeefcafebabe};

#define NEDGE (sizeof(edge) / sizeof(edge[0]))

/* ---- what should come out ------------------------------------------------------------- */

static uint64_t reverse(uint64_t v, int bytes)
{
	uint64_t r = 0;

	for (int i = 0; i < bytes; i++)
		r |= (v >> (8 * i) & 0xff) << (8 * (bytes - 1 - i));
	return r;
}

static int64_t quotient(int64_t a, int64_t b)
{
	return b == 0 ? 0 : (int64_t)(uint64_t)((__int128)a / b);
}

static int64_t rest(int64_t a, int64_t b)
{
	return b == 0 ? a : (int64_t)((__int128)a % b);
}

#define BOTH(name)                                                                                 \
	case EBPF_I_##name##_IMM:                                                                  \
	case EBPF_I_##name##_REG

/* The new dst of arithmetic; false: not arithmetic. */
static bool expect_alu(unsigned row, uint64_t a, uint64_t b, uint64_t *r)
{
	uint32_t wa = (uint32_t)a, wb = (uint32_t)b;
	int64_t sa = (int64_t)a, sb = (int64_t)b;
	int32_t swa = (int32_t)wa, swb = (int32_t)wb;

	switch (row) {
		BOTH(ADD64) : *r = a + b;
		break;
		BOTH(ADD32) : *r = (uint32_t)(wa + wb);
		break;
		BOTH(SUB64) : *r = a - b;
		break;
		BOTH(SUB32) : *r = (uint32_t)(wa - wb);
		break;
		BOTH(MUL64) : *r = a * b;
		break;
		BOTH(MUL32) : *r = (uint32_t)((uint64_t)wa * wb);
		break;
		BOTH(DIV64) : *r = b ? a / b : 0;
		break;
		BOTH(DIV32) : *r = wb ? wa / wb : 0;
		break;
		BOTH(MOD64) : *r = b ? a % b : a;
		break;
		BOTH(MOD32) : *r = wb ? wa % wb : wa;
		break;
		BOTH(SDIV64) : *r = (uint64_t)quotient(sa, sb);
		break;
		BOTH(SDIV32) : *r = (uint32_t)quotient(swa, swb);
		break;
		BOTH(SMOD64) : *r = (uint64_t)rest(sa, sb);
		break;
		BOTH(SMOD32) : *r = (uint32_t)rest(swa, swb);
		break;
		BOTH(OR64) : *r = a | b;
		break;
		BOTH(OR32) : *r = wa | wb;
		break;
		BOTH(AND64) : *r = a & b;
		break;
		BOTH(AND32) : *r = wa & wb;
		break;
		BOTH(XOR64) : *r = a ^ b;
		break;
		BOTH(XOR32) : *r = wa ^ wb;
		break;
		BOTH(LSH64) : *r = a << (b % 64);
		break;
		BOTH(LSH32) : *r = (uint32_t)(wa << (b % 32));
		break;
		BOTH(RSH64) : *r = a >> (b % 64);
		break;
		BOTH(RSH32) : *r = wa >> (b % 32);
		break;
		BOTH(ARSH64) : *r = (uint64_t)(sa >> (b % 64));
		break;
		BOTH(ARSH32) : *r = (uint32_t)(swa >> (b % 32));
		break;
		BOTH(MOV64) : *r = b;
		break;
		BOTH(MOV32) : *r = wb;
		break;
	case EBPF_I_MOV64_SX8: *r = (uint64_t)(int64_t)(int8_t)b; break;
	case EBPF_I_MOV64_SX16: *r = (uint64_t)(int64_t)(int16_t)b; break;
	case EBPF_I_MOV64_SX32: *r = (uint64_t)(int64_t)(int32_t)b; break;
	case EBPF_I_MOV32_SX8: *r = (uint32_t)(int32_t)(int8_t)b; break;
	case EBPF_I_MOV32_SX16: *r = (uint32_t)(int32_t)(int16_t)b; break;
	case EBPF_I_NEG64: *r = ~a + 1; break;
	case EBPF_I_NEG32: *r = (uint32_t)(~wa + 1); break;
	case EBPF_I_LE16: *r = a & 0xffff; break;
	case EBPF_I_LE32: *r = wa; break;
	case EBPF_I_LE64: *r = a; break;
	case EBPF_I_BE16:
	case EBPF_I_BSWAP16: *r = reverse(a, 2); break;
	case EBPF_I_BE32:
	case EBPF_I_BSWAP32: *r = reverse(a, 4); break;
	case EBPF_I_BE64:
	case EBPF_I_BSWAP64: *r = reverse(a, 8); break;
	default: return false;
	}
	return true;
}

#define COND(name, cond64, cond32)                                                                 \
	BOTH(name) : *r = cond64;                                                                  \
	break;                                                                                     \
	BOTH(name##32) : *r = cond32;                                                              \
	break

static bool expect_jump(unsigned row, uint64_t a, uint64_t b, uint64_t *r)
{
	uint32_t wa = (uint32_t)a, wb = (uint32_t)b;
	int64_t sa = (int64_t)a, sb = (int64_t)b;
	int32_t swa = (int32_t)wa, swb = (int32_t)wb;

	switch (row) {
		COND(JEQ, a == b, wa == wb);
		COND(JNE, a != b, wa != wb);
		COND(JGT, a > b, wa > wb);
		COND(JGE, a >= b, wa >= wb);
		COND(JLT, a < b, wa < wb);
		COND(JLE, a <= b, wa <= wb);
		COND(JSGT, sa > sb, swa > swb);
		COND(JSGE, sa >= sb, swa >= swb);
		COND(JSLT, sa < sb, swa < swb);
		COND(JSLE, sa <= sb, swa <= swb);
		COND(JSET, (a & b) != 0, (wa & wb) != 0);
	default: return false;
	}
	return true;
}

/* Memory before and after an atomic, and what the register that fetches gets. */
static bool expect_atomic(
	unsigned row, uint64_t old, uint64_t v, uint64_t r0, uint64_t *mem, uint64_t *got)
{
	bool wide = rows[row].bits == 64;
	uint64_t mask = wide ? UINT64_MAX : UINT32_MAX, new = 0;

	switch (row) {
	case EBPF_I_ATOMIC64_ADD:
	case EBPF_I_ATOMIC32_ADD:
	case EBPF_I_ATOMIC64_FETCH_ADD:
	case EBPF_I_ATOMIC32_FETCH_ADD: new = old + v; break;
	case EBPF_I_ATOMIC64_OR:
	case EBPF_I_ATOMIC32_OR:
	case EBPF_I_ATOMIC64_FETCH_OR:
	case EBPF_I_ATOMIC32_FETCH_OR: new = old | v; break;
	case EBPF_I_ATOMIC64_AND:
	case EBPF_I_ATOMIC32_AND:
	case EBPF_I_ATOMIC64_FETCH_AND:
	case EBPF_I_ATOMIC32_FETCH_AND: new = old &v; break;
	case EBPF_I_ATOMIC64_XOR:
	case EBPF_I_ATOMIC32_XOR:
	case EBPF_I_ATOMIC64_FETCH_XOR:
	case EBPF_I_ATOMIC32_FETCH_XOR: new = old ^ v; break;
	case EBPF_I_ATOMIC64_XCHG:
	case EBPF_I_ATOMIC32_XCHG: new = v; break;
	case EBPF_I_ATOMIC64_CMPXCHG:
	case EBPF_I_ATOMIC32_CMPXCHG: new = (old & mask) == (r0 & mask) ? v : old; break;
	default: return false;
	}
	*mem = (old & ~mask) | (new &mask); /* little-endian: the low half is the first */
	*got = old & mask;
	return true;
}

/* ---- the frame of a program ----------------------------------------------------------- */

/*
 * Programs find their operands in the first slots of buf, do one thing, and put r0-r9 into buf
 * from slot 8 on. r<p> points to buf all the time.
 */
#define IN0	0
#define IN1	8
#define IN2	16
#define OUT(r)	(64 + 8 * (r))
#define KEEP(r) (0x1000 + (r))

struct prog {
	struct ebpf_insn insn[64];
	unsigned n;
	unsigned p;
};

static void put(struct prog *g, uint8_t code, unsigned dst, unsigned src, int off, int32_t imm)
{
	g->insn[g->n++] = (struct ebpf_insn){code, dst & 15, src & 15, (int16_t)off, imm};
}

/* A register that is neither. */
static unsigned other(unsigned a, unsigned b)
{
	unsigned p = R9;

	while (p == a || p == b)
		p--;
	return p;
}

static void open_prog(struct prog *g, unsigned a, unsigned b)
{
	g->n = 0;
	g->p = other(a, b);
	put(g, EBPF_LDXDW, g->p, R1, CTX_BUF, 0);
	for (unsigned r = R0; r <= R9; r++)
		if (r != g->p)
			put(g, EBPF_MOV64_IMM, r, 0, 0, KEEP(r));
}

static void close_prog(struct prog *g)
{
	for (unsigned r = R0; r <= R9; r++)
		if (r != g->p)
			put(g, EBPF_STXDW, g->p, r, OUT(r), 0);
	put(g, EBPF_MOV64_IMM, R0, 0, 0, 0);
	put(g, EBPF_EXIT, 0, 0, 0, 0);
}

static uint8_t *arena;
#define ARENA 4096

/* Verified and compiled in both manners; entry[2] is then runnable. */
static bool compile(const struct prog *g, ebpf_entry entry[2])
{
	struct et_error e = {.tag = ""};

	entry[0] = entry[1] = NULL;
	if (ebpf_verify(g->insn, g->n, &world_env, &e) < 0) {
		fprintf(stderr, "%s\n", e.text);
		world_dump(g->insn, g->n);
		wrong++;
		return false;
	}
	if (!ebpf_jit_available())
		return true;
	mprotect(arena, ARENA, PROT_READ | PROT_WRITE);
	for (int i = 0; i < 2; i++) {
		ebpf_jit_plain = i;
		if (ebpf_jit_into(g->insn, g->n, &world_env, world_strs, arena + i * ARENA / 2,
			    ARENA / 2, &e) <= 0)
			abort();
		entry[i] = (ebpf_entry)(uintptr_t)(arena + i * ARENA / 2);
	}
	mprotect(arena, ARENA, PROT_READ | PROT_EXEC);
	return true;
}

static uint64_t peek(unsigned off)
{
	uint64_t v;

	memcpy(&v, world.buf + off, 8);
	return v;
}

static void poke(unsigned off, uint64_t v)
{
	memcpy(world.buf + off, &v, 8);
}

static void ran(const struct prog *g, unsigned row, bool ok, int how)
{
	static const char *const hows[] = {"interpreted", "compiled", "compiled plainly"};

	if (ok) {
		right++;
	} else if (++wrong < 10) {
		fprintf(stderr, "%s %s is wrong: %llx %llx %llx\n", rows[row].name, hows[how],
			(unsigned long long)peek(IN0), (unsigned long long)peek(IN1),
			(unsigned long long)peek(IN2));
		world_dump(g->insn, g->n);
	}
}

/* Runs the program in manner how; false: there is none. */
static bool run(const struct prog *g, const ebpf_entry entry[2], int how)
{
	bool bad = false;

	if (how > 0 && entry[how - 1] == NULL)
		return false;
	for (unsigned r = R0; r <= R9; r++)
		poke(OUT(r), 0x5555);
	if (how > 0)
		entry[how - 1](&world.ctx);
	else
		ebpf_run(g->insn, g->n, &world_env, world_strs, &world.ctx, &bad);
	wrong += bad;
	return true;
}

/* All registers but these two (or with value -1 none) are as they were. */
static bool kept(const struct prog *g, unsigned a, unsigned b)
{
	for (unsigned r = R0; r <= R9; r++)
		if (r != g->p && r != a && r != b && peek(OUT(r)) != KEEP(r))
			return false;
	return true;
}

/* ---- by form -------------------------------------------------------------------------- */

static void values_alu(
	const struct prog *g, unsigned row, unsigned dst, unsigned src, bool by_imm, uint64_t imm)
{
	ebpf_entry entry[2];
	uint64_t want = 0;

	if (!compile(g, entry))
		return;
	for (size_t i = 0; i < NEDGE; i++)
		for (size_t j = 0; j < (by_imm ? 1 : NEDGE); j++) {
			uint64_t b = by_imm ? imm : edge[j],
				 a = dst == src && !by_imm ? b : edge[i];

			expect_alu(row, a, b, &want);
			for (int how = 0; how < 3; how++) {
				poke(IN0, edge[i]);
				poke(IN1, b);
				if (!run(g, entry, how))
					continue;
				ran(g, row,
					peek(OUT(dst)) == want && kept(g, dst, src) &&
						(by_imm || dst == src || peek(OUT(src)) == b),
					how);
			}
		}
}

static void test_alu(unsigned row)
{
	bool by_reg = rows[row].form == EBPF_F_ALU_REG || rows[row].form == EBPF_F_MOV_REG;
	bool by_imm = rows[row].form == EBPF_F_ALU_IMM || rows[row].form == EBPF_F_MOV_IMM;
	bool shift = strstr(rows[row].name, "SH") != NULL;
	struct prog g;

	for (unsigned dst = R0; dst <= R9; dst++)
		for (unsigned k = 0; k < (by_reg ? 10 : by_imm ? NEDGE : 1); k++) {
			unsigned src = by_reg ? k : 0;
			int32_t imm = by_imm ? (int32_t)edge[k] : 0;

			if (shift && by_imm && (imm < 0 || imm >= rows[row].bits))
				continue;
			if (by_imm && (uint64_t)(int64_t)imm != edge[k])
				continue;
			open_prog(&g, dst, by_reg ? src : dst);
			put(&g, EBPF_LDXDW, dst, g.p, IN0, 0);
			if (by_reg)
				put(&g, EBPF_LDXDW, src, g.p, IN1, 0);
			if (rows[row].form == EBPF_F_END)
				put(&g, rows[row].code, dst, 0, 0, rows[row].sub);
			else
				put(&g, rows[row].code, dst, src, rows[row].sub, imm);
			close_prog(&g);
			values_alu(
				&g, row, dst, by_reg ? src : dst, !by_reg, (uint64_t)(int64_t)imm);
		}
}

static void values_jump(const struct prog *g, unsigned row, unsigned dst, unsigned src,
	unsigned flag, bool by_imm, uint64_t imm)
{
	ebpf_entry entry[2];
	uint64_t want = 0;

	if (!compile(g, entry))
		return;
	for (size_t i = 0; i < NEDGE; i++)
		for (size_t j = 0; j < (by_imm ? 1 : NEDGE); j++) {
			uint64_t b = by_imm ? imm : edge[j],
				 a = dst == src && !by_imm ? b : edge[i];

			expect_jump(row, a, b, &want);
			for (int how = 0; how < 3; how++) {
				poke(IN0, edge[i]);
				poke(IN1, b);
				if (run(g, entry, how))
					ran(g, row, peek(OUT(flag)) == want && peek(OUT(dst)) == a,
						how);
			}
		}
}

static void test_jump(unsigned row)
{
	bool by_reg = rows[row].form == EBPF_F_JMP_REG;
	struct prog g;

	for (unsigned dst = R0; dst <= R9; dst++)
		for (unsigned k = 0; k < (by_reg ? 10 : NEDGE); k++) {
			unsigned src = by_reg ? k : dst, flag;
			int32_t imm = by_reg ? 0 : (int32_t)edge[k];

			if (!by_reg && (uint64_t)(int64_t)imm != edge[k])
				continue;
			open_prog(&g, dst, src);
			for (flag = R0; flag == dst || flag == src || flag == g.p;)
				flag++;
			put(&g, EBPF_LDXDW, dst, g.p, IN0, 0);
			if (by_reg)
				put(&g, EBPF_LDXDW, src, g.p, IN1, 0);
			put(&g, EBPF_MOV64_IMM, flag, 0, 0, 1);
			put(&g, rows[row].code, dst, by_reg ? src : 0, 1, imm);
			put(&g, EBPF_MOV64_IMM, flag, 0, 0, 0);
			close_prog(&g);
			values_jump(&g, row, dst, src, flag, !by_reg, (uint64_t)(int64_t)imm);
		}
}

/* Loads of every width at even and odd places, in every register from every base. */
static void test_load(unsigned row)
{
	bool sx = strncmp(rows[row].name, "LDXS", 4) == 0;
	unsigned bits = rows[row].bits;
	ebpf_entry entry[2];
	struct prog g;

	for (unsigned dst = R0; dst <= R9; dst++)
		for (unsigned base = R0; base <= R9; base++)
			for (int off = 0; off < 5; off++) {
				bool moved = off >= 3; /* far, so that the offset takes 4 bytes */
				int at = off < 3 ? off : off == 3 ? -128 : 1000;

				open_prog(&g, dst, base);
				put(&g, EBPF_MOV64_REG, base, g.p, 0, 0);
				if (moved)
					put(&g, EBPF_ADD64_IMM, base, 0, 0, -at);
				put(&g, rows[row].code, dst, base, at, 0);
				if (base != dst)
					put(&g, EBPF_MOV64_IMM, base, 0, 0, KEEP(base));
				close_prog(&g);
				if (!compile(&g, entry))
					return;
				for (size_t i = 0; i < NEDGE; i++) {
					uint64_t v = edge[i] >> (moved ? 0 : 8 * off);

					if (!moved && off)
						v |= edge[i] << (64 - 8 * off);
					v = v << (64 - bits);
					v = sx ? (uint64_t)((int64_t)v >> (64 - bits))
					       : v >> (64 - bits);
					for (int how = 0; how < 3; how++) {
						poke(IN0, edge[i]);
						poke(IN1, edge[i]);
						if (run(&g, entry, how))
							ran(&g, row,
								peek(OUT(dst)) == v &&
									kept(&g, dst, dst),
								how);
					}
				}
			}
}

static void test_store(unsigned row)
{
	bool by_reg = rows[row].form == EBPF_F_STX;
	unsigned bits = rows[row].bits;
	uint64_t mask = UINT64_MAX >> (64 - bits);
	ebpf_entry entry[2];
	struct prog g;

	for (unsigned base = R0; base <= R9; base++)
		for (unsigned k = 0; k < (by_reg ? 10 : NEDGE); k++) {
			unsigned src = by_reg ? k : base;
			int32_t imm = (int32_t)edge[k];

			if (by_reg && src == base)
				continue;
			open_prog(&g, base, src);
			put(&g, EBPF_MOV64_REG, base, g.p, 0, 0);
			if (by_reg)
				put(&g, EBPF_LDXDW, src, g.p, IN0, 0);
			put(&g, rows[row].code, base, by_reg ? src : 0, IN1 + 1, by_reg ? 0 : imm);
			put(&g, EBPF_MOV64_IMM, base, 0, 0, KEEP(base));
			close_prog(&g);
			if (!compile(&g, entry))
				return;
			for (size_t i = 0; i < (by_reg ? NEDGE : 1); i++)
				for (int how = 0; how < 3; how++) {
					uint64_t v = by_reg ? edge[i] : (uint64_t)(int64_t)imm;
					uint64_t lo, hi;

					poke(IN0, edge[i]);
					poke(IN1, 0x1111111111111111);
					poke(IN2, 0x2222222222222222);
					lo = (0x1111111111111111 & ~(mask << 8)) | (v & mask) << 8;
					hi = bits == 64 ? 0x2222222222222200 | v >> 56
							: 0x2222222222222222;
					if (run(&g, entry, how))
						ran(&g, row,
							peek(IN1) == lo && peek(IN2) == hi &&
								kept(&g, by_reg ? src : base, base),
							how);
				}
		}
}

static void values_atomic(const struct prog *g, unsigned row, unsigned base, unsigned src)
{
	bool fetch = rows[row].sub & EBPF_ATOMIC_FETCH;
	bool cmp = (rows[row].sub & 0xf0) == 0xf0;
	ebpf_entry entry[2];

	if (!compile(g, entry))
		return;
	for (size_t i = 0; i < NEDGE * 3; i++) {
		uint64_t old = edge[i % NEDGE], v = edge[(i * 7 + i / NEDGE) % NEDGE];
		uint64_t mem = 0, got = 0;
		uint64_t r0 = i & 1 ? old : edge[(i * 5) % NEDGE], was_r0;

		if (i >= NEDGE && rows[row].bits == 32) /* equal in the low half only */
			r0 ^= 0xabcdef0000000000;
		was_r0 = cmp ? r0 : KEEP(R0);
		if (src == R0 && cmp)
			v = r0;
		expect_atomic(row, old, v, r0, &mem, &got);
		for (int how = 0; how < 3; how++) {
			uint64_t in_src, in_r0;

			poke(IN0, old);
			poke(IN1, v);
			poke(IN2, r0);
			if (!run(g, entry, how))
				continue;
			in_src = fetch && !cmp ? got : v;
			in_r0 = cmp ? got : was_r0;
			ran(g, row,
				peek(IN0) == mem && (src == R0 || peek(OUT(src)) == in_src) &&
					(g->p == R0 || base == R0 ||
						peek(OUT(R0)) ==
							(src == R0 && !cmp ? in_src : in_r0)) &&
					(cmp ? kept(g, src, R0) : kept(g, src, src)),
				how);
		}
	}
}

static void test_atomic(unsigned row)
{
	bool cmp = (rows[row].sub & 0xf0) == 0xf0;
	struct prog g;

	for (unsigned base = R0; base <= R9; base++)
		for (unsigned src = R0; src <= R9; src++) {
			if (src == base || (cmp && base == R0))
				continue;
			open_prog(&g, base, src);
			put(&g, EBPF_MOV64_REG, base, g.p, 0, 0);
			put(&g, EBPF_LDXDW, src, g.p, IN1, 0);
			if (cmp)
				put(&g, EBPF_LDXDW, R0, g.p, IN2, 0);
			put(&g, rows[row].code, base, src, IN0, rows[row].sub);
			put(&g, EBPF_MOV64_IMM, base, 0, 0, KEEP(base));
			close_prog(&g);
			values_atomic(&g, row, base, src);
		}
}

static void test_lddw(unsigned row)
{
	ebpf_entry entry[2];
	struct prog g;

	for (unsigned dst = R0; dst <= R9; dst++)
		for (size_t i = 0; i < NEDGE; i++) {
			open_prog(&g, dst, dst);
			put(&g, EBPF_LDDW, dst, 0, 0, (int32_t)edge[i]);
			put(&g, 0, 0, 0, 0, (int32_t)(edge[i] >> 32));
			close_prog(&g);
			if (!compile(&g, entry))
				return;
			for (int how = 0; how < 3; how++)
				if (run(&g, entry, how))
					ran(&g, row,
						peek(OUT(dst)) == edge[i] && kept(&g, dst, dst),
						how);
		}
}

/* ja, gotol, call, exit: r6-r9 survive a call, the result is where it should be. */
static void test_control(unsigned row)
{
	ebpf_entry entry[2];
	struct prog g;

	open_prog(&g, R0, R0);
	if (rows[row].form == EBPF_F_CALL) {
		put(&g, EBPF_MOV64_IMM, R1, 0, 0, 5);
		put(&g, EBPF_MOV64_IMM, R2, 0, 0, 6);
		put(&g, EBPF_CALL, 0, 0, 0, F_CONST);
		for (unsigned r = R1; r <= R5; r++)
			put(&g, EBPF_MOV64_IMM, r, 0, 0, KEEP(r));
	} else if (rows[row].form == EBPF_F_JA || rows[row].form == EBPF_F_JA32) {
		bool ja = rows[row].form == EBPF_F_JA;

		put(&g, EBPF_MOV64_IMM, R0, 0, 0, 11);
		put(&g, rows[row].code, 0, 0, ja ? 2 : 0, ja ? 0 : 2);
		put(&g, EBPF_MOV64_IMM, R0, 0, 0, 0);
		put(&g, EBPF_MOV64_IMM, R6, 0, 0, 0);
	} else {
		put(&g, EBPF_MOV64_IMM, R0, 0, 0, 11);
	}
	close_prog(&g);
	if (!compile(&g, entry))
		return;
	for (int how = 0; how < 3; how++)
		if (run(&g, entry, how))
			ran(&g, row, peek(OUT(R0)) == 11 && kept(&g, R0, R0) && !world_broken, how);
}

/* Division by constants is not done by dividing: many of them, near multiples and at the ends. */
static void test_divisors(void)
{
	static const unsigned op[] = {
		EBPF_I_DIV64_IMM, EBPF_I_MOD64_IMM, EBPF_I_SDIV64_IMM, EBPF_I_SMOD64_IMM};
	unsigned long bad_before = wrong;
	ebpf_entry entry[2];
	struct prog g;

	for (unsigned i = 1; i < 4000; i++) {
		uint32_t random = (uint32_t)mix(i, 5) >> 1;
		int32_t by = (int32_t)(i < 1000	  ? i
				       : i < 1010 ? INT32_MAX - (i - 1000)
						  : random >> i % 31);
		unsigned row = op[mix(i, 7) % 4], dst = (unsigned)(mix(i, 9) % 10);

		open_prog(&g, dst, dst);
		put(&g, EBPF_LDXDW, dst, g.p, IN0, 0);
		put(&g, rows[row].code, dst, 0, rows[row].sub, by);
		close_prog(&g);
		if (!compile(&g, entry))
			return;
		for (uint64_t k = 0; k < 64; k++) {
			uint64_t at[] = {0, (uint64_t)INT64_MIN, (uint64_t)by * (mix(i, k) >> 40),
				mix(i, k), mix(i, k) >> (k & 63)};
			uint64_t a = at[k % 5] + k / 5 - 6, want = 0;

			expect_alu(row, a, (uint64_t)by, &want);
			for (int how = 0; how < 3; how++) {
				poke(IN0, a);
				if (run(&g, entry, how))
					ran(&g, row, peek(OUT(dst)) == want && kept(&g, dst, dst),
						how);
			}
		}
	}
	if (wrong == bad_before)
		passed++;
	else
		failed++;
}

int main(void)
{
	world_fill(1);
	arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (arena == MAP_FAILED)
		return 1;
	for (unsigned row = 0; row < EBPF_NROWS; row++) {
		unsigned long before = right, bad_before = wrong;

		switch ((enum ebpf_form)rows[row].form) {
		case EBPF_F_ALU_IMM:
		case EBPF_F_ALU_REG:
		case EBPF_F_MOV_IMM:
		case EBPF_F_MOV_REG:
		case EBPF_F_UNARY:
		case EBPF_F_END: test_alu(row); break;
		case EBPF_F_LDDW: test_lddw(row); break;
		case EBPF_F_LDX: test_load(row); break;
		case EBPF_F_ST:
		case EBPF_F_STX: test_store(row); break;
		case EBPF_F_ATOMIC: test_atomic(row); break;
		case EBPF_F_JMP_IMM:
		case EBPF_F_JMP_REG: test_jump(row); break;
		case EBPF_F_JA:
		case EBPF_F_JA32:
		case EBPF_F_CALL:
		case EBPF_F_EXIT: test_control(row); break;
		case EBPF_NFORMS: break;
		}
		if (right > before && wrong == bad_before) {
			passed++;
		} else {
			fprintf(stderr, "%s failed\n", rows[row].name);
			failed++;
		}
	}
	test_divisors();
	fprintf(stderr, "%lu runs of %d instructions\n", right + wrong, EBPF_NROWS);
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
