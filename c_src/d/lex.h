/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lexer, parser and declarations share.
 *
 * The lexer holds one token, c->lex->tok; d_lex() reads the next. A bad token has kind TOK_ERR and
 * c->error filled: no rule accepts it, so the parser stops there without explicit checks. Functions
 * of the parser return NULL or -1 once c->error is filled.
 *
 * Three parts of D have lexical rules of their own, and the parser says when they apply:
 *   d_lex_top()    where an item may begin: a probe description or a declaration
 *   d_lex_pspec()  after the comma of a list of descriptions
 *   in_pred        inside a predicate, where a slash may be its end (TOK_EPRED)
 */
#ifndef D_LEX_H
#define D_LEX_H

#include "d.h"

enum {
	TOK_ERR = TOK_KEYWORD + 1,
	TOK_EPRED, /* the slash that ends a predicate */
	/* keywords in alphabetical order: lex.c searches them */
	KW_FIRST,
	KW_BOOL = KW_FIRST,
	KW_AUTO,
	KW_BREAK,
	KW_CASE,
	KW_CHAR,
	KW_CONST,
	KW_CONTINUE,
	KW_COUNTER,
	KW_DEFAULT,
	KW_DO,
	KW_DOUBLE,
	KW_ELSE,
	KW_ENUM,
	KW_EXTERN,
	KW_FLOAT,
	KW_FOR,
	KW_GOTO,
	KW_IF,
	KW_IMPORT,
	KW_INLINE,
	KW_INT,
	KW_LONG,
	KW_OFFSETOF,
	KW_PROVIDER,
	KW_REGISTER,
	KW_RESTRICT,
	KW_RETURN,
	KW_SELF,
	KW_SHORT,
	KW_SIGNED,
	KW_SIZEOF,
	KW_STATIC,
	KW_STRING,
	KW_STRINGOF,
	KW_STRUCT,
	KW_SWITCH,
	KW_THIS,
	KW_TRANSLATOR,
	KW_TYPEDEF,
	KW_UNION,
	KW_UNSIGNED,
	KW_VOID,
	KW_VOLATILE,
	KW_WHILE,
	KW_XLATE,
	KW_END
};

struct d_tok {
	int kind; /* a character, TOK_* or KW_* */
	int line, col;
	const char *text; /* words (keywords too), strings, descriptions, character constants of
			     more than one; else NULL */
	uint32_t len;
	uint64_t value; /* TOK_INT; TOK_DECIMAL: 1 if it is a macro argument */
	const struct d_type *type;
	const char *start, *stop; /* its range in the source */
};

/* A token's position, for nodes made after it. */
struct d_at {
	int kind, line, col;
};

/* Maps line numbers of the text (phys) to those of errors (#line). */
struct d_linemap {
	int phys, line;
	const char *file;
	struct d_linemap *prev;
};

/* A name that a pragma refers to before its declaration. */
struct d_latename {
	const char *name, *what;
	int line;
	struct d_latename *next;
};

struct d_lexer {
	const char *src, *p, *end;
	const char *bol;   /* first byte of the line */
	const char *file;  /* as #line says */
	const char *cfile; /* c->file at the start */
	int line, phys;
	struct d_linemap *map; /* the newest first */
	struct d_tok tok;
	bool at_bol; /* only space so far on this line: '#' starts a control line */
	bool in_pred;
	bool in_type;		       /* the text of d_type_parse(): errors have no position */
	bool done;		       /* IT_END was returned */
	unsigned height;	       /* of the expression parsed last */
	const struct d_clause *clause; /* being parsed, for hints */
	struct d_ident *more;	       /* declared but not returned yet, linked by next */
	struct d_latename *late;
	struct d_metric *metrics; /* metric.c */
};

/* lex.c */
int d_lex_open(struct d_comp *c, const char *text, size_t len);
void d_lex(struct d_comp *c);
void d_lex_top(struct d_comp *c);
int d_lex_space(struct d_comp *c); /* skip space and comments; -1: error */
int d_lex_line(struct d_comp *c, int line, const char *file); /* #line: of the next line */
bool d_lex_isword(int ch);					  /* may be part of a name */
bool d_lex_isname(const char *s);				  /* is a name, or empty */
/* the token, for messages */
const char *d_lex_token_text(struct d_comp *c, char *buf, size_t size);

