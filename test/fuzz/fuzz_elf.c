/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: bytes as a program or library, read as the symbolizer reads those of other
 * processes. Whatever the bytes are: no crash, bounded memory, and a table that is in order.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbols/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct elf *f)
{
	for (size_t i = 0; i < f->nsyms; i++) {
		if (i > 0 && f->syms[i - 1].value > f->syms[i].value)
			abort(); /* sorted */
		if (f->syms[i].name >= f->nstrs || strlen(f->strs + f->syms[i].name) >= f->nstrs)
			abort(); /* its name is there */
	}
}

static void ask(struct elf *f, uint64_t at)
{
	const struct elf_sym *s = elf_symbol(f, at);
	uint64_t to;

	if (s != NULL && s->value > at)
		abort();
	if (elf_address(f, at, &to))
		elf_symbol(f, to);
	elf_offset(f, at, true, &to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct elf f = {0};
	Elf64_Shdr sh;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	elf_read(&f, fd);
	elf_read_debug(&f, fd, (int)getpid(), "/nowhere/program");
	check(&f);
	for (unsigned i = 0; i < f.nload; i++)
		ask(&f, f.load[i].p_vaddr + f.load[i].p_filesz / 2);
	for (size_t i = 0; i < f.nsyms && i < 64; i++) {
		const char *name = f.strs + f.syms[i].name;
		const struct elf_sym *s = elf_named(&f, name, strlen(name));

		ask(&f, f.syms[i].value);
		if (s != NULL && strcmp(f.strs + s->name, name) != 0)
			abort();
	}
	if (elf_section(fd, ".note.gnu.build-id", &sh))
		free(elf_bytes(fd, sh.sh_offset, sh.sh_size, 1 << 20));
	elf_free(&f);
	close(fd);
	return 0;
}
