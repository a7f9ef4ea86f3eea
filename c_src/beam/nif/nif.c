/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of erltrace_nif.erl. Compiling, starting, reading results and stopping run on
 * threads of the library; the rest returns at once. A handle is a resource: it ends with its owner
 * process, by a monitor, or when nobody refers to it any more.
 *
 * In this folder:
 *
 *   nif.c              open, compile, go, stop, close ...; what happens at load
 *   jobs.c             those that take long, on threads of the library
 *   results.c          what was gathered, and errors, as terms
 *   probe_list.c       probes as terms
 *   feed.c             totals of deployed scripts, and what feeds them
 *   exposition_nif.c   the totals as terms and as text
 *   alerts_nif.c       alerts of deployed scripts
 *   kernel_nif.c       scripts that a helper runs in the kernel
 *   code_nif.c         what is asked of the table of loaded code
 *   find_nif.c         the facts of the VM that are found out (vm/find.h)
 *   store.c            terms that outlive every process
 *   erlang_provider.c  the provider erlang<OS pid>, and its probes
 *   arming.c           what the VM must be told to trace for them (needs.def: all that can be)
 *   counters.c         functions that the VM counts for us
 */
#include <stdlib.h>
#include <string.h>

#include "api/in_node.h"
#include "beam/builtins/terms.h"
#include "beam/code/code_table.h"
#include "beam/code/erl_stack.h"
#include "beam/events/call_probes.h"
#include "beam/events/ports.h"
#include "beam/events/timers.h"
#include "beam/events/tracer.h"
#include "beam/events/user.h"
#include "beam/fast/fast_core.h"
#include "beam/flow/flows.h"
#include "beam/handle/beam_handle.h"
#include "beam/handle/handles.h"
#include "beam/nif.h"
#include "beam/sample/sampler.h"
#include "beam/sample/sampler_wall.h"
#include "beam/state/state_provider.h"
#include "beam/term/atom_text.h"
#include "beam/term/texts.h"
#include "beam/vm/layout.h"
#include "beam/vm/peek.h"
#include "beam/vm/pid_node.h"
#include "compiler.h"
#include "engine/engine.h"
#include "engine/provider.h"
#include "engine/slot.h"
#include "prog/prog.h"
#include "arming.h"
#include "erlang_provider.h"
#include "feed.h"
#include "jobs.h"
#include "store.h"

#define MOST_ARGS 256 /* of a script */

/* ---- arguments ------------------------------------------------------------------------- */

static ERL_NIF_TERM no_memory(ErlNifEnv *env)
{
	return enif_make_tuple2(env, atom_error, enif_make_atom(env, "enomem"));
}

/* Why beam_get_text gave NULL. */
static ERL_NIF_TERM no_text(ErlNifEnv *env, ERL_NIF_TERM t)
{
	ErlNifBinary bin;

	return enif_inspect_iolist_as_binary(env, t, &bin) ? no_memory(env) : beam_badarg(env);
}

/* ---- life ------------------------------------------------------------------------------ */

/* User probes are asked for on every call of dtrace:p: how many handles have one is counted. */
static void count_user(struct beam_handle *b, bool on)
{
	if (on == b->counted)
		return;
	b->counted = on;
	atomic_fetch_add(&beam_nuser, on ? 1 : -1u);
}

/* What it has besides the library's handle; also of one that could not be opened, or is closed. */
static void free_parts(struct beam_handle *b)
{
	beam_functions_free(&b->fns);
	beam_procs_fini(&b->procs);
	beam_names_fini(&b->registered.names);
	beam_names_fini(&b->registered.holders);
	beam_proc_names_fini(&b->proc_names);
	beam_tables_fini(&b->tables);
	beam_timers_fini(&b->timers);
	beam_flows_fini(b);
	beam_patterns_fini(&b->patterns);
	beam_wants_free(b);
	beam_state_free(b);
	sampler_wall_free(b);
	feed_free(b);
	et_str_free(b->node_text);
	free(b->host);
	free(b->clauses);
	free(b->user);
	free(b->ports);
	free(b->warnings);
	b->node_text = NULL;
	b->host = NULL;
	b->clauses = NULL;
	b->user = NULL;
	b->ports = NULL;
	b->warnings = NULL;
}

