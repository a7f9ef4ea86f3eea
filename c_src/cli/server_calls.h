/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results of a script that a server runs, handed to the calls that the server gave
 * (server_run.h) instead of being written. Each call is made under the server's lock, and none
 * after it has left the run.
 */
#ifndef CLI_SERVER_CALLS_H
#define CLI_SERVER_CALLS_H

#include <stdbool.h>
#include <stddef.h>

#include "erltrace.h"

struct cli;
struct client_unmatched;

void calls_handlers(struct cli *c, erltrace_handlers_t *h);
/*
 * What aggregations gathered, of this process or of a stream of a reader; > 0: there is more. any:
 * there was a tick.
 */
int calls_changes(struct cli *c, const char *node, erltrace_t *of, int stream, bool *any);
enum { CALLS_OWN = -1 }; /* stream: of this process */
void calls_error(struct cli *c, const erltrace_error_t *err, const char *text);
void calls_unmatched(struct cli *c, struct client_unmatched *list, size_t n);
void calls_alert(struct cli *c, const char *name, size_t name_len, const char *text, size_t len);
/* file NULL: it was not written, and error says why. */
void calls_snapshot(struct cli *c, const char *why, const char *file, const char *error);
void calls_said(struct cli *c, const char *lines, size_t len);

#endif
