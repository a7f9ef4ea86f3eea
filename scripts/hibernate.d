#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hibernate.d: processes that hibernate: how often, how long they slept, and in which function
 * they wake up. Many short sleeps cost more than they save.
 *
 *	erltrace -N NODE -qs hibernate.d [for=SECONDS]
 *
 * Arguments: how many seconds to run (until ^C).
 * Cost: flags running_procs and 'receive'; about 1 us each time a process runs.
 * Processes appear by their best name: registered name, label, or first function (flag procs).
 * Sample:
 *	PROCESS                      WAKES UP IN                          TIMES
 *	demo_report                  gen_server:wake_hib/6                    4
 *
 *	  ms asleep
 *	           value  ------------- Distribution ------------- count
 *	             128 |                                         0
 *	             256 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 3
 *	             512 |                                         0
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs

self uint64_t at;

BEGIN { seconds = $1; }

erlang*:::process-scheduled
/self->at/
{
	@ms["ms asleep"] = quantize((timestamp - self->at) / 1000000);
	self->at = 0;
}

erlang*:::process-hibernate
{
	@n[erlproc, copyinstr(arg1)] = count();
	self->at = timestamp;
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	printf("%-28s %-32s %9s\n", "PROCESS", "WAKES UP IN", "TIMES");
	printa("%-28s %-32s %@9d\n", @n);
	printa(@ms);
	trunc(@n); trunc(@ms);
}
