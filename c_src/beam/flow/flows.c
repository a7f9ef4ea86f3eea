/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that are followed (probe path). A function with a clause that calls follow() is armed
 * with a match specification that gives the process which calls it a sequential trace token, if it
 * has none (erltrace_patterns.erl). The VM copies the token into each message that the process
 * sends and into each process that it spawns, and tells the node's sequential system tracer, which
 * is us, of every such message when it is sent and when it is received. Here the token is no more
 * than that: its label says that it is ours. Which flow a process is in is in our own tables
 * (flow_table.h), so that follow() may be called again and again in one process.
 *
 * A process leaves its flow when it receives a message of another one, or one without a token. The
 * VM does not tell of the latter: so what a process says of its flow counts only while it has a
 * token of that flow, which is read from the process itself (token.c). Messages of timers and ports
 * leave a process as it is. Where its flow is over it is found out when it sends or receives next:
 * its token is taken away then. The same is done at a call that a predicate leaves out, which would
 * go on in the flow of the call before it; and with tokens of other runs, which came from nodes
 * that do not run this script.
 *
 * The events come on the thread that runs the sender or the receiver; those of a spawn on the
 * thread of the parent, before the child runs.
 *
 */
#include <stdlib.h>
#include <string.h>

#include "api/in_node.h"
#include "beam/handle/beam_handle.h"
#include "beam/nif.h"
#include "beam/term/term_words.h"
#include "beam/term/texts.h"
#include "beam/vm/pid_node.h"
#include "beam/vm/sizes.h"
#include "beam/vm/token.h"
#include "beam/vm/vm_event.h"
#include "beam/vm/vm_threads.h"
#include "compiler.h"
#include "engine/clock.h"
#include "engine/drop.h"
#include "engine/engine.h"
#include "engine/probe.h"
#include "engine/slot.h"
#include "engine/state.h"
#include "options.h"
#include "flow_nodes.h"
#include "flow_table.h"
#include "flows.h"

/* An event of a flow; those that ask it for flowid and the like know it by its tag. */
struct flow_event {
	struct beam_event ev;
	ERL_NIF_TERM argv[5]; /* the tag, and the message in its place, or 0 */
	uint64_t id;
	uint32_t depth;
	ERL_NIF_TERM peer; /* or 0 */
};

/*
 * {Type, {Previous, Serial}, From, To, Message}. What the VM says as the previous serial is not
 * used, since it is wrong after a spawn; from another node it may be ours (flow_nodes.c).
 *
 */
struct signal {
	ERL_NIF_TERM previous, serial, from, to, msg;
};

int beam_flows_init(struct beam_handle *b, ErlNifEnv *env, uint64_t process_limit)
{
	struct flow_table *t = calloc(1, sizeof(*t));
	bool few;

	if (t == NULL || flow_table_init(t, api_option(b->h, OPT_FLOWS), process_limit) < 0) {
		free(t);
		return -1;
	}
	t->idle = api_option(b->h, OPT_FLOWTIME);
	t->life = api_option(b->h, OPT_FLOWLIFE);
	t->hops = (uint32_t)api_option(b->h, OPT_FLOWHOPS);
	few = flow_nodes_init(&t->nodes, env, api_text_option(b->h, OPT_FLOWPEERS), b->node);
	t->clock.known = t->nodes.n < 2; /* nobody else's time matters */
	t->tag = t->nodes.tag;
	b->flows = t;
	return few ? 0 : 1;
}

void beam_flows_fini(struct beam_handle *b)
{
	if (b->flows != NULL)
		flow_table_fini(b->flows);
	free(b->flows);
	b->flows = NULL;
}

PROBE_PATH static void lose(const struct beam_handle *b, enum en_drop kind)
{
	struct en_thread *t = en_slot_get(b->en);

	if (t != NULL)
		drop(t, kind);
}

PROBE_PATH void beam_flow_no_token(ErlNifEnv *env, ERL_NIF_TERM pid)
{
	if (flow_label_was_ours(env, beam_token_label(env, pid)))
		beam_token_clear(env, pid);
}

