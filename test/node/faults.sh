#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What goes wrong around it: a disk that is full, no file descriptors, a clock that jumps, signals,
# a node that stands still, a scheduler's thread that is put aside. (Memory that is out is in
# alloc.sh, a cut connection and a suspended command in cut.sh.) FAULTS=name runs one. The last
# line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 400 bare
epmd_begin
here=$(cd "$ebin" && pwd)
cc() { ${CC:-gcc} -O1 "$@"; }
wants() { [ -z "${FAULTS-}" ] || [ "$FAULTS" = "$1" ]; }
state='{[P || P <- [new_processes | processes()], erlang:trace_info(P, flags) =/= {flags, []}], erlang:trace_info({lists, zip3, 3}, traced)}.'
calls() { at "$1" "[lists:zip3([], [], []) || _ <- lists:seq(1, $2)], done."; }
counted() { grep -oE '^ +[0-9]+$' o | tail -n 1 | tr -d ' '; }
start faults
before=$(at faults "$state")

# ---- a disk that is full ------------------------------------------------------------------

full() {
	mkdir full
	if [ "$(id -u)" != 0 ] || ! unshare -m mount -t tmpfs -o size=64k none full 2>/dev/null; then
		echo 'info: not tested: a disk that is full: it takes root, and a tmpfs'
		return
	fi
	for where in '' '-N faults'; do
		# shellcheck disable=SC2016,SC2086 # expanded there; $where is two words
		unshare -m bash -c 'mount -t tmpfs -o size=64k none full && "$@"' bash \
			timeout 120 erltrace $where -o full/out -qn 'tick-1ms { printf("%2000s\n", "x"); }' >o 2>e
		is "full disk${where:+, a node}: exit" 1 $?
		ok "full disk${where:+, a node}: told" grep -qi 'no space left on device' e
	done
	becomes 'full disk: nothing is left in the node' "$before" faults "$state"
	echo 'promise 15: full disk: exit 1, "No space left on device", here and from a node'
}
wants full && full

# ---- no file descriptors ------------------------------------------------------------------

descriptors() {
	local n code codes='' bad=0
	for n in 4 5 6 7 8 9 10 12 14 16 20; do
		(
			ulimit -n "$n"
			exec timeout 60 erltrace -N faults -qn 'BEGIN { printf("hi\n"); exit(0); }'
		) >o 2>e
		code=$?
		codes+=" $n:$code"
		case $code in
		0) grep -q hi o || bad=$((bad + 1)) ;;
		1 | 2) [ -s e ] || bad=$((bad + 1)) ;;
		*) bad=$((bad + 1)) ;;
		esac
	done
	is "few file descriptors ($codes)" 0 "$bad"
	becomes 'few file descriptors: nothing is left in the node' "$before" faults "$state"
	# In the node itself: every one is taken.
	start faults_fd -pa "$here" +P 1024
	# As in a release: all modules are loaded, which takes descriptors too.
	at faults_fd 'application:load(erltrace), {ok, Ms} = application:get_key(erltrace, modules), [code:ensure_loaded(M) || M <- [lists | Ms]], {ok, H0} = erltrace:script("BEGIN {}"), erltrace:close(H0).' >/dev/null
	prlimit --pid "$(at faults_fd 'os:getpid().')" --nofile=64:64 2>/dev/null
	out=$(at faults_fd 'Fs = (fun F(L) -> case file:open("/dev/null", [read, raw]) of {ok, D} -> F([D | L]); {error, E} -> {E, L} end end)([]), R = erltrace:script("erlang*:lists:zip3/3:function-entry { @ = count(); } tick-1s {}"), X = case R of {ok, H} -> lists:zip3([], [], []), W = erltrace:walk(H), erltrace:close(H), W; Error -> Error end, [file:close(D) || D <- element(2, Fs)], {element(1, Fs), X}.')
	is 'no file descriptor in the node' '{emfile,{ok,[{count,[],1}]}}' "$out"
	kill -9 "${pid[faults_fd]}"
	unset 'pid[faults_fd]'
	echo "promise 15: few file descriptors (limit:exit)$codes; in a node without any left: it works"
}
wants descriptors && descriptors

