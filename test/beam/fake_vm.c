/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_vm.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST = 1, BOXED = 2 };				     /* lowest bits of a term */
enum { TUPLE = 0, BIG = 2, NEGATIVE = 3, REF = 4, FLOAT = 6, BINARY = 9, MAP = 15, MAGIC = 12 };
#define NIL	   (~(ERL_NIF_TERM)0x3f | 0x3b)
#define HEAD(k, n) ((ERL_NIF_TERM)(n) << 6 | (ERL_NIF_TERM)(k) << 2)

/* ---- memory ---------------------------------------------------------------------------- */

ErlNifEnv *fake_env(void *process)
{
	ErlNifEnv *env = calloc(1, sizeof(*env));

	env->words[1] = process;
	env->size = 64 << 20;
	env->mem = calloc(1, env->size);
	return env;
}

void fake_reset(ErlNifEnv *env)
{
	env->used = 0;
}

void fake_env_free(ErlNifEnv *env)
{
	free(env->mem);
	free(env);
}

static ERL_NIF_TERM *words(ErlNifEnv *env, size_t n)
{
	ERL_NIF_TERM *w = (ERL_NIF_TERM *)(void *)(env->mem + env->used);

	env->used += 8 * n;
	if (env->used > env->size)
		abort();
	return w;
}

static ERL_NIF_TERM box(const ERL_NIF_TERM *w)
{
	return (ERL_NIF_TERM)(uintptr_t)w | BOXED;
}

static ERL_NIF_TERM *at(ERL_NIF_TERM t)
{
	return (ERL_NIF_TERM *)(uintptr_t)(t & ~(ERL_NIF_TERM)7);
}

static bool is(ERL_NIF_TERM t, unsigned kind)
{
	return (t & 3) == BOXED && (at(t)[0] >> 2 & 15) == kind;
}

ErlNifEnv *enif_alloc_env(void) { return fake_env(NULL); }
void enif_free_env(ErlNifEnv *env) { fake_env_free(env); }
void *enif_alloc(size_t size) { return malloc(size); }
void enif_free(void *p) { free(p); }

/* ---- atoms ----------------------------------------------------------------------------- */

static pthread_mutex_t atoms_lock = PTHREAD_MUTEX_INITIALIZER;
static const char *atoms[4096];
static _Atomic unsigned natoms; /* read without the lock, which would hide races */

ERL_NIF_TERM enif_make_atom(ErlNifEnv *env, const char *name)
{
	unsigned i;

	(void)env;
	pthread_mutex_lock(&atoms_lock);
	for (i = 0; i < natoms && strcmp(atoms[i], name) != 0; i++)
		;
	if (i == natoms) {
		atoms[i] = strdup(name);
		natoms = i + 1;
	}
	pthread_mutex_unlock(&atoms_lock);
	return (ERL_NIF_TERM)i << 6 | 0xb;
}

static const char *atom_name(ERL_NIF_TERM t)
{
	return t >> 6 < natoms ? atoms[t >> 6] : "?";
}

int enif_is_atom(ErlNifEnv *env, ERL_NIF_TERM t) { (void)env; return (t & 0x3f) == 0xb; }

int enif_get_atom(
	ErlNifEnv *env, ERL_NIF_TERM t, char *buf, unsigned size, ErlNifCharEncoding encoding)
{
	(void)encoding;
	if (!enif_is_atom(env, t) || strlen(atom_name(t)) >= size)
		return 0;
	strcpy(buf, atom_name(t));
	return (int)strlen(buf) + 1;
}

/* ---- numbers --------------------------------------------------------------------------- */

ERL_NIF_TERM enif_make_long(ErlNifEnv *env, long v)
{
	ERL_NIF_TERM *w;

	if (v >= -(1L << 59) && v < 1L << 59)
		return (ERL_NIF_TERM)v << 4 | 15;
	w = words(env, 2);
	w[0] = HEAD(v < 0 ? NEGATIVE : BIG, 1);
	w[1] = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
	return box(w);
}

