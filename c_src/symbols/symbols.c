/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address -> module`symbol+offset, from /proc/PID/maps and the symbol tables of the files mapped
 * there (elf.c), for this process and for others that the engine names. An unknown address is
 * printed as 0xADDR. JIT-compiled code has names in perf's map (perfmap.c) or in the memory of an
 * Erlang VM (vm.c). A file is read when one of its addresses first occurs. Maps are read when a
 * process first occurs, as it may have ended later, and again, at most once a second, when an
 * address is in none of them.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "symbols.h"
#include "elf.h"
#include "hash.h"
#include "ksyms.h"
#include "proc_file.h"
#include "perfmap.h"
#include "vm.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_MAPS 65536
#define MAX_HELD (1u << 30) /* limit of bytes of all symbols, roughly */
enum { BUCKETS = 1024, MAX_WARNINGS = 8 };

struct sy_file { /* shared by all processes that map it */
	struct sy_file *next;
	char *path, *id; /* id: device and inode, as in maps */
	int pid; /* a process that maps it */
	bool read;
	struct elf elf;
};
struct sy_map {
	uint64_t start, end, off;
	struct sy_file *file;
};
struct sy_space { /* a process */
	struct sy_space *next;
	int pid; /* 0: this one */
	struct sy_map *maps;
	size_t nmaps;
	struct perfmap jit; /* its JIT-compiled code, if it has a perf map */
	struct vm *vm; /* opened on first use: sought */
	time_t read_at;
	bool read, sought, refused;
};
struct sy_kmod { /* a module of the kernel */
	struct sy_kmod *next;
	const char *name; /* up to a ` */
	uint64_t at;
};
struct sy {
	int pid;
	struct sy_space *spaces;
	struct sy_file *files[BUCKETS];
	size_t held;	      /* bytes of all symbols */
	char *warnings[MAX_WARNINGS];
	unsigned nwarnings, nreported;
	uint64_t *seen; /* bit set: processes of the engine's table already handled */
	struct sy_origin origin; /* asked first: a frame may not be native */
	struct ksyms *kernel; /* read when first needed */
	struct sy_kmod *kmods;
	struct nm *names; /* if results are merged: what keys have instead of addresses */
	bool lines;	  /* of Erlang functions, in stacks */
};

struct sy *sy_new(int pid, const struct sy_origin *origin)
{
	struct sy *sy = calloc(1, sizeof(*sy));

	if (sy != NULL) {
		sy->pid = pid;
		if (origin != NULL)
			sy->origin = *origin;
	}
	return sy;
}

void sy_free(struct sy *sy)
{
	struct sy_space *p;
	struct sy_kmod *m;
	struct sy_file *f;

	if (sy == NULL)
		return;
	while ((m = sy->kmods) != NULL) {
		sy->kmods = m->next;
		free(m);
	}
	for (unsigned i = 0; i < BUCKETS; i++)
		while ((f = sy->files[i]) != NULL) {
			sy->files[i] = f->next;
			free(f->path);
			free(f->id);
			elf_free(&f->elf);
			free(f);
		}
	for (unsigned i = 0; i < sy->nwarnings; i++)
		free(sy->warnings[i]);
	while ((p = sy->spaces) != NULL) {
		sy->spaces = p->next;
		pm_free(&p->jit);
		vm_close(p->vm);
		free(p->maps);
		free(p);
	}
	free(sy->seen);
	nm_free(sy->names);
	ksyms_free(sy->kernel);
	free(sy);
}

static struct sy_space *space_of(struct sy *sy, int pid)
{
	struct sy_space *p, **at;

	for (at = &sy->spaces; (p = *at) != NULL; at = &p->next)
		if (p->pid == pid) { /* move to front: the next look-up is likely the same */
			*at = p->next;
			p->next = sy->spaces;
			sy->spaces = p;
			return p;
		}
	p = calloc(1, sizeof(*p));
	if (p != NULL) {
		p->pid = pid;
		p->next = sy->spaces;
		sy->spaces = p;
	}
	return p;
}

