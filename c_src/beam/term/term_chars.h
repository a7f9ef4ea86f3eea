/* SPDX-License-Identifier: Apache-2.0 */
/* The characters of a term (term_chars.c, probe path), as UTF-8. */
#ifndef BEAM_TERM_CHARS_H
#define BEAM_TERM_CHARS_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

struct term_value;

/*
 * Of an atom, a binary, a list of characters or an iolist. Cut at a whole character to fit into
 * size bytes with the NUL. false: it has none, or too much of it is deep or empty lists.
 */
bool beam_chars(ErlNifEnv *env, const struct term_value *v, char *buf, size_t size);
/* Are they these bytes? 1, 0; -1: it is too deep to tell. */
int beam_chars_are(ErlNifEnv *env, const struct term_value *v, const char *text, size_t len);

#pragma GCC visibility pop
#endif
