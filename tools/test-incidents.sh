#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# make test-incidents: problems planted in RabbitMQ, as Debian packages it, and in a node with the demo
# application, each of which one command finds: erltrace with a script of the library. They are planted by
# rabbitmqctl eval, in the demo as if typed into its shell. As root it becomes nobody, without
# capabilities, who then runs the nodes and the commands.
#
#	tools/test-incidents.sh [rabbit | demo] [NAME ...]      some of them; without names all, on both

# shellcheck source=tools/rabbit/as_nobody.sh
. "$(dirname "${BASH_SOURCE[0]}")/rabbit/as_nobody.sh"
# shellcheck source=test/lib/nodelib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../test/lib/nodelib.sh"
# shellcheck disable=SC2034 # for server.sh
messages=1000 bytes=200
# shellcheck source=tools/rabbit/server.sh
. "$root/tools/rabbit/server.sh"
wanted=" $* "
# Two at least, also on one CPU: with one scheduler nobody waits for a lock.
schedulers=$(nproc)
((schedulers > 1)) || schedulers=2

# Evaluated in the node; prints the value.
plant() { # expressions
	if [ "$target" = demo ]; then
		at demo "$1"
		return
	fi
	/usr/lib/rabbitmq/bin/rabbitmqctl -q -n "$rabbit" eval "$1" 2>plant.err || {
		echo >&2 "FAILED: rabbitmqctl eval '$1'"
		cat plant.err >&2
		failed=$((failed + 1))
	}
}

# One command finds it: until it has printed such a line or ends, a minute at most.
finds() { # name of the incident, line, script, its arguments
	local name=$1 line=$2 script=$3 i
	shift 3
	trace "$node" -qs "$root/scripts/$script.d" "$@" || return
	for ((i = 0; i < 2400; i++)); do
		grep -qE "$line" o && break
		kill -0 "$command" 2>/dev/null || break
		sleep 0.025
	done
	untrace
	has "$target: $name: $script" "$line"
	shown "$name" "$script $*" "$line"
}

# The incident, the command, and the line that told of it.
shown() { # name of the incident, script with its arguments, line
	printf '%-7s%-10s-s %-22s %s\n' "$target" "$1" "$2" "$(grep -m 1 -E "$3" o | tr -s ' ')"
}

is_wanted() { # name, then others of its kind: are none of them named?
	local n
	[[ $wanted == *" $1 "* ]] && return 0
	for n in "${@:2}"; do
		[[ $wanted == *" $n "* ]] && return 1
	done
	return 0
}

# The end of what was planted: processes by their names.
uproot() { # names
	local n
	for n in "$@"; do
		plant "case whereis($n) of undefined -> ok; P -> exit(P, kill), M = monitor(process, P), receive {'DOWN', M, _, _, _} -> ok end end." >/dev/null
	done
}


# ---- what there is ------------------------------------------------------------------------

# It is at work all the time, and never gets to its mailbox. The length is exact, at each look.
mailbox() {
	plant 'P = spawn(fun() -> register(incident_busy, self()), (fun F() -> lists:sum(lists:seq(1, 1000)), F() end)() end), [P ! {work, N} || N <- lists:seq(1, 5000)], ok.' >/dev/null
	finds mailbox '^incident_busy +<[0-9.]+> +0 +5000 ' mailbox 1000
	plant '[incident_busy ! {work, N} || N <- lists:seq(1, 777)], ok.' >/dev/null
	finds mailbox '^incident_busy +<[0-9.]+> +0 +5777 ' mailbox 1000
	uproot incident_busy
}

# 200 parts of 200 binaries of 256 kB.
binary() {
	plant 'spawn(fun() -> register(incident_leak, self()), put(leak, [binary:part(binary:copy(<<1>>, 262144), 0, 100) || _ <- lists:seq(1, 200)]), receive stop -> ok end end), ok.' >/dev/null
	finds binary '^incident_leak +<[0-9.]+> +2[0-9]{2} +50\.[0-9] MB$' memory
	uproot incident_leak
}

table() {
	plant 'spawn(fun() -> register(incident_owner, self()), ets:new(incident_table, [named_table, public]), (fun F(N) -> ets:insert(incident_table, {N, N}), receive after 1 -> F(N + 1) end end)(1) end), ok.' >/dev/null
	finds table '^incident_table +(incident_table +)?incident_owner +[0-9]+ +[1-9][0-9]* *$' tables
	uproot incident_owner
}

