/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of an Erlang VM, read from outside: which Erlang function has code at an address, and
 * which line of its source. This needs permission to read the VM's memory, and no symbols:
 * vm_tables.c finds where things are, and has checked them. They are read when they are asked for,
 * as modules come and go.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "elf.h"
#include "proc_file.h"
#include "utf8.h"
#include "vm.h"

enum {
	MAX_MODULES = 1 << 20,
	MAX_FUNCTIONS = 1 << 20,
	LINE_TABLE = 9,	 /* the word of a module's header that points to it */
	KNOWN = 4096,	 /* frames that are remembered: a power of two */
	MAX_CODE = 4096, /* mappings */
	MAX_PATH = 4096,
};
enum { LIST = 1, SMALL = 15, NIL = 0x3b }; /* terms: tags, and the empty list */

struct function {
	struct vm_range module, code;
	uint64_t index, n; /* of the functions of its module */
	uint64_t mfa[3];
};
struct modules { /* what the VM has for a code index */
	uint64_t at, n, room, middle;
};

struct frame {		      /* as text */
	uint64_t addr, first; /* of that text */
	char *text;
};

struct vm {
	int pid, mem; /* /proc/PID/mem */
	uint64_t bias;
	struct elf elf;
	struct vm_tables tables;
	const char *refusal;
	struct vm_range *code; /* executable memory of no file */
	size_t ncode;
	time_t looked;		/* at that */
	struct modules modules; /* for which these are known: */
	struct frame *known;
};

bool vm_read(const struct vm *vm, uint64_t addr, void *to, size_t n)
{
	return pread(vm->mem, to, n, (off_t)addr) == (ssize_t)n;
}

static uint64_t word(const struct vm *vm, uint64_t addr)
{
	uint64_t v = 0;

	return vm_read(vm, addr, &v, sizeof(v)) ? v : 0;
}

uint64_t vm_symbol(const struct vm *vm, const char *name)
{
	for (size_t i = 0; i < vm->elf.nsyms; i++)
		if (strcmp(vm->elf.strs + vm->elf.syms[i].name, name) == 0)
			return vm->bias + vm->elf.syms[i].value;
	return 0;
}

const struct vm_tables *vm_tables(const struct vm *vm)
{
	return &vm->tables;
}

const char *vm_refusal(const struct vm *vm)
{
	return vm->refusal;
}

const struct elf *vm_program(const struct vm *vm, uint64_t *bias)
{
	*bias = vm->bias;
	return &vm->elf;
}

/* ---- functions ------------------------------------------------------------------------ */

/* The table of modules that is in use. */
static bool read_modules(const struct vm *vm, struct modules *m)
{
	uint32_t active = 3;

	return vm->refusal == NULL && vm_read(vm, vm->tables.jit.active, &active, sizeof(active)) &&
	       active < 3 && vm_read(vm, vm->tables.modules + active * VM_MODULES, m, sizeof(*m)) &&
	       m->n <= MAX_MODULES;
}

static bool find_module(
	const struct vm *vm, const struct modules *m, uint64_t addr, struct vm_range *found)
{
	uint64_t lo = 0, hi = m->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (!vm_read(vm, m->at + mid * sizeof(*found), found, sizeof(*found)))
			return false;
		if (addr < found->start)
			hi = mid;
		else if (addr >= found->end)
			lo = mid + 1;
		else
			return true;
	}
	return false;
}

/* Of the module's functions, the one that has code at addr, or the first if addr is before it. */
static bool find_in_module(const struct vm *vm, uint64_t addr, struct function *f)
{
	uint64_t table = f->module.start + 8 * vm->tables.functions, lo = 0, hi, mid;

	f->n = word(vm, f->module.start);
	if (f->n == 0 || f->n > MAX_FUNCTIONS)
		return false;
	for (hi = f->n; lo + 1 < hi;) {
		mid = lo + (hi - lo) / 2;
		if (word(vm, table + 8 * mid) <= addr)
			lo = mid;
		else
			hi = mid;
	}
	f->index = lo;
	return vm_read(vm, table + 8 * lo, &f->code, sizeof(f->code)) &&
	       f->code.start > f->module.start && f->code.end <= f->module.end &&
	       addr < f->code.end &&
	       vm_read(vm, f->code.start + VM_INFO_MFA, f->mfa, sizeof(f->mfa)) &&
	       vm_is_atom(f->mfa[0]) && vm_is_atom(f->mfa[1]);
}

