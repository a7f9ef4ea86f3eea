/* SPDX-License-Identifier: Apache-2.0 */
/*
 * THE PROBE PATH inside the node: the VM calls these on the scheduler that runs the traced
 * process. An event is matched to its probe, the arguments that scripts read are built, the probe
 * fires. Nothing here locks, allocates, sends or calls the system.
 */
#include <string.h>

#include "beam.h"

/* Which handle: a number that the VM hands back. */
static struct beam_handle *handle_of(ErlNifEnv *env, ERL_NIF_TERM state)
{
	unsigned number;

	return enif_get_uint(env, state, &number) ? beam_enter(number) : NULL;
}

ERL_NIF_TERM beam_enabled(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct beam_handle *b = handle_of(env, argv[1]);
	bool live = b != NULL && atomic_load_explicit(&b->live, memory_order_relaxed);

	(void)argc;
	beam_leave();
	if (b == NULL)
		return atom_remove;
	return live ? atom_trace : atom_discard;
}

static void fire(struct en_probe *p, ERL_NIF_TERM pid, const uint64_t *arg, unsigned strings)
{
	struct en_who who = {.key = pid, .tid = pid};

	en_fire(p, arg, strings, &who);
}

static uint64_t text_arg(const struct et_str *s)
{
	return (uint64_t)(uintptr_t)s->text;
}

/* A term as text in a buffer of the caller's. */
static uint64_t term_arg(char *buf, size_t size, ERL_NIF_TERM term)
{
	enif_snprintf(buf, size, "%T", term);
	return (uint64_t)(uintptr_t)buf;
}

/* ---- calls ----------------------------------------------------------------------------- */

static void on_call(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM pid, ERL_NIF_TERM mfa)
{
	const ERL_NIF_TERM *t;
	uint64_t arg[10];
	struct beam_fn *fn;
	unsigned arity;
	int n;

	if (!enif_get_tuple(env, mfa, &n, &t) || n != 3 || !enif_get_uint(env, t[2], &arity))
		return;
	fn = beam_function_find(&b->fns, t[0], t[1], arity);
	if (fn == NULL)
		return;
	for (unsigned i = 0; i < BP_COUNT_ - BP_FUNCTION_ENTRY; i++) {
		struct en_probe *p = fn->probe[i];

		if (p == NULL || !en_enabled(p))
			continue;
		if (p->argmask & 1)
			arg[0] = text_arg(beam_pid_text(env, pid));
		arg[1] = text_arg(fn->mfa);
		arg[2] = 0;
		fire(p, pid, arg, 3);
	}
}

/* ---- processes and messages ------------------------------------------------------------ */

static ERL_NIF_TERM extra_of(ErlNifEnv *env, ERL_NIF_TERM opts)
{
	ERL_NIF_TERM v;

	return enif_get_map_value(env, opts, atom_extra, &v) ? v : atom_undefined;
}

/* "lists:seq/2" of {M, F, Args or Arity}. */
static void mfa_text(ErlNifEnv *env, ERL_NIF_TERM mfa, char *buf, size_t size)
{
	const ERL_NIF_TERM *t;
	unsigned arity = 0;
	int n;

	buf[0] = '\0';
	if (!enif_get_tuple(env, mfa, &n, &t) || n != 3)
		return;
	if (!enif_get_uint(env, t[2], &arity))
		enif_get_list_length(env, t[2], &arity);
	enif_snprintf(buf, size, "%T:%T/%u", t[0], t[1], arity);
}

static void on_spawn(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM pid, ERL_NIF_TERM mfa)
{
	struct en_probe *p = b->probe[BP_PROCESS_SPAWN];
	char text[512];
	uint64_t arg[10];

	if (!en_enabled(p))
		return;
	if (p->argmask & 1)
		arg[0] = text_arg(beam_pid_text(env, pid));
	if (p->argmask & 2)
		mfa_text(env, mfa, text, sizeof(text));
	arg[1] = (uint64_t)(uintptr_t)text;
	fire(p, pid, arg, 1);
}

