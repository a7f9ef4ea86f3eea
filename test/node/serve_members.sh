#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Which nodes erltrace serve traces: members of a cluster that come, go and come back, each with its own
# health, alerts and exact counters; nodes of this machine; a node that is named twice. The last line is "N
# passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
# shellcheck source=test/lib/servelib.sh
. "$root/test/lib/servelib.sh"
serve_begin 400

leaf='erlang*:demo_exact:leaf/1:function-entry'
mkdir scripts
echo "$leaf { @calls = count(); alert(\"Leaf\", \"called\"); } BEGIN { printf(\"begins\"); }" >scripts/calls.d
calls() { at "$1" "demo_exact:calls($2)." >/dev/null; }
member() { # name: it is connected with the first one, and has the module
	start "$1"
	at "$1" "net_kernel:connect_node('seed@$host'), code:ensure_loaded(demo_exact)." >/dev/null
}
again() { rm -f "$1.in" "$1.out"; }
host=$(hostname -s)

# ---- a cluster ---------------------------------------------------------------------------------

start seed
at seed 'code:ensure_loaded(demo_exact).' >/dev/null
member one
serve -N seed --cluster --state totals scripts
shows 'the node of -N' '^erltrace_script_up\{script="calls",target="seed"\} 1$'
shows 'a member' "^erltrace_script_up\{script=\"calls\",target=\"one@$host\"\} 1\$"
ok 'what it prints there is told with the node' holds url "^calls one@$host: begins$"
hasnt 'the node of -N has one name' "target=\"seed@$host\""
calls seed 10
calls one 20
shows 'counted by node' "^erltrace_calls_calls_total\{node=\"one@$host\"\} 20\$"
shows 'each node once' "^erltrace_calls_calls_total\{node=\"seed@$host\"\} 10\$"
shows 'an alert has the node where it fired' "^erltrace_alert\{script=\"calls\",node=\"one@$host\",alertname=\"Leaf\"\} [01]\$"
shows 'the other one too' "^erltrace_alert\{script=\"calls\",node=\"seed@$host\",alertname=\"Leaf\"\} [01]\$"

member two
began=$SECONDS
shows 'a new member is traced' "^erltrace_script_up\{script=\"calls\",target=\"two@$host\"\} 1\$"
ok 'within seconds' [ $((SECONDS - began)) -le 20 ]
calls two 30
shows 'and counted' "^erltrace_calls_calls_total\{node=\"two@$host\"\} 30\$"

kill -9 "${pid[one]}"
shows 'a member is gone: not up' "^erltrace_script_up\{script=\"calls\",target=\"one@$host\"\} 0\$"
has 'the others are' "^erltrace_script_up\{script=\"calls\",target=\"two@$host\"\} 1\$"
calls two 3
again one
member one
began=$SECONDS
shows 'it is back: up' "^erltrace_script_up\{script=\"calls\",target=\"one@$host\"\} 1\$"
ok 'within seconds too' [ $((SECONDS - began)) -le 20 ]
calls one 4
shows 'its counter goes on' "^erltrace_calls_calls_total\{node=\"one@$host\"\} 24\$"
has 'as do those of others' "^erltrace_calls_calls_total\{node=\"two@$host\"\} 33\$"
has 'nobody was started again for it' "^erltrace_script_restarts_total\{script=\"calls\",target=\"two@$host\"\} 0\$"

kill -STOP "${pid[two]}"
shows 'a member hangs: not up' "^erltrace_script_up\{script=\"calls\",target=\"two@$host\"\} 0\$"
kill -CONT "${pid[two]}"
shows 'it goes on: up' "^erltrace_script_up\{script=\"calls\",target=\"two@$host\"\} 1\$"
has 'and was not started again' "^erltrace_script_restarts_total\{script=\"calls\",target=\"two@$host\"\} 0\$"

# The node of -N itself goes: others still know who there is.
kill -9 "${pid[seed]}"
shows 'the first one is gone' '^erltrace_script_up\{script="calls",target="seed"\} 0$'
start three
at three "net_kernel:connect_node('two@$host'), code:ensure_loaded(demo_exact)." >/dev/null
shows 'others tell of a new one' "^erltrace_script_up\{script=\"calls\",target=\"three@$host\"\} 1\$"
calls three 5
shows 'which is counted' "^erltrace_calls_calls_total\{node=\"three@$host\"\} 5\$"

# A new server knows them while that one is away.
serve_ends TERM
serve -N seed --cluster --state totals scripts
shows 'a new server: members' "^erltrace_script_up\{script=\"calls\",target=\"two@$host\"\} 1\$"
again seed
start seed
at seed 'code:ensure_loaded(demo_exact).' >/dev/null
shows 'the first one is back' '^erltrace_script_up\{script="calls",target="seed"\} 1$'
calls seed 1
calls two 1
shows 'exact: the first' "^erltrace_calls_calls_total\{node=\"seed@$host\"\} 11\$"
shows 'exact: another' "^erltrace_calls_calls_total\{node=\"two@$host\"\} 34\$"
has 'exact: one that was not called' "^erltrace_calls_calls_total\{node=\"three@$host\"\} 5\$"
is 'each has one series' 4 "$(grep -c '^erltrace_calls_calls_total' o)"
serve_ends TERM

