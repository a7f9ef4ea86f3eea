/* SPDX-License-Identifier: Apache-2.0 */
/* What the command says on stderr. Each message ends with a newline of its own. */
#ifndef OUTPUT_MESSAGE_H
#define OUTPUT_MESSAGE_H

#include <stddef.h>

struct output;

enum { CLI_OK = 0, CLI_ERROR = 1, CLI_USAGE = 2 }; /* what the command exits with */

void cli_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Unless -q is given. A page has it among the results. */
void cli_notice(struct output *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void cli_tell(const char *text, size_t len); /* as it is, but escaped */
void cli_messages_of(struct output *o); /* what this thread says is for its server */
const char *cli_own_name(void); /* in front of each message: a server says itself whose it has */

#endif
