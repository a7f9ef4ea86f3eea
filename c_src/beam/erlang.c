/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider erlang<OS pid>. Probes of processes and messages always exist; probes of functions
 * are made for the functions that a description names, as the Erlang side finds them loaded: a
 * compile tells that functions are wanted, the Erlang side adds them, and compiles again. Probes
 * that tracing inside the node cannot give exist too, so that they can be listed; to enable one by
 * its name is an error that says what would give it.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/in_node.h"
#include "engine/engine.h"
#include "engine/probe.h"
#include "engine/provider.h"
#include "prog/prog.h"
#include "atoms.h"
#include "beam_handle.h"
#include "erl_builtins.h"
#include "erlang_provider.h"
#include "layout.h"
#include "user.h"
#include "vtime.h"

#define TYPES(...) ((const char *const[]){__VA_ARGS__})
const struct beam_probedef beam_probedefs[BP_COUNT_] = {
#define PROBE(ID, name, route, nargs, ...) {name, ROUTE_##route, NULL, nargs, TYPES(__VA_ARGS__)},
#define ABSENT(ID, name, why, nargs, ...)  {name, ROUTE_NONE, why, nargs, TYPES(__VA_ARGS__)},
#include "probes.def"
};

/* What is to be known of a probe. */
static const char *const notes[BP_COUNT_] = {
#define PROBE(...)
#define ABSENT(...)
#define NOTE(ID, text) [BP_##ID] = text,
#include "probes.def"
};

static const struct provider erlang_provider;
static __thread struct beam_handle *opening; /* by nif_open, while it makes the engine */

static const char *provider_name(void)
{
	static char name[32];

	if (name[0] == '\0')
		snprintf(name, sizeof(name), "erlang%d", getpid());
	return name;
}

/* name: NULL for the one of the table. */
struct en_probe *beam_probe_add(
	struct en *en, enum beam_probe id, const char *mod, const char *fun, const char *name)
{
	const struct beam_probedef *d = &beam_probedefs[id];
	struct en_probe *p = en_probe_add(en, &erlang_provider, (void *)(uintptr_t)d,
		provider_name(), mod, fun, name != NULL ? name : d->name);

	if (p != NULL) {
		p->absent = d->route == ROUTE_NONE;
		p->note = p->absent ? d->why : notes[id];
		p->nargs = d->nargs;
		p->argtypes = d->argtypes;
	}
	return p;
}

static int erlang_init(struct en *en, void **data, struct et_error *e)
{
	struct beam_handle *b = opening;

	*data = b;
	b->host = calloc(1, sizeof(*b->host));
	if (b->host == NULL)
		return et_err(e, ET_NOMEM, "out of memory");
	b->host->b = b;
	b->host->cur.ops = &beam_ops;
	en_set_host(en, &b->host->cur);
	for (int i = 0; i < BP_FUNCTIONS; i++) {
		b->probe[i] = beam_probe_add(en, i, "", "", NULL);
		if (b->probe[i] == NULL)
			return et_err(e, ET_NOMEM, "out of memory");
	}
	return 0;
}

/* ---- probes on demand ------------------------------------------------------------------ */

static bool is_known(const struct beam_handle *b, const struct d_pdesc *d)
{
	for (unsigned i = 0; i < b->nwants; i++)
		if (strcmp(b->wants[i].mod, d->mod) == 0 && strcmp(b->wants[i].fun, d->func) == 0 &&
			strcmp(b->wants[i].name, d->name) == 0)
			return true;
	return false;
}

static int want(struct beam_handle *b, const struct d_pdesc *d, struct et_error *e)
{
	struct beam_want *w = realloc(b->wants, (b->nwants + 1) * sizeof(*w));

	if (w == NULL)
		return et_err(e, ET_NOMEM, "out of memory");
	b->wants = w;
	w += b->nwants;
	w->mod = strdup(d->mod);
	w->fun = strdup(d->func);
	w->name = strdup(d->name);
	if (w->mod == NULL || w->fun == NULL || w->name == NULL)
		return et_err(e, ET_NOMEM, "out of memory");
	b->nwants++;
	b->new_wants = true;
	return 0;
}

