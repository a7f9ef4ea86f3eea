/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When timers are due (probe path). Their starts and cancellations are calls, which are traced for
 * it. That a message is a timer's is told by the VM: it has it sent by clock_service, and a match
 * specification says so with the event.
 *
 * Which timer it is of: the message of start_timer has the reference in it. That of send_after has
 * not, so it is found by receiver and message. Where several timers are alike in that, the one that
 * is due first is the one, since the VM has them expire in that order.
 *
 * The table has an entry for each timer by its reference, and for one of send_after another one by
 * receiver and message, which name each other. Keys are hashes of 64 bits; there may be several
 * entries of one key, and where there are too many a crowd (timer_crowd.c) has the others. An entry
 * is written by whoever has its key changed to BUSY. Those of timers that never expired, because
 * the receiver had ended, are used again when they are long overdue; so are those by the references
 * of a crowd, of which nobody knows which one has expired. A timer without room is a drop, and its
 * message that of a timer which is not known.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "beam/atoms.h"
#include "beam/builtins/erl_builtins.h"
#include "beam/handle/beam_handle.h"
#include "beam/pages.h"
#include "beam/proc/registered.h"
#include "beam/term/kept_args.h"
#include "beam/term/term_print.h"
#include "beam/term/term_words.h"
#include "beam/term/texts.h"
#include "beam/vm/peek.h"
#include "beam/vm/vm_event.h"
#include "compiler.h"
#include "engine/clock.h"
#include "engine/drop.h"
#include "engine/engine.h"
#include "engine/probe.h"
#include "engine/slot.h"
#include "prog/builtins.h"
#include "timer_crowd.h"
#include "timers.h"

#define BITS	20 /* a million entries */
#define SLOTS	(1u << BITS)
#define TRIES	32
#define CROWDED 16	      /* entries of one key near each other */
#define OVERDUE 60000000000LL /* ns */
#define STALE                                                                                      \
	1000000000LL /* ns: the same of a crowd, all of whose timers due before have expired */
#define MS 1000000LL

enum { FREE, BUSY }; /* keys that are none */

struct timer {
	_Atomic uint64_t key;
	_Atomic int64_t due;	/* ns, as en_now(); 0: not known, and its slot is anybody's */
	_Atomic uint64_t other; /* the key of its other entry; 0: it has none */
	_Atomic uint64_t by;	/* the pid of who started it */
};

struct beam_timers {
	struct beam_crowds *crowds;
	struct timer slot[SLOTS + TRIES];
};

int beam_timers_init(struct beam_timers **t)
{
	*t = beam_pages(sizeof(**t));
	if (*t != NULL && ((*t)->crowds = beam_crowds_new()) != NULL)
		return 0;
	beam_timers_fini(t);
	return -1;
}

void beam_timers_fini(struct beam_timers **t)
{
	if (*t != NULL) {
		beam_crowds_free((*t)->crowds);
		munmap(*t, sizeof(**t));
	}
	*t = NULL;
}

/* ---- keys ------------------------------------------------------------------------------- */

static uint64_t mixed(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ b * 0x9e3779b97f4a7c15ULL) * 0xff51afd7ed558ccdULL;

	h ^= h >> 32;
	return h > BUSY ? h : h + BUSY + 1;
}

/* References by their words, all else by its text: of a large term the beginning has to do. */
PROBE_PATH static uint64_t key_of(ErlNifEnv *env, ERL_NIF_TERM t)
{
	uint64_t h = 0xcbf29ce484222325ULL, word[2];
	char text[BEAM_TEXT_MAX];

	if (enif_is_atom(env, t))
		return mixed(t, 1);
	if (beam_peek_ref(t, word))
		return mixed(word[0], word[1]);
	beam_print(env, t, false, text, sizeof(text));
	for (const char *c = text; c < text + sizeof(text) && *c != '\0'; c++)
		h = (h ^ (uint8_t)*c) * 0x100000001b3ULL;
	return mixed(h, 2);
}

