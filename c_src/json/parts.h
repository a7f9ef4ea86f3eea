/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of JSON that the files of this folder share. */
#ifndef JSON_PARTS_H
#define JSON_PARTS_H

#include <stddef.h>

#include "erltrace.h"

struct co_buf;

void js_string(struct co_buf *b, const void *data, size_t len);
void js_text(struct co_buf *b, const char *key, const char *s); /* ,"key":"s" */
void js_float(struct co_buf *b, double f);
void js_values(struct co_buf *b, const char *key, const erltrace_value_t *v, unsigned n);
void js_event(struct co_buf *b, const erltrace_event_t *ev); /* the members of its probe and time */

#endif
