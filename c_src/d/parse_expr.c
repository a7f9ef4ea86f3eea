/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions: tokens to trees. Recursion is limited by c->depth, and the height of the tree by
 * lx->height, since a long chain of operators makes a deep tree without any recursion here. So
 * later passes can safely recurse over the tree.
 *
 * A node's position is that of its operator, or the start of a name, constant or call.
 */
#include "lex.h"

#include <string.h>

static struct d_node *parse_unary(struct d_comp *c);

/* ---- nodes ---------------------------------------------------------------------------- */

struct d_node *d_node_new(struct d_comp *c, enum d_nkind kind, struct d_at at)
{
	struct d_node *n = arena_new_of(c->arena, struct d_node);

	if (n == NULL) {
		d_nomem(c);
		return NULL;
	}
	n->kind = kind;
	n->line = at.line;
	n->col = at.col;
	return n;
}

/* Set the height of a node above subtrees of height h. */
static struct d_node *grown(struct d_comp *c, struct d_node *n, unsigned h)
{
	c->lex->height = h + 1;
	if (n != NULL && h + 1 > D_MAX_DEPTH) {
		d_nerror(c, D_SYNTAX, n,
			"nested too deeply: an expression of more than %d levels", D_MAX_DEPTH);
		return NULL;
	}
	return n;
}

static struct d_node *leaf(struct d_comp *c, enum d_nkind kind)
{
	c->lex->height = 1;
	return d_node_new(c, kind, d_here(c));
}

static struct d_node *op1(struct d_comp *c, enum d_op op, struct d_at at, struct d_node *a)
{
	struct d_node *n;

	if (a == NULL || (n = d_node_new(c, N_OP1, at)) == NULL)
		return NULL;
	n->op = (uint8_t)op;
	n->a = a;
	return grown(c, n, c->lex->height);
}

static struct d_node *op2(struct d_comp *c, enum d_op op, struct d_at at, struct d_node *a,
	unsigned ha, struct d_node *b)
{
	unsigned hb = c->lex->height;
	struct d_node *n;

	if (a == NULL || b == NULL || (n = d_node_new(c, N_OP2, at)) == NULL)
		return NULL;
	n->op = (uint8_t)op;
	n->a = a;
	n->b = b;
	return grown(c, n, ha > hb ? ha : hb);
}

/* ---- lists: arguments and keys -------------------------------------------------------- */

/* Expressions up to the closing token; the height is that of the highest. */
static int parse_list(struct d_comp *c, int close, const char *what, struct d_node **list)
{
	unsigned h = 0;

	*list = NULL;
	if (c->lex->tok.kind != close) {
		do {
			*list = d_parse_assign(c);
			if (*list == NULL)
				return -1;
			if (c->lex->height > h)
				h = c->lex->height;
			list = &(*list)->next;
		} while (d_accept(c, ','));
	}
	c->lex->height = h;
	if (c->lex->tok.kind != close)
		return d_syntax(c, what);
	d_lex(c);
	return 0;
}

/* The member's name after '.' or '->': any word will do. */
static const char *parse_member(struct d_comp *c)
{
	const char *name = c->lex->tok.text;
	int k = c->lex->tok.kind;

	if (k != TOK_IDENT && k != TOK_TYPENAME && (k < KW_FIRST || k >= KW_END)) {
		char near[64];

		if (c->error.tag[0] == '\0')
			d_error(c, D_OP_IDENT, c->lex->tok.line, c->lex->tok.col,
				"a name must follow -> and . , not \"%s\"",
				d_lex_token_text(c, near, sizeof(near)));
		return NULL;
	}
	d_lex(c);
	return name;
}

/* ---- primary expressions -------------------------------------------------------------- */

static struct d_node *parse_const(struct d_comp *c)
{
	const struct d_tok *t = &c->lex->tok;
	struct d_node *n = leaf(c, t->kind == TOK_INT	    ? N_INT
				   : t->kind == TOK_DECIMAL ? N_DECIMAL
							    : N_STR);

