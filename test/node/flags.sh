#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The command's flags against a node, one by one: each does what it does without one. The last line
# is "N passed, N failed".

# shellcheck disable=SC2016 # $target is D's
# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 400 bare
epmd_begin
start flags
t() { erltrace -N flags "$@" >o 2>e; } # the exit code is the command's
run() { # arguments of erltrace; it is armed on return
	rm -f o e
	erltrace -N flags -n 'BEGIN { printf("armed\n"); }' "$@" >o 2>e &
	command=$!
	ok "armed: $*" holds o armed
}
calls() { at flags "[lists:seq(1, 3) || _ <- lists:seq(1, $1)], [lists:reverse([X, X]) || X <- lists:seq(1, $1)], done." >/dev/null; }

# ---- what is described --------------------------------------------------------------------

t -n 'erlang*:lists:seq/2:function-entry' -n 'tick-20ms { exit(0); }'
is '-n with an arity' "erltrace: description 'erlang*:lists:seq/2:function-entry' matched 1 probe" \
	"$(head -n 1 e)"
t -n 'erlang*:lists:seq/2:function-entry /arg0 != 0/ { } tick-20ms { exit(0); }'
is '-n with an arity and a predicate' 'matched 2 probes' "$(grep -o 'matched.*' e)"
ok 'the description is told whole' grep -q "description 'erlang\*:lists:seq/2:function-entry ' matched" e
t -f lists:seq/2 -n 'tick-20ms { exit(0); }'
is '-f: exit' 0 $?
ok '-f with an arity' grep -q "description 'lists:seq/2' matched [1-9]" e
t -f 'lists:seq/2 /1/ { @ = count(); }' -n 'tick-20ms { exit(0); }'
ok '-f with an arity and a predicate' grep -q "description 'lists:seq/2 ' matched [1-9]" e
t -m lists -n 'tick-20ms { exit(0); }'
ok '-m' grep -qE "description 'lists' matched [0-9]{3,} probes" e
t -P "erlang${pid[flags]}" -l
is '-P -l: exit' 0 $?
t -l -f lists:seq/2
ok '-l -f' grep -qE 'lists +seq/2 +function-entry' o
# By its process: the same.
for what in '' '-m lists' '-f lists:seq/2' '-n gc_major-end' "-P erlang${pid[flags]}" '-P profile'; do
	# shellcheck disable=SC2086 # two words, or none
	erltrace -p "${pid[flags]}" -l $what >by_process 2>&1
	is "-p -l $what: exit" 0 $?
	# shellcheck disable=SC2086
	t -l $what
	is "-p -l $what: as -N" "$(md5sum <o)" "$(md5sum <by_process)"
	if [[ $what != '-P profile' ]]; then has "-p -l $what: erlang probes" "^ *[0-9]+ +erlang${pid[flags]} "; fi
done
# A VM that is no node has what everybody has, and it is said why not more.
erl -noshell -eval 'io:format("up~n"), receive stop -> ok end.' >vm_out 2>&1 </dev/null &
vm=$!
ok 'a VM that is no node: up' holds vm_out up
erltrace -p $vm -l >o 2>e
is '-p -l of a VM that is no node: exit' 0 $?
has '-p -l of a VM that is no node' '^ *[0-9]+ +profile '
hasnt '-p -l of a VM that is no node: none of Erlang' '^ *[0-9]+ +erlang'
ok '-p -l of a VM that is no node: why' grep -qE "failed to find a node: .*$vm is none of the nodes" e
kill -9 $vm

t -l -n "erlang*:'lists':'seq'/2:function-entry,erlang*:lists:seq/3:function-entry"
is '-l of a list, with quotes' 3 "$(wc -l <o)"
id=$(awk '/function-entry/ { print $1; exit }' o)
t -i "$id" -n 'tick-10ms { exit(0); }'
is '-i: exit (numbers are those of a run)' 1 $?

# ---- -F -C -D -I -s -S -e -V -b -x --------------------------------------------------------

