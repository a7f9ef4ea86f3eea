/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The section .note.stapsdt of a file: for each USDT probe its address, the address of
 * .stapsdt.base at link time, that of its semaphore, and three strings. The file is untrusted:
 * everything is checked.
 */
#include "sdt_notes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "elf.h"

#define MAX_NOTES (4u << 20) /* bytes */
enum { NOTE_TYPE = 3 };

/* The next note of a section; false: there are no more. */
static bool next_note(const char *p, size_t size, size_t *at, struct sdt_note *n)
{
	uint32_t head[3];
	const char *desc, *end;

	while (*at <= size && size - *at >= sizeof(head)) {
		size_t names, descs;

		memcpy(head, p + *at, sizeof(head));
		names = ((size_t)head[0] + 3) & ~3UL;
		descs = ((size_t)head[1] + 3) & ~3UL;
		*at += sizeof(head);
		if (names > size - *at || descs > size - *at - names)
			return false;
		desc = p + *at + names;
		end = desc + head[1];
		if (head[2] == NOTE_TYPE && head[0] == 8 && memcmp(p + *at, "stapsdt", 8) == 0 &&
			head[1] > 24 && end[-1] == '\0') {
			memcpy(n, desc, 24);
			n->prov = desc + 24;
			n->name = n->prov + strlen(n->prov) + 1;
			n->args = n->name < end ? n->name + strlen(n->name) + 1 : end;
			*at += names + descs;
			if (n->name < end && n->args < end)
				return true;
			continue;
		}
		*at += names + descs;
	}
	return false;
}

int sdt_notes(int fd, sdt_note_cb *cb, void *arg)
{
	Elf64_Shdr sh = {0}, base = {0};
	char *notes = NULL;
	struct sdt_note n;
	size_t at = 0;
	int rc = 0;

	if (elf_section(fd, ".note.stapsdt", &sh))
		notes = elf_bytes(fd, sh.sh_offset, sh.sh_size, MAX_NOTES);
	if (notes != NULL)
		elf_section(fd, ".stapsdt.base", &base);
	while (notes != NULL && rc == 0 && next_note(notes, sh.sh_size, &at, &n)) {
		if (base.sh_addr != 0) { /* undo prelinking */
			n.pc += base.sh_addr - n.base;
			n.semaphore += n.semaphore != 0 ? base.sh_addr - n.base : 0;
		}
		rc = cb(arg, &n);
	}
	free(notes);
	return rc;
}
