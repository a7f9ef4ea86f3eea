/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the provider state, made from state.def. */
#include "state_kinds.h"

#include <stddef.h>
#include <string.h>

#include "builtins.h"
#include "erlang_has.h"
#include "period.h"

#define ROUND_NOTE                                                                                 \
	"a round is over: its number, how many things it has seen, 1 if these are all or 0, "      \
	"1 if with these all have been seen or 0; how many processes were asked, of how many, "    \
	"and how many of them did not answer"
#define KEY_NOTE                                                                                   \
	"a key is pressed where the script has a terminal: its byte, and the terminal's rows and " \
	"columns; a byte of 0: there is a terminal, or it has another size"

static const struct {
	const char *name;
	const char *type; /* of args[0]; NULL: the arguments are numbers */
} kinds[STATE_COUNT_] = {
#define KIND(ID, name) {name, "state_" name "_t *"},
#define NUMBER(...)
#define TEXT(...)
#include "state.def"
	{"round", NULL}, {"key", NULL}};

static const char *const notes[STATE_COUNT_] = {
	[STATE_ROUND] = ROUND_NOTE,
	[STATE_KEY] = KEY_NOTE
#define KIND(ID, name) , [STATE_##ID] = "members of args[0]:"
#define NUMBER(ID, member, meaning) " " #member
#define TEXT(ID, member, meaning) " " #member
#include "state.def"
};

const char state_kind_names[] = "it has "
#define KIND(ID, name) name ", "
#define NUMBER(...)
#define TEXT(...)
#include "state.def"
	"and round, each with a rate, as in process-5s, or without: once; and key";

static const struct {
	enum state_kind kind;
	struct state_member m;
} members[] = {
#define KIND(ID, name)
#define NUMBER(ID, member, meaning) {STATE_##ID, {#member, false}},
#define TEXT(ID, member, meaning) {STATE_##ID, {#member, true}},
#include "state.def"
};

#define MEMBERS (sizeof(members) / sizeof(*members))

/* ---- kinds ---------------------------------------------------------------------------- */

int state_kind(const char *probe, uint64_t *period)
{
	for (int i = 0; i < STATE_COUNT_; i++) {
		size_t len = strlen(kinds[i].name);
		uint64_t ns;

		if (strncmp(probe, kinds[i].name, len) != 0)
			continue;
		ns = probe[len] == '-' ? et_period(probe + len + 1) : 0;
		if (period != NULL)
			*period = ns;
		return probe[len] == '\0' || (ns != 0 && i != STATE_KEY) ? i : -1;
	}
	return -1;
}

const char *state_kind_name(enum state_kind kind)
{
	return kinds[kind].name;
}

const char *state_kind_note(enum state_kind kind)
{
	return notes[kind];
}

const char *const *state_type(int kind)
{
	return kind >= 0 && kinds[kind].type != NULL ? &kinds[kind].type : NULL;
}

uint32_t state_pbis(int kind)
{
	uint32_t not_here = 1u << PBI_ERLSCHED | 1u << PBI_ERLSTATE | 1u << PBI_USDT;
	uint32_t process = 1u << PBI_ERLPID | 1u << PBI_ERLNAME | 1u << PBI_ERLPROC;

	if (kind != STATE_PROCESS)
		not_here |= kind > STATE_SOCKET ? process : 1u << PBI_ERLNAME;
	return (~prog_pbis_of_events() & ~not_here) |
	       (kind < STATE_ROUND ? 1u << PBI_STATE_NUMBER | 1u << PBI_STATE_TEXT : 0);
}

/* ---- members --------------------------------------------------------------------------- */

const struct state_member *state_member(int kind, unsigned index)
{
	for (size_t i = 0; i < MEMBERS; i++)
		if ((int)members[i].kind == kind && index-- == 0)
			return &members[i].m;
	return NULL;
}

int state_member_index(int kind, const char *name)
{
	const struct state_member *m;

	for (unsigned i = 0; (m = state_member(kind, i)) != NULL; i++)
		if (strcmp(m->name, name) == 0)
			return (int)i;
	return -1;
}

int state_erlname_member(enum state_kind kind)
{
	return kind == STATE_PROCESS ? state_member_index(kind, "registered") : -1;
}

int state_erlproc_member(enum state_kind kind)
{
	if (kind > STATE_SOCKET)
		return -1;
	return state_member_index(kind, kind <= STATE_WAIT ? "name" : "owner");
}
