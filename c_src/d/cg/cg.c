/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytecode of a clause: predicate, statements, the end of the record, landing pads of faults;
 * and the allocation of temporaries (see cg.h). Assumes a checked tree.
 */
#include "cg.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

#define MAX_PADS 256 /* landing pads not emitted yet */

int cg_fail(struct cg *g, const struct d_node *n, enum et_tag tag, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	g->failed = true;
	return d_error(
		g->c, tag, n ? n->line : g->clause->line, n ? n->col : g->clause->col, "%s", text);
}

/* ---- values and temporaries ------------------------------------------------------------ */

struct cg_val cg_const(uint64_t v)
{
	return (struct cg_val){.kind = VAL_CONST, .imm = v};
}

struct cg_val cg_field(unsigned off, unsigned size)
{
	return (struct cg_val){.kind = VAL_FIELD, .off = off, .size = size};
}

struct cg_val cg_tmp(struct cg *g, const struct d_node *n)
{
	for (int i = 0; i < 3; i++) {
		if ((g->regs & (1 << i)) == 0) {
			g->regs |= 1 << i;
			return (struct cg_val){.kind = VAL_REG, .reg = R7 + i};
		}
	}
	int slot = cg_slots(g, n, 1);

	return (struct cg_val){.kind = VAL_SLOT, .reg = slot < 0 ? 0 : slot};
}

void cg_free(struct cg *g, struct cg_val v)
{
	if (v.kind == VAL_REG)
		g->regs &= ~(1 << (v.reg - R7));
	else if (v.kind == VAL_SLOT)
		cg_slots_free(g, v.reg, 1);
}

int cg_slots(struct cg *g, const struct d_node *n, unsigned count)
{
	uint64_t want = count >= 64 ? UINT64_MAX : (1ULL << count) - 1;

	for (unsigned i = 0; i + count <= CG_SLOTS; i++) {
		if ((g->slots & (want << i)) == 0) {
			g->slots |= want << i;
			return i;
		}
	}
	cg_fail(g, n, D_CG_EXPR,
		"expression is too complex: it needs more than %d temporary values; "
		"split it with this-> variables",
		CG_SLOTS);
	return -1;
}

void cg_slots_free(struct cg *g, int first, unsigned count)
{
	uint64_t mask = count >= 64 ? UINT64_MAX : (1ULL << count) - 1;

	if (first >= 0)
		g->slots &= ~(mask << first) | g->pinned;
}

int cg_slot_off(int slot, unsigned count, unsigned i)
{
	return -8 * (slot + (int)(count - i));
}

void cg_load(struct cg *g, int reg, struct cg_val v)
{
	switch (v.kind) {
	case VAL_CONST: ebpf_const(g->a, reg, v.imm); break;
	case VAL_STRING: ebpf_lddw(g->a, reg, EBPF_LDDW_STR, v.imm); break;
	case VAL_FIELD:
		ebpf_emit(g->a, v.size == 8 ? EBPF_LDXDW : EBPF_LDXW, reg, CTX, v.off, 0);
		break;
	case VAL_REG:
		if (v.reg != reg)
			ebpf_emit(g->a, EBPF_MOV64_REG, reg, v.reg, 0, 0);
		break;
	case VAL_SLOT: ebpf_emit(g->a, EBPF_LDXDW, reg, R10, cg_slot_off(v.reg, 1, 0), 0); break;
	}
}

int cg_reg(struct cg *g, struct cg_val v, int scratch)
{
	if (v.kind == VAL_REG)
		return v.reg;
	cg_load(g, scratch, v);
	return scratch;
}

void cg_store(struct cg *g, struct cg_val tmp, int reg)
{
	if (tmp.kind == VAL_SLOT)
		ebpf_emit(g->a, EBPF_STXDW, R10, reg, cg_slot_off(tmp.reg, 1, 0), 0);
	else if (tmp.reg != reg)
		ebpf_emit(g->a, EBPF_MOV64_REG, tmp.reg, reg, 0, 0);
}

