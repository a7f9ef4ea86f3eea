/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a program in a frame: stream_program.c, stream_types.c. */
#ifndef STREAM_TABLES_H
#define STREAM_TABLES_H

#include "bytes.h"
#include "options.h"
#include "prog/prog.h"

/* Memory of what is read: freed at once. */
struct st_mem;
void *st_alloc(struct st_mem **mem, size_t size); /* zeroed; NULL: out of memory */
char *st_text(struct st_mem **mem, struct sb *s, bool *nomem); /* NULL: it is NULL, or s is bad */
void st_free(struct st_mem **mem);

/* What the frame PROGRAM holds. */
void st_put_program(struct co_buf *b, const struct prog *p, const struct et_options *opts);
/* The options are set in opts, which may be NULL. 0, -EINVAL, -ENOMEM. */
int st_get_program(struct sb *s, struct prog *p, struct et_options *opts, struct st_mem **mem);

/*
 * Do two nodes run the same script? Keys of aggregations mean the same in both, and clauses do the same.
 * Where a probe is that one node lacks, records may be laid out in another way, and numbers, lines and
 * options be others.
 */
bool st_same_script(const struct prog *a, const struct prog *b);

/* Types, by number: those of values, and those that they refer to. 0: none. */
struct st_types {
	const struct d_type **v;
	size_t n;
	bool nomem;
};
uint32_t st_type_number(struct st_types *ts, const struct d_type *t); /* it is added if it is new */
void st_put_types(struct co_buf *b, struct st_types *ts);
struct st_type_table {
	struct d_type *v;
	uint32_t n;
};
/* 0, -EINVAL, -ENOMEM */
int st_get_types(struct sb *s, struct st_type_table *ts, struct st_mem **mem);

#endif
