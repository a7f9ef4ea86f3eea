/* SPDX-License-Identifier: Apache-2.0 */
/* A value of JSON, read from its text (RFC 8259). */
#ifndef ET_JSON_READ_H
#define ET_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum js_kind { JS_NULL, JS_FALSE, JS_TRUE, JS_NUMBER, JS_TEXT, JS_ARRAY, JS_OBJECT };

/* Values in prefix order: a value, then its members or elements. */
struct js_node {
	enum js_kind kind;
	bool whole;	  /* a number: an integer that num holds */
	const char *key;  /* of a member of an object; otherwise NULL */
	const char *text; /* of a text: UTF-8, ended by a NUL, without any other */
	size_t len;
	int64_t num;
	unsigned n;   /* members or elements */
	unsigned end; /* index of the node after this one and its parts */
};

struct js {
	struct js_node *nodes; /* js_free() */
	size_t n;
	size_t at;	  /* of an error: the byte */
	const char *what; /* ... and what it is; static */
};

enum { JS_DEEP = 8, JS_NODES = 4096 };

/* Read one value, which is all of text but for blanks; text is changed. 0, or -1: at and what. */
int js_read(struct js *js, char *text, size_t len);
void js_free(struct js *js);
/* The member of an object; NULL: there is none. */
const struct js_node *js_member(const struct js *js, const struct js_node *object, const char *key);

#endif
