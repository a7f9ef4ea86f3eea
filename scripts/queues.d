#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queues.d: mailboxes: how long they are when a message is fetched, all of them and the longest
 * ones; and the sizes of the messages. Lengths are lower bounds (see mailbox.d).
 *
 *	erltrace -N NODE -qs queues.d [for=SECONDS] [rows=N]
 *
 * Arguments: how many seconds to run (until ^C); how many of the longest to show (20).
 * Cost: flag 'receive'; about 0.5 us for each message received.
 * Processes appear by their best name: registered name, label, or first function (flag procs).
 * Sample (lengths include the new message; sizes in words):
 *	  queue length
 *	           value  ------------- Distribution ------------- count
 *	               0 |                                         0
 *	               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 381
 *	               2 |                                         0
 *
 *	PROCESS                      PID              MESSAGES
 *	demo_store                   <0.92.0>              118
 *
 *	PROCESS                      PID               LONGEST
 *	demo_store                   <0.92.0>                2
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs

inline int most = $2 ? $2 : 20;

BEGIN { seconds = $1; }

erlang*:::message-queued
{
	@len["queue length"] = quantize(arg2);
	@size["words"] = quantize(arg1);
	@n[erlproc, erlpid] = count();
	@longest[erlproc, erlpid] = max(arg2);
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	printa(@len);
	printa(@size);
	trunc(@n, most);
	printf("\n%-28s %-14s %10s\n", "PROCESS", "PID", "MESSAGES");
	printa("%-28s %-14s %@10d\n", @n);
	trunc(@longest, most);
	printf("\n%-28s %-14s %10s\n", "PROCESS", "PID", "LONGEST");
	printa("%-28s %-14s %@10d\n", @longest);
	trunc(@len); trunc(@size); trunc(@n); trunc(@longest);
}
