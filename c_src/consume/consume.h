/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The consumer: what the engine gathered -> what people read.
 *
 *   consume.c  records in order, each action performed; drops and faults told
 *   format.c   printf and printa by a parsed format (d_fmt), trace(), symbols, stacks
 *   aggs.c     merged aggregations: bounded, sorted, cleared, truncated, normalized
 *   dist.c     distributions: bars, aggpack, agghist, aggzoom
 *   print.c    print(): values by their type
 *   symbols.c  address -> module`symbol+offset, from /proc/PID/maps and ELF tables
 *
 * It depends on the program's tables (d/prog.h) and on the engine's consumer calls only; it makes
 * text and public structs (include/erltrace.h), and hands them to the handlers.
 */
#ifndef CO_CONSUME_H
#define CO_CONSUME_H

#include "../../include/erltrace.h"
#include "../engine/aggfn.h"
#include "../engine/engine.h"

struct co; /* the consumer of one handle */

struct co *co_new(struct en *en, const struct prog *prog, struct et_options *opts,
	struct et_error *e);
void co_free(struct co *co);
/*
 * One round: aggregations merged, records performed and printed, drops told. final: also print
 * aggregations that no printa printed, and nothing more will come. Returns 0, or what a handler
 * returned.
 */
int co_work(struct co *co, const erltrace_handlers_t *h, bool final);
int co_snapshot(struct co *co);
int co_walk(struct co *co, const char *name, erltrace_agg_cb *cb, void *arg);
int co_clear(struct co *co, const char *name);
int co_trunc(struct co *co, const char *name);
/* The row that -l prints is the command's; this is the header of the default output. */
int co_begin(struct co *co, const erltrace_handlers_t *h);

#endif
