#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sockets.d: sockets: those that send and receive most, and those with the longest send queues, every
 * five seconds.
 *
 *	erltrace -N NODE -qs sockets.d [for=SECONDS] [rows=N]
 *
 * Arguments: how many seconds to run (until ^C); how many sockets to show (20).
 * IN and OUT are the bytes of the last five seconds; in the first table, of the socket's whole life.
 * QUEUE is the number of bytes that the driver has not passed to the system: the other end does not keep up.
 * Cost: about 5 us for each port every five seconds, and 2 % of the schedulers' time at most (option
 * statebudget). If that is not enough for all sockets, the rest comes in the next round, and a line
 * says so.
 * Sample:
 *	LOCAL                 REMOTE                OWNER                           QUEUE          IN         OUT       BYTES
 *	127.0.0.1:5672        127.0.0.1:41822       rabbit_reader:init/3                0 B     50.0 KB      1.0 MB      1.0 MB
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs
#pragma D option aggsortrev

inline int most = $2 ? $2 : 20;

BEGIN { seconds = $1; rounds = 1; waiting = 0; over = 0; }

state:::socket-5s
/rounds == 1/
{
	@s[args[0]->local, args[0]->remote, args[0]->owner, args[0]->queue, args[0]->received,
		args[0]->sent] = max(args[0]->received + args[0]->sent);
}

state:::socket-5s
/rounds > 1/
{
	@s[args[0]->local, args[0]->remote, args[0]->owner, args[0]->queue, args[0]->new_received,
		args[0]->new_sent] = max(args[0]->new_received + args[0]->new_sent);
}

state:::socket-5s
/args[0]->queue > 0/
{
	waiting = 1;
	@waits[args[0]->local, args[0]->remote, args[0]->owner] = max(args[0]->queue);
}

state:::round-5s
{
	printf("\n%-21s %-21s %-28s %8s %11s %11s %11s\n", "LOCAL", "REMOTE", "OWNER", "QUEUE", "IN",
		"OUT", "BYTES");
	trunc(@s, most);
	printa("%-21s %-21s %-28.28s %8B %11B %11B %@11B\n", @s);
	trunc(@s);
	rounds++;
}

state:::round-5s
/waiting/
{
	printf("\n%-21s %-21s %-28s %8s\n", "LOCAL", "REMOTE", "OWNER", "QUEUE");
	trunc(@waits, most);
	printa("%-21s %-21s %-28.28s %@8B\n", @waits);
	trunc(@waits);
	waiting = 0;
}

state:::round-5s /!arg2/ { printf("(partial: %d sockets)\n", arg1); }

tick-1s /--seconds == 0/ { over = 1; }
tick-1s /over && rounds > 1/ { exit(0); }
state:::round-5s /over/ { exit(0); } /* there is a look, however few */

END { trunc(@s); trunc(@waits); } /* of a round that is not over */
