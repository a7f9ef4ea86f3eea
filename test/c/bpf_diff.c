/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The differential test: bpf_diff [N [SEED]]. Makes random programs until N (a million unless
 * told) of them were verified, and runs each by interpretation and as machine code in the same
 * world: result, memory and calls must be the same, and the interpreter, which checks every
 * access for itself, must have nothing to object to. Programs are made so that most are accepted;
 * of each, mutants are made by flipping bits, and those that are still accepted must agree too.
 */
#include <sys/mman.h>

#include "bpf/jit.h"
#include "bpf_make.h"

#define BATCH 512
#define ARENA ((size_t)4 << 20)

/* ---- probes and mutants ---------------------------------------------------------------- */

/*
 * Programs that tell how well the verifier knows numbers: from small ones by a few operations and
 * conditions an index into buf is made. Where it is used is then moved out as far as the verifier
 * accepts it: if a value can be beyond what it believes, that access is out of bounds.
 */
static void small_number(struct maker *m, unsigned r)
{
	static const uint8_t at[] = {CTX_NUM, CTX_W, CTX_H, CTX_B};
	static const uint8_t load[] = {EBPF_LDXDW, EBPF_LDXW, EBPF_LDXH, EBPF_LDXB};
	unsigned i = below(4);

	put(m, load[i], r, R6, at[i], 0);
	if (chance(30))
		put(m, EBPF_RSH64_IMM, r, 0, 0, below(64));
	switch (below(4)) {
	case 0: put(m, EBPF_AND64_IMM, r, 0, 0, below(12)); break;
	case 1: put(m, EBPF_MOD64_IMM, r, 0, 0, 1 + below(12)); break;
	case 2: put(m, EBPF_RSH64_IMM, r, 0, 0, 60 + below(4)); break;
	default: put(m, EBPF_MOV64_IMM, r, 0, 0, (int)below(24) - 8); break;
	}
}

static void make_probe(struct maker *m)
{
	unsigned out[8], nout = 0;

	m->n = 0;
	put(m, EBPF_MOV64_REG, R6, R1, 0, 0);
	put(m, EBPF_LDXDW, R7, R6, CTX_BUF, 0);
	small_number(m, R2);
	small_number(m, R3);
	for (unsigned i = 1 + below(5); i > 0; i--) {
		const struct ebpf_info *info = row_info[below(EBPF_NROWS)];
		unsigned dst = R2 + below(2), src = R2 + below(2);
		bool shift = info->op >= EBPF_O_LSH && info->op <= EBPF_O_ARSH;
		int imm = chance(80) ? (int)below(16) : (int)below(32) - 16;

		switch (info->form) {
		case EBPF_F_ALU_IMM:
			put(m, info->code, dst, 0, info->sub, shift ? (int)below(4) : imm);
			break;
		case EBPF_F_ALU_REG:
		case EBPF_F_MOV_REG: put(m, info->code, dst, src, info->sub, 0); break;
		case EBPF_F_UNARY: put(m, info->code, dst, 0, 0, 0); break;
		case EBPF_F_JMP_IMM:
		case EBPF_F_JMP_REG:
			out[nout++] = m->n;
			if (info->form == EBPF_F_JMP_IMM)
				put(m, info->code, dst, 0, 0, imm);
			else
				put(m, info->code, dst, src, 0, 0);
			if (chance(30)) { /* over something, not out */
				put(m, EBPF_ADD64_IMM, dst, 0, 0, imm);
				aim(m, out[--nout]);
			}
			break;
		default: i++;
		}
	}
	if (chance(50)) {
		put(m, EBPF_ADD64_REG, R7, R2, 0, 0);
	} else {
		put(m, EBPF_ADD64_IMM, R7, 0, 0, BUF_SIZE);
		put(m, EBPF_SUB64_REG, R7, R2, 0, 0);
	}
	put(m, EBPF_LDXB, R0, R7, 0, 0);
	m->depth = m->n - 1; /* where the access is */
	while (nout > 0)
		aim(m, out[--nout]);
	put(m, EBPF_MOV64_IMM, R0, 0, 0, 0);
	put(m, EBPF_EXIT, 0, 0, 0, 0);
}

/* Moves the access of a probe as far up (or down) as is accepted; false: nowhere is. */
static bool stretch(struct maker *m, int step)
{
	struct ebpf_insn *access = &m->insn[m->depth];
	int best = 4000;

	for (int off = -2 * BUF_SIZE; off < 2 * BUF_SIZE; off += 16) { /* where it is at all */
		access->off = (int16_t)off;
		if (ebpf_verify(m->insn, m->n, &world_env, NULL) == 0) {
			best = off;
			break;
		}
	}
	if (best == 4000)
		return false;
	for (int jump = 256 * step; jump != 0; jump /= 2)
		for (;;) {
			access->off = (int16_t)(best + jump);
			if (best + jump > 2000 || best + jump < -2000 ||
				ebpf_verify(m->insn, m->n, &world_env, NULL) < 0)
				break;
			best += jump;
		}
	access->off = (int16_t)best;
	return true;
}

/* Flip bits here and there. */
static void mutate(struct ebpf_insn *insns, unsigned n)
{
	for (unsigned i = 1 + below(3); i > 0; i--) {
		uint8_t *byte = (uint8_t *)&insns[below(n)];

		byte += below(8);
		if (chance(50))
			*byte ^= (uint8_t)(1 << below(8));
		else
			*byte = (uint8_t)number();
	}
}

