/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of c_src/bpf: the assembler, the interpreter's own checks, the disassembler, code memory.
 * The verifier is tested by bpf_verify.c, what instructions compute by bpf_insns.c, the agreement
 * of interpreter and JIT by bpf_diff.c.
 */
#include "bpf_prog.h"

/* ---- the assembler -------------------------------------------------------------------- */

struct made {
	struct ebpf_insn *insns;
	int *lines;
	unsigned n;
	struct et_error e;
};

static int assemble(struct ebpf_asm *a, struct made *m)
{
	et_err_clear(&m->e);
	return ebpf_finish(a, &m->insns, &m->n, &m->lines, &m->e);
}

static void release(struct ebpf_asm *a, struct made *m)
{
	free(m->insns);
	free(m->lines);
	ebpf_asm_free(a);
}

static uint64_t run_made(const struct made *m, uint64_t num)
{
	struct ebpf_code code;
	struct et_error e = {.tag = ""};
	uint64_t r0, jitted;
	bool bad;

	if (!CHECK(ebpf_verify(m->insns, m->n, &world_env, &e) == 0, "%s", e.text))
		return 0;
	world_fill(1);
	world.ctx.num = num;
	r0 = ebpf_run(m->insns, m->n, &world_env, world_strs, &world.ctx, &bad);
	CHECK(!bad);
	if (!ebpf_jit_available())
		return r0;
	CHECK(ebpf_jit(m->insns, m->n, &world_env, world_strs, &code, &e) == 0, "%s", e.text);
	jitted = code.entry(&world.ctx);
	CHECK(jitted == r0, "%llx, not %llx", (unsigned long long)jitted, (unsigned long long)r0);
	ebpf_jit_free(&code);
	return r0;
}

static void test_asm(void)
{
	struct ebpf_asm *a = ebpf_asm_new();
	struct made m;
	int l;

	ebpf_line(a, 3);
	ebpf_emit(a, EBPF_LDXDW, R2, R1, 0, 0);
	l = ebpf_label(a);
	ebpf_const(a, R0, 1);
	ebpf_jump(a, EBPF_JEQ_IMM, R2, 0, 5, l);
	ebpf_line(a, 4);
	ebpf_const(a, R0, 0x123456789abcull);
	CHECK(ebpf_here(a) == 5);
	ebpf_bind(a, l);
	ebpf_emit(a, EBPF_EXIT, 0, 0, 0, 0);
	CHECK(assemble(a, &m) == 0, "%s", m.e.text);
	CHECK(m.n == 6 && m.lines[0] == 3 && m.lines[3] == 4 && m.lines[4] == 4);
	CHECK(m.insns[2].off == 2 && m.insns[3].code == EBPF_LDDW && ebpf_final(a, 5) == 5);
	CHECK(run_made(&m, 5) == 1 && run_made(&m, 6) == 0x123456789abcull);
	release(a, &m);
}

static void test_const(void)
{
	static const struct {
		uint64_t v;
		unsigned n;
	} c[] = {{0, 1}, {1, 1}, {-1ull, 1}, {INT32_MAX, 1}, {(uint64_t)INT32_MIN, 1},
		{0x80000000, 1}, {UINT32_MAX, 1}, {0x100000000, 2}, {(uint64_t)INT64_MIN, 2},
		{(uint64_t)INT32_MIN - 1, 2}};

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct ebpf_asm *a = ebpf_asm_new();
		struct made m;

		ebpf_const(a, R0, c[i].v);
		CHECK(ebpf_here(a) == c[i].n);
		ebpf_emit(a, EBPF_EXIT, 0, 0, 0, 0);
		CHECK(assemble(a, &m) == 0 && run_made(&m, 0) == c[i].v);
		release(a, &m);
	}
}

