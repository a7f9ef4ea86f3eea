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
 * Cost: calls of erlang:start_timer, send_after and cancel_timer and their returns are traced (flags call,
 * return_to): 3.1 us for a timer that is started and cancelled, as measured, with -x calls=fast 2 us; and all
 * messages when they are received (flag receive), 0.25 us each; more in processes
 * that timers of send_after are for: the text of each message is made.
 * Processes are shown by what they are called: registered name, label, first function (flag procs).
 * Only timers with a relative time are seen. The messages of start_timer, which gen_statem uses, say which
 * timer they are of. Those of send_after do not: they are told by receiver and message, so of several
 * timers that are alike only the one that was started last.
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

/* By reference for start_timer, by receiver and message for send_after. */
int64_t due[string];
string by[string];
string key[string], ref[string]; /* of send_after: one by the other */
int sent[string];		 /* is it a receiver of them? */

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

erlang*:erlang:send_after/3:bif-return { this->relative = 1; }
erlang*:erlang:send_after/4:bif-return { this->relative = !erlmatch(erlarg(3), "[{abs, true}]"); }

erlang*:erlang:send_after:bif-return
/this->relative/
{
	this->key = strjoin(erlarg(1), strjoin(" ", erlarg(2)));
	sent[erlarg(1)] = 1;
	due[this->key] = timestamp + erlint(0) * 1000000;
	by[this->key] = erlproc;
	ref[this->key] = erlret;
	key[erlret] = this->key;
}

erlang*:erlang:cancel_timer:bif-entry
{
	this->ref = erlarg(0);
	due[this->ref] = 0;
	by[this->ref] = 0;
}

erlang*:erlang:cancel_timer:bif-entry
/key[this->ref] != NULL/
{
	this->key = key[this->ref];
	due[this->key] = 0;
	by[this->key] = 0;
	ref[this->key] = 0;
	key[this->ref] = 0;
}

/* Of which timer a message is. */
erlang*:::message-queued { this->key = ""; this->ms = -1; }

erlang*:::message-queued
/sent[erlpid]/
{
	this->key = strjoin(erlpid, strjoin(" ", erlmsg));
}

erlang*:::message-queued
/erlname != "" && sent[erlname]/
{
	this->key = strjoin(erlname, strjoin(" ", erlmsg));
}

erlang*:::message-queued
/erlmatch(erlmsg, "{timeout, Ref, _}") && due[this->Ref]/
{
	this->key = this->Ref;
}

/* A message that is alike, but comes earlier, is no timer's. */
erlang*:::message-queued
/this->key != "" && due[this->key] && timestamp + 1000000 >= due[this->key]/
{
	this->ms = timestamp < due[this->key] ? 0 : (timestamp - due[this->key]) / 1000000;
	@fired[erlproc] = count();
	@late[erlproc] = sum(this->ms >= from);
	@worst[erlproc] = max(this->ms);
	@ms["late by ms"] = lquantize(this->ms, 0, 1000, 10);
	this->starter = by[this->key];
	this->timer = ref[this->key];
	due[this->key] = 0;
	by[this->key] = 0;
	ref[this->key] = 0;
}

erlang*:::message-queued
/this->ms >= 0 && this->timer != NULL/
{
	key[this->timer] = 0;
}

erlang*:::message-queued
/this->ms >= from/
{
	@by[this->starter] = count();
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
