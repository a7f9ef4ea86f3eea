/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the run of a job hands on, in its thread and under the lock. Changes go to the totals,
 * alerts to alerts.c, what the script prints to job_prints.c, errors to the log: once, for a script
 * that does not compile is tried again and again.
 */
#include "job.h"
#include "serve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alerts.h"
#include "array.h"
#include "cli/main/server_run.h"
#include "client/worker.h"
#include "error.h"
#include "members.h"

struct job_node *job_node(struct job *j, const char *name)
{
	for (size_t i = 0; i < j->nnodes; i++)
		if (strcmp(j->nodes[i].name, name) == 0)
			return &j->nodes[i];
	if (!ARRAY_ROOM(j->nodes, j->nnodes))
		return NULL;
	j->nodes[j->nnodes] = (struct job_node){.name = strdup(name), .cost = -1};
	return j->nodes[j->nnodes].name != NULL ? &j->nodes[j->nnodes++] : NULL;
}

/* ---- telling ---------------------------------------------------------------------------- */

void job_tell_again(struct job *j)
{
	while (j->ntold > 0)
		free(j->told[--j->ntold]);
	j->left_out_line = 0;
}

/* Errors whose texts differ each time are bounded too: the metric counts them. */
void job_tell(struct job *j, const char *text)
{
	for (unsigned i = 0; i < j->ntold; i++)
		if (strcmp(j->told[i], text) == 0)
			return;
	if (j->ntold == JOB_TOLD || (j->told[j->ntold] = strdup(text)) == NULL)
		return;
	if (j->ntold++ == 0)
		j->told_at = serve_ms();
	serve_say("%s: %s: %s%s", j->path, j->target, text,
		j->ntold == JOB_TOLD ? " (and more, which is not told)" : "");
}

/* Before the script runs this waits: if it fails, its error says more. */
static void on_said(void *of, const char *line)
{
	struct job *j = of;
	size_t n = strlen(j->held);

	if (j->up)
		job_tell(j, line);
	else
		snprintf(j->held + n, sizeof(j->held) - n, "%s\n", line);
}

void job_tell_held(struct job *j)
{
	for (char *p = j->held, *nl; !j->failed && (nl = strchr(p, '\n')) != NULL; p = nl + 1) {
		*nl = '\0';
		job_tell(j, p);
	}
	j->held[0] = '\0';
}

/* ---- shapes and ticks ------------------------------------------------------------------- */

/* Another job of the script that has results of this node: two names of -N may be one node's. */
static const struct job *counted_by(const struct job *j, const char *node)
{
	for (const struct job *o = j->v->jobs; o != NULL; o = o->next)
		if (o != j && o->up && o->node != NULL && strcmp(o->script, j->script) == 0 &&
			strcmp(o->node, node) == 0)
			return o;
	return NULL;
}

static bool is_twice(struct job *j, const char *node)
{
	const struct job *o = counted_by(j, node);
	char text[1024];

	if (o == NULL)
		return false;
	snprintf(text, sizeof(text),
		node[0] != '\0'
			? "is the node %s, which is traced as %s already: it is not counted twice"
			: "runs in the kernel%s, for %s already: it is not counted twice",
		node, o->target);
	job_tell(j, text);
	j->twice = j->own_end = true;
	worker_notify(j->run); /* the loop leaves it */
	return true;
}

/* On another node the script runs as it has become since: what it was does not add up with that. */
static bool is_outdated(const struct job *j)
{
	for (const struct job *o = j->v->jobs; o != NULL; o = o->next)
		if (o->shape > j->runs && strcmp(o->path, j->path) == 0)
			return true;
	return false;
}

static void set_metrics(struct job *j, const erltrace_shape_t *shapes, unsigned n)
{
	const char *why;

	totals_keep(&j->v->totals, j->script, shapes, n);
	for (unsigned i = 0; i < n; i++)
		if (totals_metric(&j->v->totals, j->script, &shapes[i], &why) == NULL && !j->shaped)
			serve_say("%s: @%s is left out: %s", j->path, shapes[i].name, why);
	j->shaped = true;
}

