/* SPDX-License-Identifier: Apache-2.0 */
/* Atoms, made when the library is loaded: no call adds one to the VM's table. */
#include "atoms.h"

ERL_NIF_TERM atom_dots, atom_gen_cast;
#define X(a) ERL_NIF_TERM atom_##a;
ATOMS(X)
#undef X

/* Those that are made by their names. */
static const char *const names[] = {
	"arity", "return_to", "procs", "running_procs", "garbage_collection", "ports",
	"port_receive", "port_running", "busy_port", "busy_dist_port", "monitor_nodes",
	"seq_token", "modules", "erl_ddll", "local", "global", "dyntrace", "user_trace_s1",
	"user_trace_i4s4", "user_trace_n", "enomem", "names", "unknown", "idle", "running",
	"exited", "filled", "stopped", "count", "sum", "min", "max", "avg", "stddev",
	"quantize", "lquantize", "llquantize", "percentile", "return", "stacks", "printa", "print",
	"all", "proc_names", "label", "label_return", "auto", "none", "hooks_taken", "ask_names",
	"sweep"
};

void beam_atoms_make(ErlNifEnv *env)
{
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		enif_make_atom(env, names[i]);
	atom_dots = enif_make_atom(env, "...");
	atom_gen_cast = enif_make_atom(env, "$gen_cast");
#define X(a) atom_##a = enif_make_atom(env, #a);
	ATOMS(X)
#undef X
}
