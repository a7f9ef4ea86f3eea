/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the JITs have in common: analysis of what a program uses, and memory for its code, which is
 * first writable, then executable, never both. Programs are verified; nothing is checked again
 * here.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jit.h"

#ifdef __x86_64__
static const struct ebpf_arch *const arch = &ebpf_x86;
#else
static const struct ebpf_arch *const arch;
#endif

bool ebpf_jit_plain;

bool ebpf_jit_available(void)
{
	return arch != NULL;
}

/* ---- what a program uses -------------------------------------------------------------- */

static void find_uses(struct ebpf_job *job)
{
	for (unsigned i = 0; i < job->n; i++) {
		const struct ebpf_insn *insn = &job->insns[i];
		const struct ebpf_info *info = ebpf_decode(insn);

		if (info->flags & (EBPF_READS_DST | EBPF_WRITES_DST))
			job->regs |= 1 << insn->dst;
		if (info->flags & EBPF_READS_SRC)
			job->regs |= 1 << insn->src;
		if (info->form == EBPF_F_CALL)
			job->calls = true;
		if (info->form == EBPF_F_LDDW)
			i++;
	}
}

/*
 * The registers that may ever point into the stack, r10 among them; a flow-insensitive analysis. If
 * such a pointer is ever stored, any 8-byte load may bring it back.
 */
static unsigned stack_pointers(const struct ebpf_job *job)
{
	unsigned set = 1 << R10, before;
	bool spilled = false, spilled_before;

	do {
		before = set;
		spilled_before = spilled;
		for (unsigned i = 0; i < job->n; i++) {
			const struct ebpf_insn *insn = &job->insns[i];
			bool from = (set >> insn->src & 1) != 0;

			if (insn->code == EBPF_LDDW)
				i++;
			else if (insn->code == EBPF_MOV64_REG && from)
				set |= 1u << insn->dst;
			else if (insn->code == EBPF_ADD64_REG && from)
				set |= 1u << insn->dst;
			else if (insn->code == EBPF_STXDW && from)
				spilled = true;
			else if (insn->code == EBPF_LDXDW && spilled)
				set |= 1u << insn->dst;
		}
	} while (set != before || spilled != spilled_before);
	return set;
}

/* Mark jump targets in note[]. */
static void mark_targets(struct ebpf_job *job)
{
	for (unsigned i = 0; i < job->n; i++) {
		const struct ebpf_insn *insn = &job->insns[i];
		const struct ebpf_info *info = ebpf_decode(insn);

		if (info->form == EBPF_F_LDDW)
			i++;
		else if (info->form == EBPF_F_JA32)
			job->note[i + 1 + (unsigned)insn->imm] = 1;
		else if (info->flags & EBPF_JUMPS)
			job->note[i + 1 + (unsigned)insn->off] = 1;
	}
}

/*
 * The depth of stack that the program can reach. Pointers into it are made by copying r10 and
 * adding to the copy in the next instruction. As every instruction runs at most once, the sum of
 * all other subtractions bounds how much deeper a pointer can get.
 */
static unsigned stack_depth(struct ebpf_job *job)
{
	unsigned pointers, direct = 0, made = 0, steps = 0, below = 0;

	if (!(job->regs & 1 << R10))
		return 0;
	pointers = stack_pointers(job);
	mark_targets(job);
	for (unsigned i = 0; i < job->n; i++) {
		const struct ebpf_insn *insn = &job->insns[i];
		const struct ebpf_info *info = ebpf_decode(insn);
		int base = info->form == EBPF_F_LDX ? insn->src : insn->dst;
		unsigned down = insn->off < 0 ? (unsigned)-insn->off : 0;

		switch (info->form) {
		case EBPF_F_LDDW: i++; break;
		case EBPF_F_LDX:
		case EBPF_F_ST:
		case EBPF_F_STX:
		case EBPF_F_ATOMIC:
			if (base == R10 && down > direct)
				direct = down;
			else if (base != R10 && (pointers >> base & 1) && down > below)
				below = down;
			break;
		case EBPF_F_ALU_IMM:
		case EBPF_F_ALU_REG:
			if (!(pointers >> insn->dst & 1) || info->bits != 64 ||
				(info->op != EBPF_O_ADD && info->op != EBPF_O_SUB))
				break;
			if (info->code != EBPF_ADD64_IMM || insn->imm < -EBPF_STACK)
				return EBPF_STACK;
			if (insn->imm >= 0)
				break;
			down = (unsigned)-insn->imm;
			if (i > 0 && insn[-1].code == EBPF_MOV64_REG && insn[-1].src == R10 &&
				insn[-1].dst == insn->dst && insn[-1].off == 0 && !job->note[i])
				made = down > made ? down : made;
			else
				steps += down;
			break;
		}
		if (steps > EBPF_STACK)
			return EBPF_STACK;
	}
	made += steps + below;
	if (made < direct)
		made = direct;
	return made < EBPF_STACK ? made : EBPF_STACK;
}

