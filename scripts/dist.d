#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dist.d: messages to other nodes: how many, how large, and who sends them; nodes that come and go;
 * busy connections, with the bytes that wait for sending, and processes suspended because of them,
 * including those suspended before the script began.
 *
 *	erltrace -N NODE -qs dist.d [for=SECONDS] [rows=N]
 *
 * Arguments: how many seconds to run (until ^C); how many of the busiest senders to show (20).
 * Cost: flag send: about 0.2 us for each message of the node, 0.5 us for one that leaves it. A round of
 * all processes every second: about 0.5 us each, and 2 % of the schedulers' time at most (option statebudget).
 * The VM does not report which connection a suspended process waits for: it is one of the busy ones, or
 * the process waits for a port, or another process suspended it. MS is how long the script has seen it so.
 * Sample (sizes in words):
 *	nodeup b@here
 *
 *	TO NODE                         MESSAGES      WORDS   LARGEST
 *	b@here                                25         75         3
 *
 *	FROM                 TO NODE                         MESSAGES
 *	<0.127.0>            b@here                                25
 *
 *	BUSY NODE                      WAITING                  TIMES
 *	b@here                         <0.127.0>                    1
 *
 *	BUSY CONNECTION                       QUEUE BYTES         MS
 *	b@here                                    1148576       4002
 *
 *	SUSPENDED                    IN                                     MS
 *	<0.127.0>                    demo_exact:worker/1                  4002
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs

inline int most = $2 ? $2 : 20;

inline int64_t gap = 5000000000; /* ns: what was not seen for so long begins anew */

int64_t busy[string], busy_seen[string], held[string], held_seen[string];

BEGIN { seconds = $1; looks = 0; over = 0; }

erlang*:::dist-monitor { printf("%s %s\n", copyinstr(arg1), copyinstr(arg2)); }

erlang*:::dist-port_busy { @busy[copyinstr(arg2), copyinstr(arg3)] = count(); }

erlang*:::message-send-remote
{
	@n[copyinstr(arg1)] = count();
	@words[copyinstr(arg1)] = sum(arg3);
	@largest[copyinstr(arg1)] = max(arg3);
	@from[copyinstr(arg0), copyinstr(arg1)] = count();
}

state:::node-1s
/args[0]->busy/
{
	this->node = args[0]->name;
	busy[this->node] = timestamp - busy_seen[this->node] < gap ? busy[this->node] : timestamp;
	busy_seen[this->node] = timestamp;
	@bytes[this->node] = max(args[0]->queue);
	@busy_ms[this->node] = max((timestamp - busy[this->node]) / 1000000);
}

state:::process-1s
/args[0]->suspended/
{
	this->pid = args[0]->pid;
	held[this->pid] = timestamp - held_seen[this->pid] < gap ? held[this->pid] : timestamp;
	held_seen[this->pid] = timestamp;
	@held[args[0]->name, args[0]->within] = max((timestamp - held[this->pid]) / 1000000);
}

state:::round-1s /arg3/ { looks++; }

tick-1s /--seconds == 0/ { over = 1; }
tick-1s /over && looks > 0/ { exit(0); }
state:::round-1s /over && looks > 0/ { exit(0); } /* there is a look, however few seconds */

END /!looks/ { printf("no look at all processes was over: there may be more that are suspended\n"); }

END
{
	printf("\n%-30s %9s %10s %9s\n", "TO NODE", "MESSAGES", "WORDS", "LARGEST");
	printa("%-30s %@9d %@10d %@9d\n", @n, @words, @largest);
	trunc(@from, most);
	printf("\n%-20s %-30s %9s\n", "FROM", "TO NODE", "MESSAGES");
	printa("%-20s %-30s %@9d\n", @from);
	printf("\n%-30s %-20s %9s\n", "BUSY NODE", "WAITING", "TIMES");
	printa("%-30s %-20s %@9d\n", @busy);
	printf("\n%-30s %18s %10s\n", "BUSY CONNECTION", "QUEUE BYTES", "MS");
	printa("%-30s %@18d %@10d\n", @bytes, @busy_ms);
	printf("\n%-28s %-30s %10s\n", "SUSPENDED", "IN", "MS");
	printa("%-28s %-30s %@10d\n", @held);
	trunc(@n); trunc(@words); trunc(@largest); trunc(@from); trunc(@busy);
	trunc(@bytes); trunc(@busy_ms); trunc(@held);
}
