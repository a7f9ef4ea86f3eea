#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The node's setting payload: off holds for the command and the API, whatever they or a script say.
# The last line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 200
echo '-record(r, {a}).' >r.hrl
start shy -erltrace payload off
at shy 'code:ensure_loaded(demo_exact).' >/dev/null
refused() { # name, tag, arguments of erltrace
	erltrace -N shy -xerrtags "${@:3}" >o 2>e
	is "$1: exit code" 1 $?
	cp e o
	has "$1" "$2"
}
refused 'a message' '\[D_PAYLOAD\]' -n 'erlang*:::message-send { trace(erlmsg); }'
refused 'an argument' '\[D_PAYLOAD\]' -n 'erlang*:demo_exact:leaf/1:function-entry { @[erlarg(0)] = count(); }'
refused 'a field of a record' '\[D_PAYLOAD\]' -I r.hrl -n 'erlang*:demo_exact:leaf/1:function-entry { @[erlfield("r.a", erlarg(0))] = count(); }'
refused 'by -x' 'payload is off here, and stays off: the node.s setting says so' -xpayload=on -n 'BEGIN { }'
refused 'unset' 'payload is off here, and stays off: the node.s setting says so' -xpayload=unset -n 'BEGIN { }'
printf '#pragma D option payload=on\nBEGIN { }\n' >on.d
refused 'by a script, with -w' 'payload is off here, and stays off' -w -s on.d
trace shy -qn 'erlang*:demo_exact:leaf/1:function-entry { @[args[1]] = count(); }'
at shy 'demo_exact:calls(10).' >/dev/null
untrace
has 'what counts is as ever' '^ *demo_exact:leaf/1 +10$'
refused 'the peer of a call' '\[D_PAYLOAD\]' -n 'erlang*:demo_exact:leaf/1:function-entry { trace(erlpeer); }'
at shy 'register(kept, spawn(fun() -> open_port({spawn, "cat - secret_word"}, []), receive stop -> ok end end)).' >/dev/null
# Until there was a round that had it.
timeout 60 erltrace -N shy -qn 'state:::port-100ms { @[args[0]->name] = count(); }
	state:::port-100ms /args[0]->name == "cat"/ { seen = 1; } tick-100ms /seen/ { exit(0); }' >o 2>e
has 'a port: its program' '^ *cat +[0-9]'
hasnt 'not its arguments' secret
# A shell reads the command: what follows the program may follow without a space, and a variable may come first.
commands='"cat;secret_word", "cat>secret_word", "cat<<<secret_word", "WORD=secret_word cat", "$(secret_word)", "cat\vsecret_word"'
round="[catch port_close(P) || P <- [catch open_port({spawn, C}, []) || C <- [$commands]], timer:sleep(60) =:= ok]"
at shy "spawn(fun() -> process_flag(trap_exit, true), (fun F() -> $round, F() end)() end), ok." >/dev/null
timeout 60 erltrace -N shy -qn 'state:::port-100ms { @[args[0]->name] = count(); }
	state:::port-100ms /args[0]->name == "?"/ { seen = 1; } tick-3s /seen/ { exit(0); }' >o 2>e
has 'a port whose command begins with no program' '^ *\? +[0-9]'
has 'one whose program is followed by a sign of the shell' '^ *cat +[0-9]'
hasnt 'and no word behind it' secret
at shy 'register('"'a name'"', spawn(fun() -> open_port({spawn, "cat"}, []), receive stop -> ok end end)), ok.' >/dev/null
timeout 60 erltrace -N shy -qn 'state:::port-100ms { @[args[0]->owner] = count(); } tick-1s { exit(0); }' >o 2>e
has 'its owner is whole' "^ *'a name' +[0-9]"
for probe in user_trace-n2 'user_trace-n*' 'user_trace-n[0-9]'; do
	for arg in 'args[6]' 'copyinstr(arg6)' arg2 'copyinstr(arg1)'; do
		refused "a user's probe by number: $arg of $probe" '\[D_PAYLOAD\]' -n "erlang*:::$probe { trace($arg); }"
	done
done
cleared shy
at shy "code:add_path(\"$ebin\")." >/dev/null
trace shy -qn 'erlang*:::user_trace-n2 { @ = count(); }'
at shy '[dtrace:pn(2, N, "secret_word") || N <- lists:seq(1, 9)].' >/dev/null
untrace
has 'they are counted' '^ *9$'
for f in mutex_owned mutex_owner mutex_type_adaptive rw_iswriter rw_read_held rw_write_held; do
	refused "a lock is memory: $f()" '\[D_PAYLOAD\]' -n "BEGIN { trace($f((void *)4096)); }"
done
# Where a name should be there may be anything.
cat >shows_name.erl <<'END'
-module(shows_name).
-export([sends/0, restarts/0, init/1, kid/0]).
sends() ->
    catch "secret_word" ! x,
    catch lists:duplicate(100000, secret_word) ! x,
    catch erlang:send_after(1, "secret_word", x),
    catch erlang:start_timer(1, {secret_word, "at"}, x),
    catch no_such_name ! x,
    catch {no_such_name, node()} ! x,
    erlang:send_after(1, no_such_name, x).
restarts() ->
    {ok, Sup} = supervisor:start_link(?MODULE, []),
    [exit(P, kill) || {_, P, _, _} <- supervisor:which_children(Sup)],
    [_, _] = supervisor:which_children(Sup).
init([]) -> {ok, {#{intensity => 9}, [#{id => Id, start => {?MODULE, kid, []}} || Id <- [{"secret_word"}, named_kid]]}}.
kid() -> {ok, spawn_link(timer, sleep, [infinity])}.
END
erlc -o "$demo_ebin" shows_name.erl || exit 1
names='erlang*:::message-send { @r[args[1]] = count(); @p[erlpeer, erlpeerproc] = count(); }
	erlang*:::timer-start { @t[args[1]] = count(); } erlang*:::supervisor-restart { @s[args[1]] = count(); }'
trace shy -qn "$names"
at shy 'shows_name:sends(), shows_name:restarts(), ok.' >/dev/null
untrace
hasnt 'contents where a name should be' secret
has 'they are counted, as no name' '^ *\? +[0-9]'
has 'names are shown' '^ *no_such_name +[0-9]'
has 'a child by its name' '^ *named_kid +1$'
start open
trace open -qn "$names"
at open 'shows_name:sends(), shows_name:restarts(), ok.' >/dev/null
untrace
has 'with payload: the receiver' '^ *"secret_word" +[0-9]'
has 'the child' '^ *\{"secret_word"\} +1$'
has 'a receiver of any size is cut, not walked' 'secret_word,secret_word.*\.\.\. +1$'
is 'the API: script' '<<"D_PAYLOAD">>' "$(at shy '{ok, H} = erltrace:open(), {error, {dtrace, Tag, _, _, _}} = erltrace:compile(H, "erlang*:::message-send { trace(erlmsg); }"), erltrace:close(H), Tag.')"
is 'the API: option' '<<"ET_OPTION">>' "$(at shy '{ok, H} = erltrace:open(), {error, {dtrace, Tag, _, _, _}} = erltrace:setopt(H, "payload", "on"), erltrace:close(H), Tag.')"
is 'in sys.config' '<<"D_PAYLOAD">>' "$(at shy 'application:load(erltrace), application:set_env(erltrace, payload, off), {ok, H} = erltrace:open(), {error, {dtrace, Tag, _, _, _}} = erltrace:compile(H, "erlang*:::process-exit { trace(args[1]); }"), erltrace:close(H), Tag.')"
finish
