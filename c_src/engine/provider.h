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
	const char *name; /* "profile"; for messages and -l */
	/* Make the probes that always exist. *data is the provider's state in this engine. */
	int (*init)(struct en *en, void **data, struct et_error *e);
	/* Make probes that exist on demand, as the description asks (tick-1s). May be NULL. */
	int (*provide)(struct en *en, void *data, const struct d_pdesc *desc, struct et_error *e);
	/* A probe is wanted; called before start, for each enabled probe. May be NULL. */
	int (*enable)(struct en *en, void *data, struct en_probe *p, struct et_error *e);
	int (*ready)(struct en *en, void *data, struct et_error *e); /* all are enabled; or NULL */
	int (*start)(struct en *en, void *data, struct et_error *e); /* tracing begins */
	/* Now and then while tracing: look for what has come since, and arm it; or NULL. */
	int (*look)(struct en *en, void *data, struct et_error *e);
	void (*stop)(struct en *en, void *data); /* nothing fires any more when it returns */
	void (*fini)(struct en *en, void *data); /* after an init that failed half way, too */
	/*
	 * Its probes fire in the kernel, on memory that is shared with it: makes that memory, for a
	 * mapping of size bytes at base. Returns its file descriptor.
	 */
	int (*arena)(struct en *en, void *data, void *base, size_t size, struct et_error *e);
	bool (*wants_arena)(struct en *en); /* though none of its probes may be wanted; or NULL */
	/* The name of the i-th kind of probe that exists on demand; NULL: no more. Or NULL. */
	const char *(*kind)(unsigned i);
	/*
	 * What is to be told since the last call: one line into buf, or false; asked by the consumer, at
	 * the end too. *ended: its events have come to an end, and so does the tracing. May be NULL.
	 */
	bool (*news)(struct en *en, void *data, char *buf, size_t size, bool *ended);
};
/* profile-N in the kernel, for the provider profile: as struct provider has it. */
struct en_sampler {
	int (*arena)(struct en *en, void *data, void *base, size_t size, struct et_error *e);
	int (*enable)(struct en *en, const struct en_probe *p, uint64_t period, struct et_error *e);
	int (*ready)(struct en *en, struct et_error *e);
	int (*start)(struct en *en, struct et_error *e);
	void (*stop)(struct en *en);
	void (*fini)(struct en *en);
};
extern const struct en_sampler *const et_sampler; /* where et_providers is; NULL: none */
extern const struct provider *const et_providers[]; /* NULL-terminated; provider/providers.c */

/* Add a probe; strings are copied. Returns NULL when memory is out. An equal one: that one. */
struct en_probe *en_probe_add(struct en *en, const struct provider *pv, void *pvdata,
	const char *prov, const char *mod, const char *func, const char *name);
struct en_probe *en_probe_find(struct en *en, const char *prov, const char *mod,
	const char *func, const char *name); /* exact */
/* Probes matching a description, in order of id. */
typedef void (*en_probe_cb)(void *arg, struct en_probe *p);
int en_probe_match(struct en *en, const struct d_pdesc *desc, en_probe_cb cb, void *arg,
	struct et_error *e);
/* Why a description matches none, if that is for its provider; or "". provider/missing.c */
void en_why_none(const struct en *en, const struct d_pdesc *d, char *buf, size_t size);
/* The probe's hash, if its provider had this name. */
uint64_t en_probe_hash_as(const struct en_probe *p, const char *prov);
bool en_glob(const char *pattern, const char *text); /* "" matches anything; D.md's globs */
unsigned en_nprobes(struct en *en);
void en_registry(struct en *en, struct d_registry *reg); /* for the compiler */

/* probe.c: among the probes with ids above first, as they are */
int en_probe_match_from(
	struct en *en, unsigned first, const struct d_pdesc *desc, en_probe_cb cb, void *arg);

void en_probes_free(struct en *en);

#endif
