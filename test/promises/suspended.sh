#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A command that is suspended, by the defaults: what it does not read is dropped and counted, the node
# works on, and after 30 s of silence its watchdog ends the script. The last line is
# "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 300 bare
epmd_begin
start stands
state='{[P || P <- [new_processes | processes()], erlang:trace_info(P, flags) =/= {flags, []}], erlang:trace_info({lists, zip3, 3}, traced)}.'
before=$(at stands "$state")
trace stands -qn 'erlang*:lists:zip3/3:function-entry { @ = count(); printf("line %200s\n", "x"); }' || finish
at stands 'register(load, spawn(fun L() -> [lists:zip3([], [], []) || _ <- lists:seq(1, 100)], receive {stop, P} -> P ! stopped after 1 -> L() end end)), ok.' >/dev/null
memory='erlang:memory(total).'
was=$(at stands "$memory")
kill -STOP "$command"
began=$(date +%s%N)
most=0
for ((i = 0; i < 700; i++)); do
	[ "$(at stands "$state")" = "$before" ] && break
	now=$(($(at stands "$memory") - was))
	((now > most)) && most=$now
	sleep 0.1
done
ms=$((($(date +%s%N) - began) / 1000000))
is 'suspended: off by itself' "$before" "$(at stands "$state")"
ok "suspended: after $ms ms" [ "$ms" -lt 36000 ]
ok "suspended: $((most >> 10)) KB more in the node" [ "$most" -lt $((64 << 20)) ]
at stands 'load ! {stop, self()}, receive stopped -> ok end.' >/dev/null
kill -CONT "$command"
wait "$command"
code=$?
command=''
ok "suspended: it says so when it goes on: exit $code" [ "$code" != 0 ]
ok 'suspended: drops are told, or why it ended' grep -qE 'drops|unresponsive|gone away' e
head -n 5 e
echo "promise 8: a suspended command: off after $((ms / 1000)).$((ms % 1000 / 100)) s (30 s of silence), $((most >> 10)) KB more in the node; then it says: $(grep -oE '[^:]*(unresponsive|gone away).*' e | head -n 1 | head -c 120)"
becomes 'suspended: nothing is left' "$before" stands "$state"
finish
