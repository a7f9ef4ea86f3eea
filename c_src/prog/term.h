/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Erlang's terms as values of D (term_t): what the compiler, the engine and the provider of the
 * event agree on.
 *
 * A clause never holds a term itself, because a term is an address in the VM. It holds a handle: 0
 * for no term, otherwise 1 + the number of a slot. Slots belong to the event; the provider keeps
 * what is in them, and forgets it with the event. Each expression of a program that makes a term
 * has a slot of its own, which the compiler assigns, so that a handle that a this-> variable still
 * has from an earlier event names an empty slot, or the value that the same expression has now.
 */
#ifndef PROG_TERM_H
#define PROG_TERM_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

#define TERM_SLOTS 256 /* of a program */

/* Parts of a term: erlelement() and so on. */
enum term_part {
	TERM_ELEMENT, /* n: of a tuple, from 1 */
	TERM_HD,
	TERM_TL,
	TERM_KEY, /* n: index of a pattern without variables: a key of a map */
};

/* Facts about a term, as numbers. */
enum term_fact {
	TERM_INTEGER, /* its value; a float is truncated */
	TERM_SIZE,    /* of a tuple, list, map; bytes of a binary; characters of an atom */
	/* its value times the number that is there already; a float is rounded then */
	TERM_SCALED,
	TERM_IS,      /* is there a term at all? */
};

/* Its texts. */
enum term_text {
	TERM_PRINTED, /* as ~w writes it */
	TERM_PRETTY,  /* as ~p writes it, on one line: texts in quotes */
	TERM_CHARS,   /* the characters of an atom, binary, charlist, iolist */
	TERM_TYPE,    /* "integer", "atom", "tuple" ... */
};

#define TERM_ATOM_NAME 1024 /* bytes of an atom's name, at most, and a NUL */
enum { TERM_NOT_A_NUMBER = 2 }; /* where the order of two numbers is -1, 0 or 1 */

/* ---- patterns ------------------------------------------------------------------------- */

/*
 * A pattern is an array of nodes in prefix order: a node, then its children. A term without
 * variables (the key of a map) is a pattern too.
 */
enum pat_op {
	PAT_ANY,
	PAT_VAR,    /* n: the variable; bound before: must be equal */
	PAT_BOTH,   /* P1 = P2: two children for the same term */
	PAT_ATOM,   /* text */
	PAT_INT,    /* num */
	/* an integer of more bits: text: its words of 64 bits, the lowest first; n: 1: < 0 */
	PAT_BIG,
	PAT_FLOAT,  /* real */
	PAT_NIL,
	PAT_CONS,   /* head, tail */
	PAT_TUPLE,  /* n children */
	PAT_MAP,    /* n pairs of children: key, value */
	PAT_BINARY, /* n children, which are segments */
	/* segments of a binary */
	SEG_BYTES,  /* text */
	/* n: bits; num: SEG_LITTLE, SEG_SIGNED; one child: PAT_INT, PAT_VAR or PAT_ANY */
	SEG_INT,
	SEG_PART,   /* n: bits; one child: PAT_VAR or PAT_ANY */
	SEG_REST,   /* the same for all that is left; n: it is a multiple of so many bits */
	/* of terms only */
	PAT_OPAQUE, /* text: a pid, port, reference or fun, as it is printed */
};
enum { SEG_LITTLE = 1, SEG_SIGNED = 2 };

struct pat_node {
	uint8_t op;
	uint32_t n;
	uint32_t end; /* index of the node after this one and its children */
	uint32_t from, to; /* where it stands in the text; both 0: not by itself */
	union {
		int64_t num;
		double real;
		struct {
			const char *text; /* UTF-8 for atoms, any bytes for segments */
			uint32_t len;
		};
	};
};

#define PAT_VARS 32 /* at most */

struct pat {
	struct pat_node *nodes;
	unsigned n;
	const char *vars[PAT_VARS]; /* their names */
	unsigned nvars;
};

/* Nothing in it is open: one term matches. */
static inline bool pat_is_ground(const struct pat *pat)
{
	for (unsigned i = 0; i < pat->n; i++)
		switch (pat->nodes[i].op) {
		case PAT_ANY:
		case PAT_VAR:
		case PAT_BOTH:
		case SEG_INT:
		case SEG_PART:
		case SEG_REST: return false;
		default: break;
		}
	return true;
}

/*
 * Reads a pattern from its text, pattern.c. alloc() gives memory that is never freed by the reader
 * (an arena's, say); it may return NULL. record() gives the names of a record's fields, in order,
 * NULL after the last; NULL if it is not known. 0: done. -1: e is filled; *at is where in the text.
 */
struct pat_reader {
	bool key; /* it is a key: a term that is made, without variables */
	bool printed; /* a term as it is printed: such a key, or with pids, bits and the like */
	void *(*alloc)(void *ctx, size_t size);
	const char *const *(*record)(void *ctx, const char *name);
	void *ctx;
};
int pat_read(const struct pat_reader *r, const char *text, size_t len, struct pat *out, size_t *at,
	struct et_error *e);
/* The error about a field that a record does not have; the names of those that it has end with
 * NULL. */
void pat_no_field(
	struct et_error *e, const char *record, const char *field, const char *const *fields);

#endif
