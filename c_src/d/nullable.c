/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which strings can be NULL? Variables, what a search has not found, and NULL itself. Code that
 * uses another string needs no test for the fault that a NULL one causes.
 */
#include "d.h"

static bool is_null_func(const struct d_ident *id)
{
	if (id->kind != ID_FUNC)
		return true;
	/* one of the event is "" if that has no such value */
	return id->builtin->pbi == 0 && !(id->builtin->traits & NEVER_NULL);
}

bool d_may_be_null(const struct d_node *n)
{
	switch (n->kind) {
	case N_STR: return false;
	case N_VAR:
	case N_ASSOC: return n->ident->kind != ID_BUILTIN;
	case N_FUNC: return is_null_func(n->ident);
	case N_OP2: return (n->op != OP_ASG && n->op != OP_COMMA) || d_may_be_null(n->b);
	case N_OP3: return d_may_be_null(n->b) || d_may_be_null(n->c);
	case N_CAST:
	case N_STRINGOF: /* of an address: reading there faults at once */
		return (d_is_string(n->a->type) || n->a->kind == N_INT) && d_may_be_null(n->a);
	default: return true;
	}
}
