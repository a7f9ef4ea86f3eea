/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots: a copy of the trace buffers is taken at once (engine/recording.c), and written a few
 * thousand events at a time, so that a call of erltrace_work() stays short however large the
 * buffers are. One is under way at a time; what scripts ask for meanwhile, or sooner than
 * snapshotrate permits, is left out and counted.
 *
 */
#include "snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "handle.h"
#include "engine/clock.h"

enum { AT_A_TIME = 4096 }; /* records of a call */

static const char *const forms[] = {"text", "json", "timeline"};

/* ---- what the caller hears ------------------------------------------------------------ */

static int tell(erltrace_t *h, const erltrace_handlers_t *hs, erltrace_snapshot_t *s)
{
	size_t has = offsetof(erltrace_handlers_t, snapshot) + sizeof(hs->snapshot);

	s->why = h->snap.why;
	s->alert = h->snap.alert;
	s->form = forms[h->snap.form];
	s->walltimestamp = h->snap.wall;
	s->events = h->snap.about.events;
	s->overwritten = h->snap.about.overwritten;
	if (hs == NULL || hs->size < has || hs->snapshot == NULL)
		return 0;
	return hs->snapshot(hs->arg, s);
}

static int tell_error(erltrace_t *h, const erltrace_handlers_t *hs, const char *text)
{
	return tell(h, hs, &(erltrace_snapshot_t){.error = text});
}

static const char *dir_of(const erltrace_t *h)
{
	uint64_t n = h->opts.val[OPT_SNAPSHOTDIR];

	return n > 0 ? h->opts.str[OPT_SNAPSHOTDIR][n - 1] : "";
}

static bool is_handed_on(const erltrace_t *h)
{
	return strcmp(dir_of(h), "-") == 0;
}

/* ---- text ----------------------------------------------------------------------------- */

static void text_head(struct api_snapshot *s)
{
	double span = s->about.events > 0 ? (double)(s->now - s->about.first) / 1e9 : 0;
	double whole = s->about.events > 0 ? (double)(s->now - s->about.whole) / 1e9 : 0;
	time_t t = (time_t)(s->wall / 1000000000);
	char when[32];
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &tm);
	cb_str(&s->out, "# ");
	cb_data(&s->out, s->why, strlen(s->why));
	cb_fmt(&s->out,
		"\n# at %s.%06uZ: %llu events of the last %.3f s, all of the last %.3f s; "
		"%llu others are overwritten\n",
		when, (unsigned)(s->wall / 1000 % 1000000), (unsigned long long)s->about.events,
		span, whole, (unsigned long long)s->about.overwritten);
	if (s->left_out > 0)
		cb_fmt(&s->out,
			"# %llu snapshots were left out since the last one (snapshotrate)\n",
			(unsigned long long)s->left_out);
	cb_fmt(&s->out, "#  SECONDS CPU PROBE\n");
}

static void end_line(struct api_snapshot *s)
{
	if (s->line)
		cb_str(&s->out, "\n");
	s->line = false;
}

static int text_event(void *arg, const erltrace_event_t *ev)
{
	struct api_snapshot *s = arg;
	const erltrace_probe_info_t *p = &ev->probe;

	end_line(s);
	cb_fmt(&s->out, "%10.6f %3u %s:%s:%s:%s", ((double)ev->timestamp - (double)s->now) / 1e9,
		ev->cpu, p->provider, p->module, p->function, p->name);
	s->line = true;
	return 0;
}

static int text_record(void *arg, const erltrace_event_t *ev, const erltrace_record_t *rec)
{
	struct api_snapshot *s = arg;
	const char *text = rec->text;
	size_t len = rec->len;

	(void)ev;
	for (; len > 0 && text[len - 1] == '\n'; len--)
		;
	for (; len > 0 && memchr(text, '\n', len) == NULL && text[0] == ' '; text++)
		len--;
	if (len > 0)
		cb_str(&s->out, " ");
	cb_put(&s->out, text, len);
	return 0;
}

static int text_fault(void *arg, const erltrace_fault_t *f)
{
	struct api_snapshot *s = arg;

	end_line(s);
	cb_fmt(&s->out, "%10.6f %3u %s\n", ((double)f->event.timestamp - (double)s->now) / 1e9,
		f->event.cpu, f->message);
	return 0;
}

/* ---- any form ------------------------------------------------------------------------- */

static int json_line(void *arg, const char *text, size_t len)
{
	cb_put(arg, text, len);
	return 0;
}

