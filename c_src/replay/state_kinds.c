/* SPDX-License-Identifier: Apache-2.0 */
/* The provider state as its table has it (state.def). */
#include "state_kinds.h"

#include <stddef.h>
#include <string.h>

#include "period.h"
#include "prog/state_has.h"

static const char *const kinds[STATE_ROUND] = {
#define KIND(ID, name) name,
#define NUMBER(...)
#define TEXT(...)
#include "state.def"
};

static const char *const types[STATE_ROUND] = {
#define KIND(ID, name) "state_" name "_t *",
#define NUMBER(...)
#define TEXT(...)
#include "state.def"
};

static const struct {
	enum state_kind kind;
	bool is_text;
	const char *name;
} members[] = {
#define KIND(ID, name)
#define NUMBER(ID, member, meaning) {STATE_##ID, false, #member},
#define TEXT(ID, member, meaning)   {STATE_##ID, true, #member},
#include "state.def"
};

static bool is_of(const char *probe, const char *kind)
{
	size_t len = strlen(kind);

	return strncmp(probe, kind, len) == 0 &&
	       (probe[len] == '\0' || (probe[len] == '-' && et_period(probe + len + 1) != 0));
}

int state_kind(const char *probe)
{
	for (int i = 0; i < STATE_ROUND; i++)
		if (is_of(probe, kinds[i]))
			return i;
	if (strcmp(probe, "key") == 0)
		return STATE_KEY;
	return is_of(probe, "round") ? STATE_ROUND : -1;
}

const char *const *state_type(int kind)
{
	return kind >= 0 && kind < STATE_ROUND ? &types[kind] : NULL;
}

const char *state_member_name(int kind, unsigned index, bool *is_text)
{
	for (unsigned i = 0; i < sizeof(members) / sizeof(*members); i++)
		if ((int)members[i].kind == kind && index-- == 0) {
			*is_text = members[i].is_text;
			return members[i].name;
		}
	return NULL;
}

int state_member(const char *probe, const char *member, bool *is_text)
{
	int kind = state_kind(probe);
	const char *name;

	for (unsigned i = 0; (name = state_member_name(kind, i, is_text)) != NULL; i++)
		if (strcmp(name, member) == 0)
			return (int)i;
	return -1;
}
