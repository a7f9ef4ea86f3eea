/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of an Erlang VM, read from outside: which Erlang function has code at an address, and
 * where the atoms are. This needs the symbols of the VM's program (OTP up to 28) and permission to
 * read its memory. Structures of the VM are used only if their contents are plausible: the first
 * atoms are known, and each module's table of functions is sorted and within its code.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf.h"
#include "proc_file.h"
#include "vm.h"

enum {
	ATOM_TAG = 0x0b, /* in the low six bits */
	ATOM_PAGE = 1024,
	CODE = 96,	/* bytes of a function to examine */
	INFO_MFA = 16,	/* offset in the function's header: module, function, arity */
	MAX_HEADER = 48, /* the module's table begins within these words */
	MAX_FUNCTIONS = 1 << 20,
};

struct vm {
	int mem; /* /proc/PID/mem */
	uint64_t bias;
	struct elf elf;
	struct vm_atoms atoms;
	uint64_t ranges, active; /* addresses of the tables of modules, and of the index in use */
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

/* ---- atoms ---------------------------------------------------------------------------- */

static uint64_t atom_at(const struct vm *vm, const struct vm_atoms *a, uint64_t index)
{
	return word(vm, word(vm, a->table + index / ATOM_PAGE * 8) + index % ATOM_PAGE * 8);
}

/* The text of an atom, truncated; false: no such atom. */
static bool atom_text(
	const struct vm *vm, const struct vm_atoms *a, uint64_t index, char *buf, size_t size)
{
	uint64_t atom = atom_at(vm, a, index);
	int16_t len = -1;

	if (atom == 0 || !vm_read(vm, atom + a->len, &len, sizeof(len)) || len < 0 || size == 0)
		return false;
	if ((size_t)len >= size)
		len = (int16_t)(size - 1);
	buf[len] = '\0';
	return vm_read(vm, word(vm, atom + a->name), buf, (size_t)len);
}

/* The pointer is among the first words of a table of the VM; the first two atoms are known. */
static void find_atoms(struct vm *vm)
{
	uint64_t w[32], at = vm_symbol(vm, "erts_atom_table");
	struct vm_atoms a = {.len = 24, .name = 32};
	char first[8], second[8];

	if (at == 0 || !vm_read(vm, at, w, sizeof(w)))
		return;
	for (unsigned i = 0; i < 32 && vm->atoms.table == 0; i++) {
		a.table = w[i];
		if (w[i] % 8 == 0 && w[i] > 4096 && atom_text(vm, &a, 0, first, sizeof(first)) &&
			atom_text(vm, &a, 1, second, sizeof(second)) &&
			strcmp(first, "false") == 0 && strcmp(second, "true") == 0)
			vm->atoms = a;
	}
}

bool vm_atoms(const struct vm *vm, struct vm_atoms *at)
{
	*at = vm->atoms;
	return at->table != 0;
}

/* ---- code ----------------------------------------------------------------------------- */

static int32_t displacement(const uint8_t *p)
{
	int32_t d;

	memcpy(&d, p, sizeof(d));
	return d;
}

/*
 * The table of modules has no symbol. The function that looks up addresses first calls another one,
 * which loads the address of the table ("lea table(%rip)").
 */
static void find_ranges(struct vm *vm)
{
	uint64_t at = vm_symbol(vm, "erts_lookup_function_info");
	uint8_t code[CODE];
	unsigned i;

	vm->active = vm_symbol(vm, "the_active_code_index");
	if (at == 0 || vm->active == 0 || !vm_read(vm, at, code, sizeof(code)))
		return;
	for (i = 0; i + 5 < CODE && code[i] != 0xe8; i++)
		;
	if (i + 5 >= CODE)
		return;
	at += i + 5 + (uint64_t)(int64_t)displacement(code + i + 1);
	if (!vm_read(vm, at, code, sizeof(code)))
		return;
	for (i = 0; i + 7 < CODE; i++)
		if ((code[i] & 0xfb) == 0x48 && code[i + 1] == 0x8d && (code[i + 2] & 0xc7) == 5) {
			vm->ranges = at + i + 7 + (uint64_t)(int64_t)displacement(code + i + 3);
			return;
		}
}

struct range {
	uint64_t start, end;
};

/* The number of modules; *at: their sorted array. */
static uint64_t modules(const struct vm *vm, uint64_t *at)
{
	uint64_t table[4];
	uint32_t active = 3;

	if (vm->ranges == 0 || !vm_read(vm, vm->active, &active, sizeof(active)) || active > 2 ||
		!vm_read(vm, vm->ranges + active * sizeof(table), table, sizeof(table)))
		return 0;
	*at = table[0];
	return table[1] < MAX_FUNCTIONS ? table[1] : 0;
}

/* The module that contains an address; *next: the start of the one after it, or 0. */
static bool find_module(const struct vm *vm, uint64_t addr, struct range *found, uint64_t *next)
{
	uint64_t at = 0, lo = 0, hi = modules(vm, &at), mid;

	for (*next = 0; lo < hi;) {
		mid = lo + (hi - lo) / 2;
		if (!vm_read(vm, at + mid * sizeof(*found), found, sizeof(*found)))
			return false;
		if (addr < found->start) {
			hi = mid;
			*next = found->start;
		} else if (addr >= found->end) {
			lo = mid + 1;
		} else {
			return true;
		}
	}
	return false;
}

bool vm_modules(const struct vm *vm, uint64_t *tables, uint64_t *active)
{
	*tables = vm->ranges;
	*active = vm->active;
	return vm->ranges != 0;
}

uint64_t vm_module_after(const struct vm *vm, uint64_t addr)
{
	struct range r;
	uint64_t next;

	return find_module(vm, addr, &r, &next) ? 0 : next;
}

static bool is_atom(uint64_t term)
{
	return (term & 0x3f) == ATOM_TAG;
}

/* The table of functions in a module's header; 0: nothing looks like it. */
static uint64_t find_functions(const struct vm *vm, const struct range *r, uint64_t n)
{
	uint64_t w[MAX_HEADER + 1];

	if (n == 0 || n > MAX_FUNCTIONS || !vm_read(vm, r->start, w, sizeof(w)))
		return 0;
	for (unsigned i = 1; i < MAX_HEADER; i++)
		if (w[i] > r->start && w[i] < w[i + 1] && w[i + 1] <= r->end &&
			is_atom(word(vm, w[i] + INFO_MFA)) && is_atom(word(vm, w[i] + INFO_MFA + 8)))
			return r->start + 8 * (uint64_t)i;
	return 0;
}

static bool is_plain(const char *s)
{
	if (*s < 'a' || *s > 'z')
		return false;
	for (; *s != '\0'; s++)
		if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') ||
			    *s == '_' || *s == '@'))
			return false;
	return true;
}