static int provide_user(struct en *en, struct beam_handle *b, const struct d_pdesc *d,
	struct et_error *e)
{
	char name[32];

	if (!en_glob(d->mod, "") || !en_glob(d->func, ""))
		return 0;
	for (unsigned i = 0; i < BP_NUSER; i++) {
		snprintf(name, sizeof(name), "user_trace-n%u", i);
		if (!en_glob(d->name, name))
			continue;
		if (b->user == NULL)
			b->user = calloc(BP_NUSER, sizeof(struct en_probe *));
		if (b->user != NULL && b->user[i] == NULL)
			b->user[i] = beam_probe_add(en, BP_USER_TRACE_I4S4, "", "", name);
		if (b->user == NULL || b->user[i] == NULL)
			return et_err(e, ET_NOMEM, "out of memory");
	}
	return 0;
}

/* Does the description ask for functions? Then the Erlang side must say which there are. */
static int erlang_provide(struct en *en, void *data, const struct d_pdesc *d, struct et_error *e)
{
	struct beam_handle *b = data;

	if (d->id != 0 || !en_glob(d->prov, provider_name()))
		return 0;
	for (int i = BP_FUNCTIONS; i < BP_COUNT_; i++)
		if (en_glob(d->name, beam_probedefs[i].name)) {
			if (!is_known(b, d) && want(b, d, e) < 0)
				return -1;
			break;
		}
	return provide_user(en, b, d, e);
}

/* ---- enabling -------------------------------------------------------------------------- */

/* Was this probe asked for by its name, not by a pattern that matches it among others? */
static bool is_named(const struct beam_handle *b, const struct en_probe *p)
{
	const struct prog *prog = api_program(b->h);

	for (unsigned i = 0; i < prog->nclauses; i++)
		for (const struct d_pdesc *d = prog->clauses[i]->descs; d != NULL; d = d->next)
			if (d->id == p->id || strcmp(d->name, p->name->text) == 0)
				return true;
	return false;
}

/* Has the program clauses for other probes of ours, which do fire? */
static bool is_one_of_several(const struct beam_handle *b)
{
	for (int i = 0; i < BP_FUNCTIONS; i++)
		if (en_enabled(b->probe[i]) && beam_probedefs[i].route != ROUTE_NONE)
			return true;
	for (unsigned i = 0; i < b->fns.nbuckets; i++)
		for (const struct beam_fn *fn = b->fns.buckets[i]; fn != NULL; fn = fn->next)
			for (int k = 0; k < BP_NFUNCTIONS; k++)
				if (fn->probe[k] != NULL && en_enabled(fn->probe[k]))
					return true;
	return beam_user_enabled(b);
}

/* From every VM, as probes.def says, not from this one only. */
static bool is_gone(const struct beam_probedef *d)
{
	return strncmp(d->why, "gone from OTP", 13) == 0;
}

/* Kept for the next nif_work: a line each. */
int beam_warn(struct beam_handle *b, const char *line)
{
	size_t old = b->warnings != NULL ? strlen(b->warnings) : 0;
	size_t size = old + strlen(line) + 2;
	char *text = realloc(b->warnings, size);

	if (text == NULL)
		return -1;
	b->warnings = text;
	snprintf(text + old, size - old, "%s\n", line);
	return 0;
}

static int warn(struct beam_handle *b, const char *name, const char *why, struct et_error *e)
{
	char line[512];

	snprintf(line, sizeof(line), "%s never fires in this node: %s", name, why);
	return beam_warn(b, line) < 0 ? et_err(e, ET_NOMEM, "out of memory") : 0;
}

/*
 * A probe that cannot be given, asked for by name: a script that asks for nothing else would wait
 * for ever, that is an error. One that has clauses for other probes too, as scripts for every VM
 * do, or that was told to go on (-Z), runs without it and is warned. What no VM has any more has
 * happened zero times: never an error.
 */
static int erlang_enable(struct en *en, void *data, struct en_probe *p, struct et_error *e)
{
	const struct beam_probedef *d = p->pvdata;
	struct beam_handle *b = data;

	(void)en;
	if (d->route != ROUTE_NONE || !is_named(b, p))
		return 0;
	if (is_gone(d) || is_one_of_several(b) || api_option(b->h, OPT_ZDEFS))
		return warn(b, p->name->text, d->why, e);
	return et_err(e, D_PDESC_INVAL, "%s cannot be traced inside this node: %s", p->name->text,
		d->why);
}

