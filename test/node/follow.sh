#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Requests that are followed by the command: from node to node, and when the command is killed. The
# last line is "N passed, N failed".
#
#	REQUESTS=N             so many requests (1000)
#	ROOT_A=DIR ROOT_B=DIR  the first node, the second one is of the release of OTP in this chroot

# shellcheck disable=SC2016 # $target is D's
# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 600 bare
mkdir -p "$demo_ebin"
erlc -Werror -o "$demo_ebin" "$root/test/node/flow_pair.erl" || exit 1
epmd_begin
roots flow_a "${ROOT_A-}" flow_b "${ROOT_B-}"
start flow_a
start flow_b
host=$(at flow_a 'element(2, lists:split(length("flow_a"), atom_to_list(node()))).' | tr -d '"')

armed='BEGIN { x = 1; } BEGIN /x/ { printf("armed\n"); }'
until_said() { # how often, what
	local i
	for ((i = 0; i < 1200; i++)); do
		[ -e o ] && [ "$(grep -cE -- "$2" o)" -ge "$1" ] && return
		sleep 0.05
	done
	return 1
}
follow() { # how many nodes, arguments: returns when all are armed
	local n=$1
	shift
	rm -f o e
	erltrace "$@" >o 2>e &
	command=$!
	until_said "$n" '^armed$' && return
	echo 'FAILED not armed'
	cat o e
	failed=$((failed + 1))
}

# ---- from node to node ------------------------------------------------------------------------

script='erlang*:flow_pair:request:function-entry { follow(); printf("begin %d %d\n", flowid, erlint(0)); }
erlang*:::flow-send { printf("send %d %d %d %d %d %s\n", args[0], args[1], args[2], args[5], args[7], erlmsg); }
erlang*:::flow-receive { printf("receive %d %d %d %d %d %s\n", args[0], args[1], args[2], args[5], args[7], erlmsg); }
erlang*:::flow-spawn { printf("spawn %d %d %d %d %d\n", args[0], args[1], args[2], args[5], args[7]); }
erlang*:flow_pair:handled:function-entry { printf("handled %d %d %d\n", flowid, flowdepth, erlint(0)); }
erlang*:::flow-end { printf("end %d %d %d %d %s\n", args[0], args[1], args[4], args[5], args[6]); }'

at flow_a 'flow_pair:start().' >/dev/null
at flow_b "{flow_pair:start(), net_adm:ping('flow_a$host')}." >/dev/null
requests=${REQUESTS:-1000}
follow 2 -N flow_a --cluster -q -xbufsize=32m -xmaxrate=0 -xflowtime=4s -n "$armed" -n "$script"
is 'the requests' 'done' "$(at flow_a "flow_pair:run('flow_b$host', 10, $((requests / 10))).")"
ok 'every flow ends in its node, once' until_said "$requests" '^end '
untrace
is 'exit' 0 "$status"
is 'every tree is exact' ok "$(command erl -noshell -pa "$demo_ebin" -eval "io:format(\"~0p\", [flow_pair:check(\"o\", $requests)]), halt().")"
is 'nothing is dropped' '' "$(cat e)"

# A script of the library sees what happens in its own node, and says where to see the rest.
part() { # script, arguments: of one request
	follow 2 -N flow_a -N flow_b -q -xargref -s "$root/scripts/$1.d" -n "$armed" flow_pair request "${@:2}"
	at flow_a "flow_pair:slow('flow_b$host', 2)." >/dev/null
	ok "$1: the tree" until_said 1 '^flow_pair:request/2 took [0-9]+ us: 6 messages, 1 spawns$'
	untrace
	is "$1: a tree of one node says so" \
		"  only what happened in flow_a$host; of all nodes: erltrace -N NODE -N NODE --follow flow_pair:request/2" \
		"$(grep -E -A 1 ' took ' o | tail -n 1)"
}
part flow
part deadline 0 # ms: every one
# Who began it waits longer than flowtime; a server that waits for its next request does not count.
for limit in 100 60000; do
	follow 2 -N flow_a -N flow_b -q -xargref -s "$root/scripts/deadline.d" -n "$armed" \
		-n 'erlang*:::flow-end { printf("ended %s\n", args[6]); }' flow_pair request $limit
	at flow_a "begin gen_server:stop(flow_pair), flow_pair:start(), flow_pair:run('flow_b$host', 1, 1) end." >/dev/null
	ok "deadline $limit: the first ends" until_said 1 '^ended'
	at flow_b 'sys:suspend(flow_pair).' >/dev/null
	at flow_a "spawn(fun() -> flow_pair:request(1, 'flow_b$host') end)." >/dev/null
	ok "deadline $limit: both end" until_said 2 '^ended'
	at flow_b 'sys:resume(flow_pair).' >/dev/null
	at flow_a '(fun W() -> gen_server:call(flow_pair, count) =:= 4 orelse begin timer:sleep(10), W() end end)().' >/dev/null
	untrace
	is "deadline $limit: how they end" 'ended idle,ended waits,' "$(grep '^ended' o | LC_ALL=C sort | tr '\n' ,)"
	is "deadline $limit: only the one that has not finished" 1 "$(grep -cE '^flow_pair:request/2 ' o)"
	like "deadline $limit: is told" '^flow_pair:request/2 has not finished after ([2-9]|[1-5][0-9])[0-9]{6} us: 1 messages, 0 spawns$' \
		"$(grep '^flow_pair:request/2 ' o)"
