/* SPDX-License-Identifier: Apache-2.0 */
/* --folded, --speedscope, --pprof: files of stacks, written when the script has ended. */
#ifndef CLI_STACK_FILES_H
#define CLI_STACK_FILES_H

#include <stdbool.h>
#include <stdio.h>

#include "erltrace.h"

struct cli;

enum { CLI_STACKS_MS = 1000 }; /* how often what came is taken: a node may die */
enum stack_format { STACK_FOLDED, STACK_SPEEDSCOPE, STACK_PPROF, STACK_FORMATS };

int cli_stacks_option(struct cli *c, enum stack_format format, const char *path); /* -1: fine */
bool cli_stacks_wanted(const struct cli *c);
/*
 * Before the script is compiled: the files; CLI_ERROR if it has no aggregation that could fill
 * them.
 */
int cli_stacks_open(struct cli *c);
/*
 * Such a file, or the standard output for "-": from now on that is the standard error. NULL: errno.
 */
FILE *cli_result_open(const char *path, bool *made);
int cli_stacks_take(void *arg, const erltrace_agg_t *a); /* an erltrace_agg_cb; arg: struct cli */
/* The end; returns the status. */
int cli_stacks_write(struct cli *c, int status);

#endif
