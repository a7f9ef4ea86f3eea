#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gc.d: garbage collection pauses: how long, how many, how much they reclaim, in which processes.
 *
 *	erltrace -N NODE -qs gc.d [for=SECONDS] [rows=N]
 *
 * Arguments: how many seconds to run (until ^C); how many processes to show (10).
 * Cost: flag garbage_collection; about 0.7 us for each collection.
 * Processes appear by their best name: registered name, label, or first function (flag procs).
 * Sample:
 *	pauses in nanoseconds
 *
 *	  minor
 *	           value  ------------- Distribution ------------- count
 *	            1024 |                                         0
 *	            2048 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 26
 *	            4096 |                                         0
 *
 *	KIND        TIMES     WORDS BACK
 *	minor          26          12130
 *
 *	PROCESS                           TIMES
 *	demo_store                           26
 *
 *	PROCESS                      LONGEST US
 *	demo_store                            4
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs

inline int most = $2 ? $2 : 10;
self uint64_t at;

BEGIN { seconds = $1; }

erlang*:::gc_minor-start, erlang*:::gc_major-start { self->at = timestamp; }

erlang*:::gc_minor-end, erlang*:::gc_major-end
/self->at/
{
	this->kind = probename == "gc_minor-end" ? "minor" : "major";
	this->ns = timestamp - self->at;
	@ns[this->kind] = quantize(this->ns);
	@count[this->kind] = count();
	@words[this->kind] = sum(arg1);
	@times[erlproc] = count();
	@longest[erlproc] = max(this->ns);
	self->at = 0;
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	printf("pauses in nanoseconds\n");
	printa(@ns);
	printf("\n%-6s %10s %14s\n", "KIND", "TIMES", "WORDS BACK");
	printa("%-6s %@10d %@14d\n", @count, @words);
	trunc(@times, most);
	printf("\n%-28s %10s\n", "PROCESS", "TIMES");
	printa("%-28s %@10d\n", @times);
	trunc(@longest, most);
	normalize(@longest, 1000);
	printf("\n%-28s %10s\n", "PROCESS", "LONGEST US");
	printa("%-28s %@10d\n", @longest);
	trunc(@ns); trunc(@count); trunc(@words); trunc(@times); trunc(@longest);
}
