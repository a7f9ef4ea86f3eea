/* SPDX-License-Identifier: Apache-2.0 */
/* Programs at raw tracepoints: tracepoint.c. */
#ifndef K_TRACEPOINT_H
#define K_TRACEPOINT_H

#include "entries.h"
#include "error.h"

struct en;

/* A provider's data, init, ready and start. */
int k_tracepoints_init(struct en *en, void **data, struct et_error *e);
void k_tracepoints_want(void *data, enum k_entry entry); /* before ready */
int k_tracepoints_load(struct en *en, void *data, struct et_error *e);
int k_tracepoints_attach(struct en *en, void *data, struct et_error *e);

/* One program at one tracepoint; k_detach takes it away. */
int k_tracepoint_attach(struct en *en, int prog, const char *tracepoint, struct et_error *e);

#endif
