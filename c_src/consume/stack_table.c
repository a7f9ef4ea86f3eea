/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Option stacktop: an aggregation by stack as a table of the functions that are innermost most
 * often, the first of them last. A function's own value is that of the stacks whose innermost frame
 * it is; all is that of the stacks that it is in, once each, however often it is in there.
 *
 */
#include "consumer.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "frame_text.h"
#include "hash.h"
#include "stack_table.h"

struct function {
	char *name;
	uint64_t hash;
	long double own, all;
	size_t seen; /* the last row that it is in, from 1 */
};

struct table {
	struct function *v;
	size_t n;
	uint32_t *slots; /* numbers from 1 */
	size_t nslots;
	long double sum;
	bool nomem;
};

bool sn_is_table(struct co *co, const struct prog_agg *a)
{
	bool by_stack = false;

	for (unsigned i = 0; i < a->nkeys; i++)
		by_stack |= a->keys[i].kind == V_STACK;
	return by_stack && (a->fn == AGG_COUNT || a->fn == AGG_SUM) && co_opt(co, OPT_STACKTOP) > 0;
}

static bool grow(struct table *t)
{
	size_t more = t->nslots == 0 ? 256 : 2 * t->nslots;
	uint32_t *slots;

	if (2 * (t->n + 1) <= t->nslots)
		return true;
	slots = calloc(more, sizeof(*slots));
	if (slots == NULL)
		return false;
	for (size_t i = 0; i < t->n; i++) {
		size_t at = t->v[i].hash & (more - 1);

		while (slots[at] != 0)
			at = (at + 1) & (more - 1);
		slots[at] = (uint32_t)i + 1;
	}
	free(t->slots);
	t->slots = slots;
	t->nslots = more;
	return true;
}

static struct function *find(struct table *t, const char *name)
{
	uint64_t hash = hash_bytes(name, strlen(name));
	struct function f = {.hash = hash};
	size_t at;

	if (!grow(t))
		return NULL;
	for (at = hash & (t->nslots - 1); t->slots[at] != 0; at = (at + 1) & (t->nslots - 1))
		if (strcmp(t->v[t->slots[at] - 1].name, name) == 0)
			return &t->v[t->slots[at] - 1];
	f.name = strdup(name);
	if (f.name == NULL || !ARRAY_ROOM(t->v, t->n)) {
		free(f.name);
		return NULL;
	}
	t->v[t->n++] = f;
	t->slots[at] = (uint32_t)t->n;
	return &t->v[t->n - 1];
}

static void add_function(
	struct table *t, const char *name, size_t row, long double value, bool *innermost)
{
	struct function *f = find(t, name);

	if (f == NULL) {
		t->nomem = true;
		return;
	}
	if (*innermost)
		f->own += value;
	*innermost = false;
	if (f->seen != row)
		f->all += value;
	f->seen = row;
}

/* The frames of one stack, the innermost first. */
static void add_frames(
	struct table *t, const erltrace_value_t *v, size_t row, long double value, bool *innermost)
{
	const char *p = v->bytes, *end = p + v->len, *nl;
	char name[512];

	for (; p != NULL && p < end && !t->nomem; p = nl + 1) {
		nl = memchr(p, '\n', (size_t)(end - p));
		if (nl == NULL)
			nl = end;
		if (frame_text_is_end(p, (size_t)(nl - p)))
			continue;
		frame_text_function(p, (size_t)(nl - p), name, sizeof(name));
		add_function(t, name, row, value, innermost);
	}
}

static void add_row(struct co *co, struct table *t, const struct ag_ent *e, size_t row)
{
	bool innermost = true;
	erltrace_agg_t a;

	if (ag_public(co, e, &a) == 0) {
		t->sum += (long double)a.value;
		for (int kernel = 1; kernel >= 0;
			kernel--) /* the kernel is called by the program */
			for (unsigned i = 0; i < a.nkeys; i++)
				if (a.keys[i].kind == ERLTRACE_STACK &&
					(a.keys[i].is_kernel != 0) == kernel)
					add_frames(t, &a.keys[i], row, (long double)a.value,
						&innermost);
		if (innermost)
			add_function(t, FRAME_TEXT_NONE, row, (long double)a.value, &innermost);
	} else {
		t->nomem = true;
	}
	co_tmp_free(co);
}

/* The first come last, where one looks when it has been printed. */
static int by_own(const void *x, const void *y)
{
	const struct function *a = x, *b = y;

	if (a->own != b->own)
		return a->own < b->own ? -1 : 1;
	if (a->all != b->all)
		return a->all < b->all ? -1 : 1;
	return -strcmp(a->name, b->name);
}

static int by_all(const void *x, const void *y)
{
	const struct function *a = x, *b = y;

	return a->all != b->all ? (a->all < b->all ? -1 : 1) : by_own(x, y);
}

/*
 * Of more functions than are shown, the last ones: two thirds that are innermost most often, then
 * those that are in most stacks. Else who calls all of them would be missing.
 */
static void pick(struct table *t, size_t most)
{
	size_t own = most - most / 3;

	qsort(t->v, t->n, sizeof(*t->v), by_own);
	if (t->n <= most)
		return;
	qsort(t->v, t->n - own, sizeof(*t->v), by_all);
	qsort(t->v + t->n - most, most, sizeof(*t->v), by_own);
}

static void print(struct co *co, const struct table *t)
{
	size_t most = (size_t)co_opt(co, OPT_STACKTOP), n = t->n > most ? most : t->n;
	bool rev = co_opt(co, OPT_AGGSORTREV);

	cb_fmt(&co->out, "%8s %8s %12s %12s  %s\n", "OWN %", "ALL %", "OWN", "ALL", "FUNCTION");
	for (size_t i = 0; i < n; i++) {
		const struct function *f = &t->v[rev ? t->n - 1 - i : t->n - n + i];

		cb_fmt(&co->out, "%8.1f %8.1f %12.0f %12.0f  %s\n",
			t->sum > 0 ? (double)(100 * f->own / t->sum) : 0,
			t->sum > 0 ? (double)(100 * f->all / t->sum) : 0, (double)f->own,
			(double)f->all, f->name);
		if (co_room(co) != 0)
			return;
	}
	cb_fmt(&co->out, "%30.0f %12s  in all\n", (double)t->sum, "");
}

int sn_print(struct co *co, const struct ag_row *rows, size_t n)
{
	struct table t = {.v = NULL};

	for (size_t i = 0; i < n && !t.nomem; i++)
		add_row(co, &t, rows[i].ent, i + 1);
	if (!t.nomem && n > 0) {
		if (t.n > 0)
			pick(&t, (size_t)co_opt(co, OPT_STACKTOP));
		print(co, &t);
	}
	for (size_t i = 0; i < t.n; i++)
		free(t.v[i].name);
	free(t.v);
	free(t.slots);
	co->out.nomem |= t.nomem;
	return t.nomem ? -1 : 0;
}
