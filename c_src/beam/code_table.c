/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of loaded code. It is an index only: modules by address, of each its functions. Memory of
 * code that is purged is soon used again, mostly for the next version of the same module, in the same
 * place, of the same size. So what the table says is compared with the code each time: the address of
 * the function in the module's list, its name, the line table's address, the name of the file. The
 * line is read from the module's own table. The code is alive while it is asked for, and so is all
 * that belongs to it. Where something differs the address is not known until the table is renewed: a
 * frame may be missing for a moment, but is never wrong.
 *
 * Readers (the probe path, signal handlers) count themselves in and out, in one of several counters
 * by thread. A table that was replaced is freed when each counter has been seen at zero since. A
 * refresh never waits for that.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compiler.h"
#include "engine/safe.h"
#include "code_find.h"
#include "code_names.h"
#include "code_table.h"
#include "erl_stack.h"
#include "layout.h"
#include "nif.h"
#include "sampler.h"

#define WORD	 sizeof(uintptr_t)
#define READERS	 64 /* counters; a bit each */
#define LOST	 16 /* unknown addresses that are kept until the next refresh */
#define IGNORED	 64
#define JIT_MAPS 32
#define LEARN	 64 /* modules that the layout is learned from; the others must be the same */
#define HINTS	 2048 /* by address: where it was found the last time */
#define HINT	 21 /* bits of a function's number in its module, and of an item's in its function */
#define EVERY	 30000000000ull /* ns between two refreshes without a reason */

struct code_table {
	unsigned n, njit, nignored;
	struct code_range jit[JIT_MAPS], shared;
	uintptr_t ignored[IGNORED]; /* in the JIT's memory, but of no module */
	_Atomic uint64_t *hints;	    /* any number will do: what it leads to is checked */
	const struct code_module **modules; /* in the order of addresses, */
	uintptr_t from[];		    /* where these begin */
};

static _Atomic(struct code_table *) current;
static _Atomic int state; /* of the check */
enum { UNKNOWN, REFUSED, KNOWN };
static char refusal[CODE_WHY];

static struct {
	_Atomic uint32_t inside;
} __attribute__((aligned(LINE))) readers[READERS];

static _Atomic bool due; /* an address was not known */
static _Atomic uintptr_t lost[LOST];
static _Atomic unsigned nlost; /* that were written to lost */
static _Atomic uint64_t unknown_frames, changed_frames;

/* ---- readers (probe path) -------------------------------------------------------------- */

static inline unsigned my_reader(void)
{
	uintptr_t self = (uintptr_t)__builtin_thread_pointer();

	return (unsigned)((self >> 12) * 0x9e3779b97f4a7c15ull >> 58);
}

const struct code_table *beam_code_begin(unsigned *reader)
{
	*reader = my_reader();
	atomic_fetch_add(&readers[*reader].inside, 1);
	return atomic_load(&current);
}

void beam_code_end(unsigned reader)
{
	atomic_fetch_sub_explicit(&readers[reader].inside, 1, memory_order_release);
}

static void note_lost(uintptr_t word)
{
	if (!atomic_load_explicit(&due, memory_order_relaxed))
		atomic_store_explicit(&due, true, memory_order_relaxed);
	atomic_store_explicit(&lost[atomic_fetch_add_explicit(&nlost, 1, memory_order_relaxed) % LOST],
		word, memory_order_relaxed);
}

/* ---- lookup (probe path) --------------------------------------------------------------- */

static inline bool get(uintptr_t at, uint64_t *word)
{
	return safe_load((const void *)at, 8, word);
}

static inline bool is(uintptr_t at, const uintptr_t *words, size_t n)
{
	return safe_same((const void *)at, words, n);
}

/* The last of these, in ascending order, that is not above: the first if all are. */
static unsigned last_below(const uintptr_t *v, unsigned n, uintptr_t x)
{
	const uintptr_t *base = v;

	while (n > 1) {
		unsigned half = n / 2;

		base = base[half] <= x ? base + half : base;
		n -= half;
	}
	return (unsigned)(base - v);
}

