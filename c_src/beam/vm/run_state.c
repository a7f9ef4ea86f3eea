/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process is scheduled out because it waits, or because others have their turn. The VM's event is
 * the same for both. But the environment of a callback holds a pointer to the process (layout.h),
 * whose struct has a word of flags, one of which says that it has something to run. Which one is
 * found out with a process of ours (src/erltrace_run_state.erl): it says what it is about to do,
 * yields, or waits for messages and for timeouts, and the words are looked at when it is scheduled
 * out.
 *
 * The word that is looked for differs in a single bit, whether it yields or waits, and does not
 * differ otherwise. Two bits further is the one of a process that runs, which is set each time;
 * next to that is the one of a process that is suspended, which is not. Where no word or several
 * are like that, the answer is -1.
 *
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "beam/nif.h"
#include "layout.h"
#include "run_state.h"

#define FIRST	16  /* of the half words that are looked at */
#define LAST	184 /* 92 words of at least 95 */
#define SAMPLES 32

enum { NONE, YIELDS, WAITS };

static struct {
	int what;
	uint32_t half[LAST];
} samples[SAMPLES];
static int nsamples;
static _Atomic int expected; /* what the next event is of */

static _Atomic int where; /* of the flags, in bytes; 0: not known yet, -1: not to be known */
static uint32_t active, suspended;

/* Of the event's process; the first word of a process is its pid. */
static const char *process_of(ErlNifEnv *env, ERL_NIF_TERM pid)
{
	const char *proc = beam_tracee(env);

	return proc != NULL && *(const ERL_NIF_TERM *)(const void *)proc == pid ? proc : NULL;
}

int beam_is_runnable(ErlNifEnv *env, ERL_NIF_TERM pid)
{
	int at = atomic_load_explicit(&where, memory_order_acquire);
	const char *proc = at > 0 ? process_of(env, pid) : NULL;
	uint32_t flags;

	if (proc == NULL)
		return -1;
	flags = __atomic_load_n((const uint32_t *)(const void *)(proc + at), __ATOMIC_RELAXED);
	return (flags & (active | suspended)) == active;
}

void beam_run_state_sample(ErlNifEnv *env, ERL_NIF_TERM pid)
{
	int what = atomic_exchange(&expected, NONE);
	const char *proc = process_of(env, pid);

	if (what == NONE || proc == NULL || nsamples >= SAMPLES)
		return;
	samples[nsamples].what = what;
	memcpy(samples[nsamples].half, proc, sizeof(samples[0].half));
	nsamples++;
}

/* Of the first sample of a kind; -1: there is none. */
static int first_of(int what)
{
	for (int i = 0; i < nsamples; i++)
		if (samples[i].what == what)
			return i;
	return -1;
}

static bool is_bit(uint32_t x)
{
	return x != 0 && (x & (x - 1)) == 0;
}

/* Do all samples have at i what this one has, but for those of another kind? */
static bool is_same(int i, int sample)
{
	for (int k = 0; k < nsamples; k++)
		if (samples[k].what == samples[sample].what &&
			samples[k].half[i] != samples[sample].half[i])
			return false;
	return true;
}

static bool find(void)
{
	int yields = first_of(YIELDS), waits = first_of(WAITS), found = 0;

	if (yields < 0 || waits < 0)
		return false;
	for (int i = FIRST; i < LAST; i++) {
		uint32_t y = samples[yields].half[i], w = samples[waits].half[i], bit = y ^ w;

		if (!is_bit(bit) || !(y & bit) || !(w & bit << 2) || (w & bit << 3) ||
			!is_same(i, yields) || !is_same(i, waits))
			continue;
		found = found == 0 ? i : -1;
		active = bit;
		suspended = bit << 3;
	}
	atomic_store_explicit(&where, found > 0 ? found * 4 : -1, memory_order_release);
	return found > 0;
}

/* run_state(start | none | yields | waits) -> ok; run_state(find | get) -> boolean() | undefined */
ERL_NIF_TERM nif_run_state(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	static const char *const whats[] = {"none", "yields", "waits"};
	char step[16] = "";
	int at;

	(void)argc;
	enif_get_atom(env, argv[0], step, sizeof(step), ERL_NIF_LATIN1);
	if (strcmp(step, "start") == 0)
		nsamples = 0;
	for (int i = NONE; i <= WAITS; i++)
		if (strcmp(step, whats[i]) == 0)
			atomic_store(&expected, i);
	if (strcmp(step, "find") == 0)
		return find() ? atom_true : atom_false;
	at = atomic_load(&where);
	if (strcmp(step, "get") == 0)
		return at == 0 ? atom_undefined : at > 0 ? atom_true : atom_false;
	return atom_ok;
}
