/* SPDX-License-Identifier: Apache-2.0 */
/* --json: what scripts gather as lines of JSON, which json/json.h writes. */
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "requests.h"

static int choose(struct output *o, struct chosen *s, char **clause)
{
	(void)s, (void)clause;
	o->json = true;
	return -1;
}

static int on_text(void *arg, const char *text, size_t len)
{
	output_gathered(arg, text, len);
	return 0;
}

static struct co_json *state_of(struct output *o)
{
	o->json_state.text = on_text;
	o->json_state.arg = o;
	return &o->json_state;
}

static int on_drop(void *arg, const erltrace_drop_t *d)
{
	struct output *o = arg;

	requests_drop(o, d);
	return o->json_drop(arg, d);
}

/* Those of JSON are given their state, those of text the output: it begins with that. */
static int handlers(struct output *o, erltrace_handlers_t *h)
{
	text_output.handlers(o, h);
	o->json_state.quiet = o->quiet;
	if (co_json_handlers(state_of(o), h) < 0) {
		cli_say("out of memory");
		return CLI_ERROR;
	}
	o->json_drop = h->drop;
	h->drop = on_drop;
	return CLI_OK;
}

struct ticking {
	struct output *o;
	bool *any;
};

static int on_tick(void *arg, const char *text, size_t len)
{
	struct ticking *to = arg;

	*to->any = true;
	output_gathered(to->o, text, len);
	return 0;
}

static int tick(struct output *o, const char *node, erltrace_t *from, int stream, bool *any)
{
	struct ticking to = {o, any};
	erltrace_error_t err = {0};

	return stream == OUTPUT_OWN
		       ? erltrace_tick(from, node, on_tick, &to, &err)
		       : erltrace_stream_tick(from, (unsigned)stream, node, on_tick, &to, &err);
}

static void failed(struct output *o, const struct failure *f)
{
	text_output.failed(o, f);
	co_json_error(state_of(o), f->err, f->doing);
}

static void notice(struct output *o, const char *text)
{
	co_json_warning(state_of(o), text);
}

static void snapshot(struct output *o, const erltrace_snapshot_t *s)
{
	if (o->worker == NULL)
		text_output.snapshot(o, s);
	if (s->error != NULL)
		co_json_snapshot_failed(state_of(o), s->why, s->error);
	else
		co_json_snapshot_written(state_of(o), s->why, s->file);
}

static void gone(struct output *o, const char *node)
{
	co_json_gone(state_of(o), node);
}

static void unmatched(struct output *o, const char *node, struct client_unmatched *list, size_t n)
{
	const char **texts = calloc(n + 1, sizeof(*texts));

	for (size_t i = 0; texts != NULL && i < n; i++)
		texts[i] = list[i].text;
	if (texts != NULL)
		co_json_unmatched(state_of(o), node, texts, n);
	free(texts);
}

const struct sink json_output = {
	.option = "json",
	.about = "print results as JSON, one object per line",
	.choose = choose,
	.handlers = handlers,
	.tick = tick,
	.failed = failed,
	.notice = notice,
	.snapshot = snapshot,
	.gone = gone,
	.unmatched = unmatched,
};
