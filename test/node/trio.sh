#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Requests through three nodes, followed by the command: every tree is exactly as flow_trio.erl has it,
# none is mixed with another. The last line is "N passed, N failed".
#
#	REQUESTS=N                      so many requests (1000)
#	ROOT_A=DIR ROOT_B=DIR ROOT_C=DIR  a node is of the release of OTP in this chroot
#	SAY=TEXT                        what the line with the figures begins with

# shellcheck disable=SC2016,SC2089,SC2090,SC2154 # D's; in a trap
# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
requests=${REQUESTS:-1000}
nodes_begin $((300 + requests / 10)) bare
mkdir -p "$demo_ebin"
erlc -Werror -o "$demo_ebin" "$root/test/node/flow_trio.erl" || exit 1
epmd_begin
roots flow_a "${ROOT_A-}" flow_b "${ROOT_B-}" flow_c "${ROOT_C-}"
for n in flow_a flow_b flow_c; do
	start $n
done
host=$(at flow_a 'element(2, lists:split(length("flow_a"), atom_to_list(node()))).')
nodes="['flow_a$host','flow_b$host','flow_c$host']"
for n in flow_a flow_b flow_c; do
	is "$n" '{ok,[pong,pong,pong]}' "$(at $n "{flow_trio:start($nodes), [net_adm:ping(N) || N <- $nodes]}.")"
done

script='BEGIN { x = 1; } BEGIN /x/ { printf("armed\n"); }
erlang*:flow_trio:request:function-entry { follow(); printf("b %d %d\n", flowid, erlint(0)); }
erlang*:::flow-send { printf("s %d %d %d %d %d %s\n", args[0], args[1], args[2], args[5], args[7], erlmsg); }
erlang*:::flow-receive { printf("r %d %d %d %d\n", args[0], args[1], args[5], args[7]); }
erlang*:::flow-spawn { printf("p %d %d %d %d %d %s\n", args[0], args[1], args[2], args[5], args[7], args[6]); }
erlang*:flow_trio:handled:function-entry { printf("h %d %d %d\n", flowid, flowdepth, erlint(0)); }
erlang*:::flow-end { printf("e %d %d %d %d\n", args[0], args[1], args[4], args[5]); }'
export script
command erl -noshell -start_epmd false -hidden -sname "driver$at_host" -pa "$demo_ebin" -setcookie "$(cat .erlang.cookie)" \
	-eval "flow_trio:drive(\"$(command -v erltrace)\", $nodes, os:getenv(\"script\"), $requests, \"${SAY-}\")." >drive.out
code=$?
grep -v 'passed,' drive.out
is 'every tree is exact' 0 $code
for n in flow_a flow_b flow_c; do
	is "$n: no token is left" '[]' \
		"$(at $n '[P || P <- processes(), {_, T} <- [process_info(P, sequential_trace_token)], T =/= []].')"
done

finish
