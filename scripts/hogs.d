#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hogs.d: processes that hog a scheduler. Every second, those that used most CPU time, in percent of one
 * scheduler's: 100 is a process that ran all the time. At the end, the most frequent stacks.
 *
 *	erltrace -N NODE -qs hogs.d [for=SECONDS] [rows=N]
 *
 * Arguments: how many seconds to run (until ^C); how many processes and stacks to show (5).
 * The script samples, so it also finds a process that never returns from a NIF. sched.d and busy.d count
 * every run instead, when it is over.
 * Cost: 97 samples for each second of CPU time. No process is traced.
 * Processes appear by their best name: registered name, label, or first function.
 * Sample:
 *	PROCESS                      PID               %
 *	demo_store                   <0.92.0>         97
 *
 *	PROCESS                      PID               %, AND WHERE
 *	demo_store                   <0.92.0>         95
 *	erlang:md5/1
 *	demo_store:handle_call/3 (demo_store.erl:41)
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs
#pragma D option aggsortrev
#pragma D option ustackframes=8

inline int most = $2 ? $2 : 5;

BEGIN { seconds = $1; rounds = 0; }

profile-97
/erlpid != NULL && erlpid != ""/
{
	@share[erlproc, erlpid] = sum(100);
	@stacks[erlproc, erlpid, ustack()] = sum(100);
}

tick-1s
{
	rounds++;
	trunc(@share, most);
	normalize(@share, 97);
	printf("%-28s %-14s %4s\n", "PROCESS", "PID", "%");
	printa("%-28s %-14s %@4d\n", @share);
	printf("\n");
	trunc(@share);
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	trunc(@share);
	trunc(@stacks, most);
	normalize(@stacks, 97 * (rounds ? rounds : 1));
	printf("%-28s %-14s %4s%s\n", "PROCESS", "PID", "%", ", AND WHERE");
	printa("%-28s %-14s %@4d%k\n", @stacks);
	trunc(@stacks);
}
