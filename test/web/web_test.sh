#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# erltrace web, the live page's server, seen from outside: who may, what is refused, scripts run
# and shown, and that nothing is left on the node when nobody looks any more. That is asked of the
# node itself. The last line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
# shellcheck source=test/lib/weblib.sh
. "$(dirname "$0")/../lib/weblib.sh"
web_begin 540

start web_demo
at web_demo 'register(worker, spawn(fun F() -> receive {N, From} -> [lists:seq(1, 3) || _ <- lists:seq(1, N)], From ! done, F() end end)), ok.' >/dev/null
work='worker ! {100, self()}, receive done -> ok end.'
is 'nothing is traced' '[]' "$(at web_demo "$flags")"

# ---- what is said of it ------------------------------------------------------------------------

erltrace web --help >o 2>e
is 'help' 0 $?
for o in $(grep -oE '^	-?-[a-zN-]+' o) --tls-key; do
	[ "$o" = --help ] || ok "the manual has $o" grep -qF -- "${o//-/\\-}" "$root/man/erltrace.1"
done
erltrace web --nosuch >o 2>e
is 'no such option' 2 $?
erltrace web --port 70000 >o 2>e
is 'no such port' 2 $?
ok 'says so' grep -q 'not a port: 70000' e
erltrace web extra >o 2>e
is 'no such argument' 2 $?

# ---- http: the page, its headers, the login ----------------------------------------------------

serve one --log audit
is 'the page' 200 "$(code "$url")"
has 'is there' 'app.js'
ok 'its policy' grep -qE "^content-security-policy: default-src 'none'; script-src 'self'; style-src 'self' 'nonce-[0-9a-f]{32}'; connect-src 'self'; .*frame-ancestors 'none'" e
nonce=$(sed -n "s/.*'nonce-\([0-9a-f]*\)'.*/\1/p" e)
has 'the nonce is in it' "content=\"$nonce\""
code "$url" >/dev/null
ok 'and another one each time' [ "$nonce" != "$(sed -n "s/.*'nonce-\([0-9a-f]*\)'.*/\1/p" e)" ]
ok 'nosniff' grep -q '^x-content-type-options: nosniff' e
ok 'no frames' grep -q '^x-frame-options: DENY' e
is 'its script' 200 "$(code "${url}app.js")"
etag=$(sed -n 's/^etag: \(.*\)\r/\1/p' e)
is 'known already' 304 "$(code -H "If-None-Match: $etag" "${url}app.js")"
is 'no such page' 404 "$(code "${url}nosuch")"
is 'nothing outside' 404 "$(code --path-as-is "${url}../audit")"
is 'another method' 405 "$(code -X DELETE "$url")"
is 'not a socket' 426 "$(code "${url}ws")"
is 'wrong Host: 403' 403 "$(code -H 'Host: evil.example' "$url")"
is 'wrong port in Host: 403' 403 "$(code -H 'Host: 127.0.0.1:1' "$url")"
is 'wrong Host at login: 403' 403 "$(code -H 'Host: evil.example' --data "$token" "${url}login")"
is 'localhost' 200 "$(code -H "Host: localhost:$port" "$url")"
is 'the token has 256 bits' 64 "${#token}"
is 'wrong token: 401' 401 "$(code --data "${token%?}x" "${url}login")"
is 'a part of the token: 401' 401 "$(code --data "${token%?}" "${url}login")"
is 'no token: 401' 401 "$(code --data '' "${url}login")"
is 'too long a token: 413' 413 "$(head -c 100000 /dev/zero | tr '\0' a | code --data-binary @- "${url}login")"
is 'login from another page: 403' 403 "$(code -H 'Origin: http://evil.example' --data "$token" "${url}login")"
is 'login' 200 "$(code -H "Origin: http://127.0.0.1:$port" --data "$token" "${url}login")"
ok 'the cookie' grep -qiE "^set-cookie: erltrace_$port=[0-9a-f]{64}; Path=/; HttpOnly; SameSite=Strict" e
is 'may it open a socket? without a cookie: 401' 401 "$(code "${url}login")"
login
is 'with one: 200' 200 "$(code -H "Cookie: $cookie" "${url}login")"
for ((i = 0; i < 30; i++)); do last=$(code --data wrong "${url}login"); done
is 'too many wrong tokens: 429' 429 "$last"
is 'the right one is let in all the same' 200 "$(code --data "$token" "${url}login")"

# ---- web sockets: who may ----------------------------------------------------------------------

