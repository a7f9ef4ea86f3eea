/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the VM must be told to trace for the enabled probes: trace flags, and patterns of functions.
 * The Erlang side arms it (erltrace_vm.erl). And what events will find: which probes a
 * function's calls and returns fire, and what has to be kept of processes.
 */
#include <stdlib.h>
#include <string.h>

#include "api/in_node.h"
#include "beam/atoms.h"
#include "beam/events/call_probes.h"
#include "beam/events/timers.h"
#include "beam/events/user.h"
#include "beam/fast/fast_calls.h"
#include "beam/fast/fast_core.h"
#include "beam/flow/flows.h"
#include "beam/handle/beam_handle.h"
#include "beam/nif.h"
#include "beam/proc/vtime.h"
#include "beam/sample/sampler_wall.h"
#include "beam/state/state_provider.h"
#include "beam/vm/layout.h"
#include "beam/vm/own_name.h"
#include "engine/engine.h"
#include "engine/probe.h"
#include "engine/provider.h"
#include "prog/prog.h"
#include "arming.h"
#include "erlang_provider.h"

enum beam_need {
#define NEED(ID, name, events, for_what) NEED_##ID,
#define NEED_VALUE(ID, name, type)	 NEED_##ID,
#define TRACK(ID)
#include "beam/needs.def"
};

struct needs {
	ErlNifEnv *env;
	ERL_NIF_TERM list;
	bool route[ROUTE_NONE + 1];
	bool args;	 /* of calls, not just their number */
	uint32_t pbis;	 /* of any enabled probe: bits PBI_* */
	bool stacks;	 /* a clause has ustack() */
	unsigned traced; /* enum beam_traced */
	bool nomem;
	bool proc_names;    /* what processes are called */
	bool holders;	    /* which names nobody has */
	bool timers;	    /* which timer a message is of */
	bool local, values; /* a function armed by [local]; one whose value is read */
};

#define READS_PBI(n, ask) ((n) >> PBI_##ask & 1)

static const struct {
	const char *name;
	unsigned traced; /* enum beam_traced: which events of the VM it makes */
} need_defs[] = {
#define NEED(ID, name, events, for_what) [NEED_##ID] = {#name, events},
#define NEED_VALUE(ID, name, type)	 [NEED_##ID] = {#name, 0},
#define TRACK(ID)
#include "beam/needs.def"
};

static void need(struct needs *n, enum beam_need what)
{
	n->traced |= need_defs[what].traced;
	n->list =
		enif_make_list_cell(n->env, enif_make_atom(n->env, need_defs[what].name), n->list);
}

static void need_value(struct needs *n, enum beam_need what, ERL_NIF_TERM value)
{
	n->list = enif_make_list_cell(n->env,
		enif_make_tuple2(n->env, enif_make_atom(n->env, need_defs[what].name), value),
		n->list);
}

/* As erltrace_patterns.erl has them. */
static const char *kind_of(const struct beam_fn *fn)
{
	if (fn->number != 0)
		return "fast";
	if (beam_fn_has(fn, TRAIT_FOLLOW))
		return beam_fn_has(fn, TRAIT_TELLS) ? "follow_exception"
		       : fn->nval > 0		    ? "follow_return"
						    : "follow";
	if (beam_fn_has(fn, TRAIT_TELLS))
		return beam_fn_has(fn, TRAIT_LABEL) ? "label_exception" : "exception";
	if (beam_fn_has(fn, TRAIT_LABEL))
		return fn->nval > 0 ? "label_return" : "label";
	return fn->nval > 0 || beam_fn_has(fn, TRAIT_NOTES) ? "return"
	       : beam_fn_has(fn, TRAIT_LOCAL)		    ? "local"
							    : "global";
}

static void need_pattern(struct needs *n, const struct beam_fn *fn)
{
	n->list = enif_make_list_cell(n->env,
		enif_make_tuple4(n->env, enif_make_atom(n->env, kind_of(fn)), fn->mod, fn->fun,
			enif_make_uint(n->env, fn->arity)),
		n->list);
}

/* {traced, M, F, A, Why}: a function that the fast way cannot serve, while others go it. */
static void need_traced(struct needs *n, const struct beam_fn *fn, const char *why)
{
	n->list = enif_make_list_cell(n->env,
		enif_make_tuple5(n->env, atom_traced, fn->mod, fn->fun,
			enif_make_uint(n->env, fn->arity), beam_make_text(n->env, why)),
		n->list);
}

static bool reads_args(uint32_t pbis)
{
	return READS_PBI(pbis, ERLARGS) || READS_PBI(pbis, ERLARG) || READS_PBI(pbis, ERLINT) ||
	       READS_PBI(pbis, ERLPEER) || READS_PBI(pbis, ERLPEERPROC);
}

static void note_pbis(struct needs *n, uint32_t pbis)
{
	n->pbis |= pbis;
	n->args |= reads_args(pbis);
}