static const char *erlang_kind(unsigned i)
{
	return BP_FUNCTIONS + i < BP_COUNT_ ? beam_probedefs[BP_FUNCTIONS + i].name : NULL;
}

static const struct provider erlang_provider = {
	.name = "erlang",
	.init = erlang_init,
	.provide = erlang_provide,
	.enable = erlang_enable,
	.kind = erlang_kind,
};

extern const struct provider dtrace_provider, profile_provider;
const struct en_sampler *const et_sampler; /* the kernel samples for the command only */
const struct provider *const et_providers[] = {
	&dtrace_provider, &profile_provider, &erlang_provider, NULL};

void beam_set_opening(struct beam_handle *b)
{
	opening = b;
}

/* ---- what to arm ----------------------------------------------------------------------- */

struct needs {
	ErlNifEnv *env;
	ERL_NIF_TERM list;
	bool route[ROUTE_NONE + 1];
	bool args; /* of calls, not just their number */
	uint32_t pbis; /* of any enabled probe: bits PBI_* */
	bool stacks;   /* a clause has ustack() */
	bool nomem;
	bool local, values; /* a function armed by [local]; one whose value is read */
};

#define READS_PBI(n, ask) ((n) >> PBI_##ask & 1)

static void need(struct needs *n, const char *flag)
{
	n->list = enif_make_list_cell(n->env, enif_make_atom(n->env, flag), n->list);
}

static void need_pattern(struct needs *n, const struct beam_fn *fn)
{
	n->list = enif_make_list_cell(n->env,
		enif_make_tuple4(n->env,
			enif_make_atom(n->env, fn->nval > 0 ? "return"
					       : fn->local  ? "local"
							    : "global"),
			fn->mod, fn->fun, enif_make_uint(n->env, fn->arity)),
		n->list);
}

static void note_pbis(struct needs *n, uint32_t pbis)
{
	n->pbis |= pbis;
	n->args |= READS_PBI(pbis, ERLARGS) || READS_PBI(pbis, ERLARG) || READS_PBI(pbis, ERLINT) ||
		   READS_PBI(pbis, ERLPEER);
}

/* These two write only what is not so yet: events may be looking. */
static void set(bool *flag, bool on)
{
	if (on && !*flag)
		*flag = true;
}

static void put(struct en_probe **at, struct en_probe *p)
{
	if (*at != p)
		*at = p;
}

/* What the only probe of an event needs, if it has one clause that runs by itself. */
static void look_at_only(struct beam_handle *b, struct beam_only *o, bool *pid, struct en_probe *p)
{
	const struct en_ecblist *l = atomic_load(&p->ecbs);
	const struct en_ecb *ecb = l->ecb;
	struct beam_way *way;

	if (!l->quick || o->way != NULL)
		return;
	way = &b->ways[ecb->index];
	if (way->clause == NULL) { /* else events may be looking */
		way->entry = ecb->entry;
		way->clause = ecb->clause;
	}
	o->probe = p;
	o->id = ecb->id;
	o->epid = ecb->epid;
	*pid = p->argmask & 1;
	o->way = way;
}

/* Does a clause read how deep in the stack a call is, or whether it is a tail call? */
static bool reads_depth(int probe, unsigned argmask)
{
	return beam_probedefs[BP_FUNCTIONS + probe].nargs > 2 && (argmask & 0xc) != 0;
}