done
follow 2 -N flow_a -N flow_b -q -xargref -s "$root/scripts/flowheat.d" -n "$armed" -n 'erlang*:::flow-end { printf("ended\n"); }' flow_pair request
at flow_a "begin gen_server:stop(flow_pair), flow_pair:start(), flow_pair:run('flow_b$host', 1, 3) end." >/dev/null
ok 'flowheat: every flow ends' until_said 3 '^ended$'
untrace
is 'flowheat: messages of both nodes, by their hops' '1 3,2 6,3 3,4 3,5 3,6 3,' \
	"$(awk '$1 ~ /^[1-6]$/ { n[$1] += $(NF - 2) } END { for (i = 1; i <= 6; i++) printf "%d %d,", i, n[i] }' o)"

# What the other node has reported counts, also where this one stood still for longer than flowtime.
follow 2 -N flow_a -N flow_b -q -xflowtime=500ms -n "$armed" -n "$script"
at flow_a "begin sys:suspend(erltrace_flows), gen_server:stop(flow_pair), flow_pair:start(), flow_pair:run('flow_b$host', 1, 1), timer:sleep(1000), sys:resume(erltrace_flows) end." >/dev/null
ok 'stood still: the flow ends' until_said 1 '^end '
untrace
is 'stood still: with all its messages' '6 6 1' "$(awk '$1 == "end" { print $3, $4, $5 }' o)"

# erpc spawns a process there. Its answer has no token; on OTP 25 the caller loses its own by that.
after=1
[ "$(at flow_a 'list_to_integer(erlang:system_info(otp_release)).')" -le 25 ] && after=0
follow 2 -N flow_a -N flow_b -q -n "$armed" -n 'erlang*:flow_pair:ask:function-entry { follow(); }
	erlang*:::flow-spawn { printf("spawn %d %s\n", args[1], args[6]); }
	erlang*:flow_pair:handled:function-entry { printf("%s handled %d %d\n", erlnode, flowid, flowdepth); }
	erlang*:::flow-end { printf("end %d %d %d\n", args[0], args[4], args[5]); }'
at flow_a "begin {P, M} = spawn_monitor(flow_pair, ask, [1, 'flow_b$host']), receive {'DOWN', M, _, P, R} -> R end end." >/dev/null
ok 'erpc: the flow ends' until_said 1 '^end '
untrace
is 'erpc: the flow goes on in the other node, and after the answer' "end 1 0 2
flow_a$host handled $after 0
flow_b$host handled 1 1
flow_b$host handled 1 1
spawn 1 erpc:execute_cast/3
spawn 2 erpc:execute_call/4" "$(grep -E 'handled|spawn|end' o | LC_ALL=C sort)"

# A process that is spawned there with a link exits: nobody receives the signal.
link_away() { # what the caller does before and after it spawns
	follow 2 -N flow_a -N flow_b -q -xflowtime=4s -n "$armed" -n 'erlang*:flow_pair:handled:function-entry { follow(); }
		erlang*:::flow-end { printf("end %s\n", args[6]); }'
	at flow_a "begin {P, M} = spawn_monitor(fun() -> $1, flow_pair:handled(7), Q = spawn_link('flow_b$host', erlang, node, []), $2 end), receive {'DOWN', M, _, P, R} -> R end end." >/dev/null
	ok 'link to another node: the flow ends' until_said 1 '^end '
	untrace
}
link_away ok '{Q, timer:sleep(300)}'
is 'link to another node: an exit signal does not keep it open' 'end done' "$(grep '^end ' o)"
link_away 'process_flag(trap_exit, true)' "receive {'EXIT', Q, _} -> ok end"
is 'link to another node: nor where the caller traps exits' 'end done' "$(grep '^end ' o)"

