/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terms that outlive every process: what all handles have armed (erltrace_vm.erl). The environment
 * of the application would do, were it not for the application controller: it does nothing else
 * while it stops an application, and a handle that ends with its owner then must not wait for it.
 *
 * The store goes from an old library to a new one, by the module's private data; so its shape stays
 * as it is, or its magic number changes.
 */
#include "beam/nif.h"
#include "store.h"

#define STORE_MAGIC 0x65743032 /* "et02" */
#define STORE_KEYS  8

struct store {
	uint32_t magic;
	ErlNifMutex *lock;
	struct {
		ERL_NIF_TERM key; /* an atom; 0: free */
		ErlNifEnv *env;
		ERL_NIF_TERM value;
		bool large; /* to copy it takes long */
	} at[STORE_KEYS];
};

static struct store *store;

int beam_store_init(void **priv, void *old)
{
	if (store == NULL && old != NULL && ((struct store *)old)->magic == STORE_MAGIC)
		store = old;
	if (store == NULL) {
		store = enif_alloc(sizeof(*store));
		if (store == NULL)
			return -1;
		*store = (struct store){
			.magic = STORE_MAGIC, .lock = enif_mutex_create("erltrace_store")};
		if (store->lock == NULL)
			return -1;
	}
	*priv = store;
	return 0;
}

static int slot_of(ERL_NIF_TERM key)
{
	for (int i = 0; i < STORE_KEYS; i++)
		if (store->at[i].key == key)
			return i;
	return -1;
}

static ERL_NIF_TERM keep(ErlNifEnv *env, ERL_NIF_TERM key, ERL_NIF_TERM value, bool large)
{
	ErlNifEnv *old = NULL, *own = enif_alloc_env();
	int i;

	if (!enif_is_atom(env, key) || own == NULL) {
		if (own != NULL)
			enif_free_env(own);
		return beam_badarg(env);
	}
	enif_mutex_lock(store->lock);
	i = slot_of(key);
	if (i < 0)
		i = slot_of(0);
	if (i >= 0) {
		old = store->at[i].env;
		store->at[i].key = key;
		store->at[i].large = large;
		store->at[i].env = own;
		store->at[i].value = enif_make_copy(own, value);
	}
	enif_mutex_unlock(store->lock);
	if (i < 0)
		old = own;
	if (old != NULL)
		enif_free_env(old);
	return i < 0 ? beam_badarg(env) : atom_ok;
}

/* keep(Key, Term) -> ok */
ERL_NIF_TERM nif_keep(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	(void)argc;
	return keep(env, argv[0], argv[1], false);
}

/* The same for one that takes long to copy, and then to look at it is a job. */
ERL_NIF_TERM nif_keep_dirty(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	(void)argc;
	return keep(env, argv[0], argv[1], true);
}

static ERL_NIF_TERM kept(ErlNifEnv *env, const ERL_NIF_TERM argv[], bool small)
{
	ERL_NIF_TERM value = argv[1];
	int i;

	if (!enif_is_atom(env, argv[0]))
		return beam_badarg(env);
	enif_mutex_lock(store->lock);
	i = slot_of(argv[0]);
	small = small && i >= 0 && store->at[i].large;
	if (i >= 0 && !small)
		value = enif_make_copy(env, store->at[i].value);
	enif_mutex_unlock(store->lock);
	return small ? atom_job : enif_make_tuple2(env, atom_ok, value);
}

/* kept_small(Key, Default) -> {ok, Term} | job: it is large */
ERL_NIF_TERM nif_kept_small(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	(void)argc;
	return kept(env, argv, true);
}

/* kept(Key, Default) -> {ok, Term} */
ERL_NIF_TERM nif_kept(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	(void)argc;
	return kept(env, argv, false);
}

/* drop(Key) -> ok */
ERL_NIF_TERM nif_drop(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ErlNifEnv *old = NULL;
	int i;

	(void)argc;
	if (!enif_is_atom(env, argv[0]))
		return beam_badarg(env);
	enif_mutex_lock(store->lock);
	i = slot_of(argv[0]);
	if (i >= 0) {
		old = store->at[i].env;
		store->at[i].key = 0;
		store->at[i].env = NULL;
	}
	enif_mutex_unlock(store->lock);
	if (old != NULL)
		enif_free_env(old);
	return atom_ok;
}
