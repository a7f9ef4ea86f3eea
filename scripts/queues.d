#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queues.d: mailboxes: how long they are when a message is taken in, of all and of the longest; and
 * the sizes of what comes in. Lengths are what is sure: so many messages did wait (see mailbox.d).
 *
 *	erltrace -N NODE -qs queues.d [SECONDS] [HOW MANY]
 *
 * Arguments: for how many seconds (until ^C); the longest so many (20).
 * Cost: flag 'receive'; some 0.5 us for a message that comes in.
 * Names are registered names (flag procs), where a process has one.
 * Sample (the new message counts; sizes in words):
 *	  queue length
 *	           value  ------------- Distribution ------------- count
 *	               0 |                                         0
 *	               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 381
 *	               2 |                                         0
 *
 *	PROCESS                MESSAGES
 *	demo_store                  118
 *
 *	PROCESS                 LONGEST
 *	demo_store                    2
 */
#pragma D option quiet
#pragma D option defaultargs

inline string who = erlname != "" ? erlname : erlpid;
inline int most = $2 ? $2 : 20;

BEGIN { seconds = $1; }

erlang*:::message-queued
{
	@len["queue length"] = quantize(arg2);
	@size["words"] = quantize(arg1);
	@n[who] = count();
	@longest[who] = max(arg2);
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	printa(@len);
	printa(@size);
	trunc(@n, most);
	printf("\n%-20s %10s\n", "PROCESS", "MESSAGES");
	printa("%-20s %@10d\n", @n);
	trunc(@longest, most);
	printf("\n%-20s %10s\n", "PROCESS", "LONGEST");
	printa("%-20s %@10d\n", @longest);
	trunc(@len); trunc(@size); trunc(@n); trunc(@longest);
}