/* A condition of each sort over so many instructions; r0 = 1 where it jumped, else 2. */
static void test_far(uint8_t code, unsigned over, unsigned far_n)
{
	struct ebpf_asm *a = ebpf_asm_new();
	struct made m;
	int l = ebpf_label(a);
	unsigned at;

	ebpf_emit(a, EBPF_LDXDW, R2, R1, 0, 0);
	ebpf_const(a, R3, 6);
	ebpf_const(a, R0, 1);
	if (code == EBPF_JEQ_REG)
		ebpf_jump(a, code, R2, R3, 0, l);
	else
		ebpf_jump(a, code, code == EBPF_JA ? 0 : R2, 0, code == EBPF_JA ? 0 : 6, l);
	ebpf_const(a, R0, 2);
	for (unsigned i = 1; i < over; i++)
		ebpf_emit(a, EBPF_XOR64_IMM, R3, 0, 0, (int32_t)i);
	at = ebpf_here(a);
	ebpf_bind(a, l);
	ebpf_emit(a, EBPF_EXIT, 0, 0, 0, 0);
	CHECK(assemble(a, &m) == 0, "%s", m.e.text);
	CHECK(m.n == 4 + over + far_n, "%u instructions over %u", m.n, over);
	CHECK(ebpf_final(a, at) == m.n - 1 && ebpf_final(a, 3) == 3);
	CHECK(run_made(&m, 6) == 1);
	CHECK(run_made(&m, 8) == (code == EBPF_JA ? 1 : 2));
	release(a, &m);
}

static void test_far_jumps(void)
{
	static const struct {
		uint8_t code;
		unsigned more;
	} c[] = {{EBPF_JEQ_IMM, 1}, {EBPF_JEQ_REG, 1}, {EBPF_JSET_IMM, 2}, {EBPF_JA, 0},
		{EBPF_JLE_IMM, 1}, {EBPF_JSLT32_IMM, 1}};

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]) - 1; i++) {
		test_far(c[i].code, 10, 1);
		test_far(c[i].code, 32767, 1);
		test_far(c[i].code, 32768, 1 + c[i].more);
		test_far(c[i].code, 100000, 1 + c[i].more);
	}
}

/* Many nested jumps, each over all the following: growing some makes others too short. */
static void test_far_many(void)
{
	enum { JUMPS = 3000, OVER = 31000 };
	struct ebpf_asm *a = ebpf_asm_new();
	struct made m;
	int l[JUMPS];
	uint64_t want = 0;

	ebpf_emit(a, EBPF_LDXDW, R2, R1, 0, 0);
	ebpf_const(a, R0, 0);
	for (int i = 0; i < JUMPS; i++) {
		l[i] = ebpf_label(a);
		ebpf_jump(a, EBPF_JEQ_IMM, R2, 0, i, l[i]);
	}
	for (int i = 0; i < OVER; i++) {
		if (i < JUMPS)
			ebpf_bind(a, l[JUMPS - 1 - i]);
		ebpf_emit(a, EBPF_ADD64_IMM, R0, 0, 0, 1);
	}
	ebpf_emit(a, EBPF_EXIT, 0, 0, 0, 0);
	CHECK(assemble(a, &m) == 0, "%s", m.e.text);
	for (int i = 0; i < JUMPS; i += 500) {
		want = OVER - (JUMPS - 1 - i);
		CHECK(run_made(&m, (uint64_t)i) == want, "jump %d", i);
	}
	CHECK(run_made(&m, JUMPS) == OVER);
	release(a, &m);
}

static void asm_error(struct ebpf_asm *a, const char *why)
{
	struct made m;

	CHECK(assemble(a, &m) < 0 && m.insns == NULL && m.lines == NULL);
	CHECK(strcmp(m.e.tag, "D_CG_EXPR") == 0 && strstr(m.e.text, why), "%s", m.e.text);
	ebpf_asm_free(a);
}