/* The process that runs is in no flow any more, and has no token of ours. */
PROBE_PATH static void leave(const struct beam_event *ev, ERL_NIF_TERM pid)
{
	flow_proc_set(ev->b->flows, pid, 0, 0, 0);
	beam_flow_no_token(ev->env, pid);
}

static uint64_t text_of(ERL_NIF_TERM t)
{
	return beam_str(beam_term_text(t));
}

/* ---- probes ----------------------------------------------------------------------------- */

static void set_up(struct flow_event *fe, const struct beam_event *ev, ERL_NIF_TERM process,
	uint64_t id, uint32_t depth)
{
	fe->ev = *ev;
	memset(fe->argv, 0, sizeof(fe->argv));
	fe->argv[0] = atom_seq_trace;
	fe->ev.argv = fe->argv;
	fe->ev.proc = NULL;
	fe->ev.kept = NULL;
	fe->ev.cur.key = process;
	fe->ev.cur.vtimestamp = ev->b->vtimestamp;
	fe->id = id;
	fe->depth = depth;
	fe->peer = 0;
}

/* A process or alias of another node, or {Name, Node}; or an alias of this one: see is_alias(). */
static bool is_elsewhere(ERL_NIF_TERM to)
{
	return (to & 3) != 3;
}

/*
 * An alias of a process of this node: who sends to it, as a gen_server does that replies to a call
 * with a timeout, is told the reference; who receives, the process. The sender and the serial
 * number have to do then.
 *
 */
static bool is_alias(ErlNifEnv *env, ERL_NIF_TERM to)
{
	char text[128];

	if (!is_elsewhere(to) || !enif_is_ref(env, to))
		return false;
	enif_snprintf(text, sizeof(text), "%T", to);
	return !beam_is_remote(text);
}

static uint64_t process_text(
	ERL_NIF_TERM t, char *buf, size_t size, unsigned *strings, unsigned bit)
{
	if (!is_elsewhere(t))
		return text_of(t);
	enif_snprintf(buf, size, "%T", t);
	*strings &= ~bit;
	return (uint64_t)(uintptr_t)buf;
}

PROBE_PATH static void fire_message(const struct beam_event *ev, const struct signal *s,
	const struct flow_msg *m, bool sent, uint64_t now)
{
	struct en_probe *p = ev->b->probe[sent ? BP_FLOW_SEND : BP_FLOW_RECEIVE];
	uint64_t arg[8] = {[ARG(FLOW_SEND, flow)] = m->id, [ARG(FLOW_SEND, hop)] = m->hop,
		[ARG(FLOW_SEND, cause)] = (uint64_t)(int32_t)m->cause,
		[ARG(FLOW_SEND, depth)] = m->depth,
		[ARG(FLOW_SEND, at)] = flow_clock_told(&ev->b->flows->clock, now)};
	unsigned strings = STRINGS(FLOW_SEND);
	struct flow_event fe;
	char from[64], to[256];

	if (!en_enabled(p))
		return;
	BEAM_MAKE_ARG(p, arg, FLOW_SEND, sender, process_text(s->from, from, sizeof(from), &strings,
		ARG_BIT(FLOW_SEND, sender)));
	BEAM_MAKE_ARG(p, arg, FLOW_SEND, receiver, process_text(s->to, to, sizeof(to), &strings,
		ARG_BIT(FLOW_SEND, receiver)));
	if (!sent)
		arg[ARG(FLOW_RECEIVE, waited)] = m->sent != 0 ? now - m->sent : 0;
	else if (p->argmask & ARG_BIT(FLOW_SEND, words))
		arg[ARG(FLOW_SEND, words)] = beam_term_size(ev->env, s->msg);
	set_up(&fe, ev, sent ? s->from : s->to, m->id, sent ? m->depth - 1 : m->depth);
	fe.argv[3] = s->msg;
	fe.peer = sent ? s->to : s->from;
	en_fire(p, arg, strings, &fe.ev.cur);
}
BEAM_SAME_ARG(FLOW_SEND, FLOW_RECEIVE, flow);
BEAM_SAME_ARG(FLOW_SEND, FLOW_RECEIVE, hop);
BEAM_SAME_ARG(FLOW_SEND, FLOW_RECEIVE, cause);
BEAM_SAME_ARG(FLOW_SEND, FLOW_RECEIVE, sender);
BEAM_SAME_ARG(FLOW_SEND, FLOW_RECEIVE, receiver);
BEAM_SAME_ARG(FLOW_SEND, FLOW_RECEIVE, depth);
BEAM_SAME_ARG(FLOW_SEND, FLOW_RECEIVE, at);

