#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user.d: probes that Erlang code fires itself, by dtrace:p, dtrace:pn, dtrace:s and the same of
 * dyntrace: each one when it fires, and their number at the end.
 *
 *	erltrace -N NODE -qs user.d [number=N]
 *
 * Arguments: only the numbered probe of pn with this number (all 951).
 * Cost: about 0.5 us for a probe that is fired; with dyntrace 0.5 us more (its calls are traced).
 * Sample:
 *	PROBE    PROCESS            TAG        INTEGERS AND TEXTS
 *	i4s4     <0.127.0>                     1 2 0 0 'text' 'more' '' ''
 *	n7       <0.127.0>                     1 0 0 0 'seven' '' '' ''
 *	s1                                     hello
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs

inline string number = $$1;

BEGIN { printf("%-8s %-18s %-10s %s\n", "PROBE", "PROCESS", "TAG", "INTEGERS AND TEXTS"); }

erlang*:::user_trace-s1
{
	printf("%-8s %-18s %-10s %s\n", "s1", "", "", copyinstr(arg0));
	@n["s1"] = count();
}

erlang*:::user_trace-i4s4, erlang*:::user_trace-n*
/number == "" || probename == "user_trace-i4s4" || probename == strjoin("user_trace-n", number)/
{
	printf("%-8s %-18s %-10s %d %d %d %d '%s' '%s' '%s' '%s'\n", substr(probename, 11),
	    copyinstr(arg0), arg1 == NULL ? "" : copyinstr(arg1), arg2, arg3, arg4, arg5,
	    arg6 == NULL ? "" : copyinstr(arg6), arg7 == NULL ? "" : copyinstr(arg7),
	    arg8 == NULL ? "" : copyinstr(arg8), arg9 == NULL ? "" : copyinstr(arg9));
	@n[substr(probename, 11)] = count();
}

END { printf("\n"); printa("%-8s %@10d\n", @n); trunc(@n); }
