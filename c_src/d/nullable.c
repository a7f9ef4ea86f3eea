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
	if (id->builtin->pbi != 0)
		return false; /* "" if the event has no such value */
	switch (id->id) {
	case FN_BASENAME:
	case FN_CLEANPATH:
	case FN_COPYINSTR:
	case FN_DIRNAME:
	case FN_ERLTEXT:
	case FN_ERLTYPE:
	case FN_INET_NTOA:
	case FN_INET_NTOA6:
	case FN_INET_NTOP:
	case FN_LINK_NTOP:
	case FN_LLTOSTR:
	case FN_STRJOIN:
	case FN_SUBSTR:
	case FN_TOLOWER:
	case FN_TOUPPER:
#define D_BFUNC(name, ID, proto, payload)
#define D_LFUNC(name, ID, proto, payload) case FN_##ID:
#include "prog/builtins.def"
		return false;
	default: return true;
	}
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