/* ---- comparing ------------------------------------------------------------------------ */

struct program {
	struct ebpf_insn insn[MAX_LEN + 64];
	unsigned n;
	ebpf_entry entry;
};

static struct {
	unsigned long made, mutants, verified, mutants_verified, probes, insns, calls, code;
} count;

static struct program batch[BATCH];
static unsigned nbatch;

/* Half of the time the code is near the functions it calls, half of the time far. */
static uint8_t *arenas[2];

static void arenas_open(void)
{
	uintptr_t near = ((uintptr_t)f_mix & ~(uintptr_t)0xffff) - ((uintptr_t)64 << 20);
	const uintptr_t hint[2] = {near, near - ((uintptr_t)1 << 40)};

	for (int i = 0; i < 2; i++) {
		arenas[i] = mmap((void *)hint[i], ARENA, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (arenas[i] == MAP_FAILED)
			abort();
	}
}

static void fail(const struct program *p, const char *why)
{
	struct et_error e = {.tag = ""};

	fprintf(stderr, "%s:\n", why);
	world_dump(p->insn, p->n);
	ebpf_verify(p->insn, p->n, &world_env, &e);
	printf("%lu passed, 1 failed\n", count.verified);
	exit(1);
}

static void compare(const struct program *p, const struct world *start)
{
	struct outcome a, b;
	const char *what;
	bool bad = false;

	world_run(p->insn, p->n, NULL, start, &a, &bad);
	if (bad)
		fail(p, "verified, but the interpreter stopped it");
	count.calls += a.calls;
	if (p->entry == NULL)
		return;
	world_run(p->insn, p->n, p->entry, start, &b, NULL);
	what = world_differs(&a, &b);
	if (what == NULL)
		what = world_broken;
	if (what != NULL) {
		fprintf(stderr, "r0 %llx interpreted, %llx compiled\n", (unsigned long long)a.r0,
			(unsigned long long)b.r0);
		fail(p, what);
	}
}

static void flush(void)
{
	static struct world start[2];
	uint8_t *arena = arenas[below(2)];
	size_t used = 0;

	ebpf_jit_plain = chance(50);
	for (unsigned i = 0; i < nbatch && ebpf_jit_available(); i++) {
		struct program *p = &batch[i];
		long n = ebpf_jit_into(
			p->insn, p->n, &world_env, world_strs, arena + used, ARENA - used, NULL);

		if (n <= 0)
			fail(p, "not compiled");
		p->entry = (ebpf_entry)(uintptr_t)(arena + used);
		used += ((size_t)n + 15) & ~(size_t)15;
		count.code += (unsigned long)n;
	}
	if (mprotect(arena, ARENA, PROT_READ | PROT_EXEC) < 0)
		abort();
	for (int i = 0; i < 2; i++) {
		world_fill(rng());
		start[i] = world;
	}
	start[1].ctx.num &= 0xff;
	for (unsigned i = 0; i < nbatch; i++)
		compare(&batch[i], &start[i & 1]);
	if (mprotect(arena, ARENA, PROT_READ | PROT_WRITE) < 0)
		abort();
	nbatch = 0;
}

static bool try_program(const struct ebpf_insn *insn, unsigned n, bool mutant, struct et_error *e)
{
	struct program *p = &batch[nbatch];

	if (ebpf_verify(insn, n, &world_env, e) < 0)
		return false;
	memcpy(p->insn, insn, n * sizeof(*insn));
	p->n = n;
	p->entry = NULL;
	count.verified++;
	count.mutants_verified += mutant;
	count.insns += n;
	if (++nbatch == BATCH)
		flush();
	return true;
}

int main(int argc, char **argv)
{
	unsigned long want = argc > 1 ? strtoul(argv[1], NULL, 0) : 1000000;
	const char *show = getenv("BPF_DIFF_SHOW"); /* programs not accepted, for tuning */
	static struct maker m;

	rng_state = argc > 2 ? strtoull(argv[2], NULL, 0) * 2 + 1 : 20240229;
	for (int i = 0; i < 20; i++)
		rng();
	table_init();
	arenas_open();
	while (count.verified < want) {
		struct et_error e = {.tag = ""};

		if (chance(5)) {
			make_probe(&m);
			if (stretch(&m, chance(50) ? 1 : -1))
				count.probes += try_program(m.insn, m.n, false, &e);
			continue;
		}
		make_program(&m);
		count.made++;
		if (!try_program(m.insn, m.n, false, &e) && show != NULL) {
			fprintf(stderr, "%s\n", e.text);
			if (show[0] == '2')
				world_dump(m.insn, m.n);
		}
		for (int i = 0; i < 3; i++) {
			struct ebpf_insn mutant[MAX_LEN + 64];

			memcpy(mutant, m.insn, m.n * sizeof(mutant[0]));
			mutate(mutant, m.n);
			count.mutants++;
			try_program(mutant, m.n, true, NULL);
		}
	}
	flush();
	fprintf(stderr,
		"made %lu programs and %lu mutants; verified %lu, %lu of them mutants, %lu probes; "
		"%lu instructions, %lu bytes of code, %lu calls\n",
		count.made, count.mutants, count.verified, count.mutants_verified, count.probes,
		count.insns, count.code, count.calls);
	printf("%lu passed, 0 failed\n", count.verified);
	return 0;
}
