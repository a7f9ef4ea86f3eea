/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider lockstat: threads that have waited for a lock of the kernel, and how long. The
 * kernel has tracepoints where one has to wait (contention_begin, from Linux 5.19 on), not where a
 * lock is free. bpf/lockstat.h makes the events.
 */
#include <string.h>

#include "engine/probe.h"
#include "engine/provider.h"
#include "engine/region.h"
#include "engine/state.h"
#include "event_rows.h"
#include "kernel/kernel.h"
#include "kernel/tracepoint.h"

/* The lock; ns; of rw-block whether it is wanted to read. */
static const char *const args[] = {"uintptr_t", "uint64_t", "int"};

#define ROW(name, n) {"lockstat", name, ENTRY_lock_end, n, args, NULL}
static const struct k_event_row rows[K_LOCK_EVENTS] = {
	[K_LOCK_ADAPTIVE_SPIN] = ROW("adaptive-spin", 2),
	[K_LOCK_ADAPTIVE_BLOCK] = ROW("adaptive-block", 2),
	[K_LOCK_SPIN_SPIN] = ROW("spin-spin", 2),
	[K_LOCK_RW_BLOCK] = ROW("rw-block", 3),
};

extern const struct provider lockstat_provider;

static int init(struct en *en, void **data, struct et_error *e)
{
	return k_events_init(en, &lockstat_provider, rows, K_LOCK_EVENTS, data, e);
}

static int enable(struct en *en, void *data, struct en_probe *p, struct et_error *e)
{
	struct k_root *r;

	if (k_prepare(en, e) < 0 ||
		k_events_enable(en, data, p, rows, en->kernel->root->lock, e) < 0)
		return -1;
	r = en->kernel->root;
	if (r->lock_waits == NULL &&
		(r->lock_waits = en_alloc(en, K_LOCK_WAITS * sizeof(*r->lock_waits))) == NULL)
		return et_err(e, ET_NOMEM, "out of memory for threads that wait for locks");
	k_tracepoints_want(data, ENTRY_lock_begin);
	return 0;
}

static const char *why_none(const struct d_pdesc *d)
{
	if (d->prov == NULL || strcmp(d->prov, "lockstat") != 0 || d->name == NULL)
		return NULL;
	return "Linux tells of a lock where a thread waits for it, not where it is free or "
	       "released: "
	       "lockstat has adaptive-block, adaptive-spin, spin-spin and rw-block";
}

const struct provider lockstat_provider = {
	.name = "lockstat",
	.of_kernel = true,
	.init = init,
	.why_none = why_none,
	.enable = enable,
	.ready = k_tracepoints_load,
	.start = k_tracepoints_attach,
	.stop = k_stop,
	.fini = k_fini,
	.arena = k_arena,
};
