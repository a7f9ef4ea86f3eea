/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The types of the running kernel and of its modules, from their BTF (/sys/kernel/btf): what a
 * structure has, what a tracepoint passes. And where the kernel has a symbol.
 *
 *   btf_file.c   one file: checked, taken apart, names indexed
 *   btf_open.c   all of them: opened when they are asked for, shared within the process
 *   btf_path.c   members of members: where "se.sum_exec_runtime" is
 *   btf_text.c   a type as C writes it
 *   ksym.c       addresses of symbols, from /proc/kallsyms
 *
 * A file may say anything: each number in it is checked before it is followed, and who walks from
 * type to type bounds how far. All functions may be called by several threads.
 */
#ifndef BTF_H
#define BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

struct btf;	 /* those of a kernel: vmlinux and its modules */
struct btf_file; /* one of them; a module's continues that of vmlinux */

/* ---- all of them ---------------------------------------------------------------------- */

/* Of the running kernel, opened by the first who asks. NULL: e says why there are none. */
struct btf *btf_open(struct et_error *e);
struct btf *btf_open_folder(const char *folder, struct et_error *e); /* of another one */
void btf_close(struct btf *b);
void btf_folder(const char *folder); /* for tests: btf_open() opens this one; NULL: as ever */

/* vmlinux is the first; a module's is opened here. NULL: no such, or not one that we can read. */
unsigned btf_nfiles(struct btf *b);
const char *btf_file_name(const struct btf *b, unsigned i); /* i < btf_nfiles() */
const struct btf_file *btf_file_at(struct btf *b, unsigned i);

/* ---- types ---------------------------------------------------------------------------- */

struct btf_at { /* a type; id 0: void */
	const struct btf_file *file;
	uint32_t id;
};
static inline bool btf_same(struct btf_at a, struct btf_at b)
{
	return a.file == b.file && a.id == b.id;
}

/* Kinds are those of linux/btf.h, BTF_KIND_*; a set of them has a bit for each. */
#define BTF_A(kind) (1u << (kind))

/* By name: in vmlinux, else in a module. module: in this file only; NULL: in any. */
bool btf_find(
	struct btf *b, const char *module, const char *name, uint32_t kinds, struct btf_at *at);
/* In this file, not in what it continues. */
bool btf_find_in(const struct btf_file *f, const char *name, uint32_t kinds, struct btf_at *at);
/* All types of these kinds in this file, in order, until cb says false. */
void btf_each(const struct btf_file *f, uint32_t kinds,
	bool (*cb)(void *arg, struct btf_at at, const char *name), void *arg);

struct btf_view {
	unsigned kind;
	const char *name;		  /* "": none */
	uint64_t size;			  /* bytes of INT, FLOAT, STRUCT, UNION, ENUM, ENUM64 */
	unsigned n;			  /* members, enumerators, parameters */
	uint32_t nelems;		  /* of an ARRAY */
	bool is_signed, is_char, is_bool; /* INT; ENUM: is_signed */
	unsigned bits, bit_off;		  /* INT: of how many bits, from which on */
	bool is_union;			  /* FWD */
	/* what PTR, TYPEDEF, CONST.., ARRAY, VAR, FUNC are of; the result of a FUNC_PROTO */
	struct btf_at ref;
};
/* false: there is no such type, or it is void. */
bool btf_view(struct btf_at at, struct btf_view *v);

struct btf_item {	  /* a member, an enumerator, a parameter */
	const char *name; /* "": none */
	struct btf_at type;
	uint64_t bit_off; /* of a member, in its structure */
	unsigned bits;	  /* of a bit-field; 0: none */
	int64_t value;	  /* of an enumerator */
};
bool btf_item(struct btf_at at, unsigned i, struct btf_item *item);

bool btf_is_per_cpu(struct btf_at at); /* a VAR */

/* Without typedefs, qualifiers and tags. */
struct btf_at btf_plain(struct btf_at at);
uint32_t btf_size(struct btf_at at); /* bytes of a value; 0: not known */

/* ---- what else is asked ---------------------------------------------------------------- */

#define BTF_NOWHERE UINT32_MAX
/* The offset of a member ("se.sum_exec_runtime") in a structure of vmlinux, or BTF_NOWHERE. */
uint32_t btf_offset(struct btf *b, const char *structure, const char *path);

/* "const struct sock *"; what has no name that can be written is an address. Returns buf. */
char *btf_text(struct btf_at at, char *buf, size_t size);

/*
 * A symbol's address. module: NULL any, "vmlinux". false: there is no such, or (*hidden) its
 * address is not for us (kernel.kptr_restrict).
 */
bool ksym_address(const char *module, const char *name, uint64_t *addr, bool *hidden);

#endif
