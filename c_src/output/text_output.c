/* SPDX-License-Identifier: Apache-2.0 */
/* What scripts print, as text. Drops and faults go to stderr. */
#include <string.h>

#include "output.h"
#include "requests.h"

static int on_text(void *arg, const char *text, size_t len)
{
	output_gathered(arg, text, len);
	return 0;
}

static int on_drop(void *arg, const erltrace_drop_t *d)
{
	struct output *o = arg;

	requests_drop(o, d);
	output_flush(o);
	if (o->droptags)
		cli_say("%s%s[DTRACEDROP_%s] %s", d->node ? d->node : "", d->node ? ": " : "",
			d->kind, d->message);
	else
		cli_say("%s%s%s", d->node ? d->node : "", d->node ? ": " : "", d->message);
	return 0;
}

static int on_fault(void *arg, const erltrace_fault_t *f)
{
	const char *node = f->event.node;

	output_error(arg, node != NULL ? node : "", f->message, strlen(f->message));
	return 0;
}

static int on_flush(void *arg)
{
	output_flush(arg);
	return 0;
}

static int on_truncate(void *arg)
{
	output_truncate(arg);
	return 0;
}

static int on_snapshot(void *arg, const erltrace_snapshot_t *s)
{
	output_snapshot(arg, s);
	return 0;
}

static int handlers(struct output *o, erltrace_handlers_t *h)
{
	*h = (erltrace_handlers_t){.size = sizeof(*h),
		.arg = o,
		.text = on_text,
		.drop = on_drop,
		.fault = on_fault,
		.flush = on_flush,
		.truncate = on_truncate,
		.snapshot = on_snapshot,
		.terminal = o->terminal};
	return CLI_OK;
}

static void failed(struct output *o, const struct failure *f)
{
	(void)o;
	cli_tell(f->line, strlen(f->line));
}

static void snapshot(struct output *o, const erltrace_snapshot_t *s)
{
	if (s->error != NULL)
		cli_say("snapshot '%s': %s", s->why, s->error);
	else
		cli_notice(o, "snapshot '%s': %s", s->why, s->file);
}

const struct sink text_output = {.handlers = handlers, .failed = failed, .snapshot = snapshot};
