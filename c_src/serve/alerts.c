/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alerts. A script calls alert() each time that something is wrong; people want to hear once that
 * it begins and once that it is over. So an alert goes on while it is called again within `hold`
 * seconds. It is known by its name, the script and the node.
 *
 * What has changed is posted at most once a second, all of it in one body. To Alertmanager what
 * goes on is told again every half minute, with an end in the future, so that it is over there too
 * if this server dies. While a post cannot be delivered, alerts only change here: nothing piles up.
 * The webhook then gets the same body again, as it wants to hear of each change. Alertmanager gets
 * what is so by then: in an old body the end of what goes on might have passed. Neither waits for
 * the other.
 *
 * When the server ends, its alerts are over. Those of which that could not be told, or of a server
 * that was killed, are in the file of --state, and the next server tells it.
 */
#include "alerts.h"
#include "serve.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "job.h"
#include "utf8.h"

static int64_t wall_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* ---- what begins and ends --------------------------------------------------------------- */

static void alert_free(struct alert *a)
{
	free(a->name);
	free(a->script);
	free(a->node);
	free(a->text);
	free(a->recorded);
	free(a->snapshot);
	free(a);
}

static struct alert *find(
	const struct alerts *all, const char *name, const char *script, const char *node)
{
	struct alert *a = all->list;

	while (a != NULL && (strcmp(a->name, name) != 0 || strcmp(a->script, script) != 0 ||
				    strcmp(a->node, node) != 0))
		a = a->next;
	return a;
}

/* Another one may begin: there is a bound on all, on those of a minute, and on what one script has
 * of it. */
static bool may_begin(struct alerts *all, struct job *j, int64_t now)
{
	if (now - all->minute >= 60000) {
		all->minute = now;
		all->begun = 0;
		all->full = false;
	}
	if (now - j->alerts_minute >= 60000) {
		j->alerts_minute = now;
		j->alerts_begun = 0;
	}
	if (all->n < ALERTS_MAX && all->begun < ALERTS_NEW_MAX &&
		j->alerts_begun < ALERTS_JOB_MAX) {
		all->begun++;
		j->alerts_begun++;
		return true;
	}
	all->dropped++;
	if (!all->full)
		serve_say("too many alerts (%s, %s): others are left out for a minute", j->script,
			j->target);
	all->full = true;
	return false;
}

static struct alert *alert_new(
	struct alerts *all, const char *name, const char *script, const char *node)
{
	struct alert *a = calloc(1, sizeof(*a));

	if (a == NULL)
		return NULL;
	a->name = strdup(name);
	a->script = strdup(script);
	a->node = strdup(node);
	if (a->name == NULL || a->script == NULL || a->node == NULL) {
		alert_free(a);
		return NULL;
	}
	a->next = all->list;
	all->list = a;
	all->n++;
	return a;
}

static void set_text(char **to, const char *text)
{
	size_t len = utf8_cut(text, ALERTS_TEXT_MAX);
	char *copy;

	if (*to != NULL && strncmp(*to, text, len) == 0 && (*to)[len] == '\0')
		return;
	copy = strndup(text, len);
	if (copy == NULL)
		return;
	free(*to);
	*to = copy;
}

static void changed(struct alerts *all, struct alert *a)
{
	all->changed = true;
	a->untold = (all->has_manager ? ALERTS_TO_MANAGER : 0) |
		    (all->has_webhook ? ALERTS_TO_WEBHOOK : 0);
}

static void begin(struct alert *a, const struct job *j, const char *text)
{
	a->began = wall_ms();
	a->over = 0;
	set_text(&a->text, text);
	free(a->recorded);
	a->recorded = job_recorded(j);
	free(a->snapshot);
	a->snapshot = NULL;
	serve_say("alert %s (%s, %s): %s", a->name, a->script, a->node,
		a->text != NULL ? a->text : "");
}

void alerts_fire(struct serve *v, struct job *j, const char *called, const char *text)
{
	const char *node = j->node != NULL ? j->node : j->target;
	char name[ALERTS_NAME_MAX + 1];
	int64_t now = serve_ms();
	struct alert *a;

	if (called[0] == '\0')
		return;
	snprintf(name, sizeof(name), "%.*s", (int)utf8_cut(called, ALERTS_NAME_MAX), called);
	v->alerts.total++;
	a = find(&v->alerts, name, j->script, node);
	if (a != NULL && a->over == 0) { /* it goes on */
		a->last = now;
		set_text(&a->text, text);
		return;
	}
	if (!may_begin(&v->alerts, j, now))
		return;
	if (a == NULL)
		a = alert_new(&v->alerts, name, j->script, node);
	if (a == NULL)
		return;
	a->last = now;
	begin(a, j, text);
	changed(&v->alerts, a);
}

