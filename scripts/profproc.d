#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profproc.d: where the time goes, by process and function. Running time in microseconds, with
 * that of the functions it calls. CALLS are returns, as in profile.d.
 *
 *	erltrace -N NODE -qs profproc.d [MODULE] [SECONDS] [HOW MANY]
 *
 * Arguments: functions of these modules, a name or a pattern (all: dear); for how many seconds
 * (until ^C); the busiest so many (30).
 * Cost: every call of the functions named is traced (flags call, return_to, running_procs), some
 * 1 us each.
 * Sample:
 *	PROCESS              FUNCTION                                     CALLS         US
 *	<0.91.0>             demo_report:handle_info/2                        2         61
 *	<0.89.0>             demo_store:handle_call/3                       123      14180
 */
#pragma D option quiet
#pragma D option defaultargs

inline int most = $3 ? $3 : 30;
self uint64_t at[int];

BEGIN { seconds = $2; }

erlang*:$$1::function-entry { self->at[arg2] = vtimestamp; }

erlang*:$$1::function-return
/self->at[arg2]/
{
	@calls[copyinstr(arg0), copyinstr(arg1)] = count();
	@us[copyinstr(arg0), copyinstr(arg1)] = sum(vtimestamp - self->at[arg2]);
	self->at[arg2] = 0;
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	trunc(@us, most);
	normalize(@us, 1000);
	printf("%-20s %-40s %9s %10s\n", "PROCESS", "FUNCTION", "CALLS", "US");
	setopt("aggsortpos", "1");
	printa("%-20s %-40s %@9d %@10d\n", @calls, @us);
	trunc(@calls); trunc(@us);
}
