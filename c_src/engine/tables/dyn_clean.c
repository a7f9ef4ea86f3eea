/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dynamic variables, the consumer's side: creating and freeing the table, the cleaner, and the
 * sweep of self-> variables whose processes have ended. A deleted variable's node passes through
 * these lists:
 *
 *   dirty -> rinse (state DYING) -> gone (out of its chains) -> free
 *
 * Each call of dyn_clean moves a node one step at most, and is made a grace period after the last
 * call. dyn.h describes the states.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "compiler.h"
#include "dyn.h"
#include "engine/engine.h"
#include "key.h"
#include "engine/load.h"
#include "prog/prog.h"
#include "engine/region.h"
#include "engine/slot.h"
#include "engine/state.h"

/* ---- setup ---------------------------------------------------------------------------- */

static uint64_t power_below(uint64_t n)
{
	uint64_t p = 1;

	while (2 * p <= n)
		p *= 2;
	return p;
}

static void var_init(struct dyn_var *v, const struct prog_var *pv, uint32_t id, uint32_t strsize)
{
	bool byref = pv->type != NULL && d_is_byref(pv->type);

	v->id = id;
	v->flow = pv->flow;
	v->is_str = pv->type != NULL && d_is_string(pv->type);
	v->data = v->is_str ? strsize : byref ? pv->size : 0;
	v->data = (uint32_t)align_up(v->data, 8);
	en_key_init(&v->key, pv->keys, pv->nkeys, pv->scope == SC_SELF);
	v->shape = v->key.self ? KEY_SELF : 0;
	if (v->key.n == 1 && v->key.kind[0] == EBPF_SCALAR)
		v->shape |= KEY_NUMBER;
	else if (v->key.n == 1 && v->key.kind[0] == EBPF_STR)
		v->shape |= KEY_STRING;
	else if (v->key.n != 0)
		v->shape = KEY_LONG;
	if (v->data != 0)
		v->shape |= KEY_BEHIND;
}

int dyn_init(struct en *en, struct et_error *e)
{
	const struct prog *p = en->prog;
	uint64_t asked = en->opts->val[OPT_DYNVARSIZE], size = asked, heads, selfs = 0;
	struct dyn *d = &en->dyn;
	bool any = false, self = false;

	d->vars = en_alloc(en, (p->nvars + 1) * sizeof(*d->vars));
	if (d->vars == NULL)
		return et_err(e, ET_NOMEM, "out of memory for %u variables", p->nvars);
	for (unsigned i = 0; i < p->nvars; i++) {
		if (!p->vars[i]->assoc)
			continue;
		var_init(&d->vars[i], p->vars[i], i, p->strsize);
		any = true;
		self |= d->vars[i].key.self;
	}
	if (!any)
		return 0;
	/* Memory shared with the kernel is populated from the start. */
	while (en->shared.on && size > KERNEL_MOST && en_may_halve(en))
		size /= 2;
	for (;; size /= 2) {
		d->map_size = align_up(size, 4096);
		d->map = en_alloc_pages(en, d->map_size, d->map_size);
		if (d->map != NULL)
			break;
		if (!en_may_halve(en) || size / 2 < et_optdefs[OPT_DYNVARSIZE].min)
			return et_err(e, ET_NOMEM, "no memory for dynvarsize=%llu",
				(unsigned long long)asked);
	}
	heads = power_below(size / 128);
	if (self)
		selfs = heads > 4 ? heads / 4 : 1;
	d->heads = (_Atomic(struct dyn_node *) *)(void *)d->map;
	d->selfs = self ? d->heads + heads : NULL;
	d->mask = heads - 1;
	d->self_mask = selfs ? selfs - 1 : 0;
	d->pool = d->map + align_up((heads + selfs) * sizeof(*d->heads), DYN_UNIT);
	d->pool_size = (size_t)(d->map + size - d->pool) / DYN_UNIT * DYN_UNIT;
	return 0;
}

void dyn_free(struct en *en)
{
	struct dyn *d = &en->dyn;

	en_dealloc_pages(en, d->map, d->map_size);
	en_dealloc(en, d->vars);
	memset(d, 0, sizeof(*d));
}

/* ---- cleaning ------------------------------------------------------------------------- */

