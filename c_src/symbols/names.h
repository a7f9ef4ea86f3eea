/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of names, which replace addresses: names.c. */
#ifndef NAMES_H
#define NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How an address is printed. */
enum sy_form {
	SY_ADDR,   /* module`symbol+0xoff */
	SY_SYM,	   /* module`symbol */
	SY_MOD,	   /* module */
	/* as SY_ADDR, but an Erlang function with its line: the innermost frame of a stack */
	SY_PC,
	SY_RETURN, /* the same of another frame: a return address, so that the call is before it */
};

enum { NM_TEXT = 512 }; /* bytes of a name, NUL included */
struct nm;
struct nm *nm_new(size_t max); /* limit of bytes of all names */
void nm_free(struct nm *nm);
uint64_t nm_word(struct nm *nm, const char *text);	  /* its number; 0: the table is full */
const char *nm_text(const struct nm *nm, uint64_t word); /* NULL: not a name */
/* The cached number of an address; 0: not cached. */
uint64_t nm_known(struct nm *nm, uint64_t addr, enum sy_form form);
void nm_learn(struct nm *nm, uint64_t addr, enum sy_form form, uint64_t word);
void nm_export(struct nm *nm); /* begin an export, without names */
/* Is a name in the current export? *as: its index there, or, if not, the one that it gets. */
bool nm_sent(struct nm *nm, uint64_t word, uint32_t *as);

#endif