ERL_NIF_TERM enif_make_ulong(ErlNifEnv *env, unsigned long v)
{
	ERL_NIF_TERM *w;

	if (v < 1UL << 63)
		return enif_make_long(env, (long)v);
	w = words(env, 2);
	w[0] = HEAD(BIG, 1);
	w[1] = v;
	return box(w);
}

ERL_NIF_TERM enif_make_int(ErlNifEnv *env, int v) { return enif_make_long(env, v); }
ERL_NIF_TERM enif_make_uint(ErlNifEnv *env, unsigned v) { return enif_make_long(env, v); }

ERL_NIF_TERM enif_make_double(ErlNifEnv *env, double d)
{
	ERL_NIF_TERM *w = words(env, 2);

	w[0] = HEAD(FLOAT, 1);
	memcpy(&w[1], &d, 8);
	return box(w);
}

int enif_get_long(ErlNifEnv *env, ERL_NIF_TERM t, long *v)
{
	(void)env;
	if ((t & 15) == 15) {
		*v = (long)t >> 4;
		return 1;
	}
	if ((!is(t, BIG) && !is(t, NEGATIVE)) || at(t)[1] >> 63)
		return 0;
	*v = is(t, BIG) ? (long)at(t)[1] : -(long)at(t)[1];
	return 1;
}

int enif_get_ulong(ErlNifEnv *env, ERL_NIF_TERM t, unsigned long *v)
{
	long l;

	if (is(t, BIG)) {
		*v = at(t)[1];
		return 1;
	}
	if (!enif_get_long(env, t, &l) || l < 0)
		return 0;
	*v = (unsigned long)l;
	return 1;
}

int enif_get_int(ErlNifEnv *env, ERL_NIF_TERM t, int *v)
{
	long l;

	if (!enif_get_long(env, t, &l) || l != (int)l)
		return 0;
	*v = (int)l;
	return 1;
}

int enif_get_uint(ErlNifEnv *env, ERL_NIF_TERM t, unsigned *v)
{
	long l;

	if (!enif_get_long(env, t, &l) || l < 0 || l > (long)UINT32_MAX)
		return 0;
	*v = (unsigned)l;
	return 1;
}

int enif_get_double(ErlNifEnv *env, ERL_NIF_TERM t, double *d)
{
	(void)env;
	if (is(t, FLOAT))
		memcpy(d, &at(t)[1], 8);
	return is(t, FLOAT);
}

int enif_is_number(ErlNifEnv *env, ERL_NIF_TERM t)
{
	(void)env;
	return (t & 15) == 15 || is(t, BIG) || is(t, NEGATIVE) || is(t, FLOAT);
}

/* ---- pids, ports, references ----------------------------------------------------------- */

ERL_NIF_TERM fake_pid(unsigned number) { return (ERL_NIF_TERM)number * 8 << 4 | 3; }
ERL_NIF_TERM fake_port(unsigned number) { return (ERL_NIF_TERM)number << 4 | 7; }
int enif_is_pid(ErlNifEnv *env, ERL_NIF_TERM t) { (void)env; return (t & 15) == 3; }
int enif_is_port(ErlNifEnv *env, ERL_NIF_TERM t) { (void)env; return (t & 15) == 7; }
int enif_is_ref(ErlNifEnv *env, ERL_NIF_TERM t) { (void)env; (void)t; return 0; }

int enif_get_local_pid(ErlNifEnv *env, ERL_NIF_TERM t, ErlNifPid *pid)
{
	pid->pid = t;
	return enif_is_pid(env, t);
}

static _Atomic bool ended[FAKE_NUMBERS];

void fake_ends(ERL_NIF_TERM pid)
{
	atomic_store(&ended[(pid >> 7) % FAKE_NUMBERS], true);
}

int enif_is_process_alive(ErlNifEnv *env, ErlNifPid *pid)
{
	(void)env;
	return !atomic_load(&ended[(pid->pid >> 7) % FAKE_NUMBERS]);
}

int enif_get_local_port(ErlNifEnv *env, ERL_NIF_TERM t, ErlNifPort *port)
{
	port->port_id = t;
	return enif_is_port(env, t);
}

