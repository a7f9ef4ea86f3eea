#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# erltrace serve: scripts of a folder as metrics, exact to the event, over restarts of the node; bad,
# changed, new and removed files; many keys. Prometheus itself scrapes it, where it is installed. The
# last line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 500
erltrace serve --help >/dev/null 2>&1 || skip 'erltrace was built without the server of metrics'
command -v curl >/dev/null || skip 'no curl here'
server='' prometheus=''
# shellcheck disable=SC2317 # a trap
serve_end() {
	[ -n "$server" ] && kill -9 "$server" 2>/dev/null
	[ -n "$prometheus" ] && kill -9 "$prometheus" 2>/dev/null
	nodes_end
}
trap serve_end EXIT

leaf='erlang*:demo_exact:leaf/1:function-entry'
mkdir scripts
echo "$leaf { @calls[probefunc] = count(); @arg = sum(7); @mean = avg(3); @least = min(-2); @most = max(9);
	@q = quantize(5); @l = lquantize(15, 0, 100, 10); @ll = llquantize(150, 10, 0, 3, 10);
	@down = sum(-1); @sd = stddev(1); } END { @ends = count(); }" >scripts/calls.d
printf 'BEGIN\n{\n\t@x = count(;\n}\n' >scripts/bad.d
echo 'erlang*:demo_exact:burn/1:function-entry { @burns = count(); }' >scripts/rests.d
serve() { # port
	rm -f url
	erltrace serve -N served --port "$1" --max-labels 100 --state totals scripts >url 2>log </dev/null &
	server=$!
	disown
	until [ -s url ] || gone "$server"; do sleep 0.05; done
	url=$(cat url)
}
serve 0
node=served@$(hostname -s)

# Waits until /metrics has this line, a minute at most. The text stays in o.
shows() { # name, extended regular expression
	local i
	for ((i = 0; i < 600; i++)); do
		curl -s "$url" >o && grep -qE -- "$2" o && break
		sleep 0.1
	done
	has "$1" "$2"
}
calls() { at served "demo_exact:calls($1)." >/dev/null; }
n="node=\"$node\""

# ---- a node that is not there yet, a script that is bad ----------------------------------------

shows 'no node: not up' '^erltrace_script_up\{script="calls",target="served"\} 0$'
start served
at served 'code:ensure_loaded(demo_exact).' >/dev/null
shows 'the node comes: up' '^erltrace_script_up\{script="calls",target="served"\} 1$'
shows 'what it costs: no more digits than it takes' '^erltrace_cost_ratio\{script="calls",node="served@[^"]*"\} [0-9.]{1,8}$'
calls 300
shows 'count' "^erltrace_calls_calls_total\{$n,key0=\"leaf/1\"\} 300$"
has 'sum' "^erltrace_calls_arg_total\{$n\} 2100$"
has 'a sum that goes down is a gauge' "^erltrace_calls_down\{$n\} -300$"
has 'avg: its sum' "^erltrace_calls_mean_sum\{$n\} 900$"
has 'avg: its count' "^erltrace_calls_mean_count\{$n\} 300$"
has 'min' "^erltrace_calls_least\{$n\} -2$"
has 'max' "^erltrace_calls_most\{$n\} 9$"
has 'quantize: 4 to 7, not below' "^erltrace_calls_q_bucket\{$n,le=\"3\"\} 0$"
has 'quantize: 4 to 7' "^erltrace_calls_q_bucket\{$n,le=\"7\"\} 300$"
has 'lquantize: not below 10' "^erltrace_calls_l_bucket\{$n,le=\"9\"\} 0$"
has 'lquantize: 10 to 19' "^erltrace_calls_l_bucket\{$n,le=\"19\"\} 300$"
has 'llquantize: 100 to 199' "^erltrace_calls_ll_bucket\{$n,le=\"199\"\} 300$"
has 'all are in +Inf' "^erltrace_calls_ll_bucket\{$n,le=\"\+Inf\"\} 300$"
has 'their number' "^erltrace_calls_ll_count\{$n\} 300$"
has 'events' "^erltrace_events_total\{script=\"calls\",$n\} 300$"
ok 'what has no metric is told' holds log '@sd is left out'
ok 'a bad script is told, with its line' holds log 'scripts/bad\.d: served: line 3: '
shows 'a bad script is not up' '^erltrace_script_up\{script="bad",target="served"\} 0$'

