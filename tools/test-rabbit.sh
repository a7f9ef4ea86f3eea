#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# make test-rabbit: RabbitMQ, as Debian packages it, under a load on loopback, traced with scripts
# of the library meanwhile. No message may be lost: what was published was confirmed and consumed,
# each once, and the server goes on as before. Prints for each script, without and with it, messages
# a second (of a machine that may have other things to do) and the server's processor time for one.
# The server is this test's own: its files are in a folder of its own, it listens on 127.0.0.1 only.
#
#	MESSAGES=20000 BYTES=200 tools/test-rabbit.sh

# shellcheck source=test/nodelib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../test/nodelib.sh"
plugins=$(compgen -G '/usr/lib/rabbitmq/lib/rabbitmq_server-*/plugins' | tail -n 1)
server=/usr/lib/rabbitmq/bin/rabbitmq-server
if [ -z "$plugins" ] || [ ! -x $server ]; then
	skip 'no rabbitmq-server here (apt-get install --no-install-recommends rabbitmq-server)'
fi
nodes_begin 900
messages=${MESSAGES:-20000} bytes=${BYTES:-200}
port=$((ERL_EPMD_PORT + 1))
name=rabbit_traced@localhost

# ---- the server ---------------------------------------------------------------------------

export RABBITMQ_NODENAME=$name RABBITMQ_NODE_IP_ADDRESS=127.0.0.1 RABBITMQ_NODE_PORT=$port \
	RABBITMQ_DIST_PORT=$((port + 1)) RABBITMQ_MNESIA_BASE=$tmp/db RABBITMQ_LOG_BASE=$tmp/log \
	RABBITMQ_CONF_ENV_FILE=$tmp/none RABBITMQ_CONFIG_FILE=$tmp/rabbit \
	RABBITMQ_ENABLED_PLUGINS_FILE=$tmp/plugins RABBITMQ_PID_FILE=$tmp/rabbit.pid \
	RABBITMQ_GENERATED_CONFIG_DIR=$tmp/config \
	RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='-start_epmd false -kernel inet_dist_use_interface {127,0,0,1}'
echo '[].' >plugins
mkdir -p db log
$server >server.log 2>&1 </dev/null &
wrapper=$!
for ((i = 0; i < 1200; i++)); do
	grep -q 'completed with' server.log && break
	kill -0 $wrapper 2>/dev/null || break
	sleep 0.05
done
if ! grep -q 'completed with' server.log; then
	echo 'FAILED: the server did not start'
	cat server.log
	exit 1
fi
pid[rabbit]=$(cat rabbit.pid)

mapfile -t paths < <(compgen -G "$plugins/*/ebin")
ERL_LIBS=$plugins erlc -o "$tmp" "$root/tools/rabbit/rabbit_load.erl" || exit 1

# Hundredths of a second that the server has run.
ticks() {
	awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/${pid[rabbit]}/stat"
}

# Runs the load; its line is in $line, messages a second in $rate, the server's us for one in $us.
load() {
	local before
	before=$(ticks)
	line=$(erl -noshell -pa "$tmp" "${paths[@]}" -run rabbit_load main \
		$port "$messages" "$bytes" 2 2 2>load.err)
	local rc=$?
	rate=$(grep -oE ' per_s [0-9]+' <<<"$line" | grep -oE '[0-9]+')
	rate=${rate:-0}
	us=$((($(ticks) - before) * 10000 / messages))
	return $rc
}

whole="published $messages confirmed $messages refused 0 consumed $messages twice 0 left 0"
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
	trace $name -qs "$root/scripts/$script.d" "$@" || return
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
	erltrace -N $name -qn 'erlang*:::message-send { printf("first\n"); exit(0); }' >o 2>e </dev/null &
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
left=$(erltrace -N $name -ln 'erlang*:::process-spawn' | tail -n 1)
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
