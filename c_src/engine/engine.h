/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine: probes, and the running of clauses when they fire. Made to be fired from many
 * threads at once inside another program.
 *
 *   probe.c   the registry of probes, globs, what is enabled
 *   engine.c  life: new, go, stop, free; load.c: verify, JIT, memory, probes and their clauses
 *   slot.c    the threads' slots; barrier and grace period
 *   fire.c    THE PROBE PATH: fire a probe, run its clauses; faults and ERROR (fire_path.h)
 *   times.c   many firings at once, that somebody else has counted
 *   ring.c    trace buffers: one writer, one reader (probe path: the writing half)
 *   read.c    the records of all slots in order of time
 *   key_view.h  keys of tables: hashed, compared, stored (probe path)
 *   agg.c     aggregation tables of a thread (probe path)
 *   dyn.c     dynamic variables (probe path); dyn_clean.c: cleaned by the consumer
 *   spec.c    speculations
 *   str.c     strings: interned and not (probe path)
 *   safe.c    reading memory that may not be there (probe path)
 *   stack.c   user stacks
 *   rt_*.c    the other runtime functions of rt.def (probe path)
 *   clock.c   the time stamp counter, calibrated
 *   region.c  memory of the probe path, which the kernel may share
 *
 * Rules of the probe path: no lock, no malloc, no system call, no unbounded loop. A thread that
 * fires owns a slot (struct en_thread): its ring, its aggregation tables, its scratch. A slot's
 * seq is odd while it fires; whoever takes something away from the firing threads (tables to
 * merge, variables to reuse) changes the pointer, makes all threads see it (en_barrier) and waits
 * until each slot has been seen even or changed: then nobody looks at the old one any more.
 */
#ifndef EN_ENGINE_H
#define EN_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "current.h"
#include "drop.h"
#include "error.h"
#include "options.h"
#include "prog/prog.h"
#include "prog/record.h"

struct en;	  /* the engine of one handle */
struct en_ecb;	  /* an enabled clause: probe.h */
struct en_probe;
struct erltrace_bridge;

/* ---- life ----------------------------------------------------------------------------- */

/* Whom probes that fire without an en_current of their own (BEGIN, tick) ask. It must stay. */
void en_set_host(struct en *en, const struct en_current *cur);
bool en_frame(const struct en *en, uint64_t pc, char *buf, size_t size); /* its name by them */
/*
 * Addresses of other processes have more to them than the address (procs.h): takes that off, and
 * returns whose it is; 0: this process's. The n-th process there; 0: none at that place.
 */
int en_address(const struct en *en, uint64_t *addr);
int en_process(const struct en *en, unsigned n);
void en_process_add(struct en *en, int pid); /* one that is traced: there may be addresses of it */
struct en *en_new(struct et_options *opts, struct et_error *e); /* runs the providers' init */
/* Enable clauses first.. of the program at the probes they match (called after each compile). */
int en_go(struct en *en, const struct prog *prog, struct et_error *e); /* load, enable, BEGIN */
/*
 * While tracing runs: enable the program at probes that were added since (ids above first). They
 * must not fire before this returns. Not at the same time as anything of the consumer's.
 */
int en_extend(struct en *en, unsigned first, struct et_error *e);
int en_look(struct en *en, struct et_error *e); /* the providers' look; by the consumer */
/* How providers reach Erlang nodes (include/erltrace.h); NULL: not at all. It is the caller's. */
void en_set_bridge(struct en *en, const struct erltrace_bridge *bridge, void *arg);
int en_stop(struct en *en); /* providers off, END fired; buffers remain to be read */
/*
 * Nobody waits for results any more: what is firing ends at its next runtime function, nothing
 * fires again, not even END. Any thread, at any time between en_new and en_free.
 */
void en_halt(struct en *en);
/* false: a firing is still held up, and goes on one day: its program and options must stay. */
bool en_free(struct en *en);
enum en_state { EN_IDLE, EN_RUNNING, EN_STOPPED };
enum en_state en_state(const struct en *en);
/* exit() was called (the status in *code), or a fill buffer is full. */
bool en_exited(const struct en *en, int *code);
bool en_filled(const struct en *en);
const struct en_ecb *en_ecb(const struct en *en, uint32_t epid); /* epids start at 1 */
uint64_t en_wall(uint64_t mono);	   /* the same moment since 1970 */
bool en_jitted(const struct en *en);

/* ---- the consumer's side -------------------------------------------------------------- */

/*
 * Records of all threads since the last call, in order of time unless temporal is off; committed
 * speculations in their place (as REC_DATA). The record is valid during the call. cb returning
 * != 0 stops there (that record counts as read).
 */
typedef int (*en_rec_cb)(void *arg, unsigned thread, const struct rec_head *rec);
int en_consume(struct en *en, en_rec_cb cb, void *arg);
/*
 * While tracing goes on no record younger than this is delivered: aggregations are not as far yet,
 * and it may print them. UINT64_MAX: all are.
 */
void en_consume_until(struct en *en, uint64_t ns);
bool en_pending(const struct en *en); /* is there a record to deliver? */

/*
 * Take what the threads' aggregation tables have gathered since the last call (they go on with
 * empty ones). key: the parts one after the other: V_INT 8 bytes; V_STR u32 length and text;
 * V_SYM 8 bytes; V_BYTES and V_STACK their size. data: as aggfn.h lays out for the function.
 */
typedef int (*en_agg_cb)(void *arg, unsigned thread, unsigned agg, const void *key,
	size_t keylen, const void *data);
int en_agg_take(struct en *en, en_agg_cb cb, void *arg);

/*
 * Some times a second, by any thread: has somebody installed a handler of SIGSEGV or SIGBUS over
 * that of the engines? Then reads of bad addresses go another way, and it goes on top again.
 */
void en_look_at_handler(void);

/*
 * In a node a script leaves maxrate records a second, whatever its threads do: what was not used of
 * that lasts for a second. Called some times a second, or there are soon no more records.
 */
void en_rate_tick(struct en *en);

/* Clean deleted dynamic variables, finish speculations. Called at cleanrate. */
void en_clean(struct en *en);

bool en_news(struct en *en, char *buf, size_t size); /* a line that a provider tells; false: none */
uint64_t en_drops(const struct en *en, unsigned thread, enum en_drop kind);
unsigned en_nthreads(const struct en *en); /* slots in use so far */
/* ns of processor time in a node that no event took: BEGIN, END, profile and tick. */
uint64_t en_own_cost(const struct en *en);
void en_fire_own(struct en_probe *p, const uint64_t *arg); /* en_fire, and added to that */
/* Firings of enabled probes and clauses run, over all threads: for tests and -v. */
uint64_t en_fired(const struct en *en);
/* Delete all self-> variables of a key (probe path): whose they were is no more. */
void en_self_free(struct en *en, uint64_t key);

#endif
