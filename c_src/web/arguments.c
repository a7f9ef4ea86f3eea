/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.h. */
#include "arguments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int argument_number(const char *text, int min, int max)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	return errno != 0 || end == text || *end != '\0' || n < min || n > max ? -1 : (int)n;
}

int argument_bad(const char *command, const char *fmt, const char *arg)
{
	fprintf(stderr, "erltrace: %s: ", command);
	fprintf(stderr, fmt, arg);
	fprintf(stderr, "\nerltrace %s --help says more.\n", command);
	return 2;
}
