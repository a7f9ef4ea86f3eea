#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Nodes in trouble: something that a node has only a few of is taken, for ever. The command attaches
# all the same, runs scripts of all kinds, detaches, and leaves nothing behind; or it says at once
# what is taken and what to do, and leaves the node as it was.

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 900 bare
epmd_begin
include=$(erl -noshell -eval 'io:put_chars(code:root_dir()), halt().')/usr/include
mkdir -p ebin
cc -O1 -shared -fPIC -I"$include" -o ebin/taken.so "$root/test/node/taken.c" || exit 1
erlc -o ebin "$root/test/node/taken.erl" || exit 1

# A command of 60 s at most: what it prints, and how it ends if not well.
run() { # node, arguments
	local node=$1 rc
	shift
	timeout -s KILL 60 erltrace -N "$node" "$@" >o 2>e
	rc=$?
	head -n 3 o
	[ $rc = 0 ] || { echo "exit $rc"; head -n 3 e; }
}
hello='BEGIN { printf("hello\n"); exit(0); }'
left='{[M || {M, _} <- code:all_loaded(), lists:prefix("erltrace", atom_to_list(M))], [M || M <- erlang:loaded(), lists:prefix("erltrace", atom_to_list(M))], [N || N <- registered(), lists:prefix("erltrace", atom_to_list(N))]}.'

# All kinds of scripts on a node.
scripts() { # what is taken, node
	is "$1: BEGIN" hello "$(run "$2" -qn "$hello")"
	is "$1: calls" called "$(run "$2" -qn 'erlang*:lists:reverse:function-entry { printf("called\n"); exit(0); } tick-1s { erlangcall = 1; }' 2>&1)"
	becomes "$1: nothing is left" '{[],[],[]}' "$2" "$left"
}
# ---- dirty CPU schedulers -----------------------------------------------------------------
start dirty -pa ebin +SDcpu 2 +S 2:2
mkfifo busy
at dirty "taken:load(\"$tmp/ebin\"), taken:all_dirty_cpu(\"$tmp/busy\"), spawn(fun F() -> lists:reverse([a, b]), receive after 10 -> F() end end), ok." >/dev/null
becomes 'dirty CPU: all are taken' true dirty 'lists:sum(statistics(active_tasks_all)) >= 2 * erlang:system_info(dirty_cpu_schedulers).'
scripts 'dirty CPU' dirty
finish
