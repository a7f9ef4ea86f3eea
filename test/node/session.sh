#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The sessions of the erltrace of 2013, inside a node: its README's, and the scripts of the page that came with
# it, heat maps and lists, read as that page read them. By root, by a user with the helper's capabilities, and
# by everybody else, whose node says what is missing. The last line is "N passed, N failed".

# shellcheck source=test/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
export LC_ALL=C
cd "$tmp" || exit 1
trap 'cd /; rm -rf "$tmp"' EXIT
skip() { echo "skipped: $1"; finish; }
[ "$(id -u)" = 0 ] || skip 'only root can become others, and give capabilities'
command -v erl >/dev/null || skip 'no Erlang here'
[ -x "$root/priv/erltrace-kernel" ] || skip 'built without the kernel engine'
command -v setcap >/dev/null || skip 'no setcap here'
chmod 755 "$tmp"
mkdir tree home && chmod 1777 home
head -c 2048000 /dev/zero >home/file
cp -r "$root/ebin" "$root/priv" tree/ && chmod -R a+rX tree
helper=$tmp/tree/priv/erltrace-kernel
cp "$(command -v dd)" session_dd
uid=54322
setpriv --reuid=$uid --regid=$uid --clear-groups test -x "$helper" ||
	skip 'another user may not read the temporary folder'

cat >session.erl <<'ERL'
-module(session).
-export([main/0, work/1]).

main() ->
    put(dd, os:getenv("DD")),
    _ = [show(Name, catch Session()) || {Name, Session} <- sessions()],
    io:format("done.~n").

show(Name, Result) -> io:format("~s: ~0p~n", [Name, Result]).

work(X) -> X + 1.

%% In a process of its own, which is new to the script: a thousand calls, twenty times off the scheduler.
calls() ->
    {P, M} = spawn_monitor(fun() -> [begin [?MODULE:work(I) || I <- lists:seq(1, 50)], timer:sleep(1) end ||
                                        _ <- lists:seq(1, 20)] end),
    receive {'DOWN', M, process, P, normal} -> ok end,
    P.

%% A thousand reads, and as many writes.
copy() ->
    Copy = os:getenv("HOME") ++ "/copy",
    "" = os:cmd([get(dd), " if=", os:getenv("HOME"), "/file of=", Copy, " status=none bs=2048"]),
    ok = file:delete(Copy).

sessions() ->
    [{readme, fun readme/0}, {calls_of_2013, fun calls_of_2013/0}] ++
        [{Name, fun() -> page(Script, Do, See) end} || {Name, Script, Do, See} <- scripts()].

%% As the README has it.
readme() ->
    {ok, H} = erltrace:open(),
    case begun(H, "dtrace:::BEGIN { trace(\"Hello World\"); } syscall:::entry { @num[execname] = count(); }") of
        ok ->
            copy(),
            {ok, [{probe, {"dtrace", [], [], "BEGIN"}, "Hello World"}]} = erltrace:consume(H),
            {ok, Counts} = erltrace:walk(H),
            true = lists:all(fun({count, [[_ | _]], N}) -> N > 0 end, Counts),
            [N] = [N || {count, ["session_dd"], N} <- Counts],
            ok = erltrace:stop(H),
            ok = erltrace:close(H),
            {ok, N >= 2000};
        Error ->
            refused(Error, H)
    end.

%% What each of its calls returns, in the order in which it can be made.
calls_of_2013() ->
    {ok, H} = erltrace:open(),
    {error, no_prog} = erltrace:go(H),
    {error, no_prog} = erltrace:walk(H),
    {error, no_prog} = erltrace:consume(H),
    ok = erltrace:setopt(H, "bufsize", "1m"),
    {error, {dtrace, <<"D_SYNTAX">>, 1, _, _}} = erltrace:compile(H, "dtrace:::BEGIN {"),
    {error, no_prog} = erltrace:go(H),
    case begun(H, "syscall::write:entry /execname == \"session_dd\"/ { @ = count(); trace(arg2); }") of
        ok ->
            ok = erltrace:walk(H),
            ok = erltrace:consume(H),
            copy(),
            {ok, [{count, [], 1000}]} = erltrace:walk(H),
            {ok, Items} = erltrace:consume(H),
            1000 = length([I || {probe, {"syscall", "vmlinux", "write", "entry"}, 2048} = I <- Items]),
            ok = erltrace:stop(H),
            {error, stopped} = erltrace:consume(H),
            ok = erltrace:close(H),
            {ok, H1} = erltrace:script("syscall::read:entry { @[execname] = count(); }"),
            ok = erltrace:close(H1);
        Error ->
            refused(Error, H)
    end.

