/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the VM keeps the sequential trace token of a process: a word of its struct is [] while it
 * has none, else a tuple {Flags, Label, Serial, From, Previous}. Which word that is is found out
 * (find.h), once in a node: a process of ours is observed with and without a token, each time with
 * another label. Exactly one word may be [] whenever it has none, and such a tuple with that label
 * and its own pid whenever it has one.
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
 * reads as it was written, in the process and in a message, is the self-test.
 */
#include <string.h>

#include "beam/atoms.h"
#include "compiler.h"
#include "layout.h"
#include "token.h"
#include "vm_facts.h"

#define LEAST  3 /* observations of each kind */
#define HEADER (5 << 6)
enum {
	FLAGS = TOKEN_FLAGS,
	LABEL = TOKEN_LABEL,
	SERIAL,
	FROM,
	PREVIOUS = TOKEN_PREVIOUS,
	TOKEN_WORDS
};

static struct find token_find;
static unsigned word;  /* of a process */
static uintptr_t none; /* what is there without a token: [] */

static inline const uintptr_t *tuple_of(uintptr_t term)
{
	return (const uintptr_t *)(term & ~(uintptr_t)7);
}

static inline const uintptr_t *token_in(const uintptr_t *proc, ERL_NIF_TERM pid)
{
	const uintptr_t *token;

	if (proc == NULL || proc[0] != pid || (proc[word] & 3) != 2)
		return NULL;
	token = tuple_of(proc[word]);
	return token[0] == HEADER ? token : NULL;
}

static const uintptr_t *token_of(ErlNifEnv *env, ERL_NIF_TERM pid)
{
	if (unlikely(env == NULL || !find_is_known(&token_find)))
		return NULL;
	return token_in((const uintptr_t *)(const void *)beam_tracee(env), pid);
}

PROBE_PATH ERL_NIF_TERM beam_token_get(ErlNifEnv *env, ERL_NIF_TERM pid, enum token_part part)
{
	const uintptr_t *token = token_of(env, pid);

	return token != NULL ? token[part] : 0;
}

PROBE_PATH ERL_NIF_TERM beam_token_label(ErlNifEnv *env, ERL_NIF_TERM pid)
{
	return beam_token_get(env, pid, TOKEN_LABEL);
}

static void set_part(const uintptr_t *token, enum token_part part, ERL_NIF_TERM small)
{
	if (token != NULL && (small & 3) == 3) /* no pointer */
		((uintptr_t *)(uintptr_t)token)[part] = small;
}

PROBE_PATH void beam_token_set(
	ErlNifEnv *env, ERL_NIF_TERM pid, enum token_part part, ERL_NIF_TERM small)
{
	set_part(token_of(env, pid), part, small);
}

PROBE_PATH void beam_token_clear(ErlNifEnv *env, ERL_NIF_TERM pid)
{
	if (token_of(env, pid) != NULL)
		((uintptr_t *)(void *)(uintptr_t)beam_tracee(env))[word] = none;
}

/* ---- the search ------------------------------------------------------------------------- */

static struct find_set tokens; /* words of a process that may be its token */
static unsigned nwith, nwithout;

static void start(ErlNifEnv *env)
{
	none = enif_make_list(env, 0);
	nwith = nwithout = 0;
	find_all(&tokens, 1, FIND_WORDS);
}

static bool is_token(uintptr_t w, ERL_NIF_TERM label, ERL_NIF_TERM pid)
{
	uintptr_t t[TOKEN_WORDS];

	return (w & 3) == 2 && find_read(t, (uintptr_t)tuple_of(w), TOKEN_WORDS) &&
	       t[0] == HEADER && t[LABEL] == label && t[FROM] == pid;
}

static void observe_token(ErlNifEnv *env, ERL_NIF_TERM label)
{
	const uintptr_t *proc = find_own_process(&token_find, env);
	bool with = label != atom_undefined;

	if (proc == NULL)
		return;
	FIND_EACH(w, &tokens)
	if (with ? !is_token(proc[w], label, proc[0]) : proc[w] != none)
		find_drop(&tokens, w);
	*(with ? &nwith : &nwithout) += 1;
}

/* The self-test writes into the token of the process, which then reads it. */
static void write_part(ErlNifEnv *env, enum token_part part, ERL_NIF_TERM small)
{
	const uintptr_t *proc = find_own_process(&token_find, env);

	if (proc != NULL && atomic_load(&token_find.state) == FIND_CONCLUDED)
		set_part(token_in(proc, proc[0]), part, small);
}

/* {observe, Label | undefined} */
static ERL_NIF_TERM observe(const struct find_step *s)
{
	if (strcmp(s->name, "observe") != 0)
		return 0;
	observe_token(s->env, s->arg);
	return atom_ok;
}

/* {write, Label}, {flags, N}: the self-test */
static ERL_NIF_TERM ask(const struct find_step *s)
{
	if (strcmp(s->name, "write") == 0)
		write_part(s->env, TOKEN_LABEL, s->arg);
	else if (strcmp(s->name, "flags") == 0)
		write_part(s->env, TOKEN_FLAGS, s->arg);
	else
		return 0;
	return atom_ok;
}

static bool conclude(ErlNifEnv *env)
{
	(void)env;
	return beam_layout_known() && beam_vm.small && nwith >= LEAST && nwithout >= LEAST &&
	       find_only(&tokens, &word);
}

const struct find_fact beam_token_fact = {.name = "token",
	.find = &token_find,
	.start = start,
	.observe = observe,
	.ask = ask,
	.conclude = conclude};
