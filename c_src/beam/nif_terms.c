/* SPDX-License-Identifier: Apache-2.0 */
/* What functions of erltrace_nif.erl take and give: texts, binaries, steps, errors. */
#include <stdlib.h>
#include <string.h>

#include "nif.h"

ERL_NIF_TERM beam_make_binary(ErlNifEnv *env, const void *bytes, size_t len)
{
	ERL_NIF_TERM t;
	unsigned char *to = enif_make_new_binary(env, len, &t);

	if (len > 0)
		memcpy(to, bytes, len);
	return t;
}

ERL_NIF_TERM beam_make_text(ErlNifEnv *env, const char *text)
{
	return beam_make_binary(env, text, strlen(text));
}

ERL_NIF_TERM beam_refused(ErlNifEnv *env, const char *why)
{
	return enif_make_tuple2(env, enif_make_atom(env, "refused"), beam_make_text(env, why));
}

bool beam_get_step(ErlNifEnv *env, ERL_NIF_TERM t, char step[BEAM_STEP], ERL_NIF_TERM *arg)
{
	const ERL_NIF_TERM *e;
	int n;
	bool with = enif_get_tuple(env, t, &n, &e) && n == 2;

	step[0] = '\0';
	enif_get_atom(env, with ? e[0] : t, step, BEAM_STEP, ERL_NIF_LATIN1);
	if (with)
		*arg = e[1];
	return with;
}

char *beam_get_text(ErlNifEnv *env, ERL_NIF_TERM t, size_t *len)
{
	ErlNifBinary bin;
	char *s;

	if (!enif_inspect_iolist_as_binary(env, t, &bin))
		return NULL;
	s = malloc(bin.size + 1);
	if (s == NULL)
		return NULL;
	memcpy(s, bin.data, bin.size);
	s[bin.size] = '\0';
	if (len != NULL)
		*len = bin.size;
	return s;
}

/* No exception can be raised without a process: 0 says that there is one. */
ERL_NIF_TERM beam_badarg(ErlNifEnv *env)
{
	ErlNifPid self;

	return enif_self(env, &self) != NULL ? enif_make_badarg(env) : 0;
}

/* {error, {Tag, Line, Column, Text}}; without a tag it was memory that was out. */
ERL_NIF_TERM beam_error(ErlNifEnv *env, const erltrace_error_t *e)
{
	if (e->tag[0] == '\0')
		return enif_make_tuple2(env, atom_error, enif_make_atom(env, "enomem"));
	return enif_make_tuple2(env, atom_error,
		enif_make_tuple4(env, beam_make_text(env, e->tag), enif_make_int(env, e->line),
			enif_make_int(env, e->column), beam_make_text(env, e->text)));
}
