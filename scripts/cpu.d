#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu.d: where the CPU time goes, by function, from samples: OWN is how many found the function
 * itself at work, ALL how many found it or what it had called. Of a node, BIFs, NIFs, garbage
 * collections and the scheduler are among the functions.
 *
 *	erltrace -N NODE -qs cpu.d [SECONDS] [HOW MANY]
 *
 * Arguments: how many seconds to run (until ^C); how many functions to show (30).
 * As a flame graph: --speedscope FILE (https://www.speedscope.app), --pprof FILE, --folded FILE
 * (flamegraph.pl); or the button of erltrace web.
 * Cost: 97 samples a second of each scheduler that works, some 10 us each. No function is traced,
 * and no privileges are needed. With -p PID, as root, the kernel takes the samples.
 * Sample (the busiest last):
 *	   OWN %    ALL %          OWN          ALL  FUNCTION
 *	     5.1     24.9           10           49  demo_report:value/1
 *	    18.3     18.3           36           36  demo_store:worth/2
 *	    70.6     72.6          139          143  demo_store:interest/2
 *	                           197               in all
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option stacktop=30

BEGIN { seconds = $1; }
BEGIN /$2 > 0/ { setopt("stacktop", $$2); }

profile-97
/$target == 0 || pid == $target/
{
	@[ustack()] = count();
}

tick-1s /--seconds == 0/ { exit(0); }
