/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control lines: #pragma D option, attributes, binding, depends_on and metric (metric.c); #line and
 * "# N file" of the preprocessor; #ident and #error. Other pragmas are ignored, other control lines
 * are errors.
 *
 */
#include "lex.h"

#include <string.h>

/* ---- words ---------------------------------------------------------------------------- */

#define MAX_WORDS 8

struct words {
	int n; /* MAX_WORDS + 1: too many */
	const char *w[MAX_WORDS];
	bool quoted[MAX_WORDS];
};

static bool is_space(char ch)
{
	return ch == ' ' || (ch >= '\t' && ch <= '\r');
}

/* Split text into words; one in double quotes is unquoted. */
static int split(struct d_comp *c, const char *text, struct words *out)
{
	memset(out, 0, sizeof(*out));
	for (;;) {
		const char *p;

		while (is_space(*text))
			text++;
		if (*text == '\0')
			return 0;
		if (out->n == MAX_WORDS) {
			out->n++;
			return 0;
		}
		out->quoted[out->n] = *text == '"';
		if (*text == '"') {
			for (p = ++text; *p != '\0' && *p != '"'; p++)
				;
		} else {
			for (p = text; *p != '\0' && !is_space(*p); p++)
				;
		}
		out->w[out->n] = arena_strdup(c->arena, text, (size_t)(p - text));
		if (out->w[out->n++] == NULL)
			return d_nomem(c);
		text = *p == '"' ? p + 1 : p;
	}
}

static int malformed(struct d_comp *c, int line, const char *form)
{
	return d_error(
		c, D_PRAGMA_MALFORM, line, 0, "malformed control line: expected #%s", form);
}

/* ---- option --------------------------------------------------------------------------- */

/* A value that is $$1 or the like is that argument of the script. NULL: an error. */
static const char *argument_of(struct d_comp *c, const char *value, int line)
{
	size_t len = strlen(value), used;
	const char *text;
	bool missing;

	if (len < 3 || value[0] != '$' || value[1] != '$')
		return value;
	text = d_macro_text(c, value + 2, value + len, &used, &missing, line, 0);
	if (text != NULL && used != len - 2) {
		d_error(c, D_PRAGMA_MALFORM, line, 0,
			"the value of an option is $$1 or text, not both");
		return NULL;
	}
	return text;
}

static int p_option(struct d_comp *c, const struct words *w, int line)
{
	struct et_error e = {0};
	const char *eq, *value = NULL;
	char *name;

	if (w->n != 3 || w->quoted[2])
		return malformed(c, line, "pragma D option name or name=value");
	eq = strchr(w->w[2], '=');
	if (eq != NULL)
		value = eq + 1;
	name = arena_strdup(
		c->arena, w->w[2], eq != NULL ? (size_t)(eq - w->w[2]) : strlen(w->w[2]));
	if (name == NULL)
		return d_nomem(c);
	if (value != NULL && value[0] == '"' && strlen(value) > 1 &&
		value[strlen(value) - 1] == '"')
		value = arena_strdup(c->arena, value + 1, strlen(value) - 2);
	if (value != NULL && (value = argument_of(c, value, line)) == NULL)
		return -1;
	if (c->opts != NULL && et_setopt_script(c->opts, name, value, &e) != 0)
		return d_error(c, D_PRAGMA_OPTSET, line, 0, "%s", e.text);
	if (c->opts != NULL && c->scan != NULL)
		d_scan_option(c, name, line);
	if (c->opts != NULL && strcmp(name, "strsize") == 0)
		((struct d_type *)c->t.string)->size = d_str_bytes(c->opts);
	return 0;
}

/* ---- attributes, binding -------------------------------------------------------------- */

static bool is_one_of(const char *s, size_t len, const char *const *list)
{
	for (; *list != NULL; list++)
		if (strlen(*list) == len && strncmp(*list, s, len) == 0)
			return true;
	return false;
}

/* Name/Data/Class */
static bool is_attributes(const char *s)
{
	static const char *const stab[] = {"Internal", "Private", "Obsolete", "External",
		"Unstable", "Evolving", "Stable", "Standard", NULL};
	static const char *const cls[] = {
		"Unknown", "CPU", "Platform", "Group", "ISA", "Common", NULL};
	const char *a = strchr(s, '/'), *b = a != NULL ? strchr(a + 1, '/') : NULL;

	return b != NULL && is_one_of(s, (size_t)(a - s), stab) &&
	       is_one_of(a + 1, (size_t)(b - a - 1), stab) && is_one_of(b + 1, strlen(b + 1), cls);
}

