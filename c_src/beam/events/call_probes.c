/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes of certain functions (probe path): which these are, and what the arguments of the probes
 * are.
 */
#include <string.h>

#include "beam/atoms.h"
#include "beam/builtins/erl_builtins.h"
#include "beam/handle/beam_handle.h"
#include "beam/term/kept_args.h"
#include "beam/term/term_words.h"
#include "beam/term/texts.h"
#include "beam/vm/vm_event.h"
#include "compiler.h"
#include "engine/clock.h"
#include "engine/current.h"
#include "engine/engine.h"
#include "engine/probe.h"
#include "prog/builtins.h"
#include "call_probes.h"
#include "timers.h"

/* ---- which functions -------------------------------------------------------------------- */

struct call {
	enum beam_probe id;
	const char *mod, *name; /* NULL: all built-in functions of the module */
	unsigned arity;
};

static const struct call calls[] = {
	{BP_ETS_ENTRY, "ets", NULL, 0},
	{BP_ETS_RETURN, "ets", NULL, 0},
	{BP_TIMER_START, "erlang", "send_after", 3},
	{BP_TIMER_START, "erlang", "send_after", 4},
	{BP_TIMER_START, "erlang", "start_timer", 3},
	{BP_TIMER_START, "erlang", "start_timer", 4},
	{BP_TIMER_CANCEL, "erlang", "cancel_timer", 1},
	{BP_TIMER_CANCEL, "erlang", "cancel_timer", 2},
	{BP_SUPERVISOR_RESTART, "supervisor", "do_restart", 3},
	{BP_PROCESS_CRASH, "proc_lib", "crash_report", 4},
	{BP_ATOM_NEW, "erlang", "list_to_atom", 1},
	{BP_ATOM_NEW, "erlang", "binary_to_atom", 2},
};
enum { NCALLS = sizeof(calls) / sizeof(*calls) };

bool beam_call_probe_in(enum beam_probe id, const char *mod)
{
	for (unsigned i = 0; i < NCALLS; i++)
		if (calls[i].id == id && strcmp(calls[i].mod, mod) == 0)
			return true;
	return false;
}

