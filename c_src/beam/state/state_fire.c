/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Firing the probes of the provider state (probe path): erltrace_state.erl hands over rows, in
 * the layout that state_provider.c has made, and each is the current task of a firing.
 */
#include <string.h>
#include <time.h>

#include "api/in_node.h"
#include "beam/handle/beam_handle.h"
#include "beam/handle/handles.h"
#include "beam/nif.h"
#include "beam/term/term_print.h"
#include "beam/term/texts.h"
#include "beam/vm/vm_threads.h"
#include "engine/engine.h"
#include "engine/probe.h"
#include "engine/seen.h"
#include "engine/state.h"
#include "prog/builtins.h"
#include "state_provider.h"

#define MOST_TIME   300000ULL /* ns that a call fires for; then the scheduler is for others */
#define ROWS_A_LOOK 8	      /* rows between two looks at the clock */

/* A row, as the current task of a firing. */
struct object {
	struct en_current cur; /* its key is the process */
	struct beam_handle *b;
	const struct state_probe *probe;
	const struct state_row *layout;
	ErlNifEnv *env;
	const ERL_NIF_TERM *row;
	bool *is_true; /* only predicates are computed: one was true. NULL: all is done */
};

static const struct object *object_of(const struct en_current *cur)
{
	return (const struct object *)(const void *)cur;
}

static uint64_t answer_num(
	const struct en_current *cur, unsigned pbi, uint64_t n, const struct fire *f)
{
	const struct object *o = object_of(cur);
	unsigned at = pbi == PBI_STATE_NUMBER && n < STATE_MEMBERS ? o->layout->at[n] : 0;
	ErlNifSInt64 v;

	(void)f;
	if (n == PBI_GATE && o->is_true != NULL)
		return *o->is_true = true;
	return at != 0 && enif_get_int64(o->env, o->row[at], &v) ? (uint64_t)v : 0;
}

/* {Module, Function, Arity} */
static bool is_mfa(ErlNifEnv *env, ERL_NIF_TERM term, const ERL_NIF_TERM **t, unsigned *arity)
{
	int n;

	return enif_get_tuple(env, term, &n, t) && n == 3 && enif_is_atom(env, (*t)[0]) &&
	       enif_is_atom(env, (*t)[1]) && enif_get_uint(env, (*t)[2], arity);
}

/*
 * Atoms, pids, ports and references as Erlang writes them, a function as module:function/arity, a
 * binary as it is; {label, Term} is the text of any term.
 *
 */
static const struct et_str *text_of(ErlNifEnv *env, ERL_NIF_TERM term, char *buf, size_t size)
{
	const ERL_NIF_TERM *t;
	ErlNifBinary bin;
	unsigned arity;
	int n;

	if (is_mfa(env, term, &t, &arity))
		return beam_mfa_text(t[0], t[1], arity);
	if (enif_inspect_binary(env, term, &bin)) {
		size_t len = bin.size < size ? bin.size : size - 1;

		memcpy(buf, bin.data, len);
		buf[len] = '\0';
	} else if (enif_get_tuple(env, term, &n, &t) && n == 2) {
		beam_print(env, t[1], false, buf, size);
	} else {
		return beam_term_text(term);
	}
	return NULL;
}

/* Of a command: the characters at its beginning that can only be of the program's name. */
static size_t program_len(const char *command)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789/._+-@:,%";
	size_t n = 0;

	do
		n += strspn(command + n, plain);
	while ((unsigned char)command[n] >= 0x80 && command[++n] != '\0');
	return n;
}

/*
 * What a port is called is the command that it runs, in the language of a shell: with
 * payload=off the program, without its arguments. `?` is one that begins with a quote, or with
 * a variable that is set.
 */
static void cut_command(const struct object *o, uint64_t member, char *buf)
{
	size_t n;

	if (o->probe->kind != STATE_PORT || api_option(o->b->h, OPT_PAYLOAD) != 0 ||
		(int)member != state_member_index(STATE_PORT, "name") || buf[0] == '\0')
		return;
	n = program_len(buf);
	if (n == 0 || buf[n] == '=') {
		buf[0] = '?';
		n = 1;
	}
	buf[n] = '\0';
}

static const struct et_str *answer_str(
	const struct en_current *cur, unsigned pbi, uint64_t n, char *buf, size_t size)
{
	const struct object *o = object_of(cur);
	const struct et_str *text;
	unsigned at = 0;

	switch (pbi) {
	case PBI_ERLPID: return beam_term_text(o->cur.key);
	case PBI_ERLNODE: return o->b->node_text;
	case PBI_ERLNAME: at = o->layout->name; break;
	case PBI_ERLPROC: at = o->layout->called; break;
	case PBI_STATE_TEXT: at = n < STATE_MEMBERS ? o->layout->at[n] : 0; break;
	default: break;
	}
	if (at == 0)
		return NULL;
	text = text_of(o->env, o->row[at], buf, size);
	if (text == NULL && pbi == PBI_STATE_TEXT)
		cut_command(o, n, buf);
	return text;
}

/* Of a table, a port or a socket its owner; other objects are nobody's. */
static bool process_of(const struct en_current *cur, struct rec_process *p)
{
	const struct object *o = object_of(cur);
	bool has = o->probe->kind <= STATE_SOCKET;
	unsigned at = has ? o->layout->name : 0;

	*p = (struct rec_process){.id = cur->key};
	if (at != 0 && enif_is_atom(o->env, o->row[at]))
		p->name = o->row[at];
	return has;
}

static const struct en_current_ops ops = {
	.num = answer_num, .str = answer_str, .process = process_of};

/*
 * Rows are tuples of the probe's size, their first element a local pid; of a round or a key, any.
 */
