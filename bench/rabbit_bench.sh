#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# RabbitMQ under load, the messages that its processes send counted by sender: by nobody, by
# erltrace, by a process that is sent each event, by dbg, by dbg to a file; in turns. Messages a
# second and the server's processor time for one; of ROUNDS (3) the best.

rows=$(realpath -m "${BENCH_ROWS:-/dev/null}")
# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../test/lib/nodelib.sh"
messages=${MESSAGES:-20000} bytes=200
# shellcheck source=tools/rabbit/server.sh
. "$root/tools/rabbit/server.sh"
rabbit_begin
erlc -o "$tmp" "$root"/bench/bench_{lib,loads,ways}.erl || exit 1
start bench_rabbit@localhost
control=bench_rabbit@localhost
[[ $(at $control "net_kernel:connect_node('$rabbit').") == true ]] || { echo 'no connection'; exit 1; }
for m in bench_lib bench_ways; do
	at $control "{ok, B} = file:read_file(\"$m.beam\"), rpc:call('$rabbit', code, load_binary, [$m, \"\", B])."
done >/dev/null

on() { # way
	case $1 in
	nothing) ;;
	erltrace) trace $rabbit -qn 'erlang*:::message-send { @[copyinstr(arg0)] = count(); }' ;;
	*) at $control "P = spawn('$rabbit', bench_ways, hold, [$1, messages, self()]), put(held, P), receive {P, on} -> ok after 10000 -> no end." ;;
	esac >/dev/null
}

off() { # way: messages sent to a tracer
	case $1 in
	nothing) echo 0 ;;
	erltrace) untrace >&2; echo 0 ;;
	*) at $control 'P = get(held), P ! off, receive {P, {N, _}} -> N after 60000 -> no end.' ;;
	esac
}

ways=(nothing erltrace process dbg dbg_file)
declare -A what=([nothing]=nothing [erltrace]=erltrace [process]='a process (recon, redbug)'
	[dbg]=dbg [dbg_file]='dbg to a file') best_rate best_us sent
load # warms up
for ((round = 0; round < ${ROUNDS:-3}; round++)); do
	for way in "${ways[@]}"; do
		on "$way"
		load
		grep -qF "$whole" <<<"$line" || { echo "$way: messages lost: $line"; exit 1; }
		off "$way" >messages # not $(): the command is this shell's child
		sent[$way]=$(<messages)
		((rate > ${best_rate[$way]:-0})) && best_rate[$way]=$rate
		((us < ${best_us[$way]:-1000000})) && best_us[$way]=$us
	done
done
for way in "${ways[@]}"; do
	printf '%-28s %7d messages a second, %5d us of the server for one\n' "${what[$way]}" \
		"${best_rate[$way]}" "${best_us[$way]}"
	printf '{"part": "rabbit", "way": "%s", "what": "%s", "rate": %d, "us": %d, "kept": %s, "messages": %s}\n' \
		"$way" "${what[$way]}" "${best_rate[$way]}" "${best_us[$way]}" \
		"$((100 * best_rate[$way] / best_rate[nothing]))" "$((sent[$way] * 1000 / messages))" >>"$rows"
done
