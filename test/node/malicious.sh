#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A malicious node: its agent wants things done on the command's host. Done is only what a script of
# the command does, as it was parsed here, and what the user has permitted. The last line is
# "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 200 bare
epmd_begin

# It runs the script in the file wish instead of ours, and ends with the code in code.
cat >erltrace_agent.erl <<'X'
-module(erltrace_agent).
-export([start/3]).
start(Command, _, _) ->
    {ok, Wish} = file:read_file("wish"),
    {ok, [Code]} = file:consult("code"),
    {ok, spawn(fun() ->
        Stream = stream(Wish),
        Command ! {matched, {1}},
        receive {go_stream, 1} -> ok end,
        Command ! {batch, [{stream, Stream}]},
        receive more -> ok end,
        Command ! {done, Code}
    end)}.
stream(Text) ->
    {ok, H} = erltrace:open(),
    ok = erltrace:setopt(H, "destructive", "1"),
    ok = erltrace:setopt(H, "quiet", "1"),
    ok = erltrace:compile(H, Text),
    ok = erltrace:go(H),
    ok = erltrace:stop(H),
    Stream = rest(H, []),
    ok = erltrace:close(H),
    Stream.
rest(H, Parts) ->
    case erltrace_handle:call(H, {work, {stream, 1, 0, text}}) of
        {ok, Items} -> rest(H, [Parts | parts(Items)]);
        {done, Items} -> iolist_to_binary([Parts | parts(Items)])
    end.
parts(Items) -> [Bytes || {stream, Bytes} <- Items].
X
erlc erltrace_agent.erl
start evil -pz "$ebin"
ways=0
wants() { # a script, an exit code
	echo "$1" >wish
	echo "${2:-0}." >code
}
runs() { # a command
	wants "BEGIN { system(\"${1//%/%%}\"); }"
}
t() { # arguments of erltrace: what it says is in e, what it prints in o
	rm -f harmed elsewhere
	ways=$((ways + 1))
	erltrace -N evil "$@" >o 2>e
}
not_done() { # name, arguments of erltrace
	local name=$1
	shift
	t "$@"
	ok "$name: not done" [ ! -e harmed -a ! -e elsewhere ]
	is "$name: it is told" 1 "$(grep -c 'a command or a file that no script asked for (-w): refused$' e)"
}
is_done() { # name, arguments of erltrace
	local name=$1
	shift
	t "$@"
	ok "$name: done" [ -e harmed ]
	is "$name: not a word" 0 "$(grep -c 'not done' e)"
}

# ---- a command ----------------------------------------------------------------------------

runs ': >harmed'
not_done 'a script that has none' -qn 'BEGIN { exit(0); }'
not_done 'destructive in a comment' -qn '/* destructive */ BEGIN { exit(0); }'
not_done 'in a text' -qn 'BEGIN { printf("#pragma D option destructive\n"); exit(0); }'
not_done 'in a comment that looks like a pragma' -qn '/*
#pragma D option destructive
*/ BEGIN { exit(0); }'
not_done 'turned off again' -qn '#pragma D option destructive
#pragma D option destructive=0
BEGIN { system(": >harmed"); }'
not_done 'harmless' -wqxharmless -n 'BEGIN { system(": >harmed"); }'
not_done '-w, and nothing is run' -wqn 'BEGIN { exit(0); }'
not_done '-w, and another command' -wqn 'BEGIN { system("date"); }'
not_done '-w, and its beginning' -wqn 'BEGIN { system(": >har"); }'
not_done '-w, and a text that is like it' -wqn 'BEGIN { printf(": >harmed"); }'
not_done 'the script would, but may not' -qn 'BEGIN { system(": >harmed"); }'
is_done '-w, and it is this command' -wqn 'BEGIN { system(": >harmed"); }'
is_done 'the script permits it' -qn '#pragma D option destructive
BEGIN { system(": >%s", "harmed"); }'
is_done 'one of several' -wqn 'BEGIN { system("date"); } END { system(": >harmed"); }'
runs 'kill -0 1; : >harmed'
not_done 'a number is a number' -wqn 'BEGIN { system("kill -0 %d", pid); }'
for text in '1 2' '-' '1-1' 'cafe' "1'" "'1'" '1 ' ' 1' '+ 1' '0x' '1x1' '1,'; do
	runs "echo >harmed $text"
	not_done "no number: $text" -wqn 'BEGIN { system("echo >harmed %d", pid); }'
done
for text in 1 -1 +1 0012 1,234; do
	runs "echo >harmed $text"
	is_done "a number: $text" -wqn 'BEGIN { system("echo >harmed %d", pid); }'
done
runs 'echo >harmed 0xcafe   12 34  .'
is_done 'numbers of a width' -wqn 'BEGIN { system("echo >harmed %#x %4d %-4d.", pid, pid, pid); }'
runs 'kill -0 1; : >harmed'
not_done 'behind the end' -wqn 'BEGIN { system("kill -0 1"); }'
runs 'test -1234 -lt 31 && : >harmed'
is_done 'numbers in it' -wqn 'BEGIN { system("test %d -lt %3u && : >harmed", pid, pid); }'
is_done 'a text may be anything' -wqn 'BEGIN { system("test %s", execname); }'
runs 'echo 100% >harmed'
is_done 'a percent sign' -wqn 'BEGIN { system("echo 100%% >harmed"); }'

# ---- files --------------------------------------------------------------------------------

wants 'BEGIN { freopen("harmed"); printf("x\n"); }'
not_done 'a file' -qn 'BEGIN { exit(0); } /* destructive freopen("harmed") */'
not_done 'a file, -w' -wqn 'BEGIN { exit(0); }'
not_done 'another file' -wqn 'BEGIN { freopen("elsewhere"); }'
is_done 'this file' -wqn 'BEGIN { freopen("%s", "harmed"); }'
wants 'BEGIN { ftruncate(); }'
echo kept >output
t -o output -qn 'BEGIN { exit(0); }'
is 'the output is not emptied' kept "$(head -n 1 output)"
t -o output -qn 'BEGIN { ftruncate(); exit(0); }'
is 'but by ftruncate()' '' "$(head -n 1 output)"

# ---- the exit code ------------------------------------------------------------------------

wants 'BEGIN { }' 77
t -qn 'BEGIN { trace(1); }'
is 'a code without exit()' 1 $?
t -qn 'BEGIN { exit(77); }'
is 'a code of exit()' 77 $?
echo "promise 19: a malicious node: $ways things that it wants done here, done are those of the script"
finish
