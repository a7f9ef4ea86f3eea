/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making random programs for the world of bpf_env.h, most of which the verifier accepts: what
 * registers and stack slots hold is followed (bpf_maker.h), so that operands are mostly right. All
 * rows of insns.def occur, in branches, with memory of every sort, calls and keys.
 */
#ifndef TEST_BPF_MAKE_H
#define TEST_BPF_MAKE_H

#include "bpf_maker.h"

/* ---- pieces --------------------------------------------------------------------------- */

static void piece(struct maker *m);

static void make_alu(struct maker *m, const struct ebpf_info *info)
{
	unsigned dst = a_number(m), src = 0;
	int64_t imm = 0;
	bool by_imm = info->form == EBPF_F_ALU_IMM || info->form == EBPF_F_MOV_IMM;

	if (info->flags & EBPF_READS_SRC)
		src = a_number(m);
	else if (by_imm)
		imm = (int32_t)number();
	if (by_imm && info->op >= EBPF_O_LSH && info->op <= EBPF_O_ARSH)
		imm = below(info->bits);
	if (info->flags & EBPF_READS_SRC && m->t.reg[dst].kind != NUM)
		dst = src; /* making the second took the first */
	put(m, info->code, dst, src, info->form == EBPF_F_END ? 0 : info->sub,
		info->form == EBPF_F_END ? info->sub : imm);
	m->t.reg[dst] = num(UINT64_MAX);
	if (info->op == EBPF_O_AND && by_imm && imm >= 0)
		m->t.reg[dst].bound = (uint64_t)imm;
	if (info->op == EBPF_O_MOD && by_imm && imm > 0)
		m->t.reg[dst].bound = (uint64_t)imm - 1;
}

static void make_load(struct maker *m, const struct ebpf_info *info)
{
	unsigned dst, src, size = info->bits / 8;
	struct val got =
		num(info->bits < 64 && info->op == EBPF_O_LOAD ? UINT64_MAX >> (64 - info->bits)
							       : UINT64_MAX);

	switch (below(3)) {
	case 0: {
		int off = slot_off(a_slot(m)) + (int)below(9 - size);

		dst = a_place(m);
		put(m, info->code, dst, R10, off, 0);
		break;
	}
	case 1: {
		static const uint8_t at[] = {CTX_NUM, CTX_W, CTX_H, CTX_B, CTX_B + 1};
		unsigned off = at[below(5)];

		off = off / size * size;
		if (off >= CTX_VARS && off < CTX_W)
			off = 0;
		src = a_context(m);
		dst = a_place(m);
		put(m, info->code, dst, src, (int)off, 0);
		break;
	}
	default:
		src = a_pointer(m, false);
		dst = a_place(m);
		put(m, info->code, dst, src, offset_in(&m->t.reg[src], size), 0);
	}
	m->t.reg[dst] = got;
}

static void make_store(struct maker *m, const struct ebpf_info *info)
{
	unsigned src = info->form == EBPF_F_STX ? a_number(m) : 0, size = info->bits / 8;
	int64_t imm = info->form == EBPF_F_STX ? 0 : (int32_t)number();

	if (chance(50)) {
		unsigned slot = chance(50) ? a_slot(m) : below(SLOTS);

		if (info->form == EBPF_F_STX && m->t.reg[src].kind != NUM)
			return;
		put(m, info->code, R10, src, slot_off(slot) + (int)below(9 - size), imm);
		if (size == 8)
			m->t.slot[slot] = num(UINT64_MAX);
		else if (m->t.slot[slot].kind != NUM)
			m->t.slot[slot].kind = NONE;
	} else {
		unsigned dst = a_pointer(m, true);

		if (info->form == EBPF_F_STX && m->t.reg[src].kind != NUM)
			return;
		put(m, info->code, dst, src, offset_in(&m->t.reg[dst], size), imm);
	}
}

