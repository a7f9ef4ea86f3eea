/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations: specifiers (storage class, qualifiers, type) and C's declarators. A declarator is
 * read from the name outwards into a list of steps (pointer to, array of, function returning); the
 * last one read is the first to be applied to the type on the left.
 *
 * D's extension: "T a[K1, K2]" with types in the brackets is an associative array.
 */
#include "lex.h"

#include <string.h>

#define MAX_OBJECT (1ULL << 31) /* bytes of one type */
#define MAX_PARAMS 127

static int derror(struct d_comp *c, enum et_tag tag, const char *text)
{
	return d_error(c, tag, c->lex->tok.line, c->lex->tok.col, "%s", text);
}

/* ---- specifiers ----------------------------------------------------------------------- */

static bool is_class(int kind)
{
	switch (kind) {
	case KW_AUTO:
	case KW_EXTERN:
	case KW_REGISTER:
	case KW_SELF:
	case KW_STATIC:
	case KW_THIS:
	case KW_TYPEDEF: return true;
	default: return false;
	}
}

bool d_starts_type(const struct d_tok *t)
{
	switch (t->kind) {
	case KW_BOOL:
	case KW_CHAR:
	case KW_CONST:
	case KW_DOUBLE:
	case KW_ENUM:
	case KW_FLOAT:
	case KW_INT:
	case KW_LONG:
	case KW_RESTRICT:
	case KW_SHORT:
	case KW_SIGNED:
	case KW_STRING:
	case KW_STRUCT:
	case KW_UNION:
	case KW_UNSIGNED:
	case KW_VOID:
	case KW_VOLATILE:
	case TOK_TYPENAME: return true;
	default: return false;
	}
}

bool d_starts_decl(const struct d_tok *t)
{
	return d_starts_type(t) || is_class(t->kind) || t->kind == KW_INLINE ||
	       t->kind == KW_TRANSLATOR || t->kind == KW_PROVIDER;
}

/* The type specifiers read so far. */
struct words {
	int base; /* KW_INT ...; 0: none */
	int nlong;
	bool is_short, is_signed, is_unsigned;
	const struct d_type *type; /* struct, union, enum, typedef */
	unsigned quals;
};

static bool has_type(const struct words *w)
{
	return w->base != 0 || w->type != NULL || w->nlong > 0 || w->is_short || w->is_signed ||
	       w->is_unsigned;
}

static const struct d_type *int_words(struct d_comp *c, const struct words *w)
{
	const struct d_basic *t = &c->t;
	bool u = w->is_unsigned;

	if (w->base == KW_CHAR)
		return u ? t->uchar : w->is_signed ? t->schar : t->char_;
	if (w->is_short)
		return u ? t->ushort : t->short_;
	if (w->nlong == 1)
		return u ? t->ulong : t->long_;
	if (w->nlong == 2)
		return u ? t->ullong : t->llong;
	return u ? t->uint : t->int_;
}

static const struct d_type *other_words(struct d_comp *c, const struct words *w)
{
	switch (w->base) {
	case KW_VOID: return c->t.void_;
	case KW_BOOL: return c->t.bool_;
	case KW_FLOAT: return c->t.float_;
	case KW_DOUBLE: return w->nlong == 1 ? c->t.ldouble : c->t.double_;
	case KW_STRING: return c->t.string;
	default: return w->type;
	}
}

/*
 * self x; and this x; are int. (In `self foo_t x;` a type is missing.) So is what has a storage
 * class that D does not have: the caller complains about that.
 */
static bool is_untyped(const struct d_comp *c, const struct d_decl *d)
{
	const char *p = c->lex->p;

	if ((d->cls == KW_AUTO || d->cls == KW_REGISTER || d->cls == KW_STATIC) && !d->is_inline)
		return true;
	if ((d->cls != KW_SELF && d->cls != KW_THIS) || c->lex->tok.kind != TOK_IDENT)
		return false;
	while (p < c->lex->end && (*p == ' ' || *p == '\t' || *p == '\n'))
		p++;
	return p < c->lex->end && strchr(";,[", *p) != NULL;
}

