/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-ins that a D script asks an Erlang event for (probe path): erlpid, erlname, erlnode,
 * erlsched, erlpeer, erlmsg, erlargs, erlarg(), erlint(), erlret. Answered when they are read, from the
 * event as the VM handed it over; an event that has nothing of the kind gives "" or 0.
 *
 * Names are not looked up in the VM's registry, which locks: each handle whose script reads
 * erlname has a table of its own, filled when it is armed (nif_set_name) and kept up by the events
 * of registering.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "prog/builtins.h"
#include "beam.h"
#include "nifs.h"
#include "peek.h"

unsigned beam_dirty_cpus; /* dirty CPU schedulers, told at load */

static const struct beam_event *event_of(const struct en_current *cur)
{
	return (const struct beam_event *)(const void *)cur;
}

/* ---- schedulers ------------------------------------------------------------------------ */

/*
 * The number that erlang:system_info(scheduler_id) gives: normal schedulers, then dirty CPU, then
 * dirty I/O ones. Threads have it in their names: "2_scheduler", "2_dirty_cpu_sch" (cut by the
 * system), "2_dirty_io_sche" in OTP 25, "erts_sched_2", "erts_dcpus_2", "erts_dios_2" later.
 */
static int scheduler_of_name(const char *name)
{
	ErlNifSysInfo sys;
	const char *digits = strpbrk(name, "0123456789");
	int n = digits != NULL ? atoi(digits) : 0;

	if (n <= 0)
		return -1;
	enif_system_info(&sys, sizeof(sys));
	if (strstr(name, "_dirty_cpu") != NULL || strstr(name, "_dcpus_") != NULL)
		return sys.scheduler_threads + n;
	if (strstr(name, "_dirty_io") != NULL || strstr(name, "_dios_") != NULL)
		return sys.scheduler_threads + (int)beam_dirty_cpus + n;
	return strstr(name, "_sched") != NULL ? n : -1;
}

/* Once in a thread's life. */
static __attribute__((noinline)) int find_scheduler(void)
{
	char name[16] = "";

	pthread_getname_np(pthread_self(), name, sizeof(name));
	return scheduler_of_name(name);
}

static unsigned scheduler(void)
{
	struct beam_thread *t = beam_self;

	if (t == NULL)
		return 0;
	if (unlikely(t->sched == 0))
		t->sched = find_scheduler();
	return t->sched > 0 ? (unsigned)t->sched : 0;
}

/* ---- names ----------------------------------------------------------------------------- */

#define PLACES 65536 /* a power of two */
#define WINDOW 16    /* places that a process may have, from the one its pid says */

struct beam_name {
	_Atomic uint64_t pid, name; /* no name: free, or free again */
};

