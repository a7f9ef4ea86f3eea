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
	uint32_t name; /* offset in strs */
	uint8_t type;  /* STT_* */
	uint8_t rank;  /* of several names at one address, the best known has the lowest */
};
struct elf {
	Elf64_Phdr *load; /* PT_LOAD only */
	unsigned nload;
	struct elf_sym *syms; /* functions and objects by address; the best name of one is last */
	size_t nsyms;
	char *strs; /* a NUL is added after each table's strings */
	size_t nstrs;
	uint32_t *by_name; /* indices sorted by name; made on first use */
	size_t ntaken;	   /* symbols examined */
	bool symtab;	   /* has .symtab: all names, not only dynamic ones */
	bool cut;	   /* truncated by a limit */
};

void elf_read(struct elf *f, int fd); /* into an empty one; skips what it cannot read */
bool elf_read_segments(struct elf *f, int fd); /* only these; false: it is no program or library */
/* Add symbols of the same program from a file that has only those. false: it has none. */
bool elf_read_symbols(struct elf *f, int fd);
/*
 * Add the symbols of a stripped program from its separate debug file (debug_file.c). pid: the
 * process in whose root directory to look first; path: of the program there.
 */
void elf_read_debug(struct elf *f, int fd, int pid, const char *path);
size_t elf_size(const struct elf *f); /* bytes of memory */
void elf_free(struct elf *f);
/* A copy of size bytes at off, NUL-terminated; NULL if the file is shorter. */
void *elf_bytes(int fd, uint64_t off, uint64_t size, uint64_t max);
bool elf_section(int fd, const char *name, Elf64_Shdr *sh); /* false: no such section */
bool elf_address(const struct elf *f, uint64_t off, uint64_t *addr); /* of a file offset */
bool elf_offset(const struct elf *f, uint64_t addr, bool code, uint64_t *off); /* the reverse */
const struct elf_sym *elf_named(struct elf *f, const char *name, size_t len);  /* or NULL */
/* The symbol that contains an address, or NULL. */
const struct elf_sym *elf_symbol(const struct elf *f, uint64_t addr);

#endif
