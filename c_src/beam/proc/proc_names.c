/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process of an event is called, in the order that erltrace_process_name.erl states for
 * all: beam_proc_name() has it for C. Kept here are labels, and the functions that processes began
 * with; events read them without a lock. A fun that is spawned while the script runs has no name, but
 * a text, which is kept as if it were a label.
 *
 * The table has a slot for each process. Three write to it:
 *   - events of the process itself, in its own context: spawned, set_label, exit;
 *   - erltrace_names.erl, which asks all processes when a script starts. It claims the slots
 *     first, so that an exit meanwhile is seen: by the event that frees the slot, or because the
 *     process does not answer any more;
 *   - whoever claims a slot that a process left behind which exited unseen.
 * Where neither spawns nor exits are traced (beam_handle.exits), a process that was spawned after
 * that is asked once it has fired: its event notes the pid, and erltrace_names.erl asks it a moment
 * later. Until then, and if it ends before, it is called by its pid. Slots are freed by the sweep.
 *
 * A slot is claimed and freed by its pid, with 1 in between. The first function is written once. A
 * label is a text that does not change: a new label is another one, and the old one is free again,
 * for any process. So a reader copies the text, and then looks whether pid and label are still the
 * same; changes of the label are counted, so that they are not if the same text was used again.
 *
 */
#include <string.h>
#include <sys/mman.h>

#include "beam/atoms.h"
#include "beam/pages.h"
#include "beam/term/term_print.h"
#include "beam/term/texts.h"
#include "beam/vm/vm_event.h"
#include "compiler.h"
#include "proc_names.h"
#include "processes.h"

#define BUSY	 1
#define GONE	 2    /* its memory is just given back */
#define SPINS	 400  /* until then, which takes some microseconds */
enum { NOT_ASKED, WRITING, KNOWN, ASKED }; /* ASKED: or to be asked; it need not have an answer */
#define BY_EVENT 0x80000000u
#define READS	 4  /* of a label that changes meanwhile */
#define TEXT	 (BEAM_LABEL_WORDS * 8)

int beam_proc_names_init(struct beam_proc_names *t, uint64_t process_limit)
{
	_Static_assert(sizeof(struct beam_label) == 128, "two cache lines");
	_Static_assert(sizeof(struct beam_proc_name) == 64, "a cache line");
	beam_pid_slots_init(&t->slots, process_limit);
	t->tab = beam_pages((t->slots.mask + 1) * sizeof(*t->tab));
	t->rests = beam_pages((t->slots.mask + 1) * sizeof(*t->tab) / BEAM_PAGE);
	t->labels = beam_pages(BEAM_LABELS * sizeof(*t->labels));
	if (t->tab == NULL || t->rests == NULL || t->labels == NULL) {
		beam_proc_names_fini(t);
		return -1;
	}
	return 0;
}

void beam_proc_names_fini(struct beam_proc_names *t)
{
	if (t->tab != NULL)
		munmap(t->tab, (t->slots.mask + 1) * sizeof(*t->tab));
	if (t->rests != NULL)
		munmap(t->rests, (t->slots.mask + 1) * sizeof(*t->tab) / BEAM_PAGE);
	if (t->labels != NULL)
		munmap(t->labels, BEAM_LABELS * sizeof(*t->labels));
	t->tab = NULL;
	t->rests = NULL;
	t->labels = NULL;
}

static void lose(struct beam_proc_names *t)
{
	atomic_fetch_add_explicit(&t->lost, 1, memory_order_relaxed);
}

/* ---- texts of labels ------------------------------------------------------------------- */

/* Index + 1; 0: no room. */
static uint32_t label_get(struct beam_proc_names *t)
{
	return free_list_get(&t->free, &t->labels->next, sizeof(*t->labels), BEAM_LABELS);
}

PROBE_PATH static void label_put(struct beam_proc_names *t, uint64_t label)
{
	uint32_t index = (uint32_t)label & ~BY_EVENT;

	if (index != 0 && !free_list_put(&t->free, &t->labels->next, sizeof(*t->labels), index))
		lose(t);
}

/* The text of a label: index + 1; 0: it has none, or there is no room. */
PROBE_PATH static uint32_t label_write(
	struct beam_proc_names *t, ErlNifEnv *env, ERL_NIF_TERM label)
{
	uint64_t word[BEAM_LABEL_WORDS] = {0};
	uint32_t index;

