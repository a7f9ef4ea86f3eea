#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawners.d: who spawns processes, and what they run. For processes that proc_lib starts
 * (gen_servers, supervisors, tasks) this is the function or fun that they run.
 *
 *	erltrace -N NODE -qs spawners.d [for=SECONDS] [rows=N]
 *
 * Arguments: how many seconds to run (until ^C); how many of the busiest pairs to show (20).
 * Cost: process events (flag procs), and calls of proc_lib:init_p only; about 1.5 us for a spawn.
 * Processes appear by their best name: registered name, label, or first function.
 * Sample:
 *	    BORN BY                           RUNS
 *	     121 demo_desk                    demo_order:run
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs

inline int most = $2 ? $2 : 20;
inline string runs = copyinstr(arg1);
inline int by_proc_lib = runs == "proc_lib:init_p/5" || runs == "proc_lib:init_p/3";
self string by;

BEGIN { seconds = $1; }

/* It fires in the new process: what it begins with comes next there. */
erlang*:::process-spawn /by_proc_lib/ { self->by = erlpeerproc; }
erlang*:::process-spawn /!by_proc_lib/ { @[erlpeerproc, runs] = count(); }

erlang*:proc_lib:init_p/5:function-entry
/self->by != NULL/
{
	@[self->by, strjoin(erlarg(2), strjoin(":", erlarg(3)))] = count();
	self->by = NULL;
}

erlang*:proc_lib:init_p/3:function-entry
/self->by != NULL/
{
	@[self->by, erlarg(2)] = count();
	self->by = NULL;
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	trunc(@, most);
	printf("%8s %-28s %s\n", "BORN", "BY", "RUNS");
	printa("%@8d %-28s %s\n", @);
	trunc(@);
}