static void on_shapes(void *of, const char *node, const erltrace_shape_t *shapes, unsigned n)
{
	struct job *j = of;

	if (is_outdated(j) || is_twice(j, node))
		return;
	j->shape = j->runs;
	set_metrics(j, shapes, n);
	if (j->node == NULL || strcmp(j->node, node) != 0) {
		free(j->node);
		j->node = strdup(node);
	}
	job_tell_held(j);
	if (!j->up && !j->quiet)
		serve_say("%s: %s: runs", j->path, j->target);
	if (!j->up)
		j->up_at = j->tick_at = serve_ms();
	if (!j->quiet && !j->unmatched) /* with -Z it runs, but as it was told */
		job_tell_again(j);
	j->up = true;
}

static void on_tick(void *of, const char *name, const erltrace_tick_t *tick)
{
	struct job *j = of;
	struct job_node *node;

	if (j->twice)
		return;
	node = job_node(j, name);
	j->tick_at = serve_ms();
	job_print_rest(j);
	if (j->silent)
		serve_say("%s: %s: results come again", j->path, j->target);
	j->silent = false;
	if (j->member != NULL)
		j->member->seen = j->tick_at;
	if (node != NULL) {
		node->fired = tick->fired;
		node->cost = tick->cost;
	}
}

static void on_change(void *of, const char *node, const erltrace_agg_t *change)
{
	struct job *j = of;
	struct metric *m;

	if (j->twice || is_outdated(j))
		return;
	m = totals_find(&j->v->totals, j->script, change->name);
	if (m != NULL && metric_add(&j->v->totals, m, node, change) < 0)
		j->lost_lines++;
}

void job_drops(struct job *j, const char *kind, uint64_t n)
{
	size_t i = 0;

	while (i < j->ndrops && strcmp(j->drops[i].kind, kind) != 0)
		i++;
	if (i == j->ndrops) {
		if (!ARRAY_ROOM(j->drops, j->ndrops))
			return;
		j->drops[i] = (struct job_drops){.kind = strdup(kind)};
		if (j->drops[i].kind == NULL)
			return;
		j->ndrops++;
	}
	j->drops[i].n += n;
}

static void on_drop(void *of, const erltrace_drop_t *d)
{
	struct job *j = of;

	if (j->twice)
		return;
	job_drops(j, d->kind, d->drops);
	job_tell(j, d->message);
}

/* ---- errors ----------------------------------------------------------------------------- */

static void tell_at(struct job *j, int line, const char *message, const char *more)
{
	char text[2048];

	if (line > 0)
		snprintf(text, sizeof(text), "line %d: %s%s", line, message, more);
	else
		snprintf(text, sizeof(text), "%s%s", message, more);
	job_tell(j, text);
}

/* A clause has failed. */
static void on_fault(void *of, const erltrace_fault_t *f)
{
	struct job *j = of;

	if (j->twice)
		return;
	j->errors++;
	tell_at(j, f->line, f->message, "");
}

/* A description that may match later: the script is started once more, without it. */
static void start_without(struct job *j, const erltrace_error_t *err)
{
	j->unmatched = j->again = true;
	j->errors--; /* it is started once, and runs */
	j->starts--;
	tell_at(j, err->line, err->text,
		": the script runs without it, until there is such a probe");
	j->left_out_line = err->line;
	j->left_out_column = err->column;
}

/* The script ends. */
static void on_error(void *of, const erltrace_error_t *err, const char *line, bool may_come)
{
	struct job *j = of;

	if (j->twice)
		return;
	j->errors++;
	j->failed = true;
	j->own_end |= et_tag_lasts(err->tag); /* others are of nodes, which come back */
	if (may_come && !j->up && !j->unmatched)
		start_without(j, err);
	else if (j->up)
		job_tell(j, line);
	else
		tell_at(j, err->line, err->text, "");
}

/* The one for which it runs with -Z has been told. */
static void on_unmatched(void *of, const struct client_unmatched *list, size_t n)
{
	struct job *j = of;

	if (j->twice)
		return;
	j->nunmatched = n;
	for (size_t i = 0; i < n; i++)
		if (list[i].line != j->left_out_line || list[i].column != j->left_out_column)
			job_tell(j, list[i].text);
}

/* ---- snapshots -------------------------------------------------------------------------- */