run -F -n 'erlang*:lists:seq:function-entry,erlang*:lists:seq:function-return { }'
calls 3
untrace
has '-F: header' '^CPU FUNCTION'
has '-F: entries' '^ +[0-9]+ +-> seq/2'
has '-F: returns' '^ +[0-9]+ +<- seq/2'
is '-F: as many of both' "$(grep -c -- '-> seq' o)" "$(grep -c -- '<- seq' o)"
mkdir inc
echo '#define TEXT "included"' >inc/text.h
printf '#include "text.h"\nBEGIN\n{\n\tprintf("%%s %%d\\n", TEXT, NUMBER);\n\texit(0);\n}\n' >cpp.d
t -C -Iinc -DNUMBER=42 -qs cpp.d
is '-C -I -D' 'included 42' "$(grep . o)"
t -C -Iinc -qs cpp.d
is '-C, an error: exit' 1 $?
ok '-C, an error: its line' grep -q 'failed to compile script cpp.d: line 4: ' e
echo 'BEGIN { trace(nosuch2); }' >inc/bad.h
printf '\n#include "bad.h"\n' >cpp2.d
t -C -Iinc -s cpp2.d
ok '-C, an error in an included file' grep -qE 'failed to compile script cpp2.d: ".*bad.h", line 1: ' e
t -C -s nosuch.d
ok '-C of no file' grep -q 'cannot open nosuch.d' e
t -s nosuch.d
is '-s of no file: exit' 1 $?
ok '-s of no file' grep -q 'failed to compile script nosuch.d: cannot open nosuch.d: No such file' e
echo 'BEGIN { printf("one "); x = 1; }' >one.d
echo 'BEGIN { printf("two %d\n", x); exit(0); }' >two.d
t -qs one.d -s two.d
is 'several scripts, one after the other' 'one two 1' "$(grep . o)"
t -s one.d -s two.d
ok 'both are told' grep -q "script 'two.d' matched 1 probe" e
t -qs - <two.d
is '-s -: an error, x is not known: exit' 1 $?
cat one.d two.d | t -qs -
is '-s -' 'one two 1' "$(grep . o)"
t -S -e -n 'BEGIN { x = 1; }'
is '-S -e: exit' 0 $?
ok '-S' grep -qE 'exit$' e
is '-e: nothing ran' '' "$(cat o)"
t -V
ok '-V' grep -qE '^erltrace [0-9]' o
t -b 1m -qn 'BEGIN { printf("b\n"); exit(0); }'
is '-b' b "$(grep . o)"
t -b 1 -qn 'BEGIN { printf("b\n"); exit(0); }'
is '-b, too little: raised' b "$(grep . o)"
t -b x -qn 'BEGIN { }'
is '-b of no size: exit' 1 $?
t -xstrsize=16 -qn 'BEGIN { s = "0123456789abcdefghi"; printf("%s\n", s); exit(0); }'
is '-x' 0123456789abcdef "$(grep . o)"
t -xnosuch -n BEGIN
is '-x of nothing: exit' 1 $?
t -xaggsortrev -qn 'BEGIN { @[1] = count(); @[2] = count(); exit(0); }'
is '-xaggsortrev' '2 1' "$(awk 'NF == 2 { printf "%s%s", s, $1; s = " " }' o)"
t -qn 'BEGIN { printf("%s\n", $$1); exit(0); }' 'an argument'
is 'arguments' 'an argument' "$(grep . o)"
DTRACE_OPT_QUIET=1 t -n 'BEGIN { printf("q\n"); exit(0); }'
is 'options of the environment are the command'\''s' '' "$(cat e)"

# ---- compile errors -----------------------------------------------------------------------

for d in 'BEGIN { trace(nosuch); }' 'BEGIN { x = ; }' 'BEGIN /1/' 'tick-1q { }' 'BEGIN { @a = count(); @a = sum(1); }'; do
	erltrace -n "$d" >/dev/null 2>here
	erltrace -N flags -n "$d" >/dev/null 2>there
	is "the same words: $d" "$(cat here)" "$(cat there)"
	is "the same caret: $d" "$(on_terminal "erltrace -n '$d'")" "$(on_terminal "erltrace -N flags -n '$d'")"
	printf '\n\n%s\n' "$d" >bad.d
	erltrace -xerrtags -s bad.d >/dev/null 2>here
	erltrace -N flags -xerrtags -s bad.d >/dev/null 2>there
	is "the same words in a file: $d" "$(cat here)" "$(cat there)"
