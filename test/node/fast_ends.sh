#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Calls that go the fast way, of many functions under load, end when nobody is there any more for whom
# they are taken: the command is killed, the owner of a handle is, the network is cut. The breakpoints
# are off and the VM's own word is back then. A command that is suspended is still there. The last line
# is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
# shellcheck source=test/lib/cable.sh
. "$(dirname "$0")/../lib/cable.sh"
nodes_begin 400 bare

modules='[lists, maps, string, dict, gb_trees, ordsets, queue, sets, proplists]'
all='erlang*:lists::function-entry, erlang*:lists::function-return, erlang*:maps::function-entry, erlang*:string::function-entry, erlang*:string::function-return, erlang*:dict::function-entry, erlang*:gb_trees::function-entry, erlang*:ordsets::function-entry, erlang*:queue::function-entry, erlang*:sets::function-entry, erlang*:proplists::function-entry { @[erlpid] = count(); }'
script="BEGIN { printf(\"armed\\n\"); } $all"
load="[{module, M} = code:ensure_loaded(M) || M <- [erltrace_nif | $modules]], [register(N, spawn(fun L() -> lists:sort(lists:map(fun(X) -> X rem 7 end, lists:seq(1, 50))), string:lowercase(\"ABC\"), maps:from_list([{1, 2}]), gb_trees:insert(1, 2, gb_trees:empty()), L() end)) || N <- [load1, load2]], ok."
calm='[exit(whereis(N), kill) || N <- [load1, load2]], ok.'
# Hooks in, word of entries ours, somebody in charge; the breakpoints.
state="{lists:sublist(erltrace_nif:find(fast, state), 3), case erlang:function_exported(trace, session_info, 1) of true -> length(apply(trace, session_info, [all]) -- [{legacy, default}]); false -> length([F || M <- $modules, {F, A} <- erlang:get_module_info(M, functions), erlang:trace_info({M, F, A}, call_count) =/= {call_count, false}]) end}"
off='{[1,0,0],0}'
# Sees when the word is back, and when all of it is so, in ms, and says it to who asks.
watch="register(watch, spawn_opt(fun() -> W = fun W(Fun) -> case Fun() of true -> erlang:system_time(millisecond); false -> receive after 1 -> W(Fun) end end end, T1 = W(fun() -> lists:sublist(erltrace_nif:find(fast, state), 3) =:= [1, 0, 0] end), T2 = W(fun() -> $state =:= $off end), receive {ask, P} -> P ! {seen, {T1, T2}} end end, [{priority, max}])), ok."

is_on() { # name, node
	like "$1: armed, the word is ours" '^\{\[1,1,1\],[1-9][0-9]*\}$' "$(at "$2" "$state.")"
	at "$2" "$watch" >/dev/null
}

# The time it takes is told to whoever promises it (make promises); here it need only happen.
is_off() { # name, node, since when, in ms
	local seen
	seen=$(at "$2" "watch ! {ask, self()}, receive {seen, {T1, T2}} -> {T1 - $3, T2 - $3} after 40000 -> never end.")
	is "$1: everything is off" "$off" "$(at "$2" "$state.")"
	[[ $seen =~ ^\{(.+),(.+)\}$ ]] &&
		echo "promise 9: $1, $functions functions by the fast way: the word is back after ${BASH_REMATCH[1]} ms, all off after ${BASH_REMATCH[2]} ms, bound 1000"
}

begin() { # command...: until it is armed
	rm -f o e
	"$@" -x calls=fast -x watchdog=0 -qvn "$script" >o 2>e &
	command=$!
	ok 'armed' holds o armed
	functions=$(sed -n 's/^erltrace: calls: fast, \([0-9]*\) function.*/\1/p' e)
	grep -vE '^erltrace: (armed|calls|returns)' e
}

epmd_begin
start fast_a -pa "$ebin"
why=$(at fast_a 'erltrace_nif:module_info(), case erltrace_find:known(fast) of ok -> ok; {refused, W} -> binary_to_list(W) end.')
if [ "$why" != ok ]; then
	echo "info: not tested: no fast way here: $why"
	finish
fi

# ---- the command is killed ------------------------------------------------------------------

at fast_a "$load" >/dev/null
begin erltrace -N fast_a
is_on 'killed' fast_a
began=$(date +%s%3N)
kill -9 "$command"
wait "$command" 2>/dev/null
command=''
is_off 'the command killed -9' fast_a "$began"

# ---- the owner dies -------------------------------------------------------------------------

at fast_a "register(owner, spawn(fun() -> {ok, H} = erltrace:open(), [ok = erltrace:setopt(H, K, V) || {K, V} <- [{\"calls\", \"fast\"}, {\"watchdog\", \"0\"}]], ok = erltrace:compile(H, \"$all\"), ok = erltrace:go(H), receive {ask, P} -> P ! armed end, receive never -> ok end end)), owner ! {ask, self()}, receive armed -> ok end." >/dev/null
is_on 'the owner' fast_a
is_off 'the owner killed' fast_a "$(at fast_a 'T = erlang:system_time(millisecond), exit(whereis(owner), kill), T.')"

# ---- the command is suspended ---------------------------------------------------------------

# Its dictionary is hidden, as the process is.
silent='[N > 1500 || P <- processes(), process_info(P, initial_call) =:= {initial_call, {proc_lib, init_p, 5}}, process_info(P, dictionary) =:= {dictionary, []}, {status, _, _, [_, _, _, _, Misc]} <- [catch sys:get_status(P, 1000)], {data, [{"State", #{silent_ms := N}}]} <- Misc].'
begin erltrace -N fast_a
kill -STOP "$command"
becomes 'suspended: its erltrace_conn has not heard of it' '[true]' fast_a "$silent"
is_on 'suspended, but not cut' fast_a
kill -CONT "$command"
untrace
is 'suspended: it goes on: exit' 0 "$status"
is_off 'suspended and ended' fast_a "$(date +%s%3N)" >off # not in a pipe, where its check would not be counted
grep -v '^promise' off
at fast_a "$calm" >/dev/null

# ---- the network is cut ---------------------------------------------------------------------

cut_off() { # a node beyond, traced from here, is cut off
	begin nsenter -t "$here" -n "$(command -v erltrace)" -N "fast_b@$beyond"
	is_on 'cut' fast_b
	cable_cut
	is_off 'the network cut' fast_b "$(date +%s%3N)"
}

if cable_begin; then
	start_beyond fast_b -pa "$ebin"
	at fast_b "$load" >/dev/null
	cut_off
	wait "$command"
	is 'cut: the command ends: exit' 1 $?
	ok 'cut: it says why' grep -q "the node fast_b@$beyond has gone away" e
	cable_mend
	cut_off
	cable_mend
	wait "$command"
	is 'cut for a moment: the command ends: exit' 1 $?
	ok 'cut for a moment: it says why' grep -qE 'the network was cut for a moment|has gone away' e
	command=''
else
	echo "info: not tested: a network that is cut: $cable_why"
fi
finish
