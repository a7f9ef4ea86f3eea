/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an Erlang VM has its tables. Distributions strip the VM's program, and from OTP 29 on it
 * hides its symbols. So its data is searched for pointers to what can be nothing else:
 *
 *   atoms      pages of atoms that carry their index and begin with "false" and "true"
 *   modules    sorted ranges of code, all within executable memory; each begins with a module's
 *              header, and every function of the module names that module
 *   processes  pointers to structures that begin with a pid
 *
 * Nothing is guessed: if two places differ in what they would tell, neither is taken. The tables
 * change while they are read, so the search is repeated a few times.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "vm.h"
#include "vm_tables.h"

#define MAX_DATA   (64u << 20) /* bytes: a VM has about 350,000 */
#define MIN_JIT	   4096u
#define MAX_JIT	   (1u << 20)
#define MAX_MODULE (16u << 20)
enum {
	ATOM_TAG = 0x0b, /* in the low six bits */
	ATOM_PAGE = 1024,
	ATOM_INDEX = 16, /* in an atom */
	FIRST_ATOMS = 16,
	MAX_MODULES = 1 << 20,
	MAX_FUNCTIONS = 1 << 20,
	MIN_HEADER = 10,
	MAX_HEADER = 48, /* words */
	LINE_TABLE = 9,	 /* the word of the header that points to it */
	CHECKED = 64,	 /* modules whose functions are looked at */
	SLOTS = 512,	 /* of the table of processes that are looked at */
	FEWEST = 4,	 /* processes: a VM starts with more */
	PID_MASK = 15,
	PID_TAG = 3,
	TRIES = 4,
};

struct scan {
	const struct vm *vm;
	const struct vm_range *program, *code;
	size_t ncode;
	uint64_t at; /* of the first word */
	uint64_t *word;
	size_t n;
	struct vm_tables *t;
	uint64_t *pointer; /* those words that point to allocated memory, each once */
	size_t npointers;
};

static uint64_t word(const struct vm *vm, uint64_t addr)
{
	uint64_t v = 0;

	return vm_read(vm, addr, &v, sizeof(v)) ? v : 0;
}

static bool is_pointer(uint64_t v)
{
	return v % 8 == 0 && v >= 4096 && v < UINT64_C(1) << 47;
}

/* Tables that grow are not among the program's own data. */
static bool is_allocated(const struct scan *s, uint64_t v)
{
	return is_pointer(v) && (v < s->program->start || v >= s->program->end);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void find_pointers(struct scan *s)
{
	size_t n = 0, once = 0;

	for (size_t i = 0; i < s->n; i++)
		if (is_allocated(s, s->word[i]))
			s->pointer[n++] = s->word[i];
	qsort(s->pointer, n, sizeof(*s->pointer), by_value);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || s->pointer[i] != s->pointer[i - 1])
			s->pointer[once++] = s->pointer[i];
	s->npointers = once;
}

/* ---- atoms ---------------------------------------------------------------------------- */

bool vm_is_atom(uint64_t term)
{
	return (term & 0x3f) == ATOM_TAG;
}

static uint64_t atom_at(const struct vm *vm, const struct vm_atoms *a, uint64_t index)
{
	uint64_t page = word(vm, a->table + index / ATOM_PAGE * 8);

	return is_pointer(page) ? word(vm, page + index % ATOM_PAGE * 8) : 0;
}

bool vm_atom_text(
	const struct vm *vm, const struct vm_atoms *a, uint64_t index, char *buf, size_t size)
{
	uint64_t atom = atom_at(vm, a, index), text;
	int16_t len = -1;

	if (!is_pointer(atom) || !vm_read(vm, atom + a->len, &len, sizeof(len)) || len < 0 ||
		size == 0)
		return false;
	if ((size_t)len >= size)
		len = (int16_t)(size - 1);
	buf[len] = '\0';
	text = word(vm, atom + a->name);
	return vm_read(vm, a->text != 0 ? (text & ~UINT64_C(7)) + a->text : text, buf, (size_t)len);
}