# ---- names, help, units and labels of the script ------------------------------------------------

cat >scripts/named.d <<-EOC
	#pragma D metric @lat name=store_latency help="How long the store took." unit=ns labels=op
	#pragma D metric @slow name=store_slow_seconds_total unit=ms
	#pragma D metric @p unit=us
	BEGIN { @lat["get"] = lquantize(1500, 0, 3000, 1000); @slow = sum(1250); @p = percentile(17, 50, 99.9);
	        @a = avg(1); @a_sum = max(5); @x = count(); @x_total = max(1); }
EOC
cat >scripts/script.d <<-EOC
	BEGIN { @up = max(1); @fine = max(1); }
EOC
shows 'a name and a unit: seconds, digit by digit' "^store_latency_seconds_bucket\{$n,op=\"get\",le=\"0.000001999\"\} 1$"
has 'below its bound' "^store_latency_seconds_bucket\{$n,op=\"get\",le=\"0.000000999\"\} 0$"
has 'help' '^# HELP store_latency_seconds How long the store took\.$'
has '_total is not doubled, nor is the unit' "^store_slow_seconds_total\{$n\} 1.25$"
has 'percentile: a quantile' "^erltrace_named_p_seconds\{$n,quantile=\"0.5\"\} 0.000017$"
has 'percentile: another' "^erltrace_named_p_seconds\{$n,quantile=\"0.999\"\} 0.000017$"
has 'percentile: the number' "^erltrace_named_p_seconds_count\{$n\} 1$"
has 'percentile: a summary' '^# TYPE erltrace_named_p_seconds summary$'
ok 'two metrics with a sample of one name: told' holds log \
	'@a_sum is left out: erltrace_named_a_sum has samples of the same names as erltrace_named_a, of @a in named.d'
ok 'likewise by _total' holds log '@x_total is left out: '
ok 'a name of the server itself: told' holds log '@up is left out: the server itself has a metric erltrace_script_up'
shows 'the others are there' "^erltrace_script_fine\{$n\} 1$"
hasnt 'and those that were left out are not' '^erltrace_named_a_sum\{[^}]*\} 5$'
rm scripts/named.d scripts/script.d

# ---- the formats -------------------------------------------------------------------------------

curl -s -D e -H 'Accept: application/openmetrics-text; version=1.0.0' "$url" >o
ok 'OpenMetrics: its type' grep -qi '^content-type: application/openmetrics-text' e
is 'OpenMetrics: its end' '# EOF' "$(tail -n 1 o)"
has 'OpenMetrics: a counter without _total' '^# TYPE erltrace_calls_calls counter$'
is 'another page' 404 "$(curl -s -o /dev/null -w '%{http_code}' "${url%metrics}x")"
is 'POST' 405 "$(curl -s -o /dev/null -w '%{http_code}' -d x "$url")"
if command -v promtool >/dev/null; then
	curl -s "$url" >o
	ok 'promtool has nothing to say' promtool check metrics <o
else
	echo 'skipped: no promtool here'
fi

# ---- the node restarts -------------------------------------------------------------------------