	if (label == atom_undefined)
		return 0;
	index = label_get(t);
	if (index == 0) {
		lose(t);
		return 0;
	}
	beam_print(env, label, false, (char *)word, TEXT);
	for (unsigned i = 0; i < BEAM_LABEL_WORDS; i++)
		atomic_store_explicit(
			&t->labels[index - 1].text[i], word[i], memory_order_relaxed);
	return index;
}

/* Does the process have a label? It is in buf then. */
static bool label_read(const struct beam_proc_names *t, struct beam_proc_name *p, ERL_NIF_TERM pid,
	char *buf, size_t size)
{
	uint64_t word[BEAM_LABEL_WORDS], label, now;
	uint32_t index;

	label = atomic_load_explicit(&p->label, memory_order_acquire);
	for (int n = 0; n < READS; n++, label = now) {
		index = (uint32_t)label & ~BY_EVENT;
		if (index == 0)
			return false;
		for (unsigned i = 0; i < BEAM_LABEL_WORDS; i++)
			word[i] = atomic_load_explicit(
				&t->labels[index - 1].text[i], memory_order_relaxed);
		atomic_thread_fence(memory_order_acquire);
		now = atomic_load_explicit(&p->label, memory_order_relaxed);
		if (atomic_load_explicit(&p->pid, memory_order_relaxed) != pid)
			return false;
		if (now == label) {
			size = size < TEXT ? size : TEXT;
			memcpy(buf, word, size);
			buf[size - 1] = '\0';
			return true;
		}
	}
	return false;
}

/* ---- slots ----------------------------------------------------------------------------- */

PROBE_PATH static struct beam_proc_name *find(const struct beam_proc_names *t, ERL_NIF_TERM pid)
{
	for (unsigned i = 0; i < t->slots.tries; i++) {
		struct beam_proc_name *p = &t->tab[beam_pid_slot(&t->slots, pid, i)];

		if (atomic_load_explicit(&p->pid, memory_order_acquire) == pid)
			return p;
	}
	return NULL;
}

/* It is BUSY: nobody else touches it. */
PROBE_PATH static void clear(struct beam_proc_names *t, struct beam_proc_name *p)
{
	uint64_t label = atomic_load_explicit(&p->label, memory_order_relaxed);

	atomic_thread_fence(memory_order_release); /* the pid is seen to change before the rest */
	atomic_store_explicit(&p->call, NOT_ASKED, memory_order_relaxed);
	atomic_store_explicit(&p->label, ((label >> 32) + 1) << 32, memory_order_relaxed);
	label_put(t, label);
}

/* Its slot, claimed if need be. living: it runs, so whoever else has its slot does not live. */
PROBE_PATH static struct beam_proc_name *claim(
	struct beam_proc_names *t, ERL_NIF_TERM pid, bool living)
{
	struct beam_proc_name *p = find(t, pid);

	if (p != NULL)
		return p;
	for (unsigned i = 0; i < t->slots.tries; i++) {
		uint64_t old;

		p = &t->tab[beam_pid_slot(&t->slots, pid, i)];
		old = atomic_load_explicit(&p->pid, memory_order_relaxed);
		for (int n = 0; unlikely(old == GONE) && n < SPINS; n++) {
			cpu_relax();
			old = atomic_load_explicit(&p->pid, memory_order_relaxed);
		}
		if (old != BUSY && old != GONE && (old == 0 || (living && t->slots.exact)) &&
			atomic_compare_exchange_strong(&p->pid, &old, BUSY)) {
			clear(t, p);
			atomic_store_explicit(&p->pid, pid, memory_order_release);
			return p;
		}
	}
	lose(t);
	return NULL;
}

PROBE_PATH void beam_proc_name_exit(struct beam_proc_names *t, ERL_NIF_TERM pid)
{
	struct beam_proc_name *p = find(t, pid);

	if (p == NULL || !atomic_compare_exchange_strong(&p->pid, &pid, BUSY))
		return;
	clear(t, p);
	atomic_store_explicit(&p->pid, 0, memory_order_release);
}

struct call {
	ERL_NIF_TERM mod, fun;
	unsigned arity;
};

/* Written once: what began a process does not change. */
PROBE_PATH static void set_call(struct beam_proc_name *p, const struct call *c)
{
	uint32_t was = atomic_load_explicit(&p->call, memory_order_relaxed);

	if (was == WRITING || was == KNOWN ||
		!atomic_compare_exchange_strong(&p->call, &was, WRITING))
		return;
	atomic_store_explicit(&p->mod, c->mod, memory_order_relaxed);
	atomic_store_explicit(&p->fun, c->fun, memory_order_relaxed);
	atomic_store_explicit(&p->arity, c->arity, memory_order_relaxed);
	atomic_store_explicit(&p->call, KNOWN, memory_order_release);
}

