/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Option seen: a script that has printed no row ends with a line that says what it has seen, so
 * that "there was nothing" and "nobody looked" do not print alike:
 *
 *	nothing to show: 0 events of gc_minor-start, gc_major-start in 5.0 s
 *	nothing to show: 5 rounds of 104 processes in 5.0 s
 *	nothing to show: no round was whole: 340 of 100000 processes in 1.0 s
 *
 * A row is what an aggregation has for a key, or what an action prints of values. A heading is not:
 * it is the same each time, or has only the time (prog_action.varies). Nor is what BEGIN prints,
 * nor a sum that END prints and that is 0. A script that fails, by exit(1), has said why.
 */
#include "nothing.h"

#include <string.h>

#include "engine/seen.h"

enum { MOST_PROBES = 6 }; /* that are named */

static bool is_printed(const struct prog_action *a)
{
	switch (a->act) {
	case ACT_PRINTA: /* printa.c knows */
	case ACT_CLEAR:
	case ACT_TRUNC:
	case ACT_NORMALIZE:
	case ACT_DENORMALIZE:
	case ACT_SETOPT:
	case ACT_FREOPEN:
	case ACT_FTRUNCATE:
	case ACT_EXIT: return false;
	default: return a->varies;
	}
}

static bool has_number(const struct prog_action *a, const struct co_val *v)
{
	for (unsigned i = 0; i < a->nvals; i++)
		if (v[i].v->kind == V_INT && v[i].i != 0)
			return true;
	return false;
}

void no_action(struct co_rec *r, const struct prog_action *a, const struct co_val *v)
{
	const char *name = r->at.probe.name;

	if (is_printed(a) && strcmp(name, "BEGIN") != 0)
		r->co->shown |= strcmp(name, "END") != 0 || has_number(a, v);
}

/* ---- the script's probes ---------------------------------------------------------------- */

static bool is_of(const struct d_pdesc *d, const char *prov)
{
	return d->id == 0 && strcmp(d->prov, prov) == 0;
}

/* Its firings are events. */
static bool is_event(const struct d_pdesc *d)
{
	return !is_of(d, "dtrace") && !is_of(d, "state") && strncmp(d->name, "tick-", 5) != 0 &&
	       strcmp(d->name, "BEGIN") != 0 && strcmp(d->name, "END") != 0 &&
	       strcmp(d->name, "ERROR") != 0;
}

static bool is_same(const struct d_pdesc *a, const struct d_pdesc *b)
{
	return a->id == b->id &&
	       (a->id != 0 ||
		       (strcmp(a->prov, b->prov) == 0 && strcmp(a->mod, b->mod) == 0 &&
			       strcmp(a->func, b->func) == 0 && strcmp(a->name, b->name) == 0));
}

static bool is_named_before(const struct prog *p, const struct d_pdesc *d)
{
	for (unsigned i = 0; i < p->nclauses; i++)
		for (const struct d_pdesc *x = p->clauses[i]->descs; x != NULL; x = x->next) {
			if (x == d)
				return false;
			if (is_same(x, d))
				return true;
		}
	return false;
}

/* Does it name a function, or only leave out some, as '[!-]*' does? */
static bool is_name(const char *glob)
{
	for (; *glob != '\0'; glob++)
		if (strchr("[]!-*?", *glob) == NULL)
			return true;
	return false;
}

/* Of Erlang events the name is enough, of functions with these; others as the script has them. */
static void put_probe(struct co_buf *b, const struct d_pdesc *d)
{
	bool erlang = strncmp(d->prov, "erlang", 6) == 0;

	if (d->id != 0) {
		cb_fmt(b, "probe %u", d->id);
		return;
	}
	if (!erlang && strcmp(d->prov, "profile") != 0 && d->prov[0] != '\0') {
		cb_data(b, d->prov, strlen(d->prov));
		cb_str(b, ":");
	}
	if (is_name(d->mod) || is_name(d->func) ||
		(!erlang && d->prov[0] != '\0' && strcmp(d->prov, "profile") != 0)) {
		cb_data(b, d->mod, strlen(d->mod));
		cb_str(b, ":");
		cb_data(b, d->func, strlen(d->func));
		cb_str(b, ":");
	}
	cb_data(b, d->name, strlen(d->name));
}

