/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flows that go from node to node (flow_nodes.c, probe path): what the token of a message says of
 * them, and which nodes run the script.
 */
#ifndef BEAM_FLOW_NODES_H
#define BEAM_FLOW_NODES_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define FLOW_NODES 127 /* that can take part: by the bits of the number of a hop */
#define FLOW_HOPS  (1u << 24) /* a node can number so many of one flow */

struct flow_nodes {
	uint64_t run; /* labels of this run's tokens begin with it */
	unsigned tag, n;
	ERL_NIF_TERM node[FLOW_NODES]; /* by their tags */
};

/* peers: what the option flowpeers says. false: these are too many nodes. */
bool flow_nodes_init(
	struct flow_nodes *ns, ErlNifEnv *env, const char *peers, ERL_NIF_TERM this_node);

/* Labels: of a process that is in no flow, or in this one. */
bool flow_label_is_ours(const struct flow_nodes *ns, ErlNifEnv *env, ERL_NIF_TERM label);
bool flow_label_was_ours(ErlNifEnv *env, ERL_NIF_TERM label); /* of any run */
ERL_NIF_TERM flow_label(const struct flow_nodes *ns, uint64_t id);
/* 0: none */
uint64_t flow_of_label(const struct flow_nodes *ns, ErlNifEnv *env, ERL_NIF_TERM label);

/* What a message to a node that runs the script has in its token instead of the previous serial. */
ERL_NIF_TERM flow_pack_hop(uint32_t hop, uint32_t depth);
bool flow_unpack_hop(ErlNifEnv *env, ERL_NIF_TERM previous, uint32_t *hop, uint32_t *depth);

/* A number of a message, such that sums of different sets of them differ. */
uint64_t flow_hop_hash(uint32_t hop);

/* Does this receiver, of another node, belong to a node that runs the script? */
bool flow_goes_on(const struct flow_nodes *ns, ErlNifEnv *env, ERL_NIF_TERM to);

#pragma GCC visibility pop
#endif
