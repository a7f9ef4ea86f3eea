/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The top level of the parser: one item at a time, so that its declarations are known when the next
 * one is read. An item ends at its last token, which is not consumed, as what follows may have
 * other lexical rules. Expressions are in parse_expr.c, declarations in decl.c and struct.c.
 */
#include "lex.h"

#include <string.h>

/* ---- helpers -------------------------------------------------------------------------- */

/* Is the token the middle or the end of =:= or =/=? */
static bool is_erlang_equals(const struct d_lexer *lx)
{
	const struct d_tok *t = &lx->tok;

	if (t->start == NULL || t->start == lx->src || t->start[-1] != '=')
		return false;
	return t->kind == TOK_ASG_DIV || (t->kind == ':' && t->stop[0] == '=');
}

int d_syntax(struct d_comp *c, const char *expected)
{
	const struct d_lexer *lx = c->lex;
	const struct d_tok *t = &lx->tok;
	char near[64], hint[96] = "";

	if (t->kind == TOK_ERR)
		return d_error(c, D_SYNTAX, t->line, t->col, "syntax error");
	if (lx->clause != NULL && t->kind == TOK_EOF)
		return d_error(c, D_SYNTAX, t->line, t->col,
			"syntax error near end of input: %s; the clause that starts at line %d is "
			"not closed by '}'",
			expected, lx->clause->line);
	if (is_erlang_equals(lx))
		snprintf(hint, sizeof(hint), "; Erlang's =:= and =/= are written == and != here");
	else if (lx->clause != NULL && (t->kind == ':' || t->kind == '{'))
		snprintf(hint, sizeof(hint),
			"; is a '}' missing in the clause that starts at line %d?",
			lx->clause->line);
	return d_error(c, D_SYNTAX, t->line, t->col, "syntax error near %s: %s%s",
		d_lex_token_text(c, near, sizeof(near)), expected, hint);
}

bool d_accept(struct d_comp *c, int kind)
{
	if (c->lex->tok.kind != kind)
		return false;
	d_lex(c);
	return true;
}

int d_expect(struct d_comp *c, int kind, const char *what)
{
	if (c->lex->tok.kind != kind)
		return d_syntax(c, what);
	d_lex(c);
	return 0;
}

int d_enter(struct d_comp *c)
{
	if (++c->depth <= D_MAX_DEPTH)
		return 0;
	return d_error(c, D_SYNTAX, c->lex->tok.line, c->lex->tok.col,
		"nested too deeply: more than %d levels", D_MAX_DEPTH);
}

/* ---- statements ----------------------------------------------------------------------- */

static int parse_stmts(struct d_comp *c, struct d_node **list);
static struct d_node *parse_stmt(struct d_comp *c);

/* A statement or a block, after if (e) or else. */
static int parse_branch(struct d_comp *c, struct d_node **list)
{
	if (c->lex->tok.kind == '{') {
		d_lex(c);
		if (parse_stmts(c, list) != 0)
			return -1;
		return d_expect(c, '}', "expected '}'");
	}
	if (d_accept(c, ';'))
		return 0;
	*list = parse_stmt(c);
	return *list != NULL ? 0 : -1;
}

static struct d_node *parse_if(struct d_comp *c)
{
	struct d_node *n = d_node_new(c, N_IF, d_here(c));
	struct d_at at;

	d_lex(c);
	if (n == NULL || d_expect(c, '(', "expected '(' after if") != 0)
		return NULL;
	n->a = d_parse_expr(c);
	if (n->a == NULL || d_expect(c, ')', "expected ')'") != 0 || parse_branch(c, &n->list) != 0)
		return NULL;
	if (c->lex->tok.kind != KW_ELSE)
		return n;
	at = d_here(c);
	d_lex(c);
	n->b = d_node_new(c, N_BLOCK, at);
	if (n->b == NULL || parse_branch(c, &n->b->list) != 0)
		return NULL;
	return n;
}

static struct d_node *parse_expr_stmt(struct d_comp *c)
{
	struct d_node *n = d_node_new(c, N_EXPR, d_here(c));

	if (n == NULL || (n->a = d_parse_expr(c)) == NULL)
		return NULL;
	n->line = n->a->line;
	n->col = n->a->col;
	if (!d_accept(c, ';') && c->lex->tok.kind != '}') {
		d_syntax(c, "expected ';' or an operator");
		return NULL;
	}
	return n;
}

