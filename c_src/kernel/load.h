/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine has in the kernel, and how its providers put it there. */
#ifndef K_LOAD_H
#define K_LOAD_H

#include "engine/probe.h"
#include "kernel.h"
#include "prog/prog.h"
#include "options.h"
#include "root.h"

struct kernel {
	int arena_fd, buf_fd;
	unsigned nbufs;
	struct k_root *root;
	struct k_object object;
	uint32_t *programs; /* by clause: a bit for each entry whose program may run it */
	int *fds;     /* programs, links */
	unsigned nfds;
	struct k_uprobe *uprobes; /* to be attached: uprobe.c */
	unsigned nuprobes;
	int uprog[ENTRY_COUNT_]; /* their programs */
	uint32_t uloaded;	 /* which of them are loaded: a bit for each */
	bool vms_cut; /* there are more Erlang VMs than there was time to look at: vm_stacks.c */
	bool wants_tasks, sees_switches; /* of threads: tasks.c */
	uint64_t period[K_PROFILES];	 /* ns: sampler.c */
	unsigned nprofiles;
	int profile_prog;
};

/* For providers. The arena: as struct provider says, the same for all of them. */
int k_arena(struct en *en, void *data, void *base, size_t size, struct et_error *e);
int k_prepare(struct en *en, struct et_error *e); /* before that, where nothing may be shared */
/* A probe that is enabled, as the kernel finds it; its clauses will be in the entry's program. */
struct en_probe *k_share_probe(
	struct en *en, const struct en_probe *p, enum k_entry entry, struct et_error *e);
/* A program of entries.def; all probes are shared before. Its fd, or -1. */
int k_load(struct en *en, enum k_entry entry, struct et_error *e);
bool k_has_self(const struct prog *p);
int k_attach_raw(struct en *en, int prog, const char *tracepoint, struct et_error *e);
int k_run(int prog, const uint64_t *ctx, unsigned n, struct et_error *e); /* by hand */
struct perf_event_attr;
int k_attach_perf(struct en *en, int prog, struct perf_event_attr *attr, int cpu, uint64_t cookie,
	struct et_error *e);
void k_keep(struct kernel *k, int fd); /* closed by k_detach */
/* The capabilities that are needed, as a message says it: where, and that they are not there. */
const char *k_privileges(void);
void k_detach(struct en *en);
void k_stop(struct en *en, void *data); /* the same, as a provider's stop */
void k_close(struct en *en);
void k_fini(struct en *en, void *data); /* the same, as a provider's fini: data is one piece */

/* ---- kernel_erlang.c ------------------------------------------------------------------ */

struct et_options;
/* Has -N named nodes? -p gives numbers, and "*" is all nodes. */
bool k_nodes_named(const struct et_options *o);

/* ---- tracepoint.c --------------------------------------------------------------------- */

/* A provider's data, init, ready and start. */
int k_tracepoints_init(struct en *en, void **data, struct et_error *e);
void k_tracepoints_want(void *data, enum k_entry entry); /* before ready */
int k_tracepoints_load(struct en *en, void *data, struct et_error *e);
int k_tracepoints_attach(struct en *en, void *data, struct et_error *e);

/* ---- vm_stacks.c ---------------------------------------------------------------------- */

/* The Erlang VMs whose stacks are wanted, if a clause reads ustack(): $target, else all here. */
int k_stacks_find(struct en *en, struct et_error *e);

/* ---- tracing.c ------------------------------------------------------------------------ */

/* The kernel's functions that stack() is to leave out, if a clause reads it. */
int k_tracing_find(struct en *en, struct et_error *e);

/* ---- uprobe.c ------------------------------------------------------------------------- */

/* A site in a file where a probe fires. */
struct k_site {
	enum k_entry entry;
	int pid;	  /* of this process only; 0: of all */
	uint64_t offset;  /* in the file */
	uint64_t ref_ctr; /* offset of a 16-bit counter of those who trace it, or 0 */
	uint32_t caller;  /* K_CALLER_*, K_BEFORE_*, or 0 */
};
/*
 * For enable: the probe, which k_share_probe gave, will fire at a site in a file. Then, for ready
 * and start (whoever is first does it for all): load the programs, attach all sites.
 */
int k_uprobe_add(struct en *en, const char *path, const struct k_site *at, struct en_probe *shared,
	struct et_error *e);
int k_uprobe_load(struct en *en, void *data, struct et_error *e);
int k_uprobe_attach(struct en *en, void *data, struct et_error *e);
void k_uprobe_free(struct kernel *k);

#endif
