/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding validated terms; see decode.h. */
#include "decode.h"

#include <string.h>

#include "etf.h"

int nd_get_tuple(const ei_x_buff *x, int *at, int arity)
{
	int type, n;

	/* Looked at first: a decoder must not run over something else. */
	if (ei_get_type(x->buff, at, &type, &n) < 0 ||
		(type != ERL_SMALL_TUPLE_EXT && type != ERL_LARGE_TUPLE_EXT) || n != arity)
		return -1;
	return ei_decode_tuple_header(x->buff, at, &n);
}

int nd_get_text(const ei_x_buff *x, int *at, const char **text, long *len)
{
	int type, n;

	if (ei_get_type(x->buff, at, &type, &n) < 0 || type != ERL_BINARY_EXT)
		return -1;
	*text = x->buff + *at + 5; /* tag and length come first */
	*len = n;
	return nd_skip(x, at);
}

int nd_get_atom(const ei_x_buff *x, int *at, char *atom, size_t size)
{
	size_t n = term_atom(x->buff + *at, atom, size);

	*at += (int)n;
	return n > 0 ? 0 : -1;
}

int nd_skip(const ei_x_buff *x, int *at)
{
	size_t n = term_size(x->buff + *at, (size_t)(x->buffsz - *at));

	*at += (int)n;
	return n > 0 ? 0 : -1;
}

int nd_put_text(ei_x_buff *x, const char *text)
{
	return ei_x_encode_binary(x, text, (int)strlen(text));
}