static int job_open(struct ebpf_job *job, const struct ebpf_insn *insns, unsigned n,
	const struct ebpf_env *env, const uint64_t *strs, struct et_error *e)
{
	*job = (struct ebpf_job){.insns = insns, .n = n, .env = env, .strs = strs};
	if (arch == NULL)
		return et_err(e, ET_JIT, "this machine has no JIT, programs are interpreted");
	job->pos = malloc(((size_t)n + 1) * sizeof(*job->pos));
	job->note = calloc(n ? n : 1, 1);
	if (job->pos == NULL || job->note == NULL) {
		free(job->pos);
		free(job->note);
		return et_err(e, ET_JIT, "out of memory");
	}
	find_uses(job);
	job->stack = stack_depth(job);
	memset(job->note, 0, n);
	return 0;
}

static void job_close(struct ebpf_job *job)
{
	free(job->pos);
	free(job->note);
}

/* ---- memory for code ------------------------------------------------------------------ */

/*
 * Map pages near the functions that are called, if the kernel follows the hint: a direct call then
 * reaches them.
 */
static void *map_near(const struct ebpf_env *env, size_t size)
{
	const uintptr_t step = (uintptr_t)64 << 20;
	uintptr_t fn = env->nfns ? (uintptr_t)env->fns[0].fn : 0;
	void *map = MAP_FAILED;

	for (uintptr_t i = 1; i <= 4; i++) {
		uintptr_t hint = fn > i * step ? (fn - i * step) & ~(uintptr_t)0xffff : 0;

		map = mmap((void *)hint, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
		if (hint == 0 || map == MAP_FAILED || i == 4 ||
			(uintptr_t)map - fn + ((uintptr_t)1 << 30) < (uintptr_t)1 << 31)
			break;
		munmap(map, size);
	}
	return map;
}

int ebpf_jit(const struct ebpf_insn *insns, unsigned n, const struct ebpf_env *env,
	const uint64_t *strs, struct ebpf_code *code, struct et_error *e)
{
	static _Atomic(unsigned) turn;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct ebpf_job job;
	size_t size, colour;
	uint8_t *map;

	*code = (struct ebpf_code){.map = NULL};
	if (job_open(&job, insns, n, env, strs, e) < 0)
		return -1;
	/*
	 * Cache colouring: code of many clauses at the start of pages would compete for few cache
	 * sets.
	 */
	colour = atomic_fetch_add(&turn, 1) * 5 % 64 * 64;
	size = (arch->bound(&job) + colour + page - 1) & ~(page - 1);
	map = map_near(env, size);
	if (map == MAP_FAILED) {
		job_close(&job);
		return et_err(e, ET_JIT, "cannot map %zu bytes for code: %m", size);
	}
	arch->compile(&job, map + colour);
	job_close(&job);
	if (mprotect(map, size, PROT_READ | PROT_EXEC) < 0) {
		et_err(e, ET_JIT, "cannot make code executable: %m");
		munmap(map, size);
		return -1;
	}
	code->map = map;
	code->size = size;
	code->entry = (ebpf_entry)(uintptr_t)(map + colour);
	return 0;
}

void ebpf_jit_free(struct ebpf_code *code)
{
	if (code->map != NULL)
		munmap(code->map, code->size);
	*code = (struct ebpf_code){.map = NULL};
}

long ebpf_jit_into(const struct ebpf_insn *insns, unsigned n, const struct ebpf_env *env,
	const uint64_t *strs, void *out, size_t room, struct et_error *e)
{
	struct ebpf_job job;
	long length = 0;

	if (job_open(&job, insns, n, env, strs, e) < 0)
		return -1;
	if (arch->bound(&job) <= room)
		length = (long)arch->compile(&job, out);
	job_close(&job);
	return length;
}