	if (n == NULL)
		return NULL;
	if (t->kind != TOK_STR)
		n->value = t->value;
	n->text = t->text;
	if (t->kind == TOK_INT) {
		n->type = t->type;
	} else {
		n->len = t->len;
		n->type = n->kind == N_STR ? c->t.string : NULL;
	}
	d_lex(c);
	return n;
}

static struct d_node *parse_call(struct d_comp *c, struct d_node *name)
{
	name->kind = N_FUNC;
	d_lex(c);
	if (parse_list(c, ')', "expected ',' or ')' in the arguments", &name->list) != 0)
		return NULL;
	return grown(c, name, c->lex->height);
}

static struct d_node *parse_keys(struct d_comp *c, struct d_node *n)
{
	d_lex(c);
	if (c->lex->tok.kind == ']') {
		d_syntax(c, "expected a key");
		return NULL;
	}
	if (parse_list(c, ']', "expected ',' or ']' after a key", &n->list) != 0)
		return NULL;
	return grown(c, n, c->lex->height);
}

/* flow->x, a variable of the flow, is an array by flowid: n is the first word of it. */
static struct d_node *parse_flow(struct d_comp *c, struct d_node *n)
{
	struct d_node *key = leaf(c, N_IDENT);
	const char *name;

	d_lex(c);
	name = parse_member(c);
	if (key == NULL || name == NULL)
		return NULL;
	if (c->lex->tok.kind == '[') {
		d_syntax(c, "a variable of a flow has no keys");
		return NULL;
	}
	key->text = "flowid";
	key->op = SC_GLOBAL;
	n->kind = N_ASSOC;
	n->text = arena_printf(c->arena, D_FLOW "%s", name);
	n->list = key;
	return n->text != NULL ? grown(c, n, c->lex->height) : NULL;
}

/* x, self->x, this->x, flow->x, mod`x, and what may only follow a name: f(...), x[k1, k2]. */
static struct d_node *parse_name(struct d_comp *c)
{
	int k = c->lex->tok.kind;
	struct d_node *n = leaf(c, N_IDENT);

	if (n == NULL)
		return NULL;
	n->op = SC_GLOBAL;
	if (k == KW_SELF || k == KW_THIS) {
		d_lex(c);
		n->op = k == KW_SELF ? SC_SELF : SC_THIS;
		if (d_expect(c, TOK_ARROW,
			    k == KW_SELF
				    ? "expected '->': self->name is a variable of the thread"
				    : "expected '->': this->name is a variable of the clause") != 0)
			return NULL;
		n->text = parse_member(c);
		if (n->text == NULL)
			return NULL;
	} else {
		n->text = c->lex->tok.text;
		if (strchr(n->text, '`') != NULL)
			n->op = SC_SYMBOL;
		d_lex(c);
		if (c->lex->tok.kind == TOK_ARROW && strcmp(n->text, "flow") == 0 &&
			d_ident_find(c->globals, n->text) == NULL)
			return parse_flow(c, n);
	}
	if (c->lex->tok.kind == '(' && n->op != SC_SELF && n->op != SC_THIS)
		return parse_call(c, n);
	if (c->lex->tok.kind == '[') {
		n->kind = N_ASSOC;
		return parse_keys(c, n);
	}
	return n;
}

static struct d_node *parse_agg(struct d_comp *c)
{
	struct d_node *n = leaf(c, N_AGG);

	if (n == NULL)
		return NULL;
	n->text = c->lex->tok.text;
	d_lex(c);
	return c->lex->tok.kind == '[' ? parse_keys(c, n) : n;
}

/* offsetof (T, m) */
static struct d_node *parse_offsetof(struct d_comp *c)
{
	struct d_node *n = leaf(c, N_OFFSETOF);