static void close_handle(struct beam_handle *b)
{
	if (b->h != NULL) {
		count_user(b, false);
		if (b->fast)
			fast_core_leave(b->number % BEAM_HANDLES);
		beam_unregister(b);
		erltrace_close(b->permits);
		erltrace_close(b->reader);
		erltrace_close(b->h);
		b->permits = b->reader = b->h = NULL;
		b->en = NULL;
	}
	free_parts(b);
}

static void handle_dtor(ErlNifEnv *env, void *obj)
{
	struct beam_handle *b = obj;

	(void)env;
	close_handle(b);
	if (b->lock != NULL)
		enif_mutex_destroy(b->lock);
}

ERL_NIF_TERM nif_open(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct beam_handle *b = enif_alloc_resource(beam_handle_type, sizeof(*b));
	erltrace_error_t e = {.tag = ""};
	ERL_NIF_TERM t;

	(void)argc, (void)argv;
	if (b == NULL)
		return no_memory(env);
	memset(b, 0, sizeof(*b));
	b->node = atom_undefined;
	beam_track(b, TRACK_EXITS, true); /* until it is known what is needed */
	b->lock = enif_mutex_create("erltrace_handle");
	if (b->lock == NULL) {
		enif_release_resource(b);
		return no_memory(env);
	}
	beam_threads_barrier();
	beam_set_opening(b);
	b->h = erltrace_open(&e);
	beam_set_opening(NULL);
	if (b->h == NULL) {
		enif_release_resource(b);
		return beam_error(env, &e);
	}
	b->en = api_engine(b->h);
	api_set_inside(b->h);
	if (beam_register(b) < 0) {
		enif_release_resource(b);
		et_err(&e, ET_HANDLES, "%d handles are open, and there cannot be more: close one",
			BEAM_HANDLES - 1);
		return beam_error(env, &e);
	}
	b->state = enif_make_uint(env, b->number);
	t = enif_make_resource(env, b);
	if (beam_vm.immediates)
		beam_peek_init(env, t);
	enif_release_resource(b);
	return enif_make_tuple3(env, atom_ok, t, b->state);
}

ERL_NIF_TERM nif_close(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct beam_handle *b = beam_get(env, argv[0]);

	(void)argc;
	if (b == NULL)
		return beam_badarg(env);
	enif_mutex_lock(b->lock);
	close_handle(b);
	enif_mutex_unlock(b->lock);
	return atom_ok;
}

ERL_NIF_TERM nif_setopt(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	erltrace_error_t e = {.tag = ""};
	ERL_NIF_TERM ret = atom_ok;
	char *name, *value;

	WITH_HANDLE(b)
	name = beam_get_text(env, argv[1], NULL);
	value = beam_get_text(env, argv[2], NULL);
	if (name == NULL || value == NULL)
		ret = no_text(env, name == NULL ? argv[1] : argv[2]);
	else if (erltrace_setopt(b->h, name, value[0] ? value : NULL, &e) < 0)
		ret = beam_error(env, &e);
	free(name);
	free(value);
	enif_mutex_unlock(b->lock);
	return ret;
}

/* wants(Handle, Module) -> boolean(): may a description name functions of this module? */
ERL_NIF_TERM nif_wants(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	char mod[256];
	bool wanted;

	WITH_HANDLE(b)
	wanted = enif_get_atom(env, argv[1], mod, sizeof(mod), ERL_NIF_LATIN1) > 0 &&
		 beam_wants_module(b, mod);
	enif_mutex_unlock(b->lock);
	return wanted ? atom_true : atom_false;
}

