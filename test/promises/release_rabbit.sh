#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Promise 24, always on: 24 scripts of the library start with the application in a RabbitMQ under load, for
# so long (90, 10m, 30m), a third of the time with a load that is ten times higher. All together they may
# spend 2 percent of the schedulers' time, and memory must be flat. What they spend is what they say, minute
# by minute; beside it stands what can be seen from outside: the server's CPU time for a message with and
# without them, in pairs of phases that follow each other.
#
#	test/promises/release_rabbit.sh 30m         RATE=500 messages a second, then ten times as many

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/nodelib.sh"
for_s=${1:-90}
case $for_s in *m) for_s=$((${for_s%m} * 60)) ;; *h) for_s=$((${for_s%h} * 3600)) ;; *s) for_s=${for_s%s} ;; esac
rate=${RATE:-500} phase=${PHASE:-10}
# shellcheck disable=SC2034 # for server.sh
messages=0 bytes=${BYTES:-200}
names=(atoms births busy connections crashes dist ets gc gencall heap hibernate late mailbox
	memory msgs ports queues restarts runq spawners spawns sysmon tables timers)
# shellcheck source=tools/rabbit/server.sh
. "$root/tools/rabbit/server.sh"
files=$(printf ", \"$root/scripts/%s.d\"" "${names[@]}")
echo "[{erltrace, [{scripts, [${files#, }]}]}]." >"$tmp/advanced.config"
rabbit_begin
kill "$watchdog" 2>/dev/null # it may take longer than a test does
start ctl
in_rabbit() { at ctl "rpc:call('$rabbit', $1)."; }
is 'the node of the test reaches it' pong "$(at ctl "net_adm:ping('$rabbit').")"
is 'the code is there' true "$(in_rabbit "code, add_path, [\"$(realpath "$ebin")\"]")"
schedulers=$(in_rabbit 'erlang, system_info, [schedulers_online]')

# ---- the load ----------------------------------------------------------------------------------

