/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The abstract domain of the verifier: intervals of unsigned numbers through arithmetic and
 * conditions, and the join of values where control flow merges. Every function here
 * over-approximates.
 */
#include <string.h>

#include "ops.h"
#include "verify.h"

const char *vf_kind(const struct val *a)
{
	switch (a->kind) {
	case EBPF_NONE: return "uninitialised";
	case EBPF_SCALAR: return "a number";
	case EBPF_CTX: return "the context";
	case EBPF_MEM: return "a pointer";
	case EBPF_STR: return "a string";
	case EBPF_MEM_OR_NULL: return "a pointer not yet compared with 0";
	default: return "?";
	}
}

bool vf_passes_as_str(const struct verifier *v, const struct val *a)
{
	switch (a->kind) {
	case EBPF_STR: return true;
	case EBPF_SCALAR: return a->max == 0;
	case EBPF_MEM_OR_NULL: return v->env->strsize > 0 && a->size >= v->env->strsize;
	case EBPF_MEM:
		return v->env->strsize > 0 && a->in != IN_STACK && a->off >= 0 &&
		       (uint64_t)a->off + a->max + v->env->strsize <= (uint64_t)vf_size(v, a);
	default: return false;
	}
}

/* ---- arithmetic ----------------------------------------------------------------------- */

/* All ones up to the highest set bit of v. */
static uint64_t fill(uint64_t v)
{
	return v ? UINT64_MAX >> __builtin_clzll(v) : 0;
}

/* The low bits of a number. */
static struct val low_bits(struct val a, unsigned bits)
{
	if (a.max <= UINT64_MAX >> (64 - bits))
		return a;
	if (a.min == a.max)
		return vf_range(ebpf_zext(a.min, bits), ebpf_zext(a.min, bits));
	return vf_unknown(bits);
}

static struct val mod_range(struct val a, struct val b)
{
	if (b.min == 0) /* x % 0 is x */
		return vf_range(0, a.max);
	if (a.max < b.min)
		return a;
	return vf_range(0, b.max - 1 < a.max ? b.max - 1 : a.max);
}

static struct val shift_range(unsigned op, unsigned bits, struct val a, struct val b)
{
	struct val all = vf_unknown(bits);
	unsigned by = b.min & (bits - 1);

	if (b.min != b.max)
		return op == EBPF_O_RSH ? vf_range(0, a.max) : all;
	if (op == EBPF_O_RSH)
		return vf_range(a.min >> by, a.max >> by);
	return a.max <= all.max >> by ? vf_range(a.min << by, a.max << by) : all;
}

/* The operands are truncated to bits already. */
static struct val alu_range(unsigned op, unsigned bits, struct val a, struct val b)
{
	struct val all = vf_unknown(bits);
	uint64_t positive = all.max >> 1; /* the largest signed number */
	uint64_t r;

	switch (op) {
	case EBPF_O_SDIV:
	case EBPF_O_SMOD:
		if (a.max > positive || b.max > positive)
			return all;
		op = op == EBPF_O_SDIV ? EBPF_O_DIV : EBPF_O_MOD;
		break;
	case EBPF_O_ARSH:
		if (a.max > positive)
			return all;
		op = EBPF_O_RSH;
		break;
	}
	switch (op) {
	case EBPF_O_ADD:
		if (!__builtin_add_overflow(a.max, b.max, &r) && r <= all.max)
			return vf_range(a.min + b.min, r);
		return all;
	case EBPF_O_SUB: return a.min >= b.max ? vf_range(a.min - b.max, a.max - b.min) : all;
	case EBPF_O_MUL:
		if (!__builtin_mul_overflow(a.max, b.max, &r) && r <= all.max)
			return vf_range(a.min * b.min, r);
		return all;
	case EBPF_O_DIV:
		if (b.min == 0)
			return vf_range(0, a.max);
		return vf_range(a.min / b.max, a.max / b.min);
	case EBPF_O_MOD: return mod_range(a, b);
	case EBPF_O_OR: return vf_range(a.min > b.min ? a.min : b.min, fill(a.max | b.max));
	case EBPF_O_AND: return vf_range(0, a.max < b.max ? a.max : b.max);
	case EBPF_O_XOR: return vf_range(0, fill(a.max | b.max));
	case EBPF_O_LSH:
	case EBPF_O_RSH: return shift_range(op, bits, a, b);
	case EBPF_O_MOV: return b;
	case EBPF_O_MOVSX8: return b.max <= INT8_MAX ? b : all;
	case EBPF_O_MOVSX16: return b.max <= INT16_MAX ? b : all;
	case EBPF_O_MOVSX32: return b.max <= INT32_MAX ? b : all;
	default: return all;
	}
}

