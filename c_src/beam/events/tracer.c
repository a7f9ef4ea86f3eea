/* SPDX-License-Identifier: Apache-2.0 */
/*
 * THE PROBE PATH inside the node: the VM calls these on the scheduler that runs the traced
 * process, or, for messages that arrive, registrations and exits, on another and without a
 * process's environment (enif_self gives NULL then; nothing here needs it). An event is matched to
 * its probe, the arguments that scripts read are built, the probe fires. Nothing here locks,
 * allocates, sends or calls the system.
 */
#include <stddef.h>
#include <string.h>

#include "beam/builtins/erl_builtins.h"
#include "beam/builtins/event_stack.h"
#include "beam/code/erl_stack.h"
#include "beam/flow/flows.h"
#include "beam/handle/beam_handle.h"
#include "beam/handle/handles.h"
#include "beam/nif.h"
#include "beam/proc/vtime.h"
#include "beam/state/top_words.h"
#include "beam/term/term_print.h"
#include "beam/term/texts.h"
#include "beam/vm/layout.h"
#include "beam/vm/pid_node.h"
#include "beam/vm/run_state.h"
#include "beam/vm/sizes.h"
#include "beam/vm/vm_event.h"
#include "compiler.h"
#include "engine/clock.h"
#include "engine/current.h"
#include "engine/engine.h"
#include "engine/probe.h"
#include "engine/str.h"
#include "name_events.h"
#include "ports.h"
#include "timers.h"
#include "tracer.h"

PROBE_PATH static __attribute__((noinline)) ERL_NIF_TERM enabled_slow(
	ErlNifEnv *env, ERL_NIF_TERM state)
{
	unsigned number;
	bool gone;

	if (!beam_number(env, state, &number))
		return state == atom_layout || state == atom_top_words || state == atom_run_state ||
				       state == atom_flow_tokens
			       ? atom_trace
			       : atom_remove;
	if (beam_live(number, &gone))
		return atom_trace;
	return gone ? atom_remove : atom_discard;
}

PROBE_PATH ERL_NIF_TERM nif_enabled(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	(void)argc;
	return likely(beam_fires(argv[1])) ? atom_trace : enabled_slow(env, argv[1]);
}

static inline uint64_t pid_arg(struct beam_event *ev)
{
	return beam_str(beam_term_text(ev->cur.key));
}

/* Atoms are cached, anything else is written into a buffer of the caller's. */
static uint64_t term_arg(ErlNifEnv *env, char *buf, size_t size, ERL_NIF_TERM term, bool *cached)
{
	*cached = enif_is_atom(env, term);
	if (*cached)
		return beam_str(beam_term_text(term));
	beam_print(env, term, false, buf, size); /* %T would walk all of a term, however large */
	return (uint64_t)(uintptr_t)buf;
}

/* "lists:seq/2" of {M, F, Arguments or Arity}; NULL: it is none. */
PROBE_PATH static const struct et_str *mfa_text(ErlNifEnv *env, ERL_NIF_TERM mfa)
{
	const ERL_NIF_TERM *t;
	unsigned arity = 0;
	int n;

	if (!enif_get_tuple(env, mfa, &n, &t) || n != 3 || !enif_is_atom(env, t[0]) ||
		!enif_is_atom(env, t[1]))
		return NULL;
	if (!enif_get_uint(env, t[2], &arity))
		enif_get_list_length(env, t[2], &arity);
	return beam_mfa_text(t[0], t[1], arity);
}

/* A function as an argument of a probe; false: it is none, and the argument a text "". */
static bool function_arg(const struct beam_event *ev, ERL_NIF_TERM mfa, uint64_t *arg)
{
	const struct et_str *function = mfa_text(ev->env, mfa);

	*arg = function != NULL ? beam_str(function) : (uint64_t)(uintptr_t)"\0";
	return function != NULL;
}

