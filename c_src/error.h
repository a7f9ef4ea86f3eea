/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors as values. Library code fills a struct et_error and returns a negative number; nothing
 * below c_src/cli prints or exits. Every error has a tag (D_* for compile errors, see d/tags.def;
 * ET_* for the rest), a source position if it has one, and a text that says what to do.
 */
#ifndef ET_ERROR_H
#define ET_ERROR_H

#include <stdarg.h>
#include <stddef.h>

struct et_error {
	char tag[32];	 /* "D_SYNTAX"; empty: no error */
	char file[256];	 /* "" for a script given as a string */
	int line, col;	 /* 1-based; 0: no position */
	char text[1024]; /* one sentence, no newline, no prefix */
	char src[256];	 /* the source line, tabs kept, for the caret; may be empty */
};

/* Fill *e unless it already holds an error (the first one is the cause). Returns -1. */
int et_err(struct et_error *e, const char *tag, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int et_verr(struct et_error *e, const char *tag, const char *fmt, va_list ap);
void et_err_clear(struct et_error *e);

#endif
