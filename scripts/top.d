#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top.d: the node at a glance, every two seconds: its processes, ports, run queues and memory; and the
 * busiest processes, or those with the longest mailboxes or the most memory.
 *
 *	erltrace -N NODE -qs top.d [sort=WORD] [for=SECONDS] [rows=N]
 *
 * Arguments: what to sort by: reductions, mailbox or memory (reductions; this one may be left out); how many
 * seconds to run, to the next screen (until ^C); how many processes to show (20; on a terminal as many as
 * it has room for).
 * On a terminal, keys change the order at once: r by reductions, l by the length of mailboxes, m by
 * memory; q quits, any other key refreshes.
 * Names are cut after 32 characters: rows have 109 columns, and take two lines where a terminal has fewer.
 * "N of them for dirty I/O" are processes that are ready to run, but wait for one of the dirty I/O schedulers,
 * which are all taken: by a disk or a network file system that hangs, for example.
 * REDUCTIONS are those since the last screen; the first one comes after a second, with those of that second.
 * Cost: 2 to 5 us for each process of the node every two seconds, and 2 % of the schedulers' time at
 * most (option statebudget). The first screen is complete, whatever that takes; later ones may lack
 * some processes, and say so.
 * Sample:
 *	up 412 s   97 processes   12 ports   0 ready to run   2 schedulers 31 % busy
 *	memory 38 MB: processes 14, binaries 2, tables 3, code 9, atoms 0 MB; 14127 of 1048576 atoms
 *	PROCESS                          PID          FUNCTION                             MEMORY  MAILBOX REDUCTIONS
 *	demo_store                       <0.92.0>     gen_server:loop/7                   21.0 KB        0      98311
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs
#pragma D option aggsortrev

/* As the keys are called: 'r', 'l' or 'm'. */
int64_t sort;

BEGIN
{
	unsorted = strtoll($$1) > 0 || $$1 == "0";
	sort = $$1 == "" || unsorted || $$1 == "reductions" ? 'r' :
		$$1 == "mailbox" ? 'l' : $$1 == "memory" ? 'm' : 0;
	seconds = unsorted ? strtoll($$1) : $2;
	wanted = unsorted ? $2 : $3;
	most = wanted ? wanted : 20;
	live = 0;
	turned = 0;
	over = 0;
	passes = 0; /* that are over: the second one has something to compare with */
}

BEGIN
/sort == 0/
{
	printf("top.d: sort by reductions, mailbox or memory, not by %s\n", $$1);
	exit(1);
}

/* There is a terminal. The lines have 109 columns. */
state:::key
/arg0 == 0/
{
	live = 1;
	this->rows = (arg1 - 5) / (arg2 < 109 ? 2 : 1);
	most = wanted ? wanted : this->rows > 0 ? this->rows : 1;
}

state:::key
/arg0 == 'q'/
{
	exit(0);
}

state:::node-2s
/args[0]->type == "this"/
{
	processes = args[0]->processes;
	ports = args[0]->ports;
	uptime = args[0]->uptime / 1000;
	ready = args[0]->queue;
	io = args[0]->dirty_io - args[0]->dirty_io_schedulers; /* that wait for one */
	busy = 0;
	schedulers = 0;
	turned = 0;
}

state:::scheduler-2s
/args[0]->type == "normal"/
{
	busy += args[0]->utilization;
	schedulers++;
}

state:::memory-2s
/!args[0]->is_allocator/
{
	mb[args[0]->kind] = args[0]->bytes >> 20;
}

state:::memory-2s
/args[0]->kind == "atom"/
{
	atoms = args[0]->count;
	atom_limit = args[0]->limit;
}

state:::process-2s
/sort == 'r' && args[0]->new_reductions > 0/
{
	@top[args[0]->name, args[0]->pid, args[0]->function, args[0]->memory, args[0]->mailbox] =
		max(args[0]->new_reductions);
}

state:::process-2s
/sort == 'l' && args[0]->mailbox > 0/
{
	@mail[args[0]->name, args[0]->pid, args[0]->function, args[0]->memory,
		args[0]->new_reductions] = max(args[0]->mailbox);
}

state:::process-2s
/sort == 'm' && args[0]->memory_rank <= most/
{
	@mem[args[0]->name, args[0]->pid, args[0]->function, args[0]->mailbox,
		args[0]->new_reductions] = max(args[0]->memory);
}

state:::key
/(arg0 == 'r' || arg0 == 'l' || arg0 == 'm') && arg0 != sort/
{
	sort = arg0;
	turned = 1; /* maybe in the middle of a round */
	trunc(@top); trunc(@mail); trunc(@mem);
}

/* The screen is empty. */
state:::round-2s
/passes > 0 && live/
{
	printf("\033[H\033[Jr reductions   l mailbox length   m memory   q quit\n");
}

state:::round-2s
/passes > 0 && !live/
{
	printf("\n");
}

state:::round-2s
/passes > 0/
{
	printf("up %d s   %d processes   %d ports   %d ready to run%s   %d schedulers %d %% busy\n",
		uptime, processes, ports, ready,
		io > 0 ? strjoin(", ", strjoin(lltostr(io), " of them for dirty I/O")) : "",
		schedulers, busy / (10 * schedulers));
	printf("memory %d MB: processes %d, binaries %d, tables %d, code %d, atoms %d MB; %d of %d atoms\n",
		mb["total"], mb["processes"], mb["binary"], mb["ets"], mb["code"], mb["atom"],
		atoms, atom_limit);
}

state:::round-2s
/passes > 0 && !arg2/
{
	printf("%d of %d processes: the others come in the next screen\n", arg4, arg5);
}

state:::round-2s
/passes > 0 && arg2 && turned/
{
	printf("not all processes: a key was pressed\n");
}

state:::round-2s
/passes > 0 && arg6/
{
	printf("%d processes did not answer in time\n", arg6);
}

state:::round-2s
/passes > 0 && sort == 'r'/
{
	printf("%-32s %-12s %-32s %10s %8s %10s\n", "PROCESS", "PID", "FUNCTION", "MEMORY",
		"MAILBOX", "REDUCTIONS");
	trunc(@top, most);
	printa("%-32.32s %-12s %-32.32s %10B %8d %@10d\n", @top);
}

state:::round-2s
/passes > 0 && sort == 'l'/
{
	printf("%-32s %-12s %-32s %10s %10s %8s\n", "PROCESS", "PID", "FUNCTION", "MEMORY",
		"REDUCTIONS", "MAILBOX");
	trunc(@mail, most);
	printa("%-32.32s %-12s %-32.32s %10B %10d %@8d\n", @mail);
}

state:::round-2s
/passes > 0 && sort == 'm'/
{
	printf("%-32s %-12s %-32s %8s %10s %10s\n", "PROCESS", "PID", "FUNCTION", "MAILBOX",
		"REDUCTIONS", "MEMORY");
	trunc(@mem, most);
	printa("%-32.32s %-12s %-32.32s %8d %10d %@10B\n", @mem);
}

state:::round-2s
{
	trunc(@top); trunc(@mail); trunc(@mem);
}

state:::round-2s
/passes > 0 && over/
{
	exit(0);
}

state:::round-2s /arg3/ { passes++; }

tick-1s /--seconds == 0/ { over = 1; } /* there is a screen, however few */

END { trunc(@top); trunc(@mail); trunc(@mem); } /* of a round that is not over */
