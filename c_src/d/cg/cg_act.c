/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Actions: what they write to the record when the clause runs, and the description by which the
 * consumer performs them later. Numbers are stored directly into the fixed part of the record.
 */
#include "cg.h"

#include <string.h>

#include "prog/stack_marks.h"

/* ---- values in records and keys -------------------------------------------------------- */

/* Also what RT_stack is to do, but for STACK_AS_KEY. */
uint32_t cg_stack_size(struct cg *g, const struct d_node *n, int *kind, uint32_t *how)
{
	const struct et_options *o = g->c->opts;
	uint64_t frames = 0, more = 0;

	switch (n->ident->id) {
	case ACT_STACK:
		*kind = STACK_KERNEL;
		frames = o->val[OPT_STACKFRAMES];
		break;
	case ACT_USTACK:
		*kind = STACK_USER;
		frames = o->val[OPT_USTACKFRAMES];
		break;
	default:
		*kind = STACK_JAVA;
		frames = o->val[OPT_JSTACKFRAMES];
		break;
	}
	if (n->list != NULL && n->list->kind == N_INT)
		frames = n->list->value;
	if (frames > o->val[OPT_MAXFRAMES])
		frames = o->val[OPT_MAXFRAMES];
	frames = frames == 0 ? 1 : frames;
	*how = (uint32_t)*kind | (uint32_t)frames << STACK_FRAMES;
	if (*kind != STACK_KERNEL)
		more = frames < STACK_MORE ? frames : STACK_MORE;
	if (*kind != STACK_KERNEL && n->list == NULL) { /* else it has what was asked for */
		*how |= STACK_SAYS_CUT;
		more++;
	}
	return (uint32_t)(frames + more) * 8;
}

static bool is_expr_action(const struct d_node *n)
{
	return n->kind == N_FUNC && n->ident != NULL && n->ident->kind == ID_ACTION;
}

void cg_val_type(struct cg *g, struct d_node *n, struct prog_val *v)
{
	const struct d_type *t = d_base(n->type);
	uint32_t how;
	int kind;

	v->type = n->type;
	v->is_signed = false;
	v->sub = n->flags & NF_BITFIELD ? n->bits : 0;
	if (is_expr_action(n)) {
		v->sub = n->ident->id;
		if (n->ident->id == ACT_STACK || n->ident->id == ACT_USTACK ||
			n->ident->id == ACT_JSTACK) {
			v->kind = V_STACK;
			v->size = cg_stack_size(g, n, &kind, &how);
			v->sub = kind;
			g->clause->uses.ustack |= kind != STACK_KERNEL;
			g->clause->uses.stack |= kind == STACK_KERNEL;
		} else {
			v->kind = V_SYM;
			v->size = 8;
		}
		return;
	}
	switch (t->kind) {
	case T_STRING:
		v->kind = V_STR;
		v->size = sizeof(struct rec_str);
		break;
	case T_FLOAT:
		v->kind = V_FLOAT;
		v->size = t->size;
		break;
	case T_STRUCT:
	case T_UNION:
	case T_ARRAY:
		v->kind = V_BYTES;
		v->size = t->size;
		break;
	default:
		v->kind = V_INT;
		v->size = t->size ? t->size : 8;
		v->is_signed = d_is_signed(n->type);
		break;
	}
}

/* ---- filling the record ---------------------------------------------------------------- */

static uint32_t rec_room(struct cg *g, const struct d_node *n, uint32_t size)
{
	uint32_t align = size >= 8 ? 8 : size == 0 ? 1 : size;
	uint32_t off;

	if (align & (align - 1))
		align = 8;
	off = (g->rec + align - 1) & ~(align - 1);
	if (size > 1u << 20 || off + size > 1u << 20)
		cg_fail(g, n, D_CG_EXPR, "clause records more than 1 MB at a firing");
	else
		g->rec = off + size;
	return off;
}

/* Set the byte that says that the action was reached, for those inside an if. */
static void mark_present(struct cg *g, struct cg_act *a)
{
	a->act.present = -1;
	if (g->conditional == 0)
		return;
	a->act.present = g->present++;
	ebpf_emit(g->a, EBPF_LDXDW, R1, CTX, FIELD(rec), 0);
	ebpf_emit(g->a, EBPF_STB, R1, 0, a->act.present, 1);
	if (g->any_off >= 0)
		ebpf_emit(g->a, EBPF_STB, R1, 0, g->any_off, 1);
}