/* ---- what began a process -------------------------------------------------------------- */

static bool is_apply(const struct call *c)
{
	return c->mod == atom_erlang && c->fun == atom_apply && c->arity == 2;
}

/* {M, F, Arguments or Arity}; args: the arguments, if they are there. */
PROBE_PATH static bool get_call(
	ErlNifEnv *env, ERL_NIF_TERM mfa, struct call *c, ERL_NIF_TERM *args)
{
	const ERL_NIF_TERM *t;
	int n;

	if (!enif_get_tuple(env, mfa, &n, &t) || n != 3 || !enif_is_atom(env, t[0]) ||
		!enif_is_atom(env, t[1]))
		return false;
	c->mod = t[0];
	c->fun = t[1];
	*args = t[2];
	return enif_get_uint(env, t[2], &c->arity) || enif_get_list_length(env, t[2], &c->arity);
}

/* The first elements of a list; how many there are, up to most. */
static unsigned elements(ErlNifEnv *env, ERL_NIF_TERM list, ERL_NIF_TERM *e, unsigned most)
{
	unsigned n = 0;

	while (n < most && enif_get_list_cell(env, list, &e[n], &list))
		n++;
	return n;
}

/*
 * Of a behaviour's arguments of gen:init_it/6, or /7 for one with a name: the module that it runs.
 */
static void look_into_gen(ErlNifEnv *env, ERL_NIF_TERM args, struct call *c)
{
	ERL_NIF_TERM a[7], what, module = 0;
	const ERL_NIF_TERM *t;
	unsigned n = elements(env, args, a, 7);
	int size;

	if (n < 6)
		return;
	if (a[0] == atom_gen_event) {
		*c = (struct call){atom_gen_event, atom_init_it, 6};
		return;
	}
	module = a[n - 3];
	what = a[n - 2];
	if (!enif_is_atom(env, module))
		return;
	if (a[0] == atom_gen_server && module == atom_supervisor &&
		enif_get_tuple(env, what, &size, &t) && size == 3 && enif_is_atom(env, t[1]))
		*c = (struct call){module, t[1], 1};
	else if (a[0] == atom_gen_server && module == atom_supervisor_bridge &&
		 elements(env, what, a, 1) == 1 && enif_is_atom(env, a[0]))
		*c = (struct call){module, a[0], 1};
	else
		*c = (struct call){module, atom_init, 1};
}

/* proc_lib:init_p(Parent, Ancestors, M, F, Args): as proc_lib:initial_call/1 tells it. */
static void look_into_proc_lib(ErlNifEnv *env, ERL_NIF_TERM args, struct call *c)
{
	ERL_NIF_TERM a[5];
	struct call inner = {0};

	if (elements(env, args, a, 5) < 5 || !enif_is_atom(env, a[2]) || !enif_is_atom(env, a[3]) ||
		!enif_get_list_length(env, a[4], &inner.arity))
		return;
	inner.mod = a[2];
	inner.fun = a[3];
	*c = inner;
	if (inner.mod == atom_gen && inner.fun == atom_init_it)
		look_into_gen(env, a[4], c);
}

/* Was it spawned with a fun? The fun. */
static bool began_with_fun(
	ErlNifEnv *env, const struct call *c, ERL_NIF_TERM args, ERL_NIF_TERM *fun)
{
	ERL_NIF_TERM a[3];

	if (is_apply(c) && elements(env, args, a, 2) == 2)
		*fun = a[0];
	else if (c->mod == atom_proc_lib && c->fun == atom_init_p && c->arity == 3 &&
		 elements(env, args, a, 3) == 3)
		*fun = a[2];
	else
		return false;
	return enif_is_fun(env, *fun);
}

/* ---- events ---------------------------------------------------------------------------- */

/* Only the process itself comes here, so it is the only one that writes with BY_EVENT. */
static void set_label(
	struct beam_proc_names *t, struct beam_proc_name *p, ErlNifEnv *env, ERL_NIF_TERM label)
{
	uint32_t index = label_write(t, env, label);
	uint64_t old = atomic_load_explicit(&p->label, memory_order_relaxed);

