#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Strangers at the page's port: those who say nothing take no place from those who have logged in,
# and those who guess the token do not fill the log. The last line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
# shellcheck source=test/lib/weblib.sh
. "$(dirname "$0")/../lib/weblib.sh"
web_begin 200

# Opens so many, keeps them all, and goes on to open others until it is ended: at a pace at which an address has room
# (64) for a second, so that who says something is not displaced while it or the server waits for a processor.
cat >idle.py <<'X'
import socket, sys, time
port, n = int(sys.argv[1]), int(sys.argv[2])
keep = []
while True:
    s = socket.socket()
    s.settimeout(5)
    try:
        s.connect(("127.0.0.1", port))
    except OSError:
        pass
    keep.append(s)
    if len(keep) == n:
        print("open", flush=True)
    if len(keep) >= n:
        keep.pop(0).close()
        time.sleep(0.02)
X
ulimit -n 4096
start web_demo
serve one --log audit
login
wsopen a
"$python" idle.py "$port" 700 >idle.out 2>&1 &
pid[idle]=$!
disown
ok '700 connections that say nothing' holds idle.out open
for i in 1 2 3 4 5; do
	is "the page, all the same ($i)" 200 "$(code --max-time 10 "$url")"
done
login
like 'one can log in' '^erltrace_' "$cookie"
wsopen b
is 'a new socket' 101 "$(wscode b)"
run b 1 'tick-10ms { @ = count(); }'
ok 'a script runs' holds b.ws '"type":"tick"'
wssend a '{"type":"ping"}'
ok 'who was there before has stayed' holds a.ws '"type":"pong"'
ok 'few of them are held' [ "$(find "/proc/${server[one]}/fd" -lname 'socket:*' 2>/dev/null | wc -l)" -lt 200 ]
ok 'it is told' holds audit 'displaced peer=127\.0\.0\.1: too many have not logged in'
ok 'not once a connection' [ "$(grep -c displaced audit)" -lt 20 ]
kill "${pid[idle]}"
unset 'pid[idle]'

# ---- requests that cannot be read ---------------------------------------------------------

"$python" - "$port" <<'X'
import socket, sys
for i in range(300):
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    try:
        s.sendall(b"GET / HTTP/1.1\r\nHost: " + b"x" * 8000 + b"\r\n\r\n")
        s.recv(100)
    except OSError:
        pass
    s.close()
X
n=$(grep -c 'header data' one.log)
ok "300 requests with long heads: some lines ($n)" [ "$n" -ge 1 -a "$n" -le 40 ]

# ---- wrong tokens -------------------------------------------------------------------------

"$python" - "$port" <<'X'
import http.client, sys
c = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=30)
for i in range(600):
    c.request("POST", "/login", "wrong")
    c.getresponse().read()
X
n=$(grep -c 'login peer=127.0.0.1 refused' audit)
ok "600 wrong tokens: some lines ($n)" [ "$n" -ge 40 -a "$n" -lt 120 ]
cookie=''
for i in 1 2 3; do
	wsopen "no$i"
	is 'a socket without a cookie' 401 "$(wscode "no$i")"
done
login
like 'the right one is taken' '^erltrace_' "$cookie"
kill -TERM "${server[one]}"
ok 'it ends' holds audit '^[^ ]* refused more='
told=$(awk '/refused/ { n += !/^[^ ]* refused more=/; if (match($0, /more=[0-9]+/)) n += substr($0, RSTART + 5) }
	END { print n }' audit)
is 'each has been counted' 603 "$told"
finish
