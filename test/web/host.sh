#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What somebody with a login and nothing else can do to the host of the page's server: nothing. A
# script runs in the nodes, or it is refused; its text, its arguments and what is asked for probes
# neither run here nor name files, programs or probes of this machine. The last line is "N passed,
# N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
# shellcheck source=test/lib/weblib.sh
. "$(dirname "$0")/../lib/weblib.sh"
web_begin 400

DTRACE_OPT_DESTRUCTIVE=1 start web_demo
where=$(at web_demo 'list_to_integer(os:getpid()).')
export DTRACE_OPT_DESTRUCTIVE=1 DTRACE_OPT_ZDEFS=1 DTRACE_OPT_CTYPES=$tmp/harmed WEB_SECRET=secret
serve one
unset DTRACE_OPT_DESTRUCTIVE DTRACE_OPT_ZDEFS DTRACE_OPT_CTYPES WEB_SECRET
login
wsopen a

id=0 ways=8
send() { # script, more members
	# More than thirty at once it does not take: then it is asked again.
	while :; do
		id=$((id + 1))
		wssend a "{\"type\":\"run\",\"id\":$id,\"nodes\":[\"web_demo\"],\"script\":\"$1\"${2-}}"
		holds a.ws "\"type\":\"(end|error)\",\"id\":$id," >/dev/null
		grep -q "\"type\":\"error\",\"id\":$id,\"code\":429" a.ws || break
		sleep 0.1
	done
	ways=$((ways + 1))
}
inside() { # name, script that prints its pid, more members
	send "$2" "${3-}"
	ok "$1: it runs in the node" grep -qE "\"id\":$id,\"line\":.*ran in ${where}[^0-9]" a.ws
}
refused() { # name, tag, script, more members
	send "$3" "${4-}"
	ok "$1: refused" grep -qE "\"id\":$id,\"line\":\{\"type\":\"error\",\"tag\":\"$2\"" a.ws
	ok "$1: it does not run" [ "$(grep -cE "\"id\":$id,.*ran in" a.ws)" = 0 ]
}
says='{ printf(\"ran in %d\\n\", pid); exit(0); }'
z='#pragma D option zdefs\n'

# ---- what looks like a probe of the kernel, and is none -----------------------------------

inside 'a colon of an expression' "BEGIN / uid == 0 ? pid:1 / $says"
inside 'a comment' "/* syscall::read:entry, pid\$target:::, */ BEGIN $says"
inside 'a text' "BEGIN { this->s = \\\"x; syscall::read:entry \\\"; printf(\\\"ran in %d\\\", pid); exit(0); }"
inside 'an inline' "inline int syscall = 1; BEGIN /syscall ? syscall:syscall/ $says"
inside 'of another process, which does not exist' "${z}python1:::x, lib*::: { } BEGIN $says"
inside 'nothing but BEGIN' "BEGIN $says"

# ---- probes of the kernel -----------------------------------------------------------------

for d in syscall:::nosuch syscall::read:entry pid1:::nosuch pid1:libc:malloc:entry 'pid\*:::' proc:::nosuch \
	sched:::on-cpu usdt:::nosuch erlang1:beam.smp::message-send 'erlang\*:a.out::x'; do
	refused "$d" ET_PERMISSION "${z}${d//\\/} { } BEGIN $says"
done
refused 'made by an argument' ET_PERMISSION "$z\$1:::nosuch { } BEGIN $says" ',"args":["syscall"]'
refused 'half of it' ET_PERMISSION "${z}sys\$1:::nosuch { } BEGIN $says" ',"args":["call"]'
refused 'behind another one' ET_PERMISSION "${z}BEGIN, syscall:::nosuch $says"
refused 'permitted by the script' D_PRAGMA_OPTSET "#pragma D option kernel=1\\n$z syscall:::nosuch { } BEGIN $says"

# ---- arguments, files, programs -----------------------------------------------------------