	d_lex(c);
	if (n == NULL || d_expect(c, '(', "expected '(' after offsetof") != 0)
		return NULL;
	n->type = d_parse_typename(c);
	if (n->type == NULL || d_expect(c, ',', "expected ',' and a member") != 0)
		return NULL;
	n->text = parse_member(c);
	if (n->text == NULL || d_expect(c, ')', "expected ')'") != 0)
		return NULL;
	return n;
}

/* xlate <T>(e) */
static struct d_node *parse_xlate(struct d_comp *c)
{
	struct d_node *n = leaf(c, N_XLATE);

	d_lex(c);
	if (n == NULL || d_expect(c, '<', "expected '<' and a type after xlate") != 0)
		return NULL;
	n->type = d_parse_typename(c);
	if (n->type == NULL || d_expect(c, '>', "expected '>' after the type") != 0 ||
		d_expect(c, '(', "expected '('") != 0)
		return NULL;
	n->a = d_parse_expr(c);
	if (n->a == NULL || d_expect(c, ')', "expected ')'") != 0)
		return NULL;
	return grown(c, n, c->lex->height);
}

static const char *reserved_hint(int kind)
{
	switch (kind) {
	case KW_FOR:
	case KW_WHILE:
	case KW_DO: return "D has no loops: let a probe fire again, such as profile:::tick-1s";
	case KW_SWITCH:
	case KW_CASE: return "D has no switch: use if or ?:";
	case KW_GOTO:
	case KW_BREAK:
	case KW_CONTINUE:
	case KW_RETURN: return "D has no jumps: use if or a predicate";
	case KW_IF: return "if is a statement: use ?: in an expression";
	case KW_ELSE: return "there is no if before this else";
	case KW_COUNTER:
	case KW_DEFAULT:
	case KW_IMPORT: return "the word is reserved";
	case TOK_SHL:
		return "expected an expression; a binary is compared with the string of its "
		       "characters, as in T == \"en\", and in a pattern it is <<\\\"en\\\">>";
	default: return "expected an expression";
	}
}

/* f(T, {ok, X}), T == [a]: terms of Erlang; elsewhere a '}' may be missing further up. */
static bool is_erlang(const struct d_comp *c, const struct d_tok *t)
{
	const char *p = t->start;

	if (t->kind != '{' && t->kind != '[')
		return false;
	while (p > c->source && (p[-1] == ' ' || p[-1] == '\t' || p[-1] == '\n'))
		p--;
	return p > c->source && strchr("(,=", p[-1]) != NULL;
}

static struct d_node *parse_primary(struct d_comp *c)
{
	const struct d_tok *t = &c->lex->tok;

	switch (t->kind) {
	case TOK_INT:
	case TOK_DECIMAL:
	case TOK_STR: return parse_const(c);
	case TOK_IDENT:
	case KW_SELF:
	case KW_THIS: return parse_name(c);
	case TOK_AGG: return parse_agg(c);
	case KW_OFFSETOF: return parse_offsetof(c);
	case KW_XLATE: return parse_xlate(c);
	}
	if (is_erlang(c, t))
		d_error(c, D_SYNTAX, t->line, t->col,
			"syntax error near \"%c\": a term or a pattern of Erlang is written as a "
			"string, as in erlmatch(T, \"{ok, X}\")",
			t->kind);
	else if (d_starts_decl(t))
		d_syntax(c, "expected an expression; variables are declared outside of clauses, "
			"types are only used in casts, sizeof, offsetof and xlate");
	else
		d_syntax(c, reserved_hint(t->kind));
	return NULL;
}

/* ---- postfix -------------------------------------------------------------------------- */

static struct d_node *member(struct d_comp *c, struct d_node *a)
{
	struct d_at at = d_here(c);
	struct d_node *n = d_node_new(c, N_MEMBER, at);

	if (n == NULL)
		return NULL;
	n->op = at.kind == '.' ? OP_DOT : OP_ARROW;
	n->a = a;
	d_lex(c);
	n->text = parse_member(c);
	return n->text != NULL ? grown(c, n, c->lex->height) : NULL;
}

