/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of processes, as events tell them (probe path) and as erltrace_names.erl does: the
 * registered ones of those that run already, and what processes say that they are called. The
 * tables are in registered.c and proc_names.c.
 */
#include "beam/atoms.h"
#include "beam/handle/beam_handle.h"
#include "beam/nif.h"
#include "beam/vm/vm_event.h"
#include "compiler.h"
#include "name_events.h"

PROBE_PATH static void set(struct beam_handle *b, ERL_NIF_TERM pid, ERL_NIF_TERM name)
{
	if (!beam_name_put(&b->registered.names, pid, name))
		atomic_fetch_add_explicit(&b->procs.lost, 1, memory_order_relaxed);
	if (b->registered.holders.tab != NULL && !beam_name_put(&b->registered.holders, name, pid))
		atomic_store_explicit(&b->registered.holders_lost, true, memory_order_relaxed);
}

static void clear(struct beam_handle *b, ERL_NIF_TERM pid, ERL_NIF_TERM name)
{
	beam_name_take(&b->registered.names, pid, name);
	if (b->registered.holders.tab != NULL)
		beam_name_take(&b->registered.holders, name, pid);
}

PROBE_PATH bool beam_is_nobody(const struct beam_handle *b, ERL_NIF_TERM name)
{
	return b->registered.holders.tab != NULL &&
	       beam_name_of(&b->registered.holders, name) == 0 &&
	       !atomic_load_explicit(&b->registered.holders_lost, memory_order_relaxed);
}

/* Under the registry's lock, on the scheduler of whoever registers. */
PROBE_PATH void beam_name_event(struct beam_event *ev, ERL_NIF_TERM tag, ERL_NIF_TERM name)
{
	if (ev->b->registered.names.tab == NULL || !enif_is_atom(ev->env, name))
		return;
	if (tag == atom_register)
		set(ev->b, ev->cur.key, name);
	else
		clear(ev->b, ev->cur.key, name);
}

/* set_name(Handle, Pid, Name, IsRegistered) */
ERL_NIF_TERM nif_set_name(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	WITH_HANDLE(b)
	if (b->registered.names.tab != NULL &&
		(enif_is_pid(env, argv[1]) || enif_is_port(env, argv[1])) &&
		enif_is_atom(env, argv[2])) {
		if (argv[3] == atom_true)
			set(b, argv[1], argv[2]);
		else
			clear(b, argv[1], argv[2]);
	}
	enif_mutex_unlock(b->lock);
	return atom_ok;
}

/* claim_names(Handle, [Pid]) -> [Token]: before the processes are asked. */
ERL_NIF_TERM nif_claim_names(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM tokens;

	WITH_HANDLE(b)
	tokens = beam_proc_names_claim(&b->proc_names, env, argv[1]);
	enif_mutex_unlock(b->lock);
	return tokens;
}

/* wanted_names(Handle) -> [{Pid, Token}] | done: who is to be asked; done: the script has ended. */
ERL_NIF_TERM nif_wanted_names(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM list;

	WITH_HANDLE(b)
	list = beam_proc_names_wanted(&b->proc_names, env);
	if (!atomic_load(&b->live))
		list = atom_done;
	enif_mutex_unlock(b->lock);
	return list;
}

/* fill_names(Handle, [{Pid, Token, {M, F, A}, Label} | Pid]): their answers; of a pid, that it has
 * exited. */
ERL_NIF_TERM nif_fill_names(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	WITH_HANDLE(b)
	beam_proc_names_fill(&b->proc_names, env, argv[1]);
	enif_mutex_unlock(b->lock);
	return atom_ok;
}
