#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What scripts of the library answered wrongly, or in a way that read as "all is well". scripts.sh has the
# exact numbers of each; here is what they say about nodes in trouble.

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/nodelib.sh"
nodes_begin 400
start answers_a -pa "$ebin"
node=answers_a
lib=$root/scripts

# The script with its arguments, one expression at the node while it runs; sets $value.
run() { # script, expression, arguments of the script
	local script=$1 expression=$2
	shift 2
	trace $node -qs "$lib/$script.d" "$@" || return 1
	value=$(at $node "$(tr "\n\t" "  " <<<"$expression")")
	untrace
	is "$script: exit" 0 "$status"
	is "$script: nothing on stderr" '' "$(grep -v 'never fires' e)"
}

# The script, until it has printed such a line.
look() { # script, line, arguments of the script
	local script=$1 line=$2
	shift 2
	trace $node -qs "$lib/$script.d" "$@" || return 1
	ok "$script: $line" holds o "$line"
	untrace
}

# ---- calls --------------------------------------------------------------------------------

# gencall_leaves_failed_calls_out: seven replies, five timeouts, three that find nobody, one whose server
# ends, one whose caller is killed, two that are open at the end
run gencall '{ok, S} = gen_server:start({local, demo_server}, demo_exact, [], []), {ok, D} = gen_server:start({local, demo_dies}, demo_exact, [], []),
	In = fun(F) -> {P, M} = spawn_monitor(F), {P, fun() -> receive {_, M, _, _, R} -> R end end} end,
	Waits = fun W(P) -> case process_info(P, [current_function, status]) of [{_, {gen, do_call, 4}}, {_, waiting}] -> ok; _ -> erlang:yield(), W(P) end end,
	{_, E1} = In(fun() -> [gen_server:call(S, {nap, 0}) || _ <- lists:seq(1, 7)] end), E1(),
	{P2, E2} = In(fun() -> gen_server:call(D, {nap, 60000}, infinity) end), Waits(P2), exit(D, kill), E2(),
	{P3, _} = In(fun() -> gen_server:call(S, {nap, 60000}, infinity) end), Waits(P3),
	{_, E4} = In(fun() -> [catch gen_server:call(S, x, 20) || _ <- lists:seq(1, 5)] end), E4(),
	{_, E5} = In(fun() -> [catch gen_server:call(demo_nobody, x) || _ <- lists:seq(1, 3)] end), E5(),
	{P6, E6} = In(fun() -> gen_server:call(S, x, infinity) end), Waits(P6), exit(P6, kill), E6(),
	{P7, _} = In(fun() -> gen_server:call(S, x, infinity) end), Waits(P7), ok.' 1000
has 'gencall: timeouts, exits and what is open' '^demo_server +15 +5 +1 +2 +[0-9]+ +[0-9]{5,} +[0-9]{5,}$'
has 'gencall: a server that ends' '^demo_dies +1 +0 +1 +0 +0 +0 +0$'
is 'gencall: each timeout, with how long it took' 5 "$(grep -cE '^ +[0-9]{5,} .* demo_server +timeout +x$' o)"
has 'gencall: none of that name' '^(demo_nobody|[^ ]+) +3 +0 +3 +0 '
at $node '[exit(whereis(N), kill) || N <- [demo_server], is_pid(whereis(N))], ok.' >/dev/null

# waits_adds_up_calls_of_one_server: it calls again and again, each for 40 ms; another one is in one call
at $node 'spawn(fun() -> register(demo_mute, self()), receive stop -> ok end end), spawn(fun() -> register(demo_again, self()), (fun F() -> catch gen_server:call(demo_mute, x, 40), F() end)() end), spawn(fun() -> register(demo_once, self()), gen_server:call(demo_mute, x, infinity) end), ok.' >/dev/null
look waits '^ +1 +[3-9][0-9]{3} +[0-9]+ demo_once -> demo_mute '
ok 'waits: the other one was seen as well' [ "$(grep -c ' demo_again -> demo_mute ' o)" -ge 2 ]
is 'waits: how long its calls take, not since when it makes them' 0 \
	"$(awk '/ demo_again -> demo_mute / && $2 >= 1000' o | wc -l)"
at $node '[exit(whereis(N), kill) || N <- [demo_mute, demo_again, demo_once]], ok.' >/dev/null

# ---- slow -----------------------------------------------------------------------------------

# slow_times_bodies_of_comprehensions: only functions that somebody wrote, but for those that are asked for
run slow 'demo_exact:timers(3).' module=demo_exact over=1us
has 'slow: a function that was written' ' demo_exact:in_process/1 '
hasnt 'slow: functions of the compiler' "demo_exact:'?-"
run slow 'demo_exact:timers(3).' module=demo_exact over=1us 'function=*'
has 'slow: those of the compiler, if asked for' "demo_exact:'?-"
run slow 'demo_exact:naps(1, 3, 20).' module=demo_exact over=2ms
has 'slow: how many calls were traced inside' '^ +[0-9]+ +[0-9]+ +21 demo_exact:worker/1 +demo_exact:deep/2 +\[20,3\]$'

finish