static struct cg_act *new_act(struct cg *g, struct d_node *n)
{
	struct cg_act *a = arena_new_of(g->c->arena, struct cg_act);

	a->act.act = n->ident->id;
	a->act.line = n->line;
	*g->acts_tail = a;
	g->acts_tail = &a->next;
	g->nacts++;
	return a;
}

static void rec_pointer(struct cg *g, int reg, uint32_t off)
{
	ebpf_emit(g->a, EBPF_LDXDW, reg, CTX, FIELD(rec), 0);
	if (off != 0)
		ebpf_emit(g->a, EBPF_ADD64_IMM, reg, 0, 0, off);
}

/* An address to be symbolized; one of user space is tagged with its process. */
struct cg_val cg_symbol(struct cg *g, struct d_node *n, const struct prog_val *pv)
{
	struct cg_val v = cg_expr(g, n);

	if (pv->sub != ACT_UADDR && pv->sub != ACT_UFUNC && pv->sub != ACT_UMOD &&
		pv->sub != ACT_USYM)
		return v;
	cg_load(g, R2, v);
	cg_free(g, v);
	cg_call(g, RT_uaddr);
	return cg_keep(g, n, R0);
}

static void put_number(struct cg *g, uint32_t off, uint32_t size, struct cg_val v)
{
	uint8_t code = size == 1   ? EBPF_STXB
		       : size == 2 ? EBPF_STXH
		       : size == 4 ? EBPF_STXW
				   : EBPF_STXDW;
	int r = cg_reg(g, v, R0);

	if (off <= INT16_MAX) {
		ebpf_emit(g->a, EBPF_LDXDW, R1, CTX, FIELD(rec), 0);
		ebpf_emit(g->a, code, R1, r, off, 0);
	} else {
		rec_pointer(g, R1, off);
		ebpf_emit(g->a, code, R1, r, 0, 0);
	}
	cg_free(g, v);
}

static void put_bytes(struct cg *g, struct d_node *n, const struct prog_val *pv)
{
	struct cg_lval p = cg_lval(g, n, false);
	struct cg_val v;

	if (g->failed)
		return;
	if (p.kind == LV_MEM) {
		rec_pointer(g, R2, pv->off);
		ebpf_const(g->a, R3, pv->size);
		cg_mem_ptr(g, &p, R4);
		ebpf_const(g->a, R5, pv->size);
		cg_call_sized(g, RT_copy, pv->size);
	} else {
		v = cg_lval_addr(g, &p, n);
		cg_load(g, R4, v);
		cg_free(g, v);
		rec_pointer(g, R2, pv->off);
		ebpf_const(g->a, R3, pv->size);
		cg_call(g, RT_read);
	}
	cg_lval_free(g, &p);
}

/* Printed alone it is a heading: a constant, or the time. */
static bool is_fixed(const struct d_node *n)
{
	return n->kind == N_STR || n->kind == N_INT ||
	       (n->kind == N_VAR && n->ident->kind == ID_BUILTIN &&
		       n->ident->id == BI_WALLTIMESTAMP);
}

/* Evaluate n into the record and describe it in the action. */
static void put(struct cg *g, struct cg_act *a, struct d_node *n)
{
	struct prog_val *pv;
	struct cg_val v;
	uint32_t how;
	int kind;

	if (g->failed)
		return;
	if (a->act.nvals >= sizeof(a->vals) / sizeof(a->vals[0])) {
		cg_fail(g, n, D_PROTO_LEN, "more than %zu values in one action",
			sizeof(a->vals) / sizeof(a->vals[0]));
		return;
	}
	pv = &a->vals[a->act.nvals++];
	a->act.varies |= !is_fixed(n);
	cg_val_type(g, n, pv);
	pv->off = rec_room(g, n, pv->size);
	switch (pv->kind) {
	case V_STR:
		v = cg_expr(g, n);
		cg_load(g, R3, v);
		cg_free(g, v);
		ebpf_const(g->a, R2, pv->off);
		cg_call_with(g, RT_rec_str, 0, d_may_be_null(n));
		break;
	case V_STACK:
		rec_pointer(g, R2, pv->off);
		ebpf_const(g->a, R3, pv->size);
		cg_stack_size(g, n, &kind, &how);
		ebpf_const(g->a, R4, how);
		cg_call(g, RT_stack);
		break;
	case V_SYM: put_number(g, pv->off, 8, cg_symbol(g, n->list, pv)); break;
	case V_INT: put_number(g, pv->off, pv->size, cg_expr(g, n)); break;
	default: put_bytes(g, n, pv); break;
	}
}