struct cg_val cg_keep(struct cg *g, const struct d_node *n, int reg)
{
	struct cg_val v = cg_tmp(g, n);

	cg_store(g, v, reg);
	return v;
}

void cg_norm(struct cg *g, int reg, const struct d_type *t)
{
	bool sign = d_is_signed(t);

	switch (d_base(t)->size) {
	case 1:
		if (sign)
			ebpf_emit(g->a, EBPF_MOV64_SX8, reg, reg, 8, 0);
		else
			ebpf_emit(g->a, EBPF_AND64_IMM, reg, 0, 0, 0xff);
		break;
	case 2:
		if (sign)
			ebpf_emit(g->a, EBPF_MOV64_SX16, reg, reg, 16, 0);
		else
			ebpf_emit(g->a, EBPF_AND64_IMM, reg, 0, 0, 0xffff);
		break;
	case 4:
		if (sign)
			ebpf_emit(g->a, EBPF_MOV64_SX32, reg, reg, 32, 0);
		else
			ebpf_emit(g->a, EBPF_MOV32_REG, reg, reg, 0, 0);
		break;
	}
}

/* ---- calls and faults ------------------------------------------------------------------ */

static struct cg_pad *new_pad(struct cg *g, int fault)
{
	struct cg_pad *p = arena_new_of(g->c->arena, struct cg_pad);

	p->label = ebpf_label(g->a);
	p->fault = fault;
	p->action = g->action;
	p->at = ebpf_here(g->a);
	p->next = g->pads;
	g->pads = p;
	g->npads++;
	return p;
}

void cg_call(struct cg *g, enum rt_fn fn)
{
	cg_call_with(g, fn, 0, true);
}

void cg_call_sized(struct cg *g, enum rt_fn fn, uint64_t size)
{
	cg_call_with(g, fn, size, true);
}

void cg_call_with(struct cg *g, enum rt_fn fn, uint64_t size, bool may_be_null)
{
	uint64_t strsize = g->c->prog.strsize;

	g->clause->uses.fns[fn / 64] |= 1ULL << fn % 64;
	cg_payload_call(g, fn);
	ebpf_emit(g->a, EBPF_MOV64_REG, R1, CTX, 0, 0);
	if (!rt_can_fault(fn, size > strsize ? size : strsize, may_be_null)) {
		ebpf_call(g->a, fn);
		return;
	}
	struct cg_pad *p = new_pad(g, 0);

	ebpf_call(g->a, fn);
	ebpf_emit(g->a, EBPF_LDXW, R5, CTX, FIELD(fault), 0);
	ebpf_jump(g->a, EBPF_JNE_IMM, R5, 0, 0, p->label);
}

void cg_fault_if(struct cg *g, uint8_t jump, int reg, int32_t imm, int fault)
{
	struct cg_pad *p = new_pad(g, fault);

	ebpf_jump(g->a, jump, reg, 0, imm, p->label);
}

/* Emit the landing pads, which call rt_fault and leave. They follow the end of the clause. */
static void emit_pads(struct cg *g)
{
	int report = ebpf_label(g->a);

	if (g->pads == NULL)
		return;
	for (struct cg_pad *p = g->pads, *next; p != NULL; p = next) {
		ebpf_bind(g->a, p->label);
		ebpf_emit(g->a, EBPF_MOV64_IMM, R2, 0, 0, p->fault);
		p->mov_pc = ebpf_here(g->a);
		ebpf_emit(g->a, EBPF_MOV64_IMM, R3, 0, 0, 0);
		ebpf_emit(g->a, EBPF_MOV64_IMM, R4, 0, 0, p->action);
		next = p->next;
		if (next != NULL)
			ebpf_jump(g->a, EBPF_JA, 0, 0, 0, report);
		p->next = g->placed;
		g->placed = p;
	}
	ebpf_bind(g->a, report);
	cg_call(g, RT_fault);
	ebpf_emit(g->a, EBPF_MOV64_IMM, R0, 0, 0, 0);
	ebpf_emit(g->a, EBPF_EXIT, 0, 0, 0, 0);
	g->pads = NULL;
	g->npads = 0;
}

