/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs at raw tracepoints. When its probes are enabled, a provider says which programs of
 * entries.def it needs; they are loaded here, and attached in the order of that table.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>

#include "bpf_call.h"
#include "engine/state.h"
#include "kernel.h"
#include "missed.h"
#include "program.h"
#include "tracepoint.h"

struct tracepoints {
	uint64_t wanted;			      /* a bit for each entry */
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

	t->wanted |= K_ENTRY(entry);
}

int k_tracepoints_load(struct en *en, void *data, struct et_error *e)
{
	struct tracepoints *t = data;

	for (unsigned i = 0; i < ENTRY_COUNT_; i++) {
		if (!(t->wanted >> i & 1))
			continue;
		if ((t->prog[i] = k_load(en, i, NULL, e)) < 0)
			return -1;
		if (!k_count_missed(en->kernel, t->prog[i], false))
			return et_err(e, ET_NOMEM, "out of memory for probes of the kernel");
	}
	return 0;
}

int k_tracepoint_attach(struct en *en, int prog, const char *tracepoint, struct et_error *e)
{
	union bpf_attr attr = {.raw_tracepoint = {.name = (uint64_t)(uintptr_t)tracepoint,
				       .prog_fd = (uint32_t)prog}};
	int fd = k_bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);

	if (fd < 0 && errno == ENOENT)
		return et_err(e, ET_KERNEL, "this kernel has no tracepoint %s", tracepoint);
	if (fd < 0)
		return k_refused(e, tracepoint);
	k_keep(en->kernel, fd);
	return 0;
}

int k_tracepoints_attach(struct en *en, void *data, struct et_error *e)
{
	const struct tracepoints *t = data;

	for (unsigned i = 0; i < ENTRY_COUNT_; i++)
		for (const char *const *name = k_programs[i].tracepoint; *name != NULL; name++)
			if ((t->wanted >> i & 1) &&
				k_tracepoint_attach(en, t->prog[i], *name, e) < 0)
				return -1;
	return 0;
}