static struct d_node *parse_stmt(struct d_comp *c)
{
	struct d_node *n;

	if (d_enter(c) != 0)
		return NULL;
	n = c->lex->tok.kind == KW_IF ? parse_if(c) : parse_expr_stmt(c);
	c->depth--;
	return n;
}

/* Statements up to a '}', which is not consumed. */
static int parse_stmts(struct d_comp *c, struct d_node **list)
{
	while (c->lex->tok.kind != '}') {
		if (d_accept(c, ';'))
			continue;
		if (c->lex->tok.kind == TOK_EOF)
			return d_syntax(c, "expected '}'");
		*list = parse_stmt(c);
		if (*list == NULL)
			return -1;
		list = &(*list)->next;
	}
	return 0;
}

/* ---- clauses -------------------------------------------------------------------------- */

/* The token after a description: only ',', '/' and '{' are read, anything else is left alone. */
static int behind_pspec(struct d_comp *c)
{
	struct d_lexer *lx = c->lex;
	int ch;

	if (d_lex_space(c) != 0)
		return TOK_ERR;
	ch = lx->p < lx->end ? (unsigned char)*lx->p : TOK_EOF;
	lx->tok.kind = ch;
	lx->tok.line = lx->line;
	lx->tok.col = (int)(lx->p - lx->bol) + 1;
	lx->tok.start = lx->p;
	lx->tok.stop = lx->p + (lx->p < lx->end);
	if (ch == ',' || ch == '{' || ch == '/') {
		lx->at_bol = false;
		lx->p++;
	}
	return ch;
}

/* With -P, -m and -f descriptions lack the parts after the one that they name. */
static const char *whole_desc(struct d_comp *c, const char *text)
{
	return c->colons > 0 ? arena_printf(c->arena, "%s%.*s", text, (int)c->colons, ":::") : text;
}

static int parse_descs(struct d_comp *c, struct d_clause *cl)
{
	struct d_lexer *lx = c->lex;
	struct d_pdesc **next = &cl->descs;

	for (;;) {
		const char *text = whole_desc(c, lx->tok.text);

		if (text == NULL)
			return d_nomem(c);
		*next = d_pdesc_make(c, text, strlen(text), lx->tok.line, lx->tok.col);
		if (*next == NULL)
			return -1;
		(*next)->start = lx->tok.start;
		(*next)->end = lx->tok.stop;
		next = &(*next)->next;
		if (behind_pspec(c) != ',')
			return lx->tok.kind == TOK_ERR ? -1 : 0;
		if (d_lex_space(c) != 0)
			return -1;
		lx->tok.line = lx->line;
		lx->tok.col = (int)(lx->p - lx->bol) + 1;
		d_lex_pspec(c);
		if (lx->tok.kind == TOK_ERR)
			return -1;
	}
}

/* Starts at the opening slash; stops at the '{' after the predicate. */
static int parse_predicate(struct d_comp *c, struct d_clause *cl)
{
	struct d_lexer *lx = c->lex;

	if (lx->p < lx->end && *lx->p == '/')
		return d_error(c, D_SYNTAX, lx->tok.line, lx->tok.col,
			"// is an empty predicate, not a comment: D has only /* ... */");
	lx->in_pred = true;
	d_lex(c);
	cl->pred = d_parse_expr(c);
	if (cl->pred == NULL)
		return -1;
	if (lx->tok.kind != TOK_EPRED)
		return d_syntax(c, "expected '/' at the end of the predicate");
	lx->in_pred = false;
	d_lex(c);
	if (lx->tok.kind == '/' || (lx->tok.kind == TOK_EOF && lx->clause == NULL))
		return d_syntax(c, "expected '{' after the predicate");
	if (lx->tok.kind != '{')
		return d_syntax(c, "expected '{': a predicate needs actions in braces after it");
	return 0;
}

