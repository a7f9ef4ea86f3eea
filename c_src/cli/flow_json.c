/* SPDX-License-Identifier: Apache-2.0 */
/* A flow as a JSON object on a line (doc/json.md, `flow`). */
#include "flow_model.h"

#include <string.h>

#include "json_write.h"

enum { MAX_HOPS = 1000 }; /* of an object: readers have limits of a line */

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

void flow_json(const struct flows *s, const struct flow *f, FILE *out)
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