void job_tell_snapshots(struct job *j, bool now)
{
	struct job_snapshots *s = &j->snapshots;
	int64_t ms = serve_ms();

	if (s->untold == 0 || (!now && s->told_at != 0 && ms - s->told_at < JOB_SNAPSHOTS_TOLD_MS))
		return;
	if (s->told_at == 0 || s->untold == 1)
		serve_say("%s: %s: %s", j->path, j->target, s->last);
	else
		serve_say("%s: %s: %" PRIu64 " more snapshots failed, the last: %s", j->path,
			j->target, s->untold, s->last);
	s->untold = 0;
	s->told_at = ms;
}

/* Each has a name of its own: as errors, they would be told one by one, and in place of others. */
static void snapshot_failed(struct job *j, const char *why, const char *error)
{
	snprintf(j->snapshots.last, sizeof(j->snapshots.last), "snapshot '%s': %s", why, error);
	j->snapshots.failed++;
	j->snapshots.untold++;
	job_tell_snapshots(j, false);
}

static void on_snapshot(void *of, const erltrace_snapshot_t *s)
{
	struct job *j = of;

	if (j->twice)
		return;
	if (s->error != NULL) {
		snapshot_failed(j, s->why, s->error);
		return;
	}
	serve_say("%s: %s: snapshot '%s': %s", j->path, j->target, s->why, s->file);
	if (s->alert != NULL)
		alerts_snapshot(j->v, j, s->alert, s->file);
}

/* ---- records ---------------------------------------------------------------------------- */

static void on_printed(void *of, const char *text)
{
	struct job *j = of;

	if (!j->twice)
		job_prints(j, text);
}

static json_t *frames_of(const erltrace_value_t *v)
{
	const char *p = v->bytes, *end = p + v->len, *nl;
	json_t *list = json_array();

	while (p < end && (nl = memchr(p, '\n', (size_t)(end - p))) != NULL) {
		json_array_append_new(list, json_stringn(p, (size_t)(nl - p)));
		p = nl + 1;
	}
	return list;
}

static json_t *hex_of(const erltrace_value_t *v)
{
	const unsigned char *bytes = v->bytes;
	char *text = malloc(2 * v->len + 1);
	json_t *o;

	for (size_t i = 0; text != NULL && i < v->len; i++)
		sprintf(text + 2 * i, "%02x", bytes[i]);
	o = text != NULL ? json_stringn(text, 2 * v->len) : NULL;
	free(text);
	return o;
}

static json_t *value_of(const erltrace_value_t *v)
{
	switch (v->kind) {
	case ERLTRACE_INT:
		return v->is_signed || v->i >= 0 ? json_integer(v->i)
						 : json_sprintf("%" PRIu64, (uint64_t)v->i);
	case ERLTRACE_FLOAT: return json_real(v->f);
	case ERLTRACE_STACK: return frames_of(v);
	case ERLTRACE_BYTES: return hex_of(v);
	default: return json_stringn(v->bytes != NULL ? v->bytes : "", v->len);
	}
}

/* trace() and the like have values, and no text: alerts have them as JSON. What JSON has no value
 * for is null. */
static void on_values(void *of, const erltrace_value_t *values, unsigned n)
{
	struct job *j = of;
	json_t *list = json_array();
	char *text;

	for (unsigned i = 0; i < n; i++) {
		json_t *value = value_of(&values[i]);

		json_array_append_new(list, value != NULL ? value : json_null());
	}
	text = j->twice ? NULL : json_dumps(list, JSON_COMPACT);
	if (text != NULL)
		job_keep_line(j, text);
	free(text);
	json_decref(list);
}

static void on_alert(void *of, const char *name, const char *text)
{
	struct job *j = of;

	if (!j->twice)
		alerts_fire(j->v, j, name, text);
}

static void on_exited(void *of)
{
	struct job *j = of;

	j->own_end = true;
}

struct run_calls job_calls(struct job *j)
{
	return (struct run_calls){.lock = &serve_mutex,
		.arg = j,
		.shapes = on_shapes,
		.tick = on_tick,
		.change = on_change,
		.printed = on_printed,
		.values = on_values,
		.alert = on_alert,
		.exited = on_exited,
		.drop = on_drop,
		.fault = on_fault,
		.error = on_error,
		.unmatched = on_unmatched,
		.snapshot = on_snapshot,
		.said = on_said};
}
