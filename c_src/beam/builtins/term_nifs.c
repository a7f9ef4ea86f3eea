/* SPDX-License-Identifier: Apache-2.0 */
/* What tests ask: the matcher and the answers about a term, as scripts would have them. */
#include <stdlib.h>
#include <string.h>

#include "beam/handle/beam_handle.h"
#include "beam/nif.h"
#include "beam/term/match.h"
#include "beam/vm/vm_threads.h"
#include "prog/builtins.h"
#include "terms.h"

#define FIELDS 64 /* of a record */
#define TEXT   4096
#define COPIED 4096 /* bytes of a binary */

/* ---- a pattern from its text ------------------------------------------------------------ */

struct block {
	struct block *next;
	char bytes[] __attribute__((aligned(16)));
};

struct reading {
	ErlNifEnv *env;
	struct block *blocks;
	ERL_NIF_TERM records; /* [{Name, [Field]}] */
	bool key;
};

static void *alloc(void *ctx, size_t size)
{
	struct reading *r = ctx;
	struct block *b = malloc(sizeof(*b) + size);

	if (b == NULL)
		return NULL;
	b->next = r->blocks;
	r->blocks = b;
	return b->bytes;
}

static void free_all(struct reading *r)
{
	struct block *b;

	while ((b = r->blocks) != NULL) {
		r->blocks = b->next;
		free(b);
	}
}

static const char *const *fields_of(struct reading *r, ERL_NIF_TERM list)
{
	const char **fields = alloc(r, (FIELDS + 1) * sizeof(*fields));
	ERL_NIF_TERM field;
	unsigned n = 0;
	char *name;

	while (fields != NULL && n < FIELDS && enif_get_list_cell(r->env, list, &field, &list)) {
		name = alloc(r, 256);
		if (name == NULL)
			return NULL;
		enif_get_atom(r->env, field, name, 256, ERL_NIF_LATIN1);
		fields[n++] = name;
	}
	if (fields != NULL)
		fields[n] = NULL;
	return fields;
}

static const char *const *record(void *ctx, const char *name)
{
	struct reading *r = ctx;
	ERL_NIF_TERM head, list = r->records;
	const ERL_NIF_TERM *t;
	char is[256];
	int n;

	while (enif_get_list_cell(r->env, list, &head, &list))
		if (enif_get_tuple(r->env, head, &n, &t) && n == 2 &&
			enif_get_atom(r->env, t[0], is, sizeof(is), ERL_NIF_LATIN1) > 0 &&
			strcmp(is, name) == 0)
			return fields_of(r, t[1]);
	return NULL;
}

/* 0; or -1, and *error is {error, {Position, Text}}. */
static int read_pattern(struct reading *r, ERL_NIF_TERM text, struct pat *pat, ERL_NIF_TERM *error)
{
	struct pat_reader reader = {.key = r->key, .alloc = alloc, .record = record, .ctx = r};
	struct et_error e = {.tag = ""};
	ErlNifBinary bin;
	size_t at;

	if (!enif_inspect_iolist_as_binary(r->env, text, &bin)) {
		*error = enif_make_badarg(r->env);
		return -1;
	}
	if (pat_read(&reader, (const char *)bin.data, bin.size, pat, &at, &e) == 0)
		return 0;
	*error = enif_make_tuple2(r->env, atom_error,
		enif_make_tuple2(r->env, enif_make_uint64(r->env, at),
			enif_make_string(r->env, e.text, ERL_NIF_LATIN1)));
	return -1;
}

/* ---- match ------------------------------------------------------------------------------ */

