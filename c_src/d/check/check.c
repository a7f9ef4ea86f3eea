/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checker of clauses: predicate, statements, the rules of speculation, and the minimum
 * stability that -x amin requires. check.h maps the rest.
 */
#include "check.h"
#include "prog/erlang_has.h"

/* A built-in that some events have: one of the probes of each description must have it. */
int chk_has(struct d_comp *c, const struct d_node *n, const struct d_ident *id)
{
	unsigned pbi = id->builtin != NULL ? id->builtin->pbi : 0;
	char having[256];

	if (pbi == 0 || c->clause == NULL)
		return 0;
	for (const struct d_pdesc *d = c->clause->descs; d != NULL; d = d->next) {
		if (d->pbis >> (pbi - 1) & 1)
			continue;
		prog_erlang_having(pbi - 1, having, sizeof(having));
		return CHK_ERR(c, D_BUILTIN_NONE, n, "'%s' has no value at %s: %s %s it", id->name,
			d_desc_text(c, d), having, strchr(having, ',') != NULL ? "have" : "has");
	}
	return 0;
}

/* ---- stability --------------------------------------------------------------------------------
 */

int chk_attr(struct d_comp *c, const struct d_node *n, const struct d_ident *id)
{
	struct et_attr have = id->attr.of[0] ? id->attr : et_attr_default, want, least;
	const char *amin;

	if (!id->attr.of[0] && id->kind == ID_BUILTIN && id->id == BI_CURTHREAD)
		et_attr_parse("Stable/Private/Common", &have);
	if (!c->in_library)
		et_attr_least(&c->attr, &have);
	if (!c->opts->val[OPT_AMIN] || !c->opts->str[OPT_AMIN] || c->in_library)
		return 0;
	amin = c->opts->str[OPT_AMIN][c->opts->val[OPT_AMIN] - 1];
	if (et_attr_parse(amin, &want))
		return CHK_ERR(c, D_ATTR_MIN, n,
			"option amin is '%s', not name/data/class as in Stable/Stable/Common",
			amin);
	least = have;
	et_attr_least(&least, &want);
	if (memcmp(&least, &want, sizeof(want)) == 0)
		return 0;
	return CHK_ERR(c, D_ATTR_MIN, n,
		"%s '%s' is %s/%s/%s, less stable than option amin asks for (%s)", chk_kindname(id),
		id->name, et_attr_word(&have, 0), et_attr_word(&have, 1), et_attr_word(&have, 2),
		amin);
}

/* ---- statements ---------------------------------------------------------------------------------
 */

static int scalar_condition(struct d_comp *c, struct d_node *n, const char *what)
{
	if (chk_expr(c, n, CX_VALUE))
		return -1;
	if (!d_is_scalar(n->type))
		return CHK_ERR(c, D_PRED_SCALAR, n,
			"%s must be an integer or a pointer, not '%s'%s", what,
			chk_tname(c, n->type),
			d_is_string(n->type) ? ": compare it, as in s != \"\""
			: d_is_term(n->type) ? chk_term_truth
					     : "");
	return 0;
}

/* `a, b;` is `a; b;`, so that actions may be in such a list. */
static int split_commas(struct d_comp *c, struct d_node *s)
{
	while (s->a->kind == N_OP2 && s->a->op == OP_COMMA && !(s->a->flags & NF_CHECKED)) {
		struct d_node *tail = chk_new(c, N_EXPR, s->a->b);

		if (!tail)
			return -1;
		tail->a = s->a->b;
		tail->next = s->next;
		s->next = tail;
		s->a = s->a->a;
	}
	return 0;
}

/*
 * `1 ? a : b;` is `a;`, whatever b is: scripts switch actions and aggregations on and off by
 * constants, as in `OPT_verbose ? printf("..") : 1;`. The other branch is not checked.
 */
static int choose_branch(struct d_comp *c, struct d_node *s)
{
	while (s->a->kind == N_OP3 && !(s->a->flags & NF_CHECKED)) {
		if (chk_expr(c, s->a->a, CX_VALUE))
			return -1;
		if (s->a->a->kind != N_INT)
			return 0;
		s->a = s->a->a->value ? s->a->b : s->a->c;
		if (split_commas(c, s))
			return -1;
	}
	return 0;
}

static int check_statement(struct d_comp *c, struct d_node *s)
{
	struct d_node *e;

	if (split_commas(c, s) || choose_branch(c, s))
		return -1;
	e = s->a;
	if (chk_expr(c, e, CX_STMT | CX_DYN))
		return -1;
	if (e->kind == N_AGG)
		return CHK_ERR(c, D_AGG_NULL, e,
			"@%s alone does nothing: assign it an aggregating "
			"function, as in @%s = count()",
			e->text, e->text);
	if (e->kind == N_FUNC && e->ident->kind == ID_AGGFUNC)
		return CHK_ERR(c, D_CG_EXPR, e,
			"aggregating function %s() alone does nothing: assign it to an "
			"aggregation, as in @a = %s(..)",
			e->text, e->text);
	if (d_is_kind(e->type, T_DYN) && e->kind != N_OP2)
		return CHK_ERR(c, D_CG_DYN, e,
			"a translated object alone is not a statement: only its members have a "
			"value");
	return 0;
}