/* process-spawn, process-scheduled. */
PROBE_PATH static void on_pid_mfa(struct beam_event *ev, enum beam_probe id, ERL_NIF_TERM mfa)
{
	struct en_probe *p = ev->b->probe[id];
	unsigned strings = STRINGS(PROCESS_SPAWN);
	uint64_t arg[2];

	if (!en_enabled(p))
		return;
	BEAM_MAKE_ARG(p, arg, PROCESS_SPAWN, process, pid_arg(ev));
	if ((p->argmask & ARG_BIT(PROCESS_SPAWN, function)) &&
		!function_arg(ev, mfa, &arg[ARG(PROCESS_SPAWN, function)]))
		strings &= ~ARG_BIT(PROCESS_SPAWN, function);
	en_fire(p, arg, strings, &ev->cur);
}
BEAM_SAME_ARG(PROCESS_SPAWN, PROCESS_SCHEDULED, process);
BEAM_SAME_ARG(PROCESS_SPAWN, PROCESS_SCHEDULED, function);

/* ---- processes ------------------------------------------------------------------------- */

static void on_spawned(struct beam_event *ev, ERL_NIF_TERM mfa)
{
	if (ev->b->proc_names.tab != NULL)
		beam_proc_name_spawned(&ev->b->proc_names, ev, mfa);
	on_pid_mfa(ev, BP_PROCESS_SPAWN, mfa);
}

PROBE_PATH static __attribute__((noinline)) void on_exit_(
	struct beam_event *ev, ERL_NIF_TERM reason)
{
	struct beam_handle *b = ev->b;
	struct en_probe *p = b->probe[BP_PROCESS_EXIT];
	char text[256];
	uint64_t arg[2];
	bool cached = false;

	if (en_enabled(p)) {
		BEAM_MAKE_ARG(p, arg, PROCESS_EXIT, process, pid_arg(ev));
		BEAM_MAKE_ARG(p, arg, PROCESS_EXIT, reason,
			term_arg(ev->env, text, sizeof(text), reason, &cached));
		en_fire(p, arg, cached ? STRINGS(PROCESS_EXIT) : ARG_BIT(PROCESS_EXIT, process),
			&ev->cur);
	}
	if (beam_tracks(b, TRACK_SELF))
		en_self_free(b->en, ev->cur.key);
	if (b->flows != NULL)
		beam_flow_exit(b, ev->cur.key);
	if (b->proc_names.tab != NULL)
		beam_proc_name_exit(&b->proc_names, ev->cur.key);
	if (b->procs.tab != NULL &&
		beam_tracks(b, TRACK_EXITS)) /* else it is another's event, and for the sweep */
		beam_proc_exit(&b->procs, ev->cur.key);
	ev->proc = NULL;
}

static void on_in(struct beam_event *ev, ERL_NIF_TERM mfa)
{
	if (ev->proc != NULL && beam_tracks(ev->b, TRACK_VTIME))
		beam_vts_in(ev->proc, ev->began);
	on_pid_mfa(ev, BP_PROCESS_SCHEDULED, mfa);
}

/*
 * From OTP 28 on the loops of gen_server and gen_statem have erlang:hibernate/0, an instruction, and
 * functions of their own for it.
 */
static bool is_hibernation(const struct beam_handle *b, const ERL_NIF_TERM *t)
{
	return (t[0] == atom_erlang && t[1] == atom_hibernate) ||
	       (beam_tracks(b, TRACK_HIBERNATE_LOOPS) && t[1] == atom_loop_hibernate &&
		       (t[0] == atom_gen_server || t[0] == atom_gen_statem));
}

