#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Probes of a node as the command shows and uses them: which there are and which not, modules that
# are loaded while it runs, probes that a process of ours fires; and that nothing of it is left.

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/nodelib.sh"
nodes_begin 400
start probes_a
start probes_b
host=$(at probes_b 'node().')
host=${host//\'/}
meet="Alone = fun Alone() -> case nodes() of [] -> ok; _ -> timer:sleep(5), Alone() end end,
	net_kernel:connect_node('$host'), erlang:disconnect_node('$host'), Alone()."
meet=${meet//$'\n'/ }

# ---- the list -------------------------------------------------------------------------------

erltrace -N probes_a -ln 'erlang*:::message-*' >o 2>e
has 'given' 'message-send$'
has 'not given' 'message-receive \(not here\)$'
erltrace -N probes_a -lvn 'erlang*:::message-*' >o 2>e
has 'why not' 'needs the kernel engine: .*beam_jit_remove_message'
has 'what to know' 'the token \(arg3 to arg5\) is 0'

# ---- a module that comes later --------------------------------------------------------------

trace probes_a -Zqn 'erlang*:probes_late:f:function-entry { @[probemod] = count(); }'
# One line; the session of OTP 27 and later cannot be asked: there the time for a look must do.
load='{ok, M, C} = compile:forms([{attribute,1,module,probes_late}, {attribute,1,export,[{f,0}]},
	{function,1,f,0,[{clause,1,[],[],[{atom,1,ok}]}]}]),
	{module, M} = code:load_binary(M, "made", C),
	Sessions = erlang:function_exported(trace, session_create, 3),
	Wait = fun Wait() -> case erlang:trace_info({M, f, 0}, call_count) of
		{call_count, N} when is_integer(N) -> ok;
		_ when Sessions -> timer:sleep(1000);
		_ -> timer:sleep(5), Wait()
	end end,
	Wait(), [M:f() || _ <- lists:seq(1, 25)], ok.'
is 'loaded' ok "$(at probes_a "${load//$'\n'/ }")"
untrace
has 'its calls' '^ *probes_late +25$'
ok '-Z: what matches nothing yet is told' grep -qE \
	'warning: erlang\*:probes_late:f:function-entry matches nothing yet: module probes_late is not loaded' e
erltrace -N probes_a -Zqn 'erlang*:lits:seq:function-exception,BEGIN { exit(0); }' >o 2>e
is '-Z: exit' 0 $?
ok '-Z: a similar name' grep -qE "warning: .*function-exception matches nothing yet: .*did you mean 'lists'" e
erltrace -N probes_a -xzdefs -qn 'BEGIN { exit(0); }' >o 2>e
is 'zdefs and all matched: no warning' '' "$(cat e)"

# ---- nodes ----------------------------------------------------------------------------------

trace probes_a -qn 'erlang*:::dist-monitor
	{ printf("%s %s %s\n", copyinstr(arg1), copyinstr(arg2), copyinstr(arg3)); }'
at probes_a "$meet" >/dev/null # they may have met again by themselves: so twice
at probes_a "$meet" >/dev/null
ok 'down' holds o "^nodedown '?$host'? visible"
ok 'up' holds o "^nodeup '?$host'? visible"
untrace

# ---- a system monitor of the node's own -----------------------------------------------------

# As RabbitMQ has one: dist.d goes on without the probe that needs it.
at probes_a 'P = spawn(timer, sleep, [infinity]), register(sysmon, P), erlang:system_monitor(P, [{long_gc, 100000}]).' >/dev/null
trace probes_a -s "$root/scripts/dist.d"
at probes_a "$meet" >/dev/null
at probes_a "$meet" >/dev/null
ok 'its other probes fire' holds o "^nodeup '?$host'?"
untrace
is 'dist.d: exit' 0 "$status"
if [ "$(at probes_a 'code:ensure_loaded(trace), erlang:function_exported(trace, system, 3).')" = true ]; then
is 'from OTP 28 on both have one' '' "$(grep 'cannot fire' e)"
else
ok 'it says what does not fire, and why' grep -qE '^erltrace: dist-port_busy cannot fire: this needs .* system monitor.* \(sysmon\) has it$' e
erltrace -N probes_a -n 'erlang*:::port-busy' >o 2>&1
is 'a script of such probes only: exit' 1 $?
has 'a script of such probes only' 'port-busy, process-port_unblocked cannot fire: .*; the script has no others'
fi
is 'the monitor is the same' sysmon "$(at probes_a '{P, [{long_gc, 100000}]} = erlang:system_monitor(), element(2, process_info(P, registered_name)).')"
at probes_a 'erlang:system_monitor(undefined), exit(whereis(sysmon), kill).' >/dev/null

# ---- nothing is left ------------------------------------------------------------------------

becomes 'modules' '[]' probes_a '[M || M <- erlang:loaded(), "erltrace" ++ _ <- [atom_to_list(M)]].'
becomes 'processes' '[]' probes_a '[P || P <- processes(), [{_, {proc_lib, _, _}}, {_, []}] <- [erlang:process_info(P, [initial_call, dictionary])]].'
is 'system monitor' undefined "$(at probes_a 'erlang:system_monitor().')"
is 'environment' '[]' "$(at probes_a 'application:get_all_env(erltrace).')"
finish
