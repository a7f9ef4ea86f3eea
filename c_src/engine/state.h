/* SPDX-License-Identifier: Apache-2.0 */
/* The state of an engine. What firing threads only read comes first, apart from what they write. */
#ifndef EN_STATE_H
#define EN_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bpf/ebpf.h"
#include "compiler.h"
#include "engine/tables/counter.h"
#include "engine/tables/dyn.h"
#include "engine.h"
#include "prog/prog.h"

struct en_aggdef;
struct et_str;
struct kernel;
struct spec;

/* The phase of tracing. Probes fire in PHASE_RUN only, BEGIN and END in their own. */
enum { PHASE_IDLE, PHASE_BEGIN, PHASE_RUN, PHASE_DRAIN, PHASE_END, PHASE_STOPPED };

/* Values of built-in variables about the process that the engine runs in. */
struct en_process {
	uint32_t pid, ppid, pgid, sid, uid, euid, gid, egid, pri;
	struct et_str *execname, *psargs, *cwd, *rootdir;
	uint32_t ancestors[64];
	unsigned nancestors;
};

/* A CPU: rt_cpu.c. */
struct en_cpu {
	int32_t chip, lgrp, mhz;
};

/* Bytes below the memory for alloca() that are never read or written: an index below 0 is a fault. */
#define ALLOCA_BELOW 256u

/* Offsets in a slot, in bytes. */
struct slot_layout {
	size_t rec, scratch, error_scratch, alloca, tok, spec, ring, agg[2], spec_mem;
	size_t ring_size, agg_size, agg_direct;
};

/* Speculations: spec.c. */
struct en_specs {
	uint32_t n, block, blocks;
	uint64_t most; /* the option nspec, even if there are none */
	struct spec *tab;
};

/* The rate limit of records: ring.c. */
struct en_rate {
	_Atomic(uint64_t) left; /* for the threads to take shares of */
	_Atomic(uint64_t) at;	/* ns: time of the last refill */
};

/* For an engine whose memory is shared with the kernel: region.c, kernel/. */
struct en_shared {
	bool on;
	unsigned nslots; /* the kernel's: the first ones */
	void (*fire)(struct en *en, unsigned phase); /* BEGIN and END; NULL: here */
	struct prog_clause *clauses; /* the kernel's copy */
	_Atomic(uint32_t) *procs; /* table of processes: procs.h */
	uint32_t home; /* the first process named by a provider, or 0 */
	uint64_t window;     /* addresses that are reserved */
	uint64_t size, used; /* bytes of memory there */
	bool late;	     /* it is not the kernel's yet: en_share_late */
	struct en_beat {     /* does somebody look after it? kernel/bpf/timed.h */
		uint64_t at;	   /* ns: somebody did */
		uint64_t patience; /* ns: the oldest that is all right; 0: any */
		uint64_t stale;	   /* ns: since when firings find that too old */
		bool stalled;	   /* so they have ended it */
	} beat;
};

/* What the run has seen: seen.h. */
struct en_run {
	_Atomic(uint64_t) from, until; /* ns; until 0: it goes on */
	_Atomic(uint64_t) apart;       /* firings that are no events */
	_Atomic(uint64_t) rounds, whole, things, now, there; /* struct en_looks */
};

/* All probes: probe.c. */
struct en_registry {
	struct en_probe **probes;
	unsigned nprobes, probe_room;
	struct en_probe **probe_hash;
	unsigned probe_hash_size;
	struct et_str **names; /* interned names of probes */
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
	uint64_t id; /* never reused in a process */
	_Atomic(uint32_t) phase;
	char *slots;
	size_t stride;
	unsigned maxslots;
	uint32_t strsize; /* with the NUL: prog.strsize */
	uint32_t scratch_size, this_end, alloca_size, rec_cap, globals_size;
	uint64_t only_cpu; /* UINT64_MAX: any */
	_Atomic(int64_t) wall; /* CLOCK_REALTIME - CLOCK_MONOTONIC: en_note_clocks() */
	_Atomic(uint64_t) maxwork; /* limit of a firing; UINT64_MAX: none; 0: stop */
	int policy;
	bool processes;	     /* records say which process fired: struct rec_process */
	uint32_t rate_limit; /* records a second; 0: any number */
	int zero; /* always 0: see ZERO */
	bool fence;
	struct en_aggdef *aggs;
	struct dyn dyn;
	struct en_specs spec;
	char *globals;
	struct en_probe *error_probe;
	const struct prog *prog;
	struct ebpf_env env;
	uint64_t *strs; /* references to the constant strings */
	const struct en_current *host; /* for firings without an en_current; or NULL */
	unsigned maxframes;
	struct en_process process;
	struct en_cpu *cpus;
	uint32_t ncpus; /* 0: no clause asks */
	struct slot_layout at;
	/* written by firing threads, rarely */
	_Alignas(LINE) _Atomic(uint32_t) nslots;
	_Atomic(uint32_t) releases;	/* slots released so far */
	_Atomic(uint16_t) hints[EN_HINTS]; /* by thread number: the slot it may own (slot.c) */
	_Alignas(LINE) counter no_slot; /* DROP_THREADS */
	counter missed;			/* DROP_MISSED */
	_Atomic(int) exit_code;
	_Atomic(uint32_t) exited, filled;
	_Atomic(uint32_t) halted;
	_Atomic(uint32_t) notices; /* RT_notice */
	struct en_rate rate;
	_Atomic(uint64_t) own_cost;  /* en_own_cost */
	uint64_t own_self;	     /* key of self-> variables of BEGIN, and so of END */
	struct en_run run;
	struct kernel *kernel; /* its state in kernel/, or NULL */
	struct en_shared shared;
	/* the rest: life cycle, registry, consumer */
	_Alignas(LINE) struct et_options *opts;
	enum en_state state;
	unsigned spec_reading; /* the speculation that en_consume delivers; 0: none */
	bool delivers_noted; /* en_is_noted() */
	size_t slots_size;
	struct en_registry reg;
	struct en_ecb **ecbs; /* by epid - 1 */
	unsigned necbs;
	struct ebpf_code *code; /* by clause */
	unsigned ncode;
	bool jitted, safe_on;
	struct en_providers providers;
	const struct erltrace_bridge *bridge; /* to Erlang nodes (include/erltrace.h), or NULL */
	void *bridge_arg;
	uint64_t clean_count;
	uint64_t until; /* en_consume_until */
	struct en *next;       /* list of all engines: slot.c */
};

#endif
