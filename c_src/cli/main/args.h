/* SPDX-License-Identifier: Apache-2.0 */
/* The command line. */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include <stdio.h>

struct cli;

int cli_args(struct cli *c, int argc, char **argv); /* -1: go on; else the exit code */
void cli_help(FILE *f);

#endif
