/* SPDX-License-Identifier: Apache-2.0 */
/* Text of others, escaped for terminals. */
#ifndef OUTPUT_ESCAPE_H
#define OUTPUT_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

/* To be freed; NULL: out of memory. draws: it may move the cursor and set colours. */
char *escape_text(const char *text, size_t *len, bool draws);
bool escape_draws(const char *script); /* may it print control characters of its own? */

#endif
