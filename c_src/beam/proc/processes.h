/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept of a process (processes.c, probe path): a shadow stack of the traced functions that
 * it is in (shadow_stack.h), its running time (vtime.h), whether it hibernates.
 *
 * In this folder (probe path):
 *
 *   processes.c     the table of processes
 *   pid_slots.c     slots by pid, for such tables
 *   shadow_stack.c  which traced functions a process is in
 *   vtime.h         its running time
 *   registered.c    registered names
 *   proc_names.c    what processes without one are called
 */
#ifndef BEAM_PROCESSES_H
#define BEAM_PROCESSES_H

#include <erl_nif.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "beam/free_list.h"
#include "beam/term/kept_args.h"
#include "pid_slots.h"

#pragma GCC visibility push(hidden)

struct beam_fn;

struct beam_frame {
	const struct beam_fn *fn;
	uint32_t level; /* words on the stack at entry */
	uint32_t top;	/* the same with the frames that the VM puts there, of return_to and
			   exception_trace; or level */
};

#define BEAM_INLINE_FRAMES 3
#define BEAM_CHUNK_FRAMES  15
#define BEAM_CHUNKS	   65536 /* 16 MiB: a million frames */
struct beam_chunk {
	struct beam_chunk *below;
	_Atomic uint32_t next; /* in the list of free ones: index + 1 */
	uint32_t pad;
	struct beam_frame frame[BEAM_CHUNK_FRAMES];
};

/*
 * One a process of the VM's table; belongs to whoever runs the process. Frames beyond the inline
 * ones are in chunks of a common pool.
 */
struct beam_proc {
	_Atomic uint64_t pid;	  /* the term; 0 and other small numbers: free */
	uint32_t n;		  /* frames */
	uint32_t heap_size;	  /* at the start of a gc */
	struct beam_chunk *chunk; /* with the newest frame */
	/* ns. Its running time, as last told; since when it runs, or 0; while it runs, what makes
	 * running time of the clock: by probes it is set back by what they took */
	uint64_t last, in_at, turn;
	struct beam_kept *kept; /* arguments of calls, the newest first */
	struct beam_frame frame[BEAM_INLINE_FRAMES];
	ERL_NIF_TERM hib_mod, hib_fun;	/* what proc_lib:hibernate was told to wake up in; or 0 */
	uint32_t hib_arity;
	_Atomic uint32_t hibernating;	/* since then no message has come */
};

struct beam_procs {
	struct beam_proc *tab;
	unsigned char *rests; /* each page of it: nobody had a slot there at the last look */
	struct beam_pid_slots slots;
	struct beam_kept_pool kept;
	struct beam_chunk *chunks;
	unsigned nchunks;
	char pad[64];
	struct free_list free; /* chunks */
	_Atomic uint64_t lost; /* frames and processes without room */
	char pad2[64];
};

int beam_procs_init(struct beam_procs *t, uint64_t process_limit);
void beam_procs_fini(struct beam_procs *t);
struct beam_proc *beam_proc_get(struct beam_procs *t, ERL_NIF_TERM pid); /* NULL: no room */
struct beam_proc *beam_proc_find(struct beam_procs *t, ERL_NIF_TERM pid); /* from anywhere */
void beam_proc_exit(struct beam_procs *t, ERL_NIF_TERM pid);
/* Frees what dead processes have left in the next slots, from *at on; true: that was the last. */
#define BEAM_SWEPT 512 /* slots at a time */
bool beam_procs_sweep(struct beam_procs *t, uint64_t *at,
	bool (*is_dead)(void *arg, uint64_t pid), void *arg);

/* Memory of slots that nobody has any more, from page *at on; true: that was the last. */
bool beam_procs_release(struct beam_procs *t, uint64_t *at,
	bool (*is_dead)(void *arg, uint64_t pid), void *arg);

/* A frame or process finds no room. */
static inline void beam_procs_lose(struct beam_procs *t)
{
	atomic_fetch_add_explicit(&t->lost, 1, memory_order_relaxed);
}

#pragma GCC visibility pop
#endif
