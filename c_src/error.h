/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors as values. Library code fills a struct et_error, which is the public erltrace_error_t, and
 * returns a negative number; nothing below c_src/cli prints or exits. Every error has a tag from
 * errors.def, a line and column if it has a position, and a text that says what to do.
 */
#ifndef ET_ERROR_H
#define ET_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

#include "erltrace.h"

/* D_* for errors in a script, ET_* for all others. */
enum et_tag {
#define ERROR_TAG(tag, meaning) tag,
#include "errors.def"
	ET_TAGS_ /* their number */
};

/* Fill *e unless it already holds an error (the first one is the cause). Returns -1. */
int et_err(struct et_error *e, enum et_tag tag, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int et_verr(struct et_error *e, enum et_tag tag, const char *fmt, va_list ap);
/* The same, with the tag of the error that caused it. */
int et_err_as(struct et_error *e, const struct et_error *cause, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void et_err_clear(struct et_error *e);

bool et_err_is(const struct et_error *e, enum et_tag tag);
const char *et_tag_name(enum et_tag tag);
const char *et_tag_meaning(enum et_tag tag);
/* Does such an error come again, however often it is tried? False for a tag that is not known. */
bool et_tag_lasts(const char *name);

#endif
