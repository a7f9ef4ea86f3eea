/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The D compiler. A clause passes through these files:
 *
 *   cpp.c      -C: the C preprocessor
 *   lex.c      text -> tokens; literal.c constants, macro.c $1 and $target, pdesc.c probe
 *              descriptions; lex.h is what lexer and parser share
 *   pragma.c   control lines: #pragma D option, attributes, binding, depends_on; #line
 *   metric.c   #pragma D metric
 *   parse.c    tokens -> tree (ast.h), one top-level item at a time; parse_expr.c expressions
 *   decl.c     declarations: C's declarators; struct.c struct, union, enum and their layout
 *   type.c     types (type.h); basic_types.c: those that always exist; kernel_types.c: those of the
 *              running kernel, which scripts need not define
 *   err.c      errors with a source position
 *   ident.c    symbol tables
 *   check/     name resolution, types, every rule of the language (D_* errors)
 *   fmt.c      printf formats, parsed and checked against their arguments
 *   cg/        tree -> eBPF bytecode and the tables of prog/prog.h
 *   tree.c     -xtree, -xctypes, -xdtypes: what the compiler knows, as text
 *   lib.c      D libraries, in the order of depends_on; lib/ *.d are built in
 *   compile.c  the driver: all of the above, for one script
 *   scan.c     what a script contains, reported by the parser without compiling it
 *
 * One struct d_comp is the state of the compiler of one handle. Its names, types and program live
 * as long as the handle; a failed compilation removes what it added. Not thread-safe.
 */
#ifndef D_H
#define D_H

#include <stdio.h>

#include "error.h"
#include "options.h"
#include "arena.h"
#include "ast.h"
#include "prog/prog.h"
#include "prog/registry.h"
#include "type.h"

/* ---- limits that give an error, never a crash ----------------------------------------- */
#define D_MAX_SOURCE	(16u << 20) /* bytes of a script */
#define D_MAX_DEPTH	200	    /* nesting of expressions, statements, declarators */
#define D_MAX_IDENT	1024	    /* bytes of a name */
#define D_MAX_STRING	(64u << 10) /* bytes of a string constant */
#define D_MAX_MACROARGS 256
#define D_MAX_VARS	4096
#define D_MAX_AGGS	1024
#define D_MAX_CLAUSES	65536

/* ---- state ---------------------------------------------------------------------------- */

struct erltrace_scan_item; /* include/erltrace.h */
struct d_idtab; /* ident.c: a symbol table with undo */
struct d_kernel; /* kernel_types.c */

struct d_comp {
	struct arena *arena;
	struct ebpf_asm *assembler; /* of the clause being compiled */
	struct et_options *opts;
	struct et_error error; /* of the current compilation */
	struct d_basic t;
	struct prog prog;
	struct d_registry reg;
	struct d_idtab *globals; /* variables, inlines, built-ins, enumerators */
	struct d_idtab *selfs, *thises, *aggs;
	struct d_typetab *types; /* type.c: typedefs and tags */
	struct d_kernel *kernel; /* NULL: nobody has asked for its types yet */
	struct d_xlator *xlators;
	struct d_provdecl *provdecls;
	struct d_pattern *patterns; /* of prog.pats, by their texts */
	struct d_source *sources;   /* of terms, with their slots */
	struct d_record *records;   /* d_record_add() */
	const char *no_record;	    /* one that the last compilation would need; or NULL */
	const char *no_probe; /* the description of D_PDESC_ZERO, if we know no reason; or NULL */
	struct d_depend *libs; /* names of the D libraries read; NULL: depends_on library is not
				  checked */
	/* macros: $0.. are args[0..]; $target and such */
	int argc;
	const char *const *argv;
	uint8_t argused[D_MAX_MACROARGS];
	int64_t target; /* $target; 0: none */
	/* the script being compiled */
	struct d_lexer *lex;
	const char *file;   /* "" for a string */
	const char *source; /* whole text */
	size_t source_len;
	bool in_library;
	bool probe_ok; /* a description without a body is the default action */
	unsigned colons; /* missing at the end of descriptions: -P 3, -m 2, -f 1 */
	struct d_scan *scan; /* not NULL: items are reported, not compiled */
	unsigned depth;
	/* the clause being checked */
	struct d_clause *clause;
	struct d_probeinfo *probe; /* the first match; NULL: none */
	bool args_differ;	   /* the matched probes have different arguments */
	const char *widest; /* the function of Erlang with most arguments that its descriptions can
			       mean; NULL: not known */
	int most_args;	    /* of widest */
	unsigned matches;	   /* probes matched by the script so far */
	struct et_attr attr;	   /* the least stability of what it uses */
	bool libs_loaded;
	const char *assigned; /* the variable that the assignment being checked creates, or NULL */
	unsigned chk_depth, chk_copies; /* of the checker: nesting; nodes added by expansions */
	FILE *trace;		   /* output of -xtree, or NULL */
};

