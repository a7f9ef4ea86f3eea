#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Requests as pictures: --follow, --perfetto, --otlp and --flows on requests of a known shape that go to
# another node and back (flow_pair.erl). The files are read by programs that are not ours
# (web/test/flow_readers.js).
#
#	ROOT_A=DIR ROOT_B=DIR  the first node, the second one is of the release of OTP in this chroot

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 600 bare
mkdir -p "$demo_ebin"
erlc -Werror -o "$demo_ebin" "$root/test/node/flow_pair.erl" || exit 1
epmd_begin
roots flow_a "${ROOT_A-}" flow_b "${ROOT_B-}"
collector=''
# shellcheck disable=SC2317 # a trap
flows_end() {
	[ -n "$collector" ] && kill -9 "$collector" 2>/dev/null
	nodes_end
}
trap flows_end EXIT
start flow_a
# As a node of another machine, whose clock says something else.
if [ -z "$at_host" ]; then
	CLOCK_BASE=864000 preloaded clock_base start flow_b
else
	start flow_b
fi
host=$(at flow_a 'element(2, lists:split(length("flow_a"), atom_to_list(node()))).' | tr -d '"')
at flow_a 'flow_pair:start().' >/dev/null
at flow_b "{flow_pair:start(), net_adm:ping('flow_a$host')}." >/dev/null

until_said() { # how often, what: on the standard output or error
	local i
	for ((i = 0; i < 1200; i++)); do
		[ "$(cat o e 2>/dev/null | grep -cE -- "$2")" -ge "$1" ] && return
		sleep 0.05
	done
	return 1
}
armed='BEGIN { x = 1; } BEGIN /x/ { printf("armed\n"); } erlang*:::flow-end { printf("ended\n"); }'
run() { # how many requests, arguments
	local n=$1
	shift
	rm -f o e
	at flow_a 'begin gen_server:stop(flow_pair), flow_pair:start() end.' >/dev/null # it counts from 0
	erltrace "$@" -x flowtime=2s -n "$armed" >o 2>e &
	command=$!
	until_said 2 'armed' || echo 'FAILED not armed'
	at flow_a "flow_pair:run('flow_b$host', 1, $n)." >/dev/null
	until_said "$n" 'ended' || echo 'FAILED not ended'
}
readers=
if command -v node >/dev/null && [ -d "$root/web/node_modules/@paulirish/trace_engine" ] &&
	[ -d "$root/web/node_modules/@opentelemetry/otlp-transformer" ]; then
	readers="$root/web/test/flow_readers.js"
else
	echo 'left out: no node, or no readers of traces (npm ci in web/)'
fi

# What a reader that is not ours makes of a file: how often, what; the client is a fun.
read_by() { # trace | otlp, file
	node "$readers" "$1" "$2" 2>&1 | sed -E 's/req,[0-9]+,/req,N,/g; s/#Fun<[^>]*>/CLIENT/g' |
		awk '{ n = $1; sub(/^[0-9]+ /, ""); sum[$0] += n } END { for (k in sum) print sum[k], k }' |
		LC_ALL=C sort -k 2 >read
}

# ---- a file for Perfetto, and a collector -------------------------------------------------------

