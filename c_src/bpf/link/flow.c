/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data flow and control flow of a function: which registers do not point to the arena, which are
 * live, where loops begin.
 */
#include <stdlib.h>
#include <string.h>

#include "piece.h"

enum { SLOTS = 16, NSLOTS = 48 }; /* bits of kinds: from there, so many */

/* ---- instructions --------------------------------------------------------------------- */

bool flow_is_jump(const struct ebpf_insn *in)
{
	unsigned class = in->code & 7, op = in->code & 0xf0;

	return (class == CLASS_JMP || class == CLASS_JMP32) && op != 0x80 && op != 0x90;
}

bool flow_goes_on(const struct ebpf_insn *in)
{
	return (in->code & 0xf7) != EBPF_JA && in->code != EBPF_JA32 && in->code != EBPF_EXIT;
}

unsigned flow_target(const struct ebpf_insn *in, unsigned at)
{
	return at + 1 + (unsigned)(in->code == EBPF_JA32 ? in->imm : in->off);
}

const struct ebpf_reloc *flow_reloc(const struct piece *p, unsigned at)
{
	for (unsigned i = 0; p->func != NULL && i < p->func->nrelocs; i++)
		if (p->func->relocs[i].at == at)
			return &p->func->relocs[i];
	return NULL;
}

bool flow_is_constant(const struct ebpf_insn *in)
{
	return in->code == EBPF_MOV64_IMM || in->code == EBPF_MOV32_IMM;
}

/* ---- which registers are not the arena's ---------------------------------------------- */

static kinds bit(unsigned reg)
{
	return 1ULL << reg;
}

static kinds slot_bit(int off)
{
	unsigned slot = (unsigned)(-off + 7) / 8;

	return off < 0 && slot <= NSLOTS ? 1ULL << (SLOTS + slot - 1) : 0;
}

/* What is below those that are known may be pointers, too. */
uint64_t flow_pointer_words(kinds k)
{
	return k >> SLOTS | ~0ULL << NSLOTS;
}

static kinds set_to(kinds k, kinds which, bool on)
{
	return on ? k | which : k & ~which;
}

/* What one instruction makes of it. */
static kinds step(const struct link *l, const struct piece *p, unsigned at, kinds k)
{
	const struct ebpf_insn *in = &p->insns[at];
	const struct ebpf_symbol *s;
	unsigned class = in->code & 7;

	if (in->code == EBPF_LDDW) {
		s = link_symbol(l, flow_reloc(p, at));
		return set_to(k, bit(in->dst), s != NULL && s->kind == EBPF_SYM_MAP);
	}
	switch (class) {
	case CLASS_LDX:
		if (in->src == R10)
			return set_to(k, bit(in->dst),
				(in->code & 0x18) == 0x18 && (k & slot_bit(in->off)));
		/* what the context holds is the kernel's */
		return set_to(k, bit(in->dst), p->is_entry && (k & bit(in->src)));
	case CLASS_STX:
		if (in->dst == R10 && (in->code & 0xe0) != MODE_ATOMIC)
			return set_to(k, slot_bit(in->off), k & bit(in->src));
		return k;
	case CLASS_ALU64:
		if (in->code == EBPF_MOV64_REG && in->off == 0)
			return set_to(k, bit(in->dst), k & bit(in->src));
		if (in->code == EBPF_ADD64_REG)
			return set_to(k, bit(in->dst), k & (bit(in->dst) | bit(in->src)));
		if (in->code == EBPF_ADD64_IMM || in->code == EBPF_SUB64_IMM)
			return k;
		return set_to(k, bit(in->dst), false);
	case CLASS_ALU: return set_to(k, bit(in->dst), false);
	case CLASS_JMP:
		if (in->code == EBPF_CALL)
			return k & ~(bit(0) | bit(1) | bit(2) | bit(3) | bit(4) | bit(5));
		return k;
	default: return k;
	}
}

/* What is known before each instruction: joined over all ways there, until nothing changes. */
kinds *flow_kinds(struct link *l, const struct piece *p)
{
	kinds *k = calloc(p->n + 1, sizeof(*k));
	bool changed = true;

	if (k == NULL) {
		link_no_memory(l);
		return NULL;
	}
	k[0] = bit(R10) | (p->is_entry ? bit(R1) : 0);
	while (changed) {
		changed = false;
		for (unsigned i = 0; i < p->n; i++) {
			const struct ebpf_insn *in = &p->insns[i];
			kinds out = step(l, p, i, k[i]);
			unsigned next = i + (in->code == EBPF_LDDW ? 2 : 1);

			if (flow_is_jump(in)) {
				unsigned to = flow_target(in, i);

				if (to < p->n && (out & ~k[to])) {
					k[to] |= out;
					changed |= to <= i;
				}
			}
			/* not behind ja and exit */
			if (flow_goes_on(in) && next <= p->n)
				k[next] |= out;
			if (in->code == EBPF_LDDW)
				i++;
		}
	}
	return k;
}

