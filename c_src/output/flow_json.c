/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --flows: with --json, a request is an object on a line when it is over (doc/json.md, `flow`);
 * with --live those are printed that were slowest since the last tick.
 */
#include <string.h>

#include "flow_model.h"
#include "json_write.h"
#include "output.h"
#include "requests.h"

enum {
	MAX_HOPS = 1000, /* of an object: readers have limits of a line */
	MAX_LIVE = 20,	 /* objects for each tick of --live */
};

struct live {
	struct slowest slowest;
	int64_t next; /* ms */
	bool told;
};

static void put_processes(const struct flows *s, const struct flow *f, FILE *out)
{
	fputs(",\"processes\":[", out);
	for (int i = 0; i < f->nprocs; i++) {
		const struct flow_proc *p = &f->procs[i];

		fprintf(out, "%s{\"node\":", i > 0 ? "," : "");
		jw_fstring(out, s->nodes[p->node]);
		fputs(",\"pid\":", out);
		jw_fstring(out, p->pid);
		fputs(",\"name\":", out);
		jw_fstring(out, p->name != NULL ? p->name : "");
		putc('}', out);
	}
	putc(']', out);
}

static void put_time(const struct flow *f, FILE *out, const char *key, uint64_t at)
{
	fprintf(out, ",\"%s\":%lld", key, (long long)(at - f->start));
}

static void put_hop(const struct flow *f, const struct flow_hop *h, FILE *out)
{
	fprintf(out, "{\"hop\":%lld,\"cause\":%lld,\"kind\":\"%s\",\"from\":%d,\"to\":%d",
		(long long)h->number, (long long)h->cause,
		h->number == 0 ? "begin" : h->spawn ? "spawn" : "message", h->from, h->to);
	put_time(f, out, "sent", h->sent);
	if (h->taken) {
		put_time(f, out, "taken", h->start);
		put_time(f, out, "until", h->until);
	}
	fprintf(out, ",\"words\":%llu,\"text\":", (unsigned long long)h->words);
	jw_fstring(out, h->text != NULL ? h->text : "");
	if (h->label != NULL && h->text != NULL && strcmp(h->label, h->text) != 0) {
		fputs(",\"label\":", out);
		jw_fstring(out, h->label);
	}
	if (h->exit != NULL) {
		fputs(",\"exit\":", out);
		jw_fstring(out, h->exit);
	}
	if (!h->taken) {
		fputs(",\"receiver\":", out);
		jw_fstring(out, h->peer != NULL ? h->peer : "");
	}
	fprintf(out, ",\"critical\":%s}", h->critical ? "true" : "false");
}

static void put_end(const struct flow *f, FILE *out)
{
	char lack[200];

	jw_fstring(out, f->why != NULL ? f->why : "");
	if (f->quiet > 0)
		fprintf(out, ",\"quiet\":%llu", (unsigned long long)f->quiet);
	if (!f->incomplete)
		return;
	fputs(",\"incomplete\":true", out);
	if (f->why != NULL)
		fprintf(out, ",\"all_messages\":%llu,\"all_spawns\":%llu",
			(unsigned long long)f->all_messages, (unsigned long long)f->all_spawns);
	flow_lack_text(f, lack, sizeof(lack));
	fputs(",\"lacks\":", out);
	jw_fstring(out, lack);
}

static void put_flow(const struct flows *s, const struct flow *f, FILE *out)
{
	fprintf(out,
		"{\"type\":\"flow\",\"flow\":\"%llu\",\"function\":", (unsigned long long)f->id);
	jw_fstring(out, f->function != NULL ? f->function : "");
	fprintf(out,
		",\"time\":%llu,\"elapsed\":%llu,\"messages\":%u,\"spawns\":%u,\"depth\":%u,"
		"\"end\":",
		(unsigned long long)(f->start / 1000000), (unsigned long long)(f->end - f->start),
		f->messages, f->spawns, f->depth);
	put_end(f, out);
	put_processes(s, f, out);
	fputs(",\"hops\":[", out);
	for (int i = 0; i < f->nhops && i < MAX_HOPS; i++) {
		fputs(i > 0 ? "," : "", out);
		put_hop(f, &f->hops[i], out);
	}
	fputs("]", out);
	if (f->nhops > MAX_HOPS)
		fprintf(out, ",\"more\":%d", f->nhops - MAX_HOPS);
	fputs("}\n", out);
}

/* ---- the output --------------------------------------------------------------------------- */

static void take(struct output *o, struct chosen *s, struct flow *f)
{
	struct live *live = s->state;

	if (o->live_ms > 0)
		slowest_add(&live->slowest, f, MAX_LIVE);
	else
		requests_print(o, f, put_flow);
}

static void put_live(struct output *o, struct live *live)
{
	if (live->slowest.n == 0 && live->told)
		return;
	live->told = true;
	output_printf(o, "{\"type\":\"flows\",\"flows\":%llu,\"shown\":%llu}\n",
		(unsigned long long)requests_count(o),
		(unsigned long long)(requests_count(o) - live->slowest.left_out));
	for (size_t i = 0; i < live->slowest.n; i++)
		requests_print(o, live->slowest.v[i], put_flow);
	slowest_clear(&live->slowest);
	output_flush(o);
}

static void look(struct output *o, struct chosen *s, int64_t now_ms)
{
	struct live *live = s->state;

	if (o->live_ms == 0 || now_ms < live->next)
		return;
	live->next = now_ms + o->live_ms;
	put_live(o, live);
}

static int close_live(struct output *o, struct chosen *s)
{
	struct live *live = s->state;

	if (o->gathers && o->live_ms > 0)
		put_live(o, live);
	slowest_clear(&live->slowest);
	return CLI_OK;
}

const struct sink flows_output = {
	.option = "flows",
	.about = "with --json: print each request that the script follows as an object",
	.traits = OF_REQUESTS | OF_ANY_SCRIPT | WITH_JSON,
	.state_size = sizeof(struct live),
	.flow = take,
	.look = look,
	.close = close_live,
};
