#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sysmon.d: what the VM's system monitor reports: long garbage collections, processes and ports that run
 * without a pause, large heaps, processes that wait for a port or for the connection to another node. The script
 * begins with processes that are already suspended, and busy connections, whose events are over.
 *
 *	erltrace -N NODE -qs sysmon.d [for=SECONDS]
 *
 * Arguments: how many seconds to run (until ^C). Limits are options: -x longgc=50 (ms), longschedule=50
 * (ms), largeheap=10000000 (words).
 * Cost: one round of all processes at the beginning; then only the events shown. Before OTP 28 it needs the
 * node's system monitor: if another tool has it, the script does not start, and names the owner.
 * Processes appear by their best name: registered name, label, or first function (flag procs).
 * Sample:
 *	WHAT                     PROCESS                            MS        WORDS
 *	long gc                  demo_report                        73     12345678
 *	long schedule            demo_store                         61            0 lists:seq/2
 *
 *	WHAT                     PROCESS                         TIMES
 *	long gc                  demo_report                         1
 *	long schedule            demo_store                          1
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs

BEGIN { seconds = $1; printf("%-24s %-28s %8s %12s\n", "WHAT", "PROCESS", "MS", "WORDS"); }

state:::process
/args[0]->suspended/
{
	printf("%-24s %-28s %8d %12d %s\n", "suspended already", args[0]->name, 0, 0, args[0]->within);
	@["suspended already", args[0]->name] = count();
}

state:::node
/args[0]->busy/
{
	printf("%-24s %-28s %8d %12d %d bytes wait\n", "connection busy already", args[0]->name, 0, 0,
		args[0]->queue);
	@["connection busy already", args[0]->name] = count();
}

erlang*:::process-long_gc
{
	printf("%-24s %-28s %8d %12d\n", "long gc", erlproc, arg1, arg2);
	@["long gc", erlproc] = count();
}

erlang*:::process-long_schedule
{
	printf("%-24s %-28s %8d %12d %s\n", "long schedule", erlproc, arg1, 0, args[3]);
	@["long schedule", erlproc] = count();
}

erlang*:::port-long_schedule
{
	printf("%-24s %-28s %8d %12d %s\n", "long schedule of a port", args[0], arg1, 0, args[2]);
	@["long schedule of a port", args[0]] = count();
}

erlang*:::process-large_heap
{
	printf("%-24s %-28s %8d %12d\n", "large heap", erlproc, 0, arg1);
	@["large heap", erlproc] = count();
}

erlang*:::port-busy { @["busy port", args[0]] = count(); }
erlang*:::dist-port_busy { @["busy connection", args[2]] = count(); }

tick-1s /--seconds == 0/ { exit(0); }

END
{
	printf("\n%-24s %-28s %8s\n", "WHAT", "PROCESS", "TIMES");
	printa("%-24s %-28s %@8d\n", @);
	trunc(@);
}