/* It is written just after the alert, and so is in what is posted; else Alertmanager is told again.
 */
void alerts_snapshot(struct serve *v, const struct job *j, const char *why, const char *file)
{
	const char *node = j->node != NULL ? j->node : j->target;
	char name[ALERTS_NAME_MAX + 1];
	struct alert *a;

	if (strncmp(why, "alert ", 6) != 0)
		return;
	snprintf(name, sizeof(name), "%.*s", (int)utf8_cut(why + 6, ALERTS_NAME_MAX), why + 6);
	a = find(&v->alerts, name, j->script, node);
	if (a == NULL || a->over != 0 || a->snapshot != NULL)
		return;
	a->snapshot = strdup(file);
	a->untold |= v->alerts.has_manager ? ALERTS_TO_MANAGER : 0;
}

/* Those that are over, and forget what others know to be over. */
static void end_some(struct alerts *all, int64_t now, bool all_of_them)
{
	for (struct alert **at = &all->list, *a; (a = *at) != NULL;) {
		if (a->over > 0 && a->untold == 0 && a->sent == 0) {
			*at = a->next;
			all->n--;
			alert_free(a);
			continue;
		}
		if (a->over == 0 && (all_of_them || now - a->last >= (int64_t)all->hold * 1000)) {
			a->over = wall_ms();
			changed(all, a);
			serve_say("alert %s (%s, %s): is over", a->name, a->script, a->node);
		}
		at = &a->next;
	}
}

/* ---- telling others --------------------------------------------------------------------- */

static json_t *time_of(int64_t ms)
{
	time_t s = ms / 1000;
	char day[32];
	struct tm tm;

	gmtime_r(&s, &tm);
	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
	return json_sprintf("%s.%03dZ", day, (int)(ms % 1000));
}

static json_t *alert_json(const struct alert *a, int64_t until)
{
	json_t *o = json_pack("{s:{s:s,s:s,s:s},s:{s:s,s:s},s:o,s:o}", "labels", "alertname",
		a->name, "script", a->script, "node", a->node, "annotations", "summary",
		a->text != NULL ? a->text : "", "recorded", a->recorded != NULL ? a->recorded : "",
		"startsAt", time_of(a->began), "endsAt", time_of(a->over > 0 ? a->over : until));

	if (a->snapshot != NULL)
		json_object_set_new(
			json_object_get(o, "annotations"), "snapshot", json_string(a->snapshot));
	return o;
}

/* Alertmanager's API v2: all that goes on or has just ended. */
static json_t *for_manager(const struct alerts *all)
{
	int64_t now = wall_ms();
	json_t *list = json_array();

	for (const struct alert *a = all->list; a != NULL; a = a->next)
		json_array_append_new(list, alert_json(a, now + 4 * ALERTS_AGAIN_MS));
	return list;
}

/* A webhook: what has changed, and how. */
static json_t *for_webhook(const struct alerts *all)
{
	int64_t now = wall_ms();
	json_t *list = json_array();

	for (const struct alert *a = all->list; a != NULL; a = a->next)
		if (a->untold & ALERTS_TO_WEBHOOK) {
			json_t *o = alert_json(a, now);

			json_object_set_new(
				o, "status", json_string(a->over > 0 ? "resolved" : "firing"));
			if (a->over == 0)
				json_object_del(o, "endsAt");
			json_array_append_new(list, o);
		}
	return json_pack("{s:o}", "alerts", list);
}

/* false: no memory for it. */
static bool post(struct post *to, json_t *body)
{
	char *text = body != NULL ? json_dumps(body, JSON_COMPACT) : NULL;

	if (text != NULL)
		post_send(to, text);
	json_decref(body);
	return text != NULL;
}

static bool some_untold(const struct alerts *all, unsigned to)
{
	for (const struct alert *a = all->list; a != NULL; a = a->next)
		if (a->untold & to)
			return true;
	return false;
}

static void all_sent(struct alerts *all, unsigned to)
{
	for (struct alert *a = all->list; a != NULL; a = a->next) {
		a->sent |= a->untold & to;
		a->untold &= ~to;
	}
}

static void all_told(struct alerts *all, unsigned to)
{
	for (struct alert *a = all->list; a != NULL; a = a->next) {
		all->changed |= (a->sent & to) != 0;
		a->sent &= ~to;
	}
}

static void tell_manager(struct alerts *all, int64_t now)
{
	bool again = all->n > 0 && now - all->told_at >= ALERTS_AGAIN_MS;
	bool news = (some_untold(all, ALERTS_TO_MANAGER) || again) && now >= all->manager_next;

	if ((post_free_now(&all->manager) ? news : post_is_due(&all->manager)) &&
		post(&all->manager, for_manager(all))) {
		all->manager_next = now + ALERTS_POST_MS;
		all->told_at = now;
		all_sent(all, ALERTS_TO_MANAGER);
	}
	post_look(&all->manager);
}