/* Note what a function's events fire. */
static void look_at(struct beam_handle *b, struct needs *n, struct beam_fn *fn)
{
	unsigned nentry = 0, nret = 0, nval = 0;
	bool local = fn->user != 0;

	set(&fn->special, fn->user != 0 || fn->hibernate);
	for (int i = 0; i < BP_NFUNCTIONS; i++) {
		struct en_probe *p = fn->probe[i];
		enum beam_route route = beam_probedefs[BP_FUNCTIONS + i].route;

		if (p == NULL || !en_enabled(p) || fn->counted)
			continue;
		set(&b->vts, p->reads_vts);
		note_pbis(n, p->pbis);
		n->stacks |= p->reads_ustack;
		set(&b->depth, reads_depth(i, p->argmask));
		local |= route != ROUTE_GLOBAL;
		if (route == ROUTE_RETURN && READS_PBI(p->pbis, ERLRET)) {
			put(&fn->val[nval++], p);
			continue;
		}
		set(&b->returns, route == ROUTE_RETURN);
		if (route == ROUTE_RETURN)
			put(&fn->ret[nret++], p);
		else
			put(&fn->entry[nentry++], p);
	}
	__atomic_store_n(&fn->local, local, __ATOMIC_RELAXED);
	if (nentry == 1)
		look_at_only(b, &fn->call, &fn->call_pid, fn->entry[0]);
	if (nret == 1)
		look_at_only(b, &fn->end, &fn->end_pid, fn->ret[0]);
	/* events may look at it: what they count is there before the count */
	__atomic_store_n(&fn->nval, (uint8_t)nval, __ATOMIC_RELEASE);
	__atomic_store_n(&fn->nret, (uint8_t)nret, __ATOMIC_RELEASE);
	__atomic_store_n(&fn->nentry, (uint8_t)nentry, __ATOMIC_RELEASE);
	fn->ready = true;
}

static bool is_armed(const struct beam_fn *fn)
{
	return fn->nentry + fn->nret + fn->nval > 0 || fn->user != 0 || fn->hibernate;
}

/*
 * What functions need that may be loaded later: it is there before tracing begins, since events
 * look at it.
 */
static void look_at_later(struct beam_handle *b, struct needs *n)
{
	const struct prog *prog = api_program(b->h);
	bool any = false, counted = api_counters(b->h);

	for (unsigned i = 0; i < prog->nclauses; i++)
		for (const struct d_pdesc *d = prog->clauses[i]->descs; d != NULL; d = d->next)
			for (int k = BP_FUNCTIONS; k < BP_COUNT_ && d->id == 0; k++) {
				if (!en_glob(d->prov, provider_name()) ||
					!en_glob(d->name, beam_probedefs[k].name))
					continue;
				any = true;
				counted &= prog->clauses[i]->countable;
				b->vts |= (prog->clauses[i]->uses.vars & USES_VAR(VTIMESTAMP)) != 0;
				b->depth |=
					reads_depth(k - BP_FUNCTIONS, prog->clauses[i]->uses.args);
				b->returns |= beam_probedefs[k].route == ROUTE_RETURN &&
					      !READS_PBI(prog->clauses[i]->uses.pbis, ERLRET);
				note_pbis(n, prog->clauses[i]->uses.pbis);
				n->stacks |= prog->clauses[i]->uses.ustack;
			}
	if (!any)
		return;
	/* where all are counted so far (counters.c), processes are traced when need be */
	n->route[ROUTE_LOCAL] |= !counted;
	need(n, "modules");
}

static void look_at_user(struct beam_handle *b, struct needs *n)
{
	static const struct {
		const char *name;
		unsigned arity;
	} fns[] = {{"user_trace_s1", 1}, {"user_trace_i4s4", 9}, {"user_trace_n", 10}};

	if (!beam_user_enabled(b))
		return;
	for (unsigned i = 0; i < 3; i++) {
		struct beam_fn *fn = beam_function_need(b, n->env, enif_make_atom(n->env, "dyntrace"),
			enif_make_atom(n->env, fns[i].name), fns[i].arity);

		n->nomem |= fn == NULL;
		if (fn != NULL)
			fn->user = (uint8_t)(1 + i);
	}
	n->args = true;
	need(n, "dyntrace");
}

/*
 * A process that goes out in erlang:hibernate/3 hibernates, or a signal woke it for a moment: only
 * a message ends it. Whom it wakes up in is known where proc_lib was used.
 */
static void look_at_hibernate(struct beam_handle *b, struct needs *n)
{
	struct en_probe *p = b->probe[BP_PROCESS_HIBERNATE];
	struct beam_fn *fn;

	b->hibernate = en_enabled(p);
	if (!b->hibernate || !(p->argmask & 2))
		return;
	fn = beam_function_need(b, n->env, atom_proc_lib, atom_hibernate, 3);
	n->nomem |= fn == NULL;
	if (fn != NULL)
		fn->hibernate = true;
	n->args = true;
}