/* ---- what a function takes and gives -------------------------------------------------- */

static const struct {
	int32_t number;
	const char *params;
} helpers[] = {
#define HELPER(number, type, name, ...) {number, #__VA_ARGS__},
#include "helpers.def"
};

int flow_helper_args(int32_t number)
{
	unsigned i = 0;
	int n = 1;

	while (i < sizeof(helpers) / sizeof(*helpers) && helpers[i].number != number)
		i++;
	if (i == sizeof(helpers) / sizeof(*helpers))
		return -1;
	if (strcmp(helpers[i].params, "void") == 0)
		return 0;
	for (const char *c = helpers[i].params; *c != '\0'; c++)
		n += *c == ',';
	return n;
}

static unsigned args_of_call(struct link *l, const struct piece *p, unsigned at);

/* The registers that an instruction reads; of calls those that the function takes. */
static unsigned reads_of(struct link *l, const struct piece *p, unsigned at)
{
	const struct ebpf_insn *in = &p->insns[at];
	unsigned dst = 1u << in->dst, src = 1u << in->src, op = in->code & 0xf0;

	switch (in->code & 7) {
	case CLASS_LDX: return src;
	case CLASS_ST: return dst;
	case CLASS_STX:
		return dst | src |
		       ((in->code & 0xe0) == MODE_ATOMIC && in->imm == EBPF_ATOMIC_CMPXCHG);
	case CLASS_ALU:
	case CLASS_ALU64: return (op == 0xb0 ? 0 : dst) | (in->code & 8 ? src : 0);
	case CLASS_JMP:
	case CLASS_JMP32:
		if (in->code == EBPF_CALL)
			return (2u << args_of_call(l, p, at)) - 2;
		if (op == 0x00 || op == 0x90)
			return 0;
		return dst | (in->code & 8 ? src : 0);
	default: return 0;
	}
}

unsigned flow_writes(const struct ebpf_insn *in)
{
	switch (in->code & 7) {
	case 0: /* lddw */
	case CLASS_LDX:
	case CLASS_ALU:
	case CLASS_ALU64: return 1u << in->dst;
	case CLASS_JMP: return in->code == EBPF_CALL ? 0x3f : 0;
	case CLASS_STX: /* what was there before */
		if ((in->code & 0xe0) != MODE_ATOMIC || !(in->imm & EBPF_ATOMIC_FETCH))
			return 0;
		return in->imm == EBPF_ATOMIC_CMPXCHG ? 1 : 1u << in->src;
	default: return 0;
	}
}

/* The registers before each instruction that are still to be read. NULL: out of memory. */
unsigned *flow_live(struct link *l, const struct piece *p)
{
	unsigned *live = calloc(p->n + 1, sizeof(*live));
	bool changed = live != NULL, gives = flow_returns(p);

	if (live == NULL)
		link_no_memory(l);
	while (changed) {
		changed = false;
		for (unsigned i = p->n; i-- > 0;) {
			const struct ebpf_insn *in = &p->insns[i];
			unsigned now = 0;

			if (i > 0 && p->insns[i - 1].code == EBPF_LDDW) {
				live[i] = live[i + 1]; /* the second half of one */
				continue;
			}
			if (flow_goes_on(in))
				now = live[i + 1];
			if (flow_is_jump(in))
				now |= live[flow_target(in, i)];
			now = (now & ~flow_writes(in)) | reads_of(l, p, i);
			now |= in->code == EBPF_EXIT && gives;
			changed |= now != live[i];
			live[i] = now;
		}
	}
	return live;
}

/* Arguments: the registers that are read before anything is written to them. */
static unsigned count_args(struct link *l, const struct piece *p)
{
	unsigned *live = flow_live(l, p), n = 0;

	for (unsigned r = 1; live != NULL && r <= 5; r++)
		if (live[0] >> r & 1)
			n = r;
	free(live);
	return n;
}

unsigned flow_args_of(struct link *l, int func)
{
	const struct ebpf_func *f;

	if (l->nargs[func] == 0) {
		f = &l->in->object->funcs[func];
		l->nargs[func] =
			1 + count_args(l, &(struct piece){.insns = f->insns, .n = f->n, .func = f});
	}
	return l->nargs[func] - 1;
}

static unsigned args_of_fn(const struct ebpf_fn *f)
{
	unsigned n = EBPF_MAX_ARGS;

	while (n > 0 && f->arg[n - 1] == EBPF_NONE)
		n--;
	return n;
}

