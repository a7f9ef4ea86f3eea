#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# From the command to the first event it prints, against a node at work that has never seen it:
# the library is brought there, the script compiled and armed. The best of ROUNDS (5).

rows=$(realpath -m "${BENCH_ROWS:-/dev/null}")
# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../test/lib/nodelib.sh"
nodes_begin 300
start bench_first
at bench_first 'spawn(fun F() -> self() ! x, receive x -> timer:sleep(1) end, F() end), ok.' >/dev/null

best=''
for ((i = 0; i < ${ROUNDS:-5}; i++)); do
	from=$(date +%s%N)
	erltrace -N bench_first -qn 'erlang*:::message-send { printf("first\n"); exit(0); }' \
		</dev/null 2>e | { read -r line; [[ $line == first ]] && date +%s%N >to; cat >/dev/null; }
	[[ -s to ]] || { echo "no event: $(cat e)"; exit 1; }
	ms=$((($(cat to) - from) / 1000000))
	rm to
	[[ -z $best || $ms -lt $best ]] && best=$ms
done
echo "the command to the first event in a node: $best ms"
printf '{"part": "node", "name": "the command to the first event it prints", %s}\n' \
	"\"value\": $best, \"unit\": \"ms\", \"baseline\": 0, \"ratio\": 0, \"goal\": \"<=250\", \"ok\": $(
		((best <= 250)) && echo true || echo false)" >>"$rows"