wsopen no 'Cookie: '
is 'no cookie: 401' 401 "$(wscode no)"
wsopen no "Cookie: erltrace_$port=$(printf '0%.0s' {1..64})"
is 'wrong cookie: 401' 401 "$(wscode no)"
wsopen no 'Origin: http://evil.example'
is 'wrong Origin: 403' 403 "$(wscode no)"
wsopen no "Origin: https://127.0.0.1:$port"
is 'Origin with another scheme: 403' 403 "$(wscode no)"
wsopen no "Origin: http://localhost:$port"
is 'Origin that is not the Host: 403' 403 "$(wscode no)"
wsopen no 'Origin: '
is 'no Origin: 403' 403 "$(wscode no)"
wsopen no "Host: evil.example:$port" "Origin: http://evil.example:$port"
is 'wrong Host, and an Origin like it: 403' 403 "$(wscode no)"
wsopen a
is 'else it is open' 101 "$(wscode a)"
ok 'hello' holds a.ws '"type":"hello".*"limits":\{"script":65536,"runs":8,"seconds":3600\}'
for i in 1 2 3 4 5 6 7; do wsopen "more$i"; done
is 'eight at once' 101 "$(wscode more7)"
wsopen no
is 'a ninth: 429' 429 "$(wscode no)"
for i in 1 2 3 4 5 6 7; do wsclose "more$i"; done

# ---- questions ---------------------------------------------------------------------------------

wssend a '{"type":"nodes"}'
ok 'nodes' holds a.ws "^\{\"type\":\"nodes\",\"nodes\":\[\{\"name\":\"web_demo@[^\"]*\",\"ospid\":${pid[web_demo]},\"otp\":\"[0-9]+\",\"ok\":true,\"error\":\"\"\}\]\}$"
node=$(sed -n 's/.*"name":"\(web_demo@[^"]*\)".*/\1/p' a.ws)
wssend a '{"type":"scripts"}'
ok 'scripts' holds a.ws '^\{"type":"scripts","scripts":\[\{"name":"one","title":"what it shows.","text":".*"\}\]\}$'
wssend a '{"type":"probes","node":"web_demo","text":"erlang*:lists:seq/"}'
ok 'probes' holds a.ws "\"type\":\"probes\",\"text\":\"erlang\*:lists:seq/\",\"probes\":\[\"erlang${pid[web_demo]}:lists:seq/2:function-entry\".*\"more\":false\}"
wssend a '{"type":"probes","node":"web_demo","text":"erlang*:"}'
ok 'probes, 200 of many' holds a.ws '"text":"erlang\*:","probes":\[("[^"]*",){199}"[^"]*"\],"more":true\}'
wssend a 'nonsense'
ok 'not JSON' holds a.ws '"type":"error","id":0,"code":400,"message":"not JSON'
wssend a '{"type":"nosuch","id":3}'
ok 'not known' holds a.ws '"type":"error","id":3,"code":400'

# ---- a script ----------------------------------------------------------------------------------

