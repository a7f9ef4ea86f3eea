#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Probes of the kernel on the page of a node, by its helper: erltrace:web(#{kernel => true}). Without that they
# are refused; with it the page's user may what the node's helper may, and nothing of it is left when the
# socket is closed, or the server or the node killed. The last line is "N passed, N failed".

# shellcheck disable=SC2016 # $target is D's
# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
# shellcheck source=test/lib/weblib.sh
. "$(dirname "$0")/../lib/weblib.sh"
web_begin 400
id=0
erltrace -qn 'syscall::getppid:entry { self->t = 1; } BEGIN { exit(0); }' >o 2>&1 ||
	skip "no probes of the kernel here: $(tail -n 1 o)"
command=$(command -v erltrace)
cp "$(command -v dd)" kweb_dd
writes() { ./kweb_dd if=/dev/zero of=/dev/null bs=1 count="$1" status=none; }

cat >kernel_page.erl <<'ERL'
-module(kernel_page).
-export([start/3]).
start(Opts, More, File) ->
    spawn(fun() ->
                  {ok, _, Url} = erltrace:web(maps:merge(Opts, More)),
                  ok = file:write_file(File ++ ".new", Url),
                  ok = file:rename(File ++ ".new", File),
                  receive never -> ok end
          end).
ERL
erlc kernel_page.erl || exit 1
start web_demo
start other
for n in web_demo other; do
	at $n "code:add_paths([\"$(realpath "$ebin")\", \"$PWD\"])." >/dev/null
done
# The page of web_demo, with these options, by a process that stays: sets port, token, url.
page() { # options
	rm -f page.url
	at web_demo "kernel_page:start(#{port => 0, command => \"$command\", pages => \"$PWD/pages\", scripts => \"$PWD/scripts\"}, #{$1}, \"$PWD/page.url\")." >/dev/null
	holds page.url . >/dev/null
	url=$(sed 's/#.*//' page.url)
	token=$(sed 's/.*#token=//' page.url)
	port=$(sed 's|.*:\([0-9]*\)/.*|\1|' page.url)
	login
}
send() { # socket, id, script, more members
	wssend "$1" "{\"type\":\"run\",\"id\":$2,\"hz\":20,\"nodes\":[${nodes-\"web_demo\"}],\"script\":\"$3\"${4-}}"
}
refused() { # name, id, tag, script
	send k "$2" "$4"
	ok "$1" holds k.ws "\"id\":$2,\"line\":\{\"type\":\"error\",\"tag\":\"$3\""
}
helpers() { # of web_demo
	pgrep -P "$(pgrep -P "$(at web_demo 'list_to_integer(os:getpid()).')" erl_child_setup)" erltrace-kernel
}
no_helper() {
	local i
	for ((i = 0; i < 60; i++)); do
		[ -z "$(helpers)" ] && return
		sleep 0.05
	done
	return 1
}

# ---- not permitted -------------------------------------------------------------------------------
page ''
wsopen k
ok 'the page says that it has none' holds k.ws '"type":"hello".*"kernel":false'
refused 'without kernel => true' 1 ET_PERMISSION 'syscall::write:entry { @ = count(); }'
wsclose k

# ---- permitted -----------------------------------------------------------------------------------
page 'kernel => true'
wsopen k
ok 'the page says that it has some' holds k.ws '"type":"hello".*"kernel":true'
send k 1 'syscall::write:entry /execname == \"kweb_dd\"/ { @[execname, arg2] = count(); }'
ok 'a script of the kernel is armed' holds k.ws '"id":1,"line":\{"type":"tick"'
ok 'by the helper of the node' [ -n "$(helpers)" ]
writes 5000
wssend k '{"type":"stop","id":1}'
ok 'its end' holds k.ws '"type":"end","id":1,"code":0'
total() { # id: the values of its ticks, which add up
	grep "\"id\":$1,\"line\":{\"type\":\"tick\"" k.ws | grep -oE '"keys":\["kweb_dd",1\],"value":[0-9]+' |
		awk -F: '{ n += $NF } END { print n + 0 }'
}
is 'exact counts' 5000 "$(total 1)"
ok 'the helper has ended' no_helper