/* Drivers come and go by two calls. Who opens a port is known by its driver's name too. */
static void look_at_drivers(struct beam_handle *b, struct needs *n)
{
	static const enum beam_probe named[] = {BP_DRIVER_START, BP_DRIVER_STOP};
	bool load = en_enabled(b->probe[BP_DRIVER_INIT]);
	struct beam_fn *fn;

	for (unsigned i = 0; i < 2; i++)
		load |= en_enabled(b->probe[named[i]]) && (b->probe[named[i]]->argmask & 2);
	fn = load ? beam_function_need(b, n->env, atom_erl_ddll, atom_try_load, 3) : NULL;
	if (fn != NULL)
		fn->user = 1 + USER_LOAD;
	fn = en_enabled(b->probe[BP_DRIVER_FINISH])
		     ? beam_function_need(b, n->env, atom_erl_ddll, atom_try_unload, 2)
		     : NULL;
	if (fn != NULL)
		fn->user = 1 + USER_UNLOAD;
	if (!load && fn == NULL)
		return;
	n->args = true;
	need(n, "erl_ddll");
}

/* Do scripts read these arguments of an enabled probe? */
static bool reads(const struct beam_handle *b, enum beam_probe id, unsigned mask)
{
	return en_enabled(b->probe[id]) && (b->probe[id]->argmask & mask);
}

/* Signals tell the runs for a file descriptor from the others. */
static void need_ports(struct beam_handle *b, struct needs *n)
{
	bool ready = en_enabled(b->probe[BP_DRIVER_READY_INPUT]) ||
		     en_enabled(b->probe[BP_DRIVER_READY_OUTPUT]);

	if (n->route[ROUTE_PORTS] || n->route[ROUTE_PORT_RECEIVE] || n->route[ROUTE_PORT_RUNNING])
		need(n, "ports");
	if (n->route[ROUTE_PORT_RECEIVE] || ready)
		need(n, "port_receive");
	if (n->route[ROUTE_PORT_RUNNING])
		need(n, "port_running");
}

/* What is armed for the enabled probes that are there once, and what their clauses ask for. */
static void look_at_probes(struct beam_handle *b, struct needs *n)
{
	for (int i = 0; i < BP_FUNCTIONS; i++)
		if (en_enabled(b->probe[i])) {
			n->route[beam_probedefs[i].route] = true;
			b->vts |= b->probe[i]->reads_vts && beam_probedefs[i].route != ROUTE_NONE;
			n->stacks |= b->probe[i]->reads_ustack;
			n->pbis |= b->probe[i]->pbis;
		}
	b->heaps = en_enabled(b->probe[BP_PROCESS_HEAP_GROW]) ||
		   en_enabled(b->probe[BP_PROCESS_HEAP_SHRINK]);
	for (unsigned i = 0; b->user != NULL && i < BP_NUSER; i++)
		if (b->user[i] != NULL) {
			n->stacks |= b->user[i]->reads_ustack;
			n->pbis |= b->user[i]->pbis;
		}
}

/* What functions return is told by frames of return_trace, which come between those of return_to:
 * not every call has one of these then. */
static bool reads_values(const struct beam_handle *b)
{
	const struct prog *prog = api_program(b->h);

	for (unsigned i = 0; i < prog->nclauses; i++)
		if (READS_PBI(prog->clauses[i]->uses.pbis, ERLRET))
			return true;
	return false;
}

static void look_at_functions(struct beam_handle *b, struct needs *n)
{
	for (unsigned i = 0; i < b->fns.nbuckets; i++)
		for (struct beam_fn *fn = b->fns.buckets[i]; fn != NULL; fn = fn->next) {
			look_at(b, n, fn);
			if (is_armed(fn)) {
				n->route[ROUTE_LOCAL] = true;
				n->local |= fn->local;
				n->values |= fn->nval > 0;
				need_pattern(n, fn);
			}
		}
	/* what has ended must be seen: a call further down the stack need not be a deeper one */
	b->returns |= b->depth && n->local && !n->values;
	b->stacks = b->returns || b->depth;
	b->marked = b->returns && !reads_values(b);
	if (b->depth && !b->returns)
		beam_session_set(b->number % BEAM_HANDLES, BEAM_NO_FRAMES);
	b->vtimestamp = b->vts ? beam_vtimestamp : NULL;
}