/* m: of the child. */
PROBE_PATH static void fire_spawn(const struct beam_event *ev, const struct signal *s,
	ERL_NIF_TERM mfa, const struct flow_msg *m, uint64_t now)
{
	struct en_probe *p = ev->b->probe[BP_FLOW_SPAWN];
	const struct et_str *function = NULL;
	unsigned n, arity, strings = STRINGS(FLOW_SPAWN);
	const ERL_NIF_TERM *t;
	struct flow_event fe;
	uint64_t arg[8] = {[ARG(FLOW_SPAWN, flow)] = m->id, [ARG(FLOW_SPAWN, hop)] = m->hop,
		[ARG(FLOW_SPAWN, cause)] = m->cause, [ARG(FLOW_SPAWN, depth)] = m->depth,
		[ARG(FLOW_SPAWN, at)] = flow_clock_told(&ev->b->flows->clock, now)};

	if (!en_enabled(p))
		return;
	BEAM_MAKE_ARG(p, arg, FLOW_SPAWN, parent, text_of(s->from));
	BEAM_MAKE_ARG(p, arg, FLOW_SPAWN, child, text_of(s->to));
	if (beam_get_tuple(ev->env, mfa, &n, &t) && n == 3 && enif_get_uint(ev->env, t[2], &arity))
		function = beam_mfa_text(t[0], t[1], arity);
	if (function == NULL)
		strings &= ~ARG_BIT(FLOW_SPAWN, function);
	arg[ARG(FLOW_SPAWN, function)] =
		function != NULL ? beam_str(function) : (uint64_t)(uintptr_t)"\0";
	set_up(&fe, ev, s->from, m->id, m->depth - 1);
	fe.peer = s->to;
	en_fire(p, arg, strings, &fe.ev.cur);
}

static void tell_begin(
	const struct beam_event *ev, const struct beam_fn *fn, struct flow *f, uint64_t id)
{
	struct en_probe *p = ev->b->probe[BP_FLOW_BEGIN];
	uint64_t arg[4] = {[ARG(FLOW_BEGIN, flow)] = id,
		[ARG(FLOW_BEGIN, function)] = beam_str(fn->mfa)};
	struct flow_event fe;

	f->told = true;
	f->function = fn->mfa;
	if (!en_enabled(p))
		return;
	BEAM_MAKE_ARG(p, arg, FLOW_BEGIN, process, text_of(ev->cur.key));
	arg[ARG(FLOW_BEGIN, at)] = flow_clock_told(&ev->b->flows->clock, f->began);
	set_up(&fe, ev, ev->cur.key, id, 0);
	en_fire(p, arg, STRINGS(FLOW_BEGIN), &fe.ev.cur);
}

/*
 * A call that begins no flow takes its process out of that of an earlier call; unless the clause
 * has asked for flowid: then it is the script that decides.
 *
 */
PROBE_PATH void beam_flow_called(const struct beam_event *ev, const struct beam_fn *fn)
{
	const struct flow_table *t = ev->b->flows;
	const struct flow_proc *proc = t != NULL ? flow_proc_find(t, ev->cur.key) : NULL;
	uint64_t id = proc != NULL ? atomic_load_explicit(&proc->id, memory_order_relaxed) : 0;
	struct flow *f = id != 0 ? flow_find(t, id) : NULL;

	if (f != NULL && !f->told && f->process == ev->cur.key)
		tell_begin(ev, fn, f, id);
	else if (t != NULL && (f == NULL || !beam_fn_has(fn, TRAIT_ASKS_FLOW)))
		leave(ev, ev->cur.key);
}

/* ---- messages and spawns ---------------------------------------------------------------- */

static bool get_signal(
	ErlNifEnv *env, ERL_NIF_TERM term, struct signal *s, bool *sent, bool *received)
{
	const ERL_NIF_TERM *t, *serial;
	unsigned n;

	if (!beam_get_tuple(env, term, &n, &t) || n != 5 ||
		!beam_get_tuple(env, t[1], &n, &serial) || n != 2)
		return false;
	*sent = t[0] == atom_send;
	*received = t[0] == atom_receive;
	*s = (struct signal){serial[0], serial[1], t[2], t[3], t[4]};
	return true;
}