# ---- a clock that jumps -------------------------------------------------------------------

jumps() {
	local i
	cc -shared -fPIC -o clock_jump.so "$root/test/preload/clock_jump.c" || { failed=$((failed + 1)); return; }
	echo 0 >jump
	export CLOCK_JUMP=$PWD/jump
	LD_PRELOAD=$PWD/clock_jump.so start faults_clock
	LD_PRELOAD=$PWD/clock_jump.so erltrace -N faults_clock -qn 'BEGIN { printf("armed\n"); }
		erlang*:lists:zip3/3:function-entry { @ = count(); }
		tick-50ms { printf("%d %d\n", timestamp, walltimestamp); }' >o 2>e &
	command=$!
	ok 'clock: armed' holds o armed
	for i in 3600 -7200 86400 -86400 0; do
		echo "$i" >jump
		calls faults_clock 10 >/dev/null
		seen=$(wc -l <o)
		for ((k = 0; k < 2400 && $(wc -l <o) < seen + 3; k++)); do sleep 0.025; done
		ok "clock: ticks go on after a jump to $i s" [ "$(wc -l <o)" -ge $((seen + 3)) ]
		# (the wall clock is looked at now and then, and lines may have waited in a buffer)
		for ((k = 0; k < 2400; k++)); do
			now=$(awk 'NF == 2 { w = $2 } END { printf "%d", w / 1e9 }' o)
			late=$((now - $(date +%s) - i))
			[ ${late#-} -gt 30 ] || break
			sleep 0.025
		done
		ok "clock: walltimestamp is at $i s too: $late s off" [ ${late#-} -le 30 ]
	done
	untrace
	is 'clock: exit' 0 "$status"
	is 'clock: all are counted' 50 "$(counted)"
	is 'clock: timestamp never goes back' 0 "$(awk 'NF == 2 { bad += $1 < t; t = $1 } END { print bad + 0 }' o)"
	kill -9 "${pid[faults_clock]}"
	unset 'pid[faults_clock]' CLOCK_JUMP
	echo 'promise 16: the wall clock jumps by an hour and a day, to and fro: timestamp goes on, nothing is lost'
}
wants jumps && jumps

# ---- signals ------------------------------------------------------------------------------

# Those that say nothing to it come by the hundred, to the command and to the node.
signals() {
	local i vm
	trace faults -qn 'erlang*:lists:zip3/3:function-entry { @ = count(); } tick-10ms { }' || return
	vm=$(at faults 'os:getpid().')
	for ((i = 0; i < 200; i++)); do
		kill -WINCH "$command" && kill -CONT "$command" && kill -CHLD "$command" && kill -URG "$command"
		kill -WINCH "$vm" && kill -CONT "$vm" && kill -URG "$vm"
		((i % 20 == 0)) && calls faults 10 >/dev/null
	done
	untrace
	is 'signals: exit' 0 "$status"
	is 'signals: all are counted' 100 "$(counted)"
	is 'signals: nothing is said' '' "$(grep -v 'matched' e)"
	echo 'promise 12: 1400 signals to command and node: 100 of 100 counted'
}
wants signals && signals

# ---- a node that stands still -------------------------------------------------------------

# For a while: it goes on. For longer: the command that is to end says what it waits for, and can be
# ended at once; the node, when it runs again, takes everything back.
still() {
	local vm
	vm=$(at faults 'os:getpid().')
	trace faults -qn 'erlang*:lists:zip3/3:function-entry { @ = count(); } tick-100ms { printf("tick\n"); }' || return
	calls faults 5 >/dev/null
	kill -STOP "$vm"
	sleep 1.5
	kill -CONT "$vm"
	seen=$(grep -c tick o)
	for ((i = 0; i < 2400 && $(grep -c tick o) < seen + 3; i++)); do sleep 0.025; done
	calls faults 5 >/dev/null
	untrace
	is 'a node stands still for 1.5 s: exit' 0 "$status"
	is 'a node stands still for 1.5 s: all are counted' 10 "$(counted)"
	trace faults -qn 'erlang*:lists:zip3/3:function-entry { @ = count(); } tick-100ms { printf("tick\n"); }' || return
	calls faults 5 >/dev/null
	ok 'ticks' holds o tick
	kill -STOP "$vm"
	kill -TERM "$command"
	ok 'a node stands still: what is waited for is told' holds e 'has not ended the script yet: interrupt once more'
	kill -TERM "$command"
	wait "$command" 2>/dev/null
	is 'a node stands still: the second signal ends the command' 143 $?
	command=''
	kill -CONT "$vm"
	becomes 'a node stood still: nothing is left' "$before" faults "$state"
	echo 'promise 15: a node that stands still: told after 5 s, the second ^C leaves; nothing is left when the node goes on'
}
wants still && still

# ---- a scheduler that is put aside --------------------------------------------------------

# One thread of the node is held, in the midst of events as it happens, while the others work: what
# was gathered is read all the same, and all of it afterwards.
held() {
	local vm tid i ms worst=0 got
	cc -o hold_thread "$root/test/node/hold_thread.c" || { failed=$((failed + 1)); return; }
	start faults_held -pa "$here" +S 2:2
	vm=$(at faults_held 'os:getpid().')
	tid=$(grep -lE '^(erts_sched_1|1_scheduler)$' /proc/"$vm"/task/*/comm 2>/dev/null | sed -n '1s|.*/task/\([0-9]*\)/.*|\1|p')
	if [ -z "$tid" ] || ! ./hold_thread "$tid" 1 >held.out 2>&1; then
		echo "info: not tested: a scheduler that is put aside: $(head -n 1 held.out 2>/dev/null)"
		return
	fi
	at faults_held 'L = fun L(N) -> receive {stop, P} -> P ! {n, N} after 0 -> lists:zip3([], [], []), L(N + 1) end end, [register(list_to_atom("busy" ++ integer_to_list(I)), spawn_opt(fun() -> L(0) end, [{scheduler, 1}])) || I <- [1, 2]], register(reader, spawn_opt(fun() -> {ok, H} = erltrace:script("erlang*:lists:zip3/3:function-entry { @ = count(); }"), (fun R() -> receive {walk, P} -> T = erlang:monotonic_time(millisecond), V = case erltrace:aggregations(H) of {ok, [{_, _, _, N}]} -> N; {ok, []} -> 0 end, P ! {V, erlang:monotonic_time(millisecond) - T}, R() end end)() end, [{scheduler, 2}])), ok.' >/dev/null
	read_it='reader ! {walk, self()}, receive {V, Ms} when is_integer(V) -> Ms after 30000 -> none end.'
	at faults_held "$read_it" >/dev/null
	for ((i = 0; i < ${HOLDS:-3}; i++)); do
		rm -f held.out
		./hold_thread "$tid" 1000 >held.out &
		ok 'held' holds held.out held
		ms=$(at faults_held "$read_it")
		ok "a scheduler is held: read after $ms ms" [ "$ms" != none ]
		[ "$ms" != none ] && [ "$ms" -gt "$worst" ] && worst=$ms
		wait $!
	done
	got=$(at faults_held 'N = lists:sum([begin P ! {stop, self()}, receive {n, K} -> K end end || P <- [busy1, busy2]]), reader ! {walk, self()}, receive {V, Ms} when is_integer(Ms) -> V =< N andalso V > 0 after 30000 -> none end.')
	is 'a scheduler was held: the counts are right' true "$got"
	echo "promise 7: a scheduler's thread held for a second, ${HOLDS:-3} times: what was gathered is read meanwhile, after $worst ms at most"
	kill -9 "${pid[faults_held]}"
	unset 'pid[faults_held]'
}
wants held && held
finish