/* Bits as a term, by the external format; if they are many, their number. */
static ERL_NIF_TERM bits_term(ErlNifEnv *env, const struct term_bits *b)
{
	size_t n = (b->n + 7) / 8;
	unsigned char *bytes = n <= COPIED ? malloc(n + 7) : NULL;
	ERL_NIF_TERM t = atom_error;

	if (bytes == NULL)
		return enif_make_uint64(env, b->n);
	memcpy(bytes,
		(unsigned char[]){131, 77, (unsigned char)(n >> 24), (unsigned char)(n >> 16),
			(unsigned char)(n >> 8), (unsigned char)n, b->n % 8 == 0 ? 8 : b->n % 8},
		7);
	for (size_t i = 0; i < n; i++)
		bytes[7 + i] = i < b->n / 8 || b->off + b->n % 8 > 8
				       ? term_octet(b, i)
				       : (unsigned char)(b->data[i] << b->off);
	if (n == 0)
		enif_make_new_binary(env, 0, &t);
	else
		enif_binary_to_term(env, bytes, n + 7, &t, 0);
	free(bytes);
	return t;
}

static ERL_NIF_TERM value_term(ErlNifEnv *env, const struct term_value *v)
{
	switch (v->kind) {
	case VALUE_BITS: return bits_term(env, &v->bits);
	case VALUE_INT: return enif_make_int64(env, v->num);
	case VALUE_UINT: return enif_make_uint64(env, (uint64_t)v->num);
	default: return v->term;
	}
}

static ERL_NIF_TERM bindings(ErlNifEnv *env, const struct pat *pat, const struct term_value *var)
{
	ERL_NIF_TERM list = enif_make_list(env, 0);

	for (unsigned i = pat->nvars; i-- > 0;)
		list = enif_make_list_cell(env,
			enif_make_tuple2(env, enif_make_string(env, pat->vars[i], ERL_NIF_LATIN1),
				value_term(env, &var[i])),
			list);
	return enif_make_tuple2(env, atom_match, list);
}

/*
 * match(Term, Pattern, [{Record, [Field]}]) -> {match, [{Name, Term}]} | nomatch | {error,
 * {Position, Text}}. For tests.
 */
ERL_NIF_TERM nif_match(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct reading *r = calloc(1, sizeof(*r));
	struct beam_patterns ps = {.env = NULL};
	struct term_value var[PAT_VARS], v = {.kind = VALUE_TERM, .term = argv[0]};
	ERL_NIF_TERM ret;
	struct pat pat;

	(void)argc;
	if (r == NULL)
		return enif_make_badarg(env);
	r->env = env;
	r->records = argv[2];
	if (read_pattern(r, argv[1], &pat, &ret) == 0) {
		if (beam_patterns_init(&ps, &pat, 1) < 0)
			ret = atom_error;
		else if (!beam_match_fails(&ps.pattern[0], &v) &&
			 beam_match(env, &ps.pattern[0], &v, var))
			ret = bindings(env, &pat, var);
		else
			ret = atom_nomatch;
		beam_patterns_fini(&ps);
	}
	free_all(r);
	free(r);
	return ret;
}

/* ---- questions -------------------------------------------------------------------------- */

static ERL_NIF_TERM ask_text(
	const struct beam_event *ev, uint64_t of, enum term_text what, unsigned size)
{
	const struct et_str *s;
	char buf[TEXT];

	if (!beam_term_ops.text(&ev->cur, of, what, buf, size, &s))
		return atom_undefined;
	return beam_make_text(ev->env, s != NULL ? s->text : buf);
}

static ERL_NIF_TERM ask_number(const struct beam_event *ev, uint64_t of, enum term_fact fact)
{
	int64_t n;

	return beam_term_ops.number(&ev->cur, of, fact, &n) ? enif_make_int64(ev->env, n)
							    : atom_undefined;
}

static ERL_NIF_TERM yes_no(int is)
{
	return is > 0 ? atom_true : is == 0 ? atom_false : atom_undefined;
}

