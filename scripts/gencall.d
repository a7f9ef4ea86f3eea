#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gencall.d: calls of gen_servers and gen_statems: how long callers wait for the reply, also
 * by server, and each call that takes longer than a limit, with its request. A call that fails, for
 * example by a timeout, has no reply and is not shown.
 *
 *	erltrace -N NODE -qs gencall.d [MICROSECONDS] [SECONDS]
 *
 * Arguments: how many microseconds are slow (10000); how many seconds to run (until ^C).
 * Cost: only calls of gen:call/4 are traced (flags call, return_to), about 1 us each.
 * Processes are shown by what they are called: registered name, label, first function (flag procs).
 * Sample:
 *	      US CALLER                       SERVER                       REQUEST
 *	   13012 demo_report                  demo_store                   count
 *
 *	  microseconds
 *	           value  ------------- Distribution ------------- count
 *	               8 |                                         0
 *	              16 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@             118
 *	              32 |@@@@@@@@@@@@                             41
 *	              64 |                                         0
 *
 *	CALLER                       SERVER                             CALLS
 *	demo_report                  demo_store                             2
 *
 *	CALLER                       SERVER                          WORST US
 *	demo_report                  demo_store                         13012
 *
 *	SERVER                            P50 US      P99 US    P99.9 US
 *	demo_store                            28          59       13012
 */
#pragma D option quiet
#pragma D option defaultargs

inline uint64_t limit = $1 ? $1 : 10000;
self uint64_t at;
self string to, what;

BEGIN { seconds = $2; printf("%8s %-28s %-28s %s\n", "US", "CALLER", "SERVER", "REQUEST"); }

erlang*:gen:call/4:function-entry { self->at = timestamp; self->to = erlpeerproc; self->what = erlarg(2); }

erlang*:gen:call/4:function-return
/self->at/
{
	this->us = (timestamp - self->at) / 1000;
	@us["microseconds"] = quantize(this->us);
	@n[erlproc, self->to] = count();
	@worst[erlproc, self->to] = max(this->us);
	@wait[self->to] = percentile(this->us, 50, 99, 99.9);
}

erlang*:gen:call/4:function-return
/self->at && this->us >= limit/
{
	printf("%8d %-28s %-28s %s\n", this->us, erlproc, self->to, self->what);
}

erlang*:gen:call/4:function-return { self->at = 0; self->to = 0; self->what = 0; }

tick-1s /--seconds == 0/ { exit(0); }

END
{
	printa(@us);
	trunc(@n, 20);
	printf("\n%-28s %-28s %11s\n", "CALLER", "SERVER", "CALLS");
	printa("%-28s %-28s %@11d\n", @n);
	trunc(@worst, 20);
	printf("\n%-28s %-28s %11s\n", "CALLER", "SERVER", "WORST US");
	printa("%-28s %-28s %@11d\n", @worst);
	trunc(@wait, 20);
	printf("\n%-28s %11s %11s %11s\n", "SERVER", "P50 US", "P99 US", "P99.9 US");
	printa("%-28s %@11d %@11d %@11d\n", @wait);
	trunc(@us); trunc(@n); trunc(@worst); trunc(@wait);
}
