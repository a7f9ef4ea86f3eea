#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# One event cannot hold a node up, whatever a script does with strings; and when a command is killed,
# its script burns no more, be it in a tick, in BEGIN or in END. The last line is
# "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 300 bare
epmd_begin
start burning

# A text of 50,000 bytes and a path that leads through all of it; one that is nearly in another.
{
	echo '#pragma D option strsize=64k'
	echo '#pragma D option quiet'
	echo 'string s, p, c, u, v;'
	echo 'dtrace:::BEGIN { s = "{\"a\":"; p = "a."; c = "}"; u = "xxxx"; v = "xx"; n = 0; }'
	for ((i = 0; i < 13; i++)); do
		echo 'dtrace:::BEGIN { s = strjoin(s, s); p = strjoin(p, p); c = strjoin(c, c); }'
		echo 'dtrace:::BEGIN { u = strjoin(u, u); v = strjoin(v, v); }'
	done
	echo 'dtrace:::BEGIN { s = strjoin(strjoin(s, "1"), c); p = substr(p, 0, 16383); v = strjoin(v, "y"); }'
} >head.d
work() { # probe, statements: as many as a clause has room for
	echo "$1 {"
	for ((i = 0; i < 20; i++)); do echo "	$2"; done
	echo '}'
}
lists="erlang${pid[burning]}:lists:zip3/3:function-entry"

# ---- one event ----------------------------------------------------------------------------

{
	cat head.d
	work "$lists" 'this->x = json(s, p); this->n = rindex(u, v);'
	echo "$lists { @ran = count(); }"
	echo 'dtrace:::BEGIN { printf("armed\n"); }'
} >event.d
erltrace -N burning -s event.d >o 2>e &
command=$!
ok 'an event: armed' holds o armed
# (the shortest: other programs may have had the processor in any of the others)
us=$(at burning 'lists:min([element(1, timer:tc(lists, zip3, [[], [], []])) || _ <- lists:seq(1, 10)]).')
untrace
ok "an event with 40 searches in 50,000 bytes each: $us us" [ "$us" -lt 100000 ]
is 'the clause ends with a fault that says why' 10 "$(grep -c 'too much work (more than maxwork allows)' e)"
has 'the other clauses run' '^ +10$'

# ---- killed -------------------------------------------------------------------------------

cpu() { # of the node: in hundredths of a second
	local f
	read -r -a f <<<"$(sed 's/.*) //' "/proc/${pid[burning]}/stat")"
	echo $((f[11] + f[12]))
}
threads() { ls "/proc/${pid[burning]}/task" | wc -l; }
busy() { # how much more processor time it takes while nothing is asked of it, for a second
	local from
	from=$(cpu)
	sleep 1
	echo $(($(cpu) - from))
}
quiet() { # within 10 s: nothing left that burns
	local i b=100
	for ((i = 0; i < 10 && b > 20; i++)); do b=$(busy); done
	ok "killed $1: $b of 100 hundredths of a second" [ "$b" -le 20 ]
}
at_work() { # since it was so much: until the script has taken half a second, or is through
	local i
	for ((i = 0; i < 200 && $(cpu) < $1 + 50; i++)); do sleep 0.025; done
}
kill_it() {
	kill -9 "$command"
	wait "$command" 2>/dev/null
	command=''
}
before=$(threads)

{
	cat head.d
	work 'tick-200us' 'this->x = json(s, p);'
	echo 'dtrace:::BEGIN { printf("armed\n"); }'
} >tick.d
erltrace -N burning -x maxwork=0 -x watchdog=0 -s tick.d >o 2>e &
command=$!
ok 'a tick: armed' holds o armed
kill_it
quiet 'in a tick'

{
	cat head.d
	echo "$lists { }"
	for ((k = 0; k < 150; k++)); do work 'dtrace:::BEGIN' 'this->x = json(s, p);'; done
} >begin.d
from=$(cpu)
erltrace -N burning -x maxwork=0 -s begin.d >o 2>e &
command=$!
at_work "$from"
kill_it
quiet 'in BEGIN'

{
	cat head.d
	echo 'dtrace:::BEGIN { printf("armed\n"); }'
	for ((k = 0; k < 150; k++)); do work 'dtrace:::END' 'this->x = json(s, p);'; done
} >end.d
erltrace -N burning -x maxwork=0 -s end.d >o 2>e &
command=$!
ok 'END: armed' holds o armed
from=$(cpu)
kill -INT "$command"
at_work "$from"
kill_it
quiet 'in END'
is 'no thread is left' "$before" "$(threads)"
finish
