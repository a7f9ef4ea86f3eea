#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy.d: the busiest processes, every second: how often they ran and for how long.
 *
 *	erltrace -N NODE -qs busy.d [SECONDS] [HOW MANY]
 *
 * Arguments: for how many seconds (until ^C); the busiest so many (10).
 * Cost: flag running_procs; some 0.7 us each time a process runs.
 * Sample (a process that ran all the time has 1000000):
 *	PROCESS                   TIMES    RUN US
 *	<0.90.0>                    161       851
 *	<0.89.0>                    196      1748
 */
#pragma D option quiet
#pragma D option defaultargs

inline int most = $2 ? $2 : 10;
self uint64_t in;

BEGIN { seconds = $1; }

erlang*:::process-scheduled { self->in = timestamp; }

erlang*:::process-unscheduled
/self->in/
{
	@times[copyinstr(arg0)] = count();
	@us[copyinstr(arg0)] = sum(timestamp - self->in);
	self->in = 0;
}

tick-1s
{
	trunc(@us, most);
	normalize(@us, 1000);
	printf("%-20s %10s %9s\n", "PROCESS", "TIMES", "RUN US");
	setopt("aggsortpos", "1");
	printa("%-20s %@10d %@9d\n", @times, @us);
	printf("\n");
	trunc(@times); trunc(@us);
}

tick-1s /--seconds == 0/ { exit(0); }
END { trunc(@times); trunc(@us); }
