#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A connection that is cut without a word, as by a cable that is pulled: the probes go off, and the
# command ends with what it has. A command that is suspended: the node is not harmed, and nothing is
# lost without being told. The last line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
# shellcheck source=test/lib/cable.sh
. "$(dirname "$0")/../lib/cable.sh"
nodes_begin 400 bare

modules='lists:sort([M || M <- erlang:loaded(), string:find(atom_to_list(M), "erltrace") =/= nomatch]).'
traced='{erlang:trace_info({lists, zip3, 3}, traced), erlang:trace_info(new_processes, flags), case erlang:function_exported(trace, session_info, 1) of true -> apply(trace, session_info, [all]) -- [{legacy, default}]; false -> [] end}.'
script='BEGIN { printf("armed\n"); } erlang*:lists:zip3/3:function-entry { @ = count(); } tick-1s { printf("second\n"); }'

# ---- suspended ----------------------------------------------------------------------------

# As much as is printed here does not fit into any buffer.
epmd_begin
start cut_a
n=100000
trace cut_a -qn 'erlang*:lists:zip3/3:function-entry { @ = count(); printf("line %200s\n", "x"); }' || finish
at cut_a 'erlang:memory(total).' >/dev/null
before=$(at cut_a 'erlang:memory(total).')
kill -STOP "$command"
is 'suspended: the node works' done "$(at cut_a "[lists:zip3([], [], []) || _ <- lists:seq(1, $n)], done.")"
more=$(($(at cut_a '[erlang:garbage_collect(P) || P <- processes()], erlang:memory(total).') - before))
echo "info: a command that is suspended while $n lines are printed: $((more / 1024)) KB more in the node"
ok 'suspended: the memory of the node is bounded' [ $more -lt $((32 << 20)) ]
kill -CONT "$command"
untrace
is 'suspended: it goes on: exit' 0 "$status"
is 'suspended: all are counted' "$n" "$(grep -oE '^ +[0-9]+$' o | tr -d ' ')"
drops=$(sed -n 's/^erltrace: \([0-9]*\) drops\{0,1\}.*/\1/p' e | awk '{ n += $1 } END { print n + 0 }')
is 'suspended: what is not printed is told' "$n" "$(($(grep -c '^line' o) + drops))"
becomes 'suspended: nothing is left' '[]' cut_a "$modules"

# ---- cut ----------------------------------------------------------------------------------

end_here() { # why
	echo "info: not tested: a connection that is cut: $1"
	finish
}

cable_begin || end_here "$cable_why"
start_beyond cut_b
before=$(at cut_b "$traced")
rm -f o e
nsenter -t "$here" -n "$(command -v erltrace)" -N "cut_b@$beyond" -qn "$script" >o 2>e &
command=$!
ok 'cut: armed' holds o armed
at cut_b '[lists:zip3([], [], []) || _ <- lists:seq(1, 7)], done.' >/dev/null
seen=$(grep -c second o) # the command is sent what there is each second
for ((i = 0; i < 2400 && $(grep -c second o) < seen + 3; i++)); do
	sleep 0.025
done
ok 'cut: probes are on' [ "$before" != "$(at cut_b "$traced")" ]
cable_cut
began=$(date +%s%N)
for ((i = 0; i < 2400; i++)); do
	[ "$before" = "$(at cut_b "$traced")" ] && break
	sleep 0.025
done
is 'cut: probes are off' "$before" "$(at cut_b "$traced")"
ms=$((($(date +%s%N) - began) / 1000000))
echo "info: cut: off after $ms ms"
echo "promise 9: the network cut: off after $ms ms, bound 5000"
becomes 'cut: nothing is left' '[]' cut_b "$modules"
wait "$command"
is 'cut: the command ends: exit' 1 $?
echo "info: cut: the command has ended after $((($(date +%s%N) - began) / 1000000)) ms"
command=
ok 'cut: it says why' grep -q "the node cut_b@$beyond has gone away" e
is 'cut: and prints what it has' 7 "$(grep -oE '^ +[0-9]+$' o | tr -d ' ')"
finish
