/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of the traced world may hold any bytes. The server gets them as UTF-8 that ends with a NUL:
 * what is none becomes U+FFFD.
 */
#include "server_calls.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "client/worker.h"
#include "output.h"
#include "server_run.h"
#include "snapshots.h"
#include "utf8.h"

/* Keys of one tick: the others come with the next. */
enum { KEYS_MOST = 4096 };

static bool enter(struct cli *c)
{
	pthread_mutex_lock(c->calls->lock);
	if (!worker_is_left(c->worker))
		return true;
	pthread_mutex_unlock(c->calls->lock);
	return false;
}

static void leave(struct cli *c)
{
	pthread_mutex_unlock(c->calls->lock);
}

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

static void printed(struct cli *c, const erltrace_record_t *rec)
{
	char *text = clean(rec->text, rec->len);

	if (text != NULL && enter(c)) {
		c->calls->printed(c->calls->arg, text);
		leave(c);
	}
	free(text);
}

void calls_alert(struct cli *c, const char *name, size_t name_len, const char *text, size_t len)
{
	char *clean_name = clean(name, name_len), *clean_text = clean(text, len);

	if (clean_name != NULL && clean_text != NULL && enter(c)) {
		c->calls->alert(c->calls->arg, clean_name, clean_text);
		leave(c);
	}
	free(clean_name);
	free(clean_text);
}

static void alert(struct cli *c, const erltrace_record_t *rec)
{
	if (rec->nvalues > 0 && rec->values[0].bytes != NULL)
		calls_alert(c, rec->values[0].bytes, rec->values[0].len, rec->text, rec->len);
}

static void exited(struct cli *c)
{
	if (!enter(c))
		return;
	c->calls->exited(c->calls->arg);
	leave(c);
}

static void values(struct cli *c, const erltrace_record_t *rec)
{
	if (rec->nvalues == 0 || co_json_is_silent(rec->action) || !enter(c))
		return;
	c->calls->values(c->calls->arg, rec->values, rec->nvalues);
	leave(c);
}

static int on_record(void *arg, const erltrace_event_t *ev, const erltrace_record_t *rec)
{
	(void)ev;
	if (strcmp(rec->action, "printf") == 0 || strcmp(rec->action, "print") == 0)
		printed(arg, rec);
	else if (strcmp(rec->action, "alert") == 0)
		alert(arg, rec);
	else if (strcmp(rec->action, "exit") == 0)
		exited(arg);
	else if (strcmp(rec->action, "snapshot") != 0)
		values(arg, rec);
	return 0;
}

static int on_drop(void *arg, const erltrace_drop_t *d)
{
	struct cli *c = arg;

	if (enter(c)) {
		c->calls->drop(c->calls->arg, d);
		leave(c);
	}
	return 0;
}

static int on_fault(void *arg, const erltrace_fault_t *f)
{
	struct cli *c = arg;

	if (enter(c)) {
		c->calls->fault(c->calls->arg, f);
		leave(c);
	}
	return 0;
}

static int on_snapshot(void *arg, const erltrace_snapshot_t *s)
{
	cli_snapshot_told(arg, s);
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

void calls_handlers(struct cli *c, erltrace_handlers_t *h)
{
	*h = (erltrace_handlers_t){.size = sizeof(*h),
		.arg = c,
		.record = on_record,
		.drop = on_drop,
		.fault = on_fault,
		.aggregation = on_aggregation,
		.snapshot = on_snapshot,
		.nothing = on_nothing};
}

/* ---- aggregations ----------------------------------------------------------------------- */

struct changes {
	struct cli *c;
	const char *node;
	unsigned keys;
	bool any;
};

static int on_shapes(void *arg, const erltrace_shape_t *shapes, unsigned n)
{
	const struct changes *to = arg;

	if (enter(to->c)) {
		to->c->calls->shapes(to->c->calls->arg, to->node, shapes, n);
		leave(to->c);
	}
	return 0;
}

static int on_tick(void *arg, const erltrace_tick_t *tick)
{
	struct changes *to = arg;

	to->any = true;
	if (enter(to->c)) {
		to->c->calls->tick(to->c->calls->arg, to->node, tick);
		leave(to->c);
	}
	return 0;
}

static int on_change(void *arg, const erltrace_agg_t *a)
{
	struct changes *to = arg;

	if (enter(to->c)) {
		to->c->calls->change(to->c->calls->arg, to->node, a);
		leave(to->c);
	}
	return ++to->keys == KEYS_MOST;
}

int calls_changes(struct cli *c, const char *node, erltrace_t *of, int stream, bool *any)
{
	struct changes to = {.c = c, .node = node};
	const erltrace_change_handlers_t handlers = {.size = sizeof(handlers),
		.arg = &to,
		.shapes = on_shapes,
		.tick = on_tick,
		.change = on_change};
	erltrace_error_t err = {0};
	int rc = stream == CALLS_OWN
			 ? erltrace_changes(of, &handlers, &err)
			 : erltrace_stream_changes(of, (unsigned)stream, &handlers, &err);

	*any = to.any;
	return rc;
}

/* ---- what else there is to say ---------------------------------------------------------- */

/* A probe of a function: its module may be loaded later. Others are misspelt. */
static bool may_come(const struct cli *c, const erltrace_error_t *err)
{
	for (int i = 0; et_err_is(err, D_PDESC_ZERO) && i < c->nscripts; i++)
		for (int k = 0; k < c->scripts[i].ndescs; k++) {
			const struct cli_desc *d = &c->scripts[i].descs[k];

			if (d->line == err->line && d->column == err->column)
				return d->of_function;
		}
	return false;
}

void calls_error(struct cli *c, const erltrace_error_t *err, const char *text)
{
	char *message = clean(err->text, strlen(err->text)), *line = clean(text, strlen(text));
	erltrace_error_t e = *err;

	if (message != NULL && line != NULL && enter(c)) {
		snprintf(e.text, sizeof(e.text), "%s", message);
		c->calls->error(c->calls->arg, &e, line, may_come(c, err));
		leave(c);
	}
	free(message);
	free(line);
}

/* Texts of a list are the list's own. */
void calls_unmatched(struct cli *c, struct client_unmatched *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *text = clean(list[i].text, strlen(list[i].text));

		if (text == NULL)
			return;
		free(list[i].text);
		list[i].text = text;
	}
	if (!enter(c))
		return;
	c->calls->unmatched(c->calls->arg, list, n);
	leave(c);
}

void calls_snapshot(struct cli *c, const char *why, const char *file, const char *error)
{
	if (!enter(c))
		return;
	c->calls->snapshot(c->calls->arg, why, file, error);
	leave(c);
}

void calls_said(struct cli *c, const char *lines, size_t len)
{
	char *text = clean(lines, len), *rest = text, *line;

	while (rest != NULL && (line = strsep(&rest, "\n")) != NULL)
		if (line[0] != '\0' && enter(c)) {
			c->calls->said(c->calls->arg, line);
			leave(c);
		}
	free(text);
}
