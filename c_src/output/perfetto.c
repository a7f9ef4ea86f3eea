/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --perfetto: flows in the Trace Event Format of Chrome, which ui.perfetto.dev and chrome://tracing
 * open. A node is a process there, an Erlang process a thread: what it does in a flow is a slice of
 * its track, and so is the time in which it waits for the next message of the same flow. Messages
 * are arrows, from a slice of no length in that of the sender. Requests, and messages in a mailbox,
 * may overlap: they are asynchronous slices, with a track for each function and for each mailbox.
 *
 */
#include <stdlib.h>
#include <string.h>

#include "flow_model.h"
#include "json_write.h"
#include "output.h"
#include "requests.h"

enum { MAX_KEPT = 1000 };

/* Of slices that arrows lead from and to, and of the arrows: some readers compare them. */
#define CATEGORY "flow"

struct track {
	const struct flow_proc *proc;
	int flow, index; /* it is this one of that flow */
	int tid;
};

struct visit {
	const struct flow *flow;
	const struct flow_hop *hop;
	int tid;
};

struct trace {
	FILE *out;
	const struct flows *s;
	struct flow *const *flows;
	size_t n;
	struct track *tracks; /* of all processes of all flows, those of one process together */
	size_t ntracks;
	int **tids; /* by flow and process */
	struct visit *visits;
	size_t nvisits;
	uint64_t base; /* times are since then */
	bool more;
};

static double us(const struct trace *t, uint64_t ns)
{
	return (double)(int64_t)(ns - t->base) / 1000;
}

static void begin(struct trace *t, const char *ph, int pid, int tid)
{
	fprintf(t->out, "%s\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d", t->more ? "," : "", ph, pid,
		tid);
	t->more = true;
}

static void text(struct trace *t, const char *key, const char *value)
{
	fprintf(t->out, ",\"%s\":", key);
	jw_fstring(t->out, value != NULL ? value : "");
}

static const char *name_of(const struct flow_proc *p)
{
	return p->name != NULL && p->name[0] != '\0' ? p->name : p->pid;
}

/* ---- tracks ------------------------------------------------------------------------------ */

static int by_process(const void *a, const void *b)
{
	const struct track *x = a, *y = b;

	if (x->proc->node != y->proc->node)
		return x->proc->node < y->proc->node ? -1 : 1;
	return strcmp(x->proc->pid, y->proc->pid);
}

static int by_track(const void *a, const void *b)
{
	const struct visit *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->hop->start != y->hop->start)
		return x->hop->start < y->hop->start ? -1 : 1;
	return x->hop->until < y->hop->until ? -1 : x->hop->until > y->hop->until;
}

static bool make_tracks(struct trace *t)
{
	size_t nprocs = 0, nhops = 0;
	int tid = 0;

	for (size_t i = 0; i < t->n; i++) {
		nprocs += (size_t)t->flows[i]->nprocs;
		nhops += (size_t)t->flows[i]->nhops;
	}
	t->tracks = calloc(nprocs + 1, sizeof(*t->tracks));
	t->tids = calloc(t->n + 1, sizeof(*t->tids));
	t->visits = calloc(nhops + 1, sizeof(*t->visits));
	if (t->tracks == NULL || t->tids == NULL || t->visits == NULL)
		return false;
	for (size_t i = 0; i < t->n; i++) {
		t->tids[i] = calloc((size_t)t->flows[i]->nprocs + 1, sizeof(int));
		if (t->tids[i] == NULL)
			return false;
		for (int k = 0; k < t->flows[i]->nprocs; k++)
			t->tracks[t->ntracks++] =
				(struct track){&t->flows[i]->procs[k], (int)i, k, 0};
	}
	qsort(t->tracks, t->ntracks, sizeof(*t->tracks), by_process);
	for (size_t i = 0; i < t->ntracks; i++) {
		struct track *k = &t->tracks[i];

		tid += i == 0 || by_process(k, k - 1) != 0;
		k->tid = t->tids[k->flow][k->index] = tid;
	}
	return true;
}

static void make_visits(struct trace *t)
{
	for (size_t i = 0; i < t->n; i++)
		for (int k = 0; k < t->flows[i]->nhops; k++) {
			const struct flow_hop *h = &t->flows[i]->hops[k];

			if (h->taken && h->to >= 0)
				t->visits[t->nvisits++] =
					(struct visit){t->flows[i], h, t->tids[i][h->to]};
			if (t->base == 0 || h->sent < t->base)
				t->base = h->sent;
		}
	qsort(t->visits, t->nvisits, sizeof(*t->visits), by_track);
}

