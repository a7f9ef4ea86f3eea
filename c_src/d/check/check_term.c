/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terms of Erlang (term_t, prog/term.h): where they become numbers and texts, how they compare, and
 * the functions that look into them. Their patterns are read here, into prog->pats.
 *
 * After the checker a term that becomes a number has an N_CAST to int64_t, one that becomes text an
 * N_STRINGOF. A call of erlget(), erlfield() or erlmatch() has the index of its pattern as value;
 * behind the arguments of erlmatch() are the this-> variables that it binds, in the order of the
 * pattern's.
 */
#include "array.h"
#include "check.h"
#include "utf8.h"

/* ---- as numbers and texts ---------------------------------------------------------------- */

int chk_term_number(struct d_comp *c, struct d_node *n)
{
	return d_is_term(n->type) ? chk_int_cast(c, n, c->t.i64) : 0;
}

int chk_term_text(struct d_comp *c, struct d_node *n)
{
	return d_is_term(n->type) ? chk_to_string(c, n) : 0;
}

const char *chk_kept_term(struct d_comp *c, const struct d_node *n)
{
	const struct d_ident *id = n->kind == N_VAR || n->kind == N_ASSOC ? n->ident : NULL;

	if (id == NULL || !id->of_term)
		return "";
	return arena_printf(c->arena,
		": '%s%s' keeps the text of the term that is assigned to it; to keep a number, "
		"declare "
		"it in front of the clauses, as in '%sint64_t %s%s;'",
		chk_scope(id->scope), id->name, id->scope == SC_SELF ? "self " : "", id->name,
		n->kind == N_ASSOC ? "[string]" : "");
}

bool chk_term_null(const struct d_node *n)
{
	return n->kind == N_IDENT && n->op == SC_GLOBAL && !strcmp(n->text, "NULL");
}

/* Operands of arithmetic are numbers; one that is compared with NULL might be the number 0. */
int chk_term_operands(struct d_comp *c, struct d_node *n, bool null)
{
	bool arith = (n->op >= OP_MUL && n->op <= OP_SHR) || (n->op >= OP_BAND && n->op <= OP_BOR);

	if (null && n->op >= OP_LT && n->op <= OP_NE &&
		(d_is_term(n->a->type) || d_is_term(n->b->type)))
		return CHK_ERR(c, D_OP_INCOMPAT, n,
			"a term is not compared with NULL: erltype(T) == \"none\" asks whether "
			"there "
			"is none");
	if (!arith)
		return 0;
	return chk_term_number(c, n->a) || chk_term_number(c, n->b) ? -1 : 0;
}

int chk_term_key(struct d_comp *c, struct d_node *k, const struct d_type *t)
{
	return t && d_is_int(t) ? chk_term_number(c, k) : chk_term_text(c, k);
}

/* Values of printf(); those for %s follow with all other texts. */
int chk_term_values(struct d_comp *c, const struct d_fmt *f, struct d_node *args)
{
	struct d_node *a = args;

	for (const struct d_fmtpart *p = f->parts; p && a; p = p->next) {
		for (int skip = p->dynwidth + p->dynprec; skip && a; skip--, a = a->next)
			if (chk_term_number(c, a))
				return -1;
		if (!a || !p->conv || p->agg)
			continue;
		if (!strchr("aAeEfgGkpsS", p->conv) && chk_term_number(c, a))
			return -1;
		a = a->next;
	}
	return 0;
}

const char chk_term_truth[] = ": compare it, as in T == \"true\" or T > 0; erltype(T) != \"none\" "
			      "asks whether there is one";

int chk_term_word(struct d_comp *c, const struct d_node *n)
{
	if (n->kind != N_IDENT || n->op != SC_GLOBAL || d_name_find(c, c->globals, n->text) ||
		d_ident_find(c->thises, n->text))
		return 0;
	return CHK_ERR(c, D_IDENT_UNDEF, n,
		"'%s' is not declared or assigned before: an atom is written as a string here, "
		"\"%s\"",
		n->text, n->text);
}