/* A description without a body: find out what the user meant. */
static int no_body(struct d_comp *c, const struct d_clause *cl)
{
	struct d_lexer *lx = c->lex;
	const struct d_pdesc *d = cl->descs;
	int ch = lx->tok.kind;

	if (ch == '/' || ch == '{')
		return 0;
	if (c->probe_ok)
		return 1;
	if (d->next == NULL && d->prov[0] == '\0' && d->func[0] == '\0' && d->mod[0] == '\0' &&
		(d_lex_isword(ch) || ch == '*') && lx->tok.line == cl->line)
		return d_error(c, D_SYNTAX, cl->line, cl->col,
			"expected a predicate or { actions } after probe description \"%.64s\"; "
			"if it "
			"is meant as a type, it is not declared",
			d->name);
	if (ch == '=' || ch == '(')
		return d_error(c, D_SYNTAX, lx->tok.line, lx->tok.col,
			"syntax error near \"%c\": statements go in the braces of a clause: "
			"probe /predicate/ { statements }",
			ch);
	return d_error(c, D_SYNTAX, cl->line, cl->col,
		"expected a predicate or { actions } after the probe description");
}

static struct d_clause *parse_clause(struct d_comp *c)
{
	struct d_lexer *lx = c->lex;
	struct d_clause *cl = arena_new_of(c->arena, struct d_clause);
	int rc;

	if (cl == NULL)
		return d_nomem_null(c);
	cl->line = lx->tok.line;
	cl->col = lx->tok.col;
	if (parse_descs(c, cl) != 0 || (rc = no_body(c, cl)) < 0)
		return NULL;
	cl->end_line = cl->line;
	cl->behind = lx->tok.start;
	if (rc > 0)
		return cl;
	lx->clause = cl;
	if (lx->tok.kind == '/' && parse_predicate(c, cl) != 0)
		return NULL;
	cl->has_body = true;
	d_lex(c);
	if (parse_stmts(c, &cl->stmts) != 0)
		return NULL;
	lx->clause = NULL;
	cl->end_line = lx->tok.line;
	return cl;
}

/* ---- translator, inline, provider ----------------------------------------------------- */

static struct d_ident *new_ident(struct d_comp *c, const struct d_decl *d, enum d_idkind kind)
{
	struct d_ident *id = arena_new_of(c->arena, struct d_ident);
	const struct d_member *m;

	if (id == NULL)
		return d_nomem_null(c);
	id->name = d->name;
	id->kind = kind;
	id->scope = d->cls == KW_SELF ? SC_SELF : d->cls == KW_THIS ? SC_THIS : SC_GLOBAL;
	id->id = UINT16_MAX;
	id->type = d->type;
	id->declared = true;
	id->line = d->line;
	id->file = c->lex->file;
	for (m = d->keys; m != NULL; m = m->next)
		id->nkeys++;
	if (id->nkeys > 0) {
		unsigned i = 0;

		id->keys = arena_alloc(c->arena, id->nkeys * sizeof(id->keys[0]));
		if (id->keys == NULL)
			return d_nomem_null(c);
		for (m = d->keys; m != NULL; m = m->next)
			id->keys[i++] = m->type;
	}
	return id;
}

/* translator OUT < IN id > { m = e; ... }; */
static struct d_xlator *parse_xlator(struct d_comp *c)
{
	struct d_xlator *x = arena_new_of(c->arena, struct d_xlator);
	struct d_decl base, in;
	struct d_node **next;

	if (x == NULL)
		return d_nomem_null(c);
	x->line = c->lex->tok.line;
	d_lex(c);
	x->out = d_parse_typename(c);
	if (x->out == NULL || d_expect(c, '<', "expected '<' and what is translated") != 0)
		return NULL;
	if (d_decl_specs(c, &base) != 0 || d_declarator(c, &base, NAME_NEEDED, &in) != 0)
		return NULL;
	if (base.cls != 0) {
		d_error(c, D_DECL_PARMCLASS, base.line, base.col,
			"the input of a translator has no storage class");
		return NULL;
	}
	x->in = in.type;
	x->param = new_ident(c, &in, ID_XLPARAM);
	if (x->param == NULL || d_expect(c, '>', "expected '>'") != 0 ||
		d_expect(c, '{', "expected '{'") != 0)
		return NULL;
	for (next = &x->members; c->lex->tok.kind != '}'; next = &(*next)->next) {
		const struct d_tok *t = &c->lex->tok;

		if (t->text == NULL || t->kind == TOK_STR || t->kind == TOK_AGG) {
			d_syntax(c, "expected a member of the output, or '}'");
			return NULL;
		}
		*next = d_node_new(c, N_OP2, d_here(c));
		if (*next == NULL)
			return NULL;
		(*next)->op = OP_ASG;
		(*next)->text = t->text;
		d_lex(c);
		if (d_expect(c, '=', "expected '='") != 0)
			return NULL;
		(*next)->a = d_parse_assign(c);
		if ((*next)->a == NULL || d_expect(c, ';', "expected ';'") != 0)
			return NULL;
	}
	d_lex(c);
	if (c->lex->tok.kind != ';') {
		d_syntax(c, "expected ';' after the translator");
		return NULL;
	}
	return x;
}

