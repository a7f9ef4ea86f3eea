#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscalls.d: system calls of each Erlang process: how many, and how long they took. Time is
 * wall-clock time: waiting counts. The script leaves out the VM's own system calls (idle schedulers,
 * ports and sockets that are ready), which belong to no process.
 *
 *	erltrace -N NODE -qs syscalls.d [for=SECONDS] [call=NAME]
 *
 * Arguments: how many seconds to run (until ^C); only these calls, a name or a pattern like
 * 'write*' (all).
 * Needs: root, and the node on this machine.
 * Cost: nothing is traced inside the node; each system call on this machine costs about 0.2 us,
 * those of the node 0.5 us.
 * Sample:
 *	PROCESS                  CALL                CALLS         US
 *	demo_logger              writev                500       3755
 */
#pragma D option quiet
#pragma D option seen
#pragma D option defaultargs


BEGIN { seconds = $1; }

syscall::$$2:entry /erlpid != ""/ { self->at = timestamp; }

syscall::$$2:return /self->at/
{
	@n[erlproc, probefunc] = count();
	@ns[erlproc, probefunc] = sum(timestamp - self->at);
	self->at = 0;
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	normalize(@ns, 1000);
	printf("%-24s %-16s %8s %10s\n", "PROCESS", "CALL", "CALLS", "US");
	printa("%-24s %-16s %@8d %@10d\n", @n, @ns);
	trunc(@n);
	trunc(@ns);
}
