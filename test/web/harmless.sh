#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Every script of the library that has no probes of the kernel compiles as the page runs it: harmless, with
# no arguments but those that its head says are needed.

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 300
[ -e "$ebin/erltrace_agent.beam" ] || skip 'no library beside the command'

start harmless
at harmless 'code:ensure_loaded(demo_exact).' >/dev/null
n=0
for script in "$root"/scripts/*.d; do
	name=$(basename "$script")
	grep -q 'Needs: root' "$script" && continue
	args=()
	# erltrace -N NODE -qs NAME.d [optional=WORD] needed=WORD
	for word in $(sed -n "s/^ \*\terltrace -N NODE -qs $name//p" "$script" | head -n 1 | sed 's/\[[^]]*\]//g'); do
		case $word in
		module=*) args+=(demo_exact) ;;
		function=*) args+=(outer) ;;
		*) args+=(init) ;;
		esac
	done
	erltrace -x kernel=0 -x harmless -N harmless -e -qs "$script" "${args[@]}" >o 2>e
	is "$name ${args[*]}" 0 $?
	[ -s e ] && cat e
	n=$((n + 1))
done
ok 'there are many' [ "$n" -gt 40 ]
finish