/*
 * {spawn_request, Ref, Parent, GroupLeader, MFA, Options, Tag, Arguments}: a spawn as the VM tells
 * it; without the last two if it is on another node.
 *
 */
PROBE_PATH static bool is_spawn(
	ErlNifEnv *env, const struct signal *s, bool away, ERL_NIF_TERM *mfa)
{
	const ERL_NIF_TERM *t;
	unsigned n;

	if (!beam_get_tuple(env, s->msg, &n, &t) || n != (away ? 6 : 8) ||
		t[0] != atom_spawn_request || t[2] != s->from)
		return false;
	*mfa = t[4];
	return true;
}

/* {spawn_reply, Ref, ok, Child}, which the child's creation sends to the parent. */
PROBE_PATH static bool is_spawn_reply(ErlNifEnv *env, const struct signal *s)
{
	const ERL_NIF_TERM *t;
	unsigned n;

	return beam_get_tuple(env, s->msg, &n, &t) && n == 4 && t[0] == atom_spawn_reply &&
	       t[2] == atom_ok && (t[3] == s->from || enif_is_identical(t[3], s->from));
}

/* {'EXIT', Sender, Reason}: an exit signal, which becomes a message if its receiver traps exits. */
PROBE_PATH static bool is_exit(ErlNifEnv *env, const struct signal *s)
{
	const ERL_NIF_TERM *t;
	unsigned n;

	return beam_get_tuple(env, s->msg, &n, &t) && n == 3 && t[0] == atom_EXIT &&
	       (t[1] == s->from || enif_is_identical(t[1], s->from));
}

/* Where the process is; NULL: in no flow. */
PROBE_PATH static struct flow *flow_of(
	const struct flow_table *t, ERL_NIF_TERM pid, struct flow_msg *m)
{
	const struct flow_proc *p = flow_proc_find(t, pid);

	if (p == NULL)
		return NULL;
	m->id = atomic_load_explicit(&p->id, memory_order_relaxed);
	m->hop = atomic_load_explicit(&p->hop, memory_order_relaxed);
	m->depth = atomic_load_explicit(&p->depth, memory_order_relaxed);
	return flow_find(t, m->id);
}

/*
 * A number that no other hop of the flow has, here or in another node. A part may have been here
 * before.
 */
static uint32_t new_hop(struct flow_table *t, struct flow *f, uint64_t id)
{
	uint32_t n = atomic_fetch_add_explicit(&f->hops, 1, memory_order_relaxed);

	if (FLOW_TAG(id) != t->tag)
		n = atomic_fetch_add_explicit(&t->part_hops, 1, memory_order_relaxed) % FLOW_HOPS;
	return (uint32_t)t->tag * FLOW_HOPS + n + 1;
}

/*
 * The next hop from who sends, with a reference to its flow; NULL: it is in none, or that has had
 * as many as it may.
 *
 */
PROBE_PATH static struct flow *next_hop(
	const struct beam_event *ev, const struct signal *s, uint64_t now, struct flow_msg *m)
{
	struct flow *f = flow_of(ev->b->flows, s->from, m);

	if (flow_of_label(&ev->b->flows->nodes, ev->env, ev->argv[2]) != m->id)
		m->id = 0; /* it has got another token, and no event has told */
	if (f == NULL || m->id == 0)
		return NULL;
	if (atomic_load_explicit(&f->hops, memory_order_relaxed) >= ev->b->flows->hops) {
		atomic_store_explicit(&f->cut, true, memory_order_relaxed);
		lose(ev->b, DROP_FLOWHOPS);
		return NULL;
	}
	if (!flow_ref(ev->b->flows, m->id))
		return NULL;
	m->cause = m->hop;
	m->hop = new_hop(ev->b->flows, f, m->id);
	m->depth++;
	flow_deepen(f, m->depth);
	atomic_store_explicit(&f->last, now, memory_order_relaxed);
	return f;
}

