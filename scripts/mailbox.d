#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mailbox.d: mailboxes that grow. Every second, the processes that fetched messages while at least
 * LENGTH of them waited: how many they fetched, and the greatest known length of their mailbox
 * since the script started. If LONGEST rises from second to second, more messages arrive than are
 * received.
 *
 *	erltrace -N NODE -qs mailbox.d [LENGTH] [SECONDS]
 *
 * Arguments: the least LENGTH to show (100); how many seconds to run (until ^C).
 * The VM reports messages when their receiver fetches them: a process that does not reach a receive
 * is shown when it does, with all messages that wait by then. LONGEST is a lower bound: at least
 * that many waited. There may have been more if others asked for the length (process_info,
 * observer).
 * Cost: flag 'receive'; about 0.3 us for a message that comes in.
 * Processes are shown by what they are called: registered name, label, first function (flag procs).
 * Sample:
 *	PROCESS                      PID              MESSAGES   LONGEST
 *	demo_order:run/1             <0.1307.0>            901      1000
 */
#pragma D option quiet
#pragma D option defaultargs

inline int limit = $1 ? $1 : 100;
self uint64_t longest;

BEGIN { seconds = $2; printf("%-28s %-14s %10s %9s\n", "PROCESS", "PID", "MESSAGES", "LONGEST"); }

erlang*:::message-queued
/arg2 >= limit/
{
	self->longest = arg2 > self->longest ? arg2 : self->longest;
	@n[erlproc, erlpid] = count();
	@longest[erlproc, erlpid] = max(self->longest);
}

tick-1s, END
{
	printa("%-28s %-14s %@10d %@9d\n", @n, @longest);
	trunc(@n); trunc(@longest);
}

tick-1s /--seconds == 0/ { exit(0); }
