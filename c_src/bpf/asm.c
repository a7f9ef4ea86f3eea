/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The assembler. Instructions are collected with their jumps still referring to labels;
 * ebpf_finish() lays them out. A jump has a distance of 16 bits; one that needs more becomes a
 * gotol (32 bits), preceded by the opposite condition if it is conditional. Errors are sticky:
 * emitting goes on without effect and ebpf_finish() reports the first.
 */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "ebpf.h"

#define UNBOUND (~0u)

struct item {
	struct ebpf_insn insn; /* of a jump: the distance is not set */
	int label;	       /* target of a jump; < 0: not a jump */
	int line;
	bool far; /* a jump that needs more than 16 bits */
};

struct ebpf_asm {
	struct item *item; /* one per slot: a lddw has two */
	unsigned n;
	unsigned *bound; /* by label: the item it is bound to */
	int nlabels;
	unsigned *final; /* by item, plus one for the end: index after layout */
	int line;
	const char *failed; /* the first error */
	unsigned failed_at;
};

struct ebpf_asm *ebpf_asm_new(void)
{
	return calloc(1, sizeof(struct ebpf_asm));
}

void ebpf_asm_free(struct ebpf_asm *a)
{
	if (a == NULL)
		return;
	free(a->item);
	free(a->bound);
	free(a->final);
	free(a);
}

static void fail(struct ebpf_asm *a, const char *why, unsigned at)
{
	if (a->failed == NULL) {
		a->failed = why;
		a->failed_at = at;
	}
}

int ebpf_label(struct ebpf_asm *a)
{
	if (a->nlabels >= 4 * EBPF_MAX_INSNS || !ARRAY_ROOM(a->bound, (size_t)a->nlabels)) {
		fail(a, "out of memory", a->n);
		return a->nlabels - 1;
	}
	a->bound[a->nlabels] = UNBOUND;
	return a->nlabels++;
}

void ebpf_bind(struct ebpf_asm *a, int label)
{
	if (label < 0 || label >= a->nlabels)
		fail(a, "no such label", a->n);
	else if (a->bound[label] != UNBOUND)
		fail(a, "a label is bound twice", a->n);
	else
		a->bound[label] = a->n;
}

unsigned ebpf_here(const struct ebpf_asm *a)
{
	return a->n;
}

void ebpf_line(struct ebpf_asm *a, int line)
{
	a->line = line;
}

static void add(struct ebpf_asm *a, struct ebpf_insn insn, int label)
{
	if (a->n >= EBPF_MAX_INSNS) {
		fail(a, "the program is too long", a->n);
		return;
	}
	if (!ARRAY_ROOM(a->item, a->n)) {
		fail(a, "out of memory", a->n);
		return;
	}
	a->item[a->n++] = (struct item){.insn = insn, .label = label, .line = a->line};
}

/* Build an instruction; registers out of range must not wrap into their four bits. */
static struct ebpf_insn make(
	struct ebpf_asm *a, uint8_t code, int dst, int src, int off, int32_t imm)
{
	struct ebpf_insn insn = {.code = code, .off = (int16_t)off, .imm = imm};
	const char *wrong = "no such register";

	if (dst >= 0 && dst <= R10 && src >= 0 && src <= R10) {
		insn.dst = (uint8_t)dst & 0xf;
		insn.src = (uint8_t)src & 0xf;
		wrong = insn.off == off ? ebpf_malformed(&insn) : "offset out of range";
	}
	if (wrong != NULL)
		fail(a, wrong, a->n);
	return insn;
}

void ebpf_emit(struct ebpf_asm *a, uint8_t code, int dst, int src, int off, int32_t imm)
{
	struct ebpf_insn insn = make(a, code, dst, src, off, imm);
	const struct ebpf_info *info = ebpf_decode(&insn);

	if (info == NULL)
		return;
	if (info->form == EBPF_F_LDDW) {
		ebpf_lddw(a, dst, src, (uint64_t)(int64_t)imm);
	} else if (info->flags & EBPF_JUMPS) { /* distance in instructions as emitted */
		int label = ebpf_label(a);
		int32_t distance = info->form == EBPF_F_JA32 ? imm : off;

		if (distance < 0 || distance >= EBPF_MAX_INSNS)
			fail(a, "a jump goes back or too far", a->n);
		else if (label >= 0)
			a->bound[label] = a->n + 1 + (unsigned)distance;
		add(a, insn, label);
	} else {
		add(a, insn, -1);
	}
}

void ebpf_lddw(struct ebpf_asm *a, int dst, int kind, uint64_t v)
{
	add(a, make(a, EBPF_LDDW, dst, kind, 0, (int32_t)(uint32_t)v), -1);
	add(a, (struct ebpf_insn){.imm = (int32_t)(uint32_t)(v >> 32)}, -1);
}

void ebpf_const(struct ebpf_asm *a, int dst, uint64_t v)
{
	if ((uint64_t)(int64_t)(int32_t)v == v)
		ebpf_emit(a, EBPF_MOV64_IMM, dst, 0, 0, (int32_t)v);
	else if (v <= UINT32_MAX)
		ebpf_emit(a, EBPF_MOV32_IMM, dst, 0, 0, (int32_t)(uint32_t)v);
	else
		ebpf_lddw(a, dst, EBPF_LDDW_CONST, v);
}