static void tell_webhook(struct alerts *all, int64_t now)
{
	if (post_free_now(&all->webhook) && some_untold(all, ALERTS_TO_WEBHOOK) &&
		now >= all->webhook_next && post(&all->webhook, for_webhook(all))) {
		all->webhook_next = now + ALERTS_POST_MS;
		all_sent(all, ALERTS_TO_WEBHOOK);
	}
	post_look(&all->webhook);
}

static void tell(struct alerts *all, int64_t now)
{
	if (!all->has_manager || post_free_now(&all->manager))
		all_told(all, ALERTS_TO_MANAGER);
	if (!all->has_webhook || post_free_now(&all->webhook))
		all_told(all, ALERTS_TO_WEBHOOK);
	if (all->has_manager)
		tell_manager(all, now);
	if (all->has_webhook)
		tell_webhook(all, now);
}

void alerts_look(struct serve *v)
{
	int64_t now = serve_ms();

	if (!v->ending)
		end_some(&v->alerts, now, false);
	tell(&v->alerts, now);
	if (v->alerts.changed) /* if this server is killed the next one tells what others do not
				  know */
		v->state.due = 1;
	v->alerts.changed = false;
}

/* ---- the end of the server, and the next one ---------------------------------------------- */

void alerts_end(struct serve *v)
{
	end_some(&v->alerts, serve_ms(), true);
	v->alerts.manager_next = v->alerts.webhook_next = 0;
	tell(&v->alerts, serve_ms());
}

bool alerts_ended(const struct alerts *all)
{
	return !some_untold(all, ALERTS_TO_MANAGER | ALERTS_TO_WEBHOOK) &&
	       (!all->has_manager || post_free_now(&all->manager)) &&
	       (!all->has_webhook || post_free_now(&all->webhook));
}

json_t *alerts_out(const struct alerts *all)
{
	json_t *list = json_array();
	int64_t now = serve_ms();
	bool manager = all->has_manager && !post_free_now(&all->manager);
	bool webhook = all->has_webhook && !post_free_now(&all->webhook);

	for (const struct alert *a = all->list; a != NULL; a = a->next) {
		unsigned sent = (manager ? a->sent & ALERTS_TO_MANAGER : 0) |
				(webhook ? a->sent & ALERTS_TO_WEBHOOK : 0);

		if (a->over == 0 || (a->untold | sent) != 0)
			json_array_append_new(list,
				json_pack("{s:s,s:s,s:s,s:s?,s:s?,s:s?,s:I,s:I,s:I,s:I}", "name",
					a->name, "script", a->script, "node", a->node, "text",
					a->text, "recorded", a->recorded, "snapshot", a->snapshot,
					"began", (json_int_t)a->began, "over", (json_int_t)a->over,
					"ago", (json_int_t)(now - a->last), "untold",
					(json_int_t)(a->untold | sent)));
	}
	return list;
}

static int64_t number_of(const json_t *o, const char *member)
{
	return (int64_t)json_integer_value(json_object_get(o, member));
}

/* One that went on may be over by now, or be called again: as with a server that was not ended. */
void alerts_restore(struct alerts *all, const json_t *saved)
{
	unsigned others = (all->has_manager ? ALERTS_TO_MANAGER : 0) |
			  (all->has_webhook ? ALERTS_TO_WEBHOOK : 0);
	const char *name, *script, *node, *text, *recorded, *snapshot;
	const json_t *o;
	size_t i;

	json_array_foreach(saved, i, o)
	{
		struct alert *a;

		name = json_string_value(json_object_get(o, "name"));
		script = json_string_value(json_object_get(o, "script"));
		node = json_string_value(json_object_get(o, "node"));
		text = json_string_value(json_object_get(o, "text"));
		recorded = json_string_value(json_object_get(o, "recorded"));
		snapshot = json_string_value(json_object_get(o, "snapshot"));
		if (name == NULL || script == NULL || node == NULL || all->n >= ALERTS_MAX ||
			(a = alert_new(all, name, script, node)) == NULL)
			continue;
		set_text(&a->text, text != NULL ? text : "");
		a->recorded = recorded != NULL ? strdup(recorded) : NULL;
		a->snapshot = snapshot != NULL ? strdup(snapshot) : NULL;
		a->began = number_of(o, "began");
		a->over = number_of(o, "over");
		a->last = serve_ms() - number_of(o, "ago");
		a->untold = (unsigned)number_of(o, "untold") & others;
	}
}

void alerts_free(struct serve *v)
{
	while (v->alerts.list != NULL) {
		struct alert *a = v->alerts.list;

		v->alerts.list = a->next;
		alert_free(a);
	}
	post_close(&v->alerts.manager);
	post_close(&v->alerts.webhook);
}
