/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of flows, of processes in them and of their messages (probe path). Memory: mapped
 * once, touched as it is used. Nothing waits: after a number of attempts an entry counts as not
 * found or as without room.
 *
 * A sender's serial numbers can repeat: a spawn puts its clock forward by a factor of 16, until it
 * wraps around. So the receiver belongs to the name of a message, and so does the label of its
 * token, which differs by flow: else those of many requests that wait for one receiver would be
 * alike. Of two that are alike the older one is received first, as the VM keeps the order of what
 * one process sends to another.
 *
 */
#include <string.h>
#include <sys/mman.h>

#include "beam/pages.h"
#include "compiler.h"
#include "flow_table.h"

#define AGAIN  64 /* against other threads */
#define WINDOW 16 /* places that a message may have */
#define TRIES  8  /* numbers that a flow may get; places of a part */
#define LINGER 20000000ULL /* ns: a flow that nobody refers to ends after this */
#define SIGNAL 1000000000ULL /* the same where an exit signal has not been received */

#define REF_BITS  20
#define FLOW_REFS ((1ULL << REF_BITS) - 1)
#define RESERVED  1 /* a flow without a number yet */

enum { MSG_FREE, MSG_BUSY, MSG_SENT };
enum { ALIVE, DEAD_NEW, DEAD_SEEN, TAKEN };

int flow_table_init(struct flow_table *t, uint64_t flows, uint64_t process_limit)
{
	uint64_t n = 64;

	while (n < flows)
		n *= 2;
	t->limit = flows;
	t->flow_mask = n - 1;
	t->msg_mask = 4 * n - 1;
	beam_pid_slots_init(&t->slots, process_limit);
	t->flows = beam_pages(n * sizeof(*t->flows));
	t->msgs = beam_pages(4 * n * sizeof(*t->msgs));
	t->procs = beam_pages((t->slots.mask + 1) * sizeof(*t->procs));
	if (t->flows != NULL && t->msgs != NULL && t->procs != NULL)
		return 0;
	flow_table_fini(t);
	return -1;
}

void flow_table_fini(struct flow_table *t)
{
	if (t->flows != NULL)
		munmap(t->flows, (t->flow_mask + 1) * sizeof(*t->flows));
	if (t->msgs != NULL)
		munmap(t->msgs, (t->msg_mask + 1) * sizeof(*t->msgs));
	if (t->procs != NULL)
		munmap(t->procs, (t->slots.mask + 1) * sizeof(*t->procs));
	t->flows = NULL;
	t->msgs = NULL;
	t->procs = NULL;
}

/* ---- flows ------------------------------------------------------------------------------ */

/* Room for one more; who has it and finds no place gives it back. */
static bool take_room(struct flow_table *t)
{
	if (atomic_fetch_add_explicit(&t->used, 1, memory_order_relaxed) < t->limit)
		return true;
	atomic_fetch_sub_explicit(&t->used, 1, memory_order_relaxed);
	return false;
}

static void give_room(struct flow_table *t)
{
	atomic_fetch_sub_explicit(&t->used, 1, memory_order_relaxed);
}

PROBE_PATH struct flow *flow_begin(struct flow_table *t, uint64_t now, uint64_t *id)
{
	if (!take_room(t))
		return NULL;
	for (int i = 0; i < TRIES; i++) {
		uint64_t n = atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed) + 1;
		uint64_t number = t->tag << 32 | (uint32_t)n, none = 0;
		struct flow *f = &t->flows[number & t->flow_mask];

		if ((uint32_t)n == 0 || !atomic_compare_exchange_strong(&f->word, &none, RESERVED))
			continue;
		f->began = now;
		atomic_store_explicit(&f->last, now, memory_order_relaxed);
		atomic_store_explicit(&f->word, number << REF_BITS | 1, memory_order_release);
		*id = number;
		return f;
	}
	give_room(t);
	return NULL;
}

static inline bool is_at(const struct flow *f, uint64_t id)
{
	return atomic_load_explicit(&f->word, memory_order_acquire) >> REF_BITS == id;
}

/*
 * A part of a flow can be in one of several places. Those lie far apart, also for numbers that
 * follow each other: flows of this node have a row of places, and parts that made way for each
 * other would fill one too.
 *
 */