static const char *quote(const char *s)
{
	return is_plain(s) ? "" : "'";
}

bool vm_function(
	struct vm *vm, uint64_t addr, bool module, char *buf, size_t size, uint64_t *off)
{
	uint64_t mfa[3], n, table, lo = 0, hi, mid, info, next;
	char mod[256], func[256];
	struct range r;

	if (vm->atoms.table == 0 || !find_module(vm, addr, &r, &next))
		return false;
	n = word(vm, r.start);
	table = find_functions(vm, &r, n);
	if (table == 0 || (addr < word(vm, table) && !module))
		return false;
	for (hi = n; lo + 1 < hi;) {
		mid = lo + (hi - lo) / 2;
		if (word(vm, table + 8 * mid) <= addr)
			lo = mid;
		else
			hi = mid;
	}
	info = word(vm, table + 8 * lo);
	if (!vm_read(vm, info + INFO_MFA, mfa, sizeof(mfa)) || !is_atom(mfa[0]) || !is_atom(mfa[1]) ||
		!atom_text(vm, &vm->atoms, mfa[0] >> 6, mod, sizeof(mod)) ||
		!atom_text(vm, &vm->atoms, mfa[1] >> 6, func, sizeof(func)))
		return false;
	if (module)
		snprintf(buf, size, "%s%s%s", quote(mod), mod, quote(mod));
	else
		snprintf(buf, size, "%s%s%s:%s%s%s/%u", quote(mod), mod, quote(mod), quote(func), func,
			quote(func), (unsigned)mfa[2] & 0xff);
	*off = addr - (module ? r.start : info);
	return true;
}

/* ---- opening -------------------------------------------------------------------------- */

/* The load address of the program: its first mapping. */
static bool find_program(struct vm *vm, int pid, const char *exe)
{
	char path[64], *line = NULL, *at;
	uint64_t start, offset;
	bool found = false;
	size_t room = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	while (f != NULL && !found && getline(&line, &room, f) > 0) {
		at = strchr(line, '/');
		if (at == NULL || sscanf(line, "%" SCNx64 "-%*x %*s %" SCNx64, &start, &offset) != 2)
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
	fd = fi_open(path);
	if (fd >= 0) {
		elf_read(&vm->elf, fd);
		elf_read_debug(&vm->elf, fd, pid, exe);
		close(fd);
	}
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	vm->mem = open(path, O_RDONLY | O_CLOEXEC);
	if (vm->mem < 0 || !find_program(vm, pid, exe)) {
		vm_close(vm);
		return NULL;
	}
	find_atoms(vm);
	find_ranges(vm);
	return vm;
}

void vm_close(struct vm *vm)
{
	if (vm == NULL)
		return;
	if (vm->mem >= 0)
		close(vm->mem);
	elf_free(&vm->elf);
	free(vm);
}
