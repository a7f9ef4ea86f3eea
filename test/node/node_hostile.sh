#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A node that does not run erltrace's agent but one of its own, which sends what it likes, and an epmd
# with names that are none: nothing of it moves a terminal's cursor, sets its title or makes it
# answer. (Data that erltrace itself has traced: data.sh.)

# shellcheck disable=SC2016 # $1 is D's
# shellcheck source=test/lib/nodelib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/nodelib.sh"
# shellcheck source=test/lib/weblib.sh
. "$(dirname "$0")/../lib/weblib.sh"
nodes_begin 300 bare
epmd_begin
mkdir evil
cat >evil/erltrace_agent.erl <<'EOT'
-module(erltrace_agent).
-export([start/3, run/2]).

%% A title, a report of the cursor, CR, C1 (also as UTF-8, also longer than it need be), no UTF-8.
evil(Tag) ->
    <<Tag/binary, "\e]0;title\x07\e[6n\e[31mred\e[0m\eP1$r\e\\\r\x9b2J", 16#c2, 16#9b, "2J",
      16#e0, 16#80, 16#9b, "c", 16#ff, 127, "ende">>.

start(Command, _, Spec) -> {ok, spawn(?MODULE, run, [Command, Spec])}.

run(C, Spec) ->
    Fail = os:getenv("EVIL_FAIL") =:= "1",
    case proplists:get_bool(list, Spec) of
        true ->
            E = evil(<<"list">>),
            give(C, {rows, [{1, E, E, E, E, [E], false, E}]}),
            give(C, {rows, [iolist_to_binary([[$1, 0], [[evil(<<"brief">>), 0] || _ <- "1234"], [$0, 0]])]});
        false when Fail ->
            C ! {failed, {0, {evil(<<"tag">>), 1, 3, evil(<<"failed">>), evil(<<"file">>), evil(<<"source">>)}}};
        false ->
            C ! {code, evil(<<"code">>)},
            C ! {matched, {1}},
            receive {go_stream, _} -> ok end,
            give(C, {batch, [{text, <<(evil(<<"text">>))/binary, $\n>>}, {err, evil(<<"err">>)}]})
    end,
    C ! {done, 0}.

give(C, Message) -> C ! Message, receive more -> ok end.
EOT
erlc -o evil evil/erltrace_agent.erl || exit 1
start hostile -pa "$tmp/evil"
fail() { at hostile "os:putenv(\"EVIL_FAIL\", \"$1\")." >/dev/null; }

controls() { # how many lines of a file have some but tabs; a terminal's own CR is at their end
	sed 's/\r$//' "$1" | LC_ALL=C tr -d '\n\t' | LC_ALL=C grep -c '[[:cntrl:]]'
}
c1() { LC_ALL=C grep -cE $'\x9b|\xff' "$1"; }
raw() { script -qec "$1" /dev/null </dev/null; } # on a terminal, as it comes

shown() { # name, file, then the tags that must be in it
	local name=$1 file=$2 tag
	shift 2
	is "$name: no control character" 0 "$(controls "$file")"
	is "$name: no C1, all UTF-8" 0 "$(c1 "$file")"
	for tag; do
		ok "$name: $tag is shown" grep -qF "$tag"'\x1b]0;title\x07\x1b[6n\x1b[31mred' "$file"
	done
}

raw "erltrace -N hostile -qSn 'BEGIN { printf(\"x\n\"); }'" >o
shown 'a script on a terminal' o text err code
raw "erltrace -N hostile -ln 'erlang*:::'" >o
shown 'a list on a terminal' o brief list
raw "erltrace -N hostile -lvn 'erlang*:::'" >o
shown 'a list with types' o brief list
raw "erltrace -N hostile --json -n 'BEGIN { printf(\"\\033[H\"); }'" >o
shown 'JSON on a terminal' o err
fail 1
raw "erltrace -N hostile -xerrtags -n 'BEGIN { }'" >o
shown 'an error on a terminal' o tag failed source
printf 'BEGIN { }\n' >evil.d
raw "erltrace -N hostile -xerrtags -s evil.d" >o
shown 'an error of a file' o file
fail 0

# A script that draws keeps its colours, and no more.
raw "erltrace -N hostile -qn 'BEGIN { printf(\"\\033[H\\033[J\"); }'" >o
ok 'drawing: colours' grep -qF $'text\\x1b]0;title\x07\\x1b[6n\e[31mred\e[0m\\x1bP1' o
is 'drawing: no other sequence' '' "$(LC_ALL=C grep -oE $'\e(\\[[0-9;?]*[^0-9;?m]|[^[])' o)"

# In a file or a pipe the bytes are the script's, for programs; messages are for people.
erltrace -N hostile -qSn 'BEGIN { printf("x\n"); }' >o 2>e
ok 'no terminal: text as it came' grep -qF $'text\e]0;title\a' o
shown 'no terminal: messages' e err code

# ---- epmd -----------------------------------------------------------------------------------

names=(fine $'ti\e]0;title\atle' $'cr\rx' $'c1\x9b2J' 'quo"te')
for i in "${!names[@]}"; do
	python3 "$root/test/node/relay.py" "${names[i]}" 0 >"relay.$i" 2>&1 &
	pid["relay$!"]=$!
	disown
done
# Each is there, or was refused, whichever comes last.
for i in "${!names[@]}"; do holds "relay.$i" '^ready|does not take the name'; done
erltrace -N nosuch -n 'BEGIN { }' >o 2>&1
has 'epmd: names of nodes' 'no node nosuch: epmd knows .*hostile'
has 'epmd: another' 'epmd knows .*fine'
shown 'epmd: names that are none' o
page_nodes >o 2>&1 && ok 'epmd: JSON' python3 -c 'import json; json.load(open("o"))'

# One that never ends: a byte now and then.
cat >drip.py <<'EOT'
import socket, time
s = socket.create_server(("127.0.0.1", 0))
print("ready", s.getsockname()[1], flush=True)
while True:
    c, _ = s.accept()
    try:
        while True:
            c.sendall(b"x")
            time.sleep(0.2)
    except OSError:
        pass
EOT
python3 drip.py >drip.out 2>&1 &
pid[drip]=$!
disown
ok 'epmd: one that drips is there' holds drip.out '^ready'
ERL_EPMD_PORT=$(sed -n 's/^ready //p' drip.out) timeout 60 erltrace -N hostile -n 'BEGIN { }' >o 2>&1
is 'epmd: one that drips: exit' 1 $?
has 'epmd: one that drips' 'is not epmd'
finish
