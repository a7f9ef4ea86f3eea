#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ets.d: how ETS tables are used: which operations on each table, how long they take, and by whom. In a convoy
 * many processes wait for one table: its operations take long in total and at worst, and its callers are
 * below it.
 *
 *	erltrace -N NODE -qs ets.d [for=SECONDS] [rows=N]
 *
 * Arguments: how many seconds to run (until ^C); how many rows of each kind to show (20).
 * Cost: calls of ets' built-in functions and their returns are traced (flags call, return_to): 0.9 us
 * each, as measured; with -x calls=fast 0.45 us.
 * Processes appear by their best name: registered name, label, or first function (flag procs).
 * A table without a name appears by the one given to ets:new/2. Times are those of the clock: an operation
 * that waits for a table's lock, or for a CPU, takes longer.
 * Sample:
 *	TABLE                        OPERATION                  CALLS     TOTAL US     WORST US
 *	demo_store                   update_counter/3             121          340           31
 *	demo_store                   lookup/2                     121          205           12
 *
 *	CALLER                       TABLE                      CALLS     TOTAL US     WORST US
 *	demo_store                   demo_store                   242          545           31
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs
#pragma D option aggsortrev
#pragma D option aggsortpos=1
#pragma D option aggtop=20

BEGIN { seconds = $1; }
BEGIN /$2 > 0/ { setopt("aggtop", $$2); }

erlang*:::ets-return
{
	this->us = arg2 / 1000;
	@n[args[1], probefunc] = count();
	@us[args[1], probefunc] = sum(arg2);
	@worst[args[1], probefunc] = max(this->us);
	@pn[erlproc, args[1]] = count();
	@pus[erlproc, args[1]] = sum(arg2);
	@pworst[erlproc, args[1]] = max(this->us);
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	normalize(@us, 1000);
	normalize(@pus, 1000);
	printf("%-28s %-22s %9s %12s %12s\n", "TABLE", "OPERATION", "CALLS", "TOTAL US", "WORST US");
	printa("%-28s %-22s %@9d %@12d %@12d\n", @n, @us, @worst);
	printf("\n%-28s %-22s %9s %12s %12s\n", "CALLER", "TABLE", "CALLS", "TOTAL US", "WORST US");
	printa("%-28s %-22s %@9d %@12d %@12d\n", @pn, @pus, @pworst);
	trunc(@n); trunc(@us); trunc(@worst);
	trunc(@pn); trunc(@pus); trunc(@pworst);
}
