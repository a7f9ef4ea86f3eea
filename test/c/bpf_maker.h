/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the maker of random programs (bpf_make.h) knows while it puts instructions down: the kinds
 * of what registers and stack slots hold; and the operands that it takes of them, or makes.
 *
 */
#ifndef TEST_BPF_MAKER_H
#define TEST_BPF_MAKER_H

#include "bpf_env.h"

#define MAX_LEN 160

/* ---- what the maker of programs knows of values --------------------------------------- */

enum kind { NONE, NUM, CTX, STACK, VARS, ARGS, BUF, VAL, MAYBE, STR };

struct val {
	uint8_t kind;
	uint8_t id;    /* of VAL and MAYBE: the object */
	uint8_t slack; /* it may point this much further than off */
	int16_t off;
	uint16_t serial; /* of MAYBE and VAL */
	uint64_t bound;	 /* of a NUM: at most this; UINT64_MAX: nothing known */
};

#define SLOTS 12

struct types {
	struct val reg[10];
	struct val slot[SLOTS]; /* slot i at r10 - 8 * (i + 1) */
};

struct maker {
	struct ebpf_insn insn[MAX_LEN + 64];
	unsigned n;
	struct types t;
	unsigned depth;
	unsigned home; /* one of r6-r9 keeps the context */
	uint16_t serial;
};

static const struct ebpf_info *row_info[EBPF_NROWS];

static const struct {
	uint8_t code, sub, form;
} table[] = {
#define INSN(name, code, sub, form, op, bits) {code, sub, EBPF_F_##form},
#include "bpf/insns.def"
};

static void table_init(void)
{
	for (unsigned i = 0; i < EBPF_NROWS; i++) {
		struct ebpf_insn insn = {.code = table[i].code, .imm = table[i].sub};

		if (table[i].form != EBPF_F_ATOMIC && table[i].form != EBPF_F_END) {
			insn.off = table[i].sub;
			insn.imm = 0;
		}
		row_info[i] = ebpf_decode(&insn);
		if (row_info[i] == NULL || row_info[i]->row != i)
			abort();
	}
}

static unsigned below(unsigned n)
{
	return (unsigned)(rng() % n);
}

static bool chance(unsigned percent)
{
	return below(100) < percent;
}

static uint64_t number(void)
{
	static const uint64_t edge[] = {0, 1, 2, 7, 8, 63, 64, 127, 128, 255, 256, 0x7fff, 0x8000,
		0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, INT64_MAX,
		(uint64_t)INT64_MIN, UINT64_MAX, -2ull, -128ull, -32768ull, 0xffffffff80000000ull,
		0xffffffff7fffffffull};
	unsigned shift = below(64);

	switch (below(4)) {
	case 0: return edge[below(sizeof(edge) / sizeof(edge[0]))];
	case 1: return rng() >> shift;
	case 2: return (uint64_t)(int64_t)(int8_t)rng();
	default: return below(100);
	}
}

static void put(struct maker *m, uint8_t code, unsigned dst, unsigned src, int off, int64_t imm)
{
	if (m->n < MAX_LEN + 60)
		m->insn[m->n++] = (struct ebpf_insn){.code = code,
			.dst = dst & 15,
			.src = src & 15,
			.off = (int16_t)off,
			.imm = (int32_t)imm};
}

static bool full(const struct maker *m)
{
	return m->n > MAX_LEN - 40;
}

static struct val num(uint64_t bound)
{
	return (struct val){.kind = NUM, .bound = bound};
}

/* ---- operands ------------------------------------------------------------------------- */

static unsigned number_into(struct maker *m, unsigned r)
{
	uint64_t v = number();

	if (v == (uint64_t)(int64_t)(int32_t)v) {
		put(m, EBPF_MOV64_IMM, r, 0, 0, (int32_t)v);
	} else {
		put(m, EBPF_LDDW, r, 0, 0, (int32_t)v);
		put(m, 0, 0, 0, 0, (int32_t)(v >> 32));
	}
	m->t.reg[r] = num(v);
	return r;
}

/* A register of the kind, or -1. */
static int find(struct maker *m, enum kind kind)
{
	unsigned from = below(10);

	for (unsigned i = 0; i < 10; i++)
		if (m->t.reg[(from + i) % 10].kind == kind)
			return (int)((from + i) % 10);
	return -1;
}

/* Where results may go. */
static unsigned a_place(struct maker *m)
{
	unsigned r = below(9);

	return r == m->home ? 9 : r;
}

static unsigned a_number(struct maker *m)
{
	int r = find(m, NUM);

	if (r >= 0 && !chance(10))
		return (unsigned)r;
	return number_into(m, a_place(m));
}

static unsigned a_context(struct maker *m)
{
	int r = find(m, CTX);

	return r >= 0 ? (unsigned)r : m->home;
}

static unsigned size_of(const struct val *v)
{
	switch (v->kind) {
	case VARS: return VARS_SIZE;
	case ARGS: return ARGS_SIZE;
	case BUF: return BUF_SIZE;
	case VAL: return value_size[v->id];
	default: return 0;
	}
}

/* Loads a pointer to a region into register r. */
static void region_into(struct maker *m, unsigned r)
{
	static const uint8_t at[] = {CTX_VARS, CTX_ARGS, CTX_BUF};
	unsigned i = below(3);

	put(m, EBPF_LDXDW, r, a_context(m), at[i], 0);
	m->t.reg[r] = (struct val){.kind = (uint8_t)(VARS + i)};
}

/* Some register that points into writable memory other than the stack, if writable is asked. */
static unsigned a_pointer(struct maker *m, bool writable)
{
	unsigned from = below(10), r;

	for (unsigned i = 0; i < 10; i++) {
		const struct val *v = &m->t.reg[(from + i) % 10];

		if (v->kind >= VARS && v->kind <= VAL && !(writable && v->kind == ARGS))
			return (from + i) % 10;
	}
	r = a_place(m);
	do
		region_into(m, r);
	while (writable && m->t.reg[r].kind == ARGS);
	return r;
}

/* An offset for an access of size bytes through v, mostly in bounds. */
static int offset_in(const struct val *v, unsigned size)
{
	int room = (int)size_of(v) - (int)size - v->slack;

	if (room < 0 || chance(1))
		return (int)below(64) - 16;
	return (int)below((unsigned)room + 1) - v->off;
}

/* A stack slot that holds a number. */
static unsigned a_slot(struct maker *m)
{
	unsigned from = below(SLOTS), i;

	for (i = 0; i < SLOTS; i++)
		if (m->t.slot[(from + i) % SLOTS].kind == NUM)
			return (from + i) % SLOTS;
	i = a_number(m);
	put(m, EBPF_STXDW, R10, i, -8 * (int)(from + 1), 0);
	m->t.slot[from] = m->t.reg[i];
	return from;
}

static int slot_off(unsigned slot)
{
	return -8 * (int)(slot + 1);
}

#endif
