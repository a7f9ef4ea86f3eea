#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gencall.d: calls of gen_servers and gen_statems: how long callers wait for their answers, and
 * each call that took longer than so many microseconds.
 *
 *	erltrace -N NODE -qs gencall.d [MICROSECONDS] [SECONDS]
 *
 * Arguments: how long is slow (10000); for how many seconds (until ^C).
 * Cost: calls of gen:call/4 only are traced (flags call, return_to), some 1 us each.
 * Sample:
 *	      US CALLER
 *	   13012 <0.91.0>
 *
 *	  microseconds
 *	           value  ------------- Distribution ------------- count
 *	               8 |                                         0
 *	              16 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@             118
 *	              32 |@@@@@@@@@@@@                             41
 *	              64 |                                         0
 *
 *	CALLER                    CALLS
 *	<0.91.0>                      2
 *
 *	CALLER                 WORST US
 *	<0.91.0>                  13012
 */
#pragma D option quiet
#pragma D option defaultargs

inline uint64_t limit = $1 ? $1 : 10000;
self uint64_t at;

BEGIN { seconds = $2; printf("%8s %s\n", "US", "CALLER"); }

erlang*:gen:call/4:function-entry { self->at = timestamp; }

erlang*:gen:call/4:function-return
/self->at/
{
	this->us = (timestamp - self->at) / 1000;
	@us["microseconds"] = quantize(this->us);
	@n[copyinstr(arg0)] = count();
	@worst[copyinstr(arg0)] = max(this->us);
}

erlang*:gen:call/4:function-return
/self->at && this->us >= limit/
{
	printf("%8d %s\n", this->us, copyinstr(arg0));
}

erlang*:gen:call/4:function-return { self->at = 0; }

tick-1s /--seconds == 0/ { exit(0); }

END
{
	printa(@us);
	trunc(@n, 20);
	printf("\n%-20s %11s\n", "CALLER", "CALLS");
	printa("%-20s %@11d\n", @n);
	trunc(@worst, 20);
	printf("\n%-20s %11s\n", "CALLER", "WORST US");
	printa("%-20s %@11d\n", @worst);
	trunc(@us); trunc(@n); trunc(@worst);
}
