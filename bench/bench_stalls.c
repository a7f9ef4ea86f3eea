/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock of bench_stalls.erl: the monotonic clock, less the time in which this thread was ready to
 * run but the kernel let others use the processor. So another program, the command itself for
 * example, is not counted as a stall of the node.
 */
#include <erl_nif.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static __thread int schedstat = -1;

/* ns: the second number of the file. */
static long long waited(void)
{
	char text[128], *end;
	ssize_t n;

	if (schedstat < 0)
		schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	n = pread(schedstat, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	strtoll(text, &end, 10);
	return strtoll(end, NULL, 10);
}

static ERL_NIF_TERM us(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct timespec ts;
	long long delay = waited();

	(void)argc, (void)argv;
	if (delay < 0)
		return enif_make_badarg(env);
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return enif_make_int64(env, ts.tv_sec * 1000000LL + ts.tv_nsec / 1000 - delay / 1000);
}

static ErlNifFunc funcs[] = {{"us", 0, us, 0}};

ERL_NIF_INIT(bench_stalls, funcs, NULL, NULL, NULL, NULL)
