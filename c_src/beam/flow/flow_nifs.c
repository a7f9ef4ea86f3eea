/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What erltrace_flows.erl calls for scripts that follow requests: flows that are over end,
 * nodes report to each other, clocks are set, tokens are taken away.
 *
 */
#include "beam/handle/beam_handle.h"
#include "beam/handle/handles.h"
#include "beam/nif.h"
#include "beam/vm/vm_threads.h"
#include "engine/clock.h"
#include "engine/engine.h"
#include "flow_table.h"
#include "flows.h"

/*
 * {Origin, Flow, Away, Messages, Spawns, Depth, Last}, and cut if there were more than may be: of a
 * part, for the node where the flow began.
 *
 */
static ERL_NIF_TERM report(ErlNifEnv *env, const struct flow_table *t, const struct flow_ended *e)
{
	uint64_t tag = FLOW_TAG(e->id);
	ERL_NIF_TERM member[] = {tag < t->nodes.n ? t->nodes.node[tag] : atom_undefined,
		enif_make_uint64(env, e->id), enif_make_uint64(env, e->away),
		enif_make_uint(env, e->messages), enif_make_uint(env, e->spawns),
		enif_make_uint(env, e->deepest),
		enif_make_uint64(env, flow_clock_at(&t->clock, e->last)),
		enif_make_atom(env, "cut")};

	return enif_make_tuple_from_array(env, member, e->why == FLOW_CUT ? 8 : 7);
}

/*
 * The handle of this number, which stays until beam_leave(); NULL: it is gone, or does not follow.
 * False: this is no number, and there is nothing to leave.
 *
 */
static bool enter(ErlNifEnv *env, ERL_NIF_TERM term, struct beam_handle **b)
{
	unsigned number;

	if (!enif_get_uint(env, term, &number))
		return false;
	*b = beam_enter_live(number);
	if (*b != NULL && (*b)->flows == NULL)
		*b = NULL;
	return true;
}

/*
 * end_flows(Number of a handle) -> {ours | foreign, Nodes, Reports} | gone: ends flows that nobody
 * refers to any more, or in which nothing has happened for as long as flowtime says, or that have
 * begun longer ago than flowlife. foreign: an event has told of a token that is not ours. Nodes:
 * those that run the script.
 *
 */
ERL_NIF_TERM nif_end_flows(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM reports = enif_make_list(env, 0), answer = enif_make_atom(env, "gone");
	struct beam_handle *b;
	struct flow_times times;
	struct flow_ended e;
	uint64_t at = 0;

	(void)argc;
	if (!enter(env, argv[0], &b))
		return beam_badarg(env);
	if (b != NULL) {
		flow_table_bury(b->flows);
		times = (struct flow_times){en_now(), b->flows->idle, b->flows->life};
		while (flow_end_next(b->flows, &at, &times, &e)) {
			if (!e.part) {
				beam_flow_end(b, env, &e);
				continue;
			}
			if (!e.early)
				en_flow_free(b->en, e.id);
			reports = enif_make_list_cell(env, report(env, b->flows, &e), reports);
		}
		answer = enif_make_tuple3(env,
			enif_make_atom(env, atomic_load(&b->flows->foreign) ? "foreign" : "ours"),
			enif_make_list_from_array(env, b->flows->nodes.node, b->flows->nodes.n),
			reports);
	}
	beam_leave();
	return answer;
}

static void take_report(const struct flow_table *t, ErlNifEnv *env, ERL_NIF_TERM term)
{
	unsigned messages, spawns, deepest;
	const ERL_NIF_TERM *e;
	ErlNifUInt64 id, away, last;
	struct flow *f;
	int n;

	if (!enif_get_tuple(env, term, &n, &e) || n < 7 || !enif_get_uint64(env, e[1], &id) ||
		!enif_get_uint64(env, e[2], &away) || !enif_get_uint(env, e[3], &messages) ||
		!enif_get_uint(env, e[4], &spawns) || !enif_get_uint(env, e[5], &deepest) ||
		!enif_get_uint64(env, e[6], &last) || FLOW_TAG(id) != t->tag ||
		(f = flow_find(t, id)) == NULL)
		return;
	atomic_fetch_add_explicit(&f->messages, messages, memory_order_relaxed);
	atomic_fetch_add_explicit(&f->spawns, spawns, memory_order_relaxed);
	flow_deepen(f, deepest);
	atomic_fetch_add_explicit(&f->away, away, memory_order_relaxed);
	if (n > 7)
		atomic_store_explicit(&f->cut, true, memory_order_relaxed);
	last -= flow_clock_at(&t->clock, 0); /* by the clock of this node */
	if (last <= en_now() && last > atomic_load_explicit(&f->last, memory_order_relaxed))
		atomic_store_explicit(&f->last, last, memory_order_relaxed);
}

/* flow_reports(Number of a handle, Reports of another node) -> ok */
ERL_NIF_TERM nif_flow_reports(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM list = argv[1], one;
	struct beam_handle *b;

	(void)argc;
	if (!enter(env, argv[0], &b))
		return beam_badarg(env);
	while (b != NULL && enif_get_list_cell(env, list, &one, &list))
		take_report(b->flows, env, one);
	beam_leave();
	return atom_ok;
}

/*
 * flow_clock(Number of a handle, get | Offset) -> {Now, Offset, Known} | gone: the clock of this
 * node in ns, and what is added to it to have that of the first node.
 *
 */
ERL_NIF_TERM nif_flow_clock(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM answer = enif_make_atom(env, "gone");
	struct beam_handle *b;
	ErlNifSInt64 offset;

	(void)argc;
	if (!enter(env, argv[0], &b))
		return beam_badarg(env);
	if (b != NULL) {
		struct flow_clock *c = &b->flows->clock;

		if (enif_get_int64(env, argv[1], &offset)) {
			atomic_store(&c->offset, offset);
			atomic_store(&c->known, true);
		}
		answer = enif_make_tuple3(env, enif_make_uint64(env, en_now()),
			enif_make_int64(env, atomic_load(&c->offset)),
			enif_make_atom(env, atomic_load(&c->known) ? "true" : "false"));
	}
	beam_leave();
	return answer;
}

/*
 * drain_flows(Number of a handle) -> ok | gone: from now on a process that sends or receives a
 * token of ours loses it, and follow() begins nothing.
 *
 */
ERL_NIF_TERM nif_drain_flows(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct beam_handle *b;

	(void)argc;
	if (!enter(env, argv[0], &b))
		return beam_badarg(env);
	if (b != NULL)
		atomic_store(&b->flows->draining, true);
	beam_leave();
	return b != NULL ? atom_ok : enif_make_atom(env, "gone");
}