static int inline_params(struct d_comp *c, struct d_ident *id, const struct d_decl *d)
{
	const struct d_member *m;
	unsigned i = 0;

	if (id->nkeys == 0)
		return 0;
	id->params = arena_alloc(c->arena, id->nkeys * sizeof(id->params[0]));
	if (id->params == NULL)
		return d_nomem(c);
	for (m = d->keys; m != NULL; m = m->next, i++) {
		struct d_decl p = {.name = m->name, .type = m->type, .line = d->line};

		if (m->name == NULL)
			p.name = ""; /* it is given, but nothing can use it */
		id->params[i] = new_ident(c, &p, ID_XLPARAM);
		if (id->params[i] == NULL)
			return -1;
	}
	return 0;
}

/* inline T name = e; inline T name[T a, ...] = e; */
static struct d_ident *parse_inline(struct d_comp *c)
{
	struct d_decl base, d;
	struct d_ident *id;

	d_lex(c);
	if (d_decl_specs(c, &base) != 0 || d_declarator(c, &base, NAME_NEEDED, &d) != 0)
		return NULL;
	if (base.cls != 0) {
		d_error(c, base.cls == KW_TYPEDEF ? D_DECL_CLASS : D_DECL_BADCLASS, base.line,
			base.col, "an inline has no storage class");
		return NULL;
	}
	if (d_decl_object(c, &d) != 0 || (id = new_ident(c, &d, ID_INLINE)) == NULL ||
		inline_params(c, id, &d) != 0)
		return NULL;
	if (d_expect(c, '=', "expected '=' and the value of the inline") != 0)
		return NULL;
	id->expr = d_parse_expr(c);
	if (id->expr == NULL)
		return NULL;
	if (c->lex->tok.kind != ';') {
		d_syntax(c, "expected ';' after the inline");
		return NULL;
	}
	return id;
}

/* probe n(T a) : (U b); with "__" of the name as "-" */
static struct d_probedecl *parse_probe(struct d_comp *c)
{
	struct d_probedecl *p = arena_new_of(c->arena, struct d_probedecl);
	struct d_tok *t = &c->lex->tok;
	const struct d_member *m;
	char *name, *w;

	if (p == NULL)
		return d_nomem_null(c);
	if (t->kind != TOK_IDENT || strcmp(t->text, "probe") != 0) {
		d_syntax(c, "expected probe or '}'");
		return NULL;
	}
	d_lex(c);
	if (t->text == NULL || t->kind == TOK_STR || t->kind == TOK_AGG) {
		d_syntax(c, "expected the probe's name");
		return NULL;
	}
	name = w = arena_strdup(c->arena, t->text, t->len);
	if (name == NULL)
		return d_nomem_null(c);
	for (const char *r = t->text; *r != '\0'; r++) {
		if (r[0] == '_' && r[1] == '_')
			*w++ = '-', r++;
		else
			*w++ = *r;
	}
	*w = '\0';
	p->name = name;
	d_lex(c);
	if (d_expect(c, '(', "expected '(' and the probe's arguments") != 0 ||
		d_decl_params(c, ')', "probe", &p->args, NULL) != 0)
		return NULL;
	if (d_accept(c, ':') && (d_expect(c, '(', "expected '('") != 0 ||
					d_decl_params(c, ')', "probe", &p->xargs, NULL) != 0))
		return NULL;
	for (m = p->args; m != NULL; m = m->next)
		p->nargs++;
	for (m = p->xargs; m != NULL; m = m->next)
		p->nxargs++;
	return d_expect(c, ';', "expected ';' after the probe") == 0 ? p : NULL;
}

/* Translated arguments are found by the names of the native ones. */
static int probe_names(struct d_comp *c, const struct d_probedecl *p, int line, int col)
{
	const struct d_member *x, *m;
	unsigned i = 1;

	for (x = p->xargs; x != NULL; x = x->next, i++) {
		if (x->name == NULL)
			return d_error(c, D_DECL_PROTO_NAME, line, col,
				"translated argument %u of probe %s has no name", i, p->name);
		for (m = p->args; m != NULL; m = m->next)
			if (m->name != NULL && strcmp(m->name, x->name) == 0)
				break;
		if (m == NULL)
			return d_error(c, D_DECL_PROTO_FORM, line, col,
				"translated argument %s of probe %s has the name of no native one",
				x->name, p->name);
	}
	return 0;
}

