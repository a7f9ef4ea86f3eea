/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lvalues: what can be read, assigned and pointed to. Static variables are accessed directly in
 * their region; memory behind pointers through the runtime's checked loads and stores; dynamic
 * variables by key. A struct in a dynamic variable is accessed through a copy in scratch memory,
 * which is written back after a store.
 */
#include "cg.h"

#include <string.h>

#include "array.h"

/* ---- variables of the program ---------------------------------------------------------- */

static uint32_t align_up(uint32_t n, uint32_t a)
{
	return (n + a - 1) & ~(a - 1);
}

static int append_var(struct cg *g, struct prog_var *v, const struct d_node *n)
{
	struct prog *p = &g->c->prog;

	if (p->nvars >= D_MAX_VARS)
		return cg_fail(g, n, D_ID_OFLOW, "more than %d variables", D_MAX_VARS);
	if (!ARRAY_ROOM(p->vars, p->nvars))
		return cg_fail(g, n, ET_NOMEM, "out of memory");
	p->vars[p->nvars] = v;
	return p->nvars++;
}

/* Allocate a static variable: globals in their region, this-> in the scratch region. */
static void alloc_static(struct cg *g, struct prog_var *v, const struct d_node *n)
{
	struct prog *p = &g->c->prog;

	if (v->scope == SC_THIS) {
		v->off = cg_scratch(g, n, v->size);
		p->this_end = g->scratch;
		return;
	}
	v->off = align_up(p->globals_size, 8);
	if (v->size > (16u << 20) || v->off + v->size > (16u << 20))
		cg_fail(g, n, D_ID_OFLOW, "global variables need more than 16 MB");
	else
		p->globals_size = v->off + v->size;
}

static struct prog_var *var_of(struct cg *g, struct d_ident *id, const struct d_node *n, int *index)
{
	struct prog_var *v;
	int i;

	if (id->id != UINT16_MAX) {
		*index = id->id;
		return g->c->prog.vars[id->id];
	}
	v = arena_new_of(g->c->arena, struct prog_var);
	v->name = id->name;
	v->scope = id->scope;
	v->assoc = id->kind == ID_ASSOC || id->scope == SC_SELF;
	v->flow = strncmp(id->name, D_FLOW, strlen(D_FLOW)) == 0;
	v->type = id->type;
	v->size = d_is_string(id->type) ? g->c->prog.strsize : d_base(id->type)->size;
	v->nkeys = id->kind == ID_ASSOC ? id->nkeys : 0;
	v->keys = cg_keys_of(g, id->keys, v->nkeys, NULL, &v->has_blob, &v->strmask);
	i = append_var(g, v, n);
	*index = i < 0 ? 0 : i;
	if (i < 0)
		return v;
	if (!v->assoc)
		alloc_static(g, v, n);
	id->id = i;
	return v;
}

static void call_dyn(struct cg *g, enum rt_fn fn, const struct cg_lval *p)
{
	cg_call_with(g, fn, cg_key_bytes(p->var->keys, p->var->nkeys), p->null_key);
}

/* self->x without a key, which has functions of its own: it is what clauses use most. */
static bool is_plain_self(const struct cg_lval *p)
{
	return p->var->scope == SC_SELF && p->var->nkeys == 0;
}

/* ---- lvalues of expressions ------------------------------------------------------------ */