static inline struct flow *part_place(const struct flow_table *t, uint64_t id, unsigned i)
{
	uint64_t h = (id ^ (uint64_t)i << 56) * 0x9e3779b97f4a7c15ULL;

	h = (h ^ h >> 32) * 0xff51afd7ed558ccdULL;
	return &t->flows[h >> 32 & t->flow_mask];
}

PROBE_PATH static __attribute__((noinline)) struct flow *find_part(
	const struct flow_table *t, uint64_t id)
{
	for (unsigned i = 0; i < TRIES; i++)
		if (is_at(part_place(t, id, i), id))
			return part_place(t, id, i);
	return NULL;
}

PROBE_PATH struct flow *flow_find(const struct flow_table *t, uint64_t id)
{
	struct flow *f = &t->flows[id & t->flow_mask];

	if (id == 0) /* in no flow; free places look like it */
		return NULL;
	if (unlikely(FLOW_TAG(id) != t->tag))
		return find_part(t, id);
	return is_at(f, id) ? f : NULL;
}

static bool ref(struct flow *f, uint64_t id)
{
	uint64_t w = f != NULL ? atomic_load_explicit(&f->word, memory_order_relaxed) : 0;

	for (int i = 0; i < AGAIN && w >> REF_BITS == id && (w & FLOW_REFS) < FLOW_REFS; i++)
		if (atomic_compare_exchange_weak(&f->word, &w, w + 1))
			return true;
	return false;
}

PROBE_PATH bool flow_ref(const struct flow_table *t, uint64_t id)
{
	return id != 0 && ref(flow_find(t, id), id);
}

PROBE_PATH void flow_unref(const struct flow_table *t, uint64_t id)
{
	struct flow *f = id != 0 ? flow_find(t, id) : NULL;
	uint64_t w = f != NULL ? atomic_load_explicit(&f->word, memory_order_relaxed) : 0;

	for (int i = 0; i < AGAIN && f != NULL && w >> REF_BITS == id && (w & FLOW_REFS) > 0; i++)
		if (atomic_compare_exchange_weak(&f->word, &w, w - 1))
			return;
}

/*
 * The fields of a free place are 0, so that a part is there from the moment that it has its number.
 */
PROBE_PATH static struct flow *claim_part(struct flow_table *t, uint64_t now, uint64_t id)
{
	for (unsigned i = 0; i < TRIES && take_room(t); i++) {
		struct flow *f = part_place(t, id, i);
		uint64_t was = 0;

		if (atomic_compare_exchange_strong(&f->word, &was, id << REF_BITS | 1)) {
			f->began = now;
			atomic_store_explicit(&f->last, now, memory_order_release);
			return f;
		}
		give_room(t);
		if (was >> REF_BITS == id &&
			ref(f, id)) /* another thread has claimed it just now */
			return f;
	}
	return NULL;
}

static void clear(struct flow_table *t, struct flow *f)
{
	f->began = 0;
	f->process = 0;
	f->function = NULL;
	f->told = false;
	atomic_store_explicit(&f->last, 0, memory_order_relaxed);
	atomic_store_explicit(&f->hops, 0, memory_order_relaxed);
	atomic_store_explicit(&f->messages, 0, memory_order_relaxed);
	atomic_store_explicit(&f->spawns, 0, memory_order_relaxed);
	atomic_store_explicit(&f->deepest, 0, memory_order_relaxed);
	atomic_store_explicit(&f->away, 0, memory_order_relaxed);
	atomic_store_explicit(&f->asks, false, memory_order_relaxed);
	atomic_store_explicit(&f->signals, 0, memory_order_relaxed);
	atomic_store_explicit(&f->cut, false, memory_order_relaxed);
	atomic_store_explicit(&f->word, 0, memory_order_release);
	give_room(t);
}

static uint64_t hash_of(uint64_t id)
{
	return id * 0x9e3779b97f4a7c15ULL >> 40;
}

/*
 * Nobody begins a part again that is over for good. Of those with the same hash the last one is
 * known.
 */
static bool is_over(const struct flow_table *t, uint64_t id)
{
	return atomic_load_explicit(&t->old[hash_of(id) % FLOW_OLD], memory_order_relaxed) == id;
}

/*
 * A part has one place. Threads that look for it at the same time may find two, if another place
 * becomes free meanwhile: so one of them looks, the others try again, and find what it has found.
 * But if that one does not run for a while the others do not wait for it, as the flow would be lost
 * to them for sure.
 *
 */
