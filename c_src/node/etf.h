/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terms in Erlang's external format that somebody else wrote. ei's decoders trust what they read:
 * they know no end of the buffer, ei_skip_term() goes as deep as the term does, and an atom of
 * Latin-1 can be one byte longer than its place. So a term is walked here first, from its start to
 * its end and in constant space; behind that every decoder stays inside. What has been walked ends
 * in TERM_PAD zeros: a decoder that looks behind the last term finds no term there.
 */
#ifndef NODE_ETF_H
#define NODE_ETF_H

#include <stddef.h>

enum { TERM_PAD = 16 };

/* The bytes of the term at the beginning of n bytes; 0: there is no whole term, or none at all. */
size_t term_size(const char *bytes, size_t n);

/* An atom of a term that was walked, as UTF-8: its bytes; 0: it is none, or too long for size. */
size_t term_atom(const char *bytes, char *atom, size_t size);

#endif