/* Functions of ets that have no table. */
static bool is_about_no_table(const char *name, unsigned arity)
{
	static const char *const others[] = {"all", "internal_request_all", "is_compiled_ms",
		"match_spec_compile", "match_spec_run_r"};

	for (unsigned i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (strcmp(name, others[i]) == 0)
			return true;
	return arity == 0;
}

bool beam_call_probe_of(enum beam_probe id, enum beam_fnkind kind, const char *mod,
	const char *name, unsigned arity)
{
	for (unsigned i = 0; i < NCALLS; i++) {
		const struct call *c = &calls[i];

		if (c->id != id || strcmp(c->mod, mod) != 0)
			continue;
		if (c->name == NULL ? kind == FN_BIF && !is_about_no_table(name, arity)
				    : c->arity == arity && strcmp(c->name, name) == 0)
			return true;
	}
	return false;
}

unsigned beam_call_needs(enum beam_probe id, unsigned argmask)
{
	switch (id) {
	case BP_ETS_ENTRY: return argmask & ARG_BIT(ETS_ENTRY, table) ? CALL_ARGS : 0;
	case BP_ETS_RETURN:
		return argmask & (ARG_BIT(ETS_RETURN, table) | ARG_BIT(ETS_RETURN, ns)) ? CALL_NOTE
											: 0;
	case BP_TIMER_START:
		return argmask & (ARG_BIT(TIMER_START, receiver) | ARG_BIT(TIMER_START, ms))
			       ? CALL_ARGS
			       : 0;
	case BP_TIMER_CANCEL: return argmask & ARG_BIT(TIMER_CANCEL, left) ? CALL_RESULT : 0;
	case BP_SUPERVISOR_RESTART:
	case BP_PROCESS_CRASH: return CALL_ARGS;
	case BP_ATOM_NEW: return CALL_RESULT;
	default: return 0;
	}
}

/* ---- what is noted ---------------------------------------------------------------------- */

/* Of a call of ets the first argument: its table, or the name of a new one. */
PROBE_PATH ERL_NIF_TERM beam_call_note(
	const struct beam_event *ev, const struct beam_fn *fn, ERL_NIF_TERM args)
{
	ERL_NIF_TERM table, rest;

	if (fn->mod == atom_erlang)
		return beam_timer_note(ev, fn, args);
	if (ev->b->tables == NULL || !beam_get_cell(ev->env, args, &table, &rest))
		return 0;
	return beam_table_name(ev->b->tables, ev->env, table);
}

/* ets:new/2 and ets:whereis/1 return the reference of a table, whose name they were called with. */
PROBE_PATH void beam_call_noted(const struct beam_event *ev)
{
	ERL_NIF_TERM ref;

	if (ev->kept != NULL && ev->kept->fn->mod == atom_erlang)
		beam_timer_noted(ev);
	else if (ev->kept != NULL && ev->kept->note != 0 && beam_source(ev, PBI_ERLRET, 0, &ref))
		beam_table_set(ev->b->tables, ref, ev->kept->note);
}

/* ---- arguments -------------------------------------------------------------------------- */

/* What an argument that is a text is written to, unless it is kept elsewhere. */
struct texts {
	char buf[2][BEAM_TEXT_MAX];
	unsigned n;
	unsigned kept; /* arguments whose texts are */
};

static uint64_t kept_text(struct texts *x, unsigned bit, ERL_NIF_TERM t)
{
	x->kept |= bit;
	return beam_str(beam_term_text(t));
}

PROBE_PATH static uint64_t text(
	const struct beam_event *ev, struct texts *x, unsigned bit, ERL_NIF_TERM t)
{
	char *buf = x->buf[x->n];

	if (enif_is_atom(ev->env, t) || enif_is_port(ev->env, t))
		return kept_text(x, bit, t);
	x->n = 1;
	beam_print_name(ev, t, buf, BEAM_TEXT_MAX);
	return (uint64_t)(uintptr_t)buf;
}

static uint64_t table_text(struct texts *x, unsigned bit, ERL_NIF_TERM name)
{
	return name != 0 ? kept_text(x, bit, name) : (uint64_t)(uintptr_t) "?\0";
}

static ERL_NIF_TERM nth(const struct beam_event *ev, unsigned n)
{
	ERL_NIF_TERM t;

	return beam_source(ev, PBI_ERLARG, n, &t) ? t : atom_undefined;
}

static int64_t integer(const struct beam_event *ev, ERL_NIF_TERM t, int64_t otherwise)
{
	ErlNifSInt64 v;

	return enif_get_int64(ev->env, t, &v) ? v : otherwise;
}

PROBE_PATH static bool ets_entry(
	struct beam_event *ev, struct en_probe *p, uint64_t *arg, struct texts *x)
{
	BEAM_MAKE_ARG(p, arg, ETS_ENTRY, table,
		table_text(x, ARG_BIT(ETS_ENTRY, table),
			beam_table_name(ev->b->tables, ev->env, nth(ev, 0))));
	return true;
}

PROBE_PATH static bool ets_return(
	struct beam_event *ev, struct en_probe *p, uint64_t *arg, struct texts *x)
{
	const struct beam_kept *k = ev->kept;

	BEAM_MAKE_ARG(p, arg, ETS_RETURN, table,
		table_text(x, ARG_BIT(ETS_RETURN, table), k != NULL ? k->note : 0));
	BEAM_MAKE_ARG(p, arg, ETS_RETURN, ns, k != NULL ? en_now() - k->at : 0);
	return true;
}

PROBE_PATH static bool timer_start(
	struct beam_event *ev, struct en_probe *p, uint64_t *arg, struct texts *x)
{
	BEAM_MAKE_ARG(p, arg, TIMER_START, receiver,
		text(ev, x, ARG_BIT(TIMER_START, receiver), nth(ev, 1)));
	BEAM_MAKE_ARG(p, arg, TIMER_START, ms, (uint64_t)integer(ev, nth(ev, 0), -1));
	return true;
}

PROBE_PATH static bool timer_cancel(
	struct beam_event *ev, struct en_probe *p, uint64_t *arg, struct texts *x)
{
	ERL_NIF_TERM left;

	(void)x;
	if (!beam_source(ev, PBI_ERLRET, 0, &left))
		left = atom_undefined;
	BEAM_MAKE_ARG(p, arg, TIMER_CANCEL, left, (uint64_t)integer(ev, left, -1));
	return true;
}

PROBE_PATH static bool is_normal(const struct beam_event *ev, ERL_NIF_TERM reason)
{
	const ERL_NIF_TERM *e;
	unsigned n;

	return reason == atom_normal || reason == atom_shutdown ||
	       (beam_get_tuple(ev->env, reason, &n, &e) && n == 2 && e[0] == atom_shutdown);
}

/*
 * do_restart(Reason, Child, State): a permanent child is started again, a transient one unless it
 * has ended normally. {child, Pid, Id, {M, F, Args}, Restart, ...}; the children of a
 * simple_one_for_one supervisor have no id.
 *
 */
PROBE_PATH static bool supervisor_restart(
	struct beam_event *ev, struct en_probe *p, uint64_t *arg, struct texts *x)
{
	ERL_NIF_TERM reason = nth(ev, 0), id;
	const ERL_NIF_TERM *e, *mfa;
	unsigned n, m;

	if (!beam_get_tuple(ev->env, nth(ev, 1), &n, &e) || n < 5 ||
		!(e[4] == atom_permanent || (e[4] == atom_transient && !is_normal(ev, reason))))
		return false;
	id = e[2];
	if (id == atom_undefined && beam_get_tuple(ev->env, e[3], &m, &mfa) && m == 3)
		id = mfa[0];
	BEAM_MAKE_ARG(p, arg, SUPERVISOR_RESTART, child,
		text(ev, x, ARG_BIT(SUPERVISOR_RESTART, child), id));
	BEAM_MAKE_ARG(p, arg, SUPERVISOR_RESTART, reason,
		text(ev, x, ARG_BIT(SUPERVISOR_RESTART, reason), reason));
	return true;
}

/* crash_report(Class, Reason, Function, Stack) reports none that ended normally. */
PROBE_PATH static bool process_crash(
	struct beam_event *ev, struct en_probe *p, uint64_t *arg, struct texts *x)
{
	ERL_NIF_TERM class = nth(ev, 0), reason = nth(ev, 1);

	if (!enif_is_atom(ev->env, class) || (class == atom_exit && is_normal(ev, reason)))
		return false;
	BEAM_MAKE_ARG(p, arg, PROCESS_CRASH, class,
		kept_text(x, ARG_BIT(PROCESS_CRASH, class), class));
	BEAM_MAKE_ARG(p, arg, PROCESS_CRASH, reason,
		text(ev, x, ARG_BIT(PROCESS_CRASH, reason), reason));
	return true;
}

PROBE_PATH static bool new_atom(
	struct beam_event *ev, struct en_probe *p, uint64_t *arg, struct texts *x)
{
	ERL_NIF_TERM atom;
	uint64_t others;

	if (!beam_source(ev, PBI_ERLRET, 0, &atom) || !enif_is_atom(ev->env, atom) ||
		!beam_atom_is_new(ev->b->tables, atom, &others))
		return false;
	BEAM_MAKE_ARG(p, arg, ATOM_NEW, atom, kept_text(x, ARG_BIT(ATOM_NEW, atom), atom));
	BEAM_MAKE_ARG(p, arg, ATOM_NEW, number, (atom >> 6) + 1);
	BEAM_MAKE_ARG(p, arg, ATOM_NEW, others, others);
	return true;
}

/* By their numbers; false: it is no event of this probe. */
static bool (*const make[])(struct beam_event *, struct en_probe *, uint64_t *, struct texts *) = {
	[BP_ETS_ENTRY - BP_CALLS] = ets_entry,
	[BP_ETS_RETURN - BP_CALLS] = ets_return,
	[BP_TIMER_START - BP_CALLS] = timer_start,
	[BP_TIMER_CANCEL - BP_CALLS] = timer_cancel,
	[BP_SUPERVISOR_RESTART - BP_CALLS] = supervisor_restart,
	[BP_PROCESS_CRASH - BP_CALLS] = process_crash,
	[BP_ATOM_NEW - BP_CALLS] = new_atom,
};

PROBE_PATH void beam_call_fire(struct beam_event *ev, struct en_probe *p)
{
	const struct beam_probedef *def = p->pvdata;
	struct texts x = {.kept = ARG_BIT(ETS_ENTRY, process)};
	uint64_t arg[4] = {0};

	BEAM_MAKE_ARG(p, arg, ETS_ENTRY, process, beam_str(beam_term_text(ev->cur.key)));
	if (make[def - &beam_probedefs[BP_CALLS]](ev, p, arg, &x))
		en_fire(p, arg, x.kept, &ev->cur);
}