kill -9 "${pid[served]}"
shows 'the node is gone: not up' '^erltrace_script_up\{script="calls",target="served"\} 0$'
has 'its counters stay' "^erltrace_calls_calls_total\{$n,key0=\"leaf/1\"\} 300$"
rm -f served.in served.out
start served
at served 'code:ensure_loaded(demo_exact).' >/dev/null
shows 'the node is back' '^erltrace_script_up\{script="calls",target="served"\} 1$'
shows 'with all scripts' '^erltrace_script_up\{script="rests",target="served"\} 1$'
is 'nobody says that something is lost which ticks have brought, or that never was' 0 "$(grep -cE 'is lost|aggregations' log)"
calls 45
shows 'counters go on' "^erltrace_calls_calls_total\{$n,key0=\"leaf/1\"\} 345$"
has 'distributions go on' "^erltrace_calls_q_bucket\{$n,le=\"7\"\} 345$"
has 'events go on' "^erltrace_events_total\{script=\"calls\",$n\} 345$"
has 'restarts are counted' '^erltrace_script_restarts_total\{script="calls",target="served"\} [1-9]'

# ---- files come, change and go -----------------------------------------------------------------

echo "$leaf { @calls = count(); }" >scripts/bad.d
shows 'it is mended: up' '^erltrace_script_up\{script="bad",target="served"\} 1$'
cat >scripts/text.d <<'EOC'
BEGIN { @["a\\b\"c\nd"] = count(); }
EOC
cat >scripts/big.d <<'EOC'
BEGIN { @[(uint64_t)-1, "12345678901234567890"] = count(); @q = quantize(0x7fffffffffffffff); @s = sum(1); }
EOC
shows 'keys beyond 63 bits' "^erltrace_big_total\{$n,key0=\"18446744073709551615\",key1=\"12345678901234567890\"\} 1$"
has 'and counts beside them' "^erltrace_big_s_total\{$n\} 1$"
has 'buckets up to the end' "^erltrace_big_q_count\{$n\} 1$"
has 'events beside them' "^erltrace_events_total\{script=\"big\",$n\} 1$"
shows 'a new file; labels are escaped' "^erltrace_text_total\{$n,key0=\"a\\\\\\\\b\\\\\"c\\\\nd\"\} 1$"
rm scripts/text.d
shows 'calls runs on' '^erltrace_script_up\{script="calls",target="served"\} 1$'
for ((i = 0; i < 600; i++)); do
	curl -s "$url" >o
	grep -q 'text' o || break
	sleep 0.1
done
hasnt 'a removed file takes its metrics with it' 'text'
# (at once: half of it would be a script as well, which runs until the rest is seen)
printf '#pragma D option aggsize=64m\nint n;\n%s { @keys[n++] = count(); }\n' "$leaf" >bad.new
mv bad.new scripts/bad.d
shows 'a changed file: its old metric is there' '^erltrace_bad_calls_total|^erltrace_labels_dropped_total\{script="bad",aggregation="keys"\} 0'
shows 'a changed file: its new metric' '^erltrace_labels_dropped_total\{script="bad",aggregation="keys"\} 0'

# ---- many keys ---------------------------------------------------------------------------------

shows 'it runs' '^erltrace_script_up\{script="bad",target="served"\} 1$'
calls 100000
total() { awk '/^erltrace_bad_keys_total/ { n += $NF } END { print n + 0 }' o; }
for ((i = 0; i < 600; i++)); do
	curl -s "$url" >o
	[ "$(total)" = 100000 ] && break
	sleep 0.1
done
is '100,000 keys: all are counted' 100000 "$(total)"
is '100 of them by their own labels' 101 "$(grep -c '^erltrace_bad_keys_total' o)"
has 'the rest with others' "^erltrace_bad_keys_total\{$n,key0=\"other\"\} 99900$"
has 'and they are told' '^erltrace_labels_dropped_total\{script="bad",aggregation="keys"\} 99900$'

# ---- Prometheus --------------------------------------------------------------------------------