static int form_handlers(erltrace_t *h, erltrace_handlers_t *hs)
{
	struct api_snapshot *s = &h->snap;

	*hs = (erltrace_handlers_t){.size = sizeof(*hs), .arg = s, .event = text_event,
		.record = text_record, .fault = text_fault};
	if (s->form == SNAPSHOT_TIMELINE) {
		s->timeline.out = &s->out;
		s->timeline.co = h->co;
		co_timeline_handlers(&s->timeline, hs);
	} else if (s->form == SNAPSHOT_JSON) {
		s->json.text = json_line;
		s->json.arg = &s->out;
		return co_json_handlers(&s->json, hs);
	}
	return 0;
}

static void put_head(erltrace_t *h)
{
	struct api_snapshot *s = &h->snap;
	erltrace_snapshot_t about = {0};

	tell(h, NULL, &about);
	if (s->form == SNAPSHOT_TEXT)
		text_head(s);
	else if (s->form == SNAPSHOT_JSON)
		co_json_recording(
			&s->json, &about, s->about.first, s->about.whole, s->about.last);
	else
		co_timeline_head(&s->timeline, &about);
}

static void put_tail(struct api_snapshot *s)
{
	if (s->form == SNAPSHOT_TEXT)
		end_line(s);
	else if (s->form == SNAPSHOT_TIMELINE)
		co_timeline_tail(&s->timeline);
	co_json_free(&s->json);
	co_timeline_free(&s->timeline);
	s->json = (struct co_json){0};
}

/* Hand on what there is: to the file, or to the caller. */
static int put_out(erltrace_t *h, const erltrace_handlers_t *hs)
{
	struct api_snapshot *s = &h->snap;
	int rc = 0;

	if (s->out.nomem) {
		s->file.error = ENOMEM;
		s->out.nomem = false;
	}
	if (is_handed_on(h) && s->out.len > 0)
		rc = tell(h, hs, &(erltrace_snapshot_t){.bytes = s->out.p, .len = s->out.len,
			.part = s->part++});
	else if (s->out.len > 0)
		snapshot_file_write(&s->file, s->out.p, s->out.len);
	s->out.len = 0;
	return rc;
}

/* The file has its name, or could not be written. */
static int finish_file(erltrace_t *h, const erltrace_handlers_t *hs)
{
	struct api_snapshot *s = &h->snap;
	char text[PATH_MAX + 128];
	int error;

	if (is_handed_on(h))
		return tell(h, hs, &(erltrace_snapshot_t){.bytes = NULL});
	error = snapshot_file_close(&s->file, (unsigned)h->opts.val[OPT_SNAPSHOTMAX]);
	if (error == 0)
		return tell(h, hs, &(erltrace_snapshot_t){.file = s->file.path});
	snprintf(text, sizeof(text), "couldn't write %s: %s", s->file.path, strerror(error));
	return tell_error(h, hs, text);
}

static void begin_form(erltrace_t *h)
{
	struct api_snapshot *s = &h->snap;

	s->begun = true;
	s->line = false;
	s->part = 0;
	en_recording_rewind(s->rec);
	if (!is_handed_on(h))
		snapshot_file_open(&s->file, &(struct snapshot_name){.dir = dir_of(h),
			.script = h->script, .node = "", .why = s->why, .form = forms[s->form],
			.wall = s->wall});
}

static void end_all(struct api_snapshot *s)
{
	en_recording_free(s->rec);
	s->rec = NULL;
	s->left_out = 0;
}

/* Some of the snapshot that is under way. */
static int step(erltrace_t *h, const erltrace_handlers_t *hs)
{
	struct api_snapshot *s = &h->snap;
	bool begins = !s->begun, done = true, given_up;
	erltrace_handlers_t form;
	int rc;

	if (begins)
		begin_form(h);
	if (form_handlers(h, &form) < 0)
		s->out.nomem = true;
	else if (begins)
		put_head(h);
	given_up = s->out.nomem || (!is_handed_on(h) && s->file.fd < 0);
	if (!given_up && co_replay(h->co, s->rec, AT_A_TIME, &form, &done) != 0)
		s->out.nomem = done = true;
	if (done)
		put_tail(s);
	rc = put_out(h, hs);
	if (!done || rc != 0)
		return rc;
	rc = finish_file(h, hs);
	s->begun = false;
	if (h->opts.val[OPT_SNAPSHOTFORM] == SNAPSHOT_ALL && s->form < SNAPSHOT_TIMELINE)
		s->form++;
	else
		end_all(s);
	return rc;
}

