/* SPDX-License-Identifier: Apache-2.0 */
/* Text of others, escaped for terminals. */
#ifndef CLI_ESCAPE_H
#define CLI_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

/* To be freed; NULL: out of memory. draws: it may move the cursor and set colours. */
char *cli_escape(const char *text, size_t *len, bool draws);
bool cli_script_draws(const char *script); /* may it print control characters of its own? */

#endif