static int sum_up(struct d_comp *c, const struct words *w, struct d_decl *d)
{
	bool sign = w->is_signed || w->is_unsigned, len = w->is_short || w->nlong > 0;

	if (!has_type(w) && !is_untyped(c, d) && w->quals == 0) { /* const x; is int, as in C */
		const struct d_tok *t = &c->lex->tok;
		char near[64];

		if (t->kind == TOK_IDENT)
			return d_error(c, D_SYNTAX, t->line, t->col,
				"\"%.64s\" is not a type: a type is missing or not declared",
				t->text);
		return d_error(c, D_SYNTAX, t->line, t->col,
			"syntax error near %s: expected a type",
			d_lex_token_text(c, near, sizeof(near)));
	}
	if (w->nlong > 2)
		return d_error(c, D_DECL_COMBO, d->line, d->col, "long counts twice at most");
	if ((w->is_signed && w->is_unsigned) || (w->is_short && w->nlong > 0))
		return d_error(c, D_UNKNOWN, d->line, d->col,
			"there is no such type: signed and unsigned, short and long exclude each "
			"other");
	if (w->base == KW_VOID && (sign || len))
		return d_error(c, D_DECL_VOIDATTR, d->line, d->col,
			"void is neither signed nor unsigned, short nor long");
	if (w->base == KW_CHAR && len)
		return d_error(
			c, D_DECL_CHARATTR, d->line, d->col, "char is neither short nor long");
	if (w->base == 0 && w->type == NULL) {
		d->type = int_words(c, w);
	} else if (w->base == KW_INT || w->base == KW_CHAR) {
		d->type = int_words(c, w);
	} else {
		if (sign)
			return d_error(c, D_DECL_SIGNINT, d->line, d->col,
				"signed and unsigned go with integer types only");
		if (len && !(w->base == KW_DOUBLE && w->nlong == 1))
			return d_error(c, D_DECL_LONGINT, d->line, d->col,
				"short and long go with int (and long with double) only");
		d->type = other_words(c, w);
	}
	if (d->type != NULL && w->quals != 0)
		d->type = d_qualified(c, d->type, w->quals);
	return d->type != NULL ? 0 : -1;
}

/* Read one type specifier. Returns 1 if there was one, 0 if not, -1 on error. */
static int type_word(struct d_comp *c, struct words *w)
{
	const struct d_tok *t = &c->lex->tok;
	const struct d_type *type;

	switch (t->kind) {
	case KW_CONST: w->quals |= TQ_CONST; break;
	case KW_VOLATILE: w->quals |= TQ_VOLATILE; break;
	case KW_RESTRICT: w->quals |= TQ_RESTRICT; break;
	case KW_SIGNED:
		if (w->is_signed)
			return derror(c, D_DECL_COMBO, "signed twice in one declaration");
		w->is_signed = true;
		break;
	case KW_UNSIGNED:
		if (w->is_unsigned)
			return derror(c, D_DECL_COMBO, "unsigned twice in one declaration");
		w->is_unsigned = true;
		break;
	case KW_SHORT:
		if (w->is_short)
			return derror(c, D_DECL_COMBO, "short twice in one declaration");
		w->is_short = true;
		break;
	case KW_LONG: w->nlong++; break;
	case KW_BOOL:
	case KW_CHAR:
	case KW_DOUBLE:
	case KW_FLOAT:
	case KW_INT:
	case KW_STRING:
	case KW_VOID:
		if (w->base != 0 || w->type != NULL)
			return derror(c, D_DECL_COMBO, "two types in one declaration");
		w->base = t->kind;
		break;
	case KW_STRUCT:
	case KW_UNION:
	case KW_ENUM:
		if (w->base != 0 || w->type != NULL)
			return derror(c, D_DECL_COMBO, "two types in one declaration");
		w->type = t->kind == KW_ENUM ? d_parse_enum(c) : d_parse_sou(c);
		return w->type != NULL ? 1 : -1;
	case TOK_IDENT:
	case TOK_TYPENAME:
		/* After a type, this is the name being declared. */
		if (has_type(w) || (type = d_typedef_find(c, t->text)) == NULL)
			return 0;
		if (t->kind == TOK_IDENT && strcmp(t->text, "stack") != 0)
			return 0;
		w->type = type;
		break;
	default: return 0;
	}
	d_lex(c);
	return 1;
}

/* A name that is no type here may be one of the kernel, where only a type can be. */
static int kernel_word(struct d_comp *c, struct words *w, const struct d_decl *d)
{
	const char *p = c->lex->p;

	if (c->lex->tok.kind != TOK_IDENT || has_type(w) || is_untyped(c, d))
		return 0;
	while (p < c->lex->end && strchr(" \t\n", *p) != NULL)
		p++;
	if (w->quals != 0 && p < c->lex->end && *p != '*' && !d_lex_isword((unsigned char)*p))
		return 0; /* const x; */
	w->type = d_kernel_typedef(c, c->lex->tok.text);
	if (w->type == NULL)
		return 0;
	d_lex(c);
	return 1;
}

