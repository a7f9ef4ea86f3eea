/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registered name of the process that runs. A word of its struct points to its entry in the
 * VM's registry, which holds its name; it is NULL while the process has none. Which words these are
 * is found out (find.h), once in a node:
 *
 *   1. a process of ours is observed while it has no name, one name, none, another name and so on.
 *      Exactly one word may be zero whenever it has no name and an address whenever it has one;
 *   2. what that address points to is observed under several names. Exactly one of its first words
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
#include <string.h>

#include "beam/atoms.h"
#include "compiler.h"
#include "layout.h"
#include "own_name.h"

#define ENTRY BEAM_NAME_ENTRY
#define LEAST 3 /* observations of each kind */

static struct find name;
/* Where things are, in words. */
static struct {
	unsigned entry; /* of a process: its entry in the registry, or NULL */
	unsigned proc;	/* of that entry: the process */
	unsigned name;	/* and its name */
} words;

bool beam_own_name_known(void)
{
	return find_is_known(&name);
}

ERL_NIF_TERM beam_registered_name(const char *proc, ERL_NIF_TERM pid)
{
	const uintptr_t *p = (const uintptr_t *)(const void *)proc, *entry;

	if (p == NULL || p[0] != pid || !beam_own_name_known())
		return 0;
	entry = (const uintptr_t *)p[words.entry];
	return entry != NULL && entry[words.proc] == (uintptr_t)p ? entry[words.name] : 0;
}

PROBE_PATH uintptr_t beam_name_entry(const uintptr_t *proc)
{
	return beam_own_name_known() ? proc[words.entry] : 0;
}

PROBE_PATH ERL_NIF_TERM beam_name_in_entry(const uintptr_t *entry, uintptr_t proc)
{
	return entry[words.proc] == proc && (entry[words.name] & 0x3f) == (atom_ok & 0x3f)
		       ? entry[words.name]
		       : 0;
}

PROBE_PATH ERL_NIF_TERM beam_own_name(ErlNifEnv *env, ERL_NIF_TERM pid)
{
	return beam_registered_name(beam_tracee(env), pid);
}

/* ---- the search ------------------------------------------------------------------------- */

static struct find_set entries;	     /* words of a process that may point to its entry */
static struct find_set names, procs; /* words of that entry */
static const uintptr_t *observed;    /* the process; NULL: none so far */
static unsigned nnamed, nunnamed, nentries;

static void start(ErlNifEnv *env)
{
	(void)env;
	find_all(&entries, 1, FIND_WORDS);
	find_all(&names, 0, ENTRY);
	find_all(&procs, 0, ENTRY);
	observed = NULL;
	nnamed = nunnamed = nentries = 0;
	memset(&words, 0, sizeof(words));
}

/* All observations are of one process. */
static const uintptr_t *process_of(ErlNifEnv *env)
{
	const uintptr_t *proc = find_own_process(&name, env);

	if (proc != NULL && observed != NULL && proc != observed)
		find_no(&name, "another process was observed");
	return observed = proc;
}

static void observe_process(ErlNifEnv *env, bool named)
{
	const uintptr_t *proc = process_of(env);

	if (proc == NULL)
		return;
	FIND_EACH(w, &entries)
	if (named ? !find_is_address(proc[w]) : proc[w] != 0)
		find_drop(&entries, w);
	*(named ? &nnamed : &nunnamed) += 1;
}

static bool find_entry(void)
{
	return nnamed >= LEAST && nunnamed >= LEAST && find_only(&entries, &words.entry);
}

static void observe_entry(ErlNifEnv *env, ERL_NIF_TERM registered)
{
	const uintptr_t *proc = process_of(env);
	uintptr_t entry[ENTRY];

	if (proc == NULL)
		return;
	if (words.entry == 0 || !find_read(entry, proc[words.entry], ENTRY)) {
		find_no(&name, "no word of a process points to the entry of its name");
		return;
	}
	FIND_EACH(w, &names)
	if (entry[w] != registered)
		find_drop(&names, w);
	FIND_EACH(w, &procs)
	if (entry[w] != (uintptr_t)proc)
		find_drop(&procs, w);
	nentries++;
}

/* {process | entry, Name | undefined}; words: is it known where the entry is? */
static ERL_NIF_TERM observe(const struct find_step *s)
{
	if (strcmp(s->name, "words") == 0)
		return find_entry() ? atom_true : atom_false;
	if (strcmp(s->name, "process") == 0)
		observe_process(s->env, s->arg != atom_undefined);
	else if (strcmp(s->name, "entry") == 0)
		observe_entry(s->env, s->arg);
	else
		return 0;
	return atom_ok;
}

/* With the observations of the process since then, too, it must be the same word. */
static bool conclude(ErlNifEnv *env)
{
	unsigned was = words.entry;

	(void)env;
	return beam_layout_known() && find_entry() && words.entry == was && nentries >= LEAST &&
	       find_only(&names, &words.name) && find_only(&procs, &words.proc);
}

const struct find_fact beam_own_name_fact = {
	.name = "name", .find = &name, .start = start, .observe = observe, .conclude = conclude};
