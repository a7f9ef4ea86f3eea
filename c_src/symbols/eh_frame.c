/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The section .eh_frame of a program or library: an entry for each function, of which rows are made
 * (eh_frame.h). What functions have in common is in entries of its own, which are read when a
 * function names them. The bytes are somebody else's: each number is checked, and the work is
 * limited.
 */
#include <stdlib.h>
#include <string.h>

#include "cfi.h"
#include "elf.h"

#define MAX_SECTION (256u << 20)
#define MAX_ROWS    (1u << 22) /* of a file */
enum {
	COMMONS = 64,	    /* that are kept: one is used by many functions in a row */
	WORK = 16,	    /* bytes that are read for each byte of the section, at most */
	PADDING = 15,	    /* bytes between two functions that nobody runs */
	PC_RELATIVE = 0x10, /* DW_EH_PE_pcrel */
};

struct function {
	uint64_t from, end; /* from the base */
	size_t row, nrows;
};
struct reader {
	const uint8_t *bytes;
	size_t n;
	uint64_t address, from, end;
	uint64_t work; /* bytes that may still be read */
	struct common {
		size_t at;
		bool good;
		struct cfi_common is;
	} common[COMMONS];
	struct unwind_row *row; /* of functions as they come */
	size_t nrows;
	struct function *functions;
	size_t nfunctions;
	uint64_t pc_end; /* of the function that is read */
	bool cut, no_memory;
};

/* ---- entries ---------------------------------------------------------------------------- */

/* An address, or a size, in the encoding that DW_EH_PE_* names. */
static bool read_pointer(struct reader *r, struct cfi_bytes *b, unsigned encoding, uint64_t *to)
{
	uint64_t here = r->address + (uint64_t)(b->at - r->bytes);

	switch (encoding & 0x0f) {
	case 0x00:
	case 0x04:
	case 0x0c: *to = cfi_fixed(b, 8); break;
	case 0x01: *to = cfi_uleb(b); break;
	case 0x02: *to = cfi_fixed(b, 2); break;
	case 0x03: *to = cfi_fixed(b, 4); break;
	case 0x09: *to = (uint64_t)cfi_sleb(b); break;
	case 0x0a: *to = cfi_signed(b, 2); break;
	case 0x0b: *to = cfi_signed(b, 4); break;
	default: return false;
	}
	if ((encoding & 0xf0) == PC_RELATIVE)
		*to += here;
	else if ((encoding & 0xf0) != 0)
		return false;
	return !b->bad;
}

/* What follows a length: an entry of the section at *at, which moves on. false: there is none. */
static bool next_entry(const struct reader *r, size_t *at, struct cfi_bytes *entry)
{
	struct cfi_bytes b = {r->bytes + *at, r->bytes + r->n, false};
	uint64_t size = cfi_fixed(&b, 4);

	if (size == UINT32_MAX)
		size = cfi_fixed(&b, 8);
	if (b.bad || size == 0)
		return false;
	*entry = cfi_block(&b, size);
	*at = (size_t)(b.at - r->bytes);
	return !b.bad;
}

/* What the letters of the augmentation say. */
static bool read_augmentation(
	struct reader *r, struct cfi_common *c, const char *letters, struct cfi_bytes *b)
{
	struct cfi_bytes data = cfi_block(b, cfi_uleb(b));
	uint64_t unused;

	c->sized = true;
	for (const char *l = letters + 1; *l != '\0'; l++) {
		switch (*l) {
		case 'R': c->encoding = (uint8_t)cfi_fixed(&data, 1); break;
		case 'L': cfi_fixed(&data, 1); break;
		case 'P':
			/* only its size matters: an indirect one is as large */
			if (!read_pointer(r, &data, cfi_fixed(&data, 1) & 0x1f, &unused))
				return false;
			break;
		case 'S': c->signal = true; break;
		case 'B': break;
		default: return false;
		}
	}
	return !data.bad;
}

static bool no_row(void *arg, uint64_t pc, const struct cfi_state *s)
{
	(void)arg;
	(void)pc;
	(void)s;
	return false;
}

