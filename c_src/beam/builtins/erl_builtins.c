/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-ins that a D script asks an Erlang event for (probe path): erlpid, erlname, erlproc,
 * erlnode, erlsched, erlpeer, erlpeerproc, erlmsg, erlargs, erlarg(), erlint(), erlret, erlclass,
 * erlreason. Answered when they are read, from the event as the VM handed it over; an event that
 * has nothing of the kind gives "" or 0.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/in_node.h"
#include "beam/code/erl_stack.h"
#include "beam/code/vm_frames.h"
#include "beam/flow/flows.h"
#include "beam/handle/beam_handle.h"
#include "beam/handle/watchdog.h"
#include "beam/nif.h"
#include "beam/term/term_print.h"
#include "beam/term/term_words.h"
#include "beam/term/texts.h"
#include "beam/vm/own_name.h"
#include "beam/vm/peek.h"
#include "beam/vm/vm_event.h"
#include "compiler.h"
#include "prog/builtins.h"
#include "erl_builtins.h"
#include "terms.h"
#include "usdt_fire.h"

static const struct beam_event *event_of(const struct en_current *cur)
{
	return (const struct beam_event *)(const void *)cur;
}

/* ---- schedulers ------------------------------------------------------------------------ */

/* Once in a thread's life. */
PROBE_PATH static __attribute__((noinline)) int find_scheduler(void)
{
	char name[16] = "";

	pthread_getname_np(pthread_self(), name, sizeof(name));
	return beam_scheduler_of_name(name);
}

static unsigned scheduler(void)
{
	struct beam_thread *t = beam_self;

	if (t == NULL)
		return 0;
	if (unlikely(t->sched == 0))
		t->sched = find_scheduler();
	return t->sched > 0 ? (unsigned)t->sched : 0;
}

/* ---- terms of the event ---------------------------------------------------------------- */

PROBE_PATH static bool has_arguments(const struct beam_event *ev, ERL_NIF_TERM *list)
{
	const ERL_NIF_TERM *t;
	unsigned n;

	if (ev->kept != NULL) {
		*list = ev->kept->args;
		return *list != atom_dots; /* else no clause was known to read them */
	}
	if (ev->argv == NULL || ev->argv[0] != atom_call ||
		!beam_get_tuple(ev->env, ev->argv[3], &n, &t) || n != 3)
		return false;
	*list = t[2];
	return enif_is_list(ev->env, t[2]);
}

PROBE_PATH static bool has_argument(const struct beam_event *ev, uint64_t n, ERL_NIF_TERM *arg)
{
	ERL_NIF_TERM list;

	if (n > 255 || !has_arguments(ev, &list))
		return false;
	do
		if (!beam_get_cell(ev->env, list, arg, &list))
			return false;
	while (n-- > 0);
	return true;
}

static bool has_result(const struct beam_event *ev, ERL_NIF_TERM *result)
{
	return ev->argv != NULL && ev->argv[0] == atom_return_from &&
	       enif_get_map_value(ev->env, ev->argv[4], atom_extra, result);
}

/* The registered name of the event's process; 0: it has none. */
PROBE_PATH static ERL_NIF_TERM name_of(const struct beam_event *ev)
{
	return beam_tracks(ev->b, TRACK_EXITS) ? beam_name_of(&ev->b->registered.names, ev->cur.key)
					       : beam_own_name(ev->env, ev->cur.key);
}

/* The other process, or what stands for it: a name, an alias, {Name, Node}, a process elsewhere. */
PROBE_PATH static bool has_peer(const struct beam_event *ev, ERL_NIF_TERM *peer)
{
	ERL_NIF_TERM tag = ev->argv != NULL ? ev->argv[0] : 0;

	if (tag == atom_send || tag == atom_send_to_non_existing_process)
		*peer = beam_extra(ev->env, ev->argv[4]);
	else if (tag == atom_spawned)
		*peer = ev->argv[3];
	else if (tag == atom_receive && ev->starter != 0)
		*peer = ev->starter;
	else
		return beam_flow_peer(ev, peer) || has_argument(ev, 0, peer);
	return true;
}

