#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What users do to erltrace serve: files of one name, metrics of one name, scripts that end at once or do not
# compile, folders that go away, connections that stay silent, alerts that go on when it is stopped. The last
# line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
# shellcheck source=test/lib/servelib.sh
. "$root/test/lib/servelib.sh"
serve_begin 420
command -v python3 >/dev/null || skip 'no python3 here'

leaf='erlang*:demo_exact:leaf/1:function-entry'
n="node=\"served@$(hostname -s)\""
calls() { at served "demo_exact:calls($1)." >/dev/null; }
up() { shows "$1: runs" "^erltrace_script_up\{script=\"$1\",target=\"served\"\} 1\$"; }
# Waits until /metrics has no such line.
shows_no() { # name, extended regular expression
	local i
	for ((i = 0; i < 600; i++)); do
		curl -s --max-time 10 "$url" >o && ! grep -qE -- "$2" o && break
		sleep 0.1
	done
	hasnt "$1" "$2"
}
start served
at served 'code:ensure_loaded(demo_exact).' >/dev/null

# ---- files: one folder by two names, two files of one name --------------------------------------

mkdir a b
ln -s a link
echo "$leaf { @ = count(); }" >a/x.d
echo "$leaf { @other = sum(5); @second = count(); }" >b/x.d
serve -N served --state totals a ./a link a/x.d b
up x
ok 'another file of the same name: told' holds log 'b/x\.d: is left out: a/x\.d has the same name, and so the same metrics'
calls 10
shows 'a folder by four names is counted once' "^erltrace_x_total\{$n\} 10\$"
has 'a metric says what is left out' '^erltrace_script_left_out\{path="b/x\.d"\} 1$'
hasnt 'and only that' '^erltrace_script_left_out\{path="(a|\./a|link)'
hasnt 'it does not run' '^erltrace_x_second_total'
is 'told once' 1 "$(grep -c 'is left out: a/x' log)"
rm a/x.d
ok 'the first is removed: the other runs' holds log 'b/x\.d: served: runs'
calls 4
shows 'with metrics of its own' "^erltrace_x_second_total\{$n\} 4\$"
hasnt 'not mixed with those before' '^erltrace_x_total'
hasnt 'nothing is left out' '^erltrace_script_left_out\{'
serve_ends TERM
# While no server runs the other comes back: totals are not mixed.
echo "$leaf { @second = count(); }" >a/x.d
serve -N served --state totals a b
up x
calls 3
shows 'totals belong to the file' "^erltrace_x_second_total\{$n\} 3\$"
serve_ends TERM
mv a moved
serve -N served --state totals moved
up x
calls 2
shows 'a folder that was moved has its totals' "^erltrace_x_second_total\{$n\} 5\$"

# ---- metrics of one name -------------------------------------------------------------------------

cat >moved/first.d <<EOC
#pragma D metric @c name=shared
$leaf { @c = count(); }
EOC
up first
cat >moved/second.d <<EOC
#pragma D metric @d name=shared
$leaf { @d = count(); }
EOC
up second
calls 5
shows 'the first has the name' "^shared_total\{$n\} 5\$"
is 'and nobody else' 1 "$(grep -c '^shared_total' o)"
has 'a metric says who has not' '^erltrace_metric_left_out\{script="second",aggregation="d"\} 1$'
rm moved/first.d
ok 'the first is removed: told' holds log 'second\.d: @d is a metric now'
shows 'the second has it, and all that it has counted' "^shared_total\{$n\} 5\$"
hasnt 'nothing is left out' '^erltrace_metric_left_out\{'
calls 2
shows 'and counts on' "^shared_total\{$n\} 7\$"
# A script that changes: what it had is no obstacle to what it has.
cat >moved/second.d <<EOC
#pragma D metric @e name=shared
$leaf { @e = count(); }
EOC
ok 'it has changed' holds log 'second\.d: has changed'
shows 'its name goes to another of its aggregations' '^erltrace_labels_dropped_total\{script="second",aggregation="e"\} 0$'
up second
calls 1
shows 'which is shown' "^shared_total\{$n\} 1\$"
rm moved/second.d

