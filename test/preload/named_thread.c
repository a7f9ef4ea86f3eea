/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first scheduler has started a thread, as a NIF may: it has the scheduler's name, blocks all
 * signals and stays.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static void *stay(void *arg)
{
	for (;;)
		pause();
	return arg;
}

int pthread_setname_np(pthread_t thread, const char *name)
{
	int (*real)(pthread_t, const char *) =
		(int (*)(pthread_t, const char *))dlsym(RTLD_NEXT, "pthread_setname_np");
	int rc = real(thread, name);
	sigset_t all, old;
	pthread_t same;

	if (strcmp(name, "1_scheduler") != 0 && strcmp(name, "erts_sched_1") != 0)
		return rc;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (pthread_create(&same, NULL, stay, NULL) == 0)
		pthread_detach(same);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}