ErlNifPid *enif_self(ErlNifEnv *env, ErlNifPid *pid)
{
	(void)env;
	pid->pid = fake_pid(1);
	return pid;
}

ERL_NIF_TERM enif_make_ref(ErlNifEnv *env)
{
	ERL_NIF_TERM *w = words(env, 3);

	w[0] = HEAD(REF, 2);
	w[1] = w[2] = 7;
	return box(w);
}

/* ---- lists, tuples, maps --------------------------------------------------------------- */

ERL_NIF_TERM enif_make_list_cell(ErlNifEnv *env, ERL_NIF_TERM head, ERL_NIF_TERM tail)
{
	ERL_NIF_TERM *w = words(env, 2);

	w[0] = head;
	w[1] = tail;
	return (ERL_NIF_TERM)(uintptr_t)w | LIST;
}

ERL_NIF_TERM enif_make_list(ErlNifEnv *env, unsigned n, ...)
{
	ERL_NIF_TERM part[64], list = NIL;
	va_list ap;

	va_start(ap, n);
	for (unsigned i = 0; i < n; i++)
		part[i] = va_arg(ap, ERL_NIF_TERM);
	va_end(ap);
	while (n-- > 0)
		list = enif_make_list_cell(env, part[n], list);
	return list;
}

ERL_NIF_TERM enif_make_list_from_array(ErlNifEnv *env, const ERL_NIF_TERM part[], unsigned n)
{
	ERL_NIF_TERM list = NIL;

	while (n-- > 0)
		list = enif_make_list_cell(env, part[n], list);
	return list;
}

int enif_get_list_cell(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM *head, ERL_NIF_TERM *tail)
{
	(void)env;
	if ((t & 3) != LIST)
		return 0;
	*head = at(t)[0];
	*tail = at(t)[1];
	return 1;
}

int enif_is_empty_list(ErlNifEnv *env, ERL_NIF_TERM t) { (void)env; return t == NIL; }
int enif_is_list(ErlNifEnv *env, ERL_NIF_TERM t) { (void)env; return t == NIL || (t & 3) == LIST; }

int enif_get_list_length(ErlNifEnv *env, ERL_NIF_TERM t, unsigned *n)
{
	ERL_NIF_TERM head;

	for (*n = 0; enif_get_list_cell(env, t, &head, &t); ++*n)
		;
	return t == NIL;
}

int enif_make_reverse_list(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM *list)
{
	ERL_NIF_TERM head;

	for (*list = NIL; enif_get_list_cell(env, t, &head, &t);)
		*list = enif_make_list_cell(env, head, *list);
	return t == NIL;
}

ERL_NIF_TERM enif_make_tuple(ErlNifEnv *env, unsigned n, ...)
{
	ERL_NIF_TERM *w = words(env, 1 + n);
	va_list ap;

	w[0] = HEAD(TUPLE, n);
	va_start(ap, n);
	for (unsigned i = 1; i <= n; i++)
		w[i] = va_arg(ap, ERL_NIF_TERM);
	va_end(ap);
	return box(w);
}

ERL_NIF_TERM enif_make_tuple_from_array(ErlNifEnv *env, const ERL_NIF_TERM e[], unsigned n)
{
	ERL_NIF_TERM *w = words(env, 1 + n);

	w[0] = HEAD(TUPLE, n);
	if (n > 0)
		memcpy(w + 1, e, n * sizeof(*e));
	return box(w);
}

int enif_get_tuple(ErlNifEnv *env, ERL_NIF_TERM t, int *n, const ERL_NIF_TERM **e)
{
	(void)env;
	if (!is(t, TUPLE))
		return 0;
	*n = (int)(at(t)[0] >> 6);
	*e = at(t) + 1;
	return 1;
}

ERL_NIF_TERM enif_make_new_map(ErlNifEnv *env)
{
	ERL_NIF_TERM *w = words(env, 3);

	w[0] = HEAD(MAP, 0);
	w[1] = 0;
	w[2] = enif_make_tuple(env, 0);
	return box(w);
}

