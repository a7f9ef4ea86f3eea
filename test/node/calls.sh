#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The command's option calls, mostly in nodes that forbid the fast way: the script runs, traced and
# exact; one line says why, -v says which way, --live has it as an object. (test/erl/calls_tests.erl: how
# it is decided.) The last line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 300
# Neither has the application: it is erl's command line that forbids.
start calls -erltrace fast_calls false
start internals -erltrace vm_internals false
leafs='erlang*:demo_exact:leaf:function-entry { self->n++; @n[probefunc] = count(); }'
for n in calls internals; do at $n 'code:ensure_loaded(demo_exact).' >/dev/null; done
calls() { at "$1" 'demo_exact:calls(300).' >/dev/null; }
no='function probes are traced, not fast: the node.s setting fast_calls is false'

trace calls -x calls=fast -qvn "$leafs"
calls calls
untrace
has 'forbidden: it runs, exact' '^ +leaf/1 +300$'
is 'it is told, once' 1 "$(grep -cE "^erltrace: $no\$" e)"
ok '-v: which way; why has been told' grep -qE '^erltrace: calls: traced$' e

trace calls -x calls=fast -qn "$leafs"
calls calls
untrace
has 'without -v' '^ +leaf/1 +300$'
is 'nothing else is told' "erltrace: function probes are traced, not fast: the node's setting fast_calls is false" "$(cat e)"

printf '#pragma D option calls=fast\n%s' "$leafs" >fast.d
trace calls -qs fast.d
calls calls
untrace
ok 'a script asks for it' grep -qE "^erltrace: $no\$" e

trace calls -x calls=traced -qs fast.d
calls calls
untrace
has 'the user has none of it: it runs, exact' '^ +leaf/1 +300$'
is 'and nothing is said' '' "$(cat e)"

# The VM counts what is only counted.
trace calls -x calls=fast -qvn 'erlang*:demo_exact:leaf:function-entry { @n[probefunc] = count(); }'
calls calls
untrace
has 'counted by the VM: exact' '^ +leaf/1 +300$'
ok 'counted by the VM: -v says so' grep -qE '^erltrace: calls: counted by the VM, 1 function$' e

# The command's environment holds in the node.
DTRACE_OPT_CALLS=fast trace calls -qn "$leafs"
untrace
ok 'by the environment' grep -qE "^erltrace: $no\$" e
DTRACE_OPT_CALLS=fast trace calls -x calls=traced -qn "$leafs"
untrace
is 'the command line overrides that' '' "$(cat e)"

for v in auto traced; do
	trace calls -x calls=$v -qn "$leafs"
	calls calls
	untrace
	has "$v: exact" '^ +leaf/1 +300$'
	is "$v: nothing is said" '' "$(cat e)"
done

trace calls -x calls=fast -qvn 'erlang*:::process-spawn { @ = count(); }'
untrace
is 'no function probes: no word of it' '' "$(grep -E ' calls: |fast' e)"

trace internals -x calls=fast -qvn "$leafs"
calls internals
untrace
ok 'vm_internals forbids it too' grep -qE "^erltrace: function probes are traced, not fast: the node's setting vm_internals is false\$" e

# Several nodes: each says its own.
erltrace -N calls -N internals -x calls=fast -qvn "BEGIN { x = 1; } $leafs tick-300ms { exit(0); }" >o 2>e
for n in fast_calls vm_internals; do
	ok "each node has its own line: $n" grep -qE "function probes are traced, not fast: the node's setting $n is false" e
done

# Before the first tick, whether it was asked for or not.
for v in auto fast; do
	erltrace -N calls -x calls=$v --json --live=10 -qn "$leafs tick-500ms { exit(0); }" >o 2>e
	is "--live, $v: an object" \
		"{\"type\":\"calls\",\"node\":\"$(at calls 'atom_to_list(node()).')\",\"way\":\"traced\",\"functions\":1,\"counted\":0,\"traced\":[],\"why\":\"the node's setting fast_calls is false\"}" \
		"$(head -n 1 o)"
done
is 'without --live: none' 0 "$(erltrace -N calls --json -qn "$leafs tick-100ms { exit(0); }" 2>/dev/null | grep -c '"calls"')"

# Set, but forbidden by who has started the node.
at calls 'application:set_env(erltrace, fast_calls, true).' >/dev/null
trace calls -qvn "$leafs"
untrace
ok 'what forbids wins' grep -qE "^erltrace: $no\$" e

# A node that forbids nothing: fast, or it says what is not known of its VM.
start free
at free 'code:ensure_loaded(demo_exact).' >/dev/null
trace free -x calls=fast -qvn "$leafs"
calls free
untrace
has 'permitted: exact' '^ +leaf/1 +300$'
ok '-v: fast, or traced' grep -qE '^erltrace: calls: (fast, 1 function|traced)$' e
ok 'if it is not fast it says why' grep -qE '^erltrace: (calls: fast|function probes are traced, not fast: ).+' e
is 'something is armed' 0 "$(grep -c 'armed: nothing' e)"

# A flag of the emulator may rule it out: it is named, once.
start perf +JPperf true
at perf 'code:ensure_loaded(demo_exact).' >/dev/null
trace perf -x calls=fast -qvn "$leafs"
calls perf
untrace
has '+JPperf: exact' '^ +leaf/1 +300$'
is '+JPperf: it is named, once, unless it is fast' 1 "$(grep -cE '^erltrace: (calls: fast.*|.*\(the node was started with \+JPperf true\))$' e)"

finish