static struct d_node *parse_postfix(struct d_comp *c, struct d_node *n)
{
	while (n != NULL) {
		struct d_at at = d_here(c);
		unsigned h = c->lex->height;
		struct d_node *i;

		switch (at.kind) {
		case '.':
		case TOK_ARROW: n = member(c, n); break;
		case '[':
			d_lex(c);
			i = d_parse_expr(c);
			n = op2(c, OP_INDEX, at, n, h, i);
			h = c->lex->height;
			if (n == NULL || d_expect(c, ']', "expected ']'") != 0)
				return NULL;
			c->lex->height = h;
			break;
		case TOK_INC:
		case TOK_DEC:
			d_lex(c);
			n = op1(c, at.kind == TOK_INC ? OP_POSTINC : OP_POSTDEC, at, n);
			break;
		case '(':
			d_error(c, D_FUNC_IDENT, at.line, at.col,
				"only a function's name can be called, not the value of an "
				"expression");
			return NULL;
		default: return n;
		}
	}
	return NULL;
}

/* ---- unary ---------------------------------------------------------------------------- */

/*
 * (name *)..., where name is no type that is known: a cast, as nothing else can be written like
 * that. So is (name)x, if the kernel has such a type.
 */
static bool is_kernel_cast(struct d_comp *c)
{
	const struct d_lexer *lx = c->lex;
	const char *p = lx->p;
	bool pointer = false;

	if (lx->tok.kind != TOK_IDENT)
		return false;
	for (; p < lx->end && *p != '\0' && strchr(" \t\n*", *p) != NULL; p++)
		pointer |= *p == '*';
	if (p == lx->end || *p != ')')
		return false;
	if (pointer)
		return true;
	for (p++; p < lx->end && *p != '\0' && strchr(" \t\n", *p) != NULL; p++)
		;
	return p < lx->end && (d_lex_isword((unsigned char)*p) || strchr("(\"~", *p) != NULL) &&
	       d_kernel_typedef(c, lx->tok.text) != NULL;
}

/* After "(": a cast, or a parenthesized expression and what follows it. */
static struct d_node *parse_paren(struct d_comp *c, bool is_sizeof)
{
	struct d_at at = d_here(c);
	struct d_node *n;

	d_lex(c);
	if (!d_starts_type(&c->lex->tok) && !is_kernel_cast(c)) {
		n = d_parse_expr(c);
		if (n == NULL || d_expect(c, ')', "expected ')'") != 0)
			return NULL;
		n->flags |= NF_PAREN;
		return parse_postfix(c, n);
	}
	n = d_node_new(c, is_sizeof ? N_SIZEOF : N_CAST, at);
	if (n == NULL)
		return NULL;
	n->type = d_parse_typename(c);
	if (n->type == NULL || d_expect(c, ')', "expected ')' after the type") != 0)
		return NULL;
	c->lex->height = 0;
	if (!is_sizeof && (n->a = parse_unary(c)) == NULL)
		return NULL;
	return grown(c, n, c->lex->height);
}

/* sizeof (T), sizeof e, stringof e */
static struct d_node *parse_word_op(struct d_comp *c)
{
	struct d_at at = d_here(c);
	struct d_node *n, *a;

	d_lex(c);
	if (at.kind == KW_SIZEOF && c->lex->tok.kind == '(') {
		a = parse_paren(c, true);
		if (a != NULL && a->kind == N_SIZEOF && a->a == NULL && !(a->flags & NF_PAREN)) {
			a->line = at.line;
			a->col = at.col;
			return a;
		}
	} else {
		a = parse_unary(c);
	}
	if (a == NULL ||
		(n = d_node_new(c, at.kind == KW_SIZEOF ? N_SIZEOF : N_STRINGOF, at)) == NULL)
		return NULL;
	n->a = a;
	return grown(c, n, c->lex->height);
}

