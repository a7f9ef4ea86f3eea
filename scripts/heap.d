#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.d: processes whose heap grows: the largest it got, and by how many words it grew and
 * shrank in all.
 *
 *	erltrace -N NODE -qs heap.d [SECONDS] [HOW MANY]
 *
 * Arguments: for how many seconds (until ^C); the largest so many (20).
 * Cost: flag garbage_collection; some 0.7 us for each collection.
 * Sample:
 *	PROCESS               LARGEST WORDS
 *	<0.91.0>                      10958
 *	<0.89.0>                      46422
 *
 *	PROCESS               GREW BY WORDS
 *	<0.91.0>                      36760
 *
 *	PROCESS                   SHRANK BY
 *	<0.91.0>                      21916
 */
#pragma D option quiet
#pragma D option defaultargs

inline int most = $2 ? $2 : 20;

BEGIN { seconds = $1; }

erlang*:::process-heap_grow
{
	@by[copyinstr(arg0)] = sum(arg2 - arg1);
	@largest[copyinstr(arg0)] = max(arg2);
}

erlang*:::process-heap_shrink
{
	@back[copyinstr(arg0)] = sum(arg1 - arg2);
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