begun(H, Script) ->
    case erltrace:compile(H, Script) of
        ok -> erltrace:go(H);
        Error -> Error
    end.

%% The page: it walks every second, and makes lists or maps of what comes.
page(Script, Do, See) ->
    {ok, H} = erltrace:open(),
    case begun(H, Script) of
        ok ->
            Done = Do(),
            {ok, R} = erltrace:walk(H),
            Seen = See(R, Done),
            ok = erltrace:stop(H),
            ok = erltrace:close(H),
            Seen;
        Error ->
            refused(Error, H)
    end.

refused(Error, H) ->
    ok = erltrace:close(H),
    io:format("~ts~n", [erltrace:format_error(Error)]),
    {error, {dtrace, Tag, _, _, _}} = Error,
    {refused, Tag}.

%% Its ten scripts. What each shows of what was done: its own is counted.
scripts() ->
    Fun = "session:work/1",
    [{functions, "erlang*:::global-function-entry { @[copyinstr(arg1)] = count(); }",
      fun calls/0, fun(R, _) -> list([V || {count, [F], V} <- R, F =:= Fun]) end},
     {functions_by_process, "erlang*:::global-function-entry { @[copyinstr(arg1), copyinstr(arg0)] = count(); }",
      fun calls/0, fun(R, P) -> list([V || {count, [F, Pid], V} <- R, F =:= Fun, Pid =:= pid_to_list(P)]) end},
     {time_of_functions, [function_times("copyinstr(arg1)", "sum(")],
      fun calls/0, fun(R, _) -> [V] = [V || {sum, [F], V} <- R, F =:= Fun], {time, V >= 0} end},
     {time_of_functions_by_process, [function_times("copyinstr(arg1), copyinstr(arg0)", "sum(")],
      fun calls/0, fun(R, P) ->
                           [V] = [V || {sum, [F, Pid], V} <- R, F =:= Fun, Pid =:= pid_to_list(P)],
                           {time, V >= 0}
                   end},
     {map_of_functions, [function_times("copyinstr(arg1)", "lquantize(")],
      fun calls/0, fun(R, _) -> map(R, Fun) end},
     {map_of_processes, "erlang*:::process-scheduled { self->on[copyinstr(arg0)] = vtimestamp; }\n"
                        "erlang*:::process-unscheduled /self->on[copyinstr(arg0)]/ {\n"
                        "  @time[copyinstr(arg0)] = lquantize(vtimestamp - self->on[copyinstr(arg0)], 0, 63, 2);\n"
                        "  self->on[copyinstr(arg0)] = 0; }",
      fun calls/0, fun(R, P) -> map(R, pid_to_list(P)) end},
     {map_of_system_calls, "syscall:::entry { self->at[probefunc] = vtimestamp; }\n"
                           "syscall:::return /self->at[probefunc]/ {\n"
                           "  @time[probefunc] = lquantize((vtimestamp - self->at[probefunc]) / 1000, 0, 63, 2);\n"
                           "  self->at[probefunc] = 0; }",
      fun copy/0, fun(R, _) -> {map, N} = map(R, "write"), {map, N >= 1000} end},
     {map_of_samples, "profile-997 { @[execname] = lquantize((timestamp % 1000) / 15, 0, 63, 2); }",
      fun() -> lists:sort([rand:uniform() || _ <- lists:seq(1, 1000000)]), ok end,
      fun(R, _) -> {map, lists:sum([V || {lquantize, [[_ | _]], Vs} <- R, {_, V} <- Vs]) > 10} end},
     {map_of_reads, "fsinfo:::read { @[args[0]->fi_mount] = lquantize(arg1 / 1024, 0, 63, 2); }",
      fun copy/0, fun sizes/2},
     {map_of_writes, "fsinfo:::write { @[args[0]->fi_mount] = lquantize(arg1 / 1024, 0, 63, 2); }",
      fun copy/0, fun sizes/2}].

function_times(Key, Function) ->
    ["erlang*:::global-function-entry { self->at[", Key, "] = vtimestamp; }\n"
     "erlang*:::function-return /self->at[", Key, "]/ { @time[", Key, "] = ", Function,
     "(vtimestamp - self->at[", Key, "]) / 1000",
     case Function of "sum(" -> ""; _ -> ", 0, 63, 2" end, "); }"].

