/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The symbols of a program or library. Files are read, not mapped, and every number in them is
 * checked: they may contain anything, and may change while they are read.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "elf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Limits over all tables of a file, larger than any known; exceeding them is reported (cut). */
#define MAX_SYMS    (1u << 21)
#define MAX_STRS    (128u << 20)
#define MAX_NAMES   (1u << 20) /* of sections */
#define MAX_HEADERS 4096
#define MAX_NAME    4096
enum { PART = 512, COMPARED = 64 };

/* A copy of size bytes at off, NUL-terminated; NULL if the file is shorter. */
void *elf_bytes(int fd, uint64_t off, uint64_t size, uint64_t max)
{
	char *p;
	uint64_t got = 0;
	ssize_t n;

	if (size == 0 || size > max || off > INT64_MAX - size)
		return NULL;
	p = malloc(size + 1);
	while (p != NULL && got < size) {
		n = pread(fd, p + got, size - got, (off_t)(off + got));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			free(p);
			return NULL;
		}
		got += (uint64_t)n;
	}
	if (p != NULL)
		p[size] = '\0';
	return p;
}

static int read_segments(struct elf *f, int fd, const Elf64_Ehdr *eh)
{
	Elf64_Phdr *ph;
	unsigned i;

	if (eh->e_phentsize != sizeof(*ph) || eh->e_phnum > MAX_HEADERS)
		return -1;
	ph = elf_bytes(fd, eh->e_phoff, (uint64_t)eh->e_phnum * sizeof(*ph), UINT64_MAX);
	if (ph == NULL)
		return -1;
	f->load = ph;
	for (i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD)
			f->load[f->nload++] = ph[i];
	return 0;
}

/* The rank of a name: internal aliases of well-known functions have underscores: __write. */
static uint8_t rank_of(const char *name, unsigned bind)
{
	size_t low = strspn(name, "_");

	if (bind != STB_GLOBAL && bind != STB_WEAK)
		return 8;
	return (uint8_t)(2 * (low < 3 ? low : 3) + (bind == STB_WEAK));
}

static bool is_wanted(const Elf64_Sym *s, const char *strs, size_t len)
{
	unsigned type = ELF64_ST_TYPE(s->st_info);

	return (type == STT_FUNC || type == STT_OBJECT || type == STT_GNU_IFUNC) &&
	       s->st_shndx != SHN_UNDEF && s->st_name < len && strs[s->st_name] != '\0' &&
	       strnlen(strs + s->st_name, MAX_NAME) < MAX_NAME;
}

/* strs: offset of the table's strings, len bytes, in the strings of the file. */
static bool add_symbol(struct elf *f, const Elf64_Sym *s, size_t strs, size_t len)
{
	struct elf_sym *more;

	if (!is_wanted(s, f->strs + strs, len))
		return true;
	if ((f->nsyms & (f->nsyms - 1)) == 0) {
		more = realloc(f->syms, (f->nsyms ? 2 * f->nsyms : 1) * sizeof(*more));
		if (more == NULL)
			return false;
		f->syms = more;
	}
	f->syms[f->nsyms++] = (struct elf_sym){
		.value = s->st_value,
		.size = s->st_size,
		.name = (uint32_t)(strs + s->st_name),
		.type = (uint8_t)ELF64_ST_TYPE(s->st_info),
		.rank = rank_of(f->strs + strs + s->st_name, ELF64_ST_BIND(s->st_info)),
	};
	return true;
}

/* Append the strings of a table; returns the number of bytes. */
static size_t read_strings(struct elf *f, int fd, const Elf64_Shdr *sh)
{
	size_t room = MAX_STRS - f->nstrs, len = sh->sh_size, got = 0;
	char *all;
	ssize_t n;

	if (len > room - 1) {
		len = room - 1;
		f->cut = true;
	}
	all = sh->sh_offset <= INT64_MAX - len ? realloc(f->strs, f->nstrs + len + 1) : NULL;
	if (all == NULL)
		return 0;
	f->strs = all;
	while (got < len &&
		(n = pread(fd, all + f->nstrs + got, len - got, (off_t)(sh->sh_offset + got))) > 0)
		got += (size_t)n;
	all[f->nstrs + got] = '\0';
	return got;
}

