/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The symbols of a program or library. Files are read, not mapped, and every number in them is
 * checked: they may be anything, and may change while we read.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "elf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SYMS    (1u << 22)
#define MAX_STRTAB  (256u << 20)
#define MAX_HEADERS 4096

/* size bytes at off in memory of our own, with a NUL behind; NULL if the file is shorter. */
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

static void add_symbols(
	struct elf *f, const Elf64_Sym *s, size_t n, const char *strs, size_t len)
{
	struct elf_sym *syms = realloc(f->syms, (f->nsyms + n) * sizeof(*syms));
	char *all = NULL;
	size_t i;

	if (syms != NULL)
		f->syms = syms;
	if (f->nstrs + len + 1 < UINT32_MAX)
		all = realloc(f->strs, f->nstrs + len + 1);
	if (all != NULL)
		f->strs = all;
	if (syms == NULL || all == NULL)
		return;
	memcpy(all + f->nstrs, strs, len);
	all[f->nstrs + len] = '\0';
	for (i = 0; i < n; i++) {
		unsigned type = ELF64_ST_TYPE(s[i].st_info), bind = ELF64_ST_BIND(s[i].st_info);

		if ((type != STT_FUNC && type != STT_OBJECT && type != STT_GNU_IFUNC) ||
			s[i].st_shndx == SHN_UNDEF || s[i].st_name >= len ||
			strs[s[i].st_name] == '\0')
			continue;
		syms[f->nsyms++] = (struct elf_sym){
			.value = s[i].st_value,
			.size = s[i].st_size,
			.name = (uint32_t)(f->nstrs + s[i].st_name),
			.type = (uint8_t)type,
			.rank = bind == STB_GLOBAL ? 0
				: bind == STB_WEAK ? 1
						   : 2,
		};
	}
	f->nstrs += len + 1;
}

static void read_table(struct elf *f, int fd, const Elf64_Shdr *sh, unsigned n, unsigned i)
{
	Elf64_Sym *syms;
	char *strs;

	if (sh[i].sh_link >= n || sh[i].sh_entsize != sizeof(*syms) ||
		sh[sh[i].sh_link].sh_type != SHT_STRTAB)
		return;
	syms = elf_bytes(fd, sh[i].sh_offset, sh[i].sh_size, (uint64_t)MAX_SYMS * sizeof(*syms));
	strs = elf_bytes(fd, sh[sh[i].sh_link].sh_offset, sh[sh[i].sh_link].sh_size, MAX_STRTAB);
	if (syms != NULL && strs != NULL)
		add_symbols(
			f, syms, sh[i].sh_size / sizeof(*syms), strs, sh[sh[i].sh_link].sh_size);
	free(syms);
	free(strs);
}

/* By address; at one address the better name last, where the search finds it. */
static int sym_cmp(const void *a, const void *b, void *strs)
{
	const struct elf_sym *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	if ((x->size == 0) != (y->size == 0))
		return x->size == 0 ? -1 : 1;
	return strcmp((char *)strs + y->name, (char *)strs + x->name);
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

void elf_read(struct elf *f, int fd)
{
	Elf64_Ehdr eh;
	Elf64_Shdr *sh;
	unsigned i;

	if (!read_header(fd, &eh) || read_segments(f, fd, &eh) != 0)
		return;
	sh = read_sections(fd, &eh);
	if (sh == NULL)
		return;
	for (i = 0; i < eh.e_shnum; i++)
		if (sh[i].sh_type == SHT_SYMTAB || sh[i].sh_type == SHT_DYNSYM)
			read_table(f, fd, sh, eh.e_shnum, i);
	free(sh);
	if (f->nsyms)
		qsort_r(f->syms, f->nsyms, sizeof(*f->syms), sym_cmp, f->strs);
}

bool elf_section(int fd, const char *name, Elf64_Shdr *to)
{
	Elf64_Ehdr eh;
	Elf64_Shdr *sh = read_header(fd, &eh) ? read_sections(fd, &eh) : NULL;
	const Elf64_Shdr *s = sh != NULL && eh.e_shstrndx < eh.e_shnum ? &sh[eh.e_shstrndx] : NULL;
	char *names = s != NULL ? elf_bytes(fd, s->sh_offset, s->sh_size, MAX_STRTAB) : NULL;
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
	free(f->strs);
	*f = (struct elf){0};
}

/* The address as the file's tables count it. */
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

/* Where an address of the tables is in the file; of code only, if wanted. */
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

/* The symbol that holds an address; one without size reaches to the next. */
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
	/* Symbols may overlap: look a little further back for one that reaches here. */
	for (back = 0; lo > 0 && back < 16; lo--, back++) {
		s = &f->syms[lo - 1];
		if (addr - s->value < s->size || (s->size == 0 && back == 0))
			return s;
	}
	return NULL;
}
