/* SPDX-License-Identifier: Apache-2.0 */
/* The flight recorder of snapshot.sh: every step is kept, and one of more than 150 ms is told. */
#pragma D option quiet
#pragma D option bufpolicy=ring

erlang*:stall:step/2:function-entry
{
	self->at = timestamp;
	printf("step %d", erlint(0));
}

erlang*:stall:wait_for_lock/1:function-entry
{
	printf("waits for the lock");
}

erlang*:stall:step/2:function-return
/timestamp - self->at < 150000000/
{
	printf("done");
}

erlang*:stall:step/2:function-return
/timestamp - self->at >= 150000000/
{
	printf("took %d ms", (timestamp - self->at) / 1000000);
	snapshot("a step took too long");
}
