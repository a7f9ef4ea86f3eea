#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits.d: who waits for whom now: unanswered calls of gen_servers, gen_statems and the like, as chains,
 * every second. A deadlock is a chain that is a cycle. Equal rows of several callers of one name are one line,
 * and so are those of callers without a name, which were spawned with a fun.
 *
 *	erltrace -N NODE -qs waits.d [over=MILLISECONDS] [for=SECONDS]
 *
 * Arguments: calls to show that have been seen for at least so long (0: all that there are at a look);
 * how many seconds to run (until ^C).
 * LONGEST MS is the time since the script first saw one of them in this call. The last process of a chain is
 * not in a call. IN is the current function of the first callee, MAILBOX the number of its messages. A callee on
 * another node appears by pid or {Name,Node}; only that node knows what it waits for. If the request cannot be
 * sent, because the connection to that node is busy, IN says so (dist.d has details). The script does not show
 * what ports, tables and processes of other kinds wait for; but if all dirty I/O schedulers were taken at two
 * looks in a row, by files that hang, say, it says how many processes are there. Who calls a function whose
 * module is not loaded waits for code_server.
 * A deadlock is certain: the script asked its processes twice, and none had run in between. It lasts until a
 * call times out.
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

BEGIN { seconds = $2; looks = 0; over = 0; io = 0; schedulers = 0; taken = 0; }

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

state:::node-1s
/args[0]->type == "this"/
{
	io = args[0]->dirty_io;
	schedulers = args[0]->dirty_io_schedulers;
	taken = schedulers > 0 && io >= schedulers ? taken + 1 : 0;
}

state:::round-1s
/taken > 1/
{
	printf("all dirty I/O schedulers are taken: %d processes run there or wait, %d can run\n", io, schedulers);
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
