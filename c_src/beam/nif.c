/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of erltrace_nif.erl. Compiling, starting, reading results and stopping run on
 * dirty schedulers; the rest returns at once. A handle is a resource: it ends with its owner
 * process, by a monitor, or when nobody refers to it any more.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "beam.h"

#define X(a) ERL_NIF_TERM atom_##a;
ATOMS(X)
#undef X

static ErlNifResourceType *handle_type;

/* ---- terms ----------------------------------------------------------------------------- */

static ERL_NIF_TERM binary(ErlNifEnv *env, const void *bytes, size_t len)
{
	ERL_NIF_TERM t;
	unsigned char *p = enif_make_new_binary(env, len, &t);

	memcpy(p, bytes, len);
	return t;
}

static ERL_NIF_TERM text(ErlNifEnv *env, const char *s)
{
	return binary(env, s, strlen(s));
}

/* {error, {Tag, Line, Column, Text}} */
static ERL_NIF_TERM error_term(ErlNifEnv *env, const erltrace_error_t *e)
{
	return enif_make_tuple2(env, atom_error,
		enif_make_tuple4(env, text(env, e->tag), enif_make_int(env, e->line),
			enif_make_int(env, e->column), text(env, e->text)));
}

static ERL_NIF_TERM value_term(ErlNifEnv *env, const erltrace_value_t *v)
{
	switch (v->kind) {
	case ERLTRACE_INT:
		return v->is_signed ? enif_make_int64(env, v->i)
				    : enif_make_uint64(env, (uint64_t)v->i);
	case ERLTRACE_FLOAT: return enif_make_double(env, v->f);
	default: return v->bytes ? binary(env, v->bytes, v->len) : atom_undefined;
	}
}

static struct beam_handle *get(ErlNifEnv *env, ERL_NIF_TERM t)
{
	void *p;

	return enif_get_resource(env, t, handle_type, &p) ? p : NULL;
}

