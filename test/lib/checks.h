/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests in C share: checks with a count, also of many threads. main() ends with
 * return finish(): the last line is "N passed, N failed".
 */
#ifndef TEST_CHECK_H
#define TEST_CHECK_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static unsigned passed, failed;

static inline bool count(bool good)
{
	__atomic_fetch_add(good ? &passed : &failed, 1, __ATOMIC_RELAXED);
	return good;
}

/* A condition; behind it a format and values, shown where it does not hold. */
#define CHECK(cond, ...) check(cond, __FILE__, __LINE__, #cond, " " __VA_ARGS__)

static inline __attribute__((format(printf, 5, 6))) bool check(
	bool good, const char *file, int line, const char *what, const char *fmt, ...)
{
	va_list ap;

	if (count(good))
		return true;
	fprintf(stderr, "FAILED %s:%d: %s", file, line, what);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return false;
}

/* A case that has a name, as those of tables; got: what was there instead. */
static inline bool ok(bool good, const char *what, const char *got)
{
	if (!count(good))
		fprintf(stderr, "FAILED %s\n     got: %s\n", what, got != NULL ? got : "");
	return good;
}

static inline int finish(void)
{
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}

#endif
