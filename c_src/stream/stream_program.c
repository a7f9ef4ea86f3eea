/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of a program: what a consumer must know of its records and aggregations. Bytecode and
 * variables stay where they run.
 *
 * Options come with it: those that are numbers and are not as they are by default.
 */
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "prog/aggfn.h"
#include "prog/format_part.h"
#include "tables.h"

/* ---- memory ------------------------------------------------------------------------------- */

struct st_mem {
	struct st_mem *next;
	uint64_t mem[];
};

void *st_alloc(struct st_mem **mem, size_t size)
{
	struct st_mem *m = calloc(1, sizeof(*m) + (size > 0 ? size : 1));

	if (m == NULL)
		return NULL;
	m->next = *mem;
	*mem = m;
	return m->mem;
}

void st_free(struct st_mem **mem)
{
	struct st_mem *m;

	while ((m = *mem) != NULL) {
		*mem = m->next;
		free(m);
	}
}

char *st_text(struct st_mem **mem, struct sb *s, bool *nomem)
{
	uint32_t len = sb_get32(s);
	const char *from;
	char *to;

	if (s->bad || len == SB_NULL)
		return NULL;
	from = sb_get(s, len);
	if (from == NULL || (len > 0 && memchr(from, '\0', len) != NULL)) {
		s->bad = true;
		return NULL;
	}
	to = st_alloc(mem, (size_t)len + 1);
	if (to != NULL && len > 0)
		memcpy(to, from, len);
	*nomem |= to == NULL;
	return to;
}

/* ---- writing ------------------------------------------------------------------------------ */

static void put_options(struct co_buf *b, const struct et_options *opts)
{
	uint32_t n = 0;

	for (int i = 0; i < OPT_MAX; i++)
		n += et_optdefs[i].kind != OK_STR && opts->val[i] != et_optdefs[i].def;
	sb_put32(b, n);
	for (int i = 0; i < OPT_MAX; i++)
		if (et_optdefs[i].kind != OK_STR && opts->val[i] != et_optdefs[i].def) {
			sb_put_text(b, et_optdefs[i].name);
			sb_put64(b, opts->val[i]);
		}
}

static void put_val(struct co_buf *b, struct st_types *ts, const struct prog_val *v)
{
	sb_put8(b, v->kind);
	sb_put8(b, v->sub);
	sb_put8(b, v->is_signed);
	sb_put32(b, v->size);
	sb_put32(b, v->off);
	sb_put32(b, st_type_number(ts, v->type));
}

static void put_vals(struct co_buf *b, struct st_types *ts, const struct prog_val *v, unsigned n)
{
	sb_put32(b, n);
	for (unsigned i = 0; i < n; i++)
		put_val(b, ts, &v[i]);
}

static void put_agg(struct co_buf *b, struct st_types *ts, const struct prog_agg *a)
{
	const struct prog_metric *m = a->metric;

	sb_put_text(b, a->name);
	sb_put16(b, a->fn);
	sb_put8(b, a->is_signed);
	for (unsigned i = 0; i < 5; i++)
		sb_put64(b, a->param[i]);
	sb_put32(b, (uint32_t)a->line);
	put_vals(b, ts, a->keys, a->nkeys);
	sb_put8(b, m != NULL);
	if (m == NULL)
		return;
	sb_put_text(b, m->name);
	sb_put_text(b, m->help);
	sb_put_text(b, m->unit);
	sb_put32(b, m->labels != NULL ? m->nlabels : 0);
	for (unsigned i = 0; m->labels != NULL && i < m->nlabels; i++)
		sb_put_text(b, m->labels[i]);
}

/* Its parts are made of it again. */
static void put_format(struct co_buf *b, const struct d_fmt *f)
{
	sb_put8(b, f != NULL);
	if (f != NULL)
		sb_put_bytes(b, f->source, f->len);
}

static void put_action(struct co_buf *b, struct st_types *ts, const struct prog_action *a)
{
	sb_put16(b, a->act);
	sb_put8(b, a->varies);
	sb_put32(b, (uint32_t)a->present);
	sb_put32(b, (uint32_t)a->line);
	sb_put64(b, a->param);
	put_vals(b, ts, a->vals, a->nvals);
	sb_put32(b, a->naggs);
	for (unsigned i = 0; i < a->naggs; i++)
		sb_put16(b, a->aggs[i]);
	put_format(b, a->fmt);
}

static void put_descs(struct co_buf *b, const struct d_pdesc *descs)
{
	uint32_t n = 0;

	for (const struct d_pdesc *d = descs; d != NULL; d = d->next)
		n++;
	sb_put32(b, n);
	for (const struct d_pdesc *d = descs; d != NULL; d = d->next) {
		sb_put32(b, d->id);
		if (d->id != 0)
			continue;
		sb_put_text(b, d->prov);
		sb_put_text(b, d->mod);
		sb_put_text(b, d->func);
		sb_put_text(b, d->name);
	}
}