/* Of one key: more are not needed. */
int enif_make_map_put(
	ErlNifEnv *env, ERL_NIF_TERM in, ERL_NIF_TERM key, ERL_NIF_TERM value, ERL_NIF_TERM *out)
{
	ERL_NIF_TERM *w = words(env, 4);

	if (at(in)[1] != 0)
		return 0;
	w[0] = HEAD(MAP, 0);
	w[1] = 1;
	w[2] = enif_make_tuple(env, 1, key);
	w[3] = value;
	*out = box(w);
	return 1;
}

int enif_is_map(ErlNifEnv *env, ERL_NIF_TERM t) { (void)env; return is(t, MAP); }
int enif_get_map_size(ErlNifEnv *env, ERL_NIF_TERM t, size_t *n)
{
	(void)env;
	*n = is(t, MAP) ? at(t)[1] : 0;
	return is(t, MAP);
}

int enif_get_map_value(ErlNifEnv *env, ERL_NIF_TERM map, ERL_NIF_TERM key, ERL_NIF_TERM *value)
{
	(void)env;
	for (size_t i = 0; is(map, MAP) && i < at(map)[1]; i++)
		if (at(at(map)[2])[1 + i] == key) {
			*value = at(map)[3 + i];
			return 1;
		}
	return 0;
}

int enif_map_iterator_create(
	ErlNifEnv *env, ERL_NIF_TERM map, ErlNifMapIterator *it, ErlNifMapIteratorEntry entry)
{
	(void)env, (void)entry;
	*it = (ErlNifMapIterator){.map = map, .size = is(map, MAP) ? at(map)[1] : 0};
	return is(map, MAP);
}

int enif_map_iterator_get_pair(
	ErlNifEnv *env, ErlNifMapIterator *it, ERL_NIF_TERM *key, ERL_NIF_TERM *value)
{
	(void)env;
	if (it->idx >= it->size)
		return 0;
	*key = at(at(it->map)[2])[1 + it->idx];
	*value = at(it->map)[3 + it->idx];
	return 1;
}

int enif_map_iterator_next(ErlNifEnv *env, ErlNifMapIterator *it)
{
	(void)env;
	return ++it->idx < it->size;
}

void enif_map_iterator_destroy(ErlNifEnv *env, ErlNifMapIterator *it) { (void)env, (void)it; }

/* ---- binaries -------------------------------------------------------------------------- */

unsigned char *enif_make_new_binary(ErlNifEnv *env, size_t size, ERL_NIF_TERM *t)
{
	ERL_NIF_TERM *w = words(env, 2 + (size + 7) / 8);

	w[0] = HEAD(BINARY, 1 + (size + 7) / 8);
	w[1] = size;
	*t = box(w);
	return (unsigned char *)(w + 2);
}

ERL_NIF_TERM enif_make_sub_binary(ErlNifEnv *env, ERL_NIF_TERM bin, size_t pos, size_t size)
{
	ERL_NIF_TERM t;

	memcpy(enif_make_new_binary(env, size, &t), (char *)(at(bin) + 2) + pos, size);
	return t;
}

int enif_inspect_binary(ErlNifEnv *env, ERL_NIF_TERM t, ErlNifBinary *bin)
{
	(void)env;
	if (!is(t, BINARY))
		return 0;
	bin->size = at(t)[1];
	bin->data = (unsigned char *)(at(t) + 2);
	return 1;
}

int enif_inspect_iolist_as_binary(ErlNifEnv *env, ERL_NIF_TERM t, ErlNifBinary *bin)
{
	return enif_inspect_binary(env, t, bin);
}

int enif_is_binary(ErlNifEnv *env, ERL_NIF_TERM t) { (void)env; return is(t, BINARY); }
int enif_is_fun(ErlNifEnv *env, ERL_NIF_TERM t) { (void)env, (void)t; return 0; }
ERL_NIF_TERM enif_make_string(ErlNifEnv *env, const char *text, ErlNifCharEncoding encoding)
{
	size_t n = strlen(text);
	ERL_NIF_TERM t = NIL;

	(void)encoding;
	while (n-- > 0)
		t = enif_make_list_cell(env, enif_make_uint(env, (unsigned char)text[n]), t);
	return t;
}

