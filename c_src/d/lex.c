/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lexer: source text to tokens, one at a time. The text may contain any bytes and ends at
 * lx->end, not at a NUL. Constants are in literal.c, macros in macro.c, probe descriptions in
 * pdesc.c; control lines are handled by pragma.c. Columns count bytes, from 1.
 */
#include "lex.h"

#include <string.h>

/* ---- characters ----------------------------------------------------------------------- */

static int peek(const struct d_lexer *lx, size_t i)
{
	return i < (size_t)(lx->end - lx->p) ? (unsigned char)lx->p[i] : -1;
}

static bool is_alpha(int ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_' || ch == '`';
}

bool d_lex_isword(int ch)
{
	return is_alpha(ch) || (ch >= '0' && ch <= '9');
}

bool d_lex_isname(const char *s)
{
	if (*s >= '0' && *s <= '9')
		return false;
	for (; *s != '\0'; s++)
		if (!d_lex_isword((unsigned char)*s))
			return false;
	return true;
}

static void newline(struct d_lexer *lx)
{
	lx->line++;
	lx->phys++;
	lx->bol = lx->p;
	lx->at_bol = true;
}

static int column(const struct d_lexer *lx)
{
	return (int)(lx->p - lx->bol) + 1;
}

static void bad_char(struct d_comp *c)
{
	struct d_lexer *lx = c->lex;
	unsigned char ch = (unsigned char)*lx->p;
	const char *hint = "";

	/* Typographic quotes and dashes of word processors are the most common case. */
	if (ch == 0xe2 && peek(lx, 1) == 0x80 && peek(lx, 2) >= 0x98 && peek(lx, 2) <= 0x9f)
		hint = ": use plain quotes";
	else if (ch == 0xe2 && peek(lx, 1) == 0x80 && peek(lx, 2) >= 0x90 && peek(lx, 2) <= 0x95)
		hint = ": use a plain '-'";
	else if (ch == 0xc2 && peek(lx, 1) == 0xa0)
		hint = ": use a plain space";
	else if (ch == '#' && (peek(lx, 1) == '{' || d_lex_isword(peek(lx, 1))))
		hint = ": a term or a pattern of Erlang is written as a string, as in "
		       "erlmatch(T, \"#{id := Id}\"); a control line begins with '#' at the start "
		       "of a line";
	else if (ch == '#')
		hint = ": a control line begins with '#' at the start of a line";
	if (ch > 0x20 && ch < 0x7f)
		d_error(c, D_SYNTAX, lx->line, column(lx), "invalid character '%c'%s", ch, hint);
	else
		d_error(c, D_SYNTAX, lx->line, column(lx), "invalid character \\x%02x%s", ch,
			hint);
	lx->tok.kind = TOK_ERR;
}

const char *d_lex_token_text(struct d_comp *c, char *buf, size_t size)
{
	const struct d_tok *t = &c->lex->tok;
	size_t n = (size_t)(t->stop - t->start);

	if (t->kind == TOK_EOF)
		return "end of input";
	if (n > size - 6)
		snprintf(buf, size, "\"%.*s...\"", (int)(size - 6), t->start);
	else
		snprintf(buf, size, "\"%.*s\"", (int)n, t->start);
	return buf;
}

/* ---- opening, lines ------------------------------------------------------------------- */

int d_lex_open(struct d_comp *c, const char *text, size_t len)
{
	struct d_lexer *lx = arena_new_of(c->arena, struct d_lexer);

	if (lx == NULL)
		return d_nomem(c);
	lx->src = lx->p = lx->bol = text;
	lx->end = text + len;
	lx->file = c->file != NULL ? c->file : "";
	lx->cfile = c->file;
	lx->line = lx->phys = 1;
	lx->at_bol = true;
	lx->tok.start = lx->tok.stop = text;
	lx->tok.line = lx->tok.col = 1;
	c->lex = lx;
	/* The option may have changed since the types were made. */
	if (c->opts != NULL && c->t.string != NULL)
		((struct d_type *)c->t.string)->size = d_str_bytes(c->opts);
	if (len > D_MAX_SOURCE)
		return d_error(c, D_SYNTAX, 0, 0, "the source is larger than %u MiB",
			D_MAX_SOURCE >> 20);
	return d_lex_line(c, 1, lx->file);
}

int d_lex_line(struct d_comp *c, int line, const char *file)
{
	struct d_lexer *lx = c->lex;
	struct d_linemap *m = arena_new_of(c->arena, struct d_linemap);
	bool first = lx->map == NULL;

	if (m == NULL)
		return d_nomem(c);
	m->phys = first ? 1 : lx->phys + 1;
	m->line = line;
	m->file = file;
	m->prev = lx->map;
	lx->map = m;
	lx->file = file;
	if (!first)
		lx->line = line - 1; /* incremented by the next newline */
	return 0;
}

/* ---- space, comments, control lines --------------------------------------------------- */

static int comment(struct d_comp *c)
{
	struct d_lexer *lx = c->lex;
	int line = lx->line, col = column(lx), at_line, at_col;

	for (lx->p += 2; lx->p < lx->end; lx->p++) {
		if (*lx->p == '\n') {
			bool bol = lx->at_bol;

			lx->p++;
			newline(lx);
			lx->at_bol = bol;
			lx->p--;
		} else if (*lx->p == '*' && peek(lx, 1) == '/') {
			lx->p += 2;
			return 0;
		} else if (*lx->p == '/' && peek(lx, 1) == '*') {
			at_line = lx->line;
			at_col = column(lx);
			return d_error(c, D_SYNTAX, at_line, at_col,
				"/* inside the comment that starts at line %d: comments do not "
				"nest",
				line);
		}
	}
	return d_error(c, D_SYNTAX, line, col, "the comment has no end: */ is missing");
}

/* A line that begins with "#", to its end; a backslash continues it on the next. */
static int control(struct d_comp *c)
{
	struct d_lexer *lx = c->lex;
	const char *p = ++lx->p;
	int line = lx->line, rc = 0;
	size_t n = 0;
	char *text;

	for (; p < lx->end && *p != '\n'; p++)
		if (*p == '\\' && p + 1 < lx->end && p[1] == '\n')
			p++;
	text = arena_alloc(c->arena, (size_t)(p - lx->p) + 1);
	if (text == NULL)
		return d_nomem(c);
	while (lx->p < p) {
		if (*lx->p == '\\' && lx->p + 1 < p && lx->p[1] == '\n') {
			lx->p += 2;
			newline(lx);
		} else {
			text[n++] = *lx->p++;
		}
	}
	while (n > 0 && (text[n - 1] == '\r' || text[n - 1] == ' ' || text[n - 1] == '\t'))
		n--;
	text[n] = '\0';
	if (text[0] != '!')
		rc = d_pragma(c, text, line);
	lx->at_bol = false; /* until the newline */
	return rc;
}

int d_lex_space(struct d_comp *c)
{
	struct d_lexer *lx = c->lex;

	for (;;) {
		switch (peek(lx, 0)) {
		case '\n':
			lx->p++;
			newline(lx);
			break;
		case ' ':
		case '\t':
		case '\r':
		case '\f':
		case '\v': lx->p++; break;
		case '\\':
			if (peek(lx, 1) == '\n')
				lx->p += 2;
			else if (peek(lx, 1) == '\r' && peek(lx, 2) == '\n')
				lx->p += 3;
			else
				return 0;
			newline(lx);
			lx->at_bol = false;
			break;
		case '/':
			if (peek(lx, 1) != '*')
				return 0;
			if (comment(c) != 0)
				return -1;
			break;
		case '#':
			if (!lx->at_bol)
				return 0;
			if (control(c) != 0)
				return -1;
			break;
		default: return 0;
		}
	}
}

/*
 * Does the slash at lx->p end the predicate? Yes if it is followed, after space and comments, by
 * the end of the text, ';', '{' or '/'.
 */
static bool ends_predicate(const struct d_lexer *lx)
{
	const char *p = lx->p + 1;

	while (p < lx->end) {
		if (*p == ' ' || (*p >= '\t' && *p <= '\r')) {
			p++;
		} else if (*p == '/' && p + 1 < lx->end && p[1] == '*') {
			for (p += 2; p + 1 < lx->end && (p[0] != '*' || p[1] != '/'); p++)
				;
			p += 2;
		} else {
			return *p == ';' || *p == '{' || *p == '/';
		}
	}
	return true;
}

/* ---- names and keywords --------------------------------------------------------------- */

static const char *const keywords[] = {"_Bool", "auto", "break", "case", "char", "const",
	"continue", "counter", "default", "do", "double", "else", "enum", "extern", "float", "for",
	"goto", "if", "import", "inline", "int", "long", "offsetof", "provider", "register",
	"restrict", "return", "self", "short", "signed", "sizeof", "static", "string", "stringof",
	"struct", "switch", "this", "translator", "typedef", "union", "unsigned", "void",
	"volatile", "while", "xlate"};
_Static_assert(sizeof(keywords) / sizeof(keywords[0]) == KW_END - KW_FIRST, "keyword table");

static int keyword(const char *s, size_t len)
{
	size_t lo = 0, hi = KW_END - KW_FIRST;

	if (len < 2 || len > 10)
		return 0;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		int d = strncmp(s, keywords[mid], len);

		if (d == 0 && keywords[mid][len] != '\0')
			d = -1;
		if (d == 0)
			return KW_FIRST + (int)mid;
		if (d < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return 0;
}

/*
 * A name is a type if there is such a type and no variable or inline hides it. stack is both a type
 * and an action: declarations take it as a type anyway (decl.c).
 */
static int word_kind(struct d_comp *c, const char *name, size_t len)
{
	const struct d_type *t;
	int kw = keyword(name, len);

	if (kw != 0)
		return kw;
	t = d_typedef_find(c, name);
	if (t == NULL || strcmp(name, "stack") == 0)
		return TOK_IDENT;
	if (c->globals != NULL && d_name_find(c, c->globals, name) != NULL)
		return TOK_IDENT;
	return TOK_TYPENAME;
}

static void word(struct d_comp *c)
{
	struct d_lexer *lx = c->lex;
	struct d_tok *t = &lx->tok;
	size_t n = 0;

	while (d_lex_isword(peek(lx, n)))
		n++;
	if (n > D_MAX_IDENT) {
		d_error(c, D_SYNTAX, t->line, t->col, "a name of more than %d bytes",
			D_MAX_IDENT);
		t->kind = TOK_ERR;
		return;
	}
	t->text = arena_strdup(c->arena, lx->p, n);
	t->len = (uint32_t)n;
	if (t->text == NULL || t->text[n - 1] == '`') {
		d_error(c, D_SYNTAX, t->line, t->col, "a name is missing after \"%.64s\"",
			t->text != NULL ? t->text : "");
		t->kind = TOK_ERR;
		return;
	}
	lx->p += n;
	t->kind = word_kind(c, t->text, n);
}