static void on_hibernate(struct beam_event *ev, ERL_NIF_TERM mfa)
{
	struct en_probe *p = ev->b->probe[BP_PROCESS_HIBERNATE];
	struct beam_proc *proc = ev->proc;
	const ERL_NIF_TERM *t;
	uint64_t arg[2];
	int n;

	if (!enif_get_tuple(ev->env, mfa, &n, &t) || n != 3 || !is_hibernation(ev->b, t) ||
		atomic_exchange_explicit(&proc->hibernating, 1, memory_order_relaxed))
		return;
	arg[ARG(PROCESS_HIBERNATE, process)] = pid_arg(ev);
	arg[ARG(PROCESS_HIBERNATE, function)] = beam_str(
		proc->hib_mod != 0 ? beam_mfa_text(proc->hib_mod, proc->hib_fun, proc->hib_arity)
				   : mfa_text(ev->env, mfa));
	en_fire(p, arg, STRINGS(PROCESS_HIBERNATE), &ev->cur);
	proc->hib_mod = 0;
}

static void on_unscheduled(struct beam_event *ev, ERL_NIF_TERM mfa)
{
	struct en_probe *p = ev->b->probe[BP_PROCESS_UNSCHEDULED];
	unsigned strings = STRINGS(PROCESS_UNSCHEDULED);
	uint64_t arg[3];

	if (!en_enabled(p))
		return;
	BEAM_MAKE_ARG(p, arg, PROCESS_UNSCHEDULED, process, pid_arg(ev));
	if ((p->argmask & ARG_BIT(PROCESS_UNSCHEDULED, function)) &&
		!function_arg(ev, mfa, &arg[ARG(PROCESS_UNSCHEDULED, function)]))
		strings &= ~ARG_BIT(PROCESS_UNSCHEDULED, function);
	BEAM_MAKE_ARG(p, arg, PROCESS_UNSCHEDULED, runnable,
		(uint64_t)(int64_t)beam_is_runnable(ev->env, ev->cur.key));
	en_fire(p, arg, strings, &ev->cur);
}

static void on_out(struct beam_event *ev, ERL_NIF_TERM mfa)
{
	struct beam_proc *p = ev->proc;

	if (beam_tracks(ev->b, TRACK_HIBERNATE) && p != NULL)
		on_hibernate(ev, mfa);

	on_unscheduled(ev, mfa);
	if (p != NULL && beam_tracks(ev->b, TRACK_VTIME)) {
		if (p->in_at != 0)
			beam_vts_now(p, ev->began);
		p->in_at = 0;
	}
}

/* ---- messages -------------------------------------------------------------------------- */

/*
 * The token that the message carries, {Flags, Label, Serial, From, Previous} of the sender, or []:
 * the event comes before the VM has counted it up, but for messages to other nodes after that.
 */
PROBE_PATH static void token_args(
	struct beam_event *ev, ERL_NIF_TERM opts, bool counted, uint64_t *arg)
{
	const ERL_NIF_TERM *t;
	ErlNifSInt64 label, serial, last;
	ERL_NIF_TERM token;
	int n;

	arg[0] = arg[1] = arg[2] = 0;
	if (!enif_get_map_value(ev->env, opts, atom_match_spec_result, &token) ||
		!enif_get_tuple(ev->env, token, &n, &t) || n != 5 ||
		!enif_get_int64(ev->env, t[2], &serial) || !enif_get_int64(ev->env, t[4], &last))
		return;
	if (!enif_get_int64(ev->env, t[1], &label) || label < INT32_MIN || label > INT32_MAX)
		label = INT32_MIN; /* as OTP's own */
	arg[0] = (uint64_t)label;
	arg[1] = (uint64_t)(t[3] == ev->cur.key ? last : serial);
	arg[2] = (uint64_t)serial + !counted;
}

