#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sched.d: how processes are scheduled: in which function they resume, how often, and how long they
 * run at a time.
 *
 *	erltrace -N NODE -qs sched.d [for=SECONDS]
 *
 * Arguments: how many seconds to run (until ^C).
 * Cost: flag running_procs; about 0.7 us each time a process runs.
 * Sample:
 *	GOES ON IN                                     TIMES    RUN US  LONGEST US
 *	demo_report:handle_info/2                          2       140          91
 *	gen_server:loop/7                                361      2206          64
 *
 *	  nanoseconds at a time
 *	           value  ------------- Distribution ------------- count
 *	            1024 |                                         0
 *	            2048 |@@@@@@@@@@@@@@@@@@@@@@@                  210
 *	            4096 |@@@@@@@@@@@@@@@@@                        153
 *	            8192 |                                         0
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs

self uint64_t in;
self string mfa;

BEGIN { seconds = $1; }

erlang*:::process-scheduled { self->in = timestamp; self->mfa = copyinstr(arg1); }

erlang*:::process-unscheduled
/self->in/
{
	this->ns = timestamp - self->in;
	@times[self->mfa] = count();
	@us[self->mfa] = sum(this->ns);
	@longest[self->mfa] = max(this->ns);
	@ns["nanoseconds at a time"] = quantize(this->ns);
	self->in = 0;
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	normalize(@us, 1000);
	normalize(@longest, 1000);
	printf("%-42s %9s %9s %11s\n", "GOES ON IN", "TIMES", "RUN US", "LONGEST US");
	printa("%-42s %@9d %@9d %@11d\n", @times, @us, @longest);
	printa(@ns);
	trunc(@times); trunc(@us); trunc(@longest); trunc(@ns);
}
