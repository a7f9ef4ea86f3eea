/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs at raw tracepoints, for the providers whose events come from there: each says which
 * programs of entries.def it needs when its probes are enabled. Here they are loaded, and attached
 * in the order of that table.
 */
#include <linux/bpf.h>
#include <stdlib.h>

#include "load.h"

struct tracepoints {
	uint32_t wanted; /* a bit for each entry */
	int prog[ENTRY_COUNT_];
};

int k_tracepoints_init(struct en *en, void **data, struct et_error *e)
{
	(void)en;
	*data = calloc(1, sizeof(struct tracepoints));
	return *data != NULL ? 0 : et_err(e, ET_NOMEM, "out of memory");
}

void k_tracepoints_want(void *data, enum k_entry entry)
{
	struct tracepoints *t = data;

	t->wanted |= 1u << entry;
}

int k_tracepoints_load(struct en *en, void *data, struct et_error *e)
{
	struct tracepoints *t = data;

	for (unsigned i = 0; i < ENTRY_COUNT_; i++)
		if ((t->wanted >> i & 1) && (t->prog[i] = k_load(en, i, e)) < 0)
			return -1;
	return 0;
}

int k_tracepoints_attach(struct en *en, void *data, struct et_error *e)
{
	const struct tracepoints *t = data;

	for (unsigned i = 0; i < ENTRY_COUNT_; i++)
		for (const char *const *name = k_programs[i].tracepoint; *name != NULL; name++)
			if ((t->wanted >> i & 1) && k_attach_raw(en, t->prog[i], *name, e) < 0)
				return -1;
	return 0;
}