static void put_names(struct trace *t)
{
	for (int i = 0; i < t->s->nnodes; i++) {
		begin(t, "M", i + 1, 0);
		fputs(",\"name\":\"process_name\",\"args\":{\"name\":", t->out);
		jw_fstring(t->out, t->s->nodes[i]);
		fputs("}}", t->out);
	}
	for (size_t i = 0; i < t->ntracks; i++) {
		const struct track *k = &t->tracks[i];

		if (i > 0 && k->tid == k[-1].tid)
			continue;
		begin(t, "M", k->proc->node + 1, k->tid);
		fputs(",\"name\":\"thread_name\",\"args\":{\"name\":", t->out);
		jw_fstring(t->out, name_of(k->proc));
		fputs("}}", t->out);
	}
}

/* ---- slices ------------------------------------------------------------------------------ */

static void put_slice(struct trace *t, const struct visit *v, uint64_t from, uint64_t to)
{
	begin(t, "X", v->flow->procs[v->hop->to].node + 1, v->tid);
	fprintf(t->out, ",\"ts\":%.3f,\"dur\":%.3f", us(t, from), (double)(to - from) / 1000);
}

/* A slice has a length, so that arrows find it; it ends before the next one of its track. */
static void put_visit(struct trace *t, const struct visit *v, const struct visit *next)
{
	const struct flow_hop *h = v->hop;
	uint64_t until = h->until + 1;

	if (next != NULL && until > next->hop->start)
		until = next->hop->start > h->start ? next->hop->start : h->start;
	put_slice(t, v, h->start, until);
	text(t, "cat", CATEGORY);
	text(t, "name",
		h->label != NULL ? h->label
		: h->number == 0 ? v->flow->function
				 : "running");
	fprintf(t->out,
		",\"args\":{\"flow\":\"%llu\",\"hop\":%lld,\"mailbox_us\":%.3f,\"critical\":%s",
		(unsigned long long)v->flow->id, (long long)h->number,
		h->spawn ? 0.0 : (double)(h->start - h->sent) / 1000,
		h->critical ? "true" : "false");
	text(t, "process", v->flow->procs[h->to].pid);
	text(t, "message", h->text);
	fputs("}}", t->out);
	if (next == NULL || next->flow != v->flow || next->hop->sent <= until)
		return;
	put_slice(t, v, until, next->hop->sent);
	text(t, "cat", "waiting");
	fprintf(t->out, ",\"name\":\"waiting\",\"args\":{\"flow\":\"%llu\"}}",
		(unsigned long long)v->flow->id);
}

static void put_slices(struct trace *t)
{
	for (size_t i = 0; i < t->nvisits; i++) {
		bool last = i + 1 == t->nvisits || t->visits[i + 1].tid != t->visits[i].tid;

		put_visit(t, &t->visits[i], last ? NULL : &t->visits[i + 1]);
	}
}

/* ---- messages and requests --------------------------------------------------------------- */

/* Begin or end of an asynchronous slice, or of an arrow. */
static void put_point(struct trace *t, const char *ph, int pid, int tid, uint64_t at,
	const char *cat, unsigned long long id)
{
	begin(t, ph, pid, tid);
	fprintf(t->out, ",\"ts\":%.3f,\"cat\":\"%s\",\"id\":\"0x%llx\"", us(t, at), cat, id);
}

static void put_message(
	struct trace *t, size_t flow, const struct flow_hop *h, unsigned long long id)
{
	const struct flow *f = t->flows[flow];
	const struct flow_proc *to = &f->procs[h->to];
	int tid = t->tids[flow][h->to], from = t->tids[flow][h->from];
	const char *what = h->spawn ? "spawn" : "message";