lost=''
load_begin() { # messages a second
	rm -f to_load from_load
	mkfifo to_load from_load
	exec {to}<>to_load {from}<>from_load
	# shellcheck disable=SC2154 # paths, port: server.sh
	erl -noshell -pa "$tmp" "${paths[@]}" -run rabbit_load main "$port" $(((for_s + 900) * $1)) "$bytes" 2 2 "$1" \
		<&$to >&$from 2>load.err &
	pid[load]=$!
	disown
}
load_end() {
	local line=''
	echo stop >&$to
	while read -r -t 120 line <&$from; do [[ $line == published* ]] && break; done
	published=$((published + $(awk '{ print $2 + 0 }' <<<"$line")))
	grep -qE 'refused 0 .* twice 0 left 0' <<<"$line" || lost+="${line:-no answer} "
	exec {to}>&- {from}>&-
}
look() { # sets cpu, in us, and consumed
	local line=''
	echo '?' >&$to
	while read -r -t 600 line <&$from; do [[ $line =~ ^consumed\ [0-9]+$ ]] && break; done
	[[ $line == consumed* ]] || { is 'the load answers' consumed "${line:-nothing}"; finish; }
	consumed=${line#consumed }
	cpu=$(($(ticks) * 10000))
}

# ---- what they cost ----------------------------------------------------------------------------

# ns that all scripts have spent, and how many of them run or are paused
spent() {
	at ctl "S = rpc:call('$rabbit', erltrace, scripts, []), {lists:sum([maps:get(spent, A, 0) || {_, A} <- S]), length([x || {_, #{state := X}} <- S, X =/= failed]), lists:sum([maps:get(armed, A, 0) || {_, A} <- S]), lists:sum([maps:get(paused, A, 0) || {_, A} <- S])}." |
		tr -d '{}' | tr ',' ' '
}
resident() { awk '/VmRSS/ { print $2 }' "/proc/${pid[rabbit]}/status"; }
percent() { awk -v n="$1" 'BEGIN { printf "%.2f", n / 1000 }'; } # of thousandths of a percent

worst=0 worst_busy=0 up=${#names[@]} published=0 rss=() figures=''
# Looks every minute, or more often where there is less time: thousandths of a percent of the schedulers'
# time, and of the time that they were busy.
watch() { # seconds, which load
	local until=$((SECONDS + $1)) every=60 ns n armed paused was t c w part busy all=0 minutes=0
	((every > $1 / 3)) && every=$(($1 / 3))
	read -r was n armed paused < <(spent)
	t=${EPOCHREALTIME/./} c=$(ticks)
	while ((SECONDS < until)); do
		sleep "$every"
		read -r ns n armed paused < <(spent)
		w=$((${EPOCHREALTIME/./} - t))
		part=$(((ns - was) * 100 / (w * schedulers)))
		busy=$((($(ticks) - c) * 10000))
		((busy < w / 2)) && busy=$((w / 2))
		busy=$(((ns - was) * 100 / busy))
		echo "$2: $(percent $part) % of the schedulers' time, $(percent $busy) % of their busy time; armed for $((armed * 100 / (armed + paused))) % of the time so far; $(resident) KB" >&2
		((part > worst)) && worst=$part
		((busy > worst_busy)) && worst_busy=$busy
		((n < up)) && up=$n
		rss+=("$(resident)")
		all=$((all + part)) minutes=$((minutes + 1))
		was=$ns t=${EPOCHREALTIME/./} c=$(ticks)
	done
	figures+="$2: $(percent $((all / minutes))) %, armed for $((armed * 100 / (armed + paused))) %; "
}

# CPU time of the server for a message, in ns.
per_message() {
	local c m i
	look
	c=$cpu m=$consumed
	for ((i = 0; i < 60; i++)); do
		sleep "$phase"
		look
		((consumed > m)) && break
	done
	((consumed > m)) || { is 'messages come' some none; cat load.err; finish; }
	each=$(((cpu - c) * 1000 / (consumed - m)))
}
middle() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
on() { in_rabbit 'application, ensure_all_started, [erltrace]' >/dev/null; }
off() { in_rabbit 'application, stop, [erltrace]' >/dev/null; }

load_begin "$rate"
is 'the application starts' '{ok,[erltrace]}' "$(in_rabbit 'application, ensure_all_started, [erltrace]')"
for ((i = 0; i < 1200; i++)); do
	read -r _ n _ _ < <(spent)
	((n == ${#names[@]})) && break
	sleep 0.1
done
is 'all scripts run' ${#names[@]} "$n"
((n == ${#names[@]})) || at ctl "[{N, W} || {N, #{state := failed, why := W}} <- rpc:call('$rabbit', erltrace, scripts, [])]."
sleep 60 # what it takes to arm them the first time is besides
watch $((for_s * 2 / 3)) "$rate messages a second"
steady=${#rss[@]} # memory: while the load is the same
load_end
load_begin $((rate * 10))
sleep "$phase"
watch $((for_s / 3)) 'ten times as many'

# From outside.
pairs=''
for ((p = 0; p < ${PAIRS:-5}; p++)); do
	off
	per_message
	without=$each
	on
	sleep $((6 * phase)) # what it takes to start them is besides
	per_message
	pairs+="$((each * 100000 / without))"$'\n'
done
load_end

early=0 last=${rss[steady - 1]}
for ((i = steady / 4; i < steady / 2 + 1; i++)); do ((rss[i] > early)) && early=${rss[i]}; done
echo "promise 24: OTP $(erl -noshell -eval 'io:put_chars(erlang:system_info(otp_release)), halt().'): ${#names[@]} scripts in RabbitMQ for ${for_s}s, $published messages: ${figures}in the worst minute $(percent $worst) % of the schedulers' time, $(percent $worst_busy) % of their busy time; CPU time for a message with them $(percent "$(printf %s "$pairs" | middle)") % of that without, in the middle of ${PAIRS:-5} pairs; resident $((early / 1024)) MB in the second quarter of the first load, $((last / 1024)) at its end"
is 'all scripts ran all the time' ${#names[@]} "$up"
ok 'no more than 2 % of the schedulers'"'"' time' [ $worst -le 2000 ]
is 'no message is lost' '' "$lost"
ok 'memory is flat, within 5 %' [ "$last" -le $((early * 105 / 100)) ]
finish
