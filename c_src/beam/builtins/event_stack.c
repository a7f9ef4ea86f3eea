/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Erlang stacks for ustack() (probe path): the function that the event itself names, and the stack
 * of its process (erl_stack.c).
 */
#include "beam/atoms.h"
#include "beam/code/code_names.h"
#include "beam/code/erl_stack.h"
#include "beam/handle/beam_handle.h"
#include "beam/vm/vm_event.h"
#include "compiler.h"
#include "event_stack.h"

/* The function that the event itself names: called, scheduled, returned from or to. */
PROBE_PATH static bool has_function(ERL_NIF_TERM tag)
{
	return tag == atom_call || tag == atom_in || tag == atom_out || tag == atom_return_to ||
	       tag == atom_return_from || tag == atom_exception_from;
}

static bool has_stack(ERL_NIF_TERM tag)
{
	return has_function(tag) || tag == atom_send || tag == atom_send_to_non_existing_process ||
	       tag == atom_gc_minor_start || tag == atom_gc_minor_end ||
	       tag == atom_gc_major_start || tag == atom_gc_major_end;
}

static unsigned event_function(const struct beam_event *ev, uint64_t *pcs, unsigned max)
{
	const ERL_NIF_TERM *t;
	unsigned arity = 0;
	int n;

	if (max > 0 && ev->argv[0] == atom_return_to && ev->ended != NULL) {
		pcs[0] = code_frame(ev->ended->mod, ev->ended->fun, ev->ended->arity);
		return pcs[0] != 0;
	}
	if (max == 0 || !enif_get_tuple(ev->env, ev->argv[3], &n, &t) || n != 3)
		return 0;
	if (!enif_get_uint(ev->env, t[2], &arity))
		enif_get_list_length(ev->env, t[2], &arity);
	pcs[0] = code_frame(t[0], t[1], arity);
	return pcs[0] != 0;
}

PROBE_PATH unsigned beam_ustack(
	const struct en_current *cur, uint64_t *pcs, unsigned max, bool lines)
{
	const struct beam_event *ev = (const struct beam_event *)(const void *)cur;
	unsigned n = 0;

	if (!enif_is_pid(ev->env, ev->cur.key) || (ev->argv != NULL && !has_stack(ev->argv[0])))
		return 0;
	if (ev->argv != NULL && has_function(ev->argv[0]))
		n = event_function(ev, pcs, max);
	return beam_process_stack(
		ev->env, ev->words, pcs, n, max, lines && beam_tracks(ev->b, TRACK_LINES));
}
