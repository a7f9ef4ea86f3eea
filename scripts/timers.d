#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timers.d: timers that are started and cancelled: by whom, for whom, how soon they are due, and which
 * functions start most. A process that causes a timer storm is at the top of the list.
 *
 *	erltrace -N NODE -qs timers.d [for=SECONDS] [rows=N]
 *
 * Arguments: how many seconds to run (until ^C); how many rows of each kind to show (20).
 * Cost: calls of erlang:send_after and start_timer, and of cancel_timer with its return, are traced (flags
 * call, return_to): 2.3 us for a timer that is started and cancelled, with the stack, as measured; with
 * -x calls=fast 1.1 us.
 * Processes appear by their best name: registered name, label, or first function (flag procs).
 * The process timer_server starts the timers of the module timer on behalf of others. receive ... after is no
 * timer of this kind. LATE are those that had fired when they were cancelled, or whose canceller did not ask;
 * late.d shows timers that fire late. The distribution leaves out timers with an absolute time, such as those
 * of the module timer.
 * Sample:
 *	PROCESS                         STARTED
 *	demo_report                          41
 *
 *	PROCESS                       CANCELLED         LATE
 *	demo_report                          40            1
 *
 *	PROCESS                      FOR                            STARTED
 *	demo_report                  itself                              41
 *
 *	  due in ms
 *	           value  ------------- Distribution ------------- count
 *	             512 |                                         0
 *	            1024 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 41
 *	            2048 |                                         0
 *
 *	started from:
 *	              demo_report:handle_info/2 (demo_report.erl:50)
 *	              gen_server:try_dispatch/4 (gen_server.erl:1123)
 *	              gen_server:handle_msg/6 (gen_server.erl:1200)
 *	               41
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs
#pragma D option aggsortrev
#pragma D option aggtop=20

BEGIN { seconds = $1; }
BEGIN /$2 > 0/ { setopt("aggtop", $$2); }

erlang*:::timer-start
{
	@started[erlproc] = count();
	@whom[erlproc, args[1] == erlpid || args[1] == erlname ? "itself" : args[1]] = count();
	@from[ustack(4)] = count();
}

/* An absolute time is negative, as the VM's monotonic time is. */
erlang*:::timer-start /arg2 >= 0/ { @due["due in ms"] = quantize(arg2); }

erlang*:::timer-cancel { @cancelled[erlproc] = count(); @late[erlproc] = sum(arg1 < 0); }

tick-1s /--seconds == 0/ { exit(0); }

END
{
	printf("%-28s %10s\n", "PROCESS", "STARTED");
	printa("%-28s %@10d\n", @started);
	printf("\n%-28s %10s %12s\n", "PROCESS", "CANCELLED", "LATE");
	printa("%-28s %@10d %@12d\n", @cancelled, @late);
	printf("\n%-28s %-28s %9s\n", "PROCESS", "FOR", "STARTED");
	printa("%-28s %-28s %@9d\n", @whom);
	printa(@due);
	trunc(@from, 5);
	printf("\nstarted from:");
	printa(@from);
	trunc(@started); trunc(@cancelled); trunc(@late); trunc(@whom); trunc(@due); trunc(@from);
}
