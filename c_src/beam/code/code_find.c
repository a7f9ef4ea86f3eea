/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The finder of loaded code (not on the probe path). The VM hides where it has the code of modules,
 * but each function has its module, name and arity in front of it, and each module begins so:
 *
 *   header	   the number of functions; attributes, literals and so on; the line table's address
 *   functions[]   the address of each function in this order, and the end of the last one
 *   code	   the functions; then the line table and other data
 *
 * So from one function on, backwards, a word with its address is looked for: that is functions[],
 * if all of its entries are functions of the same module, in ascending order. How many words before
 * it the header begins differs by release. It is learned: one distance only, at which every module
 * that is loaded has the number of its functions. Likewise where the line table is: all of its
 * parts must lie one behind the other.
 *
 * All of this lies in the JIT's memory, the names of files in literals. The VM may free both while
 * they are read.
 *
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beam/term/atom_text.h"
#include "engine/safe.h"
#include "utf8.h"
#include "code_find.h"
#include "code_names.h"

#define WORD	    sizeof(uintptr_t)
#define MOST_CODE   (64u << 20) /* bytes of a module */
#define MOST_FNS    (1u << 17)
#define MOST_FILES  4096u
#define MOST_CELLS  1024u /* characters of a file's name */
#define CHUNK	    (8u << 10) /* words that are scanned at a time */
#define HEADER_FROM 8u	       /* words of a header, at least */
#define HEADER_TO   32u
#define FEW_MODULES 20u /* nothing is learned from so few */

static struct {
	unsigned header; /* words before functions[] where it begins; 0: not learned */
	unsigned lines;	 /* the word there that is the line table's address */
} shape;

static bool no(char why[CODE_WHY], const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool no(char why[CODE_WHY], const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, CODE_WHY, format, ap);
	va_end(ap);
	return false;
}

/* ---- memory ---------------------------------------------------------------------------- */

static uint64_t nwords, flip; /* tests */

void code_find_flip(uint64_t n)
{
	nwords = 0;
	flip = n;
}

uint64_t code_find_words(void)
{
	return nwords;
}

/* Whole words, aligned. */
static bool copy(void *dst, uintptr_t from, size_t n)
{
	if (from % WORD != 0 || safe_copy(dst, (const void *)from, n) != 0)
		return false;
	if (flip > nwords && flip <= nwords + n / WORD)
		((uintptr_t *)dst)[flip - nwords - 1] ^= ~(uintptr_t)0;
	nwords += n / WORD;
	return true;
}

bool code_find_word(uintptr_t at, uintptr_t *word)
{
	return copy(word, at, WORD);
}

static struct code_range *maps;
static unsigned nmaps, maps_room;

/* The JIT's: executable, of no file but one in memory. */
static bool is_jit(const char *perms, const char *name)
{
	return perms[2] == 'x' && (name[0] == '\0' || strstr(name, "vmem") != NULL ||
					  strstr(name, "memfd") != NULL);
}

static bool add_map(uintptr_t from, uintptr_t to)
{
	if (nmaps > 0 && maps[nmaps - 1].to == from) {
		maps[nmaps - 1].to = to;
		return true;
	}
	if (nmaps == maps_room) {
		unsigned room = maps_room ? 2 * maps_room : 16;
		struct code_range *more = realloc(maps, room * sizeof(*maps));

		if (more == NULL)
			return false;
		maps = more;
		maps_room = room;
	}
	maps[nmaps++] = (struct code_range){from, to};
	return true;
}

bool code_find_maps(char why[CODE_WHY])
{
	FILE *file = fopen("/proc/self/maps", "re");
	char line[512], perms[5], name[64];
	uintptr_t from, to;
	bool ok = true;

	if (file == NULL)
		return no(why, "/proc/self/maps cannot be read: %s", strerror(errno));
	nmaps = 0;
	while (ok && fgets(line, sizeof(line), file) != NULL) {
		name[0] = '\0';
		if (sscanf(line, "%lx-%lx %4s %*x %*s %*u %63[^\n]", &from, &to, perms, name) >=
				3 &&
			is_jit(perms, name))
			ok = add_map(from, to);
	}
	fclose(file);
	return ok || no(why, "out of memory");
}

