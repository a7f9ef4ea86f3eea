/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dynamic variables: associative arrays and self->, in one lock-free hash table for all threads
 * (probe path).
 *
 * A bucket is a singly linked chain. A node is inserted at the head by compare-and-swap, and only
 * after a search that started at that very head, so no key is ever in a chain twice. Deleting a
 * variable stores 0 as its value: the node stays in its chain as a tombstone, to be used again by
 * the next store to the same key or to be unlinked by the cleaner (dyn_clean.c). The cleaner waits
 * for a grace period between its steps (slot.c), so a node that a firing can reach is not reused
 * for another key before that firing has ended. dyn.h describes the states of a node.
 *
 * Memory is a pool of dynvarsize bytes. Clean nodes are in free lists by size class, shared ones
 * and a short one in each slot; fresh memory is taken from the pool by a bump allocator, which
 * never moves back.
 */
#include <string.h>

#include "compiler.h"
#include "counter.h"
#include "engine/drop.h"
#include "dyn.h"
#include "engine/engine.h"
#include "engine/fire.h"
#include "engine/in_kernel.h"
#include "key_view.h"
#include "engine/rt/rt_str.h"
#include "engine/slot.h"
#include "engine/state.h"
#include "engine/str.h"
#include "engine/work.h"

#define TRIES 64 /* attempts to insert under contention before it counts as a drop */

/* ---- memory --------------------------------------------------------------------------- */

static inline struct dyn_node *node_at(const struct dyn *d, uint64_t unit)
{
	return (struct dyn_node *)(void *)(d->pool + (unit - 1) * DYN_UNIT);
}

/* Pop a node from the shared free list. The upper half of the head is a tag against ABA. */
PROBE_PATH static struct dyn_node *pop_clean(
	__attribute__((unused)) const struct en *en, struct dyn *d, unsigned cls)
{
	uint64_t head = atomic_load_explicit(&d->free[cls], memory_order_acquire);

	for (int i = ZERO(en); i < TRIES && (uint32_t)head != 0; i++) {
		struct dyn_node *n = node_at(d, (uint32_t)head), *next;
		uint64_t to;

		next = atomic_load_explicit(&n->link, memory_order_relaxed);
		to = next ? (uint64_t)((char *)next - d->pool) / DYN_UNIT + 1 : 0;
		to |= ((head >> 32) + 1) << 32;
		if (atomic_compare_exchange_weak_explicit(
			    &d->free[cls], &head, to, memory_order_acquire, memory_order_acquire))
			return n;
	}
	return NULL;
}

/* Fresh memory from the pool; several nodes at once while there is plenty, for the slot's list. */
PROBE_PATH static struct dyn_node *pool_alloc(struct dyn *d, struct en_thread *t, unsigned cls)
{
	uint64_t size = dyn_class_size(cls), used = count_get(&d->bump), n;
	char *at;

	if (used >= d->pool_size || d->pool_size - used < size)
		return NULL;
	n = (d->pool_size - used) / size > 256 ? 8 : 1;
	used = atomic_fetch_add_explicit(&d->bump, n * size, memory_order_relaxed);
	if (used >= d->pool_size || d->pool_size - used < n * size)
		return NULL; /* lost a race: at the very end a little of the pool may be wasted */
	at = d->pool + used;
	for (uint64_t i = n - 1; i > 0; i--) {
		struct dyn_node *more = (struct dyn_node *)(void *)(at + i * size);

		atomic_store_explicit(&more->link, t->dyn.free[cls], memory_order_relaxed);
		t->dyn.free[cls] = more;
	}
	return (struct dyn_node *)(void *)at;
}

PROBE_PATH static INLINE_HERE struct dyn_node *node_alloc(struct en_thread *t, uint64_t size)
{
	struct dyn *d = &t->en->dyn;
	unsigned cls = dyn_class(size);
	struct dyn_node *n;

	if (cls >= DYN_CLASSES)
		return NULL;
	n = t->dyn.free[cls];
	if (n != NULL)
		t->dyn.free[cls] = atomic_load_explicit(&n->link, memory_order_relaxed);
	if (n == NULL)
		n = pop_clean(t->en, d, cls);
	if (n == NULL)
		n = pool_alloc(d, t, cls);
	if (n != NULL)
		n->cls = (uint8_t)cls;
	return n;
}