static void make_atomic(struct maker *m, const struct ebpf_info *info)
{
	unsigned size = info->bits / 8, dst = R10, src, off;

	if (chance(50)) {
		off = (unsigned)slot_off(a_slot(m));
		off += chance(50) ? 8 - size : 0;
	} else {
		dst = a_pointer(m, true);
		if (m->t.reg[dst].slack)
			return;
		off = (unsigned)offset_in(&m->t.reg[dst], size + 8);
		off -= (off + (unsigned)m->t.reg[dst].off) % size;
	}
	if (info->op == EBPF_O_CMPXCHG && m->t.reg[R0].kind != NUM) {
		if (dst == R0)
			return;
		number_into(m, R0);
	}
	src = a_number(m);
	if (dst != R10 && (m->t.reg[dst].kind < VARS || m->t.reg[dst].kind > VAL))
		return;
	if (info->op == EBPF_O_CMPXCHG && m->t.reg[R0].kind != NUM)
		return;
	if (dst == R10) {
		unsigned slot = (unsigned)(-(int)off - 1) / 8;

		if (m->t.slot[slot].kind == NUM)
			m->t.slot[slot].bound = UINT64_MAX;
	}
	put(m, info->code, dst, src, (int)off, info->sub);
	if (info->op == EBPF_O_CMPXCHG)
		m->t.reg[R0] = num(UINT64_MAX);
	else if (info->sub & EBPF_ATOMIC_FETCH)
		m->t.reg[src] = num(UINT64_MAX);
}

static void meet(struct val *a, const struct val *b)
{
	if (a->kind != b->kind || a->off != b->off || a->id != b->id || a->slack != b->slack ||
		a->serial != b->serial)
		a->kind = NONE;
	if (a->bound < b->bound)
		a->bound = b->bound;
}

static void meet_types(struct types *a, const struct types *b)
{
	for (unsigned i = 0; i < 10; i++)
		meet(&a->reg[i], &b->reg[i]);
	for (unsigned i = 0; i < SLOTS; i++)
		meet(&a->slot[i], &b->slot[i]);
}

/* Let the jump at index at come out here. */
static void aim(struct maker *m, unsigned at)
{
	unsigned distance = m->n - at - 1;

	if (m->insn[at].code == EBPF_JA32)
		m->insn[at].imm = (int32_t)distance;
	else
		m->insn[at].off = (int16_t)distance;
}

static void make_body(struct maker *m)
{
	m->depth++;
	for (unsigned i = below(4) + 1; i > 0 && !full(m); i--)
		piece(m);
	m->depth--;
}

static void make_exit(struct maker *m)
{
	if (m->t.reg[R0].kind != NUM)
		number_into(m, R0);
	put(m, EBPF_EXIT, 0, 0, 0, 0);
}

/* if (condition) goto over; body; [goto end;] over: [other body; end:] */
static void make_branch(struct maker *m, const struct ebpf_info *info)
{
	unsigned dst = a_number(m);
	unsigned src = info->form == EBPF_F_JMP_REG ? a_number(m) : 0, at, end;
	struct types before, after;

	if (m->depth >= 4 || full(m) || m->t.reg[dst].kind != NUM)
		return;
	at = m->n;
	put(m, info->code, dst, src, 0, info->form == EBPF_F_JMP_IMM ? (int32_t)number() : 0);
	before = m->t;
	make_body(m);
	if (chance(10)) {
		make_exit(m);
		m->t = before;
		aim(m, at);
	} else if (chance(40)) {
		end = m->n;
		put(m, chance(50) ? EBPF_JA : EBPF_JA32, 0, 0, 0, 0);
		aim(m, at);
		after = m->t;
		m->t = before;
		make_body(m);
		meet_types(&m->t, &after);
		aim(m, end);
	} else {
		aim(m, at);
		meet_types(&m->t, &before);
	}
}

/* Jump over what is never run; it need only be well formed. */
static void make_dead(struct maker *m, uint8_t code)
{
	struct types before = m->t;
	unsigned at = m->n;

	if (m->depth >= 4 || full(m))
		return;
	put(m, code, 0, 0, 0, 0);
	make_body(m);
	aim(m, at);
	m->t = before;
}

