#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mailbox.d: mailboxes that grow. Every second those that had a certain length, with the shortest
 * and the longest they were when messages came in: one that only grows is not being emptied.
 *
 *	erltrace -N NODE -qs mailbox.d [LENGTH] [SECONDS]
 *
 * Arguments: from which length on (100); for how many seconds (until ^C).
 * Cost: flag 'receive'; some 0.3 us for a message that comes in.
 * Names are registered names (flag procs), where a process has one.
 * Sample:
 *	PROCESS              MESSAGES  SHORTEST   LONGEST
 *	<0.1307.0>                901       100      1000
 */
#pragma D option quiet
#pragma D option defaultargs

inline string who = erlname != "" ? erlname : erlpid;
inline int limit = $1 ? $1 : 100;

BEGIN { seconds = $2; printf("%-18s %10s %9s %9s\n", "PROCESS", "MESSAGES", "SHORTEST", "LONGEST"); }

erlang*:::message-queued
/arg2 >= limit/
{
	@n[who] = count();
	@shortest[who] = min(arg2);
	@longest[who] = max(arg2);
}

tick-1s, END
{
	printa("%-18s %@10d %@9d %@9d\n", @n, @shortest, @longest);
	trunc(@n); trunc(@shortest); trunc(@longest);
}

tick-1s /--seconds == 0/ { exit(0); }