static void test_asm_errors(void)
{
	struct ebpf_asm *a = ebpf_asm_new();
	int l = ebpf_label(a);

	ebpf_jump(a, EBPF_JA, 0, 0, 0, l);
	ebpf_emit(a, EBPF_EXIT, 0, 0, 0, 0);
	asm_error(a, "never bound");

	a = ebpf_asm_new();
	l = ebpf_label(a);
	ebpf_bind(a, l);
	ebpf_emit(a, EBPF_MOV64_IMM, R0, 0, 0, 0);
	ebpf_jump(a, EBPF_JEQ_IMM, R0, 0, 0, l);
	asm_error(a, "goes back");

	a = ebpf_asm_new();
	l = ebpf_label(a);
	ebpf_bind(a, l);
	ebpf_bind(a, l);
	asm_error(a, "bound twice");

	a = ebpf_asm_new();
	ebpf_emit(a, EBPF_MOV64_IMM, 11, 0, 0, 0);
	asm_error(a, "no such register");

	a = ebpf_asm_new();
	ebpf_emit(a, EBPF_LDXDW, R0, R1, 40000, 0);
	asm_error(a, "offset out of range");

	a = ebpf_asm_new();
	ebpf_emit(a, 0xff, R0, R1, 0, 0);
	asm_error(a, "unknown instruction");

	a = ebpf_asm_new();
	ebpf_jump(a, EBPF_MOV64_IMM, R0, 0, 0, ebpf_label(a));
	asm_error(a, "not a jump");

	a = ebpf_asm_new();
	ebpf_jump(a, EBPF_JA, 0, 0, 0, 7);
	asm_error(a, "no such label");

	a = ebpf_asm_new();
	for (int i = 0; i <= EBPF_MAX_INSNS; i++)
		ebpf_emit(a, EBPF_MOV64_IMM, R0, 0, 0, 0);
	asm_error(a, "too long");
}

/* ---- the interpreter trusts nothing --------------------------------------------------- */

/* clang-format off */
static const struct vcase stopped[] = {
	{"through a number", "", {MOV(R2, 64), LDX(R0, R2, 0), EXIT}},
	{"stack end", "", {LDX(R0, R10, -4), EXIT}},
	{"below the stack", "", {ST(R10, -520, 0), RET0}},
	{"context written", "", {ST(R1, 0, 0), RET0}},
	{"context end", "", {LDX(R0, R1, sizeof(struct ctx)), EXIT}},
	{"region end", "", {VARSP(R2), ST(R2, VARS_SIZE - 4, 0), RET0}},
	{"read only region", "", {LDX(R2, R1, CTX_ARGS), ST(R2, 0, 0), RET0}},
	{"value end", "", {ALLOC(0), LDX(R0, R0, 1), EXIT}},
	{"no function", "", {CALL(NFNS), RET0}},
	{"negative function", "", {CALL(-1), RET0}},
	{"jump back", "", {I(JA, 0, 0, -1, 0), RET0}},
	{"gotol back", "", {I(JA32, 0, 0, 0, -1), RET0}},
	{"jump out", "", {I(JA, 0, 0, 30, 0), RET0}},
	{"no exit", "", {MOV(R0, 0)}},
	{"unknown", "", {{0xff, 0, 0, 0, 0}, RET0}},
	{"r12", "", {{EBPF_MOV64_IMM, 12, 0, 0, 0}, RET0}},
	{"r10 written", "", {MOV(R10, 0), RET0}},
	{"half a lddw", "", {I(LDDW, R0, 0, 0, 1)}},
	{"no string", "", {LDDW(R0, 1, NSTRS, 0), EXIT}},
	{"unaligned atomic", "", {VARSP(R2), MOV(R3, 1), I(ATOMIC64, R2, R3, 4, 0), RET0}},
	{"not the context", "", {MOV(R1, 0), MOV(R2, 0), CALL(F_CTX), EXIT}},
	{"memory read by a call", "", {MOV(R1, 4096), MOV(R2, 8), CALL(F_READ), EXIT}},
	{"memory written by a call", "", {LDX(R1, R1, CTX_ARGS), MOV(R2, 8), CALL(F_WRITE), RET0}},
	{"no key", "", {MOV(R1, 1), MOV(R2, 4096), CALL(F_LOOKUP), RET0}},
	{"key of no object", "", {MOV(R1, 99), MOV(R2, 0), CALL(F_LOOKUP), RET0}},
	{"bad memory in a key", "", {ST(R10, -8, 64), PTR(R2, -8), MOV(R1, 4), CALL(F_KEY), RET0}},
	{"not memory", "", {MOV(R1, 1), CALL(F_MEM), EXIT}},
};
/* clang-format on */