/* A bounded number moves a pointer, as an access to an array does. */
static void make_index(struct maker *m)
{
	unsigned p = a_pointer(m, false), idx = a_number(m), at = 0;
	unsigned size = 1u << below(4), count;
	struct types before;
	bool jumped = false;

	if (idx == p || m->t.reg[idx].kind != NUM || m->t.reg[p].kind < VARS ||
		m->t.reg[p].kind > VAL || m->t.reg[p].slack || m->t.reg[p].off || full(m))
		return;
	count = size_of(&m->t.reg[p]) / size;
	before = m->t;
	switch (below(4)) {
	case 0:
		at = m->n;
		jumped = true;
		put(m, chance(50) ? EBPF_JGE_IMM : EBPF_JGT_IMM, idx, 0, 0, count);
		if (m->insn[at].code == EBPF_JGT_IMM)
			m->insn[at].imm--;
		break;
	case 1: put(m, EBPF_MOD64_IMM, idx, 0, 0, count); break;
	case 2:
		put(m, EBPF_AND64_IMM, idx, 0, 0, 3);
		count = count < 4 ? count : 4;
		break;
	default: put(m, EBPF_RSH64_IMM, idx, 0, 0, 63); count = count < 2 ? count : 2;
	}
	if (chance(50))
		put(m, EBPF_MUL64_IMM, idx, 0, 0, size);
	else
		put(m, EBPF_LSH64_IMM, idx, 0, 0, __builtin_ctz(size));
	put(m, EBPF_ADD64_REG, p, idx, 0, 0);
	m->t.reg[idx] = num((count - 1) * size);
	m->t.reg[p].slack = (uint8_t)((count - 1) * size);
	make_body(m);
	if (jumped) {
		aim(m, at);
		meet_types(&m->t, &before);
	}
}

/* Copies of pointers and strings between registers and slots; moves by constants. */
static void make_pointers(struct maker *m)
{
	unsigned r = below(10), slot = below(SLOTS), to = a_place(m);
	struct val *v = &m->t.reg[r];
	int by;

	switch (below(6)) {
	case 0: region_into(m, to); break;
	case 1:
		if (v->kind == NONE)
			break;
		put(m, EBPF_MOV64_REG, to, r, 0, 0);
		m->t.reg[to] = *v;
		break;
	case 2:
		if (v->kind == NONE)
			break;
		put(m, EBPF_STXDW, R10, r, slot_off(slot), 0);
		m->t.slot[slot] = *v;
		break;
	case 3:
		if (m->t.slot[slot].kind == NONE)
			break;
		put(m, EBPF_LDXDW, to, R10, slot_off(slot), 0);
		m->t.reg[to] = m->t.slot[slot];
		break;
	case 4:
		if (v->kind < VARS || v->kind > VAL)
			break;
		by = (int)below(32) - 8;
		put(m, chance(50) ? EBPF_ADD64_IMM : EBPF_SUB64_IMM, r, 0, 0, by);
		v->off = (int16_t)(v->off + (m->insn[m->n - 1].code == EBPF_ADD64_IMM ? by : -by));
		break;
	default:
		put(m, EBPF_LDDW, to, EBPF_LDDW_STR, 0, below(NSTRS));
		put(m, 0, 0, 0, 0, 0);
		m->t.reg[to] = (struct val){.kind = STR};
	}
}