run a 7 'erlang*:lists:seq/2:function-entry { @c[probefunc] = count(); @l = lquantize(arg2 + 5, 0, 10, 2); }'
ok 'started' holds a.ws '"type":"started","id":7'
ok 'its shape' holds a.ws "\"id\":7,\"line\":\{\"type\":\"shape\",\"node\":\"$node\",\"aggregations\":\[\{\"aggregation\":\"c\",\"function\":\"count\",\"params\":\[\],\"keys\":1\},\{\"aggregation\":\"l\",\"function\":\"lquantize\",\"params\":\[0,10,2\],\"keys\":0\}\]\}\}$"
ok 'it is traced' [ "$(at web_demo "$flags")" != '[]' ]
at web_demo "$work" >/dev/null
ok 'a tick has calls' holds a.ws '"type":"tick".*"function":"count","keys":\["seq/2"\],"value":[0-9]+'
sum() { # of a count over the ticks of a run
	grep -E "\"id\":$1,\"line\":\{\"type\":\"tick\"" a.ws |
		grep -oE '"function":"count","keys":\["seq/2"\],"value":[0-9]+' | grep -oE '[0-9]+$' |
		awk '{ n += $1 } END { print n + 0 }'
}
for ((i = 0; i < 2400 && $(sum 7) < 100; i++)); do sleep 0.025; done
wssend a '{"type":"stop","id":7}'
ok 'it ends' holds a.ws '"type":"end","id":7,"code":0,"reason":"stopped"'
ok 'the ticks together are all calls' [ "$(sum 7)" -ge 100 ]
ok 'and so says the end' holds a.ws "\"id\":7,\"line\":\{\"type\":\"aggregation\",\"aggregation\":\"c\",\"function\":\"count\",\"keys\":\[\"seq/2\"\],\"value\":$(sum 7),"
becomes 'nothing is traced after stop' '[]' web_demo "$flags"
run a 40 'erlang*:lists:seq/2:function-entry { @c[probefunc] = count(); @l[probefunc] = lquantize(arg2 + 5, 0, 10, 2); @q = quantize(arg2 - 3); }' ',"packed":true'
ok 'another one' holds a.ws '"id":40,"line":\{"type":"shape"'
at web_demo "$work" >/dev/null
ok 'with ticks as bytes' holds a.ws '^packed .*"id":40,"line":\{"type":"tick".*"function":"lquantize","keys":\["seq/2"\],"buckets":\[\{"lo":'
for ((i = 0; i < 2400 && $(sum 40) < 100; i++)); do sleep 0.025; done
wssend a '{"type":"stop","id":40}'
ok 'it ends too' holds a.ws '"type":"end","id":40,"code":0,"reason":"stopped"'
got=$("$python" - a.ws <<-'EOF'
	import json, sys
	ticks, end = {}, {}
	for line in open(sys.argv[1]):
	    m = json.loads(line[line.index("{"):]) if '"id":40,"line"' in line else {}
	    l = m.get("line", {})
	    for a in l["aggregations"] if l.get("type") == "tick" else [l]:
	        for b in a.get("buckets", []):
	            at = (a["aggregation"], *a["keys"], b["lo"], b["hi"])
	            by = end if a is l else ticks
	            by[at] = by.get(at, 0) + b["count"]
	print(sum(end.values()) >= 200 if ticks == end else (ticks, end))
EOF
)
is 'buckets of all its ticks are those of its end' True "$got"
run a 41 "BEGIN { $(printf 'printf(\\"n%d\\");' {1..200}) exit(0); }" ',"packed":true'
ok 'a script that prints much' holds a.ws '"type":"end","id":41,"code":0'
is 'all of it comes, in order' "$(printf 'n%d ' {1..200})" \
	"$(grep '"id":41,"line":{"type":"printf"' a.ws | grep -oE '"text":"n[0-9]+' | cut -c9- | tr '\n' ' ')"
run a 8 'BEGIN { printf(\"%d %s\", $1, $$2); exit(3); }' ',"args":["5","it"]'
ok 'arguments, text' holds a.ws '"id":8,"line":\{"type":"printf".*"text":"5 it"'
ok 'its exit code' holds a.ws '"type":"end","id":8,"code":3,"reason":"exited"'
wssend a '{"type":"run","id":9,"nodes":[],"script":"BEGIN {\n nosuch = x;\n}"}'
ok 'an error, at its place' holds a.ws '"id":9,"line":\{"type":"error","tag":"D_[A-Z_]+","file":"-","line":2,"column":[0-9]+,'
ok 'and the end' holds a.ws '"type":"end","id":9,"code":1,"reason":"exited"'
wssend a '{"type":"run","id":10,"nodes":["nosuch"],"script":"BEGIN { exit(0); }"}'
ok 'a node that is not there' holds a.ws '"type":"end","id":10,"code":1,.*nosuch'

# ---- what is refused ---------------------------------------------------------------------------