static void on_exit_(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM pid, ERL_NIF_TERM reason)
{
	struct en_probe *p = b->probe[BP_PROCESS_EXIT];
	char text[256];
	uint64_t arg[10];

	if (en_enabled(p)) {
		if (p->argmask & 1)
			arg[0] = text_arg(beam_pid_text(env, pid));
		if (p->argmask & 2)
			arg[1] = term_arg(text, sizeof(text), reason);
		fire(p, pid, arg, 1);
	}
	en_self_free(b->h->en, pid);
}

static void on_send(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM pid, ERL_NIF_TERM opts)
{
	struct en_probe *p = b->probe[BP_MESSAGE_SEND];
	ERL_NIF_TERM to = extra_of(env, opts);
	char text[256];
	unsigned strings = 1;
	uint64_t arg[10] = {0};

	if (!en_enabled(p))
		return;
	if (p->argmask & 1)
		arg[0] = text_arg(beam_pid_text(env, pid));
	if (p->argmask & 2) {
		if (enif_is_pid(env, to)) {
			arg[1] = text_arg(beam_pid_text(env, to));
			strings |= 2;
		} else {
			arg[1] = term_arg(text, sizeof(text), to);
		}
	}
	fire(p, pid, arg, strings);
}

static void on_schedule(struct beam_handle *b, ErlNifEnv *env, enum beam_probe id,
	ERL_NIF_TERM pid, ERL_NIF_TERM mfa)
{
	struct en_probe *p = b->probe[id];
	char text[512];
	uint64_t arg[10];

	if (!en_enabled(p))
		return;
	if (p->argmask & 1)
		arg[0] = text_arg(beam_pid_text(env, pid));
	if (p->argmask & 2)
		mfa_text(env, mfa, text, sizeof(text));
	arg[1] = (uint64_t)(uintptr_t)text;
	fire(p, pid, arg, 1);
}

static void on_gc(struct beam_handle *b, ErlNifEnv *env, enum beam_probe id, ERL_NIF_TERM pid)
{
	struct en_probe *p = b->probe[id];
	uint64_t arg[10] = {0};

	if (!en_enabled(p))
		return;
	if (p->argmask & 1)
		arg[0] = text_arg(beam_pid_text(env, pid));
	fire(p, pid, arg, 1);
}

static void on_receive(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM pid)
{
	struct en_probe *p = b->probe[BP_MESSAGE_QUEUED];
	uint64_t arg[10] = {0};

	if (!en_enabled(p))
		return;
	if (p->argmask & 1)
		arg[0] = text_arg(beam_pid_text(env, pid));
	fire(p, pid, arg, 1);
}

/* trace(Tag, State, Tracee, Term, Opts) */
ERL_NIF_TERM beam_trace(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM tag = argv[0], pid = argv[2], term = argv[3];
	struct beam_handle *b = handle_of(env, argv[1]);

	(void)argc;
	if (b == NULL || !atomic_load_explicit(&b->live, memory_order_acquire))
		;
	else if (tag == atom_call)
		on_call(b, env, pid, term);
	else if (tag == atom_send || tag == atom_send_to_non_existing_process)
		on_send(b, env, pid, argv[4]);
	else if (tag == atom_receive)
		on_receive(b, env, pid);
	else if (tag == atom_in)
		on_schedule(b, env, BP_PROCESS_SCHEDULED, pid, term);
	else if (tag == atom_out)
		on_schedule(b, env, BP_PROCESS_UNSCHEDULED, pid, term);
	else if (tag == atom_spawned)
		on_spawn(b, env, pid, extra_of(env, argv[4]));
	else if (tag == atom_exit)
		on_exit_(b, env, pid, term);
	else if (tag == atom_gc_minor_start)
		on_gc(b, env, BP_GC_MINOR_START, pid);
	else if (tag == atom_gc_minor_end)
		on_gc(b, env, BP_GC_MINOR_END, pid);
	else if (tag == atom_gc_major_start)
		on_gc(b, env, BP_GC_MAJOR_START, pid);
	else if (tag == atom_gc_major_end)
		on_gc(b, env, BP_GC_MAJOR_END, pid);
	beam_leave();
	return atom_ok;
}
