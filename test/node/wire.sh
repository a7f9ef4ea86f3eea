#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Hostile bytes between the command and a node (wire_fuzz.py): the command ends with an error or
# does its work, and a signal ends it where it waits; the node lives, and nothing is left in it.
# WIRE_ROUNDS=N of each direction; WIRE_COMMAND: another command than the one in the path (make
# promises: one with the sanitizers in it). The last line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
command -v python3 >/dev/null || skip 'no python3 here'
nodes_begin $((200 + ${WIRE_ROUNDS:-4} * 40)) bare
epmd_begin
tool=${WIRE_COMMAND:-$(command -v erltrace)}
rounds=${WIRE_ROUNDS:-4}
start wire_a -pa "$ebin"
listens=$(epmd -names | sed -n 's/^name wire_a at port //p')
state='{[P || P <- [new_processes | processes()], {flags, [_ | _]} <- [erlang:trace_info(P, flags)]], erlang:trace_info({lists, zip3, 3}, traced)}.'
before=$(at wire_a "$state")
script='erlang*:lists:zip3/3:function-entry { @[probefunc, arg2] = count(); printf("%s\n", copyinstr(arg1)); }
	BEGIN { printf("armed\n"); } tick-20ms { printa(@); } tick-150ms { exit(0); }'

codes=''
# Its exit code. After two seconds it is asked to end, after four once more, as a person does it.
wait_or_end() {
	local i
	asked=0
	for ((i = 0; i < 1200; i++)); do
		gone "$command" && break
		case $i in
		80 | 160) kill -TERM "$command" 2>/dev/null && asked=1 ;;
		1199) kill -KILL "$command" ;;
		esac
		sleep 0.025
	done
	wait "$command" 2>/dev/null
}
spoil() { # whose frames, rounds
	local whose=$1 i code fuzz port
	port=$(free_port)
	python3 "$root/test/node/wire_fuzz.py" "$port" wire_a "$listens" "${FUZZ_SEED:-1}" "$whose" \
		>fuzz.out 2>fuzz.err &
	fuzz=$!
	pid[fuzz]=$fuzz
	holds fuzz.out ready || finish
	for ((i = 0; i < $2; i++)); do
		ERL_EPMD_PORT=$port "$tool" -N wire_a -qn "$script" >o 2>e &
		command=$!
		wait_or_end
		code=$?
		command=''
		((asked)) && [ $code != 137 ] && code=waits # for an answer; it was asked to end, and did
		codes+=" $code"
		case $code in
		0 | 1 | 2 | waits) passed=$((passed + 1)) ;;
		*)
			failed=$((failed + 1))
			echo "FAILED frames of the $whose spoiled, round $i: exit $code"
			tail -n 40 e
			;;
		esac
		ok "a failure is told: $whose, round $i" [ $code != 1 -o -s e ]
		ok "no sanitizer has a word: $whose, round $i" [ "$(grep -cE 'Sanitizer|runtime error' e)" = 0 ]
	done
	kill "$fuzz" 2>/dev/null
	wait "$fuzz" 2>/dev/null
	unset 'pid[fuzz]'
	is "frames of the $whose: the node lives" 2 "$(at wire_a '1 + 1.')"
	becomes "frames of the $whose: nothing is left" "$before" wire_a "$state"
}
spoil node "$rounds"
spoil command "$rounds"
spoil both "$rounds"
spoil greeting "$rounds"
ok 'without spoiled frames all is well' "$tool" -N wire_a -qn 'BEGIN { exit(0); }'

# An agent that sends items which no agent sends (test/node/malicious.sh: streams that want something).
cat >erltrace_agent.erl <<'X'
-module(erltrace_agent).
-export([start/3]).
start(Command, _, _) ->
    {ok, spawn(fun() ->
        Command ! {matched, {1}},
        receive {go_stream, 1} -> ok end,
        Command ! {batch, [{reopen, <<"harmed">>}, {system, <<"echo here; : >harmed">>}]},
        receive more -> ok end,
        Command ! {done, 0}
    end)}.
X
erlc erltrace_agent.erl
start wire_b
ok 'another agent: it ends' "$tool" -N wire_b -qn 'BEGIN { exit(0); }' >o 2>e
is 'another agent: not a word of it' '' "$(cat o)"
is 'another agent: it is told' 2 "$(grep -c 'wire_b@.*that no script asked for' e)"
ok 'another agent: nothing is done' [ ! -e harmed ]
"$tool" -N wire_b -wqn 'BEGIN { exit(0); } END { freopen("harmed"); system("echo here; : >harmed"); }' >o 2>e
ok 'another agent: nor with -w: commands come in streams' [ ! -e harmed ]
echo "promise 13: wire frames spoiled in $((4 * rounds)) runs of the command: exit codes $(tr ' ' '\n' <<<"$codes" | grep . |
	sort | uniq -c | awk '{ printf "%s%s (%d)", s, $2, $1; s = ", " }'), no crash, nothing left in the node"
finish