static int add_functions(
	struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM mod, ERL_NIF_TERM tail)
{
	const ERL_NIF_TERM *t;
	ERL_NIF_TERM head;
	unsigned arity;
	int n, rc = 0;

	while (rc == 0 && enif_get_list_cell(env, tail, &head, &tail))
		if (enif_get_tuple(env, head, &n, &t) && n == 3 && enif_get_uint(env, t[1], &arity))
			rc = beam_function_add(b, env, mod, t[0], arity,
				t[2] == atom_bif   ? FN_BIF
				: t[2] == atom_nif ? FN_NIF
						   : FN_ERLANG);
	return rc;
}

/* add_functions(Handle, [{Module, [{Function, Arity, erlang | bif | nif}]}]) */
ERL_NIF_TERM nif_add_functions(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM head, tail = argv[1];
	const ERL_NIF_TERM *t;
	int n, rc = 0;

	WITH_HANDLE(b)
	while (rc == 0 && enif_get_list_cell(env, tail, &head, &tail))
		if (enif_get_tuple(env, head, &n, &t) && n == 2)
			rc = add_functions(b, env, t[0], t[1]);
	enif_mutex_unlock(b->lock);
	return rc == 0 ? atom_ok : no_memory(env);
}

/*
 * extend(Handle, Module, Functions) -> [Pattern] | {error, ..}: while the script runs, a module has
 * been loaded, or loaded again; what is to be armed in it.
 */
ERL_NIF_TERM nif_extend(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct et_error e = {.tag = ""};
	ERL_NIF_TERM ret;
	unsigned first;

	WITH_HANDLE(b)
	first = en_nprobes(b->en);
	if (add_functions(b, env, argv[1], argv[2]) < 0) {
		ret = no_memory(env);
	} else if (api_extend(b->h, first, &e) < 0) {
		ret = beam_error(env, &e);
	} else {
		ret = beam_module_needs(b, env, argv[1]);
	}
	enif_mutex_unlock(b->lock);
	return ret;
}

/* add_ports(Handle, [{Port, Owner, Name}], [Driver]) */
ERL_NIF_TERM nif_add_ports(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM head, tail = argv[1], drivers = argv[2];
	const ERL_NIF_TERM *t;
	int n;

	WITH_HANDLE(b)
	if (beam_ports_init(b) == 0) {
		while (enif_get_list_cell(env, drivers, &head, &drivers))
			beam_driver_note(b, env, head);
		while (enif_get_list_cell(env, tail, &head, &tail))
			if (enif_get_tuple(env, head, &n, &t) && n == 3)
				beam_port_note(b, env, t[0], t[1], t[2]);
	}
	enif_mutex_unlock(b->lock);
	return atom_ok;
}

#define MOST_FIELDS 254 /* of a tuple as a pattern */

/* set_record(Handle, Name, [Field]): texts, for patterns and erlfield(). */
ERL_NIF_TERM nif_set_record(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM head, list = argv[2], ret = atom_ok;
	char *name, *fields[MOST_FIELDS + 1] = {NULL};
	erltrace_error_t e = {.tag = ""};
	unsigned n = 0;

	WITH_HANDLE(b)
	name = beam_get_text(env, argv[1], NULL);
	while (name != NULL && n < MOST_FIELDS && enif_get_list_cell(env, list, &head, &list) &&
		(fields[n] = beam_get_text(env, head, NULL)) != NULL)
		n++;
	if (name == NULL || !enif_is_empty_list(env, list))
		ret = beam_badarg(env);
	else if (erltrace_set_record(b->h, name, (const char *const *)fields, &e) < 0)
		ret = beam_error(env, &e);
	while (n > 0)
		free(fields[--n]);
	free(name);
	enif_mutex_unlock(b->lock);
	return ret;
}

/* status(Handle) -> idle | running | filled | stopped | {exited, Code} */
ERL_NIF_TERM nif_status(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	static const char *const names[] = {"idle", "running", "exited", "filled", "stopped"};
	erltrace_status_t status;
	ERL_NIF_TERM name;
	int code = 0;

	WITH_HANDLE(b)
	status = erltrace_status(beam_results(b), &code);
	enif_mutex_unlock(b->lock);
	name = enif_make_atom(env, names[status]);
	return status == ERLTRACE_EXITED ? enif_make_tuple2(env, name, enif_make_int(env, code))
					 : name;
}

