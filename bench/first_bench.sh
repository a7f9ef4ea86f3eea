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

start bench_rest
spent() { awk '{ ns += $1 } END { printf "%.0f\n", ns }' "/proc/${pid[bench_rest]}/task/"*/schedstat; } # ns
rests() { # name, script
	local i from ns us='' now
	erltrace -N bench_rest -qn "$2" >o 2>e </dev/null &
	command=$!
	for ((i = 0; i < 400; i++)); do
		grep -q armed o && break
		sleep 0.025
	done
	sleep 2
	for ((i = 0; i < ${ROUNDS:-5}; i++)); do
		ns=$(spent) from=$(date +%s%N)
		sleep 2
		now=$(date +%s%N)
		ns=$((($(spent) - ns) * 1000000 / (now - from)))
		[[ -z $us || $ns -lt $us ]] && us=$ns
	done
	kill "$command"
	wait "$command"
	echo "$1: $us us of processor time a second"
	printf '{"part": "node", "name": "%s, that rests: processor time in a second", %s}\n' "$1" \
		"\"value\": $us, \"unit\": \"us\", \"baseline\": 0, \"ratio\": 0, \"goal\": \"<=5000\", \"ok\": $(
			((us <= 5000)) && echo true || echo false)" >>"$rows"
}
rests 'a script of one tick' 'BEGIN { printf("armed\n"); } tick-1hour { exit(0); }'
rests 'a script of process-exit' 'BEGIN { printf("armed\n"); } erlang*:::process-exit { @ = count(); }'
rests 'a script of samples' 'BEGIN { printf("armed\n"); } profile-97 { @[ustack()] = count(); }'

# The same for scripts of a release: all of the library's that count all the time.
names=(atoms births busy connections crashes dist ets gc gencall heap hibernate late mailbox
	memory msgs ports queues restarts runq spawners spawns sysmon tables timers)
files=$(printf ", \"$root/scripts/%s.d\"" "${names[@]}")
at bench_rest "application:load(erltrace), application:set_env(erltrace, scripts, [${files#, }]), application:ensure_all_started(erltrace)." >/dev/null
sleep 20
us=''
for ((i = 0; i < ${ROUNDS:-5}; i++)); do
	ns=$(spent) from=$(date +%s%N)
	sleep 2
	now=$(date +%s%N)
	ns=$((($(spent) - ns) * 1000000 / (now - from)))
	[[ -z $us || $ns -lt $us ]] && us=$ns
done
echo "${#names[@]} scripts of a release: $us us of processor time a second"
printf '{"part": "node", "name": "%d scripts of a release, that rest: processor time in a second", %s}\n' ${#names[@]} \
	"\"value\": $us, \"unit\": \"us\", \"baseline\": 0, \"ratio\": 0, \"goal\": \"<=20000\", \"ok\": $(
		((us <= 20000)) && echo true || echo false)" >>"$rows"
