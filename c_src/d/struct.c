/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct, union and enum: their bodies, and the layout of members (C on x86-64, LP64). Enumerators
 * become names of c->globals.
 */
#include "lex.h"

#include <string.h>

#define MAX_SIZE (1ULL << 31)

/* ---- names of members ----------------------------------------------------------------- */

/* The member names of a struct: a hash table, so that many members do not take quadratic time. */
struct names {
	const char **slot;
	size_t room, used;
};

static size_t slot_of(const struct names *n, const char *name)
{
	uint64_t h = 1469598103934665603ULL;
	size_t i;

	for (const char *p = name; *p != '\0'; p++)
		h = (h ^ (unsigned char)*p) * 1099511628211ULL;
	for (i = (h ^ h >> 29) & (n->room - 1); n->slot[i] != NULL; i = (i + 1) & (n->room - 1))
		if (strcmp(n->slot[i], name) == 0)
			break;
	return i;
}

/* 1: it exists already. */
static int name_add(struct d_comp *c, struct names *n, const char *name)
{
	size_t i;

	if ((n->used + 1) * 2 > n->room) {
		struct names big = {.room = n->room > 0 ? n->room * 2 : 16};

		big.slot = arena_alloc(c->arena, big.room * sizeof(big.slot[0]));
		if (big.slot == NULL) {
			d_nomem(c);
			return -1;
		}
		for (i = 0; i < n->room; i++)
			if (n->slot[i] != NULL)
				big.slot[slot_of(&big, n->slot[i])] = n->slot[i];
		big.used = n->used;
		*n = big;
	}
	i = slot_of(n, name);
	if (n->slot[i] != NULL)
		return 1;
	n->slot[i] = name;
	n->used++;
	return 0;
}

/* The members of an anonymous member are members of the whole. */
static int names_add(struct d_comp *c, struct names *n, const struct d_member *m, int line, int col)
{
	const struct d_member *in;

	if (m->name == NULL) {
		if (m->bit_width != 0 || d_is_int(m->type))
			return 0;
		for (in = d_base(m->type)->members; in != NULL; in = in->next)
			if (names_add(c, n, in, line, col) != 0)
				return -1;
		return 0;
	}
	switch (name_add(c, n, m->name)) {
	case 0: return 0;
	case 1:
		return d_error(
			c, D_DECL_MNAME, line, col, "member %s is declared twice", m->name);
	default: return -1;
	}
}

/* ---- layout --------------------------------------------------------------------------- */

struct layout {
	bool is_union;
	uint64_t bits; /* offset of the next member */
	uint64_t size; /* bytes so far */
	uint32_t align;
	struct d_member *members, **last;
	struct names names;
};

static uint64_t round_up(uint64_t v, uint64_t to)
{
	return (v + to - 1) / to * to;
}

static void used_up(struct layout *l, uint64_t end_bits)
{
	if (!l->is_union)
		l->bits = end_bits;
	if ((end_bits + 7) / 8 > l->size)
		l->size = (end_bits + 7) / 8;
}

static void place(struct layout *l, struct d_member *m)
{
	const struct d_type *b = d_base(m->type);
	uint32_t align = b->align > 0 ? b->align : 1;
	uint64_t at = round_up(l->bits, 8ULL * align);

	m->off = at / 8;
	if (align > l->align)
		l->align = align;
	used_up(l, at + b->size * 8);
}

/* A bit-field does not cross a boundary of its type; one of width 0 pads to the next boundary. */
static void layout_bits(struct layout *l, struct d_member *m, unsigned width)
{
	const struct d_type *b = d_base(m->type);
	uint64_t unit = b->size * 8, at = l->bits;

	if (width == 0) { /* the padding is part of the struct, even at the end */
		used_up(l, round_up(at, unit));
		return;
	}
	if (at / unit != (at + width - 1) / unit)
		at = round_up(at, unit);
	m->off = at / unit * b->size;
	m->bit_off = (uint8_t)(at % unit);
	m->bit_width = (uint8_t)width;
	if (m->name != NULL && b->align > l->align)
		l->align = b->align;
	used_up(l, at + width);
}

