/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process is called if it has no registered name (proc_names.c, probe path): its label, or
 * the function that it began with. Each handle whose script reads erlproc or erlpeerproc has a
 * table.
 *
 */
#ifndef BEAM_PROC_NAMES_H
#define BEAM_PROC_NAMES_H

#include <erl_nif.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beam/free_list.h"
#include "engine/str.h"
#include "pid_slots.h"

#pragma GCC visibility push(hidden)

struct beam_event;

#define BEAM_LABEL_WORDS 15 /* of text, with its NUL: 119 bytes */
#define BEAM_LABELS	 65536
#define BEAM_WANTED	 256 /* processes that are to be asked, at a time */

struct beam_label {
	_Atomic uint64_t text[BEAM_LABEL_WORDS];
	_Atomic uint32_t next; /* in the list of free ones: index + 1 */
	uint32_t pad;
};

/*
 * One a process. It may change while others read it: they look at the pid again afterwards. A line
 * of the cache each, and whole ones in a page.
 */
struct beam_proc_name {
	_Alignas(64) _Atomic uint64_t pid; /* the term; 0: free; 1: being claimed or freed */
	_Atomic uint64_t mod, fun;
	_Atomic uint64_t label;	 /* changes << 32 | by an event << 31 | index + 1, or 0: none */
	_Atomic uint32_t call;	 /* NOT_ASKED ...: what mod, fun and arity are */
	_Atomic uint32_t arity;
};

struct beam_proc_names {
	struct beam_proc_name *tab; /* NULL: no script reads it */
	unsigned char *rests;	    /* as in struct beam_procs */
	struct beam_pid_slots slots;
	struct beam_label *labels;
	char pad[64];
	struct free_list free; /* labels */
	_Atomic uint64_t lost; /* names without room */
	_Atomic uint32_t nwanted;
	_Atomic uint64_t wanted[BEAM_WANTED]; /* pids, for erltrace_names.erl to ask; 0: free */
	char pad2[64];
};

int beam_proc_names_init(struct beam_proc_names *t, uint64_t process_limit);
void beam_proc_names_fini(struct beam_proc_names *t);

/* Events: it was spawned with {M, F, Arguments}; it called proc_lib:set_label/1; it exits. */
void beam_proc_name_spawned(
	struct beam_proc_names *t, const struct beam_event *ev, ERL_NIF_TERM mfa);
void beam_proc_name_label(
	struct beam_proc_names *t, const struct beam_event *ev, ERL_NIF_TERM label);
void beam_proc_name_exit(struct beam_proc_names *t, ERL_NIF_TERM pid);

/* Frees those of the next slots, from *at on, that are of dead processes; true: it was the last. */
bool beam_proc_names_sweep(struct beam_proc_names *t, uint64_t *at,
	bool (*is_dead)(void *arg, uint64_t pid), void *arg);

/* Memory of slots that nobody has any more, from page *at on; true: that was the last. */
bool beam_proc_names_release(struct beam_proc_names *t, uint64_t *at,
	bool (*is_dead)(void *arg, uint64_t pid), void *arg);

/*
 * What it is called, in the order of src/erltrace_process_name.erl: its registered name (0: none),
 * label, first function or pid. NULL: it is in buf. by_events: spawns and labels are events; else a
 * process that is not known is to be asked.
 */
const struct et_str *beam_proc_name(struct beam_proc_names *t, bool by_events, ERL_NIF_TERM pid,
	ERL_NIF_TERM name, char *buf, size_t size);

/* For erltrace_names.erl: see the NIFs of the same names (name_events.c). */
ERL_NIF_TERM beam_proc_names_claim(struct beam_proc_names *t, ErlNifEnv *env, ERL_NIF_TERM list);
ERL_NIF_TERM beam_proc_names_wanted(struct beam_proc_names *t, ErlNifEnv *env);
void beam_proc_names_fill(struct beam_proc_names *t, ErlNifEnv *env, ERL_NIF_TERM list);

#pragma GCC visibility pop
#endif
