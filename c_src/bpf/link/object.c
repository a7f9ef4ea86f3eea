/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that clang has compiled for BPF: they are read from ELF files of the build, and their
 * relocations are resolved as far as the files go.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "object.h"

enum { RELOC_64_64 = 1, RELOC_64_32 = 10 }; /* lddw; call */

struct file {
	const char *base;
	const Elf64_Ehdr *eh;
	const Elf64_Shdr *sh;
	const Elf64_Sym *syms;
	unsigned nsyms;
	const char *names;
	struct ebpf_object *o;
	unsigned first; /* its first function in the table */
};

static int add_func(struct ebpf_object *o, const struct ebpf_func *f)
{
	if (!ARRAY_ROOM(o->funcs, o->n))
		return -1;
	o->funcs[o->n++] = *f;
	return 0;
}

static int read_funcs(struct file *f)
{
	for (unsigned i = 0; i < f->nsyms; i++) {
		const Elf64_Sym *s = &f->syms[i];
		struct ebpf_func fn = {.name = f->names + s->st_name,
			.global = ELF64_ST_BIND(s->st_info) == STB_GLOBAL};

		if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || s->st_shndx == SHN_UNDEF)
			continue;
		fn.insns = (const struct ebpf_insn *)(const void *)(f->base +
			f->sh[s->st_shndx].sh_offset + s->st_value);
		fn.n = (unsigned)(s->st_size / 8);
		if (add_func(f->o, &fn) < 0)
			return -1;
	}
	return 0;
}

/* The function of this file that has the byte at off of a section; *at: which instruction. */
static int func_at(const struct file *f, unsigned section, uint64_t off, unsigned *at)
{
	const char *p = f->base + f->sh[section].sh_offset + off;

	for (unsigned i = f->first; i < f->o->n; i++) {
		const char *from = (const char *)f->o->funcs[i].insns;

		if (p >= from && p < from + 8 * (size_t)f->o->funcs[i].n) {
			*at = (unsigned)(p - from) / 8;
			return (int)i;
		}
	}
	return -1;
}

static int add_reloc(struct ebpf_func *fn, struct ebpf_reloc r)
{
	if (!ARRAY_ROOM(fn->relocs, fn->nrelocs))
		return -1;
	fn->relocs[fn->nrelocs++] = r;
	return 0;
}

/* The constants of a section; one that was asked for before is that one. */
static int data_of(struct file *f, unsigned section)
{
	const Elf64_Shdr *s = &f->sh[section];
	const char *bytes = f->base + s->sh_offset;

	for (unsigned i = 0; i < f->o->ndata; i++)
		if (f->o->data[i].bytes == bytes)
			return (int)i;
	if (!ARRAY_ROOM(f->o->data, f->o->ndata))
		return -1;
	f->o->data[f->o->ndata] = (struct ebpf_data){.bytes = bytes, .size = s->sh_size};
	return (int)f->o->ndata++;
}

static bool is_data(const struct file *f, const Elf64_Sym *s)
{
	return s->st_shndx != SHN_UNDEF && s->st_shndx < f->eh->e_shnum &&
	       (f->sh[s->st_shndx].sh_flags & (SHF_ALLOC | SHF_EXECINSTR)) == SHF_ALLOC;
}

static int read_relocs(struct file *f, const Elf64_Shdr *rel)
{
	const Elf64_Rel *r = (const Elf64_Rel *)(const void *)(f->base + rel->sh_offset);

	for (size_t i = 0; i < rel->sh_size / sizeof(*r); i++) {
		const Elf64_Sym *s = &f->syms[ELF64_R_SYM(r[i].r_info)];
		struct ebpf_reloc to = {.index = -1};
		unsigned at, ignored;
		int fn = func_at(f, rel->sh_info, r[i].r_offset, &at);

		if (fn < 0)
			continue;
		to.at = at;
		if (is_data(f, s)) {
			to.kind = EBPF_REL_DATA;
			to.index = data_of(f, s->st_shndx);
			to.off = s->st_value + (uint64_t)(uint32_t)f->o->funcs[fn].insns[at].imm;
			if (to.index < 0)
				return -1;
		} else if (ELF64_ST_TYPE(s->st_info) == STT_SECTION) {
			/* a static function: the call says where it is, seen from behind itself */
			int32_t imm = f->o->funcs[fn].insns[at].imm;

			to.index = func_at(f, s->st_shndx, 8 * (uint64_t)(imm + 1), &ignored);
			to.kind = to.index < 0 ? EBPF_REL_SYMBOL : EBPF_REL_FUNC;
		} else {
			to.name = f->names + s->st_name; /* of any file: resolve() */
		}
		if (add_reloc(&f->o->funcs[fn], to) < 0)
			return -1;
	}
	return 0;
}

