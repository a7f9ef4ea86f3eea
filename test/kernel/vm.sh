#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Erlang probes that are functions of the VM, on a stock node, by exact counts of known workloads.
# VM_ROOT: a folder with another system, in which the nodes run (a container's, or tools/test-otp.sh
# has one): its VM is traced from outside. The last line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
needs_kernel
nodes_begin 300 bare
epmd_begin
start kvm_a
start kvm_b
p=${pid[kvm_a]}
nm -D "/proc/$p/exe" 2>/dev/null | grep -q copy_struct_x || skip 'this VM hides its functions'
other=$(at kvm_b 'node().')
here=$(at kvm_a 'node().')
at kvm_a "net_adm:ping('$other')." >/dev/null

run() { trace_process "$p" -n "$1"; } # clauses
done_() { # name
	untrace
	is "$1: exit code" 0 "$status"
	is "$1: nothing is said" '' "$(cat e)"
}

# ---- messages, copies, exit signals -------------------------------------------------------

run 'erlang*:::message-receive { @r[copyinstr(arg0)] = count(); @l[copyinstr(arg0), "longest"] = max(arg2); }
	erlang*:::message-receive /arg3 == 1717/ { @t[copyinstr(arg0), arg4, arg5] = count(); }
	erlang*:::copy-struct /arg0 == 777/ { @c["struct", arg0] = count(); }
	erlang*:::copy-object /arg1 == 778/ { @o["object", copyinstr(arg0)] = count(); }
	erlang*:::process-exit_signal { @x[copyinstr(arg0), copyinstr(arg1), copyinstr(arg2)] = count(); }'
who=$(at kvm_a 'S = self(), P = spawn(fun() -> receive go -> ok end, (fun F(0) -> S ! done; F(N) -> receive {x, _} -> F(N - 1) end end)(4000) end), [P ! {x, a} || _ <- lists:seq(1, 4000)], P ! go, receive done -> P end.')
token=$(at kvm_a 'S = self(), P = spawn(fun() -> receive x -> S ! done end end), seq_trace:set_token(label, 1717), P ! x, seq_trace:set_token([]), receive done -> P end.')
at kvm_a 'T = erlang:make_tuple(776, a), P = spawn(fun() -> receive stop -> ok end end), [P ! T || _ <- lists:seq(1, 1500)], P ! stop.' >/dev/null
copier=$(at kvm_a 'T = erlang:make_tuple(777, a), X = ets:new(x, []), ets:insert(X, [{N} || N <- lists:seq(1, 250)]), 250 = length(ets:select(X, [{{'"'_'"'}, [], [{const, T}]}])), self().')
victim=$(at kvm_a 'P = spawn(fun() -> process_flag(trap_exit, true), (fun F(0) -> ok; F(N) -> receive {'"'EXIT'"', _, _} -> F(N - 1) end end)(300) end), [exit(P, {bad, 17, self(), N}) || N <- [a], _ <- lists:seq(1, 300)], P.')
linked=$(at kvm_a 'S = self(), P = spawn(fun() -> process_flag(trap_exit, true), [spawn_link(fun() -> exit(nasty) end) || _ <- lists:seq(1, 200)], [receive {'"'EXIT'"', _, nasty} -> ok end || _ <- lists:seq(1, 200)], S ! done end), receive done -> P end.')
at kvm_a 'P = spawn(fun() -> receive stop -> ok end end), exit(P, {list_to_atom(lists:duplicate(255, $b))}).' >/dev/null
killed=$(at kvm_a 'P = spawn(fun() -> receive stop -> ok end end), exit(P, kill), P.')
me=$(at kvm_a 'self().')
done_ 'messages'
has 'message-receive' "^ *$who +4001\$"
has 'queue length' "^ *$who +longest +400[01]\$"
has 'token' "^ *$token +0 +1 +1\$"
has 'copy-struct' '^ *struct +777 +1500$'
has 'copy-object' "^ *object +$copier +250\$"
has 'signals of exit/2, a term as reason' "^ *$me +$victim +\\{bad,17,$me,a\\} +300\$"
is 'signals of links' 200 "$(grep -cE "^ *<0\\.[0-9]+\\.[0-9]+> +$linked +nasty +1\$" o)"
# the brace and what ends the text once were written behind its room
has 'a tuple that is cut has its brace' ' [{]b{253}[}] +1$'
has 'one that is killed' "^ *$me +$killed +killed +1\$"

# ---- other nodes --------------------------------------------------------------------------