/* A pointer to the stack, and accesses through it. */
static void make_stack_pointer(struct maker *m)
{
	unsigned slot = a_slot(m), p = a_place(m), r;

	put(m, EBPF_MOV64_REG, p, R10, 0, 0);
	put(m, EBPF_ADD64_IMM, p, 0, 0, slot_off(slot));
	m->t.reg[p] = (struct val){.kind = STACK, .off = (int16_t)slot_off(slot)};
	if (chance(40)) { /* a byte of the slot, by index */
		r = a_number(m);
		if (r == p || m->t.reg[p].kind != STACK)
			return;
		put(m, EBPF_AND64_IMM, r, 0, 0, 7);
		put(m, EBPF_ADD64_REG, p, r, 0, 0);
		m->t.reg[r] = num(7);
		m->t.reg[p].kind = NONE;
		if (m->t.slot[slot].kind == NUM)
			m->t.slot[slot].bound = UINT64_MAX;
		if (chance(50))
			put(m, EBPF_STXB, p, r, 0, 0);
		else
			put(m, EBPF_LDXB, r, p, 0, 0);
		m->t.reg[r].bound = 255;
		return;
	}
	r = a_place(m);
	if (r != p) {
		put(m, EBPF_LDXW, r, p, 4 * (int)below(2), 0);
		m->t.reg[r] = num(UINT32_MAX);
	}
}

/* ---- calls ---------------------------------------------------------------------------- */

static void string_into(struct maker *m, unsigned r)
{
	int s = find(m, STR);

	if (s >= 0 && chance(60)) {
		put(m, EBPF_MOV64_REG, r, (unsigned)s, 0, 0);
	} else if (chance(30)) {
		put(m, EBPF_MOV64_IMM, r, 0, 0, 0);
	} else if (chance(40)) {
		do
			region_into(m, r);
		while (m->t.reg[r].kind == BUF && chance(50));
		put(m, EBPF_ADD64_IMM, r, 0, 0, below(9));
	} else {
		put(m, EBPF_LDDW, r, EBPF_LDDW_STR, 0, below(NSTRS));
		put(m, 0, 0, 0, 0, 0);
	}
	m->t.reg[r] = (struct val){.kind = STR};
}

static void any_number_into(struct maker *m, unsigned r)
{
	int s = find(m, NUM);

	if (s < 0 || chance(20)) {
		number_into(m, r);
	} else {
		put(m, EBPF_MOV64_REG, r, (unsigned)s, 0, 0);
		m->t.reg[r] = m->t.reg[s];
	}
}

/* Builds key id on the stack with the help of r<with>, and points r2 to it. */
static void key_into(struct maker *m, unsigned id, unsigned with)
{
	struct ebpf_keypart part[EBPF_MAX_KEYS];
	int n = world_key(NULL, 0, id, part);
	unsigned top = (unsigned)n + below(SLOTS - 3);

	for (int i = 0; i < n; i++) {
		unsigned slot = top - 1 - (unsigned)i;

		if (part[i].kind == EBPF_SCALAR) {
			any_number_into(m, with);
			m->t.slot[slot] = num(UINT64_MAX);
		} else if (part[i].kind == EBPF_STR) {
			string_into(m, with);
			m->t.slot[slot] = (struct val){.kind = STR};
		} else {
			region_into(m, with);
			m->t.slot[slot] = m->t.reg[with];
		}
		put(m, EBPF_STXDW, R10, with, slot_off(slot), 0);
	}
	if (n == 0) {
		put(m, EBPF_MOV64_IMM, R2, 0, 0, 0);
	} else {
		put(m, EBPF_MOV64_REG, R2, R10, 0, 0);
		put(m, EBPF_ADD64_IMM, R2, 0, 0, slot_off(top - 1));
	}
	m->t.reg[R2] = (struct val){.kind = STACK};
}

/* Memory for a call in r<r>, its size in the register after it. */
static void memory_into(struct maker *m, unsigned r, bool write, bool known)
{
	unsigned size, slot;

	if (chance(50)) {
		slot = write ? below(SLOTS) : a_slot(m);
		size = write ? below(8 * (slot + 1) + 1) : below(9);
		put(m, EBPF_MOV64_REG, r, R10, 0, 0);
		put(m, EBPF_ADD64_IMM, r, 0, 0, slot_off(slot));
		if (write)
			for (unsigned i = 0; i <= slot; i++)
				if (slot - i < (size + 7) / 8)
					m->t.slot[i].kind = NONE;
		if (write && known)
			for (unsigned i = 0; i < size / 8; i++)
				m->t.slot[slot - i] = num(UINT64_MAX);
	} else {
		do
			region_into(m, r);
		while (write && m->t.reg[r].kind == ARGS);
		size = below(size_of(&m->t.reg[r]) + 1);
	}
	m->t.reg[r] = (struct val){.kind = STACK};
	if (known || chance(50)) {
		put(m, EBPF_MOV64_IMM, r + 1, 0, 0, size);
	} else {
		any_number_into(m, r + 1);
		put(m, EBPF_MOD64_IMM, r + 1, 0, 0, size + 1);
	}
	m->t.reg[r + 1] = num(size);
}

