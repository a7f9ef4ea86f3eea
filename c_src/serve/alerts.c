/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alerts (metrics/alert_set.h), and who is told of them.
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

static int64_t wall_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* ---- what begins and ends --------------------------------------------------------------- */

static void told_free(struct alert *a)
{
	struct told_alert *t = (struct told_alert *)a;

	free(t->recorded);
	free(t->snapshot);
}

void alerts_init(struct alerts *all)
{
	all->hold = ALERTS_HOLD;
	all->set.most = ALERTS_NEW_MAX;
	all->set.size = sizeof(struct told_alert);
	all->set.free = told_free;
}

/* Of those of a minute one script on one node has a part. */
static bool has_spare(struct job *j, int64_t now)
{
	if (now - j->alerts_minute >= 60000) {
		j->alerts_minute = now;
		j->alerts_begun = 0;
	}
	return j->alerts_begun < ALERTS_JOB_MAX;
}

static void changed(struct alerts *all, struct told_alert *t)
{
	all->changed = true;
	t->untold = (all->has_manager ? ALERTS_TO_MANAGER : 0) |
		    (all->has_webhook ? ALERTS_TO_WEBHOOK : 0);
}

static void begin(struct told_alert *t, struct job *j)
{
	j->alerts_begun++;
	t->began = wall_ms();
	t->over = 0;
	free(t->recorded);
	t->recorded = job_recorded(j);
	free(t->snapshot);
	t->snapshot = NULL;
	serve_say("alert %s (%s, %s): %s", t->a.name, t->a.script, t->a.node,
		t->a.text != NULL ? t->a.text : "");
}

void alerts_fire(struct serve *v, struct job *j, const char *name, const char *text)
{
	const char *node = j->node != NULL ? j->node : j->target;
	struct alert_set *set = &v->alerts.set;
	int64_t now = serve_ms();
	struct alert *a;

	switch (alerts_call(set, j->script, node, name, text, now, has_spare(j, now), &a)) {
	case ALERT_BEGINS:
		begin((struct told_alert *)a, j);
		changed(&v->alerts, (struct told_alert *)a);
		break;
	case ALERT_LEFT_OUT:
		if (set->left_out == 1)
			serve_say("too many alerts (%s, %s): others are left out for a minute",
				j->script, j->target);
		break;
	default: break;
	}
}

/* It is written just after the alert, and so is in what is posted; else Alertmanager is told again.
 */
void alerts_snapshot(struct serve *v, const struct job *j, const char *alert, const char *file)
{
	const char *node = j->node != NULL ? j->node : j->target;
	struct told_alert *t;

	t = (struct told_alert *)alerts_find(&v->alerts.set, alert, j->script, node);
	if (t == NULL || !t->a.on || t->snapshot != NULL)
		return;
	t->snapshot = strdup(file);
	t->untold |= v->alerts.has_manager ? ALERTS_TO_MANAGER : 0;
}

