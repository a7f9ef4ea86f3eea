#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.d: how often functions are called; the cheapest way to find out what code does.
 *
 *	erltrace -N NODE -qs calls.d [module=NAME] [for=SECONDS] [rows=N]
 *
 * Arguments: functions of these modules, a name or a pattern (all; expensive); how many seconds to
 * run (until ^C); how many of the busiest to show (30).
 * Cost: every call of the named functions is traced (flag call), about 0.3 us each.
 * Sample:
 *	FUNCTION                                               CALLS
 *	demo_order:run/1                                          40
 *	demo_store:price/1                                       121
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs

inline int most = $3 ? $3 : 30;

BEGIN { seconds = $2; }

erlang*:$$1::function-entry { @[copyinstr(arg1)] = count(); }

tick-1s /--seconds == 0/ { exit(0); }

END
{
	trunc(@, most);
	printf("%-50s %9s\n", "FUNCTION", "CALLS");
	printa("%-50s %@9d\n", @);
	trunc(@);
}