/* Of a probe that fires at the end of a call. */
static bool is_end(enum beam_route route)
{
	return route == ROUTE_RETURN || route == ROUTE_EXCEPTION;
}

/* Written only if it is not so yet, as beam_track() and beam_fn_add() do: events may be looking. */
static void put(struct en_probe **at, struct en_probe *p)
{
	if (*at != p)
		*at = p;
}

static bool is_bare(const struct beam_handle *b, const struct prog_uses *u)
{
	return u->pbis == 0 && !u->ustack && !uses_var(u, BI_VTIMESTAMP) &&
	       !api_records_processes(b->h);
}

/* What the only probe of an event needs, if it has one clause that runs by itself. */
static void look_at_only(struct beam_handle *b, struct beam_fn *fn, struct beam_sole *o,
	enum beam_fn_trait reads_pid, struct en_probe *p)
{
	const struct en_ecblist *l = atomic_load(&p->ecbs);
	const struct en_ecb *ecb = l->ecb;
	struct beam_clause *c;

	if (!l->quick || o->clause != NULL || beam_is_call_probe(p))
		return;
	c = &b->clauses[ecb->index];
	if (c->prog == NULL) { /* else events may be looking */
		c->entry = ecb->entry;
		c->prog = ecb->clause;
		c->bare = is_bare(b, &ecb->clause->uses);
	}
	o->probe = p;
	o->id = ecb->id;
	o->epid = ecb->epid;
	beam_fn_put(fn, reads_pid, p->argmask & ARG_BIT(FUNCTION_ENTRY, process));
	o->clause = c;
}

/* Does a clause read how deep in the stack a call is, or whether it is a tail call? */
static bool reads_depth(int probe, unsigned argmask)
{
	return BP_FUNCTIONS + probe < BP_CALLS &&
	       beam_probedefs[BP_FUNCTIONS + probe].nargs > ARG(FUNCTION_ENTRY, depth) &&
	       (argmask & BEAM_DEPTH_ARGS) != 0;
}

/* Does a clause of its entries call follow()? Then a match specification sets the token. */
static bool follows(const struct beam_fn *fn)
{
	for (int i = 0; i < BP_NFUNCTIONS; i++)
		if (fn->probe[i] != NULL && en_enabled(fn->probe[i]) &&
			READS_PBI(fn->probe[i]->uses.pbis, FOLLOW))
			return true;
	return false;
}

static bool asks_flow(const struct beam_fn *fn)
{
	for (int i = 0; i < BP_NFUNCTIONS; i++)
		if (fn->probe[i] != NULL && en_enabled(fn->probe[i]) && fn->probe[i]->uses.by_flow)
			return true;
	return false;
}

/*
 * What clauses ask of a call: a probe of certain functions asks for what its arguments are made of.
 * *noted: of the end of a call, when it began and the like.
 */
static uint32_t pbis_of(enum beam_probe id, uint32_t pbis, unsigned argmask, bool *noted)
{
	unsigned needs = id >= BP_CALLS ? beam_call_needs(id, argmask) : 0;

	*noted = needs & CALL_NOTE;
	return pbis | (needs & CALL_ARGS ? 1u << PBI_ERLARGS : 0) |
	       (needs & CALL_RESULT ? 1u << PBI_ERLRET : 0);
}

/* Why a function cannot go the fast way; NULL: it can. */
static const char *why_traced(const struct beam_fn *fn)
{
	struct en_probe *global = fn->probe[BP_GLOBAL_FUNCTION_ENTRY - BP_FUNCTIONS];

	/* the fast way does not tell external calls from others */
	if (global != NULL && en_enabled(global))
		return beam_probedefs[BP_GLOBAL_FUNCTION_ENTRY].name;
	if (follows(fn))
		return "follow()";
	return fn->user != 0 || beam_fn_has(fn, TRAIT_HIBERNATE) ? "traced for another probe"
								 : NULL;
}