static void make_arguments(struct maker *m, enum fns fn)
{
	switch (fn) {
	case F_MIX:
		for (unsigned r = R1; r <= R5; r++)
			any_number_into(m, r);
		break;
	case F_CONST:
		any_number_into(m, R2);
		number_into(m, R1);
		break;
	case F_CTX:
		put(m, EBPF_MOV64_REG, R1, a_context(m), 0, 0);
		m->t.reg[R1] = (struct val){.kind = CTX};
		any_number_into(m, R2);
		break;
	case F_STR: string_into(m, R1); break;
	case F_MKSTR: any_number_into(m, R1); break;
	case F_LOOKUP:
	case F_KEY: {
		unsigned id = below(fn == F_KEY ? NKEYS : NVALUES);

		key_into(m, id, R3);
		put(m, EBPF_MOV64_IMM, R1, 0, 0, id);
		m->t.reg[R1] = num(id);
		any_number_into(m, R3);
		break;
	}
	case F_READ: memory_into(m, R1, false, false); break;
	case F_READK: memory_into(m, R1, false, true); break;
	case F_WRITE: memory_into(m, R1, true, true); break;
	case F_WRITEV:
		any_number_into(m, R1);
		memory_into(m, R2, true, false);
		break;
	case F_MEM: region_into(m, R1); break;
	case F_ALLOC:
		m->t.reg[R1] = num(below(NVALUES));
		put(m, EBPF_MOV64_IMM, R1, 0, 0, (int32_t)m->t.reg[R1].bound);
		break;
	default: break;
	}
}

/* One of the copies of what a lookup gave is compared with 0, and the value used. */
static void check_value(struct maker *m, unsigned r)
{
	uint16_t serial = m->t.reg[r].serial;
	struct types before;
	unsigned at = m->n;
	bool jne = chance(30);

	if (full(m) || m->depth >= 6)
		return;
	put(m, jne ? EBPF_JNE_IMM : EBPF_JEQ_IMM, r, 0, 0, 0);
	before = m->t;
	for (unsigned i = 0; i < 10 + SLOTS; i++) {
		struct val *in = i < 10 ? &m->t.reg[i] : &m->t.slot[i - 10];
		struct val *out = i < 10 ? &before.reg[i] : &before.slot[i - 10];

		if (in->kind != MAYBE || in->serial != serial)
			continue;
		in->kind = VAL;
		*out = num(0);
	}
	if (jne) { /* the null side comes first */
		struct types value = m->t;

		m->t = before;
		before = value;
	}
	make_body(m);
	aim(m, at);
	meet_types(&m->t, &before);
}

static void use_value(struct maker *m, unsigned id)
{
	unsigned copy = a_place(m), slot = below(SLOTS);

	m->t.reg[R0] = (struct val){.kind = MAYBE, .id = (uint8_t)id, .serial = ++m->serial};
	put(m, EBPF_MOV64_REG, copy, R0, 0, 0);
	m->t.reg[copy] = m->t.reg[R0];
	if (chance(30)) {
		put(m, EBPF_STXDW, R10, R0, slot_off(slot), 0);
		m->t.slot[slot] = m->t.reg[R0];
	}
	if (chance(80))
		check_value(m, chance(50) ? copy : R0);
}

