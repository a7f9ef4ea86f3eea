/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verifier's memory model. Numbers may be read and written anywhere in bounds. Pointers and
 * strings are kept only in registers and in whole, aligned stack slots, so a program can neither
 * forge one nor learn an address. The stack is tracked byte by byte for what is initialised.
 */
#include "ops.h"
#include "verify.h"

static unsigned slot_of(int64_t off)
{
	return (unsigned)((-off - 1) / 8);
}

static uint8_t bit_of(int64_t off)
{
	return (uint8_t)(1 << (off & 7));
}

/* ---- the stack ------------------------------------------------------------------------ */

static void deepen(struct state *s, unsigned slot)
{
	for (; s->depth <= slot; s->depth++) {
		s->slot[s->depth] = (struct val){.kind = EBPF_NONE};
		s->init[s->depth] = 0;
	}
}

/* Make a slot individual bytes: those of a number stay initialised, those of a pointer do not. */
static void loosen(struct state *s, unsigned slot)
{
	if (vf_is_pointer(&s->slot[slot]))
		s->init[slot] = 0;
	s->slot[slot] = (struct val){.kind = EBPF_NONE};
}

struct val vf_slot(const struct verifier *v, int64_t off)
{
	const struct state *s = v->cur;
	unsigned slot = slot_of(off);

	if ((off & 7) != 0 || slot >= s->depth || s->init[slot] != 0xff)
		return (struct val){.kind = EBPF_NONE};
	return s->slot[slot].kind != EBPF_NONE ? s->slot[slot] : vf_unknown(64);
}

/* Is every byte in [lo, hi) initialised, and part of a number? */
static int stack_readable(struct verifier *v, int64_t lo, int64_t hi)
{
	const struct state *s = v->cur;

	for (int64_t off = lo; off < hi; off++) {
		unsigned slot = slot_of(off);

		if (slot >= s->depth || !(s->init[slot] & bit_of(off)))
			return vf_refuse(
				v, "reads r10%+d of the stack, which is not initialised", (int)off);
		if (vf_is_pointer(&s->slot[slot]))
			return vf_refuse(v, "reads bytes of %s kept at r10%+d of the stack",
				vf_kind(&s->slot[slot]), (int)off);
	}
	return 0;
}

/* ---- access --------------------------------------------------------------------------- */

static int in_bounds(struct verifier *v, const struct val *a, int off, uint64_t size)
{
	int64_t lo = (int64_t)a->off + off;
	int64_t total = vf_size(v, a), start = a->in == IN_STACK ? -total : 0;

	if (size <= (uint64_t)total && lo >= start &&
		lo + (int64_t)a->max + (int64_t)size <= start + total)
		return 0;
	return vf_refuse(v, "%llu bytes at offset %lld%s%.0llu are not within %s of %lld bytes",
		(unsigned long long)size, (long long)lo, a->max ? " to +" : "",
		(unsigned long long)a->max,
		a->in == IN_STACK   ? "the stack"
		: a->in == IN_VALUE ? "the value"
				    : v->env->region[a->in].name,
		(long long)total);
}

int vf_access(struct verifier *v, const struct val *a, int off, uint64_t size, enum access how)
{
	if (a->kind != EBPF_MEM)
		return vf_refuse(v, "access through %s", vf_kind(a));
	if (in_bounds(v, a, off, size) < 0)
		return -1;
	if ((how & WRITE) && a->in < EBPF_MAX_REGION && !v->env->region[a->in].writable)
		return vf_refuse(v, "%s is read only", v->env->region[a->in].name);
	if ((how & READ) && a->in == IN_STACK)
		return stack_readable(
			v, a->off + off, a->off + off + (int64_t)a->max + (int64_t)size);
	return 0;
}

void vf_wrote(struct verifier *v, const struct val *a, int off, uint64_t sure, uint64_t size)
{
	int64_t lo = a->off + off, hi = lo + (int64_t)a->max + (int64_t)size;
	struct state *s = v->cur;

	if (a->in != IN_STACK || lo >= hi)
		return;
	deepen(s, slot_of(lo));
	for (unsigned slot = slot_of(hi - 1); slot <= slot_of(lo); slot++)
		loosen(s, slot);
	if (a->max != 0)
		return; /* unknown offset: nothing is certain */
	for (int64_t at = lo; at < lo + (int64_t)sure; at++)
		s->init[slot_of(at)] |= bit_of(at);
}

/* ---- instructions --------------------------------------------------------------------- */

