/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One script in several engines (the nodes of -N), one result. Each engine has a consumer; one of
 * them, the first, has the aggregations of all and prints them. The others hand on what they
 * gathered, and what their clauses want done with it, as bytes: co_export(), co_import().
 *
 * What clauses of the probes dtrace:::BEGIN, END and profile:::* print would be printed once by
 * each engine, for they fire everywhere: the others leave it to the first, unless the clause reads
 * variables, of which each engine has its own.
 *
 * Addresses in keys, of stacks and of what is printed as a symbol, are names here (names.c): an
 * engine's own would mean something else in another.
 *
 * The bytes: a head, then items, each a kind in a byte and
 *
 *   'N'  u16 bytes of text; the text: names are numbered from 1 on as they come, and keys have that
 *        number for an address
 *   'A'  u16 aggregation, u32 bytes of key, u32 pairs; the key; pairs of u32 word, u64 value
 *        (of percentile(): min, max, then its buckets)
 *   'D'  u16 clause, u16 action, i64 argument: printa(), clear(), trunc() and such
 *   'S'  u8 whether a row was printed, then the numbers of struct en_seen: at the end (nothing.c)
 *
 * They come from another machine's engine: whatever they say is checked.
 */
#include "consumer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "actions.h"
#include "aggs.h"
#include "join.h"
#include "nothing.h"
#include "percentile.h"
#include "printa.h"

#define JO_MAGIC 0x336a7465u /* "etj3" */

/* ---- who does what -------------------------------------------------------------------- */

int co_set_role(struct co *co, enum co_role role)
{
	co->role = role;
	co->header |= role == CO_OTHER; /* the first one prints it */
	return role == CO_ALONE ? 0 : sy_keep_names(co->sy, co_opt(co, OPT_AGGMAX));
}

/* Do probes of all engines fire at the same time? */
static bool is_common(const struct co_rec *r)
{
	const char *prov = r->at.probe.provider;

	return strcmp(prov, "profile") == 0 ||
	       (strcmp(prov, "dtrace") == 0 && strcmp(r->at.probe.name, "ERROR") != 0);
}

bool jo_silent(const struct co_rec *r)
{
	return r->co->role == CO_OTHER && is_common(r) && !r->at.clause->uses.script_vars;
}

static bool is_agg_action(const struct prog_action *a)
{
	switch (a->act) {
	case ACT_PRINTA:
	case ACT_CLEAR:
	case ACT_TRUNC:
	case ACT_NORMALIZE:
	case ACT_DENORMALIZE: return true;
	default: return false;
	}
}

/* ---- writing -------------------------------------------------------------------------- */

static void put16(struct co_buf *b, uint16_t v)
{
	cb_put(b, &v, sizeof(v));
}

static void put32(struct co_buf *b, uint32_t v)
{
	cb_put(b, &v, sizeof(v));
}

static void put64(struct co_buf *b, uint64_t v)
{
	cb_put(b, &v, sizeof(v));
}

/* Of an action of another engine's clause: true if it is not to be performed there. */
bool jo_elsewhere(struct co_rec *r, const struct prog_action *a, const struct co_val *v)
{
	struct co *co = r->co;
	const struct prog *p = co->prog;
	unsigned clause = 0;

	if (co->role != CO_OTHER || !is_agg_action(a))
		return false;
	if (is_common(r))
		return true; /* the first one has the same event */
	while (clause < p->nclauses && p->clauses[clause] != r->at.clause)
		clause++;
	cb_put(&co->wishes, "D", 1);
	put16(&co->wishes, (uint16_t)clause);
	put16(&co->wishes, (uint16_t)(a - r->at.clause->actions));
	put64(&co->wishes, a->nvals > 0 && v[0].v->kind == V_INT ? (uint64_t)v[0].i : 0);
	return true;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9fb21c651e98df25);
	return h ^ h >> 32;
}

/* Both ends have compiled the same, the same way? */
static uint64_t signature(const struct prog *p)
{
	uint64_t h = mix(p->naggs, p->nclauses);

	for (unsigned i = 0; i < p->nclauses; i++)
		h = mix(h, p->clauses[i]->nactions);
	for (unsigned i = 0; i < p->naggs; i++) {
		const struct prog_agg *a = p->aggs[i];

		h = mix(mix(mix(h, a->fn), a->nkeys), aggfn_words(a));
		for (unsigned k = 0; k < 5; k++)
			h = mix(h, a->param[k]);
		for (unsigned k = 0; k < a->nkeys; k++)
			h = mix(mix(h, a->keys[k].kind), a->keys[k].size);
		for (const char *s = a->name; *s != '\0'; s++)
			h = mix(h, (uint8_t)*s);
	}
	return h;
}

struct out {
	struct co *co;
	struct co_buf b, key;
	uint32_t nnames;
};