PROBE_PATH struct flow *flow_join(struct flow_table *t, uint64_t now, uint64_t id, bool *over)
{
	_Atomic uint64_t *joins = &t->joins[hash_of(id) % FLOW_JOINS];

	*over = is_over(t, id);
	for (int i = 0; i < AGAIN && !*over; i++) {
		struct flow *f = flow_find(t, id);
		uint64_t none = 0;

		if (f != NULL && ref(f, id))
			return f;
		*over = FLOW_TAG(id) == t->tag; /* it has ended */
		if (*over || !atomic_compare_exchange_strong(joins, &none, id))
			continue;
		if (flow_find(t, id) == NULL) {
			f = claim_part(t, now, id);
			atomic_store_explicit(joins, 0, memory_order_release);
			return f;
		}
		atomic_store_explicit(joins, 0, memory_order_release);
	}
	return *over ? NULL : claim_part(t, now, id);
}

/*
 * A part that a process is still in, and in which nothing has happened since then: what it has
 * counted is told in time for the end of the flow, which comes when nothing happens any more.
 *
 */
static bool tell_early(struct flow *f, uint64_t id, uint64_t since, struct flow_ended *e)
{
	uint64_t last = atomic_load_explicit(&f->last, memory_order_relaxed);

	if (last == 0 || last > since ||
		(atomic_load_explicit(&f->messages, memory_order_relaxed) == 0 &&
			atomic_load_explicit(&f->spawns, memory_order_relaxed) == 0))
		return false;
	*e = (struct flow_ended){.id = id, .last = last, .part = true,
		.early = true,
		.why = atomic_load_explicit(&f->cut, memory_order_relaxed) ? FLOW_CUT : FLOW_IDLE,
		.messages = atomic_exchange(&f->messages, 0),
		.spawns = atomic_exchange(&f->spawns, 0),
		.deepest = atomic_load_explicit(&f->deepest, memory_order_relaxed)};
	return true;
}

static uint64_t linger(const struct flow *f, uint64_t idle)
{
	if (atomic_load_explicit(&f->signals, memory_order_relaxed) == 0)
		return LINGER;
	return idle < SIGNAL ? idle : SIGNAL;
}

/* Is it over? A part of a flow ends as soon as nobody here refers to it. */
static bool is_ended(
	const struct flow *f, bool held, const struct flow_times *times, enum flow_why *why)
{
	uint64_t last = atomic_load_explicit(&f->last, memory_order_acquire);

	if (last == 0 || last > times->now)
		return false;
	*why = !held ? FLOW_DONE : times->now - f->began >= times->life ? FLOW_AGED : FLOW_IDLE;
	return *why == FLOW_AGED ||
	       times->now - last >= (held ? times->idle : linger(f, times->idle));
}

/*
 * Does the process that began it wait for an answer? A server that waits for its next request does
 * not.
 */
static bool is_waited_for(const struct flow_table *t, const struct flow *f, uint64_t id)
{
	const struct flow_proc *p = flow_proc_find(t, f->process);

	return atomic_load_explicit(&f->asks, memory_order_relaxed) && p != NULL &&
	       atomic_load_explicit(&p->id, memory_order_relaxed) == id &&
	       atomic_load_explicit(&p->dead, memory_order_relaxed) == ALIVE;
}

bool flow_end_next(struct flow_table *t, uint64_t *at, const struct flow_times *times,
	struct flow_ended *e)
{
	for (; *at <= t->flow_mask; ++*at) {
		struct flow *f = &t->flows[*at];
		uint64_t w = atomic_load_explicit(&f->word, memory_order_acquire);
		uint64_t id = w >> REF_BITS,
			 away = atomic_load_explicit(&f->away, memory_order_relaxed);
		bool part = FLOW_TAG(id) != t->tag, held = w & FLOW_REFS;
		enum flow_why why;

		if (part && held && tell_early(f, id, times->now - times->idle / 2, e)) {
			++*at;
			return true;
		}
		if (id == 0 || !is_ended(f, held || (!part && away != 0), times, &why))
			continue;
		*e = (struct flow_ended){.id = id, .began = f->began,
			.last = atomic_load_explicit(&f->last, memory_order_relaxed),
			.away = away, .part = part,
			.messages = atomic_load_explicit(&f->messages, memory_order_relaxed),
			.spawns = atomic_load_explicit(&f->spawns, memory_order_relaxed),
			.deepest = atomic_load_explicit(&f->deepest, memory_order_relaxed),
			.process = f->process, .function = f->function, .why = why};
		e->until = e->last;
		if (!part && why != FLOW_DONE && is_waited_for(t, f, id)) {
			e->until = times->now;
			e->why = why == FLOW_IDLE ? FLOW_WAITS : why;
		}
		if (atomic_load_explicit(&f->cut, memory_order_relaxed))
			e->why = FLOW_CUT;
		if (part && why == FLOW_AGED)
			atomic_store_explicit(
				&t->old[hash_of(id) % FLOW_OLD], id, memory_order_relaxed);
		if (atomic_compare_exchange_strong(&f->word, &w, RESERVED)) {
			clear(t, f);
			++*at;
			return true;
		}
	}
	return false;
}

