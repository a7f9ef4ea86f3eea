/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace event format: one JSON object with an array of events, which Perfetto opens. Each
 * firing is an instant ("ph":"i") on the track of its Erlang process, or of its CPU if it has none,
 * with its text and the values of its first action as arguments. Times are microseconds, here since
 * 1970.
 */
#include "timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consume/flight.h"
#include "hash.h"
#include "parts.h"

/* Processes of the trace: tracks are their threads. All numbers of threads differ: some readers
 * want that. */
enum { CPUS = 1, ERLANG = 2 };
enum { FIRST_TID = 1 << 16 }; /* of Erlang processes; those of CPUs are their numbers */

static const char begin[] = "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"by\":\"erltrace\"";

/* A name of a process or a thread of the trace. */
static void put_name(
	struct co_timeline *t, const char *what, int pid, unsigned tid, const char *name)
{
	cb_fmt(t->out, "%s{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%d,\"tid\":%u,\"args\":{\"name\":",
		t->more ? ",\n" : "", what, pid, tid);
	js_string(t->out, name, strlen(name));
	cb_str(t->out, "}}");
	t->more = true;
}

void co_timeline_head(struct co_timeline *t, const erltrace_snapshot_t *s)
{
	cb_str(t->out, begin);
	js_text(t->out, "why", s->why);
	cb_fmt(t->out, ",\"events\":%llu,\"overwritten\":%llu},\"traceEvents\":[\n",
		(unsigned long long)s->events, (unsigned long long)s->overwritten);
	put_name(t, "process_name", CPUS, 0, "erltrace: CPUs");
	put_name(t, "process_name", ERLANG, 0, "erltrace: Erlang processes");
}

/* The first event of a CPU names its track. */
static void cpu_track(struct co_timeline *t, unsigned cpu)
{
	uint64_t *word = &t->cpus[cpu / 64 % 16], bit = UINT64_C(1) << cpu % 64;
	char name[32];

	if (*word & bit)
		return;
	*word |= bit;
	snprintf(name, sizeof(name), "CPU %u", cpu);
	put_name(t, "thread_name", CPUS, cpu, name);
}

/* ---- tracks of Erlang processes --------------------------------------------------------- */

static struct co_track *slot_of(const struct co_timeline *t, const char *id)
{
	size_t i = hash_bytes(id, strlen(id));

	while (t->tracks[i & (t->room - 1)].id != NULL &&
		strcmp(t->tracks[i & (t->room - 1)].id, id) != 0)
		i++;
	return &t->tracks[i & (t->room - 1)];
}

/* At most half full. */
static bool make_room(struct co_timeline *t)
{
	struct co_timeline more = *t;

	if (t->ntracks < t->room / 2)
		return true;
	more.room = t->room > 0 ? 2 * t->room : 64;
	more.tracks = calloc(more.room, sizeof(*more.tracks));
	if (more.tracks == NULL)
		return false;
	for (size_t i = 0; i < t->room; i++)
		if (t->tracks[i].id != NULL)
			*slot_of(&more, t->tracks[i].id) = t->tracks[i];
	free(t->tracks);
	*t = more;
	return true;
}

/* The number of its track. The first event names it, and the first one after it was registered. */
static unsigned process_track(struct co_timeline *t, const char *id, const char *name)
{
	struct co_track *k = make_room(t) ? slot_of(t, id) : NULL;
	char both[1200];

	if (k != NULL && k->id == NULL && (k->id = strdup(id)) != NULL) {
		k->tid = FIRST_TID + (unsigned)t->ntracks++;
		put_name(t, "thread_name", ERLANG, k->tid, id);
	}
	if (k == NULL || k->id == NULL) {
		t->out->nomem = true;
		return 0;
	}
	if (name != NULL && !k->named) {
		snprintf(both, sizeof(both), "%s %s", name, id);
		put_name(t, "thread_name", ERLANG, k->tid, both);
		k->named = true;
	}
	return k->tid;
}

/* ---- events ----------------------------------------------------------------------------- */

static void end_event(struct co_timeline *t)
{
	if (!t->open)
		return;
	t->open = false;
	cb_str(t->out, ",\"args\":{\"text\":");
	js_string(t->out, t->text.len > 0 ? t->text.p : "", t->text.len);
	cb_put(t->out, t->values.p, t->values.len);
	cb_str(t->out, "}}");
}

static void microseconds(struct co_buf *b, uint64_t ns)
{
	cb_fmt(b, "%llu.%03u", (unsigned long long)(ns / 1000), (unsigned)(ns % 1000));
}

static void put_event(struct co_timeline *t, const erltrace_event_t *ev)
{
	const erltrace_probe_info_t *p = &ev->probe;
	const char *called, *process = co_process(t->co, &called);
	unsigned tid = process != NULL ? process_track(t, process, called) : ev->cpu;
	struct co_buf name = {0};

	if (process == NULL)
		cpu_track(t, ev->cpu);
	cb_fmt(&name, "%s%s%s%s%s", p->module, p->module[0] ? ":" : "", p->function,
		p->module[0] || p->function[0] ? " " : "", p->name);
	cb_fmt(t->out, ",\n{\"ph\":\"i\",\"s\":\"t\",\"pid\":%d,\"tid\":%u,\"ts\":",
		process != NULL ? ERLANG : CPUS, tid);
	microseconds(t->out, ev->walltimestamp);
	js_text(t->out, "cat", p->provider);
	cb_str(t->out, ",\"name\":");
	js_string(t->out, name.p, name.len);
	cb_free(&name);
}

static int on_event(void *arg, const erltrace_event_t *ev)
{
	struct co_timeline *t = arg;

	end_event(t);
	put_event(t, ev);
	t->open = true;
	t->text.len = t->values.len = 0;
	return t->out->nomem ? -1 : 0;
}

static int on_record(void *arg, const erltrace_event_t *ev, const erltrace_record_t *rec)
{
	struct co_timeline *t = arg;
	size_t len = rec->len;

	(void)ev;
	while (len > 0 && rec->text[len - 1] == '\n')
		len--;
	if (t->text.len > 0 && len > 0)
		cb_str(&t->text, "\n");
	cb_put(&t->text, rec->text, len);
	if (rec->nvalues > 0 && t->values.len == 0)
		js_values(&t->values, "values", rec->values, rec->nvalues);
	return 0;
}

static int on_fault(void *arg, const erltrace_fault_t *f)
{
	struct co_timeline *t = arg;

	end_event(t);
	put_event(t, &f->event);
	t->open = true;
	t->text.len = t->values.len = 0;
	cb_str(&t->text, f->message);
	return 0;
}

void co_timeline_handlers(struct co_timeline *t, erltrace_handlers_t *h)
{
	*h = (erltrace_handlers_t){.size = sizeof(*h), .arg = t, .event = on_event,
		.record = on_record, .fault = on_fault};
}

void co_timeline_tail(struct co_timeline *t)
{
	end_event(t);
	cb_str(t->out, "\n]}\n");
}

void co_timeline_free(struct co_timeline *t)
{
	cb_free(&t->text);
	cb_free(&t->values);
	for (size_t i = 0; i < t->room; i++)
		free(t->tracks[i].id);
	free(t->tracks);
	*t = (struct co_timeline){0};
}