# ---- help ------------------------------------------------------------------------------------------

printf '#pragma D metric @said help=say"it"\nBEGIN { @said = count(); }\n' >moved/help.d
shows 'quotes in help are as they are' '^# HELP erltrace_help_said_total say"it"$'
curl -s -H 'Accept: application/openmetrics-text' "$url" >o
has 'and escaped in OpenMetrics' '^# HELP erltrace_help_said say\\"it\\"$'
if command -v promtool >/dev/null; then
	curl -s "$url" >o
	ok 'promtool has nothing to say' promtool check metrics <o
fi
rm moved/help.d

# ---- scripts that end -------------------------------------------------------------------------------

echo 'BEGIN { @ = count(); exit(0); }' >moved/ends.d
printf 'BEGIN\n{\n\t@x = count(;\n}\n' >moved/bad.d
ok 'a script that ends at once: told' holds log 'ends\.d: served: ends by itself'
ok 'one that does not compile too' holds log 'bad\.d: served: line 3: '
sleep 12
shows 'it is started again less and less often' '^erltrace_script_restarts_total\{script="ends",target="served"\} [1-4]$'
has 'as is the other' '^erltrace_script_restarts_total\{script="bad",target="served"\} [1-4]$'
is 'told once: that it runs' 1 "$(grep -c 'ends\.d: served: runs' log)"
is 'told once: that it ends' 1 "$(grep -c 'ends\.d: served: .*end' log)"
is 'told once: the error' 1 "$(grep -c 'bad\.d: served: .*syntax error' log)"
echo 'BEGIN { @x = count() }' >moved/bad.d
for ((i = 0; i < 600; i++)); do [ "$(grep -c 'bad\.d: served: ' log)" = 2 ] && break; sleep 0.1; done
is 'it changes: told at once' 2 "$(grep -c 'bad\.d: served: ' log)"
echo 'BEGIN { @x = count(); }' >moved/bad.d
up bad
rm moved/ends.d moved/bad.d

# ---- a misspelt probe: told, with a similar one, and the script is not up ------------------------------

echo 'erlang*:::message-sendd { @sent = count(); }' >moved/misspelt.d
ok 'a misspelt probe: told' holds log "misspelt\.d: served: .*message-sendd does not match any probes: did you mean 'message-send'"
shows 'a misspelt probe: not up' '^erltrace_script_up\{script="misspelt",target="served"\} 0$'
echo 'erlang*:::message-send { @sent = count(); }' >moved/misspelt.d
up misspelt
rm moved/misspelt.d

# ---- a module that is not loaded yet ------------------------------------------------------------------

cat >later.erl <<'EOC'
-module(later).
-export([go/1]).
go(0) -> ok;
go(N) -> step(N), go(N - 1).
step(N) -> N.
EOC
erlc later.erl
echo "erlang*:later:step/1:function-entry { @steps = count(); } $leaf { @calls = count(); }
	erlang*:lists:seqq:function-entry { @no = count(); }" >moved/later.d
