#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Commands whose name in the node is the same, as their process ids are: in process namespaces of
# their own both have number 1, as in containers. Each is connected by another name of the pool, and
# neither loses what the other has. The name is given back: many commands make few atoms.

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 300 bare
epmd_begin
start same
unshare --pid --fork true 2>/dev/null || skip 'no process namespaces here'
numbered() { # script
	unshare --pid --fork --kill-child erltrace -N same -qn "$1"
}
names='lists:sort([hd(string:lexemes(atom_to_list(N), "@")) || N <- nodes(hidden)]).'
for i in 1 2 3; do
	numbered 'BEGIN { printf("armed\n"); } tick-10s { }' >o$i 2>&1 &
	holds o$i '^armed' >/dev/null
done
is 'three commands' '["erltrace-2","erltrace-3","erltrace-4"]' "$(at same "$names")"
atoms=$(at same 'erlang:system_info(atom_count).')
for i in 1 2 3 4 5; do
	is "command $i beside them" hello "$(numbered 'BEGIN { printf("hello\n"); exit(0); }' 2>&1 | head -n 1)"
done
more=$(($(at same 'erlang:system_info(atom_count).') - atoms))
is 'atoms that five commands made, but for the first' ok "$( ((more < 5)) && echo ok || echo $more)"
is 'the three are connected still' '["erltrace-2","erltrace-3","erltrace-4"]' "$(at same "$names")"
finish