int d_decl_specs(struct d_comp *c, struct d_decl *base)
{
	struct words w = {0};
	int rc = 1;

	memset(base, 0, sizeof(*base));
	base->line = c->lex->tok.line;
	base->col = c->lex->tok.col;
	while (rc > 0) {
		int kind = c->lex->tok.kind;

		if (is_class(kind)) {
			if (base->cls != 0)
				return derror(c, D_DECL_CLASS,
					"two storage classes in one "
					"declaration");
			base->cls = kind;
			d_lex(c);
			continue;
		}
		/* After a storage class, inline is C's. */
		if (kind == KW_INLINE && (base->cls == KW_STATIC || base->cls == KW_EXTERN)) {
			base->is_inline = true;
			d_lex(c);
			continue;
		}
		rc = type_word(c, &w);
		if (rc == 0)
			rc = kernel_word(c, &w, base);
	}
	return rc < 0 ? -1 : sum_up(c, &w, base);
}

/* ---- constants ------------------------------------------------------------------------ */

/* The checker knows the types, and so whether -1 < 1u; the expression is replaced by its value. */
int d_const_eval(struct d_comp *c, struct d_node *n, int64_t *v)
{
	if (n->kind != N_INT) {
		if (c->globals == NULL)
			return -1;
		if (d_check_expr(c, n) != 0)
			et_err_clear(&c->error); /* the caller reports the error */
	}
	if (n->kind != N_INT || !d_is_int(n->type))
		return -1;
	*v = (int64_t)n->value;
	return 0;
}

/* ---- declarators ---------------------------------------------------------------------- */

enum step_kind { S_PTR, S_ARRAY, S_ASSOC, S_FUNC };

struct step {
	enum step_kind kind;
	unsigned quals;
	uint64_t nelems; /* 0: not specified */
	struct d_member *params;
	bool varargs;
	int line, col;
	struct step *inner; /* the next one towards the name */
};

struct declarator {
	struct step *outer;
	unsigned nsteps;
	const char *name;
	int line, col;
};

static struct step *push(struct d_comp *c, struct declarator *d, enum step_kind kind)
{
	struct step *s = arena_new_of(c->arena, struct step);

	if (s == NULL)
		return NULL;
	if (++d->nsteps > D_MAX_DEPTH) {
		derror(c, D_SYNTAX, "nested too deeply: a type of more than 200 levels");
		return NULL;
	}
	s->kind = kind;
	s->line = c->lex->tok.line;
	s->col = c->lex->tok.col;
	s->inner = d->outer;
	d->outer = s;
	return s;
}

/* The type of a parameter: arrays and functions decay to pointers. */
static const struct d_type *decayed(struct d_comp *c, const struct d_type *t)
{
	const struct d_type *b = d_base(t);

	if (b->kind == T_ARRAY)
		return d_ptr_to(c, b->ref);
	return b->kind == T_FUNC ? d_ptr_to(c, t) : t;
}

static int one_param(struct d_comp *c, const char *kind, struct d_member **out)
{
	struct d_decl base, d;
	struct d_member *m;

	if (d_decl_specs(c, &base) != 0)
		return -1;
	if (base.cls != 0)
		return d_error(c, D_DECL_PARMCLASS, base.line, base.col,
			"a parameter has no storage class");
	if (d_declarator(c, &base, NAME_MAYBE, &d) != 0)
		return -1;
	if (d_is_term(d.type) && strcmp(kind, "key") != 0)
		return d_error(c, D_DECL_PROTO_TYPE, d.line, d.col,
			"a %s parameter cannot be a term: an event's arguments are numbers and "
			"texts",
			kind);
	if (d.assoc || d_is_kind(d.type, T_DYN))
		return d_error(c, D_DECL_PROTO_TYPE, d.line, d.col,
			"a %s parameter cannot be of this type", kind);
	m = *out = arena_new_of(c->arena, struct d_member);
	if (m == NULL)
		return -1;
	m->name = d.name;
	m->type = decayed(c, d.type);
	return 0;
}