const struct code_range *code_find_map(uintptr_t at)
{
	for (unsigned i = 0; i < nmaps; i++)
		if (at >= maps[i].from && at < maps[i].to)
			return &maps[i];
	return NULL;
}

const struct code_range *code_find_nth_map(unsigned i)
{
	return i < nmaps ? &maps[i] : NULL;
}

/* ---- functions ------------------------------------------------------------------------- */

static bool is_atom(uintptr_t word)
{
	return (word & 0x3f) == (atom_ok & 0x3f);
}

/* What lies in front of a function, of this module. */
static bool is_function(uintptr_t info, ERL_NIF_TERM mod, uintptr_t mfa[3])
{
	if (info % WORD != 0 || !copy(mfa, info + CODE_MFA, 3 * WORD))
		return false;
	return mfa[0] == mod && is_atom(mfa[1]) && mfa[2] < 256;
}

bool code_find_is(uintptr_t info, ERL_NIF_TERM mod, ERL_NIF_TERM fun, unsigned arity)
{
	uintptr_t mfa[3];

	return code_find_map(info) != NULL && is_function(info, mod, mfa) && mfa[1] == fun &&
	       mfa[2] == arity;
}

/* The first entry of the list of functions that this is an entry of; 0: it is none. */
static uintptr_t first_entry(uintptr_t at, ERL_NIF_TERM mod)
{
	uintptr_t entry, before, mfa[3];

	if (!code_find_word(at, &entry))
		return 0;
	while (code_find_word(at - WORD, &before) && before < entry && before > at &&
		entry - before < MOST_CODE && is_function(before, mod, mfa)) {
		entry = before;
		at -= WORD;
	}
	return at;
}

/* How many are there of this module? What follows is its end. */
static unsigned count_entries(uintptr_t at, ERL_NIF_TERM mod)
{
	uintptr_t entry, last = at, mfa[3];
	unsigned n = 0;

	while (n < MOST_FNS && code_find_word(at + n * WORD, &entry) && entry > last &&
		is_function(entry, mod, mfa)) {
		last = entry;
		n++;
	}
	return n;
}

/* The list of functions that has this one; 0: not found. *n: functions there. */
static uintptr_t list_at(uintptr_t hit, ERL_NIF_TERM mod, unsigned *n)
{
	uintptr_t at = first_entry(hit, mod), count;

	if (at == 0)
		return 0;
	*n = count_entries(at, mod);
	if (*n == 0 || (hit - at) / WORD >= *n)
		return 0;
	if (shape.header != 0 &&
		(!code_find_word(at - shape.header * WORD, &count) || count != *n))
		return 0;
	return at;
}

static uintptr_t find_list(uintptr_t info, ERL_NIF_TERM mod, unsigned *n)
{
	static uintptr_t chunk[CHUNK]; /* one caller at a time */
	const struct code_range *map = code_find_map(info);
	uintptr_t to = info, from, end, list;

	if (map == NULL)
		return 0;
	end = info - map->from > MOST_CODE ? info - MOST_CODE : map->from;
	for (; to > end; to = from) {
		from = to - end > sizeof(chunk) ? to - sizeof(chunk) : end;
		if (!copy(chunk, from, to - from))
			return 0;
		for (unsigned i = (unsigned)((to - from) / WORD); i-- > 0;)
			if (chunk[i] == info && (list = list_at(from + i * WORD, mod, n)) != 0)
				return list;
	}
	return 0;
}

/* ---- line tables ----------------------------------------------------------------------- */

struct lines {
	uintptr_t head[3], files, locs;
	unsigned nfiles;
};

