/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of the traced world may hold any bytes. The server gets them as UTF-8 that ends with a NUL:
 * what is none becomes U+FFFD.
 */
#include "server_calls.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "client/worker.h"
#include "output.h"
#include "requests.h"
#include "utf8.h"

/* Keys of one tick: the others come with the next. */
enum { KEYS_MOST = 4096 };

static bool enter(struct output *o)
{
	pthread_mutex_lock(o->calls->lock);
	if (!worker_is_left(o->worker))
		return true;
	pthread_mutex_unlock(o->calls->lock);
	return false;
}

/* One of the calls: call(arg, ...) */
#define CALL(o, call, ...)                                                                         \
	do {                                                                                       \
		if (enter(o)) {                                                                    \
			(o)->calls->call((o)->calls->arg, ##__VA_ARGS__);                          \
			pthread_mutex_unlock((o)->calls->lock);                                    \
		}                                                                                  \
	} while (0)

/* To be freed; NULL: out of memory. */
static char *clean(const char *text, size_t len)
{
	char *to = malloc(3 * len + 1);
	size_t n = 0, k;
	const char *c;

	for (size_t i = 0; to != NULL && i < len && text[i] != '\0'; n += k) {
		i += utf8_clean(text + i, len - i, &c, &k);
		memcpy(to + n, c, k);
	}
	if (to != NULL)
		to[n] = '\0';
	return to;
}

/* ---- records ---------------------------------------------------------------------------- */

static void printed(struct output *o, const erltrace_record_t *rec)
{
	char *text = clean(rec->text, rec->len);

	if (text != NULL)
		CALL(o, printed, text);
	free(text);
}

void calls_alert(struct output *o, const char *name, size_t name_len, const char *text, size_t len)
{
	char *clean_name = clean(name, name_len), *clean_text = clean(text, len);

	if (clean_name != NULL && clean_text != NULL)
		CALL(o, alert, clean_name, clean_text);
	free(clean_name);
	free(clean_text);
}

static void alert(struct output *o, const erltrace_record_t *rec)
{
	if (rec->nvalues > 0 && rec->values[0].bytes != NULL)
		calls_alert(o, rec->values[0].bytes, rec->values[0].len, rec->text, rec->len);
}

static void values(struct output *o, const erltrace_record_t *rec)
{
	if (rec->nvalues > 0 && !co_json_is_silent(rec->action))
		CALL(o, values, rec->values, rec->nvalues);
}

static int on_record(void *arg, const erltrace_event_t *ev, const erltrace_record_t *rec)
{
	(void)ev;
	if (strcmp(rec->action, "printf") == 0 || strcmp(rec->action, "print") == 0)
		printed(arg, rec);
	else if (strcmp(rec->action, "alert") == 0)
		alert(arg, rec);
	else if (strcmp(rec->action, "exit") == 0)
		CALL((struct output *)arg, exited);
	else if (strcmp(rec->action, "snapshot") != 0)
		values(arg, rec);
	return 0;
}

static int on_drop(void *arg, const erltrace_drop_t *d)
{
	requests_drop(arg, d);
	CALL((struct output *)arg, drop, d);
	return 0;
}

static int on_fault(void *arg, const erltrace_fault_t *f)
{
	CALL((struct output *)arg, fault, f);
	return 0;
}

static int on_snapshot(void *arg, const erltrace_snapshot_t *s)
{
	output_snapshot(arg, s);
	return 0;
}

/* What printa() and the end print has come as changes. */
static int on_aggregation(void *arg, const erltrace_agg_t *a)
{
	(void)arg, (void)a;
	return 0;
}

static int on_nothing(void *arg, const erltrace_nothing_t *n)
{
	(void)arg, (void)n;
	return 0;
}

static int handlers(struct output *o, erltrace_handlers_t *h)
{
	*h = (erltrace_handlers_t){.size = sizeof(*h),
		.arg = o,
		.record = on_record,
		.drop = on_drop,
		.fault = on_fault,
		.aggregation = on_aggregation,
		.snapshot = on_snapshot,
		.nothing = on_nothing};
	return CLI_OK;
}

/* ---- aggregations ----------------------------------------------------------------------- */

struct changes {
	struct output *o;
	const char *node;
	unsigned keys;
	bool any;
};

static int on_shapes(void *arg, const erltrace_shape_t *shapes, unsigned n)
{
	const struct changes *to = arg;

	CALL(to->o, shapes, to->node, shapes, n);
	return 0;
}

static int on_tick(void *arg, const erltrace_tick_t *tick)
{
	struct changes *to = arg;

	to->any = true;
	CALL(to->o, tick, to->node, tick);
	return 0;
}

static int on_change(void *arg, const erltrace_agg_t *a)
{
	struct changes *to = arg;

	CALL(to->o, change, to->node, a);
	return ++to->keys == KEYS_MOST;
}

static int tick(struct output *o, const char *node, erltrace_t *of, int stream, bool *any)
{
	struct changes to = {.o = o, .node = node};
	const erltrace_change_handlers_t handlers = {.size = sizeof(handlers),
		.arg = &to,
		.shapes = on_shapes,
		.tick = on_tick,
		.change = on_change};
	erltrace_error_t err = {0};
	int rc = stream == OUTPUT_OWN
			 ? erltrace_changes(of, &handlers, &err)
			 : erltrace_stream_changes(of, (unsigned)stream, &handlers, &err);

	*any = to.any;
	return rc;
}

/* ---- what else there is to say ---------------------------------------------------------- */

/* A probe of a function: its module may be loaded later. Others are misspelt. */
static void failed(struct output *o, const struct failure *f)
{
	const char *text = f->err->text;
	size_t end = strcspn(f->line, "\n"); /* to a terminal, with the source below */
	char *message = clean(text, strlen(text)), *line = clean(f->line, end);
	erltrace_error_t e = *f->err;

	if (message != NULL && line != NULL) {
		snprintf(e.text, sizeof(e.text), "%s", message);
		CALL(o, error, &e, line, f->may_come);
	}
	free(message);
	free(line);
}

/* Texts of a list are the list's own. */
static void unmatched(struct output *o, const char *node, struct client_unmatched *list, size_t n)
{
	(void)node;
	for (size_t i = 0; i < n; i++) {
		char *text = clean(list[i].text, strlen(list[i].text));

		if (text == NULL)
			return;
		free(list[i].text);
		list[i].text = text;
	}
	CALL(o, unmatched, list, n);
}

static void snapshot(struct output *o, const erltrace_snapshot_t *s)
{
	CALL(o, snapshot, s);
}

void calls_said(struct output *o, const char *lines, size_t len)
{
	char *text = clean(lines, len), *rest = text, *line;

	while (rest != NULL && (line = strsep(&rest, "\n")) != NULL)
		if (line[0] != '\0')
			CALL(o, said, line);
	free(text);
}

const struct sink calls_output = {
	.handlers = handlers,
	.tick = tick,
	.failed = failed,
	.snapshot = snapshot,
	.unmatched = unmatched,
};