/* Note what a function's events fire. */
static void look_at(struct beam_handle *b, struct needs *n, struct beam_fn *fn)
{
	unsigned nentry = 0, nret = 0, nval = 0, nexc = 0;
	bool fast = b->fast && why_traced(fn) == NULL;
	bool notes = beam_fn_has(fn, TRAIT_NOTES), label = beam_fn_has(fn, TRAIT_LABEL);
	bool local = fn->user != 0 || ((label || notes) && !fast), keep = notes;
	bool values = notes, tells, asks = label || notes;
	bool all = notes && fn->mod == atom_erlang; /* of timers */
	uint8_t how = fn->fast;

	for (int i = 0; i < BP_NFUNCTIONS; i++) {
		struct en_probe *p = fn->probe[i];
		enum beam_route route = beam_probedefs[BP_FUNCTIONS + i].route;
		uint32_t pbis;
		bool noted;

		if (p == NULL || !en_enabled(p) || beam_fn_has(fn, TRAIT_COUNTED))
			continue;
		beam_track(b, TRACK_VTIME, uses_var(&p->uses, BI_VTIMESTAMP));
		pbis = pbis_of(BP_FUNCTIONS + i, p->uses.pbis, p->argmask, &noted);
		note_pbis(n, pbis);
		n->args |= noted;
		n->stacks |= p->uses.ustack;
		asks |= p->uses.ustack || reads_args(pbis) || READS_PBI(pbis, ERLRET);
		beam_track(b, TRACK_DEPTH, reads_depth(i, p->argmask));
		local |= route != ROUTE_GLOBAL && !fast;
		all |= is_end(route) && reads_args(pbis);
		keep |= all || noted;
		values |= route == ROUTE_RETURN && READS_PBI(pbis, ERLRET);
		if (!fast && route == ROUTE_RETURN && (READS_PBI(pbis, ERLRET) || notes)) {
			put(&fn->val[nval++], p);
			continue;
		}
		beam_track(b, TRACK_RETURNS, is_end(route) && !fast);
		beam_track(b, TRACK_EXCEPTIONS, route == ROUTE_EXCEPTION && !fast);
		if (route == ROUTE_EXCEPTION)
			put(&fn->exc[nexc++], p);
		else if (route == ROUTE_RETURN)
			put(&fn->ret[nret++], p);
		else
			put(&fn->entry[nentry++], p);
	}
	beam_fn_add(fn, TRAIT_FOLLOW, follows(fn));
	beam_fn_add(fn, TRAIT_ASKS_FLOW, asks_flow(fn));
	beam_fn_put(fn, TRAIT_LOCAL, local);
	/* beside those that tell of exceptions, those that tell what they return do so too */
	tells = !fast && (nexc > 0 || (nval > 0 && beam_tracks(b, TRACK_EXCEPTIONS)));
	beam_fn_add(fn, TRAIT_TELLS, tells);
	beam_fn_add(fn, TRAIT_KEEP, keep);
	beam_fn_add(fn, TRAIT_KEEP_ALL, all);
	beam_fn_add(fn, TRAIT_SPECIAL,
		fn->user != 0 || beam_fn_has(fn, TRAIT_HIBERNATE) || label ||
			beam_fn_has(fn, TRAIT_FOLLOW) || keep || tells || fast);
	beam_track(b, TRACK_ARGS, keep);
	beam_track(b, TRACK_DEPTH, keep); /* arguments are kept by the depth of the call */
	if (fast && (nentry + nret + nexc > 0 || label || notes) && fn->number == 0) {
		beam_fn_put(fn, TRAIT_END_ASKS, asks);
		beam_fn_put(fn, TRAIT_OWN_FRAME, values);
		fn->number = fast_number(fn, b->number);
		n->nomem |= fn->number == 0;
		how = FAST_TAKES | (asks ? FAST_ASKS : 0) | (keep || label ? FAST_MORE : 0) |
		      (nret + nexc > 0 || notes || beam_tracks(b, TRACK_DEPTH) ? FAST_FRAMED : 0);
	}
	if (nentry == 1)
		look_at_only(b, fn, &fn->call, TRAIT_CALL_PID, fn->entry[0]);
	if (nret == 1 && !keep) {
		beam_fn_add(
			fn, TRAIT_END_MFA, fn->ret[0]->argmask & ARG_BIT(FUNCTION_ENTRY, function));
		look_at_only(b, fn, &fn->end, TRAIT_END_PID, fn->ret[0]);
		fn->end_func = fn->ret[0]->func;
	}
	/* events may look at it: what they count is there before the count */
	__atomic_store_n(&fn->nexc, (uint8_t)nexc, __ATOMIC_RELEASE);
	__atomic_store_n(&fn->nval, (uint8_t)nval, __ATOMIC_RELEASE);
	__atomic_store_n(&fn->nret, (uint8_t)nret, __ATOMIC_RELEASE);
	__atomic_store_n(&fn->nentry, (uint8_t)nentry, __ATOMIC_RELEASE);
	__atomic_store_n(&fn->fast, fn->number != 0 ? how : 0, __ATOMIC_RELEASE);
	beam_fn_add(fn, TRAIT_READY, true);
}

static bool has_probes(const struct beam_fn *fn)
{
	return fn->nentry + fn->nret + fn->nval + fn->nexc > 0;
}

static bool is_armed(const struct beam_fn *fn)
{
	return has_probes(fn) || fn->user != 0 || beam_fn_has(fn, TRAIT_HIBERNATE) ||
	       beam_fn_has(fn, TRAIT_LABEL) || beam_fn_has(fn, TRAIT_NOTES);
}

/*
 * What functions need that may be loaded later: it is there before tracing begins, since events
 * look at it.
 */
