#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu.d: where the CPU time goes, by function, from samples. OWN is the number of samples in
 * the function itself, ALL in it or in what it had called; a third of the rows are those with the largest ALL.
 * In a node, BIFs, NIFs, garbage collections and the scheduler are among the functions.
 *
 *	erltrace -N NODE -qs cpu.d [for=SECONDS] [rows=N]
 *
 * Arguments: how many seconds to run (until ^C); how many functions to show (30).
 * As a flame graph: --speedscope FILE (https://www.speedscope.app), --pprof FILE, --folded FILE
 * (flamegraph.pl); or the button of erltrace web.
 * Cost: 97 samples per second of each busy scheduler, some 10 us each. No function is traced,
 * and the script needs no privileges. With -p PID, as root, the kernel takes the samples.
 * Sample:
 *	   OWN %    ALL %          OWN          ALL  FUNCTION
 *	    12.7     12.7           31           31  (garbage collection)
 *	    12.2     12.2           30           30  erlang:send/2
 *	     7.3      7.3           18           18  erts_internal:port_command/3
 *	     1.2      7.8            3           19  gen_server2:drain/1
 *	                           245               in all
 */
#pragma D option quiet
#pragma D option seen
#pragma D option aggsortrev
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
