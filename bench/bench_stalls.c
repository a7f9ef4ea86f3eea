/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock of bench_stalls.erl: the monotonic clock, less the time in which this thread was ready to
 * run but the kernel let others use the processor. So another program, the command itself for
 * example, is not counted as a stall of the node. Nor is a time in which the host of a virtual machine
 * took a processor away, up to 100 ms at once.
 */
#include <erl_nif.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { LONG_US = 3000 }; /* after which it is asked whether that was the host */

static __thread int schedstat = -1;
static __thread long long last, left_out, stolen; /* us; ticks of all processors */

/* The eighth number of the first line: cpu user nice system idle iowait irq softirq steal */
static long long steal(void)
{
	long long n = 0;
	FILE *f = fopen("/proc/stat", "re");

	if (f == NULL || fscanf(f, "cpu %*d %*d %*d %*d %*d %*d %*d %lld", &n) != 1)
		n = 0;
	if (f != NULL)
		fclose(f);
	return n;
}

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
	long long delay = waited(), now, ticks;

	(void)argc, (void)argv;
	if (delay < 0)
		return enif_make_badarg(env);
	clock_gettime(CLOCK_MONOTONIC, &ts);
	now = ts.tv_sec * 1000000LL + ts.tv_nsec / 1000 - delay / 1000;
	if (now - last > LONG_US) {
		ticks = steal();
		left_out += ticks != stolen && last != 0 ? now - last : 0;
		stolen = ticks;
	}
	last = now;
	return enif_make_int64(env, now - left_out);
}

static ErlNifFunc funcs[] = {{"us", 0, us, 0}};

ERL_NIF_INIT(bench_stalls, funcs, NULL, NULL, NULL, NULL)
