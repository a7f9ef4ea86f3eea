#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info.d: one process at a glance: its name, current function, mailbox, memory, binaries, links, how much it
 * works and waits, for whom, and where.
 *
 *	erltrace -N NODE -qs info.d process=NAME [for=SECONDS]
 *
 * Arguments: the process, by registered name, pid, label or the function that it began with (if several
 * have it, one of them); how many seconds to look at it (1).
 * 'more' is since the beginning. The stack is the most frequent one of 97 samples per second. The process runs
 * for a moment to answer these, which counts among the times that it ran.
 * Cost: no other process is traced (flags running_procs, garbage_collection), about 0.7 us each time it runs. The
 * script asks all processes for their names every second, about 0.3 us each.
 * Sample:
 *	demo_store <0.92.0>: waiting in gen_server:loop/7
 *	began       demo_store:init/1, by <0.90.0>, priority normal
 *	mailbox     0 messages, 0 more
 *	memory      21.0 KB, 0 B more; heap 2586 words, stack 11 words, 12 garbage collections
 *	binaries    3 references to 1.1 MB
 *	links       2; it monitors 0, 1 monitor it
 *	work        98311 reductions a second; ran 361 times, 0.4 % of the time
 *	waits for   nobody
 *
 *	of 97 looks it was most often in
 *	              gen_server:loop/7
 *	              proc_lib:init_p_do_apply/3
 *	               97
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs
#pragma D option processes=$$1

string target, name, initial, where, what, parent, priority, whom;
int64_t mailbox, mailbox0, memory, memory0, heap, words, reductions, reductions0, binaries, bytes;
int64_t links, monitors, monitored;
uint64_t at, at0, ran, runs, gcs, samples;
self uint64_t since;

BEGIN { seconds = $2 ? $2 : 1; looks = 0; rounds = 0; over = 0; }

BEGIN
/$$1 == ""/
{
	printf("info.d: which process? Its name or pid is the first argument\n");
	exit(1);
}

state:::process-1s
/target == "" && (args[0]->name == $$1 || args[0]->pid == $$1)/
{
	target = args[0]->pid;
	mailbox0 = args[0]->mailbox;
	memory0 = args[0]->memory;
	reductions0 = args[0]->reductions;
	at0 = timestamp;
}

state:::process-1s
/args[0]->pid == target/
{
	looks++;
	at = timestamp;
	name = args[0]->name;
	what = args[0]->status;
	where = args[0]->function;
	initial = args[0]->initial;
	parent = args[0]->parent;
	priority = args[0]->priority;
	mailbox = args[0]->mailbox;
	memory = args[0]->memory;
	heap = args[0]->heap;
	words = args[0]->stack;
	reductions = args[0]->reductions;
	binaries = args[0]->binaries;
	bytes = args[0]->binary_bytes;
	links = args[0]->links;
	monitors = args[0]->monitors;
	monitored = args[0]->monitored_by;
}

state:::wait-1s /args[0]->pid == target/ { whom = args[0]->callee_name; }

erlang*:::process-scheduled /erlpid == target/ { self->since = timestamp; runs++; }

erlang*:::process-unscheduled
/self->since/
{
	ran += timestamp - self->since;
	self->since = 0;
}

erlang*:::gc_minor-end, erlang*:::gc_major-end /erlpid == target/ { gcs++; }

profile-wall-97 /erlpid == target/ { samples++; @stack[ustack()] = count(); }

tick-1s /--seconds == 0/ { over = 1; }

state:::round-1s { rounds++; }
state:::round-1s /over && looks > 1/ { exit(0); }

state:::round-1s
/over && rounds > 1 && looks < 2/
{
	printf("info.d: %s\n", looks ? "the process has ended" : "there is no such process");
	exit(1);
}

END
/looks/
{
	this->ns = timestamp - at0;
	this->between = at > at0 ? at - at0 : 1; /* one look: no more reductions either */
	printf("%s %s: %s in %s\n", name, target, what, where);
	printf("began       %s, by %s, priority %s\n", initial, parent != "" ? parent : "nobody", priority);
	printf("mailbox     %d messages, %d more\n", mailbox, mailbox - mailbox0);
	printf("memory      %B, %B more; heap %d words, stack %d words, %d garbage collections\n", memory,
		memory - memory0, heap, words, gcs);
	printf("binaries    %s references to %B\n", binaries < 0 ? "many" : lltostr(binaries), bytes);
	printf("links       %d; it monitors %d, %d monitor it\n", links, monitors, monitored);
	printf("work        %d reductions a second; ran %d times, %d.%d %% of the time\n",
		(reductions - reductions0) * 1000000000 / this->between, runs, ran * 100 / this->ns,
		ran * 1000 / this->ns % 10);
	printf("waits for   %s\n", whom != "" ? whom : "nobody");
	printf("\nof %d looks it was most often in\n", samples);
	trunc(@stack, 1);
	printa(@stack);
}

END { trunc(@stack); }