ok 'no such module: told, with the line' holds log 'later\.d: served: line 1: .*module later is not loaded.*the script runs without it'
up later
calls 3
shows 'the rest runs' "^erltrace_later_calls_total\{$n\} 3\$"
has 'a metric has all that matches nothing' '^erltrace_script_unmatched\{script="later",target="served"\} 2$'
ok 'the second is told, too' holds log 'later\.d: served: erlang\*:lists:seqq:function-entry matches nothing yet: .*seq/2'
at served "code:load_abs(\"$PWD/later\")." >/dev/null
shows 'only one matches nothing then' '^erltrace_script_unmatched\{script="later",target="served"\} 1$'
at served 'later:go(25).' >/dev/null
shows 'it is loaded, and traced' "^erltrace_later_steps_total\{$n\} 25\$"
has 'the script was not started again for it' "^erltrace_later_calls_total\{$n\} 3\$"
is 'told once' 1 "$(grep -c 'later\.d: served: .*later:step' log)"
is 'told once, the second' 1 "$(grep -c 'later\.d: served: .*seqq' log)"
kill -9 "${pid[served]}"
# (before there is another, which it would be up on again)
shows_no 'the node is gone' '^erltrace_script_up\{script="later",target="served"\} 1$'
rm -f served.in served.out
start served
at served 'code:ensure_loaded(demo_exact).' >/dev/null
up later
at served "code:load_abs(\"$PWD/later\")." >/dev/null
shows 'it is armed again' '^erltrace_script_unmatched\{script="later",target="served"\} 1$'
at served 'later:go(5).' >/dev/null
shows 'after a restart of the node, too' "^erltrace_later_steps_total\{$n\} 30\$"

# ---- folders that go away ------------------------------------------------------------------------------

up x
mv moved away
ok 'a folder is gone: told' holds log 'moved: No such file or directory: its scripts run on until it is back'
shows 'and a metric' '^erltrace_folder_up\{folder="moved"\} 0$'
calls 1
shows 'its scripts run' '^erltrace_script_up\{script="later",target="served"\} 1$'
touch moved
sleep 1.2
curl -s "$url" >o
has 'a file in its place: the same' '^erltrace_script_up\{script="later",target="served"\} 1$'
rm moved away/later.d
mv away moved
ok 'it is back: told' holds log 'moved: is back'
shows_no 'what is not in it any more is ended' 'script="later"'
has 'the metric' '^erltrace_folder_up\{folder="moved"\} 1$'
shows 'counters have not begun again' "^erltrace_x_second_total\{$n\} [1-9][0-9]+\$"
# As some editors save: for a moment there is no file. Half a second would be too long: where the machine makes it that
# long, it may be removed then, and another moment is tried.
long=$(python3 -c 'import os, time
end, short, long = time.monotonic() + 60, 0, 0
while short < 3 and time.monotonic() < end:
    began = time.monotonic()
    os.rename("moved/x.d", "moved/x.bak"); time.sleep(0.25); os.rename("moved/x.bak", "moved/x.d")
    if time.monotonic() - began < 0.45: short += 1
    else: long += 1
    time.sleep(1.1)
print(long if short == 3 else "-1")')
ok 'a file that is away for a moment is not removed' [ "$(grep -c 'moved/x\.d: served: is removed' log)" -le "$long" ]

# ---- connections -----------------------------------------------------------------------------------------

cat >idle.py <<'EOC'
import socket, sys, time
host, port = sys.argv[1].split(':')
all = []
for i in range(300):
    s = socket.create_connection((host, int(port)))
    s.sendall(b'GET /metrics HT' if i % 3 == 0 else b'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n' if i % 3 == 1 else b'')
    all.append(s)
print('open', flush=True)
time.sleep(20)
EOC
background idle.log python3 idle.py "$(sed 's|http://||; s|/.*||' <<<"$url")"
ok '300 connections that stay' holds idle.log open
slowest=0
for ((i = 0; i < 10; i++)); do
	took=$(curl -s -o o -w '%{time_total}' --max-time 20 "$url")
	slowest=$(awk -v a="$slowest" -v b="$took" 'BEGIN { print (a > b ? a : b) }')
	sleep 0.2
done
# Without room it would wait until one of them has had its five seconds for a request.
ok "a scrape does not wait for them ($slowest s)" awk -v t="$slowest" 'BEGIN { exit !(t < 3) }'
has 'they are counted' '^erltrace_connections_displaced_total [1-9]'
for garbage in '\x00\x01\x02\x03\r\n\r\n' 'GET /metrics\r\n\r\n' 'GET / HTTP/9.9\r\n\r\n' '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03' \
	"GET /$(printf 'a%.0s' {1..9000}) HTTP/1.1\\r\\n\\r\\n" 'GET /metrics HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n'; do
	(printf '%b' "$garbage" >"/dev/tcp/$(sed 's|http://||; s|/.*||; s|:|/|' <<<"$url")") 2>/dev/null
done
shows 'it answers after garbage' '^erltrace_build_info'

# ---- it is stopped while an alert goes on --------------------------------------------------------------------

serve_ends TERM
hook=$(free_port)
cat >hook.py <<'EOC'
import http.server, sys
class H(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        open('posts', 'ab').write(body + b'\n')
        self.send_response(200); self.send_header('Content-Length', '0'); self.end_headers()
    def log_message(self, *a): pass
http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), H).serve_forever()
EOC
background hook.log python3 hook.py "$hook"
mkdir alerts
echo "$leaf { alert(\"On\", \"it goes on\"); }" >alerts/on.d
on() { serve -N served --state on.totals --webhook "http://127.0.0.1:$hook" alerts; up on; calls 1; }
on
ok 'an alert begins' holds posts '"alertname":"On".*"status":"firing"'
serve_ends TERM
ok 'the server is stopped: it is over' holds posts '"alertname":"On".*"status":"resolved"'
rm posts
on
ok 'it begins again' holds posts '"status":"firing"'
ok 'the file of totals has it at once, and that it is told' holds on.totals '"name": *"On".*"untold": *0'
kill -9 "$server"
server=''
serve -N served --state on.totals --alert-hold 1 --webhook "http://127.0.0.1:$hook" alerts
ok 'a server that was killed: the next one tells that it is over' holds posts '"alertname":"On".*"status":"resolved"'
is 'and that only' 1 "$(grep -c '"status":"firing"' posts)"
serve_ends TERM
rm posts
on
ok 'once more' holds posts '"status":"firing"'
kill "${pids[-1]}"
serve_ends TERM
background hook.log python3 hook.py "$hook"
serve -N served --state on.totals --webhook "http://127.0.0.1:$hook" alerts
ok 'nobody heard that it is over: told by the next one' holds posts '"alertname":"On".*"status":"resolved"'
serve_ends TERM

