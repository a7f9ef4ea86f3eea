/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terms as values of D (probe path): the slots of an event, and what scripts ask of the terms in
 * them. A slot is valid for one event of one handle. A thread counts each time that it enters and
 * leaves a handle (beam_thread.seq), so its slots are emptied when they are first used under
 * another count: events of scripts without terms have nothing to do for this. The terms are those
 * of the event, which stay where they are until it is over.
 */
#include <string.h>

#include "beam/atoms.h"
#include "beam/handle/beam_handle.h"
#include "beam/pages.h"
#include "beam/term/atom_text.h"
#include "beam/term/kept_args.h"
#include "beam/term/match.h"
#include "beam/term/texts.h"
#include "beam/vm/vm_event.h"
#include "beam/vm/vm_threads.h"
#include "compiler.h"
#include "prog/builtins.h"
#include "term/term_answers.h"
#include "erl_builtins.h"
#include "terms.h"

#define ENTRY	 NO_GUARD __attribute__((aligned(64))) /* called for most events */
#define COMPARED 4096 /* bytes of a printed text that is compared */

struct beam_slots {
	uint64_t seq;		       /* of the thread, when they were used last */
	uint64_t set[TERM_SLOTS / 64]; /* bits: which have a value */
	struct term_value value[TERM_SLOTS];
	char text[COMPARED];
};

static struct beam_slots *pool; /* mapped at load, touched as threads come */

int beam_slots_init(unsigned n)
{
	if (pool == NULL)
		pool = beam_pages(n * sizeof(*pool));
	return pool != NULL ? 0 : -1;
}

PROBE_PATH struct beam_slots *beam_slots_nth(unsigned n)
{
	return &pool[n];
}

/* ---- slots ----------------------------------------------------------------------------- */

/* Those of this event; NULL: the thread is none of the VM's. */
static inline struct beam_slots *slots(void)
{
	struct beam_thread *t = beam_self;
	uint64_t seq;

	if (unlikely(t == NULL))
		return NULL;
	seq = atomic_load_explicit(&t->seq, memory_order_relaxed);
	if (t->slots->seq != seq) {
		memset(t->slots->set, 0, sizeof(t->slots->set));
		t->slots->seq = seq;
	}
	return t->slots;
}

/* Has the thread used none in this event so far? */
static inline bool are_empty(void)
{
	const struct beam_thread *t = beam_self;

	return likely(t != NULL) &&
	       t->slots->seq != atomic_load_explicit(&t->seq, memory_order_relaxed);
}

static inline bool is_set(const struct beam_slots *s, uint64_t slot)
{
	return s->set[slot / 64] >> slot % 64 & 1;
}

static inline void set(struct beam_slots *s, unsigned slot, bool on)
{
	uint64_t bit = 1ULL << slot % 64;

	s->set[slot / 64] = on ? s->set[slot / 64] | bit : s->set[slot / 64] & ~bit;
}

/* What a handle names; NULL: nothing. */
static inline struct term_value *get(struct beam_slots *s, uint64_t of)
{
	if (s == NULL || of == 0 || of > TERM_SLOTS || !is_set(s, of - 1))
		return NULL;
	return &s->value[of - 1];
}

static inline uint64_t put(
	struct beam_slots *s, unsigned slot, enum term_value_kind kind, ERL_NIF_TERM t)
{
	s->value[slot].kind = kind;
	s->value[slot].term = t;
	set(s, slot, true);
	return slot + 1;
}

static bool has_term(const struct term_value *v)
{
	return v != NULL && value_is_term(v);
}

static const struct beam_event *event_of(const struct en_current *cur)
{
	return (const struct beam_event *)(const void *)cur;
}

/* ---- arguments at a return -------------------------------------------------------------- */

/*
 * Of arguments that were too large to be kept whole, parts were left out. A clause that asks
 * about one of these is told something else than at the entry: that is noted.
 */