static enum d_op prefix_op(int kind)
{
	switch (kind) {
	case '!': return OP_LNOT;
	case '~': return OP_BNOT;
	case '+': return OP_PLUS;
	case '-': return OP_NEG;
	case '*': return OP_DEREF;
	case '&': return OP_ADDROF;
	case TOK_INC: return OP_PREINC;
	case TOK_DEC: return OP_PREDEC;
	default: return OP_NONE;
	}
}

static struct d_node *parse_unary(struct d_comp *c)
{
	struct d_at at = d_here(c);
	enum d_op op = prefix_op(at.kind);
	struct d_node *n;

	if (d_enter(c) != 0)
		return NULL;
	if (op != OP_NONE) {
		d_lex(c);
		n = op1(c, op, at, parse_unary(c));
	} else if (at.kind == '(') {
		n = parse_paren(c, false);
	} else if (at.kind == KW_SIZEOF || at.kind == KW_STRINGOF) {
		n = parse_word_op(c);
	} else {
		n = parse_postfix(c, parse_primary(c));
	}
	c->depth--;
	return n;
}

/* ---- binary --------------------------------------------------------------------------- */

static int binary(int kind, enum d_op *op)
{
	switch (kind) {
	case TOK_LOR: *op = OP_LOR; return 1;
	case TOK_LXOR: *op = OP_LXOR; return 2;
	case TOK_LAND: *op = OP_LAND; return 3;
	case '|': *op = OP_BOR; return 4;
	case '^': *op = OP_BXOR; return 5;
	case '&': *op = OP_BAND; return 6;
	case TOK_EQ: *op = OP_EQ; return 7;
	case TOK_NE: *op = OP_NE; return 7;
	case '<': *op = OP_LT; return 8;
	case TOK_LE: *op = OP_LE; return 8;
	case '>': *op = OP_GT; return 8;
	case TOK_GE: *op = OP_GE; return 8;
	case TOK_SHL: *op = OP_SHL; return 9;
	case TOK_SHR: *op = OP_SHR; return 9;
	case '+': *op = OP_ADD; return 10;
	case '-': *op = OP_SUB; return 10;
	case '*': *op = OP_MUL; return 11;
	case '/': *op = OP_DIV; return 11;
	case '%': *op = OP_MOD; return 11;
	default: return 0;
	}
}

/* One operand of a chain of || or &&, and the operator before it. */
struct operand {
	struct d_node *n;
	unsigned height;
	struct d_at at;
};

static struct d_node *balance(struct d_comp *c, enum d_op op, const struct operand *v, size_t n)
{
	struct d_node *a, *b;
	unsigned ha;

	if (n == 1) {
		c->lex->height = v->height;
		return v->n;
	}
	a = balance(c, op, v, n / 2);
	ha = c->lex->height;
	b = balance(c, op, v + n / 2, n - n / 2);
	return op2(c, op, v[n / 2].at, a, ha, b);
}

static struct d_node *parse_binary(struct d_comp *c, int least);

static struct d_node *parse_right(struct d_comp *c, int least)
{
	struct d_node *n;

	if (d_enter(c) != 0)
		return NULL;
	n = parse_binary(c, least);
	c->depth--;
	return n;
}

/*
 * a || b || c ...: the order of evaluation does not depend on associativity, so the tree is
 * balanced. A list of a thousand names in a predicate is then not a thousand levels deep.
 */
static struct d_node *parse_logical(struct d_comp *c, struct d_node *first, enum d_op op, int prec)
{
	int kind = c->lex->tok.kind;
	size_t n = 1, room = 16;
	struct operand *v = arena_alloc(c->arena, room * sizeof(*v)), *w;
	struct d_node *left;

