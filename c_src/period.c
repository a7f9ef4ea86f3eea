/* SPDX-License-Identifier: Apache-2.0 */
/* The rates of names such as tick-10ms: a number and a unit. Without a unit it is a frequency. */
#include "period.h"

#include <string.h>

#define SEC 1000000000ULL

static const struct unit {
	const char *name;
	uint64_t ns; /* 0: a frequency */
} units[] = {{"", 0}, {"hz", 0}, {"ns", 1}, {"nsec", 1}, {"us", 1000}, {"usec", 1000},
	{"ms", 1000000}, {"msec", 1000000}, {"s", SEC}, {"sec", SEC}, {"m", 60 * SEC},
	{"min", 60 * SEC}, {"h", 3600 * SEC}, {"hour", 3600 * SEC}, {"d", 86400 * SEC},
	{"day", 86400 * SEC}};

uint64_t et_period(const char *text)
{
	const char *p = text;
	uint64_t n = 0;

	if (*p < '0' || *p > '9')
		return 0;
	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(n, 10, &n) ||
			__builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
			return 0;
	for (unsigned i = 0; i < sizeof(units) / sizeof(*units) && n != 0; i++) {
		if (strcmp(units[i].name, p) != 0)
			continue;
		if (units[i].ns == 0)
			return n > SEC ? 1 : SEC / n;
		if (__builtin_mul_overflow(n, units[i].ns, &n) || n > INT64_MAX / 2)
			return 0;
		return n;
	}
	return 0;
}
