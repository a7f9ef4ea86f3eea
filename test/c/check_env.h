/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of the checker: a registry of a few probes, a compiler without code generator, and what
 * scripts of the tests find declared.
 */
#ifndef CHECK_ENV_H
#define CHECK_ENV_H

#include <stdlib.h>
#include <string.h>

#include "d/d.h"
#include "checks.h"

/* ---- a registry of a few probes ------------------------------------------------------- */

static const char *const p_args[] = {
	"int", "char *", "string", "struct native *", "nosuch_t", "void"};
static const char *const x_args[] = {NULL, NULL, NULL, "struct seen *", NULL, NULL};
static const char *const y_args[] = {"struct other *"};
static const uint8_t swap[] = {1, 0};

static const struct d_probeinfo probes[] = {
	{.id = 1, .prov = "dtrace", .mod = "", .func = "", .name = "BEGIN", .nargs = 0},
	{.id = 2, .prov = "dtrace", .mod = "", .func = "", .name = "END", .nargs = 0},
	{.id = 3, .prov = "dtrace", .mod = "", .func = "", .name = "ERROR", .nargs = -1},
	{.id = 4, .prov = "profile", .mod = "", .func = "", .name = "tick-1s", .nargs = 0},
	{.id = 5,
		.prov = "t",
		.mod = "",
		.func = "",
		.name = "p",
		.nargs = 6,
		.argtypes = p_args,
		.xargtypes = x_args},
	{.id = 6,
		.prov = "t",
		.mod = "",
		.func = "",
		.name = "q",
		.nargs = 1,
		.argtypes = y_args,
		.xargtypes = (const char *const[]){"struct seen *"}},
	{.id = 7,
		.prov = "t",
		.mod = "",
		.func = "",
		.name = "swap",
		.nargs = 2,
		.argtypes = p_args,
		.argmap = swap},
	{.id = 8, .prov = "app77", .mod = "", .func = "", .name = "work-done", .nargs = -1},
};

static inline bool fits(const char *want, const char *have)
{
	return !*want || !strcmp(want, have) || !strcmp(want, "*");
}

static inline int match(void *data, const struct d_pdesc *d,
	void (*cb)(void *, const struct d_probeinfo *), void *arg, struct et_error *e)
{
	int n = 0;

	(void)data;
	(void)e;
	for (size_t i = 0; i < sizeof(probes) / sizeof(*probes); i++) {
		const struct d_probeinfo *p = &probes[i];

		if (d->id ? d->id == p->id
			  : fits(d->prov, p->prov) && fits(d->mod, p->mod) &&
					fits(d->func, p->func) && fits(d->name, p->name)) {
			cb(arg, p);
			n++;
		}
	}
	return n;
}

/* ---- a compiler without code generator ------------------------------------------------ */

struct world {
	struct et_options opts;
	struct d_comp c;
	struct d_clause *last; /* the last clause checked */
};

static inline void first_match(void *arg, const struct d_probeinfo *p)
{
	struct d_comp *c = arg;

	if (c->probe && (c->probe->nargs != p->nargs || c->probe->argtypes != p->argtypes))
		c->args_differ = true;
	if (!c->probe)
		c->probe = (struct d_probeinfo *)p;
}

static inline int check_clause(struct world *w, struct d_clause *cl)
{
	struct d_comp *c = &w->c;
	int rc;

	c->probe = NULL;
	c->args_differ = false;
	for (struct d_pdesc *d = cl->descs; d; d = d->next)
		c->reg.match(NULL, d, first_match, c, NULL);
	rc = d_check_clause(c, cl);
	w->last = cl;
	c->probe = NULL;
	c->clause = NULL;
	return rc;
}

static inline int check_text(struct world *w, const char *text)
{
	struct d_comp *c = &w->c;
	struct d_item item;
	int rc = 0;

	c->lex = NULL;
	c->file = "";
	c->source = text;
	c->source_len = strlen(text);
	for (;;) {
		rc = d_parse_item(c, &item);
		if (rc || item.kind == IT_END)
			return rc;
		switch (item.kind) {
		case IT_CLAUSE: rc = check_clause(w, item.clause); break;
		case IT_VAR: rc = d_check_var(c, &item); break;
		case IT_INLINE: rc = d_check_inline(c, &item); break;
		case IT_XLATOR: rc = d_check_xlator(c, &item); break;
		case IT_PROVIDER: rc = d_check_provider(c, &item); break;
		default: break;
		}
		if (rc)
			return rc;
	}
}

static inline void open_world(struct world *w)
{
	struct d_comp *c = &w->c;

	memset(w, 0, sizeof(*w));
	et_options_init(&w->opts);
	c->arena = arena_new();
	c->opts = &w->opts;
	c->file = "";
	c->reg.match = match;
	c->globals = d_idtab_new(c);
	c->selfs = d_idtab_new(c);
	c->thises = d_idtab_new(c);
	c->aggs = d_idtab_new(c);
	if (d_types_init(c) || d_builtins_init(c)) {
		printf("cannot begin: %s %s\n", c->error.tag, c->error.text);
		exit(1);
	}
}

static inline void close_world(struct world *w)
{
	arena_free(w->c.arena);
	et_options_free(&w->opts);
}

/* ---- scripts -------------------------------------------------------------------------- */

static const char prelude[] =
	"struct in { int i; char c[8]; struct in *next; int f : 3; unsigned g : 5; double d;\n"
	"  int (*fn)(int); int a[4]; union { int u1; long u2; }; };\n"
	"struct other { int o; }; struct later;\n"
	"struct native { int n; char *name; };\n"
	"struct seen { int s; string text; int none; char chars[8]; };\n"
	"translator struct seen < struct native *N > { s = N->n + 1; text = stringof(N->name); };\n"
	"enum color { RED, GREEN = 5 };\n"
	"int gi; long gl; string gs; struct in gst; struct in *gp; int garr[10]; void *gv;\n"
	"unsigned int gu; self int si; this int ti; int gas[int, string]; double gd; char gc;\n"
	"struct later *glater; unsigned char gb; _Bool gbool; struct other got; char gtext[16];\n";

#define B(body) "BEGIN { " body " }"
#define P(body) "t:::p { " body " }"

/* A script behind that: the tag of its error, or NULL. */
static inline const char *run_row(struct world *w, const char *text)
{
	open_world(w);
	if (check_text(w, prelude))
		return w->c.error.tag;
	return check_text(w, text) ? w->c.error.tag : NULL;
}

#endif