/* ---- comparing --------------------------------------------------------------------------- */

/* Constants that look right, and would never be equal, or be equal to something else. */
static int sensible(struct d_comp *c, const struct d_node *with)
{
	uint64_t most = c->opts->val[OPT_STRSIZE];

	if (with->kind == N_INT && with->text)
		return CHK_ERR(c, D_OP_INCOMPAT, with,
			"'%s' is a number, that of its characters: an atom or a text is compared "
			"with a string, write \"%s\"",
			with->text, with->text);
	if (with->kind == N_STR && with->len > most)
		return CHK_ERR(c, D_OP_INCOMPAT, with,
			"the string has %u bytes, more than the %" PRIu64 " of strsize that would "
			"be compared: raise it with -x strsize",
			with->len, most);
	return 0;
}

int chk_term_compare(struct d_comp *c, struct d_node *n)
{
	struct d_node *term = d_is_term(n->a->type) ? n->a : n->b;
	struct d_node *with = term == n->a ? n->b : n->a;
	bool eq = n->op == OP_EQ || n->op == OP_NE;

	n->type = c->t.int_;
	if (sensible(c, with))
		return -1;
	if (d_is_int(with->type))
		return 0;
	if (eq && d_is_term(with->type))
		return 0;
	if (eq && chk_strcompat(with->type))
		return chk_to_string(c, with);
	return CHK_ERR(c, D_OP_INCOMPAT, n, "'%s' %s '%s': %s", chk_tname(c, n->a->type),
		chk_opname(n->op), chk_tname(c, n->b->type),
		eq ? "a term is compared with a number, a string or a term"
		   : "the order of terms is that of numbers: cast to compare others, as in "
		     "(string)T");
}

/* A term is a number or a text, as the other branch is. */
int chk_term_branches(struct d_comp *c, struct d_node *n, bool null)
{
	struct d_node *term = d_is_term(n->b->type) ? n->b : n->c;
	struct d_node *other = term == n->b ? n->c : n->b;

	if (!d_is_term(term->type) || d_is_term(other->type) || d_is_kind(other->type, T_DYN))
		return 0;
	if (d_is_int(other->type) && !null)
		return chk_term_number(c, term);
	if (chk_strcompat(other->type))
		return chk_to_string(c, term) || chk_to_string(c, other) ? -1 : 0;
	return CHK_ERR(c, D_OP_INCOMPAT, n,
		"the branches of ?: are a term and %s%s%s: beside a term there can be a number, a "
		"string or a term, as in c ? T : 0 or c ? T : \"\"",
		null ? "NULL" : "'", null ? "" : chk_tname(c, other->type), null ? "" : "'");
}

/* ---- records ----------------------------------------------------------------------------- */

int d_record_add(struct d_comp *c, const char *name, const char *const *fields)
{
	struct d_record *r = arena_new_of(c->arena, struct d_record);
	unsigned n = 0;

	while (fields[n] != NULL)
		n++;
	if (!r || !(r->fields = arena_alloc(c->arena, (n + 1) * sizeof(*r->fields))) ||
		!(r->name = arena_strdup(c->arena, name, strlen(name))))
		return -1;
	for (unsigned i = 0; i < n; i++)
		if (!(r->fields[i] = arena_strdup(c->arena, fields[i], strlen(fields[i]))))
			return -1;
	r->next = c->records;
	c->records = r;
	c->patterns = NULL; /* they may have other fields */
	return 0;
}

/* How a script gets to know a record; behind the reader's error. */
static const char set_record[] =
	": inside a node, debug information and headers (-I FILE.hrl) tell them; elsewhere "
	"erltrace_set_record()";

/* What pat_read() is given. */
struct reading {
	struct d_comp *c;
	bool key;
	bool unknown; /* it has asked for a record that is not known */
};

static const char *const *find_record(void *ctx, const char *name)
{
	struct reading *in = ctx;

	for (const struct d_record *r = in->c->records; r; r = r->next)
		if (!strcmp(r->name, name))
			return r->fields;
	in->unknown = true;
	in->c->no_record = arena_strdup(in->c->arena, name, strlen(name));
	return NULL;
}

