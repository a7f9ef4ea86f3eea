#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow.d: calls that take longer than a limit, as they return, with their arguments. Time is
 * wall-clock time: waiting counts. A chain of tail calls, such as a loop, is one call: its time is
 * that of the whole chain; the function and the arguments are those of the last one in it, which is
 * the one that returns. For a recursive function only the outermost call is shown: the others are part of it. A
 * call that an exception ends does not return, and is not shown.
 *
 *	erltrace -N NODE -qs slow.d [module=NAME] [over=MICROSECONDS] [for=SECONDS] [function=FUNCTION]
 *
 * Arguments: functions of these modules, a name or a pattern like 'my_*' (all; expensive); how many
 * microseconds are slow (1000); how many seconds to run (until ^C); only these functions, as name,
 * name/arity or pattern (all but those that the compiler made: bodies of comprehensions and funs, such as
 * '-lists/1-lc$^0/1-0-'; '*': these too).
 * Cost: every call of the named functions fires twice, and its arguments are kept until it returns: about 1 us
 * each, by hooks where the node allows it (option calls=fast). A call takes longer by that for each call of
 * these functions inside it, of which there are CALLS. US is the time without that, TRACING what was taken off:
 * each event is measured (erlcost). What the VM or the hooks do around an event is an estimate, and low: a row
 * with a large TRACING still has some of it in US, more of it where the VM traces the calls. Name few
 * functions where a loop calls them.
 * Processes are shown by what they are called: registered name, label, first function (flag procs).
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