/* ---- tokens --------------------------------------------------------------------------- */

static const struct {
	char s[4];
	int kind;
} puncts[] = {
	/* longer ones first */
	{"...", TOK_ELLIPSIS},
	{"<<=", TOK_ASG_SHL},
	{">>=", TOK_ASG_SHR},
	{"++", TOK_INC},
	{"--", TOK_DEC},
	{"->", TOK_ARROW},
	{"<<", TOK_SHL},
	{">>", TOK_SHR},
	{"<=", TOK_LE},
	{">=", TOK_GE},
	{"==", TOK_EQ},
	{"!=", TOK_NE},
	{"&&", TOK_LAND},
	{"||", TOK_LOR},
	{"^^", TOK_LXOR},
	{"+=", TOK_ASG_ADD},
	{"-=", TOK_ASG_SUB},
	{"*=", TOK_ASG_MUL},
	{"/=", TOK_ASG_DIV},
	{"%=", TOK_ASG_MOD},
	{"&=", TOK_ASG_AND},
	{"^=", TOK_ASG_XOR},
	{"|=", TOK_ASG_OR},
};

/* Consume a punctuation token of len bytes. */
static void put_punct(struct d_comp *c, int kind, size_t len)
{
	c->lex->p += len;
	c->lex->tok.kind = kind;
}

