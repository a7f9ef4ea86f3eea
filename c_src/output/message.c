/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the command says on stderr, in DTrace's words: "erltrace: ...". Much of it was chosen by
 * others, nodes and epmd among them: control characters are escaped, for people read it on
 * terminals, mostly.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdarg.h>
#include <stdlib.h>

#include "client/worker.h"
#include "escape.h"
#include "output.h"
#include "server_calls.h"

/* Messages of a server's thread are for the server. */
static _Thread_local struct output *served;

void cli_messages_of(struct output *o)
{
	served = o;
}

const char *cli_own_name(void)
{
	return served != NULL ? "" : "erltrace: ";
}

void cli_tell(const char *text, size_t len)
{
	char *plain = escape_text(text, &len, false);

	if (plain != NULL && served != NULL && served->calls != NULL)
		calls_said(served, plain, len);
	else if (plain != NULL && served != NULL)
		worker_say(served->worker, plain, len);
	else if (plain != NULL)
		fwrite(plain, 1, len, stderr);
	free(plain);
}

/* A line at once: each write is an event for those who trace system calls, us perhaps. */
static void say(const char *fmt, va_list ap)
{
	char *text = NULL, *line = NULL;
	int len;

	if (vasprintf(&text, fmt, ap) < 0)
		return;
	len = asprintf(&line, "%s%s\n", cli_own_name(), text);
	free(text);
	if (len < 0)
		return;
	cli_tell(line, (size_t)len);
	free(line);
}

void cli_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

void cli_notice(struct output *o, const char *fmt, ...)
{
	char text[1280];
	va_list ap;

	if (o->quiet)
		return;
	va_start(ap, fmt);
	if (served == NULL)
		say(fmt, ap);
	else if (vsnprintf(text, sizeof(text), fmt, ap) > 0 && output_printer(o)->notice != NULL)
		output_printer(o)->notice(o, text);
	va_end(ap);
}
