#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Several commands on one node that does not have erltrace: begun at the same moment, while the last
# one's is being taken out, killed at any moment; of another build, of another version. Each that
# lives has exact results, and nothing is left on the node. The last line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 400 bare
epmd_begin

modules='lists:sort([M || M <- erlang:loaded(), string:find(atom_to_list(M), "erltrace") =/= nomatch]).'
state="{length(processes()), length(erlang:ports()), application:get_all_env(erltrace), ${modules%.}, nodes(hidden), [N || N <- registered(), string:find(atom_to_list(N), \"erltrace\") =/= nomatch], [T || T <- ets:all(), T =:= erltrace_loader], [M || M <- erlang:loaded(), erlang:check_old_code(M)]}."
flags='lists:usort([erlang:trace_info(P, flags) || P <- processes()] ++ [erlang:trace_info(new_processes, flags)]) ++ case erlang:function_exported(trace, session_info, 1) of true -> apply(trace, session_info, [all]); false -> [] end.'
atoms='erlang:system_info(atom_count).'
work='[lists:zip3([], [], []) || _ <- lists:seq(1, 100)], done.'
script='BEGIN { printf("armed\n"); } erlang*:lists:zip3/3:function-entry { @ = count(); }'
hello='BEGIN { printf("hello\n"); exit(0); }'

begin() { # node, numbers: a command each, output in oN, eN
	local node=$1 n
	shift
	for n in "$@"; do
		rm -f "o$n" "e$n"
		erltrace -N "$node" -qn "$script" >"o$n" 2>"e$n" &
		commands[n]=$!
	done
}

armed() { # numbers
	local n
	for n in "$@"; do
		ok "command $n is armed" holds "o$n" '^armed'
		grep . "e$n"
	done
}

end() { # numbers: as ^C does it, at the same moment
	local n
	for n in "$@"; do
		kill -TERM "${commands[n]}"
	done
	for n in "$@"; do
		wait "${commands[n]}"
		is "command $n: exit" 0 $?
		is "command $n: what it counted, what it said" '100 ' "$(grep -oE '[0-9]+' "o$n") $(cat "e$n")"
	done
}

killed() { # number; the shell says nothing about it
	disown "${commands[$1]}"
	kill -9 "${commands[$1]}"
}

clean() { # when
	local failed_before=$failed
	becomes "$1: processes, modules, names as before" "$state_before" together_a "$state"
	is "$1: flags as before" "$flags_before" "$(at together_a "$flags")"
	[ "$failed" = "$failed_before" ] || told
}

# What the node has said, and the processes and modules that are new.
told() {
	cat together_a.said together_a.log 2>/dev/null | tail -n 100
	at together_a "[{P, process_info(P, [registered_name, current_stacktrace, links, monitors, dictionary])} || P <- processes(), not lists:member(pid_to_list(P), $pids_before)] ++ [M || M <- erlang:loaded(), not lists:member(M, $loaded_before)]."
}

declare -a commands
start together_a

# Twelve names of hidden nodes, and what the expressions here are made of. OTP's own resolver is
# started once somebody has connected and gone in the middle of the handshake.
at together_a 'inet_gethost_native:gethostbyname("localhost").' >/dev/null
begin together_a 1 2 3 4 5 6 7 8 9 10 11 12
armed 1 2 3 4 5 6 7 8 9 10 11 12
at together_a "$work" >/dev/null
end 1 2 3 4 5 6 7 8 9 10 11 12
becomes 'twelve at once: nothing is left' '[]' together_a "$modules"
for e in "$state" "$flags" "$atoms"; do
	at together_a "$e" >/dev/null
done
becomes 'all have gone' '[]' together_a 'nodes(hidden).' # their connections end a moment later
state_before=$(at together_a "$state")
flags_before=$(at together_a "$flags")
knows_commands together_a
atoms_before=$(at together_a "$atoms")
pids_before=[$(at together_a '[pid_to_list(P) || P <- processes()].' | tr -d '[]')]
loaded_before=$(at together_a '[M || M <- erlang:loaded()].')
files_before=$(find "/proc/${pid[together_a]}/fd" | wc -l)

# ---- at the same moment ---------------------------------------------------------------------

for round in 1 2 3; do
	begin together_a 1 2 3 4 5 6
	armed 1 2 3 4 5 6
	at together_a "$work" >/dev/null
	end 1 2 3 4 5 6
	becomes "round $round: nothing is left" '[]' together_a "$modules"
done

# ---- killed at any moment ---------------------------------------------------------------------

for round in 1 2 3 4; do
	begin together_a 1 2 3 4 5 6
	for n in 4 5 6; do
		sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
		killed $n
	done
	armed 1 2 3
	at together_a "$work" >/dev/null
	end 1 2 3
	clean "round $round with three that are killed"
done
# Alone: nobody comes to tidy up.
for ((i = 0; i < 15; i++)); do
	begin together_a 1
	sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
	killed 1
	((i % 5 == 4)) && clean "$((i + 1)) that are killed"
done

# ---- while the last one's is being taken out ----------------------------------------------------

chain() { # number
	local i
	for ((i = 0; i < 8; i++)); do
		erltrace -N together_a -qn "$hello"
	done >"o$1" 2>"e$1"
}
chains=()
for n in 1 2 3; do
	chain $n &
	chains+=($!)
done
wait "${chains[@]}"
is 'one after another, three times: what they say' '24 ' "$(cat o1 o2 o3 | grep -c hello) $(cat e1 e2 e3)"
clean 'one after another'

is 'atoms as before' "$atoms_before" "$(at together_a "$atoms")"
is 'its logger has nothing to say' '' "$(cat together_a.said 2>/dev/null)"
is 'files as before' "$files_before" "$(find "/proc/${pid[together_a]}/fd" | wc -l)"
is 'the log has nothing to say' '' "$(cat together_a.log)"

# ---- other builds -------------------------------------------------------------------------------

mkdir -p copy/bin copy/priv copy/ebin
cp "$(command -v erltrace)" copy/bin/
cp "$ebin"/*.beam copy/ebin/
cp "$ebin/../priv/erltrace.so" copy/priv/
begin together_a 1
armed 1
is 'a command of another build beside it' hello "$(copy/bin/erltrace -N together_a -qn "$hello" 2>&1 | grep .)"
at together_a "$work" >/dev/null
end 1
is 'another build' hello "$(copy/bin/erltrace -N together_a -qn "$hello" 2>&1 | grep .)"
is 'and the first again' hello "$(erltrace -N together_a -qn "$hello" 2>&1 | grep .)"
clean 'other builds'

erlc -DPROTOCOL=999 -o copy/ebin "$root/src/agent/erltrace_agent.erl"
start together_own -pa "$tmp/copy/ebin"
erltrace -N together_own -qn "$hello" >o 2>&1
is 'an erltrace of its own, of another version: exit' 1 $?
has 'an erltrace of its own, of another version' 'the node together_own@.* has an erltrace of its own, of another version: use the command'
copy/bin/erltrace -N together_a -qn "$hello" >o 2>&1
is 'brought by another version: exit' 1 $?
has 'brought by another version' 'another command, of another version, is tracing the node together_a@'
clean 'another version'

start together_same -pa "$ebin"
begin together_same 1 2 3 4
armed 1 2 3 4
at together_same "$work" >/dev/null
end 1 2 3 4
is 'an erltrace of its own: it stays' true "$(at together_same 'erlang:module_loaded(erltrace_agent).')"
is 'an erltrace of its own: no loader' undefined "$(at together_same 'whereis(erltrace_loader).')"
finish
