/* SPDX-License-Identifier: Apache-2.0 */
/* The steps that all searches for a fact have, and the process that they observe (facts.h). */
#include <stdlib.h>
#include <string.h>

#include "beam/nif.h"
#include "facts.h"
#include "layout.h"

const uintptr_t *find_own_process(struct find *f, ErlNifEnv *env)
{
	const uintptr_t *proc = beam_env_process(env);
	ErlNifPid self;

	if (enif_self(env, &self) != NULL && proc[0] == self.pid)
		return proc;
	find_no(f, "a process does not begin with its pid");
	return NULL;
}

ERL_NIF_TERM find_answer(ErlNifEnv *env, const struct find *f, bool ok)
{
	return ok ? atom_ok : beam_refused(env, f->why);
}

static ERL_NIF_TERM verdict(ErlNifEnv *env, const struct find *f)
{
	int state = atomic_load_explicit(&f->state, memory_order_acquire);

	return state >= FIND_REFUSED ? find_answer(env, f, state >= FIND_KNOWN) : atom_undefined;
}

static bool publish(const struct find_fact *fact)
{
	bool ok = find_publish(fact->find);

	if (ok && fact->published != NULL)
		fact->published();
	return ok;
}

/* {refuse, Why}, {try_again, Why} */
static ERL_NIF_TERM end_with(
	const struct find_step *s, struct find *f, void (*end)(struct find *, const char *))
{
	char *why = beam_get_text(s->env, s->arg, NULL);

	end(f, why != NULL ? why : "out of memory");
	free(why);
	return atom_ok;
}

static ERL_NIF_TERM start(const struct find_fact *fact, ErlNifEnv *env)
{
	find_start(fact->find);
	if (fact->start != NULL)
		fact->start(env);
	return atom_ok;
}

/* What is known stays as it is: it is neither observed nor concluded again. */
static ERL_NIF_TERM search(const struct find_fact *fact, const struct find_step *s)
{
	struct find *f = fact->find;

	if (atomic_load(&f->state) != FIND_SEARCHING)
		return 0;
	if (strcmp(s->name, "conclude") == 0) {
		bool ok = f->why[0] == '\0' && fact->conclude(s->env);

		return find_answer(s->env, f, find_conclude(f, ok));
	}
	return fact->observe != NULL ? fact->observe(s) : 0;
}

ERL_NIF_TERM find_do(const struct find_fact *fact, const struct find_step *s)
{
	struct find *f = fact->find;
	ERL_NIF_TERM answer;

	if (strcmp(s->name, "get") == 0)
		return verdict(s->env, f);
	if (strcmp(s->name, "start") == 0)
		return start(fact, s->env);
	if (strcmp(s->name, "publish") == 0)
		return publish(fact) ? atom_ok : enif_make_badarg(s->env);
	if (strcmp(s->name, "refuse") == 0)
		return end_with(s, f, find_refuse);
	if (strcmp(s->name, "try_again") == 0)
		return end_with(s, f, find_try_again);
	answer = search(fact, s);
	if (answer == 0 && fact->ask != NULL)
		answer = fact->ask(s);
	return answer != 0 ? answer : enif_make_badarg(s->env);
}
