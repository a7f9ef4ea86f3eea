/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider state: probes that fire once for each thing of a kind that there is in the node,
 * such as process-5s for each process every five seconds, and round-5s when such a round is over.
 * key fires when a key is pressed where the script runs in a terminal. state.def lists the kinds
 * and their members. A process of ours (src/erltrace_state.erl) goes over the things, asks the VM
 * for the members that clauses read, and has the probes fired here: a row is a tuple of the process
 * that the firing is about and these members.
 *
 * If all clauses have predicates that can be computed alone (d/gate.c), the rows first have what
 * these read, and only things for which one is true are asked for the rest: nif_gate().
 *
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/in_node.h"
#include "beam/handle/beam_handle.h"
#include "beam/handle/handles.h"
#include "beam/nif.h"
#include "beam/term/term_print.h"
#include "beam/term/texts.h"
#include "beam/vm/vm_event.h"
#include "beam/vm/vm_threads.h"
#include "engine/engine.h"
#include "engine/probe.h"
#include "engine/seen.h"
#include "engine/state.h"
#include "period.h"
#include "prog/builtins.h"
#include "prog/prog.h"
#include "prog/state_has.h"
#include "things.h"

#define LEAST	100000000ULL /* ns: the shortest period */
#define MEMBERS 64
#define MOST_TIME   300000ULL /* ns that a call fires for; then the scheduler is for others */
#define ROUND_ARGS  7
#define ROWS_A_LOOK 8	      /* rows between two looks at the clock */

static const char *const kinds[STATE_COUNT_] = {
#define KIND(ID, name) name,
#define NUMBER(...)
#define TEXT(...)
#include "state.def"
	"round", "key"};

static const char *const types[STATE_COUNT_] = {
#define KIND(ID, name) "state_" name "_t *",
#define NUMBER(...)
#define TEXT(...)
#include "state.def"
	"int64_t", "int64_t"};

static const struct {
	enum state_kind kind;
	const char *name;
} members[] = {
#define KIND(ID, name)
#define NUMBER(ID, member, meaning) {STATE_##ID, #member},
#define TEXT(ID, member, meaning) {STATE_##ID, #member},
#include "state.def"
};

/* For -lv. */
static const char *const notes[STATE_COUNT_] = {
	[STATE_ROUND] = "a round is over: its number, how many things it has seen, 1 if these are "
			"all or 0, "
			"1 if with these all have been seen or 0; how many processes were asked, "
			"of how many, and how many of them did not answer",
	[STATE_KEY] = "a key is pressed where the script has a terminal: its byte, and the "
		      "terminal's rows and "
		      "columns; a byte of 0: there is a terminal, or it has another size"
#define KIND(ID, name) , [STATE_##ID] = "members of args[0]:"
#define NUMBER(ID, member, meaning) " " #member
#define TEXT(ID, member, meaning) " " #member
#include "state.def"
};

struct layout {
	uint8_t at[MEMBERS];  /* of a member: its position in rows; 0: not there */
	uint8_t size;	      /* of a row */
	uint8_t name, called; /* positions of what erlname and erlproc are; or 0 */
};

struct state_probe {
	struct en_probe *probe;
	enum state_kind kind;
	uint64_t period; /* ns; 0: one round, at the start */
	struct layout rows;
	struct layout gates; /* of rows that only predicates read */
};

/* ---- names ---------------------------------------------------------------------------- */

/* "process-5s" or "process"; false: it is no such name. */
static bool parse(const char *name, enum state_kind *kind, uint64_t *period)
{
	for (unsigned i = 0; i < STATE_COUNT_; i++) {
		size_t len = strlen(kinds[i]);

		if (strncmp(name, kinds[i], len) != 0)
			continue;
		*kind = i;
		*period = name[len] == '-' ? et_period(name + len + 1) : 0;
		return name[len] == '\0' || (*period != 0 && i != STATE_KEY);
	}
	return false;
}

static struct beam_handle *handle_of(const struct en *en)
{
	return ((const struct beam_event *)(const void *)en->host)->b;
}

