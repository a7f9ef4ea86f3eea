/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes in the programs and libraries of processes, for the providers that find them there: the
 * sites of each probe, those in libraries that are loaded while tracing among them. sites.c
 */
#ifndef K_SITES_H
#define K_SITES_H

#include "modules.h"
#include "uprobe.h"

/* Makes the probes of a module that a description asks for. */
typedef int (*k_add_module)(
	struct en *en, void *data, struct k_module *m, const struct d_pdesc *d, struct et_error *e);

/* A provider of such probes, as it is all the time. */
struct k_site_provider {
	const struct provider *pv;
	k_add_module add;
	uint64_t programs; /* a bit for each entry at which its probes fire */
	bool is_pid;	   /* provider pid<N>; else any other name<N> */
};

/* Its data, or the beginning of it. */
struct k_sites {
	const struct k_site_provider *of;
	struct k_process *procs;
	struct k_probe_site *all;
};

/* false: out of memory. size: of the data; of: NULL for a list of sites and no more. */
bool k_sites_init(void **data, size_t size, const struct k_site_provider *of);

/*
 * The probe has this site too: its pvdata is the list of them. args: what the kernel's half gets
 * with the probe when it fires there (its pvdata), or NULL; the same size for all sites.
 */
int k_sites_add(struct k_sites *s, struct en_probe *p, const struct k_module *m,
	const struct k_site *at, const void *args, size_t size, struct et_error *e);
/* For provide: the probes of all modules of a process that match. */
int k_sites_provide(struct en *en, struct k_sites *s, struct k_process *proc,
	const struct d_pdesc *d, struct et_error *e);

/* Does a clause name probes of a process? */
bool k_names_process(const struct en *en, bool is_pid);

/* A provider's functions. */
int k_sites_enable(struct en *en, void *data, struct en_probe *p, struct et_error *e);
int k_sites_ready(struct en *en, void *data, struct et_error *e);
int k_sites_look(struct en *en, void *data, struct et_error *e);
bool k_sites_news(struct en *en, void *data, char *buf, size_t size, bool *ended);
void k_sites_fini(struct en *en, void *data);

#endif
