/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that the VM counts for us. It can count calls itself (call_count): about 10 ns a call
 * instead of some 200 for an event of the tracer, and no process need be traced. Where a script
 * does nothing at a function's entry but add to aggregations what is the same each time, this is
 * all that has to be known: the counters are read before results are (erltrace_counters.erl),
 * and what they have grown by is fired at once (engine/times.c). The aggregation then is what
 * events would have made of it; so printa(), clear() and whatever else reads it need not know.
 *
 * When a function is counted, and not traced:
 *
 * - All that is enabled on it are function-entry and local-function-entry, by clauses that are
 *   countable (d/countable.c). A breakpoint sees all calls, as a [local] pattern does;
 *   global-function-entry means fewer. If anything else is enabled on it, its events come anyway.
 * - The script has no function-return (bif-return, nif-return) or function-exception, and no clause
 *   that reads depth: the stacks kept for these know of the functions that are traced, and would be
 *   others.
 * - It is Erlang code, no BIF or NIF.
 * - No process of erltrace's own calls it: these are not traced, but the VM counts every process. So
 *   modules of erts, kernel, stdlib and our own are traced as ever (erltrace_counters.erl).
 * - Nobody else has the VM count it (cprof, another handle) on a release without trace sessions,
 *   where there is one counter for all (erltrace_counters.erl).
 * - There are not too many of them: to read one takes a microsecond or more (erltrace_counters.erl).
 * - The option counters is on; cpu and aggpercpu are not, as the VM does not tell where a call was.
 *
 * A difference that remains: calls in processes that the tracer does not see are counted. Those are
 * `sensitive' ones, and before OTP 27 those that somebody else traces.
 *
 * call_time is not used. It adds up the time that a function runs itself: what it calls counts only
 * if that is not measured too, and waiting does not count. timestamp and vtimestamp taken at entry
 * and return give the time from one to the other; there is no clause for which the two are equal.
 *
 */
#include <stdlib.h>

#include "api/in_node.h"
#include "beam/handle/beam_handle.h"
#include "beam/nif.h"
#include "beam/term/texts.h"
#include "engine/engine.h"
#include "engine/probe.h"
#include "engine/provider.h"
#include "prog/prog.h"
#include "erlang_provider.h"

/* ---- which ------------------------------------------------------------------------------ */

/* Do the stacks of processes matter to the script? */
static bool needs_stacks(const struct prog *prog)
{
	for (unsigned i = 0; i < prog->nclauses; i++)
		for (const struct d_pdesc *d = prog->clauses[i]->descs; d != NULL; d = d->next)
			for (int k = BP_FUNCTIONS; k < BP_COUNT_; k++)
				if ((d->id != 0 || en_glob(d->name, beam_probedefs[k].name)) &&
					(beam_probedefs[k].route == ROUTE_RETURN ||
						beam_probedefs[k].route == ROUTE_EXCEPTION ||
						(k < BP_CALLS && (prog->clauses[i]->uses.args &
									 BEAM_DEPTH_ARGS))))
					return true;
	return false;
}

static bool may_count(const struct beam_handle *b)
{
	return api_option(b->h, OPT_COUNTERS) && !api_option(b->h, OPT_AGGPERCPU) &&
	       api_option(b->h, OPT_CPU) == UINT64_MAX && !needs_stacks(api_program(b->h));
}

static bool is_countable(const struct beam_fn *fn)
{
	bool any = false;

	if (!beam_fn_has(fn, TRAIT_ERLANG) || fn->user != 0 || beam_fn_has(fn, TRAIT_HIBERNATE))
		return false;
	for (int i = 0; i < BP_NFUNCTIONS; i++) {
		struct en_probe *p = fn->probe[i];

		if (p == NULL || !en_enabled(p))
			continue;
		if ((BP_FUNCTIONS + i != BP_FUNCTION_ENTRY &&
			    BP_FUNCTIONS + i != BP_LOCAL_FUNCTION_ENTRY) ||
			!en_countable(p))
			return false;
		any = true;
	}
	return any;
}

static ERL_NIF_TERM mfa_of(ErlNifEnv *env, const struct beam_fn *fn)
{
	return enif_make_tuple3(env, fn->mod, fn->fun, enif_make_uint(env, fn->arity));
}

/* countable(Handle, Module | all) -> [MFA]: what the VM may count, and does not yet. */
ERL_NIF_TERM nif_countable(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM list = enif_make_list(env, 0), all = enif_make_atom(env, "all");

	WITH_HANDLE(b)
	const unsigned nbuckets = may_count(b) ? b->fns.nbuckets : 0;

	for (unsigned i = 0; i < nbuckets; i++)
		for (const struct beam_fn *fn = b->fns.buckets[i]; fn != NULL; fn = fn->next)
			if ((argv[1] == all || argv[1] == fn->mod) &&
				!beam_fn_has(fn, TRAIT_COUNTED) && is_countable(fn))
				list = enif_make_list_cell(env, mfa_of(env, fn), list);
	enif_mutex_unlock(b->lock);
	return list;
}

static struct beam_fn *fn_of(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM mfa)
{
	const ERL_NIF_TERM *t;
	int n;

	return enif_get_tuple(env, mfa, &n, &t) && n == 3
		       ? beam_function_find(&b->fns, t[0], t[1], t[2])
		       : NULL;
}

/*
 * counted(Handle, [MFA]): the VM does so now, from 0. Their events, which another handle may have
 * asked for, fire nothing.
 */
ERL_NIF_TERM nif_counted(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM head, tail = argv[1];

	WITH_HANDLE(b)
	api_counters_begin(b->h);
	while (enif_get_list_cell(env, tail, &head, &tail)) {
		struct beam_fn *fn = fn_of(b, env, head);

		if (fn == NULL)
			continue;
		beam_fn_add(fn, TRAIT_COUNTED, true);
		fn->last = 0;
		__atomic_store_n(&fn->nentry, 0, __ATOMIC_RELEASE);
	}
	enif_mutex_unlock(b->lock);
	return atom_ok;
}

/* uncount(Handle, Module): its code is new, nobody counts it any more. */
ERL_NIF_TERM nif_uncount(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	WITH_HANDLE(b)
	for (unsigned i = 0; i < b->fns.nbuckets; i++)
		for (struct beam_fn *fn = b->fns.buckets[i]; fn != NULL; fn = fn->next)
			if (beam_fn_has(fn, TRAIT_COUNTED) && fn->mod == argv[1]) {
				beam_fn_put(fn, TRAIT_COUNTED, false);
				beam_fn_put(fn, TRAIT_READY, false); /* extend() looks at it anew */
			}
	enif_mutex_unlock(b->lock);
	return atom_ok;
}

/* ---- how often ------------------------------------------------------------------------------ */

static bool fire(struct beam_handle *b, const struct beam_fn *fn, uint64_t times)
{
	const uint64_t arg[10] = {0, beam_str(fn->mfa)};
	bool done = true;

	for (int i = 0; i < BP_NFUNCTIONS && done; i++)
		if (fn->probe[i] != NULL && en_enabled(fn->probe[i]))
			done = en_fire_times(fn->probe[i], arg, 2, &b->host->cur, times);
	return done;
}

/* What a counter has grown by. One that is smaller than it was has been begun anew by somebody. */
static bool grow(struct beam_handle *b, struct beam_fn *fn, uint64_t now)
{
	bool anew = now < fn->last;
	uint64_t times = anew ? now : now - fn->last;

	if (times == 0 || fire(b, fn, times)) /* else it stays to be told */
		fn->last = now;
	atomic_fetch_add_explicit(&b->cost.counted, times, memory_order_relaxed);
	return !anew;
}

/*
 * count(Handle, [[MFA | Count]]) -> how many counters had been begun anew, and so have lost what
 * was not read. The keys are handed over at once: those of very many functions do not fit a table.
 */
ERL_NIF_TERM nif_count(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM cell, tail = argv[1], mfa, count;
	erltrace_error_t e = {.tag = ""};
	unsigned anew = 0;
	ErlNifUInt64 n;

	WITH_HANDLE(b)
	while (enif_get_list_cell(env, tail, &cell, &tail)) {
		struct beam_fn *fn;

		if (!enif_get_list_cell(env, cell, &mfa, &count) ||
			!enif_get_uint64(env, count, &n))
			continue;
		fn = fn_of(b, env, mfa);
		if (fn != NULL && beam_fn_has(fn, TRAIT_COUNTED))
			anew += !grow(b, fn, n);
	}
	erltrace_snapshot(b->h, &e);
	enif_mutex_unlock(b->lock);
	return enif_make_uint(env, anew);
}

/*
 * counting(Handle, start | done | over | pending) -> ok | boolean(): the counters are about to be
 * read; all have been, so that records up to then may be looked at; there are no more of them; is
 * there a record that waits?
 */
ERL_NIF_TERM nif_counting(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM ret = atom_ok;
	char what[16] = "";

	WITH_HANDLE(b)
	enif_get_atom(env, argv[1], what, sizeof(what), ERL_NIF_LATIN1);
	switch (what[0]) {
	case 's': b->cost.counted_from = en_now(); break;
	case 'd': api_counters_read(b->h, b->cost.counted_from); break;
	case 'o': api_counters_end(b->h); break;
	case 'p': ret = en_pending(b->en) ? atom_true : atom_false; break;
	default: ret = beam_badarg(env); break;
	}
	enif_mutex_unlock(b->lock);
	return ret;
}

/* warn(Handle, Text): told with the next results. */
ERL_NIF_TERM nif_warn(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	char *text;

	WITH_HANDLE(b)
	text = beam_get_text(env, argv[1], NULL);
	if (text != NULL)
		beam_warn(b, text);
	free(text);
	enif_mutex_unlock(b->lock);
	return atom_ok;
}
