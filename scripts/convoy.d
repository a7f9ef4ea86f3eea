#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convoy.d: processes that wait for each other at an ETS table: which tables have such a convoy, who waits
 * there, for whom, and how long. A table has one lock for all writers, unless it has the option
 * write_concurrency; readers exclude writers.
 *
 *	erltrace -N NODE -qs convoy.d [for=SECONDS] [rows=N]
 *
 * Arguments: how many seconds to run (until ^C); how many rows of each kind to show (20).
 * A call has waited for another one if that was in progress when it began, and ended before it; two readers
 * do not wait. WAITED US is from the beginning of the one to the end of the other, by the clock. Calls
 * without a common lock may overlap by chance: their worst time is as short as the operation.
 * Cost: calls of ets' built-in functions and their returns are traced (flags call, return_to): 0.9 us
 * each, as measured.
 * Processes appear by their best name: registered name, label, or first function (flag procs).
 * A table without a name appears by the one given to ets:new/2: tables of one name are one.
 * Sample:
 *	TABLE                      CALLS      WAITS    WAITED US     WORST US
 *	demo_store                  8120       1302        40233         2031
 *
 *	TABLE                  CALLER                 WAITED FOR               TIMES    WAITED US     WORST US
 *	demo_store             demo_order:init/1      demo_store                1302        40233         2031
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs
#pragma D option aggsortrev
#pragma D option aggsortpos=1
#pragma D option aggtop=20

/* Of each table, the last call that has ended, of those that write (0) and of those that only read (1). */
uint64_t began[string, int], ended[string, int]; /* timestamp */
string by[string, int], called[string, int];

BEGIN { seconds = $1; }
BEGIN /$2 > 0/ { setopt("aggtop", $$2); }

erlang*:::ets-return { this->reads = 0; }

erlang*:ets:lookup*:ets-return, erlang*:ets:member:ets-return, erlang*:ets:first*:ets-return,
erlang*:ets:last*:ets-return, erlang*:ets:next*:ets-return, erlang*:ets:prev*:ets-return,
erlang*:ets:match:ets-return, erlang*:ets:match_object:ets-return, erlang*:ets:select:ets-return,
erlang*:ets:select_reverse:ets-return, erlang*:ets:select_count:ets-return, erlang*:ets:slot:ets-return,
erlang*:ets:info:ets-return
{
	this->reads = 1;
}

erlang*:::ets-return
{
	this->at = timestamp - arg2;
	this->other = this->reads ? 0 : ended[args[1], 1] > ended[args[1], 0];
	@calls[args[1]] = count();
	@waits[args[1]] = sum(0);
	@us[args[1]] = sum(0);
	@worst[args[1]] = max(0);
}

erlang*:::ets-return
/by[args[1], this->other] != erlpid && began[args[1], this->other] < this->at &&
	ended[args[1], this->other] > this->at/
{
	this->ns = ended[args[1], this->other] - this->at;
	this->whom = called[args[1], this->other];
	@waits[args[1]] = sum(1);
	@us[args[1]] = sum(this->ns);
	@worst[args[1]] = max(this->ns / 1000);
	@n[args[1], erlproc, this->whom] = count();
	@pus[args[1], erlproc, this->whom] = sum(this->ns);
	@pworst[args[1], erlproc, this->whom] = max(this->ns / 1000);
}

erlang*:::ets-return
{
	by[args[1], this->reads] = erlpid;
	called[args[1], this->reads] = erlproc;
	began[args[1], this->reads] = this->at;
	ended[args[1], this->reads] = timestamp;
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	normalize(@us, 1000);
	normalize(@pus, 1000);
	setopt("aggsortpos", "2");
	printf("%-22s %10s %10s %12s %12s\n", "TABLE", "CALLS", "WAITS", "WAITED US", "WORST US");
	printa("%-22s %@10d %@10d %@12d %@12d\n", @calls, @waits, @us, @worst);
	setopt("aggsortpos", "1");
	printf("\n%-22s %-22s %-22s %7s %12s %12s\n", "TABLE", "CALLER", "WAITED FOR", "TIMES",
		"WAITED US", "WORST US");
	printa("%-22s %-22s %-22s %@7d %@12d %@12d\n", @n, @pus, @pworst);
	trunc(@calls); trunc(@waits); trunc(@us); trunc(@worst);
	trunc(@n); trunc(@pus); trunc(@pworst);
}