/* ---- files ---------------------------------------------------------------------------- */

/* Warn, once for each cause; the number of warnings is limited. */
__attribute__((format(printf, 2, 3))) static void add_warning(
	struct sy *sy, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	if (sy->nwarnings < MAX_WARNINGS &&
		vasprintf(&sy->warnings[sy->nwarnings], format, ap) >= 0)
		sy->nwarnings++;
	va_end(ap);
}

static void too_large(struct sy *sy, const char *what, const char *name)
{
	add_warning(sy, "%s %.200s is too large: some addresses have no name", what, name);
}

bool sy_news(struct sy *sy, char *buf, size_t size)
{
	if (sy == NULL || sy->nreported >= sy->nwarnings)
		return false;
	snprintf(buf, size, "%s", sy->warnings[sy->nreported++]);
	return true;
}

/* Open it through a process that maps it or, if that has ended, by its path if that is still it. */
static int open_file(const struct sy_file *f)
{
	unsigned long long inode;
	struct stat st;
	int fd;

	if (f->path[0] != '/')
		return -1;
	if (f->pid != 0) {
		fd = fi_open_in(f->pid, f->path);
		if (fd >= 0)
			return fd;
	}
	fd = fi_open(f->path);
	if (fd < 0 || f->pid == 0)
		return fd;
	if (sscanf(f->id, "%*s %llu", &inode) == 1 && fstat(fd, &st) == 0 && st.st_ino == inode)
		return fd;
	close(fd);
	return -1;
}

static void read_file(struct sy *sy, struct sy_file *f)
{
	int fd;

	f->read = true;
	if (sy->held >= MAX_HELD) {
		too_large(sy, "the symbol table of", f->path);
		return;
	}
	fd = open_file(f);
	if (fd < 0)
		return;
	elf_read(&f->elf, fd);
	if (f->pid != 0)
		elf_read_debug(&f->elf, fd, f->pid, f->path);
	close(fd);
	sy->held += elf_size(&f->elf);
	if (f->elf.cut)
		too_large(sy, "the symbol table of", f->path);
}

/* ---- maps ----------------------------------------------------------------------------- */

static struct sy_file *file_of(struct sy *sy, int pid, const char *path, const char *id)
{
	struct sy_file *f, **bucket = &sy->files[hash_bytes(id, strlen(id)) % BUCKETS];

	for (f = *bucket; f != NULL; f = f->next)
		if (strcmp(f->id, id) == 0 && strcmp(f->path, path) == 0)
			return f;
	f = calloc(1, sizeof(*f));
	if (f == NULL || (f->path = strdup(path)) == NULL || (f->id = strdup(id)) == NULL) {
		if (f != NULL)
			free(f->path);
		free(f);
		return NULL;
	}
	f->pid = pid;
	f->next = *bucket;
	*bucket = f;
	return f;
}

/*
 * start-end permissions offset device inode path; anonymous memory may have any name. The kernel's
 * own code in each process is like a file without a path.
 */
static void add_map(struct sy *sy, struct sy_space *p, char *line)
{
	char dev[32], inode[32], id[72];
	uint64_t start, end, off;
	struct sy_map *maps;
	char *path = strpbrk(line, "/[");

	if (path == NULL ||
		sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %31s %31s", &start, &end,
			&off, dev, inode) != 5 ||
		p->nmaps >= MAX_MAPS)
		return;
	path[strcspn(path, "\n")] = '\0';
	if (strcmp(inode, "0") == 0 && strcmp(path, "[vdso]") != 0)
		return;
	if ((p->nmaps & (p->nmaps - 1)) == 0) {
		maps = realloc(p->maps, (p->nmaps ? p->nmaps * 2 : 1) * sizeof(*maps));
		if (maps == NULL)
			return;
		p->maps = maps;
	}
	snprintf(id, sizeof(id), "%s %s", dev, inode);
	p->maps[p->nmaps] = (struct sy_map){start, end, off, file_of(sy, p->pid, path, id)};
	if (p->maps[p->nmaps].file != NULL)
		p->nmaps++;
}

