#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fan.d: fan-in and fan-out: from how many different processes a process gets messages, and to how
 * many it sends. A process with many senders may be a bottleneck.
 *
 *	erltrace -N NODE -qs fan.d [SECONDS] [HOW MANY]
 *
 * Arguments: how many seconds to run (until ^C); how many of each to show (10).
 * Cost: flag send; about 0.5 us for a message. Keeps a word for each pair of processes: with more
 * than ten thousand pairs or so raise dynvarsize to avoid drops.
 * Processes are shown by their registered names (flag procs) if they have one.
 * Sample:
 *	RECEIVER                SENDERS
 *	demo_store                   41
 *
 *	SENDER                RECEIVERS
 *	demo_store                   41
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option dynvarsize=16m

inline string who = erlname != "" ? erlname : erlpid;
inline int most = $2 ? $2 : 10;
int seen[string, string];

BEGIN { seconds = $1; }

erlang*:::message-send
/!seen[copyinstr(arg0), erlpeer]/
{
	seen[copyinstr(arg0), erlpeer] = 1;
	@in[erlpeer] = count();
	@out[who] = count();
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	trunc(@in, most);
	printf("%-20s %10s\n", "RECEIVER", "SENDERS");
	printa("%-20s %@10d\n", @in);
	trunc(@out, most);
	printf("\n%-20s %10s\n", "SENDER", "RECEIVERS");
	printa("%-20s %@10d\n", @out);
	trunc(@in); trunc(@out);
}
