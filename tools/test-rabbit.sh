#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# make test-rabbit: RabbitMQ, as Debian packages it, under a load on loopback, traced with scripts
# of the library meanwhile. No message may be lost: what was published was confirmed and consumed,
# each once, and the server goes on as before. Prints for each script, without and with it, messages
# a second (of a machine that may have other things to do) and the server's processor time for one.
#
#	MESSAGES=20000 BYTES=200 tools/test-rabbit.sh

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../test/lib/nodelib.sh"
messages=${MESSAGES:-20000} bytes=${BYTES:-200}
# shellcheck source=tools/rabbit/server.sh
. "$root/tools/rabbit/server.sh"
rabbit_begin

plain=() plain_us=()
untraced() {
	load
	ok 'untraced: no message lost' grep -qF "$whole" <<<"$line"
	plain+=("$rate")
	plain_us+=("$us")
}

# ---- the scripts --------------------------------------------------------------------------

untraced # warms up
plain=() plain_us=()
untraced
printf '%-24s %10s %10s %14s %14s\n' SCRIPT 'MSGS/S' TRACED 'SERVER US/MSG' TRACED
traced() { # script, arguments of it
	local script=$1 before=${plain[-1]} before_us=${plain_us[-1]}
	shift
	trace $rabbit -qs "$root/scripts/$script.d" "$@" || return
	load
	ok "$script: no message lost" grep -qF "$whole" <<<"$line"
	ok "$script: the load went well" [ ! -s load.err ]
	local got=$rate got_us=$us
	untrace
	is "$script: exit" 0 "$status"
	ok "$script: says something" [ "$(wc -l <o)" -gt 4 ]
	cp o "$tmp/$script.out"
	cp e "$tmp/$script.err"
	untraced
	printf '%-24s %10d %10d %14d %14d\n' "$script $*" $(((before + plain[-1]) / 2)) "$got" \
		$(((before_us + plain_us[-1]) / 2)) "$got_us"
	sed -n '/^armed/d;p' o | head -n "${LINES_SHOWN:-8}" | sed 's/^/    /'
	[ -s e ] && head -n 5 e | sed 's/^/    ! /'
}

traced births
traced busy
traced latency
traced msgs
traced gc
traced gencall 20000
traced heat rabbit_channel

# ---- the first event, and what is left ----------------------------------------------------

first=()
load &
loader=$!
for ((k = 0; k < 5; k++)); do
	began=$(date +%s%N)
	erltrace -N $rabbit -qn 'erlang*:::message-send { printf("first\n"); exit(0); }' >o 2>e </dev/null &
	command=$!
	for ((i = 0; i < 4000; i++)); do
		grep -q first o 2>/dev/null && break
		sleep 0.002
	done
	first+=($((($(date +%s%N) - began) / 1000000)))
	wait $command
	command=''
done
wait $loader
ok 'five commands beside it: no message lost' [ $? -eq 0 ]
echo "info: from the command to the first event, under load, ms: ${first[*]}"
left=$(erltrace -N $rabbit -ln 'erlang*:::process-spawn' | tail -n 1)
ok 'the server still answers' grep -q process-spawn <<<"$left"
untraced
# Not: a supervisor's report of a child that ended by itself, with the reason shutdown, just when it
# was to be ended; whether it does is a matter of a moment.
grep -hiE 'crash|exception|terminat|badarg|badmatch' "$tmp"/log/*.log | grep -vi 'log' |
	head -n 5 >crashes
ok 'nothing in its log' [ ! -s crashes ]
cat crashes
echo "info: untraced: messages a second ${plain[*]}; us of the server for one ${plain_us[*]}"
finish
