/* SPDX-License-Identifier: Apache-2.0 */
/* Values of records and of aggregation keys. */
#ifndef CONSUME_VALUE_H
#define CONSUME_VALUE_H

#include "erltrace.h"
#include "prog/prog.h"
#include "prog/record.h"
#include "symbols/symbols.h"

struct co;

struct co_val {
	const struct prog_val *v; /* what it is */
	int64_t i;		  /* V_INT: extended by its sign; V_SYM: the address */
	const uint8_t *p;	  /* V_STR: the text; V_FLOAT, V_BYTES, V_STACK: the bytes */
	size_t len;
};
/* 0, or -1 where the record is shorter than its tables say. */
int cv_record(const struct rec_head *rec, const struct prog_val *v, struct co_val *out);
/* All parts of an aggregation's key: out has room for PROG_MAX_KEYS. */
int cv_keys(const struct prog_agg *a, const void *key, size_t keylen, struct co_val *out);
/*
 * The addresses of a key, of stacks and of what is printed as a symbol, changed in place by fn: 0,
 * or what it returned; -1 also where the key is too short.
 */
typedef int cv_map_fn(void *arg, enum sy_form form, uint64_t *addr);
int cv_map(const struct prog_agg *a, uint8_t *key, size_t len, cv_map_fn *fn, void *arg);
bool cv_has_addresses(const struct prog_agg *a);
enum sy_form cv_form_of(unsigned act); /* ACT_SYM ... */
enum sy_form cv_frame_form(unsigned i); /* how the i-th frame of a stack is printed */
/*
 * Addresses in a key that stand for a function, a line or a module: all of it is one key. Where
 * engines are joined every address is a name. *named: a copy of the key, to be freed, where there
 * are such, or NULL. -1: no room for a name.
 *
 */
int cv_named(struct co *co, const struct prog_agg *a, const void *key, size_t len,
	uint8_t **named);
int cv_cmp(struct co *co, const struct co_val *a, const struct co_val *b);
unsigned cv_nframes(const struct co_val *v);
uint64_t cv_frame(const struct co_val *v, unsigned i);
/*
 * The text of the frame that this word is, and of its marks (prog/stack_marks.h). Returns the word
 * after these.
 */
unsigned cv_frame_text(
	struct co *co, const struct co_val *v, unsigned i, char *text, size_t size);
long double cv_float(const struct co_val *v);

/* Memory that lives until the handlers have seen it. */
struct co_tmp;
void *co_tmp(struct co *co, size_t size);
void co_tmp_free(struct co *co);
/* Values as handlers see them, in temporary memory; NULL: memory is out. */
erltrace_value_t *cv_public(struct co *co, const struct co_val *vals, unsigned n);

#endif