/* A long clause has pads between statements too: verifiers keep a state for each pending jump. */
static void flush_pads(struct cg *g)
{
	int over = ebpf_label(g->a);

	if (g->npads < MAX_PADS)
		return;
	ebpf_jump(g->a, EBPF_JA, 0, 0, 0, over);
	emit_pads(g);
	ebpf_bind(g->a, over);
}

/* Backpatch the indices of the failing instructions, which are known only after layout. */
static void patch_pads(struct cg *g, struct ebpf_insn *insns)
{
	for (struct cg_pad *p = g->placed; p != NULL; p = p->next)
		insns[ebpf_final(g->a, p->mov_pc)].imm = ebpf_final(g->a, p->at);
}

uint32_t cg_scratch(struct cg *g, const struct d_node *n, uint32_t size)
{
	uint32_t off = (g->scratch + 7) & ~7u;

	if (size > (4u << 20) || off + size > (4u << 20)) {
		cg_fail(g, n, D_CG_EXPR,
			"clause needs more than 4 MB of temporary memory; use fewer strings or "
			"a smaller strsize");
		return 0;
	}
	g->scratch = (off + size + 7) & ~7u; /* short texts are written as whole words */
	return off;
}

/* ---- statements ------------------------------------------------------------------------ */

static int gen_stmts(struct cg *g, struct d_node *list);

static int gen_if(struct cg *g, struct d_node *n)
{
	int otherwise = ebpf_label(g->a), end = ebpf_label(g->a);
	int err;

	g->conditional++;
	cg_jump_false(g, n->a, otherwise);
	err = gen_stmts(g, n->list);
	if (n->b != NULL) {
		ebpf_jump(g->a, EBPF_JA, 0, 0, 0, end);
		ebpf_bind(g->a, otherwise);
		if (err == 0)
			err = gen_stmts(g, n->b->list);
	} else {
		ebpf_bind(g->a, otherwise);
	}
	ebpf_bind(g->a, end);
	g->conditional--;
	return err;
}

/*
 * As DTrace counts them: each value of printf() is an action, and of an aggregation its name, each
 * key, the increment and the value.
 */
static unsigned actions_of(const struct d_node *e)
{
	unsigned n = 0;

	if (e->kind == N_OP2 && e->op == OP_ASG && e->a->kind == N_AGG) {
		for (const struct d_node *k = e->a->list; k != NULL; k = k->next)
			n++;
		return n + 2 + (cg_increment(e->b) != NULL);
	}
	if (e->kind != N_FUNC || e->ident->kind != ID_ACTION)
		return 1;
	for (const struct d_node *a = e->list; a != NULL; a = a->next)
		n++;
	switch (e->ident->id) {
	case ACT_ALERT:
	case ACT_FLOWTRACE:
	case ACT_PRINTF:
	case ACT_SYSTEM:
	case ACT_FREOPEN: return n > 1 ? n - 1 : 1;
	case ACT_PRINTA: return n - (e->list->kind == N_STR);
	case ACT_NORMALIZE:
	case ACT_TRUNC:
	case ACT_SETOPT: return 2;
	case ACT_TRACEMEM: return n > 2 ? 2 : 1;
	default: return 1;
	}
}

static void gen_expr_stmt(struct cg *g, struct d_node *e)
{
	unsigned first = g->action;

	if (e->kind == N_FUNC && e->ident->kind == ID_ACTION)
		cg_action(g, e);
	else if (e->kind == N_OP2 && e->op == OP_ASG && e->a->kind == N_AGG)
		cg_aggregate(g, e);
	else
		cg_discard(g, e);
	g->action = first + actions_of(e);
}

