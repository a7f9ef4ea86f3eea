#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dist.d: messages to other nodes: how many, how large, and who sends them; nodes that come and go;
 * processes that wait for a busy connection.
 *
 *	erltrace -N NODE -qs dist.d [for=SECONDS] [rows=N]
 *
 * Arguments: how many seconds to run (until ^C); how many of the busiest senders to show (20).
 * Cost: flag send: about 0.2 us for each message of the node, 0.5 us for one that leaves it.
 * Sample (sizes in words):
 *	nodeup b@here
 *
 *	TO NODE                         MESSAGES      WORDS   LARGEST
 *	b@here                                25         75         3
 *
 *	FROM                 TO NODE                         MESSAGES
 *	<0.127.0>            b@here                                25
 */
#pragma D option quiet
#pragma D option defaultargs

inline int most = $2 ? $2 : 20;

BEGIN { seconds = $1; }

erlang*:::dist-monitor { printf("%s %s\n", copyinstr(arg1), copyinstr(arg2)); }

erlang*:::dist-port_busy { @busy[copyinstr(arg2), copyinstr(arg3)] = count(); }

erlang*:::message-send-remote
{
	@n[copyinstr(arg1)] = count();
	@words[copyinstr(arg1)] = sum(arg3);
	@largest[copyinstr(arg1)] = max(arg3);
	@from[copyinstr(arg0), copyinstr(arg1)] = count();
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	printf("\n%-30s %9s %10s %9s\n", "TO NODE", "MESSAGES", "WORDS", "LARGEST");
	printa("%-30s %@9d %@10d %@9d\n", @n, @words, @largest);
	trunc(@from, most);
	printf("\n%-20s %-30s %9s\n", "FROM", "TO NODE", "MESSAGES");
	printa("%-20s %-30s %@9d\n", @from);
	printf("\n%-30s %-20s %9s\n", "BUSY NODE", "WAITING", "TIMES");
	printa("%-30s %-20s %@9d\n", @busy);
	trunc(@n); trunc(@words); trunc(@largest); trunc(@from); trunc(@busy);
}