/* Its parts must lie one behind the other. */
static bool read_lines(uintptr_t at, unsigned n, struct lines *l)
{
	const struct code_range *map = code_find_map(at);
	uintptr_t *items, base = at + LINES_ITEMS + (n + 1) * WORD, last = base;
	bool ok;

	if (map == NULL || at % WORD != 0 || map->to - at < LINES_ITEMS + (n + 1) * WORD ||
		!copy(l->head, at, sizeof(l->head)))
		return false;
	l->files = l->head[0];
	l->locs = l->head[2];
	items = malloc((n + 1) * WORD);
	ok = items != NULL && copy(items, at + LINES_ITEMS, (n + 1) * WORD) && items[0] == base;
	for (unsigned i = 0; ok && i <= n; i++) {
		ok = items[i] >= last && items[i] % WORD == 0 && items[i] < map->to;
		last = items[i];
	}
	free(items);
	ok = ok && ((l->head[1] & 0xffffffff) == 2 || (l->head[1] & 0xffffffff) == 4) &&
	     l->files == last + WORD && l->locs > l->files && l->locs % WORD == 0 &&
	     l->locs < map->to && (l->locs - l->files) / WORD <= MOST_FILES;
	l->nfiles = ok ? (unsigned)((l->locs - l->files) / WORD) : 0;
	return ok;
}

/*
 * A list of characters, whose cells lie one after the other, in either direction. The number of
 * cells, as they lie in memory; 0: it is none such. *first: where the first one is, *step: to the
 * next one.
 *
 */
static unsigned read_name(uintptr_t term, uintptr_t *cells, unsigned *first, int *step)
{
	uintptr_t cell[2], t = term;
	unsigned n = 0;

	if ((term & 3) != 1 || !copy(cell, term - 1, sizeof(cell)))
		return 0;
	*step = cell[1] == term - 2 * WORD ? -1 : 1;
	do { /* to the end */
		if (n == MOST_CELLS || (t & 3) != 1 || !copy(cell, t - 1, sizeof(cell)))
			return 0;
		n++;
		t += 2 * WORD * (uintptr_t)*step;
	} while (cell[1] == t);
	*first = *step > 0 ? 0 : n - 1;
	if ((cell[1] & 3) != 3 || !copy(cells, term - 1 - *first * 2 * WORD, n * 2 * WORD))
		return 0;
	t = term;
	for (unsigned i = 0; i < n; i++) { /* what is kept */
		const uintptr_t *at = cells + 2 * ((int)*first + *step * (int)i);

		t += 2 * WORD * (uintptr_t)*step;
		if ((at[0] & 15) != 15 || at[0] >> 4 > 0x10ffff ||
			at[1] != (i + 1 < n ? t : cell[1]))
			return 0;
	}
	return n;
}

static size_t name_text(const uintptr_t *cell, unsigned n, int step, char *buf)
{
	size_t len = 0;

	for (unsigned i = 0; i < n; i++, cell += 2 * step)
		len += utf8_encode((uint32_t)(cell[0] >> 4), buf + len);
	return len;
}

/* The name of an Erlang module's file, which the VM makes up. */
static size_t own_file(ERL_NIF_TERM mod, char buf[TERM_ATOM_NAME + 4])
{
	size_t len = beam_atom_name(mod, buf);

	memcpy(buf + len, ".erl", 4);
	return len + 4;
}

/* Of a path the last part is what frames show. */
static bool read_file(struct code_module *m, unsigned i, uintptr_t term)
{
	static uintptr_t cells[2 * MOST_CELLS]; /* one caller at a time */
	static char text[4 * MOST_CELLS];
	char own[TERM_ATOM_NAME + 4];
	struct code_file *f = &m->files[i];
	unsigned first = 0, n;
	size_t len, base, own_len = own_file(m->mod, own);
	const char *slash;
	uintptr_t *kept;
	int step;

	n = read_name(term, cells, &first, &step);
	if (n == 0)
		return false;
	len = name_text(cells + 2 * first, n, step, text);
	f->term = term;
	f->at = term - 1 - first * 2 * WORD;
	slash = memrchr(text, '/', len);
	base = slash != NULL ? (size_t)(slash + 1 - text) : 0;
	f->number = code_file_number(text + base, len - base);
	if (i == 0 && len == own_len && memcmp(text, own, len) == 0)
		return true;
	kept = malloc(2 * n * WORD);
	if (kept == NULL)
		return false;
	memcpy(kept, cells, 2 * n * WORD);
	f->cells = kept;
	f->ncells = n;
	return true;
}

