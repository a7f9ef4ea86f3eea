#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy.d: the busiest processes every second, and how long they ran.
 *
 *	erltrace -N NODE -qs busy.d [SECONDS] [HOW MANY]
 *
 * Arguments: how many seconds to run (until ^C); how many of the busiest to show (10).
 * Cost: flag running_procs; about 0.7 us each time a process runs.
 * Processes are shown by their registered names (flag procs) if they have one.
 * Sample (a process that ran the whole second has 1000000):
 *	PROCESS                  RUN US
 *	demo_journal                851
 *	demo_store                 1748
 */
#pragma D option quiet
#pragma D option defaultargs

inline string who = erlname != "" ? erlname : erlpid;
inline int most = $2 ? $2 : 10;
self uint64_t in;

BEGIN { seconds = $1; }

erlang*:::process-scheduled { self->in = timestamp; }

erlang*:::process-unscheduled
/self->in/
{
	@us[who] = sum(timestamp - self->in);
	self->in = 0;
}

tick-1s
{
	trunc(@us, most);
	normalize(@us, 1000);
	printf("%-20s %10s\n", "PROCESS", "RUN US");
	printa("%-20s %@10d\n", @us);
	printf("\n");
	trunc(@us);
}

tick-1s /--seconds == 0/ { exit(0); }
END { trunc(@us); }
