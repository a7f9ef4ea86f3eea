#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locks.d: locks inside the VM that its threads wait for: which lock, which processes wait, in which function,
 * how often and how long, and the stacks that cause most waits.
 *
 *	erltrace -N NODE -qs locks.d [for=SECONDS] [rows=N]
 *
 * Arguments: how many seconds to run (until ^C); how many rows and stacks to show (10).
 * A thread that finds a lock taken spins, yields in between (sched_yield), and in the end sleeps
 * until it gets the lock (futex): YIELDS and SLEEPS are how often, US how long both took. The script does not
 * see spinning itself. It leaves out idle schedulers, which run no process.
 * LOCK is erllock: "table NAME", "process NAME" for the locks of a process, such as that of its mailbox, "run
 * queue 1" of a scheduler; beam.smp+0x433180 is a lock of the VM as a whole, 0x7f65ebb01b48 is any
 * other lock, "?" an unknown one. The function shows the purpose of such a lock: register
 * and whereis wait for the table of names, list_to_atom for that of atoms.
 * Needs: root, and the node on this machine.
 * Cost: nothing is traced inside the node; each of these system calls on this machine costs about 0.2 us,
 * those of the node more, for their stacks, and to look for the lock in 54 words of registers and
 * stack, by one to three reads of the thread's memory each.
 * Sample:
 *	LOCK                       PROCESS              FUNCTION               YIELDS   SLEEPS          US
 *	table demo_store           demo_desk            ets:insert/2              411        1      797587
 *
 *	waits, by stack:
 *	              libc.so.6`sched_yield+0x7
 *	              ets:insert/2
 *	              demo_desk:handle_info/2 (demo_desk.erl:31)
 *	              411
 */
#pragma D option quiet
#pragma D option seen
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
	self->lock = erllock;
	self->sleeps = 0;
}

/* FUTEX_WAIT, FUTEX_WAIT_BITSET */
syscall::futex:entry
/erlpid != "" && ustackdepth > 1 && ((arg1 & 127) == 0 || (arg1 & 127) == 9)/
{
	self->at = timestamp;
	self->lock = erllock;
	self->sleeps = 1;
}

syscall::sched_yield:return, syscall::futex:return
/self->at/
{
	this->ns = timestamp - self->at;
	this->lock = self->lock != "" ? self->lock : "?";
	@yields[this->lock, erlproc, usym(ucaller)] = sum(!self->sleeps);
	@sleeps[this->lock, erlproc, usym(ucaller)] = sum(self->sleeps);
	@us[this->lock, erlproc, usym(ucaller)] = sum(this->ns);
	@stacks[ustack(20)] = count();
	self->at = 0;
	self->lock = 0;
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	normalize(@us, 1000);
	printf("%-26s %-20s %-20s %8s %8s %11s\n", "LOCK", "PROCESS", "FUNCTION", "YIELDS", "SLEEPS", "US");
	printa("%-26s %-20s %-20A %@8d %@8d %@11d\n", @yields, @sleeps, @us);
	setopt("aggsortpos", "0");
	printf("\nwaits, by stack:");
	printa(@stacks);
	trunc(@yields); trunc(@sleeps); trunc(@us); trunc(@stacks);
}