/* Copy a struct of a dynamic variable (or zeroes) to scratch memory at p->copy. */
static void fetch_copy(struct cg *g, const struct cg_lval *p)
{
	uint32_t off = (uint32_t)p->copy;
	int missing = ebpf_label(g->a), end = ebpf_label(g->a);

	ebpf_const(g->a, R2, p->varid);
	cg_key_load(g, R3, p->key, p->var->nkeys);
	call_dyn(g, RT_dyn_ref, p);
	ebpf_jump(g->a, EBPF_JEQ_IMM, R0, 0, 0, missing);
	ebpf_emit(g->a, EBPF_MOV64_REG, R4, R0, 0, 0);
	ebpf_const(g->a, R5, p->var->size);
	ebpf_emit(g->a, EBPF_LDXDW, R2, CTX, FIELD(scratch), 0);
	ebpf_emit(g->a, EBPF_ADD64_IMM, R2, 0, 0, off);
	ebpf_const(g->a, R3, p->var->size);
	cg_call_sized(g, RT_copy, p->var->size);
	ebpf_jump(g->a, EBPF_JA, 0, 0, 0, end);
	ebpf_bind(g->a, missing);
	ebpf_emit(g->a, EBPF_LDXDW, R2, CTX, FIELD(scratch), 0);
	ebpf_emit(g->a, EBPF_ADD64_IMM, R2, 0, 0, off);
	ebpf_const(g->a, R3, p->var->size);
	cg_call_sized(g, RT_zero, p->var->size);
	ebpf_bind(g->a, end);
}

void cg_lval_reload(struct cg *g, const struct cg_lval *p)
{
	if (p->copy >= 0 && !g->failed)
		fetch_copy(g, p);
}

static void write_back(struct cg *g, struct cg_lval *p)
{
	int full = ebpf_label(g->a);

	ebpf_const(g->a, R2, p->varid);
	cg_key_load(g, R3, p->key, p->var->nkeys);
	call_dyn(g, RT_dyn_new, p);
	ebpf_jump(g->a, EBPF_JEQ_IMM, R0, 0, 0, full); /* dropped and counted */
	ebpf_emit(g->a, EBPF_MOV64_REG, R2, R0, 0, 0);
	ebpf_const(g->a, R3, p->var->size);
	ebpf_emit(g->a, EBPF_LDXDW, R4, CTX, FIELD(scratch), 0);
	ebpf_emit(g->a, EBPF_ADD64_IMM, R4, 0, 0, p->copy);
	ebpf_const(g->a, R5, p->var->size);
	cg_call_sized(g, RT_copy, p->var->size);
	ebpf_bind(g->a, full);
}

/* The lvalue of a dynamic variable as that of its copy. */
static struct cg_lval copied(struct cg *g, struct cg_lval p, const struct d_node *n)
{
	p.copy = cg_scratch(g, n, p.var->size);
	fetch_copy(g, &p);
	p.kind = LV_MEM;
	p.base = cg_field(FIELD(scratch), 8);
	p.off = p.copy;
	return p;
}

/* A dynamic variable is deleted before it is looked at: x = 0 of a struct. */
static void delete_dyn(struct cg *g, const struct cg_lval *p)
{
	ebpf_const(g->a, R2, p->varid);
	cg_key_load(g, R3, p->key, p->var->nkeys);
	call_dyn(g, RT_dyn_del, p);
}

static struct cg_lval var_lval(struct cg *g, struct d_node *n, bool delete)
{
	struct cg_lval p = {.key = -1, .copy = -1};

	p.var = var_of(g, n->ident, n, &p.varid);
	if (!p.var->assoc) {
		p.kind = LV_MEM;
		p.shared = p.var->scope == SC_GLOBAL;
		p.base = cg_field(p.shared ? FIELD(globals) : FIELD(scratch), 8);
		p.off = p.var->off;
		return p;
	}
	p.kind = LV_DYN;
	if (n->kind == N_ASSOC) {
		p.key = cg_key(g, n, n->list, p.var->keys, p.var->nkeys);
		p.null_key = cg_key_null(n->list, p.var->keys, p.var->nkeys);
	}
	if (d_is_scalar(p.var->type) || d_is_string(p.var->type))
		return p;
	if (delete)
		delete_dyn(g, &p);
	return copied(g, p, n);
}

static struct cg_lval raw_lval(struct cg_val addr, int64_t off)
{
	return (struct cg_lval){.kind = LV_RAW, .base = addr, .off = off, .key = -1, .copy = -1};
}