/* ---- processes -------------------------------------------------------------------------- */

PROBE_PATH struct flow_proc *flow_proc_find(const struct flow_table *t, ERL_NIF_TERM pid)
{
	for (unsigned i = 0; i < t->slots.tries; i++) {
		struct flow_proc *p = &t->procs[beam_pid_slot(&t->slots, pid, i)];

		if (atomic_load_explicit(&p->pid, memory_order_relaxed) == pid)
			return p;
	}
	return NULL;
}

/*
 * Have the entry of a process to oneself: nobody else claims or buries it meanwhile. Whoever may be
 * at it is through in a moment.
 *
 */
static bool take_entry(struct flow_proc *p, uint32_t *was)
{
	*was = atomic_load_explicit(&p->dead, memory_order_relaxed);
	for (int i = 0; i < AGAIN; i++) {
		if (*was == TAKEN)
			*was = atomic_load_explicit(&p->dead, memory_order_relaxed);
		else if (atomic_compare_exchange_weak(&p->dead, was, TAKEN))
			return true;
	}
	return false;
}

static bool is_free(const struct flow_table *t, const struct flow_proc *p)
{
	/* where slots are exact, a process of another pid has left the VM's table */
	return t->slots.exact || atomic_load_explicit(&p->pid, memory_order_relaxed) == 0;
}

static struct flow_proc *claim(struct flow_table *t, ERL_NIF_TERM pid)
{
	for (unsigned i = 0; i < t->slots.tries; i++) {
		struct flow_proc *p = &t->procs[beam_pid_slot(&t->slots, pid, i)];
		uint32_t was;
		bool mine;

		if (!is_free(t, p) || !take_entry(p, &was))
			continue;
		mine = is_free(t, p);
		if (mine) {
			flow_unref(t, atomic_exchange(&p->id, 0));
			atomic_store_explicit(&p->spawn, 0, memory_order_relaxed);
			atomic_store_explicit(&p->pid, pid, memory_order_relaxed);
		}
		atomic_store_explicit(&p->dead, mine ? ALIVE : was, memory_order_release);
		if (mine)
			return p;
	}
	return NULL;
}

PROBE_PATH bool flow_proc_set(
	struct flow_table *t, ERL_NIF_TERM pid, uint64_t id, uint32_t hop, uint32_t depth)
{
	struct flow_proc *p = flow_proc_find(t, pid);

	if (p == NULL && id != 0)
		p = claim(t, pid);
	if (p == NULL) {
		flow_unref(t, id);
		return id == 0;
	}
	flow_unref(t, atomic_exchange(&p->id, id));
	atomic_store_explicit(&p->hop, hop, memory_order_relaxed);
	atomic_store_explicit(&p->depth, depth, memory_order_relaxed);
	return true;
}

/*
 * What it sends when it exits, signals to those that are linked to it or monitor it, comes after
 * the event of its exit, and still belongs to its flow.
 *
 */
PROBE_PATH void flow_proc_exit(struct flow_table *t, ERL_NIF_TERM pid)
{
	struct flow_proc *p = flow_proc_find(t, pid);
	uint64_t i;

	if (p == NULL)
		return;
	atomic_store_explicit(&p->dead, DEAD_NEW, memory_order_release);
	i = atomic_fetch_add_explicit(&t->ndead, 1, memory_order_relaxed);
	/* one that is written over goes when its slot is used again, or its flow has been idle */
	atomic_store_explicit(&t->dead[i % FLOW_DEAD], (uint64_t)(p - t->procs) + 1,
		memory_order_release);
}

