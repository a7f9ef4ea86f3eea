/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A clause that fails at every event must not drown what else there is to read, and one that fails
 * at each system call has an error for each error that is written. So each error is told a few
 * times, and all of them together a thousand times, and then a hundred a second. The others are
 * counted.
 */
#include "error_limit.h"

#include <time.h>

#include "hash.h"
#include "message.h"

enum { SAME_ERRORS = 10, ERRORS_AT_ONCE = 1000, ERRORS_A_SECOND = 100, MORE_SECONDS = 5 };

static uint64_t second(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec + 1;
}

void error_limit_more(struct error_limit *l, bool at_end)
{
	uint64_t now = second();

	if (l->told == 0)
		l->told = now;
	if (l->more == 0 || (!at_end && now < l->told + MORE_SECONDS))
		return;
	l->told = now;
	cli_say("%llu more error%s", (unsigned long long)l->more, l->more > 1 ? "s" : "");
	l->more = 0;
}

static bool is_time(struct error_limit *l)
{
	uint64_t now = second(), passed = l->second != 0 ? now - l->second : ERRORS_AT_ONCE;

	error_limit_more(l, false);
	l->second = now;
	l->left += passed * ERRORS_A_SECOND; /* the first time, as many as there may be */
	if (l->left > ERRORS_AT_ONCE)
		l->left = ERRORS_AT_ONCE;
	if (l->left == 0)
		return false;
	l->left--;
	return true;
}

/* Has it been told often enough? Those that come last of very many kinds are not known. */
static bool is_old(struct error_limit *l, const char *text, size_t len)
{
	uint64_t hash = hash_bytes(text, len);
	unsigned i = 0;

	while (i < ERROR_KINDS && l->same[i].n > 0 && l->same[i].hash != hash)
		i++;
	if (i == ERROR_KINDS)
		return false;
	l->same[i].hash = hash;
	return l->same[i].n++ >= SAME_ERRORS;
}

bool error_limit_passes(struct error_limit *l, const char *text, size_t len)
{
	bool passes = !is_old(l, text, len) && is_time(l);

	l->more += !passes;
	return passes;
}
