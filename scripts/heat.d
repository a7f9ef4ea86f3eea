#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heat.d: a heat map of calls: how long the calls of each function took, in powers of two of
 * nanoseconds of running time, one line per function, every second. Calls that an exception
 * ends do not count.
 *
 *	erltrace -N NODE -qs heat.d [module=NAME] [for=SECONDS]
 *
 * Arguments: functions of these modules, a name or a pattern (all; expensive); how many seconds to
 * run (until ^C).
 * Cost: every call of the named functions is traced (flags call, return_to, running_procs), about
 * 0.8 us each.
 * Sample (the columns are times, a higher bar means more calls; their number is at the end):
 *	  demo_store:price/1       256 :    ▃▆▂     : 65536 | 121
 *	  demo_store:reserve/2     256 :       ▁▅▇▂ : 65536 | 121
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs
#pragma D option dynvarsize=16m
#pragma D option aggpack

self uint64_t at[int];

BEGIN { seconds = $2; }

/* A tail call goes on with the time of the call that it takes the place of. */
erlang*:$$1::function-entry /!arg3/ { self->at[arg2] = vtimestamp; }

erlang*:$$1::function-return
/self->at[arg2]/
{
	@ns[copyinstr(arg1)] = quantize(vtimestamp - self->at[arg2]);
	self->at[arg2] = 0;
}

tick-1s { printf("%Y\n", walltimestamp); printa(@ns); trunc(@ns); }
tick-1s /--seconds == 0/ { exit(0); }

END { printa(@ns); trunc(@ns); } /* what has come since the last second */
