/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider fbt: entry and return of the kernel's functions, fbt:MODULE:FUNCTION:entry. The
 * module of the kernel itself is vmlinux. Probes are created when a description asks for them.
 *
 * arg0 to arg9 of an entry are the function's arguments, and args[] the same with their types, from
 * the kernel's BTF. At a return arg0 is 0 (it would be where in the function), arg1 what it gives,
 * args[1] the same with its type.
 */
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "btf/btf.h"
#include "engine/engine.h"
#include "engine/probe.h"
#include "engine/provider.h"
#include "engine/state.h"
#include "traceable.h"
#include "kernel/kernel.h"
#include "kernel/missed.h"
#include "kfunc.h"

enum { MAX_ARGS = 10, WORD = 8 };

extern const struct provider fbt_provider;

struct fbt {
	const struct k_functions *functions; /* NULL: not asked for yet */
	struct btf *btf;
};

/* ---- types ------------------------------------------------------------------------------ */

static char *text_of(struct btf_at type)
{
	char buf[256];

	return strdup(btf_text(type, buf, sizeof(buf)));
}

/* A structure that is no pointer to one takes words of its own, or none: not to be counted. */
static bool is_word(struct btf_at type)
{
	struct btf_view v;

	return btf_view(btf_plain(type), &v) && v.kind != BTF_KIND_STRUCT &&
	       v.kind != BTF_KIND_UNION && v.kind != BTF_KIND_FLOAT && btf_size(type) <= WORD;
}

static bool find_prototype(const struct fbt *fbt, const struct k_function *f, struct btf_at *proto)
{
	struct btf_view v;
	struct btf_at at;

	if (!k_function_type(fbt->btf, f, &at) || !btf_view(at, &v))
		return false;
	*proto = v.ref;
	return true;
}

/* Of an entry, those of the parameters. */
static int entry_types(struct btf_at proto, char **types)
{
	struct btf_item param;
	int n = 0;

	while (n < MAX_ARGS && btf_item(proto, (unsigned)n, &param) && is_word(param.type) &&
		(types[n] = text_of(param.type)) != NULL)
		n++;
	return n;
}

static int return_types(struct btf_at proto, char **types)
{
	struct btf_view v;

	if (!btf_view(proto, &v) || v.ref.id == 0 || !is_word(v.ref))
		return 0;
	types[0] = strdup("uint64_t");
	types[1] = text_of(v.ref);
	return types[0] != NULL && types[1] != NULL ? 2 : 0;
}

/* Without a prototype the words are there all the same. */
static void set_types(
	const struct fbt *fbt, const struct k_function *f, bool returns, struct en_probe *p)
{
	char **types = calloc(MAX_ARGS, sizeof(*types));
	struct btf_at proto;

	if (types == NULL || !find_prototype(fbt, f, &proto)) {
		free(types);
		return;
	}
	p->nargs = returns ? return_types(proto, types) : entry_types(proto, types);
	p->argtypes = (const char *const *)types;
	p->own_types = true;
}

/* ---- making probes ---------------------------------------------------------------------- */

static int add(struct en *en, struct fbt *fbt, const struct k_function *f, bool returns,
	struct et_error *e)
{
	struct en_probe *p = en_probe_add(en, &fbt_provider, (void *)(uintptr_t)f, "fbt", f->mod,
		f->name, returns ? "return" : "entry");

	if (p == NULL)
		return et_err(e, ET_NOMEM, "out of memory for functions of the kernel");
	p->func_alias = f->alias;
	if (p->argtypes == NULL)
		set_types(fbt, f, returns, p);
	return 0;
}

/* A description that names it, or means several by a glob that is not just any. */
static bool is_meant(const struct d_pdesc *d)
{
	return d->prov != NULL && d->prov[strspn(d->prov, "*?")] != '\0' && en_glob(d->prov, "fbt");
}

static bool is_glob(const char *text)
{
	return text == NULL || text[strcspn(text, "*?[\\")] != '\0' || *text == '\0';
}

static int open_lists(struct fbt *fbt, struct et_error *e)
{
	if (fbt->functions == NULL && (fbt->functions = k_functions_get(e)) == NULL)
		return -1;
	if (fbt->btf == NULL)
		fbt->btf = btf_open(NULL);
	return 0;
}

static int add_both(struct en *en, struct fbt *fbt, const struct k_function *f,
	const struct d_pdesc *d, struct et_error *e)
{
	if (f->hidden || !en_glob(d->mod, f->mod) ||
		(!en_glob(d->func, f->name) && (f->alias == NULL || !en_glob(d->func, f->alias))))
		return 0;
	if (en_glob(d->name, "entry") && add(en, fbt, f, false, e) < 0)
		return -1;
	return en_glob(d->name, "return") ? add(en, fbt, f, true, e) : 0;
}

static int provide(struct en *en, void *data, const struct d_pdesc *d, struct et_error *e)
{
	struct fbt *fbt = data;
	const struct k_functions *fs;

	if (!is_meant(d) || k_kfunc_missing() != NULL)
		return 0;
	if (open_lists(fbt, e) < 0)
		return -1;
	fs = fbt->functions;
	for (size_t i = 0; i < fs->n; i++)
		if (add_both(en, fbt, &fs->all[i], d, e) < 0)
			return -1;
	return 0;
}

static const char *why_none(const struct d_pdesc *d)
{
	const char *why;

	if (!is_meant(d))
		return NULL;
	why = k_kfunc_missing();
	if (why != NULL)
		return why;
	if (!is_glob(d->name) && strcmp(d->name, "entry") != 0 && strcmp(d->name, "return") != 0)
		return "functions of the kernel have entry and return";
	if (is_glob(d->func))
		return "no function of the kernel that can be traced is called so";
	return "the kernel has no function of this name, or none that can be traced: some are "
	       "compiled into their callers, some must not be (notrace)";
}

static const char *kind(unsigned i)
{
	static const char *const kinds[] = {"entry", "return"};

	return i < sizeof(kinds) / sizeof(*kinds) ? kinds[i] : NULL;
}

/* ---- life cycle --------------------------------------------------------------------------- */

static int init(struct en *en, void **data, struct et_error *e)
{
	(void)en;
	*data = calloc(1, sizeof(struct fbt));
	return *data != NULL ? 0 : et_err(e, ET_NOMEM, "out of memory");
}

static int enable(struct en *en, void *data, struct en_probe *p, struct et_error *e)
{
	const struct fbt *fbt = data;

	return k_kfunc_add(
		en, fbt->functions, p->pvdata, strcmp(p->name->text, "return") == 0, p, e);
}

static void fini(struct en *en, void *data)
{
	struct fbt *fbt = data;

	k_close(en);
	if (fbt == NULL)
		return;
	k_functions_put(fbt->functions);
	btf_close(fbt->btf);
	free(fbt);
}

const struct provider fbt_provider = {
	.name = "fbt",
	.of_kernel = true,
	.init = init,
	.provide = provide,
	.why_none = why_none,
	.kind = kind,
	.enable = enable,
	.ready = k_kfunc_load,
	.look = k_look_missed,
	.news = k_kfunc_news,
	.start = k_kfunc_attach,
	.stop = k_stop,
	.fini = fini,
	.arena = k_arena,
};
