#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restarts.d: children that supervisors start again, and what they had ended by; crashes that proc_lib
 * reports. Each is shown when it happens; at the end, how many there were of each.
 *
 *	erltrace -N NODE -qs restarts.d [SECONDS]
 *
 * Arguments: how many seconds to run (until ^C).
 * Cost: nothing but two functions of supervisor and proc_lib is traced (flag call), which are called when a
 * child of a supervisor or a process of proc_lib ends. The node's logger is not touched.
 * Processes are shown by what they are called: registered name, label, first function (flag procs).
 * Sample:
 *	WHAT    PROCESS                      CHILD                CLASS REASON
 *	crash   demo_price:init/1                                 error badarith
 *	restart demo_sup                     demo_price                 {badarith,[{demo_price,price,2,[{file...
 *
 *	RESTARTS SUPERVISOR                   CHILD
 *	       1 demo_sup                     demo_price
 *
 *	 CRASHES PROCESS                      CLASS REASON
 *	       1 demo_price:init/1            error badarith
 */
#pragma D option quiet
#pragma D option defaultargs

BEGIN { seconds = $1; printf("%-7s %-28s %-20s %-5s %s\n", "WHAT", "PROCESS", "CHILD", "CLASS", "REASON"); }

erlang*:::supervisor-restart
{
	printf("%-7s %-28s %-20s %-5s %s\n", "restart", erlproc, args[1], "", args[2]);
	@restarts[erlproc, args[1]] = count();
}

erlang*:::process-crash
{
	printf("%-7s %-28s %-20s %-5s %s\n", "crash", erlproc, "", args[1], args[2]);
	@crashes[erlproc, args[1], args[2]] = count();
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	printf("\n%8s %-28s %s\n", "RESTARTS", "SUPERVISOR", "CHILD");
	printa("%@8d %-28s %s\n", @restarts);
	printf("\n%8s %-28s %-5s %s\n", "CRASHES", "PROCESS", "CLASS", "REASON");
	printa("%@8d %-28s %-5s %s\n", @crashes);
	trunc(@restarts); trunc(@crashes);
}
