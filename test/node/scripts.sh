#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Every script of scripts/, on exact workloads (demo/demo_exact.erl): the numbers it prints are the
# numbers that happened. A script without a test here fails the test.

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/nodelib.sh"
nodes_begin 700
start scripts_a -pa "$ebin"
start scripts_b
host=$(at scripts_b 'node().')
host=${host//\'/}
# One scheduler: who sends is sure that the receiver does not run. With more of them it may be told
# that a process waits while that runs to answer the question, and what it sends then wakes nobody.
start scripts_one -pa "$ebin" +S 1
lib=$root/scripts
node=scripts_a
declare -A done_

# The script with its arguments, one expression at the node while it runs; sets $value.
run() { # script, expression, arguments of the script
	local script=$1 expression=$2
	shift 2
	done_[$script]=1
	trace $node -qs "$lib/$script.d" "$@" || return 1
	value=$(at $node "$expression")
	untrace
	is "$script: exit" 0 "$status"
	is "$script: nothing on stderr" '' "$(grep -v 'never fires' e)"
}

# A line of o, with its spaces squeezed.
row() { # name, the row
	local line
	while read -r line; do
		[ "$(tr -s ' ' <<<"$line")" = "$2" ] && passed=$((passed + 1)) && return
	done <o
	failed=$((failed + 1))
	printf 'FAILED %s: no row "%s"\n' "$1" "$2"
	head -n 60 o e | sed 's/^/    /'
}

# The script, until it has printed such a line.
look() { # script, expression, arguments of the script
	local script=$1 expression=$2 i
	shift 2
	done_[$script]=1
	trace $node -qs "$lib/$script.d" "$@" || return 1
	for ((i = 0; i < 2400; i++)); do
		grep -qE "$expression" o && break
		sleep 0.025
	done
	untrace
	is "$script: exit" 0 "$status"
	is "$script: nothing on stderr" '' "$(cat e)"
	has "$script: $expression" "$expression"
}

# So many writes by a process called writer.
writes() { # how many
	echo "S = self(), spawn(fun() -> register(writer, self()), {ok, F} = file:open(\"x\", [write, raw]), [demo_exact:write(F, <<1>>) || _ <- lists:seq(1, $1)], unregister(writer), S ! done end), receive done -> ok end."
}

# Ends processes; their names are free again when this returns.
ends() { # names, with commas between them
	at $node "[begin M = monitor(process, N), exit(whereis(N), kill), receive {_, M, _, _, _} -> ok end end || N <- [$1]], ok." \
		>/dev/null
}

# The counts of a distribution, summed up.
sum() { # its title
	awk -v title="$1" '/Distribution/ { next }
		/^ *[a-z][a-z ]*$/ { on = $0 ~ "^ *" title " *$"; next }
		on && / \|/ { n += $NF } END { print n + 0 }' o
}

# ---- processes ----------------------------------------------------------------------------

run births '{demo_exact:spawns(100), demo_exact:exits(7, {bad, thing})}.'
row 'births: what' '107 demo_exact:child/1'
row 'births: why' '7 {bad,thing}'
row 'births: a normal end' '100 normal'
run births '[begin {_, M} = proc_lib:spawn_opt(lists, seq, [1, 2], [monitor]), receive {_, M, _, _, _} -> ok end end || _ <- [1, 2, 3]], ok.'
row 'births: through proc_lib' '3 lists:seq'

run spawns 'demo_exact:exits(25, {bad, thing}).'
is 'spawns: born' 25 "$(grep -c ' + .*demo_exact:child/1' o)"
is 'spawns: died' 25 "$(grep -c ' - .*{bad,thing} *[0-9]*$' o)"
run spawns '{demo_exact:spawns(5), demo_exact:calls(1)}.' 'demo_exact:child/1'
is 'spawns: one function' 10 "$(grep -c '^ *[0-9]* [-+] ' o)"

run crashes '{demo_exact:exits(5, normal), demo_exact:exits(5, shutdown), demo_exact:exits(5, {shutdown, x}), demo_exact:exits(3, {bad, thing}), demo_exact:exits(2, {bad, {other}}), demo_exact:exits(4, {{{badkey, k}, [{m, f, 1, []}]}, {gen_server, call, [x]}}), demo_exact:exits(6, {#{'"'__struct__'"' => '"'Elixir.My.Error'"', message => <<"no">>}, [{m, f, 1, []}]}), demo_exact:exits(1, {{nocatch, up}, [{m, f, 1, []}]}), demo_exact:exits(7, killed)}.'
row 'crashes: the first of a kind, whole' 'demo_exact:child/1 exit bad {bad,thing}'
hasnt 'crashes: the first of a kind only' 'exit +bad +[{]bad,[{]other'
row 'crashes: how many of a kind' '5 demo_exact:child/1 exit bad'
row 'crashes: of one who called another' '4 demo_exact:child/1 exit badkey'
row 'crashes: an exception of Elixir' "6 demo_exact:child/1 error 'Elixir.My.Error' m:f/1"
row 'crashes: a throw that nobody caught' '1 demo_exact:child/1 throw nocatch m:f/1'
row 'crashes: an atom' '7 demo_exact:child/1 exit killed'
row 'crashes: the last reason' 'last: demo_exact:child/1: killed'
hasnt 'crashes: normal ends' 'normal|shutdown'
run crashes '{demo_exact:exits(5, {bad, thing}), demo_exact:sends(1, 1)}.' 0 other:name/1
hasnt 'crashes: of one process' '{bad,thing}'
run crashes '[begin {P, M} = spawn_monitor(demo_exact, F, As), receive {_, M, _, P, _} -> ok end end || {F, As} <- [{leaf, [a, b]}, {nap, [a]}, {round, [a]}]].'
row 'crashes: a call of what there is not has no line' '1 demo_exact:leaf/2 error undef demo_exact:leaf/2'
row 'crashes: where' "1 demo_exact:nap/1 error timeout_value demo_exact:nap/1 line $(sed -n '/^nap(Ms) ->/=' "$root/demo/demo_exact.erl")"
row 'crashes: not in the BIF that fails, but where it is called' "1 demo_exact:round/1 error badarith demo_exact:round/1 line $(sed -n '/^round(N) ->/=' "$root/demo/demo_exact.erl")"
has 'crashes: the whole reason is below' '^	.timeout_value,\[.demo_exact,nap,1,'

run spawners 'demo_exact:spawns(12).'
has 'spawners: a plain one' '^ +12 [^ ]+ +demo_exact:child/1$'
run spawners 'P = self(), register(maker, P), [begin {_, M} = proc_lib:spawn_opt(lists, seq, [1, 2], [monitor]), receive {_, M, _, _, _} -> ok end end || _ <- [1, 2, 3]], {_, M2} = proc_lib:spawn_opt(fun() -> ok end, [monitor]), receive {_, M2, _, _, _} -> ok end, unregister(maker), ok.'
has 'spawners: through proc_lib' '^ +3 maker +lists:seq$'
has 'spawners: a fun through proc_lib' '^ +1 maker +#Fun<'

node=scripts_one
run sched 'demo_exact:wakes(50).'
is 'sched: times' 51 "$(awk '$1 == "demo_exact:sink/1" { print $2 }' o)" # the first is its birth
ok 'sched: the longest is part of all' awk '$1 == "demo_exact:sink/1" { exit !($4 <= $3) }' o
node=scripts_a

# Processes at work until the script has printed one of them: it does every second.
burn() {
	local i
	value=
	for ((i = 0; i < 500; i++)); do
		grep -qE '^demo_exact:worker/1 .* [0-9]{4,}$' o && return
		value+="${value:+|}$(at $node 'demo_exact:burns(50).')"
	done
}
done_[busy]=1
trace $node -qs "$lib/busy.d"
burn
untrace
is 'busy: exit' 0 "$status"
has 'busy: header' '^PROCESS +PID +RUN US$'
has 'busy: rows' "^demo_exact:worker/1 +($value) +[0-9]{4,}\$"

at $node 'spawn(fun() -> register(demo_hog, self()), Data = binary:copy(<<"x">>, 1 bsl 19), (fun F() -> demo_exact:burn(Data), F() end)() end), ok.' >/dev/null
look hogs '^demo_hog +<0\.[0-9]+\.0> +[1-9][0-9]+$' 0 3
has 'hogs: where' '^demo_exact:burn/1 \(demo_exact.erl:[0-9]+\)$'
ends demo_hog

run hibernate 'demo_exact:hibernates(6).'
row 'hibernate: times' "demo_exact:worker/1 demo_exact:sleeper/1 6"
is 'hibernate: each once' 1 "$(grep -c '^demo_exact:worker/1 ' o)"
# A process of OTP's that answers for the command may have slept, too.
slept=$(awk '$NF ~ /^[0-9]+$/ && !/\|/ { n += $NF } END { print n + 0 }' o)
awake=$(sum 'ms asleep')
ok "hibernate: awake again ($awake of $slept)" [ "$awake" -ge 6 -a "$awake" -le "$slept" ]

# ---- what there is ------------------------------------------------------------------------

# It never gets to its mailbox; it holds a binary.
stuck=$(at $node 'P = spawn(fun() -> register(demo_stuck, self()), put(b, binary:copy(<<1>>, 12345678)), receive stop -> ok end end), [P ! N || N <- lists:seq(1, 3500)], pid_to_list(P).')
look mailbox "^demo_stuck +$stuck +0 +3500 +prim_eval:'receive'/2\$" 3500
at $node '[demo_stuck ! N || N <- lists:seq(1, 7)], ok.' >/dev/null
look mailbox "^demo_stuck +$stuck +0 +3507 " 200
look mailbox '^PROCESS' 3508
hasnt 'mailbox: from the limit on' demo_stuck
trace $node -qs "$lib/mailbox.d" 3000
for ((i = 0; i < 2400; i++)); do
	grep -q '^demo_stuck .* 3507 ' o && break
	sleep 0.025
done
at $node '[demo_stuck ! N || N <- lists:seq(1, 93)], ok.' >/dev/null
for ((i = 0; i < 2400; i++)); do
	grep -q '^demo_stuck .* 3600 ' o && break
	sleep 0.025
done
untrace
has 'mailbox: growth' "^demo_stuck +$stuck +[1-9][0-9]* +3600 "
# (a round may fall between them)
is 'mailbox: growth, in all' 93 "$(awk '/^demo_stuck .* 3507 / { on = 1 } on && /^demo_stuck / && $4 > 3507 { n += $3 } $4 == 3600 { exit } END { print n + 0 }' o)"
ok 'mailbox: a line between two seconds' awk '/^demo_stuck .* 3507 / { on = 1 } on && /^demo_stuck .* 3600 / { exit !n } on && NF == 0 { n++ }' o
look top "^demo_stuck +$stuck +prim_eval:'receive'/2 +[0-9.]+ [KM]*B +[0-9]+ +3600\$" mailbox 0 5
has 'top: the node' '^up [0-9]+ s +[0-9]+ processes +[0-9]+ ports +[0-9]+ ready to run +[0-9]+ schedulers +[0-9]+ % busy$'
has 'top: memory' '^memory [0-9]+ MB: .* of [0-9]+ atoms$'
look top '^PROCESS +PID +FUNCTION +MEMORY +MAILBOX +REDUCTIONS$'
run top 'ok.' 1
hasnt 'top: the first argument may be that of seconds' 'top.d'
is 'top: for a second: one screen' 1 "$(timeout 60 erltrace -N $node -qs "$lib/top.d" 1 2>&1 | grep -c '^PROCESS')"
look top '^PROCESS +PID +FUNCTION +MAILBOX +REDUCTIONS +MEMORY$' memory 0 1
is 'top: as many as it is told' 1 "$(awk '/^PROCESS/ { on = 1; n = 0; next } on && NF == 7 { n++ } /^$/ && n { exit } END { print n }' o)"
at $node 'P = spawn(fun() -> register(demo_info, self()), put(b, binary:copy(<<1>>, 2000000)), (fun F() -> receive stop -> ok; {ok, M} -> F() end end)() end), (fun W() -> whereis(demo_info) =:= undefined andalso W() end)(), [P ! N || N <- lists:seq(1, 7)], M = monitor(process, P), link(P), put(info, {P, M}), ok.' >/dev/null
done_[info]=1
timeout 60 erltrace -N $node -qs "$lib/info.d" demo_info 1 >o 2>e
is 'info: it ends by itself' 0 $?
has 'info: who' "^demo_info <0\.[0-9]+\.0>: waiting in prim_eval:'receive'/2\$"
has 'info: mailbox' '^mailbox +7 messages, 0 more$'
has 'info: binaries' '^binaries +[1-9][0-9]* references to [12]\.[0-9] MB$'
has 'info: links' '^links +1; it monitors 0, 1 monitor it$'
has 'info: work' '^work +[0-9]+ reductions a second; ran [0-9]+ times, [0-9]{1,2}\.[0-9] % of the time$'
has 'info: for whom' '^waits for +nobody$'
has 'info: where' '^of [1-9][0-9]* looks it was most often in$'
has 'info: its stack' '^ +erl_eval:'
at $node '{P, _} = get(info), unlink(P), exit(P, kill), ok.' >/dev/null
look memory "^demo_stuck +$stuck +1 +11.8 MB\$" 0 3
has 'memory: what has no number' '^total +- +- +[0-9.]+ [KMG]B$'
row 'memory: atoms' "$(at $node 'lists:flatten(io_lib:format("atom ~b ~b ~.1f KB", [erlang:system_info(atom_count), erlang:system_info(atom_limit), erlang:memory(atom) / 1024])).')"
has 'memory: an allocator' '^binary_alloc +[0-9]+ +[0-9.]+ [KMG]*B +[0-9]+ +[0-9.]+ [KMG]*B$'
at $node 'exit(whereis(demo_stuck), kill), ets:new(demo_exact_table, [named_table, bag]), [ets:insert(demo_exact_table, {1, N}) || N <- lists:seq(1, 5000)], ok.' >/dev/null
look tables "^demo_exact_table +[^ ]+ +5000 +0 +$(at $node 'lists:flatten(io_lib:format("~.1f KB", [ets:info(demo_exact_table, memory) / 128])).') *\$" 0 3
is 'tables: the lines of those that have a name of their own fit' '' "$(grep '^demo_exact_table ' o | sed 's/ *$//' | awk 'length > 80')"
trace $node -qs "$lib/tables.d" 0 3
for ((i = 0; i < 2400; i++)); do
	grep -q '^demo_exact_table ' o && break
	sleep 0.025
done
at $node 'ets:insert(demo_exact_table, [{2, N} || N <- lists:seq(1, 321)]).' >/dev/null # at once: between two rounds
for ((i = 0; i < 2400; i++)); do
	grep -qE '^demo_exact_table .* 5321 +321 *$' o && break
	sleep 0.025
done
untrace
has 'tables: growth' '^demo_exact_table +[^ ]+ +5321 +321 *$'
at $node 'ets:delete(demo_exact_table).' >/dev/null
ends=$(at $node '{ok, L} = gen_tcp:listen(0, [binary, {active, false}, {ip, {127, 0, 0, 1}}]), {ok, No} = inet:port(L), {ok, C} = gen_tcp:connect({127, 0, 0, 1}, No, [binary, {active, false}]), {ok, S} = gen_tcp:accept(L), ok = gen_tcp:send(C, binary:copy(<<1>>, 54321)), {ok, _} = gen_tcp:recv(S, 54321), {ok, Mine} = inet:port(C), put(sockets, [L, C, S]), lists:flatten(io_lib:format("127.0.0.1:~b +127.0.0.1:~b", [Mine, No])).')
look sockets "^$ends +[^ ]+ +0 B +0 B +53.0 KB +53.0 KB\$" 0 5
at $node '[gen_tcp:close(S) || S <- get(sockets)], ok.' >/dev/null
look runq '^ +1 normal +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+$'

# Three that call each other, one that calls one of them, and one that calls another node.
at scripts_b 'register(demo_mute, spawn(fun() -> receive never -> ok end end)).' >/dev/null
at $node "demo_exact:deadlock(3), spawn(fun() -> register(demo_client, self()), gen_server:call(demo_ring_2, x, infinity) end), spawn(fun() -> register(demo_far, self()), gen_server:call({demo_mute, '$host'}, x, infinity) end), ok." >/dev/null
# Each is in its call, that of another node too, with which it has to connect first.
becomes 'those that wait do' '[{gen,do_call,4},{gen,do_call,4}]' $node \
	"'$host' = hd(nodes()), [F || N <- [demo_client, demo_far], [{_, F}, {_, waiting}] <- [process_info(whereis(N), [current_function, status])]]."
look waits '^DEADLOCK demo_ring_1 -> demo_ring_2 -> demo_ring_3 -> demo_ring_1$'
row 'waits: behind it' '1 0 2 demo_client -> demo_ring_2 -> demo_ring_3 -> demo_ring_1 -> demo_ring_2 (gen:do_call/4)'
has 'waits: for another node' "^ +1 +0 +0 demo_far -> \\{demo_mute,'?$host'?\\} \\(\\)$"
ends demo_far,demo_client,demo_ring_1,demo_ring_2,demo_ring_3
at $node 'spawn(fun() -> {ok, S} = gen_server:start({local, demo_server}, demo_exact, [], []), register(demo_client, self()), gen_server:call(S, {nap, 600000}, infinity) end), ok.' >/dev/null
look waits '^ +1 +[1-9][0-9]* +0 demo_client -> demo_server \(demo_exact:nap/1\)$'
hasnt 'waits: nobody is stuck' DEADLOCK
at $node '[spawn(fun() -> gen_server:call(demo_server, x, infinity) end) || _ <- [1, 2, 3]], ok.' >/dev/null
look waits '^ +3 +[0-9]+ +[0-9]+ \(a fun\) -> demo_server '
ends demo_client,demo_server

# It waits for ten naps, collects its garbage, and waits for a server that naps.
at $node 'gen_server:start({local, demo_server}, demo_exact, [], []), gen_server:start({local, demo_other}, demo_exact, [], []), ok.' >/dev/null
run states '[gen_server:call(demo_server, {nap, 20}) || _ <- lists:seq(1, 10)], [erlang:garbage_collect(whereis(demo_server)) || _ <- lists:seq(1, 10)], gen_server:call(demo_server, {other, demo_other, {nap, 200}}), [{flags, F} || P <- [whereis(demo_other), whereis(kernel_sup), new], {flags, F} <- [erlang:trace_info(P, flags)], F =/= []].' demo_server
[ "$(at $node 'erltrace_vm:has_sessions().')" = true ] || is 'states: no other process is traced' '[]' "$value"
has 'states: who' '^demo_server <0\.[0-9]+\.0>: [0-9]+ us$'
state() { # what, where, for whom: times, us
	awk -v what="$1" -v where="$2" -v for_="${3:-}" '$1 == what && (where == "" || $5 == where) && $6 == for_ { t += $2; us += $3 } END { print t + 0, us + 0 }' o
}
read -r times us < <(state waiting demo_exact:nap/1)
ok 'states: ten naps' [ "$times" -ge 10 ]
ok 'states: of 20 ms and more' [ "$us" -ge 200000 ]
read -r times us < <(state waiting gen:do_call/4 demo_other)
ok 'states: a call' [ "$times" -ge 1 ]
ok 'states: for whom it waits' [ "$us" -ge 100000 ]
read -r times us < <(state collecting '')
ok 'states: garbage collections' [ "$times" -ge 10 ]
read -r times us < <(state running '')
ok 'states: it runs' [ "$us" -gt 0 ]
ok 'states: they add up' awk '/^demo_server .*: [0-9]+ us$/ { wall = $(NF - 1) } $1 ~ /^(running|runnable|collecting|waiting)$/ { sum += $3 }
	END { d = wall - sum; exit !(wall > 0 && d * 100 <= wall && -d * 100 <= wall) }' o
# It is in a call when the script starts, and never runs.
at $node 'gen_server:cast(demo_other, {call, nobody, self()}), receive {_, ready} -> ok end, gen_server:cast(demo_server, {call, demo_other, self()}), receive {S, ready} -> S ! {self(), go} end.' >/dev/null
run states 'timer:sleep(300).' demo_server
has 'states: a call that began before' '^waiting +[0-9]+ +[0-9]+ +[0-9]+ gen:do_call/4 +demo_other$'
run states 'M = monitor(process, demo_server), exit(whereis(demo_server), kill), receive {_, M, _, _, _} -> ok end.' demo_server
has 'states: it ends' '^demo_server <0\.[0-9]+\.0> has ended: killed$'
ends demo_other

# ---- messages -----------------------------------------------------------------------------

node=scripts_one
run latency 'demo_exact:wakes(200).'
has 'latency: worst' '^demo_exact:sink/1 +<0\.[0-9]+\.0> +[0-9]+$'
ok 'latency: at least the wakes' [ "$(sum nanoseconds)" -ge 200 ]
sink=$(at $node 'register(demo_sink, spawn(demo_exact, sink, [self()])), pid_to_list(whereis(demo_sink)).')
send_and_wait() { # whom to send to, how often: each time it waits again
	at $node "P = whereis(demo_sink), [begin $1 ! x, (fun F() -> case process_info(P, [status, message_queue_len]) of [{_, waiting}, {_, 0}] -> ok; _ -> erlang:yield(), F() end end)() end || _ <- lists:seq(1, $2)]." >/dev/null
}
trace $node -qs "$lib/latency.d" 0 "$sink"
send_and_wait P 300
untrace
is 'latency: of one process, exactly' 300 "$(sum nanoseconds)"
trace $node -qs "$lib/latency.d" 0 demo_sink
send_and_wait demo_sink 100
untrace
is 'latency: by a name, exactly' 100 "$(sum nanoseconds)"
has 'latency: the name' "^demo_sink +$sink +[0-9]+\$"
node=scripts_a

run msgs 'demo_exact:sends(120, 10).'
row 'msgs: messages' 'demo_exact:worker/1 demo_exact:sink/1 120'
row 'msgs: words' 'demo_exact:worker/1 demo_exact:sink/1 1200'

# reply_goes_to_an_alias: a line for each of them, by reference
run msgs '[supervisor:count_children(kernel_sup) || _ <- lists:seq(1, 30)], ok.'
has 'msgs: to a process by its name' '^[^ ]+ +kernel_sup +30$'
has 'msgs: a reply goes to a process' '^kernel_sup +[^ ]+ +30$'
hasnt 'msgs: a reply goes to a reference' '#Ref<'

run msgs '{P, M} = spawn_monitor(fun() -> ok end), receive {_, M, _, _, _} -> ok end, {Q, N} = spawn_monitor(fun() -> register(demo_sender, self()), [begin P ! x, {demo_nobody, node()} ! x end || _ <- lists:seq(1, 40)] end), receive {_, N, _, Q, R} -> {pid_to_list(P), R} end.'
row 'msgs: to a process that has ended' "demo_sender $(sed 's/^{"//; s/",normal}$//' <<<"$value") 40"
row 'msgs: to a name that nobody has' 'demo_sender demo_nobody 40'
is 'msgs: they are not sent' 2 "$(grep -c '^demo_sender' o)"

run queues 'demo_exact:queue(500).'
row 'queues: messages' "demo_exact:worker/1 $value 501"
row 'queues: longest' "demo_exact:worker/1 $value 501"

run queues 'demo_exact:naps(20, 1).'
hasnt 'queues: a receive that times out is no message' " $value "

run fan 'demo_exact:fan_in(40, 3).'
row 'fan: senders' "demo_exact:sink/1 $value 41" # and the one that asks whether it is done
run fan 'demo_exact:sends(4, 0, 30).'
[[ $value =~ \"(.*)\",\"(.*)\" ]]
row 'fan: receivers' "demo_exact:worker/1 ${BASH_REMATCH[1]} 30"

run dist "demo_exact:remote('$host', 25)."
has 'dist: by process' "^$value +'?$host'? +25\$"
has 'dist: by node' "^'?$host'? +[0-9]+ +[0-9]+ +[0-9]+\$"

run gencall 'demo_exact:slow_server(9, 3).' 2000
has 'gencall: calls' '^demo_exact:worker/1 +demo_exact:init/1 +9 +[0-9]{4,}$'
is 'gencall: slow ones' 9 "$(grep -cE '^ +[0-9]+ demo_exact:worker/1 +demo_exact:init/1 +ok +[^ ]' o)"
# nine calls of one server, which takes 3 ms for each, and gen_server:stop/1, which is one
has 'gencall: percentiles of the server' '^demo_exact:init/1 +10 +0 +0 +0 +[0-9]{4,} +[0-9]{4,} +[0-9]{4,}$'
run gencall 'demo_exact:server(50).' 60000000
has 'gencall: more calls' '^demo_exact:worker/1 +demo_exact:init/1 +50 +[0-9]+$'
hasnt 'gencall: none slow' '^ +[0-9]+ demo'

# Until every flow has ended, which is some hundredths of a second later.
run_flow() { # script, how many lines of the output, which, expression, arguments of the script
	local script=$1 lines=$2 line=$3 expression=$4 i
	shift 4
	done_[$script]=1
	trace $node -q -s "$lib/$script.d" -n 'erlang*:::flow-end { printf("ended %d\n", args[0]); }' "$@" || return 1
	at $node "$expression" >/dev/null
	for ((i = 0; i < 2400 && $(grep -cE -- "$line" o) < lines; i++)); do sleep 0.025; done
	untrace
	is "$script: exit" 0 "$status"
	is "$script: nothing on stderr" '' "$(cat e)"
}
run_flow deadline 20 '^ended' 'demo_exact:requests(20, 3).' demo_exact request 2
is 'deadline: all that are slow' 20 "$(grep -cE '^demo_exact:request/2 took [0-9]{4,} us: 2 messages, 1 spawns$' o)"
is 'deadline: what they send' 20 "$(grep -cE "^ +[0-9]+ us   demo_exact:worker/1 -> demo_exact:init/1: \{'.gen_call',\{<" o)"
is 'deadline: replies, after their call' 20 "$(grep -cE '^ +[0-9]+ us     demo_exact:init/1 -> demo_exact:worker/1: ' o)"
is 'deadline: spawns, after the reply' 20 "$(grep -cE '^ +[0-9]+ us       demo_exact:worker/1 spawns <[0-9.]+>: demo_exact:child/1$' o)"
run_flow deadline 20 '^ended' 'demo_exact:requests(20, 0).' demo_exact request 60000
hasnt 'deadline: none is that slow' 'took'
run_flow deadline 5 '^ended' 'demo_exact:requests(20, 3).' demo_exact request 2 0 4
is 'deadline: one in four' 5 "$(grep -c '^demo_exact:request/2 took' o)"
run_flow flow 30 '^ended' 'demo_exact:requests(30, 1).' demo_exact request
row 'flow: in all' '30 60 30 3'
ok 'flow: the slowest, each slower than before' [ "$(awk '/ took / { if ($3 <= last) bad = 1; last = $3; n++ } END { print (n > 0 && !bad) }' o)" = 1 ]
run_flow flowheat 25 '^ended' 'demo_exact:requests(25, 2).' demo_exact request
ok 'flowheat: the server' [ "$(awk '$1 == 1 && $2 == "demo_exact:init/1" && $3 == 25 && $5 >= 50000 { print 1 }' o)" = 1 ]
ok 'flowheat: the caller, after the reply' [ "$(awk '$1 == 2 && $2 == "demo_exact:worker/1" && $3 == 25 { print 1 }' o)" = 1 ]
has 'flowheat: all' '^  demo_exact:request/2 takes, in microseconds'

# ---- functions ----------------------------------------------------------------------------

run calls '{demo_exact:calls(1000), demo_exact:nested(50), demo_exact:tail(99)}.' demo_exact
row 'calls: leaf' 'demo_exact:leaf/1 1000'
row 'calls: outer' 'demo_exact:outer/1 50'
row 'calls: inner' 'demo_exact:inner/1 100'
row 'calls: tail calls' 'demo_exact:round/1 100'

run slow 'demo_exact:naps(12, 2).' demo_exact 2000 0 nap
is 'slow: naps' 12 "$(grep -cE "^ +[0-9]+ +[0-9]+ +[0-9]+ demo_exact:worker/1 +demo_exact:nap/1 +\[2\]$" o)"
row 'slow: number' '12 calls'
run slow 'demo_exact:naps(3, 2, 20).' demo_exact 2000 0 deep
is 'slow: the outermost of a recursion' 3 "$(grep -cE "^ +[0-9]+ +[0-9]+ +[0-9]+ demo_exact:worker/1 +demo_exact:deep/2 +\[20,2\]$" o)"
row 'slow: number of recursions' '3 calls'
run slow 'demo_exact:calls(1000).' demo_exact 60000000
hasnt 'slow: none' '^ .*demo_exact'
has 'slow: what was looked at' '^nothing to show: [0-9]+ events of demo_exact:'
run slow 'demo_exact:calls(3000).' demo_exact 1
ok 'slow: what tracing took is taken off' [ "$(awk '$2 > 0 && $3 >= 3000 && $5 ~ /demo_exact:times/ { n++ } END { print n + 0 }' o)" -gt 0 ]
# raiser/2 takes much longer than leaf/1.
run slow 'demo_exact:raises(1, 300, [throw, error, exit]).' demo_exact 250000
is 'slow: who catches it' 3 "$(grep -cE "^ +[0-9]+ +[0-9]+ +[0-9]+ demo_exact:worker/1 +demo_exact:catcher/2 +\[.*,(throw|error|exit)\]$" o)"
hasnt 'slow: what an exception ends is not told' 'raiser'
hasnt 'slow: nor does the next call take its time' 'leaf'

run exceptions 'demo_exact:raises(20, 0, [throw, error, exit]).' demo_exact
for class in throw error exit; do
	has "exceptions: $class" "^ +40 demo_exact:raiser/2 +$class +[^ ]"
done
hasnt 'exceptions: who catches it returns' 'catcher'
run exceptions '[{catch demo_exact:thrower({bad, X}), catch demo_exact:nap(X)} || X <- [a, b, c]].' demo_exact
row 'exceptions: a tuple by its tag' '3 demo_exact:thrower/1 throw bad'
row 'exceptions: another reason' '3 demo_exact:nap/1 error timeout_value'
run exceptions '[catch demo_exact:thrower(X) || X <- [{}, {{a, 1}, b}, "text"]].' demo_exact
row 'exceptions: an empty tuple' '1 demo_exact:thrower/1 throw {}'
row 'exceptions: a tag that is a tuple' '1 demo_exact:thrower/1 throw {a,1}'
row 'exceptions: a text' '1 demo_exact:thrower/1 throw "text"'
run exceptions 'demo_exact:calls(100).' demo_exact
hasnt 'exceptions: none' '^ .*demo_exact'
run exceptions '[catch demo_exact:thrower(X) || X <- [a, b, b]].' demo_exact 0 1
row 'exceptions: as many as it is told' '2 demo_exact:thrower/1 throw b'
hasnt 'exceptions: and no more' 'throw +a'
erltrace -N $node -qs exceptions >o 2>e
is 'exceptions: not of all modules: exit' 2 $?
is 'exceptions: it is told which' 'erltrace: exceptions needs module=NAME (erltrace --scripts exceptions says more)' "$(cat e)"
# a_script_says_which_argument_it_needs: not that a macro is not defined.
erltrace -N $node -qs slowwrite >o 2>e
is 'slowwrite: not of all modules: exit' 2 $?
is 'slowwrite: it is told which' 'erltrace: slowwrite needs module=NAME (erltrace --scripts slowwrite says more)' "$(cat e)"

run profile '{demo_exact:nested(300), demo_exact:body(20), demo_exact:tail(500), demo_exact:throws(10), demo_exact:calls(100)}.' demo_exact
has 'profile: outer' '^demo_exact:outer/1 +300 +300 '
has 'profile: inner' '^demo_exact:inner/1 +600 +600 '
has 'profile: recursion' '^demo_exact:down/1 +21 +21 '
has 'profile: a loop is called again and again, and returns once' '^demo_exact:round/1 +501 +1 '
has 'profile: what exceptions end is called all the same' '^demo_exact:thrower/1 +10 +0 +0 +0$'
has 'profile: after exceptions' '^demo_exact:leaf/1 +100 +100 '
is 'profile: own is part of all' '' "$(awk '$1 ~ /^demo_exact:/ && $5 > $4 { print }' o)"
run profile 'demo_exact:raises(20, 0, [throw, error, exit]).' demo_exact
has 'profile: who catches it' '^demo_exact:catcher/2 +60 +60 '
has 'profile: after it was caught' '^demo_exact:leaf/1 +120 +120 '
has 'profile: what an exception ends does not return' '^demo_exact:raiser/2 +120 +0 +0 +0$'
ok 'profile: its time is that of who called it' awk '{ own[$1] = $5 }
	END { exit !(own["demo_exact:leaf/1"] * 3 < own["demo_exact:catcher/2"]) }' o

run profproc 'demo_exact:nested(200).' demo_exact
row 'profproc: outer' "demo_exact:worker/1 demo_exact:outer/1 200"
row 'profproc: inner' "demo_exact:worker/1 demo_exact:inner/1 400"
run profproc 'demo_exact:raises(20, 0, [throw, error, exit]).' demo_exact
row 'profproc: who catches an exception' "demo_exact:worker/1 demo_exact:catcher/2 60"
row 'profproc: after it was caught' "demo_exact:worker/1 demo_exact:leaf/1 120"
row 'profproc: what an exception ends is called' "demo_exact:worker/1 demo_exact:raiser/2 120"
is 'profproc: but has no time' 1 "$(grep -c 'raiser' o)"

run heat '{demo_exact:calls(700), demo_exact:nested(80)}.' demo_exact
is 'heat: leaf' 700 "$(awk '$1 == "demo_exact:leaf/1" { n += $NF } END { print n + 0 }' o)"
is 'heat: inner' 160 "$(awk '$1 == "demo_exact:inner/1" { n += $NF } END { print n + 0 }' o)"
run heat 'demo_exact:raises(20, 0, [throw, error, exit]).' demo_exact
is 'heat: after exceptions' 120 "$(awk '$1 == "demo_exact:leaf/1" { n += $NF } END { print n + 0 }' o)"
hasnt 'heat: what an exception ends does not return' 'raiser'

run ets 'demo_exact:ets(60).'
has 'ets: insert' '^demo_exact +insert/2 +60 +[0-9]+ +[0-9]+$'
has 'ets: lookup' '^demo_exact +lookup/2 +60 +[0-9]+ +[0-9]+$'
has 'ets: who' '^demo_exact:worker/1 +demo_exact +121 +[0-9]+ +[0-9]+$'
run ets '{demo_exact:ets(60), ets:new(demo_other, [named_table]), ets:insert(demo_other, {1, 2}), ets:delete(demo_other)}.' 0 1
# Which one has taken longest may differ; the whole time of a row is no less than its worst.
like 'ets: as many rows of each kind as it is told, and whole ones' \
	'^\^demo_(exact|other) whole \^demo_exact:worker/1 whole$' \
	"$(awk 'NF == 5 && $3 ~ /^[0-9]+$/ { printf "%s^%s %s", n++ ? " " : "", $1, ($4 >= $5 ? "whole" : $0) }' o)"

# One process alone waits for nobody; that several do is what make test-incidents shows.
run convoy 'demo_exact:ets(60).'
row 'convoy: calls, and no waits' 'demo_exact 121 0 0 0'
hasnt 'convoy: nobody waited' '^demo_exact +demo_exact'

run timers '{demo_exact:timers(30), erlang:cancel_timer(erlang:send_after(erlang:monotonic_time(millisecond) + 60000, self(), x, [{abs, true}]))}.'
hasnt 'timers: no absolute time is told as a relative one' '^ +-[0-9]'
run timers 'demo_exact:timers(30).'
row 'timers: started' 'demo_exact:worker/1 30'
row 'timers: for whom' 'demo_exact:worker/1 itself 30'
has 'timers: where' "demo_exact:'-timers/1-fun-0-'/0"
is 'timers: how soon' 30 "$(sum 'due in ms')"
# Each cancels timers that have fired.
run timers '[begin {P, M} = spawn_monitor(fun() -> register(element(N, {demo_1, demo_2, demo_3, demo_4}), self()), [begin R = erlang:start_timer(0, self(), x), receive {timeout, R, x} -> erlang:cancel_timer(R) end end || _ <- lists:seq(1, N)] end), receive {_, M, _, P, _} -> ok end end || N <- [1, 2, 3, 4]].' 0 2
is 'timers: no row of which one number is missing' '4 4 3 3' \
	"$(awk '/CANCELLED/ { on = 1; next } on && NF == 3 && $3 ~ /^[0-9]+$/ { printf "%s%d %d", n++ ? " " : "", $2, $3 } on && NF == 0 { exit }' o)"

done_[connections]=1
at $node 'code:ensure_loaded(gen_tcp), ok.' >/dev/null
trace $node -qs "$lib/connections.d"
port=$(at $node 'Me = self(), spawn(fun() -> register(demo_acceptor, self()), {ok, L} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}]), {ok, No} = inet:port(L), Me ! {no, No}, [{ok, _} = gen_tcp:accept(L, 60000) || _ <- [1, 2]], receive stop -> ok end end), receive {no, No} -> No end.')
at $node "spawn(fun() -> register(demo_client, self()), {ok, _} = gen_tcp:connect({127, 0, 0, 1}, $port, []), {ok, _} = gen_tcp:connect({127, 0, 0, 1}, $port, [], 60000), {error, econnrefused} = gen_tcp:connect({127, 0, 0, 1}, 1, []), receive stop -> ok end end), ok." >/dev/null
for ((i = 0; i < 2400; i++)); do
	[ "$(grep -c '^accept' o)" = 2 ] && grep -q econnrefused o && break
	sleep 0.025
done
untrace
is 'connections: made' 2 "$(grep -cE "^connect +demo_client +\{127,0,0,1\}:$port +[0-9]+ ok\$" o)"
has 'connections: refused' '^connect +demo_client +\{127,0,0,1\}:1 +[0-9]+ econnrefused$'
is 'connections: accepted, from whom' 2 "$(grep -cE "^accept +demo_acceptor +127\.0\.0\.1:[0-9]+ +0 127\.0\.0\.1:$port\$" o)"
row 'connections: how many' 'connect demo_client 3'
ends demo_acceptor,demo_client

# Three of start_timer and two of send_after for a process that is busy for longer than they take; one of each
# that is cancelled; and a message like that of the latter. One for an absolute time.
run late '{_, M} = spawn_monitor(fun() -> register(demo_late, self()), Busy = fun() -> T = erlang:monotonic_time(millisecond) + 60, (fun F() -> erlang:monotonic_time(millisecond) < T andalso F() end)() end, [begin R = erlang:start_timer(1, self(), x, O), Busy(), receive {timeout, R, x} -> ok end end || O <- [[], [], [{abs, false}]]], erlang:cancel_timer(erlang:start_timer(60000, self(), y)), [begin erlang:send_after(1, To, {z, 1}), Busy(), receive {z, 1} -> ok end end || To <- [self(), demo_late]], erlang:cancel_timer(erlang:send_after(60000, self(), z)), self() ! z, receive z -> ok end, erlang:send_after(erlang:monotonic_time(millisecond) + 1, self(), w, [{abs, true}]), receive w -> ok end end), receive {_, M, _, _, _} -> ok end.' 50
if [ "$(at $node 'list_to_integer(erlang:system_info(otp_release)).')" -lt 27 ]; then
	has 'late: how many, and the worst' '^demo_late +5 +5 +[0-9]{2,}$'
	has 'late: by whom' '^demo_late +5$'
else # a process takes its messages whenever it is scheduled in, and so in time
	has 'late: how many' '^demo_late +5 +[0-5] +[0-9]+$'
fi

has 'late: one whose time is absolute' '^[1-9][0-9]* more fired: how late they were is not known$'

run atoms '[binary_to_atom(<<"demo_atom_", (integer_to_binary(N rem 7))/binary, "_", (list_to_binary(os:getpid()))/binary>>) || N <- lists:seq(1, 21)], ok.'
is 'atoms: each once' 7 "$(grep -c ' demo_atom_' o)"
has 'atoms: where' 'erlang:binary_to_atom/2|erl_eval:'

run restarts 'logger:set_primary_config(level, emergency), [begin {_, M} = proc_lib:spawn_opt(erlang, exit, [{demo, why}], [monitor]), receive {_, M, _, _, _} -> ok end end || _ <- [1, 2, 3]], logger:set_primary_config(level, notice).'
is 'restarts: crashes' 3 "$(grep -c '^crash .* exit *proc_lib:[^ ]* line [0-9]*: {demo,why}$' o)"
has 'restarts: in all' '^ +3 erlang:exit/1 +exit +proc_lib:[^ ]* line [0-9]*: \{demo,why\}$'
line=$(sed -n '/^round(N) ->/=' "$root/demo/demo_exact.erl")
run restarts 'logger:set_primary_config(level, emergency), S = kernel_safe_sup, Start = fun() -> {ok, proc_lib:spawn_link(fun() -> receive X -> demo_exact:round(X) end end)} end, {ok, P} = supervisor:start_child(S, #{id => demo_child, start => {erlang, apply, [Start, []]}}), M = monitor(process, P), P ! a, receive {_, M, _, _, _} -> ok end, supervisor:which_children(S), supervisor:terminate_child(S, demo_child), supervisor:delete_child(S, demo_child), logger:set_primary_config(level, notice).'
has 'restarts: a crash, where the BIF that fails is called' "^crash +[^ ]+ +error +demo_exact:round/1 line $line: badarith\$"
row 'restarts: a child that is started again' "restart kernel_safe_sup demo_child demo_exact:round/1 line $line: badarith"
row 'restarts: of each child' '1 kernel_safe_sup demo_child'

# ---- memory and ports ---------------------------------------------------------------------

run gc 'demo_exact:gcs(40).'
row 'gc: by process' "demo_exact:worker/1 40"
is 'gc: the table and the distributions' "$(awk '/^KIND/ { on = 1; next } on && NF == 3 { n += $2 }
	on && NF == 0 { exit } END { print n }' o)" "$(($(sum major) + $(sum minor)))"

done_[sysmon]=1
trace $node -xlargeheap=100000 -qs "$lib/sysmon.d"
at $node 'demo_exact:grow(1000000).' >/dev/null
ok 'sysmon: a large heap' holds o '^large heap +demo_exact:worker/1 +0 +[0-9]+$'
untrace
is 'sysmon: exit' 0 "$status"
has 'sysmon: how often' '^large heap +demo_exact:worker/1 +[1-9][0-9]*$'
is 'sysmon: the monitor is off' undefined "$(at $node 'erlang:system_monitor().')"

run heap 'demo_exact:grow(100000).'
ok 'heap: largest' [ "$(awk -v p="$value" '$2 == p { print $3; exit }' o)" -ge 100000 ]

run ports 'demo_exact:port(8, 100).'
has 'ports: open' "^\+ #Port<[0-9.]+> +cat +by $value$"
has 'ports: close' '^- #Port<[0-9.]+> +cat +normal$'
row 'ports: commands' 'cat command 8'
row 'ports: the end' 'cat close 1'
row 'ports: bytes' 'cat output 8 800 B'

# ---- user probes --------------------------------------------------------------------------

run user '{demo_exact:user(15), demo_exact:dyntrace(4)}.'
row 'user: i4s4' 'i4s4 19'
row 'user: n7' 'n7 19'
row 'user: s1' 's1 15'
has 'user: arguments' "^i4s4 +<0\.[0-9]+\.0> +15 2 0 0 'text' 'more' '' ''$"
is 'user: fired; dyntrace has no library of its own here' '{[true],[error]}' "$value"
is 'user: not enabled' '[false]' "$(at scripts_a 'demo_exact:user(3).')"
run user '[dtrace:pn(7, 1), dtrace:pn(8, 1)].' 8
row 'user: one number' 'n8 1'
hasnt 'user: not the other' '^n7'

# ---- samples ------------------------------------------------------------------------------

# They are no exact numbers; but who does nearly all the work has most of them.
share() { # function, column: 1 own, 2 all; its percent, without the fraction
	awk -v name="$1" -v column="$2" '$5 == name { print int($column); exit }' o
}
run cpu 'demo_exact:burns(1500).' -x kernel=0
has 'cpu: header' '^ +OWN % +ALL % +OWN +ALL +FUNCTION$'
ok 'cpu: who calls what takes the time' [ "$(share demo_exact:times/2 2)" -ge 50 ]
ok 'cpu: and is hardly there itself' [ "$(share demo_exact:times/2 1)" -le 10 ]
run cpu 'demo_exact:burns(500).' -x kernel=0 0 1
is 'cpu: as many functions as are wanted, and the sum' 2 "$(grep -cE '^ *[0-9]' o)"

# A thousand processes that wait, until there are samples of them and of a server beside them.
wait_samples() { # arguments of the script
	done_[wall]=1
	# They are there before it begins: what is sampled meanwhile is others.
	at $node 'register(waiters, spawn(fun() -> [spawn_link(timer, sleep, [infinity]) || _ <- lists:seq(1, 1000)], receive after infinity -> ok end end)), ok.' >/dev/null
	trace $node -qs "$lib/wall.d" "$@" \
		-n 'inline int is_server = strstr("kernel_sup kernel_safe_sup kernel_refc rex inet_db file_server_2", erlname) != NULL;
		profile-wall-97 /erlname != "" && is_server/ { server = 1; }
		profile-wall-97 /erlproc == "timer:sleep/1" && n++ >= 200 && server && !said++/ { printf("enough\n"); }'
	holds o '^enough' >/dev/null
	untrace
	ends waiters
	is 'wall: exit' 0 "$status"
}
wait_samples
ok 'wall: what most of them wait in' [ "$(share timer:sleep/1 1)" -ge 50 ]
has 'wall: others' 'gen_server:loop/[0-9]+$'
wait_samples 0 0 timer:sleep/1
is 'wall: of one name' 100 "$(share timer:sleep/1 1)"

# ---- system calls -------------------------------------------------------------------------

why=$(no_kernel)
if [ -z "$why" ]; then
	run syscalls "$(writes 60)"
	is 'syscalls: how many' 60 "$(awk '$1 == "writer" && $2 == "writev" { print $3 }' o)"
	run slowwrite "$(writes 60)" demo_exact 0
	is 'slowwrite: each' 60 "$(grep -cE '^ *[0-9]+ writer +demo_exact:write/2 +writev$' o)"
	# the VM's own writes, which wake its threads, are among them
	ok 'slowwrite: in all' [ "$(awk '/writes in demo_exact:write/ { print $1 }' o)" -ge 60 ]
	run locks 'demo_exact:ets(60).' # test/kernel/locks.sh has more
	has 'locks: header' '^LOCK +PROCESS +FUNCTION +YIELDS +SLEEPS +US$'
	run slowwrite "$(writes 60)" demo_exact 10000000
	hasnt 'slowwrite: none takes 10 s' 'writes in'
else
	echo "skipped: $why"
	done_[syscalls]=1 done_[slowwrite]=1 done_[locks]=1
fi

# ---- all of them --------------------------------------------------------------------------

for f in "$lib"/*.d; do
	ok "$(basename "$f") is in the list" grep -q "^| $(basename "$f") |" "$lib/README.md"
	name=$(basename "$f" .d)
	is "$name has a test" 1 "${done_[$name]:-0}"
	for word in "^ \* $name\.d: " '^ \* Arguments: ' '^ \* Cost: ' '^ \* Sample' 'erltrace -N NODE -qs'; do
		ok "$name says $word" grep -q -- "$word" "$f"
	done
	ok "$name can be run" [ -x "$f" ]
done
PATH=$PATH "$lib/births.d" -N scripts_a 1 >o 2>e
is 'as a command: exit' 0 $?
has 'as a command' '^ +BORN +DIED$'

finish
