#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What a script costs is weighed against what the node uses, ticks and BEGIN included, and what it
# prints has a bound. The last line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 300 bare
epmd_begin
start bounded +S 8:8

# ---- the watchdog --------------------------------------------------------------------------

ended() { # by the watchdog, within a minute
	for ((i = 0; i < 600; i++)); do
		kill -0 "$command" 2>/dev/null || break
		sleep 0.1
	done
	kill -INT "$command" 2>/dev/null
	wait "$command"
	command=''
	ok "$1" grep -q "Abort due to systemic unresponsiveness: probes took .* of the schedulers' busy time" e
	[ "$failed" = 0 ] || cat e
}

# One process of a node with eight schedulers, in events all the time: an eighth of all. So dear that
# each is timed: where other programs have most of the machine that still adds up.
work=$(for ((i = 0; i < 200; i++)); do echo 'this->s = strjoin(copyinstr(arg0), copyinstr(arg1));'; done)
trace bounded -x watchtime=1s -qn "erlang*:lists:zip3/3:function-entry { $work @[this->s] = count(); }"
at bounded 'P = spawn(fun L() -> lists:zip3([], [], []), L() end), register(load, P), ok.' >/dev/null
ended 'one busy process of a node with eight schedulers'
at bounded 'exit(whereis(load), kill), ok.' >/dev/null

# No event at all: ticks that work most of the time, of which a busy machine may leave little.
work=$(for ((i = 0; i < 40; i++)); do echo 'this->n = rindex(s, "xy");'; done)
trace bounded -x maxwork=0 -x watchdog=2 -x watchtime=1s -x strsize=64k \
	-qn 'dtrace:::BEGIN { s = "xxxxxxxxxxxxxxxx"; }' \
	-n "dtrace:::BEGIN $(for ((i = 0; i < 11; i++)); do echo '{ s = strjoin(s, s); } dtrace:::BEGIN'; done) { }" \
	-n "tick-1ms { $work } erlang*:lists:zip3/3:function-entry { }"
ended 'ticks are in the account'

# ---- records a second ----------------------------------------------------------------------

calls() { at bounded "[lists:zip3([], [], []) || _ <- lists:seq(1, $1)], ok." >/dev/null; }
dropped() { awk '/drops? beyond [0-9]+ records a second.*-x maxrate=N/ { n += $2 } END { print n + 0 }' e; }
line='erlang*:lists:zip3/3:function-entry { @ = count(); printf("a line\n"); }'

trace bounded -x maxrate=100 -x watchdog=0 -qn "$line"
calls 50000
untrace
n=$(grep -c 'a line' o)
has 'all were counted' '^ +50000$'
is 'printed and dropped are all of them' 50000 "$((n + $(dropped)))"
ok "$n of 50000 were printed" [ "$n" -ge 50 ]
ok "$n of 50000 were printed, not all" [ "$n" -lt 25000 ]

trace bounded -x maxrate=100 -x watchdog=0 -qn 'erlang*:lists:zip3/3:function-entry { this->x = *(int *)8; }'
calls 5000
untrace
n=$(grep -c 'invalid address' e)
more=$(awk '/^erltrace: [0-9]+ more errors?$/ { n += $2 } END { print n + 0 }' e)
is 'faults are records too' 5000 "$((n + more + $(dropped)))"

trace bounded -x maxrate=0 -x bufsize=64m -x watchdog=0 -qn "$line"
calls 50000
untrace
is 'no bound: all are printed' '50000 0' "$(grep -c 'a line' o) $(dropped)"

# A script that nobody trusts cannot have more.
erltrace -N bounded -x harmless -x maxrate=0 -qn "$line" >o 2>e
ok 'harmless: refused' grep -q 'option maxrate cannot be set to this here' e
finish