# ---- too many alerts of one script do not hide those of another -------------------------------------------------

cat >alerts/many.d <<EOC
int n;
$leaf { n++; alert(strjoin("a", lltostr(n)), "one of many"); }
EOC
echo 'erlang*:demo_exact:burn/1:function-entry { alert("Rare", "important"); }' >alerts/rare.d
serve -N served alerts
up many
up rare
calls 200
shows 'too many: counted' '^erltrace_alerts_dropped_total [1-9]'
is 'twenty a minute of one script' 20 "$(grep -c '^erltrace_alert{script="many"' o)"
at served 'demo_exact:burns(1).' >/dev/null
shows 'another script is heard' '^erltrace_alert\{script="rare",.*,alertname="Rare"\} 1$'
serve_ends TERM
# ---- bytes --------------------------------------------------------------------------------------------------

mkdir bytes
echo 'BEGIN { @ = count(); }' >$'bytes/na\xefme "q"\n.d'
printf '#pragma D metric @some help="caf\xe9"\nBEGIN { @some["\\377\\001\\r"] = count(); }\n' >bytes/latin.d
printf '#pragma D option strsize=65536\nBEGIN { @["%s"] = count(); }\n' "$(head -c 60000 /dev/zero | tr '\0' k)" >bytes/huge.d
head -c 10000 /dev/urandom >bytes/random.d
serve -N served --state bytes.totals bytes
up latin
shows 'a long key is cut' '^erltrace_huge_total\{.*,key0="k{4096}\.\.\."\} 1$'
shows 'a name with odd bytes' '^erltrace_script_up\{script="na\?me \\"q\\"\\n",target="served"\} 1$'
ok 'all is UTF-8' iconv -f utf-8 -t utf-8 -o /dev/null o
if command -v promtool >/dev/null; then
	ok 'promtool has nothing to say' promtool check metrics <o