/* ---- wishes --------------------------------------------------------------------------- */

static void set_why(struct api_snapshot *s, const char *name, bool alert)
{
	static const char prefix[] = "alert ";

	snprintf(s->why, sizeof(s->why), "%s%s", alert ? prefix : "", name);
	s->alert = alert ? s->why + sizeof(prefix) - 1 : NULL;
}

/* 0, or an errno. */
static int take(erltrace_t *h, const char *name, bool alert)
{
	struct api_snapshot *s = &h->snap;
	bool whole;

	s->rec = en_record(h->en, EN_WHOLE, &whole);
	if (s->rec == NULL)
		return ENOMEM;
	en_recording_about(s->rec, &s->about);
	set_why(s, name, alert);
	s->now = en_now();
	s->wall = en_wall(h->en, s->now);
	s->form = (unsigned)h->opts.val[OPT_SNAPSHOTFORM];
	if (s->form == SNAPSHOT_ALL)
		s->form = SNAPSHOT_TEXT;
	s->begun = false;
	return 0;
}

static int begin_wanted(erltrace_t *h, const erltrace_handlers_t *hs)
{
	struct api_snapshot *s = &h->snap;
	uint64_t now = en_now();
	struct co_wish wish;
	unsigned more = 0;
	bool first;

	if (!co_wants_snapshot(h->co, &wish, &more))
		return 0;
	if (dir_of(h)[0] == '\0') {
		first = s->next == 0;
		s->next = UINT64_MAX;
		set_why(s, wish.name, wish.alert);
		if (!first || wish.alert)
			return 0;
		return tell_error(h, hs, "nobody has said where to: --snapshots DIR, or the option "
					 "snapshotdir");
	}
	if (s->rec != NULL || now < s->next) {
		s->left_out += more + 1;
		return 0;
	}
	s->next = now + h->opts.val[OPT_SNAPSHOTRATE];
	if (take(h, wish.name, wish.alert) != 0)
		return tell_error(h, hs, "out of memory for a copy of the buffers");
	s->left_out += more;
	return 0;
}

int api_snapshots(erltrace_t *h, const erltrace_handlers_t *hs, bool all)
{
	int rc;

	if (h->opts.val[OPT_BUFPOLICY] != BUFPOLICY_RING)
		return 0;
	rc = begin_wanted(h, hs);
	while (rc == 0 && h->snap.rec != NULL) {
		rc = step(h, hs);
		if (!all)
			break;
	}
	return rc;
}

int erltrace_take_snapshot(erltrace_t *h, const char *why, const erltrace_handlers_t *handlers,
	erltrace_error_t *err)
{
	int rc;

	if (h->co == NULL || h->done)
		return api_fail(err, ET_IDLE, "no script is running that records");
	if (h->opts.val[OPT_BUFPOLICY] != BUFPOLICY_RING)
		return api_fail(err, ET_SNAPSHOT,
			"nothing is kept to take a snapshot of: the script "
			"needs #pragma D option bufpolicy=ring");
	if (dir_of(h)[0] == '\0')
		return api_fail(err, ET_SNAPSHOT,
			"nobody has said where to: --snapshots DIR, or the "
			"option snapshotdir");
	rc = api_snapshots(h, handlers, true); /* what is under way comes first */
	if (rc != 0)
		return rc;
	if (take(h, why, false) != 0)
		return api_fail(err, ET_NOMEM, "out of memory for a copy of the buffers");
	do {
		rc = step(h, handlers);
	} while (rc == 0 && h->snap.rec != NULL);
	return rc;
}

int api_snapshot_may(erltrace_t *h, erltrace_error_t *err)
{
	const struct prog *p = &h->comp->prog;

	if (h->opts.val[OPT_BUFPOLICY] == BUFPOLICY_RING)
		return 0;
	for (unsigned c = 0; c < p->nclauses; c++)
		for (unsigned i = 0; i < p->clauses[c]->nactions; i++)
			if (p->clauses[c]->actions[i].act == ACT_SNAPSHOT)
				return api_fail(err, ET_SNAPSHOT,
					"snapshot() writes what the buffers hold, which are read "
					"out "
					"all the time: it needs #pragma D option bufpolicy=ring");
	return 0;
}

void api_snapshot_free(erltrace_t *h)
{
	struct api_snapshot *s = &h->snap;

	end_all(s);
	if (s->begun && s->file.part[0] != '\0')
		snapshot_file_drop(&s->file);
	co_json_free(&s->json);
	co_timeline_free(&s->timeline);
	cb_free(&s->out);
}