/* (void) means no parameters: *out becomes NULL. */
static int void_param(
	struct d_comp *c, struct d_member **out, const char *kind, unsigned n, int line, int col)
{
	const struct d_member *m = *out;

	if (!d_is_kind(m->type, T_VOID))
		return 0;
	if (strcmp(kind, "key") == 0)
		return d_error(c, D_DECL_PROTO_TYPE, line, col, "a key cannot be of type void");
	if (m->name != NULL)
		return d_error(c, D_DECL_PROTO_NAME, line, col,
			"parameter %s is void: it cannot have a name", m->name);
	if (n > 0 || c->lex->tok.kind != ')')
		return d_error(
			c, D_DECL_PROTO_VOID, line, col, "void must be the only parameter");
	*out = NULL;
	return 0;
}

static int unique_name(struct d_comp *c, const struct d_member *list, const struct d_member *m,
	const char *kind, int line, int col)
{
	for (; m->name != NULL && list != m; list = list->next)
		if (list->name != NULL && strcmp(list->name, m->name) == 0)
			return d_error(c, D_DECL_PROTO_FORM, line, col,
				"two %s parameters are called %s", kind, m->name);
	return 0;
}

int d_decl_params(
	struct d_comp *c, int close, const char *kind, struct d_member **out, bool *varargs)
{
	const struct d_tok *t = &c->lex->tok;
	struct d_member **next = out;
	unsigned n;

	*out = NULL;
	if (t->kind == close && close == ')') {
		d_lex(c);
		return 0;
	}
	for (n = 0;; n++) {
		int line = t->line, col = t->col;

		if (t->kind == TOK_ELLIPSIS) {
			if (varargs == NULL)
				return d_error(c, D_DECL_PROTO_VARARGS, line, col,
					"'...' is not allowed in a list of %s parameters", kind);
			*varargs = true;
			d_lex(c);
			break;
		}
		if (n == MAX_PARAMS)
			return derror(c, D_SYNTAX, "more than 127 parameters");
		if (one_param(c, kind, next) != 0 || void_param(c, next, kind, n, line, col) != 0)
			return -1;
		if (*next == NULL)
			break;
		if (unique_name(c, *out, *next, kind, line, col) != 0)
			return -1;
		next = &(*next)->next;
		if (!d_accept(c, ','))
			break;
	}
	return d_expect(c, close, close == ')' ? "expected ',' or ')'" : "expected ',' or ']'");
}

/* [], [10], [int, string] */
static int brackets(struct d_comp *c, struct declarator *d)
{
	struct step *s = push(c, d, S_ARRAY);
	struct d_node *n;
	int64_t v;

	if (s == NULL)
		return -1;
	d_lex(c);
	if (d_accept(c, ']'))
		return 0;
	if (d_starts_type(&c->lex->tok) || c->lex->tok.kind == TOK_ELLIPSIS ||
		is_class(c->lex->tok.kind)) {
		s->kind = S_ASSOC;
		return d_decl_params(c, ']', "key", &s->params, NULL);
	}
	n = d_parse_cond(c);
	if (n == NULL)
		return -1;
	if (d_const_eval(c, n, &v) != 0 || v <= 0)
		return d_nerror(c, D_DECL_ARRSUB, n,
			"expected a positive integer constant (an array of C) or types (an "
			"associative "
			"array) between the brackets");
	s->nelems = (uint64_t)v;
	return d_expect(c, ']', "expected ']'");
}

static int direct(struct d_comp *c, int name, struct declarator *d);

static int pointers(struct d_comp *c, int name, struct declarator *d)
{
	uint8_t quals[D_MAX_DEPTH];
	unsigned n = 0;
	struct step *s;
	int rc;

	if (d_enter(c) != 0)
		return -1;
	while (c->lex->tok.kind == '*') {
		if (n == D_MAX_DEPTH)
			return derror(c, D_SYNTAX, "nested too deeply: more than 200 pointers");
		quals[n] = 0;
		d_lex(c);
		for (;; d_lex(c)) {
			int k = c->lex->tok.kind;

			if (k == KW_CONST)
				quals[n] |= TQ_CONST;
			else if (k == KW_VOLATILE)
				quals[n] |= TQ_VOLATILE;
			else if (k == KW_RESTRICT)
				quals[n] |= TQ_RESTRICT;
			else
				break;
		}
		n++;
	}
	rc = direct(c, name, d);
	while (rc == 0 && n > 0) {
		s = push(c, d, S_PTR);
		if (s == NULL)
			return -1;
		s->quals = quals[--n];
	}
	c->depth--;
	return rc;
}

