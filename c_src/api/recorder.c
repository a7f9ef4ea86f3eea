/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A script that records: for each probe of the compiled scripts a clause without a predicate that
 * prints what their clauses read of its events. The compiler has noted that (prog_uses). A probe
 * that several descriptions name fires several of these clauses, at the same time: whoever makes a
 * file of the results puts them together.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "engine/probe.h"
#include "engine/provider.h"
#include "handle.h"
#include "prog/erlang_has.h"
#include "prog/state_kinds.h"
#include "replay/replay.h"

enum { STRSIZE = 8192 }; /* so that few terms are cut */

struct clause {
	const char *prov, *mod, *func, *name; /* as the script has them; the name is no glob */
	const struct en_probe *probe; /* one that they mean: its name, arguments and built-ins */
	struct prog_uses uses;
};

struct recorder {
	erltrace_t *h;
	struct clause *v;
	unsigned n;
	const struct d_pdesc *desc;
	const struct prog_clause *of;
	struct et_error e;
};

/* ---- what is read --------------------------------------------------------------------- */

/* Where nothing is said about what to read, as in -n PROBE: all that there is but a stack. */
static struct prog_uses everything(const struct en_probe *p)
{
	struct prog_uses u = {.args = 0x3ff, .members = UINT64_MAX};

	u.pbis = p->has & ~(1u << PBI_FOLLOW | 1u << PBI_USDT | 1u << PBI_ERLSTATE);
	if (u.pbis >> PBI_ERLARGS & 1)
		u.pbis &= ~(1u << PBI_ERLARG | 1u << PBI_ERLINT);
	return u;
}

static bool is_recorded(const struct en_probe *p, const struct prog_uses *u)
{
	if (strcmp(p->prov->text, "profile") == 0)
		return strncmp(p->name->text, "tick-", 5) != 0 &&
		       (rp_reads_interrupted(u) ||
			       strncmp(p->name->text, "profile-wall-", 13) == 0);
	return strcmp(p->prov->text, "dtrace") != 0;
}

static void add(void *arg, struct en_probe *p)
{
	struct recorder *r = arg;
	struct prog_uses u = r->of->default_action ? everything(p) : r->of->uses;
	bool is_erlang = strncmp(p->prov->text, "erlang", 6) == 0;
	struct clause c = {.mod = r->desc->mod,
		.func = r->desc->func,
		.name = p->name->text,
		.probe = p,
		.uses = u};
	unsigned i = 0;

	if (!is_recorded(p, &u))
		return;
	c.prov = !is_erlang				    ? p->prov->text
		 : strncmp(r->desc->prov, "erlang", 6) == 0 ? r->desc->prov
							    : "erlang*";
	if (strncmp(r->desc->name, "user_trace-n", 12) == 0)
		c.name = r->desc->name; /* one probe for all of them */
	while (i < r->n &&
		(strcmp(r->v[i].prov, c.prov) != 0 || strcmp(r->v[i].mod, c.mod) != 0 ||
			strcmp(r->v[i].func, c.func) != 0 || strcmp(r->v[i].name, c.name) != 0))
		i++;
	if (i < r->n)
		uses_add(&r->v[i].uses, &u);
	else if (ARRAY_ROOM(r->v, r->n))
		r->v[r->n++] = c;
	else
		et_err(&r->e, ET_NOMEM, "out of memory");
}

static int gather(struct recorder *r)
{
	const struct prog *prog = &r->h->comp->prog;
	const char *what;

	for (unsigned i = 0; i < prog->nclauses; i++) {
		r->of = prog->clauses[i];
		if (!rp_may_replay(&r->of->uses, &what))
			return et_err(&r->e, ET_REPLAY,
				"the clause in line %d cannot be replayed, so it is not recorded: "
				"it has %s",
				r->of->line, what);
		for (r->desc = r->of->descs; r->desc != NULL; r->desc = r->desc->next)
			en_probe_match_from(r->h->en, 0, r->desc, add, r);
	}
	if (r->e.tag[0] == '\0' && r->n == 0)
		et_err(&r->e, ET_REPLAY,
			"there is nothing to record: no clause is about events of a node");
	return r->e.tag[0] != '\0' ? -1 : 0;
}

/* ---- what is written ------------------------------------------------------------------ */

struct out {
	FILE *names, *formats, *values;
};

static void put(struct out *o, const char *name, const char *conv, const char *value)
{
	fprintf(o->names, " %s", name);
	fprintf(o->formats, " %s", conv);
	fprintf(o->values, ",\n\t\t%s", value);
}

static void put_args(struct out *o, const struct clause *c)
{
	const struct en_probe *p = c->probe;
	char name[24], value[24];
	int kind = strcmp(p->prov->text, "state") == 0 ? state_kind(p->name->text, NULL) : -1;
	const struct state_member *m;

	for (int i = 0; i < p->nargs && state_type(kind) == NULL; i++) {
		bool text = strcmp(p->argtypes[i], "string") == 0;

		snprintf(name, sizeof(name), "arg%d", i);
		snprintf(value, sizeof(value), "args[%d]", i);
		if (c->uses.args >> i & 1)
			put(o, name, text ? "%s" : "%d", text ? value : name);
	}
	for (unsigned i = 0; (m = state_member(kind, i)) != NULL; i++)
		if (c->uses.members >> i & 1) {
			char text[64];

			snprintf(text, sizeof(text), "args[0]->%s", m->name);
			put(o, text + 7, m->is_text ? "%s" : "%d", text);
		}
}

