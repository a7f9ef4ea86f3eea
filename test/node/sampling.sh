#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# profile-N in a node, as any user: the stacks of what the schedulers run; what is told where it is
# not possible. (test/erl/sampler_tests.erl: that they are right.) The last line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 400
busy='spawn(fun() -> register(busy, self()), (fun G() -> [erlang:phash2({N, lists:seq(1, 100)}) || N <- lists:seq(1, 100)], G() end)() end).'

start nodes
at nodes "$busy" >/dev/null
timeout 60 erltrace -N nodes -qn 'profile-97 { @[ustack()] = count(); } profile-97 /erlname == "busy"/ { @s[erlstate] = count(); n++; } tick-100ms /n > 100/ { exit(0); }' >o 2>e
is 'it ends' 0 $?
is 'nothing is said' '' "$(cat e)"
has 'a BIF is the newest frame of its caller' '^ +erlang:phash2/1$'
has 'the interpreter of funs is below' '^ +erl_eval:'
has 'what it was at' '^ +bif +[1-9]'
has 'and Erlang code' '^ +erlang +[1-9]'

timeout 60 erltrace -N nodes -qn 'profile-wall-97 /erlstate == "waiting"/ { @[erlname, ustack()] = count(); n++; } tick-100ms /n > 200/ { exit(0); }' >o 2>e
is 'profile-wall-N ends' 0 $?
has 'a process that waits' '^ +gen_server:loop/[0-9]'
is 'profile-wall-N says nothing else' '' "$(cat e)"

erltrace -qn 'profile-wall-97 { @[ustack()] = count(); }' >o 2>e
is 'profile-wall-N needs a node' 1 $?
ok 'which is told' grep -q 'say which (-N NODE)' e

# A script with a tick has a thread of its own in the node, which blocks all signals. It is no scheduler.
start ticking
at ticking "$busy" >/dev/null
erltrace -N ticking -qn 'tick-10ms { printf("tick\n"); @ = count(); }' >ticks 2>/dev/null &
ticks=$!
ok 'a script ticks' holds ticks tick
for while in 'while a script ticks' 'once more'; do
	timeout 60 erltrace -N ticking -qn 'profile-97 { @[ustack()] = count(); n++; } tick-100ms /n > 20/ { exit(0); }' >o 2>e
	is "$while it samples" 0 $?
	is "$while nothing is said" '' "$(cat e)"
	has "$while there are stacks" '^ +erl_eval:'
done
kill -TERM "$ticks"
wait "$ticks"

# One CPU, which is busy: a dirty scheduler runs from one tick of the clock on and, if it soon sleeps again, is not
# there at the next. The test of samples, before the first, did not see any of it then.
if command -v taskset >/dev/null; then
	cpu=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')
	for i in 1 2 3; do
		is 'a busy node on one CPU' ok "$(taskset -c "$cpu" erl -noshell -pa "$ebin" -eval '
			spawn(fun G() -> lists:sort(lists:seq(1, 500)), G() end),
			io:format("~0tp", [erltrace_sampling:available()]), halt().' 2>&1 </dev/null)"
	done
fi

# The node's settings forbid it: that is an error, not an empty result.
for setting in sampling vm_internals; do
	start "no_$setting" -erltrace $setting false
	timeout 60 erltrace -N "no_$setting" -qn 'profile-97 { @[ustack()] = count(); }' >o 2>e
	is "$setting: exit" 1 $?
	ok "$setting: why" grep -q "cannot be seen in this node: the node's setting $setting is false" e
	timeout 60 erltrace -N "no_$setting" -qn 'profile-97 { n++; } tick-100ms /n > 3/ { exit(0); }' >o 2>e
	is "$setting: without looking at what it interrupts it fires" 0 $?
done

# A flag of the emulator may rule it out: it is named.
start jit_perf +JPperf true
timeout 60 erltrace -N jit_perf -qn 'profile-97 { @[ustack()] = count(); } tick-1s { exit(0); }' >o 2>e
ok '+JPperf: it samples, or that is named' grep -qE '^$|\(the node was started with \+JPperf true\)' <(cat e; [ -s e ] || echo)

