/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Can the predicate of a clause be computed on its own, before what only the statements read is
 * known? If it changes nothing and cannot fault, a provider may compute it first, by what is cheap
 * to find out, and leave out the firing if it is false. The provider state does so
 * (beam/state/state_provider.c): what a process says of itself takes ten times as long as what the VM says
 * of it. Between predicate and statements such a clause asks the provider whether to go on
 * (PBI_GATE).
 *
 */
#include <string.h>

#include "d.h"

static bool is_state_only(const struct d_pdesc *d)
{
	for (; d != NULL; d = d->next)
		if (d->id != 0 || strcmp(d->prov, "state") != 0)
			return false;
	return true;
}

/* Excludes operators that divide or have side effects. */
static bool is_plain_op(unsigned op)
{
	return op == OP_LNOT || op == OP_BNOT || op == OP_PLUS || op == OP_NEG || op == OP_MUL ||
	       (op >= OP_ADD && op <= OP_LOR);
}

static bool is_member(const struct d_ident *id)
{
	return id != NULL && id->kind == ID_FUNC &&
	       (id->id == FN_STATE_NUMBER || id->id == FN_STATE_TEXT);
}

static bool is_plain(const struct d_node *n)
{
	switch (n->kind) {
	case N_INT:
	case N_STR: return true;
	case N_VAR: /* a string variable may be NULL, which is a fault */
		return n->ident != NULL &&
		       (n->ident->kind == ID_BUILTIN ||
			       (n->ident->kind == ID_SCALAR && d_is_int(n->type)));
	case N_FUNC: return is_member(n->ident);
	case N_OP1: return is_plain_op(n->op) && is_plain(n->a);
	case N_OP2: return is_plain_op(n->op) && is_plain(n->a) && is_plain(n->b);
	case N_OP3: return is_plain(n->a) && is_plain(n->b) && is_plain(n->c);
	case N_CAST: return d_is_int(n->type) && d_is_int(n->a->type) && is_plain(n->a);
	case N_STRINGOF: return d_is_string(n->a->type) && is_plain(n->a);
	default: return false;
	}
}

bool d_has_gate(const struct d_clause *cl)
{
	return cl->pred != NULL && is_state_only(cl->descs) && is_plain(cl->pred);
}
