#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Several nodes at once, one result; and nodes that die while they are traced. The last line is
# "N passed, N failed".

# shellcheck disable=SC2016 # $target is D's
# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 400 bare
epmd_begin
start command_a
start command_b
one=${pid[command_a]} two=${pid[command_b]}

spawn() { # node, how many processes
	at "$1" "[begin {P, M} = spawn_monitor(fun() -> ok end), receive {'DOWN', M, _, P, _} -> ok end end || _ <- lists:seq(1, $2)], done." >/dev/null
}

# Each node prints what reads a variable; what does not is printed once.
armed='BEGIN { x = 1; } BEGIN /x/ { printf("armed\n"); }'
mine='/copyinstr(arg1) == "erlang:apply/2"/'

armed_both() {
	local i
	for ((i = 0; i < 2400; i++)); do
		[ "$(grep -c 'armed' o 2>/dev/null)" = 2 ] && return
		sleep 0.025
	done
	cat o e
	return 1
}

both() { # arguments of erltrace; returns when both nodes are armed
	rm -f o e
	erltrace -N command_a -N command_b -n "$armed" "$@" >o 2>e &
	command=$!
	armed_both && return
	echo 'FAILED not armed'
	failed=$((failed + 1))
}

count() { grep -cE -- "$1" o; }
# Until it has printed "late" twice more, by a clause that changes an aggregation: these come first.
later() { # node
	local i lates
	lates=$(count "^late ${pid[$1]}\$")
	for ((i = 0; i < 2400 && $(count "^late ${pid[$1]}\$") < lates + 2; i++)); do sleep 0.025; done
	((i < 2400))
}
sum() { awk '/^[0-9]+$/ { n += $1 } END { print n + 0 }' o; }

# ---- one result ---------------------------------------------------------------------------

both -qn "BEGIN { printf(\"once\\n\"); } erlang*:::process-spawn $mine { @ = count(); @p[\$pid] = count(); @q = quantize(5); @m = max(\$pid); @a = avg(\$pid); }"
spawn command_a 30
spawn command_b 12
untrace
is 'exit' 0 $status
is 'BEGIN is printed once' 1 "$(count '^once$')"
is 'counts are added' 1 "$(count '^ +42$')"
has 'keys of one' "^ +$one +30$"
has 'keys of the other' "^ +$two +12$"
is 'buckets are added' 1 "$(count '4 \|@+ 42 ')"
has 'maximum' "^ +$((one > two ? one : two))$"
has 'average' "^ +$(((30 * one + 12 * two) / 42))$"

# Percentiles: of the values of all nodes, not of the nodes' percentiles. 100 values of two nodes, of
# which one has the small ones: 1 to 30, and the other 31 to 100.
numbers() { # node, from, to
	at "$1" "[begin {P, M} = spawn_monitor(lists, seq, [-7, N]), receive {'DOWN', M, _, P, _} -> ok end end || N <- lists:seq($2, $3)], done." >/dev/null
}
both -qn 'erlang*:lists:seq/2:function-entry /erlint(0) == -7/ { @["k"] = percentile(erlint(1), 10, 30, 50, 60, 100); }'
numbers command_a 1 30
numbers command_b 31 100
untrace
is 'percentiles are those of all values' 'k 10 30 50 60 100' "$(awk '$1 == "k" { $1 = $1; print }' o)"