/* to_text: of a receiver whose text is not kept, or NULL. */
PROBE_PATH static void send_any(struct beam_event *ev, ERL_NIF_TERM msg, ERL_NIF_TERM to,
	const char *to_text, bool remote, ERL_NIF_TERM opts)
{
	struct en_probe *p = ev->b->probe[BP_MESSAGE_SEND];
	uint64_t arg[6] = {0};

	if (!en_enabled(p))
		return;
	BEAM_MAKE_ARG(p, arg, MESSAGE_SEND, sender, pid_arg(ev));
	BEAM_MAKE_ARG(p, arg, MESSAGE_SEND, receiver,
		to_text == NULL ? beam_str(beam_term_text(to)) : (uint64_t)(uintptr_t)to_text);
	BEAM_MAKE_ARG(p, arg, MESSAGE_SEND, words, beam_term_size(ev->env, msg));
	if (unlikely(p->argmask & BEAM_TOKEN_ARGS(MESSAGE_SEND)))
		token_args(ev, opts, remote, &arg[ARG(MESSAGE_SEND, label)]);
	en_fire(p, arg,
		to_text == NULL ? STRINGS(MESSAGE_SEND) : ARG_BIT(MESSAGE_SEND, sender), &ev->cur);
}

PROBE_PATH static void send_remote(struct beam_event *ev, ERL_NIF_TERM msg, const char *to_text,
	ERL_NIF_TERM node, ERL_NIF_TERM opts)
{
	struct en_probe *p = ev->b->probe[BP_MESSAGE_SEND_REMOTE];
	uint64_t arg[7] = {[ARG(MESSAGE_SEND_REMOTE, node)] = (uint64_t)(uintptr_t)"\0"};
	unsigned strings = ARG_BIT(MESSAGE_SEND_REMOTE, sender);

	if (!en_enabled(p))
		return;
	BEAM_MAKE_ARG(p, arg, MESSAGE_SEND_REMOTE, sender, pid_arg(ev));
	node = node != 0 ? node : beam_node_atom(to_text);
	if ((p->argmask & ARG_BIT(MESSAGE_SEND_REMOTE, node)) && node != 0) {
		arg[ARG(MESSAGE_SEND_REMOTE, node)] = beam_str(beam_term_text(node));
		strings |= ARG_BIT(MESSAGE_SEND_REMOTE, node);
	}
	arg[ARG(MESSAGE_SEND_REMOTE, receiver)] = (uint64_t)(uintptr_t)to_text;
	BEAM_MAKE_ARG(p, arg, MESSAGE_SEND_REMOTE, words, beam_term_size(ev->env, msg));
	if (p->argmask & BEAM_TOKEN_ARGS(MESSAGE_SEND_REMOTE))
		token_args(ev, opts, true, &arg[ARG(MESSAGE_SEND_REMOTE, label)]);
	en_fire(p, arg, strings, &ev->cur);
}

/* To a process that has ended, which the VM tells, or a name that nobody has. */
PROBE_PATH static __attribute__((noinline)) void send_undelivered(
	struct beam_event *ev, ERL_NIF_TERM msg, ERL_NIF_TERM to)
{
	struct en_probe *p = ev->b->probe[BP_MESSAGE_UNDELIVERED];
	uint64_t arg[3] = {0};

	if (!en_enabled(p))
		return;
	BEAM_MAKE_ARG(p, arg, MESSAGE_UNDELIVERED, sender, pid_arg(ev));
	BEAM_MAKE_ARG(p, arg, MESSAGE_UNDELIVERED, receiver, beam_str(beam_term_text(to)));
	BEAM_MAKE_ARG(p, arg, MESSAGE_UNDELIVERED, words, beam_term_size(ev->env, msg));
	en_fire(p, arg, STRINGS(MESSAGE_UNDELIVERED), &ev->cur);
}

/* To a name, an alias, a pid of another node, {Name, Node}. */
PROBE_PATH static __attribute__((noinline)) void send_slow(
	struct beam_event *ev, ERL_NIF_TERM msg, ERL_NIF_TERM to, ERL_NIF_TERM opts)
{
	const ERL_NIF_TERM *t;
	ERL_NIF_TERM node = 0;
	bool remote;
	char text[256];
	ErlNifPid pid;
	int n;

