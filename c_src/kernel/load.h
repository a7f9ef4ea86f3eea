/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine has in the kernel, and how its providers put it there. */
#ifndef K_LOAD_H
#define K_LOAD_H

#include "engine/probe.h"
#include "kernel.h"
#include "prog/prog.h"
#include "root.h"

enum { K_UPROGS = 16 };
enum { K_UPROBE_MULTI = 48 }; /* a kind of attachment newer than the headers may be */

/* Clauses of system calls are in one of two programs, others wherever they may be wanted. */
enum { K_RUN_ENTRY = 1, K_RUN_RETURN = 2, K_RUN_OTHER = 4, K_RUN_ALL = 7 };

struct kernel {
	int arena_fd, buf_fd;
	unsigned nbufs;
	struct k_root *root;
	struct k_object object;
	uint8_t *wanted; /* by clause: K_RUN_* of the programs that may run it, or 0 */
	int *fds;     /* programs, links */
	unsigned nfds;
	struct k_uprobe *uprobes; /* to be attached: uprobe.c */
	unsigned nuprobes;
	struct {
		const char *entry;
		int fd;
	} uprogs[K_UPROGS]; /* their programs */
	unsigned nuprogs;
	bool vms_cut; /* there are more Erlang VMs than there was time to look at: stacks.c */
	bool wants_tasks, sees_switches; /* of threads: threads.c */
	uint64_t period[K_PROFILES];	 /* ns: profile.c */
	unsigned nprofiles;
	int profile_prog;
};

/* For providers. The arena: as struct provider says, the same for all of them. */
int k_arena(struct en *en, void *data, void *base, size_t size, struct et_error *e);
/* A probe that is enabled, as the kernel finds it; its clauses will be in the program. */
int k_prepare(struct en *en, struct et_error *e); /* before that, where nothing may be shared */
struct en_probe *k_share_probe(struct en *en, const struct en_probe *p, struct et_error *e);
/* The program that begins with a function of bpf/; all probes are shared before. Its fd, or -1. */
int k_load(struct en *en, const char *entry, int type, int attach_type, struct et_error *e);
/* One that runs no clauses. */
int k_load_bare(struct en *en, const char *entry, int type, int attach_type, struct et_error *e);
#define K_PROCESS_GONE "k_process_gone" /* such a one, at a function of a VM */
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

/* ---- erlang.c ------------------------------------------------------------------------- */

/* Has -N named nodes? -p gives numbers, and "*" is all nodes. */
bool k_nodes_named(const struct et_options *o);

/* ---- stacks.c ------------------------------------------------------------------------- */

/* The Erlang VMs whose stacks are wanted, if a clause reads ustack(): $target, else all here. */
int k_stacks_find(struct en *en, struct et_error *e);

/* ---- tracing.c ------------------------------------------------------------------------ */

/* The kernel's functions that stack() is to leave out, if a clause reads it. */
int k_tracing_find(struct en *en, struct et_error *e);

/* ---- uprobe.c ------------------------------------------------------------------------- */

/* A place in a file where a probe fires. */
struct k_place {
	const char *entry; /* the function of bpf/ that begins there: "k_uprobe" */
	bool ret;	   /* when the function at offset returns */
	int pid;	   /* of this process only; 0: of all */
	uint64_t offset;   /* in the file */
	uint64_t ref_ctr;  /* offset of a 16-bit counter of those who trace it, or 0 */
	uint32_t caller;   /* K_CALLER_*, K_BEFORE_*, or 0 */
};
/*
 * For enable: the probe, which k_share_probe gave, will fire at a place of a file. Then, for ready
 * and start (whoever is first does it for all): load the programs, attach all places.
 */
int k_uprobe_add(struct en *en, const char *path, const struct k_place *at, struct en_probe *shared,
	struct et_error *e);
int k_uprobe_load(struct en *en, void *data, struct et_error *e);
int k_uprobe_attach(struct en *en, void *data, struct et_error *e);
void k_uprobe_free(struct kernel *k);

#endif