# A node that does not have the function takes part: what goes there is seen, and leaves no token.
mkdir only
cat >flow_only.erl <<'EOC'
-module(flow_only).
-export([ask/2]).
ask(Id, Node) -> {req, Id, reply} = gen_server:call({flow_pair, Node}, {req, Id, call}, infinity).
EOC
erlc -o only flow_only.erl
[ -n "${ROOT_A-}" ] && mkdir -p "$ROOT_A$tmp" && cp -r only "$ROOT_A$tmp"
at flow_a "{code:add_patha(\"$PWD/only\"), code:ensure_loaded(flow_only)}." >/dev/null
at flow_b '[exit(whereis(flow_pair), kill), timer:sleep(50), flow_pair:start()].' >/dev/null
follow 2 -N flow_a -N flow_b -q -n "$armed" -n 'erlang*:flow_only:ask:function-entry { follow(); }
	erlang*:flow_pair:handled:function-entry { printf("%s handled %d %d\n", erlnode, flowid, flowdepth); }
	erlang*:::flow-end { printf("end %d %d %s\n", args[0], args[4], args[6]); }'
at flow_a "flow_only:ask(1, 'flow_b$host')." >/dev/null
ok 'a node without the function: it takes part' until_said 1 "^flow_b$host handled 1 1\$"
at flow_a 'gen_server:call(flow_pair, count).' >/dev/null
untrace
is 'a node without the function: exit' 0 "$status"
is 'a node without the function: no token is left' '{{0,false},{0,false}}' \
	"$(at flow_a "{flow_pair:tokens(), erpc:call('flow_b$host', flow_pair, tokens, [])}.")"
erltrace -N flow_a -N flow_b --follow flow_only:nosuch >o 2>e
is 'a function that no node has: exit' 1 $?
ok 'a function that no node has is told' grep -q 'flow_only:nosuch.*does not match any probes' e

# A node of another machine, whose clock says something else.
if [ -z "${ROOT_A-}${ROOT_B-}" ]; then
	start flow_c
	CLOCK_BASE=864000 preloaded clock_base start flow_d
	at flow_d "{flow_pair:start(), net_adm:ping('flow_c$host')}." >/dev/null
	clock='BEGIN { printf("%d", timestamp / 1000000000); exit(0); }'
	ok 'the clocks differ' [ "$(erltrace -N flow_d -qn "$clock")" -gt $(($(erltrace -N flow_c -qn "$clock") + 860000)) ]
	for nodes in '-N flow_c -N flow_d' '-N flow_d -N flow_c'; do
		at flow_c 'flow_pair:start().' >/dev/null
		# shellcheck disable=SC2086
		follow 2 $nodes -q -xbufsize=32m -xmaxrate=0 -xflowtime=4s -n "$armed" -n "$script"
		is "$nodes: the requests" 'done' "$(at flow_c "flow_pair:run('flow_d$host', 10, 20).")"
		ok "$nodes: every flow ends" until_said 200 '^end '
		untrace
		is "$nodes: every tree is exact, nothing is received before it is sent" ok \
			"$(command erl -noshell -pa "$demo_ebin" -eval 'io:format("~0p", [flow_pair:check("o", 200)]), halt().')"
		at flow_c 'gen_server:stop(flow_pair).' >/dev/null
	done
	kill -9 "${pid[flow_c]}" "${pid[flow_d]}"
fi

# ---- the command ends ---------------------------------------------------------------------------

nothing_left() { # node
	local i
	for ((i = 0; i < 2400; i++)); do
		[ "$(at "$1" 'flow_pair:tokens().')" = '{0,false}' ] && return
		sleep 0.025
	done
	at "$1" 'flow_pair:tokens().'
	return 1
}
under_load() { # what: while requests go from node to node all the time
	follow 2 -N flow_a -N flow_b -q -n "$armed" \
		-n 'erlang*:flow_pair:request:function-entry { follow(); } erlang*:::flow-send { @ = count(); } tick-10ms { printf("on\n"); }'
	at flow_a "register(load, spawn(fun() -> Cs = flow_pair:load('flow_b$host', 5), receive {stop, P} -> flow_pair:stop(Cs), P ! stopped end end))." >/dev/null
	until_said 30 '^on$'
	is "$1: both nodes follow" '{true,true}' "$(at flow_a "{element(2, flow_pair:tokens()) =/= false, element(2, erpc:call('flow_b$host', flow_pair, tokens, [])) =/= false}.")"
}
killed() { # what
	under_load "$1"
	kill -9 "$command"
	wait "$command" 2>/dev/null
	command=
}
quiet() { at flow_a 'begin load ! {stop, self()}, receive stopped -> ok end end.' >/dev/null; }