/* Who began the flow waits for an answer, as far as is known: what it casts has none. */
PROBE_PATH static void asks(const struct beam_event *ev, const struct signal *s, struct flow *f)
{
	const ERL_NIF_TERM *t;
	unsigned n;

	if (s->from == f->process &&
		!(beam_get_tuple(ev->env, s->msg, &n, &t) && n == 2 && t[0] == atom_gen_cast))
		atomic_store_explicit(&f->asks, true, memory_order_relaxed);
}

static void is_answered(const struct signal *s, struct flow *f)
{
	if (s->to == f->process)
		atomic_store_explicit(&f->asks, false, memory_order_relaxed);
}

static void on_spawn(
	const struct beam_event *ev, const struct signal *s, ERL_NIF_TERM mfa, uint64_t now)
{
	struct flow_msg m = {0};
	struct flow *f = next_hop(ev, s, now, &m);

	if (f == NULL)
		return;
	if (!flow_proc_set(ev->b->flows, s->to, m.id, m.hop, m.depth)) {
		lose(ev->b, DROP_FLOWS);
		return;
	}
	atomic_fetch_add_explicit(&f->spawns, 1, memory_order_relaxed);
	fire_spawn(ev, s, mfa, &m, now);
}

/* Its reply takes the parent back to where it is now. It is told within the spawn. */
static void on_spawn_reply(const struct beam_event *ev, const struct signal *s, uint64_t now)
{
	struct flow_table *t = ev->b->flows;
	struct flow_msg m = {.from = s->from, .to = s->to, .label = ev->argv[2],
		.serial = s->serial, .sent = now, .hidden = true};

	if (flow_of(t, s->to, &m) != NULL && flow_ref(t, m.id) && !flow_msg_add(t, &m)) {
		flow_unref(t, m.id);
		lose(ev->b, DROP_FLOWS);
	}
}

/* To another node: the reference is given back. */
PROBE_PATH static void send_away(const struct beam_event *ev, const struct signal *s,
	struct flow *f, const struct flow_msg *m, uint64_t now)
{
	const struct flow_table *t = ev->b->flows;

	if (flow_goes_on(&t->nodes, ev->env, s->to)) {
		if (!m->signal)
			atomic_fetch_add_explicit(
				&f->away, flow_hop_hash(m->hop), memory_order_relaxed);
		beam_token_set(ev->env, s->from, TOKEN_PREVIOUS,
			flow_pack_hop(m->hop, m->depth));
		flow_clock_send(&t->clock, ev->env, s->from, now);
	}
	flow_unref(t, m->id);
}

/*
 * A spawn on another node, whose receiver is the node. The VM tells of it as two messages: the
 * request, and the arguments, whose token the child gets. Both are one hop.
 */
static void on_spawn_away(
	const struct beam_event *ev, const struct signal *s, ERL_NIF_TERM mfa, uint64_t now)
{
	struct flow_msg m = {0};
	struct flow *f = next_hop(ev, s, now, &m);
	struct flow_proc *p = flow_proc_find(ev->b->flows, s->from);

	if (f == NULL)
		return;
	if (p != NULL)
		atomic_store_explicit(&p->spawn, m.hop, memory_order_relaxed);
	atomic_fetch_add_explicit(&f->spawns, 1, memory_order_relaxed);
	asks(ev, s, f);
	fire_spawn(ev, s, mfa, &m, now);
	send_away(ev, s, f, &m, now);
}

static void on_arguments_away(const struct beam_event *ev, const struct signal *s)
{
	struct flow_proc *p = flow_proc_find(ev->b->flows, s->from);
	uint32_t hop = p != NULL ? atomic_exchange(&p->spawn, 0) : 0;

	if (hop != 0)
		beam_token_set(ev->env, s->from, TOKEN_PREVIOUS,
			flow_pack_hop(hop,
				atomic_load_explicit(&p->depth, memory_order_relaxed) + 1));
}

