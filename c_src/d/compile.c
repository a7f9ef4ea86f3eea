/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver: takes one script through lexer, parser, checker and code generator, item by item, so
 * that a declaration is known in what follows it. A script that fails leaves nothing behind.
 */
#include "d/check/check.h"
#include "d.h"

#include <stdlib.h>
#include <string.h>

struct d_comp *d_comp_new(struct et_options *opts, const struct d_registry *reg, struct et_error *e)
{
	struct d_comp *c = calloc(1, sizeof(*c));

	if (c == NULL || (c->arena = arena_new()) == NULL) {
		free(c);
		et_err(e, ET_NOMEM, "out of memory");
		return NULL;
	}
	c->opts = opts;
	c->reg = *reg;
	c->file = "";
	c->globals = d_idtab_new(c);
	c->selfs = d_idtab_new(c);
	c->thises = d_idtab_new(c);
	c->aggs = d_idtab_new(c);
	if (c->globals == NULL || c->selfs == NULL || c->thises == NULL || c->aggs == NULL)
		d_nomem(c);
	if (c->error.tag[0] != '\0' || d_types_init(c) < 0 || d_builtins_init(c) < 0) {
		*e = c->error;
		d_comp_free(c);
		return NULL;
	}
	return c;
}

void d_comp_free(struct d_comp *c)
{
	if (c == NULL)
		return;
	free(c->prog.clauses);
	free(c->prog.vars);
	free(c->prog.aggs);
	free(c->prog.strs);
	free(c->prog.pats);
	d_kernel_close(c);
	arena_free(c->arena);
	free(c);
}

/* ---- undo ------------------------------------------------------------------------------ */

struct mark {
	size_t globals, selfs, thises, aggs, types;
	unsigned nclauses, nvars, naggs, nstrs, npats, nterms;
	uint32_t globals_size, scratch_size, this_end, rec_size, strsize;
	struct d_xlator *xlators;
	struct d_provdecl *provdecls;
	struct d_pattern *patterns;
	struct d_source *sources;
};

static struct mark mark(struct d_comp *c)
{
	const struct prog *p = &c->prog;

	return (struct mark){
		.globals = d_idtab_mark(c->globals),
		.selfs = d_idtab_mark(c->selfs),
		.thises = d_idtab_mark(c->thises),
		.aggs = d_idtab_mark(c->aggs),
		.types = d_types_mark(c),
		.nclauses = p->nclauses,
		.nvars = p->nvars,
		.naggs = p->naggs,
		.nstrs = p->nstrs,
		.npats = p->npats,
		.nterms = p->nterms,
		.globals_size = p->globals_size,
		.scratch_size = p->scratch_size,
		.this_end = p->this_end,
		.rec_size = p->rec_size,
		.strsize = p->strsize,
		.xlators = c->xlators,
		.provdecls = c->provdecls,
		.patterns = c->patterns,
		.sources = c->sources,
	};
}

/* An ident that was declared before but first used in the failed script has lost its variable. */
static void forget_index(void *arg, struct d_ident *id)
{
	const struct prog *p = arg;

	if ((id->kind == ID_SCALAR || id->kind == ID_ASSOC) && id->id != UINT16_MAX &&
		id->id >= p->nvars)
		id->id = UINT16_MAX;
	if (id->kind == ID_AGG && id->id != UINT16_MAX && id->id >= p->naggs)
		id->id = UINT16_MAX;
}

static void undo(struct d_comp *c, const struct mark *m)
{
	struct prog *p = &c->prog;

	d_idtab_undo(c->globals, m->globals);
	d_idtab_undo(c->selfs, m->selfs);
	d_idtab_undo(c->thises, m->thises);
	d_idtab_undo(c->aggs, m->aggs);
	d_types_undo(c, m->types);
	p->nclauses = m->nclauses;
	p->nvars = m->nvars;
	p->naggs = m->naggs;
	p->nstrs = m->nstrs;
	p->npats = m->npats;
	p->nterms = m->nterms;
	p->globals_size = m->globals_size;
	p->scratch_size = m->scratch_size;
	p->this_end = m->this_end;
	p->rec_size = m->rec_size;
	p->strsize = m->strsize;
	c->xlators = m->xlators;
	c->provdecls = m->provdecls;
	c->patterns = m->patterns;
	c->sources = m->sources;
	d_idtab_each(c->globals, forget_index, p);
	d_idtab_each(c->selfs, forget_index, p);
	d_idtab_each(c->thises, forget_index, p);
	d_idtab_each(c->aggs, forget_index, p);
}

