/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registered name of the process that runs. A word of its struct points to its entry in the
 * VM's registry, which holds its name; it is NULL while the process has none. Which words these are
 * is found out, once in a node, and refused if it is not certain (src/erltrace_names.erl):
 *
 *   1. a process of ours is looked at while it has no name, one name, none, another name and so on.
 *      The first word of its struct must be its pid. Exactly one word may be zero whenever it has
 *      no name and an address whenever it has one;
 *   2. what that address points to is looked at under several names. Exactly one of its first words
 *      must be the name each time, and exactly one the address of the process.
 *
 * Where this fails exits and registrations stay traced (arming.c), and names are in registered.c.
 *
 * Reading it at an event is safe. The VM changes a process's pointer only under the main lock of
 * that process, whoever registers or unregisters it, and frees the entry after it has set the
 * pointer to NULL under that lock. The thread that runs a process holds its main lock, so at an
 * event of a call the pointer does not change, and what it points to stays. (OTP 25 to 29:
 * register.c.) It would not be safe to read the name of another process.
 */
#include <stdatomic.h>
#include <string.h>

#include "beam/atoms.h"
#include "beam/nif.h"
#include "engine/safe.h"
#include "layout.h"
#include "own_name.h"

#define LAST	92 /* words of a process that are looked at, of at least 95 */
#define ENTRY	BEAM_NAME_ENTRY
#define SAMPLES 16

enum { NOT_LOOKED, KNOWN, REFUSED };
static _Atomic int known;
/* Where things are, in words, once it is known. */
static struct {
	unsigned entry; /* of a process: its entry in the registry, or NULL */
	unsigned proc;	/* of that entry: the process */
	unsigned name;	/* and its name */
} words;

bool beam_own_name_known(void)
{
	return atomic_load_explicit(&known, memory_order_acquire) == KNOWN && beam_layout_known();
}

ERL_NIF_TERM beam_registered_name(const char *proc, ERL_NIF_TERM pid)
{
	const uintptr_t *p = (const uintptr_t *)(const void *)proc, *entry;

	if (p == NULL || p[0] != pid || !beam_own_name_known())
		return 0;
	entry = (const uintptr_t *)p[words.entry];
	return entry != NULL && entry[words.proc] == (uintptr_t)p ? entry[words.name] : 0;
}

uintptr_t beam_name_entry(const uintptr_t *proc)
{
	return beam_own_name_known() ? proc[words.entry] : 0;
}

ERL_NIF_TERM beam_name_in_entry(const uintptr_t *entry, uintptr_t proc)
{
	return entry[words.proc] == proc && (entry[words.name] & 0x3f) == (atom_ok & 0x3f)
		       ? entry[words.name]
		       : 0;
}

ERL_NIF_TERM beam_own_name(ErlNifEnv *env, ERL_NIF_TERM pid)
{
	return beam_registered_name(beam_tracee(env), pid);
}

/* ---- the check ------------------------------------------------------------------------- */

static struct {
	bool named;
	uintptr_t proc, word[LAST];
} samples[SAMPLES];
static unsigned nsamples, nnamed;
static bool strange; /* something is not as expected */
static unsigned at;  /* the word that 1. has found; 0: none */
static unsigned nlooks;
static bool is_name[ENTRY], is_proc[ENTRY]; /* so far these words were as 2. says */

static const uintptr_t *process_of(ErlNifEnv *env)
{
	return ((const uintptr_t *const *)(const void *)env)[BEAM_ENV_PROC];
}

/* An address that the VM may have allocated. */
static bool is_address(uintptr_t w)
{
	return w % sizeof(w) == 0 && w >= 4096 && w >> 47 == 0;
}

static void take_sample(ErlNifEnv *env, bool named)
{
	const uintptr_t *proc = process_of(env);
	ErlNifPid self;

	strange |= enif_self(env, &self) == NULL || proc[0] != self.pid || nsamples == SAMPLES;
	if (strange)
		return;
	samples[nsamples].named = named;
	samples[nsamples].proc = (uintptr_t)proc;
	memcpy(samples[nsamples++].word, proc, sizeof(samples[0].word));
	nnamed += named;
}

static bool is_entry_pointer(unsigned w)
{
	for (unsigned i = 0; i < nsamples; i++)
		if (samples[i].named ? !is_address(samples[i].word[w]) : samples[i].word[w] != 0)
			return false;
	return true;
}

static bool find_word(void)
{
	at = 0;
	for (unsigned i = 1; i < nsamples; i++)
		strange |= samples[i].proc != samples[0].proc;
	if (strange || nnamed < 3 || nsamples - nnamed < 3)
		return false;
	for (unsigned w = 1; w < LAST; w++)
		if (is_entry_pointer(w)) {
			strange |= at != 0;
			at = w;
		}
	return at != 0 && !strange;
}

static bool copy_entry(uintptr_t from, uintptr_t *word)
{
	bool good = safe_init() == 0;

	if (good) {
		good = safe_copy(word, (const void *)from, ENTRY * sizeof(*word)) == 0;
		safe_fini();
	}
	return good;
}

static void look_at_entry(ErlNifEnv *env, ERL_NIF_TERM name)
{
	const uintptr_t *proc = process_of(env);
	uintptr_t word[ENTRY];

	strange |= at == 0 || (uintptr_t)proc != samples[0].proc || !is_address(proc[at]) ||
		   !copy_entry(proc[at], word);
	for (unsigned i = 0; i < ENTRY && !strange; i++) {
		is_name[i] &= word[i] == name;
		is_proc[i] &= word[i] == (uintptr_t)proc;
	}
	nlooks++;
}

/* The only one that is set; ENTRY: none, or more than one. */
static unsigned only(const bool *word)
{
	unsigned found = ENTRY;

	for (unsigned i = 0; i < ENTRY; i++)
		if (word[i]) {
			if (found != ENTRY)
				return ENTRY;
			found = i;
		}
	return found;
}

static void conclude(void)
{
	unsigned name = only(is_name), proc = only(is_proc), was = at;

	/* with the samples between the looks, too, it must be the same word */
	if (!find_word() || at != was || nlooks < 3 || name == ENTRY || proc == ENTRY) {
		atomic_store(&known, REFUSED);
		return;
	}
	words.entry = at;
	words.proc = proc;
	words.name = name;
	atomic_store(&known, KNOWN);
}

static void start(void)
{
	nsamples = nnamed = nlooks = at = 0;
	strange = false;
	memset(is_name, true, sizeof(is_name));
	memset(is_proc, true, sizeof(is_proc));
}

/*
 * name_layout({sample | look, Name | undefined} | start | words | check | refuse | get): its steps,
 * one check at a time.
 */
ERL_NIF_TERM nif_name_layout(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	char step[BEAM_STEP];
	ERL_NIF_TERM arg;

	(void)argc;
	if (beam_get_step(env, argv[0], step, &arg)) {
		if (strcmp(step, "look") == 0)
			look_at_entry(env, arg);
		else
			take_sample(env, arg != atom_undefined);
		return atom_ok;
	}
	if (strcmp(step, "start") == 0)
		start();
	else if (strcmp(step, "words") == 0)
		return find_word() ? atom_true : atom_false;
	else if (strcmp(step, "check") == 0)
		conclude();
	else if (strcmp(step, "refuse") == 0)
		atomic_store(&known, REFUSED);
	switch (atomic_load(&known)) {
	case KNOWN: return atom_ok;
	case REFUSED: return enif_make_atom(env, "unknown");
	default: return atom_undefined;
	}
}
