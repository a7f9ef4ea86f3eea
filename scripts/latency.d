#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * latency.d: how long a process waits to run after it gets a message: the time from the first
 * message to an idle process until a scheduler runs it, in nanoseconds.
 *
 *	erltrace -N NODE -qs latency.d [for=SECONDS] [process=NAME]
 *
 * Arguments: how many seconds to run (until ^C); only messages to this process, as
 * '<0.91.0>' or the name that it is sent to (all).
 * Cost: flags send and running_procs; about 0.2 us for a message, 0.5 us each time a process runs.
 * Processes appear by their best name: registered name, label, or first function (flag procs).
 * Sample:
 *	  nanoseconds
 *	           value  ------------- Distribution ------------- count
 *	            1024 |                                         0
 *	            2048 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@     181
 *	            4096 |@@@@                                     19
 *	            8192 |                                         0
 *
 *	PROCESS                      PID               WORST US
 *	demo_store                   <0.92.0>                16
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs

uint64_t sent[string]; /* to a pid or a name */

BEGIN { seconds = $1; }

erlang*:::message-send
/($$2 == "" || copyinstr(arg1) == $$2) && !sent[copyinstr(arg1)]/
{
	sent[copyinstr(arg1)] = timestamp;
}

erlang*:::process-scheduled
/sent[erlpid] || sent[erlname]/
{
	this->ns = timestamp - (sent[erlpid] ? sent[erlpid] : sent[erlname]);
	@all["nanoseconds"] = quantize(this->ns);
	@worst[erlproc, erlpid] = max(this->ns / 1000);
}

/* What comes in while it runs does not wait for a scheduler. */
erlang*:::process-scheduled, erlang*:::process-unscheduled
/sent[erlpid] || sent[erlname]/
{
	sent[erlpid] = 0;
	sent[erlname] = 0;
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	printa(@all);
	trunc(@worst, 20);
	printf("\n%-28s %-14s %11s\n", "PROCESS", "PID", "WORST US");
	printa("%-28s %-14s %@11d\n", @worst);
	trunc(@all); trunc(@worst);
}
