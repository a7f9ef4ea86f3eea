#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A message of the agent that overtakes the node's answer to the call which started it is not lost:
# the command waited for it for ever. Here the node's answers are late on purpose.

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/nodelib.sh"
nodes_begin 400
start early_a
late='Rex = whereis(rex), unregister(rex), register(rex, spawn(fun Loop() -> receive
	{From, {call, M, F, As, _}} ->
		spawn(fun() ->
			R = try apply(M, F, As) catch C:E -> {badrpc, {C, E}} end,
			M =:= erltrace_agent andalso timer:sleep(300),
			From ! {rex, R}
		end), Loop();
	Other -> Rex ! Other, Loop() end end)), ok.'
is 'answers are late' ok "$(at early_a "${late//$'\n'/ }")"
timeout 120 erltrace -N early_a -qn 'BEGIN { printf("begun"); exit(0); }' >o 2>e
is 'the script ran' '0 begun' "$? $(cat o)"
finish
