#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits.d: who waits for whom now: calls of gen_servers, gen_statems and the like that are not answered
 * yet, as chains. A deadlock is a chain that is a cycle. Every second; what is the same for several
 * callers of one name is one line, and so it is for those without a name, which were spawned with a fun.
 *
 *	erltrace -N NODE -qs waits.d [over=MILLISECONDS] [for=SECONDS]
 *
 * Arguments: calls to show that have been seen for at least so long (0: all that there are at a look);
 * how many seconds to run (until ^C).
 * LONGEST MS is since the script has first seen one of them in this call. The last of a chain is not in a
 * call: IN is where the first callee is, MAILBOX how many messages it has. A callee of another node is
 * shown by pid or {Name,Node}; what it waits for, only that node knows. If the request cannot even be sent, as the
 * connection to that node is busy, IN says so (dist.d tells more). What processes of another
 * kind, ports and tables wait for is not shown.
 * A deadlock is certain: its processes were asked twice, and none had run in between. It lasts until a
 * call has a timeout.
 * Cost: about 1 us a second for each process of the node, and 2 % of the schedulers' time at most
 * (option statebudget). A process that waits and has several monitors is traced for a moment.
 * Sample:
 *	DEADLOCK demo_ring_1 -> demo_ring_2 -> demo_ring_1
 *	 CALLERS  LONGEST MS    MAILBOX CHAIN, AND WHERE ITS FIRST CALLEE IS
 *	       1        2001          1 demo_desk:init/1 -> demo_ring_1 -> demo_ring_2 -> demo_ring_1 (gen:do_call/4)
 *	       3           0          2 demo_order:init/1 -> demo_store (demo_store:handle_call/3)
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs
#pragma D option aggsortrev
#pragma D option strsize=512

inline int limit = $1;

BEGIN { seconds = $2; looks = 0; over = 0; }

state:::wait-1s
/args[0]->deadlock == 1/
{
	@cycles[args[0]->chain] = count();
}

state:::wait-1s
/args[0]->deadlock != 1 && args[0]->age >= limit * 1000000/
{
	this->chain = substr(args[0]->chain, 0, 1) == "<" ?
		strjoin("(a fun)", strstr(args[0]->chain, " -> ")) : args[0]->chain;
	this->in = args[0]->suspended ? "cannot send: connection busy" : args[0]->callee_function;
	@callers[this->chain, this->in] = count();
	@longest[this->chain, this->in] = max(args[0]->age / 1000000);
	@mailbox[this->chain, this->in] = max(args[0]->mailbox);
}

state:::round-1s /!arg2/ { printf("%d of %d processes, the others in the next look:\n", arg4, arg5); }

state:::round-1s /arg6/ { printf("%d processes did not answer in time\n", arg6); }

state:::round-1s
{
	looks++;
	printa("DEADLOCK %s\n", @cycles);
	printf("%8s %11s %10s %s\n", "CALLERS", "LONGEST MS", "MAILBOX",
		"CHAIN, AND WHERE ITS FIRST CALLEE IS");
	printa("%@8d %@11d %@10d %s (%s)\n", @callers, @longest, @mailbox);
	printf("\n");
	trunc(@cycles); trunc(@callers); trunc(@longest); trunc(@mailbox);
}

tick-1s /--seconds == 0/ { over = 1; }
tick-1s /over && looks > 0/ { exit(0); }
state:::round-1s /over/ { exit(0); } /* there is a look, however few */

END { trunc(@cycles); trunc(@callers); trunc(@longest); trunc(@mailbox); } /* of a round that is not over */
