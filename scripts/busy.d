#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy.d: the busiest processes every second, and how long they ran.
 *
 *	erltrace -N NODE -qs busy.d [for=SECONDS] [rows=N]
 *
 * Arguments: how many seconds to run (until ^C); how many of the busiest to show (10).
 * Cost: flag running_procs; about 0.7 us each time a process runs.
 * Processes appear by their best name: registered name, label, or first function (flag procs).
 * Sample (a process that ran the whole second has 1000000):
 *	PROCESS                      PID                RUN US
 *	demo_journal:init/1          <0.93.0>              851
 *	demo_store                   <0.92.0>             1748
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs

inline int most = $2 ? $2 : 10;
self uint64_t in;

BEGIN { seconds = $1; }

erlang*:::process-scheduled { self->in = timestamp; }

erlang*:::process-unscheduled
/self->in/
{
	@us[erlproc, erlpid] = sum(timestamp - self->in);
	self->in = 0;
}

tick-1s
{
	trunc(@us, most);
	normalize(@us, 1000);
	printf("%-28s %-14s %10s\n", "PROCESS", "PID", "RUN US");
	printa("%-28s %-14s %@10d\n", @us);
	printf("\n");
	trunc(@us);
}

tick-1s /--seconds == 0/ { exit(0); }
END { trunc(@us); }
