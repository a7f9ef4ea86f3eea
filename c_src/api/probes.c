/* SPDX-License-Identifier: Apache-2.0 */
/* Listing probes, and probes that a program fires itself. */
#include "handle.h"
#include "engine/probe.h"
#include "engine/provider.h"

#include <stdlib.h>
#include <string.h>

/* ---- listing --------------------------------------------------------------------------- */

struct listing {
	erltrace_probe_cb *cb;
	void *arg;
	int rc;
};

static void on_probe(void *arg, struct en_probe *p)
{
	struct listing *l = arg;
	erltrace_probe_info_t info = {
		.id = p->id,
		.provider = p->prov->text,
		.module = p->mod->text,
		.function = p->func->text,
		.name = p->name->text,
		.nargs = p->nargs,
		.argtypes = p->argtypes,
		.absent = p->absent,
		.note = p->note,
	};

	if (l->rc == 0 && l->cb != NULL)
		l->rc = l->cb(l->arg, &info);
}

int erltrace_probes(
	erltrace_t *h, const char *desc, erltrace_probe_cb *cb, void *arg, erltrace_error_t *err)
{
	static const struct d_pdesc all = {
		.prov = "", .mod = "", .func = "", .name = "", .listing = true};
	struct listing l = {.cb = cb, .arg = arg};
	struct et_error e = {.tag = ""};
	struct d_pdesc *d = NULL;
	char why[512];
	int n;

	if (desc != NULL && desc[0] != '\0') {
		et_err_clear(&h->comp->error);
		if (d_parse_pdesc(h->comp, desc, &d) < 0)
			return api_error(err, &h->comp->error);
		d->listing = true;
	}
	n = en_probe_match(h->en, d != NULL ? d : &all, on_probe, &l, &e);
	if (n == 0 && d != NULL) {
		en_why_none(h->en, d, why, sizeof(why));
		if (why[0] != '\0')
			api_fail(err, D_PDESC_ZERO, "%s", why);
		else
			api_fail(err, D_PDESC_ZERO, "no probe matches the description%s",
				d_suggest_probe(h->comp, d));
	}
	return n < 0 ? api_error(err, &e) : n;
}

int erltrace_script_probes(erltrace_t *h, erltrace_probe_cb *cb, void *arg, erltrace_error_t *err)
{
	const struct prog *prog = &h->comp->prog;
	struct listing l = {.cb = cb, .arg = arg};
	struct et_error e = {.tag = ""};
	int n, total = 0;

	for (unsigned i = h->first_clause; i < prog->nclauses; i++)
		for (const struct d_pdesc *d = prog->clauses[i]->descs; d != NULL; d = d->next) {
			n = en_probe_match(h->en, d, on_probe, &l, &e);
			if (n < 0)
				return api_error(err, &e);
			total += n;
		}
	return total;
}

/* ---- the program's own probes ---------------------------------------------------------- */

static const struct provider program_provider = {.name = "program"};

static void free_types(int n, const char **types)
{
	for (int i = 0; types != NULL && i < n; i++)
		free((char *)types[i]);
	free(types);
}

static const char **copy_types(int n, const char *const *types)
{
	const char **copy = calloc(n > 0 ? n : 1, sizeof(*copy));

	for (int i = 0; copy != NULL && i < n; i++) {
		copy[i] = strdup(types[i]);
		if (copy[i] != NULL)
			continue;
		free_types(i, copy);
		return NULL;
	}
	return copy;
}

erltrace_probe_t *erltrace_probe_add(erltrace_t *h, const char *provider, const char *module,
	const char *function, const char *name, int nargs, const char *const *argtypes,
	erltrace_error_t *err)
{
	const char **types = NULL;
	struct en_probe *p;

	if (nargs > 10) {
		api_fail(err, ET_PROBE, "a probe has at most 10 arguments, not %d", nargs);
		return NULL;
	}
	if (argtypes != NULL)
		types = copy_types(nargs, argtypes);
	p = argtypes == NULL || types != NULL
		    ? en_probe_add(h->en, &program_provider, NULL, provider, module, function, name)
		    : NULL;
	if (p == NULL) {
		free_types(nargs, types);
		api_fail(err, ET_NOMEM, "out of memory");
		return NULL;
	}
	if (types != NULL && p->argtypes == NULL) {
		p->argtypes = types;
		p->nargs = nargs;
		p->own_types = true;
	} else {
		free_types(nargs, types); /* it was there already, with types */
	}
	return (erltrace_probe_t *)p;
}

erltrace_string_t *erltrace_string_new(const char *text)
{
	return (erltrace_string_t *)et_str_new(text, strlen(text));
}

void erltrace_string_free(erltrace_string_t *s)
{
	et_str_free((struct et_str *)s);
}

uint64_t erltrace_string_arg(const erltrace_string_t *s)
{
	return (uint64_t)(uintptr_t)((const struct et_str *)s)->text;
}

int erltrace_enabled(const erltrace_probe_t *p)
{
	return en_enabled((struct en_probe *)p);
}

unsigned erltrace_wanted(const erltrace_probe_t *p)
{
	return ((const struct en_probe *)p)->argmask;
}

void erltrace_fire(erltrace_probe_t *probe, const uint64_t *args, unsigned n, unsigned strings,
	uint64_t self_key)
{
	struct en_probe *p = (struct en_probe *)probe;
	struct en_current cur = {.key = self_key};
	uint64_t all[10];

	if (!en_enabled(p))
		return;
	if (n < 10) { /* the engine reads what scripts want, given or not */
		for (unsigned i = 0; i < 10; i++)
			all[i] = i < n ? args[i] : 0;
		args = all;
	}
	en_fire(p, args, strings, self_key != 0 ? &cur : NULL);
}