static void put_clause(struct co_buf *b, struct st_types *ts, const struct prog_clause *c)
{
	sb_put_text(b, c->file);
	sb_put32(b, (uint32_t)c->line);
	sb_put8(b, c->uses.script_vars);
	sb_put32(b, c->lines != NULL ? c->ninsns : 0);
	for (unsigned i = 0; c->lines != NULL && i < c->ninsns; i++)
		sb_put32(b, (uint32_t)c->lines[i]);
	put_descs(b, c->descs);
	sb_put32(b, c->nactions);
	for (unsigned i = 0; i < c->nactions; i++)
		put_action(b, ts, &c->actions[i]);
}

/* Types come behind the rest, which names them by number. */
void st_put_program(struct co_buf *b, const struct prog *p, const struct et_options *opts)
{
	struct st_types ts = {0};

	put_options(b, opts);
	sb_put32(b, p->strsize);
	sb_put32(b, p->naggs);
	for (unsigned i = 0; i < p->naggs; i++)
		put_agg(b, &ts, p->aggs[i]);
	sb_put32(b, p->nclauses);
	for (unsigned i = 0; i < p->nclauses; i++)
		put_clause(b, &ts, p->clauses[i]);
	st_put_types(b, &ts);
	free(ts.v);
}

/* ---- reading ------------------------------------------------------------------------------ */

struct get {
	struct sb *s;
	struct st_mem **mem;
	bool nomem;
	struct { /* values whose types are numbers until the types have been read */
		struct prog_val **v;
		uint32_t *type;
		size_t n;
	} typed;
};

static void *alloc(struct get *g, size_t n, size_t size)
{
	void *p = g->s->bad || g->nomem ? NULL : st_alloc(g->mem, n * size);

	if (p == NULL && !g->s->bad)
		g->nomem = true;
	return p;
}

static bool goes_on(const struct get *g)
{
	return !g->s->bad && !g->nomem;
}

static char *text(struct get *g)
{
	return st_text(g->mem, g->s, &g->nomem);
}

/* One that cannot be NULL. */
static char *name(struct get *g)
{
	char *p = text(g);

	g->s->bad |= p == NULL && !g->nomem;
	return p;
}

/* An option that this version does not know is of no use here either. */
static void get_options(struct get *g, struct et_options *opts)
{
	uint32_t n = sb_get_count(g->s, 12);

	for (uint32_t i = 0; i < n && goes_on(g); i++) {
		const char *option = name(g);
		uint64_t value = sb_get64(g->s);

		for (int k = 0; opts != NULL && goes_on(g) && k < OPT_MAX; k++)
			if (et_optdefs[k].kind != OK_STR && strcmp(et_optdefs[k].name, option) == 0)
				opts->val[k] = value;
	}
}

static bool is_sized(const struct prog_val *v)
{
	switch (v->kind) {
	case V_INT: return v->size == 1 || v->size == 2 || v->size == 4 || v->size == 8;
	case V_FLOAT: return v->size == 4 || v->size == 8 || v->size == 16;
	case V_STACK: return v->size % 8 == 0;
	default: return v->kind <= V_SYM;
	}
}

static void get_val(struct get *g, struct prog_val *v)
{
	uint32_t type;

	v->kind = sb_get8(g->s);
	v->sub = sb_get8(g->s);
	v->is_signed = sb_get8(g->s) & 1;
	v->size = sb_get32(g->s);
	v->off = sb_get32(g->s);
	type = sb_get32(g->s);
	g->s->bad |= !is_sized(v);
	if (type == 0 || !goes_on(g))
		return;
	if (!ARRAY_ROOM(g->typed.v, g->typed.n) || !ARRAY_ROOM(g->typed.type, g->typed.n)) {
		g->nomem = true;
		return;
	}
	g->typed.v[g->typed.n] = v;
	g->typed.type[g->typed.n++] = type;
}

static struct prog_val *get_vals(struct get *g, uint32_t most, uint32_t *n)
{
	struct prog_val *v;

	*n = sb_get_count(g->s, 15);
	g->s->bad |= *n > most;
	v = alloc(g, *n, sizeof(*v));
	for (uint32_t i = 0; i < *n && goes_on(g); i++)
		get_val(g, &v[i]);
	return v;
}

