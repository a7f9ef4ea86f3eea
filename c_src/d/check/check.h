/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the checker. Functions take a node and rewrite it in place, so parents and lists
 * need not know what became of it; `next` is kept. They return 0, or -1 with c->error filled.
 *
 *   check.c       clauses, statements, the order of speculation, stability
 *   check_util.c  trees: copying, replacing, constants; words for messages, suggested names
 *   check_expr.c  operators
 *   check_assign.c  those that change a variable
 *   check_conv.c  conversions, casts, sizeof and the like; constant folding
 *   check_name.c  variables, associative arrays, inlines, members
 *   check_symbol.c  variables of the kernel
 *   check_atom.c  names of Erlang that are compared, whatever their quotes
 *   check_xlate.c translators, args[]
 *   check_func.c  calls of subroutines and actions
 *   check_term.c  terms of Erlang, their patterns
 *   check_agg.c   aggregations, their functions, and the actions that take them
 *   check_percentile.c  the constants of percentile()
 *   check_decl.c  declared variables, inlines, translators, providers; the built-in names
 */
#ifndef D_CHECK_H
#define D_CHECK_H

#include <inttypes.h>
#include <string.h>

#include "d/d.h"

#define CHK_DEPTH    400	/* of a tree, including expanded inlines and translators */
#define CHK_COPIES   (1u << 17) /* nodes that expansions may add in a script: some 50 MB */
#define CHK_KEYSIZE  4096	/* bytes of one key */
#define CHK_TRACEMEM (1u << 16)
#define CHK_FRAMES   1024

/* What an expression may be in its context. */
enum {
	CX_VALUE = 0,
	CX_STMT = 1,	/* a statement */
	CX_DYN = 4,	/* a translated object is allowed */
};

/*
 * check_expr.c. The type of an action is that of its value, or void; that of an aggregation is
 * T_DYN without a reference. Who needs a value looks at the type, and has an error of its own.
 */
int chk_expr(struct d_comp *c, struct d_node *n, unsigned cx);
const char *chk_opname(int op);
/* The errors of operands: one that is no such thing as the operator needs; two that do not fit. */
int chk_bad_operand(struct d_comp *c, enum et_tag tag, const struct d_node *n, int op,
	const char *needs, const struct d_type *t);
int chk_incompatible(struct d_comp *c, const struct d_node *n, int op, const struct d_type *a,
	const struct d_type *b);
/* Can the operator step through what this pointer points to? */
int chk_steppable(struct d_comp *c, const struct d_node *n, int op, const struct d_type *ptr);

/* check_assign.c */
int chk_assign(struct d_comp *c, struct d_node *n);
int chk_opassign(struct d_comp *c, struct d_node *n);
int chk_incdec(struct d_comp *c, struct d_node *n);
/* Does it point to scratch memory (alloca(), copyin()), which is valid only in this clause? */
bool chk_is_scratch(const struct d_node *n);

/* check_conv.c */
uint64_t chk_norm(const struct d_type *t, uint64_t v); /* v converted to an integer type */
int chk_int_cast(struct d_comp *c, struct d_node *n, const struct d_type *t);
bool chk_convertible(struct d_comp *c, const struct d_node *n, const struct d_type *t);
int chk_convert(struct d_comp *c, struct d_node *n, const struct d_type *t); /* by assignment */
int chk_to_string(struct d_comp *c, struct d_node *n);
bool chk_strcompat(const struct d_type *t);
bool chk_is_zero(const struct d_node *n);	   /* the constant 0: NULL */
int chk_decay(struct d_comp *c, struct d_node *n); /* array to pointer */
/* The variable that an lvalue is part of, or NULL: it is memory reached by a pointer. */
const struct d_node *chk_root_var(const struct d_node *n);
bool chk_has_address(const struct d_node *var);
int chk_fold1(struct d_comp *c, struct d_node *n);
int chk_fold2(struct d_comp *c, struct d_node *n);
int chk_cast(struct d_comp *c, struct d_node *n);
int chk_sizeof(struct d_comp *c, struct d_node *n);
int chk_offsetof(struct d_comp *c, struct d_node *n);
int chk_stringof(struct d_comp *c, struct d_node *n);

/* check_name.c */
int chk_ident(struct d_comp *c, struct d_node *n, unsigned cx);
int chk_assoc(struct d_comp *c, struct d_node *n, unsigned cx);
int chk_member(struct d_comp *c, struct d_node *n, unsigned cx);
int chk_body(struct d_comp *c, struct d_node *e); /* of an inline or translator, at its use */
/* The left side of an assignment; type: of a variable that does not exist yet. */
int chk_lval(struct d_comp *c, struct d_node *n, const struct d_type *type);
bool chk_undefined(struct d_comp *c, const struct d_node *n); /* a variable not defined yet */
int chk_keys(struct d_comp *c, struct d_node *n, struct d_ident *id, bool agg);

/* check_symbol.c: `name, &`name (n is the operator), `name[i] */
int chk_symbol(struct d_comp *c, struct d_node *n);
int chk_symbol_address(struct d_comp *c, struct d_node *n);
int chk_symbol_element(struct d_comp *c, struct d_node *n);

