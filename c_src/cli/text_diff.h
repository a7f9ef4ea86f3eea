/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between two texts, line by line. */
#ifndef CLI_TEXT_DIFF_H
#define CLI_TEXT_DIFF_H

#include <stdio.h>

/* Lines of a with -, of b with +, and a few around them that both have. */
void text_diff(FILE *f, const char *a, const char *b);

#endif