big=$(head -c 70000 /dev/zero | tr '\0' ' ')
wssend a "{\"type\":\"run\",\"id\":11,\"nodes\":[],\"script\":\"BEGIN { exit(0); }$big\"}"
ok 'too big a script: 413' holds a.ws '"type":"error","id":11,"code":413'
wssend a '{"type":"run","id":12,"nodes":["web_demo@other.example"],"script":"BEGIN { exit(0); }"}'
ok 'a node elsewhere: 403' holds a.ws '"type":"error","id":12,"code":403'
wssend a '{"type":"run","id":13,"nodes":["-w"],"script":"BEGIN { exit(0); }"}'
ok 'a node that is an option: 403' holds a.ws '"type":"error","id":13,"code":403'
wssend a '{"type":"run","id":14,"nodes":[],"args":["-w"],"script":"BEGIN { system(\"touch destroyed%s\", $$1); exit(0); }"}'
ok 'destructive actions' holds a.ws '"id":14,"line":\{"type":"error","tag":"ET_DESTRUCTIVE"'
wssend a '{"type":"run","id":15,"nodes":[],"script":"#pragma D option destructive\nBEGIN { system(\"touch destroyed\"); exit(0); }"}'
ok 'permitted by the script itself' holds a.ws '"id":15,"line":\{"type":"error","tag":"D_PRAGMA_OPTSET","file":"-","line":1,'
ok 'they did nothing' [ -z "$(ls -d destroyed* 2>/dev/null)" ]
i=16
for o in cpp=1 "ctypes=$tmp/destroyed" "libdir=$tmp" watchdog=0 silence=0 bufsize=1g harmless=0 calls=fast destructive=unset processes=init; do
	wssend a "{\"type\":\"run\",\"id\":$i,\"nodes\":[],\"script\":\"#pragma D option $o\\nBEGIN { exit(0); }\"}"
	if [ "$o" = destructive=unset ] || [ "$o" = processes=init ] || [ "$o" = calls=fast ]; then
		ok "option $o" holds a.ws "\"type\":\"end\",\"id\":$i,\"code\":0"
	else
		ok "option $o" holds a.ws "\"id\":$i,\"line\":\{\"type\":\"error\",\"tag\":\"D_PRAGMA_OPTSET\",\"file\":\"-\",\"line\":1,"
	fi
	i=$((i + 1))
done
ok 'no file was written' [ ! -e destroyed ]
wssend a '{"type":"run","id":37,"calls":"slow","nodes":[],"script":"BEGIN { exit(0); }"}'
ok 'a way of calls that there is none of: 400' holds a.ws '"type":"error","id":37,"code":400'
wssend a '{"type":"run","id":38,"calls":"fast","nodes":["web_demo"],"script":"erlang*:lists:seq:function-entry { self->n++; @ = count(); }"}'
ok 'the node says which way' holds a.ws '"id":38,"line":\{"type":"calls","node":"web_demo@[^"]*","way":"(fast|traced)"'
wssend a '{"type":"stop","id":38}'
ok 'it can be asked for' holds a.ws '"type":"end","id":38,"code":0'
wssend a '{"type":"run","id":39,"nodes":[],"script":"syscall::getppid:entry { @ = count(); }"}'
if erltrace -l -P syscall >/dev/null 2>&1; then
	ok 'probes of the kernel' holds a.ws '"id":39,"line":\{"type":"error","tag":"ET_PERMISSION".*erltrace web --kernel'
fi
wssend a '{"type":"run","id":40,"nodes":[],"script":"#pragma D option kernel\nBEGIN { exit(0); }"}'
ok 'permitted by the script' holds a.ws '"id":40,"line":\{"type":"error","tag":"D_PRAGMA_OPTSET","file":"-","line":1,'
holds a.ws '"type":"end","id":40,' >/dev/null # it is none of the eight
for i in 41 42 43 44 45 46 47 48; do
	wssend a "{\"type\":\"run\",\"id\":$i,\"nodes\":[\"web_demo\"],\"script\":\"tick-1s { @ = count(); }\"}"
done
ok 'eight scripts at once' holds a.ws '"type":"started","id":48'
wssend a '{"type":"run","id":49,"nodes":["web_demo"],"script":"tick-1s { @ = count(); }"}'
ok 'a ninth: 429' holds a.ws '"type":"error","id":49,"code":429'
wssend a '{"type":"run","id":48,"nodes":["web_demo"],"script":"tick-1s { @ = count(); }"}'
ok 'a number that is in use: 400' holds a.ws '"type":"error","id":48,"code":400'
for i in 41 42 43 44 45 46 47 48; do
	wssend a "{\"type\":\"stop\",\"id\":$i}"
	ok "script $i ends" holds a.ws "\"type\":\"end\",\"id\":$i,"
done
# More than one each two seconds, however slow this machine is: no node is asked.
for ((i = 100; i < 500; i++)); do
	wssend a "{\"type\":\"run\",\"id\":$i,\"nodes\":[\"nosuch\"],\"script\":\"syntax\"}"
	holds a.ws "\"type\":\"(end|error)\",\"id\":$i," >/dev/null
	grep -qE "\"type\":\"error\",\"id\":$i,\"code\":429" a.ws && break