static bool read_common(struct reader *r, size_t at, struct cfi_common *c)
{
	struct cfi_bytes b;
	const char *letters;
	unsigned version;
	uint64_t pc = 0;

	*c = (struct cfi_common){0};
	if (!next_entry(r, &at, &b) || cfi_fixed(&b, 4) != 0)
		return false;
	r->work -= (uint64_t)(b.end - b.at) < r->work ? (uint64_t)(b.end - b.at) : r->work;
	version = (unsigned)cfi_fixed(&b, 1);
	letters = (const char *)b.at;
	if (memchr(letters, '\0', (size_t)(b.end - b.at)) == NULL)
		return false;
	b.at += strlen(letters) + 1;
	if (version == 4 && cfi_fixed(&b, 2) != 8) /* bytes of an address; of a segment: none */
		return false;
	if (version != 1 && version != 3 && version != 4)
		return false;
	c->code_align = cfi_uleb(&b);
	c->data_align = cfi_sleb(&b);
	if ((version == 1 ? cfi_fixed(&b, 1) : cfi_uleb(&b)) != CFI_RA)
		return false;
	if (letters[0] == 'z' ? !read_augmentation(r, c, letters, &b) : letters[0] != '\0')
		return false;
	return !b.bad && cfi_run(b, c, &pc, &c->state, no_row, NULL);
}

static const struct cfi_common *common_at(struct reader *r, size_t at)
{
	struct common *c = &r->common[at / 4 % COMMONS];

	if (c->at != at || at == 0) {
		c->at = at;
		c->good = read_common(r, at, &c->is);
	}
	return c->good ? &c->is : NULL;
}

/* ---- functions -------------------------------------------------------------------------- */

static void *grown(struct reader *r, void *array, size_t n, size_t size)
{
	void *more;

	if (n != 0 && (n & (n - 1)) != 0)
		return array;
	more = realloc(array, (n != 0 ? 2 * n : 1) * size);
	if (more == NULL)
		r->no_memory = true;
	return more;
}

static bool is_same(const struct unwind_rule *a, const struct unwind_rule *b)
{
	return unwind_word(a) == unwind_word(b);
}

static bool add_row(struct reader *r, uint64_t pc, struct unwind_rule rule)
{
	struct unwind_row *rows;

	if (r->nrows >= MAX_ROWS) {
		r->cut = true;
		return false;
	}
	rows = grown(r, r->row, r->nrows, sizeof(*rows));
	if (rows == NULL)
		return false;
	r->row = rows;
	r->row[r->nrows++] = (struct unwind_row){(uint32_t)pc, rule};
	return true;
}

/* Code from pc on, as cfi_run() tells it; up to the end of the function. */
static bool code_row(void *arg, uint64_t pc, const struct cfi_state *s)
{
	struct reader *r = arg;

	return pc < r->pc_end && add_row(r, pc, cfi_rule(s));
}

static void read_instructions(
	struct reader *r, struct cfi_bytes code, const struct cfi_common *c, uint64_t pc)
{
	struct cfi_state s = c->state;

	if (!cfi_run(code, c, &pc, &s, code_row, r))
		s.cfa = UNWIND_NONE; /* from where it is wrong on */
	code_row(r, pc, &s);
}

static void read_function(struct reader *r, const struct cfi_common *c, struct cfi_bytes b)
{
	uint64_t from, size;
	struct function *more;

	if (!read_pointer(r, &b, c->encoding, &from) ||
		!read_pointer(r, &b, c->encoding & 0x0f, &size) || from < r->from || from >= r->end)
		return;
	if (c->sized)
		cfi_block(&b, cfi_uleb(&b));
	more = b.bad ? NULL : grown(r, r->functions, r->nfunctions, sizeof(*more));
	if (more == NULL)
		return;
	r->functions = more;
	from -= r->from;
	if (size > r->end - r->from - from)
		size = r->end - r->from - from;
	more = &r->functions[r->nfunctions++];
	*more = (struct function){.from = from, .end = from + size, .row = r->nrows};
	r->pc_end = more->end;
	read_instructions(r, b, c, from);
	more->nrows = r->nrows - more->row;
}

static void read_functions(struct reader *r)
{
	struct cfi_bytes b;

	for (size_t at = 0; !r->no_memory && !r->cut && next_entry(r, &at, &b);) {
		size_t here = (size_t)(b.at - r->bytes);
		uint64_t back = cfi_fixed(&b, 4);
		const struct cfi_common *c;

		if (back == 0) /* what functions have in common */
			continue;
		if (r->work == 0) {
			r->cut = true;
			return;
		}
		c = back <= here ? common_at(r, here - back) : NULL;
		if (c != NULL)
			read_function(r, c, b);
	}
}

