/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As much of an Erlang VM as c_src/beam needs to run without one: terms as OTP has them, and the
 * functions of erl_nif.h on them. For the tests of threads (beam_threads.c).
 */
#ifndef FAKE_H
#define FAKE_H

#include <erl_nif.h>
#include <stddef.h>
#include <stdint.h>

/* An environment: the words that layout.c looks at, and memory for terms. */
struct enif_environment_t {
	void *words[8]; /* 1: the process, 7: the traced one */
	char *mem;
	size_t used, size;
};

#define FAKE_PROCESSES 32768 /* the VM's limit */

ErlNifEnv *fake_env(void *process);
void fake_reset(ErlNifEnv *env); /* its terms are no more */
void fake_env_free(ErlNifEnv *env);
/* <0.Number.0>. From 4096 on it has the slot of Number - 4096, which must have ended before. */
ERL_NIF_TERM fake_pid(unsigned number);
void fake_ends(ERL_NIF_TERM pid); /* it is not alive any more */
#define FAKE_NUMBERS (1 << 20)	  /* of pids */
ERL_NIF_TERM fake_port(unsigned number);

#endif