/* ---- actions --------------------------------------------------------------------------- */

/*
 * Constant format first, then its arguments. The name of alert() is before it, and its first value.
 */
static void act_format(struct cg *g, struct d_node *n)
{
	struct d_node *name = n->ident->id == ACT_ALERT ? n->list : NULL;
	struct d_node *fmt = name != NULL ? name->next : n->list;
	struct d_fmt *f = d_fmt_parse(g->c, fmt);
	struct cg_act *a;

	if (f == NULL) {
		g->failed = true;
		return;
	}
	a = new_act(g, n);
	a->act.fmt = f;
	if (name != NULL) {
		put(g, a, name);
		g->action++;
	}
	for (struct d_node *arg = fmt->next; arg != NULL; arg = arg->next) {
		put(g, a, arg);
		g->action++;
	}
	mark_present(g, a);
	if (name != NULL)
		cg_call(g, RT_notice);
}

/* Aggregations among the arguments; numbers after them are evaluated. */
static void act_aggs(struct cg *g, struct d_node *n)
{
	struct cg_act *a = new_act(g, n);
	struct d_node *arg = n->list;
	unsigned count = 0;

	if (arg != NULL && arg->kind == N_STR) { /* printa("format", ...) */
		a->act.fmt = d_fmt_parse(g->c, arg);
		if (a->act.fmt == NULL)
			g->failed = true;
		arg = arg->next;
	}
	for (struct d_node *x = arg; x != NULL; x = x->next)
		count += x->kind == N_AGG;
	a->act.aggs = arena_alloc(g->c->arena, (count ? count : 1) * sizeof(*a->act.aggs));
	for (; arg != NULL && !g->failed; arg = arg->next) {
		if (arg->kind == N_AGG)
			a->act.aggs[a->act.naggs++] = cg_agg(g, arg->ident, arg);
		else
			put(g, a, arg);
	}
	mark_present(g, a);
}

static void act_values(struct cg *g, struct d_node *n)
{
	struct cg_act *a = new_act(g, n);

	for (struct d_node *arg = n->list; arg != NULL; arg = arg->next)
		put(g, a, arg);
	mark_present(g, a);
	if (n->ident->id == ACT_SNAPSHOT)
		cg_call(g, RT_notice);
}

/* sym(x), stack() and so on as statements: the call itself is the value. */
static void act_self(struct cg *g, struct d_node *n)
{
	struct cg_act *a = new_act(g, n);

	put(g, a, n);
	mark_present(g, a);
}

static struct cg_val address_of(struct cg *g, struct d_node *n)
{
	struct d_node cast = {
		.kind = N_CAST, .type = g->c->t.void_ptr, .a = n, .line = n->line, .col = n->col};

	return cg_expr(g, d_is_string(n->type) ? &cast : n);
}

static void act_tracemem(struct cg *g, struct d_node *n)
{
	struct cg_act *a = new_act(g, n);
	struct prog_val *pv = &a->vals[0], *used = &a->vals[1];
	uint64_t size = n->list->next->value;
	struct d_node *dyn = n->list->next->next;
	struct cg_val addr, len = cg_const(size);

	*pv = (struct prog_val){.kind = V_BYTES, .size = size, .type = NULL};
	pv->off = rec_room(g, n, size);
	a->act.param = size;
	a->act.nvals = 1;
	addr = address_of(g, n->list);
	if (dyn != NULL) { /* record the length too, as the consumer prints only that much */
		len = cg_expr(g, dyn);
		*used = (struct prog_val){
			.kind = V_INT, .size = 8, .is_signed = true, .type = g->c->t.i64};
		used->off = rec_room(g, n, 8);
		a->act.nvals = 2;
		if (len.kind == VAL_REG || len.kind == VAL_SLOT) {
			struct cg_val copy = cg_tmp(g, n);

			cg_store(g, copy, cg_reg(g, len, R0));
			put_number(g, used->off, 8, copy);
		} else {
			put_number(g, used->off, 8, len);
		}
	}
	cg_load(g, R4, addr);
	cg_load(g, R5, len);
	cg_free(g, addr);
	cg_free(g, len);
	ebpf_const(g->a, R2, pv->off);
	ebpf_const(g->a, R3, size);
	cg_call(g, RT_rec_mem);
	mark_present(g, a);
}

