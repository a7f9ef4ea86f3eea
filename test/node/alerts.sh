#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# alert() of a script that erltrace serve runs: told once to Alertmanager, the real one where it is
# installed, and to a webhook; over when it is not called any more; kept while nobody answers, also if that
# begins later; bounded.
# A rule of Prometheus on the same script's metric reaches the same Alertmanager. The last line is
# "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 600
erltrace serve --help >/dev/null 2>&1 || skip 'erltrace was built without the server of metrics'
command -v curl >/dev/null || skip 'no curl here'
command -v python3 >/dev/null || skip 'no python3 here'
pids=()
# shellcheck disable=SC2317 # a trap
alerts_end() {
	for p in "${pids[@]}"; do kill -9 "$p" 2>/dev/null; done
	nodes_end
}
trap alerts_end EXIT
background() { # log, command ...
	"${@:2}" >"$1" 2>&1 </dev/null &
	pids+=($!)
	disown
}
# Waits until the page has this, 60 s at most. The text stays in o.
shows() { # name, URL, extended regular expression
	local i
	for ((i = 0; i < 600; i++)); do
		curl -s --max-time 10 "$2" >o && grep -qE -- "$3" o && break
		sleep 0.1
	done
	has "$1" "$3"
}
calls() { at served "demo_exact:calls($1)." >/dev/null; }

am_port=$(free_port) hook_port=$(free_port)
mkdir scripts
cat >scripts/slow.d <<'EOC'
int n;
erlang*:demo_exact:leaf/1:function-entry
{
	@calls = count();
	n++;
	printf("call %d of leaf\n", n);
	alert("Slow", "%d calls of \"leaf\"", n);
}
EOC
# It prints more than is kept of a line: no half of a character is told.
cat >scripts/burns.d <<EOC
erlang*:demo_exact:burn/1:function-entry
{
	printf("$(printf 'é%.0s' {1..200})\n");
	alert("Burns", "CPU time");
}
EOC
# It records, and prints nothing: the alert leads to the file.
cat >scripts/records.d <<'EOC'
#pragma D option bufpolicy=ring
erlang*:demo_exact:burn/1:function-entry { printf("burns"); alert("Recorded", "with a snapshot"); }
EOC
start served
at served 'code:ensure_loaded(demo_exact).' >/dev/null
# An alert that is called twice a second goes on, also where the machine stands still for some seconds.
background url erltrace serve -N served --port 0 --snapshots shots --alert-hold 6 --alertmanager "http://127.0.0.1:$am_port" \
	--webhook "http://127.0.0.1:$hook_port/hook" scripts
until [ -s url ] && grep -q metrics url; do sleep 0.05; done
url=$(grep -m1 metrics url)
shows 'it runs' "$url" '^erltrace_script_up\{script="slow",target="served"\} 1$'

# ---- nobody answers: told, kept ----------------------------------------------------------------

calls 100
ok 'it begins: in the log' holds url 'alert Slow \(slow, served@.*\): [0-9]+ calls of "leaf"'
shows 'and as a metric' "$url" '^erltrace_alert\{script="slow",node="served@[^"]*",alertname="Slow"\} [01]$'
# (they may come in several parts)
shows 'calls are counted' "$url" '^erltrace_alert_calls_total 100$'
ok 'nobody answers: told' holds url "http://127.0.0.1:$hook_port/hook: .*; it is tried again"
shows 'and counted' "$url" '^erltrace_posts_failed_total\{to="webhook"\} [1-9]'
ok 'it is over' holds url 'alert Slow .*: is over'

# ---- a webhook ---------------------------------------------------------------------------------

cat >hook.py <<'EOC'
import http.server, sys
class H(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        open('posts', 'ab').write(self.path.encode() + b' ' + body + b'\n')
        self.send_response(200); self.send_header('Content-Length', '0'); self.end_headers()
    def log_message(self, *a): pass
http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), H).serve_forever()
EOC
background hook.log python3 hook.py "$hook_port"
if command -v prometheus-alertmanager >/dev/null; then
	cat >am.yml <<-'EOC'
		route: {receiver: none}
		receivers: [{name: none}]
	EOC
	am_begin() {
		background am.log prometheus-alertmanager --config.file=am.yml --storage.path=am \
			--web.listen-address="127.0.0.1:$am_port" --cluster.listen-address=
		am_pid=${pids[-1]}
	}
	am_end() {
		kill "$am_pid"
		while kill -0 "$am_pid" 2>/dev/null; do sleep 0.05; done
	}
	am_begin
	am="http://127.0.0.1:$am_port/api/v2/alerts"