done
ok 'too many compiles: 429' holds a.ws "\"type\":\"error\",\"id\":$i,\"code\":429,\"message\":\"too many scripts in a short time"
wssend a "{\"type\":\"scripts\",\"x\":\"$(head -c 600000 /dev/zero | tr '\0' ' ')\"}"
ok 'too big a message: the socket is closed' holds a.ws '^closed 1009'

# ---- the log -----------------------------------------------------------------------------------

script='BEGIN { exit(0); }'
ok 'logins' grep -qE '^[0-9TZ:-]+ login peer=127.0.0.1 user=1$' audit
ok 'wrong ones' grep -qE '^[0-9TZ:-]+ login peer=127.0.0.1 refused$' audit
ok 'a run begins' grep -qE '^[0-9TZ:-]+ run user=[0-9]+ peer=127.0.0.1 nodes=web_demo sha256=[0-9a-f]{64} calls=auto$' audit
ok 'and ends' grep -qE '^[0-9TZ:-]+ end user=[0-9]+ peer=127.0.0.1 nodes=web_demo sha256=[0-9a-f]{64} seconds=[0-9.]+ drops=0 reason=stopped$' audit
ok 'the hash is the script'\''s' grep -q "sha256=$(printf '%s' "$script" | sha256sum | cut -d' ' -f1)" audit
ok 'no token in it' [ "$(grep -c "$token" audit)" = 0 ]

# ---- probes of the kernel ----------------------------------------------------------------------

if erltrace -qn 'syscall::getppid:entry { self->t = 1; } BEGIN { exit(0); }' >o 2>&1; then
	serve kernel --kernel
	login
	wsopen k
	wssend k '{"type":"run","id":1,"hz":10,"nodes":[],"script":"syscall:::entry { self->ts[probefunc] = timestamp; } syscall:::return /self->ts[probefunc]/ { @time[probefunc] = lquantize((timestamp - self->ts[probefunc]) / 1000, 0, 63, 2); }"}'
	ok 'a heat map of system calls' holds k.ws '"type":"tick".*"function":"lquantize","keys":\["[a-z_0-9]+"\]'
	wssend k '{"type":"stop","id":1}'
	ok 'and its end' holds k.ws '"type":"end","id":1,"code":0'
else
	echo "info: probes of the kernel were left out: $(tail -n 1 o)"
fi

# ---- limits, addresses, ends -------------------------------------------------------------------

serve three --run-seconds 1 --token-file token -N web_demo
is 'the token file is private' 600 "$(stat -c %a token)"
token=$(cat token)
login
wsopen a
run a 1 'tick-10ms { @ = count(); }'
ok 'a script that runs too long' holds a.ws '"type":"end","id":1,.*"reason":"limit"'
wssend a '{"type":"run","id":2,"nodes":["other"],"script":"BEGIN { exit(0); }"}'
ok 'only the nodes of -N: 403' holds a.ws '"type":"error","id":2,"code":403'
wsclose a
chmod 644 token
erltrace web --port 0 --pages pages --token-file token >o 2>e
is 'a token that others can read' 1 $?
ok 'says so' grep -q 'others can read it' e
erltrace web --port 0 --pages pages --bind 0.0.0.0 >o 2>e
is 'another address without TLS' 2 $?
ok 'says so too' grep -q 'without TLS' e
erltrace web --port "$port" --pages pages >o 2>e
is 'a port that is taken' 1 $?
erltrace web --port 0 --pages nosuch >o 2>e
is 'no page' 1 $?
if command -v openssl >/dev/null; then
	openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 \
		-subj /CN=localhost >/dev/null 2>&1
	serve tls --bind 0.0.0.0 --tls-cert cert.pem --tls-key key.pem --host localhost
	is 'TLS' "https://localhost:$port/" "$url"
	is 'the page over TLS' 200 "$(code "$url")"
	is 'the login' 200 "$(code --data "$token" "${url}login")"
	ok 'its cookie is for TLS only' grep -qE '^set-cookie: .*; Secure' e
	is 'another name: 403' 403 "$(code "https://127.0.0.1:$port/")"
fi
mkfifo input
exec {fd}<>input
(
	exec {fd}>&-
	exec erltrace web --port 0 --pages pages --until-eof
) <input >eof.url 2>eof.log &
server[eof]=$!
disown
holds eof.url http >/dev/null
exec {fd}>&-
for ((i = 0; i < 2400; i++)); do
	gone "${server[eof]}" && break
	sleep 0.025
done
ok 'it ends with its input' gone "${server[eof]}"
becomes 'nothing is traced at the end' '[]' web_demo "$flags"
finish