static void on_sent(const struct beam_event *ev, const struct signal *s, uint64_t now)
{
	struct flow_table *t = ev->b->flows;
	struct flow_msg m = {.from = s->from, .to = s->to, .label = ev->argv[2],
		.serial = s->serial, .sent = now, .signal = is_exit(ev->env, s)};
	struct flow *f = next_hop(ev, s, now, &m);
	bool alias;

	if (f == NULL) {
		if (flow_find(t, m.id) == NULL)
			leave(ev, s->from); /* its receiver does so too */
		return;
	}
	atomic_fetch_add_explicit(&f->messages, 1, memory_order_relaxed);
	asks(ev, s, f);
	fire_message(ev, s, &m, true, now);
	/* nobody receives it before this event is over */
	alias = is_alias(ev->env, s->to);
	if (alias)
		m.to = 0;
	if (m.signal)
		atomic_fetch_add_explicit(&f->signals, 1, memory_order_relaxed);
	if (!alias && is_elsewhere(s->to)) {
		send_away(ev, s, f, &m, now);
	} else if (enif_is_port(ev->env, s->to)) {
		flow_unref(t, m.id);
	} else if (!flow_msg_add(t, &m)) {
		flow_unref(t, m.id);
		lose(ev->b, DROP_FLOWS);
	} else if (m.signal) {
		flow_unref(t, m.id);
	}
}

/* From another node. What is not marked as ours has come by one that does not run the script. */
static void on_come(const struct beam_event *ev, const struct signal *s, uint64_t now)
{
	struct flow_table *t = ev->b->flows;
	struct flow_msg m = {.id = flow_of_label(&t->nodes, ev->env, ev->argv[2]),
		.cause = UINT32_MAX};
	const struct flow_proc *p;
	struct flow *f = NULL;
	bool over;

	if (m.id != 0 && flow_unpack_hop(ev->env, s->previous, &m.hop, &m.depth)) {
		p = flow_proc_find(t, s->to);
		if (p != NULL && atomic_load_explicit(&p->id, memory_order_relaxed) == m.id &&
			atomic_load_explicit(&p->hop, memory_order_relaxed) == m.hop)
			return; /* the arguments of a spawn */
		f = flow_join(t, now, m.id, &over);
		if (f == NULL && !over)
			lose(ev->b, DROP_FLOWS);
	}
	if (f == NULL) {
		leave(ev, s->to);
		return;
	}
	m.sent = flow_clock_come(&t->clock, ev->env, s->to, now);
	if (!is_exit(ev->env, s))
		atomic_fetch_sub_explicit(&f->away, flow_hop_hash(m.hop), memory_order_relaxed);
	atomic_store_explicit(&f->last, now, memory_order_relaxed);
	is_answered(s, f);
	if (!flow_proc_set(t, s->to, m.id, m.hop, m.depth))
		lose(ev->b, DROP_FLOWS);
	else
		fire_message(ev, s, &m, false, now);
}

static bool take_message(struct flow_table *t, struct flow_msg *m)
{
	if (flow_msg_take(t, m))
		return true;
	m->to = 0; /* by an alias */
	return flow_msg_take(t, m);
}

/* It is received: who does so refers to its flow, if that has not ended. */
static bool take_signal(const struct flow_table *t, uint64_t id)
{
	struct flow *f = flow_find(t, id);

	if (f == NULL || !flow_ref(t, id))
		return false;
	atomic_fetch_sub_explicit(&f->signals, 1, memory_order_relaxed);
	return true;
}

static void on_received(const struct beam_event *ev, const struct signal *s, uint64_t now)
{
	struct flow_table *t = ev->b->flows;
	struct flow_msg m = {.from = s->from, .to = s->to, .label = ev->argv[2],
		.serial = s->serial};
	struct flow *f;

	if (!take_message(t, &m)) { /* it belongs to no flow that is known here */
		if (!is_spawn_reply(ev->env, s))
			leave(ev, s->to);
		return;
	}
	if (m.signal && !take_signal(t, m.id)) {
		leave(ev, s->to);
		return;
	}
	if (!flow_proc_set(t, s->to, m.id, m.hop, m.depth)) {
		lose(ev->b, DROP_FLOWS);
		return;
	}
	f = flow_find(t, m.id);
	if (f == NULL)
		leave(ev, s->to);
	if (f == NULL || m.hidden)
		return;
	is_answered(s, f);
	atomic_store_explicit(&f->last, now, memory_order_relaxed);
	fire_message(ev, s, &m, false, now);
}

