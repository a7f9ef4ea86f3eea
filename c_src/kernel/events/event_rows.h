/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Providers whose probes are rows of a table: an event each, which a program at a tracepoint tells
 * from the others. event_rows.c
 */
#ifndef K_EVENT_ROWS_H
#define K_EVENT_ROWS_H

#include <stddef.h>

#include "kernel/entries.h"
#include "error.h"

struct en;
struct en_probe;
struct provider;

struct k_event_row {
	const char *prov, *name;
	enum k_entry entry;
	int nargs;
	const char *const *args, *const *xargs; /* types of arg0..., as scripts see them; or NULL */
};

/* A probe for each row; pvdata is the row's number. *data is for tracepoint.h. */
int k_events_init(struct en *en, const struct provider *pv, const struct k_event_row *rows,
	unsigned n, void **data, struct et_error *e);
/* Its clauses will be in the row's program; to[] has the probe for the kernel's half. */
int k_events_enable(struct en *en, void *data, struct en_probe *p, const struct k_event_row *rows,
	struct en_probe **to, struct et_error *e);

/*
 * Offsets of the running kernel: a table of members, and where each offset goes. Where kernels have
 * several names for one, each has a row.
 */
struct k_member {
	const char *type, *path;
	size_t to; /* offset of a uint32_t in the structure that is filled in */
};
/* A member that is not there is BTF_NOWHERE. -1: this kernel has no type information. */
int k_members_find(const struct k_member *members, unsigned n, void *to, struct et_error *e);

#endif