/* ---- patterns ---------------------------------------------------------------------------- */

static void *alloc(void *ctx, size_t size)
{
	return arena_alloc(((struct reading *)ctx)->c->arena, size);
}

/* Where the source has the at-th byte of a string constant; NULL: it was not written there so. */
static const char *in_source(const struct d_comp *c, const struct d_node *str, size_t at)
{
	const char *s = c->source, *end = s + c->source_len;

	for (int line = 1; line < str->line && s; line++)
		s = memchr(s, '\n', end - s) ? (const char *)memchr(s, '\n', end - s) + 1 : NULL;
	if (!s || str->col < 1 || end - s < str->col || s[str->col - 1] != '"')
		return NULL;
	s += str->col;
	for (size_t i = 0; i < at; i++, s++) {
		if (s < end && *s == '\\')
			s++; /* \" and \\ are one byte each; a pattern has no use for others */
		if (s >= end || *s != str->text[i])
			return NULL;
	}
	return s;
}

/* From this byte on, or behind it, a character begins or the text ends. */
static size_t whole_chars(const struct d_node *str, size_t at)
{
	for (int i = 0; i < 3 && at < str->len; i++, at++)
		if (!utf8_is_tail(str->text[at]))
			break;
	return at;
}

/* The text of a pattern for its error; of a long one what is around the place. */
static const char *excerpt(struct d_comp *c, const struct d_node *str, size_t at)
{
	enum { WHOLE = 120, BEFORE = 48, BEHIND = 32 };
	size_t from = 0, to = str->len;

	if (to > WHOLE) {
		from = at > BEFORE ? whole_chars(str, at - BEFORE) : 0;
		to = to - at > BEHIND ? whole_chars(str, at + BEHIND) : to;
	}
	return arena_printf(c->arena, "%s%.*s%s", from > 0 ? ".." : "", (int)(to - from),
		str->text + from, to < str->len ? ".." : "");
}

static int bad_pattern(
	const struct reading *in, const struct d_node *str, size_t at, const struct et_error *e)
{
	struct d_comp *c = in->c;
	/* in a node, who asked to compile it looks for the record, and says where */
	const char *hint = in->unknown && !in->c->opts->inside ? set_record : "";
	const char *s = at <= str->len ? in_source(c, str, at) : NULL, *line = s;
	const char *what = in->key ? "key" : "pattern";
	const char *text = excerpt(c, str, at <= str->len ? at : str->len);
	int col = str->col;

	if (!text)
		return d_nomem(c);
	if (s) {
		while (line > c->source && line[-1] != '\n')
			line--;
		col = (int)(s - line) + 1;
	}
	if (at >= str->len)
		return d_error(c, D_PATTERN, str->line, col, "at the end of the %s \"%s\": %s%s",
			what, text, e->text, hint);
	return d_error(c, D_PATTERN, str->line, col, "in the %s \"%s\", at '%.*s': %s%s", what,
		text, (int)(whole_chars(str, at + 24) - at), str->text + at, e->text, hint);
}

/* The index of a pattern or a key in the program; each text is read once. -1: an error. */
static int pattern(struct d_comp *c, const struct d_node *str, bool key)
{
	struct reading in = {.c = c, .key = key};
	const struct pat_reader r = {.key = key, .alloc = alloc, .record = find_record, .ctx = &in};
	struct prog *p = &c->prog;
	struct et_error e = {.tag = ""};
	struct d_pattern *d;
	size_t at = 0;

	for (d = c->patterns; d; d = d->next)
		if (d->key == key && d->len == str->len && !memcmp(d->text, str->text, d->len))
			return (int)d->index;
	d = arena_new_of(c->arena, struct d_pattern);
	if (!d || !ARRAY_ROOM(p->pats, p->npats))
		return d_nomem(c);
	memset(&p->pats[p->npats], 0, sizeof(*p->pats));
	if (pat_read(&r, str->text, str->len, &p->pats[p->npats], &at, &e) < 0)
		return bad_pattern(&in, str, at, &e);
	*d = (struct d_pattern){str->text, str->len, key, p->npats++, c->patterns};
	c->patterns = d;
	return (int)d->index;
}