static bool find_function(const struct vm *vm, uint64_t addr, struct function *f)
{
	struct modules m;

	return read_modules(vm, &m) && find_module(vm, &m, addr, &f->module) &&
	       find_in_module(vm, addr, f);
}

/* ---- lines ---------------------------------------------------------------------------- */

struct lines { /* as the VM has them: lines begin at addresses in order, for each function */
	uint64_t files, width, locations;
};
struct line {
	uint64_t start;	     /* the first address of the function with this line */
	uint32_t file, line; /* 0: not known */
};

/* The location of the n-th entry: a file in its highest byte, if it has four. */
static bool read_location(const struct vm *vm, const struct lines *l, uint64_t n, struct line *at)
{
	uint32_t width = (uint32_t)l->width, loc = 0;

	if ((width != 2 && width != 4) || !vm_read(vm, l->locations + n * width, &loc, width))
		return false;
	at->file = loc >> 24;
	at->line = loc & 0xffffff;
	return true;
}

/* All entries with the same line are one: where the first begins that has code. */
static bool find_start(const struct vm *vm, const struct lines *l, uint64_t first, uint64_t low,
	uint64_t at, uint64_t code, struct line *line)
{
	struct line other;

	for (; low <= at; low += 8) {
		line->start = word(vm, low) > code ? word(vm, low) : code;
		if (line->start < word(vm, low + 8) &&
			read_location(vm, l, (low - first) / 8, &other) &&
			other.file == line->file && other.line == line->line)
			return true;
	}
	return false;
}

static bool find_line(
	const struct vm *vm, const struct function *f, uint64_t addr, struct line *line)
{
	uint64_t table = word(vm, f->module.start + 8 * LINE_TABLE), first, of[2], low, high, mid;
	struct lines l;

	if (!vm->tables.lines || table == 0 || addr < f->code.start + VM_INFO ||
		!vm_read(vm, table, &l, sizeof(l)) ||
		!vm_read(vm, table + sizeof(l), &first, sizeof(first)) ||
		!vm_read(vm, table + sizeof(l) + 8 * f->index, of, sizeof(of)) || of[0] < first ||
		of[1] < of[0] || (of[1] - first) / 8 > MAX_FUNCTIONS * 16)
		return false;
	for (low = of[0], high = of[1]; low < high;) {
		mid = low + (high - low) / 16 * 8;
		if (addr < word(vm, mid))
			high = mid;
		else if (addr >= word(vm, mid + 8))
			low = mid + 8;
		else
			return read_location(vm, &l, (mid - first) / 8, line) && line->line != 0 &&
			       find_start(vm, &l, first, of[0], mid, f->code.start + VM_INFO, line);
	}
	return false;
}

/* The name of a file, a string of Erlang's: a list of characters. Of a path it is the last part. */
static bool file_text(
	const struct vm *vm, const struct function *f, uint32_t file, char *buf, size_t size)
{
	uint64_t table = word(vm, f->module.start + 8 * LINE_TABLE);
	uint64_t list = word(vm, word(vm, table) + 8 * (uint64_t)file), cell[2];
	size_t n = 0;

	for (unsigned i = 0; i < MAX_PATH && (list & 3) == LIST && n + 5 < size; i++) {
		if (!vm_read(vm, list - LIST, cell, sizeof(cell)) || (cell[0] & 15) != SMALL ||
			cell[0] >> 4 > 0x10ffff)
			return false;
		n = cell[0] >> 4 == '/' ? 0 : n + utf8_encode((uint32_t)(cell[0] >> 4), buf + n);
		list = cell[1];
	}
	buf[n] = '\0';
	return list == NIL && n > 0;
}

/* ---- text ----------------------------------------------------------------------------- */

static bool is_plain(const char *s)
{
	if (*s < 'a' || *s > 'z')
		return false;
	for (; *s != '\0'; s++)
		if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
			    (*s >= '0' && *s <= '9') || *s == '_' || *s == '@'))
			return false;
	return true;
}

static const char *quote(const char *s)
{
	return is_plain(s) ? "" : "'";
}

static bool format(
	const struct vm *vm, const struct function *f, bool module, char *buf, size_t size)
{
	char mod[256], func[256];

	if (!vm_atom_text(vm, &vm->tables.atoms, f->mfa[0] >> 6, mod, sizeof(mod)) ||
		!vm_atom_text(vm, &vm->tables.atoms, f->mfa[1] >> 6, func, sizeof(func)))
		return false;
	if (module)
		snprintf(buf, size, "%s%s%s", quote(mod), mod, quote(mod));
	else
		snprintf(buf, size, "%s%s%s:%s%s%s/%u", quote(mod), mod, quote(mod), quote(func),
			func, quote(func), (unsigned)f->mfa[2] & 0xff);
	return true;
}

