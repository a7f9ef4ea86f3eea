#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The command and running nodes: what it counts there, what it leaves there (nothing), what it
# says when there is no node to be had. The last line is "N passed, N failed".

# shellcheck disable=SC2016 # $target is D's

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 400 bare

workload() { # name, how many processes
	at "$1" "[begin {P, M} = spawn_monitor(fun() -> ok end), receive {'DOWN', M, _, P, _} -> ok end end || _ <- lists:seq(1, $2)], done." >/dev/null
}

# What a node is made of.
modules='lists:sort([M || M <- erlang:loaded()]).'
flags='lists:usort([erlang:trace_info(P, flags) || P <- processes()] ++ [erlang:trace_info(new_processes, flags), erlang:trace_info(new_ports, flags)] ++ [erlang:trace_info({lists, seq, 2}, traced)]) ++ case erlang:function_exported(trace, session_info, 1) of true -> apply(trace, session_info, [all]); false -> [] end.'
state='{length(processes()), length(erlang:ports()), application:get_all_env(erltrace), [M || M <- erlang:loaded(), string:find(atom_to_list(M), "erltrace") =/= nomatch], nodes(hidden)}.'
atoms='erlang:system_info(atom_count).'
# Sensitive processes of proc_lib: of those nobody sees the dictionary that all of them have.
agents='length([P || P <- processes(), [{_, {proc_lib, _, _}}, {_, []}] <- [erlang:process_info(P, [initial_call, dictionary])]]).'

echo -n wrong >wrong
echo -n open >open
chmod 644 open
spawns='erlang*:::process-spawn /copyinstr(arg1) == "erlang:apply/2"/ { @ = count(); }'

# ---- nobody there -------------------------------------------------------------------------

erltrace -N demo -n BEGIN >o 2>&1
status=$?
if grep -q 'without Erlang' o; then
	is 'built without ei: exit' 2 $status
	echo "$passed passed, $failed failed"
	exit
fi
is 'no epmd: exit' 1 $status
ok 'no epmd' grep -q "no epmd answers on port $ERL_EPMD_PORT" o
epmd_begin
erltrace -N demo -n BEGIN >o 2>&1
ok 'no node at all' grep -q 'epmd knows no node' o
erltrace -n 'erlang*:::process-spawn' >o 2>&1
is 'no node for erlang: exit' 1 $?
ok 'no node for erlang' grep -q 'epmd knows no node' o
is 'no erlang probe, no node' hi "$(erltrace -qn 'BEGIN { printf("hi"); exit(0); }' | tr -d '\n')"
start demo
erltrace -N nosuch -n BEGIN >o 2>&1
is 'no such node: exit' 1 $?
ok 'no such node' grep -q 'no node nosuch: epmd knows demo' o
erltrace -N demo --cookie-file wrong -n BEGIN >o 2>&1
is 'wrong cookie: exit' 1 $?
ok 'wrong cookie' grep -q 'demo does not accept the cookie of wrong' o
erltrace -N demo --cookie-file open -n BEGIN >o 2>&1
ok 'open cookie' grep -q 'can be read by others' o
ERL_COOKIE_FILE=wrong erltrace -N demo -n BEGIN >o 2>&1
ok 'wrong cookie of the environment' grep -q 'cookie of wrong' o

# ---- a node that does not have erltrace ---------------------------------------------------

is 'output' "42 x ${pid[demo]}" "$(erltrace -N demo -qn \
	'BEGIN { printf("%d %s %d", $1, $$2, $pid); exit(0); }' 42 x | tr -d '\n')"
erltrace -N demo -qn 'BEGIN { exit(7); }' >/dev/null
is 'exit code' 7 $?

# Atoms of the test's own, and modules of OTP's that the first command makes the node load (trace).
erltrace -N demo -qn 'erlang*:::process-spawn { } tick-10ms { exit(0); }' >/dev/null
workload demo 1
for e in "$state" "$flags" "$agents" "$atoms"; do
	at demo "$e" >/dev/null
done
becomes 'the first command has gone' '[]' demo 'nodes(hidden).' # its connection ends a moment later
cleared demo
before=$(at demo "$modules")
knows_commands demo
atoms_before=$(at demo "$atoms")
state_before=$(at demo "$state")
flags_before=$(at demo "$flags")
files_before=$(find "/proc/${pid[demo]}/fd" | wc -l)
rm -f o e
erltrace -N demo -qn "BEGIN { printf(\"go\\n\"); } $spawns erlang*:lists:seq:function-entry {}" >o 2>e &
command=$!
ok 'armed' holds o go
is 'the agent is there: loader, connection, worker, handle, its supervisor, limiter' 6 "$(at demo "$agents")"
workload demo 1000
kill -TERM $command
wait $command
is 'stopped: exit' 0 $?
is 'exactly the spawns' 1000 "$(grep -oE '[0-9]+' o)"
becomes 'modules as before' "$before" demo "$modules"
is 'atoms as before' "$atoms_before" "$(at demo "$atoms")"
becomes 'processes, ports, environment as before' "$state_before" demo "$state"
is 'flags as before' "$flags_before" "$(at demo "$flags")"
is 'files as before' "$files_before" "$(find "/proc/${pid[demo]}/fd" | wc -l)"

# ---- flags --------------------------------------------------------------------------------