fi
serve_ends TERM
serve -N served --state bytes.totals bytes
shows 'over a restart, too' '^erltrace_na_me__q___total\{.*\} 2$'
serve_ends TERM

# ---- what is named like a script and is none ------------------------------------------------------------------

mkdir odd odd/folder.d
mkfifo odd/fifo.d
ln -s nowhere odd/dangling.d
ln -s loop.d odd/loop.d
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("odd/socket.d")'
echo 'BEGIN { @ = count(); }' >odd/good.d
serve -N served odd
up good
left_out() { # name, what it is
	ok "$1: told" holds log "odd/$1\.d: is left out: it is $2\$"
	shows "$1: a metric" "^erltrace_script_left_out\{path=\"odd/$1\.d\"\} 1\$"
}
left_out folder 'a folder'
left_out fifo 'a fifo'
left_out socket 'a socket'
left_out dangling 'a link that leads to no file'
left_out loop 'a link that leads to no file'
hasnt 'a script is not left out' 'path="odd/good'
echo 'BEGIN { @ = count(); }' >odd/nowhere
up dangling
rm odd/fifo.d
echo 'BEGIN { @ = count(); }' >odd/fifo.d
up fifo
hasnt 'what has become a script is not left out' 'path="odd/(fifo|dangling)'
rm odd/good.d
mkfifo odd/good.d
left_out good 'a fifo'
is 'each is told once' 6 "$(grep -c 'is left out' log)"
serve_ends TERM

# ---- the file of totals ---------------------------------------------------------------------------------------------

# The server ends, with this exit code.
ends_with() { # name, exit code
	local i
	kill -TERM "$server"
	for ((i = 0; i < 2400; i++)); do [ -s code ] && break; sleep 0.025; done
	is "$1" "$2" "$(cat code 2>/dev/null || echo 'it does not end')"
	gone "$server" || kill -9 "$server"
	server=''
}
# As serve, and its exit code is in the file code.
state() { # arguments
	rm -f url code pid
	(
		erltrace serve --port 0 -N nobody "$@" odd >url 2>log </dev/null &
		echo $! >pid
		wait $!
		echo $? >code
	) &
	disown
	until [ -s pid ] && { [ -s url ] || [ -s code ]; }; do sleep 0.05; done
	server=$(cat pid)
	url=$(head -n 1 url)
}
refused() { # what it is, --state
	local status locked
	locked=$(ls "$2.lock" 2>&1)
	timeout -k 1 60 erltrace serve --port 0 -N nobody --state "$2" odd >/dev/null 2>e </dev/null
	status=$?
	is "--state is $1: refused" 1 "$status"
	ok "--state is $1: told" grep -qE -- "^erltrace: serve: --state $2: is $1: it takes a file" e
	ok "--state is $1: told once" [ "$(wc -l <e)" = 1 ]
	is "--state is $1: no lock is made" "$locked" "$(ls "$2.lock" 2>&1)"
}
mkdir st
mkfifo st/fifo
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("st/socket")'
refused 'a fifo' st/fifo
refused 'a folder' st
refused 'a socket' st/socket
refused 'a device' /dev/null
ln -s fifo st/to_fifo
refused 'a fifo' st/to_fifo
ln -s round st/round
is '--state is a link without end: refused' 1 "$(timeout -k 1 60 erltrace serve --port 0 -N nobody --state st/round odd >/dev/null 2>e; echo $?)"
ok 'and told' holds e 'st/round: cannot be a file: Too many levels of symbolic links'
is 'nothing is left there' 'fifo round socket to_fifo ' "$(cd st && printf '%s ' *)"