PROBE_PATH static void node_unalloc(struct en_thread *t, struct dyn_node *n)
{
	atomic_store_explicit(&n->state, NODE_GONE, memory_order_relaxed);
	atomic_store_explicit(&n->link, t->dyn.free[n->cls], memory_order_relaxed);
	t->dyn.free[n->cls] = n;
}

/* Out of memory: the kind of drop says whether cleaning in time would have helped. */
PROBE_PATH static __attribute__((noinline)) void no_room(struct en_thread *t)
{
	struct en *en = t->en;
	uint32_t n = atomic_load_explicit(&en->nslots, memory_order_relaxed);
	bool dirty = count_get(&en->dyn.ndirty) != 0;

	for (unsigned i = 0; i < n && !dirty; i++)
		dirty = atomic_load_explicit(&en_slot(en, i)->dyn.dirty, memory_order_relaxed) !=
			NULL;
	drop(t, dirty ? DROP_DYNDIRTY : count_get(&en->dyn.nrinse) ? DROP_DYNRINSE : DROP_DYNAMIC);
}

/* ---- finding and inserting ------------------------------------------------------------ */

/* A key as this firing gives it, and the chain it belongs to. */
struct dyn_lookup {
	struct fire *f;
	const struct dyn_var *var;
	const uint64_t *word;
	_Atomic(struct dyn_node *) *head;
	struct key_view key;
};

PROBE_PATH static inline bool lookup_init(
	struct fire *f, uint64_t id, uint64_t key, struct dyn_lookup *p)
{
	struct dyn *d = &f->en->dyn;

	p->f = f;
	p->var = &d->vars[id];
	p->word = (const uint64_t *)(uintptr_t)key;
	if (unlikely(!key_look(f, &p->var->key, id, p->word, &p->key)))
		return false;
	p->head = &d->heads[p->key.hash & d->mask];
	return true;
}

/* Search the chain from n up to, but not including, end. */
PROBE_PATH static INLINE_HERE struct dyn_node *find_from(
	const struct dyn_lookup *p, struct dyn_node *n, const struct dyn_node *end)
{
	for (; n != end; n = atomic_load_explicit(&n->next, memory_order_acquire))
		if (n->hash == p->key.hash && n->var == p->var->id &&
			atomic_load_explicit(&n->state, memory_order_relaxed) != NODE_GONE &&
			key_equal(&p->var->key, p->word, &p->key, dyn_key(p->var, n)))
			return n;
	return NULL;
}

PROBE_PATH static inline struct dyn_node *find(const struct dyn_lookup *p)
{
	return find_from(p, atomic_load_explicit(p->head, memory_order_acquire), NULL);
}

/* ---- the fast path -------------------------------------------------------------------- */

/*
 * Clauses look up the same variables again and again, so each slot has a cache of nodes,
 * direct-mapped by a hash of variable and key. Only short keys are cached: one number or one
 * interned string, and the key of self-> if any.
 *
 * A cached node may since have been deleted, cleaned and reused for another key. The cache is not
 * invalidated; instead a hit compares the key stored in the node. That is safe because the key is
 * written before the state becomes LIVE again, and the state becomes LIVE only after the node is in
 * its chain for good.
 */
static inline unsigned recent_self(uint64_t self, uint64_t id)
{
	return (unsigned)(((self ^ id) * 0x9e3779b97f4a7c15) >> (64 - DYN_RECENT_LOG));
}

static inline struct dyn_node **recent_of(
	const struct fire *f, const struct dyn_var *v, uint64_t self, uint64_t word)
{
	uint32_t h;

	if (likely(v->shape == (KEY_SELF | KEY_STRING))) { /* ids count up: use the low half */
		h = ((uint32_t)word * 0x85ebca6b + (uint32_t)self) ^ v->id;
		return &f->thread->dyn.recent[(uint32_t)(h * 0x9e3779b1) >> (32 - DYN_RECENT_LOG)];
	}
	return &f->thread->dyn.recent[recent_self(self ^ word << 20, v->id)];
}