enum look {
	LOOK_AT,    /* the term itself, the tail of a list */
	LOOK_WHOLE, /* all its parts */
	LOOK_KEYS,  /* itself, or the keys of a map, where one is not found */
};

PROBE_PATH static __attribute__((noinline)) void look_kept(
	struct beam_kept *k, const struct term_value *v, enum look what)
{
	if (!k->cut || !has_term(v))
		return;
	k->met |= beam_kept_has_left_out(k, v->term, what == LOOK_WHOLE) ||
		  (what == LOOK_KEYS && beam_kept_lacks_keys(k, v->term));
}

static inline void look(const struct en_current *cur, const struct term_value *v, enum look what)
{
	struct beam_kept *k = event_of(cur)->kept;

	if (unlikely(k != NULL))
		look_kept(k, v, what);
}

/* What stands for it is a tuple, but has no parts. */
static inline bool is_left_out(const struct beam_event *ev, ERL_NIF_TERM t)
{
	return unlikely(ev->kept != NULL) && ev->kept->cut && beam_kept_left_out(ev->kept, t);
}

/* Does the pattern come upon one? Then it does not match. */
PROBE_PATH static __attribute__((noinline)) bool match_meets(
	const struct beam_event *ev, const struct beam_pattern *p, const struct term_value *v)
{
	if (!ev->kept->cut || v == NULL || !beam_match_meets(ev->env, p, v, ev->kept))
		return false;
	ev->kept->met = true;
	return true;
}

/* ---- where terms come from -------------------------------------------------------------- */

static inline bool get_source(
	const struct beam_event *ev, unsigned pbi, uint64_t n, struct term_value *v)
{
	v->kind = pbi == PBI_ERLARGS ? VALUE_ARGS : VALUE_TERM;
	return pbi == PBI_ERLMSG ? beam_message(ev, &v->term) : beam_source(ev, pbi, n, &v->term);
}

PROBE_PATH ENTRY static uint64_t source(const struct en_current *cur, unsigned slot, unsigned pbi, uint64_t n)
{
	struct beam_slots *s = slots();
	struct term_value v;

	if (unlikely(s == NULL || slot >= TERM_SLOTS))
		return 0;
	if (get_source(event_of(cur), pbi, n, &v))
		return put(s, slot, v.kind, v.term);
	set(s, slot, false);
	return 0;
}

static const struct beam_pattern *pattern_of(const struct beam_event *ev, uint64_t n)
{
	const struct beam_patterns *ps = &ev->b->patterns;

	return n < ps->n ? &ps->pattern[n] : NULL;
}

PROBE_PATH NO_GUARD static inline bool get_part(const struct beam_event *ev, enum term_part what,
	ERL_NIF_TERM of, uint64_t n, ERL_NIF_TERM *t)
{
	const struct beam_pattern *key;

	if (what != TERM_KEY)
		return part_of_term(ev->env, what, of, n, t);
	key = pattern_of(ev, n);
	return key != NULL && beam_match_key(ev->env, key, of, t);
}

PROBE_PATH ENTRY static uint64_t part(
	const struct en_current *cur, unsigned slot, enum term_part what, uint64_t of, uint64_t n)
{
	struct beam_slots *s = slots();
	struct term_value *v = get(s, of);
	ERL_NIF_TERM t;

	if (unlikely(s == NULL || slot >= TERM_SLOTS))
		return 0;
	if (has_term(v) && !is_left_out(event_of(cur), v->term) &&
		get_part(event_of(cur), what, v->term, n, &t))
		return put(s, slot, VALUE_TERM, t);
	look(cur, v, what == TERM_KEY ? LOOK_KEYS : LOOK_AT);
	set(s, slot, false);
	return 0;
}