/* ---- clauses --------------------------------------------------------------------------- */

struct matching {
	struct d_comp *c;
	struct d_probeinfo *first;
	bool differ;
	uint32_t pbis, shown, no_text; /* of the description */
	const char *widest; /* the function of Erlang with most arguments */
	int most_args;
	bool open; /* others may match later, or have no arity */
};

/* The arity behind a name of Erlang, f/2; -1: there is none. */
static int arity_of(const char *func)
{
	const char *slash = strrchr(func, '/');
	size_t n = slash != NULL ? strspn(slash + 1, "0123456789") : 0;

	return n > 0 && n <= 3 && slash[1 + n] == '\0' ? atoi(slash + 1) : -1;
}

static void note_arity(struct matching *m, const char *prov, const char *func)
{
	int arity = strncmp(prov, "erlang", 6) == 0 ? arity_of(func) : -1;

	if (arity < 0) {
		m->open = true;
	} else if (m->widest == NULL || arity > m->most_args) {
		m->widest = func;
		m->most_args = arity;
	}
}

/* Can it match functions of modules that are not loaded yet, or what is no function? */
static bool is_open(const struct d_pdesc *d)
{
	if (d->id != 0)
		return true;
	return arity_of(d->func) < 0 && (d->mod[0] == '\0' || strpbrk(d->mod, "*?[\\") != NULL);
}

static bool same_types(const struct d_probeinfo *a, const struct d_probeinfo *b)
{
	if (a->nargs != b->nargs)
		return false;
	if (a->argtypes == b->argtypes && a->xargtypes == b->xargtypes)
		return true;
	for (int i = 0; i < a->nargs; i++)
		if (a->argtypes != NULL && b->argtypes != NULL &&
			strcmp(a->argtypes[i], b->argtypes[i]) != 0)
			return false;
	return true;
}

static void on_match(void *arg, const struct d_probeinfo *p)
{
	struct matching *m = arg;

	m->pbis |= p->pbis;
	m->shown |= d_args_shown(p);
	m->no_text |= d_args_no_text(p);
	note_arity(m, p->prov, p->func);
	if (m->first == NULL) {
		m->first = arena_new_of(m->c->arena, struct d_probeinfo);
		if (m->first != NULL)
			*m->first = *p;
		else
			d_nomem(m->c);
	} else if (!m->differ && !same_types(m->first, p)) {
		m->differ = true;
	}
}

const char *d_desc_text(struct d_comp *c, const struct d_pdesc *d)
{
	if (d->id != 0)
		return arena_printf(c->arena, "%u", d->id);
	return arena_printf(c->arena, "%s:%s:%s:%s", d->prov, d->mod, d->func, d->name);
}

/* Is it module:function or erlang*:module:function, from somebody who forgot the probe's name? */
static bool lacks_name(const struct d_pdesc *d)
{
	return d->id == 0 && d->prov[0] == '\0' && d->func[0] != '\0' && d->name[0] != '\0' &&
	       strpbrk(d->name, "-*?[") == NULL && strcmp(d->name, "entry") != 0 &&
	       strcmp(d->name, "return") != 0 &&
	       (d->mod[0] == '\0' || strncmp(d->mod, "erlang", 6) == 0);
}

static int no_probe(struct d_comp *c, const struct d_pdesc *d)
{
	const char *near;
	char why[512] = "";

	if (c->reg.why != NULL)
		c->reg.why(c->reg.data, d, why, sizeof(why));
	if (why[0] != '\0')
		return d_error(c, D_PDESC_ZERO, d->line, d->col,
			"probe description %s does not match any probes: %s", d_desc_text(c, d),
			why);
	near = d_suggest_probe(c, d);
	if (near[0] == '\0' && lacks_name(d))
		near = arena_printf(c->arena,
			": the last field is the name of the probe; calls of a function are "
			"erlang*:%s:%s:function-entry",
			d->func, d->name);
	if (near[0] == '\0')
		c->no_probe = d_desc_text(c, d);
	return d_error(c, D_PDESC_ZERO, d->line, d->col,
		"probe description %s does not match any probes%s", d_desc_text(c, d),
		near[0] != '\0' ? near : ": -l lists all probes, -Z goes on without");
}