	if (enif_get_tuple(ev->env, to, &n, &t) && n == 2) {
		node = t[1];
		if (node == ev->b->node)
			to = t[0];
	}
	if (enif_is_atom(ev->env, to) && beam_is_nobody(ev->b, to)) {
		send_undelivered(ev, msg, to);
		return;
	}
	if (enif_is_atom(ev->env, to) || enif_get_local_pid(ev->env, to, &pid)) {
		send_any(ev, msg, to, NULL, false, opts);
		return;
	}
	if (enif_is_port(ev->env, to))
		return; /* that is sent no message, but a command */
	beam_print_name(ev, to, text, sizeof(text)); /* of any size: it may be a list */
	remote = node != 0 || beam_is_remote(text);
	send_any(ev, msg, to, text, remote, opts);
	if (remote)
		send_remote(ev, msg, text, node, opts);
}

/* What goes to another node is message-send too, as OTP has it. */
static void on_send(struct beam_event *ev, ERL_NIF_TERM msg, ERL_NIF_TERM opts)
{
	ERL_NIF_TERM to = beam_extra(ev->env, opts);

	if (unlikely(ev->argv[0] == atom_send_to_non_existing_process))
		send_undelivered(ev, msg, to);
	else if (likely((to & 15) == beam_vm.pid_tag))
		send_any(ev, msg, to, NULL, false, opts);
	else
		send_slow(ev, msg, to, opts);
}

static void on_receive(struct beam_event *ev, ERL_NIF_TERM msg, ERL_NIF_TERM opts)
{
	struct en_probe *p = ev->b->probe[BP_MESSAGE_QUEUED];
	struct beam_proc *proc;
	uint64_t arg[6] = {0};

	/* A receive that timed out is told as a message, timeout: it is none. */
	if (unlikely(msg == atom_timeout) && beam_timed_out(ev->env))
		return;
	if (beam_tracks(ev->b, TRACK_HIBERNATE) &&
		(proc = beam_proc_find(&ev->b->procs, ev->cur.key)) != NULL)
		atomic_store_explicit(&proc->hibernating, 0, memory_order_relaxed);
	if (unlikely(ev->b->timers != NULL))
		beam_timer_message(ev, msg, opts);
	if (!en_enabled(p))
		return;
	BEAM_MAKE_ARG(p, arg, MESSAGE_QUEUED, receiver, pid_arg(ev));
	BEAM_MAKE_ARG(p, arg, MESSAGE_QUEUED, words, beam_term_size(ev->env, msg));
	BEAM_MAKE_ARG(p, arg, MESSAGE_QUEUED, queued, beam_queue_len(ev->env));
	en_fire(p, arg, STRINGS(MESSAGE_QUEUED), &ev->cur);
}

/* ---- garbage collections --------------------------------------------------------------- */

/* A number of the list [{Key, Value}]; 0: not there. */
PROBE_PATH static uint64_t value_of(ErlNifEnv *env, ERL_NIF_TERM list, ERL_NIF_TERM key)
{
	const ERL_NIF_TERM *t;
	ERL_NIF_TERM head;
	ErlNifUInt64 v;
	int n;

	for (int i = 0; i < 32 && enif_get_list_cell(env, list, &head, &list); i++)
		if (enif_get_tuple(env, head, &n, &t) && n == 2 && t[0] == key)
			return enif_get_uint64(env, t[1], &v) ? v : 0;
	return 0;
}