	/* erltrace_names may write once meanwhile, and then never again */
	while (!atomic_compare_exchange_weak_explicit(&p->label, &old,
		((old >> 32) + 1) << 32 | BY_EVENT | index, memory_order_release,
		memory_order_relaxed))
		;
	label_put(t, old);
}

PROBE_PATH void beam_proc_name_spawned(
	struct beam_proc_names *t, const struct beam_event *ev, ERL_NIF_TERM mfa)
{
	struct beam_proc_name *p;
	struct call c;
	ERL_NIF_TERM args, fun;

	if (!get_call(ev->env, mfa, &c, &args) || (p = claim(t, ev->cur.key, true)) == NULL)
		return;
	if (began_with_fun(ev->env, &c, args, &fun)) {
		set_label(t, p, ev->env, fun);
		return;
	}
	if (c.mod == atom_proc_lib && c.fun == atom_init_p && c.arity == 5)
		look_into_proc_lib(ev->env, args, &c);
	set_call(p, &c);
}

PROBE_PATH void beam_proc_name_label(
	struct beam_proc_names *t, const struct beam_event *ev, ERL_NIF_TERM label)
{
	struct beam_proc_name *p = claim(t, ev->cur.key, true);

	if (p != NULL)
		set_label(t, p, ev->env, label);
}

/* No event has named this process, which runs: it is to be asked. */
static struct beam_proc_name *want(struct beam_proc_names *t, ERL_NIF_TERM pid)
{
	struct beam_proc_name *p = claim(t, pid, true);
	uint32_t not_asked = NOT_ASKED;
	uint64_t none = 0;

	if (p == NULL || atomic_load_explicit(&p->call, memory_order_relaxed) != NOT_ASKED ||
		!atomic_compare_exchange_strong(&p->call, &not_asked, ASKED))
		return p;
	if (!atomic_compare_exchange_strong(
		    &t->wanted[atomic_fetch_add(&t->nwanted, 1) % BEAM_WANTED], &none, pid))
		atomic_store(&p->call, NOT_ASKED); /* too many at once: its next event tries */
	return p;
}

PROBE_PATH const struct et_str *beam_proc_name(struct beam_proc_names *t, bool by_events, ERL_NIF_TERM pid,
	ERL_NIF_TERM name, char *buf, size_t size)
{
	ERL_NIF_TERM mod, fun;
	struct beam_proc_name *p;
	unsigned arity;

	if (name != 0)
		return beam_term_text(name);
	p = t->tab == NULL ? NULL : by_events ? find(t, pid) : want(t, pid);
	if (p == NULL)
		return beam_term_text(pid);
	if (label_read(t, p, pid, buf, size))
		return NULL;
	if (atomic_load_explicit(&p->call, memory_order_acquire) == KNOWN) {
		mod = atomic_load_explicit(&p->mod, memory_order_relaxed);
		fun = atomic_load_explicit(&p->fun, memory_order_relaxed);
		arity = atomic_load_explicit(&p->arity, memory_order_relaxed);
		atomic_thread_fence(memory_order_acquire);
		if (atomic_load_explicit(&p->pid, memory_order_relaxed) == pid)
			return beam_mfa_text(mod, fun, arity);
	}
	return beam_term_text(pid);
}

/* ---- the sweep ------------------------------------------------------------------------- */

bool beam_proc_names_sweep(struct beam_proc_names *t, uint64_t *at,
	bool (*is_dead)(void *arg, uint64_t pid), void *arg)
{
	if (t->slots.exact && atomic_load(&t->free.used) == 0)
		return true; /* there are no labels: a slot may wait for the next process */
	for (unsigned n = 0; n < BEAM_SWEPT && *at <= t->slots.mask; n++, ++*at) {
		uint64_t pid = atomic_load_explicit(&t->tab[*at].pid, memory_order_acquire);

		if (pid != 0 && pid != BUSY && is_dead(arg, pid))
			beam_proc_name_exit(t, pid);
	}
	return *at > t->slots.mask;
}

/* ---- memory, as in processes.c ------------------------------------------------------------ */

#define GROUP (BEAM_PAGE / sizeof(struct beam_proc_name))

