/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that mean more than a call (probe path): user probes, drivers, hibernation, labels. */
#include "beam/atoms.h"
#include "beam/flow/flows.h"
#include "beam/handle/beam_handle.h"
#include "beam/proc/proc_names.h"
#include "beam/vm/vm_event.h"
#include "compiler.h"
#include "ports.h"
#include "special_calls.h"
#include "user.h"

/* A call of dyntrace's functions, or erl_ddll's: what OTP's own provider would have fired. */
static void user_call(struct beam_event *ev, const struct beam_fn *fn, ERL_NIF_TERM list)
{
	ERL_NIF_TERM args[10];
	unsigned n = 0;

	while (n < 10 && enif_get_list_cell(ev->env, list, &args[n], &list))
		n++;
	if (n != fn->arity)
		return;
	if (fn->user > 1 + USER_N)
		beam_driver_call(ev, fn->user == 1 + USER_LOAD, args);
	else
		beam_user_fire(
			ev->b, ev->env, ev->cur.key, (enum beam_user)(fn->user - 1), args, n);
}

/* proc_lib:hibernate(M, F, Args): noted for when it goes out. */
static void note_hibernate(struct beam_event *ev, ERL_NIF_TERM list)
{
	ERL_NIF_TERM m, f, args;

	if (!enif_get_list_cell(ev->env, list, &m, &list) ||
		!enif_get_list_cell(ev->env, list, &f, &list) ||
		!enif_get_list_cell(ev->env, list, &args, &list) || !enif_is_atom(ev->env, m) ||
		!enif_is_atom(ev->env, f) ||
		!enif_get_list_length(ev->env, args, &ev->proc->hib_arity))
		return;
	ev->proc->hib_mod = m;
	ev->proc->hib_fun = f;
}

/* proc_lib:set_label(Label): a tracer's pattern hands the label over as its result. */
static void note_label(struct beam_event *ev)
{
	const ERL_NIF_TERM *t;
	ERL_NIF_TERM label, rest;
	int n;

	if (ev->argv[4] != 0
			? enif_get_map_value(ev->env, ev->argv[4], atom_match_spec_result, &label)
			: enif_get_tuple(ev->env, ev->argv[3], &n, &t) && n == 3 &&
				  enif_get_list_cell(ev->env, t[2], &label, &rest))
		beam_proc_name_label(&ev->b->proc_names, ev, label);
}

PROBE_PATH void beam_special_call(
	struct beam_event *ev, const struct beam_fn *fn, ERL_NIF_TERM mfa, bool proc)
{
	const ERL_NIF_TERM *t;
	int n;

	if (beam_fn_has(fn, TRAIT_LABEL))
		note_label(ev);
	if (beam_fn_has(fn, TRAIT_FOLLOW))
		beam_flow_call(ev);
	if (!enif_get_tuple(ev->env, mfa, &n, &t) || n != 3)
		return;
	if (fn->user != 0)
		user_call(ev, fn, t[2]);
	if (beam_fn_has(fn, TRAIT_HIBERNATE) && proc)
		note_hibernate(ev, t[2]);
}
