/* SPDX-License-Identifier: Apache-2.0 */
/* Terms read in place (peek.c) and as text (print.c, atoms.c). */
#ifndef BEAM_PEEK_H
#define BEAM_PEEK_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- peek.c: what the VM's own calls give only with an allocation or a change --------- */

/* Find out, once, where things lie in a term. resource: a resource's term. */
void beam_peek_init(ErlNifEnv *env, ERL_NIF_TERM resource);

struct beam_bits {
	const uint8_t *data;
	unsigned off; /* bits of the first byte that are not part of it */
	uint64_t n;   /* bits */
};
static inline uint8_t beam_octet(const struct beam_bits *b, uint64_t i)
{
	const uint8_t *d = b->data + i;

	return b->off == 0 ? d[0] : (uint8_t)(d[0] << b->off | d[1] >> (8 - b->off));
}

bool beam_peek_bits(ERL_NIF_TERM t, struct beam_bits *b);
/* The digits of a large integer, base 2^64, the lowest first; 0: not known. */
unsigned beam_peek_big(ERL_NIF_TERM t, const uint64_t **digits, bool *negative);
/* The process that an alias of this node is of; false: it is none. */
bool beam_peek_alias(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM *pid);
/* A reference whose text can be made without a lock. */
bool beam_plain_ref(ERL_NIF_TERM t);

/* ---- atoms.c -------------------------------------------------------------------------- */

void beam_atoms_init(void); /* at load */
/* As Erlang writes them, cut to fit. The length of all of it is returned. */
size_t beam_atom_text(ERL_NIF_TERM atom, char *buf, size_t size);
size_t beam_function_text( /* module:function/arity */
	ERL_NIF_TERM mod, ERL_NIF_TERM fun, unsigned arity, char *buf, size_t size);

/* ---- print.c -------------------------------------------------------------------------- */

/*
 * The text of a term, in size bytes with the NUL. Returns the steps it took, which do not depend
 * on the size of the term. args: it is a list of arguments, never a text.
 */
unsigned beam_print(ErlNifEnv *env, ERL_NIF_TERM t, bool args, char *buf, size_t size);

#endif
