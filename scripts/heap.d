#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.d: processes whose heap grows: its largest size, and by how many words it grew and shrank in
 * total.
 *
 *	erltrace -N NODE -qs heap.d [SECONDS] [HOW MANY]
 *
 * Arguments: how many seconds to run (until ^C); how many of the largest to show (20).
 * Cost: flag garbage_collection; about 0.7 us for each collection.
 * Processes are shown by their registered names (flag procs) if they have one.
 * Sample:
 *	PROCESS               LARGEST WORDS
 *	demo_report                   10958
 *	demo_store                    46422
 *
 *	PROCESS               GREW BY WORDS
 *	demo_report                   36760
 *
 *	PROCESS                   SHRANK BY
 *	demo_report                   21916
 */
#pragma D option quiet
#pragma D option defaultargs

inline string who = erlname != "" ? erlname : erlpid;
inline int most = $2 ? $2 : 20;

BEGIN { seconds = $1; }

erlang*:::process-heap_grow
{
	@by[who] = sum(arg2 - arg1);
	@largest[who] = max(arg2);
}

erlang*:::process-heap_shrink
{
	@back[who] = sum(arg1 - arg2);
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	trunc(@largest, most);
	printf("%-20s %14s\n", "PROCESS", "LARGEST WORDS");
	printa("%-20s %@14d\n", @largest);
	trunc(@by, most);
	printf("\n%-20s %14s\n", "PROCESS", "GREW BY WORDS");
	printa("%-20s %@14d\n", @by);
	trunc(@back, most);
	printf("\n%-20s %14s\n", "PROCESS", "SHRANK BY");
	printa("%-20s %@14d\n", @back);
	trunc(@by); trunc(@largest); trunc(@back);
}