static bool find_export(const struct vm *vm, uint64_t addr, bool module, char *buf, size_t size);

bool vm_function(struct vm *vm, uint64_t addr, bool module, char *buf, size_t size, uint64_t *off)
{
	struct function f;

	if (!find_function(vm, addr, &f)) {
		*off = 0;
		return find_export(vm, addr - 1, module, buf, size);
	}
	if ((addr < f.code.start && !module) || !format(vm, &f, module, buf, size))
		return false;
	*off = addr - (module ? f.module.start : f.code.start);
	return true;
}

/* ---- frames --------------------------------------------------------------------------- */

static bool find_frame(
	const struct vm *vm, uint64_t addr, bool lines, char *buf, size_t size, uint64_t *first)
{
	struct function f;
	struct line line;
	char file[256];
	size_t n;

	if (!find_function(vm, addr, &f) || addr < f.code.start ||
		!format(vm, &f, false, buf, size))
		return false;
	*first = f.code.start;
	if (!lines || !find_line(vm, &f, addr, &line) ||
		!file_text(vm, &f, line.file, file, sizeof(file)))
		return true;
	*first = line.start;
	n = strlen(buf);
	snprintf(buf + n, size - n, " (%s:%u)", file, line.line);
	return true;
}

static const struct vm_range *find_code(const struct vm *vm, uint64_t addr);

/*
 * A BIF has no code of its own on a stack: its frame is the end of the MFA in its Export, which is
 * never freed. Before that there is where to call it, for each code index.
 */
static bool find_export(const struct vm *vm, uint64_t addr, bool module, char *buf, size_t size)
{
	uint64_t at = addr + 1, code[3];
	struct function f;

	if (at % 8 != 0 || vm->tables.jit.light == 0 ||
		!vm_read(vm, at - sizeof(f.mfa), f.mfa, sizeof(f.mfa)) || !vm_is_atom(f.mfa[0]) ||
		!vm_is_atom(f.mfa[1]) || f.mfa[2] > 255 ||
		!vm_read(vm, at - sizeof(f.mfa) - vm->tables.jit.export_mfa, code, sizeof(code)))
		return false;
	return find_code(vm, code[0]) != NULL && find_code(vm, code[1]) != NULL &&
	       find_code(vm, code[2]) != NULL && format(vm, &f, module, buf, size);
}

/*
 * What is known is forgotten when code is loaded or removed, as its memory is used again; it is
 * kept when the VM has ended.
 */
static void forget(struct vm *vm)
{
	struct modules m;

	if (!read_modules(vm, &m))
		return;
	m.middle = 0; /* where the VM looked last */
	if (memcmp(&m, &vm->modules, sizeof(m)) == 0)
		return;
	vm->modules = m;
	for (unsigned i = 0; i < KNOWN; i++) {
		free(vm->known[i].text);
		vm->known[i] = (struct frame){0};
	}
}

static struct frame *known(struct vm *vm, uint64_t addr)
{
	return &vm->known[addr * UINT64_C(0x9e3779b97f4a7c15) >> 52 & (KNOWN - 1)];
}

static void learn(struct vm *vm, uint64_t addr, uint64_t first, const char *text)
{
	struct frame *k = known(vm, addr);

	free(k->text);
	*k = (struct frame){addr, first, strdup(text)};
}

/* The first address with a text is asked for when that is printed, maybe after the VM's end. */
bool vm_frame(struct vm *vm, uint64_t addr, bool lines, char *buf, size_t size, uint64_t *first)
{
	const struct frame *k = known(vm, addr);

	forget(vm);
	if (k->text != NULL && k->addr == addr) {
		*first = k->first;
		snprintf(buf, size, "%s", k->text);
		return true;
	}
	if (!find_frame(vm, addr, lines, buf, size, first)) {
		*first = addr;
		if (!find_export(vm, addr, false, buf, size))
			return false;
	}
	learn(vm, *first, *first, buf);
	learn(vm, addr, *first, buf);
	return true;
}

/* ---- mappings ------------------------------------------------------------------------- */

