/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract between the compiler, which fills these structures, and the engine and consumer:
 *
 *   prog.h        a compiled program: clauses, variables, aggregations, records
 *   uses.h        what a clause uses: built-ins, runtime functions, arguments
 *   dtype.h       the types of its values
 *   registry.h    probe descriptions, and the compiler's queries of the registry of probes
 *   erlang_has.c  which provider built-ins the probes of the provider erlang have
 *   state_kinds.c the provider state: kinds of objects, their members, the built-ins of its probes
 *   builtins.def  built-in variables, subroutines, actions and aggregating functions
 *   rt.def        runtime functions that bytecode calls; firing.h: the context that it reads
 *   env.c         both, in the form that the bytecode verifier needs
 *   term.h        terms of Erlang, and patterns that look into them (pattern*.c)
 *   format_part.c formats of printf() and the like, part by part
 *   record.h      what a firing writes to the trace buffer
 *   aggfn.c       the data of aggregating functions: sizes, buckets, merging
 *   hist.c        the histograms of percentile()
 *
 * A program holds all clauses that a handle has compiled, as eBPF bytecode, and the tables that are
 * needed to run them and to read their output. There is one per handle; each compilation adds to
 * it, and one that fails removes what it added. Its memory is the arena of the compiler.
 */
#ifndef PROG_PROG_H
#define PROG_PROG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/ebpf.h"
#include "builtins.h"
#include "dtype.h"
#include "registry.h"
#include "term.h"
#include "uses.h"

#define PROG_MAX_KEYS 30

/* ---- values in records and keys ------------------------------------------------------- */

enum prog_vkind {
	V_INT,	 /* size 1, 2, 4, 8, sign; enums and pointers too; sub: of a bit-field its width */
	V_STR,	 /* in a record: struct rec_str; in a key: text */
	V_FLOAT, /* size 4, 8, 16: the bytes */
	V_BYTES, /* struct, union, array: the bytes; type says how to print them */
	V_STACK, /* size / 8 addresses, 0 after the last; sub: STACK_* */
	V_SYM,	 /* an address of 8 bytes; sub: ACT_SYM, ACT_USYM, ACT_UMOD... */
};

struct prog_val {
	uint8_t kind;
	uint8_t sub;
	bool is_signed;
	uint32_t size; /* bytes in the record; of V_STR: sizeof(struct rec_str) */
	uint32_t off;  /* in the fixed part of the record; of keys: unused */
	const struct d_type *type;
};

enum { STACK_KERNEL, STACK_USER, STACK_JAVA };

/* ---- records -------------------------------------------------------------------------- */

/*
 * What a firing of a clause writes to the trace buffer: struct rec_head (record.h), a fixed part
 * laid out here, then the strings. The consumer performs the actions in order.
 */
struct prog_action {
	uint16_t act; /* ACT_*; without aggregating functions, which write no record */
	uint16_t nvals;
	struct prog_val *vals;	    /* arguments, evaluated in the firing */
	const struct d_fmt *fmt;    /* printf, printa, system, freopen: the format, or NULL */
	uint16_t naggs;
	uint16_t *aggs;		    /* printa, clear, trunc, normalize ...: indices in prog->aggs */
	uint64_t param;		    /* tracemem: its size */
	int32_t present;	    /* inside an if: offset of a byte of the fixed part that is 1
				       if the action was reached; -1: always */
	bool varies; /* it has a value that is no constant and not the time: consume/nothing.c */
	int line;
};

/* ---- formats -------------------------------------------------------------------------- */

/* A printf format, parsed (format_part.h); parts in order. */
struct d_fmtpart {
	const char *text; /* literal text before the conversion, in the format's source */
	uint32_t len;
	char conv;	  /* 'd', 's' ...; 0: none (text only); '%' is text */
	char mod[3];	  /* "", "h", "l", "ll", "L", "w" */
	bool left, plus, space, zero, alt, group; /* flags - + space 0 # ' */
	bool agg;	  /* %@d: takes the aggregation's value */
	bool dynwidth, dynprec; /* '*': taken from preceding arguments */
	int width, prec;  /* -1: none */
	struct d_fmtpart *next;
};
struct d_fmt {
	const char *source; /* a NUL is behind it, and may be in it */
	uint32_t len;
	struct d_fmtpart *parts;
	unsigned nargs; /* arguments consumed, including '*', excluding %@ */
};

