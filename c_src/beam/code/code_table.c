/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of loaded code is renewed (not on the probe path). What is known of a module is kept as
 * long as its code is as it was; modules come by their exports, and by addresses that events did
 * not find. Where two lie in the same place the older one is gone. The new table is published at
 * once; the old one, and modules that only it has, are freed when no reader can have them any more:
 * a refresh never waits for that.
 *
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "beam/atoms.h"
#include "beam/vm/layout.h"
#include "code_find.h"
#include "code_lookup.h"
#include "code_names.h"

#define LEARN 64 /* modules that the layout is learned from; the others must be the same */
#define EVERY 30000000000ull /* ns between two refreshes without a reason */

/* ---- tables that were replaced --------------------------------------------------------- */

struct list {
	struct code_module **m;
	unsigned n, room;
};
struct retired { /* what readers may still look at */
	struct retired *next;
	struct code_table *table;
	struct list modules;
	uint64_t seen; /* counters that were zero since */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all that follows */
static struct list modules; /* of the current table, in the order of addresses */
static struct retired *retired;
static unsigned nretired;
static uintptr_t ignored[CODE_IGNORED];
static unsigned nignored; /* that were written there */
static uint64_t generation;
static _Atomic uint64_t refreshed; /* ns: when */
static bool learned;
/* What the VM's exports of module_info/0 led to at the last refresh. Exports are never freed. */
static struct code_export {
	uintptr_t at, leads_to[3];
} *exports;
static unsigned nexports, nloaded; /* modules that there were */

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool put(struct list *l, struct code_module *m)
{
	if (l->n == l->room) {
		unsigned room = l->room ? 2 * l->room : 256;
		struct code_module **more = realloc(l->m, room * sizeof(*more));

		if (more == NULL)
			return false;
		l->m = more;
		l->room = room;
	}
	l->m[l->n++] = m;
	return true;
}

static void free_modules(struct list *l)
{
	for (unsigned i = 0; i < l->n; i++)
		code_module_free(l->m[i]);
	free(l->m);
	*l = (struct list){0};
}

static void free_retired(void)
{
	struct retired **at = &retired, *r;

	while ((r = *at) != NULL) {
		r->seen |= code_readers_out();
		if (r->seen != UINT64_MAX) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		free_modules(&r->modules);
		free(r->table);
		free(r);
		nretired--;
	}
}

/* ---- the next table, while it is made -------------------------------------------------- */

struct draft {
	struct list kept, added, dropped; /* kept: in the order of addresses */
	ERL_NIF_TERM *unsure;		  /* modules of which code is kept that nothing refers to */
	unsigned nunsure;
	bool changed;	  /* addresses that are ignored */
	bool no_memory;
	char why[CODE_WHY]; /* of the last module that was not understood */
	unsigned nfailed;
};

static struct code_module *draft_find(const struct draft *d, uintptr_t at)
{
	for (unsigned low = 0, high = d->kept.n; low < high;) {
		unsigned mid = (low + high) / 2;

		if (at < d->kept.m[mid]->from)
			high = mid;
		else if (at >= d->kept.m[mid]->to)
			low = mid + 1;
		else
			return d->kept.m[mid];
	}
	for (unsigned i = 0; i < d->added.n; i++)
		if (at >= d->added.m[i]->from && at < d->added.m[i]->to)
			return d->added.m[i];
	return NULL;
}

static void draft_add(struct draft *d, struct code_module *m)
{
	if (m == NULL) {
		d->nfailed++;
		return;
	}
	m->born = m->used = generation;
	if (!put(&d->added, m)) {
		d->no_memory = true;
		code_module_free(m);
	}
}

/* Modules that are as they were. */
static void draft_keep(struct draft *d)
{
	for (unsigned i = 0; i < modules.n; i++)
		d->no_memory |= !put(
			code_find_same(modules.m[i]) ? &d->kept : &d->dropped, modules.m[i]);
}

/*
 * A module by its export module_info/0, a fun. The VM has up to three addresses for it: of the code
 * that is current, of what was, of what will be. They may be of code that was purged, too: if there
 * is no old code it is the newest that counts.
 */
static unsigned entries_of(ErlNifEnv *env, ERL_NIF_TERM mod, ERL_NIF_TERM fun, uintptr_t at[3])
{
	const ERL_NIF_TERM module_info = enif_make_atom(env, "module_info");
	uintptr_t export, address;
	unsigned n = 0;

	if (!enif_is_fun(env, fun) || (fun & 3) != 2 ||
		!code_find_word((uintptr_t)(fun & ~(ERL_NIF_TERM)7) + WORD, &export))
		return 0;
	for (unsigned i = 0; i < 3; i++) {
		if (!code_find_word(export + i * WORD, &address))
			return 0;
		address -= CODE_INFO;
		if ((n < 1 || at[0] != address) && (n < 2 || at[1] != address) &&
			code_find_is(address, mod, module_info, 0))
			at[n++] = address;
	}
	return n;
}

static void draft_module(
	struct draft *d, ErlNifEnv *env, ERL_NIF_TERM mod, ERL_NIF_TERM fun, bool has_old)
{
	uintptr_t at[3];
	unsigned n = entries_of(env, mod, fun, at);
	struct code_module *m[3];
	uint64_t newest = 0;