static void look_at_later(struct beam_handle *b, struct needs *n)
{
	const struct prog *prog = api_program(b->h);
	bool any = false, counted = api_counters(b->h), noted;
	uint32_t pbis;

	for (unsigned i = 0; i < prog->nclauses; i++)
		for (const struct d_pdesc *d = prog->clauses[i]->descs; d != NULL; d = d->next)
			for (int k = BP_FUNCTIONS; k < BP_COUNT_ && d->id == 0; k++) {
				if (!en_glob(d->prov, beam_provider_name()) ||
					!beam_is_meant(d->name, k))
					continue;
				any = true;
				counted &= prog->clauses[i]->countable;
				beam_track(b, TRACK_VTIME,
					uses_var(&prog->clauses[i]->uses, BI_VTIMESTAMP));
				beam_track(b, TRACK_DEPTH,
					reads_depth(k - BP_FUNCTIONS, prog->clauses[i]->uses.args));
				pbis = pbis_of(k, prog->clauses[i]->uses.pbis,
					prog->clauses[i]->uses.args, &noted);
				beam_track(b, TRACK_EXCEPTIONS,
					!b->fast && beam_probedefs[k].route == ROUTE_EXCEPTION);
				beam_track(b, TRACK_RETURNS,
					!b->fast && beam_probedefs[k].route == ROUTE_RETURN &&
						!READS_PBI(pbis, ERLRET));
				beam_track(b, TRACK_ARGS,
					is_end(beam_probedefs[k].route) &&
						(reads_args(pbis) || noted));
				note_pbis(n, pbis);
				n->stacks |= prog->clauses[i]->uses.ustack;
			}
	if (!any)
		return;
	beam_track(b, TRACK_DEPTH, beam_tracks(b, TRACK_ARGS));
	/* where all are counted so far (counters.c), processes are traced when need be */
	n->route[ROUTE_LOCAL] |= !counted && !b->fast;
	need(n, NEED_MODULES);
}

static void look_at_user(struct beam_handle *b, struct needs *n)
{
	static const struct {
		const char *name;
		unsigned arity;
	} fns[] = {{"user_trace_s1", 1}, {"user_trace_i4s4", 9}, {"user_trace_n", 10}};

	if (!beam_user_enabled(b))
		return;
	for (unsigned i = 0; i < 3; i++) {
		struct beam_fn *fn = beam_function_need(&b->fns, b->en, n->env,
			enif_make_atom(n->env, "dyntrace"), enif_make_atom(n->env, fns[i].name),
			fns[i].arity);

		n->nomem |= fn == NULL;
		if (fn != NULL)
			fn->user = (uint8_t)(1 + i);
	}
	n->args = true;
	need(n, NEED_DYNTRACE);
}

#define HIBERNATE_0 28 /* the release of erlang:hibernate/0 */

static int otp_release(void)
{
	ErlNifSysInfo sys;

	enif_system_info(&sys, sizeof(sys));
	return atoi(sys.otp_release);
}

/*
 * A process that goes out in erlang:hibernate/3 hibernates, or a signal woke it for a moment: only
 * a message ends it. Whom it wakes up in is known where proc_lib was used.
 */
static void look_at_hibernate(struct beam_handle *b, struct needs *n)
{
	struct en_probe *p = b->probe[BP_PROCESS_HIBERNATE];
	struct beam_fn *fn;

	beam_track_only(b, TRACK_HIBERNATE, en_enabled(p));
	beam_track_only(b, TRACK_HIBERNATE_LOOPS, otp_release() >= HIBERNATE_0);
	if (!beam_tracks(b, TRACK_HIBERNATE) ||
		!(p->argmask & ARG_BIT(PROCESS_HIBERNATE, function)))
		return;
	fn = beam_function_need(&b->fns, b->en, n->env, atom_proc_lib, atom_hibernate, 3);
	n->nomem |= fn == NULL;
	if (fn != NULL)
		beam_fn_add(fn, TRAIT_HIBERNATE, true);
	n->args = true;
}

/* Does any clause of the script read it? */
static bool reads_pbi(const struct beam_handle *b, enum prog_pbi pbi)
{
	const struct prog *prog = api_program(b->h);

	for (unsigned i = 0; i < prog->nclauses; i++)
		if ((prog->clauses[i]->uses.pbis >> pbi & 1) && !beam_state_only(prog->clauses[i]))
			return true;
	return false;
}

static bool reads_names(const struct needs *n)
{
	return READS_PBI(n->pbis, ERLNAME) || READS_PBI(n->pbis, ERLPEER) || n->proc_names ||
	       n->holders || n->timers; /* a timer may be for a name */
}

/* Nothing is to be traced: its events are samples. */
static bool only_samples(const struct beam_handle *b, const struct needs *n)
{
	for (int i = 0; i < ROUTE_NONE; i++)
		if (n->route[i])
			return false;
	return beam_tracks(b, TRACK_SAMPLES) && b->wants->n == 0;
}

/* The application sets them for people to see, but may have put what its users sent into them. */
static bool hides_labels(const struct beam_handle *b)
{
	return api_option(b->h, OPT_PAYLOAD) == 0;
}