struct d_pattern {
	const char *text;
	uint32_t len;
	bool key;	/* pat_reader.key */
	unsigned index; /* in prog.pats */
	struct d_pattern *next;
};
struct d_source {
	unsigned what, slot; /* cg_pbi_what() */
	struct d_source *next;
};
/* The fields of a record of Erlang, NULL after the last. */
struct d_record {
	const char *name;
	const char **fields;
	struct d_record *next;
};
int d_record_add(struct d_comp *c, const char *name, const char *const *fields); /* -1: no memory */

/* An error at a position in the current source; fills c->error (the first one wins). Returns -1. */
int d_error(struct d_comp *c, enum et_tag tag, int line, int col, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* An error returned by others, with a line and column of the script. */
int d_error_from(struct d_comp *c, const struct et_error *e, int line, int col);
int d_nomem(struct d_comp *c); /* out of memory: always -1 */
static inline void *d_nomem_null(struct d_comp *c)
{
	d_nomem(c);
	return NULL;
}
#define d_nerror(c, tag, node, ...) d_error(c, tag, (node)->line, (node)->col, __VA_ARGS__)

/* lex.c */
enum d_token {
	/* single characters stand for themselves */
	TOK_EOF = 256, TOK_INT, TOK_DECIMAL, TOK_STR, TOK_IDENT, TOK_TYPENAME, TOK_AGG, TOK_PSPEC,
	TOK_INC, TOK_DEC, TOK_ARROW, TOK_SHL, TOK_SHR, TOK_LE, TOK_GE, TOK_EQ, TOK_NE,
	TOK_LAND, TOK_LOR, TOK_LXOR, TOK_ELLIPSIS,
	TOK_ASG_ADD, TOK_ASG_SUB, TOK_ASG_MUL, TOK_ASG_DIV, TOK_ASG_MOD, TOK_ASG_AND, TOK_ASG_XOR,
	TOK_ASG_OR, TOK_ASG_SHL, TOK_ASG_SHR,
	TOK_KEYWORD, /* followed by those of lex.h */
};

/* parse.c: the next item of c's source. Returns 0, or -1 with c->error filled. */
int d_parse_item(struct d_comp *c, struct d_item *item);
int d_parse_pdesc(struct d_comp *c, const char *text, struct d_pdesc **out); /* one description */

/* ident.c */
struct d_idtab *d_idtab_new(struct d_comp *c);
struct d_ident *d_ident_find(const struct d_idtab *t, const char *name);
/*
 * The same for a name in a script. One that names its version of D (option version) does not have
 * the built-ins of later ones: their names are free.
 */
struct d_ident *d_name_find(const struct d_comp *c, const struct d_idtab *t, const char *name);
#define D_FLOW "flow->" /* what the names of variables of a flow begin with, as identifiers */
struct d_ident *d_ident_add(struct d_comp *c, struct d_idtab *t, const char *name,
	enum d_idkind kind);
/* Enter an ident made by the parser; -1: out of memory. An ident is in at most one table. */
int d_ident_enter(struct d_idtab *t, struct d_ident *id);
size_t d_idtab_mark(const struct d_idtab *t);
void d_idtab_undo(struct d_idtab *t, size_t mark); /* remove what was added since */
void d_idtab_each(const struct d_idtab *t, void (*cb)(void *, struct d_ident *), void *arg);

/* Bytes of a string in memory, with its NUL: prog.strsize. */
static inline uint32_t d_str_bytes(const struct et_options *opts)
{
	return (uint32_t)opts->val[OPT_STRSIZE] + 1;
}

/* type.c, decl.c: tables of typedefs and tags, with undo */
const struct d_type *d_typedef_find(struct d_comp *c, const char *name);
size_t d_types_mark(struct d_comp *c);
void d_types_undo(struct d_comp *c, size_t mark);

/* Every typedef and tag in order of declaration: the basic ones, or those of scripts. */
void d_types_each(struct d_comp *c, bool basic,
	void (*cb)(void *arg, const char *name, const struct d_type *t, bool tag), void *arg);

/* pragma.c: the text after "#" of a control line */
int d_pragma(struct d_comp *c, const char *text, int line);
/* metric.c: one pragma; at the end of the script, all of them */
int d_metric_pragma(struct d_comp *c, const char *text, int line);
int d_metrics(struct d_comp *c);
/* The dependencies of a text (#pragma D depends_on), without compiling it. */
enum d_depkind { D_DEP_PROVIDER, D_DEP_MODULE, D_DEP_LIBRARY };
struct d_depend {
	enum d_depkind kind;
	const char *name;
	struct d_depend *next;
};
int d_depends(struct d_comp *c, const char *text, size_t len, struct d_depend **out);

/* check/ */
int d_builtins_init(struct d_comp *c);			      /* names of builtins.def */
int d_check_var(struct d_comp *c, const struct d_item *item); /* enter a declared variable */
int d_check_inline(struct d_comp *c, const struct d_item *item);
int d_check_xlator(struct d_comp *c, const struct d_item *item);
int d_check_provider(struct d_comp *c, const struct d_item *item);
/*
 * cg_payload.c: arguments that show contents, and that are no texts, as bits; of what may match
 * later
 */
uint32_t d_args_shown(const struct d_probeinfo *p);
uint32_t d_args_no_text(const struct d_probeinfo *p);
void d_args_later(struct d_pdesc *d, int matched);
const char *d_desc_text(struct d_comp *c, const struct d_pdesc *d); /* in the arena; or NULL */
int d_check_clause(struct d_comp *c, struct d_clause *clause); /* predicate and statements */
/*
 * An expression by itself (such as a constant in a declaration): checked, typed, folded in place.
 * An integer constant is an N_INT afterwards.
 */
int d_check_expr(struct d_comp *c, struct d_node *n);
/* ": did you mean 'x'?" for a description that matches no probe, or "". */
const char *d_suggest_probe(struct d_comp *c, const struct d_pdesc *d);
/*
 * Arithmetic: operators compute in 64 bits, by the sign of the common type of their operands. Only
 * a value that is stored, cast or recorded is cut to its type.
 */
const struct d_type *d_common_type(
	struct d_comp *c, const struct d_node *a, const struct d_node *b);
/* May it change variables or memory? */
bool d_has_effects(const struct d_node *n);
/* Is the value of n, as it is computed, one of type t already? */
bool d_fits(const struct d_node *n, const struct d_type *t);

/* fmt.c: parse and check; vals: the arguments (list of expressions); keys for printa. */
struct d_fmt *d_fmt_parse(struct d_comp *c, const struct d_node *str);
int d_fmt_check_printf(struct d_comp *c, const struct d_fmt *f, const struct d_node *call,
	const struct d_node *args);
int d_fmt_check_printa(struct d_comp *c, const struct d_fmt *f, const struct d_node *call,
	const struct d_ident *agg);

/* nullable.c: a string expression that is checked, or one that is made a string */
bool d_may_be_null(const struct d_node *n);

/* countable.c: do n firings of a checked clause equal one that adds n times as much? */
bool d_countable(const struct d_clause *clause);
/* n firings of the same event can be made in one */
bool d_repeatable(const struct d_clause *clause);

/* gate.c: can the predicate of a checked clause be computed before the rest? */
bool d_has_gate(const struct d_clause *clause);

/* cg/: bytecode of a checked clause; appends to c->prog */
int d_cg_clause(struct d_comp *c, struct d_clause *clause);
/* Add a constant string to the program; returns its index. In cg_func.c. */
unsigned d_prog_str(struct d_comp *c, const char *s, uint32_t len);
/* Disassembly with source lines (-S). */
void d_prog_dump(const struct prog *p, unsigned first_clause, FILE *f);

/* tree.c */
void d_tree(const struct d_clause *cl, FILE *f);
int d_types_write(struct d_comp *c, const char *path, bool basic);

/* lib.c */
int d_libs_load(struct d_comp *c);
/* cpp.c: the preprocessed text of a file, malloc'd. */
int d_cpp(struct d_comp *c, const char *file, const char *text, size_t len, char **out,
	size_t *out_len);

/* scan.c; see erltrace_scan(). Report an item of the script, or an option that it sets. */
struct d_scan {
	void (*cb)(void *arg, const struct erltrace_scan_item *item);
	void *arg;
	unsigned round; /* number of the scan */
	const char *function; /* of the aggregation that is met next; NULL: it is not assigned */
};
int d_scan_item(struct d_comp *c, const struct d_item *item);
void d_scan_option(struct d_comp *c, const char *name, int line);

/* compile.c: the driver */
int d_compile_source(struct d_comp *c, unsigned flags); /* c->source; also for libraries */
struct d_comp *d_comp_new(struct et_options *opts, const struct d_registry *reg,
	struct et_error *e);
void d_comp_free(struct d_comp *c);
enum {
	D_C_ZDEFS = 1,	/* accept zero matches */
	D_C_PSPEC = 2,	/* a description without body is the default action */
	D_C_EMPTY = 4,	/* accept an empty script */
	D_C_CPP = 8,
	D_C_NOCPP = 16, /* already preprocessed, whatever the option says */
	D_C_COLONS = 32, /* times n: descriptions lack n colons at the end, at most 3 */
};
/*
 * Compile text (file: its name for messages, or ""). On success clauses are appended to the
 * program, and *first_clause is the index of the first. On error everything is as before.
 */
int d_compile(struct d_comp *c, const char *text, size_t len, const char *file, int argc,
	const char *const *argv, unsigned flags, unsigned *first_clause, struct et_error *e);

#endif