static struct dyn_node *next_of(struct dyn_node *n)
{
	return atomic_load_explicit(&n->link, memory_order_relaxed);
}

static void push(struct dyn_node **list, struct dyn_node *n)
{
	atomic_store_explicit(&n->link, *list, memory_order_relaxed);
	*list = n;
}

bool dyn_pending(const struct en *en)
{
	const struct dyn *d = &en->dyn;

	if (d->map == NULL)
		return false;
	if (d->dirty != NULL || d->rinse != NULL || d->gone != NULL)
		return true;
	for (unsigned i = 0; i < en_nthreads(en); i++)
		if (atomic_load(&en_slot(en, i)->dyn.dirty) != NULL)
			return true;
	return false;
}

/*
 * Unlink a node from its hash chain. Firings only insert at the head, and only the cleaner unlinks,
 * so its predecessor is found by walking the chain, and stays its predecessor.
 */
static void unlink_node(struct dyn *d, struct dyn_node *n)
{
	_Atomic(struct dyn_node *) *head = &d->heads[n->hash & d->mask];
	struct dyn_node *after = atomic_load(&n->next), *p = n;

	if (atomic_compare_exchange_strong(head, &p, after))
		return;
	while (p != NULL && atomic_load(&p->next) != n)
		p = atomic_load(&p->next);
	if (p != NULL)
		atomic_store_explicit(&p->next, after, memory_order_release);
}

/*
 * The same for a chain of self keys. It may be long, as it holds all variables of a process: one
 * walk unlinks all GONE nodes.
 */
static void unlink_gone(_Atomic(struct dyn_node *) *head)
{
	struct dyn_node *before = NULL, *n = atomic_load(head), *after;

	for (; n != NULL; n = after) {
		struct dyn_node *first = n;

		after = atomic_load(&n->snext);
		if (atomic_load(&n->state) != NODE_GONE) {
			before = n;
			continue;
		}
		n->out = true;
		if (before == NULL && atomic_compare_exchange_strong(head, &first, after))
			continue;
		for (; before == NULL; first = atomic_load(&first->snext)) /* inserted just now */
			if (atomic_load(&first->snext) == n)
				before = first;
		atomic_store_explicit(&before->snext, after, memory_order_release);
	}
}

static void unlink_selfs(struct dyn *d, struct dyn_node *gone)
{
	for (struct dyn_node *n = gone; n != NULL; n = atomic_load(&n->link)) {
		const struct dyn_var *v = &d->vars[n->var];

		if (v->key.self && !n->out)
			unlink_gone(dyn_self_head(d, dyn_self_key(v, n)));
	}
}

static void push_clean(struct dyn *d, struct dyn_node *n)
{
	uint64_t head = atomic_load(&d->free[n->cls]), to;

	do {
		struct dyn_node *next =
			(uint32_t)head
				? (struct dyn_node *)(void *)(d->pool +
							      ((uint32_t)head - 1ULL) * DYN_UNIT)
				: NULL;

		atomic_store_explicit(&n->link, next, memory_order_relaxed);
		to = ((head >> 32) + 1) << 32 | ((uint64_t)((char *)n - d->pool) / DYN_UNIT + 1);
	} while (!atomic_compare_exchange_weak(&d->free[n->cls], &head, to));
}

/* A queued node: start to retire it or, if its variable exists again, put it on alive. */
static void take_dirty(struct dyn_node *n, struct dyn_node **rinse, struct dyn_node **alive)
{
	uint8_t live = NODE_LIVE;

	if (atomic_load(&n->value) == 0) {
		atomic_compare_exchange_strong(&n->state, &live, NODE_DYING);
		push(rinse, n);
	} else {
		atomic_store(&n->queued, NODE_LEAVING);
		push(alive, n);
	}
}

/* A node that has been DYING for a grace period. Writers that wanted it back have made it LIVE. */
static void take_rinsed(struct dyn *d, struct dyn_node *n, struct dyn_node **gone,
	struct dyn_node **rinse, struct dyn_node **alive)
{
	uint8_t dying = NODE_DYING;

