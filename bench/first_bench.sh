#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# From the command to the first event it prints, against a node at work that has never seen it:
# the library is brought there, the script compiled and armed. The best of ROUNDS (5). Then what scripts cost
# that have nothing to do, in a node that rests: processor time in a second.

rows=$(realpath -m "${BENCH_ROWS:-/dev/null}")
# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../test/lib/nodelib.sh"
nodes_begin 300
start bench_first
at bench_first 'spawn(fun F() -> self() ! x, receive x -> timer:sleep(1) end, F() end), ok.' >/dev/null

# A row of the results: name, value, unit, the most it may be.
row() {
	local ok=false
	(($2 <= $4)) && ok=true
	printf '{"part": "node", "name": "%s", "value": %d, "unit": "%s", %s, "goal": "<=%d", "ok": %s}\n' \
		"$1" "$2" "$3" '"baseline": 0, "ratio": 0' "$4" $ok >>"$rows"
}

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
row 'the command to the first event it prints' "$best" ms 250

start bench_rest
spent() { awk '{ ns += $1 } END { printf "%.0f\n", ns }' "/proc/${pid[$1]}/task/"*/schedstat; } # node: ns
# node, name, "that rests" or "that rest", the most it may spend: what the node does in a second, in us.
measure() {
	local i from ns us='' now
	for ((i = 0; i < ${ROUNDS:-5}; i++)); do
		ns=$(spent "$1") from=$(date +%s%N)
		sleep 2
		now=$(date +%s%N)
		ns=$((($(spent "$1") - ns) * 1000000 / (now - from)))
		[[ -z $us || $ns -lt $us ]] && us=$ns
	done
	echo "$2: $us us of processor time a second"
	row "$2, $3: processor time in a second" "$us" us "$4"
}
rests() { # name, script
	local i
	erltrace -N bench_rest -qn "$2" >o 2>e </dev/null &
	command=$!
	for ((i = 0; i < 400; i++)); do
		grep -q armed o && break
		sleep 0.025
	done
	sleep 2
	measure bench_rest "$1" 'that rests' 5000
	kill "$command"
	wait "$command"
}
rests 'a script of one tick' 'BEGIN { printf("armed\n"); } tick-1hour { exit(0); }'
rests 'a script of process-exit' 'BEGIN { printf("armed\n"); } erlang*:::process-exit { @ = count(); }'
rests 'a script of samples' 'BEGIN { printf("armed\n"); } profile-97 { @[ustack()] = count(); }'

# The same for scripts of a release: all of the library's that count all the time.
names=(atoms births busy connections crashes dist ets gc gencall heap hibernate late mailbox
	memory msgs ports queues restarts runq spawners spawns sysmon tables timers)
files=$(printf ", \"$root/scripts/%s.d\"" "${names[@]}")
start bench_release -pa "$ebin"
at bench_release "application:load(erltrace), application:set_env(erltrace, scripts, [${files#, }]), application:ensure_all_started(erltrace)." >/dev/null
sleep 20
up=$(at bench_release 'length([up || {_, #{up := 1}} <- erltrace:scripts()]).')
[[ $up == "${#names[@]}" ]] || { echo "of ${#names[@]} scripts these run: $up"; exit 1; }
measure bench_release "${#names[@]} scripts of a release" 'that rest' 20000