static int take_name(struct d_comp *c, int name, struct declarator *d)
{
	const struct d_tok *t = &c->lex->tok;

	d->line = t->line;
	d->col = t->col;
	if (t->kind != TOK_IDENT && t->kind != TOK_TYPENAME) {
		if (name != NAME_NEEDED)
			return 0;
		if (t->kind >= KW_FIRST && t->kind < KW_END)
			return d_syntax(c, "expected a name: this word is reserved");
		return d_syntax(c, "expected a name");
	}
	if (name == NAME_NONE)
		return d_syntax(c, "a name is not allowed in this type");
	if (strchr(t->text, '`') != NULL)
		return d_error(c, D_DECL_SCOPE, t->line, t->col,
			"%.128s: a declared name cannot contain the name of a module", t->text);
	d->name = t->text;
	d_lex(c);
	return 0;
}

/* A '(' where a name may be: a group, or the parameters of a function without a name? */
static bool is_group(struct d_comp *c, int name)
{
	struct d_lexer *lx = c->lex;
	struct d_lexer saved = *lx;
	bool group;

	if (name == NAME_NEEDED)
		return true;
	d_lex(c);
	group = lx->tok.kind != ')' && lx->tok.kind != TOK_ELLIPSIS && !d_starts_type(&lx->tok);
	if (lx->tok.kind == TOK_ERR)
		return true;
	*lx = saved;
	return group;
}

static int direct(struct d_comp *c, int name, struct declarator *d)
{
	struct step *s;

	if (c->lex->tok.kind == '(' && is_group(c, name)) {
		d_lex(c);
		if (pointers(c, name, d) != 0 || d_expect(c, ')', "expected ')'") != 0)
			return -1;
	} else if (take_name(c, name, d) != 0) {
		return -1;
	}
	for (;;) {
		if (c->lex->tok.kind == '[') {
			if (brackets(c, d) != 0)
				return -1;
		} else if (c->lex->tok.kind == '(') {
			s = push(c, d, S_FUNC);
			if (s == NULL || d_enter(c) != 0)
				return -1;
			d_lex(c);
			if (d_decl_params(c, ')', "function", &s->params, &s->varargs) != 0)
				return -1;
			c->depth--;
		} else {
			return 0;
		}
	}
}

static int check_element(struct d_comp *c, const struct d_type *t, const struct step *s)
{
	const struct d_type *b = d_base(t);

	if (b->kind == T_VOID)
		return d_error(c, D_DECL_VOIDOBJ, s->line, s->col, "an array of void");
	if (b->kind == T_DYN)
		return d_error(
			c, D_DECL_DYNOBJ, s->line, s->col, "an array of translated objects");
	if (b->kind == T_TERM)
		return d_error(c, D_DECL_DYNOBJ, s->line, s->col,
			"an array of terms: a term is valid while its event lasts");
	if (b->kind == T_FUNC)
		return d_error(c, D_DECL_COMBO, s->line, s->col, "an array of functions");
	if (!d_complete(c, b))
		return d_error(c, D_DECL_INCOMPLETE, s->line, s->col,
			"an array of elements of which only the name is declared");
	if (b->kind == T_ARRAY && b->nelems == 0)
		return d_error(c, D_DECL_ARRNULL, s->line, s->col,
			"only the first dimension of an array may be left open");
	if (b->size != 0 && s->nelems > MAX_OBJECT / b->size)
		return d_error(c, D_DECL_ARRBIG, s->line, s->col, "an array of more than 2 GiB");
	return 0;
}

