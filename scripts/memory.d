#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.d: what holds the memory: by kind, by allocator, the processes with the most memory, and those
 * that hold the most bytes of binaries.
 *
 *	erltrace -N NODE -qs memory.d [for=SECONDS] [rows=N]
 *
 * Arguments: how many seconds to run (until ^C); how many processes to show (10). A table every five
 * seconds, the first one at once.
 * A binary of more than 64 bytes is outside of heaps and belongs to all processes that refer to it: each has
 * all bytes that it refers to. The script does not ask processes with a heap of more than 8 MB for the list:
 * they have 'many', and each reference counts. An allocator with a low USED has many half empty carriers.
 * Cost: 4 to 6 us for each process of the node every five seconds, more for those with thousands of
 * binaries, and 2 % of the schedulers' time at most (option statebudget). The
 * first two tables are complete, whatever that takes; later ones may lack some
 * processes, and say so.
 * Sample:
 *	KIND                          COUNT      LIMIT        BYTES
 *	total                             -          -      38.0 MB
 *	atom                          14127    1048576     432.2 KB
 *
 *	ALLOCATOR                  CARRIERS      BYTES USED %      IN USE
 *	binary_alloc                      3   192.0 KB     31     60.3 KB
 *
 *	PROCESS                      PID                MEMORY
 *	demo_store                   <0.92.0>          21.0 KB
 *
 *	PROCESS                      PID              BINARIES      BYTES
 *	demo_store                   <0.92.0>               12     1.1 MB
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs
#pragma D option aggsortrev

inline int most = $2 ? $2 : 10;

BEGIN { seconds = $1; looks = 0; over = 0; }

state:::memory-5s
/!args[0]->is_allocator/
{
	@kinds[args[0]->kind, args[0]->count ? lltostr(args[0]->count) : "-",
		args[0]->limit ? lltostr(args[0]->limit) : "-"] = max(args[0]->bytes);
}

state:::memory-5s
/args[0]->is_allocator && args[0]->carriers > 0/
{
	@allocators[args[0]->kind, args[0]->carriers, args[0]->carrier_bytes,
		args[0]->utilization / 10] = max(args[0]->bytes);
}

state:::process-5s
/args[0]->memory_rank <= most/
{
	@processes[args[0]->name, args[0]->pid] = max(args[0]->memory);
}

state:::process-5s
/args[0]->binary_rank <= most/
{
	@holders[args[0]->name, args[0]->pid,
		args[0]->binaries < 0 ? "many" : lltostr(args[0]->binaries)] = max(args[0]->binary_bytes);
}

state:::round-5s
/!arg2/
{
	printf("\n%d of %d processes: the others come in the next tables\n", arg4, arg5);
}

state:::round-5s
/arg6/
{
	printf("\n%d processes did not answer in time\n", arg6);
}

state:::round-5s
{
	printf("\n%-24s %10s %10s %12s\n", "KIND", "COUNT", "LIMIT", "BYTES");
	printa("%-24s %10s %10s %@12B\n", @kinds);
	printf("\n%-24s %10s %12s %6s %12s\n", "ALLOCATOR", "CARRIERS", "BYTES", "USED %", "IN USE");
	printa("%-24s %10d %12B %6d %@12B\n", @allocators);
	printf("\n%-28s %-14s %12s\n", "PROCESS", "PID", "MEMORY");
	trunc(@processes, most);
	printa("%-28s %-14s %@12B\n", @processes);
	printf("\n%-28s %-14s %10s %12s\n", "PROCESS", "PID", "BINARIES", "BYTES");
	trunc(@holders, most);
	printa("%-28s %-14s %10s %@12B\n", @holders);
	looks++;
	trunc(@kinds); trunc(@allocators); trunc(@processes); trunc(@holders);
}

tick-1s /--seconds == 0/ { over = 1; }
tick-1s /over && looks > 0/ { exit(0); }
state:::round-5s /over/ { exit(0); } /* there is a look, however few */

END { trunc(@kinds); trunc(@allocators); trunc(@processes); trunc(@holders); } /* of a round that is not over */