/*
 * What processes are called; from OTP 27 on that may be a label, which proc_lib:set_label/1 sets.
 */
static void look_at_names(struct beam_handle *b, struct needs *n)
{
	struct beam_fn *fn;

	if (!reads_pbi(b, PBI_ERLPROC) && !reads_pbi(b, PBI_ERLPEERPROC))
		return;
	n->proc_names = true;
	if (otp_release() < 27 || only_samples(b, n) || hides_labels(b))
		return;
	fn = beam_function_need(&b->fns, b->en, n->env, atom_proc_lib, atom_set_label, 1);
	n->nomem |= fn == NULL;
	if (fn != NULL)
		beam_fn_add(fn, TRAIT_LABEL, true);
}

/* Is a probe of certain functions enabled? */
static bool has_enabled(const struct beam_handle *b, enum beam_probe id)
{
	for (unsigned i = 0; i < b->fns.nbuckets; i++)
		for (const struct beam_fn *fn = b->fns.buckets[i]; fn != NULL; fn = fn->next)
			if (fn->probe[id - BP_FUNCTIONS] != NULL &&
				en_enabled(fn->probe[id - BP_FUNCTIONS]))
				return true;
	return false;
}

/* Names of ETS tables, numbers of atoms. */
static void look_at_tables(struct beam_handle *b, struct needs *n)
{
	bool ets = has_enabled(b, BP_ETS_ENTRY) || has_enabled(b, BP_ETS_RETURN);
	bool atoms = has_enabled(b, BP_ATOM_NEW);
	struct beam_fn *made, *found;

	if (!ets && !atoms)
		return;
	n->nomem |= b->tables == NULL && beam_tables_init(&b->tables) < 0;
	if (atoms)
		need(n, NEED_ATOMS);
	if (!ets)
		return;
	need(n, NEED_TABLES);
	made = beam_function_need(&b->fns, b->en, n->env, atom_ets, atom_new, 2);
	found = beam_function_need(&b->fns, b->en, n->env, atom_ets, atom_whereis, 1);
	n->nomem |= made == NULL || found == NULL;
	if (made != NULL && found != NULL) {
		beam_fn_add(made, TRAIT_NOTES, true);
		beam_fn_add(found, TRAIT_NOTES, true);
	}
	n->args = true;
}

/* When timers are due: who starts and cancels them. */
static void look_at_timers(struct beam_handle *b, struct needs *n)
{
	const struct {
		ERL_NIF_TERM fun;
		unsigned arity;
	} calls[] = {{atom_send_after, 3}, {atom_send_after, 4}, {atom_start_timer, 3},
		{atom_start_timer, 4}, {atom_cancel_timer, 1}, {atom_cancel_timer, 2}};

	n->timers = en_enabled(b->probe[BP_TIMER_EXPIRE]);
	if (!n->timers)
		return;
	n->nomem |= b->timers == NULL && beam_timers_init(&b->timers) < 0;
	for (unsigned i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		struct beam_fn *fn = beam_function_need(
			&b->fns, b->en, n->env, atom_erlang, calls[i].fun, calls[i].arity);

		n->nomem |= fn == NULL;
		if (fn != NULL)
			beam_fn_add(fn, TRAIT_NOTES, true);
	}
	n->args = true;
	need(n, en_enabled(b->probe[BP_MESSAGE_QUEUED]) || beam_tracks(b, TRACK_HIBERNATE)
			? NEED_TIMERS_TOO
			: NEED_TIMERS);
}

/* Do scripts read these arguments of an enabled probe? */
static bool reads(const struct beam_handle *b, enum beam_probe id, unsigned mask)
{
	return en_enabled(b->probe[id]) && (b->probe[id]->argmask & mask);
}

/* Drivers come and go by two calls. Who opens a port is known by its driver's name too. */
static void look_at_drivers(struct beam_handle *b, struct needs *n)
{
	bool load = en_enabled(b->probe[BP_DRIVER_INIT]) ||
		    reads(b, BP_DRIVER_START, ARG_BIT(DRIVER_START, driver)) ||
		    reads(b, BP_DRIVER_STOP, ARG_BIT(DRIVER_STOP, driver));
	struct beam_fn *fn;

	fn = load ? beam_function_need(&b->fns, b->en, n->env, atom_erl_ddll, atom_try_load, 3)
		  : NULL;
	if (fn != NULL)
		fn->user = 1 + USER_LOAD;
	fn = en_enabled(b->probe[BP_DRIVER_FINISH])
		     ? beam_function_need(&b->fns, b->en, n->env, atom_erl_ddll, atom_try_unload, 2)
		     : NULL;
	if (fn != NULL)
		fn->user = 1 + USER_UNLOAD;
	if (!load && fn == NULL)
		return;
	n->args = true;
	need(n, NEED_ERL_DDLL);
}