/* The words that identify a short key: self key, and string id or number. false: a long key. */
PROBE_PATH static inline bool short_key(
	const struct fire *f, const struct dyn_var *v, uint64_t key, uint64_t *self, uint64_t *word)
{
	const struct et_str *in;

	*self = v->shape & KEY_SELF ? f->self : 0;
	*word = 0;
	if (v->shape & KEY_STRING) {
		in = str_interned(*(const uint64_t *)(uintptr_t)key);
		if (unlikely(in == NULL))
			return false;
		*word = in->id;
		return true;
	}
	if (v->shape & KEY_NUMBER)
		*word = *(const uint64_t *)(uintptr_t)key;
	return !(v->shape & KEY_LONG);
}

/* The last node, if the key is the same: during one firing, an equal word is an equal key. */
PROBE_PATH static inline struct dyn_node *memo_get(const struct fire *f, uint64_t id, uint64_t key)
{
	return f->memo != NULL && f->memo_var == id &&
			       f->memo_word == *(const uint64_t *)(uintptr_t)key
		       ? f->memo
		       : NULL;
}

static inline struct dyn_node *memo_set(
	struct fire *f, uint64_t id, uint64_t word, struct dyn_node *n)
{
	f->memo = n;
	f->memo_var = (uint32_t)id;
	f->memo_word = word;
	return n;
}

static inline bool is_live(const struct dyn_var *v, struct dyn_node *n)
{
	return n != NULL && atomic_load_explicit(&n->state, memory_order_acquire) == NODE_LIVE &&
	       n->var == v->id;
}

/*
 * The cached node of this key if it is live, or NULL. This one handles only the most frequent case,
 * numbers in self->x[string]. It is inline and calls nothing, so that dyn_load and dyn_store need
 * no stack frame.
 */
PROBE_PATH static INLINE_ALWAYS struct dyn_node *find_cached_self_str(
	struct fire *f, uint64_t id, uint64_t key)
{
	const struct dyn_var *v = &f->en->dyn.vars[id];
	uint64_t ref, str;
	struct dyn_node *n;
	const uint64_t *k;

	if (unlikely(v->shape != (KEY_SELF | KEY_STRING)))
		return NULL; /* there may be no key to read */
	ref = *(const uint64_t *)(uintptr_t)key;
	if (unlikely(!(ref & STR_TAG)))
		return NULL;
	str = ((const struct et_str *)(uintptr_t)(ref & ~STR_TAG))->id;
	n = *recent_of(f, v, f->self, str);
	if (unlikely(!is_live(v, n)))
		return NULL;
	k = (const uint64_t *)(const void *)n->body;
	return likely(k[0] == str && k[1] == f->self) ? memo_set(f, id, ref, n) : NULL;
}

/* The last node, or one of the cache: all that dyn_load and dyn_store look at themselves. */
PROBE_PATH static INLINE_ALWAYS struct dyn_node *find_fast(
	struct fire *f, uint64_t id, uint64_t key)
{
	struct dyn_node *n;

	if (f->en->dyn.vars[id].shape == KEY_SELF)
		return NULL; /* there is no key to read */
	n = memo_get(f, id, key);
	return n != NULL ? n : find_cached_self_str(f, id, key);
}

/* The same for a number in self->x: no key but that of self->, which is all of the node's body. */
#define MEMO_SELF (1U << 31)
PROBE_PATH static INLINE_ALWAYS struct dyn_node *find_self(struct fire *f, uint64_t id)
{
	struct dyn_node *n = f->memo;
	uint64_t self = f->self;

	if (n != NULL && f->memo_var == (MEMO_SELF | (uint32_t)id))
		return n;
	n = f->thread->dyn.recent[recent_self(self, id)];
	if (unlikely(n == NULL ||
		     atomic_load_explicit(&n->state, memory_order_acquire) != NODE_LIVE ||
		     n->var != id || *(const uint64_t *)(const void *)n->body != self))
		return NULL;
	f->memo = n;
	f->memo_var = MEMO_SELF | (uint32_t)id;
	return n;
}

/* The same for every short key. */
PROBE_PATH static inline struct dyn_node *find_cached(struct fire *f, uint64_t id, uint64_t key)
{
	const struct dyn_var *v = &f->en->dyn.vars[id];
	uint64_t self, word;
	struct dyn_node *n;
	const uint64_t *k;

	if (unlikely(!short_key(f, v, key, &self, &word)))
		return NULL;
	n = *recent_of(f, v, self, word);
	if (unlikely(!is_live(v, n)))
		return NULL;
	k = dyn_key(v, n);
	if (((v->shape & KEY_STRING) && *k++ != word) || ((v->shape & KEY_SELF) && *k++ != self) ||
		((v->shape & KEY_NUMBER) && *k != word))
		return NULL;
	return v->shape & (KEY_NUMBER | KEY_STRING)
		       ? memo_set(f, id, *(const uint64_t *)(uintptr_t)key, n)
		       : n;
}