static void make_call(struct maker *m)
{
	enum fns fn = below(NFNS);
	unsigned id;

	make_arguments(m, fn);
	id = (unsigned)m->t.reg[R1].bound & 3;
	put(m, EBPF_CALL, 0, 0, 0, fn);
	for (unsigned r = R0; r <= R5; r++)
		m->t.reg[r].kind = NONE;
	switch (world_fns[fn].ret) {
	case EBPF_SCALAR: m->t.reg[R0] = num(UINT64_MAX); break;
	case EBPF_STR: m->t.reg[R0] = (struct val){.kind = STR}; break;
	case EBPF_MEM_OR_NULL: use_value(m, id); break;
	}
}

/* A number kept deep in the stack over a call, reached through a pointer moved in steps only. */
static void make_deep(struct maker *m)
{
	unsigned p = R6 + below(4), r = a_number(m);
	int a = 8 * (int)(14 + below(20)), b = 8 * (int)below(16), c = 8 * (int)below(8);

	if (p == m->home || p == r || full(m))
		return;
	put(m, EBPF_MOV64_REG, p, R10, 0, 0);
	put(m, EBPF_ADD64_IMM, p, 0, 0, -a);
	put(m, EBPF_ADD64_IMM, p, 0, 0, -b);
	put(m, EBPF_STXDW, p, r, -c, 0);
	put(m, EBPF_CALL, 0, 0, 0, F_NONE);
	put(m, EBPF_LDXDW, R0, p, -c, 0);
	m->t.reg[p] = (struct val){.kind = STACK};
	for (unsigned i = R1; i <= R5; i++)
		m->t.reg[i].kind = NONE;
	m->t.reg[R0] = num(UINT64_MAX);
}

/* ---- programs ------------------------------------------------------------------------- */

static void piece(struct maker *m)
{
	const struct ebpf_info *info;

	int maybe = find(m, MAYBE);

	if (maybe >= 0 && chance(10)) {
		check_value(m, (unsigned)maybe);
		return;
	}
	switch (below(10)) {
	case 0: make_call(m); return;
	case 1: make_pointers(m); return;
	case 2:
		if (chance(60))
			make_index(m);
		else if (chance(70))
			make_stack_pointer(m);
		else
			make_deep(m);
		return;
	}
	info = row_info[below(EBPF_NROWS)];
	switch ((enum ebpf_form)info->form) {
	case EBPF_F_ALU_IMM:
	case EBPF_F_ALU_REG:
	case EBPF_F_MOV_IMM:
	case EBPF_F_MOV_REG:
	case EBPF_F_UNARY:
	case EBPF_F_END: make_alu(m, info); break;
	case EBPF_F_LDDW: number_into(m, a_place(m)); break;
	case EBPF_F_LDX: make_load(m, info); break;
	case EBPF_F_ST:
	case EBPF_F_STX: make_store(m, info); break;
	case EBPF_F_ATOMIC: make_atomic(m, info); break;
	case EBPF_F_JA:
	case EBPF_F_JA32: make_dead(m, info->code); break;
	case EBPF_F_JMP_IMM:
	case EBPF_F_JMP_REG: make_branch(m, info); break;
	case EBPF_F_CALL: make_call(m); break;
	default: break;
	}
}

static void make_program(struct maker *m)
{
	unsigned pieces = 1 + below(chance(20) ? 30 : 8);

	m->n = 0;
	m->depth = 0;
	m->serial = 0;
	memset(&m->t, 0, sizeof(m->t));
	m->t.reg[R1].kind = CTX;
	m->home = R6 + below(4);
	m->t.reg[m->home].kind = CTX;
	put(m, EBPF_MOV64_REG, m->home, R1, 0, 0);
	while (pieces-- > 0 && !full(m))
		piece(m);
	if (m->t.reg[R0].kind != NUM) /* everything goes into the result */
		number_into(m, R0);
	for (unsigned r = R1; r <= R9; r++)
		if (m->t.reg[r].kind == NUM) {
			put(m, EBPF_MUL64_IMM, R0, 0, 0, 31);
			put(m, EBPF_XOR64_REG, R0, r, 0, 0);
		}
	put(m, EBPF_EXIT, 0, 0, 0, 0);
}

#endif
