#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slowwrite.d: writes (write, writev, pwrite and so on) that take longer than a limit, and the
 * Erlang function that ran then: the innermost one of the named modules. A function that an
 * exception has ended appears until its process calls the next one, or returns from one.
 *
 *	erltrace -N NODE -qs slowwrite.d module=NAME [over=MICROSECONDS] [for=SECONDS]
 *
 * Arguments: functions of these modules, a name or a pattern like 'my_*'; how many microseconds
 * are slow (1000; 0: each write); how many seconds to run (until ^C).
 * Needs: root, and the node on this machine. The script does not see modules that are loaded later.
 * Cost: about 2 us for every call of the named functions and for its return: both are passed to the
 * kernel. Other writes on this machine cost about 0.2 us.
 * Sample:
 *	      US PROCESS                      FUNCTION                         CALL
 *	    1730 demo_logger                  demo_log:append/2                writev
 */
#pragma D option quiet
#pragma D option seen

inline string module = $$1;

/* The arguments after this may be left out. */
#pragma D option defaultargs

self uint64_t in[int]; /* names as the node has them: their text is read where it is printed */
self int depth;

BEGIN
{
	seconds = $3;
	limit = $$2 == "" ? 1000000 : $2 * 1000;
	printf("%8s %-28s %-32s %s\n", "US", "PROCESS", "FUNCTION", "CALL");
}

erlang*:$$1::function-entry { self->depth = arg2; self->in[arg2] = arg1; }
erlang*:$$1::function-return { self->depth = arg2 - 1; self->in[arg2] = 0; }

syscall::*write*:entry /self->depth > 0/ { self->at = timestamp; }

syscall::*write*:return /self->at && timestamp - self->at >= limit/
{
	this->us = (timestamp - self->at) / 1000;
	printf("%8d %-28s %-32s %s\n", this->us, erlproc, copyinstr(self->in[self->depth]), probefunc);
	@n[copyinstr(self->in[self->depth])] = count();
}

syscall::*write*:return { self->at = 0; }

tick-1s /--seconds == 0/ { exit(0); }

END { printa("%@8d writes in %s\n", @n); trunc(@n); }
