#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * births.d: processes that start and exit, one line per second; at the end, which and why.
 *
 *	erltrace -N NODE -qs births.d [for=SECONDS]
 *
 * Arguments: how many seconds to run (until ^C).
 * Cost: process events (flag procs), and calls of proc_lib:init_p only; a spawn and an exit cost
 * about 1.5 us more together.
 * For processes that proc_lib starts (gen_servers, supervisors, tasks), WHAT is the function or fun
 * that they run.
 * Sample:
 *	    BORN     DIED
 *	      40       40
 *	      41       40
 *
 *	    BORN WHAT
 *	      81 demo_order:run
 *
 *	    DIED WHY
 *	       1 cancelled
 *	      79 normal
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs

inline string runs = copyinstr(arg1);
inline int by_proc_lib = runs == "proc_lib:init_p/5" || runs == "proc_lib:init_p/3";
self int begins;

BEGIN { seconds = $1; @born = sum(0); @died = sum(0); printf("%8s %8s\n", "BORN", "DIED"); }

/* It fires in the new process: what it begins with comes next there. */
erlang*:::process-spawn { @born = sum(1); }
erlang*:::process-spawn /!by_proc_lib/ { @what[runs] = count(); }
erlang*:::process-spawn /by_proc_lib/ { self->begins = 1; }
erlang*:proc_lib:init_p/5:function-entry
/self->begins/
{
	@what[strjoin(erlarg(2), strjoin(":", erlarg(3)))] = count();
	self->begins = 0;
}
erlang*:proc_lib:init_p/3:function-entry
/self->begins/
{
	@what[erlarg(2)] = count();
	self->begins = 0;
}
erlang*:::process-exit { @died = sum(1); @why[copyinstr(arg1)] = count(); }

tick-1s { printa("%@8d %@8d\n", @born, @died); clear(@born); clear(@died); }
tick-1s /--seconds == 0/ { exit(0); }

END
{
	printf("\n%8s %s\n", "BORN", "WHAT");
	printa("%@8d %s\n", @what);
	printf("\n%8s %s\n", "DIED", "WHY");
	printa("%@8d %s\n", @why);
	trunc(@born); trunc(@died); trunc(@what); trunc(@why);
}
