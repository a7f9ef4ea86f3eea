/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life cycle of an engine: created with its providers, loaded with a program at go, stopped,
 * freed. load.c does the loading; here is the order of events.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock.h"
#include "engine/tables/counter.h"
#include "current.h"
#include "drop.h"
#include "engine/tables/dyn.h"
#include "engine.h"
#include "load.h"
#include "probe.h"
#include "prog/prog.h"
#include "provider.h"
#include "region.h"
#include "safe.h"
#include "seen.h"
#include "slot.h"
#include "engine/tables/spec.h"
#include "state.h"

/* ---- new, free ------------------------------------------------------------------------ */

static int init_providers(struct en *en, struct et_error *e)
{
	unsigned n = 0;

	while (et_providers[n] != NULL)
		n++;
	en->providers.data = calloc(n + 1, sizeof(*en->providers.data));
	en->providers.started = calloc(n + 1, sizeof(*en->providers.started));
	if (en->providers.data == NULL || en->providers.started == NULL)
		return et_err(e, ET_NOMEM, "out of memory");
	while (en->providers.n < n) {
		unsigned i = en->providers.n++; /* fini is also for one that fails half way */

		if (et_providers[i]->init != NULL &&
			et_providers[i]->init(en, &en->providers.data[i], e) < 0)
			return -1;
	}
	return 0;
}

struct en *en_new(struct et_options *opts, struct et_error *e)
{
	/* without the kernel's sampler, as in a node, nothing is ever shared with the kernel */
	struct en *en = en_reserve(et_sampler != NULL && et_sampler->arena != NULL);

	if (en == NULL) {
		et_err(e, ET_NOMEM, "out of memory");
		return NULL;
	}
	en->opts = opts;
	en->only_cpu = UINT64_MAX;
	en->until = UINT64_MAX;
	clock_init(false);
	en_slots_register(en);
	if (init_providers(en, e) < 0) {
		en_free(en);
		return NULL;
	}
	return en;
}

void en_set_host(struct en *en, const struct en_current *cur)
{
	en->host = cur;
}

bool en_frame(const struct en *en, uint64_t pc, char *buf, size_t size)
{
	const struct en_current *cur = en->host;

	return cur != NULL && cur->ops->frame != NULL && cur->ops->frame(cur, pc, buf, size);
}

void en_process_text(const struct en *en, uint64_t term, char *buf, size_t size)
{
	const struct en_current *cur = en->host;

	buf[0] = '\0';
	if (cur != NULL && cur->ops->process_text != NULL)
		cur->ops->process_text(term, buf, size);
}

bool en_free(struct en *en)
{
	if (en == NULL)
		return true;
	en_halt(en); /* a caller that wants END has called en_stop */
	en_stop(en);
	for (unsigned i = 0; i < en->providers.n; i++)
		if (et_providers[i]->fini != NULL)
			et_providers[i]->fini(en, en->providers.data[i]);
	en_slots_unregister(en);
	/* A firing may be held up in a debugger or a signal handler: rather leak the memory. */
	if (en->slots != NULL && !en_grace(en, 1000))
		return false;
	en_unload(en);
	en_probes_free(en);
	free(en->providers.data);
	free(en->providers.started);
	en_unreserve(en);
	return true;
}

/* ---- go, stop ------------------------------------------------------------------------- */

static int enable_providers(struct en *en, struct et_error *e)
{
	for (unsigned i = 0; i < en->reg.nprobes; i++) {
		struct en_probe *p = en->reg.probes[i];
		void *data = NULL;

		if (atomic_load(&p->ecbs) == NULL || p->pv == NULL || p->pv->enable == NULL)
			continue;
		for (unsigned k = 0; k < en->providers.n; k++)
			if (et_providers[k] == p->pv)
				data = en->providers.data[k];
		if (p->pv->enable(en, data, p, e) < 0)
			return -1;
	}
	for (unsigned k = 0; k < en->providers.n; k++)
		if (et_providers[k]->ready != NULL &&
			et_providers[k]->ready(en, en->providers.data[k], e) < 0)
			return -1;
	return 0;
}

static int start_providers(struct en *en, struct et_error *e)
{
	for (unsigned i = 0; i < en->providers.n; i++) {
		en->providers.started[i] = true; /* one that fails half way is stopped too */
		if (et_providers[i]->start != NULL &&
			et_providers[i]->start(en, en->providers.data[i], e) < 0)
			return -1;
	}
	return 0;
}