mkfifo st/a.new
state --state st/a
ends_with 'FILE.new is a fifo: it ends' 0
ok 'and the totals are written' grep -q '"version"' st/a
ok 'to a new file' [ -f st/a -a ! -e st/a.new ]
is 'for its user alone' 600 "$(stat -c %a st/a)"
echo precious >st/foreign
ln -s foreign st/a.new
state --state st/a
ends_with 'FILE.new is a link: it ends' 0
is 'the file of that name is as it was' precious "$(cat st/foreign)"
ok 'and the totals are in a file, not in a link' [ -f st/a -a ! -L st/a -a ! -e st/a.new ]
mkfifo st/b.lock
state --state st/b
ok 'FILE.lock is a fifo: told' holds log 'st/b\.lock: cannot be locked'
ends_with 'and it runs' 0

# A link to the file: that is locked, and written.
mkdir st/disk
ln -s disk/totals st/link
state --state st/link
is 'a file by a link and by its name: one server' 1 "$(timeout -k 1 60 erltrace serve --port 0 -N nobody --state st/disk/totals odd >/dev/null 2>e; echo $?)"
ok 'told who has it' holds e "st/disk/totals: is the --state of another server, process $server"
ends_with 'a link to a file that is not there yet: it ends' 0
ok 'the link is a link' [ -L st/link ]
ok 'the file is there' [ -f st/disk/totals ]
ok 'its lock is beside it' [ -f st/disk/totals.lock -a ! -e st/link.lock ]
before=$(stat -c %y st/disk/totals)
state --state "$PWD/st/link"
ends_with 'a link to a file: it ends' 0
ok 'which is written' [ -L st/link -a "$(stat -c %y st/disk/totals)" != "$before" ]

# Somebody removes the lock.
state --state st/c
rm st/c.lock
ends_with 'FILE.lock is removed: it ends' 0
ok 'told, and locked again' holds log 'st/c\.lock: was removed, while a server runs: it is locked again'
state --state st/c
rm st/c.lock
erltrace serve --port 0 -N nobody --state st/c odd >url2 2>log2 </dev/null &
second=$!
pids+=("$second")
disown
ok 'it is removed, and another server begins' holds url2 metrics
before=$(stat -c %y st/c)
shows 'the first does not write: counted' '^erltrace_state_writes_failed_total 1$'
ok 'told who has the file' holds log "st/c: another server, process $second, has it now, as .*st/c\.lock was removed"
ends_with 'and its exit code says it' 1
ok 'what is lost is told' holds log 'st/c: no write succeeded: all that this server counted is lost'
is 'who has it is told once' 1 "$(grep -c 'has it now' log)"
kill -TERM "$second"
for ((i = 0; i < 2400; i++)); do gone "$second" && break; sleep 0.025; done
ok 'the second writes' [ "$(stat -c %y st/c)" != "$before" ]

# A folder in the way.
mkdir st/d.new
state --state st/d
shows 'it cannot be written: counted' '^erltrace_state_writes_failed_total [1-9]'
rmdir st/d.new
ok 'it can: told' holds log 'st/d: is written again'
mkdir st/d.new
ends_with 'the last write fails: the exit code says it' 1
ok 'and it is told what is lost' holds log 'st/d: the last write failed: what was counted in the [0-9]+ seconds since the one before is lost'
ok 'the file of the write before is there' grep -q '"version"' st/d
state --state st/nosuch/e
ends_with 'no folder: the exit code says it' 1
ok 'and it is told' holds log 'st/nosuch/e: no write succeeded: all that this server counted is lost'
# shellcheck disable=SC2016 # for that shell
if unshare -rm mount -t tmpfs -o size=4k none st/disk 2>/dev/null; then
	rm -f url log
	unshare -rm bash -c 'mount -t tmpfs -o size=8k none st/disk && : >st/disk/t.lock && head -c 8192 /dev/zero >st/disk/full
		timeout 120 erltrace serve --port 0 -N nobody --state st/disk/t odd >url 2>log &
		for ((i = 0; i < 2400; i++)); do grep -qs metrics url && break; sleep 0.025; done
		kill -TERM $!
		wait $!
		ls st/disk >o' </dev/null 2>/dev/null
	ok 'a full disk: told' holds log 'st/disk/t: cannot be written: No space left on device'
	hasnt 'no empty file is left' 'new'
