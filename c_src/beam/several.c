/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node among several that run the same script for one command (consume/join.c), and what a
 * command keeps for the case that its node dies: the functions role, hold, export, import and
 * preview of erltrace_nif.erl.
 */
#include <stdlib.h>
#include <string.h>

#include "beam.h"
#include "nifs.h"

static ERL_NIF_TERM failure(ErlNifEnv *env, const char *tag, const char *text)
{
	erltrace_error_t e = {.tag = ""};

	snprintf(e.tag, sizeof(e.tag), "%s", tag);
	snprintf(e.text, sizeof(e.text), "%s", text);
	return beam_error(env, &e);
}

/* role(Handle, first | other | alone) -> ok: after go. The first one holds its end back. */
ERL_NIF_TERM nif_role(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	char role[16] = "";
	int rc = 0;

	WITH_HANDLE(b)
	enif_get_atom(env, argv[1], role, sizeof(role), ERL_NIF_LATIN1);
	if (b->h->co != NULL)
		rc = co_set_role(b->h->co, strcmp(role, "first") == 0   ? CO_FIRST
				      : strcmp(role, "other") == 0 ? CO_OTHER
								   : CO_ALONE);
	b->h->hold = strcmp(role, "first") == 0;
	enif_mutex_unlock(b->lock);
	return rc == 0 ? atom_ok : failure(env, "ET_NOMEM", "out of memory");
}

/* hold(Handle, Boolean) -> ok */
ERL_NIF_TERM nif_hold(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	WITH_HANDLE(b)
	b->h->hold = argv[1] == atom_true;
	enif_mutex_unlock(b->lock);
	return atom_ok;
}

/* export(Handle, Keep) -> {ok, Binary}: <<>> is nothing */
ERL_NIF_TERM nif_export(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM t;
	char *bytes = NULL;
	size_t len = 0;
	int rc = 0;

	WITH_HANDLE(b)
	if (b->h->co != NULL)
		rc = co_export(b->h->co, argv[1] == atom_true, &bytes, &len);
	enif_mutex_unlock(b->lock);
	if (rc < 0)
		return failure(env, "ET_NOMEM", "out of memory");
	if (len > 0)
		memcpy(enif_make_new_binary(env, len, &t), bytes, len);
	else
		enif_make_new_binary(env, 0, &t);
	free(bytes);
	return enif_make_tuple2(env, atom_ok, t);
}

/* import(Handle, Binary) -> ok | {error, ..} */
ERL_NIF_TERM nif_import(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ErlNifBinary bin;
	int rc = 0;

	WITH_HANDLE(b)
	if (b->h->co != NULL && enif_inspect_binary(env, argv[1], &bin))
		rc = co_import(b->h->co, bin.data, bin.size);
	enif_mutex_unlock(b->lock);
	if (rc == 0)
		return atom_ok;
	return failure(env, "ET_VERSION",
		"the nodes have different versions of erltrace: their results cannot be joined");
}

/* ---- about scripts --------------------------------------------------------------------- */

static ERL_NIF_TERM binary(ErlNifEnv *env, const char *text)
{
	ERL_NIF_TERM t;
	size_t len = strlen(text);

	memcpy(enif_make_new_binary(env, len, &t), text, len);
	return t;
}

/* place(Handle) -> {File, SourceLine}: of the last script that did not compile */
ERL_NIF_TERM nif_place(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM ret;

	WITH_HANDLE(b)
	ret = enif_make_tuple2(env, binary(env, b->file), binary(env, b->source));
	enif_mutex_unlock(b->lock);
	return ret;
}

/* code(Handle) -> Binary: syntax tree and bytecode of the last script */
ERL_NIF_TERM nif_code(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	char *tree, *code;
	ERL_NIF_TERM ret;
	size_t len;

	WITH_HANDLE(b)
	tree = erltrace_tree(b->h);
	code = erltrace_disassemble(b->h);
	enif_mutex_unlock(b->lock);
	len = tree != NULL ? strlen(tree) : 0;
	if (tree != NULL && code != NULL && (tree = realloc(tree, len + strlen(code) + 1)) != NULL)
		memcpy(tree + len, code, strlen(code) + 1);
	ret = binary(env, tree != NULL ? tree : code != NULL ? code : "");
	free(tree);
	free(code);
	return ret;
}
