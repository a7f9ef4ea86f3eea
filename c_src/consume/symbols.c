/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address -> module`symbol+offset, from /proc/PID/maps and the symbol tables of the files mapped
 * there. Files are read, not mapped, and every number in them is checked: they may be anything,
 * and may change while we read. What cannot be told stays 0xADDR. Files are read when an address
 * of theirs first turns up; maps again when an address is in none, at most once a second.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "co.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_MAPS    65536
#define MAX_SYMS    (1u << 22)
#define MAX_STRTAB  (256u << 20)
#define MAX_HEADERS 4096

struct sy_sym {
	uint64_t value, size;
	uint32_t name; /* in the file's strings */
	uint8_t rank;  /* global before weak before local */
};
struct sy_file {
	struct sy_file *next;
	char *path;
	bool read;
	Elf64_Phdr *load; /* PT_LOAD only */
	unsigned nload;
	struct sy_sym *syms;
	size_t nsyms;
	char *strs; /* each table's strings end with a NUL of ours */
	size_t nstrs;
};
struct sy_map {
	uint64_t start, end, off;
	struct sy_file *file;
};
struct sy {
	int pid;
	struct sy_map *maps;
	size_t nmaps;
	struct sy_file *files;
	time_t read_at;
	bool read;
	const struct en *en; /* asked first: a frame may be none of C's */
};

struct sy *sy_new(int pid, const struct en *en)
{
	struct sy *sy = calloc(1, sizeof(*sy));

	if (sy != NULL) {
		sy->pid = pid;
		sy->en = en;
	}
	return sy;
}

void sy_free(struct sy *sy)
{
	struct sy_file *f;

	if (sy == NULL)
		return;
	while ((f = sy->files) != NULL) {
		sy->files = f->next;
		free(f->path);
		free(f->load);
		free(f->syms);
		free(f->strs);
		free(f);
	}
	free(sy->maps);
	free(sy);
}

/* ---- ELF ------------------------------------------------------------------------------ */

/* size bytes at off in memory of our own, with a NUL behind; NULL if the file is shorter. */
static void *read_at(int fd, uint64_t off, uint64_t size, uint64_t max)
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

static int read_segments(struct sy_file *f, int fd, const Elf64_Ehdr *eh)
{
	Elf64_Phdr *ph;
	unsigned i;

	if (eh->e_phentsize != sizeof(*ph) || eh->e_phnum > MAX_HEADERS)
		return -1;
	ph = read_at(fd, eh->e_phoff, (uint64_t)eh->e_phnum * sizeof(*ph), UINT64_MAX);
	if (ph == NULL)
		return -1;
	f->load = ph;
	for (i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD)
			f->load[f->nload++] = ph[i];
	return 0;
}

static void add_symbols(
	struct sy_file *f, const Elf64_Sym *s, size_t n, const char *strs, size_t len)
{
	struct sy_sym *syms = realloc(f->syms, (f->nsyms + n) * sizeof(*syms));
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
		syms[f->nsyms++] = (struct sy_sym){
			.value = s[i].st_value,
			.size = s[i].st_size,
			.name = (uint32_t)(f->nstrs + s[i].st_name),
			.rank = bind == STB_GLOBAL ? 0
				: bind == STB_WEAK ? 1
						   : 2,
		};
	}
	f->nstrs += len + 1;
}

static void read_table(struct sy_file *f, int fd, const Elf64_Shdr *sh, unsigned n, unsigned i)
{
	Elf64_Sym *syms;
	char *strs;

	if (sh[i].sh_link >= n || sh[i].sh_entsize != sizeof(*syms) ||
		sh[sh[i].sh_link].sh_type != SHT_STRTAB)
		return;
	syms = read_at(fd, sh[i].sh_offset, sh[i].sh_size, (uint64_t)MAX_SYMS * sizeof(*syms));
	strs = read_at(fd, sh[sh[i].sh_link].sh_offset, sh[sh[i].sh_link].sh_size, MAX_STRTAB);
	if (syms != NULL && strs != NULL)
		add_symbols(
			f, syms, sh[i].sh_size / sizeof(*syms), strs, sh[sh[i].sh_link].sh_size);
	free(syms);
	free(strs);
}

/* By address; at one address the better name last, where the search finds it. */
static int sym_cmp(const void *a, const void *b, void *strs)
{
	const struct sy_sym *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	if ((x->size == 0) != (y->size == 0))
		return x->size == 0 ? -1 : 1;
	return strcmp((char *)strs + y->name, (char *)strs + x->name);
}

static void read_elf(struct sy_file *f, int fd)
{
	Elf64_Ehdr eh;
	Elf64_Shdr *sh;
	unsigned i;

	if (pread(fd, &eh, sizeof(eh), 0) != sizeof(eh) ||
		memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
		eh.e_ident[EI_DATA] != ELFDATA2LSB || read_segments(f, fd, &eh) != 0)
		return;
	if (eh.e_shentsize != sizeof(*sh) || eh.e_shnum > MAX_HEADERS)
		return;
	sh = read_at(fd, eh.e_shoff, (uint64_t)eh.e_shnum * sizeof(*sh), UINT64_MAX);
	if (sh == NULL)
		return;
	for (i = 0; i < eh.e_shnum; i++)
		if (sh[i].sh_type == SHT_SYMTAB || sh[i].sh_type == SHT_DYNSYM)
			read_table(f, fd, sh, eh.e_shnum, i);
	free(sh);
	if (f->nsyms)
		qsort_r(f->syms, f->nsyms, sizeof(*f->syms), sym_cmp, f->strs);
}

static void read_file(struct sy *sy, struct sy_file *f)
{
	char path[4200];
	struct stat st;
	int fd;

	f->read = true;
	if (sy->pid)
		snprintf(path, sizeof(path), "/proc/%d/root%s", sy->pid, f->path);
	else
		snprintf(path, sizeof(path), "%s", f->path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		read_elf(f, fd);
	close(fd);
}

/* ---- maps ----------------------------------------------------------------------------- */

static struct sy_file *file_of(struct sy *sy, const char *path)
{
	struct sy_file *f;

	for (f = sy->files; f != NULL; f = f->next)
		if (strcmp(f->path, path) == 0)
			return f;
	f = calloc(1, sizeof(*f));
	if (f == NULL || (f->path = strdup(path)) == NULL) {
		free(f);
		return NULL;
	}
	f->next = sy->files;
	sy->files = f;
	return f;
}

static void add_map(struct sy *sy, char *line)
{
	uint64_t start, end, off;
	struct sy_map *maps;
	char *path = strchr(line, '/');

	if (path == NULL ||
		sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &start, &end, &off) != 3 ||
		sy->nmaps >= MAX_MAPS)
		return;
	path[strcspn(path, "\n")] = '\0';
	if ((sy->nmaps & (sy->nmaps - 1)) == 0) {
		maps = realloc(sy->maps, (sy->nmaps ? sy->nmaps * 2 : 1) * sizeof(*maps));
		if (maps == NULL)
			return;
		sy->maps = maps;
	}
	sy->maps[sy->nmaps] = (struct sy_map){start, end, off, file_of(sy, path)};
	if (sy->maps[sy->nmaps].file != NULL)
		sy->nmaps++;
}

static void read_maps(struct sy *sy)
{
	struct timespec now;
	char path[64], *line = NULL;
	size_t cap = 0;
	FILE *fp;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (sy->read && now.tv_sec == sy->read_at)
		return;
	sy->read = true;
	sy->read_at = now.tv_sec;
	sy->nmaps = 0;
	if (sy->pid)
		snprintf(path, sizeof(path), "/proc/%d/maps", sy->pid);
	else
		snprintf(path, sizeof(path), "/proc/self/maps");
	fp = fopen(path, "re");
	if (fp == NULL)
		return;
	while (getline(&line, &cap, fp) > 0)
		add_map(sy, line);
	free(line);
	fclose(fp);
}

static struct sy_map *find_map(struct sy *sy, uint64_t addr)
{
	size_t lo = 0, hi = sy->nmaps, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (addr < sy->maps[mid].start)
			hi = mid;
		else if (addr >= sy->maps[mid].end)
			lo = mid + 1;
		else
			return &sy->maps[mid];
	}
	return NULL;
}

/* ---- the search ----------------------------------------------------------------------- */

/* The address as the file's tables count it. */
static bool file_address(const struct sy_file *f, uint64_t off, uint64_t *addr)
{
	unsigned i;

	for (i = 0; i < f->nload; i++)
		if (off >= f->load[i].p_offset && off - f->load[i].p_offset < f->load[i].p_filesz) {
			*addr = off - f->load[i].p_offset + f->load[i].p_vaddr;
			return true;
		}
	return false;
}

/* The symbol that holds an address; one without size reaches to the next. */
static const struct sy_sym *find_symbol(const struct sy_file *f, uint64_t addr)
{
	size_t lo = 0, hi = f->nsyms, mid;
	const struct sy_sym *s;
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

enum sy_form sy_form_of(unsigned act)
{
	return act == ACT_MOD || act == ACT_UMOD ? SY_MOD : act == ACT_UADDR ? SY_ADDR : SY_SYM;
}

void sy_format(struct sy *sy, uint64_t addr, enum sy_form form, char *buf, size_t size)
{
	const struct sy_sym *s = NULL;
	struct sy_map *m;
	const char *mod;
	uint64_t at = 0;

	if (sy != NULL && sy->en != NULL && en_frame(sy->en, addr, buf, size))
		return;
	m = sy ? find_map(sy, addr) : NULL;
	if (m == NULL && sy != NULL && addr != 0) {
		read_maps(sy);
		m = find_map(sy, addr);
	}
	if (m == NULL) {
		snprintf(buf, size, "0x%" PRIx64, addr);
		return;
	}
	mod = strrchr(m->file->path, '/') + 1;
	if (form == SY_MOD) {
		snprintf(buf, size, "%s", mod);
		return;
	}
	if (!m->file->read)
		read_file(sy, m->file);
	if (file_address(m->file, addr - m->start + m->off, &at))
		s = find_symbol(m->file, at);
	if (s == NULL)
		snprintf(buf, size, "%s`0x%" PRIx64, mod, addr);
	else if (form == SY_SYM || at == s->value)
		snprintf(buf, size, "%s`%s", mod, m->file->strs + s->name);
	else
		snprintf(
			buf, size, "%s`%s+0x%" PRIx64, mod, m->file->strs + s->name, at - s->value);
}