void ebpf_jump(struct ebpf_asm *a, uint8_t code, int dst, int src, int32_t imm, int label)
{
	struct ebpf_insn insn = make(a, code, dst, src, 0, code == EBPF_JA32 ? 0 : imm);
	const struct ebpf_info *info = ebpf_decode(&insn);

	if (info == NULL || !(info->flags & EBPF_JUMPS))
		fail(a, "not a jump", a->n);
	else if (label < 0 || label >= a->nlabels)
		fail(a, "no such label", a->n);
	else if (a->bound[label] <= a->n)
		fail(a, "a jump goes back", a->n);
	else
		add(a, insn, label);
}

void ebpf_call(struct ebpf_asm *a, unsigned fn)
{
	ebpf_emit(a, EBPF_CALL, 0, 0, 0, (int32_t)fn);
}

/* ---- layout --------------------------------------------------------------------------- */

/* The number of slots of an item after layout. */
static unsigned slots(const struct item *it)
{
	if (!it->far || it->insn.code == EBPF_JA || it->insn.code == EBPF_JA32)
		return 1;
	return ebpf_opposite(it->insn.code) ? 2 : 3;
}

/* Lay out all items, given which jumps are far. */
static void layout(struct ebpf_asm *a)
{
	unsigned pos = 0;

	for (unsigned i = 0; i < a->n; i++) {
		a->final[i] = pos;
		pos += slots(&a->item[i]);
	}
	a->final[a->n] = pos;
}

/*
 * Mark the jumps that do not reach in the current layout. With doubt, every jump that could still
 * grow counts as grown, so that no further round is needed. Returns how many were marked.
 */
static unsigned mark_far(struct ebpf_asm *a, bool doubt)
{
	unsigned marked = 0;

	for (unsigned i = 0; i < a->n; i++) {
		struct item *it = &a->item[i];
		unsigned target, distance;

		if (it->label < 0 || it->far)
			continue;
		target = a->bound[it->label];
		distance = doubt ? 3 * (target - i) : a->final[target] - a->final[i] - 1;
		if (distance > INT16_MAX) {
			it->far = true;
			marked++;
		}
	}
	return marked;
}

/* Branch relaxation. Each round is linear; almost all programs need two at most. */
static void relax(struct ebpf_asm *a)
{
	for (int round = 0; round < 8; round++) {
		layout(a);
		if (mark_far(a, false) == 0)
			return;
	}
	mark_far(a, true);
	layout(a);
}

static void write_far(const struct item *it, unsigned target, unsigned at, struct ebpf_insn *out)
{
	const struct ebpf_insn gotol = {.code = EBPF_JA32};
	unsigned n = slots(it);

	if (n >= 2)
		out[0] = it->insn;
	if (n == 2) {
		out[0].code = ebpf_opposite(it->insn.code);
		out[0].off = 1;
	} else if (n == 3) { /* jset has no opposite: jump onto the gotol, else over it */
		out[0].off = 1;
		out[1] = (struct ebpf_insn){.code = EBPF_JA, .off = 1};
	}
	out[n - 1] = gotol;
	out[n - 1].imm = (int32_t)(target - (at + n));
}

static void write_items(const struct ebpf_asm *a, struct ebpf_insn *out, int *lines)
{
	for (unsigned i = 0; i < a->n; i++) {
		const struct item *it = &a->item[i];
		unsigned at = a->final[i];

		for (unsigned k = at; k < a->final[i + 1]; k++)
			lines[k] = it->line;
		if (it->label < 0) {
			out[at] = it->insn;
			continue;
		}
		unsigned target = a->final[a->bound[it->label]];

		if (it->far) {
			write_far(it, target, at, &out[at]);
		} else {
			out[at] = it->insn;
			if (it->insn.code == EBPF_JA32)
				out[at].imm = (int32_t)(target - at - 1);
			else
				out[at].off = (int16_t)(target - at - 1);
		}
	}
}

static void check_labels(struct ebpf_asm *a)
{
	for (unsigned i = 0; i < a->n && a->failed == NULL; i++) {
		if (a->item[i].label < 0)
			continue;
		if (a->bound[a->item[i].label] == UNBOUND)
			fail(a, "a jump goes to a label that was never bound", i);
		else if (a->bound[a->item[i].label] > a->n)
			fail(a, "a jump goes out of the program", i);
	}
}

int ebpf_finish(
	struct ebpf_asm *a, struct ebpf_insn **insns, unsigned *n, int **lines, struct et_error *e)
{
	unsigned total;

	*insns = NULL;
	*lines = NULL;
	*n = 0;
	check_labels(a);
	if (a->failed == NULL) {
		free(a->final);
		a->final = malloc(((size_t)a->n + 1) * sizeof(*a->final));
		if (a->final == NULL)
			fail(a, "out of memory", a->n);
	}
	if (a->failed != NULL)
		return et_err(e, D_CG_EXPR, "cannot make the program: %s (at instruction %u)",
			a->failed, a->failed_at);
	relax(a);
	total = a->final[a->n];
	if (total > EBPF_MAX_INSNS)
		return et_err(e, D_CG_EXPR,
			"cannot make the program: %u instructions, at most %d are possible", total,
			EBPF_MAX_INSNS);
	*insns = malloc((total ? total : 1) * sizeof(**insns));
	*lines = malloc((total ? total : 1) * sizeof(**lines));
	if (*insns == NULL || *lines == NULL) {
		free(*insns);
		free(*lines);
		*insns = NULL;
		*lines = NULL;
		return et_err(e, D_CG_EXPR, "cannot make the program: out of memory");
	}
	write_items(a, *insns, *lines);
	*n = total;
	return 0;
}

unsigned ebpf_final(const struct ebpf_asm *a, unsigned emitted)
{
	if (a->final == NULL)
		return emitted;
	return a->final[emitted < a->n ? emitted : a->n];
}
