/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile-wall-N in a node: what processes are at by the clock, those that wait too. A process of
 * ours (erltrace_wall.erl) asks a few processes, picked at random, where they are, and has the
 * probes fired here: as often as the processes that each of them stands for.
 */
#include <string.h>

#include "beam/code/code_table.h"
#include "beam/handle/beam_handle.h"
#include "beam/handle/handles.h"
#include "beam/nif.h"
#include "beam/vm/vm_event.h"
#include "beam/vm/vm_threads.h"
#include "engine/engine.h"
#include "engine/probe.h"
#include "engine/provider.h"
#include "engine/state.h"
#include "prog/stack_marks.h"
#include "sampler_current.h"
#include "sampler_wall.h"

#define FEW 16 /* firings one by one; more are made at once, if the clauses permit */

int sampler_wall_enable(struct en *en, struct en_probe *p, uint64_t period, struct et_error *e)
{
	struct beam_handle *b = ((const struct beam_event *)(const void *)en->host)->b;

	if (b->walls == NULL)
		b->walls = calloc(1, sizeof(*b->walls));
	if (b->walls == NULL)
		return et_err(e, ET_NOMEM, "out of memory for samples");
	if (b->walls->n == BEAM_WALLS)
		return et_err(e, ET_SAMPLES,
			"a script can have %d different profile-wall-N at most", BEAM_WALLS);
	b->walls->v[b->walls->n++] = (struct beam_wall){.probe = p, .period = period};
	return 0;
}

void sampler_wall_free(struct beam_handle *b)
{
	free(b->walls);
	b->walls = NULL;
}

uint64_t sampler_wall_period(const struct beam_handle *b)
{
	uint64_t period = 0;

	for (unsigned i = 0; b->walls != NULL && i < b->walls->n; i++)
		if (period == 0 || b->walls->v[i].period < period)
			period = b->walls->v[i].period;
	return period;
}

/* {M, F, A}, or {M, F, A, File, Line}. 0: none. */
static uint64_t get_frame(ErlNifEnv *env, ERL_NIF_TERM term, bool lines)
{
	const ERL_NIF_TERM *t;
	unsigned arity, line;
	uint64_t frame = 0;
	ErlNifBinary file;
	int n;

	if (!enif_get_tuple(env, term, &n, &t) || n < 3 || !enif_get_uint(env, t[2], &arity))
		return 0;
	if (lines && n == 5 && enif_inspect_binary(env, t[3], &file) &&
		enif_get_uint(env, t[4], &line))
		frame = beam_code_told(t[0], t[1], arity, (const char *)file.data, file.size, line);
	return frame != 0 ? frame : beam_code_function(t[0], t[1], arity);
}

static unsigned get_frames(
	ErlNifEnv *env, ERL_NIF_TERM list, bool lines, uint64_t *frames, unsigned max)
{
	ERL_NIF_TERM head;
	unsigned n = 0;

	while (n < max && enif_get_list_cell(env, list, &head, &list)) {
		const uint64_t frame = get_frame(env, head, lines);

		if (frame != 0)
			stack_push(frames, &n, max, frame, 1);
	}
	return n;
}

/* A process that was asked. */
struct asked {
	struct sampler_current s;
	uint64_t weight, frames[SAMPLER_FRAMES];
	char state[32];
};

/* {Pid, Weight, State, Name | [], Stack} */
static bool get_asked(ErlNifEnv *env, ERL_NIF_TERM term, struct beam_handle *b, struct asked *a)
{
	const ERL_NIF_TERM *t;
	ErlNifUInt64 w;
	int n;

	if (!enif_get_tuple(env, term, &n, &t) || n != 5 || !enif_is_pid(env, t[0]) ||
		!enif_get_uint64(env, t[1], &w) ||
		enif_get_atom(env, t[2], a->state, sizeof(a->state), ERL_NIF_LATIN1) <= 0)
		return false;
	sampler_current_wall(&a->s, t[0], enif_is_atom(env, t[3]) ? t[3] : 0, a->state);
	a->s.b = b;
	a->s.nframes =
		get_frames(env, t[4], beam_tracks(b, TRACK_LINES), a->frames, SAMPLER_FRAMES);
	a->s.frames = a->frames;
	a->weight = w;
	return true;
}

static void fire(struct en_probe *p, struct sampler_current *s, uint64_t n)
{
	static const uint64_t args[10];

	if (n > FEW && en_repeatable(p)) {
		en_fire_times(p, args, 0, &s->cur, n);
		return;
	}
	for (uint64_t i = 0; i < n; i++)
		en_fire_own(p, args, &s->cur);
}

/* wall(Number of a handle, Nanoseconds since the last time, [Sample]) -> boolean(): does it run? */
ERL_NIF_TERM nif_wall(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM head, tail = argv[2];
	ErlNifUInt64 elapsed;
	uint64_t times[BEAM_WALLS];
	struct beam_handle *b;
	struct asked a;
	unsigned number;
	bool live;

	(void)argc;
	if (!enif_get_uint(env, argv[0], &number) || !enif_get_uint64(env, argv[1], &elapsed))
		return enif_make_badarg(env);
	b = beam_enter_live(number);
	live = b != NULL && b->walls != NULL;
	for (unsigned i = 0; live && i < b->walls->n; i++) {
		b->walls->v[i].full += elapsed;
		times[i] = b->walls->v[i].full / b->walls->v[i].period;
		b->walls->v[i].full %= b->walls->v[i].period;
	}
	while (live && enif_get_list_cell(env, tail, &head, &tail)) {
		if (!get_asked(env, head, b, &a))
			continue;
		for (unsigned i = 0; i < b->walls->n; i++)
			fire(b->walls->v[i].probe, &a.s, times[i] * a.weight);
	}
	beam_leave();
	return live ? atom_true : atom_false;
}