static int gen_stmts(struct cg *g, struct d_node *list)
{
	for (struct d_node *n = list; n != NULL && !g->failed; n = n->next) {
		flush_pads(g);
		ebpf_line(g->a, n->line);
		switch (n->kind) {
		case N_IF: gen_if(g, n); break;
		case N_BLOCK: gen_stmts(g, n->list); break;
		case N_EXPR: gen_expr_stmt(g, n->a); break;
		default: cg_fail(g, n, D_CG_EXPR, "statement expected"); break;
		}
	}
	return g->failed ? -1 : 0;
}

/* ---- the clause ------------------------------------------------------------------------ */

static bool is_action(const struct d_node *n)
{
	return n->kind == N_EXPR && n->a->kind == N_FUNC && n->a->ident->kind == ID_ACTION;
}

/* Count the actions that write data: outside of any if, and inside; and speculate(). */
static void count_actions(const struct d_node *list, bool inside, unsigned count[3])
{
	for (; list != NULL; list = list->next) {
		if (is_action(list) && list->a->ident->id == ACT_SPECULATE)
			count[2]++;
		else if (is_action(list) && (list->a->ident->builtin->flags & AF_DATA))
			count[inside]++;
		else if (list->kind == N_IF)
			count_actions(list->list, true, count);
		if (list->kind == N_BLOCK)
			count_actions(list->list, inside, count);
		else if (list->kind == N_IF && list->b != NULL)
			count_actions(list->b->list, true, count);
	}
}

/*
 * Bytes at the start of the record say which of the actions inside an if were reached, and whether
 * any was: if all are inside, a firing that reaches none writes no record. It writes one, if an
 * empty one, if it reaches speculate().
 */
static void clear_presence(struct cg *g, const struct d_node *stmts)
{
	unsigned count[3] = {0, 0, 0};

	count_actions(stmts, false, count);
	if (count[1] == 0 && (count[0] > 0 || count[2] == 0))
		return;
	if (count[0] == 0)
		g->any_off = 0;
	g->present = g->any_off + 1;
	g->rec = (g->present + count[1] + 7) & ~7u;
	if (g->rec > INT16_MAX) {
		cg_fail(g, stmts, D_CG_EXPR, "clause has too many conditional actions");
		return;
	}
	ebpf_emit(g->a, EBPF_LDXDW, R2, CTX, FIELD(rec), 0);
	for (unsigned off = 0; off < g->rec; off += 8)
		ebpf_emit(g->a, EBPF_STDW, R2, 0, off, 0);
}

/* Write the record: always, or if an action inside an if was reached. */
static void gen_rec_end(struct cg *g)
{
	int skip = ebpf_label(g->a);

	if (g->any_off >= 0) {
		ebpf_emit(g->a, EBPF_LDXDW, R2, CTX, FIELD(rec), 0);
		ebpf_emit(g->a, EBPF_LDXB, R2, R2, g->any_off, 0);
		ebpf_jump(g->a, EBPF_JEQ_IMM, R2, 0, 0, skip);
	}
	cg_call(g, RT_rec_end);
	ebpf_bind(g->a, skip);
}

/* Only the predicate was to be computed? Then this is the end. */
static void gen_gate(struct cg *g)
{
	g->clause->has_gate = true;
	g->clause->gate = g->clause->uses;
	ebpf_const(g->a, R2, PBI_STATE_NUMBER);
	ebpf_const(g->a, R3, PBI_GATE);
	cg_call(g, RT_pbi_num);
	ebpf_jump(g->a, EBPF_JNE_IMM, R0, 0, 0, g->exit_label);
}

static int gen_body(struct cg *g, struct d_clause *cl)
{
	g->clause->default_action = cl->stmts == NULL;
	if (cl->pred != NULL)
		cg_jump_false(g, cl->pred, g->exit_label);
	if (d_has_gate(cl))
		gen_gate(g);
	clear_presence(g, cl->stmts);
	g->action = 1;
	if (gen_stmts(g, cl->stmts) < 0)
		return -1;
	cg_payload_args(g, cl);
	if (g->failed)
		return -1;
	g->clause->has_record =
		g->clause->default_action || g->nacts > 0 || g->clause->speculates;
	if (g->clause->has_record) {
		ebpf_line(g->a, cl->end_line ? cl->end_line : cl->line);
		gen_rec_end(g);
	}
	ebpf_bind(g->a, g->exit_label);
	ebpf_emit(g->a, EBPF_MOV64_IMM, R0, 0, 0, 0);
	ebpf_emit(g->a, EBPF_EXIT, 0, 0, 0, 0);
	emit_pads(g);
	return 0;
}

