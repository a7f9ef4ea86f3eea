#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fan.d: fan-in and fan-out: from how many different processes a process gets messages, and to how
 * many it sends. A process with many senders may be a bottleneck.
 *
 *	erltrace -N NODE -qs fan.d [for=SECONDS] [rows=N]
 *
 * Arguments: how many seconds to run (until ^C); how many of each to show (10).
 * Cost: flag send; about 0.5 us for a message. Keeps a word for each pair of processes: with more
 * than ten thousand pairs or so raise dynvarsize to avoid drops.
 * Processes appear by their best name: registered name, label, or first function (flag procs).
 * Sample (AS: how it was sent to, by its name or pid):
 *	RECEIVER                     AS                      SENDERS
 *	demo_store                   demo_store                   41
 *
 *	SENDER                       PID                   RECEIVERS
 *	demo_store                   <0.92.0>                     41
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs
#pragma D option dynvarsize=16m

inline int most = $2 ? $2 : 10;
int seen[string, string];

BEGIN { seconds = $1; }

erlang*:::message-send
/!seen[copyinstr(arg0), erlpeer]/
{
	seen[copyinstr(arg0), erlpeer] = 1;
	@in[erlpeerproc, erlpeer] = count();
	@out[erlproc, erlpid] = count();
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	trunc(@in, most);
	printf("%-28s %-20s %10s\n", "RECEIVER", "AS", "SENDERS");
	printa("%-28s %-20s %@10d\n", @in);
	trunc(@out, most);
	printf("\n%-28s %-20s %10s\n", "SENDER", "PID", "RECEIVERS");
	printa("%-28s %-20s %@10d\n", @out);
	trunc(@in); trunc(@out);
}
