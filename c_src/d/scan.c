/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a script contains, reported item by item by the parser (erltrace_scan()). Declarations are
 * entered, because the parser must know types and names; clauses are only traversed.
 */
#include "d/check/check.h"

#include <string.h>

#include "erltrace.h"

static void report(struct d_comp *c, const erltrace_scan_item_t *item)
{
	c->scan->cb(c->scan->arg, item);
}

/* Offset in the scanned text. */
static size_t offset(const struct d_comp *c, const char *p)
{
	return (size_t)(p - c->source);
}

/* The text of the description, with the colons that -P, -m and -f omit. */
static const char *whole_text(struct d_comp *c, const struct d_pdesc *d)
{
	const char *text = arena_printf(
		c->arena, "%.*s%.*s", (int)(d->end - d->start), d->start, (int)c->colons, ":::");

	return text != NULL ? text : "";
}

static void tell_probes(struct d_comp *c, const struct d_clause *cl)
{
	for (const struct d_pdesc *d = cl->descs; d != NULL; d = d->next)
		report(c, &(erltrace_scan_item_t){
				.kind = ERLTRACE_SCAN_PROBE,
				.provider = d->prov,
				.module = d->mod,
				.function = d->func,
				.name = d->name,
				.id = d->id,
				.text = whole_text(c, d),
				.end = offset(c, d->end),
				.behind = offset(c, cl->behind),
				.line = d->line,
				.column = d->col,
			});
}

static struct d_ident *resolve(const struct d_comp *c, const struct d_node *n)
{
	return n->ident != NULL ? n->ident : d_name_find(c, c->globals, n->text);
}

/* The string constant that an argument is, directly or through an inline; or NULL. */
static const char *constant_text(const struct d_comp *c, const struct d_node *n)
{
	const struct d_ident *id;

	for (unsigned i = 0; n != NULL && n->kind == N_IDENT && i < D_MAX_DEPTH; i++) {
		id = n->op == SC_GLOBAL ? resolve(c, n) : NULL;
		n = id != NULL && id->kind == ID_INLINE ? id->expr : NULL;
	}
	return n != NULL && n->kind == N_STR ? n->text : NULL;
}

/* Is its first parameter a format? Aggregating functions have no result in their prototypes. */
static bool takes_format(const struct d_builtin *b)
{
	const char *colon = strchr(b->proto, ':');

	return colon != NULL && colon[1] == 'f';
}

static void report_call(struct d_comp *c, const struct d_node *n)
{
	const struct d_ident *id = resolve(c, n);
	const struct d_builtin *b = id != NULL ? id->builtin : NULL;

	if (b == NULL)
		return;
	report(c, &(erltrace_scan_item_t){
			.kind = ERLTRACE_SCAN_FUNCTION,
			.name = b->name,
			.text = takes_format(b) ? constant_text(c, n->list) : NULL,
			.destructive = (b->flags & AF_DESTR) != 0 ||
				       (id->kind == ID_FUNC &&
					       (b->id == FN_COPYOUT || b->id == FN_COPYOUTSTR)),
			.line = n->line,
			.column = n->col,
		});
}

static void walk(struct d_comp *c, const struct d_node *n);

/* Report a built-in variable, or an inline's contents. Once per scan. */
static void report_name(struct d_comp *c, const struct d_node *n)
{
	struct d_ident *id = resolve(c, n);

	if (id == NULL || id->scanned == c->scan->round)
		return;
	id->scanned = c->scan->round;
	if (id->kind == ID_INLINE)
		walk(c, id->expr);
	else if (id->kind == ID_BUILTIN)
		report(c, &(erltrace_scan_item_t){
				.kind = ERLTRACE_SCAN_VARIABLE,
				.name = id->name,
				.line = n->line,
				.column = n->col,
			});
}

static bool is_stack(const struct d_comp *c, const struct d_node *n)
{
	const struct d_ident *id = n->kind == N_FUNC ? resolve(c, n) : NULL;
	const struct d_builtin *b = id != NULL ? id->builtin : NULL;

	return b != NULL && (strcmp(b->name, "stack") == 0 || strcmp(b->name, "ustack") == 0 ||
				    strcmp(b->name, "jstack") == 0);
}

static void report_aggregation(struct d_comp *c, const struct d_node *n)
{
	bool by_stack = false;

	for (const struct d_node *key = n->list; key != NULL; key = key->next)
		by_stack |= is_stack(c, key);
	report(c, &(erltrace_scan_item_t){
			.kind = ERLTRACE_SCAN_AGGREGATION,
			.name = n->text,
			.text = c->scan->function,
			.by_stack = by_stack,
			.line = n->line,
			.column = n->col,
		});
	c->scan->function = NULL;
}

static void visit(struct d_comp *c, const struct d_node *n)
{
	switch (n->kind) {
	case N_OP2:
		if (n->op == OP_ASG && n->a->kind == N_AGG && n->b->kind == N_FUNC)
			c->scan->function = n->b->text;
		break;
	case N_IDENT:
	case N_ASSOC:
		if (n->op == SC_GLOBAL || n->ident != NULL)
			report_name(c, n);
		break;
	case N_VAR: report_name(c, n); break;
	case N_FUNC: report_call(c, n); break;
	case N_AGG: report_aggregation(c, n); break;
	default: break;
	}
}

/* The depth is bounded by the parser. */
static void walk(struct d_comp *c, const struct d_node *n)
{
	for (; n != NULL; n = n->next) {
		visit(c, n);
		walk(c, n->a);
		walk(c, n->list); /* of if: the then branch; b: else */
		walk(c, n->b);
		walk(c, n->c);
	}
}

/*
 * The checker may reject an inline because it uses variables of clauses, which are not checked
 * here: its name is entered anyway.
 */
static void enter_inline(struct d_comp *c, const struct d_item *item)
{
	struct d_ident *id = item->ident;

	walk(c, id->expr);
	if (d_check_inline(c, item) < 0 && !et_err_is(&c->error, D_ID_OFLOW) &&
		d_name_find(c, c->globals, id->name) == NULL)
		d_ident_enter(c->globals, id);
}

int d_scan_item(struct d_comp *c, const struct d_item *item)
{
	switch (item->kind) {
	case IT_CLAUSE:
		tell_probes(c, item->clause);
		walk(c, item->clause->pred);
		walk(c, item->clause->stmts);
		break;
	case IT_VAR: d_check_var(c, item); break;
	case IT_INLINE: enter_inline(c, item); break;
	case IT_XLATOR:
		walk(c, item->xlator->members);
		d_check_xlator(c, item);
		break;
	default: break;
	}
	/*
	 * Compiling will report errors in a declaration; only exceeding a limit is an error here
	 * too.
	 */
	if (et_err_is(&c->error, D_ID_OFLOW))
		return -1;
	et_err_clear(&c->error);
	return 0;
}

void d_scan_option(struct d_comp *c, const char *name, int line)
{
	struct et_error e = {.tag = ""};
	char value[512];

	if (c->in_library || et_getopt(c->opts, name, value, sizeof(value), &e) < 0)
		return;
	report(c, &(erltrace_scan_item_t){
			.kind = ERLTRACE_SCAN_OPTION, .name = name, .text = value, .line = line});
}
