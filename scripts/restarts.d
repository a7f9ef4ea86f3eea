#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restarts.d: children that supervisors restart, and their exit reasons; crashes that proc_lib
 * reports. The script prints each when it happens; at the end, how many there were of each.
 *
 *	erltrace -N NODE -qs restarts.d [for=SECONDS]
 *
 * Arguments: how many seconds to run (until ^C).
 * Cost: only two functions of supervisor and proc_lib are traced (flag call), which OTP calls when a
 * child of a supervisor or a process of proc_lib exits. The script does not change the node's logger.
 * WHERE is the first function on the stack that is not of the module erlang, with its line, if the reason
 * has a stack; the rest of the reason follows it. A long reason is cut; crashes.d has it whole.
 * Processes appear by their best name: registered name, label, or first function (flag procs).
 * Sample:
 *	WHAT    PROCESS              CHILD          CLASS WHERE, WHY
 *	crash   demo_price:init/1                   error demo_price:price/2 line 31: badarith
 *	restart demo_sup             demo_price           demo_price:price/2 line 31: badarith
 *
 *	RESTARTS SUPERVISOR                   CHILD
 *	       1 demo_sup                     demo_price
 *
 *	 CRASHES PROCESS                      CLASS WHERE, WHY
 *	       1 demo_price:init/1            error demo_price:price/2 line 31: badarith
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs
#pragma D option strsize=100

this term_t why, stack, at;
this string where;

BEGIN { seconds = $1; printf("%-7s %-20s %-14s %-5s %s\n", "WHAT", "PROCESS", "CHILD", "CLASS", "WHERE, WHY"); }

erlang*:::supervisor-restart
{
	this->crashed = erlmatch(erlarg(0), "{_, [{_, _, _, _} | _]}");
	this->why = this->crashed ? erlelement(1, erlarg(0)) : erlarg(0);
	this->stack = erlelement(2, erlarg(0));
}

erlang*:::process-crash
{
	this->crashed = erlmatch(erlarg(3), "[{_, _, _, _} | _]");
	this->why = erlarg(1);
	this->stack = erlarg(3);
}

erlang*:::supervisor-restart, erlang*:::process-crash
{
	this->where = "";
}

/* [{erlang, '+', ..}, {Module, Function, Arity or arguments, [{file, _}, {line, _}]} | _] */
erlang*:::supervisor-restart, erlang*:::process-crash
/this->crashed/
{
	this->at = erlmatch(this->stack, "[{erlang, _, _, _}, {erlang, _, _, _}, At | _]") ? this->At :
	    erlmatch(this->stack, "[{erlang, _, _, _}, Next | _]") ? this->Next : erlhd(this->stack);
	this->where = strjoin(erlelement(1, this->at), strjoin(":", strjoin(erlelement(2, this->at),
	    strjoin("/", erltype(erlelement(3, this->at)) == "list" ? lltostr(erlsize(erlelement(3, this->at))) :
	    (string)erlelement(3, this->at)))));
	this->where = erlmatch(this->at, "{_, _, _, [_, {line, Line} | _]}") ?
	    strjoin(this->where, strjoin(" line ", this->Line)) : this->where;
	this->where = strjoin(this->where, ": ");
}

erlang*:::supervisor-restart
{
	printf("%-7s %-20s %-14s %-5s %s%s\n", "restart", erlproc, args[1], "", this->where, this->why);
	@restarts[erlproc, args[1]] = count();
}

erlang*:::process-crash
{
	printf("%-7s %-20s %-14s %-5s %s%s\n", "crash", erlproc, "", args[1], this->where, this->why);
	@crashes[erlproc, args[1], this->where, this->why] = count();
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	printf("\n%8s %-28s %s\n", "RESTARTS", "SUPERVISOR", "CHILD");
	printa("%@8d %-28s %s\n", @restarts);
	printf("\n%8s %-28s %-5s %s\n", "CRASHES", "PROCESS", "CLASS", "WHERE, WHY");
	printa("%@8d %-28s %-5s %s%s\n", @crashes);
	trunc(@restarts); trunc(@crashes);
}
