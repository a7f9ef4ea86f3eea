/* SPDX-License-Identifier: Apache-2.0 */
/* How many columns of a terminal a text takes (columns.c). */
#ifndef CONSUME_COLUMNS_H
#define CONSUME_COLUMNS_H

#include <stddef.h>

/* UTF-8; a byte that is no part of it counts as one. */
size_t text_columns(const void *text, size_t len);

#endif
