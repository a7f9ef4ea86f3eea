/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of the erlang provider: functions of the VM, whose arguments become those of OTP's own
 * probes (kernel/vm_probes.c has the table), and the USDT probes of the library in a node, which
 * pass on theirs. Part of entries.c.
 */

#include "engine/tables/dyn.h"
#include "engine/fire.h"
#include "engine/probe.h"
#include "engine/slot.h"
#include "vm_terms.h"

#define PROBE(ID, name, route, ...) PROBE_ENUM(ID, __VA_ARGS__)
#include "erlang_probes.def"

static inline bool is_immediate(uint64_t term)
{
	return (term & 3) == 3;
}

static inline bool is_pid(uint64_t term)
{
	return (term & 15) == 3;
}

static inline bool is_port(uint64_t term)
{
	return (term & 15) == 7;
}

/* ---- what is an event ----------------------------------------------------------------- */

enum { BUSY = 1 << 4, OUTPUTV = 0x30 }; /* of a port's flags; in a driver, before ready_async */

static inline bool is_busy(const struct k_erlang *k, uint64_t port)
{
	return user_word(port + k->flags) & BUSY;
}

/* Distribution is sent by a pointer to a function: other calls of that kind are not of a port. */
static inline bool is_output(const struct k_erlang *k, const struct user_regs *regs, bool vector)
{
	uint64_t drv;

	if (!is_port(user_word(regs->di)))
		return false;
	drv = user_word(regs->di + k->driver);
	return (user_word(drv + k->async - OUTPUTV) != 0) == vector;
}

static inline bool is_event(const struct k_erlang *k, const struct user_regs *regs)
{
	switch (k->kind) {
	case K_COPY_STRUCT:
	case K_COPY_OBJECT: return !is_immediate(regs->di);
	case K_EXIT_SIGNAL:
	case K_LINK_EXIT: return is_pid(regs->si);
	case K_PORT_BUSY: return (uint32_t)regs->si != 0 && !is_busy(k, regs->di);
	case K_PORT_NOT_BUSY: return (uint32_t)regs->si == 0 && is_busy(k, regs->di);
	case K_DIST_OUTPUT: return is_output(k, regs, false);
	case K_DIST_OUTPUTV: return is_output(k, regs, true);
	case K_DRIVER: return is_port(user_word(regs->di));
	default: return true;
	}
}

/* ---- arguments ------------------------------------------------------------------------ */

static inline uint64_t text_of(struct fire *f, unsigned n)
{
	return (uint64_t)(uintptr_t)f->thread->k.text[n & 3];
}

/* The n-th argument is a term's text, if it is read. */
static inline void term_arg(struct fire *f, unsigned n, uint64_t term)
{
	uint64_t to = text_of(f, n);

	f->arg[n] = to;
	if (f->probe->argmask >> n & 1)
		k_put_term(f, to, to + sizeof(f->thread->k.text[0]), term);
}

/* The same for memory of the VM: the name of a driver. */
static inline void string_arg(struct fire *f, unsigned n, uint64_t at)
{
	f->arg[n] = at;
}

/* A process that was killed has got "killed". */
static inline void reason_arg(struct fire *f, unsigned n, uint64_t term)
{
	uint32_t *w = (uint32_t *)(uintptr_t)text_of(f, n);

	term_arg(f, n, term);
	if ((f->probe->argmask >> n & 1) && w[0] == 0x6c6c696b && (w[1] & 0xff) == 0)
		w[1] = 0x6465;
}

enum {
	ERLNODE_NAME = 0x18,
	DIST_NAME = 0x70,
	CONTEXT_DIST = 0x70,
	PORT_CONNECTED = 0xe8,
	DIST_IN = 8
};

/* dist-output, dist-outputv, dist-port_not_busy */
static inline void dist_args(struct fire *f, const struct k_erlang *k, uint64_t port)
{
	uint64_t dist = user_word(user_word(port + k->dist) + DIST_IN);

	term_arg(f, ARG(DIST_OUTPUT, node), user_word(user_word(k->this_node) + ERLNODE_NAME));
	term_arg(f, ARG(DIST_OUTPUT, port), user_word(port));
	term_arg(f, ARG(DIST_OUTPUT, other), user_word(dist + DIST_NAME));
}

/* {flags, label, serial, sender, count} */
static inline void token_args(struct fire *f, uint64_t token)
{
	uint64_t at = token & ~7ULL;

	if ((token & 3) != 2)
		return;
	f->arg[ARG(MESSAGE_RECEIVE, label)] = (uint64_t)((int64_t)user_word(at + 16) >> 4);
	f->arg[ARG(MESSAGE_RECEIVE, previous)] = (uint64_t)((int64_t)user_word(at + 40) >> 4);
	f->arg[ARG(MESSAGE_RECEIVE, current)] = (uint64_t)((int64_t)user_word(at + 24) >> 4);
}

static inline void receive_args(struct fire *f, const struct k_erlang *k, uint64_t process)
{
	uint64_t message = k->save != 0 ? user_word(user_word(process + k->save)) : 0;

	const uint32_t token = ARG_BIT(MESSAGE_RECEIVE, label) |
			       ARG_BIT(MESSAGE_RECEIVE, previous) |
			       ARG_BIT(MESSAGE_RECEIVE, current);

	term_arg(f, ARG(MESSAGE_RECEIVE, receiver), user_word(process));
	if (k->queue_len != 0)
		f->arg[ARG(MESSAGE_RECEIVE, queued)] = user_word(process + k->queue_len);
	if (message != 0 && (f->probe->argmask & token))
		token_args(f, user_word(message + 24));
}