static bool is_name(ErlNifEnv *env, ERL_NIF_TERM t)
{
	const ERL_NIF_TERM *e;
	int n;

	return enif_is_atom(env, t) || enif_is_pid(env, t) || enif_is_port(env, t) ||
	       enif_is_ref(env, t) ||
	       (enif_get_tuple(env, t, &n, &e) && n == 2 && enif_is_atom(env, e[0]) &&
		       enif_is_atom(env, e[1]));
}

PROBE_PATH void beam_print_name(const struct beam_event *ev, ERL_NIF_TERM t, char *buf, size_t size)
{
	if (api_option(ev->b->h, OPT_PAYLOAD) != 0 || is_name(ev->env, t))
		beam_print(ev->env, t, false, buf, size);
	else
		memcpy(buf, "?", sizeof("?"));
}

/* A process with its name, if it has one; of an alias the process that made it. called: what it is
 * called rather than its pid. */
PROBE_PATH static const struct et_str *peer_text(
	const struct beam_event *ev, ERL_NIF_TERM peer, bool called, char *buf, size_t size)
{
	const ERL_NIF_TERM *t;
	ERL_NIF_TERM name;
	int n;

	beam_peek_alias(ev->env, peer, &peer);
	/* {Name, Node} of this node is Name, as in the arguments of message-send. */
	if (enif_get_tuple(ev->env, peer, &n, &t) && n == 2 && t[1] == ev->b->node)
		peer = t[0];
	if (called && enif_is_pid(ev->env, peer))
		return beam_proc_name(&ev->b->proc_names, beam_tracks(ev->b, TRACK_EXITS), peer,
			beam_name_of(&ev->b->registered.names, peer), buf, size);
	if (enif_is_pid(ev->env, peer)) {
		name = beam_name_of(&ev->b->registered.names, peer);
		return beam_term_text(name != 0 ? name : peer);
	}
	if (enif_is_atom(ev->env, peer))
		return beam_term_text(peer);
	beam_print_name(ev, peer, buf, size);
	return NULL;
}

/* Why a process or a port has ended; what was raised. */
static bool has_reason(const struct beam_event *ev, ERL_NIF_TERM *reason)
{
	ERL_NIF_TERM tag = ev->argv != NULL ? ev->argv[0] : 0;

	if (ev->reason != 0) {
		*reason = ev->reason;
		return true;
	}
	if (tag != atom_exit && tag != atom_closed)
		return false;
	*reason = ev->argv[3];
	return true;
}

PROBE_PATH bool beam_source(const struct beam_event *ev, unsigned pbi, uint64_t n, ERL_NIF_TERM *t)
{
	switch (pbi) {
	case PBI_ERLMSG: return beam_message(ev, t);
	case PBI_ERLARGS: return has_arguments(ev, t);
	case PBI_ERLARG: return has_argument(ev, n, t);
	case PBI_ERLRET: return has_result(ev, t);
	case PBI_ERLREASON: return has_reason(ev, t);
	default: return false;
	}
}

/* ---- answers --------------------------------------------------------------------------- */

PROBE_PATH static uint64_t answer_num(
	const struct en_current *cur, unsigned pbi, uint64_t n, const struct fire *f)
{
	const struct beam_event *ev = event_of(cur);
	ERL_NIF_TERM arg;
	ErlNifSInt64 v;

	switch (pbi) {
	case PBI_ERLSCHED: return scheduler();
	case PBI_ERLCOST: return beam_cost_last(ev->b);
	case PBI_USDT: return beam_usdt(f);
	case PBI_FLOWID: return beam_flow_id(ev, false);
	case PBI_FLOWDEPTH: return beam_flow_id(ev, true);
	case PBI_FOLLOW: return beam_flow_follow(ev);
	case PBI_ERLINT:
		if (has_argument(ev, n, &arg) && enif_get_int64(ev->env, arg, &v))
			return (uint64_t)v;
		return 0;
	default: return 0;
	}
}

