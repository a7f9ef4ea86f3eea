/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subroutines, aggregations and keys. A key is built in consecutive stack slots, where the verifier
 * knows the kind of each part: numbers, strings, or pointers to bytes.
 */
#include "cg.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "prog/aggfn.h"
#include "prog/stack_marks.h"

unsigned d_prog_str(struct d_comp *c, const char *s, uint32_t len)
{
	struct prog *p = &c->prog;

	if (!ARRAY_ROOM(p->strs, p->nstrs)) {
		d_nomem(c);
		return 0;
	}
	p->strs[p->nstrs].s = s;
	p->strs[p->nstrs].len = len;
	return p->nstrs++;
}

/* ---- keys ------------------------------------------------------------------------------ */

static void set_int(struct prog_val *v, const struct d_type *t)
{
	v->type = t;
	v->size = (uint32_t)d_base(t)->size;
	v->is_signed = d_is_signed(t);
}

/*
 * The parts of a key. A declaration gives only types; the first use (list) distinguishes stack()
 * and sym() from plain bytes and addresses.
 */
struct prog_val *cg_keys_of(struct cg *g, const struct d_type **types, unsigned n,
	struct d_node *list, bool *blob, uint32_t *strmask)
{
	struct prog_val *v = arena_alloc(g->c->arena, (n ? n : 1) * sizeof(*v));

	for (unsigned i = 0; i < n; i++) {
		if (list != NULL) {
			cg_val_type(g, list, &v[i]);
			list = list->next;
		} else {
			struct d_node fake = {.kind = N_VAR, .type = types[i]};

			cg_val_type(g, &fake, &v[i]);
		}
		if (v[i].kind == V_STR)
			*strmask |= 1u << i;
		else if (v[i].kind == V_INT)
			set_int(&v[i], types[i]);
		else if (v[i].kind != V_SYM)
			*blob = true;
	}
	return v;
}

/* The size of the largest part of a key that is passed by address. */
uint64_t cg_key_bytes(const struct prog_val *keys, unsigned n)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < n; i++)
		if (keys[i].kind != V_STR && keys[i].size > most)
			most = keys[i].size;
	return most;
}

/* May a string in it be NULL? */
bool cg_key_null(const struct d_node *list, const struct prog_val *keys, unsigned nkeys)
{
	for (unsigned i = 0; i < nkeys && list != NULL; i++, list = list->next)
		if (keys[i].kind == V_STR && d_may_be_null(list))
			return true;
	return false;
}

static void key_stack(struct cg *g, struct d_node *n, uint32_t size, int off)
{
	int kind;
	uint32_t how, at = cg_scratch(g, n, size);

	cg_stack_size(g, n, &kind, &how);
	ebpf_emit(g->a, EBPF_LDXDW, R2, CTX, FIELD(scratch), 0);
	ebpf_emit(g->a, EBPF_ADD64_IMM, R2, 0, 0, at);
	ebpf_const(g->a, R3, size);
	ebpf_const(g->a, R4, how | STACK_AS_KEY);
	cg_call(g, RT_stack);
	ebpf_emit(g->a, EBPF_LDXDW, R0, CTX, FIELD(scratch), 0);
	ebpf_emit(g->a, EBPF_ADD64_IMM, R0, 0, 0, at);
	ebpf_emit(g->a, EBPF_STXDW, R10, R0, off, 0);
}

static void key_part(struct cg *g, struct d_node *n, const struct prog_val *k, int off)
{
	struct cg_lval p;
	struct cg_val v;

	switch (k->kind) {
	case V_STACK: key_stack(g, n, k->size, off); return;
	case V_BYTES:
	case V_FLOAT:
		p = cg_lval(g, n, false);
		v = cg_lval_mem(g, &p, k->size, n);
		cg_lval_free(g, &p);
		break;
	case V_SYM:
		if (n->kind == N_FUNC && n->ident->kind == ID_ACTION)
			n = n->list;
		v = cg_symbol(g, n, k);
		break;
	case V_INT: v = cg_convert(g, cg_expr(g, n), n, k->type); break;
	default: {
		struct d_node cast = {.kind = N_CAST,
			.type = g->c->t.string,
			.a = n,
			.line = n->line,
			.col = n->col};

		v = cg_expr(g, d_is_string(n->type) ? n : &cast);
		break;
	}
	}
	ebpf_emit(g->a, EBPF_STXDW, R10, cg_reg(g, v, R0), off, 0);
	cg_free(g, v);
}

