#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runq.d: schedulers, every second: how many processes and ports wait in the run queue of each, and what it
 * did since the last second, in percent of that time.
 *
 *	erltrace -N NODE -qs runq.d [for=SECONDS]
 *
 * Arguments: how many seconds to run (until ^C).
 * Dirty schedulers of one type share a run queue; they are shown while they work or something waits
 * there. BUSY is the VM's scheduler_wall_time; the rest is its microstate accounting, which is on
 * while the script runs: EMULATOR runs processes, IO polls for I/O.
 * Cost: about 1 % for the accounting.
 * Sample:
 *	SCHEDULER        QUEUE  BUSY % EMULATOR      GC    PORT      IO   OTHER   SLEEP
 *	1 normal             0      31       22       3       2       1       4      68
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs

BEGIN { seconds = $1; rounds = 0; }

state:::scheduler-1s
/rounds > 0 && args[0]->id == 1/
{
	printf("\n%-16s %5s %7s %8s %7s %7s %7s %7s %7s\n", "SCHEDULER", "QUEUE", "BUSY %", "EMULATOR",
		"GC", "PORT", "IO", "OTHER", "SLEEP");
}

state:::scheduler-1s
/rounds > 0 && (args[0]->type == "normal" || args[0]->utilization > 0 || args[0]->queue > 0)/
{
	printf("%3d %-12s %5d %7d %8d %7d %7d %7d %7d %7d\n", args[0]->id, args[0]->type,
		args[0]->queue, args[0]->utilization / 10, args[0]->emulator / 10, args[0]->gc / 10,
		args[0]->port / 10, args[0]->check_io / 10,
		(args[0]->other + args[0]->aux) / 10, args[0]->sleep / 10);
}

state:::round-1s { rounds++; }

tick-1s /--seconds == 0/ { exit(0); }