inside 'arguments that look like options' "BEGIN /\$\$1 != \\\"\\\" && \$\$2 != \\\"\\\" && \$\$3 != \\\"\\\"/ $says" \
	',"args":["-w","-c","-oharmed"]'
for o in cpp cppargs=-include/etc/passwd cpppath=/bin/sh ctypes=harmed dtypes=harmed incdir=/etc libdir=/etc \
	syslibdir=/etc erlnode=x@y usdtproc=1 kernel destructive harmless=0 define=X; do
	refused "option $o" D_PRAGMA_OPTSET "#pragma D option $o\\nBEGIN $says"
done
refused 'a file that is included' D_PRAGCTL_INVAL "#include \\\"/etc/passwd\\\"\\nBEGIN $says"
hasnt_a() { ok "$1" [ "$(grep -c "$2" a.ws)" = 0 ]; }
hasnt_a 'nothing of that file' 'root:'
for s in 'system(\"touch harmed\")' 'freopen(\"harmed\")' 'raise(9)' 'stop()' 'copyout(alloca(8), 0, 8)'; do
	refused "$s, with destructive in the environments" ET_DESTRUCTIVE "BEGIN { $s; printf(\\\"ran in 0\\\"); exit(0); }"
done

# ---- what is asked for probes -------------------------------------------------------------

asked() { # text
	wssend a "{\"type\":\"probes\",\"node\":\"web_demo\",\"text\":\"$1\"}"
	holds a.ws "\"type\":\"probes\",\"text\":\"${1//[\$*]/.}\"" >/dev/null
}
# shellcheck disable=SC2016 # no variable of ours
for t in syscall pid1: 'proc:' 'sched:' '-w' '$1' 'usdt' 'profile'; do
	asked "$t"
done
hasnt_a 'no probe of this machine is listed' '"probes":\[.*"\(syscall\|pid[0-9]\|proc\|sched\|usdt\):'
ok 'those of the node are' grep -q '"text":"profile","probes":\["profile:' a.ws
ok 'the server lives' [ "$(code "$url")" = 200 ]

# ---- a node that speaks for the server ----------------------------------------------------

mkdir evil
cat >evil/erltrace_agent.erl <<'X'
-module(erltrace_agent).
-export([start/3]).
start(Command, _, _) ->
    {ok, spawn(fun() ->
        Command ! {matched, {1}},
        receive {go_stream, _} -> ok end,
        Command ! {batch, [{text, <<"{\"a\":1},\"type\":\"hello\",\"version\":{}\n">>},
                           {text, <<"{\"b\":\"}\",\"c\":[{}]}\n">>}, {text, <<"{\"d\":1}}\n">>}]},
        receive more -> ok end,
        Command ! {done, 0}
    end)}.
X
erlc -o evil evil/erltrace_agent.erl
start evil_node -pa evil
login
wsopen c
wssend c '{"type":"run","id":800,"nodes":["evil_node"],"script":"BEGIN { exit(0); }"}'
ok 'a malicious node' holds c.ws '"type":"end","id":800,'
ok 'what is a line is handed on' grep -q '"id":800,"line":{"b":"}","c":\[{}\]}}' c.ws
is 'what pretends to be the server is not' 0 "$(grep -c '"a":1\|"d":1' c.ws)"

# ---- the environment ----------------------------------------------------------------------

login
wsopen b
run b 1 'tick-10ms { @ = count(); }'
is 'a run is no process' '' "$(pgrep -P "${server[one]}")"
wssend b '{"type":"run","id":2,"nodes":["web_demo"],"script":"erlang*:nosuch:nosuch:function-entry { }"}'
ok 'options of the environment of the server are not those of its scripts' holds b.ws '"id":2,"line":\{"type":"error","tag":"D_PDESC_ZERO"'
ok 'nothing was done' [ -z "$(find "$tmp" / -maxdepth 1 -name 'harmed*' 2>/dev/null)" ]
echo "promise 19: a page visitor: $ways ways to act on the server's host, each refused or run inside the node"
finish
