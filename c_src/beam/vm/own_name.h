/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registered name of the process that runs (own_name.c, probe path): read out of the VM's own
 * struct, where no event tells of registrations.
 */
#ifndef BEAM_OWN_NAME_H
#define BEAM_OWN_NAME_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stdint.h>

#include "facts.h"

#pragma GCC visibility push(hidden)

extern const struct find_fact beam_own_name_fact;
bool beam_own_name_known(void);

/*
 * The name of the process whose struct is at proc, which has this pid and runs on this thread; 0:
 * it has none. An event may be about another process than the one that runs: that is taken to have
 * none.
 */
ERL_NIF_TERM beam_registered_name(const char *proc, ERL_NIF_TERM pid);
/* The same at an event of the VM, or in a NIF that the process has called. */
ERL_NIF_TERM beam_own_name(ErlNifEnv *env, ERL_NIF_TERM pid);

/*
 * The same for a reader that has copies of both structs (sampler_handler.c): the address of the
 * process's entry, or 0; its name, if it is the entry of this process, or 0.
 */
#define BEAM_NAME_ENTRY 5 /* words of an entry */
uintptr_t beam_name_entry(const uintptr_t *proc);
ERL_NIF_TERM beam_name_in_entry(const uintptr_t *entry, uintptr_t proc);

#pragma GCC visibility pop
#endif
