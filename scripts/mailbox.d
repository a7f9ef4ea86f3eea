#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mailbox.d: long mailboxes. Every second, the processes whose mailbox has at least LENGTH messages:
 * their number, how many more than a second ago, and the current function of the process.
 *
 *	erltrace -N NODE -qs mailbox.d [length=N] [for=SECONDS]
 *
 * Arguments: the least LENGTH to show (100); how many seconds to run (until ^C).
 * The script asks each process (process_info), so lengths are exact, even for a process that does not reach a
 * receive.
 * Cost: about 0.3 us a second for each process of the node, and 2 % of the schedulers' time at most
 * (option statebudget). The first two rounds are complete, whatever that takes; later ones may lack
 * some processes, and say so.
 * Sample:
 *	PROCESS                      PID                  MORE   MESSAGES FUNCTION
 *	demo_store                   <0.92.0>               12       3500 gen:do_call/4
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs
#pragma D option aggsortrev

inline int limit = $1 ? $1 : 100;

BEGIN
{
	seconds = $2;
	looks = 0;
	over = 0;
	shown = 0;
	printf("%-28s %-14s %10s %10s %s\n", "PROCESS", "PID", "MORE", "MESSAGES", "FUNCTION");
}

state:::process-1s
/args[0]->mailbox >= limit/
{
	@n[args[0]->name, args[0]->pid, args[0]->mailbox_growth, args[0]->function] =
		max(args[0]->mailbox);
	shown = 1;
}

state:::round-1s /!arg2/ { printf("%d of %d processes, the others in the next look:\n", arg4, arg5); }

state:::round-1s /arg6/ { printf("%d processes did not answer in time\n", arg6); }

state:::round-1s
{
	looks++;
	printa("%-28s %-14s %10d %@10d %s\n", @n);
	trunc(@n);
}

state:::round-1s
/shown/
{
	printf("\n"); /* the next second */
	shown = 0;
}

tick-1s /--seconds == 0/ { over = 1; }
tick-1s /over && looks > 0/ { exit(0); }
state:::round-1s /over/ { exit(0); } /* there is a look, however few */

END { trunc(@n); } /* of a round that is not over */