static int arg_key(struct cg *g, struct d_node *n);

int cg_key(struct cg *g, const struct d_node *n, struct d_node *list, const struct prog_val *keys,
	unsigned nkeys)
{
	int first;

	if (nkeys == 0 || g->failed)
		return -1;
	if (nkeys == 1 && keys[0].kind == V_STR && d_is_string(list->type) &&
		(first = arg_key(g, list)) >= 0)
		return first;
	if (g->failed)
		return -1;
	first = cg_slots(g, n, nkeys);
	for (unsigned i = 0; i < nkeys && list != NULL && !g->failed; i++, list = list->next) {
		key_part(g, list, &keys[i], cg_slot_off(first, nkeys, i));
		g->action += n->kind == N_OP2; /* each key of an aggregation is one */
	}
	return first;
}

void cg_key_load(struct cg *g, int reg, int key, unsigned nkeys)
{
	if (key < 0) {
		ebpf_const(g->a, reg, 0);
		return;
	}
	ebpf_emit(g->a, EBPF_MOV64_REG, reg, R10, 0, 0);
	ebpf_emit(g->a, EBPF_ADD64_IMM, reg, 0, 0, cg_slot_off(key, nkeys, 0));
}

/* ---- aggregations ---------------------------------------------------------------------- */

static int append_agg(struct cg *g, struct prog_agg *a, const struct d_node *n)
{
	struct prog *p = &g->c->prog;

	if (p->naggs >= D_MAX_AGGS)
		return cg_fail(g, n, D_ID_OFLOW, "more than %d aggregations", D_MAX_AGGS);
	if (!ARRAY_ROOM(p->aggs, p->naggs))
		return cg_fail(g, n, ET_NOMEM, "out of memory");
	p->aggs[p->naggs] = a;
	return p->naggs++;
}

/* Add an aggregation to the program; list: the parts of the key at its first use. */
static int make_agg(struct cg *g, struct d_ident *id, struct d_node *list, const struct d_node *n)
{
	struct prog_agg *a = arena_new_of(g->c->arena, struct prog_agg);
	int i;

	a->name = id->name;
	a->fn = id->aggfn;
	a->nkeys = id->nkeys;
	a->keys = cg_keys_of(g, id->keys, id->nkeys, list, &a->has_blob, &a->strmask);
	memcpy(a->param, id->aggparam, sizeof(a->param));
	a->nbuckets = aggfn_nbuckets(a);
	a->size = aggfn_words(a) * 8;
	a->is_signed = true;
	a->line = id->line;
	i = append_agg(g, a, n);
	if (i >= 0)
		id->id = i;
	return i < 0 ? 0 : i;
}

int cg_agg(struct cg *g, struct d_ident *id, const struct d_node *n)
{
	if (id->id != UINT16_MAX)
		return id->id;
	return make_agg(g, id, NULL, n);
}

static enum rt_fn agg_rt(unsigned fn)
{
	switch (fn) {
	case AGG_COUNT: return RT_agg_count;
	case AGG_SUM: return RT_agg_sum;
	case AGG_MIN: return RT_agg_min;
	case AGG_MAX: return RT_agg_max;
	case AGG_AVG: return RT_agg_avg;
	case AGG_STDDEV: return RT_agg_stddev;
	case AGG_QUANTIZE: return RT_agg_quantize;
	case AGG_LQUANTIZE: return RT_agg_lquantize;
	case AGG_PERCENTILE: return RT_agg_percentile;
	default: return RT_agg_llquantize;
	}
}

/* The increment of a bucket: the argument after the constants. */
struct d_node *cg_increment(const struct d_node *call)
{
	static const uint8_t at[AGG_COUNT_] = {
		[AGG_QUANTIZE] = 1, [AGG_LQUANTIZE] = 4, [AGG_LLQUANTIZE] = 5};
	struct d_node *n = call->list;
	unsigned i = at[call->ident->id];

	if (i == 0)
		return NULL;
	while (n != NULL && i-- > 0)
		n = n->next;
	return n;
}

