/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The syntax tree between parser and code generator. The parser fills kind, op, position, value,
 * text and children; the checker fills type, flags and ident, folds constants to N_INT, and
 * replaces inlines and translators by copies of their expressions. The code generator only reads
 * it.
 */
#ifndef D_AST_H
#define D_AST_H

#include "builtin_table.h"
#include "prog/prog.h"
#include "stability.h"
#include "type.h"

enum d_nkind {
	/* expressions */
	N_INT,	    /* value; the parser sets the type: the first of D's list that fits */
	N_DECIMAL,  /* text, len: 99.9, which only percentile() takes; value 1: a macro argument,
		       elsewhere a string */
	N_STR,	    /* text, len: a string constant */
	N_IDENT,    /* text: a name not yet resolved; scope in op (SC_*). Gone after the checker,
		       which makes N_VAR, N_INT (enumerator) or an inline's copy of it */
	N_VAR,	    /* ident: a scalar or by-value variable of D, or a built-in one */
	N_ASSOC,    /* ident; list: keys. x[k1, k2] of D's associative arrays; also args[n], and
		       before the checker any a[b] whose a is an identifier */
	N_AGG,	    /* ident; list: keys; text "_" for bare @ */
	N_FUNC,	    /* text: name; list: arguments; ident after the checker */
	N_OP1,	    /* op, a */
	N_OP2,	    /* op, a, b; OP_INDEX is C's a[b]; member access is N_MEMBER */
	N_OP3,	    /* a ? b : c */
	N_MEMBER,   /* a.text (op OP_DOT) or a->text (op OP_ARROW); member, value = offset after the
		       checker */
	N_CAST,	    /* (type)a */
	N_SIZEOF,   /* sizeof (type) or sizeof a: folded by the checker */
	N_OFFSETOF, /* offsetof(type, text): folded by the checker */
	N_STRINGOF, /* stringof a */
	N_XLATE,    /* xlate <type>(a) */
	/* statements */
	N_EXPR, /* a; */
	N_IF,	/* if (a) list b-branch: `list` then-statements, `b` N_BLOCK of else, or NULL */
	N_BLOCK, /* list */
};

enum d_op {
	OP_NONE,
	/* unary */
	OP_LNOT, OP_BNOT, OP_PLUS, OP_NEG, OP_DEREF, OP_ADDROF,
	OP_PREINC, OP_PREDEC, OP_POSTINC, OP_POSTDEC,
	/* binary */
	OP_MUL, OP_DIV, OP_MOD, OP_ADD, OP_SUB, OP_SHL, OP_SHR,
	OP_LT, OP_LE, OP_GT, OP_GE, OP_EQ, OP_NE,
	OP_BAND, OP_BXOR, OP_BOR, OP_LAND, OP_LXOR, OP_LOR,
	OP_COMMA, OP_INDEX,
	OP_ASG, OP_ASG_MUL, OP_ASG_DIV, OP_ASG_MOD, OP_ASG_ADD, OP_ASG_SUB, OP_ASG_SHL, OP_ASG_SHR,
	/* in the order of their operators: MUL..SHR, BAND.. */
	OP_ASG_BAND, OP_ASG_BXOR, OP_ASG_BOR,
	OP_DOT, OP_ARROW,
};

enum {
	NF_LVAL = 1,   /* an lvalue: may be assigned or its address taken */
	NF_CHECKED = 2,
	NF_BITFIELD = 4,
	NF_PAREN = 8,
	NF_END = 16, /* only its address is taken: the index may be one past the end */
};

struct d_node {
	enum d_nkind kind;
	uint8_t op; /* enum d_op; of N_IDENT, N_ASSOC before the checker: enum d_scope */
	uint8_t flags;
	uint8_t bits; /* of a bit-field, and of what is computed from bit-fields alone: its width;
			 0: as wide as its type */
	int line, col;
	const struct d_type *type;
	uint64_t value;
	const char *text; /* of N_INT: the characters, if it is written as more than one */
	uint32_t len;
	struct d_ident *ident;
	const struct d_member *member;
	struct d_node *a, *b, *c;
	struct d_node *list; /* any number of children, linked by next */
	struct d_node *next;
};

