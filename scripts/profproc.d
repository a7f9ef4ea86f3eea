#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profproc.d: where the time goes, by process and function. Running time in microseconds
 * of the calls that return, including the functions that they call (see profile.d).
 *
 *	erltrace -N NODE -qs profproc.d [module=NAME] [for=SECONDS] [rows=N]
 *
 * Arguments: functions of these modules, a name or a pattern (all; expensive); how many seconds to
 * run (until ^C); how many of the busiest to show (30).
 * Cost: every call of the named functions is traced (flags call, return_to, running_procs), about
 * 1 us each.
 * Processes appear by their best name: registered name, label, or first function (flag procs).
 * Sample:
 *	PROCESS                      FUNCTION                                      CALLS
 *	demo_report                  demo_report:handle_info/2                         2
 *	demo_store                   demo_store:handle_call/3                        123
 *
 *	PROCESS                      FUNCTION                                         US
 *	demo_report                  demo_report:handle_info/2                        61
 *	demo_store                   demo_store:handle_call/3                      14180
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs
#pragma D option dynvarsize=16m

inline int most = $3 ? $3 : 30;
self uint64_t at[int];

BEGIN { seconds = $2; }

erlang*:$$1::function-entry { @calls[erlproc, copyinstr(arg1)] = count(); }

/* A tail call goes on with the time of the call that it takes the place of. */
erlang*:$$1::function-entry /!arg3/ { self->at[arg2] = vtimestamp; }

erlang*:$$1::function-return
/self->at[arg2]/
{
	@us[erlproc, copyinstr(arg1)] = sum(vtimestamp - self->at[arg2]);
	self->at[arg2] = 0;
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	trunc(@calls, most);
	printf("%-28s %-40s %10s\n", "PROCESS", "FUNCTION", "CALLS");
	printa("%-28s %-40s %@10d\n", @calls);
	trunc(@us, most);
	normalize(@us, 1000);
	printf("\n%-28s %-40s %10s\n", "PROCESS", "FUNCTION", "US");
	printa("%-28s %-40s %@10d\n", @us);
	trunc(@calls); trunc(@us);
}