# --cluster: the one that is named, and those that it is connected with.
is 'the nodes know each other' pong "$(at command_a "net_adm:ping(list_to_atom(\"command_b@\" ++ tl(string:find(atom_to_list(node()), \"@\")))).")"
for n in command_a command_b; do at $n 'global:sync().' >/dev/null; done # it spawns processes for that
rm -f o e
erltrace -N command_a --cluster -n "$armed" -qn "erlang*:::process-spawn $mine { @p[\$pid] = count(); }" >o 2>e &
command=$!
ok 'a cluster is armed' armed_both
spawn command_a 7
spawn command_b 5
untrace
is 'a cluster: exit' 0 $status
has 'a cluster: the one that was named' "^ +$one +7$"
has 'a cluster: the other' "^ +$two +5$"
is 'nothing said' '' "$(cat e)"

both -qn "erlang*:::process-spawn $mine { @n[\"k\"] = count(); } END { printa(\"all: %s %@d\\n\", @n); }"
spawn command_a 3
spawn command_b 4
untrace
is 'printa in END: once, of all' 'all: k 7' "$(grep all: o)"

both -qn "erlang*:::process-spawn $mine { @n = count(); } tick-100ms { printa(\"%@d\\n\", @n); clear(@n); }"
spawn command_a 50
spawn command_b 60
for ((i = 0; i < 2400 && $(sum) < 110; i++)); do sleep 0.025; done
untrace
is 'printa and clear at ticks: nothing twice, nothing lost' 110 "$(sum)"

both -qn "erlang*:::process-spawn $mine { @n = count(); } erlang*:::process-exit { printa(\"%@d\\n\", @n); trunc(@n); }"
spawn command_b 5
for ((i = 0; i < 2400 && $(sum) < 5; i++)); do sleep 0.025; done
untrace
is 'actions of the other node' 5 "$(sum)"

erltrace -N command_a -N command_b -qn 'BEGIN { @ = sum(3); } tick-50ms { exit(6); }' >o 2>e
is 'exit(): once for all' 6 $?
is 'exit(): sums' 1 "$(count '^ +6$')"
rm -f o e
erltrace -N command_a -N command_b -qn "erlang$two:::process-spawn $mine { exit(9); } $armed" >o 2>e &
command=$!
ok 'one node has no such probe' holds o armed
spawn command_b 1
wait $command
is 'exit() in one node ends all' 9 $?
command=
erltrace -N command_a -N command_b -n 'erlang*:::process-spawn' -n 'tick-30ms { exit(0); }' >o 2>&1
has 'matched, over all' "description 'erlang\*:::process-spawn' matched 2 probes"
is 'one header' 1 "$(count '^CPU')"
erltrace -N command_a -N command_b -n 'erlang*:::nosuch' >o 2>&1
is 'no node has it: exit' 1 $?
is 'no node has it: said once' 1 "$(count 'does not match any probes')"
erltrace -N command_a -N command_b -n 'BEGIN { trace(nosuch); }' >o 2>&1
is 'compile error: exit' 1 $?
is 'compile error: said once' 1 "$(count 'nosuch')"
erltrace -N command_a -N command_b --json -qn "$armed BEGIN { @[\"k\"] = count(); exit(0); }" >o 2>e
is 'json: every line' "$(wc -l <o)" "$(jq -c . <o | wc -l)"
is 'json: who printed' 2 "$(jq -r 'select(.type == "printf").node' <o | sort -u | wc -l)"
is 'json: one aggregation' 2 "$(jq -r 'select(.type == "aggregation").value' <o)"
is 'all local nodes, by themselves' "$(printf '%s\n' "$one" "$two" | sort)" \
	"$(erltrace -qn 'int p; erlang*:::process-spawn,BEGIN { p = $pid; printf("%d\n", p); exit(0); }' | grep . | sort)"
is 'one of them, by its provider' "$two" "$(erltrace -qn \
	"erlang$two:::process-spawn,BEGIN { printf(\"%d\", \$pid); exit(0); }" | tr -d '\n')"

# ---- stacks -------------------------------------------------------------------------------

# Each node has its own numbers of atoms: the second makes some before it loads the module, and has
# a function that the first has never heard of. The same function is one key in both.
for m in shared only_b; do
	cat >$m.erl <<-EOF
		-module($m).
		-export([run/1, 'Over %there'/1, leaf/1, times/2]).
		run(N) -> leaf(N) + 1.
		'Over %there'(N) -> leaf(N) + 2.
		leaf(N) -> -N.
		times(_, 0) -> ok;
		times(F, N) -> ?MODULE:F(N), times(F, N - 1).
	EOF
	erlc $m.erl
done
at command_b '[list_to_atom("filler" ++ integer_to_list(I)) || I <- lists:seq(1, 5000)], done.' >/dev/null
at command_b 'code:load_abs("only_b").' >/dev/null
at command_b 'code:load_abs("shared").' >/dev/null
at command_a 'code:load_abs("shared").' >/dev/null

run_both() {
	at command_a 'shared:times(run, 3).' >/dev/null
	at command_b 'shared:times(run, 4).' >/dev/null
	at command_a "shared:times('Over %there', 20)." >/dev/null
	at command_b 'only_b:times(run, 50).' >/dev/null
	at command_b "only_b:times('Over %there', 60)." >/dev/null
}
stacks() { # each count with its frames of these modules
	jq -r 'select(.type == "aggregation") | "\(.value) \(.keys[0] |
		map(select(startswith("shared:") or startswith("only_b:"))) | join(" "))"' <o | sort -n
}
wanted=$(
	cat <<-'EOF'
		7 shared:leaf/1 shared:run/1 shared:times/2
		20 shared:leaf/1 shared:'Over %there'/1 shared:times/2
		50 only_b:leaf/1 only_b:run/1 only_b:times/2
		60 only_b:leaf/1 only_b:'Over %there'/1 only_b:times/2
	EOF
)
with_lines=$(
	cat <<-'EOF'
		7 shared:leaf/1 shared:run/1 (shared.erl:3) shared:times/2 (shared.erl:7)
		20 shared:leaf/1 shared:'Over %there'/1 (shared.erl:4) shared:times/2 (shared.erl:7)
		50 only_b:leaf/1 only_b:run/1 (only_b.erl:3) only_b:times/2 (only_b.erl:7)
		60 only_b:leaf/1 only_b:'Over %there'/1 (only_b.erl:4) only_b:times/2 (only_b.erl:7)
	EOF
)
callers="7 shared:run/1 20 shared:'Over %there'/1 50 only_b:run/1 60 only_b:'Over %there'/1"
on_leaf='erlang*::leaf/1:function-entry'

both --json -xstacklines=off -qn "$on_leaf { @[ustack()] = count(); }"
run_both
untrace
is 'stacks of two nodes: names and counts' "$wanted" "$(stacks)"

both --json -qn "$on_leaf { @[ustack()] = count(); }"
run_both
untrace
is 'stacks of two nodes: lines' "$with_lines" "$(stacks)"

both -qn "$on_leaf { @[ufunc(ucaller)] = count(); } END { printa(\"%@d %A \", @); }"
run_both
untrace
is 'callers of two nodes' "$callers" "$(tail -n 1 o | words)"

# What is equal is in the order of its name, whoever came first.
both -qn "$on_leaf { @[ustack(1)] = count(); }"
at command_b 'shared:times(run, 4).' >/dev/null
at command_b 'only_b:times(run, 5).' >/dev/null
at command_a 'shared:times(run, 1).' >/dev/null
untrace
is 'stacks of two nodes: the order' 'only_b:leaf/1 5 shared:leaf/1 5' "$(grep -v armed o | words)"

rm -f o e
erltrace -N command_a -N command_b --json --live=20 -n "$armed" \
	-qn "$on_leaf { @s[ustack(1)] = count(); }" >o 2>e &
command=$!
ok 'live: armed' armed_both
run_both
ok 'live: of the one that has it' holds o '"node":"command_b@[^"]*".*"only_b:leaf/1"'
untrace
hasnt 'live: and of nobody else' '"node":"command_a@[^"]*".*"only_b:'

# One that hangs has no ticks, by which the page and the metrics server know; one that is idle has.
ticks() { grep -c "\"type\":\"tick\",\"node\":\"$1@" o; }
more_ticks() { # node, how many
	local i from
	from=$(ticks "$1")
	for ((i = 0; i < 2400 && $(ticks "$1") < from + $2; i++)); do sleep 0.025; done
	((i < 2400))
}
rm -f o e
erltrace -N command_a -N command_b --json --live=20 -n "$armed" -qn "$on_leaf { @ = count(); }" >o 2>e &
command=$!
ok 'idle: armed' armed_both
ok 'idle: a node has ticks' more_ticks command_a 10
ok 'idle: so has the other' more_ticks command_b 10
kill -STOP "$two"
more_ticks command_a 2 # what was on its way has come
silent=$(ticks command_b)
ok 'a node hangs: the other has ticks' more_ticks command_a 10
is 'a node hangs: it has none' "$silent" "$(ticks command_b)"
kill -CONT "$two"
ok 'a node goes on: it has ticks again' more_ticks command_b 10
at command_b 'shared:times(run, 4).' >/dev/null
untrace
is 'a node that hung: nothing is lost' 4 "$(jq -r 'select(.type == "aggregation").value' <o)"
is 'a node that hung: ticks have all of it' 4 "$(jq -r 'select(.type == "tick").aggregations[].value' <o | awk '{ n += $1 } END { print n }')"
is 'a node that hung: nothing else is said' '' "$(grep -vE 'has sent nothing for 2 s: |sends again$' e)"

# One that lacks the probe of a clause (-Z) has other numbers and options; their results are joined.
both -Z -qn "erlang*:only_b:run:function-entry { printf(\"only %d\\n\", erlint(0)); @only[erlint(0)] = count(); } $on_leaf { @[probefunc] = count(); }"
run_both
untrace
is 'a probe that one node lacks: both take part' '50 137' \
	"$(count '^only ') $(awk '$1 == "leaf/1" { print $2 }' o)"

# Commands and files of both nodes are here, those of ticks and END once.
both -wqn "$on_leaf { system(\"echo from %d\", \$pid); } END { freopen(\"out\"); printf(\"of END\\n\"); freopen(\"\"); printf(\"back\\n\"); }"
at command_a 'shared:times(run, 2).' >/dev/null
at command_b 'shared:times(run, 3).' >/dev/null
untrace
is 'system() of two nodes' '2 3' "$(count "^from $one\$") $(count "^from $two\$")"
is 'freopen() in END of two nodes' 'of END back' "$(cat out) $(grep "^back\$" o)"

# ---- deaths -------------------------------------------------------------------------------

trace command_a -qn "erlang*:::process-spawn $mine { @[\"spawned\"] = count(); } tick-10ms { printf(\"tick\\n\"); }" \
	-n "profile:::tick-1s { denormalize(@); printf(\"late %d\\n\", \$pid); }"
spawn command_a 17
ok 'a snapshot later' later command_a
kill -9 "$one"
wait "$command"
is 'killed: exit' 1 $?
command=
ok 'killed: who' grep -qE '^erltrace: the node command_a@.* has gone away$' e
ok 'killed: how old the numbers are' grep -qE '^erltrace: aggregations as they were [0-9.]+ s before it ended:$' e
has 'killed: what was gathered' '^  spawned +17$'
unset 'pid[command_a]'

start command_c
at command_c 'code:load_abs("shared").' >/dev/null
rm -f o e
erltrace -N command_b -N command_c -qn "$armed erlang*:::process-spawn $mine { @ = count(); } $on_leaf { @s[ustack(1)] = count(); } tick-1s /x/ { denormalize(@); printf(\"late %d\\n\", \$pid); }" >o 2>e &
command=$!
for ((i = 0; i < 2400; i++)); do
	[ "$(grep -c '^armed' o 2>/dev/null)" = 2 ] && break
	sleep 0.025
done
spawn command_b 5
spawn command_c 6
at command_b 'only_b:times(run, 50).' >/dev/null
at command_c 'shared:times(run, 6).' >/dev/null
ok 'the other, later' later command_c
ok 'the first, later' later command_b
kill -9 "${pid[command_b]}"
unset 'pid[command_b]'
ok 'first of several killed: said' holds e 'the node command_b@.* has gone away'
ok 'first of several killed: what is missing' holds e 'aggregations of the last [0-9]+\.[0-9] s are missing: those of command_b@[^ ]*$'
spawn command_c 100
untrace
is 'first of several killed: exit' 1 $status
has 'first of several killed: the other goes on with its numbers' '^ +111$'
is 'first of several killed: with its stacks' 'shared:leaf/1 6 only_b:leaf/1 50' \
	"$(sed '/leaf/,$!d' o | words)"

# a_lost_node_is_a_line_of_json: programs need not read the message.
start command_d
erltrace -N command_c -N command_d --json --live=10 -qn 'tick-10ms { @ = count(); }' >o 2>e &
command=$!
ok 'live: one has ticks' holds o '"type":"tick","node":"command_c@'
ok 'live: the other too' holds o '"type":"tick","node":"command_d@'
kill -9 "${pid[command_d]}"
unset 'pid[command_d]'
ok 'live: the one that is lost' holds o '^\{"type":"gone","node":"command_d@[^"]*"\}$'
untrace
is 'live: no other' 1 "$(grep -c '"type":"gone"' o)"

# a_second_signal_leaves_with_what_the_others_have: and with what the one that hangs had sent.
start command_e
vm=$(at command_e 'os:getpid().')
for node in command_c command_e; do at $node 'code:load_abs("shared").' >/dev/null; done
erltrace -N command_c -N command_e -qn "$armed $on_leaf { @ = count(); } tick-1s /x/ { denormalize(@); printf(\"late %d\n\", \$pid); } END { printf(\"the end\n\"); }" \
	--folded hung.folded -n "$on_leaf { @s[ustack(1)] = count(); }" >o 2>e &
command=$!
ok 'one hangs: armed' armed_both
at command_c 'shared:times(run, 3).' >/dev/null
at command_e 'shared:times(run, 4).' >/dev/null
ok 'one hangs: the other, later' later command_e
kill -STOP "$vm"
kill -TERM "$command"
ok 'one hangs: it is told' holds e 'the node command_e@.* has not ended the script yet: interrupt once more'
kill -TERM "$command"
wait "$command" 2>/dev/null
is 'one hangs: by the second signal' 143 $?
command=''
has 'one hangs: END' '^the end$'
has 'one hangs: what all have gathered' '^ +7$'
ok 'one hangs: the stacks too' grep -q '^shared:leaf/1 7$' hung.folded
ok 'one hangs: what is missing' holds e '^erltrace: aggregations of the last [0-9.]+ s are missing: those of command_e@'
kill -CONT "$vm"
becomes 'one that hung: nothing is left' '[]' command_e '[M || M <- erlang:loaded(), M =:= erltrace_agent].'

finish
