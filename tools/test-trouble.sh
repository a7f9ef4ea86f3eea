#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# make test-trouble: the first look at a node in trouble: the first command names the culprit, each time.
# The nodes: one that is saturated (four processes that are busy, on two schedulers), one with 100,000 processes,
# one whose dirty schedulers are all taken, and RabbitMQ with 300,000 messages in a queue. In each there
# is a process with a long mailbox that is busy, one that holds binaries, one with a large heap, and a deadlock.
# As root it becomes nobody, who then runs the nodes and the commands.
#
#	tools/test-trouble.sh [saturated | large | dirty | rabbit]...    without names all
#
# TIMES: how often each command is run (20). RECON: the folder with the .beam files of recon, which is asked
# the same, in the same nodes, after each command; without it, it is left out. For each a line says how often
# it named the culprit, and the median and the longest time in ms until it did: from the start of the command
# on, and (in the node) from when it was armed on. For recon it is the time of an erl that connects and calls it,
# and (in the node) that of the call. LOOKS=samples: only samples are looked at. DIRTY_CPU=1: in the node dirty, those for computing are taken too.

# shellcheck source=tools/rabbit/as_nobody.sh
. "$(dirname "${BASH_SOURCE[0]}")/rabbit/as_nobody.sh"
# shellcheck source=test/lib/nodelib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../test/lib/nodelib.sh"
# shellcheck disable=SC2034 # for server.sh
messages=1000 bytes=200
# shellcheck source=tools/rabbit/server.sh
. "$root/tools/rabbit/server.sh"
wanted=" $* "
times=${TIMES:-20}
queued=300000

# Evaluated in the node; prints the value.
plant() { # expressions
	if [ "$kind" = rabbit ]; then
		/usr/lib/rabbitmq/bin/rabbitmqctl -q -n "$rabbit" eval "$1" 2>>plant.err
	else
		at "$node" "$1"
	fi
}

now() {
	date +%s%3N
}

# One command, until it has printed such a line or ends, a minute at most: ms from its start on and from when
# it was armed on, or nothing.
look() { # line, script, its arguments
	local line=$1 script=$2 began i took='' armed=''
	shift 2
	rm -f o e
	began=$(now)
	erltrace -N "$node" -x argref -qn 'BEGIN { printf("armed\n"); }' -s "$root/scripts/$script.d" "$@" >o 2>e &
	command=$!
	for ((i = 0; i < 6000; i++)); do
		[ -z "$armed" ] && grep -q "^armed" o 2>/dev/null && armed=$(now)
		if grep -qE "$line" o 2>/dev/null; then
			took=$(($(now) - began))
			break
		fi
		kill -0 "$command" 2>/dev/null || break
		sleep 0.01
	done
	grep -qE "$line" o && took=${took:-$(($(now) - began))}
	untrace
	[ -n "$took" ] && echo "$took $((began + took - ${armed:-$began}))"
}

summary() { # what, whence; times in ms, one in each line of its input
	sort -n | awk -v what="$1" -v whence="$2" -v kind="$kind" -v times="$times" '{ t[NR] = $1 }
		END { printf "%-10s %-40s %2d of %d   median %6d   longest %6d ms %s\n", kind, what, NR, times,
			t[int((NR + 1) / 2)], t[NR], whence }'
}

# A script and a call of recon in turn. The call's value is a list of processes, which has to have the culprit.
names() { # what it finds, line, is the process P with the attributes A of recon it, recon's call; script, arguments
	local what=$1 line=$2 culprit=$3 call=$4 i ms
	shift 4
	rm -f ms theirs missed
	touch ms theirs
	for ((i = 0; i < times; i++)); do
		ms=$(look "$line" "$@")
		if [ -n "$ms" ]; then
			echo "$ms" >>ms
		else
			head -n 40 o e | sed 's/^/    /' >>missed
		fi
		[ -n "${RECON:-}" ] && [ -n "$call" ] && recon "$call" "$culprit" >>theirs
	done
	cut -d ' ' -f 1 ms | summary "$*" ''
	cut -d ' ' -f 2 ms | summary "$*" 'in the node'
	if [ -n "${RECON:-}" ] && [ -n "$call" ]; then
		cut -d ' ' -f 1 theirs | summary "$call" ''
		cut -d ' ' -f 2 theirs | summary "$call" 'in the node'
	fi
	is "$kind: $what: times that $* named it" "$times" "$(wc -l <ms)"
	[ -s missed ] && cat missed
}