static struct d_provdecl *parse_provider(struct d_comp *c)
{
	struct d_provdecl *p = arena_new_of(c->arena, struct d_provdecl);
	struct d_probedecl **next;
	const struct d_tok *t = &c->lex->tok;

	if (p == NULL)
		return d_nomem_null(c);
	d_lex(c);
	if (t->kind != TOK_IDENT && t->kind != TOK_TYPENAME) {
		d_syntax(c, "expected the provider's name");
		return NULL;
	}
	p->name = t->text;
	d_lex(c);
	if (d_expect(c, '{', "expected '{'") != 0)
		return NULL;
	for (next = &p->probes; t->kind != '}'; next = &(*next)->next) {
		int line = t->line, col = t->col;

		*next = parse_probe(c);
		if (*next == NULL || probe_names(c, *next, line, col) != 0)
			return NULL;
	}
	d_lex(c);
	if (t->kind != ';') {
		d_syntax(c, "expected ';' after the provider");
		return NULL;
	}
	return p;
}

/* ---- declarations --------------------------------------------------------------------- */

static int bad_class(struct d_comp *c, const struct d_decl *d)
{
	static const struct {
		int cls;
		const char *name;
	} list[] = {{KW_AUTO, "auto"}, {KW_REGISTER, "register"}, {KW_STATIC, "static"}};

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (d->cls == list[i].cls)
			return d_error(c, D_DECL_BADCLASS, d->line, d->col,
				"storage class %s means nothing in D: variables are global, self "
				"or this",
				list[i].name);
	return 0;
}

/* One declared name: a typedef is entered into its table, a variable is appended to the list. */
static int declared(struct d_comp *c, const struct d_decl *d, struct d_ident ***next)
{
	struct d_ident *id;

	if (d->cls == KW_TYPEDEF) {
		if (d->assoc)
			return d_error(c, D_DECL_ARRSUB, d->line, d->col,
				"a type cannot be an associative array");
		return d_typedef_add(c, d->name, d->type);
	}
	if (d_is_kind(d->type, T_FUNC) && !d->assoc) {
		if (d->cls == KW_SELF || d->cls == KW_THIS)
			return d_error(c, D_DECL_BADCLASS, d->line, d->col,
				"%s is a function: it cannot be self or this", d->name);
		return 0; /* a prototype, as in headers: ignored */
	}
	if (d->assoc && d->cls == KW_THIS)
		return d_error(c, D_DECL_LOCASSC, d->line, d->col,
			"this->%s cannot be an associative array: use self or a global one",
			d->name);
	/* extern means that a name is declared elsewhere: fine if it is. */
	if (d->cls == KW_EXTERN && (d->open || (c->globals != NULL &&
						       d_name_find(c, c->globals, d->name) != NULL)))
		return 0;
	if (d_decl_object(c, d) != 0)
		return -1;
	id = new_ident(c, d, d->assoc ? ID_ASSOC : ID_SCALAR);
	if (id == NULL)
		return -1;
	**next = id;
	*next = &id->next;
	return 0;
}

/* The body of a C function. Small ones in headers are skipped; D has no functions of its own. */
static int skip_body(struct d_comp *c, const struct d_decl *d)
{
	unsigned open = 0;

	if (!d->is_inline)
		return d_error(c, D_SYNTAX, d->line, d->col,
			"D has no user-defined functions: use inline %s[T a] = expression",
			d->name);
	do {
		int kind = c->lex->tok.kind;

		if (kind == TOK_EOF || kind == TOK_ERR)
			return d_syntax(c, "expected '}' at the end of the function");
		if (kind == '{')
			open++;
		if (kind == '}')
			open--;
		if (open > 0)
			d_lex(c);
	} while (open > 0);
	return 0;
}

