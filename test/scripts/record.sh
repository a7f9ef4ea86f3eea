#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Records the tests of this folder anew: for each script of the library events of a small workload, for
# `erltrace test test/scripts`. (Those of restarts and sysmon are written by hand.) Look at what it changes before you keep it.
#
#	test/scripts/record.sh [NAME ...]    default: all; then: erltrace test --update test/scripts

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/nodelib.sh"
nodes_begin 200
start demo_a -pa "$ebin" +S 2
start demo_b
other=$(at demo_b 'node().')
wanted=" $* "

record() { # script, expression; how long it takes to be seen, "": at once; arguments of the script
	local script=$1 expression=$2 seconds=$3 recorder file=$root/test/scripts/$1.events
	shift 3
	[[ $wanted == '  ' || $wanted == *" $script "* ]] || return
	rm -f "$file"
	erltrace record -N demo_a ${seconds:+--seconds "$seconds"} --events 300 -o "$file" \
		-s "$root/scripts/$script.d" "$@" 2>"$script.log" &
	recorder=$!
	holds "$file" '"erltrace":"events"'
	at demo_a "$expression" >/dev/null
	[ -n "$seconds" ] || kill -INT $recorder
	wait $recorder
	is "$script" 0 $?
	cat "$script.log"
}

at demo_a 'spawn(fun() -> register(demo_idle, self()), receive stop -> ok end end), gen_server:start({local, demo_server}, demo_exact, [], []), spawn(fun() -> register(demo_client, self()), gen_server:call(demo_server, {nap, 600000}, infinity) end), ets:new(demo_table, [named_table, public]), ets:insert(demo_table, {1, 2}), ok.' >/dev/null

record atoms '[binary_to_atom(<<"an_atom_", (integer_to_binary(N))/binary>>) || N <- lists:seq(1, 12)].' ''
record births '{demo_exact:spawns(20), demo_exact:exits(7, {bad, thing})}.' ''
record busy 'demo_exact:burns(5).' 2
record calls '{demo_exact:calls(40), demo_exact:nested(10), demo_exact:tail(20)}.' '' demo_exact
record connections '{ok, L} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}]), {ok, No} = inet:port(L), {ok, C} = gen_tcp:connect({127, 0, 0, 1}, No, []), {ok, S} = gen_tcp:accept(L), [gen_tcp:close(X) || X <- [C, S, L]].' ''
record cpu '[demo_exact:burns(100) || _ <- [1, 2, 3]].' 2
record crashes '{demo_exact:exits(3, {bad, thing}), demo_exact:exits(2, {bad, {other}}), demo_exact:exits(4, {{{badkey, k}, [{m, f, 1, []}]}, {gen_server, call, [x]}}), demo_exact:exits(2, normal), demo_exact:exits(1, {{nocatch, up}, [{m, f, 1, [{file, "m.erl"}, {line, 7}]}]})}.' ''
record dist "demo_exact:remote($other, 12)." ''
record ets 'demo_exact:ets(12).' ''
record exceptions '{demo_exact:throws(3), demo_exact:raises(2, 0, [throw, error, exit])}.' '' demo_exact
record fan 'demo_exact:fan_in(10, 3).' ''
record gc 'demo_exact:gcs(20).' ''
record gencall '{demo_exact:slow_server(4, 3), catch gen_server:call(demo_idle, x, 10)}.' '' 2000
record heap 'demo_exact:grow(20).' ''
record heat '{demo_exact:calls(30), demo_exact:nested(10)}.' '' demo_exact
record hibernate 'demo_exact:hibernates(6).' ''
record hogs '[demo_exact:burns(100) || _ <- [1, 2, 3]].' 2
record late 'demo_exact:timers(5).' ''
record latency 'demo_exact:wakes(20).' ''
record mailbox '[demo_idle ! N || N <- lists:seq(1, 25)].' 3 20
record memory 'ok.' 2 0 3
record msgs 'demo_exact:sends(30, 10).' ''
record ports '{demo_exact:port(5, 10)}.' ''
record profile '{demo_exact:nested(10), demo_exact:body(5), demo_exact:tail(20), demo_exact:throws(3)}.' '' demo_exact
record profproc 'demo_exact:nested(12).' '' demo_exact
record queues 'demo_exact:queue(20).' ''
record runq 'ok.' 2
record sched 'demo_exact:wakes(10).' ''
record slow 'demo_exact:naps(4, 2).' '' demo_exact 2000 0 nap
record sockets '{ok, L} = gen_tcp:listen(0, [binary, {active, false}, {ip, {127, 0, 0, 1}}]), {ok, No} = inet:port(L), {ok, C} = gen_tcp:connect({127, 0, 0, 1}, No, [binary, {active, false}]), {ok, S} = gen_tcp:accept(L), gen_tcp:send(C, binary:copy(<<1>>, 54321)), gen_tcp:recv(S, 54321), put(sockets, [L, C, S]).' 2 0 5
record spawners 'demo_exact:spawns(6).' ''
record spawns 'demo_exact:exits(5, {bad, thing}).' ''
record states '[gen_server:cast(demo_server, x) || _ <- [1, 2, 3]].' 2 demo_server
record tables 'ets:insert(demo_table, {2, 3}).' 3 0 3
record timers 'demo_exact:timers(5).' ''
record top 'ok.' 5 memory 0 5
record user 'demo_exact:user(4).' ''
record waits 'ok.' 2
record wall 'ok.' 1
finish