/* ---- members -------------------------------------------------------------------------- */

static int bit_width(struct d_comp *c, const struct d_decl *d, unsigned *width)
{
	const struct d_type *b = d_base(d->type);
	struct d_node *n = d_parse_cond(c);
	int64_t v;

	if (n == NULL)
		return -1;
	if (d_const_eval(c, n, &v) != 0 || v < 0 || (v == 0 && d->name != NULL))
		return d_nerror(c, D_DECL_BFCONST, n,
			"the width of a bit-field must be a positive integer constant");
	if (b->kind != T_INT && b->kind != T_ENUM)
		return d_error(c, D_DECL_BFTYPE, d->line, d->col,
			"a bit-field must be of an integer type");
	if (!b->complete)
		return d_error(c, D_DECL_INCOMPLETE, d->line, d->col,
			"a bit-field of an enum that is not defined");
	if ((uint64_t)v > (b->is_bool ? 1 : b->size * 8))
		return d_nerror(c, D_DECL_BFSIZE, n, "a bit-field wider than its type");
	*width = (unsigned)v;
	return 0;
}

static int check_member(struct d_comp *c, struct layout *l, const struct d_decl *d)
{
	struct d_decl obj = *d;

	if (l->size > MAX_SIZE)
		return d_error(c, D_DECL_ARRBIG, d->line, d->col, "a type of more than 2 GiB");
	if (d->assoc)
		return d_error(c, D_DECL_ARRSUB, d->line, d->col,
			"a member cannot be an associative array");
	if (d_is_kind(d->type, T_FUNC))
		return d_error(c, D_DECL_VOIDOBJ, d->line, d->col,
			"member %s cannot be a function: use a pointer to one", d->name);
	if (d_is_term(d->type))
		return d_error(c, D_DECL_DYNOBJ, d->line, d->col,
			"a member cannot be a term: a term is valid while its event lasts; "
			"declare a string or a number");
	if (obj.name == NULL)
		obj.name = "the member";
	obj.open = false; /* a flexible array member */
	return d_decl_object(c, &obj);
}

static int add_member(struct d_comp *c, struct layout *l, const struct d_decl *d, bool bits)
{
	struct d_member *m = arena_new_of(c->arena, struct d_member);
	unsigned width = 0;

	if (m == NULL) {
		d_nomem(c);
		return -1;
	}
	m->name = d->name;
	m->type = d->type;
	if (check_member(c, l, d) != 0 || (bits && bit_width(c, d, &width) != 0))
		return -1;
	if (!bits && names_add(c, &l->names, m, d->line, d->col) != 0)
		return -1;
	if (bits && m->name != NULL && names_add(c, &l->names, m, d->line, d->col) != 0)
		return -1;
	if (bits)
		layout_bits(l, m, width);
	else
		place(l, m);
	if (bits && m->name == NULL)
		return 0; /* padding */
	*l->last = m;
	l->last = &m->next;
	return 0;
}

/* One declaration of a body: T a, *b, c : 3; */
static int parse_members(struct d_comp *c, struct layout *l)
{
	struct d_decl base, d;

	if (d_decl_specs(c, &base) != 0)
		return -1;
	if (base.cls != 0)
		return d_error(
			c, D_DECL_BADCLASS, base.line, base.col, "a member has no storage class");
	if (c->lex->tok.kind == ';') {
		const struct d_type *b = base.type;

		if ((b->kind == T_STRUCT || b->kind == T_UNION) && b->name == NULL) {
			if (add_member(c, l, &base, false) != 0)
				return -1;
		} else if (b->kind != T_STRUCT && b->kind != T_UNION && b->kind != T_ENUM) {
			return d_error(c, D_DECL_USELESS, base.line, base.col,
				"useless declaration: the member has no name");
		}
		d_lex(c);
		return 0;
	}
	do {
		bool bits = c->lex->tok.kind == ':';

		if (bits)
			d = base;
		else if (d_declarator(c, &base, NAME_NEEDED, &d) != 0)
			return -1;
		bits = d_accept(c, ':');
		if (add_member(c, l, &d, bits) != 0)
			return -1;
	} while (d_accept(c, ','));
	return d_expect(c, ';', "expected ';' after the member");
}