/* A name's number in this export; its text goes before the key that first has it. */
static int put_name(void *arg, enum sy_form form, uint64_t *addr)
{
	struct out *out = arg;
	struct nm *names = sy_names(out->co->sy);
	uint64_t word = sy_word(out->co->sy, *addr, form);
	uint32_t as = out->nnames + 1;
	const char *text;

	if (word == 0)
		return -1;
	if (!nm_sent(names, word, &as)) {
		text = nm_text(names, word);
		cb_put(&out->b, "N", 1);
		put16(&out->b, (uint16_t)strlen(text));
		cb_str(&out->b, text);
		out->nnames = as;
	}
	*addr = as;
	return 0;
}

/* A key as others understand it; NULL: no room for its names. */
static const void *put_names(struct out *out, const struct prog_agg *a, const struct ag_ent *e)
{
	if (!cv_has_addresses(a))
		return e->key;
	out->key.len = 0;
	cb_put(&out->key, e->key, e->keylen);
	if (out->key.nomem || cv_map(a, (uint8_t *)out->key.p, e->keylen, put_name, out) != 0)
		return NULL;
	return out->key.p;
}

/* The words of an entry as they are handed on. */
static uint32_t nwords(const struct prog_agg *a)
{
	return a->fn == AGG_PERCENTILE ? PC_WORDS : aggfn_words(a);
}

static uint64_t word(const struct prog_agg *a, const uint64_t *data, uint32_t i)
{
	return a->fn == AGG_PERCENTILE ? pc_word((const struct hist *)(const void *)data, i)
				       : data[i];
}

/* Of distributions what is not 0; the others are short. */
static bool is_handed_on(const struct prog_agg *a, const uint64_t *data, uint32_t i)
{
	if (a->fn == AGG_PERCENTILE && i >= PC_FIRST_BUCKET)
		return word(a, data, i) != 0;
	return !ag_is_dist(a) || data[i] != 0;
}

static int put_entry(struct co *co, const struct ag_ent *e, void *arg)
{
	const struct prog_agg *a = co->prog->aggs[e->agg];
	uint32_t words = nwords(a), n = 0;
	struct out *out = arg;
	struct co_buf *b = &out->b;
	const void *key = put_names(out, a, e);

	if (key == NULL) {
		ag_lost(co);
		return 0;
	}
	for (uint32_t i = 0; i < words; i++)
		n += is_handed_on(a, e->data, i);
	cb_put(b, "A", 1);
	put16(b, e->agg);
	put32(b, e->keylen);
	put32(b, e->empty ? 0 : n);
	cb_put(b, key, e->keylen);
	for (uint32_t i = 0; i < words && !e->empty; i++)
		if (is_handed_on(a, e->data, i)) {
			put32(b, i);
			put64(b, word(a, e->data, i));
		}
	return 0;
}

static void put_seen(struct co *co, struct co_buf *b)
{
	struct en_seen seen;
	uint8_t shown = co->shown;

	co->from->seen(co->of, &seen);
	cb_put(b, "S", 1);
	cb_put(b, &shown, 1);
	put64(b, seen.events);
	put64(b, seen.looks.rounds);
	put64(b, seen.looks.whole);
	put64(b, seen.looks.things);
	put64(b, seen.looks.now);
	put64(b, seen.looks.there);
}

int co_export(struct co *co, bool keep, char **bytes, size_t *len)
{
	struct out out = {.co = co};
	struct co_buf *b = &out.b;
	size_t head;

	if (sy_keep_names(co->sy, co_opt(co, OPT_AGGMAX)) != 0)
		return -ENOMEM;
	nm_export(sy_names(co->sy));
	put32(b, JO_MAGIC);
	put64(b, signature(co->prog));
	head = b->len;
	ag_each(co, -1, put_entry, &out);
	cb_free(&out.key);
	if (!keep) {
		if (co->wishes.len > 0)
			cb_put(b, co->wishes.p, co->wishes.len);
		b->nomem |= co->wishes.nomem;
		if (co->ended && co_opt(co, OPT_SEEN))
			put_seen(co, b);
	}
	if (b->nomem) {
		cb_free(b);
		return -ENOMEM;
	}
	if (!keep) {
		ag_forget(co);
		co->wishes.len = 0;
		co->ended = false;
	}
	*bytes = b->p;
	*len = b->len == head ? 0 : b->len;
	return 0;
}

/* ---- reading -------------------------------------------------------------------------- */

struct in {
	const uint8_t *p;
	size_t left;
	bool bad;
	struct co_buf names; /* numbers of ours, by theirs */
	size_t nnames;
};

static const void *get(struct in *in, size_t n)
{
	const void *p = in->p;

	if (in->bad || n > in->left) {
		in->bad = true;
		return NULL;
	}
	in->p += n;
	in->left -= n;
	return p;
}

#define GET(name, type)                                                                            \
	static type name(struct in *in)                                                            \
	{                                                                                          \
		const void *p = get(in, sizeof(type));                                             \
		type v = 0;                                                                        \
                                                                                                   \
		if (p != NULL)                                                                     \
			memcpy(&v, p, sizeof(v));                                                  \
		return v;                                                                          \
	}