	for (unsigned i = 0; i < n; i++) {
		m[i] = draft_find(d, at[i]);
		if (m[i] == NULL || m[i]->mod != mod) {
			unsigned before = d->added.n;

			draft_add(d, code_find_entry(&(struct code_entry){at[i], mod}, d->why));
			m[i] = d->added.n > before ? d->added.m[before] : NULL;
		}
		if (m[i] != NULL && m[i]->born > newest)
			newest = m[i]->born;
	}
	for (unsigned i = 0; i < n; i++)
		if (m[i] != NULL && (has_old || m[i]->born == newest))
			m[i]->used = generation;
	if (has_old || n == 0)
		d->unsure[d->nunsure++] = mod;
}

static int by_term(const void *a, const void *b)
{
	ERL_NIF_TERM x = *(const ERL_NIF_TERM *)a, y = *(const ERL_NIF_TERM *)b;

	return x < y ? -1 : x > y;
}

/* Drop what nothing refers to any more: it was purged. */
static void draft_drop(struct draft *d)
{
	unsigned n = 0;

	qsort(d->unsure, d->nunsure, sizeof(*d->unsure), by_term);
	for (unsigned i = 0; i < d->kept.n; i++) {
		struct code_module *m = d->kept.m[i];

		if (m->used == generation || bsearch(&m->mod, d->unsure, d->nunsure,
						     sizeof(*d->unsure), by_term) != NULL)
			d->kept.m[n++] = m;
		else
			d->no_memory |= !put(&d->dropped, m);
	}
	d->kept.n = n;
}

static void ignore(struct draft *d, uintptr_t word)
{
	for (unsigned i = 0; i < CODE_IGNORED; i++)
		if (ignored[i] == word)
			return;
	ignored[nignored++ % CODE_IGNORED] = word;
	d->changed = true;
}

/* Addresses that events did not find: of code that no export leads to, or of none. */
static void draft_lost(struct draft *d)
{
	for (unsigned i = 0; i < CODE_LOST; i++) {
		uintptr_t word = code_take_lost(i);
		struct code_module *m;
		char why[CODE_WHY];

		if (word == 0 || draft_find(d, word - 1) != NULL)
			continue;
		m = code_find_pc(word - 1, why);
		if (m != NULL)
			draft_add(d, m);
		else
			ignore(d, word);
	}
}

static int by_address(const void *a, const void *b)
{
	const struct code_module *x = *(struct code_module *const *)a,
				 *y = *(struct code_module *const *)b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* Where two lie in the same place the newer one is there. */
static void draft_merge(struct draft *d)
{
	unsigned n = 0;

	for (unsigned i = 0; i < d->added.n; i++)
		d->no_memory |= !put(&d->kept, d->added.m[i]);
	qsort(d->kept.m, d->kept.n, sizeof(*d->kept.m), by_address);
	for (unsigned i = 0; i < d->kept.n; i++) {
		struct code_module *m = d->kept.m[i];

		while (m != NULL && n > 0 && d->kept.m[n - 1]->to > m->from) {
			bool newer = d->kept.m[n - 1]->born < m->born;

			d->no_memory |= !put(&d->dropped, newer ? d->kept.m[--n] : m);
			if (!newer)
				m = NULL;
		}
		if (m != NULL)
			d->kept.m[n++] = m;
	}
	d->kept.n = n;
}

/* The code that all modules share lies below the first of them, where processes end. */
static struct code_range find_shared(const struct draft *d, uintptr_t ends_at)
{
	const struct code_range *map = code_find_map(ends_at);
	struct code_range none = {0, 0};

	for (unsigned i = 0; map != NULL && i < d->kept.n; i++) {
		uintptr_t header = code_find_header(d->kept.m[i]);

		if (header >= map->from && header < map->to)
			return ends_at < header ? (struct code_range){map->from, header} : none;
	}
	return none;
}

static struct code_table *make_table(const struct draft *d, uintptr_t ends_at)
{
	struct code_table *t = calloc(1, sizeof(*t) + CODE_ANSWERS * sizeof(t->answers[0]) +
					 d->kept.n * (sizeof(t->from[0]) + sizeof(t->modules[0])));
	const struct code_range *map;

	if (t == NULL)
		return NULL;
	t->n = d->kept.n;
	t->modules = (const struct code_module **)(t->from + t->n);
	t->answers = (struct code_answer *)(t->modules + t->n);
	for (unsigned i = 0; i < t->n; i++) {
		t->modules[i] = d->kept.m[i];
		t->from[i] = d->kept.m[i]->from;
	}
	while (t->njit < CODE_MAPS && (map = code_find_nth_map(t->njit)) != NULL)
		t->jit[t->njit++] = *map;
	for (unsigned i = 0; i < CODE_IGNORED; i++)
		if (ignored[i] != 0)
			t->ignored[t->nignored++] = ignored[i];
	t->shared = find_shared(d, ends_at);
	return t;
}

static bool publish(struct draft *d, uintptr_t ends_at)
{
	struct code_table *t = make_table(d, ends_at);
	struct retired *r = calloc(1, sizeof(*r));

	if (t == NULL || r == NULL) {
		free(t);
		free(r);
		return false;
	}
	r->table = code_publish(t);
	r->modules = d->dropped;
	r->next = retired;
	retired = r;
	nretired++;
	free(modules.m);
	modules = d->kept;
	d->kept = d->dropped = (struct list){0};
	return true;
}

/* What the VM refers to: [{Module, fun Module:module_info/0, HasOldCode}]. */
static void draft_all(struct draft *d, ErlNifEnv *env, ERL_NIF_TERM list)
{
	const ERL_NIF_TERM *t;
	ERL_NIF_TERM head;
	unsigned len;
	int n;

	if (!enif_get_list_length(env, list, &len))
		return;
	d->unsure = malloc((len + 1) * sizeof(*d->unsure));
	d->no_memory |= d->unsure == NULL;
	draft_keep(d);
	while (!d->no_memory && enif_get_list_cell(env, list, &head, &list))
		if (enif_get_tuple(env, head, &n, &t) && n == 3)
			draft_module(d, env, t[0], t[1], t[2] == atom_true);
	if (d->no_memory)
		return;
	draft_drop(d);
	draft_lost(d);
	draft_merge(d);
}

static void draft_free(struct draft *d, bool published)
{
	for (unsigned i = 0; !published && i < d->added.n; i++)
		code_module_free(d->added.m[i]);
	free(d->kept.m);
	free(d->added.m);
	free(d->dropped.m);
	free(d->unsure);
}

/* ---- a refresh ------------------------------------------------------------------------- */

static void note_export(ERL_NIF_TERM fun)
{
	struct code_export *x = &exports[nexports];

	if (code_find_word((uintptr_t)(fun & ~(ERL_NIF_TERM)7) + WORD, &x->at) &&
		code_find_word(x->at, &x->leads_to[0]) &&
		code_find_word(x->at + WORD, &x->leads_to[1]) &&
		code_find_word(x->at + 2 * WORD, &x->leads_to[2]))
		nexports++;
}

/*
 * For has_changed(); before the modules are looked at, so that what is loaded meanwhile is a
 * change.
 */
static void note_exports(ErlNifEnv *env, ERL_NIF_TERM list)
{
	const ERL_NIF_TERM *t;
	ERL_NIF_TERM head;
	int n;

	free(exports);
	nexports = 0;
	if (!enif_get_list_length(env, list, &nloaded))
		nloaded = 0;
	exports = malloc((nloaded + 1) * sizeof(*exports));
	while (exports != NULL && enif_get_list_cell(env, list, &head, &list))
		if (enif_get_tuple(env, head, &n, &t) && n == 3 && enif_is_fun(env, t[1]))
			note_export(t[1]);
}

/* Has code been loaded or deleted since? Purging alone is no change: it is seen at the next. */
static bool has_changed(unsigned nmodules)
{
	if (nmodules != nloaded || nexports != nloaded)
		return true;
	for (unsigned i = 0; i < nexports; i++)
		if (!safe_same((const void *)exports[i].at, exports[i].leads_to, 3))
			return true;
	return false;
}

/* From some of the modules. */
static bool learn(ErlNifEnv *env, ERL_NIF_TERM list, char why[CODE_WHY])
{
	struct code_entry entries[LEARN];
	const ERL_NIF_TERM *t;
	ERL_NIF_TERM head;
	unsigned n = 0;
	int size;

	while (n < LEARN && enif_get_list_cell(env, list, &head, &list)) {
		uintptr_t at[3];

		if (enif_get_tuple(env, head, &size, &t) && size == 3 &&
			entries_of(env, t[0], t[1], at) == 1)
			entries[n++] = (struct code_entry){at[0], t[0]};
	}
	return code_find_learn(entries, n, why);
}

/* The word at the end of a process's stack, once it is known where that is; else 0. */
static _Atomic uintptr_t stack_end;

void code_note_stack_end(ErlNifEnv *env)
{
	if (beam_layout_known())
		atomic_store(&stack_end, beam_stack_end(env)[-1]);
}

/* How many modules were not understood; -1: nothing is as known, why says what. */
static int refresh(ErlNifEnv *env, ERL_NIF_TERM list, bool *changed, char why[CODE_WHY])
{
	struct draft d = {.why = ""};
	bool published = false;

	generation++;
	code_none_lost();
	if (!code_find_maps(why) || (!learned && !learn(env, list, why)))
		return -1;
	learned = true;
	note_exports(env, list);
	draft_all(&d, env, list);
	if (!d.no_memory && (d.added.n > 0 || d.dropped.n > 0 || d.changed))
		published = publish(&d, atomic_load(&stack_end));
	*changed = published;
	draft_free(&d, published);
	free_retired();
	atomic_store(&refreshed, now());
	memcpy(why, d.why, CODE_WHY);
	return (int)d.nfailed;
}

bool code_refresh(ErlNifEnv *env, ERL_NIF_TERM list, struct code_summary *sum, char why[CODE_WHY])
{
	bool changed = false;
	int failed;

	pthread_mutex_lock(&lock);
	failed = refresh(env, list, &changed, why);
	*sum = (struct code_summary){.modules = modules.n, .nfailed = (unsigned)failed};
	for (unsigned i = 0; i < modules.n; i++)
		sum->functions += modules.m[i]->n;
	pthread_mutex_unlock(&lock);
	sum->changed = changed;
	return failed >= 0;
}

/* All of it anew now and then; else if something has changed. */
bool code_due(unsigned nmodules)
{
	bool is = code_was_lost() || now() - atomic_load(&refreshed) >= EVERY;

	if (!is && pthread_mutex_trylock(&lock) == 0) { /* else somebody is at it */
		is = has_changed(nmodules);
		pthread_mutex_unlock(&lock);
	}
	return is;
}

uint64_t beam_code_told(ERL_NIF_TERM mod, ERL_NIF_TERM fun, unsigned arity, const char *file,
	size_t len, unsigned line)
{
	uint32_t function, name;

	if (line == 0 || line > LINE_MASK)
		return 0;
	pthread_mutex_lock(&lock);
	function = code_function_number(mod, fun, arity);
	name = code_file_number(file, len);
	pthread_mutex_unlock(&lock);
	return function != 0 && name != 0 ? code_frame_line(function, name, line) : 0;
}

unsigned code_retired(void)
{
	return nretired;
}

bool code_read(
	ErlNifEnv *env, ERL_NIF_TERM mod, ERL_NIF_TERM fun, uint64_t *sum, char why[CODE_WHY])
{
	struct code_module *m = NULL;
	uintptr_t at[3];

	pthread_mutex_lock(&lock);
	if (entries_of(env, mod, fun, at) > 0)
		m = code_find_entry(&(struct code_entry){at[0], mod}, why);
	if (m != NULL)
		*sum = code_module_sum(m);
	code_module_free(m);
	pthread_mutex_unlock(&lock);
	return m != NULL;
}
