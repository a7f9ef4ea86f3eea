/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The consumer: what the engine gathered -> what people read.
 *
 *   origin.h       where they come from: the engine of this process, or streams of others
 *   consume.c      records in order; rows of the default output; where text goes
 *   actions.c      the actions of a record, performed
 *   faults.c       faults, errors and drops in DTrace's words
 *   value.c        values out of records and keys, into the structs of handlers
 *   datum.c        values in the default layouts: trace(), keys, stacks, raw bytes
 *   format.c       printf and printa by a parsed format (d_fmt)
 *   print_value.c  print(): values by their type
 *   aggs.c         merged aggregations: bounded, sorted, cleared, truncated, normalized
 *   agg_public.c   the same in the structs of handlers
 *   changes.c      what they gathered since the last time
 *   percentile.c   percentiles: histograms on the heap, columns
 *   printa.c       aggregations printed: printa(), and what is left at the end
 *   dist.c         distributions: bars, aggpack, agghist, aggzoom
 *   stack_table.c  stacktop: aggregations by stack as a table of functions
 *   nothing.c      a script without rows: what it has seen
 *   flight.c       bufpolicy=ring: alerts and snapshots while the buffers go on
 *   textbuf.c      text that grows; the filter for terminals
 *   columns.c      how many columns a text takes
 *
 * Each has a header of its own; consumer.h is the state that they share.
 *
 * It depends on the program's tables (prog/prog.h) and on its origin only; it makes text and public structs (include/erltrace.h), and hands them to the handlers.
 */
#ifndef CO_CONSUME_H
#define CO_CONSUME_H

#include "erltrace.h"
#include "prog/aggfn.h"
#include "origin.h"

struct co; /* the consumer of one handle */

struct co *co_new(const struct co_origin *from, void *of, const struct prog *prog,
	struct et_options *opts, struct et_error *e);
void co_free(struct co *co);
void co_watch(struct co *co); /* traced processes, while they are there: they may end soon */
/*
 * One round: aggregations merged, records performed and printed, drops told. final: also print
 * aggregations that no printa printed, and nothing more will come; the blank line with which
 * dtrace ends is printed then too. Drops are looked for at statusrate and at the end. Returns 0, or
 * what a handler returned.
 */
int co_work(struct co *co, const erltrace_handlers_t *h, bool final);
int co_snapshot(struct co *co);
int co_walk(struct co *co, const char *name, erltrace_agg_cb *cb, void *arg);
int co_each(struct co *co, const char *name, erltrace_agg_cb *cb, void *arg); /* unsorted */
int co_stacks(struct co *co, erltrace_agg_cb *cb, void *arg); /* erltrace_stacks() */
/*
 * erltrace_changes(), of one of so many streams; -ENOMEM. From the first call on, which must come before any
 * result is read; co_changes_begin() is a call that hands on nothing. A handle of itself is stream 0
 * of 1. tick: its time is filled in.
 */
int co_changes(struct co *co, unsigned stream, unsigned nstreams, const erltrace_tick_t *tick,
	const erltrace_change_handlers_t *to);
int co_changes_begin(struct co *co);
/* The aggregations of a program; what cb returns, or -ENOMEM. */
typedef int co_shapes_cb(void *arg, const erltrace_shape_t *shapes, unsigned n);
int co_shapes(const struct prog *prog, co_shapes_cb *cb, void *arg);
/*
 * For a stream (stream/writer.c): each key that was merged is given and forgotten, until fn returns
 * anything but 0, which is returned.
 */
struct ag_ent;
typedef int co_entry_cb(struct co *co, const struct ag_ent *e, void *arg);
int co_hand_over(struct co *co, co_entry_cb *fn, void *arg);
uint64_t co_merge_drops(const struct co *co); /* keys that found no room below aggmax */
struct sy *co_symbols(struct co *co);
int co_clear(struct co *co, const char *name);
int co_trunc(struct co *co, const char *name);
/*
 * From here on nobody reads what actions print, as of a script that is deployed: they print
 * nothing, unless freopen() has opened a file, and with bufpolicy=ring what the buffers hold is
 * dropped at the end. alert(), snapshot() and all else that acts does as ever.
 *
 */
void co_mute(struct co *co);
/*
 * A new run: the header of the default output is due again. co_work prints it before the first
 * record, as dtrace does: a script that only aggregates has none. (The row that -l prints is the
 * command's.)
 */
int co_begin(struct co *co, const erltrace_handlers_t *h);

#endif