	if (v == NULL)
		return NULL;
	v[0] = (struct operand){first, c->lex->height, d_here(c)};
	while (c->lex->tok.kind == kind) {
		struct d_at at = d_here(c);

		d_lex(c);
		if (n == room) {
			w = arena_alloc(c->arena, 2 * room * sizeof(*v));
			if (w == NULL)
				return NULL;
			memcpy(w, v, room * sizeof(*v));
			v = w;
			room *= 2;
		}
		v[n].n = parse_right(c, prec + 1);
		if (v[n].n == NULL)
			return NULL;
		v[n].height = c->lex->height;
		v[n].at = at;
		n++;
	}
	if (n > 16)
		return balance(c, op, v, n);
	left = v[0].n;
	for (size_t i = 1, h = v[0].height; i < n; i++) {
		c->lex->height = v[i].height;
		left = op2(c, op, v[i].at, left, (unsigned)h, v[i].n);
		h = c->lex->height;
	}
	return left;
}

static struct d_node *parse_binary(struct d_comp *c, int least)
{
	struct d_node *left = parse_unary(c), *right;
	enum d_op op;
	int prec;

	while (left != NULL && (prec = binary(c->lex->tok.kind, &op)) >= least && prec > 0) {
		struct d_at at = d_here(c);
		unsigned h = c->lex->height;

		if (prec <= 3) {
			left = parse_logical(c, left, op, prec);
			continue;
		}
		d_lex(c);
		right = parse_right(c, prec + 1);
		left = op2(c, op, at, left, h, right);
	}
	return left;
}

/* ---- conditional, assignment, comma --------------------------------------------------- */

struct d_node *d_parse_cond(struct d_comp *c)
{
	struct d_at at;
	struct d_node *n, *a = NULL;
	unsigned h;

	a = parse_binary(c, 1);
	if (a != NULL && c->lex->tok.kind == '?') {
		at = d_here(c);
		n = d_node_new(c, N_OP3, at);
		if (n == NULL)
			return NULL;
		h = c->lex->height;
		d_lex(c);
		n->a = a;
		if (d_enter(c) != 0)
			return NULL;
		n->b = d_parse_expr(c);
		if (c->lex->height > h)
			h = c->lex->height;
		if (n->b == NULL || d_expect(c, ':', "expected ':' of the '?' before") != 0)
			return NULL;
		n->c = d_parse_cond(c);
		c->depth--;
		if (n->c == NULL)
			return NULL;
		a = grown(c, n, c->lex->height > h ? c->lex->height : h);
	}
	return a;
}

static enum d_op assign_op(int kind)
{
	switch (kind) {
	case '=': return OP_ASG;
	case TOK_ASG_ADD: return OP_ASG_ADD;
	case TOK_ASG_SUB: return OP_ASG_SUB;
	case TOK_ASG_MUL: return OP_ASG_MUL;
	case TOK_ASG_DIV: return OP_ASG_DIV;
	case TOK_ASG_MOD: return OP_ASG_MOD;
	case TOK_ASG_AND: return OP_ASG_BAND;
	case TOK_ASG_XOR: return OP_ASG_BXOR;
	case TOK_ASG_OR: return OP_ASG_BOR;
	case TOK_ASG_SHL: return OP_ASG_SHL;
	case TOK_ASG_SHR: return OP_ASG_SHR;
	default: return OP_NONE;
	}
}

struct d_node *d_parse_assign(struct d_comp *c)
{
	struct d_node *n = d_parse_cond(c);
	struct d_at at = d_here(c);
	unsigned h = c->lex->height;
	enum d_op op;

	if (n == NULL || (op = assign_op(at.kind)) == OP_NONE)
		return n;
	if (d_enter(c) != 0)
		return NULL;
	d_lex(c);
	n = op2(c, op, at, n, h, d_parse_assign(c));
	c->depth--;
	return n;
}

struct d_node *d_parse_expr(struct d_comp *c)
{
	struct d_node *n;

	n = d_parse_assign(c);
	while (n != NULL && c->lex->tok.kind == ',') {
		struct d_at at = d_here(c);
		unsigned h = c->lex->height;

		d_lex(c);
		n = op2(c, OP_COMMA, at, n, h, d_parse_assign(c));
	}
	return n;
}
