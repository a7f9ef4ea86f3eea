/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine: probes, and the clauses that run when they fire. It is made to be fired from many
 * threads at once inside another program.
 *
 *   probe.c     the registry of probes, globs, what is enabled; provider.h: what providers are
 *   engine.c    life cycle: new, go, stop, free; load.c: verify, JIT, memory, clauses of probes
 *   slot.c      the threads' slots; barrier and grace period
 *   fire.c      THE PROBE PATH: fire a probe, run its clauses; faults and ERROR (fire_path.h)
 *   fire_at.c   a firing at a time that somebody else says: replay/
 *   times.c     many firings at once, which somebody else has counted
 *   ring.c      trace buffers: one writer, one reader (probe path: the writing half)
 *   read.c      the records of all slots, in order of time
 *   recording.c a copy of them, while they are written (policy ring)
 *   tables/     what clauses fill (probe path): aggregation tables of a slot (agg.c), dynamic
 *               variables (dyn.c; dyn_clean.c: the cleaner, run by the consumer), speculations
 *               (spec.c); key_view.h: keys hashed, compared, stored
 *   rt/         the runtime functions of rt.def (probe path), a file for each subject
 *   str.c       strings: interned and not (probe path)
 *   safe.c      reading memory that may not be mapped (probe path)
 *   stack.c     user stacks
 *   seen.c      what a run has seen, for a script that has nothing to show
 *   clock.c     the time stamp counter, calibrated
 *   region.c    memory of the probe path, which may be shared with the kernel
 *
 * Rules of the probe path: no lock, no malloc, no system call, no unbounded loop. A thread that
 * fires owns a slot (struct en_thread) with its own ring, aggregation tables and scratch memory. A
 * slot's seq is odd while it is in a firing. To take something away from firing threads (tables to
 * merge, variables to reuse), the consumer replaces the pointer, makes the change visible to all
 * threads (en_barrier) and waits until each slot was even or has changed: a grace period, after
 * which nobody uses the old one (slot.c).
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

/* ---- life cycle ------------------------------------------------------------------------- */

/* The en_current of probes that fire without one of their own (BEGIN, tick). Must outlive en. */
void en_set_host(struct en *en, const struct en_current *cur);
bool en_frame(const struct en *en, uint64_t pc, char *buf, size_t size); /* by host */
/* The text of a term of struct rec_process, by host; "" without one. */
void en_process_text(const struct en *en, uint64_t term, char *buf, size_t size);
/*
 * An address in a record may carry the index of the process it belongs to (procs.h). en_address
 * removes that from *addr and returns the process; 0: this one. en_process returns the n-th process
 * of the table; 0: none.
 */
int en_address(const struct en *en, uint64_t *addr);
int en_process(const struct en *en, unsigned n);
void en_process_add(struct en *en, int pid); /* a traced process, whose addresses may occur */
struct en *en_new(struct et_options *opts, struct et_error *e); /* runs the providers' init */
int en_go(struct en *en, const struct prog *prog, struct et_error *e); /* load, enable, BEGIN */
void en_armed(struct en *en); /* in a node, after go: all that it needs of the VM is armed */
/*
 * While tracing: enable the program's clauses at probes that were added since (ids above first).
 * They must not fire before this returns. Not concurrently with any call of the consumer's side.
 */
int en_extend(struct en *en, unsigned first, struct et_error *e);
int en_look(struct en *en, struct et_error *e); /* call the providers' look; from the consumer */
void en_attend(struct en *en);			/* the same of attend */
/* How providers reach Erlang nodes (include/erltrace.h); NULL: not at all. Owned by the caller. */
void en_set_bridge(struct en *en, const struct erltrace_bridge *bridge, void *arg);
int en_stop(struct en *en); /* stop providers, fire END; buffers can still be read */
/*
 * The results are not wanted any more: running clauses end at their next runtime function, and
 * nothing fires again, not even END. From any thread, at any time between en_new and en_free.
 */