/* Signals tell the runs for a file descriptor from the others. */
static void need_ports(struct beam_handle *b, struct needs *n)
{
	bool ready = en_enabled(b->probe[BP_DRIVER_READY_INPUT]) ||
		     en_enabled(b->probe[BP_DRIVER_READY_OUTPUT]);

	if (n->route[ROUTE_PORTS] || n->route[ROUTE_PORT_RECEIVE] || n->route[ROUTE_PORT_RUNNING])
		need(n, NEED_PORTS);
	if (n->route[ROUTE_PORT_RECEIVE] || ready)
		need(n, NEED_PORT_RECEIVE);
	if (n->route[ROUTE_PORT_RUNNING])
		need(n, NEED_PORT_RUNNING);
}

/* What is armed for the enabled probes that are there once, and what their clauses ask for. */
static void look_at_probes(struct beam_handle *b, struct needs *n)
{
	for (int i = 0; i < BP_FUNCTIONS; i++)
		if (en_enabled(b->probe[i])) {
			n->route[beam_probedefs[i].route] = true;
			beam_track(b, TRACK_VTIME,
				uses_var(&b->probe[i]->uses, BI_VTIMESTAMP) &&
					beam_probedefs[i].route != ROUTE_NONE);
			n->stacks |= b->probe[i]->uses.ustack;
			n->pbis |= b->probe[i]->uses.pbis;
		}
	n->stacks |= beam_tracks(b, TRACK_SAMPLED_STACKS);
	beam_track_only(b, TRACK_HEAPS,
		en_enabled(b->probe[BP_PROCESS_HEAP_GROW]) ||
			en_enabled(b->probe[BP_PROCESS_HEAP_SHRINK]));
	for (unsigned i = 0; b->user != NULL && i < BP_NUSER; i++)
		if (b->user[i] != NULL) {
			n->stacks |= b->user[i]->uses.ustack;
			n->pbis |= b->user[i]->uses.pbis;
		}
}

static void look_at_functions(struct beam_handle *b, struct needs *n)
{
	for (unsigned i = 0; i < b->fns.nbuckets; i++)
		for (struct beam_fn *fn = b->fns.buckets[i]; fn != NULL; fn = fn->next) {
			look_at(b, n, fn);
			if (is_armed(fn)) {
				n->route[ROUTE_LOCAL] |= fn->number == 0;
				n->local |= beam_fn_has(fn, TRAIT_LOCAL);
				n->values |= fn->nval > 0 ||
					     (beam_fn_has(fn, TRAIT_NOTES) && fn->number == 0);
				need_pattern(n, fn);
			}
			if (b->fast && has_probes(fn) && why_traced(fn) != NULL)
				need_traced(n, fn, why_traced(fn));
		}
	/* what has ended must be seen: a call further down the stack need not be a deeper one */
	beam_track(b, TRACK_RETURNS,
		beam_tracks(b, TRACK_EXCEPTIONS) ||
			(beam_tracks(b, TRACK_DEPTH) && n->local && !n->values));
	beam_track_only(
		b, TRACK_STACKS, beam_tracks(b, TRACK_RETURNS) || beam_tracks(b, TRACK_DEPTH));
	/* What functions return is told by frames of return_trace, which come between those of
	 * return_to: not every call has one of these then. */
	beam_track_only(b, TRACK_MARKED,
		beam_tracks(b, TRACK_RETURNS) && !reads_pbi(b, PBI_ERLRET) && !n->values);
	if (beam_tracks(b, TRACK_DEPTH) && !beam_tracks(b, TRACK_RETURNS))
		beam_session_set(b->number % BEAM_HANDLES, BEAM_NO_FRAMES);
	b->vtimestamp = beam_tracks(b, TRACK_VTIME) ? beam_vtimestamp : NULL;
	beam_track_only(b, TRACK_LINES, api_option(b->h, OPT_STACKLINES) != 0);
}

/* Does a clause follow, or ask for the flow of its process? */
static bool needs_flows(const struct needs *n)
{
	return n->route[ROUTE_FLOW] || READS_PBI(n->pbis, FOLLOW) || READS_PBI(n->pbis, FLOWID) ||
	       READS_PBI(n->pbis, FLOWDEPTH);
}

static void need_calls(const struct beam_handle *b, struct needs *n)
{
	if (n->route[ROUTE_LOCAL])
		need(n, NEED_CALL);
	if (n->route[ROUTE_LOCAL] && !n->args)
		need(n, NEED_ARITY);
	if (beam_tracks(b, TRACK_RETURNS))
		need(n, NEED_RETURN_TO);
	if (beam_tracks(b, TRACK_RETURNS) || beam_tracks(b, TRACK_DEPTH) || n->stacks ||
		needs_flows(n))
		need(n, NEED_LAYOUT);
	if (n->stacks)
		need(n, NEED_STACKS);
}

