/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terms read in place (peek.c, probe path), where the VM's own calls allocate, lock or change the
 * term.
 */
#ifndef BEAM_PEEK_H
#define BEAM_PEEK_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "term/term_bits.h"

/* Find out, once, where things lie in a term. resource: a resource's term. */
void beam_peek_init(ErlNifEnv *env, ERL_NIF_TERM resource);

bool beam_peek_bits(ERL_NIF_TERM t, struct term_bits *b);
/* The same; where its words are not known the VM is asked, which may copy it. */
bool beam_get_bits(ErlNifEnv *env, ERL_NIF_TERM t, struct term_bits *b);
/*
 * The first n bytes as a small binary of the VM's making, at w: how many words that takes, 2 and
 * those for the bytes; 0: it is not known how.
 *
 */
/*
 * Up to OTP 26 registers may hold a binary that is being matched, a term that only the VM may see.
 * The part that is not matched yet, as a term in five words.
 *
 */
bool beam_is_match_context(ERL_NIF_TERM t);
ERL_NIF_TERM beam_match_context_part(ERL_NIF_TERM t, uint64_t *w);
bool beam_bits_known(void); /* is it clear what binaries look like? */
size_t beam_make_bytes(uint64_t *w, const struct term_bits *b, size_t n);
/* The digits of a large integer, base 2^64, the lowest first; 0: not known. */
unsigned beam_peek_big(ERL_NIF_TERM t, const uint64_t **digits, bool *negative);
/* The process that an alias of this node is of; false: it is none. */
bool beam_peek_alias(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM *pid);
/* One of this node that is no resource's: its words are all there is. */
bool beam_local_ref(ERL_NIF_TERM t);
/* The words of such a one that tell it from all others. */
bool beam_peek_ref(ERL_NIF_TERM t, uint64_t word[2]);
/* A reference of a resource or a table: the word that stands for that. */
bool beam_peek_magic(ERL_NIF_TERM t, uint64_t *word);
/* A reference whose text can be made without a lock. */
bool beam_plain_ref(ERL_NIF_TERM t);

#endif
