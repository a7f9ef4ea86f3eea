/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terms of Erlang: a term is a handle in a register (prog/term.h). What makes a term has a term
 * slot of the program; what an event is about, such as erlarg(0), has the same one wherever it is
 * read.
 */
#include "cg.h"

#include <string.h>

/* ---- slots ------------------------------------------------------------------------------ */

static unsigned term_slots(struct cg *g, const struct d_node *n, unsigned count)
{
	struct prog *p = &g->c->prog;
	unsigned first = p->nterms;

	if (first + count > TERM_SLOTS) {
		cg_fail(g, n, D_TERM_SLOTS,
			"more than %d expressions of all scripts make terms: keep what is used "
			"again in this-> variables",
			TERM_SLOTS);
		return 0;
	}
	p->nterms += count;
	return first;
}

static unsigned source_slot(struct cg *g, const struct d_node *n, unsigned what)
{
	struct d_comp *c = g->c;
	struct d_source *s;

	for (s = c->sources; s != NULL && what != 0; s = s->next)
		if (s->what == what)
			return s->slot;
	s = arena_new_of(c->arena, struct d_source);
	*s = (struct d_source){what, term_slots(g, n, 1), c->sources};
	c->sources = s;
	return s->slot;
}

/* ---- what the event is about ------------------------------------------------------------ */

bool cg_is_source(const struct d_node *n)
{
	return (n->kind == N_VAR || n->kind == N_FUNC) && n->ident->builtin != NULL &&
	       n->ident->builtin->pbi != 0 && d_is_term(n->type);
}

static struct cg_val source_arg(struct cg *g, const struct d_node *n)
{
	return n->kind == N_FUNC && n->list != NULL ? cg_expr(g, n->list) : cg_const(0);
}

/* Where the clause keeps the term, 0: nowhere so far; NULL: it cannot. */
static int *kept_source(struct cg *g, const struct d_node *n, struct cg_val arg)
{
	unsigned what = cg_pbi_what(n, arg);

	return cg_asked(g, what != 0 ? what | CG_ASKED_TERM : 0);
}

struct cg_val cg_term_source(struct cg *g, const struct d_node *n)
{
	struct cg_val arg = source_arg(g, n);
	int *kept = kept_source(g, n, arg);

	if (kept != NULL && *kept != 0)
		return cg_kept(g, n, *kept);
	cg_uses_pbi(g, n, arg);
	cg_load(g, R4, arg);
	cg_free(g, arg);
	ebpf_const(g->a, R3, n->ident->builtin->pbi - 1u);
	ebpf_const(g->a, R2, source_slot(g, n, cg_pbi_what(n, arg)));
	cg_call(g, RT_term_source);
	if (kept != NULL)
		*kept = cg_keep_for_all(g, n);
	return cg_keep(g, n, R0);
}

/* ---- as texts and numbers --------------------------------------------------------------- */

/* Which function looks for the term? A fault says so. */
static unsigned whence(const struct d_node *term)
{
	if (term->kind != N_FUNC || term->ident->kind != ID_FUNC)
		return 0;
	switch (term->ident->id) {
	case FN_ERLELEMENT: return TERM_FROM_ELEMENT;
	case FN_ERLHD: return TERM_FROM_HD;
	case FN_ERLTL: return TERM_FROM_TL;
	case FN_ERLGET: return TERM_FROM_KEY;
	case FN_ERLFIELD: return TERM_FROM_FIELD;
	default: return 0;
	}
}

/* what: TERM_WITH(enum term_text, whence) */
static struct cg_val text_of(
	struct cg *g, struct cg_val term, uint32_t what, const struct d_node *n)
{
	cg_load(g, R3, term);
	cg_free(g, term);
	ebpf_const(g->a, R4, what);
	ebpf_const(g->a, R2, cg_scratch(g, n, g->c->prog.strsize));
	cg_call(g, RT_term_text);
	return cg_keep(g, n, R0);
}

/* what: TERM_WITH(enum term_fact, whence) */
static struct cg_val number_of(
	struct cg *g, struct cg_val term, uint32_t what, const struct d_node *n)
{
	cg_load(g, R2, term);
	cg_free(g, term);
	ebpf_const(g->a, R3, what);
	cg_call(g, RT_term_number);
	return cg_keep(g, n, R0);
}

struct cg_val cg_term_text(struct cg *g, struct d_node *term, const struct d_node *n)
{
	if (cg_is_source(term))
		return cg_pbi_text(g, term, source_arg(g, term));
	return text_of(g, cg_expr(g, term), TERM_WITH(TERM_PRETTY, whence(term)), n);
}

struct cg_val cg_term_number(struct cg *g, struct d_node *term, const struct d_node *n)
{
	return number_of(g, cg_expr(g, term), TERM_WITH(TERM_INTEGER, whence(term)), n);
}

/* ---- comparing -------------------------------------------------------------------------- */

