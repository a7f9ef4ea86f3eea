#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow.d: calls that take longer than a limit, as they return, with their arguments. Time is
 * wall-clock time: waiting counts. A chain of tail calls, such as a loop, is one call: its time is
 * that of the whole chain; the function and the arguments are those of the last one in it, which is
 * the one that returns. Of a recursive function only the outermost call appears; the others are part of it. Calls
 * that an exception ends do not return, and do not appear.
 *
 *	erltrace -N NODE -qs slow.d [module=NAME] [over=MICROSECONDS] [for=SECONDS] [function=FUNCTION]
 *
 * Arguments: functions of these modules, a name or a pattern like 'my_*' (all; expensive); how many
 * microseconds are slow (1000); how many seconds to run (until ^C); only these functions, as name,
 * name/arity or pattern (all but those that the compiler made: bodies of comprehensions and funs, such as
 * '-lists/1-lc$^0/1-0-'; '*': these too).
 * Cost: every call of the named functions fires twice, and its arguments are kept until it returns: about 1 us
 * each, by hooks where the node allows it (option calls=fast). Each of the CALLS of these functions inside a
 * call adds that to its time. US is the time without this cost, TRACING the cost that was subtracted: the script
 * measures each event (erlcost). For the VM's or the hooks' work around an event there is a low estimate: a row
 * with a large TRACING still has some of it in US, more of it where the VM traces the calls. Name few
 * functions where a loop calls them.
 * Processes appear by their best name: registered name, label, or first function (flag procs).
 * Sample:
 *	      US  TRACING    CALLS PROCESS                      FUNCTION                     ARGUMENTS
 *	    2105        1        4 demo_report                  demo_store:reserve/2         [tea,3]
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs
#pragma D option dynvarsize=16m
#pragma D option calls=fast

inline uint64_t limit = $2 ? $2 : 1000;
self uint64_t at[int];
self uint64_t n, from[int]; /* calls so far; by the beginning of this one */
self uint64_t took, by[int]; /* ns that events have taken so far; by the beginning of this call */
self int in[int];

BEGIN
{
	seconds = $3;
	printf("%8s %8s %8s %-28s %-28s %s\n", "US", "TRACING", "CALLS", "PROCESS", "FUNCTION", "ARGUMENTS");
}

/* What the event before this one took. */
erlang*:$$1:$$4:function-entry, erlang*:$$1:$$4:function-return { self->took += erlcost; }

/* A tail call goes on with the time of the call that it takes the place of. */
erlang*:$$1:$$4:function-entry
/!arg3/
{
	self->from[arg2] = self->n;
	self->by[arg2] = self->took;
	self->at[arg2] = timestamp;
}

erlang*:$$1:$$4:function-entry { self->n++; self->in[arg2] = id; }

erlang*:$$1:$$4:function-return
{
	this->ns = self->at[arg2] ? timestamp - self->at[arg2] : 0;
	this->traced = self->took - self->by[arg2];
	this->traced = this->traced < this->ns ? this->traced : this->ns;
}

erlang*:$$1:$$4:function-return
/self->at[arg2] && this->ns - this->traced >= limit * 1000 &&
 (!self->at[arg2 - 1] || self->in[arg2 - 1] != self->in[arg2])/
{
	printf("%8d %8d %8d %-28s %-28s %s\n", (this->ns - this->traced) / 1000, this->traced / 1000,
	    self->n - self->from[arg2] - 1, erlproc, copyinstr(arg1), erlargs);
	@n = count();
}

erlang*:$$1:$$4:function-return
{
	self->at[arg2] = 0;
	self->from[arg2] = 0;
	self->by[arg2] = 0;
	self->in[arg2] = 0;
}

tick-1s /--seconds == 0/ { exit(0); }

END { printa("%@d calls\n", @n); trunc(@n); }
