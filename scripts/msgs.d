#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msgs.d: messages: how large they are, who sends how many, and how much, to which process; and those that
 * are not delivered, because the process has exited or no process has the name (unknown for other nodes).
 *
 *	erltrace -N NODE -qs msgs.d [for=SECONDS] [rows=N]
 *
 * Arguments: how many seconds to run (until ^C); how many of the busiest pairs to show (20).
 * Cost: flag send; about 0.4 us for a message, more for a large one, because its size takes a walk
 * through the term.
 * Processes appear by their best name: registered name, label, or first function (flag procs).
 * Sample (sizes in words, without binaries):
 *	  words
 *	           value  ------------- Distribution ------------- count
 *	               2 |                                         0
 *	               4 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@            241
 *	               8 |@@@@@@@@@@@                              92
 *	              16 |                                         0
 *
 *	FROM                         TO                             MESSAGES
 *	demo_store                   demo_order:run/1                     12
 *
 *	FROM                         TO                                WORDS
 *	demo_store                   demo_order:run/1                     48
 *
 *	NOT DELIVERED: FROM          TO NOBODY                      MESSAGES
 *	demo_store                   <0.212.0>                             3
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs

inline int most = $2 ? $2 : 20;

BEGIN { seconds = $1; }

erlang*:::message-send
{
	@size["words"] = quantize(arg2);
	@n[erlproc, erlpeerproc] = count();
	@words[erlproc, erlpeerproc] = sum(arg2);
}

erlang*:::message-undelivered
{
	@nobody[erlproc, erlpeer] = count();
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	printa(@size);
	trunc(@n, most);
	printf("\n%-28s %-28s %10s\n", "FROM", "TO", "MESSAGES");
	printa("%-28s %-28s %@10d\n", @n);
	trunc(@words, most);
	printf("\n%-28s %-28s %10s\n", "FROM", "TO", "WORDS");
	printa("%-28s %-28s %@10d\n", @words);
	trunc(@nobody, most);
	printf("\n%-28s %-28s %10s\n", "NOT DELIVERED: FROM", "TO NOBODY", "MESSAGES");
	printa("%-28s %-28s %@10d\n", @nobody);
	trunc(@size); trunc(@n); trunc(@words); trunc(@nobody);
}
