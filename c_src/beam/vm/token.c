/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the VM keeps the sequential trace token of a process: a word of its struct is [] while it
 * has none, else a tuple {Flags, Label, Serial, From, Previous}. Which word that is is found out,
 * once in a node, and refused if it is not certain (src/erltrace_flows.erl): a process of ours is
 * looked at with and without a token, each time with another label. Exactly one word may be []
 * whenever it has none, and such a tuple with that label and its own pid whenever it has one.
 *
 * Reading it at an event is safe. The token changes when its process receives a message, when the
 * process sets it, and when somebody resets the tokens of all, for which the VM stops all
 * schedulers. None of that happens while the process runs our callback, and the tuple stays: it is
 * part of the root set of the garbage collector. It would not be safe to read that of another
 * process.
 *
 * Writing is as safe. The tuple belongs to the process alone: messages and children get copies. The
 * VM itself writes its elements in place, when a message is sent or a match specification runs.
 * Only words that are no pointers are written, so the garbage collector need not know. That a token
 * reads as it was written, in the process and in a message, is part of the check.
 *
 */
#include <stdatomic.h>
#include <string.h>

#include "beam/atoms.h"
#include "beam/nif.h"
#include "engine/safe.h"
#include "layout.h"
#include "token.h"
#include "vm_facts.h"

#define LAST   92 /* words of a process that are looked at, of at least 95 */
#define HEADER (5 << 6)
enum {
	FLAGS = TOKEN_FLAGS,
	LABEL = TOKEN_LABEL,
	SERIAL,
	FROM,
	PREVIOUS = TOKEN_PREVIOUS,
	TOKEN_WORDS
};

enum { NOT_LOOKED, KNOWN, REFUSED };
static _Atomic int known;
static unsigned word; /* of a process, once it is known */
static uintptr_t none; /* what is there without a token: [] */

bool beam_token_known(void)
{
	return atomic_load_explicit(&known, memory_order_acquire) == KNOWN && beam_layout_known() &&
	       beam_vm.small;
}

static inline const uintptr_t *tuple_of(uintptr_t term)
{
	return (const uintptr_t *)(term & ~(uintptr_t)7);
}

static const uintptr_t *token_of(ErlNifEnv *env, ERL_NIF_TERM pid)
{
	const uintptr_t *p, *token;

	if (unlikely(env == NULL || !beam_token_known()))
		return NULL;
	p = (const uintptr_t *)(const void *)beam_tracee(env);
	if (p == NULL || p[0] != pid || (p[word] & 3) != 2)
		return NULL;
	token = tuple_of(p[word]);
	return token[0] == HEADER ? token : NULL;
}

ERL_NIF_TERM beam_token_get(ErlNifEnv *env, ERL_NIF_TERM pid, enum token_part part)
{
	const uintptr_t *token = token_of(env, pid);

	return token != NULL ? token[part] : 0;
}

ERL_NIF_TERM beam_token_label(ErlNifEnv *env, ERL_NIF_TERM pid)
{
	return beam_token_get(env, pid, TOKEN_LABEL);
}

void beam_token_set(ErlNifEnv *env, ERL_NIF_TERM pid, enum token_part part, ERL_NIF_TERM small)
{
	uintptr_t *token = (uintptr_t *)(uintptr_t)token_of(env, pid);

	if (token != NULL && (small & 3) == 3) /* no pointer */
		token[part] = small;
}

void beam_token_clear(ErlNifEnv *env, ERL_NIF_TERM pid)
{
	if (token_of(env, pid) != NULL)
		((uintptr_t *)(void *)(uintptr_t)beam_tracee(env))[word] = none;
}

/* ---- the check ------------------------------------------------------------------------- */

static bool may_be[LAST];
static unsigned nwith, nwithout;
static bool strange; /* something is not as expected */

static bool is_token(uintptr_t w, ERL_NIF_TERM label, ERL_NIF_TERM pid)
{
	uintptr_t t[TOKEN_WORDS];

	return (w & 3) == 2 && w >= 4096 && w >> 47 == 0 &&
	       safe_copy(t, tuple_of(w), sizeof(t)) == 0 && t[0] == HEADER && t[LABEL] == label &&
	       t[FROM] == pid;
}

static void take_sample(ErlNifEnv *env, ERL_NIF_TERM label)
{
	const uintptr_t *proc = ((const uintptr_t *const *)(const void *)env)[BEAM_ENV_PROC];
	bool with = label != atom_undefined;
	ERL_NIF_TERM nil = enif_make_list(env, 0);
	ErlNifPid self;

	strange |= enif_self(env, &self) == NULL || proc[0] != self.pid || safe_init() != 0;
	if (strange)
		return;
	for (unsigned w = 1; w < LAST; w++)
		may_be[w] &= with ? is_token(proc[w], label, self.pid) : proc[w] == nil;
	safe_fini();
	none = nil;
	nwith += with;
	nwithout += !with;
}

static void conclude(void)
{
	unsigned found = 0;

	for (unsigned w = 1; w < LAST; w++)
		if (may_be[w]) {
			strange |= found != 0;
			found = w;
		}
	if (strange || found == 0 || nwith < 3 || nwithout < 3) {
		atomic_store(&known, REFUSED);
		return;
	}
	word = found;
	atomic_store(&known, KNOWN);
}

static void start(void)
{
	nwith = nwithout = 0;
	strange = false;
	memset(may_be, true, sizeof(may_be));
}

/*
 * token_layout({sample, Label | undefined} | start | check | {write, Label} | {flags, N} | refuse |
 * get): its steps, one check at a time. {write, _} and {flags, _} come last: the caller looks at
 * its token then.
 *
 */
ERL_NIF_TERM nif_token_layout(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	char step[BEAM_STEP];
	ERL_NIF_TERM arg;
	ErlNifPid self;

	(void)argc;
	if (beam_get_step(env, argv[0], step, &arg)) {
		if (strcmp(step, "sample") == 0)
			take_sample(env, arg);
		else if (enif_self(env, &self) != NULL)
			beam_token_set(env, self.pid,
				strcmp(step, "flags") == 0 ? TOKEN_FLAGS : TOKEN_LABEL, arg);
		return atom_ok;
	}
	if (strcmp(step, "start") == 0)
		start();
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
