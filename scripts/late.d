#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * late.d: timers that fire late: how long after they were due the process fetched their messages from the
 * signal queue, for whom, and where they were started. Timers are late if schedulers are
 * blocked or overloaded, or, before OTP 27, if the process itself does not get to fetch its messages (since then
 * it fetches them whenever it is scheduled in).
 *
 *	erltrace -N NODE -qs late.d [over=MILLISECONDS] [for=SECONDS] [rows=N]
 *
 * Arguments: from how many milliseconds on a timer is shown as late (10); how many seconds to run (until
 * ^C); how many rows to show (20).
 * Cost: calls of erlang:start_timer, send_after and cancel_timer and their returns are traced (flag call):
 * 3 us for a timer that is started and cancelled, as measured; and messages when they are received (flag receive),
 * from OTP 27 on only those of timers, before all of them, 0.25 us each.
 * Processes appear by their best name: registered name, label, or first function (flag procs).
 * The script cannot know the delay of timers that were started before it, or for an absolute time. It counts
 * these in a line of their own, and so those without room (drops give their number).
 * Sample:
 *	PROCESS                           FIRED       LATE   WORST MS
 *	demo_late                            41          2         58
 *
 *	  late by ms
 *	           value  ------------- Distribution ------------- count
 *	             < 0 |                                         0
 *	               0 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@   39
 *	              20 |@@                                       2
 *	              30 |                                         0
 *
 *
 *	late ones were started by
 *	demo_late                             2
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs
#pragma D option aggsortrev
#pragma D option aggsortpos=2
#pragma D option aggtop=20

inline int from = $1 ? $1 : 10;

BEGIN { seconds = $2; }
BEGIN /$3 > 0/ { setopt("aggtop", $$3); }

erlang*:::timer-expire
/arg1 >= 0/
{
	this->ms = arg1 / 1000000;
	@fired[erlproc] = count();
	@late[erlproc] = sum(this->ms >= from);
	@worst[erlproc] = max(this->ms);
	@ms["late by ms"] = lquantize(this->ms, 0, 1000, 10);
}

erlang*:::timer-expire
/arg1 >= from * 1000000/
{
	@by[erlpeerproc] = count();
}

erlang*:::timer-expire
/arg1 < 0/
{
	@unknown = count();
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	printf("%-28s %10s %10s %10s\n", "PROCESS", "FIRED", "LATE", "WORST MS");
	printa("%-28s %@10d %@10d %@10d\n", @fired, @late, @worst);
	printa(@ms);
	printf("\nlate ones were started by\n");
	printa("%-28s %@10d\n", @by);
	printa("\n%@d more fired: how late they were is not known\n", @unknown);
	trunc(@unknown);
	trunc(@fired); trunc(@late); trunc(@worst); trunc(@ms); trunc(@by);
}
