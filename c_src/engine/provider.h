/* SPDX-License-Identifier: Apache-2.0 */
/* Providers, and the registry of probes that they fill. */
#ifndef EN_PROVIDER_H
#define EN_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "probe.h"
#include "prog/registry.h"

struct provider {
	const char *name; /* for messages and -l */
	bool of_kernel; /* it traces the kernel or other programs: provider/kernel_names.c */
	/*
	 * Its probes fire in the process that they are about, and show no memory of the kernel: who is
	 * confined to their own processes (confine.h) may use them.
	 */
	bool confinable;
	bool replays; /* its probes can fire from a file of events, too: replay/ */
	/* Add the probes that always exist. *data is the provider's state in this engine. */
	int (*init)(struct en *en, void **data, struct et_error *e);
	/* Add probes that exist on demand, as the description asks (tick-1s). May be NULL. */
	int (*provide)(struct en *en, void *data, const struct d_pdesc *desc, struct et_error *e);
	/* Why none can exist that the description asks for; NULL: it is not known. May be NULL. */
	const char *(*why_none)(const struct d_pdesc *desc);
	/* A probe is to be enabled; called for each one before start. May be NULL. */
	int (*enable)(struct en *en, void *data, struct en_probe *p, struct et_error *e);
	int (*ready)(struct en *en, void *data, struct et_error *e); /* all are enabled; or NULL */
	int (*start)(struct en *en, void *data, struct et_error *e); /* tracing begins */
	/*
	 * In a node, some time after start: all that the script needs of the VM is armed. Or NULL.
	 */
	void (*armed)(struct en *en, void *data);
	/* Periodically while tracing: look for what has appeared since and arm it; or NULL. */
	int (*look)(struct en *en, void *data, struct et_error *e);
	/* While tracing, as often as results are read: what cannot wait for look. Or NULL. */
	void (*attend)(struct en *en, void *data);
	void (*stop)(struct en *en, void *data); /* nothing fires after it returns */
	void (*fini)(struct en *en, void *data); /* also after an init that failed half way */
	/*
	 * Its probes fire in the kernel, on memory that is shared with it. Creates that memory, for
	 * a mapping of size bytes at base, and returns its file descriptor, or EN_SHARE_LATE.
	 */
	int (*arena)(struct en *en, void *data, void *base, size_t size, struct et_error *e);
	bool (*wants_arena)(struct en *en); /* even if none of its probes is enabled; or NULL */
	/* The name of the i-th kind of probe that exists on demand; NULL: no more. Or NULL. */
	const char *(*kind)(unsigned i);
	/*
	 * News since the last call: one line into buf, or false. Called by the consumer, also at
	 * the end. *ended: there are no more events, so tracing ends too. May be NULL.
	 */
	bool (*news)(struct en *en, void *data, char *buf, size_t size, bool *ended);
};
/*
 * profile-N that sees what it interrupts, in the kernel or in a node, for the profile provider; as
 * in struct provider.
 */
struct en_sampler {
	/* Memory that the kernel shares; NULL: it shares none. */
	int (*arena)(struct en *en, void *data, void *base, size_t size, struct et_error *e);
	int (*enable)(struct en *en, const struct en_probe *p, uint64_t period, struct et_error *e);
	/* profile-wall-N; NULL: there is none here. */
	int (*wall)(struct en *en, struct en_probe *p, uint64_t period, struct et_error *e);
	int (*ready)(struct en *en, struct et_error *e);
	int (*start)(struct en *en, struct et_error *e);
	void (*stop)(struct en *en);
	void (*fini)(struct en *en);
};
extern const struct en_sampler *const et_sampler; /* in provider/providers.c; NULL: none */
extern const struct provider *const et_providers[]; /* NULL-terminated; provider/providers.c */

/* Add a probe, or return an equal one; strings are copied. NULL: out of memory. */
struct en_probe *en_probe_add(struct en *en, const struct provider *pv, void *pvdata,
	const char *prov, const char *mod, const char *func, const char *name);
struct en_probe *en_probe_find(struct en *en, const char *prov, const char *mod,
	const char *func, const char *name); /* exact */
/* Probes matching a description, in order of id. */
typedef void (*en_probe_cb)(void *arg, struct en_probe *p);
int en_probe_match(struct en *en, const struct d_pdesc *desc, en_probe_cb cb, void *arg,
	struct et_error *e);
/* Why a description matches nothing, if its provider knows; or "". provider/missing.c */
void en_why_none(const struct en *en, const struct d_pdesc *d, char *buf, size_t size);
/* The probe's hash, if its provider had this name. */
uint64_t en_probe_hash_as(const struct en_probe *p, const char *prov);
/* Does a provider of this name trace the kernel or other programs? provider/kernel_names.c */
bool en_is_kernel(const char *prov);
bool en_glob(const char *pattern, const char *text); /* "" matches anything; D.md's globs */
unsigned en_nprobes(struct en *en);
void en_registry(struct en *en, struct d_registry *reg); /* for the compiler */

/* Matches among the existing probes with ids above first; nothing is made on demand. */
int en_probe_match_from(
	struct en *en, unsigned first, const struct d_pdesc *desc, en_probe_cb cb, void *arg);

void en_probes_free(struct en *en);

#endif