/* Does somebody have one of them? Those of the dead are free afterwards. */
static bool is_in_use(struct beam_proc_names *t, uint64_t first,
	bool (*is_dead)(void *arg, uint64_t pid), void *arg)
{
	for (uint64_t i = first; i < first + GROUP; i++) {
		uint64_t pid = atomic_load_explicit(&t->tab[i].pid, memory_order_acquire);

		if (pid != 0 && (pid == BUSY || !is_dead(arg, pid)))
			return true;
	}
	for (uint64_t i = first; i < first + GROUP; i++) {
		uint64_t pid = atomic_load_explicit(&t->tab[i].pid, memory_order_acquire);

		if (pid != 0 && pid != BUSY && is_dead(arg, pid))
			beam_proc_name_exit(t, pid);
	}
	return false;
}

static void release(struct beam_proc_names *t, uint64_t first)
{
	uint64_t i = first, none = 0;

	while (i < first + GROUP && atomic_compare_exchange_strong(&t->tab[i].pid, &none, GONE))
		i++;
	if (i == first + GROUP)
		beam_pages_release(&t->tab[first], 1);
	else
		while (i-- > first)
			atomic_store_explicit(&t->tab[i].pid, 0, memory_order_release);
}

bool beam_proc_names_release(struct beam_proc_names *t, uint64_t *at,
	bool (*is_dead)(void *arg, uint64_t pid), void *arg)
{
	uint64_t pages = (t->slots.mask + 1) / GROUP, n;
	unsigned char there[BEAM_LOOKED];

	n = beam_pages_there(t->tab, pages, *at, there);
	for (uint64_t i = 0; i < n; i++)
		if ((there[i] & 1) && beam_page_rests(&t->rests[*at + i],
					      is_in_use(t, (*at + i) * GROUP, is_dead, arg)))
			release(t, (*at + i) * GROUP);
	*at += n;
	return n == 0 || *at == pages;
}

/* ---- what erltrace_names.erl tells ----------------------------------------------------- */

/* A token each, in this order. */
ERL_NIF_TERM beam_proc_names_claim(struct beam_proc_names *t, ErlNifEnv *env, ERL_NIF_TERM list)
{
	ERL_NIF_TERM pid, tokens = enif_make_list(env, 0);

	while (t->tab != NULL && enif_get_list_cell(env, list, &pid, &list)) {
		struct beam_proc_name *p = enif_is_pid(env, pid) ? claim(t, pid, false) : NULL;

		tokens = enif_make_list_cell(
			env, enif_make_uint64(env, p != NULL ? atomic_load(&p->label) : 0), tokens);
	}
	enif_make_reverse_list(env, tokens, &tokens);
	return tokens;
}

ERL_NIF_TERM beam_proc_names_wanted(struct beam_proc_names *t, ErlNifEnv *env)
{
	ERL_NIF_TERM list = enif_make_list(env, 0);
	struct beam_proc_name *p;
	ERL_NIF_TERM pid;

	for (unsigned i = 0; t->tab != NULL && i < BEAM_WANTED; i++) {
		pid = atomic_exchange(&t->wanted[i], 0);
		if (pid != 0 && (p = find(t, pid)) != NULL)
			list = enif_make_list_cell(env,
				enif_make_tuple2(
					env, pid, enif_make_uint64(env, atomic_load(&p->label))),
				list);
	}
	return list;
}

/* A label that the process has: written, unless an event came since the token was given. */
static void fill_label(struct beam_proc_names *t, struct beam_proc_name *p, ErlNifEnv *env,
	ErlNifUInt64 token, ERL_NIF_TERM label)
{
	uint64_t old = token;
	uint32_t index;

	if (old & BY_EVENT)
		return;
	index = label_write(t, env, label);
	if (atomic_compare_exchange_strong(&p->label, &old, ((old >> 32) + 1) << 32 | index))
		label_put(t, old);
	else
		label_put(t, index);
}

void beam_proc_names_fill(struct beam_proc_names *t, ErlNifEnv *env, ERL_NIF_TERM list)
{
	ERL_NIF_TERM item, args;
	const ERL_NIF_TERM *e;
	struct beam_proc_name *p;
	ErlNifUInt64 token;
	struct call c;
	int n;

	while (t->tab != NULL && enif_get_list_cell(env, list, &item, &list)) {
		if (enif_is_pid(env, item)) {
			beam_proc_name_exit(t, item);
			continue;
		}
		if (!enif_get_tuple(env, item, &n, &e) || n != 4 || (p = find(t, e[0])) == NULL ||
			!enif_get_uint64(env, e[1], &token))
			continue;
		if (get_call(env, e[2], &c, &args) && !is_apply(&c))
			set_call(p, &c);
		fill_label(t, p, env, token, e[3]);
	}
}
