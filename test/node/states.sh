#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# states.d: the states of a process add up to the time that has passed, within 1 %, and each is there: of a
# process that works, collects garbage, yields to others, waits for messages and for a gen_server.
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 600
start states

sum() { # of the column US, for states that match: less than 1 % from the whole, or how much
	awk '/^mixed / { whole = $(NF - 1) }
		/^(collecting|runnable|running|waiting) / { sum += $3; rows++ }
		END { d = whole - sum; if (d < 0) d = -d
			print (rows > 3 && whole > 0 && d * 100 <= whole) ? "adds up" : sum " of " whole }' o
}

at states '{ok, S} = pg:start(slow), put(slow, S), ok.' >/dev/null
at states 'spawn(fun() -> register(mixed, self()), (fun F(N) -> lists:sum(lists:seq(1, 20000)), N rem 3 =:= 0 andalso erlang:garbage_collect(), erlang:yield(), N rem 5 =:= 0 andalso sys:get_state(slow), receive after 1 -> F(N + 1) end end)(1) end), [spawn(fun() -> (fun F() -> lists:sum(lists:seq(1, 5000)), F() end)() end) || _ <- [1, 2]], ok.' >/dev/null
for ((n = 0; n < 3; n++)); do
	trace states -qs "$root/scripts/states.d" mixed 2
	for ((i = 0; i < 2400; i++)); do
		kill -0 "$command" 2>/dev/null || break
		sleep 0.025
	done
	untrace
	is 'states add up to the time that has passed' 'adds up' "$(sum)"
done
for state in collecting runnable running waiting; do
	has "$state is there" "^$state +[0-9]+ +[1-9][0-9]* "
done
has 'for whom it waits' '^waiting +[0-9]+ +[0-9]+ +[0-9]+ gen:do_call/4 +slow$'

# One that does nothing waits all the time. It runs to say so at first: five seconds, in which it is no matter if that
# is held up.
at states 'spawn(fun() -> register(idle, self()), receive stop -> ok end end), ok.' >/dev/null
trace states -qs "$root/scripts/states.d" idle 5
for ((i = 0; i < 2400; i++)); do
	kill -0 "$command" 2>/dev/null || break
	sleep 0.025
done
untrace
has 'one that does nothing' '^waiting +[0-9]+ +[0-9]+ +(99[0-9]|1000) '
finish
