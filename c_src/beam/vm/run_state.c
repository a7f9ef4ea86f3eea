/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process is scheduled out because it waits, or because others have their turn. The VM's event is
 * the same for both. But the environment of a callback holds a pointer to the process (layout.h),
 * whose struct has a word of flags, one of which says that it has something to run. Which one is
 * found out (find.h) with a process of ours: it says what it is about to do, yields, or waits for
 * messages and for timeouts, and is observed when it is scheduled out.
 *
 * The half word that is searched for differs in a single bit, whether it yields or waits, and does
 * not differ otherwise. Two bits further is the one of a process that runs, which is set each time;
 * next to that is the one of a process that is suspended, which is not. Where none or several are
 * like that, the answer is -1.
 */
#include <string.h>

#include "beam/atoms.h"
#include "compiler.h"
#include "layout.h"
#include "run_state.h"

#define FIRST	16 /* of the half words of a process */
#define LAST	(2 * FIND_WORDS)
#define SAMPLES 32

enum { NONE, YIELDS, WAITS };

static struct {
	int what;
	uint32_t half[LAST];
} samples[SAMPLES];
static int nsamples;
static _Atomic int expected; /* what the next event is of */

static struct find run_state;
static unsigned where; /* of a process: its flags, in half words */
static uint32_t active, suspended;

/* Of the event's process; the first word of a process is its pid. */
static const char *process_of(ErlNifEnv *env, ERL_NIF_TERM pid)
{
	const char *proc = beam_tracee(env);

	return proc != NULL && *(const ERL_NIF_TERM *)(const void *)proc == pid ? proc : NULL;
}

PROBE_PATH int beam_is_runnable(ErlNifEnv *env, ERL_NIF_TERM pid)
{
	const char *proc = find_is_known(&run_state) ? process_of(env, pid) : NULL;
	uint32_t flags;

	if (proc == NULL)
		return -1;
	flags = __atomic_load_n((const uint32_t *)(const void *)proc + where, __ATOMIC_RELAXED);
	return (flags & (active | suspended)) == active;
}

PROBE_PATH void beam_run_state_sample(ErlNifEnv *env, ERL_NIF_TERM pid)
{
	int what = atomic_exchange(&expected, NONE);
	const char *proc = process_of(env, pid);

	if (what == NONE || proc == NULL || nsamples >= SAMPLES)
		return;
	samples[nsamples].what = what;
	memcpy(samples[nsamples].half, proc, sizeof(samples[0].half));
	nsamples++;
}

/* ---- the search ------------------------------------------------------------------------- */

/* Of the first sample of a kind; -1: there is none. */
static int first_of(int what)
{
	for (int i = 0; i < nsamples; i++)
		if (samples[i].what == what)
			return i;
	return -1;
}

/* Do all samples have at i what this one has, but for those of another kind? */
static bool is_same(unsigned i, int sample)
{
	for (int k = 0; k < nsamples; k++)
		if (samples[k].what == samples[sample].what &&
			samples[k].half[i] != samples[sample].half[i])
			return false;
	return true;
}

/* The bit that the two differ in; 0: this is not where the flags are. */
static uint32_t active_bit(uint32_t yields, uint32_t waits)
{
	uint32_t bit = yields ^ waits;

	return find_is_bit(bit) && (yields & bit) && (waits & bit << 2) && !(waits & bit << 3) ? bit
											       : 0;
}

static bool conclude(ErlNifEnv *env)
{
	int yields = first_of(YIELDS), waits = first_of(WAITS);
	struct find_set flags;

	(void)env;
	if (yields < 0 || waits < 0)
		return find_no(&run_state, "no process was scheduled out");
	find_all(&flags, FIRST, LAST);
	FIND_EACH(i, &flags)
	if (active_bit(samples[yields].half[i], samples[waits].half[i]) == 0 ||
		!is_same(i, yields) || !is_same(i, waits))
		find_drop(&flags, i);
	if (!find_only(&flags, &where))
		return false;
	active = active_bit(samples[yields].half[where], samples[waits].half[where]);
	suspended = active << 3;
	return true;
}

static void start(ErlNifEnv *env)
{
	(void)env;
	nsamples = 0;
}

/* What the process is about to do: none, yields, waits. */
static ERL_NIF_TERM observe(const struct find_step *s)
{
	static const char *const whats[] = {"none", "yields", "waits"};

	for (int i = NONE; i <= WAITS; i++)
		if (strcmp(s->name, whats[i]) == 0) {
			atomic_store(&expected, i);
			return atom_ok;
		}
	return 0;
}

const struct find_fact beam_run_state_fact = {.name = "run_state",
	.find = &run_state,
	.start = start,
	.observe = observe,
	.conclude = conclude};