static bool read_files(struct code_module *m, const struct lines *l)
{
	uintptr_t term;

	memcpy(m->head, l->head, sizeof(m->head));
	m->files = calloc(l->nfiles, sizeof(*m->files));
	if (m->files == NULL)
		return false;
	m->nfiles = l->nfiles;
	for (unsigned i = 0; i < l->nfiles; i++)
		if (!code_find_word(l->files + i * WORD, &term) || !read_file(m, i, term))
			return false;
	return true;
}

/* ---- modules --------------------------------------------------------------------------- */

void code_module_free(struct code_module *m)
{
	if (m == NULL)
		return;
	for (unsigned i = 0; i < m->nfiles; i++)
		free((void *)(uintptr_t)m->files[i].cells);
	free(m->files);
	free(m->starts);
	free(m->numbers);
	free(m);
}

uint64_t code_module_sum(const struct code_module *m)
{
	uint64_t sum = m->from ^ m->to << 1 ^ m->functions << 2 ^ m->lines << 3 ^ m->mod << 4;

	for (unsigned i = 0; i < 3; i++)
		sum = sum * 31 + m->head[i];
	for (unsigned i = 0; i < m->n; i++)
		sum = (sum ^ (m->starts[i] - m->from)) * 31 + m->numbers[i];
	for (unsigned i = 0; i < m->nfiles; i++) {
		sum = (sum ^ m->files[i].term) * 31 + m->files[i].number;
		for (unsigned k = 0; k < 2 * m->files[i].ncells; k++)
			sum = sum * 31 + m->files[i].cells[k];
	}
	return sum;
}

static bool read_functions(struct code_module *m)
{
	uintptr_t last = m->from, entry, mfa[3];
	const struct code_range *map = code_find_map(m->functions);

	for (unsigned i = 0; i <= m->n; i++, last = entry) {
		if (!code_find_word(m->functions + i * WORD, &entry))
			return false;
		if (i == 0)
			last = m->from = entry;
		if ((i > 0 && entry < last + CODE_INFO) || entry <= m->functions ||
			entry - m->from > MOST_CODE || entry > map->to)
			return false;
		m->starts[i] = entry;
		if (i == m->n)
			m->to = entry;
		else if (is_function(entry, m->mod, mfa))
			m->numbers[i] = code_function_number(mfa[0], mfa[1], (unsigned)mfa[2]);
		else
			return false;
	}
	return true;
}

static struct code_module *read_module(
	uintptr_t list, unsigned n, ERL_NIF_TERM mod, char why[CODE_WHY])
{
	struct code_module *m = calloc(1, sizeof(*m));
	struct lines l;

	if (m == NULL)
		return NULL;
	m->functions = list;
	m->lines_at = list - (shape.header - shape.lines) * WORD;
	m->mod = mod;
	m->n = n;
	m->starts = malloc((n + 1) * sizeof(*m->starts));
	m->numbers = malloc(n * sizeof(*m->numbers));
	if (m->starts == NULL || m->numbers == NULL)
		no(why, "out of memory");
	else if (!read_functions(m))
		no(why, "a module's functions are not as known");
	else if (!code_find_word(m->lines_at, &m->lines) ||
		 (m->lines != 0 && !read_lines(m->lines, n, &l)))
		no(why, "a module's line table is not as known");
	else if (m->lines != 0 && !read_files(m, &l))
		no(why, "a module's names of files are not as known");
	else
		return m;
	code_module_free(m);
	return NULL;
}

struct code_module *code_find_entry(const struct code_entry *entry, char why[CODE_WHY])
{
	unsigned n;
	uintptr_t list = find_list(entry->at, entry->mod, &n);

	if (list == 0 || shape.header == 0) {
		no(why, "no list of a module's functions");
		return NULL;
	}
	return read_module(list, n, entry->mod, why);
}

/* From there backwards, the first that looks like what lies in front of a function. */
struct code_module *code_find_pc(uintptr_t pc, char why[CODE_WHY])
{
	const struct code_range *map = code_find_map(pc);
	uintptr_t at = pc & ~(uintptr_t)7, mfa[3];

