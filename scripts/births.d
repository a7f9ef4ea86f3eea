#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * births.d: processes born and died, a line a second; at the end, of what and why.
 *
 *	erltrace -N NODE -qs births.d [SECONDS]
 *
 * Arguments: for how many seconds (until ^C).
 * Cost: process events (flag procs); a spawn and an exit cost some 0.5 us more together.
 * Sample:
 *	    BORN     DIED
 *	      40       40
 *	      39       39
 *
 *	WHAT                                                        BORN
 *	proc_lib:init_p/5                                             79
 *
 *	WHY                                                         DIED
 *	cancelled                                                      1
 *	normal                                                        78
 */
#pragma D option quiet
#pragma D option defaultargs

BEGIN { seconds = $1; @born = sum(0); @died = sum(0); printf("%8s %8s\n", "BORN", "DIED"); }

erlang*:::process-spawn { @born = sum(1); @what[copyinstr(arg1)] = count(); }
erlang*:::process-exit { @died = sum(1); @why[copyinstr(arg1)] = count(); }

tick-1s { printa("%@8d %@8d\n", @born, @died); clear(@born); clear(@died); }
tick-1s /--seconds == 0/ { exit(0); }

END
{
	printf("\n%-52s %11s\n", "WHAT", "BORN");
	printa("%-52s %@11d\n", @what);
	printf("\n%-52s %11s\n", "WHY", "DIED");
	printa("%-52s %@11d\n", @why);
	trunc(@born); trunc(@died); trunc(@what); trunc(@why);
}