/* Match every description, so that the checker knows the probes' arguments. */
static int match_clause(struct d_comp *c, struct d_clause *cl, unsigned flags)
{
	struct matching m = {.c = c};

	for (struct d_pdesc *d = cl->descs; d != NULL; d = d->next) {
		struct et_error e = {.tag = ""};
		int n;

		m.pbis = m.shown = m.no_text = 0;
		n = c->reg.match(c->reg.data, d, on_match, &m, &e);

		if (c->error.tag[0] != '\0')
			return -1;
		if (n < 0)
			return d_error_from(c, &e, d->line, d->col);
		if (n == 0 && !(flags & D_C_ZDEFS) && !c->opts->val[OPT_ZDEFS])
			return no_probe(c, d);
		c->matches += n;
		m.open |= is_open(d);
		if (n == 0 && d->id == 0)
			note_arity(&m, d->prov, d->func);
		d->pbis = n > 0 ? m.pbis : UINT32_MAX;
		d->shown = m.shown;
		d->no_text = m.no_text;
		d_args_later(d, n);
		if (n == 0 && c->reg.has != NULL)
			d->pbis = c->reg.has(c->reg.data, d);
	}
	c->probe = m.first;
	c->args_differ = m.differ;
	c->widest = m.open ? NULL : m.widest;
	c->most_args = m.most_args;
	return 0;
}

static int compile_clause(struct d_comp *c, struct d_clause *cl, unsigned flags)
{
	int err;

	c->clause = cl;
	err = match_clause(c, cl, flags);
	if (err == 0)
		err = d_check_clause(c, cl);
	if (err == 0 && c->trace != NULL && !c->in_library)
		d_tree(cl, c->trace);
	if (err == 0)
		err = d_cg_clause(c, cl);
	c->clause = NULL;
	c->probe = NULL;
	c->widest = NULL;
	return err;
}

static int compile_item(struct d_comp *c, const struct d_item *item, unsigned flags)
{
	if (c->scan != NULL && !c->in_library)
		return d_scan_item(c, item);
	switch (item->kind) {
	case IT_CLAUSE: return compile_clause(c, item->clause, flags);
	case IT_VAR: return d_check_var(c, item);
	case IT_INLINE: return d_check_inline(c, item);
	case IT_XLATOR: return d_check_xlator(c, item);
	case IT_PROVIDER: return d_check_provider(c, item);
	default: return 0;
	}
}

/* ---- scripts --------------------------------------------------------------------------- */

/* Compile all items of c's source. */
int d_compile_source(struct d_comp *c, unsigned flags)
{
	struct d_item item;
	unsigned items = 0;

	c->lex = NULL; /* the parser starts over */
	for (;;) {
		if (d_parse_item(c, &item) < 0)
			return -1;
		if (item.kind == IT_END)
			break;
		items++;
		if (compile_item(c, &item, flags) < 0)
			return -1;
	}
	if (items == 0 && !c->in_library && !(flags & D_C_EMPTY) && !c->opts->val[OPT_EMPTY])
		return d_error(c, D_EMPTY, 1, 1,
			"empty script: there is no clause or declaration in it");
	return 0;
}

static int check_arguments_used(struct d_comp *c)
{
	if (c->opts->val[OPT_ARGREF])
		return 0;
	for (int i = 1; i < c->argc && i < D_MAX_MACROARGS; i++)
		if (!c->argused[i])
			return d_error(c, D_MACRO_UNUSED, 0, 0,
				"extraneous argument '%s' ($%d is not referenced)%s", c->argv[i], i,
				strchr("/{", c->argv[i][0]) != NULL && c->argv[i][0] != '\0'
					? ": probe, predicate and action are one argument, in "
					  "quotes: -n 'PROBE /PREDICATE/ { ACTIONS }'"
					: "");
	return 0;
}

/* -xctypes=file, -xdtypes=file: the last one given counts. */
static int write_types(struct d_comp *c)
{
	const struct et_options *o = c->opts;

	if (o->inside && (o->val[OPT_CTYPES] != 0 || o->val[OPT_DTYPES] != 0))
		return d_error(c, D_PRAGMA_OPTSET, 0, 0,
			"ctypes and dtypes write a file: a script cannot do that in a node");
	if (o->val[OPT_CTYPES] != 0 &&
		d_types_write(c, o->str[OPT_CTYPES][o->val[OPT_CTYPES] - 1], true) < 0)
		return -1;
	if (o->val[OPT_DTYPES] != 0)
		return d_types_write(c, o->str[OPT_DTYPES][o->val[OPT_DTYPES] - 1], false);
	return 0;
}