/* How many there are; the first of them are named. */
static unsigned put_probes(const struct prog *p, struct co_buf *b)
{
	unsigned n = 0;

	for (unsigned i = 0; i < p->nclauses; i++)
		for (const struct d_pdesc *d = p->clauses[i]->descs; d != NULL; d = d->next) {
			if (!is_event(d) || is_named_before(p, d))
				continue;
			if (n == MOST_PROBES)
				cb_str(b, " and others");
			else if (n < MOST_PROBES) {
				cb_str(b, n > 0 ? ", " : "");
				put_probe(b, d);
			}
			n++;
		}
	return n;
}

/* What the rounds of the provider state are of; NULL: the script does not use it. */
static const char *things(const struct prog *p)
{
	static const struct {
		const char *kind, *many;
	} kinds[] = {{"process", "processes"}, {"wait", "processes"}, {"table", "tables"},
		{"port", "ports"}, {"socket", "sockets"}, {"scheduler", "schedulers"},
		{"memory", "kinds of memory"}, {"node", "nodes"}};
	const char *many = NULL;

	for (unsigned i = 0; i < p->nclauses; i++)
		for (const struct d_pdesc *d = p->clauses[i]->descs; d != NULL; d = d->next)
			for (size_t k = 0; is_of(d, "state") && k < sizeof(kinds) / sizeof(*kinds);
				k++) {
				size_t len = strlen(kinds[k].kind);

				if (strncmp(d->name, kinds[k].kind, len) != 0)
					continue;
				if (k < 2)
					return kinds[k].many; /* there are most of these */
				many = many == NULL || many == kinds[k].many ? kinds[k].many
									     : "things";
			}
	return many;
}

/* ---- the line --------------------------------------------------------------------------- */

static void put_looks(
	const struct co *co, struct co_buf *b, const struct en_looks *l, const char *many)
{
	unsigned long long now = l->now, there = l->there, n = l->things;
	bool whole = l->whole > 0;

	if (co->opts->replay &&
		l->rounds == 0) { /* a file has the ends of rounds if they are read */
		cb_fmt(b, "%llu %s", now, many);
	} else if (whole) {
		cb_fmt(b, "%llu round%s of %llu %s", (unsigned long long)l->whole,
			l->whole == 1 ? "" : "s", n, many);
	} else {
		cb_fmt(b, "no round was whole: %llu", now);
		if (there > 0)
			cb_fmt(b, " of %llu", there);
		cb_fmt(b, " %s", many);
	}
	if (whole && l->rounds > l->whole)
		cb_fmt(b, ", %llu that %s not whole", (unsigned long long)(l->rounds - l->whole),
			l->rounds - l->whole == 1 ? "was" : "were");
}

static void put_line(
	const struct co *co, struct co_buf *b, const struct en_seen *seen, const char *many)
{
	struct co_buf probes = {.terminal = co->out.terminal};
	unsigned n = put_probes(co->prog, &probes);

	cb_str(b, many != NULL || n > 0 ? "nothing to show: " : "nothing to show");
	if (many != NULL)
		put_looks(co, b, &seen->looks, many);
	if (n > 0) {
		cb_fmt(b, "%s%llu event%s of ", many != NULL ? ", " : "",
			(unsigned long long)seen->events, seen->events == 1 ? "" : "s");
		cb_put(b, probes.p, probes.len);
	}
	cb_fmt(b, " in %.1f s", (double)seen->ns / 1e9);
	if (seen->engines > 1)
		cb_fmt(b, " on %u nodes", seen->engines);
	b->nomem |= probes.nomem;
	cb_free(&probes);
}

void no_final(struct co *co)
{
	const char *many = things(co->prog);
	struct co_buf line = {.terminal = co->out.terminal};
	struct en_seen seen;
	int code = 0;

	if (!co_opt(co, OPT_SEEN) || co->shown || co->rv != 0 ||
		(co->from->exited(co->of, &code) && code != 0) ||
		(co->h.nothing == NULL && co_text_unread(co)))
		return;
	co->from->seen(co->of, &seen);
	put_line(co, &line, &seen, many);
	if (co->h.nothing != NULL) {
		erltrace_nothing_t out = {.seconds = (double)seen.ns / 1e9,
			.nodes = seen.engines,
			.events = seen.events,
			.things = many,
			.rounds = seen.looks.rounds,
			.whole = seen.looks.whole,
			.seen = seen.looks.whole > 0 ? seen.looks.things : seen.looks.now,
			.there = seen.looks.there};

		cb_put(&line, "", 1);
		out.text = line.nomem ? "" : line.p;
		co->rv = co->h.nothing(co->h.arg, &out);
	} else {
		cb_put(&co->out, line.p, line.len);
		cb_str(&co->out, "\n");
	}
	co->out.nomem |= line.nomem;
	cb_free(&line);
}