/* Executable, and the memory of no file: "/memfd:" is the JIT's own. */
static void read_code(struct vm *vm)
{
	char path[64], *line = NULL, *name;
	struct vm_range r;
	size_t room = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", vm->pid);
	f = fopen(path, "re");
	vm->ncode = 0;
	while (f != NULL && getline(&line, &room, f) > 0) {
		char perms[5] = "";

		name = strpbrk(line, "/[");
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &r.start, &r.end, perms) == 3 &&
			perms[2] == 'x' && (name == NULL || strncmp(name, "/memfd:", 7) == 0) &&
			vm->ncode < MAX_CODE && ARRAY_ROOM(vm->code, vm->ncode))
			vm->code[vm->ncode++] = r;
	}
	free(line);
	if (f != NULL)
		fclose(f);
}

static const struct vm_range *find_code(const struct vm *vm, uint64_t addr)
{
	for (size_t i = 0; i < vm->ncode; i++)
		if (addr >= vm->code[i].start && addr < vm->code[i].end)
			return &vm->code[i];
	return NULL;
}

bool vm_is_jit(struct vm *vm, uint64_t addr, uint64_t *off)
{
	const struct vm_range *r = find_code(vm, addr);
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (r == NULL && now.tv_sec != vm->looked) {
		vm->looked = now.tv_sec;
		read_code(vm);
		r = find_code(vm, addr);
	}
	*off = r != NULL ? addr - r->start : 0;
	return r != NULL;
}

/* ---- opening -------------------------------------------------------------------------- */

/* The load address of the program: its first mapping. */
static bool find_program(struct vm *vm, const char *exe)
{
	char path[64], *line = NULL, *at;
	uint64_t start, offset;
	bool found = false;
	size_t room = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", vm->pid);
	f = fopen(path, "re");
	while (f != NULL && !found && getline(&line, &room, f) > 0) {
		at = strchr(line, '/');
		if (at == NULL ||
			sscanf(line, "%" SCNx64 "-%*x %*s %" SCNx64, &start, &offset) != 2)
			continue;
		at[strcspn(at, "\n")] = '\0';
		found = strcmp(at, exe) == 0 && offset == 0;
	}
	free(line);
	if (f != NULL)
		fclose(f);
	if (found && vm->elf.nload > 0)
		vm->bias = start - vm->elf.load[0].p_vaddr;
	return found && vm->elf.nload > 0;
}

/* Its variables: the segment that can be written, of which the file has only a part. */
static bool find_data(const struct vm *vm, struct vm_range *data)
{
	for (unsigned i = 0; i < vm->elf.nload; i++) {
		const Elf64_Phdr *p = &vm->elf.load[i];

		data->start = (vm->bias + p->p_vaddr + 7) & ~UINT64_C(7);
		data->end = vm->bias + p->p_vaddr + p->p_memsz;
		if ((p->p_flags & PF_W) != 0 && data->start < data->end)
			return true;
	}
	return false;
}

static void find_tables(struct vm *vm)
{
	struct vm_range data, program;

	read_code(vm);
	if (vm->ncode == 0)
		vm->refusal = "it has no JIT";
	else if (!find_data(vm, &data))
		vm->refusal = "its program has no data";
	else {
		program = (struct vm_range){vm->bias + vm->elf.load[0].p_vaddr, data.end};
		vm->refusal = vm_tables_find(vm, &program, &data, vm->code, vm->ncode, &vm->tables);
	}
}

struct vm *vm_open(int pid)
{
	char path[64], exe[4096];
	struct vm *vm = calloc(1, sizeof(*vm));
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	n = vm != NULL ? readlink(path, exe, sizeof(exe) - 1) : -1;
	exe[n > 0 ? n : 0] = '\0';
	if (strstr(exe, "/beam") == NULL) {
		free(vm);
		return NULL;
	}
	vm->pid = pid;
	fd = fi_open(path);
	if (fd >= 0) {
		elf_read(&vm->elf, fd);
		elf_read_debug(&vm->elf, fd, pid, exe);
		close(fd);
	}
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	vm->mem = open(path, O_RDONLY | O_CLOEXEC);
	vm->known = calloc(KNOWN, sizeof(*vm->known));
	if (vm->mem < 0 || vm->known == NULL || !find_program(vm, exe)) {
		vm_close(vm);
		return NULL;
	}
	find_tables(vm);
	return vm;
}

void vm_close(struct vm *vm)
{
	if (vm == NULL)
		return;
	if (vm->mem >= 0)
		close(vm->mem);
	elf_free(&vm->elf);
	free(vm->code);
	for (unsigned i = 0; vm->known != NULL && i < KNOWN; i++)
		free(vm->known[i].text);
	free(vm->known);
	free(vm);
}
