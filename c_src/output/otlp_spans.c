/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --otlp: flows as spans, posted to a collector of OpenTelemetry by OTLP/HTTP with JSON. A flow is
 * a trace. Its first span is the whole of it, the others are visits of processes, each the child of
 * the one that caused it. A node is a resource, so that it is a service where traces are shown.
 * Spans are posted once a second, or when there are many.
 *
 */
#include <stdlib.h>
#include <sys/random.h>

#include "array.h"
#include "flow_model.h"
#include "json_write.h"
#include "output.h"
#include "post/poster.h"
#include "requests.h"

enum { EVERY_MS = 1000, MANY = 500, LAST_MS = 5000 };

/* Spans of a node that wait to be posted. */
struct batch {
	FILE *f;
	char *text;
	size_t len;
	bool more;
};

struct otlp {
	struct poster *poster;
	uint64_t seed; /* of the numbers of traces: another run has others */
	struct batch *batches;
	int nbatches;
	const struct flows *flows;
	unsigned spans;	     /* in all batches */
	uint64_t sent, lost; /* spans */
	int64_t due;
};

static int open_poster(struct output *o, struct chosen *s)
{
	struct otlp *p = s->state;

	if (getrandom(&p->seed, sizeof(p->seed), 0) != sizeof(p->seed)) {
		cli_say("--otlp: no random numbers");
		return CLI_ERROR;
	}
	p->flows = requests_flows(o);
	p->poster = poster_open("--otlp", s->value, "/v1/traces", cli_say);
	return p->poster != NULL ? CLI_OK : CLI_ERROR;
}

/* ---- spans -------------------------------------------------------------------------------- */

/* A number for each hop that none other of the trace has, and that is never 0 but by chance. */
static unsigned long long span_id(const struct otlp *p, const struct flow *f, int64_t hop)
{
	uint64_t x = p->seed ^ f->id * 0x9e3779b97f4a7c15;

	x += (uint64_t)hop + 1;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	x ^= x >> 31;
	return x != 0 ? x : 1;
}

static void put_text(FILE *f, const char *key, const char *value)
{
	fprintf(f, "{\"key\":\"%s\",\"value\":{\"stringValue\":", key);
	jw_fstring(f, value);
	fputs("}}", f);
}

/* Of the first span: how the request has ended, and what is missing. */
static void put_end(FILE *f, const struct flow *flow)
{
	char lack[200];

	fputs(",", f);
	put_text(f, "erltrace.end", flow->why != NULL ? flow->why : "not ended");
	if (!flow->incomplete)
		return;
	flow_lack_text(flow, lack, sizeof(lack));
	fputs(",{\"key\":\"erltrace.incomplete\",\"value\":{\"boolValue\":true}},", f);
	put_text(f, "erltrace.incomplete_why", lack);
}

static void put_attributes(FILE *f, const struct flow *flow, const struct flow_hop *h, bool first)
{
	const struct flow_proc *p = &flow->procs[h->to];

	fputs(",\"attributes\":[", f);
	put_text(f, "erlang.process.pid", p->pid);
	fputs(",", f);
	put_text(f, "erlang.process.name", p->name != NULL ? p->name : p->pid);
	if ((h->number == 0 && flow->function != NULL) || (h->spawn && h->text != NULL)) {
		fputs(",", f);
		put_text(f, "code.function.name", h->spawn ? h->text : flow->function);
	}
	if (h->number != 0 && !h->spawn && h->label != NULL) {
		fputs(",", f);
		put_text(f, "erlang.message", h->label);
	}
	if (first)
		put_end(f, flow);
	fprintf(f, ",{\"key\":\"erltrace.hop\",\"value\":{\"intValue\":\"%lld\"}}",
		(long long)h->number);
	fprintf(f, ",{\"key\":\"erltrace.mailbox_ns\",\"value\":{\"intValue\":\"%llu\"}}",
		(unsigned long long)(h->spawn ? 0 : h->start - h->sent));
	fprintf(f, ",{\"key\":\"erltrace.critical\",\"value\":{\"boolValue\":%s}}]",
		h->critical ? "true" : "false");
}