static unsigned args_of_call(struct link *l, const struct piece *p, unsigned at)
{
	const struct ebpf_insn *in = &p->insns[at];
	const struct ebpf_reloc *r = flow_reloc(p, at);
	const struct ebpf_symbol *s = link_symbol(l, r);
	int n;

	if (p->func == NULL)
		return args_of_fn(&l->in->env->fns[in->imm]);
	if (in->src != PSEUDO_CALL)
		return (n = flow_helper_args(in->imm)) < 0 ? 0 : (unsigned)n; /* link.c tells it */
	if (s != NULL && s->kind == EBPF_SYM_RUN)
		return 2;
	return r != NULL && r->kind == EBPF_REL_FUNC ? flow_args_of(l, r->index) : 0;
}

unsigned *flow_heads(struct link *l, const struct piece *p, const unsigned *live)
{
	unsigned *heads = calloc(p->n + 1, sizeof(*heads));

	if (heads == NULL)
		link_no_memory(l);
	for (unsigned i = 0; heads != NULL && i < p->n; i++) {
		unsigned changed = 0, head;

		if (p->insns[i].code == EBPF_LDDW) {
			i++;
			continue;
		}
		if (!flow_is_jump(&p->insns[i]) || (head = flow_target(&p->insns[i], i)) > i)
			continue;
		for (unsigned k = head; k <= i; k++) {
			changed |= flow_writes(&p->insns[k]);
			if (p->insns[k].code == EBPF_LDDW)
				k++;
		}
		heads[head] |= changed & live[head];
	}
	return heads;
}

bool *flow_joins(struct link *l, const struct piece *p)
{
	bool *joins = calloc(p->n + 1, sizeof(*joins));

	if (joins == NULL)
		link_no_memory(l);
	for (unsigned i = 0; joins != NULL && i < p->n; i++) {
		if (flow_is_jump(&p->insns[i]))
			joins[flow_target(&p->insns[i], i)] = true;
		if (p->insns[i].code == EBPF_LDDW)
			i++;
	}
	return joins;
}

bool flow_begins_loop(const struct piece *p, unsigned at, const unsigned *heads)
{
	unsigned reg = 1u << p->insns[at].dst, n = 0;
	unsigned *todo = calloc(p->n + 2, sizeof(*todo));
	bool *seen = calloc(p->n + 1, sizeof(*seen)), found = false;

	if (todo != NULL && seen != NULL)
		todo[n++] = at + 1;
	while (n > 0 && !found) {
		unsigned i = todo[--n];

		for (; i < p->n && !seen[i]; i++) {
			const struct ebpf_insn *in = &p->insns[i];

			seen[i] = true;
			found |= (heads[i] & reg) != 0;
			if (flow_is_jump(in) && !seen[flow_target(in, i)])
				todo[n++] = flow_target(in, i);
			if ((flow_writes(in) & reg) || !flow_goes_on(in))
				break;
			if (in->code == EBPF_LDDW)
				i++;
		}
	}
	free(todo);
	free(seen);
	return found;
}

bool flow_returns(const struct piece *p)
{
	uint8_t *unset = calloc(p->n + 1, 1);
	bool changed = unset != NULL, all = true;

	if (unset != NULL)
		unset[0] = 1;
	while (changed) {
		changed = false;
		for (unsigned i = 0; i < p->n; i++) {
			const struct ebpf_insn *in = &p->insns[i];
			bool out = unset[i] && !(flow_writes(in) & 1);
			unsigned next = i + (in->code == EBPF_LDDW ? 2 : 1);

			if (in->code == EBPF_EXIT)
				all &= !unset[i];
			if (out && flow_is_jump(in) && !unset[flow_target(in, i)]) {
				unset[flow_target(in, i)] = 1;
				changed = true;
			}
			if (out && flow_goes_on(in) && !unset[next]) {
				unset[next] = 1;
				changed = true;
			}
			if (in->code == EBPF_LDDW)
				i++;
		}
	}
	free(unset);
	return all;
}

int flow_frame(const struct piece *p)
{
	int frame = 0;

	for (unsigned i = 0; i < p->n; i++) {
		const struct ebpf_insn *in = &p->insns[i];
		unsigned class = in->code & 7;
		bool here = class == CLASS_LDX
				    ? in->src == R10
				    : (class == CLASS_ST || class == CLASS_STX) && in->dst == R10;

		if (here && -in->off > frame)
			frame = -in->off;
		if (in->code == EBPF_ADD64_IMM && in->imm < 0 && -in->imm > frame &&
			-in->imm <= 512)
			frame = -in->imm;
		if (in->code == EBPF_LDDW)
			i++;
	}
	return (frame + 7) / 8 * 8;
}