done

# ---- destructive --------------------------------------------------------------------------

t -qn 'BEGIN { system("echo no"); exit(0); }'
is 'system() without -w: exit' 1 $?
ok 'system() without -w' grep -q 'allow them with -w' e
t -wqn 'BEGIN { printf("a\n"); system("echo $PPID; pwd"); printf("b\n"); exit(0); }'
is 'system() runs in the command' "a $(sed -n 2p o) $PWD b" "$(paste -sd' ' o | sed 's/ $//')"
ok 'not in the node' [ "$(sed -n 2p o)" != "${pid[flags]}" ]
rm -f file
t -wqn 'BEGIN { freopen("file"); printf("to a file\n"); system("echo me too"); freopen(""); printf("back\n"); exit(0); }'
is 'freopen()' 'to a file me too' "$(paste -sd' ' file)"
is 'freopen(""): back' back "$(grep . o)"
t -wqn 'BEGIN { freopen("no/such/folder"); exit(0); }'
ok 'freopen() of nothing' grep -q "couldn't freopen() \"no/such/folder\": No such file" e
t -wq -o trunc -n 'BEGIN { printf("gone\n"); ftruncate(); printf("kept\n"); exit(0); }'
is 'ftruncate()' kept "$(grep . trunc)"
for act in 'stop()' 'raise(9)' 'panic()' 'breakpoint()'; do
	t -wqn "BEGIN { $act; exit(0); }"
	is "$act: exit" 1 $?
	ok "$act is refused" grep -q "line 1: stop(), raise(), panic() and breakpoint() would stop or kill the whole node" e
done
is 'the node is alive' ready "$(at flags 'ready.')"

# ---- json ---------------------------------------------------------------------------------

run --json -n 'erlang*:lists:seq:function-entry { trace(arg2); @[copyinstr(arg1)] = quantize(arg2); @b["\001\"\\\377"] = avg(3); printf("%s\n", "\033[x\300"); } BEGIN { *(int *)0; }'
calls 5
untrace
is 'json: every line is valid' "$(wc -l <o)" "$(jq -c . <o | wc -l)"
ok 'json: probes' [ "$(jq -c 'select(.type == "probe")' <o | wc -l)" -ge 5 ]
is 'json: a distribution' true "$(jq -s 'any(.type == "aggregation" and .aggregation == "_" and .buckets[0].count > 0)' o)"
t --json -qn 'BEGIN { trace(1); exit(0); }'
is 'json: quiet has no probes' 0 "$(jq -c 'select(.type == "probe")' <o | wc -l)"
printf '#pragma D option quiet\nBEGIN { trace(1); exit(0); }\n' >quiet.d
t --json -s quiet.d
is 'json: a script turns quiet on' 0 "$(jq -c 'select(.type == "probe")' <o | wc -l)"
t --json -n 'BEGIN { trace(nosuch); }'
is 'json: errors' D_IDENT_UNDEF "$(jq -r .tag <o)"

# ---- manners ------------------------------------------------------------------------------

says() { # what, then arguments of erltrace; ends it when it has said so
	local what=$1
	shift
	rm -f o e
	erltrace -N flags "$@" >o 2>e &
	command=$!
	ok "it says $what" holds e "$what"
	untrace
}
says '^erltrace: returns are found' -v -n 'erlang*:lists:seq:function-return,erlang*:::process-spawn { }'
ok '-v: the node' grep -qE "^erltrace: node flags@.*: OTP [0-9]+, .*, process ${pid[flags]}$" e
ok '-v: what is armed' grep -qE '^erltrace: armed: call, return_to, procs, [0-9]+ functions?$' e
ok '-v: returns' grep -qE '^erltrace: returns are found by ' e
ok '-v: how often' grep -qE '^erltrace: probes fired [0-9]+ times?$' e
ok '-v: what it cost' grep -qE "^erltrace: it took [0-9]+[.][0-9] % of the schedulers' busy time$" e
says '^erltrace: armed: nothing' -v -n 'tick-20ms { }'
if [ "$(at flags 'erlang:function_exported(trace, session_create, 3).')" = false ]; then
	at flags 'T = spawn(fun() -> receive stop -> ok end end), erlang:trace(whereis(rex), true, [procs, {tracer, T}]), done.' >/dev/null
	t -qn 'erlang*:::process-spawn { } tick-20ms { exit(0); }'
	ok 'a process of another tracer is told, with -q too' grep -q '^erltrace: 1 process left out: traced by somebody else already' e
	at flags 'erlang:trace(whereis(rex), false, [all]), done.' >/dev/null