# ---- this machine ------------------------------------------------------------------------------

for n in seed one two three; do kill -9 "${pid[$n]}"; again $n; done
serve scripts
shows 'no node at all: not up' '^erltrace_script_up\{script="calls",target="\*"\} 0$'
start one
at one 'code:ensure_loaded(demo_exact).' >/dev/null
shows 'without -N: a node that comes' "^erltrace_script_up\{script=\"calls\",target=\"one@$host\"\} 1\$"
hasnt 'there is one now' 'target="\*"'
start two
at two 'code:ensure_loaded(demo_exact).' >/dev/null
shows 'and another' "^erltrace_script_up\{script=\"calls\",target=\"two@$host\"\} 1\$"
calls one 6
calls two 7
shows 'exact' "^erltrace_calls_calls_total\{node=\"one@$host\"\} 6\$"
shows 'both' "^erltrace_calls_calls_total\{node=\"two@$host\"\} 7\$"
serve_ends TERM

# ---- a node that hangs while its script ends ----------------------------------------------------

mkdir hangs
echo "$leaf { @x = sum(1000000); }" >hangs/x.d
changes() { # its text
	echo "$1" >x.new
	mv x.new hangs/x.d
}
calls_and_hangs() { # node, calls: the tick that has them does not come
	at "$1" "demo_exact:calls($2), os:cmd(\"kill -STOP \" ++ os:getpid())." >/dev/null &
	calling=$!
	until [ "$(ps -o state= -p "${pid[$1]}")" = T ]; do sleep 0.02; done
}
goes_on() { # node
	kill -CONT "${pid[$1]}"
	wait "$calling"
}
both_up() {
	shows 'up: one' '^erltrace_script_up\{script="x",target="one"\} 1$'
	shows 'up: the other' '^erltrace_script_up\{script="x",target="two"\} 1$'
}
serve -N one -N two hangs
both_up
calls_and_hangs two 5
changes "$leaf { @x = count(); }"
shows 'it has changed, and runs on the other' '^# TYPE erltrace_x_x counter$|^erltrace_script_restarts_total\{script="x",target="one"\} 1$'
goes_on two
shows 'started again there, too' '^erltrace_script_restarts_total\{script="x",target="two"\} 1$'
both_up
calls two 3
shows 'what it was is not added to what it is' "^erltrace_x_x_total\{node=\"two@$host\"\} 3\$"
calls_and_hangs two 5
changes "$leaf { @x = count(); } BEGIN { }"
ok 'it does not end: told what is lost' holds log 'x\.d: two: does not end, and is killed: what it has counted in the last [0-9.]+ seconds is lost'
goes_on two
both_up
has 'and counted' '^erltrace_lost_results_total\{script="x",target="two"\} 1$'
has 'nothing of the other is' '^erltrace_lost_results_total\{script="x",target="one"\} 0$'
serve_ends TERM
rm -f url
erltrace serve --port 0 -N two hangs >url 2>log </dev/null &
server=$!
until [ -s url ]; do sleep 0.05; done
url=$(head -n 1 url)
shows 'a server that will be stopped' '^erltrace_script_up\{script="x",target="two"\} 1$'
calls_and_hangs two 5
kill -TERM "$server"
wait "$server"
is 'stopped while the node hangs: the exit code' 1 $?
server=''
ok 'and it is told' holds log 'x\.d: two: does not end, and is killed'
goes_on two

# ---- a node that is named twice ----------------------------------------------------------------

refused() { # -N ...
	timeout 60 erltrace serve "$@" --port 0 scripts >e 2>&1
	echo $?
}
is 'the same -N twice: refused' 2 "$(refused -N one -N one)"
ok 'and told' holds e '-N one: this node is named twice'
is 'with and without its host: refused' 2 "$(refused -N one -N "one@$host")"
# By names that are not known to be one.
alias=${host^^}
if [ "$alias" != "$host" ] && erltrace -N "one@$alias" -qn 'BEGIN { exit(0); }' 2>/dev/null; then
	serve -N one -N "one@$alias" scripts
	ok 'by another name of the host: told' holds log "is the node one@$host, which is traced as one(@$alias)? already"
	calls one 9
	shows 'and counted once' "^erltrace_calls_calls_total\{node=\"one@$host\"\} 9\$"
	serve_ends TERM
else
	echo 'skipped: the node has no other name'
fi
# A script that runs in the kernel sees all of this machine.
if [ -z "$(no_kernel)" ]; then
	echo 'BEGIN { @begun = count(); } syscall::getppid:entry { }' >scripts/kernel.d
	serve -N one -N two scripts
	ok 'in the kernel: once for all nodes, told' holds log 'kernel.d: .*: runs in the kernel, for (one|two) already'
	shows 'and counted once' '^erltrace_kernel_begun_total 1$'
	serve_ends TERM
	rm scripts/kernel.d
else
	echo 'skipped: no probes of the kernel here'
fi
becomes 'nothing is left in the node' false one 'code:is_loaded(erltrace_nif) =/= false.'
finish