/* base + index * size, in a new temporary; for LV_MEM the index was checked. */
static void add_index(
	struct cg *g, struct cg_lval *p, struct cg_val i, uint64_t size, const struct d_node *n)
{
	struct cg_val t;

	cg_load(g, R1, i);
	if (size != 1)
		ebpf_emit(g->a, EBPF_MUL64_IMM, R1, 0, 0, size);
	cg_load(g, R0, p->base);
	ebpf_emit(g->a, EBPF_ADD64_REG, R0, R1, 0, 0);
	cg_free(g, i);
	cg_free(g, p->base);
	t = cg_keep(g, n, R0);
	p->base = t;
	p->indexed = true;
}

/* A string as an array of characters, if it is not NULL: the last one stays its NUL. */
static struct cg_lval chars_lval(struct cg *g, struct d_node *n, bool write)
{
	struct cg_lval p = cg_lval(g, n, write);

	if (p.kind == LV_DYN)
		return copied(g, p, n);
	if (p.kind == LV_MEM) {
		cg_mem_ptr(g, &p, R2);
		cg_call(g, RT_notnull);
	}
	return p;
}

static struct cg_lval index_lval(struct cg *g, struct d_node *n, bool write)
{
	const struct d_type *arr = d_base(n->a->type);
	bool chars = arr->kind == T_STRING;
	const struct d_type *elem = d_base(chars ? g->c->t.char_ : arr->ref);
	uint64_t nelems = (chars ? g->c->prog.strsize - 1 : arr->nelems) + !!(n->flags & NF_END);
	struct cg_lval p;
	struct cg_val i;

	if (arr->kind == T_PTR)
		p = raw_lval(cg_expr(g, n->a), 0);
	else
		p = chars ? chars_lval(g, n->a, write) : cg_lval(g, n->a, write);
	i = cg_expr(g, n->b);
	/* the checker has checked plain constants, but not a[(x = 9)] */
	if (i.kind == VAL_CONST && (p.kind != LV_MEM || i.imm < nelems)) {
		p.off += (int64_t)i.imm * (int64_t)elem->size;
		return p;
	}
	if (p.kind == LV_MEM) {
		/* keep the index in r1: the verifier knows its bound there */
		cg_load(g, R1, i);
		cg_free(g, i);
		cg_fault_if(g, EBPF_JGE_IMM, R1, (int32_t)nelems, FAULT_BADINDEX);
		if (elem->size != 1)
			ebpf_emit(g->a, EBPF_MUL64_IMM, R1, 0, 0, elem->size);
		cg_load(g, R0, p.base);
		ebpf_emit(g->a, EBPF_ADD64_REG, R0, R1, 0, 0);
		cg_free(g, p.base);
		p.base = cg_keep(g, n, R0);
		p.indexed = true;
		return p;
	}
	add_index(g, &p, i, elem->size, n);
	return p;
}

/* c ? x : y of structs: copies one of them to scratch memory. */
static struct cg_lval choice_lval(struct cg *g, struct d_node *n)
{
	uint32_t size = d_base(n->type)->size;
	int otherwise = ebpf_label(g->a), end = ebpf_label(g->a);
	struct cg_lval p = {.kind = LV_MEM, .key = -1, .copy = -1};

	p.base = cg_field(FIELD(scratch), 8);
	p.off = cg_scratch(g, n, size);
	cg_jump_false(g, n->a, otherwise);
	g->maybe++;
	cg_assign_bytes(g, &p, n->b, size);
	ebpf_jump(g->a, EBPF_JA, 0, 0, 0, end);
	ebpf_bind(g->a, otherwise);
	cg_assign_bytes(g, &p, n->c, size);
	ebpf_bind(g->a, end);
	g->maybe--;
	return p;
}