static int compile_text(struct d_comp *c, const char *text, size_t len, unsigned flags)
{
	char *cpp = NULL;

	if (len > D_MAX_SOURCE)
		return d_error(c, D_SYNTAX, 0, 0,
			"script of %zu bytes is too large: %u bytes are the limit", len,
			D_MAX_SOURCE);
	if (c->scan == NULL && !(flags & D_C_NOCPP) &&
		((flags & D_C_CPP) || (c->opts->val[OPT_CPP] && c->file[0] != '\0'))) {
		if (c->opts->inside)
			return d_error(c, D_PRAGMA_OPTSET, 0, 0,
				"cpp runs a program: a script cannot do that in a node; the "
				"command can (-C)");
		if (d_cpp(c, c->file, text, len, &cpp, &len) < 0)
			return -1;
		text = cpp;
	}
	/* errors, -S and names point into it for the lifetime of the handle */
	c->source = arena_strdup(c->arena, text, len);
	c->source_len = len;
	c->no_record = c->no_probe = NULL;
	free(cpp);
	if (c->source == NULL)
		return d_error(c, ET_NOMEM, 0, 0, "out of memory");
	if (d_compile_source(c, flags) < 0)
		return -1;
	if (c->scan != NULL)
		return 0;
	if (check_arguments_used(c) < 0 || write_types(c) < 0)
		return -1;
	return d_metrics(c);
}

/* Strings of the script point to them for the lifetime of the handle; the caller's may be freed. */
static int keep_arguments(struct d_comp *c, int argc, const char *const *argv)
{
	const char **copy = arena_alloc(c->arena, ((size_t)argc + 1) * sizeof(*copy));

	for (int i = 0; copy != NULL && i < argc; i++)
		if ((copy[i] = arena_strdup(c->arena, argv[i], strlen(argv[i]))) == NULL)
			copy = NULL;
	if (copy == NULL)
		return d_nomem(c);
	c->argc = argc;
	c->argv = copy;
	return 0;
}

static int load_libs_once(struct d_comp *c)
{
	if (c->libs_loaded)
		return 0;
	c->libs_loaded = true;
	if (d_libs_load(c) == 0)
		return 0;
	c->libs_loaded = false;
	return -1;
}

static int compile(struct d_comp *c, const char *text, size_t len, const char *file, int argc,
	const char *const *argv, unsigned flags, unsigned *first_clause, struct et_error *e)
{
	struct mark m = mark(c);
	int err;

	et_err_clear(&c->error);
	err = load_libs_once(c);
	if (err == 0) {
		m = mark(c);
		err = keep_arguments(c, argc, argv);
		memset(c->argused, 0, sizeof(c->argused));
		c->file = arena_strdup(c->arena, file, strlen(file));
		c->probe_ok = (flags & D_C_PSPEC) || c->opts->val[OPT_PSPEC];
		c->colons = flags / D_C_COLONS & 3;
		c->matches = 0;
		c->attr = et_attr_default;
		c->chk_copies = 0;
		c->in_library = false;
		if (err == 0)
			err = compile_text(c, text, len, flags);
	}
	*first_clause = m.nclauses;
	if (err < 0) {
		undo(c, &m);
		*e = c->error;
		return -1;
	}
	c->prog.nprograms++;
	return 0;
}

/* Allocation can fail anywhere in the compiler: the arena's trap then jumps here. */
int d_compile(struct d_comp *c, const char *text, size_t len, const char *file, int argc,
	const char *const *argv, unsigned flags, unsigned *first_clause, struct et_error *e)
{
	const struct mark m = mark(c);
	const bool had_libs = c->libs_loaded;
	jmp_buf trap;
	int rc;

	if (setjmp(trap) != 0) {
		arena_trap(c->arena, NULL);
		ebpf_asm_free(c->assembler);
		c->assembler = NULL;
		c->libs_loaded = had_libs;
		undo(c, &m);
		*first_clause = m.nclauses;
		return et_err(e, ET_NOMEM, "out of memory");
	}
	arena_trap(c->arena, &trap);
	rc = compile(c, text, len, file, argc, argv, flags, first_clause, e);
	arena_trap(c->arena, NULL);
	return rc;
}