/* The checker may have found a use of an integer key that is wider than those before. */
static void widen_keys(struct prog_agg *a, const struct d_ident *id)
{
	for (unsigned i = 0; i < a->nkeys; i++) {
		const struct d_type *t = id->keys[i];

		if (a->keys[i].kind == V_INT && d_base(t)->size > a->keys[i].size)
			set_int(&a->keys[i], t);
	}
}

void cg_aggregate(struct cg *g, struct d_node *n)
{
	struct d_ident *id = n->a->ident;
	struct d_node *call = n->b, *incr = cg_increment(call);
	unsigned first = g->action, nkeys = n->a->ident->nkeys;
	struct cg_val value = cg_const(0), by = cg_const(1);
	int agg, key;
	struct prog_agg *pa;

	agg = id->id != UINT16_MAX ? id->id : make_agg(g, id, n->a->list, n);
	if (g->failed)
		return;
	pa = g->c->prog.aggs[agg];
	widen_keys(pa, id);
	if (call->list != NULL) {
		g->action = first + 1 + nkeys + (incr != NULL);
		value = cg_expr(g, call->list);
		if (!d_is_signed(call->list->type) && d_base(call->list->type)->size == 8)
			pa->is_signed = d_is_ptr(call->list->type) ? false : pa->is_signed;
	}
	if (incr != NULL) {
		g->action = first + 1 + nkeys;
		by = cg_expr(g, incr);
	}
	g->action = first + 1;
	key = cg_key(g, n, n->a->list, pa->keys, pa->nkeys);
	g->action = first + 1 + nkeys + (incr != NULL);
	if (g->failed)
		return;
	ebpf_const(g->a, R2, agg);
	cg_key_load(g, R3, key, pa->nkeys);
	cg_load(g, R4, value);
	cg_load(g, R5, by);
	cg_call_with(g, agg_rt(pa->fn), cg_key_bytes(pa->keys, pa->nkeys),
		cg_key_null(n->a->list, pa->keys, pa->nkeys));
	if (key >= 0)
		cg_slots_free(g, key, pa->nkeys);
	cg_free(g, value);
	cg_free(g, by);
}

/* ---- subroutines ----------------------------------------------------------------------- */

/* How a subroutine is called: its runtime function, and whether a scratch slot comes first. */
/* Subroutines that are a call of a runtime function. */
static const struct fn_rt {
	bool known;
	uint8_t rt;
	int64_t missing; /* value of an omitted last argument */
} fn_rts[FN_COUNT_] = {
#define D_RFUNC(name, ID, proto, traits, rt, missing) [FN_##ID] = {true, RT_##rt, missing},
#include "prog/builtins.def"
};

/* Pin r0 in a slot, if this code dominates the rest of the clause, so that it is computed once. */
int cg_keep_for_all(struct cg *g, const struct d_node *n)
{
	int slot;

	if (g->conditional != 0 || g->maybe != 0 || __builtin_popcountll(g->slots) >= CG_SLOTS / 2)
		return 0;
	slot = cg_slots(g, n, 1);
	if (slot < 0)
		return 0;
	g->pinned |= 1ULL << slot;
	cg_store(g, (struct cg_val){.kind = VAL_SLOT, .reg = slot}, R0);
	return slot + 1;
}

struct cg_val cg_kept(struct cg *g, const struct d_node *n, int slot)
{
	struct cg_val v = cg_tmp(g, n);
	int reg = v.kind == VAL_REG ? v.reg : R0;

	cg_load(g, reg, (struct cg_val){.kind = VAL_SLOT, .reg = slot - 1});
	cg_store(g, v, reg);
	return v;
}

/* copyinstr(argn), or argn where it is a string, into r0, pinned if possible. */
static void argstr(struct cg *g, const struct d_node *n, unsigned arg)
{
	bool copyinstr =
		n->kind == N_FUNC && n->ident->kind == ID_FUNC && n->ident->id == FN_COPYINSTR;

	ebpf_const(g->a, R2, cg_scratch(g, n, g->c->prog.strsize));
	ebpf_const(g->a, R3, arg);
	ebpf_const(g->a, R4, copyinstr);
	cg_call(g, RT_argstr);
	g->argstr[arg] = cg_keep_for_all(g, n);
}

/* Arguments do not change, so their texts can be reused. */
struct cg_val cg_argstr(struct cg *g, const struct d_node *n, unsigned arg)
{
	g->clause->uses.args |= 1 << arg;
	g->texts |= 1u << arg;
	if (g->argstr[arg] != 0)
		return cg_kept(g, n, g->argstr[arg]);
	argstr(g, n, arg);
	return cg_keep(g, n, R0);
}

