#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# erltrace serve posts its metrics to a collector of OpenTelemetry: exact, cumulative, tried again when
# nobody answers or the collector is busy. The last line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 400
erltrace serve --help >/dev/null 2>&1 || skip 'erltrace was built without the server of metrics'
command -v python3 >/dev/null || skip 'no python3 here'
command -v curl >/dev/null || skip 'no curl here'
pids=()
# shellcheck disable=SC2317 # a trap
otlp_end() {
	for p in "${pids[@]}"; do kill -9 "$p" 2>/dev/null; done
	nodes_end
}
trap otlp_end EXIT
background() { # log, command ...
	"${@:2}" >"$1" 2>&1 </dev/null &
	pids+=($!)
	disown
}

port=$(free_port)
mkdir scripts
cat >scripts/o.d <<'EOC'
#pragma D metric @took name=took help="How long." unit=ms labels=what
erlang*:demo_exact:leaf/1:function-entry
{
	@calls["a\"b"] = count();
	@took["x"] = lquantize(1500, 0, 3000, 1000);
	@mean = avg(3);
	@most = max(9);
	@p = percentile(17, 50);
}
EOC
# A collector: the first post is answered by 503, all are written to a file, one a line.
cat >collector.py <<'EOC'
import http.server, sys
n = 0
class H(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        global n
        n += 1
        body = self.rfile.read(int(self.headers['Content-Length']))
        open('busy' if n == 1 else 'posts', 'ab').write(self.path.encode() + b' ' + body + b'\n')
        self.send_response(503 if n == 1 else 200)
        self.send_header('Content-Length', '2'); self.end_headers(); self.wfile.write(b'{}')
    def log_message(self, *a): pass
http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), H).serve_forever()
EOC
start served
at served 'code:ensure_loaded(demo_exact).' >/dev/null
background log erltrace serve -N served --port 0 --otlp "http://127.0.0.1:$port/" --otlp-interval 1 scripts
ok 'nobody answers: told' holds log "http://127.0.0.1:$port/: .*; it is tried again"
ok 'the script runs' holds log 'o\.d: served: runs'
at served 'demo_exact:calls(50).' >/dev/null
background collector.log python3 collector.py "$port"
ok 'it comes, and is busy' holds busy '^/v1/metrics \{"resourceMetrics"'
ok 'what was refused comes again' holds posts '^/v1/metrics \{"resourceMetrics"'
ok 'it is told that it answers again' holds log 'answers again'
ok 'a sum' holds posts '"name":"erltrace_o_calls",[^]]*"sum":\{"dataPoints":\[\{"attributes":\[\{"key":"node","value":\{"stringValue":"served@[^"]*"\}\},\{"key":"key0","value":\{"stringValue":"a\\"b"\}\}\],"startTimeUnixNano":"[0-9]+","timeUnixNano":"[0-9]+","asInt":"50"\}\],"isMonotonic":true,"aggregationTemporality":2'
grep '"asInt":"50"' posts | tail -n 1 >o
has 'a histogram, in its unit' '"name":"took_seconds","description":"How long.","unit":"s","histogram":.*"count":"50","explicitBounds":\[0.999[0-9]*,1.999[0-9]*\],"bucketCounts":\["0","50","0"\]'
has 'an average' '"name":"erltrace_o_mean",.*"summary":.*"count":"50","sum":150.0'
has 'a gauge' '"name":"erltrace_o_most","description":"","unit":"","gauge":.*"asInt":"9"'
has 'a quantile' '\{"key":"quantile","value":\{"stringValue":"0.5"\}\}\],.*"asInt":"17"'
ok 'all posts are JSON' python3 -c '
import json
for line in open("posts"): json.loads(line.split(" ", 1)[1])'
at served 'demo_exact:calls(5).' >/dev/null
ok 'the next is cumulative' holds posts '"asInt":"55"'

# ---- it goes down, and comes back ----------------------------------------------------------------

kill "${pids[-1]}"
for ((i = 0; i < 600; i++)); do
	[ "$(grep -c 'it is tried again' log)" -ge 2 ] && break
	sleep 0.1
done
ok 'it is gone: told again' [ "$(grep -c 'it is tried again' log)" -ge 2 ]
at served 'demo_exact:calls(45).' >/dev/null
# (what is posted first was made before; the next one must have them)
for ((i = 0; i < 600; i++)); do
	curl -s --max-time 10 "$(grep -om1 'http://[^ ]*/metrics' log)" | grep -qE '^erltrace_o_calls_total.* 100$' && break
	sleep 0.1
