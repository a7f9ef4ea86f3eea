#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What people get wrong when they ask a node: each is told with what to do. The last line is
# "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 300 bare
epmd_begin
start mist
at mist 'ok.' >/dev/null
t() { erltrace -N mist "$@" >out 2>e; }
said() { # name, an extended regular expression that a line of what was said must match
	cp e o
	has "$1" "$2"
}

t -n 'erlang:::process-spawn { @ = count(); }'
said 'the provider without a star' 'any probes: the provider is erlang and .*: write erlang\*$'
t -n 'erlang*:gen_sever:call:function-entry { @ = count(); }'
said 'a module' "any probes: module gen_sever is not loaded: did you mean 'gen_server'\\?$"
t -n 'erlang*:lists:sqe:function-entry { @ = count(); }'
said 'a function' "module lists has no such function: did you mean 'seq/2' or 'seq/3'\\?$"
t -n 'erlang*:lists:seq:entry { @ = count(); }'
said 'half a name' "any probes: did you mean 'function-entry'\\?$"
t -ln 'erlang*:lits::function-entry'
said '-l of a module' "^erltrace: failed to match erlang\*:lits::function-entry: no probe \
matches the description: module lits is not loaded: did you mean 'lists'\\?$"
t -qs briths 1
said 'a script' 'cannot open briths: No such file or directory: erltrace --scripts lists'
t births 1
said 'no -s' '^erltrace: no probes specified: to run the script of that name, use -s births$'
erltrace -N mist --cookie-file nosuch -qs births 1 2>e
said 'no cookie: what to do' '--cookie-file names another; as root, erltrace -p PID'

# Samples: test/node/sampling.sh.
t -n 'tick-20ms { @[ustack()] = count(); exit(0); }'
said 'a stack of a tick' 'tick-20ms reads what the schedulers run'

# ---- nothing came -------------------------------------------------------------------------

none='erlang*:::process-spawn /args[1] == "no:such/0"/ { @[args[1]] = count(); } tick-50ms { exit(0); }'
on_terminal "erltrace -N mist -qn '$none'" >o
has 'nothing came: a person is told' '^erltrace: nothing was gathered or printed: probes did not fire, or'
on_terminal "erltrace -N mist -qn 'tick-50ms { printf(\"x\"); exit(0); }'" >o
hasnt 'something came' 'nothing was'
t -qn "$none"
is 'nothing came: a program is not' '' "$(<e)"

# ---- stdout_is_closed ---------------------------------------------------------------------
# The socket to the node was given the number of stdout, and the output went there.

erltrace -N mist -qn 'tick-100ms { printf("x\n"); exit(0); }' >&- 2>e
is 'stdout is closed: exit' 1 $?
is 'stdout is closed: said' 'erltrace: failed to write output: Bad file descriptor' "$(<e)"
erltrace -N mist -qn 'tick-100ms { printf("x\n"); exit(0); }' <&- 2>&- | head -n 1 >o
is 'stdin and stderr are closed' x "$(<o)"

finish
