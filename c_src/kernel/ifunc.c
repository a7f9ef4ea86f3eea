/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that a library chooses when it is loaded, by what the machine can do (GNU ifuncs:
 * memcpy(), strlen() and others). Their symbol is that of the resolver; the chosen function has no
 * name. Its address is in the process's memory, in the slots that calls go through: in the
 * library's own, found by the resolver's address, and in those of other modules, found by name.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "modules.h"

#define MAX_TABLE (64u << 20)
#define MAX_NAME  47

struct k_slot {
	uint64_t addr;	  /* in the file's count */
	uint64_t chooser; /* its address, or 0: by name */
	char name[MAX_NAME + 1];
};

static bool add_slot(struct k_module *m, const struct k_slot *slot)
{
	if (!ARRAY_ROOM(m->slots, m->nslots))
		return false;
	m->slots[m->nslots++] = *slot;
	return true;
}

struct tables {
	Elf64_Sym *syms;
	size_t nsyms;
	char *strs;
	size_t nstrs;
};

static bool make_slot(const struct tables *t, const Elf64_Rela *r, struct k_slot *slot)
{
	uint64_t n = ELF64_R_SYM(r->r_info);
	const char *name;

	*slot = (struct k_slot){.addr = r->r_offset};
	switch (ELF64_R_TYPE(r->r_info)) {
	case R_X86_64_IRELATIVE: slot->chooser = (uint64_t)r->r_addend; return true;
	case R_X86_64_JUMP_SLOT:
	case R_X86_64_GLOB_DAT: break;
	default: return false;
	}
	if (n >= t->nsyms || t->syms[n].st_name >= t->nstrs)
		return false;
	name = t->strs + t->syms[n].st_name;
	if (*name == '\0' || strlen(name) > MAX_NAME)
		return false;
	strcpy(slot->name, name);
	return true;
}

static void read_slots(struct k_module *m)
{
	static const char *const sections[] = {".rela.plt", ".rela.dyn"};
	int fd = k_module_open(m);
	Elf64_Shdr sh = {0};
	struct tables t = {0};
	struct k_slot slot;

	m->has_slots = true;
	if (fd >= 0 && elf_section(fd, ".dynsym", &sh)) {
		t.syms = elf_bytes(fd, sh.sh_offset, sh.sh_size, MAX_TABLE);
		t.nsyms = t.syms != NULL ? sh.sh_size / sizeof(*t.syms) : 0;
	}
	if (fd >= 0 && elf_section(fd, ".dynstr", &sh)) {
		t.strs = elf_bytes(fd, sh.sh_offset, sh.sh_size, MAX_TABLE);
		t.nstrs = t.strs != NULL ? sh.sh_size : 0;
	}
	for (unsigned i = 0; fd >= 0 && i < 2; i++) {
		Elf64_Rela *r = elf_section(fd, sections[i], &sh)
			? elf_bytes(fd, sh.sh_offset, sh.sh_size, MAX_TABLE) : NULL;

		for (size_t k = 0; r != NULL && k < sh.sh_size / sizeof(*r); k++)
			if (make_slot(&t, &r[k], &slot) && !add_slot(m, &slot))
				break;
		free(r);
	}
	free(t.syms);
	free(t.strs);
	if (fd >= 0)
		close(fd);
}

/* What is to be added to an address of the file's tables. */
static bool bias(struct k_module *m, uint64_t *to)
{
	uint64_t addr;

	if (!elf_address(k_module_elf(m), m->offset, &addr))
		return false;
	*to = m->start - addr;
	return true;
}

static bool look(int mem, struct k_module *in, const struct k_module *m, const struct elf_sym *s,
	const char *name, uint64_t *offset)
{
	uint64_t at, addr, own;

	if (!in->has_slots)
		read_slots(in);
	if (in->nslots == 0 || !bias(in, &at))
		return false;
	for (unsigned i = 0; i < in->nslots; i++) {
		const struct k_slot *l = &in->slots[i];

		if (l->chooser != 0 ? in != m || l->chooser != s->value
				    : strcmp(l->name, name) != 0)
			continue;
		if (pread(mem, &addr, sizeof(addr), (off_t)(at + l->addr)) != sizeof(addr) ||
			addr < m->start || addr >= m->end)
			continue;
		*offset = addr - m->start + m->offset;
		if (elf_address(&m->elf, *offset, &own) && own != s->value)
			return true;
	}
	return false;
}

bool k_chosen(struct k_process *list, int pid, struct k_module *m, const struct elf_sym *s,
	uint64_t *offset)
{
	const char *name = k_module_elf(m)->strs + s->name;
	char path[64];
	bool found;
	int mem;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	mem = open(path, O_RDONLY | O_CLOEXEC);
	if (mem < 0)
		return false;
	found = look(mem, m, m, s, name, offset);
	for (struct k_process *p = list; p != NULL && !found; p = p->next)
		for (unsigned i = 0; p->pid == pid && i < p->n && !found; i++)
			found = look(mem, &p->mods[i], m, s, name, offset);
	close(mem);
	return found;
}
