/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that are followed from process to process (flows.c, probe path): follow(), flowid,
 * flowdepth and the probes flow-*.
 *
 * In this folder:
 *
 *   flows.c       what follow() and the events of the sequential tracer do (probe path)
 *   flow_table.c  which flow a process and a message belong to (probe path)
 *   flow_nodes.c  flows that go from node to node (probe path)
 *   flow_clock.c  one time line for all nodes (probe path)
 *   flow_nifs.c   what ends flows, and brings nodes that follow together
 */
#ifndef BEAM_FLOWS_H
#define BEAM_FLOWS_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct beam_event;
struct beam_fn;
struct beam_handle;
struct flow_ended;
struct flow_table;

/* -1: no memory; 1: more nodes run the script than flows can go through. */
int beam_flows_init(struct beam_handle *b, ErlNifEnv *env, uint64_t process_limit);
void beam_flows_fini(struct beam_handle *b);

void beam_flow_event(const struct beam_event *ev); /* of the sequential system tracer */
void beam_flow_exit(const struct beam_handle *b, ERL_NIF_TERM pid);
/* the process that runs loses one of ours */
void beam_flow_no_token(ErlNifEnv *env, ERL_NIF_TERM pid);
void beam_flow_end(struct beam_handle *b, ErlNifEnv *env, const struct flow_ended *e);
/* A call of a function that has a clause with follow(), before and after its probes fire. */
void beam_flow_call(const struct beam_event *ev);
void beam_flow_called(const struct beam_event *ev, const struct beam_fn *fn);

uint64_t beam_flow_follow(const struct beam_event *ev);	      /* its number; 0: not followed */
uint64_t beam_flow_id(const struct beam_event *ev, bool depth); /* flowid, flowdepth */
bool beam_flow_peer(const struct beam_event *ev, ERL_NIF_TERM *peer);

#pragma GCC visibility pop
#endif
