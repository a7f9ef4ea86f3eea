/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terms as text: as io_lib:format("~0tp") writes them; in lists the characters are printable that
 * the node's own shell takes for them (+pc). (A template: term_access.h.) The work is bounded by
 * the size of the text, never by that of the term. Nothing recurses. Left out, with three dots:
 * what there is no room for, and what is nested deeper than PRINT_DEEP.
 */
#include "compiler.h"
#include "term_writer.h"

#define PRINT_DEEP 256 /* more than a text of the usual size has brackets */

/* What has parts that are still to be written. */
struct level {
	enum { LEVEL_LIST, LEVEL_TUPLE, LEVEL_MAP, LEVEL_INNER } what;
	uint16_t root; /* of pairs within a map: the level that the map is */
	bool some;     /* it has had elements or keys */
	bool value;    /* of a map: the key is written, the value is not */
	union {
		struct { /* a list */
			term_ref rest;
			bool ended; /* its tail is written */
		};
		struct { /* a tuple */
			struct term_parts parts;
			unsigned n; /* elements left */
		};
		struct { /* a map, or what is part of one */
			struct term_pairs pairs;
			term_ref next; /* the value */
		};
	};
};

struct printer {
	struct term_writer w;
	term_env env;
	unsigned n; /* levels */
	struct level level[PRINT_DEEP];
};

/* ---- what has no parts ----------------------------------------------------------------- */

static void print_atom(struct printer *p, term_ref t)
{
	size_t left = p->w.room - p->w.len;

	write_took(&p->w, term_atom_text(p->env, t, p->w.buf + p->w.len, left + 1));
}

PROBE_PATH static void print_other(struct printer *p, term_ref t)
{
	char text[300];
	size_t n = term_other_text(p->env, t, text, sizeof(text));

	write_bytes(&p->w, text, n < sizeof(text) ? n : sizeof(text) - 1);
}

static void print_integer(struct printer *p, term_ref t)
{
	const uint64_t *digits;
	bool negative;
	unsigned n;
	uint64_t u;
	int64_t i;

	if (term_int64(p->env, t, &i))
		write_int(&p->w, i);
	else if (term_uint64(p->env, t, &u))
		write_uint(&p->w, u);
	else if ((n = term_big(p->env, t, &digits, &negative)) > 0)
		write_big(&p->w, digits, n, negative);
	else
		write_text(&p->w, "...");
}

static void print_bits(struct printer *p, term_ref t)
{
	struct term_bits b;

	if (term_bits(p->env, t, &b))
		write_bits(&p->w, &b);
	else
		write_text(&p->w, "<<...>>");
}

/*
 * A list of printable characters, as far as there is room to write it. Lists of numbers above 255
 * are taken for texts only where the node's own shell does so: mostly they are numbers.
 */
static bool is_text(struct printer *p, term_ref t)
{
	size_t most = p->w.room - p->w.len;
	term_ref head;
	uint32_t c;

	for (size_t i = 0; i < most; i++) {
		p->w.steps++;
		if (!term_cell(p->env, t, &head, &t))
			return term_is_nil(p->env, t);
		if (!term_char(p->env, head, &c) || !write_can(c) ||
			(c > 255 && !term_wide_texts(p->env)))
			return false;
	}
	return true;
}

static void text_list(struct printer *p, term_ref t)
{
	term_ref head;
	uint32_t c;

	write_text(&p->w, "\"");
	while (!write_full(&p->w) && term_cell(p->env, t, &head, &t) && term_char(p->env, head, &c))
		write_char(&p->w, c);
	write_text(&p->w, "\"");
}

/* ---- what has parts -------------------------------------------------------------------- */

/* NULL: it is too deep; dots are written instead. */
PROBE_PATH static struct level *open_level(struct printer *p, const char *bracket, int what)
{
	struct level *l = &p->level[p->n];

	if (p->n == PRINT_DEEP) {
		write_text(&p->w, "...");
		return NULL;
	}
	write_text(&p->w, bracket);
	l->what = what;
	l->root = (uint16_t)p->n++;
	l->some = l->value = false;
	return l;
}

static void open_list(struct printer *p, term_ref t)
{
	struct level *l = open_level(p, "[", LEVEL_LIST);

	if (l != NULL) {
		l->rest = t;
		l->ended = false;
	}
}

static void open_tuple(struct printer *p, term_ref t)
{
	struct level *l = open_level(p, "{", LEVEL_TUPLE);

	if (l != NULL)
		term_tuple(p->env, t, &l->n, &l->parts);
}

