/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded before everything else: the machine has as many CPUs as MORE_CPUS says. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

long sysconf(int name)
{
	long (*real)(int) = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
	const char *more = getenv("MORE_CPUS");

	return name == _SC_NPROCESSORS_CONF && more != NULL ? atol(more) : real(name);
}