GET(get8, uint8_t)
GET(get16, uint16_t)
GET(get32, uint32_t)
GET(get64, uint64_t)

static void get_name(struct co *co, struct in *in)
{
	uint16_t len = get16(in);
	const char *text = get(in, len);
	char name[NM_TEXT];

	in->bad |= len >= sizeof(name);
	if (in->bad)
		return;
	memcpy(name, text, len);
	name[len] = '\0';
	put64(&in->names, nm_word(sy_names(co->sy), name));
	in->nnames++;
	in->bad |= in->names.nomem;
}

/* 0; 1: there was no room for that name */
static int our_name(void *arg, enum sy_form form, uint64_t *addr)
{
	const struct in *in = arg;

	(void)form;
	if (*addr == 0 || *addr > in->nnames)
		return -1;
	memcpy(addr, in->names.p + (*addr - 1) * 8, 8);
	return *addr != 0 ? 0 : 1;
}

static void get_entry(struct co *co, struct in *in)
{
	unsigned agg = get16(in);
	uint32_t keylen = get32(in), n = get32(in), words, i;
	const void *from = get(in, keylen);
	const struct prog_agg *a;
	uint64_t *data;
	uint8_t *key;
	int rc;

	if (in->bad || agg >= co->prog->naggs || n > in->left / 12) {
		in->bad = true;
		return;
	}
	a = co->prog->aggs[agg];
	words = nwords(a);
	data = malloc((size_t)words * 8 + keylen);
	if (data == NULL) {
		in->bad = true;
		return;
	}
	key = (uint8_t *)(data + words);
	memcpy(key, from, keylen);
	rc = cv_map(a, key, keylen, our_name, in);
	in->bad |= rc < 0;
	aggfn_init(a, data);
	for (uint32_t k = 0; k < n; k++) {
		i = get32(in);
		if (i >= words)
			in->bad = true;
		else if (a->fn == AGG_PERCENTILE)
			pc_set_word((struct hist *)(void *)data, i, get64(in));
		else
			data[i] = get64(in);
	}
	if (!in->bad && rc == 0)
		ag_add(co, agg, key, keylen, data);
	else if (!in->bad)
		ag_lost(co);
	free(data);
}

static void get_wish(struct co *co, struct in *in)
{
	static const struct prog_val whole = {.kind = V_INT, .size = 8, .is_signed = true};
	unsigned clause = get16(in), action = get16(in);
	int64_t value = (int64_t)get64(in);
	struct co_val v = {.v = &whole, .i = value};
	const struct prog_action *a;

	if (in->bad || clause >= co->prog->nclauses ||
		action >= co->prog->clauses[clause]->nactions ||
		!is_agg_action(&co->prog->clauses[clause]->actions[action])) {
		in->bad = true;
		return;
	}
	a = &co->prog->clauses[clause]->actions[action];
	if (a->act == ACT_PRINTA)
		pa_printa(co, a);
	else
		ac_agg(co, a, &v);
}

static void get_seen(struct co *co, struct in *in)
{
	bool shown = get8(in) != 0;
	struct en_seen seen = {.events = get64(in)};

	seen.looks.rounds = get64(in);
	seen.looks.whole = get64(in);
	seen.looks.things = get64(in);
	seen.looks.now = get64(in);
	seen.looks.there = get64(in);
	if (!in->bad)
		no_add(co, &seen, shown);
}

int co_import(struct co *co, const void *bytes, size_t len)
{
	struct in in = {.p = bytes, .left = len};

	if (get32(&in) != JO_MAGIC || get64(&in) != signature(co->prog) || in.bad)
		return -EINVAL;
	put32(&co->incoming, (uint32_t)in.left);
	cb_put(&co->incoming, in.p, in.left);
	return co->incoming.nomem ? -ENOMEM : 0;
}

/* In a round of work, where there are handlers for what is printed. */
void jo_take(struct co *co)
{
	struct in all = {.p = (const uint8_t *)co->incoming.p, .left = co->incoming.len};

	while (all.left > 0 && !all.bad) {
		uint32_t n = get32(&all);
		struct in in = {.p = get(&all, n), .left = n};

		in.bad = sy_keep_names(co->sy, co_opt(co, OPT_AGGMAX)) != 0;
		while (!all.bad && in.left > 0 && !in.bad) {
			uint8_t kind = get8(&in);

			if (kind == 'A')
				get_entry(co, &in);
			else if (kind == 'N')
				get_name(co, &in);
			else if (kind == 'D')
				get_wish(co, &in);
			else if (kind == 'S')
				get_seen(co, &in);
			else
				in.bad = true;
		}
		if (in.bad)
			ag_lost(co); /* counted as a drop of the merged table */
		cb_free(&in.names);
	}
	co->incoming.len = 0;
}