static void get_metric(struct get *g, struct prog_agg *a)
{
	struct prog_metric *m;

	if ((sb_get8(g->s) & 1) == 0)
		return;
	m = alloc(g, 1, sizeof(*m));
	if (m == NULL)
		return;
	a->metric = m;
	m->name = text(g);
	m->help = text(g);
	m->unit = text(g);
	m->nlabels = sb_get_count(g->s, 4);
	if (m->nlabels > 0)
		m->labels = alloc(g, m->nlabels, sizeof(*m->labels));
	for (unsigned i = 0; i < m->nlabels && goes_on(g); i++)
		m->labels[i] = name(g);
}

static void get_agg(struct get *g, struct prog_agg *a)
{
	uint32_t n;

	a->name = name(g);
	a->fn = sb_get16(g->s);
	a->is_signed = sb_get8(g->s) & 1;
	for (unsigned i = 0; i < 5; i++)
		a->param[i] = sb_get64(g->s);
	a->line = (int)sb_get32(g->s);
	a->keys = get_vals(g, PROG_MAX_KEYS, &n);
	a->nkeys = (uint8_t)n;
	for (uint32_t i = 0; i < n && goes_on(g); i++) {
		a->has_blob |= a->keys[i].kind == V_BYTES || a->keys[i].kind == V_STACK;
		a->strmask |= a->keys[i].kind == V_STR ? 1u << i : 0;
	}
	get_metric(g, a);
	if (!goes_on(g))
		return;
	g->s->bad |= a->fn == AGG_NONE || a->fn >= AGG_COUNT_;
	if (!g->s->bad)
		a->nbuckets = aggfn_nbuckets(a);
	g->s->bad |= aggfn_words(a) == 0;
	a->size = g->s->bad ? 0 : aggfn_words(a) * 8;
}

/* The parts of the source. */
static bool parse_format(struct get *g, struct d_fmt *f)
{
	const char *s = f->source, *end = s + f->len, *at, *why;
	struct d_fmtpart *part, **to = &f->parts;
	size_t n = 1;

	for (uint32_t i = 0; i < f->len; i++)
		n += s[i] == '%';
	for (part = alloc(g, n, sizeof(*part)); part != NULL && s != NULL && s < end; part++) {
		*to = part;
		s = format_part(s, end, part, &at, &why);
		f->nargs += format_part_args(part);
		to = &part->next;
	}
	return s != NULL;
}

static const struct d_fmt *get_format(struct get *g)
{
	struct d_fmt *f;
	const void *from;
	char *source;

	if ((sb_get8(g->s) & 1) == 0)
		return NULL;
	f = alloc(g, 1, sizeof(*f));
	if (f == NULL)
		return NULL;
	f->len = sb_get_count(g->s, 1);
	from = sb_get(g->s, f->len);
	f->source = source = alloc(g, (size_t)f->len + 1, 1);
	if (source == NULL)
		return NULL;
	memcpy(source, from, f->len);
	g->s->bad |= !parse_format(g, f);
	return f;
}

static void get_action(struct get *g, struct prog_action *a, uint32_t naggs)
{
	uint32_t n;

	a->act = sb_get16(g->s);
	a->varies = sb_get8(g->s) & 1;
	a->present = (int32_t)sb_get32(g->s);
	a->line = (int)sb_get32(g->s);
	a->param = sb_get64(g->s);
	a->vals = get_vals(g, UINT16_MAX, &n);
	a->nvals = (uint16_t)n;
	n = sb_get_count(g->s, 2);
	g->s->bad |= n > UINT16_MAX;
	a->aggs = alloc(g, n, sizeof(*a->aggs));
	a->naggs = (uint16_t)n;
	for (uint32_t i = 0; i < n && goes_on(g); i++) {
		a->aggs[i] = sb_get16(g->s);
		g->s->bad |= a->aggs[i] >= naggs;
	}
	a->fmt = get_format(g);
	/* those that print by a format have one */
	g->s->bad |= a->act == ACT_ALERT && (a->fmt == NULL || a->nvals == 0);
}

static struct d_pdesc *get_descs(struct get *g)
{
	uint32_t n = sb_get_count(g->s, 4);
	struct d_pdesc *first = NULL, **end = &first;

	for (uint32_t i = 0; i < n && goes_on(g); i++, end = &(*end)->next) {
		struct d_pdesc *d = *end = alloc(g, 1, sizeof(**end));

		if (d == NULL)
			break;
		d->id = sb_get32(g->s);
		d->prov = d->mod = d->func = d->name = "";
		if (d->id != 0)
			continue;
		d->prov = name(g);
		d->mod = name(g);
		d->func = name(g);
		d->name = name(g);
	}
	return first;
}

static struct prog_clause *get_clause(struct get *g, uint32_t naggs)
{
	struct prog_clause *c = alloc(g, 1, sizeof(*c));
	uint32_t n;