static bool begins_right(const struct vm *vm, const struct vm_atoms *a)
{
	char first[8], second[8];

	return vm_atom_text(vm, a, 0, first, sizeof(first)) &&
	       vm_atom_text(vm, a, 1, second, sizeof(second)) && strcmp(first, "false") == 0 &&
	       strcmp(second, "true") == 0;
}

/* From OTP 28 on an atom points to a binary: a header and a length come before the text. */
static bool is_atoms(const struct vm *vm, struct vm_atoms *a)
{
	uint32_t index;

	for (uint32_t i = 0; i < FIRST_ATOMS; i++) {
		uint64_t atom = atom_at(vm, a, i);

		if (!is_pointer(atom) || !vm_read(vm, atom + ATOM_INDEX, &index, sizeof(index)) ||
			index != i)
			return false;
	}
	a->text = 0;
	if (begins_right(vm, a))
		return true;
	a->text = 16;
	return begins_right(vm, a);
}

static const char *find_atoms(struct scan *s)
{
	struct vm_atoms a = {.len = 24, .name = 32}, found = {0};

	for (size_t i = 0; i < s->npointers; i++) {
		a.table = s->pointer[i];
		if (!is_atoms(s->vm, &a))
			continue;
		if (found.table != 0)
			return "there are two tables of atoms";
		found = a;
	}
	s->t->atoms = found;
	return found.table != 0 ? NULL : "its table of atoms was not found";
}

/* ---- modules -------------------------------------------------------------------------- */

static bool in_code(const struct scan *s, const struct vm_range *r)
{
	for (size_t i = 0; i < s->ncode; i++)
		if (r->start >= s->code[i].start && r->end <= s->code[i].end)
			return true;
	return false;
}

struct modules { /* one of the VM's three structures */
	uint64_t at, n, room, middle;
};

static bool is_pointer_or_0(const struct scan *s, uint64_t v)
{
	return v == 0 || is_allocated(s, v);
}

/* Each of the three has been in use since a VM began: it has room for ranges. */
static bool is_structure(const struct scan *s, const struct modules *m)
{
	return is_allocated(s, m->at) && m->n <= MAX_MODULES && m->room > 0 &&
	       m->room <= MAX_MODULES && is_pointer_or_0(s, m->middle);
}

static bool are_structures(const struct scan *s, const struct modules *m)
{
	return is_structure(s, &m[0]) && is_structure(s, &m[1]) && is_structure(s, &m[2]);
}

/* The ranges of a structure that may be in use, to be freed; NULL: it is not. */
static struct vm_range *read_ranges(const struct scan *s, const struct modules *m)
{
	struct vm_range *r;

	if (m->at == 0 || m->n == 0 || m->n > m->room || m->middle < m->at ||
		m->middle > m->at + m->room * sizeof(*r))
		return NULL;
	r = malloc(m->n * sizeof(*r));
	if (r == NULL || !vm_read(s->vm, m->at, r, m->n * sizeof(*r)))
		goto none;
	for (size_t i = 0; i < m->n; i++)
		if (r[i].start > r[i].end || (i > 0 && r[i].start < r[i - 1].end) ||
			!in_code(s, &r[i]))
			goto none;
	return r;
none:
	free(r);
	return NULL;
}

/* n pointers to functions of one module, in order, and one to the end. code: all of the module. */
static bool are_functions(
	const struct vm_range *r, const uint8_t *code, const uint64_t *function, uint64_t n)
{
	uint64_t mfa[3], module = 0;

	for (uint64_t i = 0; i < n; i++) {
		if (function[i] <= r->start || function[i] >= function[i + 1] ||
			function[i + 1] > r->end || function[i + 1] - function[i] < VM_INFO)
			return false;
		memcpy(mfa, code + (function[i] - r->start) + VM_INFO_MFA, sizeof(mfa));
		if (!vm_is_atom(mfa[0]) || !vm_is_atom(mfa[1]) || (module != 0 && mfa[0] != module))
			return false;
		module = mfa[0];
	}
	return true;
}