/* Do events come from erltrace_sysmon, which are about other processes than the one that runs? */
static bool monitors(const struct needs *n)
{
	for (int i = ROUTE_LONG_GC; i <= ROUTE_LONG_QUEUE; i++)
		if (n->route[i])
			return true;
	return n->route[ROUTE_BUSY_PORT] || n->route[ROUTE_BUSY_DIST_PORT] || n->route[ROUTE_NODES];
}

/* Is something of a process kept until it exits, in a table of ours or as self->? */
static bool keeps_processes(const struct beam_handle *b, const struct needs *n, bool table)
{
	bool any = n->route[ROUTE_SEND] || n->route[ROUTE_RECEIVE] || n->route[ROUTE_RUNNING] ||
		   n->route[ROUTE_GC] || n->route[ROUTE_LOCAL] || b->fast;

	return table || n->proc_names || (beam_tracks(b, TRACK_SELF) && any);
}

/*
 * What is kept of processes is freed when they exit, and names change when they are registered: do
 * events have to tell that? Not where processes need no flag for anything else: then a sweep finds
 * out who has exited (sweep.c), and the process that runs has its name in its own struct
 * (own_name.c). The names of others are known by events alone.
 */
static bool needs_exits(const struct beam_handle *b, const struct needs *n)
{
	bool flagged = n->route[ROUTE_SEND] || n->route[ROUTE_RECEIVE] || n->route[ROUTE_RUNNING] ||
		       n->route[ROUTE_GC] || beam_tracks(b, TRACK_VTIME) ||
		       beam_tracks(b, TRACK_HIBERNATE) ||
		       (b->fast && n->route[ROUTE_LOCAL]); /* a function that is traced */
	bool of_others = READS_PBI(n->pbis, ERLPEER) || READS_PBI(n->pbis, ERLPEERPROC) ||
			 (reads_names(n) && monitors(n)) ||
			 (n->proc_names && !b->unflagged); /* who is asked may be gone */

	return !(b->fast || b->unflagged) || flagged || of_others ||
	       (reads_names(n) && !beam_own_name_known());
}

static void need_processes(const struct beam_handle *b, struct needs *n, bool keeps)
{
	if (b->registered.names.tab != NULL)
		need(n, NEED_NAMES);
	if (n->proc_names)
		need(n, beam_tracks(b, TRACK_EXITS) ? NEED_PROC_NAMES : NEED_ASK_NAMES);
	if (beam_tracks(b, TRACK_EXITS))
		need(n, NEED_PROCS);
	else if (keeps || (beam_tracks(b, TRACK_SELF) && (monitors(n) || beam_state_enabled(b))))
		need(n, NEED_SWEEP);
	if (n->route[ROUTE_RUNNING] || beam_tracks(b, TRACK_VTIME))
		need(n, NEED_RUNNING_PROCS);
	if (reads(b, BP_PROCESS_UNSCHEDULED, ARG_BIT(PROCESS_UNSCHEDULED, runnable)))
		need(n, NEED_RUN_STATE);
	if (n->route[ROUTE_SEND])
		need(n, NEED_SEND);
	if (n->route[ROUTE_RECEIVE] || beam_tracks(b, TRACK_HIBERNATE))
		need(n, NEED_RECEIVE);
	if (n->route[ROUTE_GC])
		need(n, NEED_GARBAGE_COLLECTION);
}

/* {long_gc, 100}: what the system monitor is to look for. */
static void need_monitor(const struct beam_handle *b, struct needs *n)
{
	static const struct {
		enum beam_route route;
		enum beam_need need;
		int option;
	} kinds[] = {{ROUTE_LONG_GC, NEED_LONG_GC, OPT_LONGGC},
		{ROUTE_LONG_SCHEDULE, NEED_LONG_SCHEDULE, OPT_LONGSCHEDULE},
		{ROUTE_LARGE_HEAP, NEED_LARGE_HEAP, OPT_LARGEHEAP},
		{ROUTE_LONG_QUEUE, NEED_LONG_MESSAGE_QUEUE, OPT_LONGQUEUE}};

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (n->route[kinds[i].route])
			need_value(n, kinds[i].need,
				enif_make_uint64(n->env, api_option(b->h, kinds[i].option)));
	if (n->route[ROUTE_BUSY_PORT])
		need(n, NEED_BUSY_PORT);
	if (n->route[ROUTE_BUSY_DIST_PORT])
		need(n, NEED_BUSY_DIST_PORT);
}

/* {processes, Name} */
static void need_only(const struct beam_handle *b, struct needs *n)
{
	const char *name = api_text_option(b->h, OPT_PROCESSES);

	if (name[0] != '\0')
		need_value(n, NEED_PROCESSES, beam_make_text(n->env, name));
}

