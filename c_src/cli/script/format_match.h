/* SPDX-License-Identifier: Apache-2.0 */
/* Which texts a printf() format can have made. */
#ifndef CLI_FORMAT_MATCH_H
#define CLI_FORMAT_MATCH_H

#include <stdbool.h>
#include <stddef.h>

bool cli_could_print(char *const *formats, int n, const char *text, size_t len); /* any of them? */

#endif