/* x = y of structs, as an lvalue: x, after the assignment. */
static struct cg_lval assigned_lval(struct cg *g, struct d_node *n)
{
	struct cg_lval p;

	if (n->b->kind == N_INT)
		return var_lval(g, n->a, true);
	p = cg_lval(g, n->a, true);
	cg_assign_bytes(g, &p, n->b, d_base(n->type)->size);
	return p;
}

struct cg_lval cg_lval(struct cg *g, struct d_node *n, bool write)
{
	struct cg_lval p = raw_lval(cg_const(0), 0);

	if (g->failed)
		return p;
	switch (n->kind) {
	case N_VAR:
	case N_ASSOC:
		if (n->ident->kind != ID_BUILTIN)
			return var_lval(g, n, false);
		if (d_is_kind(n->type, T_ARRAY)) /* args[n] of array type: its address */
			return raw_lval(cg_field(FIELD(arg) + 8 * n->value, 8), 0);
		break;
	case N_MEMBER:
		if (n->op == OP_DOT)
			p = cg_lval(g, n->a, write);
		else
			p = raw_lval(cg_expr(g, n->a), 0);
		p.off += n->value;
		if (n->member != NULL && n->member->bit_width != 0)
			p.bits = n->member;
		return p;
	case N_OP1:
		if (n->op != OP_DEREF)
			break;
		if (n->a->kind == N_OP1 && n->a->op == OP_ADDROF) { /* *&x, and * of an array */
			n->a->a->flags &= ~NF_END;
			return cg_lval(g, n->a->a, write);
		}
		return raw_lval(cg_expr(g, n->a), 0);
	case N_OP2:
		if (n->op == OP_INDEX)
			return index_lval(g, n, write);
		if (n->op == OP_ASG)
			return assigned_lval(g, n);
		if (n->op == OP_COMMA) {
			cg_discard(g, n->a);
			return cg_lval(g, n->b, write);
		}
		break;
	case N_OP3: return choice_lval(g, n);
	case N_CAST: return cg_lval(g, n->a, write);
	default: break;
	}
	cg_fail(g, n, D_CG_EXPR, "expression is not an object in memory");
	return p;
}

void cg_lval_free(struct cg *g, struct cg_lval *p)
{
	cg_free(g, p->base);
	if (p->key >= 0)
		cg_slots_free(g, p->key, p->var->nkeys);
}

/* ---- addresses ------------------------------------------------------------------------- */

/* The base of an LV_MEM in a register; the remaining offset fits an instruction. */
static int mem_base(struct cg *g, const struct cg_lval *p, int reg, int *off)
{
	int r;

	if (p->off >= 0 && p->off <= INT16_MAX - 16) {
		r = cg_reg(g, p->base, reg);
		*off = (int)p->off;
		return r;
	}
	cg_load(g, reg, p->base);
	ebpf_emit(g->a, EBPF_ADD64_IMM, reg, 0, 0, (int32_t)p->off);
	*off = 0;
	return reg;
}

void cg_mem_ptr(struct cg *g, const struct cg_lval *p, int reg)
{
	cg_load(g, reg, p->base);
	if (p->off != 0)
		ebpf_emit(g->a, EBPF_ADD64_IMM, reg, 0, 0, (int32_t)p->off);
}

static void raw_addr(struct cg *g, const struct cg_lval *p, int reg)
{
	cg_load(g, reg, p->base);
	if (p->off == (int32_t)p->off) {
		if (p->off != 0)
			ebpf_emit(g->a, EBPF_ADD64_IMM, reg, 0, 0, (int32_t)p->off);
	} else {
		ebpf_const(g->a, R5, p->off);
		ebpf_emit(g->a, EBPF_ADD64_REG, reg, R5, 0, 0);
	}
}

