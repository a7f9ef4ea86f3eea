#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.d: where the time goes, by function. Time is the process's running time in microseconds:
 * OWN without that of the traced functions it calls, ALL with it (for a recursive function ALL
 * counts the inner calls again). Times are those of the calls that RETURNED: a chain of tail calls,
 * such as a loop, returns once, from its last function, which has the time of the whole chain; a call
 * that an exception ends does not return, and its time is added to the OWN time of its caller.
 *
 *	erltrace -N NODE -qs profile.d [module=NAME] [for=SECONDS]
 *
 * Arguments: functions of these modules, a name or a pattern (all; expensive); how many seconds to
 * run (until ^C).
 * Cost: every call of the named functions is traced (flags call, return_to, running_procs), about
 * 1 us each. Much of that is included in the times shown, also that of tail calls: a short
 * function that is called often shows far more time than it takes untraced. Name fewer
 * functions to reduce this; profile-997 in the kernel (doc/kernel.md) does not have this cost.
 * Sample (the busiest last):
 *	FUNCTION                                CALLS  RETURNED     ALL US     OWN US
 *	demo_store:price/1                        121       121         77         77
 *	demo_store:handle_call/3                  123       123      14211        502
 *	demo_store:interest/2                     402       402      13621      13621
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs
#pragma D option dynvarsize=16m

self uint64_t at[int];
self uint64_t inner[int];

BEGIN { seconds = $2; }

erlang*:$$1::function-entry { @calls[copyinstr(arg1)] = count(); }

/* A tail call goes on with the time of the call that it takes the place of. */
erlang*:$$1::function-entry
/!arg3/
{
	self->at[arg2] = vtimestamp;
	self->inner[arg2] = 0;
}

erlang*:$$1::function-return
/self->at[arg2]/
{
	this->all = vtimestamp - self->at[arg2];
	@returned[copyinstr(arg1)] = count();
	@all[copyinstr(arg1)] = sum(this->all);
	@own[copyinstr(arg1)] = sum(this->all - self->inner[arg2]);
	self->at[arg2] = 0;
	self->inner[arg2] = 0;
	if (self->at[arg2 - 1]) {
		/* not its caller's own */
		self->inner[arg2 - 1] += this->all;
	}
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	normalize(@all, 1000);
	normalize(@own, 1000);
	printf("%-34s %10s %9s %10s %10s\n", "FUNCTION", "CALLS", "RETURNED", "ALL US", "OWN US");
	setopt("aggsortpos", "3");
	printa("%-34s %@10d %@9d %@10d %@10d\n", @calls, @returned, @all, @own);
	trunc(@calls); trunc(@returned); trunc(@all); trunc(@own);
}