/* Slot 0 has the term. */
static ERL_NIF_TERM answer(const struct beam_event *ev, const char *what, ERL_NIF_TERM arg)
{
	uint64_t of = beam_term_ops.source(&ev->cur, 0, PBI_ERLMSG, 0);
	ErlNifSInt64 n = 0;
	ErlNifUInt64 huge = 0;
	ErlNifBinary bin;

	if (!enif_get_int64(ev->env, arg, &n))
		enif_get_uint64(ev->env, arg, &huge);
	if (strcmp(what, "integer") == 0)
		return ask_number(ev, of, TERM_INTEGER);
	if (strcmp(what, "size") == 0)
		return ask_number(ev, of, TERM_SIZE);
	if (strcmp(what, "scaled") == 0)
		return beam_term_ops.number(&ev->cur, of, TERM_SCALED, &n)
			       ? enif_make_int64(ev->env, n)
			       : atom_undefined;
	if (strcmp(what, "type") == 0)
		return ask_text(ev, of, TERM_TYPE, TEXT);
	if (strcmp(what, "chars") == 0)
		return ask_text(ev, of, TERM_CHARS, n > 0 && n <= TEXT ? (unsigned)n : TEXT);
	if (strcmp(what, "printed") == 0)
		return ask_text(ev, of, TERM_PRINTED, TEXT);
	if (strcmp(what, "pretty") == 0)
		return ask_text(ev, of, TERM_PRETTY, TEXT);
	if (strcmp(what, "compare") == 0)
		return enif_make_int(ev->env, beam_term_ops.compare(&ev->cur, of,
						   huge != 0 ? huge : (uint64_t)n, huge != 0));
	if (strcmp(what, "equals") == 0 && enif_inspect_binary(ev->env, arg, &bin))
		return yes_no(beam_term_ops.equals(&ev->cur, of, (char *)bin.data, bin.size));
	if (strcmp(what, "same") == 0) /* of {A, B} */
		return enif_make_int(
			ev->env, beam_term_ops.same(&ev->cur,
					 beam_term_ops.part(&ev->cur, 1, TERM_ELEMENT, of, 1),
					 beam_term_ops.part(&ev->cur, 2, TERM_ELEMENT, of, 2)));
	if (strcmp(what, "element") == 0)
		return ask_text(ev, beam_term_ops.part(&ev->cur, 1, TERM_ELEMENT, of, (uint64_t)n),
			TERM_PRINTED, TEXT);
	if (strcmp(what, "hd") == 0)
		return ask_text(
			ev, beam_term_ops.part(&ev->cur, 1, TERM_HD, of, 0), TERM_PRINTED, TEXT);
	if (strcmp(what, "tl") == 0)
		return ask_text(
			ev, beam_term_ops.part(&ev->cur, 1, TERM_TL, of, 0), TERM_PRINTED, TEXT);
	if (strcmp(what, "key") == 0)
		return ask_text(
			ev, beam_term_ops.part(&ev->cur, 1, TERM_KEY, of, 0), TERM_PRINTED, TEXT);
	return enif_make_badarg(ev->env);
}

/*
 * look(Term, What, Argument) -> number, text or undefined: what a script would be told of the term.
 * For tests. With key, the argument is the text of the key.
 */
ERL_NIF_TERM nif_look(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct beam_handle *b = calloc(1, sizeof(*b));
	struct reading *r = calloc(1, sizeof(*r));
	struct beam_thread *t = beam_self != NULL ? beam_self : beam_thread_new();
	const ERL_NIF_TERM event[5] = {atom_send, atom_ok, atom_ok, argv[0], atom_ok};
	struct beam_event ev = {.env = env, .argv = event, .b = b};
	ERL_NIF_TERM ret = atom_error;
	struct pat pat;
	char what[32];

	(void)argc;
	if (b == NULL || r == NULL || t == NULL ||
		enif_get_atom(env, argv[1], what, sizeof(what), ERL_NIF_LATIN1) <= 0)
		goto out;
	r->env = env;
	r->records = atom_undefined;
	r->key = strcmp(what, "key") == 0;
	if (r->key && (read_pattern(r, argv[2], &pat, &ret) < 0 ||
			      beam_patterns_init(&b->patterns, &pat, 1) < 0))
		goto out;
	beam_thread_enter(t);
	ret = answer(&ev, what, argv[2]);
	beam_thread_leave(t);
	beam_patterns_fini(&b->patterns);
out:
	if (r != NULL)
		free_all(r);
	free(r);
	free(b);
	return ret;
}
