#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * states.d: what a process does with its time: it runs, collects garbage, is runnable (it could run,
 * but others have their turn), or waits: in which function, and in a call of a gen_server or the
 * like for whom. The sum of all rows is the elapsed time.
 *
 *	erltrace -N NODE -qs states.d process=NAME [for=SECONDS]
 *
 * Arguments: the process, by registered name, pid, label or the function that it began with (if several
 * have it, one of them); how many seconds to run (until ^C, or until the process ends).
 * The time from a message to the process that it wakes counts as waiting: latency.d shows how
 * long it is. Dirty NIFs and BIFs run. WHERE is the function in which the process continues.
 * Cost: no other process is traced (flags call, running_procs, garbage_collection), about 0.7 us each
 * time it runs. When the script starts, it asks all processes for their names.
 * Sample:
 *	demo_store <0.92.0>: 5003127 us
 *	STATE               TIMES           US     o/oo WHERE                        FOR
 *	collecting             12          480        0
 *	runnable                3           61        0 demo_store:count/2
 *	running               361        22060        4
 *	waiting                40       401233       80 gen:do_call/4                demo_journal
 *	waiting               321      4579293      915 gen_server:loop/7
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs
#pragma D option processes=$$1
#pragma D option aggsortkey

uint64_t began, since, now, ended; /* timestamp */
string target, name, what, where, whom, before, place, call;

BEGIN { seconds = $2; }

BEGIN
/$$1 == ""/
{
	printf("states.d: which process? Its name or pid is the first argument\n");
	exit(1);
}

/* Who it is, and what it is at. */
state:::process
/!began && (args[0]->name == $$1 || args[0]->pid == $$1)/
{
	name = args[0]->name;
	where = args[0]->function;
	what = args[0]->status == "garbage_collecting" ? "collecting" :
		args[0]->status == "suspended" ? "waiting" : args[0]->status;
	began = timestamp;
	since = timestamp;
	target = args[0]->pid;
}

/* It is asked once more, and runs for that: from then on its events tell. */
state:::wait
/args[0]->pid == target && call == ""/
{
	call = args[0]->callee_name;
	whom = call;
}

erlang*:gen:call/4:function-entry
/erlpid == target/
{
	call = erlpeerproc != NULL && erlpeerproc != "" ? erlpeerproc : erlarg(1);
}

erlang*:::process-scheduled, erlang*:::process-unscheduled, erlang*:::gc_minor-start,
erlang*:::gc_major-start, erlang*:::gc_minor-end, erlang*:::gc_major-end, erlang*:::process-exit
/erlpid == target/
{
	@times[what, where, whom] = count();
	@us[what, where, whom] = sum(timestamp - since);
	@share[what, where, whom] = sum(timestamp - since);
	since = timestamp;
}

erlang*:::process-scheduled
/erlpid == target/
{
	what = "running";
	where = "";
	whom = "";
}

erlang*:::process-unscheduled
/erlpid == target/
{
	what = arg2 == 1 ? "runnable" : "waiting";
	where = copyinstr(arg1);
	whom = where == "gen:do_call/4" && arg2 != 1 ? call : "";
}

erlang*:::gc_minor-start, erlang*:::gc_major-start
/erlpid == target/
{
	before = what;
	place = where;
	what = "collecting";
	where = "";
	whom = "";
}

erlang*:::gc_minor-end, erlang*:::gc_major-end
/erlpid == target && what == "collecting"/
{
	what = before == "" ? "running" : before;
	where = place;
}

erlang*:::process-exit
/erlpid == target/
{
	printf("%s %s has ended: %s\n", name, target, copyinstr(arg1));
	ended = timestamp;
	exit(0);
}

tick-1s /began && --seconds == 0/ { exit(0); }

END { now = ended ? ended : timestamp; }

END
/began && !ended/
{
	@times[what, where, whom] = count();
	@us[what, where, whom] = sum(now - since);
	@share[what, where, whom] = sum(now - since);
}

END
/began/
{
	printf("%s %s: %d us\n", name, target, (now - began) / 1000);
	normalize(@us, 1000);
	normalize(@share, (now - began) / 1000 + 1);
	printf("%-14s %10s %12s %8s %-28s %s\n", "STATE", "TIMES", "US", "o/oo", "WHERE", "FOR");
	printa("%-14s %@10d %@12d %@8d %-28s %s\n", @times, @us, @share);
}

END { trunc(@times); trunc(@us); trunc(@share); }