PROBE_PATH ENTRY static uint64_t source_part(const struct en_current *cur, unsigned slot, enum term_part what,
	unsigned pbi, uint64_t source_n, uint64_t n)
{
	struct beam_slots *s = slots();
	struct term_value v;
	ERL_NIF_TERM t;

	if (unlikely(s == NULL || slot >= TERM_SLOTS))
		return 0;
	if (get_source(event_of(cur), pbi, source_n, &v)) {
		if (!is_left_out(event_of(cur), v.term) &&
			get_part(event_of(cur), what, v.term, n, &t))
			return put(s, slot, VALUE_TERM, t);
		look(cur, &v, what == TERM_KEY ? LOOK_KEYS : LOOK_AT);
	}
	set(s, slot, false);
	return 0;
}

/* The slots of the pattern's variables have values, or are empty. */
static inline void set_vars(
	struct beam_slots *s, const struct beam_pattern *p, unsigned first, bool on)
{
	for (unsigned i = 0; i < p->nvars; i++)
		set(s, first + i, on);
}

static inline bool match_value(const struct beam_event *ev, struct beam_slots *s,
	const struct beam_pattern *p, unsigned first, const struct term_value *v, bool fails)
{
	bool is;

	if (unlikely(ev->kept != NULL) && match_meets(ev, p, v))
		fails = true;
	is = !fails && beam_match(ev->env, p, v, &s->value[first]);
	set_vars(s, p, first, is);
	return is;
}

PROBE_PATH ENTRY static bool match(const struct en_current *cur, uint64_t of, unsigned pattern, unsigned first)
{
	const struct beam_event *ev = event_of(cur);
	struct beam_slots *s = slots();
	const struct term_value *v = get(s, of);
	const struct beam_pattern *p = pattern_of(ev, pattern);

	if (unlikely(s == NULL || p == NULL || first + p->nvars > TERM_SLOTS))
		return false;
	return match_value(ev, s, p, first, v, unlikely(v == NULL) || beam_match_fails(p, v));
}

/* What fails at once, as most do, leaves the slots alone if there is nothing in them. */
PROBE_PATH ENTRY static bool source_match(
	const struct en_current *cur, unsigned pbi, uint64_t n, unsigned pattern, unsigned first)
{
	const struct beam_event *ev = event_of(cur);
	const struct beam_pattern *p = pattern_of(ev, pattern);
	struct beam_slots *s;
	struct term_value v;
	bool there, fails;

	if (unlikely(p == NULL))
		return false;
	there = get_source(ev, pbi, n, &v);
	fails = unlikely(!there) || beam_match_fails(p, &v);
	if (fails && likely(ev->kept == NULL) && are_empty())
		return false;
	s = slots();
	if (unlikely(s == NULL || first + p->nvars > TERM_SLOTS))
		return false;
	return match_value(ev, s, p, first, likely(there) ? &v : NULL, fails);
}

/* ---- numbers --------------------------------------------------------------------------- */

PROBE_PATH static bool number(const struct en_current *cur, uint64_t of, enum term_fact fact, int64_t *n)
{
	const struct term_value *v = get(slots(), of);
	ErlNifEnv *env = event_of(cur)->env;

	if (fact != TERM_IS)
		look(cur, v, LOOK_AT);
	switch (fact) {
	case TERM_IS: *n = v != NULL; return true;
	case TERM_INTEGER: return v != NULL && integer_of_value(env, v, n);
	case TERM_SIZE:
		return v != NULL && !(has_term(v) && is_left_out(event_of(cur), v->term)) &&
		       size_of_value(env, v, n);
	case TERM_SCALED: return v != NULL && scaled_value(env, v, n);
	}
	return false;
}

/* Parts that were left out are no numbers. */
PROBE_PATH NO_GUARD static int compare(const struct en_current *cur, uint64_t of, uint64_t to, bool huge)
{
	const struct term_value *v = get(slots(), of);
	int order;

	if (unlikely(v == NULL))
		return TERM_NOT_A_NUMBER;
	order = order_value(event_of(cur)->env, v, to, huge);
	if (order == TERM_NOT_A_NUMBER)
		look(cur, v, LOOK_AT);
	return order;
}