	begin(t, "X", f->procs[h->from].node + 1, from);
	fprintf(t->out,
		",\"ts\":%.3f,\"dur\":0.001,\"cat\":\"%s\",\"name\":\"%s\",\"args\":{\"to\":",
		us(t, h->sent), CATEGORY, h->spawn ? "spawn" : "send");
	jw_fstring(t->out, name_of(to));
	text(t, "message", h->text);
	fprintf(t->out, ",\"words\":%llu}}", (unsigned long long)h->words);
	put_point(t, "s", f->procs[h->from].node + 1, from, h->sent, CATEGORY, id);
	fprintf(t->out, ",\"name\":\"%s\"}", what);
	put_point(t, "f", to->node + 1, tid, h->start, CATEGORY, id);
	fprintf(t->out, ",\"name\":\"%s\",\"bp\":\"e\"}", what);
	if (h->spawn || h->start <= h->sent)
		return;
	for (int end = 0; end < 2; end++) {
		put_point(t, end ? "e" : "b", to->node + 1, tid, end ? h->start : h->sent,
			"mailbox", id);
		fputs(",\"name\":", t->out);
		fputc('"', t->out);
		jw_fchars(t->out, "mailbox of ");
		jw_fchars(t->out, name_of(to));
		fputs(end ? "\"}" : "\",\"args\":{\"message\":", t->out);
		if (!end) {
			jw_fstring(t->out, h->label != NULL ? h->label : "");
			fputs("}}", t->out);
		}
	}
}

static void put_request(struct trace *t, size_t flow, unsigned long long id)
{
	const struct flow *f = t->flows[flow];
	int first = flow_hop_of(f, 0), proc = first >= 0 ? f->hops[first].to : -1;
	char lack[200];
	int pid = proc >= 0 ? f->procs[proc].node + 1 : 1,
	    tid = proc >= 0 ? t->tids[flow][proc] : 0;

	put_point(t, "b", pid, tid, f->start, "request", id);
	text(t, "name", f->function);
	fprintf(t->out, ",\"args\":{\"flow\":\"%llu\",\"messages\":%u,\"spawns\":%u,\"depth\":%u",
		(unsigned long long)f->id, f->messages, f->spawns, f->depth);
	text(t, "end", f->why != NULL ? f->why : "not ended");
	if (f->incomplete) {
		flow_lack_text(f, lack, sizeof(lack));
		text(t, "incomplete", lack);
	}
	fputs("}}", t->out);
	put_point(t, "e", pid, tid, f->end > f->start ? f->end : f->start + 1, "request", id);
	text(t, "name", f->function);
	fputs("}", t->out);
}

static void put_messages(struct trace *t)
{
	unsigned long long id = 0;

	for (size_t i = 0; i < t->n; i++) {
		put_request(t, i, ++id);
		for (int k = 0; k < t->flows[i]->nhops; k++) {
			const struct flow_hop *h = &t->flows[i]->hops[k];

			if (h->taken && h->from >= 0 && h->to >= 0)
				put_message(t, i, h, ++id);
		}
	}
}

static bool put_trace(
	const struct flows *s, struct flow *const *flows, size_t n, const char *title, FILE *out)
{
	struct trace t = {.out = out, .s = s, .flows = flows, .n = n};
	bool ok = make_tracks(&t);

	if (ok) {
		make_visits(&t);
		fputs("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"title\":", out);
		jw_fstring(out, title);
		fprintf(out,
			",\"version\":\"erltrace "
			"%s\",\"start_unix_ns\":\"%llu\"},\n\"traceEvents\":[",
			erltrace_version(), (unsigned long long)t.base);
		put_names(&t);
		put_slices(&t);
		put_messages(&t);
		fputs("\n]}\n", out);
	}
	for (size_t i = 0; t.tids != NULL && i < n; i++)
		free(t.tids[i]);
	free(t.tids);
	free(t.tracks);
	free(t.visits);
	return ok;
}

/* ---- the output --------------------------------------------------------------------------- */

static void take(struct output *o, struct chosen *s, struct flow *f)
{
	(void)o;
	slowest_add(s->state, f, MAX_KEPT);
}

static bool write_kept(const struct output *o, const struct chosen *s, const char *title, FILE *f)
{
	const struct slowest *kept = s->state;

	if (kept->left_out > 0)
		cli_say("--perfetto: the file has the %zu slowest of %llu requests", kept->n,
			(unsigned long long)requests_count(o));
	return put_trace(requests_flows(o), kept->v, kept->n, title, f);
}

static int close_kept(struct output *o, struct chosen *s)
{
	(void)o;
	slowest_clear(s->state);
	return CLI_OK;
}

const struct sink perfetto_output = {
	.option = "perfetto",
	.value = " F",
	.about = "write followed requests as a Chrome trace, for Perfetto",
	.traits = OF_REQUESTS,
	.state_size = sizeof(struct slowest),
	.flow = take,
	.write = write_kept,
	.close = close_kept,
};