/* Is it copyinstr(argn)? It costs no copy if the probe's argument is text already. */
static bool is_plain_arg(const struct d_node *n, unsigned *arg)
{
	if (n == NULL || n->next != NULL)
		return false;
	while (n->kind == N_CAST && d_is_scalar(n->type) && d_base(n->type)->size == 8)
		n = n->a;
	if (n->kind == N_VAR && n->ident->kind == ID_BUILTIN && n->ident->id >= BI_ARG0 &&
		n->ident->id <= BI_ARG9) {
		*arg = n->ident->id - BI_ARG0;
		return true;
	}
	if (n->kind == N_ASSOC && n->ident->kind == ID_BUILTIN && n->ident->id == BI_ARGS) {
		*arg = n->value;
		return true;
	}
	return false;
}

/* If the key is the text of an argument: its pinned slot, used in place. -1: another key. */
static int arg_key(struct cg *g, struct d_node *n)
{
	unsigned arg;
	int slot;

	if (n->kind == N_ASSOC && n->ident->kind == ID_BUILTIN && n->ident->id == BI_ARGS)
		arg = (unsigned)n->value;
	else if (n->kind != N_FUNC || n->ident->kind != ID_FUNC || n->ident->id != FN_COPYINSTR ||
		 !is_plain_arg(n->list, &arg))
		return -1;
	g->clause->uses.args |= 1 << arg;
	if (g->argstr[arg] == 0)
		argstr(g, n, arg);
	if (g->argstr[arg] != 0)
		return g->argstr[arg] - 1;
	slot = cg_slots(g, n, 1);
	if (slot >= 0)
		cg_store(g, (struct cg_val){.kind = VAL_SLOT, .reg = slot}, R0);
	return slot;
}

static struct cg_val pbi_num(struct cg *g, const struct d_node *n, unsigned pbi, struct cg_val arg)
{
	cg_load(g, R3, arg);
	cg_free(g, arg);
	ebpf_const(g->a, R2, pbi);
	cg_call(g, RT_pbi_num);
	cg_norm(g, R0, n->type);
	return cg_keep(g, n, R0);
}

static uint32_t asks_arg(struct cg_val arg)
{
	bool known = arg.kind == VAL_CONST && (uint64_t)arg.imm < PBI_ARGS;

	return 1u << (known ? PBI_ARG0 + (unsigned)arg.imm : PBI_ANY_ARG);
}

void cg_uses_pbi(struct cg *g, const struct d_node *n, struct cg_val arg)
{
	unsigned pbi = n->ident->builtin->pbi - 1u;

	cg_payload_builtin(g, n);
	g->clause->uses.by_flow |= pbi == PBI_FOLLOW && (g->clause->uses.pbis >> PBI_FLOWID & 1);
	g->clause->uses.pbis |= 1u << pbi;
	if (pbi == PBI_ERLARG || pbi == PBI_ERLINT)
		g->clause->uses.pbis |= asks_arg(arg);
	if (pbi == PBI_STATE_NUMBER || pbi == PBI_STATE_TEXT)
		g->clause->uses.members |= 1ULL << (arg.imm & 63);
	if (pbi == PBI_USDT)
		g->clause->uses.args |= 0x3ff; /* it passes all of them on */
}

unsigned cg_pbi_what(const struct d_node *n, struct cg_val arg)
{
	unsigned pbi = n->ident->builtin->pbi - 1u;

	return arg.kind == VAL_CONST && arg.imm < 256 ? 1 + (pbi << 8 | (unsigned)arg.imm) : 0;
}

int *cg_asked(struct cg *g, unsigned what)
{
	unsigned i = 0;

	while (i < 8 && g->asked[i].slot != 0 && g->asked[i].what != what)
		i++;
	if (what == 0 || i == 8)
		return NULL;
	g->asked[i].what = what;
	return &g->asked[i].slot;
}

struct cg_val cg_pbi_text(struct cg *g, const struct d_node *n, struct cg_val arg)
{
	int *kept = cg_asked(g, cg_pbi_what(n, arg));

