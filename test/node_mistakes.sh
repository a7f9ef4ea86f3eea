#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What people get wrong when they ask a node: each is told with what to do. The last line is
# "N passed, N failed".

# shellcheck source=test/nodelib.sh
. "$(dirname "$0")/nodelib.sh"
nodes_begin 200 bare
epmd_begin
start mist
t() { erltrace -N mist "$@" >o 2>e; }

t -n 'erlang:::process-spawn { @ = count(); }'
ok 'the provider without a star' grep -q 'any probes: the provider is erlang and .*: write erlang\*$' e
t -n 'erlang*:gen_sever:call:function-entry { @ = count(); }'
ok 'a module' grep -q "any probes: module gen_sever is not loaded: did you mean 'gen_server'?$" e
t -n 'erlang*:lists:sqe:function-entry { @ = count(); }'
ok 'a function' grep -q "module lists has no such function: did you mean 'seq/2' or 'seq/3'?$" e
t -n 'erlang*:lists:seq:entry { @ = count(); }'
ok 'half a name' grep -q "any probes: did you mean 'function-entry'?$" e
t -ln 'erlang*:lits::function-entry'
ok '-l of a module' grep -qx "erltrace: failed to match erlang\*:lits::function-entry: no probe \
matches the description: module lits is not loaded: did you mean 'lists'?" e
t -qs briths 1
ok 'a script' grep -q 'cannot open briths: No such file or directory: erltrace --scripts lists' e
t births 1
ok 'no -s' grep -qx 'erltrace: no probes specified: the script of that name is run by -s births' e
erltrace -N mist --cookie-file nosuch -qs births 1 2>e
ok 'no cookie: what to do' grep -q -e '--cookie-file names another; as root, -p PID' e

# ---- stdout_is_closed ---------------------------------------------------------------------
# The socket to the node was given the number of stdout, and the output went there.

erltrace -N mist -qn 'tick-100ms { printf("x\n"); exit(0); }' >&- 2>e
is 'stdout is closed: exit' 1 $?
is 'stdout is closed: said' 'erltrace: failed to write output: Bad file descriptor' "$(<e)"
erltrace -N mist -qn 'tick-100ms { printf("x\n"); exit(0); }' <&- 2>&- | head -n 1 >o
is 'stdin and stderr are closed' x "$(<o)"

finish