static int add(
	struct en *en, const char *name, enum state_kind kind, uint64_t period, struct et_error *e)
{
	static const char *const thing[] = {"uintptr_t"};
	static const char *const numbers[ROUND_ARGS] = {"int64_t", "int64_t", "int64_t", "int64_t",
		"int64_t", "int64_t", "int64_t"};
	struct beam_handle *b = handle_of(en);
	struct state_probe *s;
	struct en_probe *p;

	if (en_probe_find(en, "state", "", "", name) != NULL)
		return 0;
	s = realloc(b->states, (b->nstates + 1) * sizeof(*s));
	if (s != NULL)
		b->states = s;
	p = s != NULL ? en_probe_add(en, &beam_state_provider, NULL, "state", "", "", name) : NULL;
	if (p == NULL)
		return et_err(e, ET_NOMEM, "out of memory for probe %s", name);
	b->states[b->nstates++] = (struct state_probe){.probe = p, .kind = kind, .period = period};
	p->has = prog_state_pbis(kind);
	p->nargs = kind == STATE_ROUND ? ROUND_ARGS : kind == STATE_KEY ? 3 : 1;
	p->argtypes = kind >= STATE_ROUND ? numbers : thing;
	p->xargtypes = kind >= STATE_ROUND ? NULL : &types[kind];
	p->note = notes[kind];
	return 0;
}

static int init(struct en *en, void **data, struct et_error *e)
{
	*data = NULL;
	for (unsigned i = 0; i < STATE_COUNT_; i++)
		if (add(en, kinds[i], i, 0, e) < 0)
			return -1;
	return 0;
}

static int provide(struct en *en, void *data, const struct d_pdesc *d, struct et_error *e)
{
	enum state_kind kind;
	uint64_t period;

	(void)data;
	if (d->id != 0 || !en_glob(d->prov, "state") || *d->mod != '\0' || *d->func != '\0' ||
		!parse(d->name, &kind, &period) || period < LEAST)
		return 0;
	return add(en, d->name, kind, period, e);
}

static const char *why_none(const struct d_pdesc *d)
{
	enum state_kind kind;
	uint64_t period;

	if (d->name == NULL || strcmp(d->prov, "state") != 0)
		return NULL;
	if (!parse(d->name, &kind, &period))
		return "it has process, wait, table, port, socket, scheduler, memory, node and "
		       "round, each "
		       "with a rate, as in process-5s, or without: once; and key";
	return period != 0 && period < LEAST
		       ? "it would fire too often: the shortest interval is 100 milliseconds"
		       : NULL;
}

static int enable(struct en *en, void *data, struct en_probe *p, struct et_error *e)
{
	(void)en, (void)data;
	if (!p->uses.stack && !p->uses.ustack)
		return 0;
	return et_err(e, ET_SAMPLES, "%s has no stack: profile-wall-N samples those of processes",
		p->name->text);
}

const struct provider beam_state_provider = {
	.name = "state",
	.init = init,
	.provide = provide,
	.why_none = why_none,
	.enable = enable,
};

void things_free(struct beam_handle *b)
{
	free(b->states);
	b->states = NULL;
	b->nstates = 0;
}

/* ---- what is asked for ---------------------------------------------------------------- */

bool things_enabled(const struct beam_handle *b)
{
	for (unsigned i = 0; i < b->nstates; i++)
		if (en_enabled(b->states[i].probe))
			return true;
	return false;
}

bool things_only(const struct prog_clause *c)
{
	for (const struct d_pdesc *d = c->descs; d != NULL; d = d->next)
		if (d->id != 0 || strcmp(d->prov, "state") != 0)
			return false;
	return true;
}

/* Index of a member in its kind, or -1. */
static int member_index(enum state_kind kind, const char *name)
{
	int n = 0;

	for (unsigned i = 0; i < sizeof(members) / sizeof(*members); i++)
		if (members[i].kind == kind) {
			if (strcmp(members[i].name, name) == 0)
				return n;
			n++;
		}
	return -1;
}

static const char *called_member(enum state_kind kind)
{
	return kind <= STATE_WAIT ? "name" : "owner";
}

/* What clauses read of it: members by name, and those that stand for erlname and erlproc. */
static uint64_t asked(const struct state_probe *s, const struct prog_uses *u)
{
	uint64_t all = u->members;

	if (u->pbis >> PBI_ERLNAME & 1)
		all |= 1ULL << member_index(s->kind, "registered");
	if (u->pbis >> PBI_ERLPROC & 1)
		all |= 1ULL << member_index(s->kind, called_member(s->kind));
	return all;
}

