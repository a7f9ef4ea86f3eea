/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace event format: one JSON object with an array of events, which Perfetto opens. Each firing
 * is an instant ("ph":"i") on the track of its CPU, with its text and the values
 * of its first action as arguments. Times are microseconds, here since 1970.
 */
#include "timeline.h"

#include <string.h>

#include "parts.h"

static const char begin[] = "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"by\":\"erltrace\"";

void co_timeline_head(struct co_timeline *t, const erltrace_snapshot_t *s)
{
	cb_str(t->out, begin);
	js_text(t->out, "why", s->why);
	cb_fmt(t->out, ",\"events\":%llu,\"overwritten\":%llu},\"traceEvents\":[\n",
		(unsigned long long)s->events, (unsigned long long)s->overwritten);
	cb_str(t->out, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"erltrace\"}}");
}

/* The first event of a CPU names its track. */
static void name_track(struct co_timeline *t, unsigned cpu)
{
	uint64_t *word = &t->cpus[cpu / 64 % 16], bit = UINT64_C(1) << cpu % 64;

	if (*word & bit)
		return;
	*word |= bit;
	cb_fmt(t->out, ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":%u,\"args\":{\"name\":\"CPU %u\"}}",
		cpu, cpu);
}

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
	struct co_buf name = {0};

	name_track(t, ev->cpu);
	cb_fmt(&name, "%s%s%s%s%s", p->module, p->module[0] ? ":" : "", p->function,
		p->module[0] || p->function[0] ? " " : "", p->name);
	cb_fmt(t->out, ",\n{\"ph\":\"i\",\"s\":\"t\",\"pid\":1,\"tid\":%u,\"ts\":", ev->cpu);
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
	*t = (struct co_timeline){0};
}