struct val vf_arith(unsigned op, unsigned bits, struct val a, struct val b)
{
	a = low_bits(a, bits);
	b = low_bits(b, bits);
	if (a.min == a.max && b.min == b.max) {
		uint64_t r = ebpf_alu(op, bits, a.min, b.min);

		return vf_range(r, r);
	}
	return alu_range(op, bits, a, b);
}

/* ---- conditions ----------------------------------------------------------------------- */

static void raise_min(struct val *a, uint64_t min)
{
	if (a->min < min)
		a->min = min;
}

static void lower_max(struct val *a, uint64_t max)
{
	if (a->max > max)
		a->max = max;
}

/* a < b, or a <= b; false: impossible */
static bool refine_less(struct val *a, struct val *b, bool or_equal)
{
	if (!or_equal && (b->max == 0 || a->min == UINT64_MAX))
		return false;
	lower_max(a, or_equal ? b->max : b->max - 1);
	raise_min(b, or_equal ? a->min : a->min + 1);
	return true;
}

static bool refine_unequal(struct val *a, const struct val *b)
{
	if (b->min != b->max)
		return true;
	if (a->min == b->min && a->max == b->min)
		return false;
	if (a->min == b->min)
		a->min++;
	else if (a->max == b->min)
		a->max--;
	return true;
}

/*
 * The same for signed numbers. If both are known to be non-negative, they compare as unsigned ones;
 * and what is greater than a non-negative number (or than -1) is non-negative.
 */
static bool refine_signed(struct val *a, struct val *b, bool or_equal, unsigned bits)
{
	uint64_t all = UINT64_MAX >> (64 - bits), positive = all >> 1;

	if (a->max <= positive && b->max <= positive)
		return refine_less(a, b, or_equal);
	if (a->max <= positive) {
		if (!or_equal && a->min == positive)
			return false;
		raise_min(b, or_equal ? a->min : a->min + 1);
		lower_max(b, positive);
	} else if (!or_equal && a->min == all && a->max == all) {
		lower_max(b, positive);
	}
	return true;
}

static unsigned opposite(unsigned op)
{
	switch (op) {
	case EBPF_O_JEQ: return EBPF_O_JNE;
	case EBPF_O_JNE: return EBPF_O_JEQ;
	case EBPF_O_JGT: return EBPF_O_JLE;
	case EBPF_O_JLE: return EBPF_O_JGT;
	case EBPF_O_JGE: return EBPF_O_JLT;
	case EBPF_O_JLT: return EBPF_O_JGE;
	case EBPF_O_JSGT: return EBPF_O_JSLE;
	case EBPF_O_JSLE: return EBPF_O_JSGT;
	case EBPF_O_JSGE: return EBPF_O_JSLT;
	case EBPF_O_JSLT: return EBPF_O_JSGE;
	default: return EBPF_O_JA; /* nothing is learnt from jset not taken */
	}
}

bool vf_refine(unsigned op, unsigned bits, bool taken, struct val *a, struct val *b)
{
	bool possible = true;

	/* A 32-bit comparison refines the whole only if the upper half is known to be 0. */
	if (bits == 32 && (a->max > UINT32_MAX || b->max > UINT32_MAX))
		return true;
	if (op == EBPF_O_JSET && taken) /* neither can be 0 */
		return a->max != 0 && b->max != 0;
	switch (taken ? op : opposite(op)) {
	case EBPF_O_JEQ:
		raise_min(a, b->min);
		lower_max(a, b->max);
		raise_min(b, a->min);
		lower_max(b, a->max);
		break;
	case EBPF_O_JNE: possible = refine_unequal(a, b) && refine_unequal(b, a); break;
	case EBPF_O_JLT: possible = refine_less(a, b, false); break;
	case EBPF_O_JLE: possible = refine_less(a, b, true); break;
	case EBPF_O_JGT: possible = refine_less(b, a, false); break;
	case EBPF_O_JGE: possible = refine_less(b, a, true); break;
	case EBPF_O_JSLT: possible = refine_signed(a, b, false, bits); break;
	case EBPF_O_JSLE: possible = refine_signed(a, b, true, bits); break;
	case EBPF_O_JSGT: possible = refine_signed(b, a, false, bits); break;
	case EBPF_O_JSGE: possible = refine_signed(b, a, true, bits); break;
	}
	return possible && a->min <= a->max && b->min <= b->max;
}

