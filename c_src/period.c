/* SPDX-License-Identifier: Apache-2.0 */
/* Units of time. The rates of names such as tick-10ms: without a unit it is a frequency. */
#include "period.h"

#include <stddef.h>
#include <string.h>

#define SEC 1000000000ULL

const struct et_unit et_units[] = {{"d", 86400 * SEC}, {"day", 86400 * SEC}, {"h", 3600 * SEC},
	{"hour", 3600 * SEC}, {"m", 60 * SEC}, {"min", 60 * SEC}, {"s", SEC}, {"sec", SEC},
	{"ms", 1000000}, {"msec", 1000000}, {"us", 1000}, {"usec", 1000}, {"ns", 1}, {"nsec", 1},
	{NULL, 0}};

uint64_t et_unit_ns(const char *name)
{
	const struct et_unit *u = et_units;

	while (u->name != NULL && strcmp(u->name, name) != 0)
		u++;
	return u->ns;
}

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
	if (n == 0)
		return 0;
	if (*p == '\0' || strcmp(p, "hz") == 0)
		return n > SEC ? 1 : SEC / n;
	if (__builtin_mul_overflow(n, et_unit_ns(p), &n) || n > INT64_MAX / 2)
		return 0;
	return n;
}
