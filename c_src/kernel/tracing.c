/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the kernel that run BPF programs at tracepoints. They are on top of every stack that
 * is taken there, and not part of what is traced. How many there are depends on the tracepoint and
 * on other programs at it, so bpf/frames.c recognizes them by their addresses. Where the kernel
 * hides addresses (kernel.kptr_restrict), they stay.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "engine/region.h"
#include "engine/state.h"
#include "kernel.h"
#include "tracing.h"

static bool is_tracing(const char *name)
{
	static const char *const begin[] = {"bpf_trace_run", "__bpf_trace_", "__traceiter_"};

	for (unsigned i = 0; i < sizeof(begin) / sizeof(*begin); i++)
		if (strncmp(name, begin[i], strlen(begin[i])) == 0)
			return true;
	return false;
}

struct found {
	struct k_range *all;
	size_t n;
};

static bool add(struct found *f, uint64_t start)
{
	if (!ARRAY_ROOM(f->all, f->n))
		return false;
	f->all[f->n++] = (struct k_range){start, UINT64_MAX};
	return true;
}

/* A function ends where the next one begins: the list is sorted, but for that of modules. */
static void read_symbols(struct found *found)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[512], name[256], type;
	bool open = false;
	uint64_t at;

	while (f != NULL && fgets(line, sizeof(line), f) != NULL && strchr(line, '[') == NULL) {
		if (sscanf(line, "%" SCNx64 " %c %255s", &at, &type, name) != 3 || at == 0)
			continue;
		if (open && at > found->all[found->n - 1].start) {
			found->all[found->n - 1].end = at;
			open = false;
		}
		if (strchr("tT", type) != NULL && !open && is_tracing(name) &&
			!(open = add(found, at)))
			break;
	}
	if (open)
		found->n--;
	if (f != NULL)
		fclose(f);
}

static int by_start(const void *a, const void *b)
{
	const struct k_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static bool is_wanted(const struct en *en)
{
	for (unsigned i = 0; i < en->prog->nclauses; i++)
		if (en->prog->clauses[i]->uses.stack)
			return true;
	return false;
}

int k_tracing_find(struct en *en, struct et_error *e)
{
	struct k_root *r = en->kernel->root;
	struct found found = {0};
	int rc = 0;

	if (!is_wanted(en))
		return 0;
	read_symbols(&found);
	if (found.n > 0) {
		qsort(found.all, found.n, sizeof(*found.all), by_start);
		r->tracing = en_alloc(en, found.n * sizeof(*r->tracing));
		if (r->tracing == NULL)
			rc = et_err(e, ET_NOMEM, "out of memory for names of the kernel");
		else
			memcpy(r->tracing, found.all, found.n * sizeof(*r->tracing));
		r->ntracing = rc == 0 ? found.n : 0;
	}
	free(found.all);
	return rc;
}
