/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loaded code of a module, as it lies in the JIT's memory (code_find.c; not on the probe path).
 * What is read may be freed at any time: it is read so that a fault is no harm, and whoever uses it
 * compares it with the memory again (code_lookup.c).
 */
#ifndef BEAM_CODE_FIND_H
#define BEAM_CODE_FIND_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define CODE_INFO 40 /* bytes of what lies in front of a function: op, breakpoint, M, F, A */
#define CODE_MFA  16 /* there: M, F, A */

/* A line table begins so. Then come for each function where its items begin, and one more; the
 * items, which are addresses, and one more; the names of files, as terms; the locations. */
#define LINES_FILES 0
#define LINES_SIZE  8 /* of a location in bytes, 32 bits wide */
#define LINES_LOCS  16
#define LINES_ITEMS 24

struct code_file {
	uintptr_t term;	       /* its name, a list of characters */
	uint32_t number;       /* its name's (code_names.h); 0: not known */
	uint32_t ncells;       /* 0: it need not be compared: module.erl */
	uintptr_t at;	       /* where its cells lie, one after the other */
	const uintptr_t *cells; /* what is there */
};

struct code_module {
	uintptr_t from, to;  /* its code: the first function, and behind the last */
	uintptr_t functions; /* where it has its list of functions, and behind that `to` */
	uintptr_t lines_at;  /* where it has the address of its line table */
	uintptr_t lines;     /* that: 0: it has none */
	uintptr_t head[3];   /* what that begins with: files, size, locations */
	ERL_NIF_TERM mod;
	uint64_t born, used; /* refreshes: the first, and the last in which something led to it */
	uint32_t n, nfiles;
	uintptr_t *starts;   /* its list of functions, and `to` */
	uint32_t *numbers;   /* of its functions (code_names.h); 0: no room */
	struct code_file *files;
};

/* A module by the address of one of its functions' entries, and by its name. */
struct code_entry {
	uintptr_t at;
	ERL_NIF_TERM mod;
};

#define CODE_WHY 160
/*
 * Learn how modules are laid out, by these; false: it is not understood, why says what. From then
 * on all modules must be so.
 *
 */
bool code_find_learn(const struct code_entry *entries, unsigned n, char why[CODE_WHY]);
/* The module that has a function whose entry is there; NULL: none, or it is not understood. */
struct code_module *code_find_entry(const struct code_entry *entry, char why[CODE_WHY]);
/* The module that has code there. */
struct code_module *code_find_pc(uintptr_t pc, char why[CODE_WHY]);
/* Is it still there, and still the same? */
bool code_find_same(const struct code_module *m);
void code_module_free(struct code_module *m);
uintptr_t code_find_header(const struct code_module *m); /* where it begins */
/* Is what lies in front of this function there? */
bool code_find_is(uintptr_t info, ERL_NIF_TERM mod, ERL_NIF_TERM fun, unsigned arity);
bool code_find_word(uintptr_t at, uintptr_t *word);

/* The JIT's memory. */
struct code_range {
	uintptr_t from, to;
};
bool code_find_maps(char why[CODE_WHY]);			 /* look at it anew */
const struct code_range *code_find_map(uintptr_t at);		 /* NULL: not there */
const struct code_range *code_find_nth_map(unsigned i);	 /* NULL: no more */

/*
 * Tests: all that is known of a module, as one number; the Nth word that is read is another one;
 * words read since then.
 */
uint64_t code_module_sum(const struct code_module *m);
void code_find_flip(uint64_t n);
uint64_t code_find_words(void);

#pragma GCC visibility pop
#endif
