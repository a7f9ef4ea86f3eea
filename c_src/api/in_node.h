/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the library's side inside a node (c_src/beam/) asks of a handle, besides the public calls;
 * and so does the node's helper for the kernel (c_src/helper/). Not for programs: it is not exported.
 */
#ifndef API_IN_NODE_H
#define API_IN_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "erltrace.h"
#include "options.h"

struct en;
struct prog;

struct confine;
void api_confine(erltrace_t *h, const struct confine *c); /* before go; copied */
uint64_t api_fired(const erltrace_t *h);
void api_bpf_token(erltrace_t *h, int fd); /* before go; 0: none. Not closed */
void api_time(erltrace_t *h); /* before go: what firings in the kernel cost is measured */
uint64_t api_kernel_cost(const erltrace_t *h); /* ns */
bool api_beat(erltrace_t *h, uint64_t patience); /* en_beat() */
void api_set_inside(erltrace_t *h); /* it is in a node: before anything is compiled */
struct en *api_engine(erltrace_t *h); /* the same from open to close: for the probe path */
const struct prog *api_program(const erltrace_t *h); /* of all scripts compiled so far */
uint64_t api_option(const erltrace_t *h, enum et_opt opt);
bool api_records_processes(const erltrace_t *h); /* its records say which process has fired */
const char *api_text_option(const erltrace_t *h, enum et_opt opt); /* "": it is not set */
bool api_is_destructive(const erltrace_t *h); /* has any script destructive actions? */
/* The record whose fields the last compilation did not know and needed; NULL: none. */
const char *api_no_record(const erltrace_t *h);
/* The description that matched nothing in the last compilation, if no reason is known; NULL: none. */
const char *api_no_probe(const erltrace_t *h);
bool api_has_self(const erltrace_t *h);	      /* or self-> variables? */
bool api_prints(const erltrace_t *h); /* do probes leave records, besides BEGIN and END? */

/* Records lost so far since a trace buffer was full. */
uint64_t api_lost(const erltrace_t *h);
void api_no_payload(erltrace_t *h); /* payload=off for good */
/*
 * Would erltrace_work() find nothing to do? Told in no time, so that a script that rests costs next
 * to nothing: that call wants a dirty scheduler, which spins before it sleeps again.
 *
 */
bool api_idle(const erltrace_t *h);
bool api_rests(const erltrace_t *h); /* nor erltrace_changes() */
/* Make the memory of deleted variables free again; returns when this is due again, in ns. */
uint64_t api_clean(erltrace_t *h);
uint64_t api_rest(const erltrace_t *h); /* the same, in no time, where there is none; 0: there is */
/*
 * While tracing, between calls that read: what is due. Returns when it is again, in ns. A failure to
 * look for what has appeared, such as libraries, is told once more by the next call that reads.
 */
uint64_t api_tend(erltrace_t *h);
/* While tracing: enable the program at probes that were added, from this one on. */
int api_extend(erltrace_t *h, unsigned first, erltrace_error_t *err);

/*
 * Firings that somebody else counts (beam/nif/counters.c). From begin on no record is delivered
 * that is younger than the last reading of the counters, nor does the script end before the
 * counters do.
 */
void api_counters_begin(erltrace_t *h);
void api_counters_read(erltrace_t *h, uint64_t ns); /* all were, as they stood then */
void api_counters_end(erltrace_t *h);
bool api_counters(const erltrace_t *h); /* are there any? */

/*
 * Instead of erltrace_work(): what there is as a stream (stream/writer.h) for a consumer elsewhere.
 * round->final is found out. handlers: of a flight recorder, whose alerts and snapshots are not for
 * the stream, as erltrace_work() calls them. ERLTRACE_OK, API_MORE, ERLTRACE_DONE, -1. The caller frees *bytes.
 */
struct sw_round;
enum { API_MORE = 2 };
int api_forward(erltrace_t *h, const char *node, const struct sw_round *round,
	const erltrace_handlers_t *handlers, char **bytes, size_t *len, erltrace_error_t *err);

/*
 * Of a flight recorder only: its alerts and snapshots, as api_forward() hands them on, between such calls.
 * final: snapshots are written to their end.
 */
int api_record(erltrace_t *h, const erltrace_handlers_t *handlers, bool final);

/* Nobody reads what actions print (co_mute() in consume/consume.h). */
void api_mute(erltrace_t *h);
/* The aggregations of all scripts compiled so far, or of the stream that is read. What cb returns; -1: no memory. */
int api_shapes(const erltrace_t *h,
	int (*cb)(void *arg, const erltrace_shape_t *shapes, unsigned n), void *arg);
/* erltrace_changes() has what came from now on. -1: no memory, or go has not been called. */
int api_changes_begin(erltrace_t *h);

#endif