static inline struct dyn_node *remember(
	const struct fire *f, const struct dyn_lookup *p, uint64_t key, struct dyn_node *n)
{
	uint64_t self, word;

	if (n != NULL && short_key(f, p->var, key, &self, &word))
		*recent_of(f, p->var, self, word) = n;
	return n;
}

/* Before writing to a node: take it back from the cleaner. false: too late, insert a new one. */
PROBE_PATH static inline bool revive(struct dyn_node *n)
{
	uint8_t s = atomic_load_explicit(&n->state, memory_order_relaxed);

	if (likely(s == NODE_LIVE || s == NODE_FRESH))
		return true;
	return s == NODE_DYING &&
	       (atomic_compare_exchange_strong(&n->state, &s, NODE_LIVE) || s == NODE_LIVE);
}

/* Link it into the chain of its self key, for en_self_free. false: lost the race too often. */
PROBE_PATH static bool link_self(struct en *en, const struct dyn_var *v, struct dyn_node *n)
{
	_Atomic(struct dyn_node *) *head = dyn_self_head(&en->dyn, dyn_self_key(v, n));
	struct dyn_node *old = atomic_load_explicit(head, memory_order_acquire);

	for (int i = ZERO(en); i < TRIES; i++) {
		atomic_store_explicit(&n->snext, old, memory_order_relaxed);
		if (atomic_compare_exchange_strong_explicit(
			    head, &old, n, memory_order_release, memory_order_acquire))
			return true;
	}
	atomic_store_explicit(&n->snext, NULL, memory_order_relaxed);
	return false;
}

PROBE_PATH static __attribute__((noinline)) void queue_dirty(
	struct en_thread *t, struct dyn_node *n)
{
	struct dyn_node *head;

	if (atomic_exchange(&n->queued, NODE_QUEUED) != NODE_FREE)
		return;
	head = atomic_load_explicit(&t->dyn.dirty, memory_order_relaxed);
	do { /* fails only when the cleaner has just taken the list */
		atomic_store_explicit(&n->link, head, memory_order_relaxed);
	} while (!atomic_compare_exchange_weak_explicit(
		&t->dyn.dirty, &head, n, memory_order_release, memory_order_relaxed));
}

/* The variable was deleted: queue its node for the cleaner, unless it is queued already. */
PROBE_PATH static inline void deleted(struct en_thread *t, struct dyn_node *n)
{
	if (unlikely(t->fence))
		atomic_thread_fence(memory_order_seq_cst);
	atomic_signal_fence(memory_order_seq_cst);
	if (unlikely(atomic_load_explicit(&n->queued, memory_order_relaxed) != NODE_QUEUED))
		queue_dirty(t, n);
}

/*
 * The node of this key, inserted with this value if there is none (*made says so). NULL: out of
 * memory, which is counted. After a failed compare-and-swap the search is repeated, as another
 * thread may have inserted the same key.
 */
PROBE_PATH static struct dyn_node *insert(const struct dyn_lookup *p, uint64_t value, bool *made)
{
	struct en_thread *t = p->f->thread;
	const struct dyn_var *v = p->var;
	struct dyn_node *head = atomic_load_explicit(p->head, memory_order_acquire), *n, *found;

	*made = false;
	if (unlikely(v->flow && p->word[0] == 0))
		return NULL;
	n = node_alloc(t, sizeof(*n) + v->data + p->key.bytes);
	if (n == NULL) {
		no_room(t);
		return NULL;
	}
	n->hash = p->key.hash;
	n->var = (uint16_t)v->id;
	atomic_store_explicit(&n->queued, NODE_FREE, memory_order_relaxed);
	atomic_store_explicit(&n->value, value, memory_order_relaxed);
	key_store(&v->key, p->word, &p->key, dyn_key(v, n));
	if (v->data != 0)
		memset(n->body, 0, v->data);
	atomic_store_explicit(&n->state, NODE_FRESH, memory_order_release);
	for (int i = ZERO(t->en); i < TRIES; i++) {
		found = find_from(p, head, NULL);
		if (found != NULL && revive(found)) {
			node_unalloc(t, n);
			return found;
		}
		atomic_store_explicit(&n->next, head, memory_order_relaxed);
		if (atomic_compare_exchange_strong_explicit(
			    p->head, &head, n, memory_order_release, memory_order_acquire)) {
			bool linked = !v->key.self || link_self(t->en, v, n);

			atomic_store_explicit(&n->state, NODE_LIVE, memory_order_release);
			*made = true;
			if (likely(linked))
				return n;
			/* en_self_free would not find it: delete it at once */
			atomic_store_explicit(&n->value, 0, memory_order_relaxed);
			deleted(t, n);
			no_room(t);
			return NULL;
		}
	}
	node_unalloc(t, n);
	no_room(t);
	return NULL;
}

