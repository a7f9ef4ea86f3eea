/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What differs between two texts, line by line.
 *
 * In this folder, for events in files:
 *
 *   record_main.c  "erltrace record": those of a node, for a script
 *   test_main.c    "erltrace test": scripts run over them, and what they print is compared
 *   text_diff.c    what differs then
 */
#ifndef CLI_TEXT_DIFF_H
#define CLI_TEXT_DIFF_H

#include <stdio.h>

/* Lines of a with -, of b with +, and a few around them that both have. */
void text_diff(FILE *f, const char *a, const char *b);

#endif
