/* SPDX-License-Identifier: Apache-2.0 */
/* Values in dtrace's default layouts. */
#ifndef CONSUME_DATUM_H
#define CONSUME_DATUM_H

#include "textbuf.h"
#include "value.h"

/* trace(): quiet has no widths. */
void da_trace(struct co *co, struct co_buf *b, const struct co_val *v, bool quiet);
/* A key in an aggregation's row; packed: in the layout of aggpack and agghist, texts so wide. */
void da_key(struct co *co, struct co_buf *b, const struct co_val *v, unsigned packed);
#define PACKED_TEXT 16 /* at least */
unsigned da_key_width(const struct prog_val *v); /* of a packed key, its space included */
unsigned da_key_length(struct co *co, const struct co_val *v); /* of its text; others: 0 */
void da_bytes(struct co_buf *b, const uint8_t *p, size_t len); /* raw: hexadecimal and ASCII */
/* A stack; indent < 0: as the option says; width: of each frame's text. */
void da_stack(struct co *co, struct co_buf *b, const struct co_val *v, int indent, int width);

#endif
