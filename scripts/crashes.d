#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crashes.d: processes that exit abnormally: for other reasons than normal, shutdown, {shutdown, _} and
 * {Ref, return, _} (the exit of erpc calls from other nodes). The script prints the first crash of each kind at
 * once, with the line where it happened if it has a stack, and below that the whole reason; at the end, the
 * number of each kind, and the last one.
 *
 *	erltrace -N NODE -qs crashes.d [for=SECONDS] [process=NAME]
 *
 * Arguments: how many seconds to run (until ^C); only processes that are called so, by a registered
 * name or function such as my_server:init/1 (all).
 * Cost: process events (flag procs), about 1.5 us for each process.
 * CLASS is error or throw if the reason has a stack, otherwise exit. TAG is the beginning of the
 * reason: badmatch of {{badmatch,X},Stack}, noproc of {noproc,Call}; of an exception of Elixir its
 * module. The line is that of the first function on the stack that is not of the module erlang, so
 * for 1 + a, or a BIF that fails, the line of the call.
 * Processes appear by their best name: registered name, label, or first function (flag procs).
 * Sample:
 *	PROCESS                      CLASS TAG              WHERE, OR REASON
 *	demo_order:run/1             exit  cancelled        cancelled
 *	demo_price:init/1            error badarith         demo_price:price/2 line 31
 *		{badarith,[{erlang,'+',[1,a],[{error_info,#{module=>erl_erts_errors}}]},{demo_price,pri...
 *
 *	   COUNT PROCESS                      CLASS TAG              WHERE
 *	       1 demo_price:init/1            error badarith         demo_price:price/2 line 31
 *	      12 demo_order:run/1             exit  cancelled
 *
 *	last: demo_order:run/1: cancelled
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs
#pragma D option strsize=1k

inline int crashed = erlreason != "normal" && erlreason != "shutdown" &&
    !erlmatch(erlreason, "{shutdown, _}") && !erlmatch(erlreason, "{_, return, _}") && ($$2 == "" || erlproc == $$2);

this term_t tag, at;
this string class, where;

BEGIN { seconds = $1; printf("%-28s %-5s %-16s %s\n", "PROCESS", "CLASS", "TAG", "WHERE, OR REASON"); }

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
	this->where = "";
	who = erlproc;
	last = erlreason;
}

/* {_, [{erlang, '+', ..}, {Module, Function, Arity or arguments, [{file, _}, {line, _}]} | _]} */
erlang*:::process-exit
/crashed && this->class != "exit"/
{
	this->at = erlmatch(erlreason, "{_, [{erlang, _, _, _}, {erlang, _, _, _}, At | _]}") ? this->At :
	    erlmatch(erlreason, "{_, [{erlang, _, _, _}, Next | _]}") ? this->Next : erlhd(erlelement(2, erlreason));
	this->where = strjoin(erlelement(1, this->at), strjoin(":", strjoin(erlelement(2, this->at),
	    strjoin("/", erltype(erlelement(3, this->at)) == "list" ? lltostr(erlsize(erlelement(3, this->at))) :
	    (string)erlelement(3, this->at)))));
	this->where = erlmatch(this->at, "{_, _, _, [_, {line, Line} | _]}") ?
	    strjoin(this->where, strjoin(" line ", this->Line)) : this->where;
}

erlang*:::process-exit
/crashed/
{
	@n[erlproc, this->class, this->tag, this->where] = count();
	this->first = !seen[erlproc, this->class, this->tag, this->where]++;
}

erlang*:::process-exit
/crashed && this->first && this->where == ""/
{
	printf("%-28s %-5s %-16s %s\n", erlproc, this->class, this->tag, erlreason);
}

erlang*:::process-exit
/crashed && this->first && this->where != ""/
{
	printf("%-28s %-5s %-16s %s\n\t%s\n", erlproc, this->class, this->tag, this->where, erlreason);
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	printf("\n%8s %-28s %-5s %-16s %s\n", "COUNT", "PROCESS", "CLASS", "TAG", "WHERE");
	printa("%@8d %-28s %-5s %-16s %s\n", @n);
	trunc(@n);
}

END /who != ""/ { printf("\nlast: %s: %s\n", who, last); }