/* A receiver is a pid or a name: an immediate term. */
PROBE_PATH static uint64_t message_key(ErlNifEnv *env, ERL_NIF_TERM receiver, ERL_NIF_TERM msg)
{
	return mixed(key_of(env, msg), receiver);
}

/* ---- the table -------------------------------------------------------------------------- */

static struct timer *first_of(struct beam_timers *t, uint64_t key)
{
	return &t->slot[key >> (64 - BITS)];
}

static bool claim(struct timer *s, uint64_t key)
{
	return atomic_compare_exchange_strong(&s->key, &key, BUSY);
}

/* Can this entry, which is not free, be used for another timer? */
static bool is_over(struct beam_timers *t, const struct timer *s, int64_t now)
{
	int64_t due = atomic_load_explicit(&s->due, memory_order_relaxed);

	return due < now - OVERDUE ||
	       (due < now - STALE &&
		       beam_crowd_is_past(t->crowds,
			       atomic_load_explicit(&s->other, memory_order_relaxed), due));
}

/* A slot that is free or over, claimed; NULL: there is none. alike: entries that have the key. */
static struct timer *claim_unused(struct beam_timers *t, uint64_t key, int64_t now, unsigned *alike)
{
	struct timer *s = first_of(t, key), *end = s + TRIES;

	for (*alike = 0; s < end; s++) {
		uint64_t had = atomic_load_explicit(&s->key, memory_order_relaxed);

		*alike += had == key;
		if ((had == FREE || (had != BUSY && is_over(t, s, now))) && claim(s, had))
			return s;
	}
	return NULL;
}

/* due: when it is, and then when that is as it was kept, which a crowd rounds. */
PROBE_PATH static bool put(struct beam_timers *t, uint64_t key, int64_t now, int64_t *due,
	uint64_t other, ERL_NIF_TERM by)
{
	unsigned alike;
	struct timer *s = claim_unused(t, key, now, &alike);

	if (s == NULL) {
		if (*due != 0 && alike >= CROWDED)
			*due = beam_crowd_put(t->crowds, key, now, *due, by);
		return alike >= CROWDED && *due != 0;
	}
	atomic_store_explicit(&s->due, *due, memory_order_relaxed);
	atomic_store_explicit(&s->other, other, memory_order_relaxed);
	atomic_store_explicit(&s->by, by, memory_order_relaxed);
	atomic_store_explicit(&s->key, key, memory_order_release);
	return true;
}

/* Of the entries of a key the one that is due first; other: only one with that. */
PROBE_PATH static struct timer *find(struct beam_timers *t, uint64_t key, uint64_t other)
{
	struct timer *s = first_of(t, key), *end = s + TRIES, *found = NULL;

	for (; s < end; s++)
		if (atomic_load_explicit(&s->key, memory_order_acquire) == key &&
			(other == 0 ||
				atomic_load_explicit(&s->other, memory_order_relaxed) == other) &&
			(found == NULL ||
				atomic_load_explicit(&s->due, memory_order_relaxed) <
					atomic_load_explicit(&found->due, memory_order_relaxed)))
			found = s;
	return found;
}

struct taken {
	int64_t due;
	uint64_t other;
	ERL_NIF_TERM by;
};

/* Out of the table; false: somebody else has taken it. */
PROBE_PATH static bool take(struct timer *s, uint64_t key, struct taken *to)
{
	if (s == NULL || !claim(s, key))
		return false;
	*to = (struct taken){.due = atomic_load_explicit(&s->due, memory_order_relaxed),
		.other = atomic_load_explicit(&s->other, memory_order_relaxed),
		.by = atomic_load_explicit(&s->by, memory_order_relaxed)};
	atomic_store_explicit(&s->key, FREE, memory_order_release);
	return true;
}

/* ---- calls ------------------------------------------------------------------------------ */