static void put_call(struct out *o, uint32_t pbis)
{
	bool by_number = pbis >> PBI_ERLARG & 1 || pbis >> PBI_ERLINT & 1;
	char name[24], value[24];

	if ((pbis >> PBI_ERLARGS & 1) || (by_number && (pbis >> PBI_ANY_ARG & 1))) {
		put(o, "erlargs", "%s", "erlargs");
		return;
	}
	for (unsigned i = 0; by_number && i < PBI_ARGS; i++)
		if (pbis >> (PBI_ARG0 + i) & 1) {
			snprintf(name, sizeof(name), "erlarg%u", i);
			snprintf(value, sizeof(value), "erlarg(%u)", i);
			put(o, name, "%s", value);
		}
}

static void put_builtins(struct out *o, const struct clause *c)
{
	static const struct {
		const char *name;
		unsigned pbi;
		bool is_number;
	} vars[] = {
#define D_PVAR(name, ID, type, traits) {name, PBI_##ID, type[0] == 'i' || type[0] == 'u'},
#define D_PFUNC(name, ID, proto, traits)
#include "prog/builtins.def"
	};
	uint32_t has = c->probe->has, pbis = c->uses.pbis;

	for (unsigned i = 0; i < sizeof(vars) / sizeof(*vars); i++)
		if (vars[i].pbi != PBI_ERLARGS && vars[i].pbi != PBI_ERLNODE &&
			(has >> vars[i].pbi & 1) &&
			((pbis >> vars[i].pbi & 1) || vars[i].pbi == PBI_ERLPID))
			put(o, vars[i].name, vars[i].is_number ? "%d" : "%s", vars[i].name);
	if (has >> PBI_ERLARGS & 1)
		put_call(o, pbis);
	if (uses_var(&c->uses, BI_VTIMESTAMP))
		put(o, "vtimestamp", "%d", "vtimestamp");
	if (c->uses.ustack || uses_var(&c->uses, BI_USTACKDEPTH))
		put(o, "stack", "%k", "ustack(127)");
}

static void put_clause(FILE *f, const struct clause *c)
{
	char *text[3] = {NULL};
	size_t len;
	struct out o = {open_memstream(&text[0], &len), open_memstream(&text[1], &len),
		open_memstream(&text[2], &len)};

	put_args(&o, c);
	put_builtins(&o, c);
	fclose(o.names);
	fclose(o.formats);
	fclose(o.values);
	fprintf(f, "%s:%s:%s:%s\n{\n\tprintf(\"%%s%s\\n\", \"%s\"%s);\n}\n\n", c->prov, c->mod,
		c->func, c->name, text[1], text[0][0] == ' ' ? text[0] + 1 : "", text[2]);
	for (int i = 0; i < 3; i++)
		free(text[i]);
}

/* Options of the script that decide what events there are, and what is in them. */
static void put_options(FILE *f, const struct et_options *o)
{
	static const unsigned passed[] = {OPT_CALLS, OPT_FLOWLIFE, OPT_FLOWTIME, OPT_LARGEHEAP,
		OPT_LONGGC, OPT_LONGQUEUE, OPT_LONGSCHEDULE, OPT_PROCESSES, OPT_STACKLINES,
		OPT_STATEBUDGET};
	char value[256];
	struct et_error e = {.tag = ""};

	fprintf(f, "#pragma D option quiet\n#pragma D option bufsize=16m\n");
	fprintf(f, "#pragma D option strsize=%d\n",
		o->val[OPT_STRSIZE] > STRSIZE ? (int)o->val[OPT_STRSIZE] : STRSIZE);
	for (unsigned i = 0; i < sizeof(passed) / sizeof(*passed); i++) {
		const char *name = et_optdefs[passed[i]].name;

		if (o->set[passed[i]] && et_getopt(o, name, value, sizeof(value), &e) == 0)
			fprintf(f, "#pragma D option %s=%s\n", name, value);
	}
	putc('\n', f);
}

char *erltrace_recorder(erltrace_t *h, unsigned seconds, erltrace_error_t *err)
{
	struct recorder r = {.h = h};
	char *text = NULL;
	size_t len;
	FILE *f;

	if (gather(&r) < 0 || (f = open_memstream(&text, &len)) == NULL) {
		api_error(err, &r.e);
		free(r.v);
		return NULL;
	}
	put_options(f, &h->opts);
	fprintf(f, "BEGIN\n{\n\tprintf(\"%%s %%d %%s\\n\", \"begin\", pid, erlnode);\n}\n\n");
	for (unsigned i = 0; i < r.n; i++)
		put_clause(f, &r.v[i]);
	if (seconds > 0)
		fprintf(f, "tick-1s\n/++seconds == %u/\n{\n\texit(0);\n}\n\n", seconds);
	fprintf(f, "END\n{\n\tprintf(\"%%s\\n\", \"end\");\n}\n");
	free(r.v);
	fclose(f);
	return text;
}
