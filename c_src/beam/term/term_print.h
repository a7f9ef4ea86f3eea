/* SPDX-License-Identifier: Apache-2.0 */
/* Terms as text (term_print.c, probe path). */
#ifndef BEAM_TERM_PRINT_H
#define BEAM_TERM_PRINT_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * The text of a term, in size bytes with the NUL; one that is cut ends with dots. Returns the steps
 * it took, which do not depend on the size of the term. args: it is a list of arguments, never a
 * text.
 */
unsigned beam_print(ErlNifEnv *env, ERL_NIF_TERM t, bool args, char *buf, size_t size);
/* The text of a binary that is no term of the VM. */
struct beam_bits;
void beam_print_bits(const struct beam_bits *b, char *buf, size_t size);
/* "integer", "list" and so on: the types of erltype(). */
const char *beam_type_name(ErlNifEnv *env, ERL_NIF_TERM t);

#endif