struct cg_val cg_lval_addr(struct cg *g, struct cg_lval *p, const struct d_node *n)
{
	if (p->kind == LV_RAW) {
		raw_addr(g, p, R0);
		return cg_keep(g, n, R0);
	}
	if (p->kind != LV_MEM || p->copy >= 0) {
		cg_fail(g, n, D_ADDROF_VAR,
			"self-> and associative variables have no address: only globals, this-> "
			"variables and memory behind a pointer have one");
		return cg_const(0);
	}
	cg_mem_ptr(g, p, R2);
	ebpf_const(g->a, R3, 0); /* it may be the end of an array */
	cg_call(g, RT_memadr);
	return cg_keep(g, n, R0);
}

struct cg_val cg_lval_mem(struct cg *g, struct cg_lval *p, uint32_t size, const struct d_node *n)
{
	uint32_t off;

	if (p->kind == LV_MEM) {
		cg_mem_ptr(g, p, R0);
		return cg_keep(g, n, R0);
	}
	off = cg_scratch(g, n, size);
	raw_addr(g, p, R4);
	ebpf_emit(g->a, EBPF_LDXDW, R2, CTX, FIELD(scratch), 0);
	ebpf_emit(g->a, EBPF_ADD64_IMM, R2, 0, 0, off);
	ebpf_const(g->a, R3, size);
	cg_call(g, RT_read);
	ebpf_emit(g->a, EBPF_LDXDW, R0, CTX, FIELD(scratch), 0);
	ebpf_emit(g->a, EBPF_ADD64_IMM, R0, 0, 0, off);
	return cg_keep(g, n, R0);
}

/* ---- load ------------------------------------------------------------------------------ */

static uint8_t load_code(uint64_t size, bool sign)
{
	switch (size) {
	case 1: return sign ? EBPF_LDXSB : EBPF_LDXB;
	case 2: return sign ? EBPF_LDXSH : EBPF_LDXH;
	case 4: return sign ? EBPF_LDXSW : EBPF_LDXW;
	default: return EBPF_LDXDW;
	}
}

static uint8_t store_code(uint64_t size)
{
	return size == 1 ? EBPF_STXB : size == 2 ? EBPF_STXH : size == 4 ? EBPF_STXW : EBPF_STXDW;
}

static void load_number(struct cg *g, const struct cg_lval *p, uint64_t size, bool sign, int reg)
{
	int off, r;

	if (p->kind == LV_MEM) {
		r = mem_base(g, p, R1, &off);
		ebpf_emit(g->a, load_code(size, sign), reg, r, off, 0);
		return;
	}
	raw_addr(g, p, R2);
	ebpf_const(g->a, R3, sign ? -size : size);
	cg_call(g, RT_load);
	if (reg != R0)
		ebpf_emit(g->a, EBPF_MOV64_REG, reg, R0, 0, 0);
}

static void extract_bits(struct cg *g, int reg, const struct d_member *m)
{
	int up = 64 - m->bit_off - m->bit_width, down = 64 - m->bit_width;

	if (up != 0)
		ebpf_emit(g->a, EBPF_LSH64_IMM, reg, 0, 0, up);
	if (down != 0)
		ebpf_emit(g->a, d_is_signed(m->type) ? EBPF_ARSH64_IMM : EBPF_RSH64_IMM, reg, 0, 0,
			down);
}

/* A variable is stored to, under any key: drop the cached value. */
static void invalidate_loaded(struct cg *g, int var)
{
	if (g->loaded.var == var)
		g->loaded.var = -1;
}

static struct cg_val load_dyn(
	struct cg *g, struct cg_lval *p, const struct d_type *t, const struct d_node *n)
{
	bool same = t == p->var->type && d_is_scalar(t) &&
		    (p->key < 0 || (p->var->nkeys == 1 && (g->pinned >> p->key & 1)));
	int slot;