static void need_calls(const struct beam_handle *b, struct needs *n)
{
	if (n->route[ROUTE_LOCAL])
		need(n, "call");
	if (n->route[ROUTE_LOCAL] && !n->args)
		need(n, "arity");
	if (b->returns)
		need(n, "return_to");
	if (b->returns || b->depth || n->stacks)
		need(n, "layout");
	if (n->stacks)
		need(n, "stacks");
}

/* table: something of each process is kept in ours. */
static void need_processes(const struct beam_handle *b, struct needs *n, bool table)
{
	bool any = n->route[ROUTE_SEND] || n->route[ROUTE_RECEIVE] || n->route[ROUTE_RUNNING] ||
		   n->route[ROUTE_GC] || n->route[ROUTE_LOCAL];

	if (b->names.tab != NULL)
		need(n, "names");
	/* What is kept of a process, in our table or as self->, is freed at its exit. */
	if (n->route[ROUTE_PROCS] || table || b->names.tab != NULL || (b->self && any))
		need(n, "procs");
	if (n->route[ROUTE_RUNNING] || b->vts)
		need(n, "running_procs");
	if (n->route[ROUTE_SEND])
		need(n, "send");
	if (n->route[ROUTE_RECEIVE] || b->hibernate)
		need(n, "receive");
	if (n->route[ROUTE_GC])
		need(n, "garbage_collection");
}

static void need_others(const struct beam_handle *b, struct needs *n)
{
	if (n->route[ROUTE_BUSY_PORT])
		need(n, "busy_port");
	if (n->route[ROUTE_BUSY_DIST_PORT])
		need(n, "busy_dist_port");
	if (n->route[ROUTE_NODES])
		need(n, "monitor_nodes");
	if (reads(b, BP_MESSAGE_SEND, 0x38) || reads(b, BP_MESSAGE_SEND_REMOTE, 0x70))
		need(n, "seq_token");
}

ERL_NIF_TERM beam_needs(struct beam_handle *b, ErlNifEnv *env, uint64_t process_limit)
{
	struct needs n = {.env = env, .list = enif_make_list(env, 0)};
	bool table;

	if (b->ways == NULL)
		b->ways = calloc(api_program(b->h)->nclauses + 1, sizeof(*b->ways));
	if (b->ways == NULL)
		return enif_make_tuple2(env, atom_error, enif_make_atom(env, "enomem"));
	b->self = api_has_self(b->h);
	look_at_later(b, &n);
	look_at_probes(b, &n);
	look_at_user(b, &n);
	look_at_hibernate(b, &n);
	look_at_drivers(b, &n);
	look_at_functions(b, &n);
	table = b->stacks || b->vts || b->heaps || b->hibernate;
	n.nomem |= table && b->procs.tab == NULL && beam_procs_init(&b->procs, process_limit) < 0;
	n.nomem |= !n.nomem && (READS_PBI(n.pbis, ERLNAME) || READS_PBI(n.pbis, ERLPEER)) &&
		   b->names.tab == NULL && beam_names_init(&b->names) < 0;
	if (n.nomem)
		return enif_make_tuple2(env, atom_error, enif_make_atom(env, "enomem"));
	need_calls(b, &n);
	need_processes(b, &n, table);
	need_ports(b, &n);
	need_others(b, &n);
	return n.list;
}

ERL_NIF_TERM beam_module_needs(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM mod)
{
	struct needs n = {.env = env, .list = enif_make_list(env, 0)};

	for (unsigned i = 0; i < b->fns.nbuckets; i++)
		for (struct beam_fn *fn = b->fns.buckets[i]; fn != NULL; fn = fn->next) {
			if (fn->mod != mod)
				continue;
			if (!fn->ready)
				look_at(b, &n, fn);
			if (is_armed(fn))
				need_pattern(&n, fn);
		}
	return n.list;
}
