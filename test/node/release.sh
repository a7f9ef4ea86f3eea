#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Scripts that start with the application, in a real RabbitMQ: the example of doc/deploy.md. Its plugin for
# Prometheus shows their metrics beside its own; they are what the load counted, to the message, over a
# restart of a script's process and while a bad script is in the folder. The last line is
# "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
command -v curl >/dev/null || skip 'no curl here'
# shellcheck disable=SC2034 # for server.sh
messages=2000 bytes=100 rabbit_plugins=rabbitmq_prometheus
# shellcheck source=tools/rabbit/server.sh
. "$root/tools/rabbit/server.sh"
mkdir "$tmp/scripts"
prometheus_port=$(free_port)
printf 'prometheus.tcp.ip = 127.0.0.1\nprometheus.tcp.port = %d\n' "$prometheus_port" >"$tmp/rabbit.conf"
# The example: its settings and its script, in folders of ours. All is to be counted: no script is paused.
example() { # the language of the block, and what its first line holds
	awk -v head="^\`\`\`$1" -v first="$2" '$0 ~ head { getline; on = index($0, first) > 0 } /^```$/ { on = 0 } on' \
		"$root/doc/deploy.md"
}
example erlang '[{erltrace' | sed "s|/etc/erltrace/scripts|$tmp/scripts|; s/{\(budget[_a-z]*\), [0-9]*}/{\1, 100}/" >"$tmp/advanced.config"
example d '#pragma D metric @published' >"$tmp/scripts/published.d"
ok 'doc/deploy.md has the settings' [ -s "$tmp/advanced.config" ]
ok 'and the script' [ -s "$tmp/scripts/published.d" ]
printf 'BEGIN\n{\n\t@x = count(;\n}\n' >"$tmp/scripts/bad.d"
rabbit_begin
chmod -R go+rX "$tmp/scripts"
start ctl
in_rabbit() { at ctl "rpc:call('$rabbit', $1)."; }
is 'the node of the test reaches it' pong "$(at ctl "net_adm:ping('$rabbit').")"
is 'the code is there' true "$(in_rabbit "code, add_path, [\"$(realpath "$ebin")\"]")"
is 'the application starts' '{ok,[erltrace]}' "$(in_rabbit 'application, ensure_all_started, [erltrace]')"

url=http://127.0.0.1:$prometheus_port/metrics
# Waits until /metrics has this line, 60 s at most. The text stays in o.
shows() { # name, extended regular expression
	local i
	for ((i = 0; i < 600; i++)); do
		curl -s "$url" | grep -E 'erltrace|rabbit_published|rabbit_route_s|rabbitmq_identity' >o && grep -qE -- "$2" o && break
		sleep 0.1
	done
	has "$1" "$2"
}
n="node=\"$rabbit\""
shows 'the script runs' "^erltrace_script_up\{$n,script=\"published\"\} 1$"
has 'beside what RabbitMQ shows itself' '^rabbitmq_identity_info\{'
has 'a bad script does not' "^erltrace_script_up\{$n,script=\"bad\"\} 0$"
for ((i = 0; i < 600; i++)); do grep -qE 'bad\.d: line 3, ' log/* server.log && break; sleep 0.1; done
ok 'it is told, with its line' grep -qE 'bad\.d: line 3, ' log/* server.log
armed() { [[ $(in_rabbit "erltrace, scripts, []") =~ published.*state\ =\>\ armed ]]; }
for ((i = 0; i < 600; i++)); do armed && break; sleep 0.1; done

load || { cat load.err; is 'the load' ok failed; }
is 'no message is lost' "$whole" "$(grep -oE 'published.*left [0-9]+' <<<"$line")"
shows 'as many as were published' "^rabbit_published_total\{$n\} $messages$"
has 'its help' '^# HELP rabbit_published_total Messages published\.$'
has 'its type' '^# TYPE rabbit_published_total counter$'
has 'how long it took, in seconds' "^rabbit_route_seconds_count\{$n\} $messages$"
has 'all the time' "^erltrace_script_armed_ratio\{$n,script=\"published\"\} 1$"

# ---- the process of the script is killed -------------------------------------------------------

is 'it is killed' true "$(at ctl "exit(hd([P || {_, P, _, _} <- rpc:call('$rabbit', supervisor, which_children, [erltrace_scripts_sup]), {_, {_, #{script := <<\"published\">>}}} <- [lists:last(element(2, lists:last(lists:last(element(4, rpc:call('$rabbit', sys, get_status, [P]))))))]]), kill).")"
shows 'it is started again' "^erltrace_script_restarts_total\{$n,script=\"published\"\} 1$"
for ((i = 0; i < 600; i++)); do armed && break; sleep 0.1; done
load || { cat load.err; is 'the load' ok failed; }
shows 'the counter goes on' "^rabbit_published_total\{$n\} $((2 * messages))$"

# ---- files -------------------------------------------------------------------------------------

echo 'BEGIN { @begun = count(); }' >scripts/bad.d
is 'files are looked at' ok "$(in_rabbit 'erltrace, reload, []')"
shows 'the bad one is mended' "^erltrace_bad_begun_total\{$n\} 1$"
if command -v promtool >/dev/null; then
	grep -E '^(# (HELP|TYPE) )?(erltrace|rabbit_published|rabbit_route)' o >ours
	ok 'promtool has nothing to say' promtool check metrics <ours
else
	echo 'skipped: no promtool here'
fi
is 'the application stops' ok "$(in_rabbit 'application, stop, [erltrace]')"
curl -s "$url" >o
hasnt 'nothing of it is left' '^erltrace_'
has 'but what RabbitMQ has' '^rabbitmq_identity_info\{'
is 'nor is anything traced' '{flags,[]}' "$(in_rabbit 'erlang, trace_info, [new, flags]')"
finish