	if (same && g->loaded.var == p->varid && g->loaded.key == p->key)
		return cg_kept(g, n, g->loaded.slot);
	ebpf_const(g->a, R2, p->varid);
	cg_key_load(g, R3, p->key, p->var->nkeys);
	if (d_is_string(t)) {
		call_dyn(g, RT_dyn_str, p);
		return cg_keep(g, n, R0);
	}
	call_dyn(g, is_plain_self(p) ? RT_self_load : RT_dyn_load, p);
	cg_norm(g, R0, t);
	if (same && (slot = cg_keep_for_all(g, n)) != 0) {
		invalidate_loaded(g, p->varid);
		g->loaded.var = p->varid;
		g->loaded.key = p->key;
		g->loaded.slot = slot;
	}
	return cg_keep(g, n, R0);
}

static struct cg_val load_string(struct cg *g, struct cg_lval *p, const struct d_node *n)
{
	if (p->kind == LV_MEM) {
		cg_mem_ptr(g, p, R0);
		return cg_keep(g, n, R0);
	}
	raw_addr(g, p, R3);
	ebpf_const(g->a, R4, g->c->prog.strsize - 1);
	ebpf_const(g->a, R2, cg_scratch(g, n, g->c->prog.strsize));
	cg_call(g, RT_addrstr);
	return cg_keep(g, n, R0);
}

struct cg_val cg_lval_load(
	struct cg *g, struct cg_lval *p, const struct d_type *t, const struct d_node *n)
{
	struct cg_val v;
	int d;

	if (g->failed)
		return cg_const(0);
	if (p->kind == LV_DYN)
		return load_dyn(g, p, t, n);
	if (d_is_string(t))
		return load_string(g, p, n);
	v = cg_tmp(g, n);
	d = v.kind == VAL_REG ? v.reg : R0;
	if (p->bits != NULL) {
		load_number(g, p, d_base(p->bits->type)->size, false, d);
		extract_bits(g, d, p->bits);
	} else {
		load_number(g, p, d_base(t)->size, d_is_signed(t), d);
	}
	cg_store(g, v, d);
	return v;
}

/* ---- store ----------------------------------------------------------------------------- */

static void store_number(struct cg *g, const struct cg_lval *p, uint64_t size, struct cg_val v)
{
	int off, r;

	if (p->kind == LV_MEM) {
		r = mem_base(g, p, R1, &off);
		ebpf_emit(g->a, store_code(size), r, cg_reg(g, v, R0), off, 0);
		return;
	}
	cg_load(g, R4, v);
	raw_addr(g, p, R2);
	ebpf_const(g->a, R3, size);
	cg_call(g, RT_store);
}

static void store_bits(
	struct cg *g, const struct cg_lval *p, struct cg_val v, const struct d_node *n)
{
	const struct d_member *m = p->bits;
	uint64_t size = d_base(m->type)->size;
	uint64_t mask = (m->bit_width == 64 ? ~0ULL : (1ULL << m->bit_width) - 1) << m->bit_off;
	struct cg_val unit = cg_tmp(g, n);
	int d = unit.kind == VAL_REG ? unit.reg : R0;

	load_number(g, p, size, false, d);
	ebpf_const(g->a, R2, ~mask);
	ebpf_emit(g->a, EBPF_AND64_REG, d, R2, 0, 0);
	cg_load(g, R2, v);
	ebpf_emit(g->a, EBPF_LSH64_IMM, R2, 0, 0, m->bit_off);
	ebpf_const(g->a, R3, mask);
	ebpf_emit(g->a, EBPF_AND64_REG, R2, R3, 0, 0);
	ebpf_emit(g->a, EBPF_OR64_REG, d, R2, 0, 0);
	cg_store(g, unit, d);
	store_number(g, p, size, unit);
	cg_free(g, unit);
}