/* ---- variables ------------------------------------------------------------------------ */

/* The scope of a variable. */
enum d_scope { SC_GLOBAL, SC_SELF, SC_THIS, SC_SYMBOL /* mod`sym: text holds both */ };

struct prog_var {
	const char *name;
	uint8_t scope;	/* enum d_scope */
	bool assoc;	/* a dynamic variable: associative array, self-> or flow-> */
	bool flow;	/* flow->: an array by flowid */
	const struct d_type *type;
	uint32_t size;	/* bytes of a value; strings: prog.strsize */
	uint32_t off;	/* of a static variable: in globals, or in scratch for this-> */
	uint8_t nkeys;
	struct prog_val *keys;
	bool has_blob;	/* a key part is V_BYTES or V_STACK: not all are words */
	uint32_t strmask; /* which key parts are strings */
};

/* #pragma D metric: what an aggregation is called as a metric. */
struct prog_metric {
	const char *name, *help, *unit; /* NULL: not given */
	const char **labels;		/* of the keys; NULL: not given */
	unsigned nlabels;
};

struct prog_agg {
	const char *name; /* without @; "_" for bare @ */
	uint16_t fn;	  /* AGG_* */
	uint8_t nkeys;
	struct prog_val *keys;
	bool has_blob;
	uint32_t strmask;
	bool is_signed;	   /* of the value, for printing */
	uint64_t param[5]; /* lquantize: base, limit, step; llquantize: factor, low, high, steps;
			      percentile: aggfn_percent() */
	uint32_t nbuckets; /* distributions */
	uint32_t size;	   /* bytes of data: see aggfn.h */
	int line;
	const struct prog_metric *metric; /* or NULL */
};

/* ---- clauses -------------------------------------------------------------------------- */

struct prog_clause {
	struct d_pdesc *descs;
	struct ebpf_insn *insns;
	unsigned ninsns;
	int *lines;	      /* source line of each instruction */
	const char *file;     /* "" for a string */
	const char *source;   /* the whole source text, for -S */
	int line, col;
	bool default_action;  /* no statement: the record is all there is */
	bool has_record;      /* leaves a record in the buffer */
	bool speculates;      /* its record goes where speculate() said */
	bool destructive;
	bool signals; /* stop(), raise() and the like: to the whole program */
	bool countable;	      /* n firings can be made in one: d/countable.c */
	bool repeatable;      /* the same for firings of the same event */
	uint32_t rec_size;    /* fixed part */
	uint16_t nactions;
	struct prog_action *actions;
	unsigned program;     /* index of the compilation it came from */
	struct prog_uses uses;
	struct prog_uses gate; /* of its predicate, if has_gate */
	bool has_gate; /* between predicate and statements it asks the provider, by PBI_GATE */
};

struct prog {
	struct prog_clause **clauses;
	unsigned nclauses;
	struct prog_var **vars;
	unsigned nvars;
	struct prog_agg **aggs;
	unsigned naggs;
	struct { const char *s; uint32_t len; } *strs; /* constant strings: lddw STR i */
	unsigned nstrs;
	struct pat *pats; /* patterns and keys */
	unsigned npats;
	unsigned nterms; /* slots for terms */
	uint32_t globals_size; /* bytes of static globals */
	uint32_t scratch_size; /* this-> variables and temporary strings: maximum of all clauses */
	uint32_t this_end;     /* end of this-> variables, start of temporaries */
	uint32_t rec_size;     /* largest fixed part */
	uint32_t strsize; /* bytes of a string in memory: the option strsize, and the NUL */
	unsigned nprograms;
};

/* The parts of a key as bytecode passes them. Returns n. */
int prog_key_parts(const struct prog_val *keys, unsigned n, struct ebpf_keypart *part);
void prog_env(const struct prog *p, struct ebpf_env *env);

#endif