under_load 'interrupted'
untrace
is 'interrupted: exit' 0 "$status"
is 'interrupted: no node is waited for' '' "$(cat e)"
is 'interrupted: no token is left, nor the system tracer, while requests go on' '{{0,false},{0,false}}' \
	"$(at flow_a "{flow_pair:tokens(), erpc:call('flow_b$host', flow_pair, tokens, [])}.")"
quiet

killed 'killed'
ok 'killed: no token is left, nor the system tracer, while requests go on' nothing_left flow_a
ok 'killed: the same in the other node' nothing_left flow_b
quiet

# Those of the application stay.
at flow_a 'flow_pair:keep_token().' >/dev/null
token=$(at flow_a 'flow_pair:kept_token().')
killed 'killed beside a token of the application'
for ((i = 0; i < 2400; i++)); do
	[ "$(at flow_a 'seq_trace:get_system_tracer().')" = false ] && break
	sleep 0.025
done
ok 'killed: the system tracer is given back' [ "$i" -lt 2400 ]
is 'killed: the token of the application is untouched' "$token" "$(at flow_a 'flow_pair:kept_token().')"
ok 'killed: beside it none of ours is left, while requests go on' nothing_left flow_a
quiet

# ---- the application takes the system tracer of one node ----------------------------------------

at flow_a 'kept ! stop.' >/dev/null
under_load 'taken away'
at flow_b 'begin register(taker, spawn(fun() -> receive never -> ok end end)), seq_trace:set_system_tracer(whereis(taker)) end.' >/dev/null
for ((i = 0; i < 1200; i++)); do
	[ "$(grep -c 'not followed any more' e)" -ge 2 ] && break
	sleep 0.05
done
ok 'taken away: told in that node' grep -qE 'not followed any more: .*taker.* has taken .* tracer$' e
ok 'taken away: told in the other one' grep -qE "not followed any more: .*taker.* has taken .* tracer in the node .?flow_b$host" e
# It is told before the nodes take their tokens away, which a busy machine is slow with.
ours="{element(1, flow_pair:tokens()), element(1, erpc:call('flow_b$host', flow_pair, tokens, []))}."
for ((i = 0; i < 2400; i++)); do
	[ "$(at flow_a "$ours")" = '{0,0}' ] && break
	sleep 0.025
done
sleep 1
told='element(2, process_info(whereis(taker), message_queue_len)).'
before=$(at flow_b "$told")
sleep 1
is 'taken away: who has taken it is not told of tokens of the other node' "$before" "$(at flow_b "$told")"
is 'taken away: no token is left in any node, while requests go on' '{0,0}' "$(at flow_a "$ours")"
untrace
is 'taken away: exit' 0 "$status"
is 'taken away: the tracer is left to who has it' true "$(at flow_b 'seq_trace:get_system_tracer() =:= whereis(taker).')"
at flow_b 'begin seq_trace:set_system_tracer(false), exit(whereis(taker), kill) end.' >/dev/null
quiet

# ---- a node goes away in the middle of a flow ---------------------------------------------------

at flow_b 'sys:suspend(flow_pair).' >/dev/null
follow 2 -N flow_a -N flow_b -q -xflowtime=500ms -n "$armed" -n "$script"
at flow_a "spawn(fun() -> catch flow_pair:request(1, 'flow_b$host') end)." >/dev/null
ok 'gone: the request is under way' until_said 1 '^send '
kill -9 "${pid[flow_b]}"
ok 'gone: the flow ends' until_said 1 '^end '
untrace
ok 'gone: the command says so' grep -q flow_b e
is 'gone: no token is left' '{0,false}' "$(at flow_a 'flow_pair:tokens().')"

# ---- where it cannot be -----------------------------------------------------------------------

if [ -z "$(no_kernel)" ]; then
	for clause in 'syscall::getppid:entry { @[flowid] = count(); }' 'syscall::getppid:entry { flow->x = 1; }' \
		'syscall::getppid:entry { } erlang*:::flow-send { }'; do
		timeout 60 erltrace -xerrtags -N flow_a -n "$clause" >/dev/null 2>e
		is "in the kernel: exit of $clause" 1 $?
		ok "in the kernel: $clause is refused" grep -q '\[ET_FLOW\] .*inside nodes only' e
	done
fi

finish