# The first row is the one of most bytes: more than the 540 kB by which the command came into the node.
socket() {
	plant 'spawn(fun() -> register(incident_sender, self()), {ok, L} = gen_tcp:listen(0, [binary, {active, false}, {ip, {127, 0, 0, 1}}]), {ok, No} = inet:port(L), {ok, C} = gen_tcp:connect({127, 0, 0, 1}, No, [binary, {active, false}]), {ok, S} = gen_tcp:accept(L), D = binary:copy(<<1>>, 10000), (fun F() -> ok = gen_tcp:send(C, D), {ok, _} = gen_tcp:recv(S, 10000), receive after 1 -> F() end end)() end), ok.' >/dev/null
	finds socket '^127\.0\.0\.1:[0-9]+ +127\.0\.0\.1:[0-9]+ +incident_sender +0 B +0 B +[0-9.]+ [KM]B +([6-9][0-9]{2}\.[0-9] KB|[0-9.]+ MB)$' sockets
	is 'socket: it is the first' incident_sender "$(awk '/^LOCAL.*BYTES/ { getline; first = $3 } END { print first }' o)"
	uproot incident_sender
}

# ---- what happens -------------------------------------------------------------------------

# On a machine that is busy its share is small, but it is the first of all.
hog() {
	plant 'spawn(fun() -> register(incident_hog, self()), D = binary:copy(<<1>>, 1000000), (fun F() -> erlang:md5(D), F() end)() end), ok.' >/dev/null
	finds hog '^incident_hog +<[0-9.]+> +[1-9][0-9]*$' hogs 0 1
	uproot incident_hog
}

# Two gen_servers that call each other: pg, because every node has it.
deadlock() {
	plant 'Names = [incident_a, incident_b], [{ok, _} = pg:start(N) || N <- Names], Call = fun(Me, Other) -> spawn(fun() -> sys:replace_state(Me, fun(_) -> receive go -> ok end, gen_server:call(Other, hello, infinity) end, infinity) end) end, Call(incident_a, incident_b), Call(incident_b, incident_a), Wait = fun W(N) -> case process_info(whereis(N), current_function) of {_, {prim_eval, _, _}} -> ok; _ -> timer:sleep(1), W(N) end end, [Wait(N) || N <- Names], [N ! go || N <- Names], ok.' >/dev/null
	finds deadlock '^DEADLOCK incident_(a -> incident_b -> incident_a|b -> incident_a -> incident_b)$' waits
	uproot incident_a incident_b
}

# States of a process that waits for another one.
states() {
	plant '{ok, P} = pg:start(incident_slow), spawn(fun() -> sys:replace_state(P, fun(S) -> receive stop -> S end end, infinity) end), spawn(fun() -> register(incident_waits, self()), gen_server:call(incident_slow, hello, infinity) end), ok.' >/dev/null
	finds states '^waiting +[0-9]+ +[0-9]+ +9[0-9]{2} gen:do_call/4 +incident_slow$' states incident_waits 2
	uproot incident_slow
}

# Timers that are started and cancelled all the time.
timers() {
	plant 'spawn(fun() -> register(incident_timers, self()), (fun F() -> R = erlang:start_timer(60000, self(), x), erlang:cancel_timer(R), receive after 1 -> F() end end)() end), ok.' >/dev/null
	finds timers '^incident_timers +[1-9][0-9]*$' timers 3
	uproot incident_timers
}

# Eight processes that write to one table all the time, each for whose lock the others wait.
convoy() {
	plant 'spawn(fun() -> register(incident_maker, self()), ets:new(incident_convoy, [named_table, public]), [spawn_link(fun() -> register(list_to_atom("incident_caller_" ++ integer_to_list(I)), self()), L = [{N, I} || N <- lists:seq(1, 200)], (fun F(K) -> ets:insert(incident_convoy, L), K rem 20 =:= 0 andalso receive after 1 -> ok end, F(K + 1) end)(1) end) || I <- lists:seq(1, 8)], receive stop -> ok end end), ok.' >/dev/null
	finds convoy '^incident_convoy +incident_caller_[1-8] +incident_caller_[1-8] +[1-9][0-9]* +[1-9][0-9]* ' convoy 5
	is 'convoy: the table is the first' incident_convoy "$(awk '/^TABLE/ { getline; print $1; exit }' o)"
	uproot incident_maker
}

all=(mailbox binary table socket hog deadlock states timers convoy)

incidents() { # target, node, what is true of it as long as it works
	local incident
	target=$1 node=$2
	for incident in "${all[@]}"; do
		is_wanted "$incident" "${all[@]}" && "$incident"
	done
	is "$target is still at work" true "$(plant "$3")"
}

if is_wanted demo rabbit; then
	nodes_begin 900
	start demo +S "$schedulers:$schedulers" -s demo_app
	incidents demo demo 'is_pid(whereis(demo_store)).'
fi
if is_wanted rabbit demo; then
	# shellcheck disable=SC2034 # for server.sh
	rabbit_args="+S $schedulers:$schedulers"
	rabbit_begin
	incidents rabbit "$rabbit" 'rabbit:is_running().'
fi
finish