static int mirrored(int op)
{
	switch (op) {
	case OP_LT: return OP_GT;
	case OP_LE: return OP_GE;
	case OP_GT: return OP_LT;
	case OP_GE: return OP_LE;
	default: return op;
	}
}

/* Jump by the result of term_compare(), which may be neither <, = nor >. */
static void jump_order(struct cg *g, int op, bool when, int label)
{
	static const struct {
		uint8_t yes, no;
		int32_t imm;
	} jumps[] = {
		[OP_LT] = {EBPF_JSLT_IMM, EBPF_JSGE_IMM, 0},
		[OP_LE] = {EBPF_JSLE_IMM, EBPF_JSGT_IMM, 0},
		[OP_GT] = {EBPF_JEQ_IMM, EBPF_JNE_IMM, 1},
		[OP_GE] = {EBPF_JLT_IMM, EBPF_JGE_IMM, 2}, /* 0 or 1, unsigned */
		[OP_EQ] = {EBPF_JEQ_IMM, EBPF_JNE_IMM, 0},
		[OP_NE] = {EBPF_JNE_IMM, EBPF_JEQ_IMM, 0},
	};

	ebpf_jump(g->a, when ? jumps[op].yes : jumps[op].no, R0, 0, jumps[op].imm, label);
}

/* The kernel has this too: it compares the text that was handed over. */
static void equals_source(struct cg *g, struct d_node *term, struct d_node *text)
{
	struct cg_val arg = source_arg(g, term), str = cg_expr(g, text);
	unsigned slot = source_slot(g, term, cg_pbi_what(term, arg));

	cg_uses_pbi(g, term, arg);
	cg_load(g, R4, arg);
	cg_load(g, R5, str);
	cg_free(g, arg);
	cg_free(g, str);
	ebpf_const(g->a, R3, PBI_EQUALS(slot, term->ident->builtin->pbi - 1u));
	ebpf_const(g->a, R2, cg_scratch(g, term, g->c->prog.strsize));
	cg_call(g, RT_pbi_equals);
}

static void equals_text(struct cg *g, struct d_node *term, struct d_node *text)
{
	struct cg_val a, b;

	if (cg_is_source(term)) {
		equals_source(g, term, text);
		return;
	}
	a = cg_expr(g, term);
	b = cg_expr(g, text);
	cg_load(g, R2, a);
	cg_load(g, R3, b);
	cg_free(g, a);
	cg_free(g, b);
	cg_call(g, RT_term_equals);
}

void cg_term_jump(struct cg *g, struct d_node *n, bool when, int label)
{
	bool swap = !d_is_term(n->a->type);
	struct d_node *term = swap ? n->b : n->a, *with = swap ? n->a : n->b;
	struct cg_val a, b;

	if (d_is_string(with->type)) {
		equals_text(g, term, with);
		ebpf_jump(g->a, when == (n->op == OP_EQ) ? EBPF_JNE_IMM : EBPF_JEQ_IMM, R0, 0, 0,
			label);
		return;
	}
	a = cg_expr(g, n->a);
	b = cg_expr(g, n->b);
	cg_load(g, R2, swap ? b : a);
	cg_load(g, R3, swap ? a : b);
	cg_free(g, a);
	cg_free(g, b);
	if (d_is_term(with->type)) {
		cg_call(g, RT_term_same);
		ebpf_jump(g->a, when == (n->op == OP_EQ) ? EBPF_JNE_IMM : EBPF_JEQ_IMM, R0, 0, 0,
			label);
		return;
	}
	ebpf_const(g->a, R4, !d_is_signed(with->type));
	cg_call(g, RT_term_compare);
	jump_order(g, swap ? mirrored(n->op) : n->op, when, label);
}

/* ---- functions -------------------------------------------------------------------------- */

/* Has the clause read what the event is about, and kept it? */
static bool is_kept(struct cg *g, const struct d_node *source)
{
	const struct d_node *arg = source->kind == N_FUNC ? source->list : NULL;
	const int *kept = arg == NULL || arg->kind == N_INT
				  ? kept_source(g, source, cg_const(arg ? arg->value : 0))
				  : NULL;

	return kept != NULL && *kept != 0;
}

/* What it is about needs no term slot to be looked into. */
static struct cg_val source_part(
	struct cg *g, struct d_node *n, enum term_part part, struct cg_val i, struct d_node *term)
{
	struct cg_val arg = source_arg(g, term);
	unsigned pbi = term->ident->builtin->pbi - 1u;

	cg_uses_pbi(g, term, arg);
	cg_load(g, R3, arg);
	cg_load(g, R4, i);
	cg_free(g, arg);
	cg_free(g, i);
	ebpf_const(g->a, R2, SOURCE_PART(term_slots(g, n, 1), part, pbi));
	cg_call(g, RT_source_part);
	return cg_keep(g, n, R0);
}

static struct cg_val gen_part(
	struct cg *g, struct d_node *n, enum term_part part, struct cg_val i, struct d_node *term)
{
	struct cg_val of;