PROBE_PATH void beam_flow_exit(const struct beam_handle *b, ERL_NIF_TERM pid)
{
	const struct flow_proc *p = flow_proc_find(b->flows, pid);
	struct flow *f = NULL;

	if (p != NULL)
		f = flow_find(b->flows, atomic_load_explicit(&p->id, memory_order_relaxed));
	if (f != NULL)
		atomic_store_explicit(&f->last, en_now(), memory_order_relaxed);
	flow_proc_exit(b->flows, pid);
}

/* A message, not a spawn: the VM does not look at the token of its sender again after the event. */
static bool is_plain(ErlNifEnv *env, const struct signal *s)
{
	ERL_NIF_TERM mfa;

	return !enif_is_atom(env, s->to) && !is_spawn(env, s, false, &mfa) &&
	       !is_spawn_reply(env, s);
}

/* A token that is not of a flow which is followed. */
static void on_stray(const struct beam_event *ev, const struct signal *s, bool sent, bool received)
{
	if (received)
		leave(ev, s->to);
	else if (sent && is_plain(ev->env, s))
		leave(ev, s->from);
}

static void on_signal(const struct beam_event *ev, const struct signal *s, bool sent, bool received)
{
	uint64_t now = en_now();
	ERL_NIF_TERM mfa;

	if (sent && enif_is_atom(ev->env, s->to)) {
		if (is_spawn(ev->env, s, true, &mfa))
			on_spawn_away(ev, s, mfa, now);
		else
			on_arguments_away(ev, s);
	} else if (is_spawn(ev->env, s, false, &mfa)) {
		if (sent)
			on_spawn(ev, s, mfa, now);
	} else if (is_spawn_reply(ev->env, s) && (is_elsewhere(s->from) || is_elsewhere(s->to))) {
		return; /* the parent stays where it is */
	} else if (sent && is_spawn_reply(ev->env, s)) {
		on_spawn_reply(ev, s, now);
	} else if (received && (is_elsewhere(s->from) || enif_is_atom(ev->env, s->from))) {
		on_come(ev, s, now);
	} else if (sent) {
		on_sent(ev, s, now);
	} else if (received) {
		on_received(ev, s, now);
	}
}

PROBE_PATH void beam_flow_event(const struct beam_event *ev)
{
	bool sent, received, ours;
	struct flow_table *t = ev->b->flows;
	struct signal s;

	if (t == NULL)
		return;
	ours = flow_label_is_ours(&t->nodes, ev->env, ev->argv[2]);
	if (!ours && !flow_label_was_ours(ev->env, ev->argv[2])) { /* of somebody else */
		atomic_store_explicit(&t->foreign, true, memory_order_relaxed);
		return;
	}
	if (!get_signal(ev->env, ev->argv[3], &s, &sent, &received))
		return;
	if (!ours || atomic_load_explicit(&t->draining, memory_order_relaxed))
		on_stray(ev, &s, sent, received);
	else
		on_signal(ev, &s, sent, received);
}

/* ---- what scripts ask ------------------------------------------------------------------- */

/* The match specification tells that it has just given the process a token: it is in no flow. */
PROBE_PATH void beam_flow_call(const struct beam_event *ev)
{
	ERL_NIF_TERM result;

	if (ev->b->flows != NULL && ev->argv[4] != 0 &&
		enif_get_map_value(ev->env, ev->argv[4], atom_match_spec_result, &result) &&
		result == atom_erltrace_flow)
		flow_proc_set(ev->b->flows, ev->cur.key, 0, 0, 0);
}

/*
 * The token of the process may be of another run, in a node that did not take part in it: it
 * becomes one of this. One of the application stays as it is.
 *
 */
PROBE_PATH static void take_token(const struct beam_event *ev, uint64_t id)
{
	beam_token_set(ev->env, ev->cur.key, TOKEN_LABEL, flow_label(&ev->b->flows->nodes, id));
	flow_clock_reset(ev->env, ev->cur.key);
}