/* What their predicates read; false: not all clauses have one that can be computed alone. */
static bool asked_first(const struct state_probe *s, uint64_t *all)
{
	const struct en_ecblist *l = atomic_load_explicit(&s->probe->ecbs, memory_order_acquire);

	*all = 0;
	for (unsigned i = 0; l != NULL && i < l->n; i++) {
		if (!l->ecb[i].clause->has_gate)
			return false;
		*all |= asked(s, &l->ecb[i].clause->gate);
	}
	return true;
}

/* Lay out rows; the members as atoms, in that order. */
static ERL_NIF_TERM lay_out(
	const struct state_probe *s, struct layout *l, uint64_t all, ErlNifEnv *env)
{
	ERL_NIF_TERM names[MEMBERS];
	unsigned index = 0, n = 0;

	memset(l, 0, sizeof(*l));
	for (unsigned i = 0; i < sizeof(members) / sizeof(*members); i++) {
		if (members[i].kind != s->kind)
			continue;
		if (all >> index & 1) {
			names[n] = enif_make_atom(env, members[i].name);
			l->at[index] = (uint8_t)++n;
		}
		index++;
	}
	l->size = (uint8_t)(n + 1);
	l->name = s->kind == STATE_PROCESS ? l->at[member_index(s->kind, "registered")] : 0;
	l->called =
		s->kind <= STATE_SOCKET ? l->at[member_index(s->kind, called_member(s->kind))] : 0;
	return enif_make_list_from_array(env, names, n);
}

static ERL_NIF_TERM need(struct state_probe *s, unsigned number, ErlNifEnv *env)
{
	ERL_NIF_TERM rows = lay_out(s, &s->rows, asked(s, &s->probe->uses), env);
	uint64_t first;
	ERL_NIF_TERM gates = asked_first(s, &first) ? lay_out(s, &s->gates, first, env)
						    : enif_make_atom(env, "none");

	return enif_make_tuple6(env, enif_make_atom(env, "state"), enif_make_uint(env, number),
		enif_make_atom(env, kinds[s->kind]), enif_make_uint64(env, s->period), rows, gates);
}

ERL_NIF_TERM things_needs(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM tail)
{
	for (unsigned i = 0; i < b->nstates; i++)
		if (en_enabled(b->states[i].probe))
			tail = enif_make_list_cell(env, need(&b->states[i], i, env), tail);
	return tail;
}

/* ---- firing (probe path) ---------------------------------------------------------------- */

/* A row, as the current task of a firing. */
struct thing {
	struct en_current cur; /* its key is the process */
	struct beam_handle *b;
	const struct state_probe *probe;
	const struct layout *layout;
	ErlNifEnv *env;
	const ERL_NIF_TERM *row;
	bool *is_true; /* only predicates are computed: one was true. NULL: all is done */
};

static const struct thing *thing_of(const struct en_current *cur)
{
	return (const struct thing *)(const void *)cur;
}

