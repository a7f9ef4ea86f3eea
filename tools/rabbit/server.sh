# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: Apache-2.0
#
# A RabbitMQ server, as Debian packages it, and a load for it: sourced after
# test/lib/nodelib.sh, not run. The server is the test's own: its files are in a folder of its own, it listens on 127.0.0.1
# only. $messages of $bytes bytes are a load.
#
#	rabbit_begin    the server, as the node $rabbit, with $rabbit_plugins, the arguments $rabbit_args of
#	                erl and the settings in the files rabbit.conf and advanced.config; where it is not
#	                installed, skips
#	load            runs the load; its line is in $line, messages a second in $rate, the server's us
#	                for one in $us
#	$whole          is in $line if no message was lost

# shellcheck disable=SC2034 # for the tests
rabbit=rabbit_traced@localhost

rabbit_begin() {
	local i plugins server=/usr/lib/rabbitmq/bin/rabbitmq-server wrapper
	plugins=$(compgen -G '/usr/lib/rabbitmq/lib/rabbitmq_server-*/plugins' | tail -n 1)
	if [ -z "$plugins" ] || [ ! -x $server ]; then
		skip 'no rabbitmq-server here (apt-get install --no-install-recommends rabbitmq-server)'
	fi
	[ -n "$epmd" ] || nodes_begin 900
	port=$((ERL_EPMD_PORT + 1))
	export RABBITMQ_NODENAME=$rabbit RABBITMQ_NODE_IP_ADDRESS=127.0.0.1 RABBITMQ_NODE_PORT=$port \
		RABBITMQ_DIST_PORT=$((port + 1)) RABBITMQ_MNESIA_BASE=$tmp/db RABBITMQ_LOG_BASE=$tmp/log \
		RABBITMQ_CONF_ENV_FILE=$tmp/none RABBITMQ_CONFIG_FILE=$tmp/rabbit \
		RABBITMQ_ADVANCED_CONFIG_FILE=$tmp/advanced.config \
		RABBITMQ_ENABLED_PLUGINS_FILE=$tmp/plugins RABBITMQ_PID_FILE=$tmp/rabbit.pid \
		RABBITMQ_GENERATED_CONFIG_DIR=$tmp/config \
		RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="-start_epmd false ${rabbit_args:-} -kernel inet_dist_use_interface {127,0,0,1}"
	echo "[${rabbit_plugins:-}]." >plugins
	mkdir -p db log
	$server >server.log 2>&1 </dev/null &
	wrapper=$!
	for ((i = 0; i < 4800; i++)); do
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
	whole="published $messages confirmed $messages refused 0 consumed $messages twice 0 left 0"
}

# Hundredths of a second that the server has run.
ticks() {
	awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/${pid[rabbit]}/stat"
}

load() {
	local before
	before=$(ticks)
	line=$(erl -noshell -pa "$tmp" "${paths[@]}" -run rabbit_load main \
		"$port" "$messages" "$bytes" 2 2 2>load.err)
	local rc=$?
	rate=$(grep -oE ' per_s [0-9]+' <<<"$line" | grep -oE '[0-9]+')
	rate=${rate:-0}
	us=$((($(ticks) - before) * 10000 / messages))
	return $rc
}