PROBE_PATH uint64_t beam_flow_follow(const struct beam_event *ev)
{
	struct flow_table *t = ev->b->flows;
	ERL_NIF_TERM pid = ev->cur.key;
	struct flow *f;
	uint64_t id;

	if (t == NULL || ev->argv == NULL || ev->argv[0] != atom_call ||
		atomic_load_explicit(&t->draining, memory_order_relaxed))
		return 0;
	if (!flow_label_was_ours(ev->env, beam_token_label(ev->env, pid))) {
		lose(ev->b, DROP_FLOWTOKENS);
		return 0;
	}
	f = flow_begin(t, en_now(), &id);
	if (f == NULL || !flow_proc_set(t, pid, id, 0, 0)) {
		lose(ev->b, DROP_FLOWS);
		return 0;
	}
	f->process = pid;
	take_token(ev, id);
	return id;
}

/* Events that come on the thread which runs their process. */
static bool is_own(ERL_NIF_TERM tag)
{
	return tag == atom_call || tag == atom_return_to || tag == atom_return_from ||
	       tag == atom_exception_from || tag == atom_send ||
	       tag == atom_send_to_non_existing_process || tag == atom_in ||
	       tag == atom_out || tag == atom_exit || tag == atom_gc_minor_start ||
	       tag == atom_gc_minor_end || tag == atom_gc_major_start || tag == atom_gc_major_end;
}

static const struct flow_event *flow_event_of(const struct beam_event *ev)
{
	return ev->argv != NULL && ev->argv[0] == atom_seq_trace
		       ? (const struct flow_event *)(const void *)ev
		       : NULL;
}

PROBE_PATH uint64_t beam_flow_id(const struct beam_event *ev, bool depth)
{
	const struct flow_event *fe = flow_event_of(ev);
	const struct flow_proc *p;
	uint64_t id;

	if (fe != NULL)
		return depth ? fe->depth : fe->id;
	if (ev->b->flows == NULL || ev->argv == NULL || !is_own(ev->argv[0]) ||
		(p = flow_proc_find(ev->b->flows, ev->cur.key)) == NULL)
		return 0;
	id = atomic_load_explicit(&p->id, memory_order_relaxed);
	if (flow_find(ev->b->flows, id) == NULL ||
		flow_of_label(&ev->b->flows->nodes, ev->env,
			beam_token_label(ev->env, ev->cur.key)) != id)
		return 0;
	return depth ? atomic_load_explicit(&p->depth, memory_order_relaxed) : id;
}

PROBE_PATH bool beam_flow_peer(const struct beam_event *ev, ERL_NIF_TERM *peer)
{
	const struct flow_event *fe = flow_event_of(ev);

	if (fe == NULL || fe->peer == 0)
		return false;
	*peer = fe->peer;
	return true;
}

/* ---- the end ---------------------------------------------------------------------------- */

void beam_flow_end(struct beam_handle *b, ErlNifEnv *env, const struct flow_ended *e)
{
	static const char *const why[] = {[FLOW_DONE] = "done",
		[FLOW_IDLE] = "idle",
		[FLOW_WAITS] = "waits",
		[FLOW_AGED] = "aged",
		[FLOW_CUT] = "cut"};
	struct en_probe *p = b->probe[BP_FLOW_END];
	struct beam_event ev = {.b = b, .env = env, .cur = {.ops = b->host->cur.ops}};
	struct flow_event fe;
	uint64_t arg[8] = {[ARG(FLOW_END, flow)] = e->id,
		[ARG(FLOW_END, depth)] = e->deepest,
		[ARG(FLOW_END, elapsed)] = e->until - e->began,
		[ARG(FLOW_END, at)] = flow_clock_told(&b->flows->clock, e->until),
		[ARG(FLOW_END, messages)] = e->messages,
		[ARG(FLOW_END, spawns)] = e->spawns,
		[ARG(FLOW_END, why)] = (uint64_t)(uintptr_t)why[e->why]};
	unsigned strings = 0;

	arg[ARG(FLOW_END, function)] = (uint64_t)(uintptr_t)"\0";
	if (e->function != NULL) {
		arg[ARG(FLOW_END, function)] = beam_str(e->function);
		strings = ARG_BIT(FLOW_END, function);
	}
	if (en_enabled(p)) {
		set_up(&fe, &ev, e->process, e->id, e->deepest);
		en_fire(p, arg, strings, &fe.ev.cur);
	}
	en_flow_free(b->en, e->id);
}
