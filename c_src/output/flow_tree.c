/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flow as a tree of text. A row is a hop: when it was sent, who sent what to whom, how long it
 * waited in the mailbox and how long the receiver worked. What it caused is below it: what leads to
 * the end in the same column, side lines deeper. Rows of the critical path, which together took all
 * the time, have a mark.
 */
#include "flow_model.h"

#include <string.h>

#include "utf8.h"

enum { MAX_ROWS = 200, MAX_INDENT = 24, MAX_DEPTH = 100, MESSAGE = 60 };

struct tree {
	const struct flows *s;
	const struct flow *f;
	FILE *out;
	int rows;
};

static const char *proc_name(const struct flow *f, int proc, const char *other)
{
	if (proc < 0)
		return other != NULL ? other : "?";
	return f->procs[proc].name != NULL ? f->procs[proc].name : f->procs[proc].pid;
}

static double us(uint64_t ns)
{
	return (double)ns / 1000;
}

static void put_row(struct tree *t, const struct flow_hop *h, int depth)
{
	const struct flow *f = t->f;
	FILE *out = t->out;
	int indent = 2 * depth < MAX_INDENT ? 2 * depth : MAX_INDENT;
	const char *text = h->label != NULL ? h->label : "";
	bool away = h->from >= 0 && h->to >= 0 && f->procs[h->from].node != f->procs[h->to].node;

	fprintf(out, "%c%10.1f us ", h->critical ? '*' : ' ', us(h->sent - f->start));
	if (h->taken && h->number != 0 && !h->spawn)
		fprintf(out, "%9.1f", us(h->start - h->sent));
	else
		fprintf(out, "%9s", h->taken ? "" : "-");
	if (h->taken)
		fprintf(out, " %9.1f  ", us(h->until - h->start));
	else
		fprintf(out, " %9s  ", "-");
	fprintf(out, "%*s", indent, "");
	if (h->number == 0)
		fprintf(out, "%s", proc_name(f, h->to, NULL));
	else if (h->spawn)
		fprintf(out, "%s spawns %s", proc_name(f, h->from, NULL),
			proc_name(f, h->to, h->peer));
	else
		fprintf(out, "%s -> %s", proc_name(f, h->from, NULL), proc_name(f, h->to, h->peer));
	if (away)
		fprintf(out, " on %s", t->s->nodes[f->procs[h->to].node]);
	if (h->number != 0 && !h->spawn)
		fprintf(out, ": %.*s", (int)utf8_cut(text, MESSAGE), text);
	putc('\n', out);
	t->rows++;
}

/*
 * Of what a visit sends one goes on below it, the others are deeper: the critical one, or the last.
 */
static int main_of(const struct flow *f, int64_t cause)
{
	int i = -1;

	for (int k = 0; k < f->nhops; k++)
		if (f->hops[k].cause == cause && f->hops[k].number != 0 &&
			(i < 0 || !f->hops[i].critical))
			i = k;
	return i;
}

static void put_below(struct tree *t, int64_t cause, int depth)
{
	const struct flow *f = t->f;
	int on;

	if (depth > MAX_DEPTH)
		return;
	for (; t->rows < MAX_ROWS && (on = main_of(f, cause)) >= 0; cause = f->hops[on].number) {
		for (int i = 0; i < f->nhops && t->rows < MAX_ROWS; i++)
			if (i != on && f->hops[i].cause == cause && f->hops[i].number != 0) {
				put_row(t, &f->hops[i], depth + 1);
				put_below(t, f->hops[i].number, depth + 1);
			}
		put_row(t, &f->hops[on], depth);
	}
}

void flow_tree(const struct flows *s, const struct flow *f, FILE *out)
{
	struct tree t = {s, f, out, 0};
	bool waits = f->why != NULL && strcmp(f->why, "waits") == 0;
	char end[100], lack[200];

	flow_end_text(f, end, sizeof(end));
	fprintf(out, "%s %s %.1f us: %u message%s, %u spawn%s%s\n",
		f->function != NULL ? f->function : "?", waits ? "has not finished after" : "took",
		us(f->end - f->start), f->messages, f->messages == 1 ? "" : "s", f->spawns,
		f->spawns == 1 ? "" : "s", end);
	if (f->incomplete) {
		flow_lack_text(f, lack, sizeof(lack));
		fprintf(out, "  incomplete: %s\n", lack);
	}
	fprintf(out, " %13s %9s %9s  (us; * critical path)\n", "AT", "MAILBOX", "RUNNING");
	if (f->hops[0].number == 0)
		put_row(&t, &f->hops[0], 0);
	put_below(&t, 0, 0);
	put_below(&t, -1, 0); /* their cause was not seen */
	if (t.rows < f->nhops)
		fprintf(out, "  %d more\n", f->nhops - t.rows);
	putc('\n', out);
}
