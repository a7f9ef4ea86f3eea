#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# locks.d: which lock inside the VM is waited for, by whom, and where. Processes write to one table all the time,
# and send to one process. Two schedulers have to be at it at once, which may take a while on a busy machine.
. "$(dirname "$0")/../lib/nodelib.sh"
needs_kernel
nodes_begin 600

# Until it has printed such a line.
locks() { # line
	local i
	for ((i = 0; i < 20; i++)); do
		erltrace -N locks -qs "$root/scripts/locks.d" 3 50 >o 2>e
		status=$?
		grep -qE "$1" o && break
	done
}

start locks +S 4:4
at locks 'ets:new(contended, [named_table, public]), Idle = ets:new(idle, [public]), Sender = fun S() -> sink ! hello, S() end, register(sink, spawn(fun S() -> receive _ -> S() end end)), W = [spawn(fun() -> register(list_to_atom("writer_" ++ integer_to_list(I)), self()), L = [{N, I} || N <- lists:seq(1, 200)], (fun F() -> ets:insert(contended, L), ets:lookup(Idle, I), F() end)() end) || I <- lists:seq(1, 8)], register(writers, spawn(fun() -> receive stop -> [exit(P, kill) || P <- W], [spawn(Sender) || _ <- lists:seq(1, 4)] end, receive stop -> ok end end)), ok.' >/dev/null
locks '^table contended +writer_[1-8] +ets:insert/2 '
is 'it ends well' 0 "$status"
has 'which lock, who waits, and in which function' \
	'^table contended +writer_[1-8] +ets:insert/2 +[0-9]+ +[0-9]+ +[1-9][0-9]*$'
has 'the stack' '^ +ets:insert/2$'
hasnt 'another table that they use is not taken for it' '^table idle '

at locks 'writers ! stop, ok.' >/dev/null
locks '^process sink +<'
has 'the mailbox of a process' '^process sink +<[0-9.]+> '
hasnt 'nobody writes to the table any more' '^table contended '

# A BIF that compiled code calls without a frame once had a bare address.
printf -- '-module(light).\n-export([f/0]).\nf() -> catch register(light, self()), catch unregister(light), f().\n' >light.erl
erlc light.erl || exit 1
at locks "code:load_binary(light, \"light.erl\", base64:decode(\"$(base64 -w 0 light.beam)\")), [spawn(light, f, []) || _ <- lists:seq(1, 8)], ok." >/dev/null
locks ' erlang:(un)?register/[12] '
has 'a BIF that is called without a frame has its name' ' erlang:(un)?register/[12] +[0-9]+ +[0-9]+ +[0-9]+$'
hasnt '... and no address' ' 0x[0-9a-f]+ +[0-9]+ +[0-9]+ +[0-9]+$'
finish