/* Where an address is: in the i-th function of a module; the item of its line, if that is known. */
struct place {
	const struct code_module *m;
	unsigned i, item;
	_Atomic uint64_t *hint;
};

static inline void set_hint(const struct place *p, uint64_t hint, unsigned item)
{
	if (item >> HINT == 0)
		atomic_store_explicit(p->hint, hint >> HINT << HINT | item, memory_order_relaxed);
}

static __attribute__((noinline)) bool search(
	const struct code_table *t, uintptr_t pc, struct place *p)
{
	unsigned k;

	if (t->n == 0)
		return false;
	k = last_below(t->from, t->n, pc);
	p->m = t->modules[k];
	if (pc < p->m->from || pc >= p->m->to)
		return false;
	p->i = last_below(p->m->starts, p->m->n, pc);
	p->item = 0;
	if (p->i >> HINT == 0)
		set_hint(p, (uint64_t)k << 2 * HINT | (uint64_t)p->i << HINT, 0);
	return true;
}

/* false: it is in no module. */
static inline bool find(const struct code_table *t, uintptr_t pc, struct place *p)
{
	uint64_t hint, k;

	p->hint = &t->hints[pc * 0x9e3779b97f4a7c15ull >> 32 & (HINTS - 1)];
	hint = atomic_load_explicit(p->hint, memory_order_relaxed);
	k = hint >> 2 * HINT;
	p->i = hint >> HINT & ((1u << HINT) - 1);
	p->item = hint & ((1u << HINT) - 1);
	if (likely(k < t->n)) {
		p->m = t->modules[k];
		if (likely(p->i < p->m->n && p->m->starts[p->i] <= pc &&
			   pc < p->m->starts[p->i + 1]))
			return true;
	}
	return search(t, pc, p);
}

/* The function alone, as its code says; 0: another one is there than was. */
static uint64_t frame_there(const struct code_module *m, unsigned i)
{
	uintptr_t mfa = m->starts[i] + CODE_MFA;
	const struct code_function *f = code_function_of(m->numbers[i]);
	uint64_t fun, arity;

	if (unlikely(!is(m->functions + i * WORD, m->starts + i, 2)))
		return 0;
	if (likely(m->numbers[i] != 0))
		return is(mfa, &f->mod, 3) ? code_frame(f->mod, f->fun, (unsigned)f->arity) : 0;
	if (!is(mfa, &m->mod, 1) || !get(mfa + WORD, &fun) || !get(mfa + 2 * WORD, &arity))
		return 0;
	return code_frame(m->mod, fun, (unsigned)arity);
}

/* The item of an address among those of its function, from the one that is likely on; 0: none. */
static uint64_t find_item(const struct place *p, uintptr_t pc, uint64_t low, uint64_t high)
{
	uint64_t first = low, mid = low + p->item * WORD, here, next;

	while (high > low) {
		if (mid < low || mid >= high)
			mid = low + (high - low) / (2 * WORD) * WORD;
		if (!get(mid, &here) || !get(mid + WORD, &next))
			return 0;
		if (pc >= here && pc < next) {
			if (mid != first + p->item * WORD)
				set_hint(p, atomic_load_explicit(p->hint, memory_order_relaxed),
					(unsigned)((mid - first) / WORD));
			return mid;
		}
		if (pc < here)
			high = mid;
		else
			low = mid + WORD;
		mid = 0;
	}
	return 0;
}

/* The place in the source of an address, as the VM has it; 0: unknown. */
static uint64_t location(const struct place *p, uintptr_t pc)
{
	const struct code_module *m = p->m;
	uintptr_t items = m->lines + LINES_ITEMS + (m->n + 1) * WORD;
	uint64_t low, high, size, locs, item, loc = 0;

	if (!get(m->lines + LINES_ITEMS + p->i * WORD, &low) ||
		!get(m->lines + LINES_ITEMS + (p->i + 1) * WORD, &high) ||
		!get(m->lines + LINES_SIZE, &size) || !get(m->lines + LINES_LOCS, &locs) ||
		low < items || high < low || (low | high) % WORD != 0)
		return 0;
	size &= 0xffffffff;
	if ((size != 2 && size != 4) || (item = find_item(p, pc, low, high)) == 0 ||
		!safe_load((const void *)(locs + (item - items) / WORD * size), (unsigned)size,
			&loc))
		return 0;
	return loc;
}