/* recorder(Handle) -> boolean(): does it write snapshots itself? */
ERL_NIF_TERM nif_recorder(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	char dir[8] = "";
	bool is;

	WITH_HANDLE(b)
	is = api_option(b->h, OPT_BUFPOLICY) == BUFPOLICY_RING &&
	     erltrace_getopt(b->h, "snapshotdir", dir, sizeof(dir), NULL) == 0 && dir[0] != '\0' &&
	     strcmp(dir, "-") != 0;
	enif_mutex_unlock(b->lock);
	return is ? atom_true : atom_false;
}

/* [default_action | zero_matches | empty | {file, Name}]; the name, to be freed. */
static char *compile_opts(ErlNifEnv *env, ERL_NIF_TERM list, erltrace_compile_opts_t *o)
{
	ERL_NIF_TERM head;
	const ERL_NIF_TERM *t;
	char name[32], *file = NULL;
	int n;

	while (enif_get_list_cell(env, list, &head, &list))
		if (enif_get_tuple(env, head, &n, &t) && n == 2 && file == NULL)
			o->file = file = beam_get_text(env, t[1], NULL);
		else if (enif_get_atom(env, head, name, sizeof(name), ERL_NIF_LATIN1) > 0) {
			o->default_action |= strcmp(name, "default_action") == 0;
			o->zero_matches |= strcmp(name, "zero_matches") == 0;
			o->empty |= strcmp(name, "empty") == 0;
		}
	return file;
}

/* What the node may know more about: {record, Name, Error} | {no_probe, Description, Error} */
static ERL_NIF_TERM compile_error(ErlNifEnv *env, const erltrace_t *h, const erltrace_error_t *e)
{
	const char *record = api_no_record(h), *probe = api_no_probe(h);
	ERL_NIF_TERM error = beam_error(env, e);

	if (record != NULL)
		return enif_make_tuple3(env, atom_record, beam_make_text(env, record), error);
	if (probe != NULL)
		return enif_make_tuple3(env, atom_no_probe, beam_make_text(env, probe), error);
	return error;
}

/*
 * compile(Handle, Source, [Argument], [Option]) -> ok | {ok, functions} | functions | {error, ..}
 * | {record, Name, {error, ..}} | {no_probe, Description, {error, ..}}: functions says that some
 * are wanted which are not known yet; without ok, that it is to be done again. record: the fields
 * of this one are not known. no_probe: nothing matches this description, and the error knows no
 * reason.
 */
ERL_NIF_TERM nif_compile(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	erltrace_compile_opts_t o = {.size = sizeof(o)};
	erltrace_error_t e = {.tag = ""};
	ERL_NIF_TERM head = argv[2], tail = argv[2], ret = atom_ok;
	char *args[MOST_ARGS], *src, *file;
	bool good = true;
	size_t len;
	int rc;

	WITH_HANDLE(b)
	file = compile_opts(env, argv[3], &o);
	while (good && enif_get_list_cell(env, tail, &head, &tail)) {
		good = o.argc < MOST_ARGS &&
		       (args[o.argc] = beam_get_text(env, head, NULL)) != NULL;
		o.argc += good;
	}
	o.argv = (const char *const *)args;
	src = beam_get_text(env, argv[1], &len);
	if (o.argc == MOST_ARGS && !good) {
		et_err(&e, ET_ARGS, "more than %d arguments", MOST_ARGS);
		ret = beam_error(env, &e);
	} else if (src == NULL || !good || !enif_is_empty_list(env, tail)) {
		ret = no_text(env, src == NULL ? argv[1] : good ? tail : head);
	} else {
		b->wants->fresh = false;
		rc = erltrace_compile_n(b->h, src, len, &o, &e);
		if (b->wants->fresh)
			ret = rc < 0 ? atom_functions
				     : enif_make_tuple2(env, atom_ok, atom_functions);
		else if (rc < 0)
			ret = compile_error(env, b->h, &e);
		memcpy(b->failed.file, e.file, sizeof(b->failed.file));
		memcpy(b->failed.source, e.source, sizeof(b->failed.source));
	}
	free(src);
	free(file);
	for (int i = 0; i < o.argc; i++)
		free(args[i]);
	enif_mutex_unlock(b->lock);
	return ret;
}

