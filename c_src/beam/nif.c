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

/* ---- handles by number ----------------------------------------------------------------- */

/*
 * An event looks its handle up without a lock. Each thread says in its own word that it is inside;
 * who takes a handle out of the table waits until every thread has been seen outside.
 */
struct inside {
	_Atomic uint64_t seq; /* odd: inside */
	struct inside *next;
	char pad[112];
};

static _Atomic(struct beam_handle *) table[BEAM_HANDLES];
static _Atomic unsigned numbers;
static _Atomic(struct inside *) threads;
static __thread struct inside *mine;

static struct inside *new_inside(void)
{
	struct inside *i = calloc(1, sizeof(*i)); /* once in a thread's life */

	if (i == NULL)
		abort();
	i->next = atomic_load(&threads);
	while (!atomic_compare_exchange_weak(&threads, &i->next, i))
		;
	return i;
}

struct beam_handle *beam_enter(unsigned number)
{
	struct beam_handle *b;

	if (mine == NULL)
		mine = new_inside();
	atomic_store_explicit(&mine->seq, atomic_load_explicit(&mine->seq, memory_order_relaxed) + 1,
		memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst); /* the other side has membarrier */
	b = atomic_load_explicit(&table[number % BEAM_HANDLES], memory_order_acquire);
	return b != NULL && b->number == number ? b : NULL;
}

void beam_leave(void)
{
	if (mine != NULL)
		atomic_store_explicit(&mine->seq,
			(atomic_load_explicit(&mine->seq, memory_order_relaxed) | 1) + 1,
			memory_order_release);
}

static void wait_outside(void)
{
	syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	for (struct inside *i = atomic_load(&threads); i != NULL; i = i->next) {
		uint64_t seq = atomic_load_explicit(&i->seq, memory_order_acquire);

		while ((seq & 1) && atomic_load_explicit(&i->seq, memory_order_acquire) == seq)
			usleep(50);
	}
}

int beam_register(struct beam_handle *b)
{
	for (int tries = 0; tries < BEAM_HANDLES; tries++) {
		unsigned n = atomic_fetch_add(&numbers, 1) & 0x7ffffff;
		struct beam_handle *none = NULL;

		b->number = n;
		if (atomic_compare_exchange_strong(&table[n % BEAM_HANDLES], &none, b))
			return 0;
	}
	return -1;
}

void beam_unregister(struct beam_handle *b)
{
	struct beam_handle *expected = b;

	atomic_store(&b->live, false);
	if (atomic_compare_exchange_strong(&table[b->number % BEAM_HANDLES], &expected, NULL))
		wait_outside();
}

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

static void close_handle(struct beam_handle *b)
{
	if (b->h == NULL)
		return;
	beam_unregister(b);
	erltrace_close(b->h);
	b->h = NULL;
	for (unsigned i = 0; i < b->fns.nbuckets; i++)
		for (struct beam_fn *fn = b->fns.buckets[i], *next; fn != NULL; fn = next) {
			next = fn->next;
			et_str_free(fn->mfa);
			free(fn->name);
			free(fn);
		}
	free(b->fns.buckets);
	memset(&b->fns, 0, sizeof(b->fns));
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

/* add_functions(Handle, Module, [{Function, Arity}]) */
static ERL_NIF_TERM nif_add_functions(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM head, tail = argv[2];
	const ERL_NIF_TERM *t;
	unsigned arity;
	int n;

	WITH_HANDLE(b)
	while (enif_get_list_cell(env, tail, &head, &tail))
		if (enif_get_tuple(env, head, &n, &t) && n == 2 && enif_get_uint(env, t[1], &arity))
			beam_function_add(b, env, argv[1], t[0], arity);
	enif_mutex_unlock(b->lock);
	return atom_ok;
}

/* compile(Handle, Source, [Argument]) -> ok | functions | {error, ..} */
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
		b->wants_functions = false;
		rc = erltrace_compile_n(b->h, src, len, &o, &e);
		if (rc < 0 && b->wants_functions && b->fns.n == 0)
			ret = enif_make_atom(env, "functions");
		else if (rc < 0)
			ret = error_term(env, &e);
	}
	free(src);
	for (int i = 0; i < o.argc; i++)
		free(args[i]);
	enif_mutex_unlock(b->lock);
	return ret;
}

/* needs(Handle) -> [{route, Name} | {local | global, M, F, A}]: what the enabled probes need. */
static ERL_NIF_TERM nif_needs(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	static const char *const routes[] = {"procs", "send", "receive", "running_procs",
		"garbage_collection", "local", "global"};
	ERL_NIF_TERM list = enif_make_list(env, 0);

	WITH_HANDLE(b)
	for (int i = 0; i < BP_FUNCTION_ENTRY; i++)
		if (en_enabled(b->probe[i]))
			list = enif_make_list_cell(
				env, enif_make_atom(env, routes[beam_probedefs[i].route]), list);
	for (unsigned i = 0; i < b->fns.nbuckets; i++)
		for (struct beam_fn *fn = b->fns.buckets[i]; fn != NULL; fn = fn->next)
			for (int k = BP_FUNCTION_ENTRY; k < BP_COUNT_; k++)
				if (en_enabled(fn->probe[k - BP_FUNCTION_ENTRY]))
					list = enif_make_list_cell(env,
						enif_make_tuple4(env,
							enif_make_atom(env,
								routes[beam_probedefs[k].route]),
							fn->mod, fn->fun,
							enif_make_uint(env, fn->arity)),
						list);
	enif_mutex_unlock(b->lock);
	return list;
}

static ERL_NIF_TERM nif_go(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	erltrace_error_t e = {.tag = ""};
	ERL_NIF_TERM ret = atom_ok;

	WITH_HANDLE(b)
	if (erltrace_go(b->h, &e) < 0)
		ret = error_term(env, &e);
	else
		atomic_store(&b->live, true);
	enif_mutex_unlock(b->lock);
	return ret;
}

static ERL_NIF_TERM nif_stop(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	erltrace_error_t e = {.tag = ""};
	ERL_NIF_TERM ret = atom_ok;

	WITH_HANDLE(b)
	atomic_store(&b->live, false);
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
	{"needs", 1, nif_needs, ERL_NIF_DIRTY_JOB_CPU_BOUND},
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