static void slash(struct d_comp *c)
{
	struct d_lexer *lx = c->lex;

	if (lx->in_pred && ends_predicate(lx)) {
		put_punct(c, TOK_EPRED, 1);
	} else if (peek(lx, 1) == '/') {
		d_error(c, D_SYNTAX, lx->line, column(lx),
			"// does not begin a comment: D has only /* ... */");
		lx->tok.kind = TOK_ERR;
	} else if (peek(lx, 1) == '=') {
		put_punct(c, TOK_ASG_DIV, 2);
	} else {
		put_punct(c, '/', 1);
	}
}

static void punct(struct d_comp *c)
{
	struct d_lexer *lx = c->lex;
	int c0 = peek(lx, 0), c1 = peek(lx, 1), c2 = peek(lx, 2);

	for (size_t i = 0; i < sizeof(puncts) / sizeof(puncts[0]); i++) {
		const char *s = puncts[i].s;

		if (s[0] == c0 && s[1] == c1 && (s[2] == '\0' || s[2] == c2)) {
			put_punct(c, puncts[i].kind, s[2] == '\0' ? 2 : 3);
			return;
		}
	}
	if (c0 > 0 && strchr("!%&()*+,-.:;<=>?[]^{|}~", c0) != NULL)
		put_punct(c, c0, 1);
	else
		bad_char(c);
}

