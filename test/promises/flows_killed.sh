#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Promise 22: the command is killed while requests go from node to node: how long it takes until no process
# has a token and the system tracer is free, in both nodes; five times. The last line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 300 bare
mkdir -p "$demo_ebin"
erlc -Werror -o "$demo_ebin" "$root/test/node/flow_pair.erl" || exit 1
epmd_begin
start flow_a
start flow_b
host=$(at flow_a 'element(2, lists:split(length("flow_a"), atom_to_list(node()))).')
at flow_a 'flow_pair:start().' >/dev/null
at flow_b "{flow_pair:start(), net_adm:ping('flow_a$host')}." >/dev/null
at flow_a "register(load, spawn(fun() -> flow_pair:load('flow_b$host', 5), receive stop -> ok end end))." >/dev/null

longest=0
for ((round = 0; round < 5; round++)); do
	rm -f o
	erltrace -N flow_a -N flow_b -q -n 'erlang*:flow_pair:request:function-entry { follow(); }
		erlang*:::flow-send { @ = count(); } tick-10ms { printf("on\n"); }' >o 2>e &
	command=$!
	holds o on
	becomes 'both nodes follow' '{true,true}' flow_a "{element(2, flow_pair:tokens()) =/= false, element(2, erpc:call('flow_b$host', flow_pair, tokens, [])) =/= false}."
	# asked for before: what takes time is their end
	at flow_b "spawn(fun() -> register(b, self()), T = flow_pair:ended(), receive {P, ask} -> P ! {b, T} end end)." >/dev/null
	at flow_a "spawn(fun() -> register(a, self()), T = flow_pair:ended(), receive {P, ask} -> P ! {a, T} end end)." >/dev/null
	killed=$(date +%s%3N)
	kill -9 "$command"
	wait "$command" 2>/dev/null
	command=
	for n in a b; do
		ended=$(at flow_$n "begin $n ! {self(), ask}, receive {$n, T} -> T end end.")
		((ended - killed > longest)) && longest=$((ended - killed))
	done
	is 'no token is left' '{{0,false},{0,false}}' "$(at flow_a "{flow_pair:tokens(), erpc:call('flow_b$host', flow_pair, tokens, [])}.")"
done
ok 'within a second' [ "$longest" -le 1000 ]
echo "promise 22: the command killed while requests go on, 5 times: no token left in either node within $longest ms"
finish
