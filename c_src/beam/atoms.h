/* SPDX-License-Identifier: Apache-2.0 */
/* Atoms, made when the library is loaded (atoms.c): to compare a term with one takes no call. */
#ifndef BEAM_ATOMS_H
#define BEAM_ATOMS_H

#include <erl_nif.h>

#pragma GCC visibility push(hidden)

#define ATOMS(X)                                                                                   \
	X(ok) X(error) X(true) X(false) X(trace) X(discard) X(remove) X(call) X(spawn) X(spawned)  \
	X(exit) X(send) X(receive) X(in) X(out) X(extra) X(probe) X(done) X(gc_minor_start)        \
	X(gc_minor_end) X(gc_major_start) X(gc_major_end) X(undefined) X(text) X(drop) X(fault)    \
	X(warning) X(timeout) X(wordsize) X(return_to) X(erlang) X(hibernate) X(heap_block_size)   \
	X(functions) X(closed) X(open) X(command) X(control) X(connect) X(bif) X(nif) X(badarg)    \
	X(proc_lib) X(layout) X(close) X(flush) X(register) X(unregister) X(return_from)           \
	X(match_spec_result) X(erl_ddll) X(try_load) X(try_unload) X(running) X(aborted) X(init_p) \
	X(init_it) X(init) X(gen) X(gen_server) X(gen_event) X(supervisor) X(supervisor_bridge)    \
	X(set_label) X(apply) X(match) X(nomatch) X(record) X(no_probe) X(exception_from) X(fast)  \
	X(traced)                                                                                  \
	X(erltrace_fastcalls) X(one) X(body) X(tail) X(raise) X(grow) X(throw) X(nocatch) X(value) \
	X(first) X(infinity) X(ets) X(new) X(whereis) X(normal) X(shutdown) X(permanent)          \
	X(transient) X(atoms) X(top_words) X(run_state) X(global)              \
	X(seq_trace) X(erltrace_flow) X(flow_tokens) X(spawn_request) X(spawn_reply) X(EXIT)    \
	X(loop_hibernate) X(gen_statem) X(send_to_non_existing_process)                            \
	X(send_after) X(start_timer) X(cancel_timer) X(clock_service) X(abs) X(job)          \
	X(work) X(ticks) X(clean) X(openmetrics)
extern ERL_NIF_TERM atom_dots; /* '...' */
extern ERL_NIF_TERM atom_gen_cast; /* '$gen_cast' */
#define X(a) extern ERL_NIF_TERM atom_##a;
ATOMS(X)
#undef X

void beam_atoms_make(ErlNifEnv *env); /* at load */

#pragma GCC visibility pop
#endif
