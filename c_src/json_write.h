/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings of JSON (RFC 8259), for all that is written as JSON here. Texts of the traced world may
 * hold any bytes: quotes, backslashes and controls are escaped, and what is not UTF-8 becomes
 * U+FFFD, so that what was written can be read. Functions with json_ are those of jansson, which
 * the servers link with: one of that name here would take its place.
 */
#ifndef ET_JSON_WRITE_H
#define ET_JSON_WRITE_H

#include <stddef.h>
#include <stdio.h>

typedef void jw_put(void *to, const void *text, size_t len); /* what writes a piece of it */

void jw_string(jw_put *put, void *to, const void *text, size_t len);
/* Without the quotes: a part of a string. */
void jw_chars(jw_put *put, void *to, const void *text, size_t len);

void jw_fstring(FILE *f, const char *text);
void jw_fchars(FILE *f, const char *text);

#endif