if command -v prometheus >/dev/null; then
	port=$(free_port)
	cat >prometheus.yml <<-EOC
		global: {scrape_interval: 1s}
		scrape_configs:
		  - job_name: erltrace
		    static_configs: [{targets: ['$(sed 's|http://||; s|/.*||' <<<"$url")']}]
	EOC
	run_prometheus() {
		prometheus --config.file=prometheus.yml --storage.tsdb.path=data \
			--web.listen-address="127.0.0.1:$port" >prometheus.log 2>&1 </dev/null &
		prometheus=$!
		disown
	}
	run_prometheus
	query="http://127.0.0.1:$port/api/v1/query?query=erltrace_calls_calls_total"
	for ((i = 0; i < 600; i++)); do
		curl -s "$query" >o
		grep -q '"100345"' o && break
		sleep 0.1
	done
	has 'Prometheus has the counter' "\"node\":\"$node\".*\"100345\""
	bounded="http://127.0.0.1:$port/api/v1/query?query=count(erltrace_bad_keys_total)"
	is 'of 100,000 keys it has 101 series' '"101"' "$(curl -s "$bounded" | grep -o '"101"')"
	kill "$prometheus"
	for ((i = 0; i < 400; i++)); do gone "$prometheus" && break; sleep 0.05; done
	calls 3
	run_prometheus
	for ((i = 0; i < 600; i++)); do
		curl -s "$query" >o
		grep -q '"100348"' o && break
		sleep 0.1
	done
	total=100348
	has 'Prometheus starts again: it has what came meanwhile' '"100348"'
	curl -s "http://127.0.0.1:$port/api/v1/query" --data-urlencode 'query=resets(erltrace_calls_calls_total[1h])' >o
	has 'and saw no counter go back' '"value":\[[0-9.]+,"0"\]'
else
	echo 'skipped: no prometheus here'
	total=100345
fi

# ---- the server restarts -----------------------------------------------------------------------

ends() { # signal
	kill "-$1" "$server"
	for ((i = 0; i < 2400; i++)); do gone "$server" && break; sleep 0.025; done
	gone "$server"
}
port=${url##*:} port=${port%/*}
ok 'it ends' ends TERM
serve "$port"
shows 'it goes on where it was' "^erltrace_calls_calls_total\{$n,key0=\"leaf/1\"\} $total$"
has 'END has run, and its tick is there' "^erltrace_calls_ends_total\{$n\} 1$"
has 'distributions too' "^erltrace_calls_q_bucket\{$n,le=\"7\"\} $total$"
has 'averages too' "^erltrace_calls_mean_sum\{$n\} $((3 * total))$"
has 'events too: these and END' "^erltrace_events_total\{script=\"calls\",$n\} $((total + 1))$"
has 'labels too' "^erltrace_bad_keys_total\{$n,key0=\"other\"\} $((total - 445))$"
shows 'it is up' '^erltrace_script_up\{script="calls",target="served"\} 1$'
calls 5
shows 'and counts on' "^erltrace_calls_calls_total\{$n,key0=\"leaf/1\"\} $((total + 5))$"
if [ -n "$prometheus" ]; then
	for ((i = 0; i < 600; i++)); do
		curl -s "$query" >o
		grep -q "\"$((total + 5))\"" o && break
		sleep 0.1
	done
	has 'Prometheus has the counter' "\"$((total + 5))\""
fi

# ---- the cookie changes ------------------------------------------------------------------------

kill -9 "${pid[served]}"
rm -f served.in served.out
start served -setcookie another
at served 'code:ensure_loaded(demo_exact).' >/dev/null
ok 'another cookie: told' holds log 'calls\.d: served: .*cookie'
shows 'not up' '^erltrace_script_up\{script="calls",target="served"\} 0$'
calls 4
ok 'it is not told again and again' [ "$(grep -c 'calls\.d: served: .*cookie' log)" -le 3 ]
at served "erlang:set_cookie(node(), '$(cat .erlang.cookie)')." >/dev/null
shows 'the cookie is right again: up' '^erltrace_script_up\{script="calls",target="served"\} 1$'
calls 2
shows 'and it counts on' "^erltrace_calls_calls_total\{$n,key0=\"leaf/1\"\} $((total + 7))$"

# ---- the end -----------------------------------------------------------------------------------

ok 'it ends by ^C' ends INT
server=''
echo '{"version":2,"metrics":[{}]}' >bad
is 'a file of totals that is not one: refused' 1 "$(erltrace serve --port 0 --state bad scripts >/dev/null 2>e; echo $?)"
ok 'and told' holds e 'bad: has a metric that is not whole: remove it'
rm -f url
erltrace serve -N nobody --port 0 --state nosuch/totals scripts >url 2>log </dev/null &
server=$!
disown
ok 'totals that cannot be written: it runs' holds url metrics
ok 'and ends' ends TERM
server=''
ok 'and it is told' holds log 'nosuch/totals: cannot be written: No such file or directory'

# ---- two servers, one file of totals -----------------------------------------------------------

two() { # log, arguments of the server; the exit code is printed if it ends at once
	timeout 60 erltrace serve -N nobody --port 0 "${@:2}" scripts >/dev/null 2>"$1" </dev/null
	echo $?
}
one() {
	rm -f url
	erltrace serve -N nobody --port 0 "$@" scripts >url 2>log </dev/null &
	server=$!
	disown
}
one --state two
ok 'a server has a file of totals' holds url metrics
is 'another one with the same: refused' 1 "$(two e --state two)"
ok 'and told who has it' holds e "two: is the --state of another server, process $server: each needs its own"
mkdir -p folder
ln -s .. folder/up
is 'by another path: refused' 1 "$(two e --state folder/up/two)"
kill -9 "$server"
for ((i = 0; i < 2400; i++)); do gone "$server" && break; sleep 0.025; done
one --state two
ok 'the first is killed: no lock stays behind' holds url metrics
ok 'it ends' ends TERM
one --state two
ok 'and another begins' holds url metrics
ok 'which ends' ends TERM
server=''

# ---- folders of snapshots ----------------------------------------------------------------------

is '--snapshots: a folder that cannot be made: refused' 1 "$(two e --snapshots nosuch/snapshots)"
ok 'and told' holds e '--snapshots nosuch/snapshots: no file can be written there: No such file or directory'
is '--snapshots: a file: refused' 1 "$(two e --snapshots two)"
ok 'and told' holds e '--snapshots two: no file can be written there: Not a directory'
if [ "$(id -u)" != 0 ]; then
	mkdir -m 555 unwritable
	is '--snapshots: a folder that cannot be written to: refused' 1 "$(two e --snapshots unwritable)"
	ok 'and told' holds e '--snapshots unwritable: .*: Permission denied'
fi
one --snapshots made
ok '--snapshots: no folder' holds url metrics
ok 'it is made' test -d made
ok 'it ends' ends TERM
server=''

# ---- a full disk -------------------------------------------------------------------------------

# A file system of one page, that only the server sees.
mkdir -p small
if unshare -rm mount -t tmpfs -o size=4k none small 2>/dev/null; then
	rm -f url
	# shellcheck disable=SC2016 # for that shell
	unshare -rm bash -c 'mount -t tmpfs -o size=4k none small && head -c 4096 /dev/zero >small/full && exec "$@"' sh \
		erltrace serve -N served --port 0 --state small/totals scripts >url 2>log </dev/null &
	server=$!
	disown
	ok 'a full disk: it runs' holds url metrics
	url=$(cat url)
	shows 'and is up' '^erltrace_script_up\{script="calls",target="served"\} 1$'
	calls 11
	shows 'it counts' "^erltrace_calls_calls_total\{$n,key0=\"leaf/1\"\} 11$"
	ok 'and it is told' holds log 'small/totals: cannot be written: No space left on device'
	ok 'it ends' ends TERM
	server=''
	is 'it is told once' 1 "$(grep -c 'cannot be written' log)"
else
	echo 'skipped: no file system of our own can be mounted here'
fi
becomes 'nothing is left in the node' false served 'code:is_loaded(erltrace_nif) =/= false.'
finish
