/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of names, in place of addresses: names.c. */
#ifndef NAMES_H
#define NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How an address is printed. */
enum sy_form {
	SY_ADDR, /* module`symbol+0xoff */
	SY_SYM,	 /* module`symbol */
	SY_MOD,	 /* module */
};

enum { NM_TEXT = 512 }; /* bytes of a name, with its end */
struct nm;
struct nm *nm_new(size_t max); /* bytes that all names may take */
void nm_free(struct nm *nm);
uint64_t nm_word(struct nm *nm, const char *text);	  /* its number; 0: there is no room */
const char *nm_text(const struct nm *nm, uint64_t word); /* NULL: it is none */
/* The number that an address was found to have; 0: not known. */
uint64_t nm_known(struct nm *nm, uint64_t addr, enum sy_form form);
void nm_learn(struct nm *nm, uint64_t addr, enum sy_form form, uint64_t word);
void nm_export(struct nm *nm); /* a new export begins: it has no name yet */
/* Is a name in the export already? *as: its index there, or, if not, the one that it gets. */
bool nm_sent(struct nm *nm, uint64_t word, uint32_t *as);

#endif