/* The node of this key, found by searching its chain, or NULL. */
PROBE_PATH NO_GUARD static __attribute__((noinline)) struct dyn_node *find_slow(
	struct fire *f, uint64_t id, uint64_t key)
{
	BIG_LOCAL(struct dyn_lookup, p, f);

	return lookup_init(f, id, key, p) ? remember(f, p, key, find(p)) : NULL;
}

/* The node to write to; inserted with this value if there is none. */
PROBE_PATH NO_GUARD static __attribute__((noinline)) struct dyn_node *get_slow(
	struct fire *f, uint64_t id, uint64_t key, uint64_t value, bool *made)
{
	BIG_LOCAL(struct dyn_lookup, p, f);
	struct dyn_node *n;

	*made = false;
	if (!lookup_init(f, id, key, p))
		return NULL;
	n = find(p);
	if (n == NULL || !revive(n))
		n = insert(p, value, made);
	return remember(f, p, key, n);
}

/* ---- runtime functions ---------------------------------------------------------------- */

static inline uint64_t value_of(const struct dyn_node *n)
{
	return n != NULL ? atomic_load_explicit(&n->value, memory_order_relaxed) : 0;
}

PROBE_PATH static __attribute__((noinline)) uint64_t load_slow(
	struct fire *f, uint64_t id, uint64_t key)
{
	struct dyn_node *n = find_cached(f, id, key);

	return value_of(n != NULL ? n : find_slow(f, id, key));
}

RTFN(dyn_load)
{
	struct fire *f = FIRE(ctx);
	struct dyn_node *n = find_fast(f, a, b);

	return likely(n != NULL) ? value_of(n) : load_slow(f, a, b);
}

PROBE_PATH static __attribute__((noinline)) uint64_t store_slow(
	struct fire *f, uint64_t id, uint64_t key, uint64_t value)
{
	struct dyn_node *n = find_cached(f, id, key);
	bool made = false;

	if (n == NULL)
		n = value != 0 ? get_slow(f, id, key, value, &made) : find_slow(f, id, key);
	if (n == NULL || made)
		return 0;
	atomic_store_explicit(&n->value, value, memory_order_relaxed);
	if (value == 0)
		deleted(f->thread, n);
	return 0;
}

PROBE_PATH static __attribute__((noinline)) uint64_t delete_slow(
	struct en_thread *t, struct dyn_node *n)
{
	deleted(t, n);
	return 0;
}

PROBE_PATH static INLINE_ALWAYS uint64_t store_to(
	const struct fire *f, struct dyn_node *n, uint64_t value)
{
	atomic_store_explicit(&n->value, value, memory_order_relaxed);
	if (value != 0)
		return 0;
	atomic_signal_fence(memory_order_seq_cst);
	if (likely(!f->thread->fence &&
		   atomic_load_explicit(&n->queued, memory_order_relaxed) == NODE_QUEUED))
		return 0; /* the common case of deleted() */
	return delete_slow(f->thread, n);
}

RTFN(dyn_store)
{
	struct fire *f = FIRE(ctx);
	struct dyn_node *n = find_fast(f, a, b);

	return likely(n != NULL) ? store_to(f, n, c) : store_slow(f, a, b, c);
}

RTFN(self_load)
{
	struct fire *f = FIRE(ctx);
	struct dyn_node *n = find_self(f, a);

	return likely(n != NULL) ? value_of(n) : load_slow(f, a, b);
}

RTFN(self_store)
{
	struct fire *f = FIRE(ctx);
	struct dyn_node *n = find_self(f, a);

	return likely(n != NULL) ? store_to(f, n, c) : store_slow(f, a, b, c);
}

