/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider state as its table has it (state.def): the kinds of objects that its probes iterate
 * over, their members, and the provider built-ins that these probes have. Where the members are
 * fetched, and where recorded ones are read, ask here: state_kinds.c is the only reader of the
 * table in C.
 */
#ifndef PROG_STATE_KINDS_H
#define PROG_STATE_KINDS_H

#include <stdbool.h>
#include <stdint.h>

enum state_kind {
#define KIND(ID, name) STATE_##ID,
#define NUMBER(...)
#define TEXT(...)
#include "state.def"
	STATE_ROUND, /* besides: a round is over; */
	STATE_KEY,   /* a key is pressed */
	STATE_COUNT_
};

#define STATE_MEMBERS	 64 /* of a kind, at most: a bit each in prog_uses.members */
#define STATE_ROUND_ARGS 7
#define STATE_KEY_ARGS	 3

/*
 * enum state_kind of a probe: "process-5s" is of the kind process, every 5 s; without a rate the
 * period is 0. -1: it is no such name. period: where it goes, or NULL.
 */
int state_kind(const char *probe, uint64_t *period);
const char *state_kind_name(enum state_kind kind);
const char *state_kind_note(enum state_kind kind); /* for -lv */
extern const char state_kind_names[];		   /* what there is, for people */

const char *const *state_type(int kind); /* of args[0]; NULL: they are numbers */
uint32_t state_pbis(int kind);		 /* bits PBI_* */

struct state_member {
	const char *name;
	bool is_text;
};

/* By its index in its kind; NULL: no more. */
const struct state_member *state_member(int kind, unsigned index);
/* Its index; -1: the kind has no such member. */
int state_member_index(int kind, const char *name);
/* Members that erlname and erlproc of a firing are: the process's own, or its owner's. -1: none. */
int state_erlname_member(enum state_kind kind);
int state_erlproc_member(enum state_kind kind);

#endif
