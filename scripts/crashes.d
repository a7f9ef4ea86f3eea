#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crashes.d: processes that end abnormally, which is for other reasons than normal, shutdown and
 * {shutdown, _}; and not for {Ref, return, _}, as processes of calls from other nodes (erpc) end. The
 * first crash of each kind is shown at once with its whole reason; at the end, how many there were of
 * each kind, and the last one.
 *
 *	erltrace -N NODE -qs crashes.d [SECONDS] [PROCESS]
 *
 * Arguments: how many seconds to run (until ^C); only processes that are called so, by a registered
 * name or function such as my_server:init/1 (all).
 * Cost: process events (flag procs), about 1.5 us for each process.
 * CLASS is error or throw if the reason has a stack, otherwise exit. TAG is what the reason begins
 * with: badmatch of {{badmatch,X},Stack}, noproc of {noproc,Call}; of an exception of Elixir its
 * module.
 * Processes are shown by what they are called: registered name, label, first function (flag procs).
 * Sample:
 *	PROCESS                      CLASS TAG              REASON
 *	demo_order:run/1             exit  cancelled        cancelled
 *	demo_price:init/1            error badarith         {badarith,[{demo_price,price,2,[{file,"d...
 *
 *	   COUNT PROCESS                      CLASS TAG
 *	       1 demo_price:init/1            error badarith
 *	      12 demo_order:run/1             exit  cancelled
 *
 *	last: demo_order:run/1: cancelled
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option strsize=1k

inline int crashed = erlreason != "normal" && erlreason != "shutdown" &&
    !erlmatch(erlreason, "{shutdown, _}") && !erlmatch(erlreason, "{_, return, _}") && ($$2 == "" || erlproc == $$2);

this term_t tag;
this string class;

BEGIN { seconds = $1; printf("%-28s %-5s %-16s %s\n", "PROCESS", "CLASS", "TAG", "REASON"); }

/* {{{Tag, ..}, Stack}, Call}: the reason of one who called one that crashed */
erlang*:::process-exit
/crashed/
{
	this->class = erlmatch(erlreason, "{{nocatch, _}, [_ | _]}") ? "throw" :
	    erlmatch(erlreason, "{_, [{_, _, _, _} | _]}") ? "error" : "exit";
	this->tag = erlreason;
	this->tag = erltype(this->tag) == "tuple" ? erlelement(1, this->tag) : this->tag;
	this->tag = erltype(this->tag) == "tuple" ? erlelement(1, this->tag) : this->tag;
	this->tag = erltype(this->tag) == "tuple" ? erlelement(1, this->tag) : this->tag;
	this->tag = erlmatch(this->tag, "#{'__struct__' := _}") ?
	    erlget("'__struct__'", this->tag) : this->tag;
	@n[erlproc, this->class, this->tag] = count();
	who = erlproc;
	last = erlreason;
}

erlang*:::process-exit
/crashed && !seen[erlproc, this->class, this->tag]++/
{
	printf("%-28s %-5s %-16s %s\n", erlproc, this->class, this->tag, erlreason);
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	printf("\n%8s %-28s %-5s %s\n", "COUNT", "PROCESS", "CLASS", "TAG");
	printa("%@8d %-28s %-5s %s\n", @n);
	trunc(@n);
}

END /who != ""/ { printf("\nlast: %s: %s\n", who, last); }