/*
 * calls(Handle) -> auto | fast | traced | none: the option calls; none: no description of the
 * script names functions.
 *
 */
ERL_NIF_TERM nif_calls(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	erltrace_error_t e = {.tag = ""};
	char word[16] = "none";

	WITH_HANDLE(b)
	if (b->wants->n > 0)
		erltrace_getopt(b->h, "calls", word, sizeof(word), &e);
	enif_mutex_unlock(b->lock);
	return enif_make_atom(env, word);
}

/*
 * set_calls(Handle, fast | traced): which way function probes go, before needs(); traced: the fast
 * way ends, while breakpoints are still set.
 */
ERL_NIF_TERM nif_set_calls(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	if (argv[1] != atom_fast && argv[1] != atom_traced)
		return beam_badarg(env);
	WITH_HANDLE(b)
	if (b->fast)
		fast_core_leave(b->number % BEAM_HANDLES);
	b->fast = argv[1] == atom_fast;
	enif_mutex_unlock(b->lock);
	return atom_ok;
}

/*
 * needs(Handle, Node, ProcessLimit, Owner) -> [Flag | {local | global, M, F, A}] | {error, enomem}:
 * what the enabled probes need. Owner: the process that arms them.
 */
ERL_NIF_TERM nif_needs(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ErlNifUInt64 limit;
	ERL_NIF_TERM list;

	WITH_HANDLE(b)
	b->node = argv[1];
	b->owner = argv[3];
	if (!enif_get_uint64(env, argv[2], &limit))
		limit = 0;
	list = beam_needs(b, env, limit);
	if (enif_is_list(env, list)) /* all is set up: the tracer of other handles may call */
		beam_set_live(b, true);
	count_user(b, beam_user_enabled(b));
	enif_mutex_unlock(b->lock);
	return list;
}

/* named(Handle), after needs/4: the names of processes that there are have been told. */
ERL_NIF_TERM nif_named(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	WITH_HANDLE(b)
	atomic_store_explicit(&b->named, true, memory_order_release);
	enif_mutex_unlock(b->lock);
	return atom_ok;
}

/*
 * unflagged(Handle), before needs/3: events of functions come without trace flags of processes, so
 * these are not flagged for their exits either, if it can be helped.
 */
ERL_NIF_TERM nif_unflagged(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	WITH_HANDLE(b)
	b->unflagged = true;
	enif_mutex_unlock(b->lock);
	return atom_ok;
}

/* samples(Handle) -> boolean(): may the script sample what the schedulers run? */
ERL_NIF_TERM nif_samples(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	bool any;

	WITH_HANDLE(b)
	any = sampler_wanted(api_program(b->h));
	enif_mutex_unlock(b->lock);
	return any ? atom_true : atom_false;
}

/* session(Number, Session): the trace session of this handle has return_to. */
ERL_NIF_TERM nif_session(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	unsigned number;
	bool gone;

	(void)argc;
	if (!enif_get_uint(env, argv[0], &number) || !enif_is_number(env, argv[1]))
		return beam_badarg(env);
	beam_live(number, &gone);
	if (!gone)
		beam_session_set(number % BEAM_HANDLES, argv[1]);
	return atom_ok;
}

/* alive(Number) -> boolean(): is there a handle of this number? */
ERL_NIF_TERM nif_alive(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	unsigned number;
	bool gone = true;

	(void)argc;
	if (enif_get_uint(env, argv[0], &number))
		beam_live(number, &gone);
	return gone ? atom_false : atom_true;
}