	if (cg_is_source(term) && !is_kept(g, term))
		return source_part(g, n, part, i, term);
	of = cg_expr(g, term);
	cg_load(g, R4, of);
	cg_load(g, R5, i);
	cg_free(g, of);
	cg_free(g, i);
	ebpf_const(g->a, R3, part);
	ebpf_const(g->a, R2, term_slots(g, n, 1));
	cg_call(g, RT_term_part);
	return cg_keep(g, n, R0);
}

static void source_match(struct cg *g, struct d_node *n, struct d_node *term, unsigned first)
{
	struct cg_val arg = source_arg(g, term);

	cg_uses_pbi(g, term, arg);
	cg_load(g, R3, arg);
	cg_free(g, arg);
	ebpf_const(g->a, R2, term->ident->builtin->pbi - 1u);
	ebpf_const(g->a, R4, n->value);
	ebpf_const(g->a, R5, first);
	cg_call(g, RT_source_match);
}

/* Match, with r0 1 or 0; the variables are in term slots from the result on. */
static unsigned match(struct cg *g, struct d_node *n, struct d_node *term)
{
	unsigned first = term_slots(g, n, g->c->prog.pats[n->value].nvars);
	struct cg_val of;

	if (cg_is_source(term) && !is_kept(g, term)) {
		source_match(g, n, term, first);
		return first;
	}
	of = cg_expr(g, term);
	cg_load(g, R2, of);
	cg_free(g, of);
	ebpf_const(g->a, R3, n->value);
	ebpf_const(g->a, R4, first);
	cg_call(g, RT_term_match);
	return first;
}

static struct cg_val gen_field(struct cg *g, struct d_node *n)
{
	unsigned slot = match(g, n, n->list->next);
	struct cg_val v = cg_keep(g, n, R0); /* 1: there is one; its handle is 1 + slot */
	int r = cg_reg(g, v, R0);

	if (slot > 0) {
		ebpf_emit(g->a, EBPF_MUL64_IMM, r, 0, 0, (int32_t)slot + 1);
		cg_store(g, v, r);
	}
	return v;
}

/* Keep a variable of the pattern as the script has declared it. */
static void bind(struct cg *g, struct d_node *var, unsigned slot)
{
	const struct d_type *t = var->type;
	struct cg_val v = cg_const(slot + 1);
	struct cg_lval p;

	if (d_is_string(t))
		v = text_of(g, v, TERM_PRETTY, var);
	else if (d_is_int(t))
		v = cg_cut(g, number_of(g, v, TERM_INTEGER, var), t, var);
	p = cg_lval(g, var, true);
	cg_lval_store(g, &p, t, v, var);
	cg_lval_free(g, &p);
	cg_free(g, v);
}

static struct cg_val gen_match(struct cg *g, struct d_node *n)
{
	unsigned slot = match(g, n, n->list);
	struct cg_val v = cg_keep(g, n, R0);
	int no = ebpf_label(g->a);

	if (n->list->next->next == NULL)
		return v;
	ebpf_jump(g->a, EBPF_JEQ_IMM, cg_reg(g, v, R0), 0, 0, no);
	g->maybe++;
	for (struct d_node *var = n->list->next->next; var != NULL; var = var->next)
		bind(g, var, slot++);
	g->maybe--;
	ebpf_bind(g->a, no);
	return v;
}

static struct cg_val gen_scaled(struct cg *g, struct d_node *n, struct d_node *term)
{
	struct cg_val of = cg_expr(g, term), factor = cg_expr(g, term->next);

	cg_load(g, R2, of);
	cg_load(g, R3, factor);
	cg_free(g, of);
	cg_free(g, factor);
	ebpf_const(g->a, R4, TERM_WITH(TERM_SCALED, whence(term)));
	cg_call(g, RT_term_scaled);
	return cg_keep(g, n, R0);
}

struct cg_val cg_term_func(struct cg *g, struct d_node *n)
{
	struct d_node *a = n->list;

	switch (n->ident->id) {
	case FN_ERLELEMENT: return gen_part(g, n, TERM_ELEMENT, cg_expr(g, a), a->next);
	case FN_ERLHD: return gen_part(g, n, TERM_HD, cg_const(0), a);
	case FN_ERLTL: return gen_part(g, n, TERM_TL, cg_const(0), a);
	case FN_ERLGET: return gen_part(g, n, TERM_KEY, cg_const(n->value), a->next);
	case FN_ERLFIELD: return gen_field(g, n);
	case FN_ERLSCALED: return gen_scaled(g, n, a);
	case FN_ERLSIZE: return number_of(g, cg_expr(g, a), TERM_WITH(TERM_SIZE, whence(a)), n);
	case FN_ERLTYPE: return text_of(g, cg_expr(g, a), TERM_TYPE, n);
	case FN_ERLTEXT: return text_of(g, cg_expr(g, a), TERM_WITH(TERM_CHARS, whence(a)), n);
	default: return gen_match(g, n);
	}
}
