#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * late.d: timers that fire late: how much later than they were due their messages were taken from the
 * signal queue by the process, for whom, and where they were started. Timers are late if schedulers are
 * blocked or overloaded, or if the process itself does not come to its messages.
 *
 *	erltrace -N NODE -qs late.d [MS] [SECONDS] [HOW MANY]
 *
 * Arguments: from how many milliseconds on a timer is shown as late (10); how many seconds to run (until
 * ^C); how many rows to show (20).
 * Cost: calls of erlang:start_timer and cancel_timer and their returns are traced (flags call, return_to):
 * 3.1 us for a timer that is started and cancelled, as measured, with -x calls=fast 2 us; and all messages
 * when they are received (flag receive), 0.25 us each.
 * Processes are shown by what they are called: registered name, label, first function (flag procs).
 * Only timers of erlang:start_timer/3,4 with a relative time are seen, as those of gen_statem: their
 * messages, {timeout, Ref, Term}, say which timer they are of; one of send_after does not.
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
#pragma D option defaultargs
#pragma D option aggsortrev
#pragma D option aggsortpos=2
#pragma D option aggtop=20

inline int from = $1 ? $1 : 10;

int64_t due[string];
string by[string];

BEGIN { seconds = $2; }
BEGIN /$3 > 0/ { setopt("aggtop", $$3); }

erlang*:erlang:start_timer/3:bif-return
{
	this->ref = erlret;
	due[this->ref] = timestamp + erlint(0) * 1000000;
	by[this->ref] = erlproc;
}

erlang*:erlang:start_timer/4:bif-return
/!erlmatch(erlarg(3), "[{abs, true}]")/
{
	this->ref = erlret;
	due[this->ref] = timestamp + erlint(0) * 1000000;
	by[this->ref] = erlproc;
}

erlang*:erlang:cancel_timer:bif-entry
{
	this->ref = erlarg(0);
	due[this->ref] = 0;
	by[this->ref] = 0;
}

erlang*:::message-queued
/erlmatch(erlmsg, "{timeout, Ref, _}") && due[this->Ref]/
{
	this->ms = (timestamp - due[this->Ref]) / 1000000;
	@fired[erlproc] = count();
	@late[erlproc] = sum(this->ms >= from);
	@worst[erlproc] = max(this->ms);
	@ms["late by ms"] = lquantize(this->ms, 0, 1000, 10);
}

erlang*:::message-queued
/erlmatch(erlmsg, "{timeout, Ref, _}") && due[this->Ref] && (timestamp - due[this->Ref]) / 1000000 >= from/
{
	@by[by[this->Ref]] = count();
}

erlang*:::message-queued
/erlmatch(erlmsg, "{timeout, Ref, _}")/
{
	due[this->Ref] = 0;
	by[this->Ref] = 0;
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	printf("%-28s %10s %10s %10s\n", "PROCESS", "FIRED", "LATE", "WORST MS");
	printa("%-28s %@10d %@10d %@10d\n", @fired, @late, @worst);
	printa(@ms);
	printf("\nlate ones were started by\n");
	printa("%-28s %@10d\n", @by);
	trunc(@fired); trunc(@late); trunc(@worst); trunc(@ms); trunc(@by);
}
