/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first LOOKS times that somebody looks which signals a thread blocks, it blocks all of them,
 * as in the middle of pthread_create().
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FILE *fopen(const char *path, const char *mode)
{
	static FILE *(*real)(const char *, const char *);
	static char all[] = "SigBlk:\tfffffffe7ffbfeff\n";
	static int looks;

	if (real == NULL)
		real = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");
	if (strncmp(path, "/proc/self/task/", 16) == 0 && strstr(path, "/status") != NULL &&
		getenv("LOOKS") != NULL && looks++ < atoi(getenv("LOOKS")))
		return fmemopen(all, strlen(all), "r");
	return real(path, mode);
}
