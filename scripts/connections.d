#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connections.d: TCP connections made and accepted: by whom, with which peer, how long it took.
 *
 *	erltrace -N NODE -qs connections.d [for=SECONDS]
 *
 * Arguments: how many seconds to run (until ^C).
 * There is a line for each connection made, when gen_tcp:connect/4 returns, with its result; and one for each
 * accepted (gen_tcp:accept/2), when its peer is known. The script reads sockets every second; it only counts,
 * at the end, accepted ones that close sooner.
 * Cost: calls of the two functions and their returns are traced (flags call, return_to), 2 us each; 4 us for
 * each socket of the node every second, and 2 % of the schedulers' time at most (option statebudget).
 * Processes appear by their best name: registered name, label, or first function (flag procs).
 * Sample:
 *	WHAT     PROCESS                      PEER                              MS RESULT
 *	connect  demo_client                  "localhost":5672                   2 ok
 *	accept   demo_acceptor                127.0.0.1:41822                    0 127.0.0.1:5672
 *
 *	WHAT     PROCESS                          TIMES
 *	connect  demo_client                          1
 *	accept   demo_acceptor                        1
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs
#pragma D option zdefs

self int64_t at;
string by[string];

BEGIN
{
	seconds = $1;
	printf("%-8s %-28s %-28s %7s %s\n", "WHAT", "PROCESS", "PEER", "MS", "RESULT");
}

erlang*:gen_tcp:connect/4:function-entry { self->at = timestamp; }

erlang*:gen_tcp:connect/4:function-return
/self->at/
{
	this->address = erlarg(0);
	this->port = erlarg(1);
	this->result = erlmatch(erlret, "{ok, _}") ? "ok" : erlelement(2, erlret);
	printf("%-8s %-28s %-28s %7d %s\n", "connect", erlproc,
		strjoin(this->address, strjoin(":", this->port)), (timestamp - self->at) / 1000000, this->result);
	@["connect", erlproc] = count();
	self->at = 0;
}

erlang*:gen_tcp:accept/2:function-return
/erlmatch(erlret, "{ok, Socket}")/
{
	by[this->Socket] = erlproc;
	@["accept", erlproc] = count();
}

state:::socket-1s
/by[args[0]->id] != 0/
{
	printf("%-8s %-28s %-28s %7d %s\n", "accept", by[args[0]->id], args[0]->remote, 0, args[0]->local);
	by[args[0]->id] = 0;
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	printf("\n%-8s %-28s %10s\n", "WHAT", "PROCESS", "TIMES");
	printa("%-8s %-28s %@10d\n", @);
	trunc(@);
}