/* Attributes can only be given to what this text declares, before or after the pragma. */
static int about_name(struct d_comp *c, const char *what, const char *name, int line)
{
	const struct d_ident *id = c->globals != NULL ? d_ident_find(c->globals, name) : NULL;
	struct d_latename *l;

	if (id != NULL) {
		bool ours = id->builtin == NULL &&
			    (id->file == NULL || strcmp(id->file, c->lex->file) == 0 ||
				    (c->file != NULL && strcmp(id->file, c->file) == 0));

		if (ours)
			return 0;
		return d_error(c, D_PRAGMA_SCOPE, line, 0,
			"#pragma D %s: %s is not declared by this program", what, name);
	}
	l = arena_new_of(c->arena, struct d_latename);
	if (l == NULL)
		return d_nomem(c);
	l->name = name;
	l->what = what;
	l->line = line;
	l->next = c->lex->late;
	c->lex->late = l;
	return 0;
}

static int p_attributes(struct d_comp *c, const struct words *w, int line)
{
	static const char *const parts[] = {"provider", "module", "function", "name", "args", NULL};
	struct d_ident *id;

	if (w->n < 4 || !is_attributes(w->w[2]))
		return malformed(c, line,
			"pragma D attributes Name/Data/Class and an identifier, or provider P "
			"part");
	if (w->n == 6 && strcmp(w->w[3], "provider") == 0) {
		if (is_one_of(w->w[5], strlen(w->w[5]), parts))
			return 0;
		return malformed(c, line,
			"pragma D attributes N/D/C provider P provider|module|function|name|args");
	}
	if (w->n != 4 || !d_lex_isname(w->w[3]))
		return malformed(c, line,
			"pragma D attributes Name/Data/Class and an identifier, or provider P "
			"part");
	if (about_name(c, "attributes", w->w[3], line) != 0)
		return -1;
	id = c->globals != NULL ? d_ident_find(c->globals, w->w[3]) : NULL;
	if (id != NULL)
		et_attr_parse(w->w[2], &id->attr);
	return 0;
}

static bool is_version(const char *s)
{
	int dots = 0;

	for (; *s != '\0'; s++) {
		if (*s == '.' && s[1] >= '0' && s[1] <= '9')
			dots++;
		else if (*s < '0' || *s > '9')
			return false;
	}
	return dots == 1 || dots == 2;
}

static int p_binding(struct d_comp *c, const struct words *w, int line)
{
	if (w->n != 4 || !w->quoted[2] || !is_version(w->w[2]) || !d_lex_isname(w->w[3]))
		return malformed(c, line, "pragma D binding \"1.0\" and an identifier");
	return about_name(c, "binding", w->w[3], line);
}

/* ---- depends_on ----------------------------------------------------------------------- */

static void count_one(void *arg, const struct d_probeinfo *p)
{
	(void)p;
	++*(unsigned *)arg;
}

static int depend_kind(const char *s)
{
	return strcmp(s, "provider") == 0  ? D_DEP_PROVIDER
	       : strcmp(s, "module") == 0  ? D_DEP_MODULE
	       : strcmp(s, "library") == 0 ? D_DEP_LIBRARY
					   : -1;
}

static int p_depends(struct d_comp *c, const struct words *w, int line)
{
	struct d_pdesc desc = {.mod = "", .func = "", .name = ""};
	const struct d_depend *l;
	struct et_error e = {0};
	unsigned n = 0;

	if (w->n != 4)
		return malformed(c, line, "pragma D depends_on provider|module|library and a name");
	switch (depend_kind(w->w[2])) {
	case D_DEP_PROVIDER:
		desc.prov = w->w[3];
		if (c->reg.match != NULL &&
			c->reg.match(c->reg.data, &desc, count_one, &n, &e) <= 0 && n == 0)
			return d_error(c, D_PRAGMA_DEPEND, line, 0,
				"the program depends on provider %s, which does not "
				"exist", w->w[3]);
		return 0;
	case D_DEP_MODULE:
		return 0; /* modules come and go; names in them are resolved when used */
	case D_DEP_LIBRARY:
		if (!c->in_library)
			return d_error(c, D_PRAGMA_DEPEND, line, 0,
				"a script cannot depend on library %s: all D libraries are read "
				"before it",
				w->w[3]);
		if (c->libs == NULL)
			return 0; /* being ordered now, or not read at all */
		for (l = c->libs; l != NULL; l = l->next)
			if (strcmp(l->name, w->w[3]) == 0)
				return 0;
		return d_error(c, D_PRAGMA_DEPEND, line, 0,
			"the program depends on library %s, which is not among the D libraries "
			"read",
			w->w[3]);
	default:
		return d_error(c, D_PRAGMA_INVAL, line, 0,
			"#pragma D depends_on %s: one can depend on a provider, a module or a "
			"library",
			w->w[2]);
	}
}

