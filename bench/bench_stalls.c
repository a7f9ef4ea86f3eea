/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock of bench_stalls.erl. Between two readings it goes on by the time that the node itself took:
 * if its thread has waited for something, by all of it but the time in which the thread was ready to
 * run and the kernel let others use the processor; otherwise by its processor time alone. So neither
 * another program, the command itself for example, nor interrupts, nor the host of a virtual machine
 * that takes the processor away count as a stall of the node.
 */
#define _GNU_SOURCE
#include <erl_nif.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

struct reading {
	long long real, used, ready; /* ns: the time, processor time, time ready but not running */
	long waits;		     /* how often it gave the processor away by itself */
};

static __thread int schedstat = -1;
static __thread bool began;
static __thread struct reading last;
static __thread long long clock_ns;

static long long ns_of(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* The second number of the file; -1: the kernel does not say. */
static long long ready_ns(void)
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
	struct rusage usage;
	struct reading now;

	(void)argc, (void)argv;
	getrusage(RUSAGE_THREAD, &usage);
	now = (struct reading){.real = ns_of(CLOCK_MONOTONIC),
		.used = ns_of(CLOCK_THREAD_CPUTIME_ID),
		.ready = ready_ns(),
		.waits = usage.ru_nvcsw};
	if (now.ready < 0)
		return enif_make_badarg(env);
	if (began && now.waits == last.waits)
		clock_ns += now.used - last.used;
	else if (began)
		clock_ns += now.real - last.real - (now.ready - last.ready);
	last = now;
	began = true;
	return enif_make_int64(env, clock_ns / 1000);
}

static ErlNifFunc funcs[] = {{"us", 0, us, 0}};

ERL_NIF_INIT(bench_stalls, funcs, NULL, NULL, NULL, NULL)