	no(why, "no module has code there");
	for (unsigned i = 0; map != NULL && at >= map->from + CODE_INFO && i < MOST_CODE / WORD;
		i++, at -= WORD) {
		struct code_module *m;

		if (!copy(mfa, at + CODE_MFA, sizeof(mfa)))
			return NULL;
		if (!is_atom(mfa[0]) || !is_atom(mfa[1]) || mfa[2] >= 256)
			continue;
		m = code_find_entry(&(struct code_entry){at, mfa[0]}, why);
		if (m == NULL)
			continue;
		if (pc < m->to)
			return m;
		code_module_free(m);
		return NULL;
	}
	return NULL;
}

uintptr_t code_find_header(const struct code_module *m)
{
	return m->functions - shape.header * WORD;
}

static bool same_files(const struct code_module *m)
{
	if (m->lines == 0)
		return true;
	if (!safe_same((const void *)m->lines, m->head, 3))
		return false;
	for (unsigned i = 0; i < m->nfiles; i++) {
		const struct code_file *f = &m->files[i];

		if (!safe_same((const void *)(m->head[0] + i * WORD), &f->term, 1) ||
			(f->ncells > 0 &&
				!safe_same((const void *)f->at, f->cells, 2 * f->ncells)))
			return false;
	}
	return true;
}

bool code_find_same(const struct code_module *m)
{
	const uintptr_t count = m->n;

	if (!safe_same((const void *)code_find_header(m), &count, 1) ||
		!safe_same((const void *)m->lines_at, &m->lines, 1) ||
		!safe_same((const void *)m->functions, m->starts, m->n + 1))
		return false;
	for (unsigned i = 0; i < m->n; i++) {
		const void *mfa = (const void *)(m->starts[i] + CODE_MFA);

		if (m->numbers[i] == 0 ? !safe_same(mfa, &m->mod, 1)
				       : !safe_same(mfa, code_function_of(m->numbers[i]), 3))
			return false;
	}
	return same_files(m);
}

/* ---- what is learned ------------------------------------------------------------------- */

struct sample {
	uintptr_t list;
	unsigned n;
};

/* The only distance at which each module has the number of its functions. */
static bool learn_header(const struct sample *s, unsigned n, char why[CODE_WHY])
{
	unsigned found = 0, different = 0;
	uintptr_t count;

	for (unsigned i = 1; i < n; i++)
		different += s[i].n != s[0].n;
	if (n < FEW_MODULES || different < FEW_MODULES / 2)
		return no(why, "too few modules to learn from");
	for (unsigned h = HEADER_FROM; h <= HEADER_TO; h++) {
		unsigned i = 0;

		while (i < n && code_find_word(s[i].list - h * WORD, &count) && count == s[i].n)
			i++;
		if (i < n)
			continue;
		if (found != 0)
			return no(why, "the number of a module's functions is in two places");
		found = h;
	}
	shape.header = found;
	return found != 0 || no(why, "no number of a module's functions");
}

/* The only word of the header that is the address of a line table, or 0, in each module. */
static bool learn_lines(const struct sample *s, unsigned n, char why[CODE_WHY])
{
	unsigned found = 0;
	uintptr_t at;
	struct lines l;

	for (unsigned w = 1; w < shape.header; w++) {
		unsigned i = 0, tables = 0;

		for (; i < n; i++) {
			if (!code_find_word(s[i].list - (shape.header - w) * WORD, &at) ||
				(at != 0 && !read_lines(at, s[i].n, &l)))
				break;
			tables += at != 0;
		}
		if (i < n || tables < FEW_MODULES)
			continue;
		if (found != 0)
			return no(why, "the line table of a module is in two places");
		found = w;
	}
	shape.lines = found;
	return found != 0 || no(why, "no line table of a module");
}

bool code_find_learn(const struct code_entry *entries, unsigned n, char why[CODE_WHY])
{
	struct sample *samples = calloc(n + 1, sizeof(*samples));
	bool ok = samples != NULL || no(why, "out of memory");

	shape.header = shape.lines = 0;
	for (unsigned i = 0; ok && i < n; i++) {
		samples[i].list = find_list(entries[i].at, entries[i].mod, &samples[i].n);
		ok = samples[i].list != 0 || no(why, "a module has no list of functions as known");
	}
	ok = ok && learn_header(samples, n, why) && learn_lines(samples, n, why);
	if (!ok)
		shape.header = 0;
	free(samples);
	return ok;
}