static inline void exit_signal_args(struct fire *f, uint64_t from, uint64_t to, uint64_t reason)
{
	term_arg(f, ARG(PROCESS_EXIT_SIGNAL, sender), from);
	term_arg(f, ARG(PROCESS_EXIT_SIGNAL, receiver), to);
	reason_arg(f, ARG(PROCESS_EXIT_SIGNAL, reason), reason);
}

static inline void remote_exit_args(struct fire *f, const struct user_regs *regs, uint64_t from)
{
	term_arg(f, ARG(PROCESS_EXIT_SIGNAL_REMOTE, sender), from);
	term_arg(f, ARG(PROCESS_EXIT_SIGNAL_REMOTE, node),
		user_word(user_word(regs->di + CONTEXT_DIST) + DIST_NAME));
	term_arg(f, ARG(PROCESS_EXIT_SIGNAL_REMOTE, receiver), regs->dx);
	reason_arg(f, ARG(PROCESS_EXIT_SIGNAL_REMOTE, reason), regs->cx);
}

/* In parts, or it is too much for the verifier at once. */
static inline void make_args(struct fire *f, const struct k_erlang *k, const struct user_regs *regs)
{
	switch (k->kind) {
	case K_MESSAGE_RECEIVE: receive_args(f, k, regs->di); break;
	case K_COPY_STRUCT:
		f->arg[ARG(COPY_STRUCT, words)] = (uint64_t)(int64_t)(int32_t)regs->si;
		break;
	case K_COPY_OBJECT:
		term_arg(f, ARG(COPY_OBJECT, process), user_word(regs->cx - k->offheap));
		f->arg[ARG(COPY_OBJECT, words)] = regs->si;
		break;
	case K_PORT_BUSY:
	case K_PORT_NOT_BUSY: term_arg(f, ARG(PORT_BUSY, port), user_word(regs->di)); break;
	case K_EXIT_SIGNAL:
		exit_signal_args(f, regs->si, regs->dx, regs->cx);
		break;
	case K_LINK_EXIT:
		exit_signal_args(f, regs->si, user_word(regs->dx + k->item), regs->cx);
		break;
	case K_REMOTE_EXIT: remote_exit_args(f, regs, regs->si); break;
	case K_REMOTE_LINK_EXIT: remote_exit_args(f, regs, user_word(regs->si)); break;
	case K_DIST_OUTPUT:
	case K_DIST_OUTPUTV:
		dist_args(f, k, regs->di);
		f->arg[ARG(DIST_OUTPUT, bytes)] = user_word(user_word(regs->si + 16) + 8);
		break;
	case K_DIST_NOT_BUSY: dist_args(f, k, regs->di); break;
	case K_DRIVER:
		term_arg(f, ARG(DRIVER_READY_ASYNC, process), user_word(regs->di + PORT_CONNECTED));
		term_arg(f, ARG(DRIVER_READY_ASYNC, port), user_word(regs->di));
		string_arg(f, ARG(DRIVER_READY_ASYNC, name), user_word(regs->di + k->driver - 8));
		break;
	}
}

uint64_t k_erlang(struct user_regs *regs)
{
	uint64_t cookie = bpf_get_attach_cookie(regs);
	const struct k_erlang *k;
	struct en_probe *p;
	struct fire *f;

	if (cookie >= k_root.nprobes)
		return 0;
	p = k_root.probe[cookie];
	k = &((const struct k_vm *)p->pvdata)->how;
	if (!is_event(k, regs))
		return 0;
	f = begin(&k_root, p);
	if (f == NULL)
		return 0;
	f->thread->k.vm = (uint64_t)(uintptr_t)k;
	for (unsigned i = 0; i < 7; i++)
		f->arg[i] = 0;
	make_args(f, k, regs);
	stacks_from(regs, f, BY_REGISTERS);
	run(f);
	return 0;
}

/* A process of the VM is no more (rdi), its process-exit has been: what was its self->. */
uint64_t k_process_gone(struct user_regs *regs)
{
	uint64_t term = user_word(regs->di);
	struct en_thread *t;

	if (!is_pid(term) || (t = take_slot(&k_root)) == NULL)
		return 0;
	k_free_self(t, process_key(term));
	slot_leave(t);
	return 0;
}

/* ---- the library's USDT probes -------------------------------------------------------- */

/*
 * rdi: its arguments, a word each; rsi: which probe, by a hash of its names; rdx: whose event it
 * is, a term; rcx: what it was asked for, a word or a text for each PBI_*.
 */
uint64_t k_erlang_usdt(struct user_regs *regs)
{
	uint64_t hash = regs->si, args[10] = {0}, i = hash & k_root.erlang_mask;
	struct en_probe *p;
	struct fire *f;

	if (k_root.erlang == NULL)
		return 0;
	for (unsigned n = 0; n < 64; n++, i = (i + 1) & k_root.erlang_mask) {
		p = k_root.erlang[i];
		if (p == NULL || p->hash == hash)
			break;
	}
	if (p == NULL || p->hash != hash)
		return 0;
	f = begin(&k_root, p);
	if (f == NULL)
		return 0;
	f->thread->k.answers = regs->cx;
	if (regs->dx != 0) {
		f->thread->k.process = is_pid(regs->dx) ? regs->dx : 0;
		f->self = f->thread->self_key = process_key(regs->dx);
	}
	bpf_probe_read_user(args, sizeof(args), (const void *)(uintptr_t)regs->di);
	for (unsigned n = 0; n < 10; n++)
		f->arg[n] = args[n];
	stacks_from(regs, f, BY_REGISTERS);
	run(f);
	return 0;
}
