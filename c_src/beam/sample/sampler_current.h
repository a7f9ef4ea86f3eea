/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that a sample is of, as the current task of a firing (sampler_current.c, probe path).
 */
#ifndef BEAM_SAMPLER_CURRENT_H
#define BEAM_SAMPLER_CURRENT_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/current.h"
#include "sampler.h"

#pragma GCC visibility push(hidden)

struct beam_handle;

struct sampler_current {
	struct en_current cur;
	struct beam_handle *b;
	ERL_NIF_TERM pid, name; /* or 0 */
	unsigned sched;
	const char *state;
	uint64_t pc;
	unsigned nframes;
	const uint64_t *frames;
};

void sampler_current_init(struct sampler_current *s, const struct sampler_thread *t,
	const struct sampler_head *h, const uint64_t *frames);

/* Of a process that was asked; its frames are to be set. */
void sampler_current_wall(
	struct sampler_current *s, ERL_NIF_TERM pid, ERL_NIF_TERM name, const char *state);

#pragma GCC visibility pop
#endif
