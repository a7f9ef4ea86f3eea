#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wall.d: what processes do, whether they run or wait. 97 times a second the script asks some processes, picked
 * at random, for their stacks; they stand for the others. OWN is the number in
 * the function itself (a waiting process is in the function with the receive), ALL in it or in
 * what it had called.
 *
 *	erltrace -N NODE -qs wall.d [for=SECONDS] [rows=N] [process=NAME]
 *
 * Arguments: how many seconds to run (until ^C); how many functions to show (30); only processes of
 * this name: registered, label or first function.
 * As a flame graph: --speedscope FILE, --pprof FILE, --folded FILE.
 * Cost: asking takes a hundredth of a scheduler's time at most. No function is traced.
 * Sample:
 *	   OWN %    ALL %          OWN          ALL  FUNCTION
 *	    41.1     41.1         6179         6179  gen_server:loop/7
 *	     3.4      3.4          508          508  standard_error:server_loop/1
 *	     3.1      3.1          468          468  global:loop_the_registrar/0
 *	                         15047               in all
 */
#pragma D option quiet
#pragma D option seen
#pragma D option aggsortrev
#pragma D option defaultargs
#pragma D option stacktop=30

BEGIN { seconds = $1; }
BEGIN /$2 > 0/ { setopt("stacktop", $$2); }

profile-wall-97
/$$3 == "" || erlproc == $$3/
{
	@[ustack()] = count();
}

tick-1s /--seconds == 0/ { exit(0); }