int enif_get_string(
	ErlNifEnv *env, ERL_NIF_TERM t, char *buf, unsigned size, ErlNifCharEncoding encoding)
{
	unsigned n = 0, c;
	ERL_NIF_TERM head;

	(void)encoding;
	while (n + 1 < size && enif_get_list_cell(env, t, &head, &t) &&
		enif_get_uint(env, head, &c))
		buf[n++] = (char)c;
	buf[n] = '\0';
	return t == NIL ? (int)n + 1 : 0;
}

size_t enif_binary_to_term(ErlNifEnv *env, const unsigned char *data, size_t size,
	ERL_NIF_TERM *t, unsigned opts)
{
	(void)env, (void)data, (void)size, (void)t, (void)opts;
	return 0;
}

/* ---- resources ------------------------------------------------------------------------- */

struct resource {
	_Atomic long refs;
	ErlNifResourceType *type;
	_Alignas(16) char obj[];
};
struct enif_resource_type_t {
	ErlNifResourceDtor *dtor;
};

ErlNifResourceType *enif_open_resource_type(ErlNifEnv *env, const char *module, const char *name,
	ErlNifResourceDtor *d, ErlNifResourceFlags flags, ErlNifResourceFlags *tried)
{
	static ErlNifResourceType types[4];
	static unsigned n;

	(void)env, (void)module, (void)name, (void)flags, (void)tried;
	types[n].dtor = d;
	return &types[n++];
}

void *enif_alloc_resource(ErlNifResourceType *type, size_t size)
{
	struct resource *r = calloc(1, sizeof(*r) + size);

	r->type = type;
	r->refs = 1;
	return r->obj;
}

static struct resource *resource_of(void *obj)
{
	return (struct resource *)(void *)((char *)obj - offsetof(struct resource, obj));
}

void enif_keep_resource(void *obj)
{
	resource_of(obj)->refs++;
}

void enif_release_resource(void *obj)
{
	struct resource *r = resource_of(obj);

	if (--r->refs == 0) {
		r->type->dtor(NULL, obj);
		free(r);
	}
}

/* The term's reference is given back by the test, with enif_release_resource. */
ERL_NIF_TERM enif_make_resource(ErlNifEnv *env, void *obj)
{
	ERL_NIF_TERM *w = words(env, 2);

	enif_keep_resource(obj);
	w[0] = HEAD(MAGIC, 1);
	w[1] = (ERL_NIF_TERM)(uintptr_t)obj;
	return box(w);
}

int enif_get_resource(ErlNifEnv *env, ERL_NIF_TERM t, ErlNifResourceType *type, void **obj)
{
	(void)env;
	if (!is(t, MAGIC))
		return 0;
	*obj = (void *)(uintptr_t)at(t)[1];
	return resource_of(*obj)->type == type;
}

/* ---- the rest -------------------------------------------------------------------------- */

ErlNifMutex *enif_mutex_create(char *name)
{
	pthread_mutex_t *m = malloc(sizeof(*m));

	(void)name;
	pthread_mutex_init(m, NULL);
	return (ErlNifMutex *)(void *)m;
}

void enif_mutex_destroy(ErlNifMutex *m) { pthread_mutex_destroy((void *)m); free(m); }
void enif_mutex_lock(ErlNifMutex *m) { pthread_mutex_lock((void *)m); }
int enif_mutex_trylock(ErlNifMutex *m) { return pthread_mutex_trylock((void *)m); }
void enif_mutex_unlock(ErlNifMutex *m) { pthread_mutex_unlock((void *)m); }
ERL_NIF_TERM enif_make_badarg(ErlNifEnv *env) { return enif_make_atom(env, "badarg"); }
ERL_NIF_TERM enif_make_copy(ErlNifEnv *env, ERL_NIF_TERM t) { (void)env; return t; }
int enif_thread_type(void) { return ERL_NIF_THR_NORMAL_SCHEDULER; }
int enif_compare(ERL_NIF_TERM a, ERL_NIF_TERM b) { return a < b ? -1 : a > b; } /* the same */
int enif_is_identical(ERL_NIF_TERM a, ERL_NIF_TERM b) { return a == b; } /* of immediates */

