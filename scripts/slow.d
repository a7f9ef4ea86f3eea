#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow.d: calls that take longer than a limit, as they return, with their arguments. Time is
 * wall-clock time: waiting counts. A chain of tail calls, such as a loop, is one call: its time is
 * that of the whole chain; the function and the arguments are those of the last one in it, which is
 * the one that returns. For a recursive function only the outermost call is shown: the others are part of it. A
 * call that an exception ends does not return, and is not shown.
 *
 *	erltrace -N NODE -qs slow.d [MODULE] [MICROSECONDS] [SECONDS] [FUNCTION]
 *
 * Arguments: functions of these modules, a name or a pattern like 'my_*' (all; expensive); how many
 * microseconds are slow (1000); how many seconds to run (until ^C); only these functions, as name,
 * name/arity or pattern (all).
 * Cost: every call of the named functions is traced (flags call, return_to) and its arguments are
 * kept until it returns, about 1 us each.
 * Processes are shown by what they are called: registered name, label, first function (flag procs).
 * Sample:
 *	      US PROCESS                      FUNCTION                     ARGUMENTS
 *	    2105 demo_report                  demo_store:reserve/2         [tea,3]
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option dynvarsize=16m

inline uint64_t limit = $2 ? $2 : 1000;
self uint64_t at[int];
self string in[int];

BEGIN { seconds = $3; printf("%8s %-28s %-28s %s\n", "US", "PROCESS", "FUNCTION", "ARGUMENTS"); }

/* A tail call goes on with the time of the call that it takes the place of. */
erlang*:$$1:$$4:function-entry /!arg3/ { self->at[arg2] = timestamp; }

erlang*:$$1:$$4:function-entry { self->in[arg2] = copyinstr(arg1); }

erlang*:$$1:$$4:function-return
/self->at[arg2] && timestamp - self->at[arg2] >= limit * 1000 &&
 (!self->at[arg2 - 1] || self->in[arg2 - 1] != copyinstr(arg1))/
{
	printf("%8d %-28s %-28s %s\n", (timestamp - self->at[arg2]) / 1000, erlproc, copyinstr(arg1),
	    erlargs);
	@n = count();
}

erlang*:$$1:$$4:function-return { self->at[arg2] = 0; self->in[arg2] = 0; }

tick-1s /--seconds == 0/ { exit(0); }

END { printa("%@d calls\n", @n); trunc(@n); }