static void act_exit(struct cg *g, struct d_node *n)
{
	struct cg_act *a = new_act(g, n);
	struct cg_val v = cg_expr(g, n->list);

	cg_val_type(g, n->list, &a->vals[0]);
	a->act.nvals = 1;
	a->vals[0].off = rec_room(g, n, a->vals[0].size);
	cg_load(g, R2, v);
	cg_call(g, RT_exit);
	put_number(g, a->vals[0].off, a->vals[0].size, v);
	mark_present(g, a);
}

/* speculate(), commit(), discard(): one number, nothing for the consumer. */
static void act_spec(struct cg *g, struct d_node *n, enum rt_fn fn)
{
	struct cg_val v = cg_expr(g, n->list);

	cg_load(g, R2, v);
	cg_free(g, v);
	cg_call(g, fn);
}

/* From here on there is a record, even if nothing is written to it; or the clause ends. */
static void act_speculate(struct cg *g, struct d_node *n)
{
	g->clause->speculates = true;
	act_spec(g, n, RT_speculate);
	ebpf_jump(g->a, EBPF_JEQ_IMM, R0, 0, 0, g->exit_label);
	if (g->any_off < 0)
		return;
	ebpf_emit(g->a, EBPF_LDXDW, R1, CTX, FIELD(rec), 0);
	ebpf_emit(g->a, EBPF_STB, R1, 0, g->any_off, 1);
}

static void act_destroy(struct cg *g, struct d_node *n)
{
	struct cg_val v = n->list != NULL ? cg_expr(g, n->list) : cg_const(0);

	cg_load(g, R3, v);
	cg_free(g, v);
	ebpf_const(g->a, R2, n->ident->id);
	cg_call(g, RT_destroy);
}

void cg_action(struct cg *g, struct d_node *n)
{
	if (g->failed)
		return;
	cg_payload_builtin(g, n);
	if (n->ident->builtin->flags & AF_DESTR)
		g->clause->destructive = true;
	switch (n->ident->id) {
	case ACT_ALERT:
	case ACT_FLOWTRACE:
	case ACT_PRINTF:
	case ACT_SYSTEM:
	case ACT_FREOPEN: act_format(g, n); break;
	case ACT_PRINTA:
	case ACT_CLEAR:
	case ACT_TRUNC:
	case ACT_NORMALIZE:
	case ACT_DENORMALIZE: act_aggs(g, n); break;
	case ACT_TRACEMEM: act_tracemem(g, n); break;
	case ACT_TRACE:
	case ACT_PRINT:
	case ACT_SETOPT:
	case ACT_SNAPSHOT:
	case ACT_FTRUNCATE: act_values(g, n); break;
	case ACT_EXIT: act_exit(g, n); break;
	case ACT_SPECULATE: act_speculate(g, n); break;
	case ACT_COMMIT: act_spec(g, n, RT_commit); break;
	case ACT_DISCARD: act_spec(g, n, RT_discard); break;
	case ACT_STACK:
	case ACT_USTACK:
	case ACT_JSTACK:
	case ACT_SYM:
	case ACT_FUNC:
	case ACT_MOD:
	case ACT_USYM:
	case ACT_UFUNC:
	case ACT_UMOD:
	case ACT_UADDR: act_self(g, n); break;
	case ACT_RAISE:
	case ACT_STOP:
	case ACT_PANIC:
	case ACT_BREAKPOINT: g->clause->signals = true; /* fall through */
	case ACT_CHILL: act_destroy(g, n); break;
	default:
		cg_fail(g, n, D_FUNC_UNDEF, "%s( ) is not supported here", n->ident->name);
		break;
	}
}
