/* SPDX-License-Identifier: Apache-2.0 */
/* Programs and libraries: their segments and symbols. */
#ifndef ELF_H
#define ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_sym {
	uint64_t value, size;
	uint32_t name; /* in the file's strings */
	uint8_t type;  /* STT_* */
	uint8_t rank;  /* of several names at one address, the one that people know is the lowest */
};
struct elf {
	Elf64_Phdr *load; /* PT_LOAD only */
	unsigned nload;
	struct elf_sym *syms; /* functions and objects by address; of names at one, the best last */
	size_t nsyms;
	char *strs; /* each table's strings end with a NUL of ours */
	size_t nstrs;
	uint32_t *by_name; /* the same by name: made when first asked for */
	size_t ntaken;	   /* symbols that were looked at */
	bool symtab;	   /* all its names are there, not only those that others link with */
	bool cut;	   /* there is more than is taken */
};

void elf_read(struct elf *f, int fd); /* into an empty one; what cannot be read is not there */
/* More symbols of the same program, from a file that has those only. false: it has none. */
bool elf_read_symbols(struct elf *f, int fd);
/*
 * The names of a program that was stripped, from where its distributor keeps them (debug_file.c). pid:
 * in whose root directory to look before our own; path: of the program there.
 */
void elf_read_debug(struct elf *f, int fd, int pid, const char *path);
size_t elf_size(const struct elf *f); /* bytes of memory */
void elf_free(struct elf *f);
/* size bytes at off in memory of our own, with a NUL behind; NULL if the file is shorter. */
void *elf_bytes(int fd, uint64_t off, uint64_t size, uint64_t max);
bool elf_section(int fd, const char *name, Elf64_Shdr *sh); /* false: none of that name */
bool elf_address(const struct elf *f, uint64_t off, uint64_t *addr); /* of an offset in the file */
bool elf_offset(const struct elf *f, uint64_t addr, bool code, uint64_t *off); /* the reverse */
const struct elf_sym *elf_named(struct elf *f, const char *name, size_t len);  /* or NULL */
/* The symbol that holds an address, or NULL. */
const struct elf_sym *elf_symbol(const struct elf *f, uint64_t addr);

#endif
