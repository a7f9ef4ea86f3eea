/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries that processes load while they are traced, for the providers pid and usdt: late.c. */
#ifndef K_LATE_H
#define K_LATE_H

#include "engine/provider.h"
#include "load.h"
#include "modules.h"

/* Whose probes a description can be of. */
enum k_kind { K_PID, K_USDT };

/* Makes the probes of a module that a description asks for: as the provider does at the start. */
typedef int (*k_add_module)(struct en *en, void *data, int pid, struct k_module *m,
	const struct d_pdesc *d, struct et_error *e);

bool k_has_processes(struct en *en, enum k_kind kind); /* does a clause name probes of one? */
/* For ready: clauses whose probes may yet come are in the program too. */
int k_late_ready(struct en *en, enum k_kind kind, struct et_error *e);
/* For look: probes of modules that have come, enabled and attached. */
int k_late_look(struct en *en, const struct provider *pv, void *data, struct k_process **procs,
	enum k_kind kind, k_add_module add, struct et_error *e);

#endif
