/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept of processes is freed when they exit: self-> variables, slots of the tables of
 * processes and of what they are called. Where no process is traced, nobody tells of exits
 * (beam_handle.exits). Then this goes through the tables, off the probe path, and asks the VM
 * whether each process still lives. It takes a little of a table at a time. When it has been
 * through all of them it pauses for a hundred times as long as that took, or ten times where room
 * is getting scarce: a few ms where there is little to look at, a second where ten thousand
 * processes have something.
 *
 * Nothing of a living process is freed. To the VM a process is dead when it has begun to exit. It
 * begins to do so itself between two calls, or is made to while it runs a dirty NIF: its events
 * have been handled by then. There is one exception: a process that is killed for the size of its
 * heap (max_heap_size) is dead at once, but runs on until it next yields. Its last calls may find
 * that their variables are gone; what they leave is freed by the next pass. A pid is used again
 * after 2^28 others at the earliest, when the old process has long been swept.
 *
 * Whoever tells of exits, every ten seconds the memory of slots that are still free is given back,
 * page by page: in a node that spawns for days all of a table would be there else.
 *
 */
#include "beam/nif.h"
#include "engine/clock.h"
#include "engine/engine.h"
#include "beam_handle.h"

#define SLICE	      1000000 /* ns: the handle is locked for so long, and a little more */
#define CHAINS	      512     /* of variables, between two looks at the clock */
#define PAUSE	      99      /* times what a pass took */
#define HURRY	      9	      /* the same where room is getting scarce */
#define LEAST_MS      10
#define MOST_MS	      10000
#define RELEASE	      10000000000 /* ns between two passes that give memory back, */
#define RELEASE_SLICE 4000000	  /* in slices, one a second: so do ten thousand spawns a second */
#define SMALL	      65536	  /* slots: such tables may be there as a whole */

/* Keys of self-> are pids and ports, or numbers of threads, which have the highest bit. */
static bool is_dead(void *env, uint64_t key)
{
	ErlNifPid pid;

	return key >> 63 == 0 && enif_get_local_pid(env, key, &pid) &&
	       !enif_is_process_alive(env, &pid);
}

static bool sweep_self(struct beam_handle *b, uint64_t *at, ErlNifEnv *env)
{
	return !beam_tracks(b, TRACK_SELF) || en_self_sweep(b->en, at, CHAINS, is_dead, env);
}

static bool sweep_procs(struct beam_handle *b, uint64_t *at, ErlNifEnv *env)
{
	return b->procs.tab == NULL || beam_procs_sweep(&b->procs, at, is_dead, env);
}

static bool sweep_names(struct beam_handle *b, uint64_t *at, ErlNifEnv *env)
{
	return b->proc_names.tab == NULL || beam_proc_names_sweep(&b->proc_names, at, is_dead, env);
}

/* Has most of some memory been handed out? It may have been given back since. */
static bool is_scarce(const struct beam_handle *b)
{
	return en_dyn_scarce(b->en) || atomic_load(&b->procs.free.used) > BEAM_CHUNKS / 4 * 3 ||
	       atomic_load(&b->procs.kept.free.used) > BEAM_KEPT / 4 * 3 ||
	       atomic_load(&b->proc_names.free.used) > BEAM_LABELS / 4 * 3;
}

/* ms until it goes on. */
static uint64_t sweep(struct beam_handle *b, ErlNifEnv *env)
{
	static bool (*const steps[])(struct beam_handle *, uint64_t *, ErlNifEnv *) = {
		sweep_self, sweep_procs, sweep_names};
	const unsigned n = sizeof(steps) / sizeof(steps[0]);
	struct beam_sweep *s = &b->sweep;
	uint64_t began = en_now(), now = began, ms;

	for (; s->step < n && now - began < SLICE; now = en_now())
		if (steps[s->step](b, &s->at, env)) {
			s->step++;
			s->at = 0;
		}
	s->took += now - began;
	if (s->step < n)
		return 0;
	ms = s->took * (is_scarce(b) ? HURRY : PAUSE) / 1000000;
	*s = (struct beam_sweep){0};
	return ms < LEAST_MS ? LEAST_MS : ms > MOST_MS ? MOST_MS : ms;
}

static bool release_procs(struct beam_handle *b, uint64_t *at, ErlNifEnv *env)
{
	return b->procs.tab == NULL || b->procs.slots.mask < SMALL ||
	       beam_procs_release(&b->procs, at, is_dead, env);
}

static bool release_names(struct beam_handle *b, uint64_t *at, ErlNifEnv *env)
{
	return b->proc_names.tab == NULL || b->proc_names.slots.mask < SMALL ||
	       beam_proc_names_release(&b->proc_names, at, is_dead, env);
}

/* Goes on with it, if it is time. The handle is locked. */
void beam_release(struct beam_handle *b, ErlNifEnv *env)
{
	static bool (*const steps[])(struct beam_handle *, uint64_t *, ErlNifEnv *) = {
		release_procs, release_names};
	const unsigned n = sizeof(steps) / sizeof(steps[0]);
	struct beam_release *r = &b->release;
	uint64_t began = en_now(), now = began;

	for (; began >= r->due && r->step < n && now - began < RELEASE_SLICE; now = en_now())
		if (steps[r->step](b, &r->at, env)) {
			r->step++;
			r->at = 0;
		}
	if (r->step == n)
		*r = (struct beam_release){.due = now + RELEASE};
}

/*
 * sweep(Handle) -> ms until the next time | infinity: frees what is kept of processes that have
 * ended. 0: there is more to look at. infinity: their exits are told, or the script has ended.
 */
ERL_NIF_TERM nif_sweep(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM next = atom_infinity;

	WITH_HANDLE(b)
	if (!beam_tracks(b, TRACK_EXITS) && en_state(b->en) == EN_RUNNING)
		next = enif_make_uint64(env, sweep(b, env));
	enif_mutex_unlock(b->lock);
	return next;
}
