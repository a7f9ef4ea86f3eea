/* SPDX-License-Identifier: Apache-2.0 */
/* What events of the provider erlang have besides their arguments: the lines HAS of its table. */
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "builtins.h"
#include "erlang_has.h"

#define BIT(ID) (1u << PBI_##ID)
#define PBIS_MESSAGE BIT(ERLMSG)
#define PBIS_PEER    (BIT(ERLPEER) | BIT(ERLPEERPROC))
#define PBIS_CALL    (BIT(ERLARGS) | BIT(ERLARG) | BIT(ERLINT) | PBIS_PEER)
#define PBIS_RESULT  BIT(ERLRET)
#define PBIS_REASON  BIT(ERLREASON)
#define PBIS_CLASS   BIT(ERLCLASS)
#define PBIS_FOLLOW  BIT(FOLLOW)
#define PBIS_STATE   (BIT(STATE_NUMBER) | BIT(STATE_TEXT)) /* of the provider state alone */

enum id {
#define PROBE(ID, ...) P_##ID,
#include "erlang_probes.def"
	P_COUNT_
};

static const char *const names[] = {
#define PROBE(ID, name, ...) name,
#include "erlang_probes.def"
};

static const uint32_t shown[] = {
#define PROBE(ID, name, route, ...) PROBE_CONTENTS(__VA_ARGS__),
#include "erlang_probes.def"
};

static const struct {
	enum id id;
	uint32_t pbis;
} has[] = {
#define PROBE(...)
#define HAS(ID, what) {P_##ID, PBIS_##what},
#include "erlang_probes.def"
};
enum { NHAS = sizeof(has) / sizeof(*has) };

uint32_t prog_pbis_of_events(void)
{
	uint32_t pbis = PBIS_STATE;

	for (unsigned i = 0; i < NHAS; i++)
		pbis |= has[i].pbis;
	return pbis;
}

const char *prog_erlang_probe(unsigned i, uint32_t *pbis)
{
	if (i >= P_COUNT_)
		return NULL;
	*pbis = ~prog_pbis_of_events();
	for (unsigned k = 0; k < NHAS; k++)
		if (has[k].id == i)
			*pbis |= has[k].pbis;
	return names[i];
}

uint32_t prog_erlang_pbis(const char *name)
{
	const char *other;
	uint32_t pbis;

	for (unsigned i = 0; (other = prog_erlang_probe(i, &pbis)) != NULL; i++)
		if (strcmp(other, name) == 0)
			return pbis;
	return ~prog_pbis_of_events();
}

/* May it be one of user_trace-n0, user_trace-n1 ...? They are not in the table. */
static bool is_user(const char *glob)
{
	char name[32];

	if (strpbrk(glob, "*?[\\") == NULL)
		return strncmp(glob, "user_trace-n", 12) == 0;
	for (unsigned i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "user_trace-n%u", i);
		if (fnmatch(glob, name, 0) == 0)
			return true;
	}
	return false;
}

uint32_t prog_erlang_shown(const char *glob)
{
	uint32_t args = is_user(glob) ? shown[P_USER_TRACE_I4S4] : 0;

	for (unsigned i = 0; i < P_COUNT_; i++)
		if (glob[0] == '\0' || fnmatch(glob, names[i], 0) == 0)
			args |= shown[i];
	return args;
}

void prog_erlang_having(unsigned pbi, char *buf, size_t size)
{
	const char *name;
	uint32_t pbis;
	size_t len = 0;

	buf[0] = '\0';
	for (unsigned i = 0; (name = prog_erlang_probe(i, &pbis)) != NULL; i++)
		if ((pbis >> pbi & 1) && len < size)
			len += (size_t)snprintf(
				buf + len, size - len, "%s%s", len > 0 ? ", " : "", name);
}