/* ---- all of it in order ----------------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static void put(struct unwind_rows *to, uint32_t pc, const struct unwind_rule *rule)
{
	if (to->n > 0 && to->row[to->n - 1].pc == pc)
		to->n--;
	if (to->n == 0 || !is_same(&to->row[to->n - 1].rule, rule))
		to->row[to->n++] = (struct unwind_row){pc, *rule};
}

/* Between two functions there may be bytes that nobody runs; more of them are code unknown. */
static void put_all(struct reader *r, struct unwind_rows *to)
{
	static const struct unwind_rule none = {.cfa = UNWIND_NONE};
	uint64_t end = 0;

	for (size_t i = 0; i < r->nfunctions; i++) {
		const struct function *f = &r->functions[i];

		if (f->from < end || f->from == f->end)
			continue; /* a second time */
		if (i > 0 && f->from - end > PADDING)
			put(to, (uint32_t)end, &none);
		for (size_t k = 0; k < f->nrows; k++)
			put(to, r->row[f->row + k].pc, &r->row[f->row + k].rule);
		end = f->end;
	}
	if (to->n > 0)
		put(to, (uint32_t)end, &none);
}

bool unwind_decode(struct unwind_rows *to, const uint8_t *bytes, size_t n, uint64_t address,
	uint64_t from, uint64_t end)
{
	struct reader *r = calloc(1, sizeof(*r));

	*to = (struct unwind_rows){.base = from};
	if (r == NULL || end <= from || end - from > UINT32_MAX) {
		free(r);
		return false;
	}
	r->bytes = bytes;
	r->n = n;
	r->address = address;
	r->from = from;
	r->end = end;
	r->work = WORK * (uint64_t)n;
	read_functions(r);
	if (r->nfunctions > 0 && !r->no_memory)
		to->row = malloc((r->nrows + r->nfunctions + 1) * sizeof(*to->row));
	if (to->row != NULL) {
		qsort(r->functions, r->nfunctions, sizeof(*r->functions), by_address);
		put_all(r, to);
		to->cut = r->cut;
	}
	free(r->row);
	free(r->functions);
	free(r);
	return to->n > 0;
}

/* From the first code of the file to the last. */
static bool code_of(int fd, uint64_t *from, uint64_t *end)
{
	struct elf f = {0};

	*from = UINT64_MAX;
	*end = 0;
	if (!elf_read_segments(&f, fd))
		return false;
	for (unsigned i = 0; i < f.nload; i++) {
		const Elf64_Phdr *l = &f.load[i];

		if (!(l->p_flags & PF_X) || l->p_memsz > UINT64_MAX - l->p_vaddr)
			continue;
		*from = l->p_vaddr < *from ? l->p_vaddr : *from;
		*end = l->p_vaddr + l->p_memsz > *end ? l->p_vaddr + l->p_memsz : *end;
	}
	elf_free(&f);
	return *from < *end;
}

bool unwind_read(struct unwind_rows *to, int fd)
{
	uint64_t from, end;
	Elf64_Shdr sh;
	uint8_t *bytes;
	bool found;

	*to = (struct unwind_rows){0};
	if (!elf_section(fd, ".eh_frame", &sh) || sh.sh_type == SHT_NOBITS ||
		!code_of(fd, &from, &end))
		return false;
	bytes = elf_bytes(fd, sh.sh_offset, sh.sh_size, MAX_SECTION);
	if (bytes == NULL)
		return false;
	found = unwind_decode(to, bytes, sh.sh_size, sh.sh_addr, from, end);
	free(bytes);
	return found;
}

const struct unwind_rule *unwind_find(const struct unwind_rows *in, uint64_t address)
{
	static const struct unwind_rule none = {.cfa = UNWIND_NONE};
	size_t lo = 0, hi = in->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (in->base + in->row[mid].pc <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo > 0 ? &in->row[lo - 1].rule : &none;
}

void unwind_free(struct unwind_rows *rows)
{
	free(rows->row);
	*rows = (struct unwind_rows){0};
}