erltrace -N demo -n 'erlang*:::process-spawn' -n 'tick-50ms { exit(0); }' >o 2>&1
ok 'matched' grep -q "description 'erlang\*:::process-spawn' matched 1 probe" o
ok 'columns' grep -q '^CPU     ID                    FUNCTION:NAME' o
erltrace -N demo -ln 'erlang*:::process-spawn' >o 2>&1
is 'list: exit' 0 $?
ok 'list' grep -qE "^ +[0-9]+ +erlang${pid[demo]} +process-spawn" o
erltrace -N demo -lvn 'erlang*:::process-spawn' >o 2>&1
ok 'list with types' grep -qE 'args\[1\]: string' o
erltrace -N demo -l -n 'erlang*:::nosuch' >o 2>&1
is 'list nothing: exit' 1 $?
erltrace -N demo -n 'erlang*:::nosuch' >o 2>&1
is 'matches nothing: exit' 1 $?
ok 'matches nothing' grep -q 'does not match any probes' o
erltrace -N demo -Zqn 'erlang*:::nosuch,BEGIN { exit(0); }' >o 2>&1
is '-Z: exit' 0 $?
erltrace -N demo -xerrtags -n 'BEGIN { trace(nosuch); }' >o 2>&1
ok 'compile error' grep -q "invalid probe specifier BEGIN.*\[D_IDENT_UNDEF\]" o
printf '#pragma D option quiet\nBEGIN\n{\n\ttrace(nosuch);\n}\n' >bad.d
erltrace -N demo -s bad.d >o 2>&1
ok 'compile error of a file' grep -q 'failed to compile script bad.d: line 4: ' o
printf '#pragma D option quiet\nBEGIN { printf("quiet"); exit(0); }\n' >quiet.d
is 'a script turns quiet on' quiet "$(erltrace -N demo -s quiet.d 2>&1 | tr -d '\n')"
rm -f file
erltrace -N demo -o file -qn 'BEGIN { printf("to a file"); exit(0); }'
ok '-o' grep -q 'to a file' file
erltrace -N demo --json -qn 'BEGIN { @["k"] = count(); exit(0); }' >o 2>&1
ok 'json' grep -q '"type":"aggregation".*"keys":\["k"\],"value":1' o
erltrace -N demo -e -qn "$spawns" >o 2>&1
is '-e: exit' 0 $?
erltrace -N demo -qn 'BEGIN { system("echo no"); exit(0); }' >o 2>&1
is 'destructive without -w: exit' 1 $?
erltrace -p "${pid[demo]}" -qn 'erlang$target:::process-spawn { @ = count(); } tick-50ms { exit(0); }' >o 2>&1
is '-p: exit' 0 $?
erltrace -p $$ -qn 'erlang*:::process-spawn { @ = count(); }' >o 2>&1
ok '-p of another process' grep -q "process $$ is none of the nodes that epmd knows (demo)" o

start other

# ---- deaths -------------------------------------------------------------------------------

rm -f o e
erltrace -N demo -qn "BEGIN { printf(\"go\\n\"); } $spawns erlang*:lists:seq:function-entry {}" >o 2>&1 &
command=$!
ok 'armed again' holds o go
ok 'flags are set' [ "$flags_before" != "$(at demo "$flags")" ]
kill -9 $command
wait $command 2>/dev/null
began=$(date +%s%N)
while [ "$flags_before" != "$(at demo "$flags")" ] || [ "$state_before" != "$(at demo "$state")" ]; do
	[ $(($(date +%s%N) - began)) -gt 60000000000 ] && break
done
ms=$((($(date +%s%N) - began) / 1000000))
echo "info: killed -9: clean after $ms ms" # on a quiet machine within a second
echo "promise 9: the command killed -9: all is off after $ms ms, bound 1000"
is 'kill -9: flags as before' "$flags_before" "$(at demo "$flags")"
is 'kill -9: processes, ports, environment as before' "$state_before" "$(at demo "$state")"
becomes 'kill -9: modules as before' "$before" demo "$modules"

rm -f o e
erltrace -N other -qn "BEGIN { printf(\"go\\n\"); } $spawns tick-20ms { printf(\"tick\\n\"); }" >o 2>e &
command=$!
ok 'ticks' holds o tick
kill -9 "${pid[other]}"
wait $command
is 'node killed: exit' 1 $?
ok 'node killed: said' grep -qE 'the node other@.* has gone away' e
unset 'pid[other]'

# ---- time ---------------------------------------------------------------------------------

best=999999
for ((i = 0; i < 5; i++)); do
	rm -f o
	began=$(date +%s%N)
	erltrace -N demo -qn 'BEGIN { printf("first\n"); } ' >o 2>&1 &
	command=$!
	until grep -q first o 2>/dev/null || gone $command; do :; done
	ms=$((($(date +%s%N) - began) / 1000000))
	kill -TERM $command
	wait $command
	[ $ms -lt $best ] && best=$ms
done
echo "info: from the command to the first event: $best ms"

# ---- a node that has erltrace -------------------------------------------------------------

start own -name own@127.0.0.1 -pa "$ebin"
is 'own erltrace' hi "$(erltrace -N own -qn 'BEGIN { printf("hi"); exit(0); }' | tr -d '\n')"
ok 'it stays' grep -q erltrace_agent <<<"$(at own "$modules")"
is 'no environment' '[]' "$(at own 'application:get_all_env(erltrace).')"
is 'by its full name' hi "$(erltrace -N own@127.0.0.1 -qn 'BEGIN { printf("hi"); exit(0); }' |
	tr -d '\n')"

# ---- one after another ---------------------------------------------------------------------

# The node gives the name of a command that was killed to the next one: messages for the dead one
# must not end it.
bad=0
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	trace demo -q -n 'erlang*:lists::function-entry { @[probefunc] = count(); }'
	kill -9 "$command"
	wait "$command" 2>/dev/null
	command=''
	erltrace -N demo -qn 'BEGIN { exit(0); }' >/dev/null 2>&1 || bad=$((bad + 1))
done
is 'commands that come right after one that was killed' 0 "$bad"
finish