static int apply(struct d_comp *c, const struct step *s, struct d_decl *out)
{
	const struct d_type *b = d_base(out->type);
	struct d_type *f;

	switch (s->kind) {
	case S_PTR:
		if (b->kind == T_TERM)
			return d_error(c, D_DECL_DYNOBJ, s->line, s->col,
				"a pointer to a term: a term is in no memory of D");
		out->type = d_ptr_to(c, out->type);
		if (s->quals != 0)
			out->type = d_qualified(c, out->type, s->quals);
		return 0;
	case S_ARRAY:
		if (check_element(c, out->type, s) != 0)
			return -1;
		out->type = d_array_of(c, out->type, s->nelems);
		return 0;
	case S_ASSOC:
		if (s->inner != NULL)
			return d_error(c, D_DECL_ARRSUB, s->line, s->col,
				"types are only allowed in the first brackets after the name of a "
				"variable");
		out->assoc = true;
		out->keys = s->params;
		return 0;
	case S_FUNC:
		if (b->kind == T_ARRAY || b->kind == T_FUNC || b->kind == T_DYN ||
			b->kind == T_TERM)
			return d_error(c, D_DECL_COMBO, s->line, s->col,
				"a function cannot return an array, a function or a term");
		f = d_type_new(c, T_FUNC);
		if (f == NULL)
			return -1;
		f->ref = out->type;
		f->members = s->params;
		f->varargs = s->varargs;
		out->type = f;
		return 0;
	}
	return -1;
}

int d_declarator(struct d_comp *c, const struct d_decl *base, int name, struct d_decl *out)
{
	struct declarator d = {0};
	const struct step *s;

	if (pointers(c, name, &d) != 0)
		return -1;
	*out = *base;
	out->name = d.name;
	out->line = d.line;
	out->col = d.col;
	for (s = d.outer; s != NULL; s = s->inner)
		if (apply(c, s, out) != 0)
			return -1;
	out->open = d_base(out->type)->kind == T_ARRAY && d_base(out->type)->nelems == 0;
	return 0;
}

/* ---- entry points --------------------------------------------------------------------- */

int d_decl_object(struct d_comp *c, const struct d_decl *d)
{
	const struct d_type *b = d_base(d->type);

	if (b->kind == T_VOID)
		return d_error(c, D_DECL_VOIDOBJ, d->line, d->col,
			"%s cannot be void: there is no value of that type", d->name);
	if (b->kind == T_DYN)
		return d_error(c, D_DECL_DYNOBJ, d->line, d->col,
			"%s cannot be a translated object", d->name);
	if (b->kind == T_FUNC)
		return d_error(
			c, D_DECL_COMBO, d->line, d->col, "%s cannot be a function", d->name);
	if (!d_complete(c, b))
		return d_error(c, D_DECL_INCOMPLETE, d->line, d->col,
			"%s is of type %s %s, which is declared but not defined", d->name,
			b->kind == T_UNION  ? "union"
			: b->kind == T_ENUM ? "enum"
					    : "struct",
			b->name != NULL ? b->name : "");
	if (d->open && d->cls != KW_EXTERN)
		return d_error(c, D_DECL_ARRNULL, d->line, d->col,
			"the size of array %s is missing", d->name);
	return 0;
}

const struct d_type *d_parse_typename(struct d_comp *c)
{
	const struct d_tok *t = &c->lex->tok;
	struct d_decl base, d;

	if (t->kind == TOK_IDENT && strcmp(t->text, "stack") != 0 &&
		d_kernel_typedef(c, t->text) == NULL) {
		d_error(c, D_SYNTAX, t->line, t->col, "no type is called \"%.128s\": %s", t->text,
			c->in_library ? "a library can name structs of the kernel, but no typedefs"
				      : d_kernel_why(c));
		return NULL;
	}
	if (d_decl_specs(c, &base) != 0)
		return NULL;
	if (base.cls != 0) {
		d_error(c, D_DECL_BADCLASS, base.line, base.col,
			"a storage class in a type's name");
		return NULL;
	}
	if (d_declarator(c, &base, NAME_NONE, &d) != 0)
		return NULL;
	if (d.assoc) {
		d_error(c, D_DECL_ARRSUB, d.line, d.col, "a type cannot be an associative array");
		return NULL;
	}
	return d.type;
}

const struct d_type *d_type_parse(struct d_comp *c, const char *text)
{
	struct d_lexer *outer = c->lex;
	unsigned depth = c->depth;
	const struct d_type *t = NULL;

	if (c->error.tag[0] != '\0')
		return NULL;
	if (d_lex_open(c, text, strlen(text)) == 0) {
		c->lex->in_type = true;
		c->lex->at_bol = false; /* no control lines */
		c->depth = 0;
		d_lex(c);
		t = d_parse_typename(c);
		if (t != NULL && c->lex->tok.kind != TOK_EOF) {
			d_error(c, D_TYPE_ERR, 0, 0, "\"%.128s\" is not a type", text);
			t = NULL;
		}
	}
	c->lex = outer;
	c->depth = depth;
	return c->error.tag[0] == '\0' ? t : NULL;
}
