/* SPDX-License-Identifier: Apache-2.0 */
/* The scripts that come with erltrace. */
#ifndef CLI_SCRIPT_LIBRARY_H
#define CLI_SCRIPT_LIBRARY_H

#include <stddef.h>
#include <stdio.h>

struct cli_request;
struct output;

char *cli_library_find(const char *name); /* its file; NULL: there is none. The caller frees. */
/* Adds to the text of an error which script may have been meant. */
void cli_library_hint(const char *name, char *text, size_t size);
/* The head of a script, line by line, without the comment's stars; NULL: it is over. */
char *cli_head_start(FILE *f, char *buf, size_t size);
char *cli_head_line(FILE *f, char *buf, size_t size);
int cli_library(const struct cli_request *r, struct output *o); /* --scripts */
int cli_no_probes(const struct cli_request *r); /* says so; CLI_ERROR */

#endif