/* ---- joins ---------------------------------------------------------------------------- */

/*
 * A MEM_OR_NULL with a fresh id. It must not share the id of either side's copies: on the other
 * path those had another value.
 */
static struct val fresh_or_null(struct verifier *v, uint32_t size)
{
	return (struct val){
		.kind = EBPF_MEM_OR_NULL, .in = IN_VALUE, .size = size, .id = v->next_id++};
}

static struct val join_mem(const struct val *a, const struct val *b)
{
	int64_t a_end = a->off + (int64_t)a->max, b_end = b->off + (int64_t)b->max;
	struct val r = *a;

	if (r.off > b->off)
		r.off = b->off;
	r.max = (uint64_t)((a_end > b_end ? a_end : b_end) - r.off);
	if (r.size > b->size)
		r.size = b->size;
	if (r.id != b->id)
		r.id = 0;
	return r;
}

/* Is it null, the start of a checked value, or either? */
static bool value_or_null(const struct val *a)
{
	if (a->kind == EBPF_MEM)
		return a->in == IN_VALUE && a->off == 0 && a->max == 0;
	return a->kind == EBPF_MEM_OR_NULL || (a->kind == EBPF_SCALAR && a->max == 0);
}

static struct val join(struct verifier *v, const struct val *a, const struct val *b)
{
	const struct val none = {.kind = EBPF_NONE};

	if (a->kind == EBPF_NONE || b->kind == EBPF_NONE)
		return none;
	if (a->kind == EBPF_SCALAR && b->kind == EBPF_SCALAR)
		return vf_range(
			a->min < b->min ? a->min : b->min, a->max > b->max ? a->max : b->max);
	if (a->kind == EBPF_CTX && b->kind == EBPF_CTX)
		return *a;
	if (a->kind == EBPF_MEM && b->kind == EBPF_MEM && a->in == b->in)
		return join_mem(a, b);
	if (value_or_null(a) && value_or_null(b)) {
		/* Null is a value of any size. If the id is the same on both paths, it is kept. */
		uint32_t a_size = a->kind == EBPF_SCALAR ? UINT32_MAX : a->size;
		uint32_t b_size = b->kind == EBPF_SCALAR ? UINT32_MAX : b->size;

		if (a->id == b->id && a->id != 0)
			return a->kind == EBPF_MEM_OR_NULL ? *a : *b;
		return fresh_or_null(v, a_size < b_size ? a_size : b_size);
	}
	if (vf_passes_as_str(v, a) && vf_passes_as_str(v, b))
		return (struct val){.kind = EBPF_STR};
	return none;
}

static bool same(const struct val *a, const struct val *b)
{
	return a->kind == b->kind && a->in == b->in && a->id == b->id && a->size == b->size &&
	       a->off == b->off && a->min == b->min && a->max == b->max;
}

void vf_join_state(struct verifier *v, struct state *to, const struct state *from)
{
	if (to->depth > from->depth)
		to->depth = from->depth; /* deeper slots are uninitialised in one of them */
	for (int i = 0; i < R10; i++)
		if (!same(&to->reg[i], &from->reg[i]))
			to->reg[i] = join(v, &to->reg[i], &from->reg[i]);
	for (unsigned i = 0; i < to->depth; i++) {
		bool pointer = vf_is_pointer(&to->slot[i]) || vf_is_pointer(&from->slot[i]);

		to->init[i] &= from->init[i];
		if (same(&to->slot[i], &from->slot[i]))
			continue;
		to->slot[i] = join(v, &to->slot[i], &from->slot[i]);
		if (pointer && to->slot[i].kind == EBPF_NONE)
			to->init[i] = 0; /* do not leave the bytes of a pointer readable */
	}
}

void vf_copy_state(struct state *to, const struct state *from)
{
	memcpy(to->reg, from->reg, sizeof(to->reg));
	memcpy(to->slot, from->slot, from->depth * sizeof(to->slot[0]));
	memcpy(to->init, from->init, from->depth);
	to->depth = from->depth;
}