void en_halt(struct en *en);
/* false: a firing is stuck and may continue later, so its program and options must stay. */
bool en_free(struct en *en);
enum en_state { EN_IDLE, EN_RUNNING, EN_STOPPED };
enum en_state en_state(const struct en *en);
/* exit() was called (status in *code); a buffer with policy fill is full. */
bool en_exited(const struct en *en, int *code);
bool en_filled(const struct en *en);
const struct en_ecb *en_ecb(const struct en *en, uint32_t epid); /* epids start at 1 */
uint64_t en_wall(const struct en *en, uint64_t mono); /* the same time, since 1970 */
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
 * While tracing, deliver no record younger than this: a record may print aggregations, and those
 * have been taken only up to this time. UINT64_MAX: deliver all.
 */
void en_consume_until(struct en *en, uint64_t ns);
bool en_pending(const struct en *en); /* is there a record to deliver? */
/*
 * What a reader would find, for any thread, in no time: nothing; aggregations that can wait;
 * records, or aggregation tables that fill up.
 *
 */
enum en_unread { EN_NOTHING, EN_CAN_WAIT, EN_URGENT };
enum en_unread en_unread(const struct en *en);
bool en_unclean(const struct en *en); /* is there anything for en_clean() to do? */
bool en_is_noted(const struct en *en); /* in cb: has a recording had this record before? */

/*
 * Take what the slots' aggregation tables have gathered since the last call; they continue with
 * empty ones. key: its parts one after the other: V_INT 8 bytes; V_STR u32 length and text; V_SYM 8
 * bytes; V_BYTES and V_STACK their size. data: as aggfn.h lays it out for the function.
 */
typedef int (*en_agg_cb)(void *arg, unsigned thread, unsigned agg, const void *key,
	size_t keylen, const void *data);
int en_agg_take(struct en *en, en_agg_cb cb, void *arg);

/*
 * A few times a second, from any thread: check whether somebody has installed a handler of SIGSEGV
 * or SIGBUS over the engines' own, and if so install it on top again (safe.c).
 */
void en_look_at_handler(void);

/*
 * In a node a script may write maxrate records a second over all its threads; what was not used
 * lasts for a second. Call it a few times a second, or the script runs out of records.
 */
void en_rate_tick(struct en *en);

/* Clean up deleted dynamic variables, finish speculations. Called at cleanrate. */
bool en_clean(struct en *en); /* false: nothing was deleted since the last time */

bool en_news(struct en *en, char *buf, size_t size); /* a provider's news; false: none */
uint64_t en_drops(const struct en *en, unsigned thread, enum en_drop kind);
unsigned en_nthreads(const struct en *en); /* slots in use so far */
/* CPU time in ns, in a node, of firings that belong to no event: BEGIN, END, profile and tick. */
uint64_t en_own_cost(const struct en *en);
/* en_fire, and add its time to that; or these around many */
void en_fire_own(struct en_probe *p, const uint64_t *arg, const struct en_current *cur);
uint64_t en_own_begin(const struct en *en);
uint64_t en_own_end(struct en *en, uint64_t from); /* what it added */
void en_uncount(struct en *en); /* the last firing of this thread was for its predicates only */
/* Number of firings over all threads: for tests and -v. */
uint64_t en_fired(const struct en *en);
/*
 * Firings in the kernel are to end by themselves if this is not called for so many ns, which they
 * find where they are timed. false: they have.
 */
bool en_beat(struct en *en, uint64_t patience);
uint64_t en_kernel_cost(const struct en *en); /* ns of those in the kernel; 0: they are not timed */
/* Delete all self-> variables of a key whose process has ended (probe path). */
void en_self_free(struct en *en, uint64_t key);
void en_flow_free(struct en *en, uint64_t id); /* the same of a flow, by its number */
/*
 * The same where nobody tells that a process has ended: asks is_dead() about the keys of so many
 * chains of the table, from chain *at on, which is 0 in the beginning. true: that was the last one.
 * A key that is dead stays so and fires no more. On the consumer's side, as en_clean.
 */
bool en_self_sweep(struct en *en, uint64_t *at, unsigned chains,
	bool (*is_dead)(void *arg, uint64_t key), void *arg);
bool en_dyn_scarce(const struct en *en); /* most of dynvarsize has been handed out */

#endif