/* Is it the same struct, from another text (a header read twice)? */
static bool same_members(const struct d_member *a, const struct d_member *b)
{
	for (; a != NULL && b != NULL; a = a->next, b = b->next) {
		const struct d_type *x = d_base(a->type), *y = d_base(b->type);

		if ((a->name == NULL) != (b->name == NULL) || a->off != b->off ||
			a->bit_off != b->bit_off || a->bit_width != b->bit_width ||
			x->size != y->size || x->kind != y->kind)
			return false;
		if (a->name != NULL && strcmp(a->name, b->name) != 0)
			return false;
		/* Anonymous types are distinct each time: compare size and kind. */
		if (x->name != NULL && y->name != NULL && !d_same(x, y))
			return false;
	}
	return a == NULL && b == NULL;
}

static int redefined(struct d_comp *c, const char *kind, const struct d_type *t, int line, int col)
{
	return d_error(c, D_DECL_TYPERED, line, col, "%s %s is already defined", kind, t->name);
}

/* struct s, union s and enum s are different types, unlike in C. */
static struct d_type *find_tag(struct d_comp *c, enum d_tkind kind, const char *name)
{
	struct d_type *t = d_tag_find(c, kind, name);

	return t != NULL ? t : d_tag_add(c, kind, name);
}

/* The tag after the keyword, or NULL. Any name is allowed, even that of a typedef. */
static const char *parse_tag(struct d_comp *c)
{
	const char *tag = NULL;

	d_lex(c);
	if (c->lex->tok.kind == TOK_IDENT || c->lex->tok.kind == TOK_TYPENAME) {
		tag = c->lex->tok.text;
		d_lex(c);
	}
	return tag;
}

/* The type that keyword and tag are of. If a body follows, it is the first one in this text. */
static struct d_type *tagged_type(
	struct d_comp *c, enum d_tkind kind, const char *word, const struct d_at *at)
{
	const char *tag = parse_tag(c);
	struct d_type *t;

	if (tag == NULL && c->lex->tok.kind != '{') {
		d_syntax(c, "expected a tag or '{'");
		return NULL;
	}
	t = tag != NULL ? find_tag(c, kind, tag) : d_type_new(c, kind);
	if (t != NULL && c->lex->tok.kind == '{' && t->complete && d_type_same_text(c, t)) {
		redefined(c, word, t, at->line, at->col);
		return NULL;
	}
	return t;
}

static int parse_body(struct d_comp *c, struct layout *l)
{
	l->last = &l->members;
	l->align = 1;
	d_lex(c);
	if (d_enter(c) != 0)
		return -1;
	while (c->lex->tok.kind != '}') {
		if (c->lex->tok.kind == TOK_EOF)
			return d_syntax(c, "expected '}' at the end of the struct or union");
		if (d_accept(c, ';'))
			continue;
		if (parse_members(c, l) != 0)
			return -1;
	}
	c->depth--;
	d_lex(c);
	l->size = round_up(l->size, l->align);
	return 0;
}

const struct d_type *d_parse_sou(struct d_comp *c)
{
	struct d_at at = d_here(c);
	enum d_tkind kind = at.kind == KW_UNION ? T_UNION : T_STRUCT;
	const char *word = at.kind == KW_UNION ? "union" : "struct";
	struct layout l = {.is_union = kind == T_UNION};
	struct d_type *t;
	int rc;

	t = tagged_type(c, kind, word, &at);
	if (t == NULL || c->lex->tok.kind != '{')
		return t;
	d_type_open(t, true);
	rc = parse_body(c, &l);
	d_type_open(t, false);
	if (rc != 0)
		return NULL;
	if (t->complete) {
		if (d_type_same_text(c, t) || t->size != l.size ||
			!same_members(t->members, l.members)) {
			redefined(c, word, t, at.line, at.col);
			return NULL;
		}
		return t;
	}
	return d_type_complete(c, t, l.members, l.size, l.align) == 0 ? t : NULL;
}