else
	echo 'skipped: no file system of our own can be mounted here'
fi

# ---- snapshots that fail --------------------------------------------------------------------------------------------

mkdir records
cat >records/ring.d <<EOC
#pragma D option bufpolicy=ring
#pragma D option snapshotrate=1ms
$leaf { printf("leaf"); snapshot("leaf"); }
EOC
serve -N served --snapshots shots records
up ring
rm -r shots
for ((i = 1; i <= 12; i++)); do
	calls 1
	shows "snapshot $i fails" "^erltrace_snapshots_failed_total\{script=\"ring\",target=\"served\"\} $i\$"
done
ok 'the first is told' holds log "records/ring\.d: served: snapshot 'leaf': couldn't write shots/.*: No such file or directory"
is 'and no other' 1 "$(grep -c 'snapshot' log)"
serve_ends TERM
ok 'the others at the end: how many' holds log "records/ring\.d: served: 11 more snapshots failed, the last: snapshot 'leaf': couldn't write shots/"
is 'in one line' 2 "$(grep -c 'snapshot' log)"

# ---- what scripts print ------------------------------------------------------------------------------------------

mkdir prints
cat >prints/says.d <<EOC
int n;
BEGIN { printf("one "); printf("line \\033[2J\ttab\ncaf\303\251"); printf("%2000s\n", "long"); }
$leaf { printf("line %d\n", n++); }
EOC
echo 'BEGIN { printf("no end of a line"); }' >prints/rest.d
serve -N served --state prints.totals prints
up says
tab=$'\t'
ok 'a line has the name of its script, and no control characters' holds url "^says: one line \\\\x1b\[2J${tab}tab\$"
ok 'a long line becomes several, in UTF-8' holds url '^says: café *$'
ok 'all of it is there' holds url '^says: +long$'
ok 'what is no whole line is not held back' holds url '^rest: no end of a line$'
calls 5000
left=0
for ((i = 0; i < 600; i++)); do
	curl -s --max-time 10 "$url" >o
	left=$(awk '/^erltrace_lines_left_out_total\{script="says",target="served"\}/ { print $2 }' o)
	printed=$(grep -c '^says: line [0-9]' url)
	[ $((left + printed)) = 5000 ] && break
	sleep 0.1
done
is 'without end: each line is printed, or counted' 5000 $((left + printed))
ok "so many are printed ($printed)" [ "$printed" -ge 100 -a "$printed" -le 700 ]
ok 'and it is told' holds log 'prints/says\.d: served: [0-9]+ lines that it printed are left out: they are more than 10 a second'
is 'once' 1 "$(grep -c 'are left out' log)"
serve_ends TERM
serve -N served --state prints.totals prints
shows 'the counter goes on' "^erltrace_lines_left_out_total\{script=\"says\",target=\"served\"\} $left\$"
serve_ends TERM

# ---- requests that cannot be read: they do not fill the log ------------------------------------------------

serve -N served prints
python3 - "${url##*:}" <<'X'
import socket, sys
port = int(sys.argv[1].split("/")[0])
for i in range(300):
    s = socket.create_connection(("127.0.0.1", port))
    try:
        s.sendall(b"GET /metrics HTTP/1.1\r\nHost: " + b"x" * 8000 + b"\r\n\r\n")
        s.recv(100)
    except OSError:
        pass
    s.close()
X
n=$(grep -c 'header data' log)
ok "300 requests with long heads: some lines ($n)" [ "$n" -ge 1 -a "$n" -le 40 ]
serve_ends TERM
becomes 'nothing is left in the node' false served 'code:is_loaded(erltrace_nif) =/= false.'
finish
