/* SPDX-License-Identifier: Apache-2.0 */
/* print(): a value by its type. */
#ifndef CONSUME_PRINT_VALUE_H
#define CONSUME_PRINT_VALUE_H

#include "textbuf.h"
#include "value.h"

void pr_value(struct co *co, struct co_buf *b, const struct co_val *v);

#endif