/* ---- enum ----------------------------------------------------------------------------- */

/* Enter the enumerator as a name of the program. */
static int enter_name(
	struct d_comp *c, const struct d_type *t, const struct d_member *m, int line, int col)
{
	struct d_ident *id;

	if (c->globals == NULL)
		return 0;
	id = d_name_find(c, c->globals, m->name);
	if (id != NULL && id->kind == ID_ENUM && t->complete && d_base(id->type) == t &&
		(int64_t)id->value == m->value)
		return 0; /* the same enum from another text */
	/* D libraries define some names of headers as inlines: the same value is no conflict. */
	if (id != NULL && id->kind == ID_INLINE && id->nkeys == 0 && id->expr->kind == N_INT &&
		(int64_t)id->expr->value == m->value)
		return 0;
	if (id != NULL && id->kind == ID_ENUM && !t->complete && d_base(id->type) == t)
		return d_error(c, D_UNKNOWN, line, col,
			"enumerator %s cannot be defined: this enum has it already", m->name);
	if (id != NULL || d_typedef_find(c, m->name) != NULL)
		return d_error(c, D_DECL_IDRED, line, col, "%s is already declared", m->name);
	id = d_ident_add(c, c->globals, m->name, ID_ENUM);
	if (id == NULL)
		return d_nomem(c);
	id->scope = SC_GLOBAL;
	id->type = t;
	id->value = (uint64_t)m->value;
	id->declared = true;
	id->line = line;
	id->file = c->lex->file;
	return 0;
}

static int enum_value(struct d_comp *c, const struct d_member *before, struct d_member *m)
{
	struct d_node *n;

	if (!d_accept(c, '=')) {
		m->value = before != NULL ? before->value + 1 : 0;
		if (m->value > INT32_MAX)
			return d_error(c, D_DECL_ENOFLOW, c->lex->tok.line, c->lex->tok.col,
				"the value of enumerator %s is beyond %d", m->name, INT32_MAX);
		return 0;
	}
	n = d_parse_cond(c);
	if (n == NULL)
		return -1;
	if (d_const_eval(c, n, &m->value) != 0)
		return d_nerror(c, D_DECL_ENCONST, n,
			"the value of enumerator %s must be an integer constant", m->name);
	if (m->value < INT32_MIN || m->value > (int64_t)UINT32_MAX)
		return d_nerror(c, D_DECL_ENOFLOW, n,
			"the value of enumerator %s needs more than 32 "
			"bits",
			m->name);
	return 0;
}

static int parse_enumerators(struct d_comp *c, struct d_type *t, struct d_member **list, bool *sign)
{
	struct d_member **next = list, *before = NULL;
	const struct d_tok *tok = &c->lex->tok;

	do {
		int line = tok->line, col = tok->col;
		struct d_member *m;

		if (tok->kind == '}' && before != NULL)
			break;
		if (tok->kind != TOK_IDENT && tok->kind != TOK_TYPENAME)
			return d_syntax(c, "expected the name of an enumerator");
		m = arena_new_of(c->arena, struct d_member);
		if (m == NULL)
			return d_nomem(c);
		m->name = tok->text;
		m->type = c->t.int_;
		d_lex(c);
		if (enum_value(c, before, m) != 0 || enter_name(c, t, m, line, col) != 0)
			return -1;
		if (m->value > INT32_MAX)
			*sign = false;
		*next = before = m;
		next = &m->next;
	} while (d_accept(c, ','));
	return d_expect(c, '}', "expected ',' or '}'");
}

const struct d_type *d_parse_enum(struct d_comp *c)
{
	struct d_at at = d_here(c);
	struct d_member *list = NULL;
	struct d_type *t;
	bool sign = true;

	t = tagged_type(c, T_ENUM, "enum", &at);
	if (t == NULL || c->lex->tok.kind != '{')
		return t;
	d_lex(c);
	if (parse_enumerators(c, t, &list, &sign) != 0)
		return NULL;
	if (t->complete)
		return t;
	t->is_signed = sign;
	return d_type_complete(c, t, list, 4, 4) == 0 ? t : NULL;
}
