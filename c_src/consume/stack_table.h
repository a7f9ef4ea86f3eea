/* SPDX-License-Identifier: Apache-2.0 */
/* Option stacktop: aggregations by stack printed as a table of functions. */
#ifndef CONSUME_STACK_TABLE_H
#define CONSUME_STACK_TABLE_H

#include <stdbool.h>

#include "aggs.h"

/* Is this one printed that way? It has a stack as a key, and its values add up. */
bool sn_is_table(struct co *co, const struct prog_agg *a);
int sn_print(struct co *co, const struct ag_row *rows, size_t n); /* 0, or -1: out of memory */

#endif