done
sed 's/n == 1/n == 0/g' collector.py >again.py
rm posts
background collector.log python3 again.py "$port"
ok 'it is back: nothing is lost' holds posts '"asInt":"100"'
ok 'and nothing has piled up' [ "$(grep -c '"asInt":"55"' posts)" -le 1 ]

# ---- the server ends, and another goes on -----------------------------------------------------------

kill "${pids[0]}"
for ((i = 0; i < 2400; i++)); do gone "${pids[0]}" && break; sleep 0.025; done
begin() {
	background "$1" erltrace serve -N served --port 0 --state totals --otlp "http://127.0.0.1:$port/" --otlp-interval 3600 scripts
	ok 'another server' holds "$1" 'o\.d: served: runs'
}
end() {
	kill "${pids[-1]}"
	for ((i = 0; i < 2400; i++)); do gone "${pids[-1]}" && break; sleep 0.025; done
}
rm posts
begin second
at served 'demo_exact:calls(8).' >/dev/null
end
ok 'it ends: the last totals are posted' grep -q '"asInt":"8"' posts
begin third
at served 'demo_exact:calls(2).' >/dev/null
end
ok 'the next goes on from them' grep -q '"asInt":"10"' posts
began() { grep "\"asInt\":\"$1\"" posts | grep -o '"erltrace_o_calls".*' | grep -om1 '"startTimeUnixNano":"[0-9]*"' | head -n 1; }
is 'and has not begun anew' "$(began 8)" "$(began 10)"

# ---- answers that never end: silent behind the head, a byte now and then, without end -----------------

cat >endless.py <<'EOC'
import socket, sys, threading, time
def answer(c, n):
    try:
        got = b''
        while b'"resourceMetrics"' not in got:
            got += c.recv(65536)
        print('post', n, flush=True)
        if n > 3:
            c.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
            return
        c.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n')
        while True:
            c.sendall(b'x' * {1: 0, 2: 1, 3: 65536}[n])
            if n < 3:
                time.sleep(0.2)
    except OSError:
        print('left', n, flush=True)
s = socket.create_server(('127.0.0.1', int(sys.argv[1])))
print('listens', flush=True)
n = 0
while True:
    c, _ = s.accept()
    n += 1
    threading.Thread(target=answer, args=(c, n), daemon=True).start()
EOC
port=$(free_port)
background endless.log python3 endless.py "$port"
until grep -q listens endless.log; do sleep 0.05; done
background fourth erltrace serve -N served --port 0 --otlp "http://127.0.0.1:$port/" --otlp-interval 1 scripts
for ((i = 0; i < 1200; i++)); do grep -q '^post 5$' endless.log && break; sleep 0.1; done
ok 'answers that never end: the next post comes all the same' grep -q '^post 5$' endless.log
ok 'one without end is not read on' grep -q '^left 3$' endless.log
is 'what was answered with 200 is delivered' 0 "$(grep -c 'it is tried again' fourth)"

# ---- an answer that takes seconds, and redirects ---------------------------------------------------------

cat >slow.py <<'EOC'
import socket, sys, time
s = socket.create_server(('127.0.0.1', int(sys.argv[1])))
print('listens', flush=True)
n = 0
while True:
    c, _ = s.accept()
    got = b''
    while b'"resourceMetrics"' not in got:
        got += c.recv(65536)
    n += 1
    print('post', n, got.split(b'\r\n')[0].decode(), flush=True)
    try:
        if n == 1:
            time.sleep(8)
        if n in (2, 3):
            where = b'http://127.0.0.1:%d/elsewhere' % int(sys.argv[1]) if n == 2 else b'file:///elsewhere'
            c.sendall(b'HTTP/1.1 307 Elsewhere\r\nLocation: ' + where + b'\r\nContent-Length: 0\r\n\r\n')
        else:
            c.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    except OSError:
        print('left', n, flush=True)
    c.close()
EOC
port=$(free_port)
background slow.log python3 slow.py "$port"
until grep -q listens slow.log; do sleep 0.05; done
background fifth erltrace serve -N served --port 0 --otlp "http://127.0.0.1:$port/" --otlp-interval 1 scripts
for ((i = 0; i < 600; i++)); do grep -q '^post 2 ' slow.log && break; sleep 0.1; done
is 'a server that answers after eight seconds has had its post' 0 "$(grep -c 'closes the connection\|in time' fifth)"
for ((i = 0; i < 600; i++)); do grep -q '^post 5 ' slow.log && break; sleep 0.1; done
ok 'what is redirected is posted again' grep -q '^post 5 ' slow.log
is 'and nowhere else' 0 "$(grep -c elsewhere slow.log)"
is 'which is told once' 1 "$(grep -c 'answers with a redirect, which is not followed; it is tried again' fifth)"
finish