static bool has_reloc(const struct ebpf_func *fn, unsigned at)
{
	for (unsigned i = 0; i < fn->nrelocs; i++)
		if (fn->relocs[i].at == at)
			return true;
	return false;
}

/* Calls within a section say themselves where they go. */
static int read_near_calls(struct file *f)
{
	for (unsigned i = f->first; i < f->o->n; i++) {
		const struct ebpf_insn *insns = f->o->funcs[i].insns;

		for (unsigned at = 0; at < f->o->funcs[i].n; at++) {
			struct ebpf_reloc to = {.at = at, .index = -1};

			if (insns[at].code == EBPF_LDDW) {
				at++;
				continue;
			}
			if (insns[at].code != EBPF_CALL || insns[at].src != 1 ||
				has_reloc(&f->o->funcs[i], at))
				continue;
			for (unsigned k = f->first; k < f->o->n; k++)
				if (f->o->funcs[k].insns == &insns[(int)at + 1 + insns[at].imm])
					to.index = (int)k;
			to.kind = to.index < 0 ? EBPF_REL_SYMBOL : EBPF_REL_FUNC;
			if (add_reloc(&f->o->funcs[i], to) < 0)
				return -1;
		}
	}
	return 0;
}

static int read_file(struct ebpf_object *o, const char *base)
{
	struct file f = {.base = base, .o = o, .first = o->n};

	f.eh = (const Elf64_Ehdr *)(const void *)base;
	f.sh = (const Elf64_Shdr *)(const void *)(base + f.eh->e_shoff);
	for (unsigned i = 0; i < f.eh->e_shnum; i++)
		if (f.sh[i].sh_type == SHT_SYMTAB) {
			f.syms = (const Elf64_Sym *)(const void *)(base + f.sh[i].sh_offset);
			f.nsyms = (unsigned)(f.sh[i].sh_size / sizeof(Elf64_Sym));
			f.names = base + f.sh[f.sh[i].sh_link].sh_offset;
		}
	if (read_funcs(&f) < 0)
		return -1;
	for (unsigned i = 0; i < f.eh->e_shnum; i++)
		if (f.sh[i].sh_type == SHT_REL && read_relocs(&f, &f.sh[i]) < 0)
			return -1;
	return read_near_calls(&f);
}

/* ---- names ---------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	const struct ebpf_func *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static int sort_names(struct ebpf_object *o)
{
	o->by_name = malloc((o->n + 1) * sizeof(*o->by_name));
	if (o->by_name == NULL)
		return -1;
	for (unsigned i = 0; i < o->n; i++)
		if (o->funcs[i].global)
			o->by_name[o->nglobals++] = &o->funcs[i];
	qsort(o->by_name, o->nglobals, sizeof(*o->by_name), by_name);
	return 0;
}

int ebpf_object_find(const struct ebpf_object *o, const char *name)
{
	const struct ebpf_func key = {.name = name}, *k = &key, **at;

	if (o->nglobals == 0)
		return -1;
	at = bsearch(&k, o->by_name, o->nglobals, sizeof(*o->by_name), by_name);
	return at != NULL ? (int)(*at - o->funcs) : -1;
}

static void resolve(const struct ebpf_object *o, struct ebpf_func *fn)
{
	for (unsigned i = 0; i < fn->nrelocs; i++) {
		struct ebpf_reloc *r = &fn->relocs[i];

		if (r->name != NULL && (r->index = ebpf_object_find(o, r->name)) >= 0)
			r->kind = EBPF_REL_FUNC;
	}
}

int ebpf_object_load(struct ebpf_object *o, const char *files, const char *end, struct et_error *e)
{
	int rc = 0;

	*o = (struct ebpf_object){0};
	for (const char *p = files; p < end && rc == 0;) {
		uint64_t size;

		memcpy(&size, p, 8);
		rc = read_file(o, p + 8);
		p += 8 + (size + 7) / 8 * 8;
	}
	if (rc < 0 || sort_names(o) < 0) {
		ebpf_object_free(o);
		return et_err(e, ET_NOMEM, "out of memory");
	}
	for (unsigned i = 0; i < o->n; i++)
		resolve(o, &o->funcs[i]);
	return 0;
}

void ebpf_object_free(struct ebpf_object *o)
{
	for (unsigned i = 0; i < o->n; i++)
		free(o->funcs[i].relocs);
	free(o->funcs);
	free(o->by_name);
	free(o->data);
	*o = (struct ebpf_object){0};
}