static void need_others(struct beam_handle *b, struct needs *n)
{
	uint64_t wall = sampler_wall_period(b);

	if (wall != 0)
		need_value(n, NEED_WALL, enif_make_uint64(n->env, wall));
	if (beam_state_enabled(b))
		need_value(n, NEED_STATE_BUDGET,
			enif_make_uint64(n->env, api_option(b->h, OPT_STATEBUDGET)));
	n->list = beam_state_needs(b, n->env, n->list);
	need_monitor(b, n);
	if (n->route[ROUTE_NODES])
		need(n, NEED_MONITOR_NODES);
	if (reads(b, BP_MESSAGE_SEND, BEAM_TOKEN_ARGS(MESSAGE_SEND)) ||
		reads(b, BP_MESSAGE_SEND_REMOTE, BEAM_TOKEN_ARGS(MESSAGE_SEND_REMOTE)))
		need(n, NEED_SEQ_TOKEN);
}

/* From here on its calls come by the fast way; or by the tracer, if somebody else has that. */
static void join(struct beam_handle *b)
{
	b->fast = fast_core_join(b->number % BEAM_HANDLES);
	if (b->fast)
		b->generation = (uint32_t)atomic_fetch_add(&fast_core->generation, 1) + 1;
}

ERL_NIF_TERM beam_needs(struct beam_handle *b, ErlNifEnv *env, uint64_t process_limit)
{
	struct needs n = {.env = env, .list = enif_make_list(env, 0)};
	bool table, keeps, flows;
	int rc = 0;

	if (api_records_processes(b->h)) /* with their names, as if each clause read them */
		n.pbis |= 1u << PBI_ERLNAME;
	if (b->clauses == NULL)
		b->clauses = calloc(api_program(b->h)->nclauses + 1, sizeof(*b->clauses));
	if (b->clauses == NULL)
		return enif_make_tuple2(env, atom_error, enif_make_atom(env, "enomem"));
	beam_track_only(b, TRACK_SELF, api_has_self(b->h));
	if (b->fast) {
		join(b);
		if (!b->fast)
			need(&n, NEED_HOOKS_TAKEN);
	}
	look_at_later(b, &n);
	look_at_probes(b, &n);
	look_at_user(b, &n);
	look_at_hibernate(b, &n);
	beam_track_only(b, TRACK_COST, reads_pbi(b, PBI_ERLCOST));
	look_at_drivers(b, &n);
	look_at_names(b, &n);
	n.holders = en_enabled(b->probe[BP_MESSAGE_UNDELIVERED]);
	look_at_tables(b, &n);
	look_at_timers(b, &n);
	look_at_functions(b, &n);
	table = beam_tracks(b, TRACK_STACKS) || beam_tracks(b, TRACK_VTIME) ||
		beam_tracks(b, TRACK_HEAPS) || beam_tracks(b, TRACK_HIBERNATE);
	keeps = keeps_processes(b, &n, table);
	flows = needs_flows(&n);
	beam_track_only(b, TRACK_EXITS,
		n.route[ROUTE_PROCS] || flows ||
			((keeps || reads_names(&n)) && needs_exits(b, &n)));
	n.nomem |= beam_tracks(b, TRACK_ARGS) && b->procs.kept.tab == NULL &&
		   beam_kept_init(&b->procs.kept) < 0;
	n.nomem |= table && b->procs.tab == NULL && beam_procs_init(&b->procs, process_limit) < 0;
	if (flows && b->flows == NULL)
		rc = beam_flows_init(b, env, process_limit);
	n.nomem |= rc < 0;
	n.nomem |= !n.nomem && beam_tracks(b, TRACK_EXITS) && reads_names(&n) &&
		   b->registered.names.tab == NULL && beam_names_init(&b->registered.names) < 0;
	n.nomem |= !n.nomem && n.holders && b->registered.holders.tab == NULL &&
		   beam_names_init(&b->registered.holders) < 0;
	n.nomem |= !n.nomem && n.proc_names && b->proc_names.tab == NULL &&
		   beam_proc_names_init(&b->proc_names, process_limit) < 0;
	if (n.nomem)
		return enif_make_tuple2(env, atom_error, enif_make_atom(env, "enomem"));
	need_calls(b, &n);
	need_processes(b, &n, keeps);
	need_ports(b, &n);
	need_others(b, &n);
	need_only(b, &n);
	if (hides_labels(b))
		need(&n, NEED_NO_LABELS);
	if (flows)
		need(&n, rc > 0 ? NEED_TOO_MANY_FLOW_NODES : NEED_FLOWS);
	b->traced = (uint8_t)n.traced;
	return n.list;
}

ERL_NIF_TERM beam_module_needs(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM mod)
{
	struct needs n = {.env = env, .list = enif_make_list(env, 0)};

	for (unsigned i = 0; i < b->fns.nbuckets; i++)
		for (struct beam_fn *fn = b->fns.buckets[i]; fn != NULL; fn = fn->next) {
			if (fn->mod != mod)
				continue;
			if (!beam_fn_has(fn, TRAIT_READY))
				look_at(b, &n, fn);
			if (is_armed(fn))
				need_pattern(&n, fn);
		}
	return n.list;
}