static int check_list(struct d_comp *c, struct d_node *s)
{
	int rc = 0;

	for (; s && !rc; s = s->next) {
		switch (s->kind) {
		case N_EXPR: rc = check_statement(c, s); break;
		case N_BLOCK: rc = check_list(c, s->list); break;
		case N_IF:
			rc = scalar_condition(c, s->a, "the condition of if");
			if (!rc)
				rc = check_list(c, s->list);
			if (!rc && s->b)
				rc = s->b->kind == N_BLOCK ? check_list(c, s->b->list)
							   : check_list(c, s->b);
			break;
		default: rc = CHK_ERR(c, D_SYNTAX, s, "an expression is not a statement");
		}
	}
	return rc;
}

/* ---- speculation
 * --------------------------------------------------------------------------------- */

/*
 * A clause's record goes either to the buffer or to a speculation, depending on its first
 * speculate(). The bits say what was done on any path to a statement.
 */
enum { DID_SPEC = 1, DID_COMMIT = 2, DID_DATA = 4 };

static int spec_action(struct d_comp *c, const struct d_node *n, unsigned *did)
{
	uint8_t flags = n->ident->builtin->flags;

	switch (n->ident->id) {
	case ACT_COMMIT:
		if (*did & DID_DATA)
			return CHK_ERR(c, D_COMM_DREC, n,
				"commit() cannot come after an action that "
				"records data");
		*did |= DID_COMMIT;
		return 0;
	case ACT_SPECULATE:
		if (*did & DID_SPEC)
			return CHK_ERR(
				c, D_SPEC_SPEC, n, "speculate() cannot come after speculate()");
		if (*did & DID_COMMIT)
			return CHK_ERR(c, D_SPEC_COMM, n, "speculate() cannot come after commit()");
		if (*did & DID_DATA)
			return CHK_ERR(c, D_SPEC_DREC, n,
				"speculate() cannot come after an action "
				"that records data");
		*did |= DID_SPEC;
		return 0;
	case ACT_DISCARD: return 0;
	default: break;
	}
	if ((*did & DID_SPEC) && (flags & AF_DESTR))
		return CHK_ERR(c, D_ACT_SPEC, n,
			"destructive action %s() cannot come after "
			"speculate()",
			n->text);
	if ((*did & DID_SPEC) && n->ident->id == ACT_EXIT)
		return CHK_ERR(c, D_EXIT_SPEC, n, "exit() cannot come after speculate()");
	if ((flags & AF_DESTR) || !(flags & AF_DATA))
		return 0;
	if (*did & DID_COMMIT)
		return CHK_ERR(c, D_DREC_COMM, n,
			"%s() records data and cannot come after "
			"commit()",
			n->text);
	if (!(*did & DID_SPEC))
		*did |= DID_DATA;
	return 0;
}

static int spec_aggregation(struct d_comp *c, const struct d_node *n, unsigned *did)
{
	if (*did & DID_COMMIT)
		return CHK_ERR(c, D_AGG_COMM, n, "an aggregation cannot come after commit()");
	if (*did & DID_SPEC)
		return CHK_ERR(c, D_AGG_SPEC, n, "an aggregation cannot come after speculate()");
	*did |= DID_DATA;
	return 0;
}

static int spec_list(struct d_comp *c, const struct d_node *s, unsigned *did)
{
	int rc = 0;

	for (; s && !rc; s = s->next) {
		const struct d_node *e = s->a;

		if (s->kind == N_BLOCK) {
			rc = spec_list(c, s->list, did);
		} else if (s->kind == N_IF) {
			unsigned yes = *did, no = *did;

			rc = spec_list(c, s->list, &yes);
			if (!rc && s->b)
				rc = spec_list(c, s->b->kind == N_BLOCK ? s->b->list : s->b, &no);
			*did = yes | no;
		} else if (e->kind == N_FUNC && e->ident->kind == ID_ACTION) {
			rc = spec_action(c, e, did);
		} else if (e->kind == N_OP2 && e->op == OP_ASG && e->a->kind == N_AGG) {
			rc = spec_aggregation(c, e, did);
		}
	}
	return rc;
}

/* ---- clauses
 * --------------------------------------------------------------------------------------- */

static int check_pred(struct d_comp *c, struct d_clause *clause)
{
	return clause->pred ? scalar_condition(c, clause->pred, "a predicate") : 0;
}

/* Does it name a variable that is not defined yet? */
static bool names_undefined(struct d_comp *c, const struct d_node *n)
{
	if (!n)
		return false;
	if (chk_undefined(c, n))
		return true;
	for (const struct d_node *x = n->list; x; x = x->next)
		if (names_undefined(c, x))
			return true;
	return names_undefined(c, n->a) || names_undefined(c, n->b) || names_undefined(c, n->c);
}

/*
 * A predicate may name variables that only the statements of its clause assign: these are checked
 * first. One that assigns variables itself is checked before them.
 */
int d_check_clause(struct d_comp *c, struct d_clause *clause)
{
	bool first = clause->pred &&
		     (d_has_effects(clause->pred) || !names_undefined(c, clause->pred));
	unsigned did = 0;

	c->clause = clause;
	c->chk_depth = 0;
	if ((first && check_pred(c, clause)) || check_list(c, clause->stmts) ||
		(!first && check_pred(c, clause)))
		return -1;
	return spec_list(c, clause->stmts, &did);
}
