#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What a script that prints a lot takes of the node, and of the command: processor time for LINES (1000000)
# lines of printf(), beside the same calls that are only counted. The best of ROUNDS (3).

rows=$(realpath -m "${BENCH_ROWS:-/dev/null}")
# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../test/lib/nodelib.sh"
nodes_begin 300
lines=${LINES:-1000000}
start bench_print +sbwt none
spent() { awk '{ print ($14 + $15) * 10 }' "/proc/$1/stat"; } # process: ms

# One round: ms of the node and of the command, and how many lines came.
round() { # action
	local node of_command
	erltrace -N bench_print -x maxrate=0 -x bufsize=64m -x watchdog=0 -qn "
		erlang*:lists:seq/2:function-entry { $1 } erlang*:lists:last/1:function-entry { exit(0); }
		BEGIN { printf(\"armed\\n\"); }" >o 2>e </dev/null &
	command=$!
	holds o '^armed' >/dev/null || { cat e; return 1; }
	node=$(spent "${pid[bench_print]}")
	at bench_print "(fun F(0) -> ok; F(N) -> lists:seq(1, 2), (N rem 1000 =:= 0) andalso timer:sleep(3), F(N - 1) end)($lines)." >/dev/null
	at bench_print 'lists:last([1]).' >/dev/null
	while kill -0 $command 2>/dev/null; do
		of_command=$(spent $command 2>/dev/null || echo "$of_command")
		sleep 0.01
	done
	wait $command
	command=''
	echo "$(($(spent "${pid[bench_print]}") - node)) $of_command $(wc -l <o)"
}

best() { # action
	local i
	for ((i = 0; i < ${ROUNDS:-3}; i++)); do round "$1"; done | sort -n | head -n 1
}

read -r counted _ <<<"$(best '@ = count();')"
read -r node of_command came <<<"$(best 'printf("%d %s %d\n", erlint(0), copyinstr(arg1), timestamp);')"
((came > lines)) || { echo "$came lines of $lines came"; cat e; exit 1; }
echo "$lines lines: $node ms of the node, of which $counted ms are the same calls counted; $of_command ms of the command"
row() { # name, value, ratio
	printf '{"part": "print", "name": "%s", "value": %d, "unit": "ms", "baseline": %d, "ratio": %s}\n' "$1" "$2" "$counted" "$3" >>"$rows"
}
row "$lines lines of printf(): processor time of the node" "$node" "$(awk "BEGIN { print $node / $counted }")"
row "$lines lines of printf(): processor time of the command" "$of_command" 0
finish
