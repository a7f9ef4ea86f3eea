#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The system monitor is given back when the command is killed; and what state:::node says of a node that
# does not read: what waits to be sent there, and that the connection is busy.
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 300

start sysmon +zdbbl 1024
held='case erlang:system_monitor() of undefined -> none; {P, O} -> {is_pid(P), O} end.'

trace sysmon -qn 'erlang*:::process-long_gc { @ = count(); }'
if [ "$(at sysmon 'list_to_integer(erlang:system_info(otp_release)) >= 28.')" = false ]; then
	is 'it is ours' '{true,[{long_gc,50}]}' "$(at sysmon "$held")"
fi
kill -9 "$command"
wait "$command" 2>/dev/null
command=''
becomes 'killed, it is given back' none sysmon "$held"
becomes 'and nothing of the command is left' true sysmon 'erlang:module_loaded(erltrace_sysmon) =:= false.'

# Another's stays, whatever happens to the command.
at sysmon 'P = spawn(fun() -> register(other, self()), receive stop -> ok end end), erlang:system_monitor(P, [{long_gc, 777}]), ok.' >/dev/null
trace sysmon -qn 'erlang*:::process-long_gc { @ = count(); } erlang*:lists:seq:function-entry { @ = count(); }'
kill -9 "$command"
wait "$command" 2>/dev/null
command=''
becomes 'the command has gone' true sysmon 'erlang:module_loaded(erltrace_sysmon) =:= false.'
is "another's stays" '{true,[{long_gc,777}]}' "$(at sysmon "$held")"

# ---- a node that does not read ------------------------------------------------------------

start deaf
at sysmon "$(printf 'pong = net_adm:ping(%s).' "'$(at deaf 'node().' | tr -d "'")'")" >/dev/null
name=$(at deaf 'node().' | tr -d "'")
ask() { # fields: those of the other node, in one round
	timeout 60 erltrace -N sysmon -qn "state:::node /args[0]->name == \"$name\"/ { printf(\"$1\n\", $2); } state:::round { exit(0); }" 2>&1 | grep -v '^$'
}
# They have just met: what they tell each other may wait for a moment.
for ((end = SECONDS + 60; SECONDS < end; )); do
	got=$(ask '%s %d %d' 'args[0]->type, args[0]->queue, args[0]->busy')
	[ "$got" = 'visible 0 0' ] && break
done
is 'at rest nothing waits' 'visible 0 0' "$got"
got=$(at sysmon "{_, Port} = lists:keyfind('$name', 1, erlang:system_info(dist_ctrl)), {ok, [{_, In}]} = inet:getstat(Port, [recv_oct]), In > 0.")
is 'it has received something' true "$got"
kill -STOP "${pid[deaf]}"
at sysmon "[spawn(fun() -> register(S, self()), D = binary:copy(<<1>>, 1000000), (fun F() -> {nobody, '$name'} ! D, F() end)() end) || S <- [sender1, sender2]], ok." >/dev/null
# They are suspended now and then before the sockets' buffers are full as well: asked until it is so.
becomes 'those that send are suspended' true sysmon 'lists:all(fun(S) -> process_info(whereis(S), status) =:= {status, suspended} end, [sender1, sender2]).'
for ((end = SECONDS + 60; SECONDS < end; )); do
	got=$(ask '%d %d' 'args[0]->busy, args[0]->queue > 0')
	[ "$got" = '1 1' ] && break
done
is 'busy, and something waits' '1 1' "$got"
kill -CONT "${pid[deaf]}"
finish
