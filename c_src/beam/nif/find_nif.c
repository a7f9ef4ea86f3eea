/* SPDX-License-Identifier: Apache-2.0 */
/* All facts of the VM that are found out, and the NIF that erltrace_find.erl drives them by. */
#include <string.h>

#include "beam/nif.h"
#include "beam/code/code_table.h"
#include "beam/fast/fast_core.h"
#include "beam/sample/sampler.h"
#include "beam/state/proc_words.h"
#include "beam/vm/facts.h"
#include "beam/vm/layout.h"
#include "beam/vm/own_name.h"
#include "beam/vm/run_state.h"
#include "beam/vm/token.h"

static const struct find_fact *const facts[] = {
	&beam_layout_fact,
	&beam_own_name_fact,
	&beam_token_fact,
	&beam_run_state_fact,
	&proc_words_fact,
	&beam_code_fact,
	&fast_fact,
	&sampler_fact,
};

static const struct find_fact *fact_named(ErlNifEnv *env, ERL_NIF_TERM name)
{
	char text[BEAM_STEP] = "";

	enif_get_atom(env, name, text, sizeof(text), ERL_NIF_LATIN1);
	for (unsigned i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (strcmp(text, facts[i]->name) == 0)
			return facts[i];
	return NULL;
}

/*
 * find(Fact, get) -> ok | {refused, Why} | undefined, where it is not known yet
 * find(Fact, start | conclude | publish | {refuse, Why} | {try_again, Why}): a search (find.h)
 * find(Fact, Step | {Step, Arg}): an observation, in the file of the fact
 */
ERL_NIF_TERM nif_find(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	const struct find_fact *fact = fact_named(env, argv[0]);
	struct find_step s = {.env = env, .argv = argv, .arg = atom_undefined};
	char name[BEAM_STEP];

	(void)argc;
	s.has_arg = beam_get_step(env, argv[1], name, &s.arg);
	s.name = name;
	return fact != NULL ? find_do(fact, &s) : enif_make_badarg(env);
}