/* A module's header and code, to be freed; its number of functions comes first. */
static uint64_t *read_module(const struct vm *vm, const struct vm_range *r)
{
	uint64_t n = word(vm, r->start), size = r->end - r->start, *w;

	if (n == 0 || n > MAX_FUNCTIONS || size > MAX_MODULE || 8 * (n + MAX_HEADER + 1) > size)
		return NULL;
	w = malloc(size);
	if (w != NULL && vm_read(vm, r->start, w, size) && w[0] == n)
		return w;
	free(w);
	return NULL;
}

/* The line table has a pointer to lines for each function, and one to the end. */
static bool are_lines(const struct vm *vm, const struct vm_range *r, uint64_t table, uint64_t n)
{
	uint64_t head[3], *f = malloc(8 * (n + 1));
	bool fits = f != NULL && is_pointer(table) && vm_read(vm, table, head, sizeof(head)) &&
		    ((uint32_t)head[1] == 2 || (uint32_t)head[1] == 4) &&
		    vm_read(vm, table + sizeof(head), f, 8 * (n + 1));

	for (uint64_t i = 0; fits && i < n; i++)
		fits = is_pointer(f[i]) && f[i] <= f[i + 1];
	if (fits && f[0] < f[n])
		fits = word(vm, f[0]) - r->start < r->end - r->start &&
		       word(vm, f[n] - 8) - r->start <= r->end - r->start;
	free(f);
	return fits;
}

/* Where functions are in a module's header, which is the same in all; what does not fit is told. */
static const char *find_functions(struct scan *s, const struct vm_range *r, size_t nranges)
{
	size_t step = nranges / CHECKED + 1;
	struct vm_tables *t = s->t;

	t->functions = 0;
	t->lines = true;
	for (size_t i = 0; i < nranges; i += step) {
		uint64_t *w = r[i].start < r[i].end ? read_module(s->vm, &r[i]) : NULL;
		unsigned found = 0, at = 0;

		if (w == NULL)
			continue;
		for (unsigned h = MIN_HEADER; h < MAX_HEADER; h++)
			if ((t->functions == 0 || h == t->functions) &&
				are_functions(&r[i], (const uint8_t *)w, w + h, w[0])) {
				found++;
				at = h;
			}
		t->lines &= w[LINE_TABLE] == 0 || are_lines(s->vm, &r[i], w[LINE_TABLE], w[0]);
		free(w);
		if (found != 1)
			return "the functions of a module were not found";
		t->functions = at;
	}
	return t->functions != 0 ? NULL : "no module has functions";
}

/* The code that shares a mapping with this module and has nothing of another, up to the module. */
static struct vm_range before_module(const struct scan *s, const struct vm_range *r, size_t i)
{
	struct vm_range gap = {r[i].start, r[i].start};

	for (size_t k = 0; k < s->ncode; k++)
		if (r[i].start >= s->code[k].start && r[i].start < s->code[k].end)
			gap.start = s->code[k].start;
	if (i > 0 && r[i - 1].end > gap.start)
		gap.start = r[i - 1].end;
	if (gap.end - gap.start > MAX_JIT)
		gap.start = gap.end - MAX_JIT;
	return gap;
}

/*
 * The JIT's own code is the first that it makes, so a module follows it. But that need not be the
 * first of all modules: code that is loaded later often gets memory below.
 */
static bool find_jit(struct scan *s, const struct vm_range *r, size_t n)
{
	uint8_t *code = malloc(MAX_JIT);
	struct vm_jit jit;
	unsigned found = 0;

	for (size_t i = 0; i < n && code != NULL; i++) {
		struct vm_range gap = before_module(s, r, i);
		size_t size = gap.end - gap.start;

		if (size < MIN_JIT || !vm_read(s->vm, gap.start, code, size) ||
			!vm_jit_find(code, size, gap.start, &jit))
			continue;
		s->t->jit = jit;
		found++;
	}
	free(code);
	return found == 1 && s->t->jit.active - s->at < 8 * s->n;
}