bool chk_is_pattern_var(const struct d_comp *c, const char *name)
{
	for (unsigned i = 0; i < c->prog.npats; i++)
		for (unsigned k = 0; k < c->prog.pats[i].nvars; k++)
			if (!strcmp(c->prog.pats[i].vars[k], name))
				return true;
	return false;
}

static int constant_text(struct d_comp *c, const struct d_node *n, const struct d_node *a,
	unsigned i, const char *what)
{
	if (a->kind == N_STR)
		return 0;
	return CHK_ERR(c, D_PROTO_ARG, a, "argument %u of %s() must be a string constant: %s", i,
		n->text, what);
}

/* ---- functions --------------------------------------------------------------------------- */

/* erlarg(N), erlint(N) */
static int check_nth(struct d_comp *c, struct d_node *n)
{
	enum { MOST = 255 }; /* of any function */
	const struct d_node *i = n->list;
	int64_t at = (int64_t)i->value;

	if (i->kind != N_INT)
		return 0;
	if (at < 0 || at >= MOST)
		return CHK_ERR(c, D_PROTO_ARG, i, "argument 1 of %s() is %" PRId64 ": %s", n->text,
			at,
			at < 0 ? "arguments count from 0" : "no function has so many arguments");
	if (!c->widest || at < c->most_args)
		return 0;
	if (c->most_args == 0)
		return CHK_ERR(c, D_PROTO_ARG, i, "%s(%" PRId64 "): %s has no arguments", n->text,
			at, c->widest);
	return CHK_ERR(c, D_PROTO_ARG, i,
		"%s(%" PRId64 "): %s has %d argument%s; the first is %s(0)", n->text, at, c->widest,
		c->most_args, c->most_args == 1 ? "" : "s", n->text);
}

static int check_element(struct d_comp *c, struct d_node *n)
{
	const struct d_node *i = n->list;

	if (i->kind == N_INT && ((int64_t)i->value < 1 || i->value > INT32_MAX))
		return CHK_ERR(c, D_PROTO_ARG, i,
			"argument 1 of erlelement() is %" PRId64 ": elements count from 1",
			(int64_t)i->value);
	return 0;
}

