#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fan.d: fan-in and fan-out: from how many different processes a process gets messages, and to how
 * many it sends. A process that many send to is where they queue.
 *
 *	erltrace -N NODE -qs fan.d [SECONDS] [HOW MANY]
 *
 * Arguments: for how many seconds (until ^C); so many of each (10).
 * Cost: flag send; some 0.5 us for a message. Keeps a word for each pair of processes: with more
 * than some ten thousand pairs raise dynvarsize, else there are drops.
 * Sample:
 *	RECEIVER              SENDERS   MESSAGES
 *	<0.89.0>                   41        121
 *
 *	SENDER              RECEIVERS   MESSAGES
 *	<0.89.0>                   41        121
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option dynvarsize=16m

inline int most = $2 ? $2 : 10;
int seen[string, string];

BEGIN { seconds = $1; }

erlang*:::message-send
{
	this->new = !seen[copyinstr(arg0), copyinstr(arg1)];
	@in[copyinstr(arg1)] = sum(this->new);
	@out[copyinstr(arg0)] = sum(this->new);
	@got[copyinstr(arg1)] = count();
	@sent[copyinstr(arg0)] = count();
	if (this->new) {
		seen[copyinstr(arg0), copyinstr(arg1)] = 1;
	}
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	trunc(@in, most);
	printf("%-20s %8s %10s\n", "RECEIVER", "SENDERS", "MESSAGES");
	printa("%-20s %@8d %@10d\n", @in, @got);
	trunc(@out, most);
	printf("\n%-18s %10s %10s\n", "SENDER", "RECEIVERS", "MESSAGES");
	printa("%-18s %@10d %@10d\n", @out, @sent);
	trunc(@in); trunc(@out); trunc(@got); trunc(@sent);
}
