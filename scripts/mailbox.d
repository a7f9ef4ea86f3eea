#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mailbox.d: mailboxes that grow. Every second the processes that took messages in while a certain
 * number of them waited: how many they took in, and the longest that their mailbox is known to have
 * been since the script began. If LONGEST goes up from second to second, more comes than is taken
 * out.
 *
 *	erltrace -N NODE -qs mailbox.d [LENGTH] [SECONDS]
 *
 * Arguments: from which length on (100); for how many seconds (until ^C).
 * The VM tells of messages when their receiver takes them in: a process that does not get to a
 * receive is shown when it does, with all that wait by then. LONGEST is what is sure: so many did
 * wait. While others ask for the process's length (process_info, observer) it may be more.
 * Cost: flag 'receive'; some 0.3 us for a message that comes in.
 * Names are registered names (flag procs), where a process has one.
 * Sample:
 *	PROCESS              MESSAGES   LONGEST
 *	<0.1307.0>                901      1000
 */
#pragma D option quiet
#pragma D option defaultargs

inline string who = erlname != "" ? erlname : erlpid;
inline int limit = $1 ? $1 : 100;
self uint64_t longest;

BEGIN { seconds = $2; printf("%-18s %10s %9s\n", "PROCESS", "MESSAGES", "LONGEST"); }

erlang*:::message-queued
/arg2 >= limit/
{
	self->longest = arg2 > self->longest ? arg2 : self->longest;
	@n[who] = count();
	@longest[who] = max(self->longest);
}

tick-1s, END
{
	printa("%-18s %@10d %@9d\n", @n, @longest);
	trunc(@n); trunc(@longest);
}

tick-1s /--seconds == 0/ { exit(0); }
