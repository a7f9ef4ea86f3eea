/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Macro variables: $0, $1 and so on are the arguments of the script; $pid, $target and the like
 * come from the system. $x is an integer, a name or a string, depending on its text; $$x is always
 * a string.
 * In probe descriptions (pdesc.c) both are inserted as text.
 */
#include "lex.h"

#include <string.h>
#include <unistd.h>

static const char *number(struct d_comp *c, long long v)
{
	return arena_printf(c->arena, "%lld", v);
}

/* $pid and the like; NULL: no such name. */
static const char *named(struct d_comp *c, const char *name, size_t len)
{
	static const char *const names[] = {
		"egid", "euid", "gid", "pid", "pgid", "ppid", "projid", "sid", "target", "uid"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
			break;
	switch (i) {
	case 0: return number(c, getegid());
	case 1: return number(c, geteuid());
	case 2: return number(c, getgid());
	case 3: return number(c, getpid());
	case 4: return number(c, getpgrp());
	case 5: return number(c, getppid());
	case 6: return "0"; /* Linux has no projects */
	case 7: return number(c, getsid(0));
	case 8: return number(c, c->target); /* 0 without -p and -c, as in dtrace */
	case 9: return number(c, getuid());
	}
	return NULL;
}

static const char *missing_arg(
	struct d_comp *c, const char *p, size_t n, bool *missing, int line, int col)
{
	if (c->opts != NULL && c->opts->val[OPT_DEFAULTARGS] != 0) {
		*missing = true;
		return "";
	}
	if (p[0] >= '0' && p[0] <= '9')
		d_error(c, D_MACRO_UNDEF, line, col,
			"macro argument $%.*s is not defined: the script was given %d argument%s "
			"(-x defaultargs makes missing ones 0 or \"\")",
			(int)n, p, c->argc > 0 ? c->argc - 1 : 0, c->argc == 2 ? "" : "s");
	else
		d_error(c, D_MACRO_UNDEF, line, col,
			"macro variable $%.*s is not defined: name a process with -p or -c", (int)n,
			p);
	return NULL;
}

static const char *argument(
	struct d_comp *c, const char *p, size_t n, bool *missing, int line, int col)
{
	unsigned long i = 0;

	for (size_t k = 0; k < n; k++)
		if (i < 1000000)
			i = i * 10 + (unsigned long)(p[k] - '0');
	if (i >= D_MAX_MACROARGS) {
		d_error(c, D_MACRO_OFLOW, line, col, "macro argument $%.*s: the last one is $%d",
			n > 32 ? 32 : (int)n, p, D_MAX_MACROARGS - 1);
		return NULL;
	}
	if (i < (unsigned long)(c->argc > 0 ? c->argc : 0) && c->argv[i] != NULL) {
		c->argused[i] = 1;
		return c->argv[i];
	}
	return missing_arg(c, p, n, missing, line, col);
}

const char *d_macro_text(struct d_comp *c, const char *p, const char *end, size_t *used,
	bool *missing, int line, int col)
{
	const char *text;
	size_t n = 0;

	*missing = false;
	if (p < end && *p >= '0' && *p <= '9') {
		while (p + n < end && p[n] >= '0' && p[n] <= '9')
			n++;
		*used = n;
		return argument(c, p, n, missing, line, col);
	}
	while (p + n < end && p[n] != '`' && d_lex_isword((unsigned char)p[n]))
		n++;
	*used = n;
	if (n == 0) {
		d_error(c, D_SYNTAX, line, col, "a name or a number is missing after '$'");
		return NULL;
	}
	text = named(c, p, n);
	if (text == NULL)
		d_error(c, D_MACRO_UNDEF, line, col, "macro variable $%.*s is not defined",
			n > 64 ? 64 : (int)n, p);
	else if (text[0] == '\0')
		return missing_arg(c, p, n, missing, line, col);
	return text;
}

/* ---- as a token ----------------------------------------------------------------------- */

/* Is it a quoted string as a whole? */
static bool is_string(const char *s)
{
	if (*s++ != '"')
		return false;
	for (; *s != '\0' && *s != '"'; s++)
		if (*s == '\\' && s[1] != '\0')
			s++;
	return s[0] == '"' && s[1] == '\0';
}

/* "-5" becomes one constant, so that the smallest integer can be passed. */
static int integer(struct d_comp *c, const char *s, struct d_tok *t)
{
	bool neg = *s == '-';
	size_t len;
	int rc;

	if (*s == '-' || *s == '+')
		s++;
	len = strlen(s);
	if (len == 0 || *s < '0' || *s > '9')
		return 's';
	rc = d_int_parse(c, s, len, &t->value, &t->type);
	if (rc == 'o' && s[len - 1] >= '0' && s[len - 1] <= '9' && len < 24) {
		/* A decimal argument may be an address, or the smallest integer. */
		char u[32];

		snprintf(u, sizeof(u), "%su", s);
		rc = d_int_parse(c, u, len + 1, &t->value, &t->type);
		if (rc == 0 && neg)
			t->type = c->t.long_;
		if (rc == 0 && neg && t->value > (uint64_t)INT64_MAX + 1)
			rc = 'o';
	}
	if (rc == 0 && neg) {
		t->value = -t->value;
		if (t->type == c->t.long_ && (int64_t)t->value >= INT32_MIN)
			t->type = c->t.int_;
	}
	return rc;
}

static void text_token(struct d_tok *t, const char *s)
{
	t->kind = TOK_STR;
	t->text = s;
	t->len = (uint32_t)strnlen(s, D_MAX_STRING);
}

void d_lex_macro(struct d_comp *c)
{
	struct d_lexer *lx = c->lex;
	struct d_tok *t = &lx->tok;
	size_t skip = lx->p + 1 < lx->end && lx->p[1] == '$' ? 2 : 1, used;
	const char *s;
	bool missing;
	int rc;

	t->kind = TOK_ERR;
	s = d_macro_text(c, lx->p + skip, lx->end, &used, &missing, t->line, t->col);
	if (s == NULL)
		return;
	lx->p += skip + used;
	if (skip == 2) {
		text_token(t, s);
		return;
	}
	rc = integer(c, missing ? "0" : s, t);
	if (rc == 0) {
		t->kind = TOK_INT;
	} else if (rc == 'o') {
		d_error(c, D_MACRO_OFLOW, t->line, t->col,
			"macro argument %.*s is too large an integer: %.64s", (int)(skip + used),
			t->start, s);
	} else if (s[0] != '\0' && d_lex_decimal(s, strlen(s)) == strlen(s)) {
		text_token(t, s);
		t->kind = TOK_DECIMAL;
		t->value = 1;
	} else if (is_string(s) || (s[0] != '\0' && d_lex_isname(s) && strlen(s) <= D_MAX_IDENT)) {
		struct d_lexer saved = *lx;

		/* A keyword, a type or a string, lexed as if it were in the script. */
		lx->p = s;
		lx->end = s + strlen(s);
		t->kind = 0;
		d_lex(c);
		saved.tok.kind = lx->tok.kind;
		saved.tok.text = lx->tok.text;
		saved.tok.len = lx->tok.len;
		*lx = saved;
	} else {
		text_token(t, s);
	}
}