/* check_xlate.c */
int chk_xlate(struct d_comp *c, struct d_node *n, unsigned cx);
int chk_xlate_member(struct d_comp *c, struct d_node *n, unsigned cx);
int chk_xlate_assign(struct d_comp *c, struct d_node *n); /* v = xlate <T>(e) */
struct d_xlator *chk_xlator_find(
	struct d_comp *c, const struct d_type *out, const struct d_type *in);
int chk_dyn_type(struct d_comp *c, struct d_node *n, const struct d_type *dest);
int chk_args(struct d_comp *c, struct d_node *n, unsigned cx); /* args[n] */

/* check_func.c, check_agg.c */
int chk_func(struct d_comp *c, struct d_node *n);
int chk_aggregate(struct d_comp *c, struct d_node *n);	/* @a[k] = f(..) */
int chk_agg_ref(struct d_comp *c, struct d_node *n);	/* @a or @a[k] */
int chk_agg_func(struct d_comp *c, struct d_node *f, uint64_t param[5]);
/* check_percentile.c: its constants, which all uses of an aggregation share */
int chk_percents(struct d_comp *c, const struct d_node *f, uint64_t param[5]);
int chk_same_percents(struct d_comp *c, const struct d_node *f, const struct d_ident *id,
	const uint64_t param[5]);
int chk_agg_action(struct d_comp *c, struct d_node *n); /* clear() and the like */

/* check_term.c: nothing is done to what is not a term */
int chk_term_number(struct d_comp *c, struct d_node *n); /* it becomes a number */
/* How to keep a number, if this is a variable that became text by a term; else "". */
const char *chk_kept_term(struct d_comp *c, const struct d_node *n);
int chk_term_text(struct d_comp *c, struct d_node *n);	 /* it becomes text */
bool chk_term_null(const struct d_node *n); /* is it the name NULL? It is a 0 once checked */
int chk_term_operands(struct d_comp *c, struct d_node *n, bool null);
int chk_term_key(struct d_comp *c, struct d_node *k, const struct d_type *t); /* t or NULL */
int chk_term_values(struct d_comp *c, const struct d_fmt *f, struct d_node *args);
/* Is the text of n the name of something in a node? */
bool chk_is_name(const struct d_comp *c, const struct d_node *n);
/* A name is compared with a constant: both ways to write it are equal. */
int chk_names(struct d_comp *c, const struct d_node *n);
int chk_term_word(struct d_comp *c, const struct d_node *n); /* beside a term: is it a bare atom? */
int chk_term_compare(struct d_comp *c, struct d_node *n);
int chk_term_branches(struct d_comp *c, struct d_node *n, bool null); /* of ?: */
bool chk_is_pattern_var(const struct d_comp *c, const char *name); /* of one of the script */
int chk_term_func(struct d_comp *c, struct d_node *n); /* after its prototype */
extern const char chk_term_truth[]; /* what to write instead of a term as condition */

/* check_util.c */
struct d_node *chk_new(struct d_comp *c, enum d_nkind kind, const struct d_node *place);
void chk_replace(struct d_node *n, const struct d_node *by);	    /* keeps n->next */
/* Make n a constant: the result of an operator, which may need more bits than its type has; */
void chk_const(struct d_node *n, const struct d_type *t, uint64_t v);
void chk_int(struct d_node *n, const struct d_type *t, uint64_t v); /* or cut to its type */
/* Insert a node of kind k above n: n becomes that node, and the old n its child a. */
int chk_wrap(struct d_comp *c, struct d_node *n, enum d_nkind k, const struct d_type *t);
/*
 * A copy at another position, in which the names of params (ID_XLPARAM, expr set) are replaced by
 * their expressions.
 */
struct d_node *chk_copy(struct d_comp *c, const struct d_node *n, const struct d_node *place,
	struct d_ident *const *params, unsigned nparams);
unsigned chk_count(const struct d_node *list);
int chk_deep(struct d_comp *c, const struct d_node *n);
const struct d_type *chk_unqual(const struct d_type *t);
static inline bool chk_is_translated(const struct d_type *t) /* the result of xlate */
{
	return d_is_kind(t, T_DYN) && d_base(t)->ref;
}
const char *chk_tname(struct d_comp *c, const struct d_type *t); /* in the arena */
const char *chk_kindname(const struct d_ident *id);
/* ": did you mean 'x'?" for the most similar name among idents of these kinds (bits), or "". */
const char *chk_suggest(
	struct d_comp *c, const struct d_idtab *t, const char *name, unsigned kinds);
/* The same among the members of a structure. */
const char *chk_suggest_member(struct d_comp *c, const struct d_type *t, const char *name);
const char *chk_scope(enum d_scope s); /* "self->" */

/* check.c */
int chk_has(struct d_comp *c, const struct d_node *n, const struct d_ident *id);
int chk_attr(struct d_comp *c, const struct d_node *n, const struct d_ident *id);

#define CHK_ERR(c, tag, n, ...) d_nerror(c, tag, n, __VA_ARGS__)

#endif