static bool read_table(struct elf *f, int fd, const Elf64_Shdr *sh, const Elf64_Shdr *strs)
{
	size_t first = f->nstrs, before = f->nsyms, n = sh->sh_size / sizeof(Elf64_Sym), len;
	Elf64_Sym part[PART];
	ssize_t got;

	if (f->nstrs + 1 >= MAX_STRS || sh->sh_offset > INT64_MAX / 2 ||
		(len = read_strings(f, fd, strs)) == 0)
		return false;
	f->nstrs += len + 1;
	if (n > MAX_SYMS - f->ntaken) {
		n = MAX_SYMS - f->ntaken;
		f->cut = true;
	}
	f->ntaken += n;
	for (size_t at = 0, k; at < n; at += k) {
		k = n - at < PART ? n - at : PART;
		got = pread(
			fd, part, k * sizeof(*part), (off_t)(sh->sh_offset + at * sizeof(*part)));
		k = got > 0 ? (size_t)got / sizeof(*part) : 0;
		for (size_t i = 0; i < k; i++)
			if (!add_symbol(f, &part[i], first, len))
				return false;
		if (k == 0)
			break;
	}
	return f->nsyms > before;
}

/* By address; at the same address the better name is last, where the search finds it. */
static int sym_cmp(const void *a, const void *b, void *strs)
{
	const struct elf_sym *x = a, *y = b;
	int c;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	if ((x->size == 0) != (y->size == 0))
		return x->size == 0 ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	c = strncmp((char *)strs + y->name, (char *)strs + x->name, COMPARED);
	return c != 0 ? c : (x->name > y->name) - (x->name < y->name);
}

static bool read_header(int fd, Elf64_Ehdr *eh)
{
	return pread(fd, eh, sizeof(*eh), 0) == sizeof(*eh) &&
	       memcmp(eh->e_ident, ELFMAG, SELFMAG) == 0 && eh->e_ident[EI_CLASS] == ELFCLASS64 &&
	       eh->e_ident[EI_DATA] == ELFDATA2LSB;
}

static Elf64_Shdr *read_sections(int fd, const Elf64_Ehdr *eh)
{
	if (eh->e_shentsize != sizeof(Elf64_Shdr) || eh->e_shnum > MAX_HEADERS)
		return NULL;
	return elf_bytes(fd, eh->e_shoff, (uint64_t)eh->e_shnum * sizeof(Elf64_Shdr), UINT64_MAX);
}

/* Read the first table of a kind: a file has one. */
static bool read_kind(struct elf *f, int fd, const Elf64_Shdr *sh, unsigned n, uint32_t kind)
{
	for (unsigned i = 0; i < n; i++)
		if (sh[i].sh_type == kind)
			return sh[i].sh_link < n && sh[i].sh_entsize == sizeof(Elf64_Sym) &&
			       sh[sh[i].sh_link].sh_type == SHT_STRTAB &&
			       read_table(f, fd, &sh[i], &sh[sh[i].sh_link]);
	return false;
}

static void sort(struct elf *f)
{
	free(f->by_name);
	f->by_name = NULL;
	if (f->nsyms > 0)
		qsort_r(f->syms, f->nsyms, sizeof(*f->syms), sym_cmp, f->strs);
}

void elf_read(struct elf *f, int fd)
{
	Elf64_Ehdr eh;
	Elf64_Shdr *sh;

	if (!read_header(fd, &eh) || read_segments(f, fd, &eh) != 0)
		return;
	sh = read_sections(fd, &eh);
	if (sh == NULL)
		return;
	f->symtab = read_kind(f, fd, sh, eh.e_shnum, SHT_SYMTAB);
	read_kind(f, fd, sh, eh.e_shnum, SHT_DYNSYM);
	free(sh);
	sort(f);
}

bool elf_read_symbols(struct elf *f, int fd)
{
	Elf64_Ehdr eh;
	Elf64_Shdr *sh = read_header(fd, &eh) ? read_sections(fd, &eh) : NULL;

	if (sh != NULL && read_kind(f, fd, sh, eh.e_shnum, SHT_SYMTAB)) {
		f->symtab = true;
		sort(f);
	}
	free(sh);
	return f->symtab;
}