static void put_span(
	const struct otlp *p, const struct flow *f, const struct flow_hop *h, bool first, FILE *out)
{
	/* of opentelemetry.proto.trace.v1.Span.SpanKind */
	enum { INTERNAL = 1, SERVER = 2, CONSUMER = 5 };
	bool root = h->number == 0;
	const struct flow_proc *proc = &f->procs[h->to];

	fprintf(out, "{\"traceId\":\"%016llx%016llx\",\"spanId\":\"%016llx\"",
		(unsigned long long)p->seed, (unsigned long long)f->id, span_id(p, f, h->number));
	if (!root)
		fprintf(out, ",\"parentSpanId\":\"%016llx\"",
			span_id(p, f, h->cause >= 0 ? h->cause : 0));
	fputs(",\"name\":", out);
	jw_fstring(out, root && f->function != NULL ? f->function
			: proc->name != NULL	    ? proc->name
						    : proc->pid);
	fprintf(out, ",\"kind\":%d,\"startTimeUnixNano\":\"%llu\",\"endTimeUnixNano\":\"%llu\"",
		root ? SERVER : h->spawn ? INTERNAL : CONSUMER, (unsigned long long)h->start,
		(unsigned long long)(root ? f->end : h->until));
	put_attributes(out, f, h, first);
	fputs("}", out);
}

static struct batch *batch_of(struct otlp *p, int node)
{
	while (p->nbatches <= node) {
		if (!ARRAY_ROOM(p->batches, (size_t)p->nbatches))
			return NULL;
		p->batches[p->nbatches++] = (struct batch){0};
	}
	if (p->batches[node].f == NULL)
		p->batches[node].f = open_memstream(&p->batches[node].text, &p->batches[node].len);
	return p->batches[node].f != NULL ? &p->batches[node] : NULL;
}

static void take(struct output *o, struct chosen *s, struct flow *f)
{
	struct otlp *p = s->state;
	int root = flow_hop_of(f, 0); /* it may be missing */
	bool first = true;

	(void)o;
	for (int i = 0; i < f->nhops; i++) {
		const struct flow_hop *h = &f->hops[i];
		struct batch *b = h->taken && h->to >= 0 ? batch_of(p, f->procs[h->to].node) : NULL;

		if (b == NULL)
			continue;
		fputs(b->more ? "," : "", b->f);
		b->more = true;
		put_span(p, f, h, root >= 0 ? i == root : first, b->f);
		first = false;
		p->spans++;
	}
}

/* ---- posting ------------------------------------------------------------------------------ */

static void put_resource(const struct otlp *p, int node, FILE *f)
{
	fputs("{\"resource\":{\"attributes\":[", f);
	put_text(f, "service.name", p->flows->nodes[node]);
	fputs(",", f);
	put_text(f, "erlang.node", p->flows->nodes[node]);
	fputs(",", f);
	put_text(f, "telemetry.sdk.name", "erltrace");
	fprintf(f,
		"]},\"scopeSpans\":[{\"scope\":{\"name\":\"erltrace\",\"version\":\"%s\"},"
		"\"spans\":[",
		erltrace_version());
	fputs(p->batches[node].text, f);
	fputs("]}]}", f);
}

static void flush(struct otlp *p)
{
	char *body = NULL;
	size_t len;
	FILE *f = p->spans > 0 ? open_memstream(&body, &len) : NULL;
	bool more = false;

	if (f == NULL)
		return;
	fputs("{\"resourceSpans\":[", f);
	for (int i = 0; i < p->nbatches; i++) {
		struct batch *b = &p->batches[i];

		if (b->f == NULL)
			continue;
		fclose(b->f);
		fputs(more ? "," : "", f);
		put_resource(p, i, f);
		more = true;
		free(b->text);
		*b = (struct batch){0};
	}
	fputs("]}", f);
	fclose(f);
	if (poster_put(p->poster, body))
		p->sent += p->spans;
	else
		p->lost += p->spans;
	p->spans = 0;
}

static void look(struct output *o, struct chosen *s, int64_t now_ms)
{
	struct otlp *p = s->state;

	(void)o;
	if (now_ms < p->due && p->spans < MANY)
		return;
	p->due = now_ms + EVERY_MS;
	flush(p);
}

static int close_poster(struct output *o, struct chosen *s)
{
	struct otlp *p = s->state;
	uint64_t posts;
	bool lost;

	(void)o;
	flush(p);
	posts = poster_close(p->poster, LAST_MS);
	if (p->lost > 0)
		cli_say("--otlp: %llu spans are lost: the collector takes them too slowly",
			(unsigned long long)p->lost);
	if (posts > 0)
		cli_say("--otlp: %llu post%s could not be delivered: their spans are lost",
			(unsigned long long)posts, posts == 1 ? "" : "s");
	lost = p->lost > 0 || posts > 0;
	free(p->batches);
	return lost ? CLI_ERROR : CLI_OK;
}

const struct sink otlp_output = {
	.option = "otlp",
	.value = " URL",
	.about = "post followed requests to an OpenTelemetry collector",
	.traits = OF_REQUESTS,
	.state_size = sizeof(struct otlp),
	.open = open_poster,
	.flow = take,
	.look = look,
	.close = close_poster,
};
