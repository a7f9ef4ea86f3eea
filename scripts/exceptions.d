#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exceptions.d: which exceptions leave the functions of a module: class, reason, and how often.
 * A reason that is a tuple appears as its first element: badmatch, noproc. An
 * exception that passes several functions counts for each of them; a chain of tail calls is one call
 * of its last function. A throw that nobody catches is an error, nocatch.
 *
 *	erltrace -N NODE -qs exceptions.d module=NAME [for=SECONDS] [rows=N]
 *
 * Arguments: functions of these modules, a name or a pattern like 'my_*'; how many seconds to run (until
 * ^C); how many rows to show (all).
 * Cost: every call of the named functions is traced (flags call, return_to), about 1 us each, and
 * leaves a stack frame until it ends (exception_trace). A loop of tail calls leaves one in each
 * round: do not name modules with loops that run forever. The loops of gen_server and the like are
 * in modules of OTP.
 * Sample:
 *	   COUNT FUNCTION                             CLASS   REASON
 *	     132 demo_store:reserve/2                 error   badmatch
 *	       7 demo_web:handle/1                    throw   not_found
 */
#pragma D option quiet
#pragma D option seen
#pragma D option aggsortrev

inline string module = $$1; /* it cannot be left out; what comes after this can */
#pragma D option defaultargs

BEGIN { seconds = $2; }
BEGIN /$3 > 0/ { setopt("aggtop", $$3); }

erlang*:$$1::function-exception
{
	this->in = erltype(erlreason) == "tuple" && erlsize(erlreason) > 0;
}

erlang*:$$1::function-exception /this->in/
{
	@[copyinstr(arg1), erlclass, (string)erlelement(1, erlreason)] = count();
}

erlang*:$$1::function-exception /!this->in/
{
	@[copyinstr(arg1), erlclass, (string)erlreason] = count();
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	printf("%8s %-36s %-7s %s\n", "COUNT", "FUNCTION", "CLASS", "REASON");
	printa("%@8d %-36s %-7s %s\n", @);
}
