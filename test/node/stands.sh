#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A command that stands still (^Z), and a node of -c that ends at once: the script goes on where it
# can, and otherwise what was gathered is printed and what is missing is told. The last line is
# "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 500 bare
epmd_begin
start stands_a
# In whatever session, from OTP 27 on.
is_traced='case erlang:function_exported(trace, session_info, 1) of
	true -> lists:any(fun(S) -> try apply(trace, info, [S, {lists, zip3, 3}, traced]) =:= {traced, local} catch _:_ -> false end end, apply(trace, session_info, [all]));
	false -> erlang:trace_info({lists, zip3, 3}, traced) =:= {traced, local}
end'
traced="${is_traced//$'\n'/ }."
# Every time other keys: previews of some 100 KB.
keys='erlang*:lists:zip3/3:function-entry { @[copyinstr(arg1), n++ % 4000] = count(); }'
call() { # times
	at stands_a "[lists:zip3([], [], []) || _ <- lists:seq(1, $1)], done." >/dev/null
}

# A machine that acknowledges is no cut network, however long its buffer is full: 8 s.
trace stands_a -xsilence=0 -qn "$keys" || finish
call 4000
kill -STOP "$command"
for ((i = 0; i < 80; i++)); do
	call 4000
	sleep 0.1
done
is 'suspended: the script goes on' true "$(at stands_a "$traced")"
kill -CONT "$command"
untrace
is 'suspended: and ends as it should: exit' 0 "$status"
is 'suspended: all are counted' $((81 * 4000)) "$(awk 'NF == 3 { n += $3 } END { print n }' o)"
is 'suspended: nothing is told' '' "$(cat e)"

# After the silence that is allowed the node ends the script; then it is told why.
trace stands_a -xsilence=6s -qn 'erlang*:lists:zip3/3:function-entry { @ = count(); } tick-100ms { printf("tick\n"); }' || finish
call 7
# What is gathered comes with the next preview: after a second, or several where the node is slow to make one.
for ((i = 0; i < 2400 && $(grep -c tick o) < 100; i++)); do
	sleep 0.025
done
kill -STOP "$command"
for ((i = 0; i < 1200; i++)); do
	[ "$(at stands_a "$traced")" = false ] && break
	sleep 0.025
done
is 'silent: off' false "$(at stands_a "$traced")"
kill -CONT "$command"
wait "$command"
is 'silent: exit' 1 $?
command=''
ok 'silent: in DTrace'\''s words' grep -q 'Abort due to systemic unresponsiveness' e
ok 'silent: what has happened' grep -qE '^erltrace: this command was blocked for [0-9.]+ s' e
ok 'silent: what is printed is not of now' grep -q '^erltrace: aggregations as they last came:$' e
is 'silent: what was gathered is printed' 7 "$(grep -oE '^ +[0-9]+$' o | tr -d ' ')"

# -c: the node's calls are traced from the first one on, and it ends behind the last one.
cat >stands.erl <<X
-module(stands).
-export([wait/0, calls/1]).
%% Until it is traced.
wait() ->
    case $is_traced of
        true -> ok;
        false -> timer:sleep(1), wait()
    end.
calls(N) -> [lists:zip3([], [], []) || _ <- lists:seq(1, N)], halt(0).
X
erlc stands.erl
for sleep in 0 0 20 200; do
	rm -f o e
	timeout 100 erltrace -c "erl -noshell -start_epmd false -sname stands_c -eval stands:wait(),timer:sleep($sleep),stands:calls(5)." \
		-qn 'erlang*:lists:zip3/3:function-entry { @ = count(); }' >o 2>e
	is "ends at once, $sleep ms: exit" 0 $?
	ok "ends at once, $sleep ms: how old the numbers are, or that there are none" \
		grep -qE '^erltrace: (aggregations as they were [0-9.]+ s before it ended:|no aggregations have come from stands_c@.*, which ran for [0-9.]+ s: what it may have gathered is lost)$' e
	ok "ends at once, $sleep ms: they are printed, if any" [ "$(grep -c 'as they were' e)" = "$(grep -cE '^ +[1-5]$' o)" ]
done
# A script that gathered nothing in all this time has not lost all of it.
timeout 100 erltrace -c 'erl -noshell -start_epmd false -sname stands_c -eval stands:wait(),timer:sleep(1000),halt(0).' \
	-qn 'erlang*:lists:zip3/3:function-entry { @ = count(); }' >o 2>e
is 'ends, nothing was gathered: exit' 0 $?
ok 'ends, nothing was gathered: no loss is told that was none' \
	grep -qE '^erltrace: no aggregations have come from stands_c@.*, which ran for [0-9.]+ s: what it may have gathered is lost$' e
# Without aggregations there is nothing to tell.
timeout 100 erltrace -c 'erl -noshell -start_epmd false -sname stands_c -eval stands:wait(),stands:calls(5).' \
	-qn 'erlang*:lists:zip3/3:function-entry { printf("."); }' >o 2>e
is 'ends at once, no aggregations: exit' 0 $?
is 'ends at once, no aggregations' '' "$(cat e)"
finish