/* The frame of an address, with its line; 0: that is not known. */
static uint64_t frame_line(const struct place *p, uintptr_t pc)
{
	const struct code_module *m = p->m;
	const struct code_file *f;
	uint64_t loc, files;

	if (m->lines == 0 || m->numbers[p->i] == 0 || !is(m->lines_at, &m->lines, 1))
		return 0;
	loc = location(p, pc);
	if (loc == 0 || loc >> LINE_BITS >= m->nfiles)
		return 0;
	f = &m->files[loc >> LINE_BITS];
	if (f->number == 0)
		return 0;
	if (f->ncells != 0 &&
		(!get(m->lines + LINES_FILES, &files) ||
			!is(files + (loc >> LINE_BITS) * WORD, &f->term, 1) ||
			!is(f->at, f->cells, 2 * f->ncells))) {
		note_lost(pc + 1);
		return 0;
	}
	return code_frame_line(m->numbers[p->i], f->number, (uint32_t)(loc & LINE_MASK));
}

uint64_t beam_code_at(const struct code_table *t, uintptr_t pc, bool line)
{
	uint64_t frame, with_line;
	struct place p;

	if (!find(t, pc, &p))
		return 0;
	/* no code, but what lies in front: frames of return_trace have its address */
	if (pc - p.m->starts[p.i] < CODE_INFO)
		return 0;
	frame = frame_there(p.m, p.i);
	if (unlikely(frame == 0)) {
		atomic_fetch_add_explicit(&changed_frames, 1, memory_order_relaxed);
		return 0;
	}
	with_line = line ? frame_line(&p, pc) : 0;
	return with_line != 0 ? with_line : frame;
}

uint64_t beam_code_frame(uintptr_t pc, bool line)
{
	unsigned reader;
	const struct code_table *t = beam_code_begin(&reader);
	uint64_t frame = t != NULL ? beam_code_at(t, pc, line) : 0;

	if (unlikely(frame == 0 && t != NULL))
		beam_code_lost(t, pc + 1);
	beam_code_end(reader);
	return frame;
}

uint64_t beam_code_function(ERL_NIF_TERM mod, ERL_NIF_TERM fun, unsigned arity)
{
	return code_frame(mod, fun, arity);
}

static bool is_ignored(const struct code_table *t, uintptr_t word)
{
	for (unsigned i = 0; i < t->nignored; i++)
		if (t->ignored[i] == word)
			return true;
	return false;
}

bool beam_code_shared(const struct code_table *t, uintptr_t word)
{
	return word >= t->shared.from && word < t->shared.to;
}

/* The address of what lies in front of a function is no return address. */
static bool is_info(const struct code_table *t, uintptr_t pc)
{
	struct place p;

	return find(t, pc, &p) && pc - p.m->starts[p.i] < CODE_INFO &&
	       frame_there(p.m, p.i) != 0;
}

bool beam_code_lost(const struct code_table *t, uintptr_t word)
{
	unsigned i = 0;

	while (i < t->njit && (word < t->jit[i].from || word >= t->jit[i].to))
		i++;
	if (i == t->njit || t->shared.to == 0 || beam_code_shared(t, word) ||
		is_ignored(t, word) || is_info(t, word - 1))
		return false;
	atomic_fetch_add_explicit(&unknown_frames, 1, memory_order_relaxed);
	note_lost(word);
	return true;
}

bool beam_code_known(void)
{
	return atomic_load_explicit(&state, memory_order_acquire) == KNOWN;
}

const char *beam_code_refusal(void)
{
	return atomic_load_explicit(&state, memory_order_acquire) == REFUSED ? refusal : "";
}

