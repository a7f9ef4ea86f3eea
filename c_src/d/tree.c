/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the compiler knows, as text for debugging: checked syntax trees (-xtree), and the basic
 * types or those that scripts declared (-xctypes, -xdtypes).
 */
#include <errno.h>
#include <string.h>

#include "d/check/check.h"

/* ---- trees ----------------------------------------------------------------------------- */

static const char *const kinds[] = {
	[N_INT] = "integer",
	[N_DECIMAL] = "decimal",
	[N_STR] = "string",
	[N_IDENT] = "name",
	[N_VAR] = "variable",
	[N_ASSOC] = "array",
	[N_AGG] = "aggregation",
	[N_FUNC] = "call",
	[N_OP1] = "unary",
	[N_OP2] = "binary",
	[N_OP3] = "conditional",
	[N_MEMBER] = "member",
	[N_CAST] = "cast",
	[N_SIZEOF] = "sizeof",
	[N_OFFSETOF] = "offsetof",
	[N_STRINGOF] = "stringof",
	[N_XLATE] = "xlate",
	[N_EXPR] = "expression",
	[N_IF] = "if",
	[N_BLOCK] = "block",
};

static const char *name_of(const struct d_node *n)
{
	if (n->ident != NULL)
		return n->ident->name;
	return n->text != NULL ? n->text : "";
}

static void put_node(const struct d_node *n, int depth, FILE *f)
{
	char type[128];

	fprintf(f, "%*s%s", depth * 2, "", kinds[n->kind]);
	switch (n->kind) {
	case N_INT: fprintf(f, " %lld", (long long)n->value); break;
	case N_DECIMAL: fprintf(f, " %.*s", (int)n->len, n->text); break;
	case N_STR: fprintf(f, " \"%.*s\"", (int)n->len, n->text); break;
	case N_OP1:
	case N_OP2: fprintf(f, " %s", chk_opname(n->op)); break;
	case N_VAR:
	case N_ASSOC:
		fprintf(f, " %s%s",
			n->ident != NULL && n->ident->scope == SC_SELF	 ? "self->"
			: n->ident != NULL && n->ident->scope == SC_THIS ? "this->"
									 : "",
			name_of(n));
		break;
	default: fprintf(f, "%s%s", name_of(n)[0] ? " " : "", name_of(n)); break;
	}
	if (n->type != NULL)
		fprintf(f, ": %s", d_type_name(n->type, type, sizeof(type)));
	fprintf(f, " (line %d)\n", n->line);
}

/* The depth is bounded by the parser. */
static void put_tree(const struct d_node *n, int depth, FILE *f)
{
	put_node(n, depth, f);
	if (n->a != NULL)
		put_tree(n->a, depth + 1, f);
	for (const struct d_node *x = n->list; x != NULL; x = x->next)
		put_tree(x, depth + 1, f);
	if (n->b != NULL)
		put_tree(n->b, depth + 1, f);
	if (n->c != NULL)
		put_tree(n->c, depth + 1, f);
}

void d_tree(const struct d_clause *cl, FILE *f)
{
	fprintf(f, "clause (line %d)\n", cl->line);
	for (const struct d_pdesc *d = cl->descs; d != NULL; d = d->next)
		if (d->id != 0)
			fprintf(f, "  probe %u\n", d->id);
		else
			fprintf(f, "  probe %s:%s:%s:%s\n", d->prov, d->mod, d->func, d->name);
	if (cl->pred != NULL) {
		fputs("  predicate\n", f);
		put_tree(cl->pred, 2, f);
	}
	for (const struct d_node *s = cl->stmts; s != NULL; s = s->next)
		put_tree(s, 1, f);
}

/* ---- types ----------------------------------------------------------------------------- */

static void put_members(const struct d_type *t, FILE *f)
{
	char type[256];

	for (const struct d_member *m = t->members; m != NULL; m = m->next) {
		if (t->kind == T_ENUM) {
			fprintf(f, "\t%s = %lld\n", m->name, (long long)m->value);
			continue;
		}
		fprintf(f, "\t%-6llu %s %s", (unsigned long long)m->off,
			d_type_name(m->type, type, sizeof(type)), m->name ? m->name : "");
		if (m->bit_width != 0)
			fprintf(f, " : %u at bit %u", m->bit_width, m->bit_off);
		fputc('\n', f);
	}
}

static void put_type(void *arg, const char *name, const struct d_type *t, bool tag)
{
	FILE *f = arg;
	char type[256];

	if (!tag) {
		fprintf(f, "%s: %s, %llu bytes\n", name,
			d_type_name(t->kind == T_TYPEDEF ? t->ref : t, type, sizeof(type)),
			(unsigned long long)t->size);
		return;
	}
	fprintf(f, "%s, %llu bytes\n", d_type_name(t, type, sizeof(type)),
		(unsigned long long)t->size);
	put_members(t, f);
}

int d_types_write(struct d_comp *c, const char *path, bool basic)
{
	FILE *f = fopen(path, "we");
	bool ok = f != NULL;

	if (ok) {
		d_types_each(c, basic, put_type, f);
		ok = fflush(f) == 0 && !ferror(f);
		ok = fclose(f) == 0 && ok;
	}
	if (!ok)
		return d_error(
			c, ET_FILE, 0, 0, "cannot write types to %s: %s", path, strerror(errno));
	return 0;
}
