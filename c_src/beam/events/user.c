/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes that Erlang code fires itself (probe path): dtrace:p, dtrace:pn by our own NIF, and
 * dyntrace:p, pn of code already written by a call trace of what they call. Arguments: up to four
 * integers, up to four texts; an atom in the place of one says that there is none.
 */
#include <string.h>

#include "beam/builtins/erl_builtins.h"
#include "beam/builtins/event_stack.h"
#include "beam/handle/beam_handle.h"
#include "beam/handle/handles.h"
#include "beam/nif.h"
#include "beam/term/texts.h"
#include "compiler.h"
#include "engine/probe.h"
#include "user.h"

#define MOST_TEXT 1024 /* bytes of a text that are kept */

_Atomic unsigned beam_nuser;

bool beam_user_enabled(const struct beam_handle *b)
{
	if (en_enabled(b->probe[BP_USER_TRACE_S1]) || en_enabled(b->probe[BP_USER_TRACE_I4S4]))
		return true;
	for (unsigned i = 0; b->user != NULL && i < BP_NUSER; i++)
		if (b->user[i] != NULL && en_enabled(b->user[i]))
			return true;
	return false;
}

/*
 * Append an iolist's bytes; false: it is none. Bounded: what is beyond the room is left out, and
 * what comes after a great many elements that hold nothing.
 */
static bool add_binary(ErlNifEnv *env, ERL_NIF_TERM t, char *buf, size_t *len)
{
	ErlNifBinary bin;
	size_t n;

	if (!enif_inspect_binary(env, t, &bin))
		return false;
	n = bin.size < MOST_TEXT - 1 - *len ? bin.size : MOST_TEXT - 1 - *len;
	memcpy(buf + *len, bin.data, n);
	*len += n;
	return true;
}

PROBE_PATH static bool add_iolist(
	ErlNifEnv *env, ERL_NIF_TERM t, char *buf, size_t *len, unsigned *steps, int deep)
{
	ERL_NIF_TERM head;
	unsigned c;

	while (enif_get_list_cell(env, t, &head, &t)) {
		if (*len >= MOST_TEXT - 1 || (*steps)++ >= 4 * MOST_TEXT)
			return true;
		if (enif_get_uint(env, head, &c) && c < 256)
			buf[(*len)++] = (char)c;
		else if (deep == 0 || !add_iolist(env, head, buf, len, steps, deep - 1))
			return false;
	}
	return enif_is_empty_list(env, t) || add_binary(env, t, buf, len); /* or its tail */
}

/* A text argument; "" for an atom. false: it is no text. */
PROBE_PATH static bool get_text(ErlNifEnv *env, ERL_NIF_TERM t, char *buf)
{
	size_t len = 0;
	unsigned steps = 0;
	bool ok = enif_is_atom(env, t) || add_iolist(env, t, buf, &len, &steps, 16);

	buf[len] = '\0';
	return ok;
}

static bool get_int(ErlNifEnv *env, ERL_NIF_TERM t, uint64_t *v)
{
	ErlNifSInt64 i;

	*v = 0;
	if (enif_is_atom(env, t))
		return true;
	if (!enif_get_int64(env, t, &i))
		return enif_is_number(env, t); /* too large: 0, as OTP's */
	*v = (uint64_t)i;
	return true;
}

static struct en_probe *probe_of(struct beam_handle *b, ErlNifEnv *env, enum beam_user kind,
	const ERL_NIF_TERM *args, bool *bad)
{
	unsigned label;

	switch (kind) {
	case USER_S1: return b->probe[BP_USER_TRACE_S1];
	case USER_I4S4: return b->probe[BP_USER_TRACE_I4S4];
	default:
		if (!enif_get_uint(env, args[0], &label) || label >= BP_NUSER) {
			*bad = true;
			return NULL;
		}
		return b->user != NULL ? b->user[label] : NULL;
	}
}

PROBE_PATH ERL_NIF_TERM beam_user_fire(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM pid,
	enum beam_user kind, const ERL_NIF_TERM *args, unsigned n)
{
	struct beam_event ev = {.b = b, .env = env,
		.cur = {.key = pid, .vtimestamp = b->vtimestamp, .ops = &beam_ops,
			.ustack = beam_ustack}};
	char texts[5][MOST_TEXT];
	uint64_t arg[10];
	bool bad = false;
	struct en_probe *p = probe_of(b, env, kind, args, &bad);

	if (bad)
		return atom_badarg;
	if (p == NULL || !en_enabled(p))
		return atom_false;
	ev.proc = b->procs.tab != NULL ? beam_proc_find(&b->procs, pid) : NULL;
	if (ev.proc != NULL && beam_tracks(b, TRACK_VTIME))
		ev.began = en_now();
	if (kind == USER_S1) {
		if (!get_text(env, args[0], texts[0]))
			return atom_badarg;
		arg[ARG(USER_TRACE_S1, text)] = (uint64_t)(uintptr_t)texts[0];
		en_fire(p, arg, 0, &ev.cur);
		return atom_true;
	}
	if (kind == USER_N)
		args++, n--;
	if (n != 9)
		return atom_badarg;
	arg[ARG(USER_TRACE_I4S4, process)] = beam_str(beam_term_text(pid));
	for (unsigned i = 0; i < 4; i++)
		bad |= !get_int(env, args[1 + i], &arg[ARG(USER_TRACE_I4S4, i1) + i]);
	for (unsigned i = 0; i < 5 && !bad; i++) {
		bad |= !get_text(env, args[i == 4 ? 0 : 5 + i], texts[i]);
		arg[i == 4 ? ARG(USER_TRACE_I4S4, tag) : ARG(USER_TRACE_I4S4, s1) + i] =
			(uint64_t)(uintptr_t)texts[i];
	}
	if (bad)
		return atom_badarg;
	en_fire(p, arg, ARG_BIT(USER_TRACE_I4S4, process), &ev.cur);
	return atom_true;
}

/* user_enabled() -> boolean(): is any user probe of any handle enabled? */
PROBE_PATH ERL_NIF_TERM nif_user_enabled(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	(void)env, (void)argc, (void)argv;
	return atomic_load_explicit(&beam_nuser, memory_order_relaxed) > 0 ? atom_true : atom_false;
}

/* user_trace(Args): [Msg], [Tag, I1..4, S1..4] or [Label, Tag, I1..4, S1..4] */
PROBE_PATH ERL_NIF_TERM nif_user_trace(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM args[10], list = argv[0], result = atom_false, pid;
	enum beam_user kind;
	ErlNifPid self;
	unsigned n = 0;

	(void)argc;
	while (n < 10 && enif_get_list_cell(env, list, &args[n], &list))
		n++;
	if ((n != 1 && n != 9 && n != 10) || enif_self(env, &self) == NULL)
		return atom_badarg;
	kind = n == 1 ? USER_S1 : n == 9 ? USER_I4S4 : USER_N;
	pid = enif_make_pid(env, &self);
	for (unsigned i = 0; i < BEAM_HANDLES; i++) {
		struct beam_handle *b = beam_enter_slot(i);
		ERL_NIF_TERM r = atom_false;

		/* what a handle has, procs and the rest, is there when it is live, not before */
		if (b != NULL && atomic_load_explicit(&b->live, memory_order_acquire)) {
			struct beam_tstate *s = &beam_self->tstates[i];

			beam_cost_begin(s);
			r = beam_user_fire(b, env, pid, kind, args, n);
			beam_cost_end(b, s, NULL); /* no event of the VM: a call */
		}
		beam_leave();
		if (r != atom_false)
			result = r;
	}
	return result;
}