fi

# A reader that goes away ends the tracing.
timeout 60 erltrace -N flags -qn 'tick-1ms { printf("line\n"); }' 2>e | head -n 1 >o
is 'EPIPE: exit' 0 "${PIPESTATUS[0]}"
is 'EPIPE: nothing said' '' "$(cat e)"
is 'EPIPE: the agent is gone' '[]' "$(at flags '[P || P <- processes(), [{_, {proc_lib, _, _}}, {_, []}] <- [erlang:process_info(P, [initial_call, dictionary])]].')"

# Two signals at once are one: what timeout(1) sends, and what a terminal and a shell send together.
whole=0
for ((n = 0; n < 12; n++)); do
	trace flags -qn 'erlang*:lists:zip3/3:function-entry { @["calls"] = count(); } END { printf("ended\n"); }' || break
	at flags 'lists:zip3([], [], []).' >/dev/null
	kill -HUP "$command" # a shell ignores SIGINT for what it runs beside itself
	kill -TERM "$command" 2>/dev/null
	wait "$command" && [ "$(words <o)" = 'armed ended calls 1' ] && whole=$((whole + 1))
	command=
done
is 'two signals at once: all of the output' 12 $whole

# One that comes later leaves at once. (What is in o before it begins would be the last command's.)
rm -f o e
erltrace -N flags -wqn 'BEGIN { printf("armed\n"); } END { printf("ending\n"); system("sleep 15"); }' >o 2>e &
command=$!
ok 'second signal: armed' holds o armed
kill -TERM $command
ok 'second signal: in END' holds o ending
insist TERM $command
wait $command
is 'second signal: by it' 143 $?
for ((i = 0; i < 1200; i++)); do
	[ "$(at flags '[M || M <- erlang:loaded(), M =:= erltrace_agent].')" = '[]' ] && break
	sleep 0.025
done
is 'second signal: a child of system() does not hold the connection' '[]' \
	"$(at flags '[M || M <- erlang:loaded(), M =:= erltrace_agent].')"
command=

# A command that does not read any more.
rm -f o e
erltrace -N flags -xsilence=3s -qn 'BEGIN { printf("armed\n"); } erlang*:::process-spawn { @ = count(); }' >o 2>e &
command=$!
ok 'silent: armed' holds o armed
kill -STOP $command
for ((i = 0; i < 1200; i++)); do
	[ "$(at flags '[M || M <- erlang:loaded(), M =:= erltrace_agent].')" = '[]' ] && break
	sleep 0.05
done
is 'silent: the agent has gone' '[]' "$(at flags '[M || M <- erlang:loaded(), M =:= erltrace_agent].')"
kill -CONT $command
wait $command
is 'silent: exit' 1 $?
ok 'silent: in DTrace'\''s words' grep -q 'Abort due to systemic unresponsiveness' e
command=
mkfifo stuck
exec {stuck}<>stuck
erltrace -N flags -xsilence=3s -qn 'BEGIN { printf("armed\n"); } tick-1ms { printf("%200s\n", "x"); }' >stuck 2>e &
command=$!
read -r -t 60 line <&"$stuck"
is 'stuck: armed' armed "$line"
for ((i = 0; i < 1200; i++)); do
	[ "$(at flags '[M || M <- erlang:loaded(), M =:= erltrace_agent].')" = '[]' ] && break
	sleep 0.05
done
is 'stuck: the agent has gone' '[]' "$(at flags '[M || M <- erlang:loaded(), M =:= erltrace_agent].')"
kill -9 $command
wait $command 2>/dev/null
command=

finish