/* If the process has ended, what was read before stays. */
static void read_maps(struct sy *sy, struct sy_space *p)
{
	char path[64] = "/proc/self/maps", *line = NULL;
	bool cut = p->jit.cut;
	struct timespec now;
	size_t cap = 0;
	FILE *fp;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (p->read && now.tv_sec == p->read_at)
		return;
	p->read = true;
	p->read_at = now.tv_sec;
	if (p->pid != 0)
		snprintf(path, sizeof(path), "/proc/%d/maps", p->pid);
	fp = fopen(path, "re");
	for (bool first = true; fp != NULL && getline(&line, &cap, fp) > 0; first = false) {
		if (first)
			p->nmaps = 0;
		add_map(sy, p, line);
	}
	if (fp != NULL)
		fclose(fp);
	free(line);
	if (p->pid == 0)
		return;
	pm_read(&p->jit, p->pid);
	if (p->jit.cut && !cut) {
		snprintf(path, sizeof(path), "perf-%d.map", p->pid);
		too_large(sy, "the file", path);
	}
}

void sy_watch(struct sy *sy)
{
	struct sy_space *p;
	int pid;

	for (unsigned n = 0; sy->origin.nth != NULL && n < SY_PROCESSES; n++) {
		if ((pid = sy->origin.nth(sy->origin.arg, n)) == 0)
			continue;
		if (sy->seen == NULL && (sy->seen = calloc(SY_PROCESSES / 64, 8)) == NULL)
			return;
		if (sy->seen[n / 64] >> n % 64 & 1)
			continue;
		sy->seen[n / 64] |= 1ULL << n % 64;
		if ((p = space_of(sy, pid)) != NULL)
			read_maps(sy, p);
	}
}

static struct sy_map *find_map(struct sy_space *p, uint64_t addr)
{
	size_t lo = 0, hi = p->nmaps, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (addr < p->maps[mid].start)
			hi = mid;
		else if (addr >= p->maps[mid].end)
			lo = mid + 1;
		else
			return &p->maps[mid];
	}
	return NULL;
}

/* ---- the search ----------------------------------------------------------------------- */

static bool is_frame(enum sy_form form)
{
	return form == SY_PC || form == SY_RETURN;
}

static struct vm *vm_of(struct sy_space *p)
{
	if (!p->sought && p->pid != 0)
		p->vm = vm_open(p->pid);
	p->sought = true;
	return p->vm;
}

/* A frame of a stack; *off: from the first address with its text. */
static bool format_frame(struct sy *sy, struct sy_space *p, uint64_t addr, enum sy_form form,
	char *buf, size_t size, uint64_t *off)
{
	uint64_t first, back = form == SY_RETURN;

	if (vm_of(p) == NULL || !vm_frame(p->vm, addr - back, sy->lines, buf, size, &first))
		return false;
	if (sy->lines && !vm_tables(p->vm)->lines && !p->refused) {
		add_warning(sy, "Erlang functions of process %d have no lines: its tables of lines "
			"are not as expected", p->pid);
		p->refused = true;
	}
	*off = addr - back - first;
	return true;
}

/* An Erlang function, or its module; false: it is neither. */
static bool format_erlang(struct sy_space *p, uint64_t addr, enum sy_form form, char *buf,
	size_t size, uint64_t *off)
{
	char name[600];

	if (vm_of(p) == NULL || !vm_function(p->vm, addr, form == SY_MOD, name, sizeof(name), off))
		return false;
	if (form != SY_ADDR || *off == 0)
		snprintf(buf, size, "%s", name);
	else
		snprintf(buf, size, "%s+0x%" PRIx64, name, *off);
	return true;
}

