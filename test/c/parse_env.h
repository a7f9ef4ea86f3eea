/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of the parser: a compiler without checker and code generator, and trees as text.
 */
#ifndef PARSE_ENV_H
#define PARSE_ENV_H

#include <stdlib.h>
#include <string.h>

#include "d/d.h"
#include "checks.h"

static struct et_options opts;

/* ---- a compiler without checker and code generator ------------------------------------ */

static inline struct d_comp *comp_new(void)
{
	struct d_comp *c = calloc(1, sizeof(*c));

	et_options_init(&opts);
	c->arena = arena_new();
	c->opts = &opts;
	c->file = "";
	c->globals = d_idtab_new(c);
	c->thises = d_idtab_new(c);
	if (d_types_init(c) != 0)
		abort();
	return c;
}

static inline void comp_free(struct d_comp *c)
{
	arena_free(c->arena);
	free(c);
	et_options_free(&opts);
}

static inline void source(struct d_comp *c, const char *text, size_t len)
{
	c->lex = NULL;
	c->source = text;
	c->source_len = len;
	et_err_clear(&c->error);
}

/* ---- trees as text -------------------------------------------------------------------- */

static char out[1 << 16];
static size_t outlen;

static inline void put(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static inline void put(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (outlen < sizeof(out) - 1)
		outlen += (size_t)vsnprintf(out + outlen, sizeof(out) - outlen, fmt, ap);
	va_end(ap);
}

static const char *const opnames[] = {"", "!", "~", "+", "-", "*", "&", "++x", "--x", "x++", "x--",
	"*", "/", "%", "+", "-", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&", "^", "|", "&&",
	"^^", "||", ",", "[]", "=",
	"*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|=", ".", "->"};
static const char *const scopes[] = {"", "self:", "this:", "sym:"};

static inline void show(const struct d_node *n);

static inline void show_list(const struct d_node *n, const char *sep)
{
	for (; n != NULL; n = n->next) {
		show(n);
		if (n->next != NULL)
			put("%s", sep);
	}
}

static inline void show_type(const struct d_type *t)
{
	char buf[256];

	put("<%s>", d_type_name(t, buf, sizeof(buf)));
}

static inline void show(const struct d_node *n)
{
	switch (n->kind) {
	case N_INT:
		put("%lld", (long long)n->value);
		if (n->type->size == 8 || !n->type->is_signed)
			put("%s%s", n->type->is_signed ? "" : "u", n->type->size == 8 ? "l" : "");
		break;
	case N_DECIMAL: put("%.*s", (int)n->len, n->text); break;
	case N_STR: put("\"%.*s\"", (int)n->len, n->text); break;
	case N_IDENT: put("%s%s", scopes[n->op], n->text); break;
	case N_ASSOC:
	case N_AGG:
		put("%s%s", n->kind == N_AGG ? "@" : scopes[n->op], n->text);
		if (n->list != NULL) {
			put("[");
			show_list(n->list, ",");
			put("]");
		}
		break;
	case N_FUNC:
		put("%s(", n->text);
		show_list(n->list, ",");
		put(")");
		break;
	case N_OP1:
	case N_OP2:
		put("(%s ", opnames[n->op]);
		show(n->a);
		if (n->kind == N_OP2) {
			put(" ");
			show(n->b);
		}
		put(")");
		break;
	case N_OP3:
		put("(? ");
		show(n->a);
		put(" ");
		show(n->b);
		put(" ");
		show(n->c);
		put(")");
		break;
	case N_MEMBER:
		put("(%s ", opnames[n->op]);
		show(n->a);
		put(" %s)", n->text);
		break;
	case N_CAST:
	case N_SIZEOF:
	case N_OFFSETOF:
	case N_STRINGOF:
	case N_XLATE:
		put("(%s", n->kind == N_CAST	   ? "cast"
			   : n->kind == N_SIZEOF   ? "sizeof"
			   : n->kind == N_OFFSETOF ? "offsetof"
			   : n->kind == N_XLATE	   ? "xlate"
						   : "stringof");
		if (n->type != NULL)
			show_type(n->type);
		if (n->text != NULL)
			put(" %s", n->text);
		if (n->a != NULL) {
			put(" ");
			show(n->a);
		}
		put(")");
		break;
	case N_EXPR:
		show(n->a);
		put(";");
		break;
	case N_IF:
		put("if ");
		show(n->a);
		put(" {");
		show_list(n->list, " ");
		put("}");
		if (n->b != NULL) {
			put(" else {");
			show_list(n->b->list, " ");
			put("}");
		}
		break;
	default: put("?"); break;
	}
}

static inline void show_desc(const struct d_pdesc *d)
{
	if (d->id != 0)
		put("#%u", d->id);
	else
		put("%s:%s:%s:%s", d->prov, d->mod, d->func, d->name);
}

static inline void show_params(const struct d_member *m)
{
	for (; m != NULL; m = m->next) {
		show_type(m->type);
		put("%s%s", m->name != NULL ? m->name : "", m->next != NULL ? "," : "");
	}
}

static inline void show_ident(const struct d_ident *id)
{
	put("%s%s", scopes[id->scope], id->name);
	if (id->keys != NULL) {
		put("[");
		for (unsigned i = 0; i < id->nkeys; i++) {
			show_type(id->keys[i]);
			put("%s%s", id->params != NULL ? id->params[i]->name : "",
				i + 1 < id->nkeys ? "," : "");
		}
		put("]");
	}
	show_type(id->type);
}

static inline void show_item(const struct d_item *it)
{
	switch (it->kind) {
	case IT_CLAUSE:
		for (const struct d_pdesc *d = it->clause->descs; d != NULL; d = d->next) {
			show_desc(d);
			put("%s", d->next != NULL ? "," : "");
		}
		if (it->clause->pred != NULL) {
			put("/");
			show(it->clause->pred);
			put("/");
		}
		if (it->clause->has_body) {
			put("{");
			show_list(it->clause->stmts, " ");
			put("}");
		}
		break;
	case IT_VAR:
		put("var ");
		show_ident(it->ident);
		break;
	case IT_INLINE:
		put("inline ");
		show_ident(it->ident);
		put("=");
		show(it->ident->expr);
		break;
	case IT_XLATOR:
		put("xlator ");
		show_type(it->xlator->out);
		show_type(it->xlator->in);
		put("%s{", it->xlator->param->name);
		for (const struct d_node *n = it->xlator->members; n != NULL; n = n->next) {
			put("%s=", n->text);
			show(n->a);
			put(";");
		}
		put("}");
		break;
	case IT_PROVIDER:
		put("provider %s{", it->provider->name);
		for (const struct d_probedecl *p = it->provider->probes; p != NULL; p = p->next) {
			put("%s(", p->name);
			show_params(p->args);
			put("):(");
			show_params(p->xargs);
			put(");");
		}
		put("}");
		break;
	case IT_TYPE: put("type"); break;
	case IT_END: break;
	}
}

/* All items of a text, one a space, or "D_TAG line:col text". */
static inline const char *parse_in(struct d_comp *c, const char *text, size_t len)
{
	struct d_item it;
	struct d_ident *id;

	outlen = 0;
	out[0] = '\0';
	source(c, text, len);
	for (;;) {
		if (d_parse_item(c, &it) != 0) {
			outlen = 0;
			put("%s %d:%d %s", c->error.tag, c->error.line, c->error.column,
				c->error.text);
			break;
		}
		if (it.kind == IT_END)
			break;
		if (outlen > 0)
			put(" | ");
		show_item(&it);
		/* What the checker would do: declared names are known from now on. */
		if ((it.kind == IT_VAR && it.ident->scope == SC_GLOBAL) || it.kind == IT_INLINE) {
			id = d_ident_add(c, c->globals, it.ident->name, it.ident->kind);
			id->expr = it.ident->expr;
			id->nkeys = it.ident->nkeys;
			id->type = it.ident->type;
			id->file = it.ident->file;
		}
	}
	return out;
}

static inline const char *parse(const char *text)
{
	struct d_comp *c = comp_new();
	static const char *const argv[] = {"script", "42", "-7", "foo", "0x10", "a b", "int", NULL};
	const char *s;

	c->argc = 7;
	c->argv = argv;
	c->target = 1234;
	s = parse_in(c, text, strlen(text));
	comp_free(c);
	return s;
}

static inline void expect(const char *text, const char *want)
{
	const char *got = parse(text);

	ok(strcmp(got, want) == 0, text, got);
}

/* A tag, and a piece of the text that helps. */
static inline void expect_error(const char *text, const char *tag, const char *piece)
{
	const char *got = parse(text);
	size_t n = strlen(tag);

	ok(strncmp(got, tag, n) == 0 && got[n] == ' ' && strstr(got, piece) != NULL, text, got);
}

static inline void expr(const char *text, const char *want)
{
	char src[512], all[512];

	snprintf(src, sizeof(src), "BEGIN { %s }", text);
	snprintf(all, sizeof(all), ":::BEGIN{%s;}", want);
	expect(src, all);
}

#endif