static void test_interpreter(void)
{
	for (size_t i = 0; i < sizeof(stopped) / sizeof(stopped[0]); i++) {
		const struct vcase *c = &stopped[i];
		bool bad = false;
		uint64_t r0;

		world_fill(3); /* alloc gives a value with this */
		world_trace = 0;
		r0 = ebpf_run(
			c->insn, length(c->insn, 28), &world_env, world_strs, &world.ctx, &bad);
		CHECK(bad && r0 == 0, "%s was not stopped", c->name);
	}
	world_broken = NULL;
}

/* Far more values than are remembered, one of them held from the first to the last. */
static uint64_t many[1000];
static unsigned many_used;

FN(f_many)
{
	UNUSED;
	return (uintptr_t)&many[many_used++];
}

static void test_many_values(bool spill)
{
	static const struct ebpf_fn fns[] = {{"many", f_many, {EBPF_CONST}, EBPF_MEM_OR_NULL}};
	struct ebpf_env env = {.fns = fns, .nfns = 1, .ret_size = world_ret_size, .ctx_size = 8};
	struct ebpf_asm *a = ebpf_asm_new();
	int out = ebpf_label(a);
	struct made m;
	bool bad = false;

	for (int i = 0; i < 1000; i++) {
		ebpf_const(a, R1, 0);
		ebpf_call(a, 0);
		ebpf_jump(a, EBPF_JEQ_IMM, R0, 0, 0, out);
		ebpf_emit(a, EBPF_STDW, R0, 0, 0, i);
		if (i == 0 && spill)
			ebpf_emit(a, EBPF_STXDW, R10, R0, -8, 0);
		else if (i == 0)
			ebpf_emit(a, EBPF_MOV64_REG, R6, R0, 0, 0);
	}
	if (spill)
		ebpf_emit(a, EBPF_LDXDW, R6, R10, -8, 0);
	ebpf_emit(a, EBPF_LDXDW, R6, R6, 0, 0);
	ebpf_bind(a, out);
	ebpf_const(a, R0, 99);
	ebpf_emit(a, EBPF_EXIT, 0, 0, 0, 0);
	CHECK(assemble(a, &m) == 0, "%s", m.e.text);
	CHECK(ebpf_verify(m.insns, m.n, &env, &m.e) == 0, "%s", m.e.text);
	many_used = 0;
	CHECK(ebpf_run(m.insns, m.n, &env, NULL, many, &bad) == 99 && !bad && many[999] == 999);
	release(a, &m);
}

/* ---- text ----------------------------------------------------------------------------- */