static char *get_text(ErlNifEnv *env, ERL_NIF_TERM t, size_t *len)
{
	ErlNifBinary bin;
	char *s;

	if (!enif_inspect_iolist_as_binary(env, t, &bin))
		return NULL;
	s = malloc(bin.size + 1);
	if (s == NULL)
		return NULL;
	memcpy(s, bin.data, bin.size);
	s[bin.size] = '\0';
	if (len != NULL)
		*len = bin.size;
	return s;
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

static void close_handle(struct beam_handle *b)
{
	if (b->h == NULL)
		return;
	count_user(b, false);
	beam_unregister(b);
	erltrace_close(b->h);
	b->h = NULL;
	beam_functions_free(&b->fns);
	beam_procs_fini(&b->procs);
	for (unsigned i = 0; i < b->nwants; i++) {
		free(b->wants[i].mod);
		free(b->wants[i].fun);
		free(b->wants[i].name);
	}
	free(b->wants);
	free(b->user);
	free(b->ports);
	b->wants = NULL;
	b->user = NULL;
	b->ports = NULL;
	b->nwants = 0;
}

static void handle_dtor(ErlNifEnv *env, void *obj)
{
	struct beam_handle *b = obj;

	(void)env;
	close_handle(b);
	if (b->lock != NULL)
		enif_mutex_destroy(b->lock);
}

static ERL_NIF_TERM nif_open(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct beam_handle *b = enif_alloc_resource(handle_type, sizeof(*b));
	erltrace_error_t e = {.tag = ""};
	ERL_NIF_TERM t;

	(void)argc, (void)argv;
	memset(b, 0, sizeof(*b));
	b->node = atom_undefined;
	b->lock = enif_mutex_create("erltrace_handle");
	beam_set_opening(b);
	b->h = erltrace_open(&e);
	beam_set_opening(NULL);
	if (b->h == NULL) {
		enif_release_resource(b);
		return error_term(env, &e);
	}
	if (beam_register(b) < 0) {
		enif_release_resource(b);
		snprintf(e.tag, sizeof(e.tag), "ET_HANDLES");
		snprintf(e.text, sizeof(e.text), "more than %d handles are open", BEAM_HANDLES);
		return error_term(env, &e);
	}
	t = enif_make_resource(env, b);
	enif_release_resource(b);
	return enif_make_tuple3(env, atom_ok, t, enif_make_uint(env, b->number));
}

static ERL_NIF_TERM nif_close(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct beam_handle *b = get(env, argv[0]);

	(void)argc;
	if (b == NULL)
		return enif_make_badarg(env);
	enif_mutex_lock(b->lock);
	close_handle(b);
	enif_mutex_unlock(b->lock);
	return atom_ok;
}

#define WITH_HANDLE(b)                                                                             \
	struct beam_handle *b = get(env, argv[0]);                                                 \
	(void)argc;                                                                                \
	if (b == NULL)                                                                             \
		return enif_make_badarg(env);                                                      \
	enif_mutex_lock(b->lock);                                                                  \
	if (b->h == NULL) {                                                                        \
		enif_mutex_unlock(b->lock);                                                        \
		return enif_make_tuple2(env, atom_error, enif_make_atom(env, "closed"));           \
	}

static ERL_NIF_TERM nif_setopt(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	erltrace_error_t e = {.tag = ""};
	ERL_NIF_TERM ret = atom_ok;
	char *name, *value;

	WITH_HANDLE(b)
	name = get_text(env, argv[1], NULL);
	value = get_text(env, argv[2], NULL);
	if (name == NULL || value == NULL)
		ret = enif_make_badarg(env);
	else if (erltrace_setopt(b->h, name, value[0] ? value : NULL, &e) < 0)
		ret = error_term(env, &e);
	free(name);
	free(value);
	enif_mutex_unlock(b->lock);
	return ret;
}

/* wants(Handle, Module) -> boolean(): may a description name functions of this module? */
static ERL_NIF_TERM nif_wants(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	char mod[256];
	bool wanted;

	WITH_HANDLE(b)
	wanted = enif_get_atom(env, argv[1], mod, sizeof(mod), ERL_NIF_LATIN1) > 0 &&
		 beam_wants_module(b, mod);
	enif_mutex_unlock(b->lock);
	return wanted ? atom_true : atom_false;
}

/* add_functions(Handle, Module, [{Function, Arity, erlang | bif | nif}]) */
static ERL_NIF_TERM nif_add_functions(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM head, tail = argv[2];
	const ERL_NIF_TERM *t;
	unsigned arity;
	int n;

	WITH_HANDLE(b)
	while (enif_get_list_cell(env, tail, &head, &tail))
		if (enif_get_tuple(env, head, &n, &t) && n == 3 && enif_get_uint(env, t[1], &arity))
			beam_function_add(b, env, argv[1], t[0], arity,
				t[2] == atom_bif   ? FN_BIF
				: t[2] == atom_nif ? FN_NIF
						   : FN_ERLANG);
	enif_mutex_unlock(b->lock);
	return atom_ok;
}

/* add_ports(Handle, [{Port, Owner, Name}]) */
static ERL_NIF_TERM nif_add_ports(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM head, tail = argv[1];
	const ERL_NIF_TERM *t;
	int n;

	WITH_HANDLE(b)
	if (beam_ports_init(b) == 0)
		while (enif_get_list_cell(env, tail, &head, &tail))
			if (enif_get_tuple(env, head, &n, &t) && n == 3)
				beam_port_note(b, env, t[0], t[1], t[2]);
	enif_mutex_unlock(b->lock);
	return atom_ok;
}

/*
 * compile(Handle, Source, [Argument]) -> ok | {ok, functions} | functions | {error, ..}: functions
 * says that some are wanted which are not known yet; without ok, that it is to be done again.
 */
static ERL_NIF_TERM nif_compile(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	erltrace_compile_opts_t o = {.size = sizeof(o)};
	erltrace_error_t e = {.tag = ""};
	ERL_NIF_TERM head, tail = argv[2], ret = atom_ok;
	char *args[64], *src;
	size_t len;
	int rc;

	WITH_HANDLE(b)
	while (o.argc < 64 && enif_get_list_cell(env, tail, &head, &tail) &&
		(args[o.argc] = get_text(env, head, NULL)) != NULL)
		o.argc++;
	o.argv = (const char *const *)args;
	src = get_text(env, argv[1], &len);
	if (src == NULL) {
		ret = enif_make_badarg(env);
	} else {
		b->new_wants = false;
		rc = erltrace_compile_n(b->h, src, len, &o, &e);
		if (b->new_wants)
			ret = rc < 0 ? atom_functions
				     : enif_make_tuple2(env, atom_ok, atom_functions);
		else if (rc < 0)
			ret = error_term(env, &e);
	}
	free(src);
	for (int i = 0; i < o.argc; i++)
		free(args[i]);
	enif_mutex_unlock(b->lock);
	return ret;
}

/*
 * needs(Handle, Node, ProcessLimit) -> [Flag | {local | global, M, F, A}] | {error, enomem}: what the
 * enabled probes need.
 */
static ERL_NIF_TERM nif_needs(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ErlNifUInt64 limit;
	ERL_NIF_TERM list;

	WITH_HANDLE(b)
	b->node = argv[1];
	if (!enif_get_uint64(env, argv[2], &limit))
		limit = 0;
	list = beam_needs(b, env, limit);
	count_user(b, beam_user_enabled(b));
	enif_mutex_unlock(b->lock);
	return list;
}

/* layout_events(Handle, On): the handle's events are those of the layout check. */
static ERL_NIF_TERM nif_layout_events(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	WITH_HANDLE(b)
	b->layout = argv[1] == atom_true;
	enif_mutex_unlock(b->lock);
	return atom_ok;
}

/* counts(Handle) -> {Fired, Lost}: firings; frames and processes that found no room. */
static ERL_NIF_TERM nif_counts(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	uint64_t fired, lost;

	WITH_HANDLE(b)
	fired = en_fired(b->h->en);
	lost = atomic_load(&b->procs.lost);
	enif_mutex_unlock(b->lock);
	return enif_make_tuple2(env, enif_make_uint64(env, fired), enif_make_uint64(env, lost));
}

static ERL_NIF_TERM nif_go(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	erltrace_error_t e = {.tag = ""};
	ERL_NIF_TERM ret = atom_ok;

	WITH_HANDLE(b)
	if (erltrace_go(b->h, &e) < 0)
		ret = error_term(env, &e);
	else
		beam_set_live(b, true);
	enif_mutex_unlock(b->lock);
	return ret;
}

static ERL_NIF_TERM nif_stop(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	erltrace_error_t e = {.tag = ""};
	ERL_NIF_TERM ret = atom_ok;

	WITH_HANDLE(b)
	beam_set_live(b, false);
	count_user(b, false);
	if (erltrace_stop(b->h, &e) < 0)
		ret = error_term(env, &e);
	enif_mutex_unlock(b->lock);
	return ret;
}

/* ---- results --------------------------------------------------------------------------- */

struct results {
	ErlNifEnv *env;
	ERL_NIF_TERM list;
};

static void push(struct results *r, ERL_NIF_TERM t)
{
	r->list = enif_make_list_cell(r->env, t, r->list);
}

static int on_text(void *arg, const char *s, size_t len)
{
	struct results *r = arg;

	push(r, enif_make_tuple2(r->env, atom_text, binary(r->env, s, len)));
	return 0;
}

static ERL_NIF_TERM probe_term(ErlNifEnv *env, const erltrace_probe_info_t *p)
{
	return enif_make_tuple4(env, text(env, p->provider), text(env, p->module),
		text(env, p->function), text(env, p->name));
}

static int on_record(void *arg, const erltrace_event_t *ev, const erltrace_record_t *rec)
{
	struct results *r = arg;
	ERL_NIF_TERM value;

	if (strcmp(rec->action, "printf") == 0)
		value = binary(r->env, rec->text, rec->len);
	else if (rec->nvalues > 0)
		value = value_term(r->env, &rec->values[0]);
	else
		return 0;
	push(r, enif_make_tuple3(r->env,
			strcmp(rec->action, "printf") == 0 ? atom_printf : atom_probe,
			probe_term(r->env, &ev->probe), value));
	return 0;
}

static int on_drop(void *arg, const erltrace_drop_t *d)
{
	struct results *r = arg;

	push(r, enif_make_tuple3(r->env, atom_drop, text(r->env, d->kind),
			enif_make_uint64(r->env, d->drops)));
	return 0;
}

static int on_fault(void *arg, const erltrace_fault_t *f)
{
	struct results *r = arg;

	push(r, enif_make_tuple2(r->env, atom_fault, text(r->env, f->message)));
	return 0;
}

/* work(Handle, text | records) -> {ok | done, [Item]} */
static ERL_NIF_TERM nif_work(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct results r = {.env = env, .list = enif_make_list(env, 0)};
	erltrace_handlers_t hs = {.size = sizeof(hs), .arg = &r, .drop = on_drop, .fault = on_fault};
	erltrace_error_t e = {.tag = ""};
	ERL_NIF_TERM items;
	int rc;

	WITH_HANDLE(b)
	if (argv[1] == atom_text)
		hs.text = on_text;
	else
		hs.record = on_record;
	rc = erltrace_work(b->h, &hs, &e);
	enif_mutex_unlock(b->lock);
	if (rc < 0)
		return error_term(env, &e);
	enif_make_reverse_list(env, r.list, &items);
	return enif_make_tuple2(env, rc == ERLTRACE_DONE ? atom_done : atom_ok, items);
}

static int on_agg(void *arg, const erltrace_agg_t *a)
{
	struct results *r = arg;
	ErlNifEnv *env = r->env;
	ERL_NIF_TERM keys = enif_make_list(env, 0), value = enif_make_int64(env, a->value);

	for (unsigned i = a->nkeys; i-- > 0;)
		keys = enif_make_list_cell(env, value_term(env, &a->keys[i]), keys);
	if (strcmp(a->function, "avg") == 0 || strcmp(a->function, "stddev") == 0) {
		value = enif_make_double(env, a->avg);
	} else if (strstr(a->function, "quantize") != NULL) {
		value = enif_make_list(env, 0);
		for (unsigned i = a->nbuckets; i-- > 0;)
			value = enif_make_list_cell(env,
				enif_make_tuple2(env,
					enif_make_tuple2(env,
						enif_make_int64(env, a->buckets[i].lo),
						enif_make_int64(env, a->buckets[i].hi - 1)),
					enif_make_int64(env, a->buckets[i].count)),
				value);
	}
	push(r, enif_make_tuple4(env, text(env, a->name), enif_make_atom(env, a->function), keys,
			value));
	return 0;
}

/* walk(Handle, Clear) -> {ok, [{Name, Function, Keys, Value}]} */
static ERL_NIF_TERM nif_walk(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct results r = {.env = env, .list = enif_make_list(env, 0)};
	erltrace_error_t e = {.tag = ""};
	ERL_NIF_TERM items;
	int rc;

	WITH_HANDLE(b)
	rc = erltrace_snapshot(b->h, &e);
	if (rc == 0)
		rc = erltrace_walk(b->h, NULL, on_agg, &r, &e);
	if (rc == 0 && argv[1] == atom_true)
		erltrace_trunc(b->h, NULL, &e);
	enif_mutex_unlock(b->lock);
	if (rc < 0)
		return error_term(env, &e);
	enif_make_reverse_list(env, r.list, &items);
	return enif_make_tuple2(env, atom_ok, items);
}

/* ---- the library ----------------------------------------------------------------------- */

static ErlNifFunc functions[] = {
	{"enabled", 3, beam_enabled, 0},
	{"trace", 5, beam_trace, 0},
	{"open", 0, nif_open, ERL_NIF_DIRTY_JOB_CPU_BOUND},
	{"close", 1, nif_close, ERL_NIF_DIRTY_JOB_CPU_BOUND},
	{"setopt", 3, nif_setopt, 0},
	{"add_functions", 3, nif_add_functions, ERL_NIF_DIRTY_JOB_CPU_BOUND},
	{"compile", 3, nif_compile, ERL_NIF_DIRTY_JOB_CPU_BOUND},
	{"wants", 2, nif_wants, 0},
	{"add_ports", 2, nif_add_ports, ERL_NIF_DIRTY_JOB_CPU_BOUND},
	{"needs", 3, nif_needs, ERL_NIF_DIRTY_JOB_CPU_BOUND},
	{"layout", 1, nif_layout, 0},
	{"layout_events", 2, nif_layout_events, 0},
	{"counts", 1, nif_counts, 0},
	{"user_enabled", 0, nif_user_enabled, 0},
	{"user_trace", 1, nif_user_trace, 0},
	{"go", 1, nif_go, ERL_NIF_DIRTY_JOB_CPU_BOUND},
	{"stop", 1, nif_stop, ERL_NIF_DIRTY_JOB_CPU_BOUND},
	{"work", 2, nif_work, ERL_NIF_DIRTY_JOB_CPU_BOUND},
	{"walk", 2, nif_walk, ERL_NIF_DIRTY_JOB_CPU_BOUND},
};

static int load(ErlNifEnv *env, void **priv, ERL_NIF_TERM info)
{
	(void)priv, (void)info;
#define X(a) atom_##a = enif_make_atom(env, #a);
	ATOMS(X)
#undef X
	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
	handle_type = enif_open_resource_type(
		env, NULL, "erltrace_handle", handle_dtor, ERL_NIF_RT_CREATE, NULL);
	return handle_type == NULL;
}

ERL_NIF_INIT(erltrace_nif, functions, load, NULL, NULL, NULL)
