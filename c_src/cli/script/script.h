/* SPDX-License-Identifier: Apache-2.0 */
/* The scripts of the command line, one of -n -s -P -m -f -i each. */
#ifndef CLI_SCRIPT_H
#define CLI_SCRIPT_H

#include <stdbool.h>

#include "erltrace.h"

struct cli;
struct cli_request;
struct cli_script;

bool cli_add_script(struct cli_request *r, char flag, const char *arg); /* as those of request.h */
int cli_scripts(struct cli *c); /* compiles all, and reports what they matched */
int cli_compile(struct cli *c, struct cli_script *s);
void cli_script_usage(const struct cli_script *s, const erltrace_error_t *err);
int cli_script_failed(struct cli *c, const struct cli_script *s, const erltrace_error_t *err);
void cli_script_opts(
	const struct cli *c, const struct cli_script *s, erltrace_compile_opts_t *opts);
int cli_script_colons(const struct cli_script *s); /* that its descriptions lack */
int cli_script_length(const struct cli_script *s); /* of what a message shows of it */

#endif