static void stop_providers(struct en *en)
{
	for (unsigned i = en->providers.n; i-- > 0;) {
		if (en->providers.started[i] && et_providers[i]->stop != NULL)
			et_providers[i]->stop(en, en->providers.data[i]);
		en->providers.started[i] = false;
	}
}

/* In a node the watchdog wants to know what these firings cost. */
uint64_t en_own_begin(const struct en *en)
{
	return en->opts->inside ? clock_thread() : 0;
}

uint64_t en_own_end(struct en *en, uint64_t from)
{
	uint64_t ns = en->opts->inside ? clock_thread() - from : 0;

	atomic_fetch_add(&en->own_cost, ns);
	return ns;
}

static void fire_own(struct en *en, const char *name, unsigned phase)
{
	static const uint64_t none[10];
	struct en_probe *p = en_probe_find(en, "dtrace", "", "", name);
	uint64_t from = en_own_begin(en), fired = en_fired(en);

	if (p != NULL)
		en_fire_in(p, none, phase);
	en_apart(en, (int64_t)(en_fired(en) - fired)); /* nothing else fires in these phases */
	en_own_end(en, from);
}

void en_fire_own(struct en_probe *p, const uint64_t *arg, const struct en_current *cur)
{
	uint64_t from = en_own_begin(p->en);

	en_fire(p, arg, 0, cur);
	en_own_end(p->en, from);
}

void en_uncount(struct en *en)
{
	struct en_thread *t = en_slot_get(en);

	if (t != NULL) {
		count_add(&t->fired, -(uint64_t)1);
		en_apart(en, -1);
	}
}

uint64_t en_own_cost(const struct en *en)
{
	return atomic_load((_Atomic(uint64_t) *)&en->own_cost);
}

/* After en_halt no phase may begin in which anything fires: either this or en_halt sees to it. */
static void set_phase(struct en *en, uint32_t phase)
{
	atomic_store(&en->phase, phase);
	if (atomic_load(&en->halted))
		en_halt(en);
}

void en_halt(struct en *en)
{
	atomic_store(&en->halted, true);
	atomic_store(&en->maxwork, 0);
	atomic_store(&en->phase, PHASE_STOPPED);
}

int en_go(struct en *en, const struct prog *prog, struct et_error *e)
{
	uint32_t phase = PHASE_BEGIN;

	if (en->state != EN_IDLE)
		return et_err(e, ET_RUNNING, "tracing has already been started");
	if (en_load(en, prog, e) < 0 || enable_providers(en, e) < 0) {
		en_unload(en);
		return -1;
	}
	if (en->error_probe == NULL)
		en->error_probe = en_probe_find(en, "dtrace", "", "", "ERROR");
	en->state = EN_RUNNING;
	atomic_store(&en->run.from, en_now());
	set_phase(en, PHASE_BEGIN);
	fire_own(en, "BEGIN", PHASE_BEGIN);
	/* BEGIN is over before anything else fires; if it called exit(), nothing else will. */
	if (!atomic_compare_exchange_strong(&en->phase, &phase, PHASE_RUN))
		return 0;
	if (start_providers(en, e) < 0) {
		atomic_store(&en->phase, PHASE_STOPPED);
		stop_providers(en);
		en_grace(en, 5000);
		en->state = EN_STOPPED;
		return -1;
	}
	return 0;
}

void en_armed(struct en *en)
{
	atomic_store(&en->run.from, en_now());
	for (unsigned i = 0; i < en->providers.n; i++)
		if (en->providers.started[i] && et_providers[i]->armed != NULL)
			et_providers[i]->armed(en, en->providers.data[i]);
}

int en_stop(struct en *en)
{
	if (en->state != EN_RUNNING)
		return 0;
	atomic_store(&en->phase, PHASE_DRAIN);
	if (atomic_load(&en->run.until) == 0)
		atomic_store(&en->run.until, en_now());
	stop_providers(en);
	en_grace(en, 5000);
	set_phase(en, PHASE_END);
	fire_own(en, "END", PHASE_END);
	atomic_store(&en->phase, PHASE_STOPPED);
	en->state = EN_STOPPED;
	return 0;
}

