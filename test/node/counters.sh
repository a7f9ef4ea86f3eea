#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The command's scripts that the VM counts for: -v tells of it, the numbers are those of the tracer.
# The last line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 300
start counters
leafs='erlang*:demo_exact:leaf:function-entry { @n[probefunc] = count(); }'
at counters 'code:ensure_loaded(demo_exact).' >/dev/null
calls() { at counters "demo_exact:calls($1)." >/dev/null; }
# What is set in the VM for this function: patterns, counters, sessions.
sessions='case erlang:function_exported(trace, session_info, 1) of true -> [N || {N, _} <- trace:session_info(all), N =/= legacy]; false -> [] end'
left="{erlang:trace_info({demo_exact, leaf, 1}, traced), erlang:trace_info({demo_exact, leaf, 1}, call_count), $sessions}."
nothing='{{traced,false},{call_count,false},[]}'

for counters in 1 0; do
	trace counters -x counters=$counters -qvn "$leafs"
	calls 300
	untrace
	has "counters=$counters: exact" '^ +leaf/1 +300$'
	case $counters in
	1) ok '-v: counted by the VM' grep -qE '^erltrace: armed: 1 function counted by the VM \(call_count\)$' e ;;
	0) ok '-v: traced' grep -qE '^erltrace: armed: call, 1 function$' e ;;
	esac
	ok '-v: fired, BEGIN too' grep -qE '^erltrace: probes fired 301 times$' e
	becomes "counters=$counters: nothing is left" "$nothing" counters "$left"
done

# Printed and cleared by the script itself, in the order of time: nothing is lost or told twice.
trace counters -qn "$leafs"' tick-20ms { printa("%s %@d\n", @n); clear(@n); } END { printa("%s %@d\n", @n); clear(@n); }'
for n in 10 20 30; do calls $n; done
untrace
is 'the sum of what was printed' 60 "$(awk '$1 == "leaf/1" { n += $2 } END { print n }' o)"

# exit() in the script.
trace counters -qn "$leafs"' erlang*:demo_exact:burn:function-entry { exit(0); }'
calls 25
at counters 'demo_exact:burns(1).' >/dev/null
wait "$command"
command=
has 'exit(): all before it' '^ +leaf/1 +25$'

# Functions of OTP's own modules are traced: processes of ours call them.
trace counters -qvn 'erlang*:lists:seq:function-entry { @[probefunc] = count(); }'
untrace
ok '-v: why not' grep -qE '^erltrace: armed: call, 2 functions, 2 functions not counted by the VM: processes of erltrace may call them$' e

# The command is killed.
trace counters -qn "$leafs"
kill -9 "$command"
{ wait "$command"; } 2>/dev/null
command=
becomes 'kill -9: nothing is left' "$nothing" counters "$left"

finish
