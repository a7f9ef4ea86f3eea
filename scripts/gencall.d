#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gencall.d: calls of gen_servers and gen_statems: how long callers wait for the reply, also
 * by server, how many time out or end by an exit, and each call that takes longer than a limit.
 *
 *	erltrace -N NODE -qs gencall.d [over=MICROSECONDS] [for=SECONDS]
 *
 * Arguments: how many microseconds are slow (10000); how many seconds to run (until ^C).
 * RESULT is ok, timeout, or exit: there is no such server, it ends before it replies, or the caller does.
 * CALLS includes TIMEOUTS, EXITS and OPEN calls, which had no reply yet when the script ended. Times are
 * those of replies and of timeouts; after a timeout the server takes longer. The script does not show calls
 * that began before it (waits.d does).
 * Cost: only calls of gen:call/4 are traced (flags call, return_to), about 1 us each.
 * Processes appear by their best name: registered name, label, or first function (flag procs).
 * Sample:
 *	      US CALLER                       SERVER                       RESULT   REQUEST
 *	   13012 demo_report                  demo_store                   ok       count
 *
 *	  microseconds
 *	           value  ------------- Distribution ------------- count
 *	               8 |                                         0
 *	              16 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@             118
 *	              32 |@@@@@@@@@@@@                             41
 *	              64 |                                         0
 *
 *	CALLER                       SERVER                             CALLS    WORST US
 *	demo_report                  demo_store                             2       13012
 *
 *	SERVER                           CALLS TIMEOUTS   EXITS    OPEN    P50 US    P99 US  P99.9 US
 *	demo_store                         159        0       0       0        28        59     13012
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs
#pragma D option aggsortrev
#pragma D option aggtop=20

inline uint64_t limit = $1 ? $1 : 10000;
self uint64_t at;
self string to, what;
this string result;

BEGIN
{
	seconds = $2;
	printf("%8s %-28s %-28s %-8s %s\n", "US", "CALLER", "SERVER", "RESULT", "REQUEST");
}

erlang*:gen:call/4:function-entry
{
	self->at = timestamp;
	self->to = erlpeerproc;
	self->what = erlarg(2);
	@n[erlproc, self->to] = count();
	@calls[self->to] = count();
	@timeouts[self->to] = sum(0);
	@exits[self->to] = sum(0);
	@open[self->to] = sum(1);
}

erlang*:gen:call/4:function-return { this->result = "ok"; }
erlang*:gen:call/4:function-exception { this->result = erlreason == "timeout" ? "timeout" : "exit"; }
erlang*:::process-exit { this->result = "exit"; } /* the caller's, in the middle of its call */

erlang*:gen:call/4:function-return,
erlang*:gen:call/4:function-exception,
erlang*:::process-exit
/self->at/
{
	this->us = (timestamp - self->at) / 1000;
	@timeouts[self->to] = sum(this->result == "timeout");
	@exits[self->to] = sum(this->result == "exit");
	@open[self->to] = sum(-1);
}

/* One that ends by an exit tells nothing of how long the server takes. */
erlang*:gen:call/4:function-return,
erlang*:gen:call/4:function-exception
/self->at && this->result != "exit"/
{
	@us["microseconds"] = quantize(this->us);
	@worst[erlproc, self->to] = max(this->us);
	@wait[self->to] = percentile(this->us, 50, 99, 99.9);
}

erlang*:gen:call/4:function-return,
erlang*:gen:call/4:function-exception
/self->at && this->us >= limit/
{
	printf("%8d %-28s %-28s %-8s %s\n", this->us, erlproc, self->to, this->result, self->what);
}

erlang*:gen:call/4:function-return,
erlang*:gen:call/4:function-exception,
erlang*:::process-exit
/self->at/
{
	self->at = 0;
	self->to = 0;
	self->what = 0;
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	printa(@us);
	printf("\n%-28s %-28s %11s %11s\n", "CALLER", "SERVER", "CALLS", "WORST US");
	printa("%-28s %-28s %@11d %@11d\n", @n, @worst);
	printf("\n%-28s %9s %8s %7s %7s %9s %9s %9s\n", "SERVER", "CALLS", "TIMEOUTS", "EXITS", "OPEN",
		"P50 US", "P99 US", "P99.9 US");
	printa("%-28s %@9d %@8d %@7d %@7d %@9d %@9d %@9d\n", @calls, @timeouts, @exits, @open, @wait);
	trunc(@us); trunc(@n); trunc(@worst); trunc(@calls); trunc(@timeouts); trunc(@exits);
	trunc(@open); trunc(@wait);
}
