/* SPDX-License-Identifier: Apache-2.0 */
/*
 * THE PROBE PATH of messages sent: the fast path, as that of calls (calls.c). It is for what nearly
 * all of them are: one handle, nothing that is kept of processes, a receiver in this node, a probe
 * with one clause that reads no more of the message than who sends it to whom. All else jumps to
 * the slow path, and starts in tracer.c from the beginning.
 *
 */
#include "beam/atoms.h"
#include "beam/erl_probes.h"
#include "beam/handle/beam_handle.h"
#include "beam/handle/watchdog.h"
#include "beam/term/texts.h"
#include "beam/vm/vm_event.h"
#include "beam/vm/vm_facts.h"
#include "beam/vm/vm_threads.h"
#include "compiler.h"
#include "engine/fire_path.h"
#include "engine/probe.h"
#include "engine/str.h"
#include "event_path.h"
#include "tracer.h"

PROBE_PATH static __attribute__((noinline)) ERL_NIF_TERM send_slow(
	ErlNifEnv *env, const ERL_NIF_TERM argv[])
{
	struct beam_thread *t = beam_self;
	struct beam_handle *b;
	uint64_t index;

	beam_thread_enter(t);
	b = beam_event_handle(argv[1], &index);
	if (b != NULL && t->tstates[index].number != b->number)
		beam_attach(t, &t->tstates[index], b);
	beam_thread_leave(t);
	return beam_trace_any(env, argv);
}

/* A message to a process of this node, of which at most the two pids are read. */
PROBE_PATH __attribute__((noinline, no_stack_protector)) ERL_NIF_TERM beam_trace_send(
	ErlNifEnv *env, const ERL_NIF_TERM argv[])
{
	struct beam_thread *t = beam_self;
	const struct et_str *from = NULL, *to = NULL;
	const struct en_ecb *ecb;
	struct beam_handle *b;
	struct beam_tstate *ts;
	struct en_thread *slot;
	struct en_probe *p;
	ERL_NIF_TERM dest;
	uint64_t index;
	struct fire *f;

	if (unlikely(t == NULL))
		return beam_trace_any(env, argv);
	beam_thread_enter(t);
	b = beam_event_handle(argv[1], &index);
	ts = &t->tstates[index];
	if (unlikely(b == NULL || ts->number != b->number || b->procs.tab != NULL ||
		     !beam_extra_fast(argv[4], &dest) || (dest & 15) != beam_vm.pid_tag))
		goto slow;
	p = b->probe[BP_MESSAGE_SEND];
	slot = ts->slot;
	if (unlikely(p == NULL || (p->argmask & ~STRINGS(MESSAGE_SEND)) != 0 ||
		     (ecb = fire_only(p, slot)) == NULL))
		goto slow;
	if ((p->argmask & ARG_BIT(MESSAGE_SEND, sender)) &&
		unlikely((from = beam_text_cached(t, argv[2])) == NULL))
		goto slow;
	if ((p->argmask & ARG_BIT(MESSAGE_SEND, receiver)) &&
		unlikely((to = beam_text_cached(t, dest)) == NULL))
		goto slow;
	if (unlikely(!beam_cost_untimed(ts)))
		goto slow;
	f = beam_event_fill(
		slot, &ts->ev, &ecb->id, ecb->clause, p, STRINGS(MESSAGE_SEND), env, argv);
	if (from != NULL)
		f->arg[ARG(MESSAGE_SEND, sender)] = beam_str(from);
	if (to != NULL)
		f->arg[ARG(MESSAGE_SEND, receiver)] = beam_str(to);
	beam_event_go(slot, ecb->entry);
	beam_thread_leave(t);
	return atom_ok;
slow:
	beam_thread_leave(t);
	return send_slow(env, argv);
}
