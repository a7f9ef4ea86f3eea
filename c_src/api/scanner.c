/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scanning: a compiler of its own, with options of its own, reads the scripts, so that the handle
 * stays as it is. It knows of no probes; a provider that a script or library depends on is taken
 * to be there.
 */
#include "handle.h"
#include "engine/provider.h"

#include <stdlib.h>
#include <string.h>

struct api_scan {
	erltrace_scan_cb *cb;
	void *arg;
	struct et_options opts;
	struct d_comp *comp;
	struct d_scan scan;
};

static int any_probe(void *data, const struct d_pdesc *desc,
	void (*cb)(void *arg, const struct d_probeinfo *p), void *arg, struct et_error *e)
{
	(void)data, (void)desc, (void)cb, (void)arg, (void)e;
	return 1;
}

static struct api_scan *scan_new(const struct et_options *opts, struct et_error *e)
{
	const struct d_registry reg = {.match = any_probe};
	struct api_scan *s = calloc(1, sizeof(*s));

	if (s == NULL) {
		et_err(e, ET_NOMEM, "out of memory");
		return NULL;
	}
	if (et_options_copy(&s->opts, opts, e) == 0)
		s->comp = d_comp_new(&s->opts, &reg, e);
	if (s->comp == NULL) {
		api_scan_free(s);
		return NULL;
	}
	return s;
}

void api_scan_free(struct api_scan *s)
{
	if (s == NULL)
		return;
	d_comp_free(s->comp);
	et_options_free(&s->opts);
	free(s);
}

void api_scan_setopt(struct api_scan *s, const char *name, const char *value)
{
	struct et_error e = {.tag = ""};

	if (s != NULL)
		et_setopt(&s->opts, name, value, &e);
}

/* What the compiler found, and what the providers know of it. */
static void on_item(void *arg, const erltrace_scan_item_t *item)
{
	const struct api_scan *s = arg;
	erltrace_scan_item_t known = *item;

	if (item->kind == ERLTRACE_SCAN_PROBE)
		known.kernel = en_is_kernel(item->provider);
	s->cb(s->arg, &known);
}

int erltrace_scan(erltrace_t *h, const char *text, size_t len, const erltrace_compile_opts_t *opts,
	erltrace_scan_cb *cb, void *arg, erltrace_error_t *err)
{
	erltrace_compile_opts_t o = {.size = sizeof(o)};
	struct et_error e = {.tag = ""};
	const char **argv;
	unsigned first;
	int rc;

	if (opts != NULL)
		memcpy(&o, opts, opts->size < sizeof(o) ? opts->size : sizeof(o));
	argv = api_argv(&o);
	if (argv == NULL)
		et_err(&e, ET_NOMEM, "out of memory");
	else if (h->scan == NULL)
		h->scan = scan_new(&h->opts, &e);
	if (argv == NULL || h->scan == NULL) {
		free(argv);
		return api_error(err, &e);
	}
	h->scan->cb = cb;
	h->scan->arg = arg;
	h->scan->scan.cb = on_item;
	h->scan->scan.arg = h->scan;
	h->scan->scan.round++;
	h->scan->comp->scan = &h->scan->scan;
	h->scan->comp->target = h->comp->target;
	rc = d_compile(
		h->scan->comp, text, len, argv[0], o.argc + 1, argv, api_flags(&o), &first, &e);
	free(argv);
	return rc < 0 ? api_error(err, &e) : 0;
}
