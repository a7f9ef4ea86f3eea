#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.d: processes whose heap grows: how often, by how many words, and the largest it got; and
 * those that shrink.
 *
 *	erltrace -N NODE -qs heap.d [SECONDS] [HOW MANY]
 *
 * Arguments: for how many seconds (until ^C); the largest so many (20).
 * Cost: flag garbage_collection; some 0.7 us for each collection.
 * Sample:
 *	PROCESS                   GROWS     BY WORDS   LARGEST
 *	<0.91.0>                      8        36760     10958
 *	<0.89.0>                     12       154300     46422
 *
 *	PROCESS                 SHRINKS     BY WORDS
 *	<0.91.0>                      2        21916
 */
#pragma D option quiet
#pragma D option defaultargs

inline int most = $2 ? $2 : 20;

BEGIN { seconds = $1; }

erlang*:::process-heap_grow
{
	@grows[copyinstr(arg0)] = count();
	@by[copyinstr(arg0)] = sum(arg2 - arg1);
	@largest[copyinstr(arg0)] = max(arg2);
}

erlang*:::process-heap_shrink
{
	@shrinks[copyinstr(arg0)] = count();
	@back[copyinstr(arg0)] = sum(arg1 - arg2);
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	trunc(@largest, most);
	printf("%-20s %10s %12s %9s\n", "PROCESS", "GROWS", "BY WORDS", "LARGEST");
	setopt("aggsortpos", "2");
	printa("%-20s %@10d %@12d %@9d\n", @grows, @by, @largest);
	trunc(@back, most);
	printf("\n%-20s %10s %12s\n", "PROCESS", "SHRINKS", "BY WORDS");
	setopt("aggsortpos", "1");
	printa("%-20s %@10d %@12d\n", @shrinks, @back);
	trunc(@grows); trunc(@by); trunc(@largest); trunc(@shrinks); trunc(@back);
}