/* "user.id": two keys, as other languages write them. */
static int is_path(struct d_comp *c, const struct d_node *key)
{
	static const char word[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	const char *dot = strchr(key->text, '.');
	size_t n = strspn(key->text, word);

	if (!dot || key->text + n != dot || key->text[0] < 'a' || key->text[0] > 'z' ||
		strspn(dot + 1, word) != strlen(dot + 1))
		return 0;
	return CHK_ERR(c, D_PROTO_ARG, key,
		"argument 1 of erlget() is one key: write erlget(\"%s\", erlget(\"%.*s\", ..))",
		dot + 1, (int)n, key->text);
}

/* A number, or a text that is read as a term. */
static int check_get(struct d_comp *c, struct d_node *n)
{
	struct d_node *key = n->list, text = *key;
	int index;

	if (key->kind == N_INT) {
		text.kind = N_STR;
		text.text = d_is_signed(key->type)
				    ? arena_printf(c->arena, "%" PRId64, (int64_t)key->value)
				    : arena_printf(c->arena, "%" PRIu64, key->value);
		text.len = strlen(text.text);
	} else if (key->kind != N_STR) {
		return CHK_ERR(c, D_PROTO_ARG, key,
			"argument 1 of erlget() must be a constant, a number or the text of a "
			"term: \"plan\" is the atom, \"<<\\\"plan\\\">>\" a binary");
	} else if (is_path(c, key)) {
		return -1;
	}
	index = pattern(c, &text, true);
	if (index < 0)
		return -1;
	n->value = (uint64_t)index;
	return 0;
}

/* Errors about a record and its field, as far as their names are plain. */
static int known_field(
	struct d_comp *c, const struct d_node *a, const char *record, const char *field)
{
	struct reading in = {.c = c};
	struct et_error e = {.tag = ""};
	const char *const *fields;

	if (strchr(a->text, '\''))
		return 0;
	fields = find_record(&in, record);
	if (!fields)
		return d_error(c, D_PATTERN, a->line, a->col,
			"erlfield(\"%s\"): the fields of the record #%s are not known%s", a->text,
			record, c->opts->inside ? "" : set_record);
	for (unsigned i = 0; fields[i]; i++)
		if (!strcmp(fields[i], field))
			return 0;
	pat_no_field(&e, record, field, fields);
	return d_error(c, D_PATTERN, a->line, a->col, "erlfield(\"%s\"): %s", a->text, e.text);
}

/* "order.id" is the variable of the pattern #order{id = X}. */
static int check_field(struct d_comp *c, struct d_node *n)
{
	struct d_node *a = n->list, text = *a;
	const char *dot, *record;
	int index;

	if (constant_text(c, n, a, 1, "a record and its field, as in \"order.id\""))
		return -1;
	dot = strrchr(a->text, '.');
	if (!dot || dot == a->text || !dot[1] || strpbrk(a->text, "{}#=,\"") ||
		strlen(a->text) != a->len)
		return CHK_ERR(c, D_PROTO_ARG, a,
			"argument 1 of erlfield() is a record and its field, as in \"order.id\"");
	record = arena_strdup(c->arena, a->text, (size_t)(dot - a->text));
	text.text = record ? arena_printf(c->arena, "#%s{%s = X}", record, dot + 1) : NULL;
	if (!text.text)
		return d_nomem(c);
	if (known_field(c, a, record, dot + 1))
		return -1;
	text.len = strlen(text.text);
	text.line = a->line;
	index = pattern(c, &text, false);
	if (index < 0)
		return -1;
	n->value = (uint64_t)index;
	return 0;
}

/* The this-> variable that a variable of a pattern is kept in. */
static struct d_node *binding(struct d_comp *c, const struct d_node *str, const char *name)
{
	struct d_node *v = chk_new(c, N_IDENT, str);

	if (!v)
		return NULL;
	v->op = SC_THIS;
	v->text = name;
	if (chk_lval(c, v, c->t.term))
		return NULL;
	if (!d_is_term(v->type) && !d_is_string(v->type) && !d_is_int(v->type)) {
		CHK_ERR(c, D_OP_INCOMPAT, str,
			"variable %s of the pattern: this->%s is of type '%s', which cannot hold a "
			"term, its text or its number",
			name, name, chk_tname(c, v->type));
		return NULL;
	}
	return v;
}

static int check_match(struct d_comp *c, struct d_node *n)
{
	struct d_node *str = n->list->next, **tail = &str->next;
	const struct pat *p;
	int index;

	if (constant_text(c, n, str, 2, "a pattern, as in \"{ok, X}\""))
		return -1;
	index = pattern(c, str, false);
	if (index < 0)
		return -1;
	n->value = (uint64_t)index;
	p = &c->prog.pats[index];
	for (unsigned i = 0; i < p->nvars; i++, tail = &(*tail)->next)
		if (!(*tail = binding(c, str, p->vars[i])))
			return -1;
	return 0;
}

int chk_term_func(struct d_comp *c, struct d_node *n)
{
	unsigned pbi = n->ident->builtin->pbi;

	if (pbi == PBI_ERLARG + 1 || pbi == PBI_ERLINT + 1)
		return check_nth(c, n);
	switch (n->ident->id) {
	case FN_ERLELEMENT: return check_element(c, n);
	case FN_ERLGET: return check_get(c, n);
	case FN_ERLFIELD: return check_field(c, n);
	case FN_ERLMATCH: return check_match(c, n);
	default: return 0;
	}
}
