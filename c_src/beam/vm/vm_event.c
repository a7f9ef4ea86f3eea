/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of an event that take more than a look (probe path). */
#include "compiler.h"
#include "vm_event.h"

PROBE_PATH ERL_NIF_TERM beam_extra(ErlNifEnv *env, ERL_NIF_TERM opts)
{
	ERL_NIF_TERM v;

	if (likely(beam_extra_fast(opts, &v)))
		return v;
	return enif_get_map_value(env, opts, atom_extra, &v) ? v : atom_undefined;
}
