#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.d: processes whose heap grows: its largest size, and by how many words it grew and shrank in
 * total.
 *
 *	erltrace -N NODE -qs heap.d [for=SECONDS] [rows=N]
 *
 * Arguments: how many seconds to run (until ^C); how many of the largest to show (20).
 * Cost: flag garbage_collection; about 0.7 us for each collection.
 * Processes appear by their best name: registered name, label, or first function (flag procs).
 * Sample:
 *	PROCESS                      PID             LARGEST WORDS
 *	demo_report                  <0.94.0>                10958
 *	demo_store                   <0.92.0>                46422
 *
 *	PROCESS                      PID             GREW BY WORDS
 *	demo_report                  <0.94.0>                36760
 *
 *	PROCESS                      PID                 SHRANK BY
 *	demo_report                  <0.94.0>                21916
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs

inline int most = $2 ? $2 : 20;

BEGIN { seconds = $1; }

erlang*:::process-heap_grow
{
	@by[erlproc, erlpid] = sum(arg2 - arg1);
	@largest[erlproc, erlpid] = max(arg2);
}

erlang*:::process-heap_shrink
{
	@back[erlproc, erlpid] = sum(arg1 - arg2);
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	trunc(@largest, most);
	printf("%-28s %-14s %14s\n", "PROCESS", "PID", "LARGEST WORDS");
	printa("%-28s %-14s %@14d\n", @largest);
	trunc(@by, most);
	printf("\n%-28s %-14s %14s\n", "PROCESS", "PID", "GREW BY WORDS");
	printa("%-28s %-14s %@14d\n", @by);
	trunc(@back, most);
	printf("\n%-28s %-14s %14s\n", "PROCESS", "PID", "SHRANK BY");
	printa("%-28s %-14s %@14d\n", @back);
	trunc(@by); trunc(@largest); trunc(@back);
}