/* Those that are over, and forget what others know to be over. hold: ms */
static void end_some(struct alerts *all, int64_t now, int64_t hold)
{
	for (struct alert **at = &all->set.list; *at != NULL;) {
		struct told_alert *t = (struct told_alert *)*at;

		if (!t->a.on && t->untold == 0 && t->sent == 0) {
			alerts_remove(&all->set, at);
			continue;
		}
		if (alert_ends(&t->a, now, hold)) {
			t->over = wall_ms();
			changed(all, t);
			serve_say("alert %s (%s, %s): is over", t->a.name, t->a.script, t->a.node);
		}
		at = &t->a.next;
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

static json_t *alert_json(const struct told_alert *t, int64_t until)
{
	json_t *o = json_pack("{s:{s:s,s:s,s:s},s:{s:s,s:s},s:o,s:o}", "labels", "alertname",
		t->a.name, "script", t->a.script, "node", t->a.node, "annotations", "summary",
		t->a.text != NULL ? t->a.text : "", "recorded",
		t->recorded != NULL ? t->recorded : "", "startsAt", time_of(t->began), "endsAt",
		time_of(t->over > 0 ? t->over : until));

	if (t->snapshot != NULL)
		json_object_set_new(
			json_object_get(o, "annotations"), "snapshot", json_string(t->snapshot));
	return o;
}

/* Alertmanager's API v2: all that goes on or has just ended. */
static json_t *for_manager(const struct alerts *all)
{
	int64_t now = wall_ms();
	json_t *list = json_array();

	EACH_ALERT(t, all)
	json_array_append_new(list, alert_json(t, now + 4 * ALERTS_AGAIN_MS));
	return list;
}

/* A webhook: what has changed, and how. */
static json_t *for_webhook(const struct alerts *all)
{
	int64_t now = wall_ms();
	json_t *list = json_array();

	EACH_ALERT(t, all)
	if (t->untold & ALERTS_TO_WEBHOOK) {
		json_t *o = alert_json(t, now);

		json_object_set_new(o, "status", json_string(t->over > 0 ? "resolved" : "firing"));
		if (t->over == 0)
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
	EACH_ALERT(t, all)
	if (t->untold & to)
		return true;
	return false;
}

static void all_sent(struct alerts *all, unsigned to)
{
	EACH_ALERT(t, all)
	{
		t->sent |= t->untold & to;
		t->untold &= ~to;
	}
}

static void all_told(struct alerts *all, unsigned to)
{
	EACH_ALERT(t, all)
	{
		all->changed |= (t->sent & to) != 0;
		t->sent &= ~to;
	}
}

static void tell_manager(struct alerts *all, int64_t now)
{
	bool again = all->set.n > 0 && now - all->told_at >= ALERTS_AGAIN_MS;
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
		end_some(&v->alerts, now, (int64_t)v->alerts.hold * 1000);
	tell(&v->alerts, now);
	if (v->alerts.changed) /* if this server is killed the next one tells what others do not
				  know */
		v->state.due = 1;
	v->alerts.changed = false;
}

/* ---- the end of the server, and the next one ---------------------------------------------- */

void alerts_end(struct serve *v)
{
	end_some(&v->alerts, serve_ms(), 0);
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

	EACH_ALERT(t, all)
	{
		unsigned sent = (manager ? t->sent & ALERTS_TO_MANAGER : 0) |
				(webhook ? t->sent & ALERTS_TO_WEBHOOK : 0);

		if (t->over == 0 || (t->untold | sent) != 0)
			json_array_append_new(list,
				json_pack("{s:s,s:s,s:s,s:s?,s:s?,s:s?,s:I,s:I,s:I,s:I}", "name",
					t->a.name, "script", t->a.script, "node", t->a.node, "text",
					t->a.text, "recorded", t->recorded, "snapshot", t->snapshot,
					"began", (json_int_t)t->began, "over", (json_int_t)t->over,
					"ago", (json_int_t)(now - t->a.last), "untold",
					(json_int_t)(t->untold | sent)));
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
		struct told_alert *t;

		name = json_string_value(json_object_get(o, "name"));
		script = json_string_value(json_object_get(o, "script"));
		node = json_string_value(json_object_get(o, "node"));
		text = json_string_value(json_object_get(o, "text"));
		recorded = json_string_value(json_object_get(o, "recorded"));
		snapshot = json_string_value(json_object_get(o, "snapshot"));
		if (name == NULL || script == NULL || node == NULL || all->set.n >= ALERTS_MAX ||
			(t = (struct told_alert *)alerts_new(&all->set, name, script, node)) ==
				NULL)
			continue;
		alert_set_text(&t->a, text != NULL ? text : "");
		t->recorded = recorded != NULL ? strdup(recorded) : NULL;
		t->snapshot = snapshot != NULL ? strdup(snapshot) : NULL;
		t->began = number_of(o, "began");
		t->over = number_of(o, "over");
		t->a.on = t->over == 0;
		t->a.last = serve_ms() - number_of(o, "ago");
		t->untold = (unsigned)number_of(o, "untold") & others;
	}
}

void alerts_free(struct serve *v)
{
	alerts_remove_all(&v->alerts.set);
	post_close(&v->alerts.manager);
	post_close(&v->alerts.webhook);
}