static void take_actions(struct cg *g)
{
	struct prog_clause *pc = g->clause;
	unsigned i = 0;

	pc->actions = arena_alloc(g->c->arena, g->nacts * sizeof(*pc->actions));
	pc->nactions = g->nacts;
	for (struct cg_act *a = g->acts; a != NULL; a = a->next, i++) {
		pc->actions[i] = a->act;
		pc->actions[i].vals =
			arena_alloc(g->c->arena, a->act.nvals * sizeof(struct prog_val));
		memcpy(pc->actions[i].vals, a->vals, a->act.nvals * sizeof(struct prog_val));
	}
}

static int append_clause(struct d_comp *c, struct prog_clause *pc)
{
	struct prog *p = &c->prog;

	if (p->nclauses >= D_MAX_CLAUSES)
		return d_error(c, D_ID_OFLOW, pc->line, pc->col,
			"more than %d clauses in all scripts", D_MAX_CLAUSES);
	if (!ARRAY_ROOM(p->clauses, p->nclauses))
		return d_error(c, ET_NOMEM, pc->line, pc->col, "out of memory");
	p->clauses[p->nclauses++] = pc;
	return 0;
}

/* Copy the assembled program into the arena. */
static int finish(struct cg *g)
{
	struct prog_clause *pc = g->clause;
	struct ebpf_insn *insns = NULL;
	int *lines = NULL;
	unsigned n;

	if (ebpf_finish(g->a, &insns, &n, &lines, &g->c->error) < 0) {
		g->c->error.line = pc->line;
		return -1;
	}
	patch_pads(g, insns);
	pc->insns = arena_alloc(g->c->arena, n * sizeof(*insns));
	memcpy(pc->insns, insns, n * sizeof(*insns));
	pc->ninsns = n;
	pc->lines = arena_alloc(g->c->arena, n * sizeof(*lines));
	memcpy(pc->lines, lines, n * sizeof(*lines));
	free(insns);
	free(lines);
	return 0;
}

int d_cg_clause(struct d_comp *c, struct d_clause *cl)
{
	struct prog_clause *pc = arena_new_of(c->arena, struct prog_clause);
	struct prog *p = &c->prog;
	struct cg g = {.c = c, .a = ebpf_asm_new(), .clause = pc, .any_off = -1, .loaded.var = -1};
	int err = -1;

	if (g.a == NULL)
		return d_error(c, ET_NOMEM, cl->line, cl->col, "out of memory");
	c->assembler = g.a;
	if (p->strsize == 0) /* fixed by the first clause */
		p->strsize = d_str_bytes(c->opts);
	pc->descs = cl->descs;
	pc->file = c->file;
	pc->source = c->source;
	pc->line = cl->line;
	pc->col = cl->col;
	pc->program = p->nprograms;
	pc->countable = d_countable(cl);
	pc->repeatable = d_repeatable(cl);
	g.acts_tail = &g.acts;
	g.scratch = p->this_end;
	g.exit_label = ebpf_label(g.a);
	ebpf_line(g.a, cl->line);
	ebpf_emit(g.a, EBPF_MOV64_REG, CTX, R1, 0, 0);
	if (gen_body(&g, cl) == 0 && finish(&g) == 0) {
		take_actions(&g);
		pc->rec_size = (g.rec + 7) & ~7u;
		if (p->rec_size < pc->rec_size)
			p->rec_size = pc->rec_size;
		if (p->scratch_size < g.scratch)
			p->scratch_size = g.scratch;
		err = append_clause(c, pc);
	}
	c->assembler = NULL;
	ebpf_asm_free(g.a);
	return err;
}
