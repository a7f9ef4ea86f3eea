/* SPDX-License-Identifier: Apache-2.0 */
/* What the command says on stderr. Each message ends with a newline of its own. */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

struct cli;

void cli_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Unless -q is given. A page has it among the results. */
void cli_notice(struct cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* What failed, then the error; on a terminal with a caret. Returns CLI_ERROR. */
int cli_fail(struct cli *c, const struct et_error *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void cli_tell(const char *text, size_t len); /* as it is, but escaped */
void cli_messages_of(struct cli *c); /* what this thread says is for the server of c->worker */
bool cli_option_on(struct cli *c, const char *name);

#endif
