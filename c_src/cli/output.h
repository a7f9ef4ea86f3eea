/* SPDX-License-Identifier: Apache-2.0 */
/* Where results go: stdout or the file of -o, as text or JSON. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdbool.h>

#include "erltrace.h"

struct cli;
struct client_unmatched;

int cli_output_open(struct cli *c);
/* Flush and close; CLI_ERROR and a message if something was not written. */
int cli_output_close(struct cli *c, int status);
int cli_handlers(struct cli *c, erltrace_handlers_t *h);
void cli_write(struct cli *c, const char *text, size_t len);
void cli_write_foreign(struct cli *c, const char *text, size_t len); /* of a node */
void cli_printf(struct cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void cli_flush(struct cli *c);
int cli_reopen(struct cli *c, const char *path); /* freopen(); "": back. 0, or errno */
void cli_truncate(struct cli *c);
/* A line about something that went wrong while the script ran, of a node or "". */
void cli_error(struct cli *c, const char *node, const char *text, size_t len);
void cli_more_errors(struct cli *c, bool at_end); /* how many were not printed */
void cli_json_error(struct cli *c, const erltrace_error_t *err, const char *what);
void cli_json_unmatched(
	struct cli *c, const char *node, const struct client_unmatched *list, size_t n);
void cli_json_warning(struct cli *c, const char *message);
void cli_json_snapshot(struct cli *c, const char *why, const char *file, const char *error);
void cli_tell_blank(struct cli *c); /* on a terminal: that nothing was printed, and why */

#endif
