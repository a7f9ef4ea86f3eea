#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ets.d: how ETS tables are used: how often each function of ets is called, and by which process.
 *
 *	erltrace -N NODE -qs ets.d [SECONDS] [HOW MANY]
 *
 * Arguments: how many seconds to run (until ^C); how many of the busiest callers to show (20).
 * Cost: calls of ets' built-in functions are traced (flag call), about 0.5 us each.
 * Processes are shown by what they are called: registered name, label, first function (flag procs).
 * Sample:
 *	FUNCTION                          CALLS
 *	ets:lookup/2                        121
 *	ets:update_counter/3                121
 *
 *	PROCESS                      FUNCTION                          CALLS
 *	demo_store                   ets:update_counter/3                121
 */
#pragma D option quiet
#pragma D option defaultargs

inline int most = $2 ? $2 : 20;

BEGIN { seconds = $1; }

erlang*:ets::bif-entry
{
	@f[copyinstr(arg1)] = count();
	@p[erlproc, copyinstr(arg1)] = count();
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	printf("%-28s %10s\n", "FUNCTION", "CALLS");
	printa("%-28s %@10d\n", @f);
	trunc(@p, most);
	printf("\n%-28s %-28s %10s\n", "PROCESS", "FUNCTION", "CALLS");
	printa("%-28s %-28s %@10d\n", @p);
	trunc(@f); trunc(@p);
}