/* clang-format off */
static const struct {
	struct ebpf_insn insn[2];
	const char *text;
} texts[] = {
	{{LDX(R1, R6, 16)}, "r1 = *(u64 *)(r6 + 16)"},
	{{I(LDXSH, R1, R10, -8, 0)}, "r1 = *(s16 *)(r10 - 8)"},
	{{I(STB, R2, 0, 0, -1)}, "*(u8 *)(r2 + 0) = -1"},
	{{I(STXW, R2, R3, 4, 0)}, "*(u32 *)(r2 + 4) = r3"},
	{{I(JNE_IMM, R2, 0, 5, 0)}, "if r2 != 0 goto +5"},
	{{I(JSLE32_REG, R2, R3, 5, 0)}, "if w2 s<= w3 goto +5"},
	{{I(JSET_IMM, R2, 0, 1, 8)}, "if r2 & 8 goto +1"},
	{{I(JA, 0, 0, 7, 0)}, "goto +7"},
	{{I(JA32, 0, 0, 0, 70000)}, "gotol +70000"},
	{{CALL(F_STR)}, "call str"},
	{{CALL(1000)}, "call 1000"},
	{{EXIT}, "exit"},
	{{MOV(R1, -3)}, "r1 = -3"},
	{{MOVR(R1, R2)}, "r1 = r2"},
	{{I(MOV32_REG, R1, R2, 0, 0)}, "w1 = w2"},
	{{I(MOV64_REG, R1, R2, 16, 0)}, "r1 = (s16) r2"},
	{{I(ADD32_IMM, R1, 0, 0, 4)}, "w1 += 4"},
	{{I(ARSH64_REG, R1, R2, 0, 0)}, "r1 s>>= r2"},
	{{I(SDIV64_REG, R1, R2, 1, 0)}, "r1 s/= r2"},
	{{I(MOD64_IMM, R1, 0, 0, 3)}, "r1 %= 3"},
	{{I(NEG64, R1, 0, 0, 0)}, "r1 = -r1"},
	{{I(BE, R1, 0, 0, 16)}, "r1 = be16 r1"},
	{{I(BSWAP, R1, 0, 0, 64)}, "r1 = bswap64 r1"},
	{{LDDW(R1, 0, 0x11, 0x22)}, "r1 = 0x2200000011 ll"},
	{{LDDW(R1, 1, 3, 0)}, "r1 = string 3"},
	{{I(ATOMIC64, R1, R2, 8, EBPF_ATOMIC_ADD)}, "lock *(u64 *)(r1 + 8) += r2"},
	{{I(ATOMIC32, R1, R2, 8, EBPF_ATOMIC_XOR | EBPF_ATOMIC_FETCH)},
		"w2 = fetch_xor((u32 *)(r1 + 8), w2)"},
	{{I(ATOMIC64, R1, R2, -8, EBPF_ATOMIC_XCHG)}, "r2 = xchg((u64 *)(r1 - 8), r2)"},
	{{I(ATOMIC32, R1, R2, 0, EBPF_ATOMIC_CMPXCHG)}, "w0 = cmpxchg((u32 *)(r1 + 0), w0, w2)"},
	{{{0xff, 0, 0, 0, 0}}, "unknown 0xff"},
};
/* clang-format on */

static void test_disasm(void)
{
	char buf[128];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		int n = ebpf_disasm(texts[i].insn, &world_env, buf, sizeof(buf));

		CHECK(strcmp(buf, texts[i].text) == 0, "'%s', not '%s'", buf, texts[i].text);
		CHECK(n == (texts[i].insn[0].code == EBPF_LDDW ? 2 : 1));
	}
	ebpf_disasm(&(struct ebpf_insn)CALL(3), NULL, buf, sizeof(buf));
	CHECK(strcmp(buf, "call 3") == 0);
	ebpf_disasm(texts[0].insn, NULL, buf, 6);
	CHECK(strcmp(buf, "r1 = ") == 0);
}

/* ---- code memory ---------------------------------------------------------------------- */

/* No page of this process is both writable and executable. */
static bool no_rwx(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];
	bool ok = true;

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (strstr(line, " rwx") != NULL)
			ok = false;
	if (f != NULL)
		fclose(f);
	return ok;
}

static void test_code(void)
{
	static const struct ebpf_insn insn[] = {MOV(R0, 42), EXIT};
	struct ebpf_code code = {.map = NULL};
	struct et_error e = {.tag = ""};

	if (!ebpf_jit_available()) {
		CHECK(ebpf_jit(insn, 2, &world_env, world_strs, &code, &e) == -1);
		CHECK(strcmp(e.tag, "ET_JIT") == 0 && code.map == NULL);
		return;
	}
	CHECK(ebpf_jit(insn, 2, &world_env, world_strs, &code, &e) == 0, "%s", e.text);
	CHECK(code.entry(NULL) == 42);
	CHECK(no_rwx());
	ebpf_jit_free(&code);
	CHECK(code.map == NULL && code.entry == NULL);
	ebpf_jit_free(&code);
}

int main(void)
{
	test_asm();
	test_const();
	test_far_jumps();
	test_far_many();
	test_asm_errors();
	test_interpreter();
	test_many_values(false);
	test_many_values(true);
	test_disasm();
	test_code();
	return finish();
}