/* ---- texts ----------------------------------------------------------------------------- */

static const char *type_name(const struct beam_event *ev, const struct term_value *v)
{
	return value_is_term(v) && is_left_out(ev, v->term) ? beam_kept_type(v->term)
							    : type_of_value(ev->env, v);
}

static void copy_text(const char *text, char *buf, size_t size)
{
	size_t n = strnlen(text, size - 1);

	memcpy(buf, text, n);
	buf[n] = '\0';
}

/* Texts of atoms may be longer than those that are kept. */
static bool is_whole(const struct et_str *s)
{
	return s->len + 4 < BEAM_TEXT_MAX;
}

/* Atoms and pids have texts that are kept. */
static const struct et_str *kept_text(ErlNifEnv *env, const struct term_value *v, size_t size)
{
	const struct et_str *s;

	if (v->kind != VALUE_TERM ||
		!(enif_is_atom(env, v->term) || (v->term & 15) == beam_vm.pid_tag))
		return NULL;
	s = beam_term_text(v->term);
	return likely(is_whole(s) && s->len < size) ? s : NULL;
}

PROBE_PATH static bool text(const struct en_current *cur, uint64_t of, enum term_text what, char *buf,
	size_t size, const struct et_str **s)
{
	const struct term_value *v = get(slots(), of);
	ErlNifEnv *env = event_of(cur)->env;

	*s = NULL;
	if (v == NULL || size == 0)
		return false;
	switch (what) {
	case TERM_TYPE:
		if (has_term(v) && v->term == atom_dots)
			look(cur, v, LOOK_AT);
		copy_text(type_name(event_of(cur), v), buf, size);
		return true;
	case TERM_CHARS: look(cur, v, LOOK_WHOLE); return beam_chars(env, v, buf, size);
	case TERM_PRINTED:
	case TERM_PRETTY:
		*s = kept_text(env, v, size);
		if (*s == NULL)
			beam_print_value(env, v, buf, size);
		return true;
	}
	return false;
}

/* Atoms and pids have texts that are kept: that of a plain atom is its name. */
static inline bool kept_equals(
	ErlNifEnv *env, ERL_NIF_TERM t, const char *other, size_t len, bool *is)
{
	const struct et_str *s = beam_text_cached(beam_self, t);

	if (unlikely(s == NULL)) {
		if (!enif_is_atom(env, t))
			return false;
		s = beam_term_text(t);
	}
	if (unlikely(s->text[0] == '\'' || !is_whole(s)))
		return false;
	*is = s->len == len && memcmp(s->text, other, len) == 0;
	return true;
}

PROBE_PATH static int equals(const struct en_current *cur, uint64_t of, const char *other, size_t len)
{
	struct beam_slots *s = slots();
	const struct term_value *v = get(s, of);
	ErlNifEnv *env = event_of(cur)->env;
	bool is;

	if (v == NULL)
		return 0;
	look(cur, v, LOOK_WHOLE);
	if (v->kind == VALUE_TERM && kept_equals(env, v->term, other, len, &is))
		return is;
	return text_equals(env, v, other, len, s->text, sizeof(s->text));
}

PROBE_PATH static int same(const struct en_current *cur, uint64_t a, uint64_t b)
{
	struct beam_slots *s = slots();
	const struct term_value *va = get(s, a), *vb = get(s, b);
	unsigned steps = SAME_STEPS;

	if (va == NULL || vb == NULL)
		return 0; /* not even what is not there either */
	look(cur, va, LOOK_WHOLE);
	look(cur, vb, LOOK_WHOLE);
	return beam_same_values(event_of(cur)->env, va, vb, &steps);
}

const struct en_term_ops beam_term_ops = {
	.source = source,
	.part = part,
	.source_part = source_part,
	.match = match,
	.source_match = source_match,
	.number = number,
	.text = text,
	.equals = equals,
	.compare = compare,
	.same = same,
};
