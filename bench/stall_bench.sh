#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The longest time that attaching, arming, running, disarming and detaching keep a scheduler from a process that
# is always ready to run (bench_stalls.erl): in a node of few processes and in one of very many, for scripts of
# process events, of functions by both ways, and of state. The same without erltrace is `quiet`: where that is
# longer than the goal, the machine is busy otherwise, and no goal is looked at. Of ROUNDS (3) the median:
# what a request may meet; and the least: what it meets every time. QUICK=1: two scripts, many processes only.

rows=$(realpath -m "${BENCH_ROWS:-/dev/null}")
beams=$(realpath "${BUILD:-build}/erl")
# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../test/lib/nodelib.sh"
nodes_begin 1500
phases=(quiet attach arm running disarm detach)
declare -A scripts=(
	[events]='erlang*:::process-exit { @ = count(); } erlang*:::message-send { @s = count(); }'
	[fast]='erlang*:lists::function-entry { @[probefunc] = count(); } erlang*:lists::function-return { @r = count(); }'
	[traced]='#pragma D option calls=traced
erlang*:lists::function-entry { @[probefunc] = count(); } erlang*:lists::function-return { @r = count(); }'
	[state]='state:::process-1s { @ = max(args[0]->memory); }'
)

command_until_armed() { # output, script: erltrace -N NODE, until it is armed; its number in $!
	erltrace -N "$node" -x watchdog=0 -x counters=off -qn "$2 BEGIN { printf(\"armed\\n\"); }" >"$1" 2>"$1.e" &
	last=$!
	holds "$1" '^armed' >/dev/null || { cat "$1.e"; return 1; }
}

phase() { at "$node" "bench_stalls:phase($1)." >/dev/null; }
ends() { # number of a command
	kill -TERM "$1"
	wait "$1"
}

# One round: us of each phase, in the order of phases.
round() { # script
	local i attached armed last
	phase 1; sleep "${BENCH_QUIET:-5}"
	phase 2; command_until_armed attached 'BEGIN { }' || return 1; attached=$last
	phase 3; command_until_armed armed "$1" || return 1; armed=$last
	phase 4; sleep 1
	phase 5; ends "$armed"
	phase 6; ends "$attached"
	for ((i = 0; i < ${BENCH_DETACH:-100}; i++)); do # many processes: modules are purged gradually, for minutes
		[ "$(at "$node" 'bench_stalls:loaded().')" = 0 ] && break
		sleep 0.1
	done
	for i in 1 2 3 4 5 6; do at "$node" "bench_stalls:longest($i)."; done | paste -sd' '
}

sizes='10 100000' some='events fast traced state' rounds=${ROUNDS:-3}
[ -n "${QUICK-}" ] && sizes=100000 some='events fast'
for n in ${BENCH_PROCESSES:-$sizes}; do
	node=bench_stall_$n
	start "$node" -pa "$beams" +P 1000000 +sbwt none
	at "$node" "bench_stalls:start($n)." >/dev/null
	for script in ${BENCH_SCRIPTS:-$some}; do
		: >rounds
		for ((i = 0; i < rounds; i++)); do
			round "${scripts[$script]}" >>rounds || { cat rounds; exit 1; }
		done
		for ((p = 0; p < 6; p++)); do
			sorted=$(awk -v c=$((p + 1)) '{ print $c }' rounds | sort -n)
			least=$(head -n 1 <<<"$sorted")
			median=$(sed -n "$(((rounds + 1) / 2))p" <<<"$sorted")
			[ $p = 0 ] && quiet=$median
			printf '%7d processes, %-7s %-8s median %7d us, least %7d us\n' "$n" "$script" "${phases[p]}" "$median" "$least"
			printf '{"part": "stall", "name": "%s processes, %s: longest stall, %s", "value": %s, "unit": "ms", "baseline": %s, "ratio": %s, "least": %s' \
				"$n" "$script" "${phases[p]}" "$(awk "BEGIN { print $median / 1000 }")" \
				"$(awk "BEGIN { print $quiet / 1000 }")" "$(awk "BEGIN { print ($quiet > 0 ? $median / $quiet : 0) }")" \
				"$(awk "BEGIN { print $least / 1000 }")" >>"$rows"
			# a machine that stalls by itself tells nothing of a goal
			if [ $p != 0 ] && [ "$n" -ge 100000 ] && ((quiet <= 5000)); then
				printf ', "goal": "<=5", "ok": %s' "$( ((median <= 5000)) && echo true || echo false)" >>"$rows"
			fi
			printf '}\n' >>"$rows"
		done
	done
	kill -9 "${pid[$node]}"
	unset "pid[$node]"
done
finish