static void open_map(struct printer *p, term_ref t)
{
	struct term_pairs pairs;
	struct level *l;
	size_t n = 0;

	if (term_pairs(p->env, t, &pairs)) {
		l = open_level(p, "#{", LEVEL_MAP);
		if (l != NULL)
			l->pairs = pairs;
		return;
	}
	term_map_size(p->env, t, &n);
	write_text(&p->w, "#{");
	write_uint(&p->w, n);
	write_text(&p->w, " keys}");
}

/* All of a term that has no parts, or its bracket. */
PROBE_PATH static void print_one(struct printer *p, term_ref t)
{
	double d;

	switch (term_kind(p->env, t)) {
	case KIND_ATOM: print_atom(p, t); return;
	case KIND_INTEGER: print_integer(p, t); return;
	case KIND_FLOAT:
		if (term_double(p->env, t, &d))
			write_double(&p->w, d);
		return;
	case KIND_BITSTRING: print_bits(p, t); return;
	case KIND_LIST:
		if (term_is_nil(p->env, t))
			write_text(&p->w, "[]");
		else if (is_text(p, t))
			text_list(p, t);
		else
			open_list(p, t);
		return;
	case KIND_TUPLE: open_tuple(p, t); return;
	case KIND_MAP: open_map(p, t); return;
	default: print_other(p, t);
	}
}

static void close_level(struct printer *p, const char *bracket)
{
	write_text(&p->w, bracket);
	p->n--;
}

/* Before every part but the first. */
static void comma(struct printer *p, struct level *l)
{
	if (l->some)
		write_text(&p->w, ",");
	l->some = true;
}

static void list_step(struct printer *p, struct level *l)
{
	term_ref t;

	if (l->ended || term_is_nil(p->env, l->rest)) {
		close_level(p, "]");
	} else if (term_cell(p->env, l->rest, &t, &l->rest)) {
		comma(p, l);
		print_one(p, t);
	} else {
		write_text(&p->w, "|");
		l->ended = true;
		print_one(p, l->rest);
	}
}

static void tuple_step(struct printer *p, struct level *l)
{
	if (l->n == 0) {
		close_level(p, "}");
		return;
	}
	l->n--;
	comma(p, l);
	print_one(p, term_next(&l->parts));
}

static void map_step(struct printer *p, struct level *l)
{
	struct level *root = &p->level[l->root], *in;
	struct term_pairs inner;
	term_ref key;

	if (l->value) {
		l->value = false;
		write_text(&p->w, " => ");
		print_one(p, l->next);
		return;
	}
	switch (term_next_pair(p->env, &l->pairs, &key, &l->next, &inner)) {
	case PAIRS_END: close_level(p, l->what == LEVEL_MAP ? "}" : ""); break;
	case PAIRS_PAIR:
		comma(p, root);
		l->value = true;
		print_one(p, key);
		break;
	case PAIRS_INNER:
		in = open_level(p, "", LEVEL_INNER);
		if (in != NULL) {
			in->pairs = inner;
			in->root = l->root;
		}
	}
}

/* ---- all of it ------------------------------------------------------------------------- */

/* args: it is a list of arguments, never a text. Returns the steps that it took. */
PROBE_PATH static unsigned print_term(term_env env, term_ref t, bool args, char *buf, size_t size)
{
	struct printer p; /* the levels are not cleared */

	write_begin(&p.w, buf, size);
	p.env = env;
	p.n = 0;
	if (args && !term_is_nil(env, t))
		open_list(&p, t);
	else
		print_one(&p, t);
	while (p.n > 0 && !write_full(&p.w)) {
		struct level *l = &p.level[p.n - 1];

		switch (l->what) {
		case LEVEL_LIST: list_step(&p, l); break;
		case LEVEL_TUPLE: tuple_step(&p, l); break;
		default: map_step(&p, l);
		}
	}
	write_end(&p.w, p.n == 0);
	return p.w.steps;
}

static void print_value(term_env env, const struct term_value *v, char *buf, size_t size)
{
	struct term_writer w;

	if (value_is_term(v)) {
		print_term(env, v->term, v->kind == VALUE_ARGS, buf, size);
		return;
	}
	write_begin(&w, buf, size);
	switch (v->kind) {
	case VALUE_BITS: write_bits(&w, &v->bits); break;
	case VALUE_INT: write_int(&w, v->num); break;
	default: write_uint(&w, (uint64_t)v->num);
	}
	write_end(&w, true);
}
