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

#include "compiler.h"
#include "engine/clock.h"
#include "engine/current.h"
#include "engine/engine.h"
#include "engine/probe.h"
#include "engine/str.h"
#include "beam_handle.h"
#include "erl_builtins.h"
#include "erl_stack.h"
#include "pid_node.h"
#include "ports.h"
#include "shadow_stack.h"
#include "sizes.h"
#include "term_print.h"
#include "texts.h"
#include "tracer.h"
#include "user.h"
#include "vtime.h"

static __attribute__((noinline)) ERL_NIF_TERM enabled_far(ErlNifEnv *env, ERL_NIF_TERM state)
{
	unsigned number;
	bool gone;

	if (!beam_number(env, state, &number))
		return state == atom_layout ? atom_trace : atom_remove;
	if (beam_live(number, &gone))
		return atom_trace;
	return gone ? atom_remove : atom_discard;
}

ERL_NIF_TERM beam_enabled(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	(void)argc;
	return likely(beam_fires(argv[1])) ? atom_trace : enabled_far(env, argv[1]);
}

/* The running time of the event's process when the event began, without what its probes took. */
uint64_t beam_vtimestamp(const struct en_current *cur)
{
	const struct beam_event *ev = (const struct beam_event *)(const void *)cur;
	struct beam_proc *p = ev->proc;

	if (p == NULL)
		return 0;
	return p->in_at != 0 ? beam_vts_now(p, ev->began) : p->last;
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

ERL_NIF_TERM beam_extra(ErlNifEnv *env, ERL_NIF_TERM opts)
{
	ERL_NIF_TERM v;

	if (likely(beam_extra_near(opts, &v)))
		return v;
	return enif_get_map_value(env, opts, atom_extra, &v) ? v : atom_undefined;
}

/* "lists:seq/2" of {M, F, Arguments or Arity}; NULL: it is none. */
static const struct et_str *mfa_text(ErlNifEnv *env, ERL_NIF_TERM mfa)
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

static uint64_t mfa_arg(ErlNifEnv *env, ERL_NIF_TERM mfa, unsigned *strings)
{
	const struct et_str *s = mfa_text(env, mfa);

	if (s == NULL)
		return (uint64_t)(uintptr_t)"";
	*strings |= 2;
	return beam_str(s);
}

static void on_pid_mfa(struct beam_event *ev, enum beam_probe id, ERL_NIF_TERM mfa)
{
	struct en_probe *p = ev->b->probe[id];
	unsigned strings = 1;
	uint64_t arg[2];

	if (!en_enabled(p))
		return;
	if (p->argmask & 1)
		arg[0] = pid_arg(ev);
	if (p->argmask & 2)
		arg[1] = mfa_arg(ev->env, mfa, &strings);
	en_fire(p, arg, strings, &ev->cur);
}

/* ---- calls ----------------------------------------------------------------------------- */

static void fire_fn(struct beam_event *ev, struct en_probe *const *p, unsigned n,
	const struct beam_fn *fn, unsigned depth, bool tail)
{
	uint64_t arg[4];

	arg[1] = beam_str(fn->mfa);
	arg[2] = depth;
	arg[3] = tail;
	for (unsigned i = 0; i < n; i++) {
		if (p[i]->argmask & 1)
			arg[0] = pid_arg(ev);
		en_fire(p[i], arg, 3, &ev->cur);
	}
}

/* {M, F, Arguments}, if a script needs those of some function; or no function of ours. */
static __attribute__((noinline)) struct beam_fn *called_far(
	struct beam_event *ev, ERL_NIF_TERM mfa, const ERL_NIF_TERM **tuple)
{
	const ERL_NIF_TERM *t;
	struct beam_fn *fn;
	unsigned arity;
	int n;

	if (!enif_get_tuple(ev->env, mfa, &n, &t) || n != 3)
		return NULL;
	*tuple = t;
	fn = beam_function_find(&ev->b->fns, t[0], t[1], t[2]);
	if (fn != NULL || !enif_get_list_length(ev->env, t[2], &arity))
		return fn;
	return beam_function_find(&ev->b->fns, t[0], t[1], enif_make_uint(ev->env, arity));
}

/* {M, F, Arity}: a tuple, and not asked for its elements. */
static inline struct beam_fn *called(
	struct beam_event *ev, ERL_NIF_TERM mfa, const ERL_NIF_TERM **tuple)
{
	const ERL_NIF_TERM *t = (const ERL_NIF_TERM *)(uintptr_t)(mfa & ~(ERL_NIF_TERM)7);
	struct beam_fn *fn;

	if (likely((mfa & 7) == beam_tuple3.tag && t[0] == beam_tuple3.header)) {
		fn = beam_function_find(&ev->b->fns, t[1], t[2], t[3]);
		if (likely(fn != NULL)) {
			*tuple = t + 1;
			return fn;
		}
	}
	return called_far(ev, mfa, tuple);
}

/* A call of dyntrace's functions, or erl_ddll's: what OTP's own provider would have fired. */
static __attribute__((noinline)) void user_call(struct beam_event *ev,
	const struct beam_fn *fn, ERL_NIF_TERM list)
{
	ERL_NIF_TERM args[10];
	unsigned n = 0;

	while (n < 10 && enif_get_list_cell(ev->env, list, &args[n], &list))
		n++;
	if (n != fn->arity)
		return;
	if (fn->user > 1 + USER_N)
		beam_driver_call(ev, fn->user == 1 + USER_LOAD, args);
	else
		beam_user_fire(
			ev->b, ev->env, ev->cur.key, (enum beam_user)(fn->user - 1), args, n);
}

/* proc_lib:hibernate(M, F, Args): noted for when it goes out. */
static __attribute__((noinline)) void note_hibernate(struct beam_event *ev, ERL_NIF_TERM list)
{
	ERL_NIF_TERM m, f, args;

	if (ev->proc == NULL || !enif_get_list_cell(ev->env, list, &m, &list) ||
		!enif_get_list_cell(ev->env, list, &f, &list) ||
		!enif_get_list_cell(ev->env, list, &args, &list) || !enif_is_atom(ev->env, m) ||
		!enif_is_atom(ev->env, f) ||
		!enif_get_list_length(ev->env, args, &ev->proc->hib_arity))
		return;
	ev->proc->hib_mod = m;
	ev->proc->hib_fun = f;
}

static inline unsigned enter(struct beam_event *ev, const struct beam_fn *fn, bool *tail)
{
	struct beam_procs *t = &ev->b->procs;
	unsigned level, slot = ev->b->number % BEAM_HANDLES;
	bool in_chain;

	*tail = false;
	if (unlikely(ev->proc == NULL))
		return 0;
	switch (atomic_load_explicit(&beam_layout, memory_order_relaxed)) {
	case LAYOUT_KNOWN:
		return beam_stack_enter(t, ev->proc, fn, (unsigned)beam_stack_level(ev->env),
			ev->env, ev->b->marked, tail);
	case LAYOUT_SEVERAL:
		level = (unsigned)beam_chain_level(ev->env, slot, &in_chain);
		if (ev->b->marked && !in_chain)
			beam_stack_cut_chains(t, ev->proc, level, beam_stack_end(ev->env), slot);
		return beam_stack_enter(t, ev->proc, fn, level, ev->env, false, tail);
	default: return beam_is_local(fn) ? beam_names_enter(t, ev->proc, fn) : 0;
	}
}

/* Before OTP 27 the calls that other handles trace come here too, and their returns will. */
static __attribute__((noinline)) void others_call(struct beam_event *ev)
{
	if (ev->proc != NULL && ev->b->returns &&
		atomic_load_explicit(&beam_layout, memory_order_relaxed) == LAYOUT_KNOWN)
		beam_stack_cut(&ev->b->procs, ev->proc, (unsigned)beam_stack_level(ev->env));
}

static void on_call(struct beam_event *ev, ERL_NIF_TERM mfa)
{
	const ERL_NIF_TERM *t;
	struct beam_fn *fn = called(ev, mfa, &t);
	unsigned depth = 0;
	bool tail = false;

	if (fn == NULL) {
		others_call(ev);
		return;
	}
	if (ev->b->stacks)
		depth = enter(ev, fn, &tail);
	if (fn->user != 0)
		user_call(ev, fn, t[2]);
	if (fn->hibernate)
		note_hibernate(ev, t[2]);
	fire_fn(ev, fn->entry, beam_nprobes(&fn->nentry), fn, depth, tail);
}

/* The function that ended, or NULL; its depth. */
static const struct beam_fn *ended(struct beam_event *ev, ERL_NIF_TERM mfa, unsigned *depth)
{
	struct beam_procs *procs = &ev->b->procs;
	int layout = atomic_load_explicit(&beam_layout, memory_order_relaxed);
	const ERL_NIF_TERM *t;
	int level;

	if (layout != LAYOUT_KNOWN && layout != LAYOUT_SEVERAL)
		return beam_names_return(procs, ev->proc, called(ev, mfa, &t), depth);
	if (beam_raised(ev->env)) {
		beam_stack_raised(procs, ev->proc, (unsigned)beam_stack_level(ev->env));
		return NULL;
	}
	level = layout == LAYOUT_KNOWN ? beam_return_level(ev->env)
				       : beam_chain_return_level(ev->env);
	return beam_stack_return(procs, ev->proc, (unsigned)level, depth);
}

static void on_return_to(struct beam_event *ev, ERL_NIF_TERM mfa)
{
	const struct beam_fn *fn;
	unsigned depth = 0;

	if (ev->proc == NULL || !ev->b->returns)
		return;
	fn = ended(ev, mfa, &depth);
	if (fn != NULL)
		fire_fn(ev, fn->ret, beam_nprobes(&fn->nret), fn, depth, false);
}

/* By return_trace, where a script reads what is returned: every function tells of its own end. */
static void on_return_from(struct beam_event *ev, ERL_NIF_TERM mfa)
{
	struct beam_handle *b = ev->b;
	const ERL_NIF_TERM *t;
	struct beam_fn *fn = called(ev, mfa, &t);
	unsigned depth = 0;

	if (fn == NULL || beam_nprobes(&fn->nval) == 0)
		return;
	if ((b->returns || b->depth) && ev->proc != NULL)
		depth = beam_stack_leave(&b->procs, ev->proc, fn);
	fire_fn(ev, fn->val, beam_nprobes(&fn->nval), fn, depth, false);
}

/* ---- processes ------------------------------------------------------------------------- */

static __attribute__((noinline)) void on_exit_(struct beam_event *ev, ERL_NIF_TERM reason)
{
	struct beam_handle *b = ev->b;
	struct en_probe *p = b->probe[BP_PROCESS_EXIT];
	char text[256];
	uint64_t arg[2];
	bool cached = false;

	if (en_enabled(p)) {
		if (p->argmask & 1)
			arg[0] = pid_arg(ev);
		if (p->argmask & 2)
			arg[1] = term_arg(ev->env, text, sizeof(text), reason, &cached);
		en_fire(p, arg, cached ? 3 : 1, &ev->cur);
	}
	if (b->self)
		en_self_free(b->en, ev->cur.key);
	if (b->procs.tab != NULL)
		beam_proc_exit(&b->procs, ev->cur.key);
	ev->proc = NULL;
}

static void on_in(struct beam_event *ev, ERL_NIF_TERM mfa)
{
	if (ev->proc != NULL && ev->b->vts)
		beam_vts_in(ev->proc, ev->began);
	on_pid_mfa(ev, BP_PROCESS_SCHEDULED, mfa);
}

static void on_hibernate(struct beam_event *ev, ERL_NIF_TERM mfa)
{
	struct en_probe *p = ev->b->probe[BP_PROCESS_HIBERNATE];
	struct beam_proc *proc = ev->proc;
	const ERL_NIF_TERM *t;
	uint64_t arg[2];
	int n;

	if (!enif_get_tuple(ev->env, mfa, &n, &t) || n != 3 || t[0] != atom_erlang ||
		t[1] != atom_hibernate ||
		atomic_exchange_explicit(&proc->hibernating, 1, memory_order_relaxed))
		return;
	arg[0] = pid_arg(ev);
	arg[1] = beam_str(proc->hib_mod != 0
				  ? beam_mfa_text(proc->hib_mod, proc->hib_fun, proc->hib_arity)
				  : beam_mfa_text(t[0], t[1], 3));
	en_fire(p, arg, 3, &ev->cur);
	proc->hib_mod = 0;
}

static void on_out(struct beam_event *ev, ERL_NIF_TERM mfa)
{
	struct beam_proc *p = ev->proc;

	if (ev->b->hibernate && p != NULL)
		on_hibernate(ev, mfa);

	on_pid_mfa(ev, BP_PROCESS_UNSCHEDULED, mfa);
	if (p != NULL && ev->b->vts) {
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
static void token_args(struct beam_event *ev, ERL_NIF_TERM opts, bool counted, uint64_t *arg)
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
static void send_any(struct beam_event *ev, ERL_NIF_TERM msg, ERL_NIF_TERM to,
	const char *to_text, bool remote, ERL_NIF_TERM opts)
{
	struct en_probe *p = ev->b->probe[BP_MESSAGE_SEND];
	uint64_t arg[6] = {0};

	if (!en_enabled(p))
		return;
	if (p->argmask & 1)
		arg[0] = pid_arg(ev);
	if (p->argmask & 2)
		arg[1] = to_text == NULL ? beam_str(beam_term_text(to))
					 : (uint64_t)(uintptr_t)to_text;
	if (p->argmask & 4)
		arg[2] = beam_term_size(ev->env, msg);
	if (unlikely(p->argmask & 0x38))
		token_args(ev, opts, remote, arg + 3);
	en_fire(p, arg, to_text == NULL ? 3 : 1, &ev->cur);
}

static void send_remote(struct beam_event *ev, ERL_NIF_TERM msg, const char *to_text,
	ERL_NIF_TERM node, ERL_NIF_TERM opts)
{
	struct en_probe *p = ev->b->probe[BP_MESSAGE_SEND_REMOTE];
	uint64_t arg[7] = {0, (uint64_t)(uintptr_t)""};
	unsigned strings = 1;

	if (!en_enabled(p))
		return;
	if (p->argmask & 1)
		arg[0] = pid_arg(ev);
	node = node != 0 ? node : beam_node_atom(to_text);
	if ((p->argmask & 2) && node != 0) {
		arg[1] = beam_str(beam_term_text(node));
		strings |= 2;
	}
	arg[2] = (uint64_t)(uintptr_t)to_text;
	if (p->argmask & 8)
		arg[3] = beam_term_size(ev->env, msg);
	if (p->argmask & 0x70)
		token_args(ev, opts, true, arg + 4);
	en_fire(p, arg, strings, &ev->cur);
}

/* To a name, an alias, a pid of another node, {Name, Node}. */
static __attribute__((noinline)) void send_far(
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
	if (enif_is_atom(ev->env, to) || enif_get_local_pid(ev->env, to, &pid)) {
		send_any(ev, msg, to, NULL, false, opts);
		return;
	}
	if (enif_is_port(ev->env, to))
		return; /* that is sent no message, but a command */
	if (node != 0)
		beam_print(ev->env, to, false, text, sizeof(text)); /* {Name, Node} */
	else
		enif_snprintf(text, sizeof(text), "%T", to);
	remote = node != 0 || beam_is_remote(text);
	send_any(ev, msg, to, text, remote, opts);
	if (remote)
		send_remote(ev, msg, text, node, opts);
}

/* What goes to another node is message-send too, as OTP has it. */
static void on_send(struct beam_event *ev, ERL_NIF_TERM msg, ERL_NIF_TERM opts)
{
	ERL_NIF_TERM to = beam_extra(ev->env, opts);

	if (likely((to & 15) == beam_pid_tag))
		send_any(ev, msg, to, NULL, false, opts);
	else
		send_far(ev, msg, to, opts);
}

static void on_receive(struct beam_event *ev, ERL_NIF_TERM msg)
{
	struct en_probe *p = ev->b->probe[BP_MESSAGE_QUEUED];
	struct beam_proc *proc;
	uint64_t arg[6] = {0};

	/* A receive that timed out is told as a message, timeout: it is none. */
	if (unlikely(msg == atom_timeout) && beam_timed_out(ev->env))
		return;
	if (ev->b->hibernate && (proc = beam_proc_find(&ev->b->procs, ev->cur.key)) != NULL)
		atomic_store_explicit(&proc->hibernating, 0, memory_order_relaxed);
	if (!en_enabled(p))
		return;
	if (p->argmask & 1)
		arg[0] = pid_arg(ev);
	if (p->argmask & 2)
		arg[1] = beam_term_size(ev->env, msg);
	if (p->argmask & 4)
		arg[2] = beam_queue_len(ev->env);
	en_fire(p, arg, 1, &ev->cur);
}

/* ---- garbage collections --------------------------------------------------------------- */

/* A number of the list [{Key, Value}]; 0: not there. */
static uint64_t value_of(ErlNifEnv *env, ERL_NIF_TERM list, ERL_NIF_TERM key)
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
	uint64_t arg[3] = {0, from, to};

	if (from == 0 || from == to || !en_enabled(p))
		return;
	if (p->argmask & 1)
		arg[0] = pid_arg(ev);
	en_fire(p, arg, 1, &ev->cur);
}

static void on_gc(struct beam_event *ev, enum beam_probe id, ERL_NIF_TERM info)
{
	struct en_probe *p = ev->b->probe[id];
	bool start = id == BP_GC_MINOR_START || id == BP_GC_MAJOR_START;
	uint64_t arg[2] = {0};

	if (ev->b->heaps && ev->proc != NULL && start)
		ev->proc->heap_size = (uint32_t)value_of(ev->env, info, atom_heap_block_size);
	if (en_enabled(p)) {
		if (p->argmask & 1)
			arg[0] = pid_arg(ev);
		if (p->argmask & 2)
			arg[1] = value_of(ev->env, info, atom_wordsize);
		en_fire(p, arg, 1, &ev->cur);
	}
	if (ev->b->heaps && ev->proc != NULL && !start)
		heap_changed(ev, ev->proc->heap_size,
			value_of(ev->env, info, atom_heap_block_size));
}

/* ---- dispatch -------------------------------------------------------------------------- */

static __attribute__((noinline)) void rare(
	struct beam_event *ev, ERL_NIF_TERM tag, ERL_NIF_TERM term, ERL_NIF_TERM opts)
{
	if (tag == atom_spawned)
		on_pid_mfa(ev, BP_PROCESS_SPAWN, beam_extra(ev->env, opts));
	else if (tag == atom_exit)
		on_exit_(ev, term);
	else if (tag == atom_return_from)
		on_return_from(ev, term);
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
	return tag == atom_return_from || tag == atom_spawned || tag == atom_exit ||
	       tag == atom_gc_minor_start ||
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
	if (b->vts && ev->proc != NULL) {
		ev->began = en_now();
		if (ev->proc->in_at == 0)
			beam_vts_in(ev->proc, ev->began);
	}
}

static inline void end(struct beam_event *ev)
{
	if (ev->proc != NULL && ev->b->vts && ev->proc->in_at != 0)
		beam_vts_end(ev->proc, ev->began);
}

static inline void dispatch(struct beam_event *ev, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM tag = argv[0];

	if (tag == atom_send) { /* ports are not traced for what they send */
		begin(ev);
		on_send(ev, argv[3], argv[4]);
		end(ev);
	} else if (tag == atom_call || tag == atom_return_to) {
		begin(ev);
		if (tag == atom_call)
			on_call(ev, argv[3]);
		else
			on_return_to(ev, argv[3]);
		end(ev);
	} else if (enif_is_port(ev->env, ev->cur.key)) {
		ev->proc = NULL;
		beam_port_event(ev, tag, argv[3], argv[4]);
	} else if (tag == atom_receive) {
		ev->proc = NULL;
		on_receive(ev, argv[3]);
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
	}
}

static __attribute__((noinline)) ERL_NIF_TERM trace_far(ErlNifEnv *env, const ERL_NIF_TERM argv[])
{
	if (argv[1] == atom_layout && (argv[0] == atom_call || argv[0] == atom_return_to))
		beam_layout_sample(env, argv[0] == atom_return_to, argv[3]);
	else if (argv[1] == atom_layout && argv[0] == atom_receive)
		beam_layout_message(env, argv[3] == atom_timeout);
	return atom_ok;
}

/* Whatever calls.c has not done: all other events, and calls and returns that are not simple. */
__attribute__((noinline, no_stack_protector)) ERL_NIF_TERM beam_trace_any(
	ErlNifEnv *env, const ERL_NIF_TERM argv[])
{
	struct beam_event ev;
	unsigned number;
	uint64_t in;

	if (unlikely(!beam_number(env, argv[1], &number)))
		return trace_far(env, argv);
	ev.env = env;
	ev.cur.key = argv[2];
	ev.cur.ustack = beam_ustack;
	ev.cur.ops = &beam_ops;
	ev.argv = argv;
	in = number == BEAM_ALL ? atomic_load_explicit(&beam_running, memory_order_relaxed)
				: 1ULL << number % BEAM_HANDLES;
	for (; in != 0; in &= in - 1) {
		unsigned slot = (unsigned)__builtin_ctzll(in);
		struct beam_handle *b = beam_enter_slot(slot);

		if (likely(b != NULL && atomic_load_explicit(&b->live, memory_order_acquire) &&
			   (number == BEAM_ALL || b->number == number))) {
			struct beam_seat *seat = &beam_self->seats[slot];

			beam_cost_begin(seat);
			ev.b = b;
			ev.cur.vtimestamp = b->vtimestamp;
			dispatch(&ev, argv);
			beam_cost_end(b, seat, argv[0]);
		}
		beam_leave();
	}
	return atom_ok;
}