/*
 * counts(Handle) -> {Fired, Lost, Unnamed, NoArgs, Cut, BufSize, Prints}: firings; frames and
 * processes, and names of processes, that found no room; returns without the arguments of their
 * calls, and returns where clauses met parts of arguments that were not kept; the size of a trace
 * buffer; is anything written there?
 */
ERL_NIF_TERM nif_counts(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	uint64_t fired, lost, unnamed, no_args, cut, bufsize;
	bool prints;

	WITH_HANDLE(b)
	bufsize = api_option(beam_results(b), OPT_BUFSIZE);
	prints = api_prints(b->h);
	fired = api_fired(beam_results(b));
	lost = atomic_load(&b->procs.lost) + atomic_load(&beam_no_thread);
	unnamed = atomic_load(&b->proc_names.lost);
	no_args = atomic_load(&b->procs.kept.lost);
	cut = atomic_load(&b->procs.kept.cut);
	enif_mutex_unlock(b->lock);
	return enif_make_tuple7(env, enif_make_uint64(env, fired), enif_make_uint64(env, lost),
		enif_make_uint64(env, unnamed), enif_make_uint64(env, no_args),
		enif_make_uint64(env, cut), enif_make_uint64(env, bufsize),
		prints ? atom_true : atom_false);
}

/* set_target(Handle, OsPid): what $target is. */
ERL_NIF_TERM nif_set_target(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	int pid;

	WITH_HANDLE(b)
	if (enif_get_int(env, argv[1], &pid))
		erltrace_set_target(b->h, pid);
	enif_mutex_unlock(b->lock);
	return atom_ok;
}

/* info(Handle) -> how many probes the last script matched */
ERL_NIF_TERM nif_info(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	erltrace_info_t info = {.size = sizeof(info)};

	WITH_HANDLE(b)
	erltrace_info(b->h, &info);
	enif_mutex_unlock(b->lock);
	return enif_make_uint(env, info.matches);
}

/* forbid(Handle): no destructive actions, whatever options say. */
ERL_NIF_TERM nif_forbid(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	WITH_HANDLE(b)
	b->harmless = true;
	enif_mutex_unlock(b->lock);
	return atom_ok;
}

/* no_payload(Handle): contents are not shown, whatever the script or its user says */
ERL_NIF_TERM nif_no_payload(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	WITH_HANDLE(b)
	api_no_payload(b->h);
	enif_mutex_unlock(b->lock);
	return atom_ok;
}

ERL_NIF_TERM nif_go(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	erltrace_error_t e = {.tag = ""};
	ERL_NIF_TERM ret = atom_ok;
	const struct prog *prog;

	WITH_HANDLE(b)
	prog = api_program(b->h);
	if (beam_functions_room(&b->fns, b->wants->n > 0 ? 2048 : 256) < 0 ||
		beam_patterns_init(&b->patterns, prog->pats, prog->npats) < 0) {
		ret = no_memory(env);
	} else if (b->harmless && api_is_destructive(b->h)) {
		et_err(&e, ET_DESTRUCTIVE,
			"this node forbids destructive actions (erltrace's setting destructive)");
		ret = beam_error(env, &e);
	} else if (erltrace_go(b->h, &e) < 0) {
		ret = beam_error(env, &e);
	} else {
		if (b->feed != NULL)
			api_changes_begin(b->h);
		beam_watchdog_go(b);
	}
	enif_mutex_unlock(b->lock);
	return ret;
}

ERL_NIF_TERM nif_armed(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	WITH_HANDLE(b)
	en_armed(b->en);
	enif_mutex_unlock(b->lock);
	return atom_ok;
}

ERL_NIF_TERM nif_stop(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	erltrace_error_t e = {.tag = ""};
	ERL_NIF_TERM ret = atom_ok;

	WITH_HANDLE(b)
	beam_set_live(b, false);
	if (b->fast)
		fast_core_leave(b->number % BEAM_HANDLES);
	count_user(b, false);
	if (erltrace_stop(b->h, &e) < 0)
		ret = beam_error(env, &e);
	enif_mutex_unlock(b->lock);
	return ret;
}

