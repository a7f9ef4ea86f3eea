/* SPDX-License-Identifier: Apache-2.0 */
/* The compiled program as text (-S): each source line, then its instructions. */
#include "d/d.h"

#include <string.h>

/* Line n of a text, without its newline. */
static void put_line(const char *text, int n, FILE *f)
{
	const char *end;

	while (--n > 0 && text != NULL) {
		text = strchr(text, '\n');
		if (text != NULL)
			text++;
	}
	if (text == NULL)
		return;
	end = strchr(text, '\n');
	fwrite(text, 1, end ? (size_t)(end - text) : strlen(text), f);
}

static void dump_clause(
	const struct prog_clause *c, unsigned n, const struct ebpf_env *env, FILE *f)
{
	char text[128];
	int line = -1;

	fprintf(f, "clause %u: ", n);
	for (const struct d_pdesc *d = c->descs; d != NULL; d = d->next)
		if (d->id != 0)
			fprintf(f, "%u%s", d->id, d->next ? ", " : "");
		else
			fprintf(f, "%s:%s:%s:%s%s", d->prov, d->mod, d->func, d->name,
				d->next ? ", " : "");
	fprintf(f, " (%u instructions, %u bytes of record)\n", c->ninsns, c->rec_size);
	for (unsigned i = 0; i < c->ninsns;) {
		if (c->lines[i] != line && c->lines[i] > 0) {
			line = c->lines[i];
			fprintf(f, "; %s%s%d: ", c->file, c->file[0] ? ":" : "line ", line);
			put_line(c->source, line, f);
			fputc('\n', f);
		}
		int slots = ebpf_disasm(&c->insns[i], env, text, sizeof(text));

		fprintf(f, "%6u: %s\n", i, text);
		i += slots > 0 ? slots : 1;
	}
	fputc('\n', f);
}

void d_prog_dump(const struct prog *p, unsigned first_clause, FILE *f)
{
	struct ebpf_env env;

	prog_env(p, &env);
	for (unsigned i = first_clause; i < p->nclauses; i++)
		dump_clause(p->clauses[i], i, &env, f);
	for (unsigned i = 0; i < p->nvars; i++) {
		const struct prog_var *v = p->vars[i];
		char type[128];

		fprintf(f, "variable %u: %s%s%s, %s, %u bytes\n", i,
			v->scope == SC_SELF   ? "self->"
			: v->scope == SC_THIS ? "this->"
					      : "",
			v->name, v->nkeys ? "[]" : "", d_type_name(v->type, type, sizeof(type)),
			v->size);
	}
	for (unsigned i = 0; i < p->naggs; i++)
		fprintf(f, "aggregation %u: @%s, %s, %u keys, %u bytes\n", i,
			strcmp(p->aggs[i]->name, "_") ? p->aggs[i]->name : "",
			d_aggfn_name(p->aggs[i]->fn), p->aggs[i]->nkeys, p->aggs[i]->size);
	for (unsigned i = 0; i < p->nstrs; i++)
		fprintf(f, "string %u: \"%s\"\n", i, p->strs[i].s);
}
