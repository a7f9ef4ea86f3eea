#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Traced data stays data, whatever its bytes: tags of HTML, terminal escapes, bytes that are no
# UTF-8, NUL, a key of a megabyte. As text, on a terminal, as JSON; and no atom is made of it. (The
# live page: page.sh.) The last line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 200 bare
epmd_begin
start data -pa "$ebin"
probe='erlang*:::user_trace-i4s4'
hostile='["<script>alert(1)</script>", <<27, "[31mred", 27, "]0;title", 7>>, <<255, 254, 192, 128>>, <<"a", 0, "b">>, <<"quote\"back\\slash">>, <<226, 128, 168>>, <<"$(touch hit) ; `touch hit`">>, <<"%s%n%d">>]'
fire="[dtrace:p(S) || S <- $hostile], done."

# Text: the bytes as they are. On a terminal: no control character but the line's end.
trace data -qn "$probe { printf(\"got %s.\\n\", copyinstr(arg6)); @[copyinstr(arg6)] = count(); }" || finish
at data "$fire" >/dev/null
untrace
has 'text: a tag' '^got <script>alert\(1\)</script>\.$'
has 'text: formats are not' '^got %s%n%d\.$'
ok 'text: nothing was run' [ ! -e hit ]
script -qefc "erltrace -N data -qn 'BEGIN { printf(\"armed\\n\"); } $probe { printf(\"got %s.\\n\", copyinstr(arg6)); @[copyinstr(arg6)] = count(); }
	$probe /++n == 8/ { exit(0); }'" tty </dev/null >/dev/null 2>&1 &
command=$!
ok 'terminal: armed' holds tty armed
at data "$fire" >/dev/null
wait $command
command=''
sed -i '/^Script /d' tty
is 'terminal: no control character' 0 "$(LC_ALL=C tr -d '\r\n\t' <tty | LC_ALL=C grep -c '[[:cntrl:]]')"
ok 'terminal: it is shown' grep -qF '\x1b[31mred' tty

# JSON: every line is some, and the bytes are there.
rm -f o e # the last one was armed too
erltrace -N data --json -qn "BEGIN { printf(\"armed\\n\"); } $probe { printf(\"got %s.\\n\", copyinstr(arg6)); @[copyinstr(arg6)] = count(); } $probe /++n == 8/ { exit(0); }" >o 2>e &
command=$!
ok 'JSON: armed' holds o armed
at data "$fire" >/dev/null
wait $command
command=''
if command -v python3 >/dev/null; then
	ok 'JSON: all lines are' python3 -c '
import json, sys
lines = [json.loads(l) for l in open("o", "rb").read().decode("utf-8").split("\n") if l]
text = json.dumps(lines)
sys.exit(not ("<script>" in text and "%s%n%d" in text and len(lines) > 8))'
fi

# A megabyte of key is cut where strings are, and neither the node nor the command takes harm.
trace data -qn "$probe { @[copyinstr(arg6), arg2] = count(); }" || finish
at data '[dtrace:p(N, lists:duplicate(1000000, $k)) || N <- [1, 2, 3]], done.' >/dev/null
untrace
is 'a megabyte of key: exit' 0 "$status"
is 'a megabyte of key: three keys' 3 "$(grep -cE 'kkkk +[1-3] +1$' o)"
ok 'a megabyte of key: cut' [ "$(wc -c <o)" -lt 10000 ]

# Atoms: what is traced, asked for or misspelt makes none.
atoms() { at data 'erlang:system_info(atom_count).'; }
some() { # from
	at data "[begin {ok, H} = erltrace:script([\"erlang*:::user_trace-i4s4 { @[copyinstr(arg6)] = count(); self->v\", integer_to_list(I), \" = 1; }\"]), dtrace:p([\"key\", integer_to_list(I)]), {ok, _} = erltrace:walk(H), ok = erltrace:close(H), {error, _} = erltrace:script([\"erlang*:nosuch\", integer_to_list(I), \":f\", integer_to_list(I), \":function-entry { }\"]), {error, _} = erltrace:script([\"BEGIN { nosuch\", integer_to_list(I), \"(); }\"]), {ok, H2} = erltrace:open(), {error, _} = erltrace:setopt(H2, [\"opt\", integer_to_list(I)], [\"val\", integer_to_list(I)]), _ = erltrace:probes([\"no\", integer_to_list(I), \":::\"]), ok = erltrace:close(H2) end || I <- lists:seq($1, $1 + 99)], done." >/dev/null
}
some 1000
before=$(atoms)
some 2000
is 'no atom is made' "$before" "$(atoms)"
echo "promise 14: tags, terminal escapes, bad UTF-8, NUL, formats, shell text: as they are in text, escaped on a terminal, whole in JSON; keys of a megabyte cut; 600 scripts, options and keys of names never seen: $(($(atoms) - before)) atoms more"
finish
