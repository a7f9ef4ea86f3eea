/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of an engine. What firing threads only read comes first; what they write is apart.
 */
#ifndef EN_STATE_H
#define EN_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bpf/ebpf.h"
#include "compiler.h"
#include "counter.h"
#include "dyn.h"
#include "engine.h"
#include "prog/prog.h"

struct en_aggdef;
struct et_str;
struct kernel;
struct spec;

/* Where tracing stands; probes fire in PHASE_RUN only, BEGIN and END in theirs. */
enum { PHASE_IDLE, PHASE_BEGIN, PHASE_RUN, PHASE_DRAIN, PHASE_END, PHASE_STOPPED };

/* What built-in variables say of the process that the engine runs in. */
struct en_process {
	uint32_t pid, ppid, pgid, sid, uid, euid, gid, egid, pri;
	struct et_str *execname, *psargs, *cwd, *rootdir;
	uint32_t ancestors[64];
	unsigned nancestors;
};

/* Where things are in a slot, in bytes from its start. */
struct slot_layout {
	size_t rec, scratch, error_scratch, alloca, tok, spec, ring, agg[2], spec_mem;
	size_t ring_size, agg_size, agg_direct;
};

/* Speculations: spec.c. */
struct en_specs {
	uint32_t n, block, blocks;
	struct spec *tab;
	unsigned reading; /* the one that en_consume is delivering; 0: none */
};

/* How many records a script may leave: ring.c. */
struct en_rate {
	uint32_t limit;		/* a second; 0: any number */
	_Atomic(uint64_t) left; /* that the threads may take shares of */
	_Atomic(uint64_t) at;	/* ns: up to when they were given */
};

/* Of an engine whose memory the kernel shares: region.c, kernel/. */
struct en_shared {
	bool on;
	unsigned nslots; /* that are the kernel's own: the first ones */
	void (*fire)(struct en *en, unsigned phase); /* BEGIN and END; NULL: here */
	struct prog_clause *clauses; /* what the kernel reads of them */
	_Atomic(uint32_t) *procs; /* processes of addresses: procs.h */
	uint32_t home; /* the first process that a provider named, or 0 */
	uint64_t window, used;
};

/* All probes: probe.c. */
struct en_registry {
	struct en_probe **probes;
	unsigned nprobes, probe_room;
	struct en_probe **probe_hash;
	unsigned probe_hash_size;
	struct et_str **names; /* of probes, each text once */
	unsigned nnames, names_size;
};

struct en_providers {
	void **data;
	bool *started;
	unsigned n;
};

#define EN_HINTS 64
struct en {
	/* read on the probe path, written rarely */
	uint64_t id; /* never used twice in a process */
	_Atomic(uint32_t) phase;
	char *slots;
	size_t stride;
	unsigned maxslots;
	uint32_t strsize, scratch_size, alloca_size, rec_cap;
	uint64_t only_cpu; /* UINT64_MAX: any */
	_Atomic(uint64_t) maxwork; /* of a firing; UINT64_MAX: any; 0: it is to end */
	int policy;
	int zero; /* always: see ZERO */
	bool fence;
	struct en_aggdef *aggs;
	struct dyn dyn;
	struct en_specs spec;
	char *globals;
	struct en_probe *error_probe;
	const struct prog *prog;
	struct ebpf_env env;
	uint64_t *strs; /* references of the constant strings */
	const struct en_current *host; /* asked where nobody says who fires; or NULL */
	unsigned maxframes;
	struct en_process process;
	struct slot_layout at;
	/* written by firing threads, each seldom */
	_Alignas(LINE) _Atomic(uint32_t) nslots;
	_Atomic(uint32_t) releases;	/* slots given back so far */
	_Atomic(uint16_t) hints[EN_HINTS]; /* by number of a thread: the slot it may have (slot.c) */
	_Alignas(LINE) counter no_slot; /* DROP_THREADS */
	_Atomic(int) exit_code;
	_Atomic(uint32_t) exited, filled;
	_Atomic(uint32_t) halted;
	struct en_rate rate;
	_Atomic(uint64_t) own_cost;  /* en_own_cost */
	struct kernel *kernel; /* what it has in the kernel (kernel/), or NULL */
	struct en_shared shared;
	/* the rest: life, registry, consumer */
	_Alignas(LINE) struct et_options *opts;
	enum en_state state;
	size_t slots_size;
	uint32_t globals_size;
	struct en_registry reg;
	struct en_ecb **ecbs; /* by epid - 1 */
	unsigned necbs;
	struct ebpf_code *code; /* by clause */
	unsigned ncode;
	bool jitted, safe_on, clock_checked;
	struct en_providers providers;
	const struct erltrace_bridge *bridge; /* to Erlang nodes (include/erltrace.h), or NULL */
	void *bridge_arg;
	uint64_t clean_count;
	uint64_t until; /* en_consume_until */
	struct en *next;       /* of all engines: slot.c */
};

#endif