static void bury(struct flow_table *t, _Atomic uint64_t *grave)
{
	uint64_t n = atomic_load_explicit(grave, memory_order_acquire);
	uint32_t dead = DEAD_NEW, seen = DEAD_SEEN;
	struct flow_proc *p;

	if (n == 0)
		return;
	p = &t->procs[n - 1];
	if (atomic_compare_exchange_strong(&p->dead, &dead, DEAD_SEEN))
		return; /* until the next time */
	if (atomic_compare_exchange_strong(&p->dead, &seen, TAKEN)) {
		atomic_store_explicit(&p->pid, 0, memory_order_relaxed);
		flow_unref(t, atomic_exchange(&p->id, 0));
		atomic_store_explicit(&p->dead, ALIVE, memory_order_release);
	} /* else another process has the slot */
	atomic_compare_exchange_strong(grave, &n, 0);
}

void flow_table_bury(struct flow_table *t)
{
	for (unsigned i = 0; i < FLOW_DEAD; i++)
		bury(t, &t->dead[i]);
}

/* ---- messages --------------------------------------------------------------------------- */

static uint64_t place_of(const struct flow_msg *m)
{
	uint64_t h = (m->from * 0x9e3779b97f4a7c15ULL ^ m->to) * 0xff51afd7ed558ccdULL;

	h = (h ^ h >> 32 ^ m->label) * 0xff51afd7ed558ccdULL;
	h = (h ^ h >> 32 ^ m->serial) * 0x9e3779b97f4a7c15ULL;
	return h >> 20;
}

/* A free place, or that of a message whose flow has ended: nobody will receive it as such. */
static bool take_place(const struct flow_table *t, struct flow_msg *m)
{
	uint32_t state = atomic_load_explicit(&m->state, memory_order_acquire);

	if (state == MSG_BUSY || (state == MSG_SENT && flow_find(t, m->id) != NULL))
		return false;
	return atomic_compare_exchange_strong(&m->state, &state, MSG_BUSY);
}

PROBE_PATH void flow_deepen(struct flow *f, uint32_t depth)
{
	uint32_t was = atomic_load_explicit(&f->deepest, memory_order_relaxed);

	for (int n = 0; was < depth && n < AGAIN; n++)
		if (atomic_compare_exchange_weak_explicit(
			    &f->deepest, &was, depth, memory_order_relaxed, memory_order_relaxed))
			return;
}

PROBE_PATH bool flow_msg_add(struct flow_table *t, const struct flow_msg *msg)
{
	uint64_t at = place_of(msg);

	for (unsigned i = 0; i < WINDOW; i++) {
		struct flow_msg *m = &t->msgs[(at + i) & t->msg_mask];

		if (!take_place(t, m))
			continue;
		m->depth = msg->depth;
		m->hop = msg->hop;
		m->cause = msg->cause;
		m->from = msg->from;
		m->to = msg->to;
		m->label = msg->label;
		m->serial = msg->serial;
		m->id = msg->id;
		m->sent = msg->sent;
		m->hidden = msg->hidden;
		m->signal = msg->signal;
		atomic_store_explicit(&m->state, MSG_SENT, memory_order_release);
		return true;
	}
	return false;
}

static bool is_same(const struct flow_msg *a, const struct flow_msg *b)
{
	return a->from == b->from && a->to == b->to && a->label == b->label &&
	       a->serial == b->serial;
}

PROBE_PATH bool flow_msg_take(struct flow_table *t, struct flow_msg *msg)
{
	struct flow_msg *found = NULL;
	uint64_t at = place_of(msg);
	uint32_t sent = MSG_SENT;
	bool same;

	for (unsigned i = 0; i < WINDOW; i++) {
		struct flow_msg *m = &t->msgs[(at + i) & t->msg_mask];

		if (atomic_load_explicit(&m->state, memory_order_acquire) == MSG_SENT &&
			is_same(m, msg) && (found == NULL || m->sent < found->sent))
			found = m;
	}
	/* where its flow has ended, another message may have got its place since */
	if (found == NULL || !atomic_compare_exchange_strong(&found->state, &sent, MSG_BUSY))
		return false;
	same = is_same(found, msg);
	if (same) {
		msg->depth = found->depth;
		msg->hop = found->hop;
		msg->cause = found->cause;
		msg->id = found->id;
		msg->sent = found->sent;
		msg->hidden = found->hidden;
		msg->signal = found->signal;
	}
	atomic_store_explicit(&found->state, same ? MSG_FREE : MSG_SENT, memory_order_release);
	return same;
}
