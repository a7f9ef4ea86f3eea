#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.d: ETS tables: the largest ones, and those that grow, every five seconds.
 *
 *	erltrace -N NODE -qs tables.d [for=SECONDS] [rows=N]
 *
 * Arguments: how many seconds to run (until ^C); how many tables to show (20).
 * MORE is the number of objects added in the last five seconds; BYTES is its memory. A table without a
 * name of its own is followed by its reference.
 * Cost: about 2 us for each table every five seconds, and 2 % of the schedulers' time at most (option
 * statebudget). If that is not enough for all tables, the rest comes in the next round, and a line
 * says so.
 * Sample:
 *	TABLE                        OWNER                  OBJECTS     MORE       BYTES
 *	demo_stock                   demo_store                1000        0     91.7 KB
 *
 *	TABLE                        OWNER                  OBJECTS     MORE
 *	demo_log                     demo_log                   412       37
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs
#pragma D option aggsortrev

inline int most = $2 ? $2 : 20;

BEGIN { seconds = $1; grown = 0; looks = 0; over = 0; }

state:::table-5s
{
	@large[args[0]->name, args[0]->owner, args[0]->size, args[0]->growth,
		args[0]->id == args[0]->name ? "" : args[0]->id] = max(args[0]->memory * 8);
}

state:::table-5s
/args[0]->growth > 0 && args[0]->owner != "(erltrace)"/
{
	grown = 1;
	@grow[args[0]->name, args[0]->owner, args[0]->size,
		args[0]->id == args[0]->name ? "" : args[0]->id] = max(args[0]->growth);
}

state:::round-5s
{
	looks++;
	printf("\n%-28s %-20s %9s %8s %11s\n", "TABLE", "OWNER", "OBJECTS", "MORE", "BYTES");
	trunc(@large, most);
	printa("%-28s %-20s %9d %8d %@11B %s\n", @large);
	trunc(@large);
}

state:::round-5s
/arg0 > 1 && grown/
{
	grown = 0;
	printf("\n%-28s %-20s %9s %8s\n", "TABLE", "OWNER", "OBJECTS", "MORE");
	trunc(@grow, most);
	printa("%-28s %-20s %9d %@8d %s\n", @grow);
	trunc(@grow);
}

state:::round-5s /!arg2/ { printf("(partial: %d tables)\n", arg1); }

tick-1s /--seconds == 0/ { over = 1; }
tick-1s /over && looks > 0/ { exit(0); }
state:::round-5s /over/ { exit(0); } /* there is a look, however few */

END { trunc(@large); trunc(@grow); } /* of a round that is not over */