/* Other code of a VM's JIT: what functions share, or all of it if they have no names. */
static bool format_shared(struct sy *sy, struct sy_space *p, uint64_t addr, enum sy_form form,
	char *buf, size_t size, uint64_t *off)
{
	if (vm_of(p) == NULL || !vm_is_jit(p->vm, addr, off))
		return false;
	if (vm_refusal(p->vm) != NULL && !p->refused)
		add_warning(sy, "Erlang functions of process %d have no names: %s", p->pid,
			vm_refusal(p->vm));
	p->refused = true;
	if (form == SY_SYM || form == SY_MOD)
		snprintf(buf, size, "[jit]");
	else
		snprintf(buf, size, "[jit]+0x%" PRIx64, *off);
	return true;
}

/* In no file: JIT-compiled, or unknown. *off: from the first address with that name. */
static void format_jit(struct sy *sy, struct sy_space *p, uint64_t addr, enum sy_form form,
	char *buf, size_t size, uint64_t *off)
{
	const struct pm_code *j = p != NULL ? pm_find(&p->jit, addr) : NULL;

	if (p != NULL && is_frame(form) && format_frame(sy, p, addr, form, buf, size, off))
		return;
	if (p != NULL && j == NULL &&
		((!is_frame(form) && format_erlang(p, addr, form, buf, size, off)) ||
			format_shared(sy, p, addr, form, buf, size, off))) {
		if (is_frame(form))
			*off = 0;
		return;
	}
	*off = j != NULL && !is_frame(form) ? addr - j->start : 0;
	if (j == NULL)
		snprintf(buf, size, "0x%" PRIx64, addr);
	else if (form == SY_SYM || form == SY_MOD || addr == j->start)
		snprintf(buf, size, "%s", j->name);
	else
		snprintf(buf, size, "%s+0x%" PRIx64, j->name, addr - j->start);
}

/* A module of the kernel is represented by the first of its functions that occurred. */
static uint64_t module_start(struct sy *sy, const char *name, uint64_t at)
{
	size_t len = strcspn(name, "`");
	struct sy_kmod *m;

	for (m = sy->kmods; m != NULL; m = m->next)
		if (strncmp(m->name, name, len) == 0 && m->name[len] == '`')
			return m->at;
	m = malloc(sizeof(*m));
	if (m != NULL) {
		*m = (struct sy_kmod){.next = sy->kmods, .name = name, .at = at};
		sy->kmods = m;
	}
	return at;
}

static void kernel_address(
	struct sy *sy, uint64_t addr, enum sy_form form, char *buf, size_t size, uint64_t *start)
{
	const char *name;
	uint64_t off = 0;

	if (sy->kernel == NULL)
		sy->kernel = ksyms_read();
	name = ksyms_find(sy->kernel, addr, &off);
	if (name != NULL && !is_frame(form))
		*start = form == SY_MOD ? module_start(sy, name, addr - off) : addr - off;
	if (name == NULL)
		snprintf(buf, size, "0x%" PRIx64, addr);
	else if (form == SY_MOD)
		snprintf(buf, size, "%.*s", (int)strcspn(name, "`"), name);
	else if (form == SY_SYM || off == 0)
		snprintf(buf, size, "%s", name);
	else
		snprintf(buf, size, "%s+0x%" PRIx64, name, off);
}

/* The offset from the first map of a file. */
static uint64_t from_first(const struct sy_space *p, const struct sy_map *m, uint64_t addr)
{
	while (m > p->maps && m[-1].file == m->file)
		m--;
	return addr - m->start;
}

/* Memory whose name looks like a file's: JIT-compiled code. */
static bool is_memory(const struct sy_map *m)
{
	return strncmp(m->file->path, "/memfd:", 7) == 0;
}

