/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of Erlang that are compared with constants. Events have them as Erlang writes them, with
 * quotes where a program needs them: 'Elixir.MyApp.Load'. Here they compare as atoms do, whatever
 * their quotes: a constant that can be written in another way has that as its child `a`, and the
 * code compares with both.
 */
#include "check.h"
#include "erlang_words.h"
#include "utf8.h"

struct text {
	char *buf;
	size_t len;
};

static void put(struct text *t, const char *s, size_t n)
{
	memcpy(t->buf + t->len, s, n);
	t->len += n;
	t->buf[t->len] = '\0';
}

/* Does Erlang write this atom without quotes? (It depends on the release for maybe and else.) */
static bool is_bare(const char *s)
{
	size_t len = strlen(s), n;
	uint32_t c;

	for (size_t i = 0; i < len; i += n) {
		n = utf8_valid((const unsigned char *)s + i, len - i);
		c = n > 0 ? utf8_decode(s + i, n) : 0;
		if (i == 0 ? !erlang_is_small(c) : !erlang_is_inner(c))
			return false;
	}
	return len > 0 && !erlang_is_reserved(s) && strcmp(s, "maybe") != 0 &&
	       strcmp(s, "else") != 0;
}

static void put_quoted(struct text *t, const char *s)
{
	put(t, "'", 1);
	for (; *s != '\0'; s++) {
		char escape = erlang_escape((unsigned char)*s, '\'');

		if (escape != '\0')
			put(t, (const char[]){'\\', escape}, 2);
		else
			put(t, s, 1);
	}
	put(t, "'", 1);
}

/* The name in quotes at s, up to their end; NULL: there are none. */
static const char *unquoted(struct d_comp *comp, const char *s, char **name)
{
	struct text t = {.buf = arena_alloc(comp->arena, strlen(s) + 1)};

	if (!t.buf || *s++ != '\'')
		return NULL;
	for (; *s != '\0' && *s != '\''; s++) {
		char c = *s == '\\' && s[1] != '\0' ? erlang_unescape(*++s) : '\0';

		put(&t, c != '\0' ? &c : s, 1);
	}
	*name = t.buf;
	return *s == '\'' ? s + 1 : NULL;
}

/* The atom at from, which may have quotes, as Erlang writes it. */
static void put_atom(struct d_comp *c, struct text *t, const char *from, size_t len)
{
	const char *s = arena_strdup(c->arena, from, len), *end;
	char *name;

	if (!s)
		return;
	end = unquoted(c, s, &name);
	if (end && *end == '\0')
		s = name;
	if (is_bare(s))
		put(t, s, strlen(s));
	else
		put_quoted(t, s);
}

/* module:function/arity: where the colon is, and the last slash. */
static bool is_function(struct d_comp *c, const char *s, const char **colon, const char **slash)
{
	char *name;
	const char *end = unquoted(c, s, &name);

	*colon = end ? end : strchr(s, ':');
	*slash = strrchr(s, '/');
	return *colon && **colon == ':' && *slash && *slash > *colon + 1 && *colon > s &&
	       (*slash)[1] != '\0' && (*slash)[1 + strspn(*slash + 1, "0123456789")] == '\0';
}

/* Another text of the same name, or NULL. */
static const char *spelt_otherwise(struct d_comp *c, const char *s)
{
	struct text t = {.buf = arena_alloc(c->arena, 2 * strlen(s) + 8)};
	const char *colon, *slash, *end;
	char *name;

	if (!t.buf || *s == '\0' || is_bare(s))
		return NULL;
	t.buf[0] = '\0';
	if (is_function(c, s, &colon, &slash)) {
		put_atom(c, &t, s, (size_t)(colon - s));
		put(&t, ":", 1);
		put_atom(c, &t, colon + 1, (size_t)(slash - colon - 1));
		put(&t, slash, strlen(slash));
	} else if ((end = unquoted(c, s, &name)) != NULL && *end == '\0') {
		put(&t, name, strlen(name));
	} else {
		put_quoted(&t, s);
	}
	return t.buf[0] != '\0' && strcmp(t.buf, s) != 0 ? t.buf : NULL;
}

static bool is_erlang(const struct d_comp *c)
{
	return c->probe && !strncmp(c->probe->prov, "erlang", strlen("erlang"));
}

bool chk_is_name(const struct d_comp *c, const struct d_node *n)
{
	const struct d_ident *id = n->ident;

	switch (n->kind) {
	case N_STRINGOF:
	case N_CAST: return chk_is_name(c, n->a);
	case N_OP3: return chk_is_name(c, n->b) || chk_is_name(c, n->c);
	case N_FUNC:
		return id && id->kind == ID_FUNC &&
		       (id->id == FN_STATE_TEXT || (id->id == FN_COPYINSTR && is_erlang(c)));
	case N_VAR:
	case N_ASSOC: break;
	default: return false;
	}
	if (!id || id->kind != ID_BUILTIN)
		return id && id->of_name;
	switch (id->id) {
	case BI_ERLNAME:
	case BI_ERLNODE:
	case BI_ERLPEER:
	case BI_ERLPEERPROC:
	case BI_ERLPROC: return true;
	case BI_ARGS: return is_erlang(c);
	default: return false;
	}
}

int chk_names(struct d_comp *c, const struct d_node *n)
{
	struct d_node *text = n->a->kind == N_STR ? n->a : n->b;
	const struct d_node *name = text == n->a ? n->b : n->a;
	const char *other;

	if (text->kind != N_STR || (n->op != OP_EQ && n->op != OP_NE) || !chk_is_name(c, name) ||
		strlen(text->text) != text->len)
		return 0;
	other = spelt_otherwise(c, text->text);
	if (!other)
		return 0;
	text->a = chk_new(c, N_STR, text);
	if (!text->a)
		return -1;
	text->a->text = other;
	text->a->len = (uint32_t)strlen(other);
	text->a->type = text->type;
	text->a->flags = NF_CHECKED;
	return 0;
}
