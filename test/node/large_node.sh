#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# To purge a module the VM asks every process, so in a node with very many of them erltrace's code does not go
# at once when the last command leaves: it rests, then goes module by module. Commands that come meanwhile,
# of this build and of another one, or that are killed, find it whole, and in the end nothing is left.

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 500 bare
epmd_begin

ours='length([M || M <- erlang:loaded(), string:find(atom_to_list(M), "erltrace") =/= nomatch])'
state="{length(processes()), length(erlang:ports()), $ours, nodes(hidden), [N || N <- registered(), string:find(atom_to_list(N), \"erltrace\") =/= nomatch], [T || T <- ets:all(), T =:= erltrace_loader], [M || M <- erlang:loaded(), erlang:check_old_code(M)]}."
loader='element(1, sys:get_state(erltrace_loader)).'
script='BEGIN { printf("armed\n"); } erlang*:lists:zip3/3:function-entry { @ = count(); }'
work='[lists:zip3([], [], []) || _ <- lists:seq(1, 100)], done.'
hello='BEGIN { printf("hello\n"); exit(0); }'

counts() { # what: a command counts 100 calls
	erltrace -N large -qn "$script" >o 2>e &
	command=$!
	ok "$1: it is armed" holds o '^armed'
	at large "$work" >/dev/null
	untrace
	is "$1: what it counted, what it said" '100 ' "$(grep -oE '[0-9]+' o) $(cat e)"
}

start large
at large 'inet_gethost_native:gethostbyname("localhost").' >/dev/null
at large '[spawn(fun() -> receive stop -> ok end end) || _ <- lists:seq(1, 8000)], ok.' >/dev/null
at large "$state" >/dev/null
processes=$(at large 'length(processes()).')
counts 'the first'
becomes 'all have gone' '[]' large 'nodes(hidden).'
is 'when it has gone, the loader rests' resting "$(at large "$loader")"
is 'and is all that runs' '[]' "$(at large '[P || P <- processes(), P =/= whereis(erltrace_loader), {current_function, {M, _, _}} <- [process_info(P, current_function)], string:find(atom_to_list(M), "erltrace") =/= nomatch].')"
whole=$(at large "$ours.")
loaded='erlang:get_module_info(erltrace_agent, native_addresses).'
where=$(at large "$loaded")
counts 'another one'
is 'nothing was loaded for it' "$where" "$(at large "$loaded")"

mkdir -p copy/bin copy/priv copy/ebin
cp "$(command -v erltrace)" copy/bin/
cp "$ebin"/*.beam copy/ebin/
cp "$ebin/../priv/erltrace.so" copy/priv/
erlc -DPROTOCOL=999 -o copy/ebin "$root/src/agent/erltrace_agent.erl" # its command knows another, which shows what runs
is 'one of another build, with code of its own' 1 "$(copy/bin/erltrace -N large -qn "$hello" >o 2>&1; echo $?)"
has 'that code is used' 'of another version'
counts 'and this build again'

for ((i = 0; i < 8; i++)); do
	erltrace -N large -qn "$script" >o 2>&1 &
	killed=$!
	disown $killed
	sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
	kill -9 $killed 2>/dev/null
done
becomes 'after some that were killed it rests' resting large "$loader"

# As long as no scheduler has time for it, all stay: a purge would make the node's troubles worse.
at large 'register(hogs, spawn(fun() -> process_flag(trap_exit, true), [spawn_link(fun Burn() -> erlang:md5(<<0:80000>>), Burn() end) || _ <- lists:seq(1, 2 * erlang:system_info(schedulers))], receive stop -> exit(stop) end end)), ok.' >/dev/null
for ((looks = 0; looks < 3; looks++)); do # it looks every ten seconds
	before=$(at large "element(2, process_info(whereis(erltrace_loader), reductions)).")
	while [ "$(at large "element(2, process_info(whereis(erltrace_loader), reductions)).")" = "$before" ]; do sleep 0.1; done
done
is 'in a node whose schedulers are all busy nothing goes' "$whole" "$(at large "$ours.")"
counts 'and a command finds it at once'
at large 'exit(whereis(hogs), stop), hogs ! stop, ok.' >/dev/null

# Until some modules have gone.
while now=$(at large "$ours.") && ((now == whole)); do sleep 0.1; done
ok 'some have gone, not all' [ "$now" -gt 1 ]
counts 'one that comes when some have gone'
is 'all are there again' "$whole" "$(at large "$ours.")"
while [ "$(at large 'whereis(erltrace_loader) =:= undefined.')" = false ]; do sleep 0.25; done
before=$(at large '{length(processes()), length(erlang:ports()), 0, [], [], [], []}.')
becomes 'in the end nothing is left' "$before" large "$state"
is 'and all its processes are there' "$processes" "$(at large 'length(processes()).')"
is 'its logger has nothing to say' '' "$(cat large.said 2>/dev/null)"
finish
