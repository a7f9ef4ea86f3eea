/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes whose events come to a process of ours as messages (erltrace_sysmon.erl), which has
 * them fired here.
 */
#include <string.h>

#include "beam/builtins/erl_builtins.h"
#include "beam/builtins/event_stack.h"
#include "beam/handle/beam_handle.h"
#include "beam/handle/handles.h"
#include "beam/nif.h"
#include "beam/term/atom_text.h"
#include "engine/probe.h"

static struct en_probe *by_name(struct beam_handle *b, const char *name)
{
	for (int i = 0; i < BP_FUNCTIONS; i++)
		if (strcmp(beam_probedefs[i].name, name) == 0)
			return b->probe[i];
	return NULL;
}

/* Atoms, pids and ports as Erlang writes them, binaries as they are. */
static void get_arg(ErlNifEnv *env, ERL_NIF_TERM t, char *buf, size_t size)
{
	ErlNifBinary bin;

	if (enif_inspect_binary(env, t, &bin)) {
		size_t n = bin.size < size ? bin.size : size - 1;

		memcpy(buf, bin.data, n);
		buf[n] = '\0';
	} else if (enif_is_atom(env, t)) {
		beam_atom_text(t, buf, size);
	} else {
		enif_snprintf(buf, size, "%T", t);
	}
}

/* fire(Number of a handle, Name, Pid whose event it is, [Text or integer]) -> boolean() */
ERL_NIF_TERM nif_fire(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	static const ERL_NIF_TERM none[5]; /* it is no trace event, and the stack is our own */
	struct beam_event ev = {.cur = {.key = argv[2], .ops = &beam_ops,
					.ustack = beam_ustack},
		.env = env, .argv = none};
	ERL_NIF_TERM head, tail = argv[3];
	ErlNifSInt64 v;
	char name[64], texts[10][256];
	struct en_probe *p = NULL;
	uint64_t arg[10] = {0};
	unsigned number;

	(void)argc;
	if (!enif_get_uint(env, argv[0], &number) ||
		enif_get_atom(env, argv[1], name, sizeof(name), ERL_NIF_LATIN1) <= 0)
		return enif_make_badarg(env);
	for (int i = 0; i < 10 && enif_get_list_cell(env, tail, &head, &tail); i++) {
		if (enif_get_int64(env, head, &v)) {
			arg[i] = (uint64_t)v;
			continue;
		}
		get_arg(env, head, texts[i], sizeof(texts[i]));
		arg[i] = (uint64_t)(uintptr_t)texts[i];
	}
	ev.b = beam_enter_live(number);
	if (ev.b != NULL)
		p = by_name(ev.b, name);
	if (p != NULL && en_enabled(p))
		en_fire(p, arg, 0, &ev.cur);
	else
		p = NULL;
	beam_leave();
	return p != NULL ? atom_true : atom_false;
}