RTFN(dyn_add)
{
	struct fire *f = FIRE(ctx);
	struct dyn_node *n = find_cached(f, a, b);
	bool made = false;
	uint64_t old;

	if (c == 0)
		return value_of(n != NULL ? n : find_slow(f, a, b));
	if (n == NULL)
		n = get_slow(f, a, b, c, &made);
	if (n == NULL || made)
		return 0;
	old = atomic_fetch_add_explicit(&n->value, c, memory_order_relaxed);
	if (old + c == 0)
		deleted(f->thread, n);
	return old;
}

RTFN(dyn_del)
{
	return rt_dyn_store(ctx, a, b, 0, 0);
}

/* By-reference values: the bytes of an existing one. */
RTFN(dyn_ref)
{
	struct fire *f = FIRE(ctx);
	struct dyn_node *n = find_cached(f, a, b);

	if (n == NULL)
		n = find_slow(f, a, b);
	if (n == NULL || atomic_load_explicit(&n->value, memory_order_acquire) == 0)
		return 0;
	return (uint64_t)(uintptr_t)n->body;
}

/* The same, created if missing. Of several threads that find it deleted, one zeroes it. */
RTFN(dyn_new)
{
	struct fire *f = FIRE(ctx);
	struct dyn_node *n = find_cached(f, a, b);
	uint64_t none = 0;
	bool made;

	if (n == NULL)
		n = get_slow(f, a, b, 1, &made);
	if (n == NULL)
		return 0;
	if (atomic_load_explicit(&n->value, memory_order_acquire) == 0 &&
		atomic_compare_exchange_strong(&n->value, &none, 2)) {
		memset(n->body, 0, f->en->dyn.vars[a].data);
		atomic_store_explicit(&n->value, 1, memory_order_release);
	}
	return (uint64_t)(uintptr_t)n->body;
}

RTFN(dyn_str)
{
	return rt_dyn_ref(ctx, a, b, 0, 0);
}

RTFN(dyn_setstr)
{
	struct fire *f = FIRE(ctx);
	const struct dyn_var *v = &f->en->dyn.vars[a];
	uint32_t len;
	const char *text = str_text(f, c, &len);
	char *to;

	if (!work_block(f, len))
		return 0;
	if (text == NULL)
		return rt_dyn_store(ctx, a, b, 0, 0);
	to = (char *)(uintptr_t)rt_dyn_new(ctx, a, b, 0, 0);
	if (to == NULL)
		return 0;
	if (len > v->data - 1)
		len = v->data - 1;
	memmove(to, text, len); /* text may be the variable's own value */
	str_end(to, len);
	return 0;
}

/* ---- all variables of one self key ---------------------------------------------------- */

PROBE_PATH static void free_self(struct en *en, struct en_thread *t, uint64_t key)
{
	struct dyn *d = &en->dyn;
	struct dyn_node *n = atomic_load_explicit(dyn_self_head(d, key), memory_order_acquire);

	for (; n != NULL; n = atomic_load_explicit(&n->snext, memory_order_acquire)) {
		if (dyn_self_key(&d->vars[n->var], n) != key ||
			atomic_load_explicit(&n->state, memory_order_relaxed) == NODE_GONE)
			continue;
		atomic_store_explicit(&n->value, 0, memory_order_relaxed);
		deleted(t, n);
	}
}

#ifdef __bpf__
void k_free_self(struct en_thread *t, uint64_t key)
{
	free_self(t->en, t, key);
}
#else
PROBE_PATH void en_self_free(struct en *en, uint64_t key)
{
	struct en_thread *t;
	bool entered;

	if (en->dyn.selfs == NULL || (t = en_slot_get(en)) == NULL)
		return;
	entered = slot_enter(t);
	free_self(en, t, key);
	if (entered)
		slot_leave(t);
}

PROBE_PATH void en_flow_free(struct en *en, uint64_t id)
{
	struct en_thread *t = en_slot_get(en);

	if (t == NULL || !slot_enter(t))
		return;
	t->fire.memo = NULL;
	for (unsigned i = 0; i < en->prog->nvars; i++)
		if (en->prog->vars[i]->flow)
			store_slow(&t->fire, i, (uint64_t)(uintptr_t)&id, 0);
	t->fire.memo = NULL;
	slot_leave(t);
}
#endif