/* Of send_after(Time, Receiver, Message): the key of its message, which is not kept in full. */
PROBE_PATH ERL_NIF_TERM beam_timer_note(
	const struct beam_event *ev, const struct beam_fn *fn, ERL_NIF_TERM args)
{
	ERL_NIF_TERM time, receiver, msg;

	if (ev->b->timers == NULL || fn->fun != atom_send_after ||
		!beam_get_cell(ev->env, args, &time, &args) ||
		!beam_get_cell(ev->env, args, &receiver, &args) ||
		!beam_get_cell(ev->env, args, &msg, &args))
		return 0;
	return message_key(ev->env, receiver, msg);
}

/* Is the time absolute? That is by the VM's own clock, which is not ours. */
static bool is_absolute(const struct beam_event *ev)
{
	ERL_NIF_TERM opts, opt;
	const ERL_NIF_TERM *e;
	unsigned n;

	if (!beam_source(ev, PBI_ERLARG, 3, &opts))
		return false;
	for (int i = 0; i < 8 && beam_get_cell(ev->env, opts, &opt, &opts); i++)
		if (beam_get_tuple(ev->env, opt, &n, &e) && n == 2 && e[0] == atom_abs)
			return e[1] == atom_true;
	return false;
}

/* The entry of a timer by its message. */
static void forget(struct beam_timers *t, uint64_t message, uint64_t ref, int64_t due)
{
	struct taken had;
	uint64_t by;

	if (!take(find(t, message, ref), message, &had))
		beam_crowd_take(t->crowds, message, due, &by);
}

static void lose(const struct beam_event *ev)
{
	struct en_thread *slot = en_slot_get(ev->b->en);

	if (slot != NULL)
		drop(slot, DROP_TIMERS);
}

static void started(const struct beam_event *ev)
{
	const struct beam_kept *k = ev->kept;
	struct beam_timers *t = ev->b->timers;
	int64_t now = (int64_t)k->at, due = 0, kept;
	ERL_NIF_TERM ref, time;
	ErlNifSInt64 ms;
	uint64_t key;

	if (!beam_source(ev, PBI_ERLRET, 0, &ref) || !beam_source(ev, PBI_ERLARG, 0, &time))
		return;
	/* the VM allows no more than 2^32 ms or so, but for absolute times */
	if (enif_get_int64(ev->env, time, &ms) && ms >= 0 && ms <= INT64_MAX / MS / 2 &&
		!is_absolute(ev))
		due = now + ms * MS;
	key = key_of(ev->env, ref);
	kept = due;
	if (k->note == 0 || put(t, k->note, now, &kept, key, ev->cur.key)) {
		if (put(t, key, now, &kept, k->note, ev->cur.key))
			return;
		if (k->note != 0)
			forget(t, k->note, key, kept);
	}
	/* how late one is whose time is absolute is not known anyway */
	if (due != 0)
		lose(ev);
}

/* One that had expired is none: its message is on its way. */
static void cancelled(const struct beam_event *ev)
{
	struct beam_timers *t = ev->b->timers;
	ERL_NIF_TERM ref, left;
	struct taken had;
	uint64_t key;

	if (!beam_source(ev, PBI_ERLARG, 0, &ref) || !beam_source(ev, PBI_ERLRET, 0, &left) ||
		left == atom_false)
		return;
	key = key_of(ev->env, ref);
	if (take(find(t, key, 0), key, &had) && had.other != 0)
		forget(t, had.other, key, had.due);
}

PROBE_PATH void beam_timer_noted(const struct beam_event *ev)
{
	if (ev->b->timers == NULL || ev->kept == NULL)
		return;
	if (ev->kept->fn->fun == atom_cancel_timer)
		cancelled(ev);
	else
		started(ev);
}

/* ---- messages --------------------------------------------------------------------------- */

static bool is_timers(const struct beam_event *ev, ERL_NIF_TERM opts)
{
	ERL_NIF_TERM from;

	return enif_get_map_value(ev->env, opts, atom_match_spec_result, &from) &&
	       from == atom_clock_service;
}