static void store_string(struct cg *g, struct cg_lval *p, struct cg_val v, const struct d_node *n)
{
	(void)n;
	if (p->kind == LV_RAW) {
		cg_load(g, R3, v);
		raw_addr(g, p, R2);
		cg_call(g, RT_storestr);
		return;
	}
	cg_load(g, R4, v);
	cg_mem_ptr(g, p, R2);
	ebpf_const(g->a, R3, g->c->prog.strsize);
	cg_call(g, RT_setstr);
}

void cg_lval_store(struct cg *g, struct cg_lval *p, const struct d_type *t, struct cg_val v,
	const struct d_node *n)
{
	if (g->failed)
		return;
	if (p->kind == LV_DYN) {
		cg_load(g, R4, v);
		ebpf_const(g->a, R2, p->varid);
		cg_key_load(g, R3, p->key, p->var->nkeys);
		call_dyn(g,
			d_is_string(t)	     ? RT_dyn_setstr
			: is_plain_self(p) ? RT_self_store
					     : RT_dyn_store,
			p);
		invalidate_loaded(g, p->varid);
		return;
	}
	if (d_is_string(t))
		store_string(g, p, v, n);
	else if (p->bits != NULL)
		store_bits(g, p, v, n);
	else
		store_number(g, p, d_base(t)->size, v);
	if (p->copy >= 0)
		write_back(g, p);
}

/* Add atomically to a shared number. */
static void add_shared(struct cg *g, struct cg_lval *p, uint64_t size, struct cg_val v)
{
	int off, r;

	if (size >= 4 && !p->indexed && p->off % (int64_t)size == 0) {
		cg_load(g, R0, v);
		r = mem_base(g, p, R1, &off);
		ebpf_emit(g->a, size == 8 ? EBPF_ATOMIC64 : EBPF_ATOMIC32, r, R0, off,
			EBPF_ATOMIC_ADD | EBPF_ATOMIC_FETCH);
		return;
	}
	cg_load(g, R4, v);
	cg_mem_ptr(g, p, R2);
	ebpf_const(g->a, R3, size);
	cg_call(g, RT_add_static);
}

struct cg_val cg_lval_add(struct cg *g, struct cg_lval *p, const struct d_type *t, struct cg_val v,
	bool want, const struct d_node *n)
{
	if (p->kind == LV_DYN) {
		cg_load(g, R4, v);
		ebpf_const(g->a, R2, p->varid);
		cg_key_load(g, R3, p->key, p->var->nkeys);
		call_dyn(g, RT_dyn_add, p);
		invalidate_loaded(g, p->varid);
	} else {
		add_shared(g, p, d_base(t)->size, v);
	}
	if (!want)
		return cg_const(0);
	cg_norm(g, R0, t);
	return cg_keep(g, n, R0);
}

void cg_assign_bytes(struct cg *g, struct cg_lval *to, struct d_node *from, uint32_t size)
{
	struct cg_lval q = cg_lval(g, from, false);

	if (g->failed)
		return;
	if (d_has_effects(from))
		cg_lval_reload(g, to);
	if (to->kind == LV_MEM && q.kind == LV_MEM) {
		cg_mem_ptr(g, to, R2);
		ebpf_const(g->a, R3, size);
		cg_mem_ptr(g, &q, R4);
		ebpf_const(g->a, R5, size);
		cg_call_sized(g, RT_copy, size);
	} else if (to->kind == LV_MEM) {
		raw_addr(g, &q, R4);
		cg_mem_ptr(g, to, R2);
		ebpf_const(g->a, R3, size);
		cg_call(g, RT_read);
	} else if (q.kind == LV_MEM) {
		raw_addr(g, to, R4);
		cg_mem_ptr(g, &q, R2);
		ebpf_const(g->a, R3, size);
		cg_call(g, RT_write);
	} else {
		raw_addr(g, &q, R2);
		raw_addr(g, to, R3);
		ebpf_const(g->a, R4, size);
		cg_call(g, RT_bcopy);
	}
	if (to->copy >= 0)
		write_back(g, to);
	cg_lval_free(g, &q);
}