	cg_uses_pbi(g, n, arg);
	if (kept != NULL && *kept != 0)
		return cg_kept(g, n, *kept);
	cg_load(g, R4, arg);
	cg_free(g, arg);
	ebpf_const(g->a, R2, cg_scratch(g, n, g->c->prog.strsize));
	ebpf_const(g->a, R3, n->ident->builtin->pbi - 1u);
	cg_call(g, RT_pbi_str);
	if (kept != NULL)
		*kept = cg_keep_for_all(g, n);
	return cg_keep(g, n, R0);
}

struct cg_val cg_pbi(struct cg *g, const struct d_node *n, struct cg_val arg)
{
	if (d_is_string(n->type))
		return cg_pbi_text(g, n, arg);
	cg_uses_pbi(g, n, arg);
	return pbi_num(g, n, n->ident->builtin->pbi - 1u, arg);
}

/* Byte order and device numbers need no call. */
static struct cg_val gen_inline(struct cg *g, struct d_node *n)
{
	struct cg_val v = cg_expr(g, n->list);

	cg_load(g, R0, v);
	cg_free(g, v);
	switch (n->ident->id) {
	case FN_HTONS:
	case FN_NTOHS: ebpf_emit(g->a, EBPF_BE, R0, 0, 0, 16); break;
	case FN_HTONL:
	case FN_NTOHL: ebpf_emit(g->a, EBPF_BE, R0, 0, 0, 32); break;
	case FN_HTONLL:
	case FN_NTOHLL: ebpf_emit(g->a, EBPF_BE, R0, 0, 0, 64); break;
	case FN_GETMAJOR: /* the kernel's dev_t: 12 bits above 20 */
		ebpf_emit(g->a, EBPF_RSH64_IMM, R0, 0, 0, 20);
		break;
	case FN_GETMINOR: ebpf_emit(g->a, EBPF_AND64_IMM, R0, 0, 0, 0xfffff); break;
	}
	if (d_is_scalar(n->type))
		cg_norm(g, R0, n->type);
	return cg_keep(g, n, R0);
}

/* An argument; a string that is passed as an address is cast. */
static struct cg_val gen_arg(struct cg *g, struct d_node *arg, char letter)
{
	struct d_node cast = {.kind = N_CAST, .a = arg, .line = arg->line, .col = arg->col};

	if (letter == 'p' && d_is_string(arg->type))
		cast.type = g->c->t.void_ptr;
	else if (letter == 's' && !d_is_string(arg->type))
		cast.type = g->c->t.string;
	else
		return cg_expr(g, arg);
	return cg_expr(g, &cast);
}

static struct cg_val gen_call(struct cg *g, struct d_node *n, const struct fn_rt *f)
{
	const char *proto = strchr(n->ident->builtin->proto, ':') + 1;
	bool has_slot = d_is_string(n->type);
	struct cg_val v[4];
	unsigned nv = 0, first = has_slot ? R3 : R2;
	uint32_t slot = has_slot ? cg_scratch(g, n, g->c->prog.strsize) : 0;
	bool missing = strchr(proto, '[') != NULL, may_be_null = false;

	for (struct d_node *a = n->list; a != NULL && nv < 4; a = a->next, proto++) {
		if (*proto == '[') {
			proto++;
			missing = false;
		}
		may_be_null |= *proto == 's' && d_may_be_null(a);
		v[nv++] = gen_arg(g, a, *proto);
	}
	if (missing)
		v[nv++] = cg_const(f->missing);
	for (unsigned i = 0; i < nv; i++)
		cg_load(g, first + i, v[i]);
	for (unsigned i = 0; i < nv; i++)
		cg_free(g, v[i]);
	if (has_slot)
		ebpf_const(g->a, R2, slot);
	cg_call_with(g, f->rt, 0, may_be_null);
	if (d_is_kind(n->type, T_VOID))
		return cg_const(0);
	if (d_is_scalar(n->type))
		cg_norm(g, R0, n->type);
	return cg_keep(g, n, R0);
}

static bool is_cpu_func(const struct d_node *n)
{
	return n->ident->id == FN_CPU_CHIP || n->ident->id == FN_CPU_LGRP ||
	       n->ident->id == FN_CPU_MHZ;
}

/* Properties of a thread or a file: one runtime function for numbers, one for texts. */
static struct cg_val gen_thread(struct cg *g, struct d_node *n)
{
	bool text = d_is_string(n->type);
	struct cg_val at = gen_arg(g, n->list, 'p');
	struct cg_val number = n->list->next != NULL ? cg_expr(g, n->list->next) : cg_const(0);