static void heap_changed(struct beam_event *ev, uint64_t from, uint64_t to)
{
	struct en_probe *p =
		ev->b->probe[to > from ? BP_PROCESS_HEAP_GROW : BP_PROCESS_HEAP_SHRINK];
	uint64_t arg[3] = {
		[ARG(PROCESS_HEAP_GROW, before)] = from, [ARG(PROCESS_HEAP_GROW, after)] = to};

	if (from == 0 || from == to || !en_enabled(p))
		return;
	BEAM_MAKE_ARG(p, arg, PROCESS_HEAP_GROW, process, pid_arg(ev));
	en_fire(p, arg, STRINGS(PROCESS_HEAP_GROW), &ev->cur);
}
BEAM_SAME_ARG(PROCESS_HEAP_GROW, PROCESS_HEAP_SHRINK, process);
BEAM_SAME_ARG(PROCESS_HEAP_GROW, PROCESS_HEAP_SHRINK, after);

PROBE_PATH static void on_gc(struct beam_event *ev, enum beam_probe id, ERL_NIF_TERM info)
{
	struct en_probe *p = ev->b->probe[id];
	bool start = id == BP_GC_MINOR_START || id == BP_GC_MAJOR_START;
	uint64_t arg[2] = {0};

	if (beam_tracks(ev->b, TRACK_HEAPS) && ev->proc != NULL && start)
		ev->proc->heap_size = (uint32_t)value_of(ev->env, info, atom_heap_block_size);
	if (en_enabled(p)) {
		BEAM_MAKE_ARG(p, arg, GC_MINOR_START, process, pid_arg(ev));
		BEAM_MAKE_ARG(p, arg, GC_MINOR_START, words,
			value_of(ev->env, info, atom_wordsize));
		en_fire(p, arg, STRINGS(GC_MINOR_START), &ev->cur);
	}
	if (beam_tracks(ev->b, TRACK_HEAPS) && ev->proc != NULL && !start)
		heap_changed(ev, ev->proc->heap_size,
			value_of(ev->env, info, atom_heap_block_size));
}

/* ---- dispatch -------------------------------------------------------------------------- */

PROBE_PATH static __attribute__((noinline)) void rare(
	struct beam_event *ev, ERL_NIF_TERM tag, ERL_NIF_TERM term, ERL_NIF_TERM opts)
{
	if (tag == atom_spawned)
		on_spawned(ev, beam_extra(ev->env, opts));
	else if (tag == atom_exit)
		on_exit_(ev, term);
	else if (tag == atom_gc_minor_start)
		on_gc(ev, BP_GC_MINOR_START, term);
	else if (tag == atom_gc_minor_end)
		on_gc(ev, BP_GC_MINOR_END, term);
	else if (tag == atom_gc_major_start)
		on_gc(ev, BP_GC_MAJOR_START, term);
	else if (tag == atom_gc_major_end)
		on_gc(ev, BP_GC_MAJOR_END, term);
}

/*
 * Others may come when the process has left the VM's table (out_exited), or while it runs on a
 * dirty scheduler (links, registrations): they must not touch what is kept in its place.
 */
static inline bool is_rare(ERL_NIF_TERM tag)
{
	return tag == atom_spawned || tag == atom_exit || tag == atom_gc_minor_start ||
	       tag == atom_gc_minor_end || tag == atom_gc_major_start || tag == atom_gc_major_end;
}

/* Events in the process's own context: what is kept of it may be touched. */
static inline void begin(struct beam_event *ev)
{
	struct beam_handle *b = ev->b;

	ev->proc = NULL;
	if (b->procs.tab == NULL)
		return;
	ev->proc = beam_proc_get(&b->procs, ev->cur.key);
	if (beam_tracks(b, TRACK_VTIME) && ev->proc != NULL) {
		ev->began = en_now();
		if (ev->proc->in_at == 0)
			beam_vts_in(ev->proc, ev->began);
	}
}

static inline void end(struct beam_event *ev)
{
	if (ev->proc != NULL && beam_tracks(ev->b, TRACK_VTIME) && ev->proc->in_at != 0)
		beam_vts_end(ev->proc, ev->began);
}

static inline bool is_send(ERL_NIF_TERM tag)
{
	return tag == atom_send || tag == atom_send_to_non_existing_process;
}

