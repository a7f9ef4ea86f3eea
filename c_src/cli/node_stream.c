/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What scripts in nodes gather comes as streams, and a reader of the library makes of it what is
 * printed. A node is not who decides: commands and files that it asks for must be in a script.
 */
#include "targets.h"

#include <stdlib.h>
#include <string.h>

#include "format_match.h"
#include "node_system.h"
#include "output.h"

static struct nodes *running; /* handlers of JSON have a state of their own */

/* What a node wants done here must be in a script, and permitted. */
static bool may_ask(char **formats, int n, const char *text)
{
	if (running->c->uses.destructive && cli_could_print(formats, n, text, strlen(text)))
		return true;
	cli_say("a command or a file that no script asked for (-w): refused");
	return false;
}

static int on_text(void *arg, const char *text, size_t len)
{
	(void)arg;
	cli_write_foreign(running->c, text, len);
	return 0;
}

static int on_system(void *arg, const char *command)
{
	const struct cli_uses *u = &running->c->uses;

	(void)arg;
	if (may_ask(u->commands, u->ncommands, command))
		node_system(running, command, strlen(command));
	return 0;
}

static int on_reopen(void *arg, const char *path)
{
	const struct cli_uses *u = &running->c->uses;

	(void)arg;
	if (u->npaths > 0 && (path[0] == '\0' ? u->destructive : may_ask(u->paths, u->npaths, path)))
		node_reopen(running, path, strlen(path));
	return 0;
}

int node_stream_open(struct nodes *ns)
{
	erltrace_error_t err = {0};

	running = ns;
	if (cli_handlers(ns->c, &ns->reads) != CLI_OK)
		return CLI_ERROR;
	if (ns->c->json)
		ns->c->json_state.text = on_text;
	else
		ns->reads.text = on_text;
	ns->reads.system = on_system;
	ns->reads.reopen = on_reopen;
	ns->reader = erltrace_reader(&err);
	return ns->reader != NULL ? CLI_OK : cli_fail(ns->c, &err, "processing aborted");
}

void node_stream_close(struct nodes *ns)
{
	erltrace_close(ns->reader);
	ns->reader = NULL;
}

static void work(struct nodes *ns)
{
	erltrace_error_t err = {0};
	int code;

	if (erltrace_work(ns->reader, &ns->reads, &err) < 0) {
		cli_fail(ns->c, &err, "processing aborted");
		ns->status = CLI_ERROR;
		ns->ending = true;
	}
	if (erltrace_status(ns->reader, &code) == ERLTRACE_EXITED)
		ns->ending = true;
	cli_flush(ns->c);
}

void node_stream(struct nodes *ns, struct target *t, const char *bytes, size_t len)
{
	erltrace_error_t err = {0};

	if (erltrace_feed(ns->reader, (unsigned)(t - ns->v), bytes, len, &err) < 0) {
		cli_fail(ns->c, &err, "processing aborted");
		ns->status = CLI_ERROR;
		ns->ending = true;
	}
	work(ns);
}

void node_stream_ends(struct nodes *ns, struct target *t)
{
	erltrace_feed_end(ns->reader, (unsigned)(t - ns->v));
	work(ns);
}