list(Counts) -> {list, Counts}.

%% The article's own way of making JSON of it: how many there are of one name.
map(R, Name) ->
    JSON = [{list_to_binary(Call), [[[S, E], V] || {{S, E}, V} <- Vs]} || {lquantize, [Call], Vs} <- R],
    {_, Buckets} = lists:keyfind(list_to_binary(Name), 1, JSON),
    {map, lists:sum([V || [[_, _], V] <- Buckets])}.

%% Of some folder that is mounted: of 2 KB each.
sizes(R, _) ->
    {map, lists:sum([V || {lquantize, [[_ | _]], Vs} <- R, {{2, 3}, V} <- Vs]) >= 1000}.
ERL
erlc session.erl || exit 1

session() { # name of the user, the command's beginning
	timeout 300 env DD="$tmp/session_dd" HOME="$tmp/home" "${@:2}" \
		erl -noshell -pa "$tmp/tree/ebin" "$tmp" -s session main -s init stop >o 2>&1
	cp o "o.$1"
}
fsinfo=$(erltrace -l -n 'fsinfo:::read' >/dev/null 2>&1 && echo yes)
all() { # name of the user: whoever may, sees this
	has "$1: the README" '^readme: \{ok,true\}$'
	has "$1: what the calls return" '^calls_of_2013: ok$'
	has "$1: functions" '^functions: \{list,\[1000\]\}$'
	has "$1: functions by process" '^functions_by_process: \{list,\[1000\]\}$'
	has "$1: their time" '^time_of_functions: \{time,true\}$'
	has "$1: their time by process" '^time_of_functions_by_process: \{time,true\}$'
	has "$1: their heat map" '^map_of_functions: \{map,1000\}$'
	has "$1: heat map of processes" '^map_of_processes: \{map,(19|2[0-9])\}$' # its first time begins at 0
	has "$1: heat map of system calls" '^map_of_system_calls: \{map,true\}$'
	has "$1: heat map of samples" '^map_of_samples: \{map,true\}$'
	has "$1: to its end" '^done\.$'
}
session root
grep -q '^readme: {ok' o || skip "no probes of the kernel here: $(grep -m 1 ET_ o)"
all root
if [ -n "$fsinfo" ]; then
	has 'root: heat map of reads' '^map_of_reads: \{map,true\}$'
	has 'root: heat map of writes' '^map_of_writes: \{map,true\}$'
else
	echo 'info: there is no provider fsinfo: two of the ten scripts were left out'
fi

# Without the capabilities: what runs in the node does, and the rest says what is missing.
as=(setpriv "--reuid=$uid" "--regid=$uid" --clear-groups)
session nobody "${as[@]}"
for s in readme calls_of_2013 map_of_system_calls; do
	has "without privilege: $s" "^$s: \{refused,<<\"ET_PERMISSION\">>\}$"
done
has 'without privilege: what runs in the node' '^functions: \{list,\[1000\]\}$'
has 'without privilege: its heat map' '^map_of_functions: \{map,1000\}$'
like 'says what is missing, and the one command that grants it' \
	"need root, or a helper with the capabilities cap_bpf,cap_perfmon: sudo setcap cap_bpf,cap_perfmon=ep $helper" \
	"$(grep -m 1 ET_PERMISSION o)"

setcap cap_bpf,cap_perfmon=ep "$helper" || skip 'capabilities cannot be set here'
session user "${as[@]}"
all 'with the capabilities'
if [ -n "$fsinfo" ]; then
	has 'with the capabilities: reads' '^map_of_reads: (\{map,true\}|\{refused,<<"ET_PERMISSION">>\})$'
	has 'with the capabilities: writes' '^map_of_writes: (\{map,true\}|\{refused,<<"ET_PERMISSION">>\})$'
fi

# A group may run it, and others not.
chgrp 1 "$helper" && chmod 750 "$helper" && setcap cap_bpf,cap_perfmon=ep "$helper"
session others "${as[@]}"
has 'not of the group: refused' '^readme: \{refused,<<"ET_PERMISSION">>\}$'
like 'says so' "the user of this node may not run .*/priv/erltrace-kernel" "$(grep -m 1 ET_PERMISSION o)"
session member setpriv "--reuid=$uid" "--regid=$uid" --groups 1
all 'of the group'
is 'nothing is left' '' "$(pgrep -x erltrace-kernel -u $uid)"
finish