else
	echo 'skipped: no prometheus-alertmanager here'
	background am.log python3 hook.py "$am_port"
	am=''
fi
ok 'a webhook that comes gets what was kept' holds posts '^/hook \{"alerts":.*"alertname":"Slow".*"status":"firing"'
ok 'and that it is over' holds posts '"alertname":"Slow".*"status":"resolved"'
is 'once, for a hundred calls' 1 "$(grep -c '"status":"firing"' posts)"
ok 'with what was printed before it' grep -q '"recorded":"call 1 of leaf' posts
at served 'demo_exact:burns(1).' >/dev/null
ok 'one whose script had printed a long line is told' holds posts '"alertname":"Burns".*"status":"firing"'
ok 'with whole characters of it' grep -qF "\"recorded\":\"$(printf 'é%.0s' {1..127})\\n\"" posts
ok 'which is over then' holds posts '"alertname":"Burns".*"status":"resolved"'
ok 'one of a recorder leads to its snapshot' holds posts '"alertname":"Recorded".*"snapshot":"shots/[^"]*alert_Recorded[^"]*"'
ok 'which is there' grep -q 'burns' "$(sed -n 's/.*"snapshot":"\([^"]*\)".*/\1/p' posts | tail -n 1)"
ok 'and in the log' holds url "records\.d: served: snapshot 'alert Recorded': shots/"
ok 'it is over, too' holds posts '"alertname":"Recorded".*"status":"resolved"'
is 'told once' 1 "$(grep -c '"alertname":"Recorded".*"status":"firing"' posts)"

# ---- Alertmanager, and a rule of Prometheus ----------------------------------------------------

if [ -n "$am" ] && command -v prometheus >/dev/null; then
	prom_port=$(free_port)
	cat >prometheus.yml <<-EOC
		global: {scrape_interval: 1s, evaluation_interval: 1s}
		rule_files: [rules.yml]
		alerting: {alertmanagers: [{static_configs: [{targets: ['127.0.0.1:$am_port']}]}]}
		scrape_configs:
		  - job_name: erltrace
		    static_configs: [{targets: ['$(sed 's|http://||; s|/.*||' <<<"$url")']}]
	EOC
	cat >rules.yml <<-'EOC'
		groups:
		  - name: erltrace
		    rules:
		      - {alert: ManyCalls, expr: 'erltrace_slow_calls_total > 100'}
	EOC
	ok 'promtool likes the rule' promtool check rules rules.yml
	# Those of the manual.
	mkdir manual
	awk '/^```yaml/ { getline; f = "manual/" $2; next } /^```/ { f = "" } f != "" { print >f }' "$root/doc/deploy.md"
	ok 'and those of doc/deploy.md' promtool check config manual/prometheus.yml
	ok 'Alertmanager likes its file, too' amtool check-config manual/alertmanager.yml
	background prometheus.log prometheus --config.file=prometheus.yml --storage.tsdb.path=data \
		--web.listen-address="127.0.0.1:$prom_port"
	prometheus=${pids[-1]}
	shows 'Prometheus scrapes it' "http://127.0.0.1:$prom_port/api/v1/query?query=erltrace_slow_calls_total" '"100"'
	calls 7
	shows 'the rule reaches Alertmanager' "$am" '"alertname":"ManyCalls"'
fi
if [ -n "$am" ]; then
	[ -n "${prom_port-}" ] || calls 7
	for ((i = 0; i < 200; i++)); do calls 1; curl -s --max-time 5 "$am?active=true" >o; grep -q Slow o && break; sleep 0.3; done
	has 'alert() reaches Alertmanager' '"alertname":"Slow"'
	has 'with its text' '"summary":"[0-9]+ calls of \\"leaf\\""'
	for ((i = 0; i < 600; i++)); do curl -s --max-time 5 "$am?active=true" >o; grep -q Slow o || break; sleep 0.1; done
	hasnt 'and is over there' '"alertname":"Slow"'

	# ---- Alertmanager goes down, and comes back without what it knew ------------------------

	# Waits until posts, or the log, have so many lines with this: 60 s at most.
	lines() { # name, number, file, extended regular expression
		local i
		for ((i = 0; i < 600; i++)); do
			[ "$(grep -cE -- "$4" "$3")" -ge "$2" ] && break
			sleep 0.1
		done
		is "$1" "$2" "$(grep -cE -- "$4" "$3")"
	}
	# A process that goes on calling; its end.
	calling() {
		at served 'spawn(fun() -> register(caller, self()), (fun Call() -> demo_exact:leaf(1), receive after 500 -> Call() end end)() end).' >/dev/null
	}
	silent() { at served 'exit(whereis(caller), kill).' >/dev/null; }
	none() { # name: no alert is kept any more
		for ((i = 0; i < 600; i++)); do
			curl -s --max-time 10 "$url" >o
			grep -q '^erltrace_alert{' o || break
			sleep 0.1
		done
		hasnt "$1" '^erltrace_alert\{'
	}
	none 'all know that it is over'
	began=$(grep -c '"status":"firing"' posts)
	over=$(grep -c '"status":"resolved"' posts)
	down=$(grep -cE "http://127.0.0.1:$am_port: .*; it is tried again" url)
	back=$(grep -c "http://127.0.0.1:$am_port: answers again" url)
	if [ -n "${prom_port-}" ]; then # it posts too
		kill "$prometheus"
		while kill -0 "$prometheus" 2>/dev/null; do sleep 0.05; done
	fi
	calling
	shows 'it begins once more' "$am?active=true" '"alertname":"Slow"'
	lines 'the webhook hears it' $((began + 1)) posts '"status":"firing"'
	am_end
	silent
	lines 'Alertmanager is gone: the webhook hears that it is over' $((over + 1)) posts '"status":"resolved"'
	calling
	lines 'and that another begins' $((began + 2)) posts '"status":"firing"'
	silent
	lines 'and is over' $((over + 2)) posts '"status":"resolved"'
	lines 'that Alertmanager is gone is told, once' $((down + 1)) url "http://127.0.0.1:$am_port: .*; it is tried again"
	am_begin
	lines 'it is back: told' $((back + 1)) url "http://127.0.0.1:$am_port: answers again"
	shows 'Alertmanager hears that it is over' "http://127.0.0.1:$am_port/metrics" \
		'^alertmanager_alerts_received_total\{status="resolved",version="v2"\} 1$'
	has 'and nothing that was so meanwhile' '^alertmanager_alerts_received_total\{status="firing",version="v2"\} 0$'
	none 'nothing is kept'

	calling
	shows 'an alert that goes on' "$am?active=true&filter=alertname=Slow" '"alertname":"Slow"'
	starts=$(grep -o '"startsAt":"[^"]*"' o)
	am_end
	# (one that begins is posted at once; what goes on would be within half a minute)
	at served 'demo_exact:burns(1).' >/dev/null
	lines 'Alertmanager is gone: told' $((down + 2)) url "http://127.0.0.1:$am_port: .*; it is tried again"
	am_begin
	shows 'goes on when Alertmanager is back' "$am?active=true&filter=alertname=Slow" '"alertname":"Slow"'
	is 'the same one' "$starts" "$(grep -o '"startsAt":"[^"]*"' o)"
	silent
fi

# ---- many names --------------------------------------------------------------------------------

cat >scripts/slow.d <<'EOC'
int n;
erlang*:demo_exact:leaf/1:function-entry { n++; alert(strjoin("a", lltostr(n)), "one of many"); }
EOC
ok 'the script has changed' holds url 'slow\.d: has changed'
shows 'and runs' "$url" '^erltrace_script_up\{script="slow",target="served"\} 1$'
for ((i = 0; i < 200; i++)); do calls 200; curl -s "$url" >o; grep -qE '^erltrace_alerts_dropped_total [1-9]' o && break; sleep 0.3; done
has 'too many: counted' '^erltrace_alerts_dropped_total [1-9]'
ok 'and told' holds url 'too many alerts'
is 'at most 60 a minute' yes "$([ "$(grep -c '^erltrace_alert{' o)" -le 61 ] && echo yes)"
if command -v promtool >/dev/null; then
	ok 'promtool has nothing to say' promtool check metrics <o
fi
is 'a URL that is none' 2 "$(erltrace serve --webhook ftp://x scripts >/dev/null 2>&1; echo $?)"
finish
