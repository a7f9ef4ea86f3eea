/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flight recorder of snapshot.sh: every step is kept, and one of more than 150 ms is told, if it has
 * waited for the lock: on a busy machine others take as long now and then.
 */
#pragma D option quiet
#pragma D option bufpolicy=ring

erlang*:stall:step/2:function-entry
{
	self->at = timestamp;
	self->waited = 0;
	printf("step %d", erlint(0));
}

erlang*:stall:wait_for_lock/1:function-entry
{
	printf("waits for the lock");
	self->waited = 1;
}

erlang*:stall:step/2:function-return
/!self->waited || timestamp - self->at < 150000000/
{
	printf("done");
}

erlang*:stall:step/2:function-return
/self->waited && timestamp - self->at >= 150000000/
{
	printf("took %d ms", (timestamp - self->at) / 1000000);
	snapshot("a step took too long");
}