/*
 * Is this the first of the three structures? Then *r are the ranges of the one in use. The ranges of
 * the others may be anything: code that they name may be gone, and one that the VM has begun to
 * fill, or has given up on, has none yet. They are read anew: when the VM has loaded code since the
 * scan, what was the one in use then is not.
 */
static bool are_modules(struct scan *s, size_t i, struct vm_range **r, size_t *n)
{
	struct modules m[3];
	uint32_t active;

	if (!are_structures(s, (const struct modules *)(s->word + i)) ||
		!vm_read(s->vm, s->at + 8 * i, m, sizeof(m)) || !are_structures(s, m))
		return false;
	for (unsigned k = 0; k < 3; k++) {
		*r = read_ranges(s, &m[k]);
		*n = m[k].n;
		if (*r != NULL && find_jit(s, *r, *n) &&
			vm_read(s->vm, s->t->jit.active, &active, sizeof(active)) && active == k)
			return true;
		free(*r);
	}
	*r = NULL;
	return false;
}

static const char *find_modules(struct scan *s)
{
	struct vm_range *r = NULL;
	const char *why = "its table of modules was not found";
	size_t n = 0;

	s->t->modules = 0;
	for (size_t i = 0; i + 12 <= s->n; i++) {
		struct vm_range *also = NULL;
		size_t nalso = 0;

		if (!are_modules(s, i, &also, &nalso))
			continue;
		if (s->t->modules != 0) {
			free(also);
			s->t->modules = 0;
			why = "there are two tables of modules";
			break;
		}
		s->t->modules = s->at + 8 * i;
		r = also;
		n = nalso;
	}
	if (s->t->modules != 0)
		why = find_functions(s, r, n);
	free(r);
	return why;
}

/* ---- processes ------------------------------------------------------------------------ */

/* How many processes a table begins with; 0: it is something else. One may just be ending. */
static unsigned count_processes(const struct vm *vm, uint64_t table)
{
	uint64_t at[SLOTS];
	unsigned n = 0, odd = 0;

	if (!vm_read(vm, table, at, sizeof(at)))
		return 0;
	for (unsigned i = 0; i < SLOTS && odd <= n / 8 + 1; i++) {
		uint64_t id = is_pointer(at[i]) ? word(vm, at[i]) : 0;

		if ((id & PID_MASK) == PID_TAG)
			n++;
		else
			odd += at[i] != 0;
	}
	return n >= FEWEST && odd <= n / 8 ? n : 0;
}

/* Nobody needs them for names: without them there is none. */
static void find_processes(struct scan *s)
{
	uint64_t found = 0;

	for (size_t i = 0; i < s->npointers; i++) {
		if (count_processes(s->vm, s->pointer[i]) == 0)
			continue;
		if (found != 0)
			return;
		found = s->pointer[i];
	}
	s->t->processes = found;
}

/* ---- all of it ------------------------------------------------------------------------ */

const char *vm_tables_find(const struct vm *vm, const struct vm_range *program,
	const struct vm_range *data, const struct vm_range *code, size_t ncode, struct vm_tables *t)
{
	const struct timespec while_it_loads = {.tv_nsec = 2000000};
	size_t size = (data->end - data->start) & ~UINT64_C(7);
	struct scan s = {vm, program, code, ncode, data->start, NULL, size / 8, t, NULL, 0};
	const char *why = "its data cannot be read";

	*t = (struct vm_tables){0};
	s.word = size <= MAX_DATA ? malloc(size + 1) : NULL;
	s.pointer = s.word != NULL ? malloc(size + 1) : NULL;
	for (unsigned i = 0; i < TRIES && s.pointer != NULL && why != NULL; i++) {
		if (i > 0)
			nanosleep(&while_it_loads, NULL);
		if (!vm_read(vm, data->start, s.word, size))
			break;
		find_pointers(&s);
		why = find_atoms(&s);
		if (why == NULL)
			why = find_modules(&s);
	}
	if (why == NULL)
		find_processes(&s);
	free(s.pointer);
	free(s.word);
	return why;
}
