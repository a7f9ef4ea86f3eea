/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoding terms that an agent sent; -1 where the term is something else. They were validated when
 * they came (etf.h) and end in zeros, so ei's decoders of headers, numbers, strings and processes
 * stay inside them. ei_skip_term() and ei's decoders of atoms do not: use these instead.
 */
#ifndef NODE_DECODE_H
#define NODE_DECODE_H

#include <ei.h>
#include <stddef.h>

int nd_get_tuple(const ei_x_buff *x, int *at, int arity);
int nd_get_text(const ei_x_buff *x, int *at, const char **text, long *len); /* a binary */
int nd_get_atom(const ei_x_buff *x, int *at, char *atom, size_t size);
int nd_skip(const ei_x_buff *x, int *at); /* any */
int nd_put_text(ei_x_buff *x, const char *text);

#endif