static uint64_t answer_num(
	const struct en_current *cur, unsigned pbi, uint64_t n, const struct fire *f)
{
	const struct thing *t = thing_of(cur);
	unsigned at = pbi == PBI_STATE_NUMBER && n < MEMBERS ? t->layout->at[n] : 0;
	ErlNifSInt64 v;

	(void)f;
	if (n == PBI_GATE && t->is_true != NULL)
		return *t->is_true = true;
	return at != 0 && enif_get_int64(t->env, t->row[at], &v) ? (uint64_t)v : 0;
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
static void cut_command(const struct thing *t, uint64_t member, char *buf)
{
	size_t n;

	if (t->probe->kind != STATE_PORT || api_option(t->b->h, OPT_PAYLOAD) != 0 ||
		(int)member != member_index(STATE_PORT, "name") || buf[0] == '\0')
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
	const struct thing *t = thing_of(cur);
	const struct et_str *text;
	unsigned at = 0;

	switch (pbi) {
	case PBI_ERLPID: return beam_term_text(t->cur.key);
	case PBI_ERLNODE: return t->b->node_text;
	case PBI_ERLNAME: at = t->layout->name; break;
	case PBI_ERLPROC: at = t->layout->called; break;
	case PBI_STATE_TEXT: at = n < MEMBERS ? t->layout->at[n] : 0; break;
	default: break;
	}
	if (at == 0)
		return NULL;
	text = text_of(t->env, t->row[at], buf, size);
	if (text == NULL && pbi == PBI_STATE_TEXT)
		cut_command(t, n, buf);
	return text;
}

/* Of a table, a port or a socket its owner; other things are nobody's. */
static bool process_of(const struct en_current *cur, struct rec_process *p)
{
	const struct thing *t = thing_of(cur);
	bool has = t->probe->kind <= STATE_SOCKET;
	unsigned at = has ? t->layout->name : 0;

	*p = (struct rec_process){.id = cur->key};
	if (at != 0 && enif_is_atom(t->env, t->row[at]))
		p->name = t->row[at];
	return has;
}

static const struct en_current_ops ops = {
	.num = answer_num, .str = answer_str, .process = process_of};

/*
 * Rows are tuples of the probe's size, their first element a local pid; of a round or a key, any.
 */
static void fire(struct thing *t, ERL_NIF_TERM row)
{
	uint64_t arg[10] = {0};
	ErlNifSInt64 v;
	int n;

	if (!enif_get_tuple(t->env, row, &n, &t->row) || n < 1 || !enif_is_pid(t->env, t->row[0]))
		return;
	if (t->probe->kind >= STATE_ROUND)
		for (int i = 1; i < n && i <= ROUND_ARGS; i++)
			arg[i - 1] = enif_get_int64(t->env, t->row[i], &v) ? (uint64_t)v : 0;
	else if (n != t->layout->size)
		return;
	t->cur.key = t->row[0];
	en_fire_apart(t->probe->probe, arg, &t->cur);
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
	atomic_fetch_sub(&b->around, (int64_t)ns);
}

/* Fires for rows until its time is over; the list of those that are left. */
static ERL_NIF_TERM fire_some(struct thing *t, ERL_NIF_TERM rows)
{
	struct en *en = t->probe->probe->en;
	uint64_t from = en_own_begin(en), end = monotonic() + MOST_TIME;
	ERL_NIF_TERM head;

	for (unsigned n = 1; enif_get_list_cell(t->env, rows, &head, &rows); n++) {
		fire(t, head);
		if (n % ROWS_A_LOOK == 0 && monotonic() >= end)
			break;
	}
	took_within(t->b, en_own_end(en, from));
	return rows;
}

/* The handle and probe that the first two arguments of a call are; false: it does not run. */
static bool enter(struct thing *t, const ERL_NIF_TERM argv[])
{
	unsigned number, probe;
	struct beam_handle *b;

	if (!enif_get_uint(t->env, argv[0], &number) || !enif_get_uint(t->env, argv[1], &probe))
		return false;
	b = beam_enter_live(number);
	if (b == NULL || probe >= b->nstates || en_exited(b->en, NULL)) {
		beam_leave();
		return false;
	}
	t->b = b;
	t->probe = &b->states[probe];
	t->layout = &t->probe->rows;
	return true;
}

/*
 * state(Number of a handle, Probe, [Row]) -> boolean() | [Row]: does it run? Or those that there
 * was no time for.
 *
 */
ERL_NIF_TERM nif_state(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct thing t = {.cur = {.ops = &ops}, .env = env};
	ERL_NIF_TERM rest;

	(void)argc;
	if (!enter(&t, argv))
		return atom_false;
	rest = fire_some(&t, argv[2]);
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
	struct thing t = {.cur = {.ops = &ops}, .env = env, .is_true = &is_true};
	ERL_NIF_TERM head, tail = argv[2], list = enif_make_list(env, 0);
	struct en *en;
	uint64_t from;

	(void)argc;
	if (!enter(&t, argv))
		return atom_false;
	t.layout = &t.probe->gates;
	en = t.probe->probe->en;
	from = en_own_begin(en);
	while (enif_get_list_cell(env, tail, &head, &tail)) {
		is_true = false;
		fire(&t, head);
		if (!is_true)
			continue;
		en_uncount(en);
		list = enif_make_list_cell(env, t.row[0], list);
	}
	took_within(t.b, en_own_end(en, from));
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