/* One handle's. */
static inline void dispatch(struct beam_event *ev, struct beam_tstate *ts)
{
	const ERL_NIF_TERM *argv = ev->argv;
	ERL_NIF_TERM tag = argv[0];

	ev->cur.vtimestamp = ev->b->vtimestamp;
	if (is_send(tag)) { /* ports are not traced for what they send */
		begin(ev);
		on_send(ev, argv[3], argv[4]);
		end(ev);
	} else if (tag == atom_seq_trace) { /* its tracee is a label */
		beam_flow_event(ev);
	} else if (enif_is_port(ev->env, ev->cur.key)) {
		ev->proc = NULL;
		beam_port_event(ev, tag, argv[3], argv[4]);
	} else if (tag == atom_receive) {
		ev->proc = NULL;
		on_receive(ev, argv[3], argv[4]);
	} else if (tag == atom_in) {
		begin(ev);
		on_in(ev, argv[3]);
		end(ev);
	} else if (tag == atom_out) {
		begin(ev);
		on_out(ev, argv[3]);
	} else if (tag == atom_register || tag == atom_unregister) {
		beam_name_event(ev, tag, argv[3]);
	} else if (is_rare(tag)) {
		begin(ev);
		rare(ev, tag, argv[3], argv[4]);
		end(ev);
	} else if (tag == atom_return_from || tag == atom_exception_from) {
		beam_told_end(ev, ts);
	}
}

/*
 * An event of the process that the layout of stacks is found out with, whose words are asked for,
 * or that loses its token.
 *
 */
PROBE_PATH static __attribute__((noinline)) ERL_NIF_TERM trace_check(
	ErlNifEnv *env, const ERL_NIF_TERM argv[])
{
	if (argv[1] == atom_layout && (argv[0] == atom_call || argv[0] == atom_return_to)) {
		if (beam_layout_sample(env, argv[0] == atom_return_to))
			beam_ustack_check(env, argv[3], 3);
	} else if (argv[1] == atom_layout && argv[0] == atom_receive)
		beam_layout_message(env, argv[3] == atom_timeout);
	else if (argv[1] == atom_run_state && argv[0] == atom_out)
		beam_run_state_sample(env, argv[2]);
	else if (argv[1] == atom_top_words && argv[0] == atom_in)
		beam_top_words(env, argv[2]);
	else if (argv[1] == atom_flow_tokens && argv[0] == atom_in)
		beam_flow_no_token(env, argv[2]);
	return atom_ok;
}

/* Which handles an event is given to that the VM makes for all. */
static inline unsigned kinds_of(ERL_NIF_TERM tag)
{
	if (is_send(tag))
		return TRACED_SEND | TRACED_PORTS;
	if (tag == atom_receive)
		return TRACED_RECEIVE | TRACED_PORTS;
	if (tag == atom_in || tag == atom_out)
		return TRACED_RUNNING | TRACED_PORTS;
	return UINT8_MAX;
}

static inline bool asks(struct beam_event *ev)
{
	return beam_asks_for(ev->b, kinds_of(ev->argv[0]));
}

/* Whatever calls.c and sends.c do not do: all but calls and returns, and most messages sent. */
PROBE_PATH __attribute__((noinline, no_stack_protector)) ERL_NIF_TERM beam_trace_any(
	ErlNifEnv *env, const ERL_NIF_TERM argv[])
{
	struct beam_event ev;
	unsigned number;

	if (unlikely(!beam_number(env, argv[1], &number)))
		return trace_check(env, argv);
	ev.env = env;
	ev.argv = argv;
	ev.proc = NULL; /* until begin() finds it */
	ev.kept = NULL;
	ev.class = ev.reason = ev.starter = 0;
	ev.words = 0;
	ev.cur.key = argv[2];
	ev.cur.ustack = beam_ustack;
	ev.cur.ops = &beam_ops;
	beam_each_handle(&ev, number, asks, dispatch);
	return atom_ok;
}
