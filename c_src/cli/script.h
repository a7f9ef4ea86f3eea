/* SPDX-License-Identifier: Apache-2.0 */
/* The scripts of the command line, one of -n -s -P -m -f -i each. */
#ifndef CLI_SCRIPT_H
#define CLI_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#include "erltrace.h"
#include "stability.h"

struct cli;

/* A probe description of a script. */
struct cli_desc {
	char *text; /* as written, with its colons */
	size_t end; /* where it ends in the script */
	int line, column;
	bool of_function; /* it names functions of Erlang */
};

struct cli_script {
	char flag;
	const char *arg;      /* as given; a script of the library: its file */
	char *found;	      /* that file, or NULL */
	bool own;	      /* the command's, not the user's */
	erltrace_info_t info; /* once compiled */
	struct et_attr least; /* -v: the least stability of its probes */
	/* script_scan.c */
	char *text; /* of a file: read once, and preprocessed; NULL: it could not be read */
	size_t len;
	bool preprocessed;
	struct cli_desc *descs;
	int ndescs;
	size_t body;	      /* bytes up to the predicate or body of the first clause */
	erltrace_error_t err; /* why it could not be read, preprocessed or scanned; or no tag */
};

int cli_scripts(struct cli *c); /* compiles all, and reports what they matched */
int cli_compile(struct cli *c, struct cli_script *s);
void cli_script_usage(const struct cli_script *s, const erltrace_error_t *err);
int cli_script_failed(struct cli *c, const struct cli_script *s, const erltrace_error_t *err);
void cli_script_opts(
	const struct cli *c, const struct cli_script *s, erltrace_compile_opts_t *opts);
int cli_script_colons(const struct cli_script *s); /* that its descriptions lack */
void cli_script_free(struct cli_script *s);
int cli_script_length(const struct cli_script *s); /* of what a message shows of it */

#endif