static int load_ctx(struct verifier *v, const struct ebpf_insn *insn, unsigned size)
{
	struct val *dst = &v->cur->reg[insn->dst];
	const struct ebpf_env *env = v->env;
	uint32_t off = (uint32_t)insn->off;

	if (insn->off < 0 || off + size > env->ctx_size || off % size != 0)
		return vf_refuse(
			v, "no field of %u bytes at offset %d of the context", size, insn->off);
	for (unsigned i = 0; i < env->nregions; i++) {
		uint32_t field = env->region[i].ctx_off;

		if (off + size <= field || off >= field + 8)
			continue;
		if (off != field || size != 8)
			return vf_refuse(
				v, "reads a part of the pointer to %s", env->region[i].name);
		*dst = (struct val){.kind = EBPF_MEM, .in = (uint8_t)i};
		return 0;
	}
	*dst = vf_unknown(size * 8);
	return 0;
}

static int load(struct verifier *v, const struct ebpf_insn *insn, const struct ebpf_info *info)
{
	struct val *src = &v->cur->reg[insn->src], *dst = &v->cur->reg[insn->dst];
	unsigned size = info->bits / 8;

	if (src->kind == EBPF_CTX) {
		if (load_ctx(v, insn, size) < 0)
			return -1;
	} else {
		int64_t off = (int64_t)src->off + insn->off;
		bool whole = src->kind == EBPF_MEM && src->in == IN_STACK && src->max == 0 &&
			     size == 8 && off >= -EBPF_STACK && off <= -8;
		struct val kept = {.kind = EBPF_NONE};

		if (whole)
			kept = vf_slot(v, off);
		if (kept.kind == EBPF_NONE) {
			if (vf_access(v, src, insn->off, size, READ) < 0)
				return -1;
			kept = vf_unknown(info->bits);
		}
		*dst = kept;
	}
	if (info->op == EBPF_O_LOADSX)
		*dst = vf_unknown(64);
	return 0;
}

static int store(struct verifier *v, const struct ebpf_insn *insn, const struct ebpf_info *info)
{
	const struct val *dst = &v->cur->reg[insn->dst];
	unsigned size = info->bits / 8;
	struct val value = vf_range(ebpf_imm(insn), ebpf_imm(insn));
	int64_t off;

	if (info->form == EBPF_F_STX)
		value = v->cur->reg[insn->src];
	if (vf_access(v, dst, insn->off, size, WRITE) < 0)
		return -1;
	off = dst->off + insn->off;
	if (dst->in == IN_STACK && dst->max == 0 && size == 8 && (off & 7) == 0) {
		deepen(v->cur, slot_of(off));
		v->cur->slot[slot_of(off)] = value;
		v->cur->init[slot_of(off)] = 0xff;
		return 0;
	}
	if (vf_is_pointer(&value))
		return vf_refuse(
			v, "%s can be kept in an aligned stack slot only", vf_kind(&value));
	vf_wrote(v, dst, insn->off, size, size);
	return 0;
}

static int atomic(struct verifier *v, const struct ebpf_insn *insn, const struct ebpf_info *info)
{
	struct val *reg = v->cur->reg;
	const struct val dst = reg[insn->dst];
	int size = info->bits / 8;

	if (vf_access(v, &dst, insn->off, (unsigned)size, READ | WRITE) < 0)
		return -1;
	if (dst.max != 0 || (dst.off + insn->off) % size != 0)
		return vf_refuse(v, "an atomic operation needs an aligned constant offset");
	if (reg[insn->src].kind != EBPF_SCALAR)
		return vf_refuse(v, "an atomic operation with %s", vf_kind(&reg[insn->src]));
	if (info->op == EBPF_O_CMPXCHG && reg[R0].kind != EBPF_SCALAR)
		return vf_refuse(v, "compares with r0, which is %s", vf_kind(&reg[R0]));
	vf_wrote(v, &dst, insn->off, (unsigned)size, (unsigned)size);
	if (info->op == EBPF_O_CMPXCHG)
		reg[R0] = vf_unknown(info->bits);
	else if (info->sub & EBPF_ATOMIC_FETCH)
		reg[insn->src] = vf_unknown(info->bits);
	return 0;
}

int vf_memory(struct verifier *v, const struct ebpf_insn *insn, const struct ebpf_info *info)
{
	switch (info->form) {
	case EBPF_F_LDX: return load(v, insn, info);
	case EBPF_F_ATOMIC: return atomic(v, insn, info);
	default: return store(v, insn, info);
	}
}
