/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns of Erlang from their text: what may be on the left of a `=', but for what needs the
 * values of variables or the module around it. What is not understood is an error with its
 * position; nothing is read as something else. Memory and time are linear in the text: nodes are
 * counted, and what nests is as deep as PAT_DEEP.
 */
#include <stdio.h>
#include <string.h>

#include "erlang_words.h"
#include "pattern_lex.h"

static int pattern(struct pat_text *p, unsigned deep);

/* ---- nodes ----------------------------------------------------------------------------- */

static int make_room(struct pat_text *p)
{
	struct pat *out = p->out;
	struct pat_node *nodes;

	if (out->n < p->room)
		return 0;
	if (out->n >= PAT_NODES)
		return pat_fail(p, p->at, "the pattern is too large");
	p->room = p->room == 0 ? 16 : p->room * 2;
	nodes = pat_alloc(p, p->room * sizeof(*nodes));
	if (nodes == NULL)
		return -1;
	if (out->n > 0)
		memcpy(nodes, out->nodes, out->n * sizeof(*nodes));
	out->nodes = nodes;
	return 0;
}

int pat_add(struct pat_text *p, struct pat_node node)
{
	struct pat *out = p->out;

	if (make_room(p) < 0)
		return -1;
	node.end = out->n + 1;
	out->nodes[out->n] = node;
	return (int)out->n++;
}

int pat_emit(struct pat_text *p, enum pat_op op)
{
	return pat_add(p, (struct pat_node){.op = (uint8_t)op});
}

void pat_close(struct pat_text *p, int i, unsigned n)
{
	p->out->nodes[i].n = n;
	p->out->nodes[i].end = p->out->n;
}

/* These nodes again, at the end. */
static int copy(struct pat_text *p, unsigned from, unsigned to)
{
	unsigned by = p->out->n - from;

	for (unsigned i = from; i < to; i++) {
		int at = pat_add(p, p->out->nodes[i]);

		if (at < 0)
			return -1;
		p->out->nodes[at].end = p->out->nodes[i].end + by;
	}
	return 0;
}

int pat_expect(struct pat_text *p, const char *token, const char *in)
{
	if (pat_take(p, token))
		return 0;
	if (p->at >= p->len)
		return pat_fail(p, p->at, "the pattern ends where %s should end %s", token, in);
	return pat_fail(p, p->at, "%s or a comma is expected in %s", token, in);
}

/* ---- names and numbers ----------------------------------------------------------------- */

static int atom(struct pat_text *p)
{
	bool quoted = pat_peek(p, 0) == '\'';
	struct pat_node node = {.op = PAT_ATOM};
	size_t start = p->at;

	if (pat_name(p, &node.text, &node.len) < 0)
		return -1;
	if (!quoted && erlang_is_reserved(node.text))
		return pat_fail(p, start, "%s is a word of the language: as an atom it is '%s'",
			node.text, node.text);
	if (!quoted && (pat_sees(p, "(") || pat_sees(p, ":")) && !pat_sees(p, ":="))
		return pat_fail(p, start, "a pattern calls no function");
	return pat_add(p, node);
}

static bool is_identifier(const char *name, size_t len)
{
	return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
	       len;
}

int pat_variable(struct pat_text *p)
{
	struct pat_node node = {.op = PAT_VAR};
	struct pat *out = p->out;
	size_t start = p->at;
	const char *name;
	uint32_t len;

	if (pat_name(p, &name, &len) < 0)
		return -1;
	if (p->key)
		return pat_fail(p, start, "%s: the key of a map has no variables here", name);
	if (strcmp(name, "_") == 0)
		return pat_emit(p, PAT_ANY);
	if (!is_identifier(name, len))
		return pat_fail(p, start,
			"%s: a variable has plain letters, digits and _ only, to have a name in D",
			name);
	while (node.n < out->nvars && strcmp(out->vars[node.n], name) != 0)
		node.n++;
	if (node.n == PAT_VARS)
		return pat_fail(p, start, "more than %d variables in a pattern", PAT_VARS);
	if (node.n == out->nvars)
		out->vars[out->nvars++] = name;
	return pat_add(p, node);
}

bool pat_is_number(const struct pat_text *p)
{
	return pat_peek(p, 0) == '$' || (pat_peek(p, 0) >= '0' && pat_peek(p, 0) <= '9');
}

int pat_signed_number(struct pat_text *p, struct pat_node *node)
{
	bool negative = pat_peek(p, 0) == '-';
	size_t start = p->at;

	if (negative || pat_peek(p, 0) == '+') {
		p->at++;
		pat_skip(p);
		if (!pat_is_number(p))
			return pat_fail(p, start, "a pattern computes nothing");
	}
	return pat_number(p, negative, node);
}

static int number(struct pat_text *p)
{
	struct pat_node node = {0};

	return pat_signed_number(p, &node) < 0 ? -1 : pat_add(p, node);
}

/* ---- lists ----------------------------------------------------------------------------- */

/* n cells from this one on, whose last has its tail: they end with it. */
static void close_cells(struct pat_text *p, unsigned at, unsigned n)
{
	while (n-- > 0) {
		p->out->nodes[at].end = p->out->n;
		at = p->out->nodes[at + 1].end;
	}
}

static int list(struct pat_text *p, unsigned deep)
{
	unsigned start = p->out->n, n = 0;

	p->at++;
	if (pat_take(p, "]"))
		return pat_emit(p, PAT_NIL);
	do {
		n++;
		if (pat_emit(p, PAT_CONS) < 0 || pattern(p, deep + 1) < 0)
			return -1;
	} while (pat_take(p, ","));
	if (pat_take(p, "||"))
		return pat_fail(p, p->at - 2, "a pattern has no list comprehension");
	if (pat_take(p, "|") ? pattern(p, deep + 1) < 0 : pat_emit(p, PAT_NIL) < 0)
		return -1;
	close_cells(p, start, n);
	return pat_expect(p, "]", "a list");
}

static int characters(struct pat_text *p, unsigned *n)
{
	uint32_t c;
	int rc;

	p->at++;
	while ((rc = pat_char(p, '"', &c)) == 1) {
		++*n;
		if (pat_emit(p, PAT_CONS) < 0 ||
			pat_add(p, (struct pat_node){.op = PAT_INT, .num = c}) < 0)
			return -1;
	}
	return rc;
}

static int operand(struct pat_text *p, unsigned deep);

/* "abc" "def" ++ Rest: a list of characters. */
static int text(struct pat_text *p, unsigned deep)
{
	unsigned start = p->out->n, n = 0;
	bool more = false;

	do {
		if (characters(p, &n) < 0)
			return -1;
		more = pat_take(p, "++");
	} while (pat_sees(p, "\""));
	if (more ? operand(p, deep + 1) < 0 : pat_emit(p, PAT_NIL) < 0)
		return -1;
	close_cells(p, start, n);
	return 0;
}

/* ---- tuples, maps, records ------------------------------------------------------------- */

/* { part, part }, from its bracket on. */
static int parts(struct pat_text *p, enum pat_op op, int (*part)(struct pat_text *p, unsigned deep),
	const char *in, unsigned deep)
{
	int at = pat_emit(p, op);
	unsigned n = 0;

	p->at++;
	if (at < 0)
		return -1;
	if (!pat_sees(p, "}"))
		do {
			n++;
			if (part(p, deep + 1) < 0)
				return -1;
		} while (pat_take(p, ","));
	pat_close(p, at, n);
	return pat_expect(p, "}", in);
}

/* A key, and the sign behind it: a key that is a map itself is made, not matched. */
static int map_key(struct pat_text *p, unsigned deep)
{
	bool made = p->key;
	int rc;

	p->key = true;
	rc = pattern(p, deep);
	p->key = made;
	if (rc < 0)
		return -1;
	if (pat_take(p, made ? "=>" : ":="))
		return 0;
	if (pat_sees(p, "=>"))
		return pat_fail(p, p->at, "a pattern of a map has := between key and value");
	return pat_fail(p, p->at, "%s is expected behind the key of a map", made ? "=>" : ":=");
}

static int pair(struct pat_text *p, unsigned deep)
{
	return map_key(p, deep) < 0 ? -1 : pattern(p, deep);
}

struct field {
	unsigned from, to; /* its nodes; none: from == to */
};

struct record {
	const char *name;
	const char *const *names;
	struct field *field, other;
	unsigned n;
};

static struct field *field_of(struct record *r, const char *name)
{
	if (strcmp(name, "_") == 0)
		return &r->other;
	for (unsigned i = 0; i < r->n; i++)
		if (strcmp(r->names[i], name) == 0)
			return &r->field[i];
	return NULL;
}

void pat_no_field(
	struct et_error *e, const char *record, const char *field, const char *const *fields)
{
	char list[512] = "";
	size_t n = 0;

	for (unsigned i = 0; fields[i] != NULL && n < sizeof(list) - 1; i++)
		n += (size_t)snprintf(
			list + n, sizeof(list) - n, "%s%s", i > 0 ? ", " : ": it has ", fields[i]);
	et_err(e, D_PATTERN, "the record #%s has no field %s%s%s", record, field,
		n > 0 ? list : ", it has none", n >= sizeof(list) - 1 ? ".." : "");
}

/* Name = Pattern; _ = Pattern: all that are not named. */
static int record_field(struct pat_text *p, struct record *r, unsigned deep)
{
	struct field *f;
	const char *name;
	uint32_t len;
	size_t start;

	pat_skip(p);
	start = p->at;
	if (pat_peek(p, 0) != '_' && pat_peek(p, 0) != '\'' && !pat_is_small(p))
		return pat_fail(p, start, "the name of a field of #%s is expected", r->name);
	if (pat_name(p, &name, &len) < 0)
		return -1;
	f = field_of(r, name);
	if (f == NULL) {
		pat_no_field(p->e, r->name, name, r->names);
		p->error_at = start;
		return -1;
	}
	if (f->from != f->to)
		return pat_fail(p, start, "the field %s is there twice", name);
	if (!pat_take(p, "="))
		return pat_fail(p, p->at, "= is expected behind the field %s", name);
	f->from = p->out->n;
	if (pattern(p, deep + 1) < 0)
		return -1;
	f->to = p->out->n;
	return 0;
}

/* The tuple that the fields make: behind them first, then in their place. */
static int assemble(struct pat_text *p, const struct record *r, unsigned start)
{
	unsigned from = p->out->n, by = from - start;
	int at = pat_emit(p, PAT_TUPLE);

	if (at < 0 || pat_add(p, (struct pat_node){.op = PAT_ATOM,
					 .text = r->name,
					 .len = (uint32_t)strlen(r->name)}) < 0)
		return -1;
	for (unsigned i = 0; i < r->n; i++) {
		const struct field *f =
			r->field[i].from < r->field[i].to ? &r->field[i] : &r->other;

		if (f->from < f->to ? copy(p, f->from, f->to) < 0 : pat_emit(p, PAT_ANY) < 0)
			return -1;
	}
	pat_close(p, at, r->n + 1);
	memmove(&p->out->nodes[start], &p->out->nodes[from],
		(p->out->n - from) * sizeof(*p->out->nodes));
	p->out->n -= by;
	for (unsigned i = start; i < p->out->n; i++)
		p->out->nodes[i].end -= by;
	return 0;
}

static int record(struct pat_text *p, unsigned deep)
{
	struct record r = {.n = 0};
	unsigned start = p->out->n;
	size_t at = p->at;
	uint32_t len;

	if (pat_name(p, &r.name, &len) < 0)
		return -1;
	if (p->key)
		return pat_fail(p, at, "the key of a map has no records here");
	if (!pat_take(p, "{"))
		return pat_fail(p, p->at, "{ is expected behind #%s", r.name);
	r.names = p->r->record != NULL ? p->r->record(p->r->ctx, r.name) : NULL;
	if (r.names == NULL)
		return pat_fail(p, at, "the fields of the record #%s are not known", r.name);
	while (r.names[r.n] != NULL)
		r.n++;
	r.field = pat_alloc(p, (r.n + 1) * sizeof(*r.field));
	if (r.field == NULL)
		return -1;
	memset(r.field, 0, (r.n + 1) * sizeof(*r.field));
	if (!pat_sees(p, "}"))
		do
			if (record_field(p, &r, deep) < 0)
				return -1;
		while (pat_take(p, ","));
	return pat_expect(p, "}", "a record") < 0 ? -1 : assemble(p, &r, start);
}

static int map_or_record(struct pat_text *p, unsigned deep)
{
	size_t start = p->at++;

	if (pat_peek(p, 0) == '{')
		return parts(p, PAT_MAP, pair, "a map", deep);
	if (pat_peek(p, 0) == '\'' || pat_is_small(p))
		return record(p, deep);
	return pat_fail(p, start,
		"{ of a map or the name of a record is expected behind #; "
		"ports, references and funs cannot be written in a pattern");
}

/* ---- all of it ------------------------------------------------------------------------- */

static int parens(struct pat_text *p, unsigned deep)
{
	p->at++;
	return pattern(p, deep + 1) < 0 ? -1 : pat_expect(p, ")", "parentheses");
}

/* A pid, port, reference or fun, as far as it goes: <0.1.0>, #Ref<0.1.2.3>, fun lists:seq/2. */
static int opaque(struct pat_text *p)
{
	struct pat_node node = {.op = PAT_OPAQUE};
	const char *text = p->text + p->at, *end;
	size_t left = p->len - p->at;
	char *copy;

	if (*text == 'f') {
		end = memchr(text, '/', left);
		if (end != NULL)
			do
				end++;
			while (end < p->text + p->len && *end >= '0' && *end <= '9');
	} else {
		end = memchr(text, '>', left);
		if (end != NULL)
			end++;
	}
	if (end == NULL)
		return pat_fail(p, p->at, "the pattern ends within a pid, reference or fun");
	node.len = (uint32_t)(end - text);
	copy = pat_alloc(p, node.len + 1);
	if (copy == NULL)
		return -1;
	memcpy(copy, text, node.len);
	copy[node.len] = '\0';
	node.text = copy;
	p->at += node.len;
	return pat_add(p, node);
}

static bool sees_opaque(struct pat_text *p)
{
	return p->r->printed &&
	       ((pat_peek(p, 0) == '<' && pat_peek(p, 1) >= '0' && pat_peek(p, 1) <= '9') ||
		       pat_sees(p, "#Ref<") || pat_sees(p, "#Port<") || pat_sees(p, "#Fun<") ||
		       pat_sees(p, "fun "));
}

static int term(struct pat_text *p, unsigned deep)
{
	unsigned char c;

	if (p->at >= p->len)
		return pat_fail(p, p->at, "the pattern ends where a term is expected");
	if (deep > PAT_DEEP)
		return pat_fail(p, p->at, "the pattern is nested deeper than %d", PAT_DEEP);
	if (sees_opaque(p))
		return opaque(p);
	c = pat_peek(p, 0);
	switch (c) {
	case '{': return parts(p, PAT_TUPLE, pattern, "a tuple", deep);
	case '[': return list(p, deep);
	case '"': return text(p, deep);
	case '#': return map_or_record(p, deep);
	case '(': return parens(p, deep);
	case '\'': return atom(p);
	case '-':
	case '+': return number(p);
	case '<':
		if (pat_peek(p, 1) == '<')
			return pat_binary(p);
		return pat_fail(
			p, p->at, "pids cannot be written in a pattern: compare their text");
	default: break;
	}
	if (pat_is_number(p))
		return number(p);
	if (pat_is_small(p))
		return atom(p);
	if (pat_is_capital(p))
		return pat_variable(p);
	if (c > ' ' && c < 127)
		return pat_fail(p, p->at, "a term cannot begin with %c", c);
	return pat_fail(p, p->at, "this character cannot begin a term");
}

static int operand(struct pat_text *p, unsigned deep)
{
	unsigned node = p->out->n;
	size_t from;

	pat_skip(p);
	from = p->at;
	if (term(p, deep) < 0)
		return -1;
	p->out->nodes[node].from = (uint32_t)from;
	p->out->nodes[node].to = (uint32_t)p->at;
	return 0;
}

/* Two children of the same term: the nodes from here on are the first. */
static int insert_both(struct pat_text *p, unsigned at)
{
	struct pat_node *nodes;

	if (pat_emit(p, PAT_BOTH) < 0)
		return -1;
	nodes = p->out->nodes;
	memmove(&nodes[at + 1], &nodes[at], (p->out->n - 1 - at) * sizeof(*nodes));
	for (unsigned i = at + 1; i < p->out->n; i++)
		nodes[i].end++;
	nodes[at] = (struct pat_node){.op = PAT_BOTH};
	return 0;
}

static bool sees_alias(struct pat_text *p)
{
	return pat_sees(p, "=") &&
	       (p->len - p->at == 1 || strchr("=:/<>", p->text[p->at + 1]) == NULL);
}

/* P1 = P2 = P3 */
static int pattern(struct pat_text *p, unsigned deep)
{
	unsigned start = p->out->n, at, n = 0;

	for (;;) {
		at = p->out->n;
		if (operand(p, deep) < 0)
			return -1;
		if (!sees_alias(p))
			break;
		if (p->key)
			return pat_fail(p, p->at,
				p->r->key ? "a key is one term, without ="
					  : "a pattern of a map has := between key and value, "
					    "not =");
		p->at++;
		n++;
		if (insert_both(p, at) < 0)
			return -1;
	}
	close_cells(p, start, n);
	return 0;
}

int pat_read(const struct pat_reader *r, const char *text, size_t len, struct pat *out, size_t *at,
	struct et_error *e)
{
	struct pat_text p = {.r = r, .text = text, .len = len, .out = out, .e = e, .key = r->key};
	int rc;

	*out = (struct pat){.n = 0};
	rc = pattern(&p, 0);
	pat_skip(&p);
	if (rc == 0 && p.at < p.len)
		rc = pat_sees(&p, "when")
			     ? pat_fail(&p, p.at, "a pattern has no guard: use the predicate")
			     : pat_fail(&p, p.at, "the pattern has ended, but more text follows");
	*at = rc < 0 ? p.error_at : 0;
	return rc;
}
