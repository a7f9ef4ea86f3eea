#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The D scripts that Debian's erlang-runtime-tools brings as examples, written for OTP's own probes:
# each compiles and runs unchanged against a stock node, and says what happened wherever a stock
# node has the probe. Where they are not installed there is nothing to test.

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/nodelib.sh"
dir=$(find -L /usr/lib/erlang/lib -maxdepth 2 -path '*/runtime_tools-*/examples' 2>/dev/null | tail -n 1)
if [ -z "$dir" ] || ! compgen -G "$dir/*.d" >/dev/null; then
	skip 'no examples of erlang-runtime-tools here'
fi
nodes_begin 400
start examples_a -pa "$ebin"
start examples_b
# One scheduler: with more of them a process may be said to wait while it runs to say so, and what it is sent then
# does not wake it.
start examples_one -pa "$ebin" +S 1
other=$(at examples_b 'register(demo_remote, self()), node().')
other=${other//\'/}
for node in examples_a examples_one; do
	at $node '{demo_exact:calls(1), code:ensure_loaded(dyntrace), demo_exact:spawns(1)}.' >/dev/null
done
node=examples_a
declare -A done_

run() { # example, expression
	done_[$1.d]=1
	[ -e "$dir/$1.d" ] || return 1
	trace $node -qs "$dir/$1.d" || return 1
	value=$(at $node "$2")
	untrace
	is "$1: exit" 0 "$status"
	is "$1: no error" '' "$(grep -v 'never fires in this node' e)"
}

run spawn-exit '{demo_exact:spawns(30), demo_exact:exits(4, {bad, thing})}.'
is 'spawn-exit: spawns' 34 "$(grep -c '^pid <0\.[0-9]*\.0> mfa demo_exact:child/1$' o)"
is 'spawn-exit: exits' 4 "$(grep -c '^pid <0\.[0-9]*\.0> reason {bad,thing}$' o)"

run messages 'demo_exact:sends(50, 10).'
[[ $value =~ \"(.*)\",\"(.*)\" ]]
is 'messages: sends' 50 "$(grep -c "^send:   ${BASH_REMATCH[1]} -> ${BASH_REMATCH[2]}: 10 words$" o)"
is 'messages: queued' 50 "$(grep -c "^queued: ${BASH_REMATCH[2]}: 10 words, queue len [0-9]*$" o)"
run messages "demo_exact:remote('$other', 12)."
is 'messages: to another node' 12 "$(grep -c "^send :  $value -> '*$other'* .*: 0 words$" o)"

node=examples_one
run process-scheduling '{demo_exact:wakes(20), demo_exact:hibernates(3)}.'
[[ $value =~ \"(.*)\",\"(.*)\" ]]
is 'process-scheduling: scheduled' 20 "$(grep -c "^  Schedule pid ${BASH_REMATCH[1]} mfa demo_exact:sink/1$" o | awk '{ print ($1 > 20) ? 20 : $1 }')"
ok 'process-scheduling: unscheduled' [ "$(grep -c "^Unschedule pid ${BASH_REMATCH[1]}$" o)" -ge 20 ]
is 'process-scheduling: hibernated' 3 "$(grep -c "^  Hibernate pid ${BASH_REMATCH[2]} resume mfa demo_exact:sleeper/1$" o)"

node=examples_a
run garbage-collection 'demo_exact:gcs(25).'
is 'garbage-collection: starts' 25 "$(grep -c "^GC major start pid $value need [0-9]* words$" o)"
is 'garbage-collection: ends' 25 "$(grep -c "^GC major end pid $value reclaimed [0-9]* words$" o)"

run memory1 'demo_exact:grow(100000).'
ok 'memory1: grows' [ "$(grep -c "^proc heap grow pid $value [0-9]* -> [0-9]* bytes$" o)" -ge 3 ]

run function-calls '{demo_exact:calls(40), demo_exact:ets(5)}.'
[[ $value =~ \"(.*)\",\"(.*)\" ]]
is 'function-calls: entries' 40 "$(grep -c "^pid ${BASH_REMATCH[1]} enter (global)  demo_exact:leaf/1 depth" o)"
is 'function-calls: returns' 40 "$(grep -c "^pid ${BASH_REMATCH[1]} return demo_exact:leaf/1 depth" o)"
is 'function-calls: BIF entries' 5 "$(grep -c "^pid ${BASH_REMATCH[2]} BIF entry  mfa ets:insert/2$" o)"
is 'function-calls: BIF returns' 5 "$(grep -c "^pid ${BASH_REMATCH[2]} BIF return mfa ets:lookup/2$" o)"

run port1 'demo_exact:port(6, 10).'
is 'port1: open' 1 "$(grep -c "^port open pid $value port name cat port #Port<" o)"
is 'port1: commands' 6 "$(grep -c "^port command pid $value port #Port<.*> port name cat command type command$" o)"
is 'port1: exit' 1 "$(grep -c '^port exit pid .* port name cat reason normal$' o)"

run driver1 'demo_exact:port(6, 10).'
is 'driver1: output' 6 "$(grep -c '^driver output pid .* port name cat bytes 10$' o)"

run dist "demo_exact:remote('$other', 1)."

run user-probe '{demo_exact:user(9), demo_exact:dyntrace(3)}.'
is 'user-probe: i4s4' 12 "$(grep -c "^<0\.[0-9]*\.0>  [0-9]* 2 0 0 'text' '.*' '' ''$" o)"
is 'user-probe: s1' 9 "$(grep -c '^hello$' o)"

run user-probe-n "[dtrace:pn(N, 5, \"text\") || N <- [0, 1, 1, 2]]."
is 'user-probe-n: returns' '[true,true,true,false]' "$value"
is 'user-probe-n: n1' 2 "$(grep -c "^probe n1: <0\.[0-9]*\.0>  5 0 0 0 'text' '' '' ''$" o)"
is 'user-probe-n: n0' 1 "$(grep -c '^probe n0: ' o)"

for f in "$dir"/*.d; do
	name=$(basename "$f")
	is "$name has a test" 1 "${done_[$name]:-0}"
done

finish