int d_depends(struct d_comp *c, const char *text, size_t len, struct d_depend **out)
{
	const char *p = text, *end = text + len, *nl;

	*out = NULL;
	for (; p < end; p = nl + 1) {
		struct d_depend *d;
		struct words w;
		char *s;

		nl = memchr(p, '\n', (size_t)(end - p));
		if (nl == NULL)
			nl = end;
		while (p < nl && is_space(*p))
			p++;
		if (p == nl || *p != '#')
			continue;
		s = arena_strdup(c->arena, p + 1, (size_t)(nl - p - 1));
		if (s == NULL || split(c, s, &w) != 0)
			return d_nomem(c);
		if (w.n != 5 || strcmp(w.w[0], "pragma") != 0 || strcmp(w.w[1], "D") != 0 ||
			strcmp(w.w[2], "depends_on") != 0 || depend_kind(w.w[3]) < 0)
			continue;
		d = arena_new_of(c->arena, struct d_depend);
		if (d == NULL)
			return d_nomem(c);
		d->kind = depend_kind(w.w[3]);
		d->name = w.w[4];
		*out = d;
		out = &d->next;
	}
	return 0;
}

/* ---- lines ---------------------------------------------------------------------------- */

/* #line 12 "file", # 12 "file" 1 3: w begins at the number. */
static int p_line(struct d_comp *c, const struct words *w, int first, int line)
{
	const char *file = c->lex->file;
	long n = 0;

	if (w->n <= first)
		return malformed(c, line, "line N \"file\"");
	for (const char *s = w->w[first]; *s != '\0'; s++) {
		if (*s < '0' || *s > '9' || n > 100000000)
			return malformed(c, line, "line N \"file\"");
		n = n * 10 + (*s - '0');
	}
	if (w->n > first + 1) {
		if (!w->quoted[first + 1])
			return malformed(c, line, "line N \"file\"");
		file = w->w[first + 1];
	}
	return d_lex_line(c, (int)n, file);
}

static int p_d(struct d_comp *c, const struct words *all, const char *text, int line)
{
	static const struct {
		const char *name;
		int (*run)(struct d_comp *, const struct words *, int);
	} list[] = {{"option", p_option}, {"attributes", p_attributes}, {"binding", p_binding},
		{"depends_on", p_depends}};
	struct words w = *all;

	if (w.n < 3)
		return malformed(
			c, line, "pragma D option, attributes, binding, depends_on or metric");
	if (strcmp(w.w[2], "metric") == 0)
		return d_metric_pragma(c, text, line);
	if (w.n > MAX_WORDS)
		return malformed(c, line, "pragma D with fewer words");
	/* Drop the word "pragma". */
	memmove(w.w, w.w + 1, (MAX_WORDS - 1) * sizeof(w.w[0]));
	memmove(w.quoted, w.quoted + 1, (MAX_WORDS - 1) * sizeof(w.quoted[0]));
	w.n--;
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (strcmp(w.w[1], list[i].name) == 0)
			return list[i].run(c, &w, line);
	return d_error(c, D_PRAGMA_INVAL, line, 0,
		"unknown #pragma D %.64s: there are option, attributes, binding, depends_on and "
		"metric",
		w.w[1]);
}

/* #line, #ident and #error, also after "pragma D": word i. Returns 1 if it is another one. */
static int directive(
	struct d_comp *c, const struct words *w, int i, const char *text, int line)
{
	if (strcmp(w->w[i], "line") == 0)
		return p_line(c, w, i + 1, line);
	if (strcmp(w->w[i], "ident") == 0)
		return 0;
	if (strcmp(w->w[i], "error") != 0)
		return 1;
	for (text = strstr(text, "error") + strlen("error"); is_space(*text); text++)
		;
	return d_error(c, D_PRAGERR, line, 0, "#error: %s", text);
}

int d_pragma(struct d_comp *c, const char *text, int line)
{
	struct words w;
	const char *k;
	int rc;

	if (split(c, text, &w) != 0)
		return -1;
	if (w.n == 0)
		return 0;
	k = w.w[0];
	if (*k >= '0' && *k <= '9')
		return p_line(c, &w, 0, line);
	rc = directive(c, &w, 0, text, line);
	if (rc <= 0)
		return rc;
	if (strcmp(k, "pragma") == 0) {
		if (w.n < 2 || strcmp(w.w[1], "D") != 0)
			return 0;
		rc = w.n > 2 ? directive(c, &w, 2, text, line) : 1;
		return rc <= 0 ? rc : p_d(c, &w, text, line);
	}
	return d_error(c, D_PRAGCTL_INVAL, line, 0, "invalid control line #%.64s%s", k,
		strcmp(k, "include") == 0 || strncmp(k, "def", 3) == 0 ||
				strncmp(k, "if", 2) == 0 || strcmp(k, "undef") == 0 ||
				strcmp(k, "endif") == 0
			? ": run with -C to preprocess the script"
			: "");
}
