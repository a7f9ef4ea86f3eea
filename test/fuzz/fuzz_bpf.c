/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: bytes as a program. The verifier must decide; what it accepts must run
 * without objection of the interpreter, and the same as machine code. Of inputs with an odd first
 * byte each 8 bytes are bent into an instruction that is well formed, so that more of them get
 * past the structure.
 */
#include <sys/mman.h>

#include "bpf/jit.h"
#include "bpf_env.h"

#define MAX_LEN 256
#define ARENA	((size_t)1 << 17)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
	uint8_t code, sub, form, bits;
} rows[] = {
#define INSN(name, code, sub, form, op, bits) {code, sub, EBPF_F_##form, bits},
#include "bpf/insns.def"
};

/* The nearest well formed instruction; insn[1] is there for a lddw. */
static unsigned bend(struct ebpf_insn *insn, unsigned left)
{
	unsigned row = insn->code % EBPF_NROWS;
	int16_t off = insn->off;
	int32_t imm = insn->imm;

	*insn = (struct ebpf_insn){
		.code = rows[row].code, .dst = insn->dst % 11, .src = insn->src % 11};
	switch ((enum ebpf_form)rows[row].form) {
	case EBPF_F_ALU_IMM:
		insn->src = 0;
		insn->off = rows[row].sub;
		insn->imm = imm;
		if (ebpf_malformed(insn))
			insn->imm &= rows[row].bits - 1;
		break;
	case EBPF_F_ALU_REG:
	case EBPF_F_MOV_REG: insn->off = rows[row].sub; break;
	case EBPF_F_END: insn->imm = rows[row].sub, insn->src = 0; break;
	case EBPF_F_MOV_IMM: insn->imm = imm, insn->src = 0; break;
	case EBPF_F_UNARY: insn->src = 0; break;
	case EBPF_F_LDX:
	case EBPF_F_STX: insn->off = off; break;
	case EBPF_F_ST: insn->off = off, insn->imm = imm, insn->src = 0; break;
	case EBPF_F_ATOMIC: insn->off = off, insn->imm = rows[row].sub; break;
	case EBPF_F_JMP_IMM: insn->imm = imm, insn->src = 0; /* fallthrough */
	case EBPF_F_JMP_REG: insn->off = (int16_t)((uint16_t)off % left); break;
	case EBPF_F_JA:
		*insn = (struct ebpf_insn){.code = EBPF_JA, .off = (int16_t)((uint16_t)off % left)};
		break;
	case EBPF_F_JA32:
		*insn = (struct ebpf_insn){
			.code = EBPF_JA32, .imm = (int32_t)((uint32_t)imm % left)};
		break;
	case EBPF_F_CALL:
		*insn = (struct ebpf_insn){
			.code = EBPF_CALL, .imm = (int32_t)((uint32_t)imm % NFNS)};
		break;
	case EBPF_F_EXIT: *insn = (struct ebpf_insn){.code = EBPF_EXIT}; break;
	case EBPF_F_LDDW:
		insn->src &= 1;
		insn->imm = insn->src ? (int32_t)((uint32_t)imm % NSTRS) : imm;
		insn[1] = (struct ebpf_insn){.imm = insn->src ? 0 : insn[1].imm};
		return 2;
	case EBPF_NFORMS: break;
	}
	return 1;
}

static ebpf_entry compile(const struct ebpf_insn *insn, unsigned n)
{
	static uint8_t *arena;

	if (!ebpf_jit_available())
		return NULL;
	if (arena == NULL)
		arena = mmap(
			NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	else
		mprotect(arena, ARENA, PROT_READ | PROT_WRITE);
	if (ebpf_jit_into(insn, n, &world_env, world_strs, arena, ARENA, NULL) <= 0)
		abort();
	mprotect(arena, ARENA, PROT_READ | PROT_EXEC);
	return (ebpf_entry)(uintptr_t)arena;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ebpf_insn insn[MAX_LEN + 3];
	struct et_error e = {.tag = ""};
	struct outcome a, b;
	struct world start;
	ebpf_entry entry;
	bool bad = false;
	unsigned n;

	if (size < 9 || (size - 1) / 8 > MAX_LEN)
		return 0;
	n = (unsigned)(size - 1) / 8;
	memcpy(insn, data + 1, n * sizeof(insn[0]));
	if (data[0] & 1) {
		for (unsigned i = 0; i < n; i += bend(&insn[i], n - i))
			;
		if (insn[n - 1].code == EBPF_LDDW) /* its second half is beyond */
			insn[n - 1] = (struct ebpf_insn){.code = EBPF_MOV64_IMM};
		insn[n++] = (struct ebpf_insn){.code = EBPF_MOV64_IMM, .imm = 1};
		insn[n++] = (struct ebpf_insn){.code = EBPF_EXIT};
	}
	if (ebpf_verify(insn, n, &world_env, &e) < 0)
		return 0;
	ebpf_jit_plain = data[0] & 2;
	entry = compile(insn, n);
	for (uint64_t seed = 0; seed < 2; seed++) {
		const char *what;

		world_fill(seed + data[0]);
		start = world;
		world_run(insn, n, NULL, &start, &a, &bad);
		what = bad ? "stopped by the interpreter" : world_broken;
		if (entry != NULL && what == NULL) {
			world_run(insn, n, entry, &start, &b, NULL);
			what = world_differs(&a, &b) ? world_differs(&a, &b) : world_broken;
		}
		if (what != NULL) {
			fprintf(stderr, "%s\n", what);
			world_dump(insn, n);
			abort();
		}
	}
	return 0;
}
