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

# It runs the script in the file wish instead of ours, and ends with the code in code. In its stream it
# says the second text of the file lie instead of the first.
cat >erltrace_agent.erl <<'X'
-module(erltrace_agent).
-export([start/3]).
start(Command, _, _) ->
    {ok, Wish} = file:read_file("wish"),
    {ok, [Code]} = file:consult("code"),
    {ok, [{True, Lie}]} = file:consult("lie"),
    {ok, spawn(fun() ->
        Stream = binary:replace(stream(Wish), True, Lie),
        Command ! {matched, {1}},
        receive {go_stream, _} -> ok end,
        filelib:is_file("babbles") andalso babble(Command),
        Command ! {batch, [{stream, Stream}]},
        receive more -> ok end,
        Command ! {done, Code}
    end)}.
%% By another name, and then it says nothing more, not even that it is done.
babble(Command) ->
    Head = <<$H, 16#73747465:32/little, 2:16/little, 9:32/little, "honest@vm">>,
    Command ! {batch, [{stream, <<(byte_size(Head)):32/little, Head/binary, 1:32/little, "?">>}]},
    receive never -> ok end.
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
mkdir agent
erlc -o agent erltrace_agent.erl
start evil -pa agent -pz "$ebin"
ways=0
wants() { # a script, an exit code, what the stream says instead of what, of the same length
	echo "$1" >wish
	echo "${2:-0}." >code
	echo "{<<\"${3:-none}\">>, <<\"${4:-none}\">>}." >lie
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
BEGIN { system(": >harmed"); }'
is_done 'one of several' -wqn 'BEGIN { system("date"); } END { system(": >harmed"); }'
is_done 'a text by its name' -wqn 'inline string C = ": >harmed"; BEGIN { system(C); }'
echo 'BEGIN { system($$1); }' >one.d
is_done 'an argument of the script' -wqs one.d ': >harmed'
not_done 'another argument' -wqs one.d ': >elsewhere'
runs 'kill -0 1; : >harmed'
not_done 'a text that a format could print' -wqn 'BEGIN { system("kill -0 1%s", execname); }'
not_done 'a number is a number' -wqn 'BEGIN { system("kill -0 %d", pid); }'
not_done 'behind the end' -wqn 'BEGIN { system("kill -0 1"); }'
for conversion in d i u x B Y T f; do
	wants 'BEGIN { system("echo %s >harmed", "1; date"); }' 0 %s "%$conversion"
	not_done "no number: %$conversion" -wqn "BEGIN { system(\"echo %$conversion >harmed\", $([ $conversion = f ] && echo 1.5 || echo pid)); }"
done
wants 'BEGIN { system("kill -0 1d; : >harmed"); }' 0 1d %d
not_done 'a number that is missing' -wqn 'BEGIN { system("kill -0 %d; : >harmed", pid); }'
wants 'BEGIN { system("echo >harmed %#x %4d %-4d. %c", 1, -2, 3, 65); }'
is_done 'numbers' -wqn 'BEGIN { system("echo >harmed %#x %4d %-4d. %c", pid, pid, pid, pid); }'
wants 'BEGIN { system("test %s", "1 = 1; : >harmed"); }'
is_done 'a text may be anything' -wqn 'BEGIN { system("test %s", execname); }'
runs 'echo 100% >harmed'
is_done 'a percent sign' -wqn 'BEGIN { system("echo 100%% >harmed"); }'

# ---- files --------------------------------------------------------------------------------

wants 'BEGIN { freopen("harmed"); printf("x\n"); }'
not_done 'a file' -qn 'BEGIN { exit(0); } /* destructive freopen("harmed") */'
not_done 'a file, -w' -wqn 'BEGIN { exit(0); }'
not_done 'another file' -wqn 'BEGIN { freopen("elsewhere"); }'
is_done 'this file' -wqn 'BEGIN { freopen("harmed"); }'
not_done 'a file of any name' -wqn 'BEGIN { freopen("%s", "harmed"); }'
not_done 'a command of its name' -wqn 'BEGIN { system("harmed"); }'
wants 'BEGIN { freopen("%s", "harmed"); printf("x\n"); }'
is_done 'a file of any name, which the script permits' -wqn 'BEGIN { freopen("%s", execname); }'
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
# a_node_that_sends_no_stream_is_let_go: by its connection's name, and the other's results come.
start good
: >babbles
runs ': >harmed'
t -N good -qn 'BEGIN { @ = count(); } END { printf("the end\n"); }'
is 'no stream: exit' 1 $?
is 'no stream: whose' 1 "$(grep -cE 'what evil@[^ ]* has sent is not a stream of results$' e)"
is 'no stream: what it says it is called' 0 "$(grep -c honest e)"
has 'no stream: the other' '^the end$'
rm babbles

finish
