/* SPDX-License-Identifier: Apache-2.0 */
/* Walking terms: how many bytes each tag says it has, and how many terms are inside it. */
#include "etf.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "utf8.h"

/* The format's tags; those that only old releases, files or an atom cache have are left out. */
enum {
	NEW_FLOAT = 'F',
	BITS = 'M',
	NEW_PID = 'X',
	NEW_PORT = 'Y',
	NEWER_REF = 'Z',
	SMALL_INT = 'a',
	INT = 'b',
	FLOAT = 'c',
	ATOM = 'd',
	PORT = 'f',
	PID = 'g',
	SMALL_TUPLE = 'h',
	TUPLE = 'i',
	NIL = 'j',
	STRING = 'k',
	LIST = 'l',
	BINARY = 'm',
	SMALL_BIG = 'n',
	BIG = 'o',
	NEW_FUN = 'p',
	EXPORT = 'q',
	NEW_REF = 'r',
	SMALL_ATOM = 's',
	MAP = 't',
	ATOM_UTF8 = 'v',
	SMALL_ATOM_UTF8 = 'w',
	V4_PORT = 'x',
};

enum { ATOM_CHARS = 255 }; /* of any atom there can be */

struct walk {
	const unsigned char *at, *end;
	uint64_t todo; /* terms that must follow */
};

static size_t left(const struct walk *w)
{
	return (size_t)(w->end - w->at);
}

static bool step(struct walk *w, uint64_t n)
{
	if (n > left(w))
		return false;
	w->at += n;
	return true;
}

/* A number of 1, 2 or 4 bytes. */
static bool number(struct walk *w, size_t bytes, uint64_t *n)
{
	if (left(w) < bytes)
		return false;
	for (*n = 0; bytes > 0; bytes--)
		*n = *n << 8 | *w->at++;
	return true;
}

/* A number of bytes or so, and then they; more: what is there beside them. */
static bool counted(struct walk *w, size_t bytes, uint64_t more, uint64_t each)
{
	uint64_t n;

	return number(w, bytes, &n) && step(w, more + n * each);
}

static bool atom_bytes(struct walk *w, size_t bytes, uint64_t most)
{
	uint64_t n;

	return number(w, bytes, &n) && n <= most && step(w, n);
}

static bool atom(struct walk *w, unsigned tag)
{
	switch (tag) {
	case ATOM:
		return atom_bytes(w, 2, ATOM_CHARS);
	case SMALL_ATOM:
		return atom_bytes(w, 1, ATOM_CHARS);
	case ATOM_UTF8:
		return atom_bytes(w, 2, 4 * ATOM_CHARS);
	case SMALL_ATOM_UTF8:
		return atom_bytes(w, 1, 4 * ATOM_CHARS);
	default:
		return false;
	}
}

/* A node's name, then so many bytes. */
static bool of_node(struct walk *w, uint64_t bytes)
{
	return left(w) > 0 && atom(w, *w->at++) && step(w, bytes);
}

static bool reference(struct walk *w, uint64_t creation)
{
	uint64_t words;

	return number(w, 2, &words) && of_node(w, creation + 4 * words);
}

/* Its size counts itself; ei and we take it as a whole. */
static bool fun(struct walk *w)
{
	uint64_t size;

	return number(w, 4, &size) && size >= 4 && step(w, size - 4);
}

/* Terms inside: a term is one byte at least, so an arity that lies is seen before it is walked. */
static bool holds(struct walk *w, size_t bytes, uint64_t each, uint64_t more)
{
	uint64_t n;

	if (!number(w, bytes, &n))
		return false;
	w->todo += n * each + more;
	return w->todo <= left(w);
}

static bool walk_one(struct walk *w)
{
	unsigned tag = *w->at++;

	switch (tag) {
	case SMALL_INT:
		return step(w, 1);
	case INT:
		return step(w, 4);
	case FLOAT:
		return step(w, 31);
	case NEW_FLOAT:
		return step(w, 8);
	case PID:
		return of_node(w, 9);
	case NEW_PID:
		return of_node(w, 12);
	case PORT:
		return of_node(w, 5);
	case NEW_PORT:
		return of_node(w, 8);
	case V4_PORT:
		return of_node(w, 12);
	case NEW_REF:
		return reference(w, 1);
	case NEWER_REF:
		return reference(w, 4);
	case NIL:
		return true;
	case STRING:
		return counted(w, 2, 0, 1);
	case BINARY:
		return counted(w, 4, 0, 1);
	case BITS:
	case BIG:
		return counted(w, 4, 1, 1);
	case SMALL_BIG:
		return counted(w, 1, 1, 1);
	case SMALL_TUPLE:
		return holds(w, 1, 1, 0);
	case TUPLE:
		return holds(w, 4, 1, 0);
	case LIST:
		return holds(w, 4, 1, 1); /* its tail */
	case MAP:
		return holds(w, 4, 2, 0);
	case EXPORT:
		w->todo += 3; /* module, function, arity */
		return w->todo <= left(w);
	case NEW_FUN:
		return fun(w);
	default:
		return atom(w, tag);
	}
}

size_t term_size(const char *bytes, size_t n)
{
	const unsigned char *from = (const unsigned char *)bytes;
	struct walk w = {.at = from, .end = from + n, .todo = 1};

	while (w.todo > 0) {
		if (left(&w) == 0)
			return 0;
		w.todo--;
		if (!walk_one(&w))
			return 0;
	}
	return (size_t)(w.at - from);
}

/* ---- atoms ----------------------------------------------------------------------------- */

static bool from_latin1(const unsigned char *from, size_t n, char *text, size_t size)
{
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		char s[4];
		size_t k = utf8_encode(from[i], s);

		if (len + k >= size)
			return false;
		memcpy(text + len, s, k);
		len += k;
	}
	text[len] = '\0';
	return true;
}

size_t term_atom(const char *bytes, char *text, size_t size)
{
	const unsigned char *at = (const unsigned char *)bytes;
	unsigned tag = at[0];
	bool is_small = tag == SMALL_ATOM || tag == SMALL_ATOM_UTF8;
	size_t head = is_small ? 2 : 3, n;

	if (!is_small && tag != ATOM && tag != ATOM_UTF8)
		return 0;
	n = is_small ? at[1] : (size_t)at[1] << 8 | at[2];
	if (tag == ATOM || tag == SMALL_ATOM)
		return from_latin1(at + head, n, text, size) ? head + n : 0;
	if (n >= size)
		return 0;
	memcpy(text, at + head, n);
	text[n] = '\0';
	return head + n;
}