static void fire(struct object *o, ERL_NIF_TERM row)
{
	uint64_t arg[10] = {0};
	ErlNifSInt64 v;
	int n;

	if (!enif_get_tuple(o->env, row, &n, &o->row) || n < 1 || !enif_is_pid(o->env, o->row[0]))
		return;
	if (o->probe->kind >= STATE_ROUND)
		for (int i = 1; i < n && i <= STATE_ROUND_ARGS; i++)
			arg[i - 1] = enif_get_int64(o->env, o->row[i], &v) ? (uint64_t)v : 0;
	else if (n != o->layout->size)
		return;
	o->cur.key = o->row[0];
	en_fire_apart(o->probe->probe, arg, &o->cur);
}

static uint64_t monotonic(void)
{
	struct timespec ts = {0};

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* The walker reports what a slice took with its firings, which are counted by themselves. */
static void took_within(struct beam_handle *b, uint64_t ns)
{
	atomic_fetch_sub(&b->cost.around, (int64_t)ns);
}

/* Fires for rows until its time is over; the list of those that are left. */
static ERL_NIF_TERM fire_some(struct object *o, ERL_NIF_TERM rows)
{
	struct en *en = o->probe->probe->en;
	uint64_t from = en_own_begin(en), end = monotonic() + MOST_TIME;
	ERL_NIF_TERM head;

	for (unsigned n = 1; enif_get_list_cell(o->env, rows, &head, &rows); n++) {
		fire(o, head);
		if (n % ROWS_A_LOOK == 0 && monotonic() >= end)
			break;
	}
	took_within(o->b, en_own_end(en, from));
	return rows;
}

/* The handle and probe that the first two arguments of a call are; false: it does not run. */
static bool enter(struct object *o, const ERL_NIF_TERM argv[])
{
	unsigned number, probe;
	struct beam_handle *b;

	if (!enif_get_uint(o->env, argv[0], &number) || !enif_get_uint(o->env, argv[1], &probe))
		return false;
	b = beam_enter_live(number);
	if (b == NULL || probe >= b->states->n || en_exited(b->en, NULL)) {
		beam_leave();
		return false;
	}
	o->b = b;
	o->probe = &b->states->v[probe];
	o->layout = &o->probe->row;
	return true;
}

/*
 * state(Number of a handle, Probe, [Row]) -> boolean() | [Row]: does it run? Or those that there
 * was no time for.
 *
 */
ERL_NIF_TERM nif_state(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct object o = {.cur = {.ops = &ops}, .env = env};
	ERL_NIF_TERM rest;

	(void)argc;
	if (!enter(&o, argv))
		return atom_false;
	rest = fire_some(&o, argv[2]);
	beam_leave();
	return enif_is_empty_list(env, rest) ? atom_true : rest;
}

/*
 * gate(Number of a handle, Probe, [Row]) -> [pid()] | false: rows of what predicates read; the
 * processes for which one is true.
 *
 */
ERL_NIF_TERM nif_gate(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	bool is_true;
	struct object o = {.cur = {.ops = &ops}, .env = env, .is_true = &is_true};
	ERL_NIF_TERM head, tail = argv[2], list = enif_make_list(env, 0);
	struct en *en;
	uint64_t from;

	(void)argc;
	if (!enter(&o, argv))
		return atom_false;
	o.layout = &o.probe->gate;
	en = o.probe->probe->en;
	from = en_own_begin(en);
	while (enif_get_list_cell(env, tail, &head, &tail)) {
		is_true = false;
		fire(&o, head);
		if (!is_true)
			continue;
		en_uncount(en);
		list = enif_make_list_cell(env, o.row[0], list);
	}
	took_within(o.b, en_own_end(en, from));
	beam_leave();
	return list;
}

/*
 * looked(Number of a handle, {Rounds, Whole, Things, Now, There}): how far the walker has come, for
 * the end of a script that has nothing to show (struct en_looks).
 */
ERL_NIF_TERM nif_looked(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	const ERL_NIF_TERM *at;
	struct en_looks looks;
	struct beam_handle *b;
	unsigned number;
	int n;

	(void)argc;
	if (!enif_get_uint(env, argv[0], &number) || !enif_get_tuple(env, argv[1], &n, &at) ||
		n != 5 || !enif_get_uint64(env, at[0], &looks.rounds) ||
		!enif_get_uint64(env, at[1], &looks.whole) ||
		!enif_get_uint64(env, at[2], &looks.things) ||
		!enif_get_uint64(env, at[3], &looks.now) ||
		!enif_get_uint64(env, at[4], &looks.there))
		return enif_make_badarg(env);
	b = beam_enter_slot(number % BEAM_HANDLES); /* also if the last row has called exit() */
	if (b != NULL && b->number == number)
		en_looked(b->en, &looks);
	beam_leave();
	return atom_ok;
}

static ERL_NIF_TERM cpu_time(ErlNifEnv *env, clockid_t clock)
{
	struct timespec ts = {0};

	clock_gettime(clock, &ts);
	return enif_make_uint64(
		env, (ErlNifUInt64)ts.tv_sec * 1000000000 + (ErlNifUInt64)ts.tv_nsec);
}

/* thread_time() -> nanoseconds of CPU time of this thread */
ERL_NIF_TERM nif_thread_time(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	(void)argc, (void)argv;
	return cpu_time(env, CLOCK_THREAD_CPUTIME_ID);
}

/* node_time() -> of all threads of the node */
ERL_NIF_TERM nif_node_time(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	(void)argc, (void)argv;
	return cpu_time(env, CLOCK_PROCESS_CPUTIME_ID);
}
