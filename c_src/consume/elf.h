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
	uint8_t rank;  /* global before weak before local */
};
struct elf {
	Elf64_Phdr *load; /* PT_LOAD only */
	unsigned nload;
	struct elf_sym *syms; /* functions and objects by address; of names at one, the best last */
	size_t nsyms;
	char *strs; /* each table's strings end with a NUL of ours */
	size_t nstrs;
};

void elf_read(struct elf *f, int fd); /* into an empty one; what cannot be read is not there */
void elf_free(struct elf *f);
/* size bytes at off in memory of our own, with a NUL behind; NULL if the file is shorter. */
void *elf_bytes(int fd, uint64_t off, uint64_t size, uint64_t max);
bool elf_section(int fd, const char *name, Elf64_Shdr *sh); /* false: none of that name */
bool elf_address(const struct elf *f, uint64_t off, uint64_t *addr); /* of an offset in the file */
bool elf_offset(const struct elf *f, uint64_t addr, bool code, uint64_t *off); /* the reverse */
/* The symbol that holds an address, or NULL. */
const struct elf_sym *elf_symbol(const struct elf *f, uint64_t addr);

#endif
