/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node of a cluster that runs one script for one command (consume/join.c), and what a command
 * keeps for the case that its node dies: the functions role, hold, export and import of
 * erltrace_nif.erl.
 */
#include <stdlib.h>
#include <string.h>

#include "api/in_node.h"
#include "beam/handle/beam_handle.h"
#include "beam/nif.h"

static ERL_NIF_TERM failure(ErlNifEnv *env, enum et_tag tag, const char *text)
{
	erltrace_error_t e = {.tag = ""};

	et_err(&e, tag, "%s", text);
	return beam_error(env, &e);
}

/* role(Handle, first | other | alone) -> ok: after go. The first one holds its end back. */
ERL_NIF_TERM nif_role(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	char role[16] = "";
	int rc;

	WITH_HANDLE(b)
	enif_get_atom(env, argv[1], role, sizeof(role), ERL_NIF_LATIN1);
	rc = api_set_role(b->h, strcmp(role, "first") == 0   ? API_FIRST
				: strcmp(role, "other") == 0 ? API_OTHER
							     : API_ALONE);
	enif_mutex_unlock(b->lock);
	return rc == 0 ? atom_ok : failure(env, ET_NOMEM, "out of memory");
}

/* hold(Handle, Boolean) -> ok */
ERL_NIF_TERM nif_hold(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	WITH_HANDLE(b)
	api_hold(b->h, argv[1] == atom_true);
	enif_mutex_unlock(b->lock);
	return atom_ok;
}

/* export(Handle, Keep) -> {ok, Binary}: <<>> is nothing */
ERL_NIF_TERM nif_export(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM t;
	char *bytes;
	size_t len;
	int rc;

	WITH_HANDLE(b)
	rc = api_export(b->h, argv[1] == atom_true, &bytes, &len);
	enif_mutex_unlock(b->lock);
	if (rc < 0)
		return failure(env, ET_NOMEM, "out of memory");
	t = beam_make_binary(env, bytes, len);
	free(bytes);
	return enif_make_tuple2(env, atom_ok, t);
}

/* import(Handle, Binary) -> ok | {error, ..} */
ERL_NIF_TERM nif_import(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ErlNifBinary bin;
	int rc = 0;

	WITH_HANDLE(b)
	if (enif_inspect_binary(env, argv[1], &bin))
		rc = api_import(b->h, bin.data, bin.size);
	enif_mutex_unlock(b->lock);
	if (rc == 0)
		return atom_ok;
	return failure(env, ET_VERSION,
		"the nodes have different versions of erltrace: their results cannot be joined");
}