/* ---- names ---------------------------------------------------------------------------- */

enum d_idkind {
	ID_SCALAR,  /* a variable with one value (of any type) */
	ID_ASSOC,   /* an associative array */
	ID_AGG,
	ID_BUILTIN, /* a built-in variable: id is BI_* */
	ID_FUNC,    /* subroutine: id is FN_* */
	ID_ACTION,  /* action: id is ACT_* */
	ID_AGGFUNC, /* aggregating function: id is AGG_* */
	ID_INLINE,  /* expr, params */
	ID_XLPARAM, /* the input of a translator, a parameter of an inline: expr replaces it */
	ID_ENUM,    /* enumerator: value */
};

struct d_ident {
	const char *name;
	enum d_idkind kind;
	enum d_scope scope;
	uint16_t id;		     /* BI_*, FN_*, ACT_*, AGG_*; of variables: index in prog->vars,
					of aggregations: index in prog->aggs; UINT16_MAX: not used yet */
	const struct d_type *type;   /* NULL: a variable that was not assigned yet */
	bool declared;		     /* by a declaration, not by an assignment */
	bool of_term;		     /* it is a string because a term was assigned to it first */
	bool of_name;		     /* so is it because a name of Erlang was: check_atom.c */
	unsigned nkeys;		     /* ID_ASSOC, ID_AGG, ID_INLINE with parameters */
	const struct d_type **keys;
	struct d_node *expr;	     /* ID_INLINE, ID_XLPARAM */
	struct d_ident **params;     /* ID_INLINE */
	/* ID_AGG */
	uint16_t aggfn;		     /* AGG_*; 0: not yet known */
	uint64_t aggparam[5];	     /* constants of distributions: prog_agg.param */
	int line;		     /* where it first occurred */
	const char *file;
	const struct d_builtin *builtin; /* ID_BUILTIN, ID_FUNC, ID_ACTION, ID_AGGFUNC */
	uint64_t value;
	struct et_attr attr; /* as #pragma D attributes gives it; 0: the default */
	uint8_t taint;	 /* pointer variables: 1 holds scratch memory, 2 other memory, 0 not yet */
	unsigned scanned; /* the last scan that reported it */
	struct d_ident *next;
};

/* ---- top level ------------------------------------------------------------------------ */

struct d_clause {
	struct d_pdesc *descs;
	struct d_node *pred;  /* or NULL */
	struct d_node *stmts; /* chained by next */
	bool has_body;	      /* false: the default action (-n, -P and so on only) */
	int line, col;
	int end_line;
	const char *behind; /* in the source: after its descriptions */
};

/* translator OUT < IN id > { m = e; }; */
struct d_xlator {
	const struct d_type *out, *in;
	struct d_ident *param; /* ID_XLPARAM */
	struct d_node *members; /* N_OP2 OP_ASG with text = member, a = expression, by next */
	int line;
	struct d_xlator *next;
};

/* provider p { probe n(T a) : (U b); }; */
struct d_provdecl {
	const char *name;
	struct d_probedecl {
		const char *name; /* "__" already "-" */
		struct d_member *args, *xargs; /* native and translated parameters */
		unsigned nargs, nxargs;
		struct d_probedecl *next;
	} *probes;
	struct d_provdecl *next;
};

/* What the parser returns, one at a time. */
enum d_itemkind { IT_END, IT_CLAUSE, IT_VAR, IT_INLINE, IT_XLATOR, IT_PROVIDER, IT_TYPE };
struct d_item {
	enum d_itemkind kind;
	struct d_clause *clause;
	struct d_ident *ident; /* IT_VAR: declared, not in a table yet; IT_INLINE: same */
	struct d_xlator *xlator;
	struct d_provdecl *provider;
	int line, col;
};

#endif
