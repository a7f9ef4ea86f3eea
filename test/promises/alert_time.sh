#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Promise 22, alerts: a function of a node gets slow. A script that erltrace serve runs sees it: its alert(),
# and a rule of Prometheus on its counter, both reach Alertmanager within 5 s, and are over there when the
# function is as it was. All three are the real ones. As often as ROUNDS says (3); the slowest counts.

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/nodelib.sh"
nodes_begin 900
for c in curl prometheus prometheus-alertmanager; do command -v $c >/dev/null || skip "no $c here"; done
pids=()
# shellcheck disable=SC2317 # a trap
all_end() {
	for p in "${pids[@]}"; do kill -9 "$p" 2>/dev/null; done
	nodes_end
}
trap all_end EXIT
background() { # log, command ...
	"${@:2}" >"$1" 2>&1 </dev/null &
	pids+=($!)
	disown
}
# shellcheck disable=SC2317 # called by ok
until_shows() { # URL, extended regular expression; 60 s at most
	local i
	for ((i = 0; i < 600; i++)); do
		curl -s --max-time 10 "$1" >o && grep -qE -- "$2" o && return
		sleep 0.1
	done
	return 1
}

cat >slow_work.erl <<'EOC'
-module(slow_work).
-export([start/0, set/1, loop/0, work/1]).
start() -> persistent_term:put(slow_work, 1), spawn(?MODULE, loop, []).
set(Ms) -> persistent_term:put(slow_work, Ms).
loop() -> work(persistent_term:get(slow_work)), timer:sleep(20), loop().
work(Ms) -> timer:sleep(Ms), Ms.
EOC
erlc slow_work.erl || exit 1
mkdir scripts
cat >scripts/slow.d <<'EOC'
self uint64_t t;
BEGIN { @slow = sum(0); @calls = sum(0); }
erlang*:slow_work:work/1:function-entry { self->t = timestamp; }
erlang*:slow_work:work/1:function-return { @calls = sum(1); }
erlang*:slow_work:work/1:function-return
/self->t && timestamp - self->t > 400000000/
{
	@slow = sum(1);
	alert("SlowWork", "%d ms", (timestamp - self->t) / 1000000);
}
EOC
am_port=$(free_port) prom_port=$(free_port)
printf 'route: {receiver: none}\nreceivers: [{name: none}]\n' >am.yml
background am.log prometheus-alertmanager --config.file=am.yml --storage.path=am \
	--web.listen-address="127.0.0.1:$am_port" --cluster.listen-address=
am="http://127.0.0.1:$am_port/api/v2/alerts?active=true"
start served -pa "$tmp"
at served 'slow_work:start().' >/dev/null
background url erltrace serve -N served --port 0 --alert-hold 3 --alertmanager "http://127.0.0.1:$am_port" scripts
until [ -s url ] && grep -q metrics url; do sleep 0.05; done
url=$(grep -m1 metrics url)
cat >prometheus.yml <<EOC
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [rules.yml]
alerting: {alertmanagers: [{static_configs: [{targets: ['127.0.0.1:$am_port']}]}]}
scrape_configs: [{job_name: erltrace, static_configs: [{targets: ['$(sed 's|http://||; s|/.*||' <<<"$url")']}]}]
EOC
echo "groups: [{name: slow, rules: [{alert: SlowRule, expr: 'rate(erltrace_slow_slow_total[5s]) > 0'}]}]" >rules.yml
background prometheus.log prometheus --config.file=prometheus.yml --storage.tsdb.path=data \
	--web.listen-address="127.0.0.1:$prom_port"
ok 'Prometheus sees it at work' until_shows \
	"http://127.0.0.1:$prom_port/api/v1/query?query=rate(erltrace_slow_calls_total%5B5s%5D)%3E1" '"value"'
curl -s "$am" >o
hasnt 'nothing is wrong yet' '"alertname":"Slow'

ms() { echo $((${EPOCHREALTIME/./} / 1000)); }
# Sets by_alert, by_rule: ms until there are such alerts.
both() {
	local from i
	from=$(ms) by_alert='' by_rule=''
	for ((i = 0; i < 1200; i++)); do
		curl -s --max-time 10 "$am" >o
		[ -n "$by_alert" ] || ! grep -q '"alertname":"SlowWork"' o || by_alert=$(($(ms) - from))
		[ -n "$by_rule" ] || ! grep -q '"alertname":"SlowRule"' o || by_rule=$(($(ms) - from))
		[ -n "$by_alert" ] && [ -n "$by_rule" ] && return
		sleep 0.05
	done
}
# shellcheck disable=SC2317 # called by ok
neither() {
	local i
	for ((i = 0; i < 1200; i++)); do
		curl -s --max-time 10 "$am" >o && ! grep -q '"alertname":"Slow' o && return
		sleep 0.05
	done
	return 1
}
worst_alert=0 worst_rule=0 worst_over=0
for ((r = 0; r < ${ROUNDS:-3}; r++)); do
	at served 'slow_work:set(500).' >/dev/null
	both
	ok "round $r: both reach Alertmanager" test "${by_alert:+a}${by_rule:+b}" = ab
	((${by_alert:-99999} > worst_alert)) && worst_alert=${by_alert:-99999}
	((${by_rule:-99999} > worst_rule)) && worst_rule=${by_rule:-99999}
	at served 'slow_work:set(1).' >/dev/null
	from=$(ms)
	ok "round $r: both are over" neither
	over=$(($(ms) - from))
	((over > worst_over)) && worst_over=$over
	echo "round $r: ${by_alert:-none}, ${by_rule:-none}, over after $over ms" >&2
done
echo "promise 24: a function slows down from 1 to 500 ms: alert() is in Alertmanager after $worst_alert ms, a rule of Prometheus after $worst_rule ms, over $worst_over ms after the end, the slowest of ${ROUNDS:-3} rounds"
ok 'alert() within 5 s' [ "$worst_alert" -le 5000 ]
ok 'the rule within 5 s' [ "$worst_rule" -le 5000 ]
finish