/* literal.c: constants */
void d_lex_number(struct d_comp *c);
void d_lex_string(struct d_comp *c);
void d_lex_char(struct d_comp *c);
/* Convert an integer's text to value and type. Returns 0, 'd' bad digit, 'o' overflow. */
/* The length of a decimal such as 99.9; 0: it is none. */
size_t d_lex_decimal(const char *s, size_t n);
int d_int_parse(
	struct d_comp *c, const char *s, size_t len, uint64_t *value, const struct d_type **type);

/*
 * macro.c: $1, $target. The text of the macro at p (after the '$'), or NULL with c->error filled.
 * *used: bytes of the name. An empty text and *missing: undefined; defaultargs makes it 0 or "".
 */
const char *d_macro_text(struct d_comp *c, const char *p, const char *end, size_t *used,
	bool *missing, int line, int col);
void d_lex_macro(struct d_comp *c);

/* pdesc.c */
void d_lex_pspec(struct d_comp *c); /* TOK_PSPEC, or TOK_ERR */
bool d_pspec_char(int ch);
struct d_pdesc *d_pdesc_make(struct d_comp *c, const char *text, size_t len, int line, int col);

/* parse.c */
int d_syntax(struct d_comp *c, const char *expected); /* D_SYNTAX at the current token */
bool d_accept(struct d_comp *c, int kind);
int d_expect(struct d_comp *c, int kind, const char *what); /* and skip it */
int d_enter(struct d_comp *c); /* one level deeper; leave with c->depth-- */

/* parse_expr.c */
struct d_node *d_parse_expr(struct d_comp *c);	 /* with commas */
struct d_node *d_parse_assign(struct d_comp *c); /* without */
struct d_node *d_parse_cond(struct d_comp *c);	 /* constant expressions */
struct d_node *d_node_new(struct d_comp *c, enum d_nkind kind, struct d_at at);
static inline struct d_at d_here(const struct d_comp *c)
{
	const struct d_tok *t = &c->lex->tok;

	return (struct d_at){t->kind, t->line, t->col};
}

/* decl.c */
enum { NAME_NEEDED, NAME_MAYBE, NAME_NONE };
struct d_decl {
	const char *name; /* or NULL */
	const struct d_type *type;
	int cls; /* KW_TYPEDEF, KW_SELF ..., 0: none */
	int line, col;
	bool assoc;	       /* T a[K1, K2] */
	struct d_member *keys; /* of assoc */
	bool open;	       /* an array without size: int a[] */
	bool is_inline;	       /* static inline of C, as headers have it */
};
bool d_starts_type(const struct d_tok *t);
bool d_starts_decl(const struct d_tok *t);
int d_decl_specs(struct d_comp *c, struct d_decl *base);
int d_declarator(struct d_comp *c, const struct d_decl *base, int name, struct d_decl *out);
const struct d_type *d_parse_typename(struct d_comp *c);     /* as in sizeof (T) */
int d_decl_object(struct d_comp *c, const struct d_decl *d); /* can a variable have this type? */
int d_decl_params(
	struct d_comp *c, int close, const char *kind, struct d_member **out, bool *varargs);
int d_const_eval(struct d_comp *c, struct d_node *n, int64_t *v); /* -1: not a constant */

/* struct.c: what follows struct, union, enum */
const struct d_type *d_parse_sou(struct d_comp *c);
const struct d_type *d_parse_enum(struct d_comp *c);

/* type.c, for declarations */
int d_typetab_new(struct d_comp *c);
struct d_type *d_type_new(struct d_comp *c, enum d_tkind kind);
struct d_type *d_tag_find(struct d_comp *c, enum d_tkind kind, const char *name);
struct d_type *d_tag_add(struct d_comp *c, enum d_tkind kind, const char *name);
int d_typedef_add(struct d_comp *c, const char *name, const struct d_type *t);
/* Complete a struct, union or enum in place; d_types_undo() makes it incomplete again. */
int d_type_complete(struct d_comp *c, struct d_type *t, struct d_member *members, uint64_t size,
	uint32_t align);
/* A typedef or a qualified type, with the size of what it refers to, now or later. */
struct d_type *d_alias(struct d_comp *c, const char *name, const struct d_type *ref);
/* Of a struct, union or enum. */
struct btf_at;
struct btf_at *d_type_origin(struct d_type *t);
void d_type_open(struct d_type *t, bool open); /* its body is being read */
bool d_type_is_open(const struct d_type *t);
bool d_type_same_text(const struct d_comp *c, const struct d_type *t); /* completed by this text */

#endif
