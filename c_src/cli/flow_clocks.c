/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks of several machines differ. Of each two nodes the messages between them say how much at least
 * and at most: none is taken before it was sent. A node whose clock agrees with that is left as it is,
 * another is moved: halfway between the two bounds, or as little as needed if there is only one. Nodes
 * are brought together one after the other, beginning with the one where the flow began.
 */
#include "flow_model.h"

#include <stdlib.h>

struct bounds {
	int64_t least, most; /* what may be added to the times of the node */
};

static int node_at(const struct flow *f, int proc)
{
	return proc >= 0 ? f->procs[proc].node : -1;
}

/* By hops between the node and those that have been brought together; false: there are none. */
static bool bounds_of(const struct flow *f, int node, const bool *known, struct bounds *b)
{
	bool any = false;

	*b = (struct bounds){INT64_MIN, INT64_MAX};
	for (int i = 0; i < f->nhops; i++) {
		const struct flow_hop *h = &f->hops[i];
		int from = node_at(f, h->from), to = node_at(f, h->to);
		int64_t took = (int64_t)(h->start - h->sent);

		if (!h->taken || from < 0 || to < 0 || from == to)
			continue;
		if (to == node && known[from] && -took > b->least)
			b->least = -took;
		if (from == node && known[to] && took < b->most)
			b->most = took;
		any |= (to == node && known[from]) || (from == node && known[to]);
	}
	return any;
}

static int64_t shift_of(const struct bounds *b)
{
	if (b->least <= 0 && b->most >= 0)
		return 0;
	if (b->least != INT64_MIN && b->most != INT64_MAX)
		return b->least + (b->most - b->least) / 2;
	return b->least > 0 ? b->least : b->most;
}

static void move(struct flow *f, int node, int64_t by)
{
	for (int i = 0; i < f->nhops && by != 0; i++) {
		struct flow_hop *h = &f->hops[i];

		if (node_at(f, h->from) == node)
			h->sent += (uint64_t)by;
		if (node_at(f, h->to) == node) {
			h->start += (uint64_t)by;
			h->until += (uint64_t)by;
			if (h->number == 0)
				h->sent += (uint64_t)by;
		}
	}
}

void flow_clocks(struct flow *f, int nnodes)
{
	int first = flow_hop_of(f, 0), node = first >= 0 ? node_at(f, f->hops[first].to) : -1;
	bool *known = nnodes > 1 ? calloc((size_t)nnodes, sizeof(*known)) : NULL, moved = true;
	struct bounds b;

	if (known == NULL)
		return;
	if (node >= 0)
		known[node] = true;
	while (moved) {
		moved = false;
		for (node = 0; node < nnodes; node++)
			if (!known[node] && bounds_of(f, node, known, &b)) {
				move(f, node, shift_of(&b));
				known[node] = moved = true;
			}
	}
	free(known);
}
