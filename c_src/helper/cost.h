/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a script in the kernel costs, and the watchdog: as of a script inside a node
 * (c_src/beam/handle/watchdog.c), but of the machine's processors instead of the node's schedulers.
 * It takes what its firings take there, which is measured (kernel/bpf/timed.h), and the time of
 * this process.
 */
#ifndef HELPER_COST_H
#define HELPER_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COST_WINDOWS = 10 }; /* of a watchtime */
struct cost_window {
	uint64_t at, cost, busy; /* ns: when; by then: what the script took, what processors did */
};
struct cost {
	struct cost_window window[COST_WINDOWS + 1]; /* the last ones, in a ring */
	unsigned n;				     /* of them, so far */
	unsigned permille, mean; /* of what processors did: in the last window, in a watchtime */
	uint64_t read, drops;	 /* ns: somebody asked for results; drops by then */
	uint64_t next;		 /* ns: when to look again */
	unsigned ms;		 /* until then */
	uint64_t fired;		 /* as it was told last */
};

struct erltrace;
void cost_go(struct cost *c, struct erltrace *h);
void cost_read(struct cost *c, struct erltrace *h); /* somebody asks for results */
uint64_t cost_spent(struct erltrace *h);	    /* ns, so far */
/*
 * When it is time to look: COST_NEWS, where something has fired since the last time; COST_ABORT,
 * and why, where the script must end.
 */
enum cost_look { COST_NOT_YET, COST_NOTHING, COST_NEWS, COST_ABORT };
enum cost_look cost_look(struct cost *c, struct erltrace *h, char *why, size_t size);
unsigned cost_due(const struct cost *c); /* ms until it is */

#endif
