/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run has seen, for a script that has nothing to show: how long it ran, how many events
 * there were, how far the provider state came. Firings that are no events (BEGIN, END, ticks, rows
 * of the provider state) are counted apart, by those who fire them; the probe path counts firings
 * in any case.
 */
#ifndef EN_SEEN_H
#define EN_SEEN_H

#include <stdint.h>

struct en;
struct en_current;
struct en_probe;

/* Of the provider state. A round is whole if it has been over all that there is. */
struct en_looks {
	uint64_t rounds, whole; /* that are over */
	uint64_t things;	/* in the last whole one */
	uint64_t now, there;	/* of one that is not whole: seen so far, of how many */
};

struct en_seen {
	uint64_t ns; /* it ran for so long */
	uint64_t events;
	unsigned engines; /* 1, but for streams of several nodes */
	struct en_looks looks;
};

void en_seen(const struct en *en, struct en_seen *seen);     /* so far, or in all after en_stop */
void en_looked(struct en *en, const struct en_looks *looks); /* the provider state is there now */
/* en_fire() for what is no event (probe path). */
void en_fire_apart(struct en_probe *p, const uint64_t *arg, const struct en_current *cur);
void en_apart(struct en *en, int64_t n); /* so many firings were no events */
void en_ran(struct en *en, uint64_t ns); /* events of a file have a time of their own */

#endif