	cg_load(g, text ? R4 : R3, at);
	if (!text && !is_cpu_func(n))
		cg_load(g, R4, number);
	cg_free(g, at);
	cg_free(g, number);
	if (text)
		ebpf_const(g->a, R2, cg_scratch(g, n, g->c->prog.strsize));
	ebpf_const(g->a, text ? R3 : R2, n->ident->id);
	cg_call(g, text ? RT_threadstr : is_cpu_func(n) ? RT_cpuinfo : RT_threadnum);
	return cg_keep(g, n, R0);
}

static struct cg_val gen_lock(struct cg *g, struct d_node *n)
{
	struct cg_val v = gen_arg(g, n->list, 'p');

	cg_load(g, R3, v);
	cg_free(g, v);
	ebpf_const(g->a, R2, n->ident->id);
	cg_call(g, RT_lock_state);
	return cg_keep(g, n, R0);
}

/* copyinstr() of a string: the string itself, or as much of it as requested. */
static struct cg_val gen_copy_string(struct cg *g, struct d_node *n)
{
	struct cg_val s = cg_expr(g, n->list), len;

	if (n->list->next == NULL && !d_may_be_null(n->list))
		return s;
	if (n->list->next == NULL) {
		cg_load(g, R2, s);
		cg_free(g, s);
		cg_call(g, RT_notnull);
		return cg_keep(g, n, R0);
	}
	len = cg_expr(g, n->list->next);
	cg_load(g, R3, s);
	cg_load(g, R5, len);
	cg_free(g, s);
	cg_free(g, len);
	ebpf_const(g->a, R4, 0);
	ebpf_const(g->a, R2, cg_scratch(g, n, g->c->prog.strsize));
	cg_call_with(g, RT_substr, 0, d_may_be_null(n->list));
	return cg_keep(g, n, R0);
}

struct cg_val cg_func(struct cg *g, struct d_node *n)
{
	unsigned id = n->ident->id, arg;

	if (n->ident->kind != ID_FUNC) {
		cg_fail(g, n, D_OP_ACT, "%s( ) is an action: it has no value", n->ident->name);
		return cg_const(0);
	}
	cg_payload_builtin(g, n);
	if (cg_is_source(n))
		return cg_term_source(g, n);
	if (n->ident->builtin->pbi != 0)
		return cg_pbi(g, n, n->list != NULL ? cg_expr(g, n->list) : cg_const(0));
	switch (id) {
	case FN_COPYINSTR:
		if (is_plain_arg(n->list, &arg))
			return cg_argstr(g, n, arg);
		if (d_is_string(n->list->type))
			return gen_copy_string(g, n);
		break;
	case FN_COPYOUT:
	case FN_COPYOUTSTR: g->clause->destructive = true; break;
	case FN_HTONS:
	case FN_NTOHS:
	case FN_HTONL:
	case FN_NTOHL:
	case FN_HTONLL:
	case FN_NTOHLL:
	case FN_GETMAJOR:
	case FN_GETMINOR: return gen_inline(g, n);
	case FN_MUTEX_OWNED:
	case FN_MUTEX_OWNER:
	case FN_MUTEX_TYPE_ADAPTIVE:
	case FN_MUTEX_TYPE_SPIN:
	case FN_RW_ISWRITER:
	case FN_RW_READ_HELD:
	case FN_RW_WRITE_HELD: return gen_lock(g, n);
	case FN_ERLELEMENT:
	case FN_ERLFIELD:
	case FN_ERLGET:
	case FN_ERLHD:
	case FN_ERLMATCH:
	case FN_ERLSCALED:
	case FN_ERLSIZE:
	case FN_ERLTEXT:
	case FN_ERLTL:
	case FN_ERLTYPE: return cg_term_func(g, n);
#define D_BFUNC(name, ID, proto, traits)
#define D_LFUNC(name, ID, proto, traits) case FN_##ID:
#include "prog/builtins.def"
		return gen_thread(g, n);
	default: break;
	}
	if (!fn_rts[id].known) {
		cg_fail(g, n, D_FUNC_UNDEF, "%s( ) is not supported here", n->ident->name);
		return cg_const(0);
	}
	return gen_call(g, n, &fn_rts[id]);
}