int beam_names_init(struct beam_names *t)
{
	void *p = mmap(NULL, (PLACES + WINDOW) * sizeof(*t->tab), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return -1;
	t->tab = p;
	return 0;
}

void beam_names_fini(struct beam_names *t)
{
	if (t->tab != NULL)
		munmap(t->tab, (PLACES + WINDOW) * sizeof(*t->tab));
	t->tab = NULL;
}

static inline struct beam_name *window_of(const struct beam_names *t, ERL_NIF_TERM pid)
{
	return &t->tab[pid * 0x9e3779b97f4a7c15ULL >> 48];
}

static inline uint64_t get(_Atomic uint64_t *w)
{
	return atomic_load_explicit(w, memory_order_acquire);
}

/* The process's place; with claim one that is free, if it has none. */
static struct beam_name *place_of(const struct beam_names *t, ERL_NIF_TERM pid, bool claim)
{
	struct beam_name *n = window_of(t, pid), *end = n + WINDOW, *unused = NULL;

	for (; n < end; n++) {
		uint64_t is = get(&n->pid);

		if (is == pid)
			return n;
		if (unused == NULL && get(&n->name) == 0)
			unused = n;
		if (is == 0)
			break;
	}
	if (unused == NULL || !claim)
		return NULL;
	atomic_store_explicit(&unused->pid, pid, memory_order_release);
	return unused;
}

/*
 * Writers: events, one at a time under the registry's lock, and nif_set_name, which writes before
 * they are armed and afterwards only what has changed meanwhile.
 */
static void name_set(struct beam_handle *b, ERL_NIF_TERM pid, ERL_NIF_TERM name)
{
	struct beam_name *n = place_of(&b->names, pid, true);

	if (n == NULL)
		atomic_fetch_add_explicit(&b->procs.lost, 1, memory_order_relaxed);
	else if (get(&n->name) != name)
		atomic_store_explicit(&n->name, name, memory_order_release);
}

static void name_clear(struct beam_handle *b, ERL_NIF_TERM pid, ERL_NIF_TERM name)
{
	struct beam_name *n = place_of(&b->names, pid, false);
	uint64_t have = name;

	if (n != NULL)
		atomic_compare_exchange_strong(&n->name, &have, 0);
}

static ERL_NIF_TERM name_of(const struct beam_names *t, ERL_NIF_TERM pid)
{
	struct beam_name *n = t->tab != NULL ? place_of(t, pid, false) : NULL;

	return n != NULL ? get(&n->name) : 0;
}

/* Under the registry's lock, on the scheduler of whoever registers. */
void beam_name_event(struct beam_event *ev, ERL_NIF_TERM tag, ERL_NIF_TERM name)
{
	if (ev->b->names.tab == NULL || !enif_is_atom(ev->env, name))
		return;
	if (tag == atom_register)
		name_set(ev->b, ev->cur.key, name);
	else
		name_clear(ev->b, ev->cur.key, name);
}

/* ---- terms of the event ---------------------------------------------------------------- */

static bool has_message(const struct beam_event *ev, ERL_NIF_TERM *msg)
{
	ERL_NIF_TERM tag = ev->argv != NULL ? ev->argv[0] : 0;

	if (tag != atom_send && tag != atom_receive)
		return false;
	*msg = ev->argv[3];
	return true;
}

static bool has_arguments(const struct beam_event *ev, ERL_NIF_TERM *list)
{
	const ERL_NIF_TERM *t;
	int n;

	if (ev->argv == NULL || ev->argv[0] != atom_call ||
		!enif_get_tuple(ev->env, ev->argv[3], &n, &t) || n != 3)
		return false;
	*list = t[2];
	return enif_is_list(ev->env, t[2]);
}

static bool has_argument(const struct beam_event *ev, uint64_t n, ERL_NIF_TERM *arg)
{
	ERL_NIF_TERM list;

	if (n > 255 || !has_arguments(ev, &list))
		return false;
	do
		if (!enif_get_list_cell(ev->env, list, arg, &list))
			return false;
	while (n-- > 0);
	return true;
}

static bool has_result(const struct beam_event *ev, ERL_NIF_TERM *result)
{
	return ev->argv != NULL && ev->argv[0] == atom_return_from &&
	       enif_get_map_value(ev->env, ev->argv[4], atom_extra, result);
}

/* The other process, or what stands for it: a name, an alias, {Name, Node}, a process elsewhere. */
static bool has_peer(const struct beam_event *ev, ERL_NIF_TERM *peer)
{
	ERL_NIF_TERM tag = ev->argv != NULL ? ev->argv[0] : 0;

	if (tag == atom_send)
		*peer = beam_extra(ev->env, ev->argv[4]);
	else if (tag == atom_spawned)
		*peer = ev->argv[3];
	else
		return has_argument(ev, 0, peer);
	return true;
}

/* A process with its name, if it has one; of an alias the process that made it. */
static const struct et_str *peer_text(
	const struct beam_event *ev, ERL_NIF_TERM peer, char *buf, size_t size)
{
	const ERL_NIF_TERM *t;
	ERL_NIF_TERM name;
	int n;

	beam_peek_alias(ev->env, peer, &peer);
	/* {Name, Node} of this node is Name, as in the arguments of message-send. */
	if (enif_get_tuple(ev->env, peer, &n, &t) && n == 2 && t[1] == ev->b->node)
		peer = t[0];
	if (enif_is_pid(ev->env, peer)) {
		name = name_of(&ev->b->names, peer);
		return beam_term_text(name != 0 ? name : peer);
	}
	if (enif_is_atom(ev->env, peer))
		return beam_term_text(peer);
	beam_print(ev->env, peer, false, buf, size);
	return NULL;
}

/* ---- answers --------------------------------------------------------------------------- */

static uint64_t answer_num(
	const struct en_current *cur, unsigned pbi, uint64_t n, const struct fire *f)
{
	const struct beam_event *ev = event_of(cur);
	ERL_NIF_TERM arg;
	ErlNifSInt64 v;

	switch (pbi) {
	case PBI_ERLSCHED: return scheduler();
	case PBI_USDT: return beam_usdt(f);
	case PBI_ERLINT:
		if (has_argument(ev, n, &arg) && enif_get_int64(ev->env, arg, &v))
			return (uint64_t)v;
		return 0;
	default: return 0;
	}
}

static const struct et_str *answer_str(
	const struct en_current *cur, unsigned pbi, uint64_t n, char *buf, size_t size)
{
	const struct beam_event *ev = event_of(cur);
	ERL_NIF_TERM t;
	bool has = false;

	switch (pbi) {
	case PBI_ERLPID:
		return ev->env != NULL && enif_is_pid(ev->env, ev->cur.key) ? beam_term_text(ev->cur.key)
									: NULL;
	case PBI_ERLNAME:
		t = ev->env != NULL && enif_is_pid(ev->env, ev->cur.key)
			    ? name_of(&ev->b->names, ev->cur.key)
			    : 0;
		return t != 0 ? beam_term_text(t) : NULL;
	case PBI_ERLNODE: return ev->b->node_text;
	case PBI_ERLPEER: return has_peer(ev, &t) ? peer_text(ev, t, buf, size) : NULL;
	case PBI_ERLMSG: has = has_message(ev, &t); break;
	case PBI_ERLARGS: has = has_arguments(ev, &t); break;
	case PBI_ERLARG: has = has_argument(ev, n, &t); break;
	case PBI_ERLRET: has = has_result(ev, &t); break;
	}
	if (has)
		beam_print(ev->env, t, pbi == PBI_ERLARGS, buf, size);
	return NULL;
}

static bool name_frame(const struct en_current *cur, uint64_t pc, char *buf, size_t size)
{
	(void)cur;
	return beam_frame_text(pc, buf, size);
}

const struct en_current_ops beam_ops = {.num = answer_num, .str = answer_str, .frame = name_frame};

/* ---- what the Erlang side tells -------------------------------------------------------- */

/* set_node(Handle, Node) */
ERL_NIF_TERM nif_set_node(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	char name[256];
	int n;

	WITH_HANDLE(b)
	n = enif_get_atom(env, argv[1], name, sizeof(name), ERL_NIF_LATIN1);
	if (n > 0 && (b->node_text == NULL || strcmp(b->node_text->text, name) != 0) &&
		!atomic_load(&b->live)) {
		et_str_free(b->node_text);
		b->node_text = et_str_new(name, (size_t)n - 1);
	}
	enif_mutex_unlock(b->lock);
	return atom_ok;
}

/* set_name(Handle, Pid, Name, IsRegistered) */
ERL_NIF_TERM nif_set_name(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	WITH_HANDLE(b)
	if (b->names.tab != NULL && enif_is_pid(env, argv[1]) && enif_is_atom(env, argv[2])) {
		if (argv[3] == atom_true)
			name_set(b, argv[1], argv[2]);
		else
			name_clear(b, argv[1], argv[2]);
	}
	enif_mutex_unlock(b->lock);
	return atom_ok;
}

/* has_stacks(Handle) -> boolean(), after the check of the layout; else the script is warned. */
ERL_NIF_TERM nif_has_stacks(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	static const char text[] =
		"ustack() has one frame here, the function of the event: the VM does not show "
		"where its functions are (up to OTP 28 it does)\n";
	bool known = beam_stacks_known();
	size_t old;
	char *all;

	WITH_HANDLE(b)
	old = b->warnings != NULL ? strlen(b->warnings) : 0;
	if (!known && (all = realloc(b->warnings, old + sizeof(text))) != NULL) {
		memcpy(all + old, text, sizeof(text));
		b->warnings = all;
	}
	enif_mutex_unlock(b->lock);
	return known ? atom_true : atom_false;
}

/* print(Term, Size, IsArgs) -> {Text, Steps}: what a script would see of it. For tests. */
ERL_NIF_TERM nif_print(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	char buf[4096];
	unsigned size, steps;
	ERL_NIF_TERM text;

	(void)argc;
	if (!enif_get_uint(env, argv[1], &size) || size == 0 || size > sizeof(buf))
		return enif_make_badarg(env);
	steps = beam_print(env, argv[0], argv[2] == atom_true, buf, size);
	memcpy(enif_make_new_binary(env, strlen(buf), &text), buf, strlen(buf));
	return enif_make_tuple2(env, text, enif_make_uint(env, steps));
}