/* ---- state and counters --------------------------------------------------------------- */

enum en_state en_state(const struct en *en)
{
	return en->state;
}

void en_set_bridge(struct en *en, const struct erltrace_bridge *bridge, void *arg)
{
	en->bridge = bridge;
	en->bridge_arg = arg;
}

bool en_news(struct en *en, char *buf, size_t size)
{
	bool ended = false, any = false;

	for (unsigned k = 0; k < en->providers.n && !any; k++)
		if (et_providers[k]->news != NULL)
			any = et_providers[k]->news(en, en->providers.data[k], buf, size, &ended);
	if (ended && !atomic_exchange(&en->exited, true))
		atomic_store(&en->exit_code, 1);
	return any;
}

bool en_exited(const struct en *en, int *code)
{
	if (!atomic_load((_Atomic(uint32_t) *)&en->exited))
		return false;
	if (code != NULL)
		*code = atomic_load((_Atomic(int) *)&en->exit_code);
	return true;
}

bool en_filled(const struct en *en)
{
	return atomic_load((_Atomic(uint32_t) *)&en->filled);
}

const struct en_ecb *en_ecb(const struct en *en, uint32_t epid)
{
	return epid >= 1 && epid <= en->necbs ? en->ecbs[epid - 1] : NULL;
}

bool en_jitted(const struct en *en)
{
	return en->jitted;
}

unsigned en_nthreads(const struct en *en)
{
	return atomic_load((_Atomic(uint32_t) *)&en->nslots);
}

uint64_t en_fired(const struct en *en)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < en_nthreads(en); i++)
		n += count_get(&en_slot(en, i)->fired);
	return n;
}

bool en_beat(struct en *en, uint64_t patience)
{
	volatile struct en_beat *b = &en->shared.beat;

	b->at = en_now();
	b->patience = patience;
	return !b->stalled;
}

uint64_t en_kernel_cost(const struct en *en)
{
	uint64_t ns = 0;

	for (unsigned i = 0; i < en_nthreads(en) && i < en->shared.nslots; i++)
		ns += *(const volatile uint64_t *)&en_slot(en, i)->k.ns;
	return ns;
}

uint64_t en_drops(const struct en *en, unsigned thread, enum en_drop kind)
{
	uint64_t n = 0;

	if (kind >= DROP_KINDS || en->slots == NULL)
		return 0;
	if (kind == DROP_THREADS)
		return count_get(&en->no_slot);
	if (kind == DROP_MISSED)
		return count_get(&en->missed);
	if (kind == DROP_PRINCIPAL || kind == DROP_AGGREGATION)
		return thread < en_nthreads(en) ? count_get(&en_slot(en, thread)->drops[kind]) : 0;
	for (unsigned i = 0; i < en_nthreads(en); i++)
		n += count_get(&en_slot(en, i)->drops[kind]);
	return n;
}

/* ---- cleaning ------------------------------------------------------------------------- */

/* Has every slot been quiescent since the last cleaning? */
static bool all_quiescent(struct en *en)
{
	for (unsigned i = 0; i < en_nthreads(en); i++) {
		struct en_thread *t = en_slot(en, i);

		if (!slot_passed(t, &t->clean_mark))
			return false;
	}
	return true;
}

uint64_t en_wall(const struct en *en, uint64_t mono)
{
	return mono + (uint64_t)atomic_load_explicit(&en->wall, memory_order_relaxed);
}

void en_look_at_handler(void)
{
	safe_look();
}

bool en_unclean(const struct en *en)
{
	return en->slots != NULL && (dyn_pending(en) || spec_pending(en));
}

bool en_clean(struct en *en)
{
	if (en->slots == NULL)
		return false;
	clock_check();
	en_note_clocks(en);
	if (en->safe_on)
		safe_look();
	if (en->clean_count++ % 16 == 0)
		en_slots_reap(en);
	if (!en_unclean(en))
		return false;
	if (!all_quiescent(en))
		return true; /* a thread has been in one firing all the time: try again next time */
	dyn_clean(en);
	spec_clean(en);
	en_barrier(en);
	for (unsigned i = 0; i < en_nthreads(en); i++)
		en_slot(en, i)->clean_mark = slot_look(en_slot(en, i));
	return true;
}
