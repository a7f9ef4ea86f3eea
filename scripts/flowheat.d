#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flowheat.d: where the time of requests goes: how long their messages wait in the mailbox of each
 * process, how long each process works until it sends a message, and how long requests take as a whole. A
 * request begins at a call of a function, and includes everything that this causes (doc/guide.md).
 *
 *	erltrace -N NODE -qs flowheat.d module=NAME function=NAME [for=SECONDS] [one_in=N]
 *
 * Arguments: requests are calls of these functions, names or patterns; how many seconds to run (until
 * ^C); one in so many requests is followed (1: all).
 * Cost: every message of a followed request is traced twice, about 2 us each, every call of the
 * function once. A request counts when it is over, or when nothing has happened in it for 2 seconds.
 * Sample:
 *	  demo_order:run/1 takes, in microseconds
 *	           value  ------------- Distribution ------------- count
 *	            2048 |                                         0
 *	            4096 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 41
 *	            8192 |                                         0
 *
 *	HOPS  PROCESS                             MESSAGES    WAITED US    WORKED US
 *	   0  demo_order:run/1                           0            0         1230
 *	   1  demo_journal                              41          697       180531
 *	   2  demo_order:run/1                          41          902         1640
 *	   3  demo_desk                                 41         1066            0
 */
#pragma D option quiet
#pragma D option seen

inline string module = $$1, function = $$2;

/* The arguments after these may be left out. */
#pragma D option defaultargs
#pragma D option flowtime=2s
#pragma D option dynvarsize=16m

inline int one_in = $4 ? $4 : 1;
self uint64_t at;

BEGIN { seconds = $3; calls = 0; }

erlang*:$$1:$$2:function-entry /calls++ % one_in == 0/ { follow(); }

erlang*:::flow-begin { self->at = timestamp; }

erlang*:::flow-receive
{
	@n[flowdepth, erlproc] = sum(1);
	@waited[flowdepth, erlproc] = sum(args[6]);
	@worked[flowdepth, erlproc] = sum(0);
	self->at = timestamp;
}

/* From when it received, or last sent. */
erlang*:::flow-send /self->at/
{
	@n[flowdepth, erlproc] = sum(0);
	@waited[flowdepth, erlproc] = sum(0);
	@worked[flowdepth, erlproc] = sum(timestamp - self->at);
	self->at = timestamp;
}

erlang*:::flow-end { @us[args[2]] = quantize(args[3] / 1000); }

tick-1s /--seconds == 0/ { exit(0); }

END
{
	normalize(@waited, 1000);
	normalize(@worked, 1000);
	printa("\n  %s takes, in microseconds%@d\n", @us);
	printf("%4s  %-34s %9s %12s %12s\n", "HOPS", "PROCESS", "MESSAGES", "WAITED US", "WORKED US");
	setopt("aggsortkey");
	printa("%4d  %-34s %@9d %@12d %@12d\n", @n, @waited, @worked);
	trunc(@us);
	trunc(@n);
	trunc(@waited);
	trunc(@worked);
}