# recon's call in the node, by an erl that connects to it: ms from its start on and of the call, or nothing.
recon() { # call, is P with the attributes A the culprit
	local began ms
	began=$(now)
	ms=$(erl -noshell -hidden -start_epmd false -sname "recon$$@${node_name#*@}" -setcookie "$(cat .erlang.cookie)" -eval "
		{ok, Ts, _} = erl_scan:string(\"{T, V} = timer:tc(fun() -> $1 end), {T div 1000, lists:any(fun({P, _, A}) -> $2 end, V)}.\"),
		{ok, Es} = erl_parse:parse_exprs(Ts),
		{value, {Ms, true}, _} = rpc:call('$node_name', erl_eval, exprs, [Es, []], 60000),
		io:format(\"~b~n\", [Ms]), halt()." 2>>recon.err)
	[[ $ms =~ ^[0-9]+$ ]] && echo "$(($(now) - began)) $ms"
}

culprits() {
	plant 'P = spawn(fun() -> register(trouble_busy, self()), (fun F() -> lists:sum(lists:seq(1, 1000)), F() end)() end), [P ! {work, N} || N <- lists:seq(1, 5000)], ok.' >/dev/null
	plant 'spawn(fun() -> register(trouble_leak, self()), put(leak, [binary:part(binary:copy(<<1>>, 262144), 0, 100) || _ <- lists:seq(1, 200)]), receive stop -> ok end end), ok.' >/dev/null
	plant 'spawn(fun() -> register(trouble_heap, self()), L = lists:seq(1, 3000000), receive stop -> L end end), ok.' >/dev/null
	plant 'Names = [trouble_a, trouble_b], [{ok, _} = pg:start(N) || N <- Names], Call = fun(Me, Other) -> spawn(fun() -> sys:replace_state(Me, fun(_) -> receive go -> ok end, gen_server:call(Other, hello, infinity) end, infinity) end) end, Call(trouble_a, trouble_b), Call(trouble_b, trouble_a), Wait = fun W(N) -> case process_info(whereis(N), current_function) of {_, {prim_eval, _, _}} -> ok; _ -> timer:sleep(1), W(N) end end, [Wait(N) || N <- Names], [N ! go || N <- Names], ok.' >/dev/null
	[ -n "${RECON:-}" ] && plant "true = code:add_patha(\"$RECON\"), {module, _} = code:load_file(recon), {module, _} = code:load_file(recon_lib), ok." >/dev/null
}

# By samples, in a node where a script with a tick runs already.
samples() { # functions, one of which has most of the time
	local ticks
	erltrace -N "$node" -qn 'BEGIN { printf("armed\n"); } tick-1s { @ = count(); }' >ticks 2>&1 &
	ticks=$!
	holds ticks '^armed' >/dev/null
	names 'where the CPU time goes' "^ +[0-9.]+ +[0-9]{2,}\.[0-9] .*($1)" '' '' cpu 1
	kill "$ticks"
	wait "$ticks" 2>/dev/null
}

looks() { # line of the largest heap, is P with the attributes A it, functions that are busy
	samples "$3"
	[ "${LOOKS:-}" = samples ] && return
	names 'who does most' '^trouble_busy +<[0-9.]+> ' 'hd(A) =:= trouble_busy' 'recon:proc_window(reductions, 10, 1000)' top 1
	names 'the longest mailbox' '^trouble_busy +<[0-9.]+> +0 +5000 ' 'hd(A) =:= trouble_busy' \
		'recon:proc_count(message_queue_len, 10)' mailbox 1000 1
	names 'who holds binaries' '^trouble_leak +<[0-9.]+> +[0-9a-z]+ +50\.[0-9] MB$' 'hd(A) =:= trouble_leak' \
		'recon:proc_count(binary_memory, 10)' memory 1
	names 'the largest heap' "$1" "$2" 'recon:proc_count(memory, 10)' memory 1
	names 'the deadlock' '^DEADLOCK trouble_(a -> trouble_b -> trouble_a|b -> trouble_a -> trouble_b)$' '' '' \
		waits 0 1
}

sums='lists:(seq|sum|foldl)|erl_eval' # of trouble_busy
heap='^trouble_heap +<[0-9.]+> +[0-9]{2,}\.[0-9] MB$'

is_wanted() {
	[[ $wanted == '  ' || $wanted == *" $1 "* ]]
}

node_of() { # kind; more arguments of erl
	kind=$1 node=$1 node_name=$1@$(hostname -s)
	[ -n "$epmd" ] || nodes_begin 3600
	start "$node" +S 2:2 +P 300000 "${@:2}"
	culprits
}

end_node() {
	kill -9 "${pid[$node]}" 2>/dev/null
	unset "pid[$node]"
}

if is_wanted saturated; then
	node_of saturated
	# shellcheck disable=SC2016 # Erlang
	at saturated '[spawn(fun() -> (fun F() -> re:run(lists:duplicate(2000, $a), "(a+)+b"), F() end)() end) || _ <- lists:seq(1, 4)], ok.' >/dev/null
	looks "$heap" 'hd(A) =:= trouble_heap' 're:run|re_run_trap'
	end_node
fi
if is_wanted large; then
	node_of large
	at large '[spawn(fun() -> receive stop -> ok end end) || _ <- lists:seq(1, 100000)], ok.' >/dev/null
	looks "$heap" 'hd(A) =:= trouble_heap' "$sums"
	end_node
fi
if is_wanted dirty; then
	[ -n "$epmd" ] || nodes_begin 3600
	mkfifo pipe
	# As a release runs: no file can be read now, and to accept a connection the VM calls crypto.
	node_of dirty -mode embedded +SDio 10
	at dirty 'code:ensure_modules_loaded([crypto]).' >/dev/null
	if [ "${DIRTY_CPU:-}" = 1 ]; then
		at dirty '[spawn(fun() -> crypto:pbkdf2_hmac(sha256, <<"a">>, <<"b">>, 1 bsl 30, 64) end) || _ <- [1, 2, 3, 4]], ok.' >/dev/null
	fi
	at dirty "[spawn(fun() -> file:open(\"$tmp/pipe\", [read, raw]) end) || _ <- lists:seq(1, 12)], ok." >/dev/null
	looks "$heap" 'hd(A) =:= trouble_heap' "$sums"
	end_node
fi
if is_wanted rabbit; then
	# shellcheck disable=SC2034 # for server.sh
	rabbit_args='+S 2:2'
	[ -n "$epmd" ] || nodes_begin 3600
	rabbit_begin
	kind=rabbit node=$rabbit node_name=$rabbit
	culprits
	erl -noshell -pa "$tmp" "${paths[@]}" -run rabbit_load fill "$port" "$queued" "$bytes" >fill.out 2>&1
	is 'rabbit: messages in the queue' "filled $queued" "$(tail -n 1 fill.out)"
	looks '^rabbit_prequeue:init/1 +<[0-9.]+> +[0-9]{2,}\.[0-9] MB$' \
		'A =/= [] andalso proc_lib:translate_initial_call(P) =:= {rabbit_prequeue, init, 1}' "$sums"
fi
finish
