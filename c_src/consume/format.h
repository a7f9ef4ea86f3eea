/* SPDX-License-Identifier: Apache-2.0 */
/* printf() and printa() by a parsed format. */
#ifndef CONSUME_FORMAT_H
#define CONSUME_FORMAT_H

#include "aggs.h"
#include "textbuf.h"
#include "value.h"

void fm_printf(struct co *co, struct co_buf *b, const struct d_fmt *f, const struct co_val *vals,
	unsigned n);
/* Has printf() a value for each conversion, and for those of numbers one that prints as such? */
bool fm_suits(const struct d_fmt *f, const struct prog_val *vals, unsigned n);
void fm_printa(struct co *co, struct co_buf *b, const struct d_fmt *f, const struct co_val *keys,
	unsigned nkeys, const struct ag_val *vals, unsigned nvals);

#endif