	if (c == NULL)
		return NULL;
	c->file = name(g);
	c->source = "";
	c->line = (int)sb_get32(g->s);
	c->uses.script_vars = sb_get8(g->s) & 1;
	c->ninsns = sb_get_count(g->s, 4);
	c->lines = alloc(g, c->ninsns, sizeof(*c->lines));
	for (unsigned i = 0; i < c->ninsns && goes_on(g); i++)
		c->lines[i] = (int)sb_get32(g->s);
	c->descs = get_descs(g);
	n = sb_get_count(g->s, 28);
	g->s->bad |= n > UINT16_MAX;
	c->actions = alloc(g, n, sizeof(*c->actions));
	for (c->nactions = 0; c->nactions < n && goes_on(g); c->nactions++)
		get_action(g, &c->actions[c->nactions], naggs);
	return c;
}

static int get_typed(struct get *g)
{
	struct st_type_table ts;
	int rc = st_get_types(g->s, &ts, g->mem);

	for (size_t i = 0; rc == 0 && i < g->typed.n; i++) {
		if (g->typed.type[i] > ts.n)
			return -EINVAL;
		g->typed.v[i]->type = &ts.v[g->typed.type[i] - 1];
	}
	return rc;
}

int st_get_program(struct sb *s, struct prog *p, struct et_options *opts, struct st_mem **mem)
{
	struct get g = {.s = s, .mem = mem};
	uint32_t n;
	int rc;

	get_options(&g, opts);
	p->strsize = sb_get32(s);
	s->bad |= p->strsize == 0 || p->strsize > STREAM_MAX_FRAME;
	n = sb_get_count(s, 60);
	s->bad |= n > UINT16_MAX;
	p->aggs = alloc(&g, n, sizeof(struct prog_agg *));
	for (p->naggs = 0; p->naggs < n && goes_on(&g); p->naggs++) {
		p->aggs[p->naggs] = alloc(&g, 1, sizeof(struct prog_agg));
		if (p->aggs[p->naggs] != NULL)
			get_agg(&g, p->aggs[p->naggs]);
	}
	n = sb_get_count(s, 21);
	p->clauses = alloc(&g, n, sizeof(struct prog_clause *));
	for (p->nclauses = 0; p->nclauses < n && goes_on(&g); p->nclauses++)
		p->clauses[p->nclauses] = get_clause(&g, p->naggs);
	rc = g.nomem ? -ENOMEM : s->bad ? -EINVAL : get_typed(&g);
	if (rc == 0 && s->left > 0)
		rc = -EINVAL;
	free(g.typed.v);
	free(g.typed.type);
	return rc;
}

/* ---- two of them -------------------------------------------------------------------------- */

static bool same_key(const struct prog_val *a, const struct prog_val *b)
{
	return a->kind == b->kind && a->sub == b->sub && a->size == b->size && a->off == b->off &&
	       a->is_signed == b->is_signed;
}

static bool same_agg(const struct prog_agg *a, const struct prog_agg *b)
{
	bool same = strcmp(a->name, b->name) == 0 && a->fn == b->fn &&
		    a->is_signed == b->is_signed && a->nkeys == b->nkeys &&
		    memcmp(a->param, b->param, sizeof(a->param)) == 0;

	for (unsigned i = 0; same && i < a->nkeys; i++)
		same = same_key(&a->keys[i], &b->keys[i]);
	return same;
}

static bool same_action(const struct prog_action *a, const struct prog_action *b)
{
	return a->act == b->act && a->param == b->param && a->nvals == b->nvals &&
	       a->naggs == b->naggs &&
	       (a->naggs == 0 || memcmp(a->aggs, b->aggs, a->naggs * sizeof(*a->aggs)) == 0) &&
	       (a->fmt != NULL) == (b->fmt != NULL) &&
	       (a->fmt == NULL ||
		       (a->fmt->len == b->fmt->len &&
			       memcmp(a->fmt->source, b->fmt->source, a->fmt->len) == 0));
}

static bool same_clause(const struct prog_clause *a, const struct prog_clause *b)
{
	bool same = strcmp(a->file, b->file) == 0 && a->line == b->line && a->nactions == b->nactions;

	for (unsigned i = 0; same && i < a->nactions; i++)
		same = same_action(&a->actions[i], &b->actions[i]);
	return same;
}

bool st_same_script(const struct prog *a, const struct prog *b)
{
	bool same = a->strsize == b->strsize && a->naggs == b->naggs && a->nclauses == b->nclauses;

	for (unsigned i = 0; same && i < a->naggs; i++)
		same = same_agg(a->aggs[i], b->aggs[i]);
	for (unsigned i = 0; same && i < a->nclauses; i++)
		same = same_clause(a->clauses[i], b->clauses[i]);
	return same;
}
