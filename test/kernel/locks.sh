#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# locks.d: who waits for a lock inside the VM, and where: processes that write to one table all the time. Two
# schedulers have to be at it at once, which may take a while on a busy machine.
. "$(dirname "$0")/../lib/nodelib.sh"
needs_kernel
nodes_begin 600

start locks +S 2:2
at locks 'ets:new(contended, [named_table, public]), [spawn(fun() -> register(list_to_atom("writer_" ++ integer_to_list(I)), self()), L = [{N, I} || N <- lists:seq(1, 200)], (fun F() -> ets:insert(contended, L), F() end)() end) || I <- lists:seq(1, 8)], ok.' >/dev/null
for ((i = 0; i < 20; i++)); do
	erltrace -N locks -qs "$root/scripts/locks.d" 3 >o 2>e
	status=$?
	grep -qE '^writer_[1-8] +ets:insert/2 ' o && break
done
is 'it ends well' 0 "$status"
has 'who waits, and in which function' '^writer_[1-8] +ets:insert/2 +[0-9]+ +[0-9]+ +[1-9][0-9]*$'
has 'the stack' '^ +ets:insert/2$'
finish