timeout 60 erltrace -N nodes -qn 'tick-10ms { @[ustack()] = count(); }' >o 2>e
is 'a tick interrupts nothing' 1 $?
ok 'profile-N is told of' grep -q 'profile-N can: profile-97' e

# SIGPROF is somebody else's: another signal is taken. All are: that is told.
samples_here() { # library to preload, what to set
	preloaded "$1" env "${@:2}" erl -noshell -pa "$ebin" -eval '
		{ok, H} = erltrace:open(),
		ok = erltrace:compile(H, "profile-97 { @[ustack()] = count(); n++; } tick-50ms /n > 5/ { exit(0); }"),
		spawn(fun G() -> lists:sort(lists:seq(1, 500)), G() end),
		io:format("~0tp~n", [erltrace:go(H)]), halt().' 2>&1 </dev/null
}
is 'another signal is taken' ok "$(samples_here takes_signals A=b)"
ok 'no signal is free: it is told' grep -q 'no signal is free for samples' <<<"$(samples_here takes_signals TAKE_ALL=1)"
# Where scripts begin at once, schedulers start threads, and block all signals meanwhile.
is 'signals that are blocked for a moment' ok "$(samples_here blocks_signals LOOKS=20)"
ok 'and for good: it is told, with the thread' grep -qE 'no signal is free for samples: the thread .*_(sch|dcpus|dios).* blocks them' \
	<<<"$(samples_here blocks_signals LOOKS=1000000)"
# A thread that a NIF has started has its scheduler's name, and may block them for good.
is 'a thread with the name of a scheduler' ok "$(samples_here named_thread A=b)"

# Without any privilege: the node and the command belong to nobody.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	mkdir -m 777 "$tmp/nobody"
	chmod 755 "$tmp"
	cp -r "$ebin" "$(dirname "$ebin")/priv" "$tmp/nobody/" 2>/dev/null
	cp "$(command -v erltrace)" "$tmp/nobody/"
	chmod -R a+rX "$tmp/nobody"
	setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs --inh-caps=-all \
		--bounding-set=-all env HOME="$tmp/nobody" erl -noshell -pa "$tmp/nobody/ebin" -eval '
		spawn(fun G() -> lists:sort(lists:seq(1, 500)), G() end),
		{ok, H} = erltrace:open(),
		ok = erltrace:compile(H, "profile-97 { @[erlstate, ustack()] = count(); n++; } tick-50ms /n > 50/ { exit(0); }"),
		ok = erltrace:go(H),
		(fun W() -> case erltrace:status(H) of {ok, #{running := false}} -> ok; _ -> receive after 20 -> W() end end end)(),
		{ok, A} = erltrace:aggregations(H),
		io:format("~0tp~n", [[F || {_, _, [_, F], _} <- A, F =/= []]]), halt().' >o 2>e </dev/null
	is 'as nobody: exit' 0 $?
	ok 'as nobody: stacks' grep -q 'lists:' o

	# Without a node it never samples its own thread in silence: it says what is missing, and what can.
	as_nobody() {
		setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs --inh-caps=-all \
			--bounding-set=-all env HOME="$tmp/nobody" timeout 60 "$tmp/nobody/erltrace" "$@" >o 2>e </dev/null
	}
	for of in '' "-p ${pid[nodes]}"; do
		# shellcheck disable=SC2086 # none, or two words
		as_nobody $of -qn 'profile-499 { @[ustack()] = count(); }'
		is "as nobody, ${of:+-p }without a node: exit" 1 $?
		is "as nobody, ${of:+-p }without a node: no samples" '' "$(cat o)"
		ok "as nobody, ${of:+-p }without a node: what is missing" grep -qE 'root|CAP_BPF|not in this build' e
		ok "as nobody, ${of:+-p }without a node: what can" grep -q 'erltrace -N' e
	done
fi

finish
