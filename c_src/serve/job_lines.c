/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the run of a job says. Ticks go to the totals, alerts to alerts.c, what the script prints
 * to job_prints.c, errors to the log: once, for a script that does not compile is tried again and
 * again.
 */
#include "job.h"
#include "serve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alerts.h"
#include "array.h"
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

static const char *text_of(const json_t *line, const char *member)
{
	const char *text = json_string_value(json_object_get(line, member));

	return text != NULL ? text : "";
}

/* ---- telling ---------------------------------------------------------------------------- */

void job_tell_again(struct job *j)
{
	while (j->ntold > 0)
		free(j->told[--j->ntold]);
}

/* Errors whose texts differ each time are bounded too: the metric counts them. */
void job_tell(struct job *j, const char *text)
{
	for (unsigned i = 0; i < j->ntold; i++) /* standard error has more of the same around it */
		if (strstr(j->told[i], text) != NULL || strstr(text, j->told[i]) != NULL)
			return;
	if (j->ntold == JOB_TOLD || (j->told[j->ntold] = strdup(text)) == NULL)
		return;
	if (j->ntold++ == 0)
		j->told_at = serve_ms();
	serve_say("%s: %s: %s%s", j->path, j->target, text,
		j->ntold == JOB_TOLD ? " (and more, which is not told)" : "");
}

/*
 * Before the script runs this waits: if it fails, most of it is what comes as JSON, with the line
 * of the script.
 */