int enif_has_pending_exception(ErlNifEnv *env, ERL_NIF_TERM *why) { (void)env, (void)why; return 0; }

/* To nobody. */
int enif_send(ErlNifEnv *env, const ErlNifPid *to, ErlNifEnv *msg_env, ERL_NIF_TERM msg)
{
	(void)env, (void)to, (void)msg_env, (void)msg;
	return 1;
}

/* At once. */
ERL_NIF_TERM enif_schedule_nif(ErlNifEnv *env, const char *name, int flags,
	ERL_NIF_TERM (*fn)(ErlNifEnv *, int, const ERL_NIF_TERM[]), int argc,
	const ERL_NIF_TERM argv[])
{
	(void)name, (void)flags;
	return fn(env, argc, argv);
}

void enif_system_info(ErlNifSysInfo *info, size_t size)
{
	static char release[] = "25", version[] = "13.0";

	memset(info, 0, size);
	info->scheduler_threads = 4;
	info->otp_release = release;
	info->erts_version = version;
}

ErlNifTermType enif_term_type(ErlNifEnv *env, ERL_NIF_TERM t)
{
	if (enif_is_number(env, t))
		return is(t, FLOAT) ? ERL_NIF_TERM_TYPE_FLOAT : ERL_NIF_TERM_TYPE_INTEGER;
	if (enif_is_atom(env, t))
		return ERL_NIF_TERM_TYPE_ATOM;
	if (enif_is_list(env, t))
		return ERL_NIF_TERM_TYPE_LIST;
	if ((t & 15) == 3 || (t & 15) == 7)
		return (t & 15) == 3 ? ERL_NIF_TERM_TYPE_PID : ERL_NIF_TERM_TYPE_PORT;
	switch (at(t)[0] >> 2 & 15) {
	case TUPLE: return ERL_NIF_TERM_TYPE_TUPLE;
	case MAP: return ERL_NIF_TERM_TYPE_MAP;
	case BINARY: return ERL_NIF_TERM_TYPE_BITSTRING;
	default: return ERL_NIF_TERM_TYPE_REFERENCE;
	}
}

static int print(char *buf, size_t size, ERL_NIF_TERM t)
{
	long v;

	if (enif_is_atom(NULL, t))
		return snprintf(buf, size, "%s", atom_name(t));
	if (enif_get_long(NULL, t, &v))
		return snprintf(buf, size, "%ld", v);
	if ((t & 15) == 3)
		return snprintf(buf, size, "<0.%llu.0>", (unsigned long long)(t >> 4) / 8);
	if ((t & 15) == 7)
		return snprintf(buf, size, "#Port<0.%llu>", (unsigned long long)(t >> 4));
	return snprintf(buf, size, "#{...}");
}

/* %T, %u and %s. */
int enif_snprintf(char *buf, size_t size, const char *fmt, ...)
{
	size_t n = 0;
	va_list ap;

	va_start(ap, fmt);
	for (; *fmt != '\0'; fmt++) {
		char part[300], *from = part;

		part[0] = *fmt;
		part[1] = '\0';
		if (*fmt == '%' && *++fmt == 'T')
			print(part, sizeof(part), va_arg(ap, ERL_NIF_TERM));
		else if (*fmt == 'u')
			snprintf(part, sizeof(part), "%u", va_arg(ap, unsigned));
		else if (*fmt == 's')
			from = va_arg(ap, char *);
		for (; *from != '\0'; from++, n++)
			if (n + 1 < size)
				buf[n] = *from;
	}
	va_end(ap);
	if (size > 0)
		buf[n < size ? n : size - 1] = '\0';
	return (int)n;
}
