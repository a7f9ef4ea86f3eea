/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flows that go from node to node (probe path). The VM carries tokens over the distribution. So
 * that the other node knows the flow, the token has its number: follow() writes it over the label,
 * as a small integer, into the token of the process that runs (token.c). And a message to a node
 * that runs the script too has the number and the depth of its hop, in the place of the previous
 * serial number, which the VM only passes on.
 *
 *   label	run (19 bits)  tag of the node where it began (8)  number (32)
 *   previous	MARK (10 bits)  depth (16)  hop (32: tag of the sender's node, number)
 *
 * The run is random, so that tokens of another command's script are not taken for ours.
 *
 * A flow ends in the node where it began. What happens in another one is a part there. When nobody
 * refers to it any more that node reports it to the first one (erltrace_flows.erl), with the
 * sum of the hashes of all messages that it has sent to other nodes, minus that of those it has
 * received. A part reports only when it is at rest, so a report has all that was sent because of
 * what it has received. Hence the sum over the first node and all reports is 0 when nothing is
 * under way and nobody is at work, and not before.
 *
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "beam/atoms.h"
#include "beam/term/term_words.h"
#include "beam/vm/pid_node.h"
#include "compiler.h"
#include "flow_nodes.h"

#define RUN_SHIFT  40
#define RUN_BIT	   (1ULL << 18)
#define ID_MASK	   ((1ULL << RUN_SHIFT) - 1)
#define MARK	   0x2d5ULL
#define MARK_SHIFT 48

static uint64_t some_run(const struct flow_nodes *ns)
{
	uint64_t run;

	if (getrandom(&run, sizeof(run), GRND_NONBLOCK) != sizeof(run))
		run = (uint64_t)(uintptr_t)ns >> 12;
	return run;
}

/* "RUN,node,node...": set by the command. */
bool flow_nodes_init(
	struct flow_nodes *ns, ErlNifEnv *env, const char *peers, ERL_NIF_TERM this_node)
{
	char *end = NULL;
	uint64_t run = strtoull(peers, &end, 10);
	bool found = false;

	*ns = (struct flow_nodes){0};
	while (*end == ',' && ns->n < FLOW_NODES) {
		size_t len = strcspn(++end, ",");
		char name[256];

		snprintf(name, sizeof(name), "%.*s", (int)len, end);
		ns->node[ns->n] = enif_make_atom(env, name);
		if (ns->node[ns->n] == this_node) {
			ns->tag = ns->n;
			found = true;
		}
		ns->n++;
		end += len;
	}
	if (!found) { /* it has no tag among them: its flows are its own */
		ns->n = 0;
		run = some_run(ns);
	}
	ns->run = (run & (RUN_BIT - 1)) | RUN_BIT; /* never a small number */
	return *end != ',';
}

PROBE_PATH bool flow_label_is_ours(const struct flow_nodes *ns, ErlNifEnv *env, ERL_NIF_TERM label)
{
	return label == atom_erltrace_flow || flow_of_label(ns, env, label) != 0;
}

PROBE_PATH bool flow_label_was_ours(ErlNifEnv *env, ERL_NIF_TERM label)
{
	ErlNifUInt64 v;

	return label == atom_erltrace_flow ||
	       (label != 0 && enif_get_uint64(env, label, &v) && v >> RUN_SHIFT >= RUN_BIT &&
		       v >> RUN_SHIFT < 2 * RUN_BIT);
}

/* Of less than 60 bits: no memory is taken (beam_vm.small: token.c has seen to it). */
static ERL_NIF_TERM small(uint64_t v)
{
	return v << 4 | 15;
}

PROBE_PATH ERL_NIF_TERM flow_label(const struct flow_nodes *ns, uint64_t id)
{
	return small(ns->run << RUN_SHIFT | id);
}

PROBE_PATH uint64_t flow_of_label(const struct flow_nodes *ns, ErlNifEnv *env, ERL_NIF_TERM label)
{
	ErlNifUInt64 v;

	return label != 0 && enif_get_uint64(env, label, &v) && v >> RUN_SHIFT == ns->run
		       ? v & ID_MASK
		       : 0;
}

PROBE_PATH ERL_NIF_TERM flow_pack_hop(uint32_t hop, uint32_t depth)
{
	uint64_t d = depth < UINT16_MAX ? depth : UINT16_MAX;

	return small(MARK << MARK_SHIFT | d << 32 | hop);
}

PROBE_PATH bool flow_unpack_hop(
	ErlNifEnv *env, ERL_NIF_TERM previous, uint32_t *hop, uint32_t *depth)
{
	ErlNifUInt64 v;

	if (!enif_get_uint64(env, previous, &v) || v >> MARK_SHIFT != MARK)
		return false;
	*hop = (uint32_t)v;
	*depth = (uint32_t)(v >> 32) & UINT16_MAX;
	return true;
}

PROBE_PATH uint64_t flow_hop_hash(uint32_t hop)
{
	uint64_t h = (hop + 1) * 0x9e3779b97f4a7c15ULL;

	h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9ULL;
	return h ^ h >> 32;
}

/* A pid, a reference, {Name, Node}, or the node itself. */
PROBE_PATH static ERL_NIF_TERM node_of(ErlNifEnv *env, ERL_NIF_TERM to)
{
	const ERL_NIF_TERM *t;
	char text[256];
	unsigned n;

	if (enif_is_atom(env, to))
		return to;
	if (beam_get_tuple(env, to, &n, &t))
		return n == 2 ? t[1] : 0;
	enif_snprintf(text, sizeof(text), "%T", to);
	return beam_node_atom(text);
}

PROBE_PATH bool flow_goes_on(const struct flow_nodes *ns, ErlNifEnv *env, ERL_NIF_TERM to)
{
	ERL_NIF_TERM node = ns->n > 1 ? node_of(env, to) : 0;

	for (unsigned i = 0; node != 0 && i < ns->n; i++)
		if (ns->node[i] == node)
			return true;
	return false;
}
