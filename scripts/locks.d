#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locks.d: locks inside the VM that its threads wait for: which processes wait, in which function, how often
 * and how long, and the stacks that most of it comes from.
 *
 *	erltrace -N NODE -qs locks.d [SECONDS] [HOW MANY]
 *
 * Arguments: how many seconds to run (until ^C); how many rows and stacks to show (10).
 * A thread that finds a lock taken tries again, lets others run in between (sched_yield), and in the end sleeps
 * until it gets the lock (futex): YIELDS and SLEEPS are how often, US how long both took. Tries themselves
 * are not seen. Schedulers that have nothing to do run no process and are left out.
 * The function tells the lock: those of ets wait for a table (convoy.d shows which, and for whom), register
 * and whereis for the table of names, list_to_atom for that of atoms, those that send for the queue of
 * the receiver.
 * Needs: root, and the node on this machine.
 * Cost: nothing is traced inside the node; each of these system calls on this machine costs about 0.2 us,
 * those of the node 0.5 us, and what their stacks take.
 * Sample:
 *	PROCESS                  FUNCTION                             YIELDS   SLEEPS          US
 *	demo_desk                ets:insert/2                            411        1      797587
 *
 *	waits, by stack:
 *	              libc.so.6`sched_yield+0x7
 *	              ets:insert/2
 *	              demo_desk:handle_info/2 (demo_desk.erl:31)
 *	              411
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option aggsortrev
#pragma D option aggsortpos=2
#pragma D option aggtop=10

BEGIN { seconds = $1; }
BEGIN /$2 > 0/ { setopt("aggtop", $$2); }

syscall::sched_yield:entry
/erlpid != "" && ustackdepth > 1/
{
	self->at = timestamp;
	self->sleeps = 0;
}

/* FUTEX_WAIT, FUTEX_WAIT_BITSET */
syscall::futex:entry
/erlpid != "" && ustackdepth > 1 && ((arg1 & 127) == 0 || (arg1 & 127) == 9)/
{
	self->at = timestamp;
	self->sleeps = 1;
}

syscall::sched_yield:return, syscall::futex:return
/self->at/
{
	this->ns = timestamp - self->at;
	@yields[erlproc, usym(ucaller)] = sum(!self->sleeps);
	@sleeps[erlproc, usym(ucaller)] = sum(self->sleeps);
	@us[erlproc, usym(ucaller)] = sum(this->ns);
	@stacks[ustack(12)] = count();
	self->at = 0;
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	normalize(@us, 1000);
	printf("%-24s %-34s %8s %8s %11s\n", "PROCESS", "FUNCTION", "YIELDS", "SLEEPS", "US");
	printa("%-24s %-34A %@8d %@8d %@11d\n", @yields, @sleeps, @us);
	setopt("aggsortpos", "0");
	printf("\nwaits, by stack:");
	printa(@stacks);
	trunc(@yields); trunc(@sleeps); trunc(@us); trunc(@stacks);
}