static void begin(struct d_lexer *lx)
{
	struct d_tok *t = &lx->tok;

	memset(t, 0, sizeof(*t));
	t->line = lx->line;
	t->col = column(lx);
	t->start = t->stop = lx->p;
	lx->at_bol = false;
}

static void aggregation(struct d_comp *c)
{
	struct d_lexer *lx = c->lex;

	lx->p++;
	if (is_alpha(peek(lx, 0))) {
		word(c);
		if (lx->tok.kind == TOK_ERR)
			return;
	} else {
		lx->tok.text = "_";
		lx->tok.len = 1;
	}
	lx->tok.kind = TOK_AGG;
}

void d_lex(struct d_comp *c)
{
	struct d_lexer *lx = c->lex;
	int ch;

	if (lx->tok.kind == TOK_ERR)
		return;
	if (d_lex_space(c) != 0) {
		lx->tok.kind = TOK_ERR;
		return;
	}
	begin(lx);
	ch = peek(lx, 0);
	if (ch < 0)
		lx->tok.kind = TOK_EOF;
	else if (is_alpha(ch))
		word(c);
	else if ((ch >= '0' && ch <= '9') ||
		 (ch == '.' && peek(lx, 1) >= '0' && peek(lx, 1) <= '9'))
		d_lex_number(c);
	else if (ch == '"')
		d_lex_string(c);
	else if (ch == '\'')
		d_lex_char(c);
	else if (ch == '@')
		aggregation(c);
	else if (ch == '$')
		d_lex_macro(c);
	else if (ch == '/')
		slash(c);
	else
		punct(c);
	lx->tok.stop = lx->p;
}

/* ---- where an item may begin ---------------------------------------------------------- */

/*
 * Declarations begin with a keyword or a type; but such a word with a ':' or a '-' in the same run
 * of characters ("int:::entry", "this-probe") is a probe description.
 */
static bool begins_decl(struct d_comp *c)
{
	struct d_lexer *lx = c->lex;
	size_t n = 0, run;
	struct d_tok t;
	char *name;

	while (d_lex_isword(peek(lx, n)))
		n++;
	if (n == 0 || n > D_MAX_IDENT || !is_alpha(peek(lx, 0)))
		return false;
	for (run = n; run < D_MAX_IDENT && d_pspec_char(peek(lx, run)); run++)
		if (peek(lx, run) == ':' || peek(lx, run) == '-')
			return false;
	name = arena_strdup(c->arena, lx->p, n);
	if (name == NULL)
		return false;
	t.kind = word_kind(c, name, n);
	t.text = name;
	if (d_starts_decl(&t))
		return true;
	while (peek(lx, n) == ' ' || peek(lx, n) == '\t') /* u32 x; */
		n++;
	return n > run && is_alpha(peek(lx, n)) && d_kernel_typedef(c, name) != NULL;
}

void d_lex_top(struct d_comp *c)
{
	struct d_lexer *lx = c->lex;
	int ch;

	do {
		if (d_lex_space(c) != 0) {
			lx->tok.kind = TOK_ERR;
			return;
		}
		begin(lx);
		ch = peek(lx, 0);
		if (ch == ';')
			lx->p++;
	} while (ch == ';');
	if (ch < 0) {
		lx->tok.kind = TOK_EOF;
	} else if (begins_decl(c)) {
		d_lex(c);
	} else if (d_pspec_char(ch) || ch == '\'') {
		d_lex_pspec(c);
	} else if (ch == '/' && peek(lx, 1) == '/') {
		slash(c);
	} else if (ch == '}') {
		d_error(c, D_SYNTAX, lx->line, column(lx),
			"syntax error near \"}\": nothing is "
			"open here");
		lx->tok.kind = TOK_ERR;
	} else if (ch < 0x20 || ch >= 0x7f || ch == '#') {
		bad_char(c);
	} else {
		d_error(c, D_SYNTAX, lx->line, column(lx),
			"syntax error near \"%c\": expected a probe description or a declaration",
			ch);
		lx->tok.kind = TOK_ERR;
	}
	lx->tok.stop = lx->p;
}