bool elf_read_segments(struct elf *f, int fd)
{
	Elf64_Ehdr eh;

	return read_header(fd, &eh) && read_segments(f, fd, &eh) == 0;
}

size_t elf_size(const struct elf *f)
{
	return f->nsyms * sizeof(*f->syms) + f->nstrs + f->nload * sizeof(*f->load);
}

bool elf_section(int fd, const char *name, Elf64_Shdr *to)
{
	Elf64_Ehdr eh;
	Elf64_Shdr *sh = read_header(fd, &eh) ? read_sections(fd, &eh) : NULL;
	const Elf64_Shdr *s = sh != NULL && eh.e_shstrndx < eh.e_shnum ? &sh[eh.e_shstrndx] : NULL;
	char *names = s != NULL ? elf_bytes(fd, s->sh_offset, s->sh_size, MAX_NAMES) : NULL;
	bool found = false;

	for (unsigned i = 0; names != NULL && i < eh.e_shnum && !found; i++)
		if (sh[i].sh_name < s->sh_size && strcmp(names + sh[i].sh_name, name) == 0) {
			*to = sh[i];
			found = true;
		}
	free(names);
	free(sh);
	return found;
}

void elf_free(struct elf *f)
{
	free(f->load);
	free(f->syms);
	free(f->by_name);
	free(f->strs);
	*f = (struct elf){0};
}

/* The virtual address of an offset in the file. */
bool elf_address(const struct elf *f, uint64_t off, uint64_t *addr)
{
	unsigned i;

	for (i = 0; i < f->nload; i++)
		if (off >= f->load[i].p_offset && off - f->load[i].p_offset < f->load[i].p_filesz) {
			*addr = off - f->load[i].p_offset + f->load[i].p_vaddr;
			return true;
		}
	return false;
}

/* The offset in the file of a virtual address; with code, only in executable segments. */
bool elf_offset(const struct elf *f, uint64_t addr, bool code, uint64_t *off)
{
	for (unsigned i = 0; i < f->nload; i++)
		if (addr >= f->load[i].p_vaddr && addr - f->load[i].p_vaddr < f->load[i].p_filesz &&
			(!code || (f->load[i].p_flags & PF_X))) {
			*off = addr - f->load[i].p_vaddr + f->load[i].p_offset;
			return true;
		}
	return false;
}

static int name_cmp(const void *a, const void *b, void *arg)
{
	const struct elf *f = arg;
	const struct elf_sym *x = &f->syms[*(const uint32_t *)a],
			     *y = &f->syms[*(const uint32_t *)b];

	return strncmp(f->strs + x->name, f->strs + y->name, COMPARED);
}

static bool sort_names(struct elf *f)
{
	if (f->by_name != NULL)
		return true;
	f->by_name = malloc((f->nsyms + 1) * sizeof(*f->by_name));
	for (size_t i = 0; f->by_name != NULL && i < f->nsyms; i++)
		f->by_name[i] = (uint32_t)i;
	if (f->by_name != NULL && f->nsyms > 0)
		qsort_r(f->by_name, f->nsyms, sizeof(*f->by_name), name_cmp, f);
	return f->by_name != NULL;
}

/* Names longer than the limit are compared by their beginning only. */
const struct elf_sym *elf_named(struct elf *f, const char *name, size_t len)
{
	size_t lo = 0, hi = f->nsyms, mid;

	if (len == 0 || len >= COMPARED || !sort_names(f))
		return NULL;
	while (lo < hi) {
		const struct elf_sym *s = &f->syms[f->by_name[mid = lo + (hi - lo) / 2]];
		int c = strncmp(f->strs + s->name, name, len);

		if (c == 0 && f->strs[s->name + len] == '\0')
			return s;
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

/* The symbol that contains an address; one without a size extends to the next. */
const struct elf_sym *elf_symbol(const struct elf *f, uint64_t addr)
{
	size_t lo = 0, hi = f->nsyms, mid;
	const struct elf_sym *s;
	unsigned back;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (f->syms[mid].value <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* Symbols may overlap: search a little further back for one that extends to here. */
	for (back = 0; lo > 0 && back < 16; lo--, back++) {
		s = &f->syms[lo - 1];
		if (addr - s->value < s->size || (s->size == 0 && back == 0))
			return s;
	}
	return NULL;
}
