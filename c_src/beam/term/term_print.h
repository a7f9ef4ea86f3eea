/* SPDX-License-Identifier: Apache-2.0 */
/* Terms as text (term_print.c, probe path). */
#ifndef BEAM_TERM_PRINT_H
#define BEAM_TERM_PRINT_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

struct term_value;

/*
 * The text of a term, in size bytes with the NUL; one that is cut ends with dots. Returns the steps
 * it took, which do not depend on the size of the term. args: it is a list of arguments, never a
 * text.
 */
unsigned beam_print(ErlNifEnv *env, ERL_NIF_TERM t, bool args, char *buf, size_t size);
void beam_print_value(ErlNifEnv *env, const struct term_value *v, char *buf, size_t size);

#pragma GCC visibility pop
#endif