	if (atomic_load(&n->value) == 0 &&
		atomic_compare_exchange_strong(&n->state, &dying, NODE_GONE)) {
		unlink_node(d, n);
		n->out = false;
		push(gone, n);
		return;
	}
	dying = NODE_DYING;
	atomic_compare_exchange_strong(&n->state, &dying, NODE_LIVE);
	take_dirty(n, rinse, alive);
}

/*
 * Release the nodes that are in use again. A variable may be deleted at the same time. After the
 * barrier there are two cases: it was deleted before, then its value is 0; or it is deleted now,
 * then that thread sees LEAVING and sets QUEUED.
 */
static void release_alive(struct en *en, struct dyn_node *alive)
{
	struct dyn *d = &en->dyn;

	if (alive == NULL)
		return;
	en_barrier(en);
	for (struct dyn_node *n = alive, *next; n != NULL; n = next) {
		uint8_t leaving = NODE_LEAVING;

		next = next_of(n);
		if (atomic_load(&n->value) == 0) {
			atomic_store(&n->queued, NODE_QUEUED);
			push(&d->dirty, n);
		} else if (!atomic_compare_exchange_strong(&n->queued, &leaving, NODE_FREE)) {
			push(&d->dirty, n);
		}
	}
}

static uint64_t length(struct dyn_node *n)
{
	uint64_t len = 0;

	for (; n != NULL; n = next_of(n))
		len++;
	return len;
}

void dyn_clean(struct en *en)
{
	struct dyn *d = &en->dyn;
	struct dyn_node *gone = NULL, *rinse = NULL, *alive = NULL, *next, *dirty = d->dirty;

	if (d->map == NULL)
		return;
	for (struct dyn_node *n = d->gone; n != NULL; n = next) {
		next = next_of(n);
		push_clean(d, n);
	}
	for (struct dyn_node *n = d->rinse; n != NULL; n = next) {
		next = next_of(n);
		take_rinsed(d, n, &gone, &rinse, &alive);
	}
	unlink_selfs(d, gone);
	d->dirty = NULL;
	for (unsigned i = 0; i <= en_nthreads(en); i++) {
		for (struct dyn_node *n = dirty; n != NULL; n = next) {
			next = next_of(n);
			take_dirty(n, &rinse, &alive);
		}
		dirty = i < en_nthreads(en) ? atomic_exchange(&en_slot(en, i)->dyn.dirty, NULL)
					    : NULL;
	}
	release_alive(en, alive);
	d->gone = gone;
	d->rinse = rinse;
	atomic_store(&d->nrinse, length(rinse) + length(gone));
	atomic_store(&d->ndirty, length(d->dirty));
}

/* ---- variables of processes that have ended --------------------------------------------- */

/*
 * Nodes stay while we look at them: only the cleaner takes them out of their chains, and this is
 * its thread. Deleted ones go to its own list, so no slot is needed.
 */
static void delete_node(struct dyn *d, struct dyn_node *n)
{
	atomic_store(&n->value, 0);
	if (atomic_exchange(&n->queued, NODE_QUEUED) == NODE_FREE) {
		push(&d->dirty, n);
		count_add(&d->ndirty, 1);
	}
}

/* A process's variables mostly lie one after the other: it is asked about once. */
static void sweep_chain(
	struct dyn *d, struct dyn_node *n, bool (*is_dead)(void *arg, uint64_t key), void *arg)
{
	uint64_t last = 0;
	bool dead = false;

	for (; n != NULL; n = atomic_load(&n->snext)) {
		uint64_t key = dyn_self_key(&d->vars[n->var], n);

		if (atomic_load(&n->value) == 0)
			continue;
		if (key != last) {
			last = key;
			dead = is_dead(arg, key);
		}
		if (dead)
			delete_node(d, n);
	}
}

bool en_self_sweep(struct en *en, uint64_t *at, unsigned chains,
	bool (*is_dead)(void *arg, uint64_t key), void *arg)
{
	struct dyn *d = &en->dyn;

	if (d->selfs == NULL)
		return true;
	for (; chains > 0 && *at <= d->self_mask; chains--, ++*at)
		sweep_chain(d, atomic_load(&d->selfs[*at]), is_dead, arg);
	return *at > d->self_mask;
}

bool en_dyn_scarce(const struct en *en)
{
	return en->dyn.map != NULL && count_get(&en->dyn.bump) > en->dyn.pool_size / 4 * 3;
}