PROBE_PATH static const struct et_str *answer_str(
	const struct en_current *cur, unsigned pbi, uint64_t n, char *buf, size_t size)
{
	const struct beam_event *ev = event_of(cur);
	ERL_NIF_TERM t;

	switch (pbi) {
	case PBI_ERLPID:
		return ev->env != NULL && enif_is_pid(ev->env, ev->cur.key)
			       ? beam_term_text(ev->cur.key)
			       : NULL;
	case PBI_ERLNAME:
		t = ev->env != NULL && enif_is_pid(ev->env, ev->cur.key) ? name_of(ev) : 0;
		return t != 0 ? beam_term_text(t) : NULL;
	case PBI_ERLPROC:
		return ev->env != NULL && enif_is_pid(ev->env, ev->cur.key)
			       ? beam_proc_name(&ev->b->proc_names, beam_tracks(ev->b, TRACK_EXITS),
					 ev->cur.key, name_of(ev), buf, size)
			       : NULL;
	case PBI_ERLNODE: return ev->b->node_text;
	case PBI_ERLCLASS: return ev->class != 0 ? beam_term_text(ev->class) : NULL;
	case PBI_ERLPEER:
		return has_peer(ev, &t) ? peer_text(ev, t, false, buf, size) : NULL;
	case PBI_ERLPEERPROC:
		return has_peer(ev, &t) ? peer_text(ev, t, true, buf, size) : NULL;
	default: break;
	}
	if (beam_source(ev, pbi, n, &t))
		beam_print(ev->env, t, pbi == PBI_ERLARGS, buf, size);
	return NULL;
}

static bool name_frame(const struct en_current *cur, uint64_t pc, char *buf, size_t size)
{
	(void)cur;
	return beam_frame_text(pc, buf, size) || code_vm_frame_text(pc, buf, size);
}

PROBE_PATH static bool process_of(const struct en_current *cur, struct rec_process *p)
{
	const struct beam_event *ev = event_of(cur);
	bool is_pid = ev->env != NULL && enif_is_pid(ev->env, cur->key);

	if (!is_pid && (ev->env == NULL || !enif_is_port(ev->env, cur->key)))
		return false;
	*p = (struct rec_process){.id = cur->key, .name = is_pid ? name_of(ev) : 0};
	return true;
}

static void process_text(uint64_t term, char *buf, size_t size)
{
	enif_snprintf(buf, size, "%T", (ERL_NIF_TERM)term);
}

const struct en_current_ops beam_ops = {.num = answer_num,
	.str = answer_str,
	.terms = &beam_term_ops,
	.process = process_of,
	.process_text = process_text,
	.frame = name_frame};

/* ---- what the Erlang side tells -------------------------------------------------------- */

/* set_node(Handle, Node) */
ERL_NIF_TERM nif_set_node(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	char name[256];
	int n;

	WITH_HANDLE(b)
	n = enif_get_atom(env, argv[1], name, sizeof(name), ERL_NIF_LATIN1);
	if (n > 0 && (b->node_text == NULL || strcmp(b->node_text->text, name) != 0) &&
		!atomic_load(&b->live)) {
		et_str_free(b->node_text);
		b->node_text = et_str_new(name, (size_t)n - 1);
	}
	enif_mutex_unlock(b->lock);
	return atom_ok;
}

/* print(Term, Size, IsArgs) -> {Text, Steps}: what a script would see of it. For tests. */
ERL_NIF_TERM nif_print(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	char buf[4096];
	unsigned size, steps;

	(void)argc;
	if (!enif_get_uint(env, argv[1], &size) || size == 0 || size > sizeof(buf))
		return enif_make_badarg(env);
	steps = beam_print(env, argv[0], argv[2] == atom_true, buf, size);
	return enif_make_tuple2(env, beam_make_text(env, buf), enif_make_uint(env, steps));
}