port=$(free_port)
cat >collector.py <<'EOC'
import http.server, sys
n = 0
class H(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        global n
        n += 1
        body = self.rfile.read(int(self.headers['Content-Length']))
        ok = n > 1 and self.path == '/v1/traces' and self.headers['Content-Type'] == 'application/json'
        if ok: open('posts', 'ab').write(body + b'\n')
        self.send_response(200 if ok else 503)
        self.send_header('Content-Length', '2'); self.end_headers(); self.wfile.write(b'{}')
    def log_message(self, *a): pass
http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), H).serve_forever()
EOC
python3 collector.py "$port" &
collector=$!
disown
for ((i = 0; i < 400; i++)); do
	(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
	sleep 0.05
done
run 3 -N flow_a -N flow_b --follow flow_pair:request --perfetto t.json --otlp "http://127.0.0.1:$port"
untrace
is 'exit' 0 "$status"
is 'a collector that is busy is told, once' 1 "$(grep -c 'answers with an error; it is tried again' e)"
is 'and that it answers again' 1 "$(grep -c 'answers again$' e)"
is 'nothing else is told' '' "$(grep -v 'answers' e)"
is 'the end of what is printed' '3 requests, 18 messages, 3 spawns; ' "$(grep -o '^3 requests.*; ' o)"
# the first one is the slowest so far
tree=$(grep -A 9 -m 1 '^flow_pair:request/2 took' o | sed -E 's/[0-9.]+/N/g; s/ +/ /g; s/(flow_[ab])@[a-z0-9.]+/\1/g; s/ \(fun.*: / -> x: /')
is 'a tree: its first row' 'flow_pair:request/N took N us: N messages, N spawn' "$(head -n 1 <<<"$tree")"
is 'a tree: every hop' 8 "$(grep -cE '^( |\* )N us' <<<"$tree")"
ok 'a tree: a hop to the other node' grep -qE -- '-> flow_pair on flow_b: call \{req,N,call\}' <<<"$tree"
ok 'a tree: the critical path ends with the last message' grep -qE -- '^\* N us .*: \{req,N,echo\}' <<<"$tree"
ok 'a tree: what nobody waits for is no part of it' grep -qE -- '^ N us .*: cast \{req,N,log\}' <<<"$tree"
if [ -n "$readers" ]; then
	read_by trace t.json
	is 'Perfetto: arrows, by the engine of Chrome' "3 arrow from CLIENT on flow_a to flow_pair on flow_b: send, call {req,N,call}
3 arrow from CLIENT on flow_a to flow_pair on flow_b: send, {req,N,late}
3 arrow from CLIENT on flow_a to flow_pair:child/2 on flow_b: spawn, flow_pair:child/2
3 arrow from flow_pair on flow_b to CLIENT on flow_a: send, reply {req,N,reply}
3 arrow from flow_pair on flow_b to flow_pair on flow_a: send, cast {req,N,log}
3 arrow from flow_pair on flow_b to flow_pair on flow_a: send, {req,N,echo}
3 arrow from flow_pair:child/2 on flow_b to CLIENT on flow_a: send, {req,N,child}" "$(grep ' arrow ' read)"
	is 'Perfetto: no slice lies across another' '' "$(grep across read)"
	is 'Perfetto: requests' '3 request: flow_pair:request/2, true' "$(grep ' request: ' read)"
	is 'Perfetto: what processes do' "3 slice of CLIENT on flow_a: flow_pair:request/2
3 slice of CLIENT on flow_a: reply {req,N,reply}
3 slice of CLIENT on flow_a: {req,N,child}" "$(grep ' slice of CLIENT' read | grep -v 'waiting\|>')"
	read_by otlp posts
	is 'OTLP: spans, by the published schema' "3 flow_a: CLIENT in flow_pair, kind 5, reply {req,N,reply}
3 flow_a: CLIENT in flow_pair:child/2, kind 5, {req,N,child}
3 flow_a: flow_pair in flow_pair, kind 5, cast {req,N,log}
3 flow_a: flow_pair in flow_pair, kind 5, {req,N,echo}
3 flow_a: flow_pair:request/2 root, kind 2, flow_pair:request/2
3 flow_b: flow_pair in CLIENT, kind 5, {req,N,late}
3 flow_b: flow_pair in flow_pair:request/2, kind 5, call {req,N,call}
3 flow_b: flow_pair:child/2 in CLIENT, kind 1, flow_pair:child/2" "$(grep -v ' trace$' read)"
	is 'OTLP: a trace each' '3 trace' "$(grep ' trace$' read)"
fi

# ---- objects, and scripts that choose ------------------------------------------------------------

run 2 -N flow_a -N flow_b --json --follow flow_pair:request
untrace
grep '"type":"flow"' o >flows
is 'an object for each request' 2 "$(wc -l <flows)"
is 'its members' "flow_pair:request/2 6 1 6 4 ['begin', 'call', 'child', 'echo', 'late', 'log', 'reply', 'spawn']
flow_pair:request/2 6 1 6 4 ['begin', 'call', 'child', 'echo', 'late', 'log', 'reply', 'spawn']" "$(python3 - <<'EOC'
import json, re
for line in open('flows'):
    f = json.loads(line)
    hops = f['hops']
    step = lambda h: (re.findall(r'req,\d+,([a-z]+)', h['text']) or [h['kind']])[0]
    by = {h['hop']: h for h in hops}
    assert f['elapsed'] < 60e9, f['elapsed'] # not the difference of the clocks
    assert all(0 <= h['sent'] <= h['taken'] <= h['until'] <= f['elapsed'] for h in hops), hops
    assert all(by[h['cause']]['taken'] <= h['sent'] <= by[h['cause']]['until'] for h in hops if h['hop']), hops
    # the critical path fills the time: what is not running is in a mailbox, or on its way
    path = sorted((h for h in hops if h['critical']), key=lambda h: h['sent'])
    assert path[0]['sent'] == 0 and path[-1]['until'] == f['elapsed'], path
    assert all(b['cause'] == a['hop'] for a, b in zip(path, path[1:])), path
    print(f['function'], f['messages'], f['spawns'], f['depth'], len(f['processes']),
        sorted(map(step, hops)))
EOC
)"

# Each output takes the requests by itself: a file that keeps them leaves the ticks as they are.
run 2 -N flow_a -N flow_b --json --live=5 --follow flow_pair:request --perfetto both.json
untrace
is '--live and --perfetto: objects come by ticks' '"flows":2,"shown":2' \
	"$(grep -o '"flows":2,"shown":[0-9]*' o | tail -n 1)"
is '--live and --perfetto: the objects' 2 "$(grep -c '"type":"flow"' o)"
is '--live and --perfetto: the file' 2 "$(grep -c '"cat":"request".*"end":' both.json)"

# No more is kept than the option allows; what is left out is told.
run 1 -N flow_a -N flow_b -x flowevents=3 --json --follow flow_pair:request
untrace
is 'flowevents: as many hops, and no more' 3 "$(grep -o '"hop":' o | wc -l)"
like 'flowevents: what is left out' '^erltrace: [1-9][0-9]* events of requests are left out' "$(cat e)"
is 'flowevents: it is marked' '"incomplete":true,"all_messages":6,"all_spawns":1' "$(grep -o '"incomplete":true,"all_messages":[0-9]*,"all_spawns":[0-9]*' o)"
like 'flowevents: it says what is missing' '"lacks":"[0-3] of 6 messages and [01] of 1 spawns were seen"' "$(cat o)"

# A script that calls flowtrace() itself says which: here those that nobody asks for.
run 2 -N flow_a -N flow_b -q --perfetto none.json -n 'erlang*:flow_pair:request:function-entry { follow(); }
	erlang*:::flow-end /args[4] > 100/ { flowtrace("%d%d%d%d%d%d%s%s", args[0], args[7], args[1], args[3], args[4], args[5], args[2], args[6]); }'
untrace
ok 'a script that chooses none' grep -q 'no request was followed' e
is 'its file has no events but names' 0 "$(grep -c '"ph":"X"' none.json)"

# Rows of other clauses are printed, of those that are added none.
run 1 -N flow_a -N flow_b --perfetto - -n 'erlang*:flow_pair:request:function-entry { follow(); trace("here"); }'
untrace
ok 'the standard output has the file' python3 -c 'import json; json.load(open("o"))'
is 'what scripts print is on the standard error' 1 "$(grep -c 'function-entry *here' e)"
is 'clauses that were added print nothing' 0 "$(grep -c 'flow-send' e)"

# ---- requests that are not finished, and those that lack something -------------------------------

run 1 -N flow_a -N flow_b --follow flow_pair:request
untrace
like 'idle: nobody waits in it' '^flow_pair:request/2 took [0-9.]+ us: 6 messages, 1 spawn, then nothing for [0-9.]+ s$' \
	"$(grep ' took ' o)"

# Quiet for longer than flowtime, while the process that began it waits for its answer, which does not come
# before that is told. What the request does afterwards is over when this returns: the next one is counted from 0.
quiet() { # arguments
	rm -f o e
	erltrace -N flow_a -N flow_b "$@" -x flowtime=500ms -n "$armed" >o 2>e &
	command=$!
	until_said 2 'armed' || echo 'FAILED not armed'
	at flow_b 'sys:suspend(flow_pair).' >/dev/null
	at flow_a "begin gen_server:stop(flow_pair), flow_pair:start(), spawn(fun() -> flow_pair:request(1, 'flow_b$host') end) end." >/dev/null
	until_said 1 'ended' || echo 'FAILED not ended'
	at flow_b 'sys:resume(flow_pair).' >/dev/null
	at flow_a '(fun W() -> gen_server:call(flow_pair, count) =:= 2 orelse begin timer:sleep(10), W() end end)().' >/dev/null
	untrace
}
quiet --follow flow_pair:request --perfetto w.json --otlp "http://127.0.0.1:$port"
like 'waits: as text' '^flow_pair:request/2 has not finished after ([5-9]|[1-9][0-9]|[1-5][0-9]{2})[0-9]{5}\.[0-9] us: 1 message, 0 spawns, nothing in the last [0-9]+\.[0-9] s$' \
	"$(grep '^flow_pair:request/2' o)"
like 'waits: the sum' '^1 request, 1 messages, 0 spawns; .*; 1 not finished$' "$(grep '^1 request' o)"
is 'waits: for Perfetto' 1 "$(grep -c '"cat":"request".*"end":"waits"' w.json)"
is 'waits: for OpenTelemetry' 1 "$(tail -n 1 posts | grep -o '"erltrace.end","value":{"stringValue":"waits"}' | wc -l)"
quiet --json --follow flow_pair:request
is 'waits: an object' 'waits True' "$(grep '"type":"flow"' o | python3 -c 'import json, sys
f = json.loads(sys.stdin.readline()); print(f["end"], f["elapsed"] >= 5e8)')"

run 1 -N flow_a -N flow_b -x flowevents=3 --follow flow_pair:request --perfetto l.json --otlp "http://127.0.0.1:$port"
untrace
like 'incomplete: as text' '^  incomplete: [0-3] of 6 messages and [01] of 1 spawns were seen$' "$(grep incomplete: o)"
is 'incomplete: the sum' '1 request is incomplete' "$(tail -n 1 o)"
like 'incomplete: for Perfetto' '"incomplete":"[0-3] of 6 messages and [01] of 1 spawns were seen"' "$(cat l.json)"
is 'incomplete: for OpenTelemetry' 1 "$(tail -n 1 posts | grep -o '"erltrace.incomplete","value":{"boolValue":true}' | wc -l)"
run 1 -N flow_a -N flow_b -x flowhops=2 --follow flow_pair:request
untrace
is 'cut: as text' '  incomplete: it had more messages and spawns than are followed (option flowhops)' "$(grep incomplete: o)"

# Buffers that are too small. Whole trees have all their messages; all others are marked.
rm -f o e
erltrace -N flow_a -N flow_b -x bufsize=4k -x switchrate=1s -x flowtime=1s --json --follow flow_pair:request -n "$armed" >o 2>e &
command=$!
until_said 2 'armed' || echo 'FAILED not armed'
at flow_a "begin gen_server:stop(flow_pair), flow_pair:start(), flow_pair:run('flow_b$host', 1, 200), timer:sleep(2000) end." >/dev/null
until_said 1 '"incomplete":true' || echo 'FAILED none is marked'
untrace
is 'drops: only whole trees have no mark' 'True True' "$(grep '"type":"flow"' o | python3 -c 'import json, sys
fs = [json.loads(l) for l in sys.stdin]
whole = [f for f in fs if not f.get("incomplete")]
print(all((f["messages"], f["spawns"]) == (6, 1) and all("taken" in h for h in f["hops"]) for f in whole), len(fs) > len(whole))')"

# ---- what cannot be ------------------------------------------------------------------------------

no() { # what is said, arguments
	local said=$1
	shift
	timeout 60 erltrace -N flow_a "$@" >o 2>e
	is "exit of $*" refused "$([ $? -ne 0 ] && echo refused)"
	ok "said of $*: $said" grep -qE -- "$said" e
}
no 'follows no requests: call follow' --perfetto x.json -n 'erlang*:::message-send { @ = count(); }'
no 'follows no requests' --otlp http://127.0.0.1:1 -n 'BEGIN { exit(0); }'
no 'MODULE:FUNCTION' --follow flow_pair
no 'MODULE:FUNCTION' --follow 'flow_pair:request { exit(0); } x:y'
no 'takes a URL' --follow flow_pair:request --otlp nowhere
no 'failed to open the file of --perfetto' --follow flow_pair:request --perfetto /nowhere/x.json
no 'there is nothing for --follow' -l --follow flow_pair:request
no '--flows needs --json' --flows -n 'BEGIN { exit(0); }'
no 'no probe|does not match|no function' --follow flow_pair:nosuch --perfetto left.json
ok 'no file is left of a script that has not run' [ ! -e left.json ]

# A node that is named twice is one.
run 1 -N flow_a -N flow_a -N flow_b --json --follow flow_pair:request
untrace
is 'named twice: a request, once' 1 "$(grep -c '"type":"flow"' o)"
is 'named twice: armed once each' 2 "$(grep -c armed o)"
at flow_a 'begin register(holder, spawn(fun() -> receive stop -> ok end end)), seq_trace:set_system_tracer(whereis(holder)) end.' >/dev/null
no 'sequential' --follow flow_pair:request
is 'refused: nothing else is said of it' 0 "$(grep -c 'no request was followed' e)"
at flow_a 'begin seq_trace:set_system_tracer(false), holder ! stop end.' >/dev/null

finish