/* has_stacks(Handle) -> boolean(), after the check of the layout; else the script is warned. */
ERL_NIF_TERM nif_has_stacks(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	bool has = beam_ustack_known();
	char text[256];

	WITH_HANDLE(b)
	if (!has) {
		snprintf(text, sizeof(text),
			"ustack() has only one frame here, the function of the event: %s",
			beam_layout_known() ? beam_code_refusal()
					    : "where this VM keeps stacks is not known");
		beam_warn(b, text);
	}
	enif_mutex_unlock(b->lock);
	return has ? atom_true : atom_false;
}

/* ---- the library ----------------------------------------------------------------------- */

static ErlNifFunc functions[] = {
#define NIF_REGULAR(name, arity) {#name, arity, nif_##name, 0},
#define NIF_DIRTY(name, arity)	 {#name, arity, nif_##name, ERL_NIF_DIRTY_JOB_CPU_BOUND},
#define NIF_JOB(name, arity)
#define NIF(name, arity, kind)	 NIF_##kind(name, arity)
#include "beam/nifs.def"
};

/*
 * Handles know this library's data. Loaded once more from the same file, the library is the one
 * that is there, and takes its handles over. Another file is another library: it has a type of its
 * own, takes the handles of the old one for no handles at all, and so they end.
 */
static ErlNifResourceType *open_type(ErlNifEnv *env)
{
	char name[64];

	snprintf(name, sizeof(name), "erltrace_handle_%p", (void *)&beam_handle_type);
	return enif_open_resource_type(
		env, NULL, name, handle_dtor, ERL_NIF_RT_CREATE | ERL_NIF_RT_TAKEOVER, NULL);
}

/* How many threads the VM has, at most: the last of what erltrace_nif.erl tells. */
static unsigned threads_of(ErlNifEnv *env, ERL_NIF_TERM info)
{
	const ERL_NIF_TERM *t;
	unsigned threads;
	int n;

	return enif_get_tuple(env, info, &n, &t) && n == 8 && enif_get_uint(env, t[6], &threads) &&
			       threads > 0 && threads <= 8192
		       ? threads
		       : 1024;
}

/* What a thread of the VM has of its own, besides what its events need (probe path). */
PROBE_PATH static void thread_begins(struct beam_thread *t, unsigned nth)
{
	t->texts = beam_texts_nth(nth);
	t->cache = (struct beam_text_cache *)t->texts;
	t->slots = beam_slots_nth(nth);
}

static int threads_init(unsigned n)
{
	if (beam_texts_init(n) < 0 || beam_slots_init(n) < 0)
		return -1;
	return beam_threads_init(n, thread_begins);
}

static _Atomic int nloaded; /* versions of the module that have this library */

static int load(ErlNifEnv *env, void **priv, ERL_NIF_TERM info)
{
	if (beam_store_init(priv, *priv) < 0 || !fast_core_init() || !sampler_init() ||
		!jobs_init())
		return -1;
	if (threads_init(threads_of(env, info)) < 0)
		return -1;
	beam_atoms_make(env);
	if (!beam_any_open()) { /* else events go by what was found when it was loaded first */
		beam_vm_find(env, info);
		beam_pid_node_check(env);
	}
	beam_ustack_init();
	beam_atom_text_init();
	beam_handle_type = open_type(env);
	if (beam_handle_type == NULL || !totals_open_type(env))
		return -1;
	atomic_fetch_add(&nloaded, 1);
	return 0;
}

static int upgrade(ErlNifEnv *env, void **priv, void **old_priv, ERL_NIF_TERM info)
{
	*priv = *old_priv;
	return load(env, priv, info);
}

/* The library stays mapped, but nobody calls it any more. */
static void unload(ErlNifEnv *env, void *priv)
{
	(void)env, (void)priv;
	if (atomic_fetch_sub(&nloaded, 1) == 1) {
		sampler_unload();
		jobs_unload();
	}
}

ERL_NIF_INIT(erltrace_nif, functions, load, NULL, upgrade, unload)
