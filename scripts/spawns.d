#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawns.d: each process that is spawned or exits, with its lifetime.
 *
 *	erltrace -N NODE -qs spawns.d [function=NAME] [for=SECONDS]
 *
 * Arguments: only processes that start in this function, as M:F/A (all: ''); how many seconds to run (until
 * ^C).
 * Cost: process events (flag procs); about 1 us for a spawn and an exit together. One line for
 * each: for nodes that spawn thousands a second births.d is better.
 * Sample:
 *	      MS PROCESS                FUNCTION OR REASON                  LIVED US
 *	      22 + <0.312.0>            proc_lib:init_p/5
 *	      23 - <0.312.0>            normal                                   711
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs

uint64_t born[string];

BEGIN
{
	seconds = $2;
	start = timestamp;
	printf("%8s %-24s %-36s %8s\n", "MS", "PROCESS", "FUNCTION OR REASON", "LIVED US");
}

erlang*:::process-spawn
/$$1 == "" || copyinstr(arg1) == $$1/
{
	born[copyinstr(arg0)] = timestamp;
	printf("%8d + %-22s %s\n", (timestamp - start) / 1000000, copyinstr(arg0),
	    copyinstr(arg1));
}

erlang*:::process-exit
/born[copyinstr(arg0)]/
{
	printf("%8d - %-22s %-36s %8d\n", (timestamp - start) / 1000000, copyinstr(arg0),
	    copyinstr(arg1), (timestamp - born[copyinstr(arg0)]) / 1000);
	born[copyinstr(arg0)] = 0;
}

tick-1s /--seconds == 0/ { exit(0); }