run 'erlang*:::process-exit_signal-remote
	{ @x[copyinstr(arg0), copyinstr(arg1), copyinstr(arg2), copyinstr(arg3)] = count(); }
	erlang*:::dist-output, erlang*:::dist-outputv /arg3 > 50000/
	{ @d[probename, copyinstr(arg0), copyinstr(arg1), copyinstr(arg2)] = count(); @["least"] = min(arg3); @m["most"] = max(arg3); }'
port=$(at kvm_a "{value, {_, P}} = lists:search(fun({N, _}) -> N =:= '$other' end, erlang:system_info(dist_ctrl)), P.")
far=$(at kvm_a "P = rpc:call('$other', erlang, spawn, [timer, sleep, [100000]]), [exit(P, {normal, N}) || N <- lists:seq(1, 3)], P.")
near=$(at kvm_a "P = rpc:call('$other', erlang, spawn, [timer, sleep, [100000]]), {L, R} = spawn_monitor(fun() -> link(P), exit(zz) end), receive {'DOWN', R, _, _, _} -> {L, P} end.")
at kvm_a "[{x, '$other'} ! binary:copy(<<1>>, 50000) || _ <- lists:seq(1, 200)], rpc:call('$other', erlang, node, [])." >/dev/null
done_ 'distribution'
has 'exit/2 to another node' "^ *$me +$other +$far +\\{normal,1\\} +1\$"
has 'a link to another node' "^ *$(sed 's/{\(.*\),\(.*\)}/\1 +'"$other"' +\2/' <<<"$near") +zz +1\$"
has 'dist-outputv' "^ *dist-outputv +$here +$port +$other +200\$"
is 'bytes: those of the message and few more' 2 \
	"$(awk '($1 == "least" || $1 == "most") && $2 < 50200 { print $2 }' o | wc -l)"
hasnt 'no dist-output: the driver has outputv' 'dist-output '

# ---- ports --------------------------------------------------------------------------------

run 'erlang*:::port-busy, erlang*:::port-not_busy { @b[probename, copyinstr(arg0)] = count(); }
	erlang*:::dist-port_not_busy { @n[probename, copyinstr(arg0), copyinstr(arg1), copyinstr(arg2)] = count(); }
	erlang*:::driver-process_exit { @e[probename, copyinstr(arg1), copyinstr(arg2)] = count(); }
	erlang*:::driver-ready_async { @a[probename, copyinstr(arg2)] = count(); }'
kill -STOP "${pid[kvm_b]}"
# Busy is who has more than 8 KiB waiting; the sender may be suspended before the port has even run.
busy=$(at kvm_a "D = list_to_port(\"$port\"), P = spawn(fun() -> (fun F() -> {x, '$other'} ! binary:copy(<<1>>, 100000), F() end)() end), (fun F() -> case {process_info(P, status), erlang:port_info(D, queue_size)} of {{_, suspended}, {_, Q}} when Q > 8192 -> P; _ -> F() end end)().")
kill -CONT "${pid[kvm_b]}"
at kvm_a "exit(list_to_pid(\"$busy\"), kill), rpc:call('$other', erlang, node, [])." >/dev/null
acceptors=$(at kvm_a '{ok, L} = gen_tcp:listen(0, []), put(l, L), Ps = [spawn(fun() -> gen_tcp:accept(L) end) || _ <- lists:seq(1, 30)], [(fun F() -> case process_info(P, status) of {_, waiting} -> exit(P, kill); _ -> F() end end)() || P <- Ps], L.')
at kvm_a '[(fun F() -> case is_process_alive(P) of true -> F(); false -> ok end end)() || P <- processes(), {_, {gen_tcp, _, _}} <- [process_info(P, initial_call)]].' >/dev/null
closed=$(at kvm_a 'L = get(l), gen_tcp:close(L), L.')
done_ 'ports'
is 'the listening socket' "$acceptors" "$closed"
n=$(awk -v p="$port" '$1 == "port-not_busy" && $2 == p { print $3 }' o)
ok 'the connection was busy' test "${n:-0}" -ge 1
has 'as often busy as not' "^ *port-busy +$port +$n\$"
has 'dist-port_not_busy as often' "^ *dist-port_not_busy +$here +$port +$other +$n\$"
has 'driver-process_exit' "^ *driver-process_exit +$closed +tcp_inet +30\$"
# The driver of the terminal: up to OTP 25, once an answer; that of the last may come when the answer
# has been read, and tracing is over.
if grep -q driver-ready_async o; then
	has 'driver-ready_async' '^ *driver-ready_async +0/1 +[45]$'
fi
finish