send k 2 'syscall:::entry { self->ts[probefunc] = timestamp; } syscall:::return /self->ts[probefunc]/ { @time[probefunc] = lquantize((timestamp - self->ts[probefunc]) / 1000, 0, 63, 2); }'
ok 'a heat map of system calls' holds k.ws '"id":2,.*"type":"tick".*"function":"lquantize","keys":\["[a-z_0-9]+"\]'
wssend k '{"type":"stop","id":2}'
ok 'and its end' holds k.ws '"type":"end","id":2,"code":0'
send k 3 'syscall::write:entry /execname == \"kweb_dd\"/ { printf(\"%d bytes\", arg2); }'
ok 'one that prints' holds k.ws '"id":3,"line":\{"type":"tick"'
writes 3
ok 'what it prints comes' holds k.ws '"id":3,.*1 bytes'
wssend k '{"type":"stop","id":3}'
ok 'it ends' holds k.ws '"type":"end","id":3,"code":0'

# With probes of the node besides: they are of the same script.
send k 4 'erlang*:lists:seq/2:function-entry { @f[copyinstr(arg1)] = count(); } syscall::write:entry /execname == \"kweb_dd\"/ { @w[execname] = count(); }'
ok 'probes of the node besides' holds k.ws '"id":4,"line":\{"type":"tick"'
at web_demo '[lists:seq(1, I) || I <- [1, 2, 3]], ok.' >/dev/null
writes 7
ok 'they fire' holds k.ws '"id":4,.*"keys":\["lists:seq/2"\],"value":[0-9]'
ok 'both do' holds k.ws '"id":4,.*"keys":\["kweb_dd"\],"value":7'
wssend k '{"type":"stop","id":4}'
ok 'the node is disarmed' holds k.ws '"type":"end","id":4,"code":0'
is 'nothing is traced there' '[]' "$(at web_demo "$flags")"

# What goes wrong is told as of any script.
refused 'no such probe' 10 D_PDESC_ZERO 'syscall::raed:entry { }'
refused 'a mistake' 11 D_FUNC_UNDEF 'syscall::read:entry { cuont(); }'
for a in 'raise(9)' 'stop()' 'system(\"touch harmed\")' 'copyoutstr(\"x\", arg1, 2)'; do
	refused "destructive: $a" $((++id + 20)) ET_DESTRUCTIVE "syscall::write:entry { $a; }"
done
send k 12 'syscall::write:entry /pid == $target/ { @[pid == $target] = count(); }'
ok '$target is the node' holds k.ws '"id":12,"line":\{"type":"tick"'
wssend k '{"type":"stop","id":12}'
wssend k '{"type":"probes","node":"web_demo","text":"syscall::getp"}'
ok 'its probes are listed' holds k.ws '"text":"syscall::getp","probes":\["syscall:vmlinux:getp'
send k 13 'erlang*:lists:seq/2:function-entry { @ = count(); }'
ok 'a script of the node alone runs there' holds k.ws '"id":13,"line":\{"type":"tick"'
ok 'without a helper' no_helper
wssend k '{"type":"stop","id":13}'

# ---- it ends with the socket, the server, the node ---------------------------------------------------
forever='syscall:::entry { @[execname] = count(); }'
send k 30 "$forever"
ok 'armed again' holds k.ws '"id":30,"line":\{"type":"tick"'
wsclose k
ok 'the socket is closed: the helper has ended' no_helper
wsopen k
send k 31 "$forever"
ok 'and again' holds k.ws '"id":31,"line":\{"type":"tick"'
pkill -9 -P "$(pgrep -P "$(at web_demo 'list_to_integer(os:getpid()).')" erl_child_setup)" -x erltrace
ok 'the server is killed: the helper has ended' no_helper
wsclose k

# ---- several nodes -----------------------------------------------------------------------------------
page "kernel => true, nodes => [node(), list_to_atom(\"other@\" ++ lists:last(string:lexemes(atom_to_list(node()), \"@\")))]"
wsopen k
nodes='"web_demo","other"'
send k 40 'syscall::write:entry /execname == \"kweb_dd\"/ { @[execname, arg2] = count(); }'
ok 'two nodes, one kernel' holds k.ws '"id":40,"line":\{"type":"tick"'
writes 900
wssend k '{"type":"stop","id":40}'
ok 'it has ended' holds k.ws '"type":"end","id":40,"code":0'
is 'counted once' 900 "$(total 40)"
refused 'erlang probes of a node that is not the helper'\''s' 41 ET_NODE \
	'erlang*:lists:seq/2:function-entry { @ = count(); } syscall::read:entry { @k = count(); }'
send k 42 "$forever"
ok 'armed for the end' holds k.ws '"id":42,"line":\{"type":"tick"'
helper=$(helpers)
kill -9 "${pid[web_demo]}"
wait "${pid[web_demo]}" 2>/dev/null
for ((i = 0; i < 60; i++)); do gone "$helper" && break; sleep 0.05; done
ok 'the node is killed: the helper has ended' gone "$helper"
finish
