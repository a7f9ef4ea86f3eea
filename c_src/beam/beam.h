/* SPDX-License-Identifier: Apache-2.0 */
/*
 * erltrace inside an Erlang node: a NIF library. It is thin: terms in, the library's calls, terms
 * out. From the ground up:
 *
 *   vm/        the VM: where it keeps what, its threads, its events
 *   term/      terms: read, compared, matched, kept, as text
 *   code/      functions: those that have probes, those that are loaded; frames of stacks
 *   proc/      what is kept of processes
 *   handle/    a handle, and what looks after it
 *   flow/      requests that are followed
 *   builtins/  what scripts ask of an event
 *   state/     the provider state: what there is in the node, whatever happens
 *   events/    THE PROBE PATH: the VM's tracing calls us, and probes fire
 *   fast/      calls by the fast way, past the VM's tracing; ../core: the library it has there
 *   sample/    profile-N and profile-wall-N
 *   nif/       what the Erlang side calls; the provider, and what has to be armed for it
 *
 * Each includes those above it in this list alone (the arrows of doc/architecture.md), and its first
 * header maps its files. Here is what all of them share:
 *
 *   nif.h         the functions of erltrace_nif.erl (nifs.def: all), what they take and give
 *   nif_terms.c   ... made: texts, binaries, errors
 *   needs.def     what enabled probes can need of the node
 *   erl_probes.h  the table of probes
 *   atoms.c       atoms, made at load
 *   pages.h       memory of large tables
 *   free_list.h   entries of tables, taken and given back (probe path)
 *
 * What others need of a file is in the header of its name. All symbols are hidden (visibility):
 * what events read is read without a detour by the global offset table.
 *
 */