void job_said(void *job, char *line, size_t len)
{
	struct job *j = job;
	size_t n = strlen(j->held);

	if (len == 0)
		return;
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

static void on_shape(struct job *j, const json_t *line)
{
	const json_t *shapes = json_object_get(line, "aggregations"), *shape;
	const char *why, *node = text_of(line, "node");
	size_t i;

	if (is_outdated(j) || is_twice(j, node))
		return;
	j->shape = j->runs;
	totals_keep(&j->v->totals, j->script, shapes);
	json_array_foreach(shapes, i, shape)
	{
		if (totals_metric(&j->v->totals, j->script, shape, &why) == NULL && !j->shaped)
			serve_say("%s: @%s is left out: %s", j->path, text_of(shape, "aggregation"),
				why);
	}
	j->shaped = true;
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

static void on_tick(struct job *j, const json_t *line)
{
	const char *name = text_of(line, "node");
	struct job_node *node = job_node(j, name);
	const json_t *part, *cost = json_object_get(line, "cost");
	size_t i;

	j->tick_at = serve_ms();
	job_print_rest(j);
	if (j->silent)
		serve_say("%s: %s: results come again", j->path, j->target);
	j->silent = false;
	if (j->member != NULL)
		j->member->seen = j->tick_at;
	if (node != NULL) {
		node->fired = (uint64_t)json_integer_value(json_object_get(line, "fired"));
		node->cost = json_is_number(cost) ? json_number_value(cost) : -1;
	}
	if (is_outdated(j))
		return;
	json_array_foreach(json_object_get(line, "aggregations"), i, part)
	{
		struct metric *m =
			totals_find(&j->v->totals, j->script, text_of(part, "aggregation"));

		if (m != NULL && metric_add(&j->v->totals, m, name, part) < 0)
			j->lost_lines++;
	}
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

static void on_drop(struct job *j, const json_t *line)
{
	job_drops(j, text_of(line, "kind"),
		(uint64_t)json_integer_value(json_object_get(line, "drops")));
	job_tell(j, text_of(line, "message"));
}

/* ---- errors ----------------------------------------------------------------------------- */

/*
 * A description that matches nothing: is it one of functions, whose module may be loaded later?
 * Others never match anything: they are misspelt.
 */
static bool may_match_later(const char *message)
{
	static const char *const ends[] = {":", "-entry", "-return", "-exception"};
	const char *from = strstr(message, "description erlang"),
		   *to = strstr(message, " does not match");

	for (size_t i = 0; from != NULL && to != NULL && i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t n = strlen(ends[i]);

		if (to > from + n && strncmp(to - n, ends[i], n) == 0)
			return true;
	}
	return false;
}

/* A clause has failed, or the script ends: that has a tag. */
static void on_error(struct job *j, const json_t *line)
{
	long long n = json_integer_value(json_object_get(line, "line"));
	const char *tag = text_of(line, "tag"), *message = text_of(line, "message"), *more = "";
	char text[2048];

	j->errors++;
	if (tag[0] != '\0') {
		j->failed = true;
		j->own_end |= et_tag_lasts(tag); /* others are of nodes, which come back */
	}
	if (strcmp(tag, "D_PDESC_ZERO") == 0 && !j->up && !j->unmatched &&
		may_match_later(message)) {
		j->unmatched = j->again = true;
		j->errors--; /* it is started once, and runs */
		j->starts--;
		more = ": the script runs without it, until there is such a probe";
	}
	if (n > 0)
		snprintf(text, sizeof(text), "line %lld: %s%s", n, message, more);
	else
		snprintf(text, sizeof(text), "%s%s", message, more);
	job_tell(j, text);
}

/* Descriptions that match nothing, a sentence each: "DESCRIPTION matches nothing yet: ...". The
 * error about one of them, for which it runs with -Z, has been told. */
static void on_unmatched(struct job *j, const json_t *line)
{
	const json_t *list = json_object_get(line, "descriptions");

	j->nunmatched = json_array_size(list);
	for (size_t i = 0; i < j->nunmatched; i++) {
		const char *text = json_string_value(json_array_get(list, i));
		const char *end = text != NULL ? strstr(text, " matches nothing") : NULL;
		char told[1100];
		bool known = false;

		if (end == NULL)
			continue;
		snprintf(told, sizeof(told), "%.*s does not match", (int)(end - text), text);
		for (unsigned k = 0; k < j->ntold; k++)
			known |= strstr(j->told[k], told) != NULL;
		if (!known)
			job_tell(j, text);
	}
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
static void on_snapshot_failed(struct job *j, const json_t *line)
{
	snprintf(j->snapshots.last, sizeof(j->snapshots.last), "snapshot '%s': %s",
		text_of(line, "why"), text_of(line, "message"));
	j->snapshots.failed++;
	j->snapshots.untold++;
	job_tell_snapshots(j, false);
}

static void on_snapshot(struct job *j, const json_t *line)
{
	const char *why = text_of(line, "why"), *file = text_of(line, "file");

	serve_say("%s: %s: snapshot '%s': %s", j->path, j->target, why, file);
	alerts_snapshot(j->v, j, why, file);
}

/* ---- other lines ------------------------------------------------------------------------ */

/* trace() and the like have values, and no text. */
static void on_values(struct job *j, const json_t *line)
{
	const json_t *values = json_object_get(line, "values");
	char *text = json_array_size(values) > 0 ? json_dumps(values, JSON_COMPACT) : NULL;

	if (text != NULL)
		job_keep_line(j, text);
	free(text);
}

/* A number of 19 digits or more, which may be more than 63 bits; where it ends. */
static size_t long_number(const char *text, size_t at, size_t len)
{
	size_t end = at + (text[at] == '-');

	while (end < len && text[end] >= '0' && text[end] <= '9')
		end++;
	return end - at >= 19 && (end == len || strchr(".eE", text[end]) == NULL) ? end : at;
}

/* Integers beyond 63 bits, such as addresses, are not for jansson: long ones become strings. */
static json_t *load_quoted(const char *text, size_t len)
{
	char *to = malloc(3 * len + 1);
	bool in_string = false;
	json_t *line;
	size_t n = 0;

	if (to == NULL)
		return NULL;
	for (size_t i = 0, end; i < len; i = end) {
		end = i + 1;
		if (in_string && text[i] == '\\' && end < len)
			end++;
		else if (text[i] == '"')
			in_string = !in_string;
		else if (!in_string && (text[i] == '-' || (text[i] >= '0' && text[i] <= '9')) &&
			 (end = long_number(text, i, len)) > i)
			to[n++] = '"';
		else
			end = i + 1;
		memcpy(to + n, text + i, end - i);
		n += end - i;
		if (end - i >= 19)
			to[n++] = '"';
	}
	line = json_loadb(to, n, JSON_ALLOW_NUL, NULL);
	free(to);
	return line;
}

void job_line(void *job, char *text, size_t len)
{
	struct job *j = job;
	json_t *line;
	const char *type;

	if (j->twice)
		return;
	line = json_loadb(text, len, JSON_ALLOW_NUL, NULL);
	if (line == NULL)
		line = load_quoted(text, len);
	type = text_of(line, "type");
	if (line == NULL)
		j->lost_lines++;
	else if (strcmp(type, "tick") == 0)
		on_tick(j, line);
	else if (strcmp(type, "shape") == 0)
		on_shape(j, line);
	else if (strcmp(type, "drop") == 0)
		on_drop(j, line);
	else if (strcmp(type, "error") == 0)
		on_error(j, line);
	else if (strcmp(type, "printf") == 0 || strcmp(type, "print") == 0)
		job_prints(j, text_of(line, "text"));
	else if (strcmp(type, "alert") == 0)
		alerts_fire(j->v, j, line);
	else if (strcmp(type, "exit") == 0)
		j->own_end = true;
	else if (strcmp(type, "unmatched") == 0)
		on_unmatched(j, line);
	else if (strcmp(type, "snapshot_written") == 0)
		on_snapshot(j, line);
	else if (strcmp(type, "snapshot_failed") == 0)
		on_snapshot_failed(j, line);
	else if (strcmp(type, "snapshot") != 0 && strcmp(type, "calls") != 0)
		on_values(j, line);
	json_decref(line);
}
