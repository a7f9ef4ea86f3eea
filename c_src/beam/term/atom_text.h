/* SPDX-License-Identifier: Apache-2.0 */
/* Atoms and functions as Erlang writes them (atom_text.c, probe path). */
#ifndef BEAM_ATOM_TEXT_H
#define BEAM_ATOM_TEXT_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stddef.h>

#include "prog/term.h"

void beam_atom_text_init(void); /* at load */
/* As Erlang writes them, cut to fit. The length of all of it is returned. */
size_t beam_atom_text(ERL_NIF_TERM atom, char *buf, size_t size);
size_t beam_atom_name(ERL_NIF_TERM atom, char buf[TERM_ATOM_NAME]); /* without quotes */
bool beam_atom_is(ERL_NIF_TERM atom, const char *name, size_t len); /* is that its name? */
size_t beam_function_text( /* module:function/arity */
	ERL_NIF_TERM mod, ERL_NIF_TERM fun, unsigned arity, char *buf, size_t size);

#endif
