/* SPDX-License-Identifier: Apache-2.0 */
/* What providers have in common whose probes are rows of a table: event_rows.h. */
#include "event_rows.h"

#include <stdint.h>

#include "btf/btf.h"
#include "engine/probe.h"
#include "engine/provider.h"
#include "engine/state.h"
#include "kernel/kernel.h"
#include "kernel/tracepoint.h"

int k_events_init(struct en *en, const struct provider *pv, const struct k_event_row *rows,
	unsigned n, void **data, struct et_error *e)
{
	if (k_tracepoints_init(en, data, e) < 0)
		return -1;
	for (unsigned i = 0; i < n; i++) {
		struct en_probe *p = en_probe_add(
			en, pv, (void *)(uintptr_t)i, rows[i].prov, "vmlinux", "", rows[i].name);

		if (p == NULL)
			return et_err(e, ET_NOMEM, "out of memory for probes");
		p->mod_aliases = "genunix\0unix\0"; /* as Solaris' scripts name the kernel */
		p->nargs = rows[i].nargs;
		p->argtypes = rows[i].args;
		p->xargtypes = rows[i].xargs;
	}
	return 0;
}

int k_events_enable(struct en *en, void *data, struct en_probe *p, const struct k_event_row *rows,
	struct en_probe **to, struct et_error *e)
{
	uintptr_t i = (uintptr_t)p->pvdata;
	struct en_probe *shared = k_share_probe(en, p, rows[i].entry, e);

	if (shared == NULL)
		return -1;
	to[i] = shared;
	k_tracepoints_want(data, rows[i].entry);
	return 0;
}

static uint32_t *offset_at(void *to, const struct k_member *m)
{
	return (uint32_t *)(void *)((char *)to + m->to);
}

int k_members_find(const struct k_member *members, unsigned n, void *to, struct et_error *e)
{
	struct btf *b = btf_open(e);

	if (b == NULL)
		return -1;
	for (unsigned i = 0; i < n; i++)
		*offset_at(to, &members[i]) = BTF_NOWHERE;
	for (unsigned i = 0; i < n; i++)
		if (*offset_at(to, &members[i]) == BTF_NOWHERE)
			*offset_at(to, &members[i]) =
				btf_offset(b, members[i].type, members[i].path);
	btf_close(b);
	return 0;
}
