/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the stock VM keeps a fact is found out, never guessed (find.c). A search narrows a set of
 * candidates, such as the words of a process, by observations of processes of ours. It ends with a
 * verdict: exactly one candidate is left, or the fact is refused, with the reason. What was
 * concluded is then tested on processes of ours, and only after that published to the probe path.
 *
 *	UNKNOWN -> SEARCHING -> CONCLUDED -> KNOWN
 *			 |	     |
 *			 +-----------+-----> REFUSED, or UNKNOWN where another try may help
 *
 * erltrace_find.erl drives all searches, one at a time for each fact; facts.h has the table of
 * what is particular to each. Where a fact is not known there is a slower way, or an error that
 *says why.
 */
#ifndef BEAM_FIND_H
#define BEAM_FIND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* ---- a search, and what came of it ------------------------------------------------------- */

enum { FIND_UNKNOWN, FIND_SEARCHING, FIND_CONCLUDED, FIND_REFUSED, FIND_KNOWN };

#define FIND_WHY 256
struct find {
	_Atomic int
		state; /* FIND_KNOWN and above: known, in ways that are the fact's own business */
	char why[FIND_WHY]; /* the first reason against it; "": none so far */
};

/* On the probe path: what the search has found may be read. */
static inline bool find_is_known(const struct find *f)
{
	return atomic_load_explicit(&f->state, memory_order_acquire) >= FIND_KNOWN;
}

void find_start(struct find *f); /* what was known until now no longer is */
/* Something is not as expected: false. The first reason is the one that is shown. */
bool find_no(struct find *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The end of a search: is it concluded? Not if there is a reason against it, or no search. */
bool find_conclude(struct find *f, bool ok);
/* The self-test has passed; false, and nothing is published, if nothing was concluded. */
bool find_publish(struct find *f);
void find_refuse(struct find *f, const char *why);
void find_try_again(
	struct find *f, const char *why); /* a busy machine, say: not refused for good */

/* ---- candidates -------------------------------------------------------------------------- */

#define FIND_WORDS 92 /* of a process, which are searched: it has at least 95 in every release */
#define FIND_MOST  (2 * FIND_WORDS)

struct find_set {
	unsigned from, to;
	bool in[FIND_MOST];
};

void find_all(struct find_set *s, unsigned from, unsigned to); /* from, but not to */
/* The next one that is left, from here on; s->to: none. */
static inline unsigned find_next(const struct find_set *s, unsigned at)
{
	while (at < s->to && !s->in[at])
		at++;
	return at;
}
/* Each candidate that is left; it may be dropped. */
#define FIND_EACH(at, s)                                                                           \
	for (unsigned at = find_next(s, (s)->from); at < (s)->to; at = find_next(s, at + 1))

static inline void find_drop(struct find_set *s, unsigned at)
{
	s->in[at] = false;
}

unsigned find_left(const struct find_set *s); /* how many */
/* The only one that is left; false, and 0: there is none, or more than one. */
bool find_only(const struct find_set *s, unsigned *at);

/* ---- what candidates are tested by ------------------------------------------------------- */

bool find_is_address(uintptr_t word); /* that the VM may have allocated */
bool find_is_bit(uintptr_t word);     /* exactly one is set */
/* Memory that may not be there. */
bool find_read(uintptr_t *to, uintptr_t from, unsigned nwords);
/*
 * Of n words, before and after: the only one of which a single bit has changed, and that bit.
 * Returns how many there are.
 */
unsigned find_flag(
	const uintptr_t *before, const uintptr_t *after, unsigned n, unsigned *at, uintptr_t *bit);

#pragma GCC visibility pop
#endif
