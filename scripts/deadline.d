#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deadline.d: requests that take longer than a limit, each as a tree of its messages and spawns. A
 * request begins at a call of a function, and includes everything that this causes (doc/guide.md).
 *
 *	erltrace -N NODE -qs deadline.d module=NAME function=NAME [over=MILLISECONDS] [for=SECONDS] [one_in=N]
 *
 * Arguments: requests are calls of this function; how many milliseconds are too long (100); how many
 * seconds to run (until ^C); one in so many requests is followed (1: all).
 * Cost: every message of a followed request is traced twice, about 2 us each, every call of the
 * function once. At most 512 requests at a time: those beyond are counted at the end.
 * The script shows a request when it is over, or when nothing has happened in it for 2 seconds. If the process
 * that began it still waits then, it has not finished. Each row has the time since its beginning. Rows above
 * cause deeper rows. The script counts what happens in other nodes, but does not show it: a tree says so, and
 * names the command that joins the nodes.
 * Sample:
 *	demo_order:run/1 took 4641 us: 3 messages, 0 spawns
 *	     197 us   demo_order:run/1 -> demo_journal: {'$gen_call',{<0.852.0>,[alias|#Ref<0.1.2.3>]},{wri
 *	     214 us     demo_journal takes it after 17 us
 *	    4574 us     demo_journal -> demo_order:run/1: {[alias|#Ref<0.1.2.3>],ok}
 *	    4610 us       demo_order:run/1 takes it after 38 us
 *	    4615 us       demo_order:run/1 -> demo_desk: {done,8082,205}
 *	    4641 us         demo_desk takes it after 26 us
 */
#pragma D option quiet
#pragma D option seen

inline string module = $$1, function = $$2;

/* The arguments after these may be left out. */
#pragma D option defaultargs
#pragma D option flowtime=2s
#pragma D option nspec=512
#pragma D option dynvarsize=16m

inline uint64_t limit = ($$3 != "" ? $3 : 100) * 1000000ULL;
inline int one_in = $5 ? $5 : 1;

BEGIN { seconds = $4; calls = 0; }

erlang*:$$1:$$2:function-entry /calls++ % one_in == 0/ { follow(); }

erlang*:::flow-begin { flow->began = timestamp; flow->spec = speculation(); }

erlang*:::flow-begin /!flow->spec/ { @missed = count(); }

/* To another node: terms of this one have 0 as its number. */
erlang*:::flow-send /index(args[4], "<0.") < 0/ { flow->away = 1; }
erlang*:::flow-spawn /index(args[4], "<0.") < 0/ { flow->away = 1; }

erlang*:::flow-send /flow->spec/
{
	speculate(flow->spec);
	printf("%8d us %*s%s -> %s: %.60s\n", (timestamp - flow->began) / 1000, (args[5] < 16 ? 2 * args[5] : 32), "",
	    erlproc, erlpeerproc, erlmsg);
}

erlang*:::flow-receive /flow->spec/
{
	speculate(flow->spec);
	printf("%8d us %*s%s takes it after %d us\n", (timestamp - flow->began) / 1000,
	    (args[5] < 16 ? 2 * args[5] : 32) + 2, "", erlproc, args[6] / 1000);
}

erlang*:::flow-spawn /flow->spec/
{
	speculate(flow->spec);
	printf("%8d us %*s%s spawns %s: %s\n", (timestamp - flow->began) / 1000, (args[5] < 16 ? 2 * args[5] : 32), "",
	    erlproc, args[4], args[6]);
}

/* One that has not finished may yet take longer than any limit. */
erlang*:::flow-end { flow->slow = args[3] >= limit || args[6] == "waits"; }

erlang*:::flow-end /flow->spec && flow->slow/
{
	printf("%s %s %d us: %d messages, %d spawns%s\n", args[2],
	    args[6] == "waits" ? "has not finished after" : "took", args[3] / 1000, args[4], args[5],
	    args[6] == "cut" ? ", and more (option flowhops)" : args[6] == "aged" ? ", and goes on" : "");
}

erlang*:::flow-end /flow->spec && flow->slow && flow->away/
{
	printf("  only what happened in %s; of all nodes: erltrace -N NODE -N NODE --follow %s\n", erlnode, args[2]);
}

erlang*:::flow-end /flow->spec && flow->slow/ { commit(flow->spec); }

erlang*:::flow-end /flow->spec && !flow->slow/ { discard(flow->spec); }

tick-1s /--seconds == 0/ { exit(0); }

END { printa("%@d requests were not looked at: there were too many at a time\n", @missed); trunc(@missed); }
