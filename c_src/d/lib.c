/* SPDX-License-Identifier: Apache-2.0 */
/*
 * D libraries: declarations available to all scripts. Those of lib/ are built in (syslibdir
 * replaces them by a directory), then come the directories of -L. A file is read after the
 * libraries that it depends on (#pragma D depends_on library x.d), and is skipped if a provider or
 * module that it depends on has no probes. A library replaces one of the same name in an earlier
 * directory.
 */
#include "d/check/check.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#include "file.h"

static const struct {
	const char *name, *text;
} builtin_libs[] = {
#include "d_libs.inc"
	{NULL, NULL},
};

struct lib {
	const char *name, *path; /* path: for messages */
	const char *text;
	size_t len;
	enum { LIB_NEW, LIB_OPEN, LIB_DONE } state;
	struct lib *next;
};

struct libs {
	struct d_comp *c;
	struct lib *first;
};

/* ---- finding ------------------------------------------------------------------------------------
 */

static struct lib *find_lib(const struct libs *l, const char *name)
{
	for (struct lib *b = l->first; b; b = b->next)
		if (!strcmp(b->name, name))
			return b;
	return NULL;
}

static int add_lib(struct libs *l, const char *name, const char *path, const char *text, size_t len)
{
	struct lib *b = find_lib(l, name), **tail = &l->first;

	if (!b) {
		b = arena_new_of(l->c->arena, struct lib);
		if (!b)
			return d_nomem(l->c);
		while (*tail)
			tail = &(*tail)->next;
		*tail = b;
	}
	b->name = name;
	b->path = path;
	b->text = text;
	b->len = len;
	return 0;
}

static int cannot_read(struct d_comp *c, const char *path)
{
	if (errno == EFBIG)
		return et_err(&c->error, ET_LIBDIR, "D library %s is too large", path);
	return et_err(
		&c->error, ET_LIBDIR, "cannot read D library %s: %s", path, strerror(errno));
}

/* The file's text in the arena, NUL-terminated. */
static int read_text(struct d_comp *c, const char *path, const char **text, size_t *len)
{
	char *all = file_read(path, D_MAX_SOURCE, len);

	if (all == NULL)
		return cannot_read(c, path);
	*text = arena_strdup(c->arena, all, *len);
	free(all);
	return *text != NULL ? 0 : d_nomem(c);
}

static int is_d_file(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return n > 2 && e->d_name[0] != '.' && !strcmp(e->d_name + n - 2, ".d");
}

static int add_file(struct libs *l, const char *dir, const char *name)
{
	const char *path = arena_printf(l->c->arena, "%s/%s", dir, name), *text = "";
	size_t len = 0;

	name = arena_strdup(l->c->arena, name, strlen(name));
	if (!path || !name)
		return d_nomem(l->c);
	if (read_text(l->c, path, &text, &len))
		return -1;
	return add_lib(l, name, path, text, len);
}

static int add_folder(struct libs *l, const char *dir)
{
	struct dirent **names;
	int n = scandir(dir, &names, is_d_file, alphasort), rc = 0;

	if (n < 0)
		return cannot_read(l->c, dir);
	for (int i = 0; i < n; i++) {
		if (!rc)
			rc = add_file(l, dir, names[i]->d_name);
		free(names[i]);
	}
	free(names);
	return rc;
}

static int find_libs(struct libs *l)
{
	const struct et_options *o = l->c->opts;

	if (o->val[OPT_SYSLIBDIR]) {
		if (add_folder(l, o->str[OPT_SYSLIBDIR][o->val[OPT_SYSLIBDIR] - 1]))
			return -1;
	} else {
		for (size_t i = 0; builtin_libs[i].name; i++)
			if (add_lib(l, builtin_libs[i].name, builtin_libs[i].name,
				    builtin_libs[i].text, strlen(builtin_libs[i].text)))
				return -1;
	}
	for (uint64_t i = 0; i < o->val[OPT_LIBDIR]; i++)
		if (add_folder(l, o->str[OPT_LIBDIR][i]))
			return -1;
	return 0;
}

/* ---- loading -------------------------------------------------------------------------------- */

static void ignore(void *arg, const struct d_probeinfo *p)
{
	(void)arg;
	(void)p;
}

/* Does a provider or module have probes? */
static bool has_probes(struct d_comp *c, const struct d_depend *d)
{
	struct d_pdesc desc = {.prov = "", .mod = "", .func = "", .name = ""};
	struct et_error e = {.tag = ""};

	if (d->kind == D_DEP_PROVIDER)
		desc.prov = d->name;
	else
		desc.mod = d->name;
	return c->reg.match && c->reg.match(c->reg.data, &desc, ignore, NULL, &e) > 0;
}

static int load(struct libs *l, struct lib *b);

static int load_library(struct libs *l, const struct lib *b, const char *name)
{
	struct lib *d = find_lib(l, name);

	if (d && d->state != LIB_OPEN)
		return load(l, d);
	if (d)
		return et_err(&l->c->error, D_PRAGMA_DEPEND,
			"D libraries %s and %s depend on each other", b->path, d->path);
	return et_err(&l->c->error, D_PRAGMA_DEPEND,
		"D library %s depends on %s, which does not exist", b->path, name);
}

/* 1: all its dependencies exist; 0: it is not for this system. */
static int load_dependencies(struct libs *l, const struct lib *b)
{
	struct d_depend *d;

	if (d_depends(l->c, b->text, b->len, &d))
		return -1;
	for (; d; d = d->next) {
		if (d->kind != D_DEP_LIBRARY) {
			if (!has_probes(l->c, d))
				return 0;
		} else if (load_library(l, b, d->name)) {
			return -1;
		}
	}
	return 1;
}

static int load(struct libs *l, struct lib *b)
{
	struct d_comp *c = l->c;
	int rc;

	if (b->state == LIB_DONE)
		return 0;
	b->state = LIB_OPEN;
	rc = load_dependencies(l, b);
	b->state = LIB_DONE;
	if (rc <= 0)
		return rc;
	c->file = b->path;
	c->source = b->text;
	c->source_len = b->len;
	return d_compile_source(c, D_C_EMPTY);
}

/* Scripts may depend on it from now on. */
static int remember(struct d_comp *c, const struct lib *b)
{
	struct d_depend *d = arena_new_of(c->arena, struct d_depend);

	if (!d)
		return d_nomem(c);
	d->kind = D_DEP_LIBRARY;
	d->name = b->name;
	d->next = c->libs;
	c->libs = d;
	return 0;
}

int d_libs_load(struct d_comp *c)
{
	struct libs l = {.c = c};
	bool was = c->in_library;
	int rc;

	if (c->opts->val[OPT_NOLIBS])
		return 0;
	c->in_library = true;
	c->libs = NULL;
	rc = find_libs(&l);
	for (struct lib *b = l.first; b && !rc; b = b->next)
		rc = load(&l, b);
	for (struct lib *b = l.first; b && !rc; b = b->next)
		rc = remember(c, b);
	c->in_library = was;
	c->lex = NULL;
	return rc;
}