static int parse_decl(struct d_comp *c, struct d_item *item)
{
	struct d_lexer *lx = c->lex;
	struct d_ident **next = &lx->more;
	struct d_decl base, d;

	item->kind = IT_TYPE;
	if (d_decl_specs(c, &base) != 0 || (!base.is_inline && bad_class(c, &base) != 0))
		return -1;
	if (lx->tok.kind == ';') {
		enum d_tkind k = base.type->kind;

		/* `typedef struct s { .. };' declares the struct, as in C */
		if ((k == T_STRUCT || k == T_UNION || k == T_ENUM) &&
			(base.cls == 0 || (base.cls == KW_TYPEDEF && base.type->name != NULL)))
			return 0;
		return d_error(c, D_DECL_USELESS, base.line, base.col,
			"useless declaration: it declares no name");
	}
	do {
		if (d_declarator(c, &base, NAME_NEEDED, &d) != 0)
			return -1;
		if (!d_is_kind(d.type, T_FUNC) && bad_class(c, &base) != 0)
			return -1;
		if (declared(c, &d, &next) != 0)
			return -1;
		if (lx->tok.kind == '{' && d_is_kind(d.type, T_FUNC))
			return skip_body(c, &d);
	} while (d_accept(c, ','));
	if (lx->tok.kind == '=')
		return d_syntax(c, "a declaration has no initialiser in D: assign in BEGIN");
	if (lx->tok.kind == TOK_TYPENAME)
		return d_error(c, D_DECL_IDENT, lx->tok.line, lx->tok.col,
			"a declaration of two names, or with a type too many");
	if (lx->tok.kind != ';')
		return d_syntax(c, "expected ';' or ',' after the declaration");
	return 0;
}

/* ---- items ---------------------------------------------------------------------------- */

/* Report pragmas about names that were not declared. */
static int check_late(struct d_comp *c)
{
	const struct d_latename *l;

	for (l = c->lex->late; l != NULL; l = l->next)
		if (c->globals == NULL || d_name_find(c, c->globals, l->name) == NULL)
			return d_error(c, D_PRAGMA_UNUSED, l->line, 0,
				"#pragma D %s names \"%s\", which is not declared", l->what,
				l->name);
	return 0;
}

static bool next_var(struct d_lexer *lx, struct d_item *item)
{
	struct d_ident *id = lx->more;

	if (id == NULL)
		return false;
	lx->more = id->next;
	id->next = NULL;
	item->kind = IT_VAR;
	item->ident = id;
	item->line = id->line;
	return true;
}

static int parse_item(struct d_comp *c, struct d_item *item)
{
	struct d_lexer *lx = c->lex;

	switch (lx->tok.kind) {
	case TOK_ERR: return -1;
	case TOK_EOF:
		item->kind = IT_END;
		lx->done = true;
		return check_late(c);
	case TOK_PSPEC:
		item->kind = IT_CLAUSE;
		item->clause = parse_clause(c);
		return item->clause != NULL ? 0 : -1;
	case KW_TRANSLATOR:
		item->kind = IT_XLATOR;
		item->xlator = parse_xlator(c);
		return item->xlator != NULL ? 0 : -1;
	case KW_INLINE:
		item->kind = IT_INLINE;
		item->ident = parse_inline(c);
		return item->ident != NULL ? 0 : -1;
	case KW_PROVIDER:
		item->kind = IT_PROVIDER;
		item->provider = parse_provider(c);
		return item->provider != NULL ? 0 : -1;
	default:
		if (parse_decl(c, item) != 0)
			return -1;
		next_var(lx, item);
		return 0;
	}
}

int d_parse_item(struct d_comp *c, struct d_item *item)
{
	struct d_lexer *lx = c->lex;

	memset(item, 0, sizeof(*item));
	if (c->error.tag[0] != '\0')
		return -1;
	if (lx == NULL || lx->done || lx->src != c->source || lx->cfile != c->file ||
		lx->end != c->source + c->source_len) {
		if (d_lex_open(c, c->source, c->source_len) != 0)
			return -1;
		lx = c->lex;
	}
	if (next_var(lx, item))
		return 0;
	c->depth = 0;
	lx->in_pred = false;
	lx->clause = NULL;
	d_lex_top(c);
	item->line = lx->tok.line;
	item->col = lx->tok.col;
	/*
	 * A bad token that ends a list may have been accepted as its end; the error is still set.
	 */
	if (parse_item(c, item) != 0 || c->error.tag[0] != '\0') {
		if (c->error.tag[0] == '\0')
			d_nomem(c);
		return -1;
	}
	return 0;
}