/* The name of an address; *start: the first address with that name. */
static void resolve(struct sy *sy, uint64_t addr, enum sy_form form, char *buf, size_t size,
	uint64_t *start)
{
	const struct elf_sym *s = NULL;
	struct sy_space *p;
	struct sy_map *m;
	const char *mod;
	uint64_t at = 0, off, back;
	int pid = 0;

	*start = addr;
	mod = sy != NULL && sy->names != NULL ? nm_text(sy->names, addr) : NULL;
	if (mod != NULL) {
		snprintf(buf, size, "%s", mod);
		return;
	}
	if (sy != NULL && sy->origin.frame != NULL &&
		sy->origin.frame(sy->origin.arg, addr, form, buf, size))
		return;
	if (sy != NULL && (int64_t)addr < 0) {
		kernel_address(sy, addr, form, buf, size, start);
		return;
	}
	if (sy != NULL && sy->origin.process != NULL)
		pid = sy->origin.process(sy->origin.arg, &addr);
	p = sy != NULL ? space_of(sy, pid != 0 ? pid : sy->pid) : NULL;
	m = p != NULL ? find_map(p, addr) : NULL;
	if (m == NULL && p != NULL && addr != 0) {
		read_maps(sy, p);
		m = find_map(p, addr);
	}
	if (m == NULL || is_memory(m)) {
		format_jit(sy, p, addr, form, buf, size, &off);
		*start -= off;
		return;
	}
	mod = strrchr(m->file->path, '/');
	mod = mod != NULL ? mod + 1 : m->file->path;
	if (form == SY_MOD) {
		snprintf(buf, size, "%s", mod);
		*start -= from_first(p, m, addr);
		return;
	}
	if (!m->file->read)
		read_file(sy, m->file);
	back = form == SY_RETURN && addr > m->start;
	if (elf_address(&m->file->elf, addr - back - m->start + m->off, &at))
		s = elf_symbol(&m->file->elf, at);
	at += at != 0 ? back : 0;
	if (s != NULL && !is_frame(form))
		*start -= at - s->value;
	if (s == NULL)
		snprintf(buf, size, "%s+0x%" PRIx64, mod, at != 0 ? at : from_first(p, m, addr));
	else if (form == SY_SYM || at == s->value)
		snprintf(buf, size, "%s`%s", mod, m->file->elf.strs + s->name);
	else
		snprintf(buf, size, "%s`%s+0x%" PRIx64, mod, m->file->elf.strs + s->name,
			at - s->value);
}

void sy_format(struct sy *sy, uint64_t addr, enum sy_form form, char *buf, size_t size)
{
	uint64_t start;

	resolve(sy, addr, form, buf, size, &start);
}

/* May it be code of an Erlang VM that is another process? */
static bool may_be_erlang(struct sy *sy, uint64_t addr)
{
	struct sy_space *p = NULL;
	int pid = 0;

	if ((int64_t)addr >= 0 && sy->origin.process != NULL)
		pid = sy->origin.process(sy->origin.arg, &addr);
	if (pid != 0)
		p = space_of(sy, pid);
	return p != NULL && vm_of(p) != NULL;
}

uint64_t sy_start(struct sy *sy, uint64_t addr, enum sy_form form)
{
	uint64_t start = addr;
	char buf[NM_TEXT];

	if (form != SY_ADDR && (!is_frame(form) || may_be_erlang(sy, addr)))
		resolve(sy, addr, form, buf, sizeof(buf), &start);
	return start;
}

void sy_lines(struct sy *sy, bool on)
{
	sy->lines = on;
}

int sy_keep_names(struct sy *sy, size_t max)
{
	if (sy->names == NULL)
		sy->names = nm_new(max);
	return sy->names != NULL ? 0 : -1;
}

struct nm *sy_names(struct sy *sy)
{
	return sy->names;
}

uint64_t sy_word(struct sy *sy, uint64_t addr, enum sy_form form)
{
	char text[NM_TEXT];
	uint64_t word;

	if (nm_text(sy->names, addr) != NULL)
		return addr;
	word = nm_known(sy->names, addr, form);
	if (word == 0) {
		sy_format(sy, addr, form, text, sizeof(text));
		word = nm_word(sy->names, text);
		nm_learn(sy->names, addr, form, word);
	}
	return word;
}
