#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Promise 18, the soak: RabbitMQ under a load that is the same all the time, while profile-97 samples it
# in every other phase, for so long (90, 10m, 1h). No message may be lost, no system call may fail with
# EINTR for the server, and samples that are dropped are told. What sampling costs is compared in pairs
# of phases that follow each other, since the machine may be busy with other things too: the CPU time of
# the server for a message, and messages a second; the middle of the pairs counts. The CPU time for a
# message differs by 5 to 10 % between phases without any cause here, so the interval in which the middle is
# with a certainty of 95 % is told with it, and 99 % must not be above that. What it takes to start sampling
# is told apart.
#
# Phases are short: what the machine does besides changes within seconds, so pairs that are near in time and many
# tell more than long ones. Every pair is told as it comes (ns for a message without and with samples), so that a
# run can be judged again.
#
#	test/promises/samples_rabbit.sh 1h          PHASE=3 seconds, RATE=5000 messages a second at most

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/nodelib.sh"
for_s=${1:-60}
case $for_s in *m) for_s=$((${for_s%m} * 60)) ;; *h) for_s=$((${for_s%h} * 3600)) ;; *s) for_s=${for_s%s} ;; esac
rate=${RATE:-5000} phase=${PHASE:-3}
# shellcheck disable=SC2034 # for server.sh
messages=$(((for_s + 600) * rate)) bytes=${BYTES:-200}
# shellcheck source=tools/rabbit/server.sh
. "$root/tools/rabbit/server.sh"
rabbit_begin
kill "$watchdog" 2>/dev/null # it may take longer than a test does

mkfifo to_load from_load
exec {to}<>to_load {from}<>from_load
# shellcheck disable=SC2154 # paths, port: server.sh
erl -noshell -pa "$tmp" "${paths[@]}" -run rabbit_load main "$port" $messages $bytes 2 2 "$rate" \
	<&$to >&$from 2>load.err &
pid[load]=$!
disown

# Sets now, cpu (both in us) and consumed. A busy machine may take long to answer.
look() {
	local line
	echo '?' >&$to
	while read -r -t 600 line <&$from; do
		[[ $line =~ ^consumed\ [0-9]+$ ]] && break
		echo "$line" # an error
	done
	[[ $line == consumed* ]] || { is 'the load answers' consumed "${line:-nothing}"; finish; }
	consumed=${line#consumed }
	cpu=$(cat "/proc/${pid[rabbit]}"/task/*/schedstat | awk '{ ns += $1 } END { printf "%d", ns / 1000 }')
	now=${EPOCHREALTIME/./}
}

# A phase: ns of CPU time for a message, thousandths of a message a second. It lasts until messages have come.
phase() {
	local c t m i
	look
	c=$cpu t=$now m=$consumed
	for ((i = 0; i < 60; i++)); do
		sleep "$phase"
		look
		((consumed > m)) && break
	done
	((consumed > m)) || { is 'messages come' some none; cat load.err; finish; }
	per_message=$(((cpu - c) * 1000 / (consumed - m)))
	throughput=$(((consumed - m) * 1000000000 / (now - t)))
}

# With samples. What was spent until they came, but for what the messages took, is added to start, in us.
sampled_phase() {
	local c m each=${per_message:-0}
	look
	c=$cpu m=$consumed
	trace $rabbit -qn 'profile-97 { @[erlstate, ustack()] = count(); @samples = count(); }' || finish
	look
	start+=$((cpu - c - (consumed - m) * each / 1000))$'\n'
	phase
	untrace
	((status == 0)) || is 'the command ends well' 0 "$status"
	samples=$((samples + $(awk 'NF == 1 && /^ +[0-9]+$/ { n = $1 } END { print n + 0 }' o)))
	drops=$((drops + $(awk '/samples? dropped|SAMPLES/ { n += $1 } END { print n + 0 }' e)))
	grep -v SAMPLES e | head -n 5 >>said
}

middle() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# Where the middle is, by the order of the values alone: 95 %.
interval() {
	sort -g | awk '{ v[NR] = $1 } END { k = int(NR / 2 - 0.98 * sqrt(NR)); k = k < 1 ? 1 : k; print v[k], v[NR + 1 - k] }'
}

start='' pairs='' rates='' without='' with='' n=0 samples=0 drops=0
touch said
phase # warms up
until=$((SECONDS + for_s))
while ((SECONDS < until || n == 0)); do
	if ((n % 2)); then # in this order, then in that
		sampled_phase
		on=$per_message on_rate=$throughput
		phase
		off=$per_message off_rate=$throughput
	else
		phase
		off=$per_message off_rate=$throughput
		sampled_phase
		on=$per_message on_rate=$throughput
	fi
	pairs+="$((off * 100000 / on))"$'\n' rates+="$((on_rate * 100000 / off_rate))"$'\n'
	without+=$off$'\n' with+=$on$'\n'
	n=$((n + 1))
	echo "pair $off $on" >&2
	((n % 50)) || echo "after ${SECONDS}s: $n pairs, $samples samples, $drops dropped, in the middle $(printf %s "$pairs" | middle) and $(printf %s "$rates" | middle)" >&2
done
echo stop >&$to
line=''
while read -r -t 120 line <&$from; do [[ $line == published* ]] && break; done
published=$(awk '{ print $2 }' <<<"$line")

thousandths() { awk -v n="$1" 'BEGIN { printf "%.2f", n / 1000 }'; }
kept=$(printf %s "$pairs" | middle) kept_rate=$(printf %s "$rates" | middle)
read -r kept_least kept_most < <(printf %s "$pairs" | interval)
echo "promise 18: OTP $(erl -noshell -eval 'io:put_chars(erlang:system_info(otp_release)), halt().'): RabbitMQ, $published messages in $((SECONDS))s, $n pairs of $phase s with samples at 97 Hz and without: $(thousandths "$(printf %s "$with" | middle)") and $(thousandths "$(printf %s "$without" | middle)") us of CPU time for a message; in the middle of the pairs $(thousandths "$kept") % ($(thousandths "$kept_least") to $(thousandths "$kept_most")) of the work is done for the same CPU time, and $(thousandths "$kept_rate") % of the messages came in the same time; to start took $(($(printf %s "$start" | middle) / 1000)) ms of CPU time; $samples samples, $drops dropped"
is 'no message is lost' "published $published confirmed $published refused 0 consumed $published twice 0 left 0" \
	"$(grep -oE 'published.*left [0-9]+' <<<"$line")"
is 'no EINTR in the log of the server' 0 "$(cat log/* server.log | grep -ciE 'eintr|interrupted system call')"
is 'nothing else is said' '' "$(sort -u said | head -n 5)"
ok 'samples came' [ "$samples" -gt 0 ]
ok 'for the same CPU time 99 % of the work is done, as far as can be told' [ "$kept_most" -ge 99000 ]
ok '99 % of the messages come in the same time' [ "$kept_rate" -ge 99000 ]
finish