/* {timeout, Ref, _} of start_timer. */
static bool by_reference(const struct beam_event *ev, ERL_NIF_TERM msg, struct taken *timer)
{
	const ERL_NIF_TERM *e;
	struct timer *s;
	uint64_t key;
	unsigned n;

	if (!beam_get_tuple(ev->env, msg, &n, &e) || n != 3 || e[0] != atom_timeout ||
		!enif_is_ref(ev->env, e[1]))
		return false;
	key = key_of(ev->env, e[1]);
	s = find(ev->b->timers, key, 0);
	return s != NULL && atomic_load_explicit(&s->other, memory_order_relaxed) == 0 &&
	       take(s, key, timer);
}

/* The first timer of a key, which is in the table or in a crowd. */
struct first {
	uint64_t key;
	struct timer *slot; /* NULL: in the crowd */
	int64_t due;	    /* -1: there is none */
};

PROBE_PATH static struct first first_timer(struct beam_timers *t, uint64_t key, int64_t now)
{
	struct first f = {.key = key, .slot = find(t, key, 0), .due = -1};
	int64_t crowd = beam_crowd_first(t->crowds, key, now);

	if (f.slot != NULL)
		f.due = atomic_load_explicit(&f.slot->due, memory_order_relaxed);
	if (crowd != 0 && (f.slot == NULL || crowd < f.due)) {
		f.slot = NULL;
		f.due = crowd;
	}
	return f;
}

static bool by_message(
	const struct beam_event *ev, ERL_NIF_TERM msg, int64_t now, struct taken *timer)
{
	struct beam_timers *t = ev->b->timers;
	ERL_NIF_TERM name = beam_name_of(&ev->b->registered.names, ev->cur.key);
	struct first f = first_timer(t, message_key(ev->env, ev->cur.key, msg), now), named;
	struct taken ref;
	uint64_t other;

	if (name != 0) {
		named = first_timer(t, message_key(ev->env, name, msg), now);
		if (named.due >= 0 && (f.due < 0 || named.due < f.due))
			f = named;
	}
	if (f.due < 0)
		return false;
	if (f.slot == NULL) {
		timer->due = f.due < now ? f.due : now; /* at the end of its 64 ms, perhaps */
		return beam_crowd_take(t->crowds, f.key, f.due, &timer->by);
	}
	if (!take(f.slot, f.key, timer))
		return false;
	other = timer->other;
	take(find(t, other, f.key), other, &ref);
	return true;
}

PROBE_PATH void beam_timer_message(struct beam_event *ev, ERL_NIF_TERM msg, ERL_NIF_TERM opts)
{
	struct en_probe *p = ev->b->probe[BP_TIMER_EXPIRE];
	struct taken timer = {.due = 0};
	uint64_t arg[3] = {0};
	int64_t now;

	if (!en_enabled(p) || !is_timers(ev, opts))
		return;
	now = (int64_t)en_now();
	if (!by_reference(ev, msg, &timer) && !by_message(ev, msg, now, &timer))
		timer = (struct taken){.due = 0}; /* it is not known */
	BEAM_MAKE_ARG(p, arg, TIMER_EXPIRE, process, beam_str(beam_term_text(ev->cur.key)));
	/* one that expires before it is due is another one, started before the script */
	BEAM_MAKE_ARG(p, arg, TIMER_EXPIRE, late,
		(uint64_t)(timer.due != 0 && now >= timer.due ? now - timer.due : -1));
	BEAM_MAKE_ARG(p, arg, TIMER_EXPIRE, starter,
		timer.by != 0 ? beam_str(beam_term_text(timer.by)) : (uint64_t)(uintptr_t) "\0");
	ev->starter = timer.by;
	en_fire(p, arg, timer.by != 0 ? STRINGS(TIMER_EXPIRE) : ARG_BIT(TIMER_EXPIRE, process),
		&ev->cur);
	ev->starter = 0;
}
