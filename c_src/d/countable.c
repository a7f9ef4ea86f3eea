/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Can a clause be run once for many firings? If it only adds to aggregations, and its keys, values
 * and predicate are the same in every firing of the probe, then n firings equal one that adds n
 * times as much (engine/times.c). If somebody else counts how often a probe would have fired, as
 * the Erlang VM does for functions (beam/nif/counters.c), nothing has to be done at the event
 * itself.
 *
 * Invariant for a probe are constants, the names and id of the probe, properties of the process
 * that never change, and the text of arg1 if it is the function (the provider knows whether it is).
 * Only operators and subroutines that cannot fault are accepted, as each firing's fault is
 * reported.
 */
#include "d.h"

static bool is_invariant(const struct d_node *n);

static bool are_same(const struct d_node *list)
{
	for (; list != NULL; list = list->next)
		if (!is_invariant(list) || (d_is_string(list->type) && d_may_be_null(list)))
			return false;
	return true;
}

static bool is_builtin(const struct d_node *n, enum d_nkind kind, unsigned id)
{
	return n != NULL && n->kind == kind && n->ident != NULL && n->ident->kind == ID_BUILTIN &&
	       n->ident->id == id;
}

/* arg1 or args[1], as the one argument of copyinstr(). */
static bool is_arg1(const struct d_node *n)
{
	while (n != NULL && n->kind == N_CAST)
		n = n->a;
	return is_builtin(n, N_VAR, BI_ARG1) || (is_builtin(n, N_ASSOC, BI_ARGS) && n->value == 1);
}

static bool is_invariant_var(const struct d_ident *id)
{
	return id != NULL && id->kind == ID_BUILTIN && (id->builtin->traits & INVARIANT);
}

static bool is_same_func(const struct d_node *n)
{
	if (n->ident == NULL || n->ident->kind != ID_FUNC)
		return false;
	if (n->ident->id == FN_COPYINSTR)
		return n->list != NULL && n->list->next == NULL && is_arg1(n->list);
	return (n->ident->builtin->traits & INVARIANT) && are_same(n->list);
}

/* Excludes operators that divide or have side effects. */
static bool is_safe_op(unsigned op)
{
	return op == OP_LNOT || op == OP_BNOT || op == OP_PLUS || op == OP_NEG || op == OP_MUL ||
	       (op >= OP_ADD && op <= OP_LOR);
}

static bool is_invariant(const struct d_node *n)
{
	switch (n->kind) {
	case N_INT:
	case N_STR: return true;
	case N_VAR: return is_invariant_var(n->ident);
	case N_ASSOC: return d_is_string(n->type) && is_arg1(n); /* args[1] */
	case N_FUNC: return is_same_func(n);
	case N_OP1: return is_safe_op(n->op) && is_invariant(n->a);
	case N_OP2: return is_safe_op(n->op) && is_invariant(n->a) && is_invariant(n->b);
	case N_OP3: return is_invariant(n->a) && is_invariant(n->b) && is_invariant(n->c);
	case N_CAST: return d_is_int(n->type) && d_is_int(n->a->type) && is_invariant(n->a);
	case N_STRINGOF: return d_is_string(n->a->type) && is_invariant(n->a);
	default: return false;
	}
}

/* @a[keys] = f(values) */
static bool is_update(const struct d_node *n)
{
	return n->kind == N_EXPR && n->a->kind == N_OP2 && n->a->op == OP_ASG &&
	       n->a->a->kind == N_AGG && n->a->b->kind == N_FUNC &&
	       n->a->b->ident->kind == ID_AGGFUNC;
}

/* The same with a function that can take n equal values at once. */
static bool is_sum(const struct d_node *n)
{
	const struct d_node *f;

	if (!is_update(n))
		return false;
	f = n->a->b;
	return (f->ident->builtin->traits & PURE) && are_same(n->a->a->list) &&
	       (f->ident->id == AGG_PERCENTILE ? is_invariant(f->list) : are_same(f->list));
}

/* ---- the same event, many times -------------------------------------------------------- */

static bool is_pure_func(const struct d_ident *id)
{
	return id != NULL && (id->kind == ID_ACTION || id->kind == ID_FUNC) &&
	       (id->builtin->traits & PURE);
}

static bool is_pure(const struct d_node *n)
{
	switch (n->kind) {
	case N_INT:
	case N_STR: return true;
	case N_VAR: return n->ident != NULL && n->ident->kind == ID_BUILTIN;
	case N_FUNC:
		if (!is_pure_func(n->ident))
			return false;
		for (const struct d_node *a = n->list; a != NULL; a = a->next)
			if (!is_pure(a))
				return false;
		return true;
	case N_OP1: return is_safe_op(n->op) && is_pure(n->a);
	case N_OP2: return is_safe_op(n->op) && is_pure(n->a) && is_pure(n->b);
	case N_OP3: return is_pure(n->a) && is_pure(n->b) && is_pure(n->c);
	case N_CAST: return is_pure(n->a);
	default: return false;
	}
}

static bool is_pure_list(const struct d_node *list)
{
	for (; list != NULL; list = list->next)
		if (!is_pure(list))
			return false;
	return true;
}

static bool is_pure_sum(const struct d_node *n)
{
	const struct d_node *f;

	if (!is_update(n))
		return false;
	f = n->a->b;
	return (f->ident->builtin->traits & PURE) && is_pure_list(n->a->a->list) &&
	       is_pure_list(f->list);
}

/* ---- clauses --------------------------------------------------------------------------- */

static bool consists_of(const struct d_clause *cl, bool (*is_pred)(const struct d_node *n),
	bool (*is_stmt)(const struct d_node *n))
{
	if (cl->stmts == NULL || (cl->pred != NULL && !is_pred(cl->pred)))
		return false;
	for (const struct d_node *n = cl->stmts; n != NULL; n = n->next)
		if (!is_stmt(n))
			return false;
	return true;
}

bool d_repeatable(const struct d_clause *cl)
{
	return consists_of(cl, is_pure, is_pure_sum);
}

bool d_countable(const struct d_clause *cl)
{
	return consists_of(cl, is_invariant, is_sum);
}