/* ---- refresh (not on the probe path) --------------------------------------------------- */

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
static uintptr_t ignored[IGNORED];
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
		for (unsigned i = 0; i < READERS; i++)
			if (atomic_load(&readers[i].inside) == 0)
				r->seen |= 1ull << i;
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

/* The next table, while it is made. */
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
	for (unsigned i = 0; i < IGNORED; i++)
		if (ignored[i] == word)
			return;
	ignored[nignored++ % IGNORED] = word;
	d->changed = true;
}

/* Addresses that events did not find: of code that no export leads to, or of none. */
static void draft_lost(struct draft *d)
{
	for (unsigned i = 0; i < LOST; i++) {
		uintptr_t word = atomic_exchange(&lost[i], 0);
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
	struct code_table *t = calloc(1, sizeof(*t) + HINTS * sizeof(t->hints[0]) +
					 d->kept.n * (sizeof(t->from[0]) + sizeof(t->modules[0])));
	const struct code_range *map;

	if (t == NULL)
		return NULL;
	t->n = d->kept.n;
	t->modules = (const struct code_module **)(t->from + t->n);
	t->hints = (_Atomic uint64_t *)(t->modules + t->n);
	for (unsigned i = 0; i < t->n; i++) {
		t->modules[i] = d->kept.m[i];
		t->from[i] = d->kept.m[i]->from;
	}
	while (t->njit < JIT_MAPS && (map = code_find_nth_map(t->njit)) != NULL)
		t->jit[t->njit++] = *map;
	for (unsigned i = 0; i < IGNORED; i++)
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
	r->table = atomic_exchange(&current, t);
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

static void note_export(ERL_NIF_TERM fun)
{
	struct code_export *x = &exports[nexports];

	if (code_find_word((uintptr_t)(fun & ~(ERL_NIF_TERM)7) + WORD, &x->at) &&
		code_find_word(x->at, &x->leads_to[0]) &&
		code_find_word(x->at + WORD, &x->leads_to[1]) &&
		code_find_word(x->at + 2 * WORD, &x->leads_to[2]))
		nexports++;
}

/* For has_changed(); before the modules are looked at, so that what is loaded meanwhile is a change. */
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
		if (!is(exports[i].at, exports[i].leads_to, 3))
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

/* How many modules were not understood; -1: nothing is as known, why says what. */
static int refresh(ErlNifEnv *env, ERL_NIF_TERM list, bool *changed, char why[CODE_WHY])
{
	struct draft d = {.why = ""};
	ErlNifPid pid;
	uintptr_t ends_at = 0;
	bool published = false;

	generation++;
	atomic_store(&due, false);
	if (!code_find_maps(why) || (!learned && !learn(env, list, why)))
		return -1;
	learned = true;
	note_exports(env, list);
	if (beam_layout_known() && enif_self(env, &pid) != NULL)
		ends_at = beam_stack_end(env)[-1];
	draft_all(&d, env, list);
	if (!d.no_memory && (d.added.n > 0 || d.dropped.n > 0 || d.changed))
		published = publish(&d, ends_at);
	*changed = published;
	draft_free(&d, published);
	free_retired();
	atomic_store(&refreshed, now());
	memcpy(why, d.why, CODE_WHY);
	return (int)d.nfailed;
}

/* ---- NIFs ------------------------------------------------------------------------------ */

/* Reads recover from faults only where SIGSEGV and SIGBUS are not blocked. */
static bool reads_begin(sigset_t *was)
{
	sigset_t faults;

	sigemptyset(&faults);
	sigaddset(&faults, SIGSEGV);
	sigaddset(&faults, SIGBUS);
	return safe_init() == 0 && pthread_sigmask(SIG_UNBLOCK, &faults, was) == 0;
}

static void reads_end(const sigset_t *was)
{
	pthread_sigmask(SIG_SETMASK, was, NULL);
	safe_fini();
}

static ERL_NIF_TERM text_term(ErlNifEnv *env, const char *text)
{
	ERL_NIF_TERM t;

	memcpy(enif_make_new_binary(env, strlen(text), &t), text, strlen(text));
	return t;
}

static ERL_NIF_TERM refused(ErlNifEnv *env, const char *why)
{
	return enif_make_tuple2(env, enif_make_atom(env, "refused"), text_term(env, why));
}

/*
 * code_table([{Module, fun Module:module_info/0, HasOldCode}]) -> {Modules, Functions, NotUnderstood,
 * Why} | {refused, Why}: bring the table up to date.
 */
ERL_NIF_TERM nif_code_table(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	char why[CODE_WHY] = "";
	unsigned functions = 0, n;
	bool changed = false;
	sigset_t mask;
	int failed;

	(void)argc;
	if (!enif_is_list(env, argv[0]))
		return enif_make_badarg(env);
#ifndef __x86_64__
	return refused(env, "only on x86-64"); /* elsewhere a safe read is a system call */
#endif
	if (!reads_begin(&mask))
		return refused(env, "memory cannot be read safely");
	pthread_mutex_lock(&lock);
	failed = refresh(env, argv[0], &changed, why);
	for (unsigned i = 0; i < modules.n; i++)
		functions += modules.m[i]->n;
	n = modules.n;
	pthread_mutex_unlock(&lock);
	reads_end(&mask);
	if (changed)
		sampler_code_changed();
	if (failed < 0)
		return refused(env, why);
	return enif_make_tuple4(env, enif_make_uint(env, n), enif_make_uint(env, functions),
		enif_make_int(env, failed), text_term(env, why));
}

/* {M, F, Arity}, {M, F, Arity, File, Line} or, if it is not known, the address. */
static ERL_NIF_TERM frame_term(ErlNifEnv *env, uint64_t frame)
{
	const char *file;
	struct code_function f;
	unsigned line;

	if (!code_frame_parts(frame, &f, &file, &line))
		return enif_make_uint64(env, frame);
	if (file == NULL)
		return enif_make_tuple3(env, f.mod, f.fun, enif_make_uint(env, f.arity));
	return enif_make_tuple5(env, f.mod, f.fun, enif_make_uint(env, f.arity),
		text_term(env, file), enif_make_uint(env, line));
}

/* The caller's own stack, the newest frame first. */
static ERL_NIF_TERM own_stack(ErlNifEnv *env, bool line)
{
	ERL_NIF_TERM list = enif_make_list(env, 0);
	uint64_t frames[256];
	unsigned n = beam_layout_known() ? beam_walk(env, frames, 256, line) : 0;

	while (n-- > 0)
		list = enif_make_list_cell(env, frame_term(env, frames[n]), list);
	return list;
}

/* {at, Address, Line} */
static ERL_NIF_TERM frame_at(ErlNifEnv *env, const ERL_NIF_TERM *t)
{
	ErlNifUInt64 pc;
	uint64_t frame;

	if (!enif_get_uint64(env, t[1], &pc))
		return enif_make_badarg(env);
	frame = beam_code_frame(pc, t[2] == atom_true);
	return frame != 0 ? frame_term(env, frame) : atom_undefined;
}

/* {entries, fun M:F/A}: the addresses that the export leads to. */
static ERL_NIF_TERM entries_term(ErlNifEnv *env, const ERL_NIF_TERM *t)
{
	ERL_NIF_TERM list = enif_make_list(env, 0);
	uintptr_t export, address;

	if (!enif_is_fun(env, t[1]) || !code_find_word((uintptr_t)(t[1] & ~7ul) + WORD, &export))
		return list;
	for (unsigned i = 0; i < 3; i++)
		if (code_find_word(export + i * WORD, &address))
			list = enif_make_list_cell(env, enif_make_uint64(env, address), list);
	return list;
}

/* {read, Module, fun Module:module_info/0}: what is found of its code, as one number. */
static ERL_NIF_TERM read_term(ErlNifEnv *env, const ERL_NIF_TERM *t)
{
	char why[CODE_WHY] = "no entry";
	struct code_module *m = NULL;
	uintptr_t at[3];
	uint64_t sum = 0;

	pthread_mutex_lock(&lock);
	if (entries_of(env, t[1], t[2], at) > 0)
		m = code_find_entry(&(struct code_entry){at[0], t[1]}, why);
	if (m != NULL)
		sum = code_module_sum(m);
	code_module_free(m);
	pthread_mutex_unlock(&lock);
	return m != NULL ? enif_make_uint64(env, sum) : refused(env, why);
}

static ERL_NIF_TERM state_term(ErlNifEnv *env)
{
	switch (atomic_load(&state)) {
	case KNOWN: return enif_make_atom(env, "known");
	case REFUSED: return refused(env, refusal);
	default: return atom_undefined;
	}
}

/* All of it anew now and then; else if something has changed. */
static bool is_due(unsigned nmodules)
{
	bool is = atomic_load(&due) || now() - atomic_load(&refreshed) >= EVERY;

	if (!is && pthread_mutex_trylock(&lock) == 0) { /* else somebody is at it */
		is = has_changed(nmodules);
		pthread_mutex_unlock(&lock);
	}
	return is;
}

static ERL_NIF_TERM ask(ErlNifEnv *env, const char *what)
{
	if (strcmp(what, "stack") == 0 || strcmp(what, "functions") == 0)
		return own_stack(env, what[0] == 's');
	if (strcmp(what, "counts") == 0)
		return enif_make_tuple3(env, enif_make_uint64(env, atomic_load(&unknown_frames)),
			enif_make_uint64(env, atomic_load(&changed_frames)),
			enif_make_uint(env, nretired));
	if (strcmp(what, "words") == 0)
		return enif_make_uint64(env, code_find_words());
	if (strcmp(what, "known") == 0)
		atomic_store(&state, KNOWN);
	return state_term(env);
}

/*
 * code_ask(get | known | {refuse, Why} | {due, Modules} | counts | stack | functions): the state of the
 * check, and set it; is a refresh due, with so many modules? frames that were not known; the caller's own
 * stack. For tests:
 * {at, Address, Line}, {entries, Fun}, {read, Module, Fun}; {flip, N}: the Nth word that is read of
 * the VM's memory is another, and words: that were read; {room, Functions, Files}: for so many names.
 */
ERL_NIF_TERM nif_code_ask(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	char what[16] = "";
	const ERL_NIF_TERM *t;
	ERL_NIF_TERM ret = atom_ok;
	unsigned functions, files, modules_now;
	ErlNifUInt64 word;
	ErlNifBinary why;
	sigset_t mask;
	int n = 0;

	(void)argc;
	if (enif_get_tuple(env, argv[0], &n, &t) && n > 1)
		enif_get_atom(env, t[0], what, sizeof(what), ERL_NIF_LATIN1);
	else
		enif_get_atom(env, argv[0], what, sizeof(what), ERL_NIF_LATIN1);
	if (n == 2 && strcmp(what, "refuse") == 0 &&
		enif_inspect_iolist_as_binary(env, t[1], &why)) {
		snprintf(refusal, sizeof(refusal), "%.*s", (int)why.size, (const char *)why.data);
		atomic_store(&state, REFUSED);
		return atom_ok;
	}
	if (!reads_begin(&mask))
		return refused(env, "memory cannot be read safely");
	if (n == 2 && strcmp(what, "due") == 0 && enif_get_uint(env, t[1], &modules_now))
		ret = is_due(modules_now) ? atom_true : atom_false;
	else if (n == 3 && strcmp(what, "at") == 0)
		ret = frame_at(env, t);
	else if (n == 2 && strcmp(what, "entries") == 0)
		ret = entries_term(env, t);
	else if (n == 3 && strcmp(what, "read") == 0)
		ret = read_term(env, t);
	else if (n == 2 && strcmp(what, "flip") == 0 && enif_get_uint64(env, t[1], &word))
		code_find_flip(word);
	else if (n == 3 && strcmp(what, "room") == 0 && enif_get_uint(env, t[1], &functions) &&
		 enif_get_uint(env, t[2], &files))
		code_names_room(functions, files);
	else
		ret = ask(env, what);
	reads_end(&mask);
	return ret;
}
